"""Dates a text speaks of, resolved against the day it was said: "yesterday", told on 2023-05-08, is 2023-05-07.

    昨天 前天 三天前 明天 · yesterday, 3 days ago, tomorrow            2023-05-07      a day
    上周三 下周一 · last Friday, next Monday                           2023-05-03      a day
    上周 下周 三周前 · last week, 3 weeks ago                          2023-W18        an ISO week
    上个月 去年 两年前 · last month, last year, 2 years ago            2023-04, 2022   a month, a year
    5月7日 · 7 May · 2023-05-07                                        --05-07         a day; -- where the year is not said

Rules of our own: the libraries for this are large, find "may" and "on" in plain text, and read Chinese badly. What two people
would read differently is left out: "on Friday", "in two weeks" (when, or how long?), "last Friday" said on a Saturday.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from infrastructure.amounts import NUMBER_WORDS, number

MONTHS = ("january february march april may june july august september october november december").split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


@dataclass(frozen=True, slots=True)
class Mention:
    """A date as it stands in a text. `when`: ISO 8601, as exact as it was said. `beside`: it tells when another thing
    was ("yesterday's notes", 昨天的笔记), not when what the sentence tells happened."""

    text: str
    when: str
    beside: bool = False


def date_mentions(text: str, said_at: datetime) -> list[Mention]:
    """Dates in a text, in order. `said_at` has the zone its speaker lives in. Quoted words are somebody else's: skipped.

    >>> [mention.when for mention in date_mentions("昨天读完第3章，下周一考试", datetime(2023, 5, 8))]
    ['2023-05-07', '2023-05-15']
    """
    if not _HINT.search(text):
        return []
    plain = _QUOTED.sub(lambda quote: " " * len(quote[0]), text)
    found: list[tuple[int, int, str]] = []
    for pattern, resolve in _RULES:
        for match in pattern.finditer(plain):
            when = resolve(match, said_at)
            if when and not any(start < match.end() and match.start() < end for start, end, _ in found):
                found.append((match.start(), match.end(), when))
    return [
        Mention(text[start:end], when, bool(_BESIDE.match(plain, end))) for start, end, when in sorted(found) if when
    ]


def happened_on(mentions: list[Mention], said_at: datetime) -> date | None:
    """The day on which what is told happened, if the dates leave no doubt: one day, or one period other than the present
    one (its first day). None: no date, several, one without a year, or one more than a year away that need not be ours."""
    periods = {m.when for m in mentions if not m.beside and not m.when.startswith("--")}
    days = {when for when in periods if len(when) == 10}
    chosen = days or periods
    if len(chosen) != 1:
        return None
    first, last = span(chosen.pop())
    if any(not (span(when)[0] <= first and last <= span(when)[1]) for when in periods):
        return None
    return None if first <= said_at.date() <= last or abs(first - said_at.date()) > _OURS else first


_OURS = timedelta(days=366 * 3)


def span(when: str) -> tuple[date, date]:
    """First and last day of an ISO day, week, month, year or interval.

    >>> span("2023-W18")
    (datetime.date(2023, 5, 1), datetime.date(2023, 5, 7))
    """
    if "/" in when:
        first, last = when.split("/")
        return date.fromisoformat(first), date.fromisoformat(last)
    if "W" in when:
        monday = date.fromisoformat(f"{when}-1")
        return monday, monday + timedelta(days=6)
    if len(when) == 10:
        return date.fromisoformat(when), date.fromisoformat(when)
    year, month = int(when[:4]), int(when[5:] or 0)
    following = date(year + 1, 1, 1) if month in (0, 12) else date(year, month + 1, 1)
    return date(year, month or 1, 1), following - timedelta(days=1)


def moved_to(moment: datetime, day: date) -> datetime:
    """The same time of day on another day."""
    return moment.replace(year=day.year, month=day.month, day=day.day)


# ---- how a period is written ----


def _day(said_at: datetime, days: int) -> str:
    return (said_at.date() + timedelta(days=days)).isoformat()


def _week(said_at: datetime, weeks: int) -> str:
    year, week, _ = (said_at.date() + timedelta(weeks=weeks)).isocalendar()
    return f"{year}-W{week:02}"


def _month(said_at: datetime, months: int) -> str:
    year, month = divmod(said_at.year * 12 + said_at.month - 1 + months, 12)
    return f"{year:04}-{month + 1:02}"


def _year(said_at: datetime, years: int) -> str:
    return f"{said_at.year + years:04}"


def _weekend(said_at: datetime, weeks: int) -> str:
    saturday = said_at.date() + timedelta(days=5 - said_at.weekday(), weeks=weeks)
    return f"{saturday}/{saturday + timedelta(days=1)}"


def _weekday(said_at: datetime, weekday: int, weeks: int) -> str:
    return _day(said_at, weekday - said_at.weekday() + 7 * weeks)


def _calendar_day(year: str | None, month: int, day: str) -> str | None:
    """A day of the calendar; a year that was not said stays open. None for the 31st of June."""
    try:
        known = date(int(year or 2024), month, int(day))  # 2024: a year that has a 29 February
    except ValueError:
        return None
    return known.isoformat() if year else f"--{known:%m-%d}"


def _unit(said_at: datetime, unit: str, count: int) -> str:
    step = {"d": _day, "天": _day, "日": _day, "w": _week, "周": _week, "星": _week, "礼": _week}
    return {**step, "m": _month, "月": _month, "y": _year, "年": _year}[unit[0].lower()](said_at, count)


# ---- English ----

_COUNT = rf"(\d{{1,3}}|{'|'.join(NUMBER_WORDS)}|an?)"
_WEEKDAY = rf"({'|'.join(WEEKDAYS)})"
_MONTH = rf"({'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_THE_LAST = r"(?<!the )(?<!the very )(?<!my )(?<!this )"  # "the last week": the past seven days, or the final one


def _last_weekday(match: re.Match[str], said_at: datetime) -> str | None:
    """Clear when it lies in the week before: "last Friday" said on a Saturday means two days to two people."""
    weekday = WEEKDAYS.index(match[1].lower())
    return _weekday(said_at, weekday, -1) if weekday >= said_at.weekday() else None


def _next_weekday(match: re.Match[str], said_at: datetime) -> str | None:
    weekday = WEEKDAYS.index(match[1].lower())
    return _weekday(said_at, weekday, 1) if weekday <= said_at.weekday() else None


def month_number(name: str) -> int:
    """1 to 12 for an English month's name or its first letters."""
    return 1 + [month[:3] for month in MONTHS].index(name[:3].lower())


def _ago(match: re.Match[str], said_at: datetime) -> str | None:
    count = number(match[1])
    return None if count is None else _unit(said_at, match[2], -int(count))


def _from_now(match: re.Match[str], said_at: datetime) -> str | None:
    count = number(match[1])
    return None if count is None else _unit(said_at, match[2], int(count))


def _fixed(days: int) -> Callable[[re.Match[str], datetime], str]:
    return lambda match, said_at: _day(said_at, days)


def _period(step: int) -> Callable[[re.Match[str], datetime], str]:
    return lambda match, said_at: (
        _weekend(said_at, step) if match[1].lower() == "weekend" else _unit(said_at, match[1], step)
    )


Rule = tuple[str, Callable[[re.Match[str], datetime], str | None]]
_ENGLISH: tuple[Rule, ...] = (
    (r"\bthe day before yesterday\b", _fixed(-2)),
    (r"\bthe day after tomorrow\b", _fixed(2)),
    (r"\b(?:yesterday|last night)\b", _fixed(-1)),
    (r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", _fixed(0)),
    (r"\btomorrow\b", _fixed(1)),
    (rf"\b{_COUNT} (day|week|month|year)s? ago\b", _ago),
    (rf"\b{_COUNT} (day|week|month|year)s? from (?:now|today)\b", _from_now),
    (rf"{_THE_LAST}\blast {_WEEKDAY}\b", _last_weekday),
    (rf"{_THE_LAST}\bnext {_WEEKDAY}\b", _next_weekday),
    (rf"{_THE_LAST}\blast (weekend|week|month|year)\b", _period(-1)),
    (r"\bthis (weekend|week|month|year)\b", _period(0)),
    (rf"{_THE_LAST}\bnext (weekend|week|month|year)\b", _period(1)),
    (
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? (\d{{4}})\b)?",
        lambda m, _: _calendar_day(m[3], month_number(m[2]), m[1]),
    ),
    (
        rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (\d{{4}})\b)?",
        lambda m, _: _calendar_day(m[3], month_number(m[1]), m[2]),
    ),
    (r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b", lambda m, _: _calendar_day(m[1], int(m[2]), m[3])),
)

# ---- Chinese ----

_COUNT_ZH = r"(\d{1,3}|[一二两三四五六七八九十]{1,3})"
_WEEK_ZH = r"(?:周|星期|礼拜)"
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}


def _week_zh(match: re.Match[str], said_at: datetime) -> str:
    weeks, day = _STEPS[match[1]], match[2]
    if day == "末":
        return _weekend(said_at, weeks)
    return _weekday(said_at, "一二三四五六日天".index(day) % 7 if day != "天" else 6, weeks) if day else _week(said_at, weeks)


def _ago_zh(match: re.Match[str], said_at: datetime) -> str | None:
    count = number(match[1])
    return None if count is None else _unit(said_at, match[2], int(count) * (-1 if match[3] == "前" else 1))


# Not in 以前天天, 然后天气, 马上周末, 过去年代, 目前年龄, 证明天赋: the characters around decide.
_CHINESE: tuple[Rule, ...] = (
    (rf"(?<![第每多]){_COUNT_ZH}(天|个?星期|周|个?礼拜|个?月|年)(?:之|以)?([前后])(?!期|端|者)",
     lambda m, said_at: _ago_zh(m, said_at)),
    (r"(?<![证说声发透以之从目眼面然最先往提])(大前|前|昨|今|明|后|大后)[天日](?!天|气|空|赋|才|形成|培养|努力|的?努力|性)",
     lambda m, said_at: _day(said_at, _DAYS[m[1]])),
    (r"(?<![往至如])([昨今明])[早晚](?![会安])", lambda m, said_at: _day(said_at, _DAYS[m[1]])),
    (rf"(?<![马晚早以])(上上|上|这|本|下下|下)(?:个|一)?{_WEEK_ZH}([一二三四五六日天末])?(?!期|边|围|密|到|刊|年)", _week_zh),
    (r"(?<![马晚早以])(上上|上|这|本|下下|下)(?:个|一个)月", lambda m, said_at: _month(said_at, _STEPS[m[1]])),
    (r"(本)月", lambda m, said_at: _month(said_at, 0)),
    (r"(?<![过失离证说声以之从目])(大前年|前年|去年|今年|明年|后年)(?![龄代级度纪轻限薪货])", lambda m, said_at: _year(said_at, _YEARS[m[1]])),
    (r"(?:(\d{4})\s*年\s*)?(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]", lambda m, _: _calendar_day(m[1], int(m[2]), m[3])),
)  # fmt: skip

_RULES = [(re.compile(pattern, re.I), resolve) for pattern, resolve in (*_ENGLISH, *_CHINESE)]
_HINT = re.compile(
    r"day\b|\bago\b|night\b|morning|afternoon|evening|tomorrow|\b(?:last|next|this) |from now|\d{4}[-/.]\d|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|\d(?:st|nd|rd|th)?(?: of)? "
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|"
    r"[前昨今明后][天日早晚]|[天周期拜月年](?:之|以)?[前后]|[上这本下](?:个|一)*(?:周|星期|礼拜|月)|[前去今明后本][年月]|月\s*\d",
    re.I,
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|`[^`\n]*`")
_BESIDE = re.compile(r"\s*(?:['’]s\b|的(?!时候|时侯))", re.I)


def as_metadata(mentions: list[Mention]) -> Mapping[str, str]:
    """{what was said: ISO 8601}, for a memory's metadata."""
    return {mention.text: mention.when for mention in mentions}


def calendar_dates(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, when) of the days that are named by the calendar, e.g. 5 June or 6月5日: no clock is needed."""
    for pattern, resolve in (*_RULES[-1:], *_RULES[len(_ENGLISH) - 3 : len(_ENGLISH)]):
        for match in pattern.finditer(text):
            when = resolve(match, datetime.min)
            if when:
                yield match.start(), match.end(), when
