"""Dates a text speaks of, resolved against the day it was said: "yesterday", told on 2023-05-08, is 2023-05-07.

    昨天 三天前 下周一 · yesterday, 3 days ago, next Monday      2023-05-07       a day
    上周 三周前 · last week, 3 weeks ago                         2023-W18         an ISO week
    上个月 去年 两年前 · last month, last year, 2 years ago      2023-04, 2022    a month, a year
    上周末 · last weekend                                        2023-05-06/2023-05-07
    5月7日 · 7 May · 2023-05-07                                  --05-07          -- where the year was not said

Rules of our own: the libraries for this are large, find "may" and "on" in plain text, and read Chinese badly. What two people
would read differently is left out: "on Friday", "in two weeks" (when, or how long?), "last Friday" said on a Saturday.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from infrastructure.amounts import NUMBER_WORDS, number
from infrastructure.text import sentences

_MONTH_NAMES = "january february march april may june july august september october november december"
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
MONTHS, WEEKDAYS = _MONTH_NAMES.split(), _WEEKDAY_NAMES.split()


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
    if not _may_hold_dates(text):
        return []
    plain = _QUOTED.sub(lambda quote: " " * len(quote[0]), text)
    found: list[tuple[int, int, str]] = []
    for pattern, resolve in _RULES:
        for match in pattern.finditer(plain):
            start, end = match.span()
            when = None if any(a < end and start < b for a, b, _ in found) else resolve(match, said_at)
            if when:
                found.append((start, end, when))
    return [Mention(text[start:end], when, bool(_BESIDE.match(plain, end))) for start, end, when in sorted(found)]


def happened_on(mentions: Sequence[Mention], said_at: datetime, *, alone: bool = True) -> date | None:
    """The day on which what is told happened, if the dates leave no doubt: one day, or the first day of one past period.

    None: no date, several, one without a year, a calendar date more than a year away. alone: the text is one sentence; in a
    longer one "last year" is about a part of it, and only a day is taken.
    """
    today = said_at.date()
    periods = {mention.when for mention in mentions if not mention.beside and not mention.when.startswith("--")}
    days = {when for when in periods if len(when) == len("2023-05-07")}
    chosen = days or (periods if alone else set())
    if len(chosen) != 1:
        return None
    first, last = span(*chosen)
    spans = [span(when) for when in periods]
    if not all(start <= first and last <= end for start, end in spans) or first <= today <= last:
        return None
    if not days and first > today:
        return None
    by_calendar = any(re.search(r"\d{4}", mention.text) for mention in mentions)
    return None if by_calendar and abs(first - today) > _NEAR else first


def past_period(text: str, asked_at: datetime) -> tuple[datetime, str] | None:
    """The last moment of the one past period a question names ("last month", 去年), and the question without those words;
    None when it names none, or several."""
    mentions = [mention for mention in date_mentions(text, asked_at) if not mention.when.startswith("--")]
    if len(mentions) != 1 or (end := span(mentions[0].when)[1]) >= asked_at.date():
        return None
    moment = asked_at.replace(year=end.year, month=end.month, day=end.day, hour=23, minute=59, second=59)
    return moment, text.replace(mentions[0].text, " ")


_NEAR = timedelta(days=366)  # "the treaty of 7 May 1919" is not when it was read


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
    if len(when) == len("2023-05-07"):
        return date.fromisoformat(when), date.fromisoformat(when)
    year, month = int(when[:4]), int(when[5:] or 0)
    following = date(year + 1, 1, 1) if month in (0, 12) else date(year, month + 1, 1)
    return date(year, month or 1, 1), following - timedelta(days=1)


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


_STEP = {
    **{"d": _day, "天": _day, "w": _week, "周": _week, "星": _week, "礼": _week},
    **{"m": _month, "月": _month, "y": _year, "年": _year},
}


def _steps(said_at: datetime, unit: str, count: float | None) -> str | None:
    """So many days, weeks, months or years from then; as exact as the unit."""
    return None if count is None else _STEP[unit[0].lower()](said_at, int(count))


def _calendar_day(year: str | None, month: str, day: str) -> str | None:
    """A day of the calendar; a year that was not said stays open. None for the 31st of June."""
    try:
        known = date(int(year or 2024), month_number(month), int(day))  # 2024 has a 29 February
    except ValueError:
        return None
    return known.isoformat() if year else f"--{known:%m-%d}"


def month_number(name: str) -> int:
    """1 to 12 for a month's number, English name, or the first letters of that."""
    return int(name) if name.isdigit() else 1 + [month[:3] for month in MONTHS].index(name[:3].lower())


# ---- English ----

Resolve = Callable[[re.Match[str], datetime], str | None]
Rules = tuple[tuple[str, Resolve], ...]

_COUNT = rf"(\d{{1,3}}|{'|'.join(NUMBER_WORDS)}|an?)"
_WEEKDAY = rf"({'|'.join(WEEKDAYS)})"
_BARE = r"(?<!the )(?<!very )(?<!my )(?<!this )"  # "the last week": the past seven days, or the final one


def _last_weekday(match: re.Match[str], said_at: datetime) -> str | None:
    """Clear when it lies in the week before: "last Friday" said on a Saturday means two days to two people."""
    weekday = WEEKDAYS.index(match[1].lower())
    return _weekday(said_at, weekday, -1) if weekday >= said_at.weekday() else None


def _next_weekday(match: re.Match[str], said_at: datetime) -> str | None:
    weekday = WEEKDAYS.index(match[1].lower())
    return _weekday(said_at, weekday, 1) if weekday <= said_at.weekday() else None


def _fixed(days: int) -> Resolve:
    return lambda _, said_at: _day(said_at, days)


def _period(step: int) -> Resolve:
    return lambda m, said_at: _weekend(said_at, step) if m[1].lower() == "weekend" else _steps(said_at, m[1], step)


_ENGLISH: Rules = (
    (r"\bthe day before yesterday\b", _fixed(-2)),
    (r"\bthe day after tomorrow\b", _fixed(2)),
    (r"\b(?:yesterday|last night)\b", _fixed(-1)),
    (r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", _fixed(0)),
    (r"\btomorrow\b", _fixed(1)),
    (rf"\b{_COUNT} (day|week|month|year)s? ago\b", lambda m, said_at: _steps(said_at, m[2], -number(m[1]))),
    (rf"\b{_COUNT} (day|week|month|year)s? from (?:now|today)\b", lambda m, said_at: _steps(said_at, m[2], number(m[1]))),
    (rf"{_BARE}\blast {_WEEKDAY}\b", _last_weekday),
    (rf"{_BARE}\bnext {_WEEKDAY}\b", _next_weekday),
    (rf"{_BARE}\blast (weekend|week|month|year)\b", _period(-1)),
    (r"\bthis (weekend|week|month|year)\b", _period(0)),
    (rf"{_BARE}\bnext (weekend|week|month|year)\b", _period(1)),
)  # fmt: skip

# ---- Chinese ----

_COUNT_ZH = r"(?<![第每多])(\d{1,3}|[一二两三四五六七八九十]{1,3})"
_STEPS_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_DAYS_ZH = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS_ZH = {"大前": -3, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_STEP_ZH = r"(?<![马晚早以])(上上|上|这|本|下下|下)(?:个|一)?"


def _ago_or_later(match: re.Match[str], said_at: datetime) -> str | None:
    count = number(match[1])
    return None if count is None else _steps(said_at, match[2], -count if match[3] == "前" else count)


def _week_zh(match: re.Match[str], said_at: datetime) -> str:
    weeks, day = _STEPS_ZH[match[1]], match[2]
    if day == "末":
        return _weekend(said_at, weeks)
    return _weekday(said_at, min(6, "一二三四五六日天".index(day)), weeks) if day else _week(said_at, weeks)


# The characters around decide: not in 以前天天, 然后天气, 马上周末, 过去年代, 目前年龄, 证明天赋.
_CHINESE: Rules = (
    (rf"{_COUNT_ZH}个?(天|星期|周|礼拜|月|年)(?:之|以)?([前后])(?!期|端|者)", _ago_or_later),
    (r"(?<![证说声发透以之从目眼面然最先往提])(大前|前|昨|今|明|后|大后)[天日](?!天|气|空|赋|才|形成|培养|的?努力|性)",
     lambda m, said_at: _day(said_at, _DAYS_ZH[m[1]])),
    (r"(?<![往至如])([昨今明])[早晚](?![会安])", lambda m, said_at: _day(said_at, _DAYS_ZH[m[1]])),
    (rf"{_STEP_ZH}(?:周|星期|礼拜)([一二三四五六日天末])?(?![期边围密到刊年])", _week_zh),
    (r"(?<![马晚早以])(上上|上|这|下下|下)(?:个|一个)月", lambda m, said_at: _month(said_at, _STEPS_ZH[m[1]])),
    (r"(本)月", lambda m, said_at: _month(said_at, 0)),
    (r"(?<![过失离证说声以之从目])(大前|前|去|今|明|后)年(?![龄代级度纪轻限薪货])",
     lambda m, said_at: _year(said_at, _YEARS_ZH[m[1]])),
)  # fmt: skip

# ---- The calendar ----

_MONTH_STEMS = "|".join(month[:3] for month in MONTHS)
_MONTH = rf"({'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b(?:\.(?= \d))?"
_CALENDAR: Rules = (
    (rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? (\d{{4}})\b)?", lambda m, _: _calendar_day(m[3], m[2], m[1])),
    (rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (\d{{4}})\b)?", lambda m, _: _calendar_day(m[3], m[1], m[2])),
    (r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", lambda m, _: _calendar_day(*m.groups())),
    (r"(?:(\d{4})\s*年\s*)?(?<!\d)(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]", lambda m, _: _calendar_day(*m.groups())),
)  # fmt: skip


def calendar_dates(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, when) of the days that are named by the calendar, e.g. 5 June or 6月5日: no clock is needed."""
    for pattern, resolve in _CALENDAR_RULES:
        for match in pattern.finditer(text):
            when = resolve(match, datetime.min)
            if when:
                yield match.start(), match.end(), when


# ---- All together ----


def _compiled(rules: Rules) -> list[tuple[re.Pattern[str], Resolve]]:
    return [(re.compile(pattern, re.I), resolve) for pattern, resolve in rules]


_CALENDAR_RULES = _compiled(_CALENDAR)
_RULES = [*_compiled((*_ENGLISH, *_CHINESE)), *_CALENDAR_RULES]
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|`[^`\n]*`")
_BESIDE = re.compile(r"\s*(?:['’]s\b|的(?!时候|时侯))", re.I)
_WHEN = "yesterday today tonight tomorrow last next this ago now night morning"
_HINTS = [*_WHEN.split(), *(month[:3] for month in MONTHS), "20", "19"]
_HINT = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|from now|(?:last|next|this) \w)|\d{4}[-/.]\d|"
    rf"\b(?:{_MONTH_STEMS})[a-z]*\.? \d|\d(?:st|nd|rd|th)?(?: of)? (?:{_MONTH_STEMS})"
)
_HINT_ZH = re.compile(
    r"[前昨今明后][天日早晚年]|去年|[天周期拜月年](?:之|以)?[前后]|[上这本下](?:个|一)*(?:周|星期|礼拜|月)|\d\s*月"
)


def _may_hold_dates(text: str) -> bool:
    """A look that costs a few µs, before rules that cost a hundred."""
    if not text.isascii() and _HINT_ZH.search(text):
        return True
    low = text.lower()
    return any(map(low.__contains__, _HINTS)) and _HINT.search(low) is not None


# ---- A memory's own dates ----


def dated(item: Any, *, moves: bool, said_at: datetime | None = None) -> Any:
    """A copy of a memory that says in metadata["dates"] what "yesterday" was, as of when it was said (by default
    `valid_from`, in the zone that has). moves: what it tells happened on that day. Only what the learner says is read: a
    document's yesterday is another day."""
    twin = object.__new__(type(item))  # `replace` would check and repair everything again
    twin.__dict__.update(item.__dict__)
    if item.source != "user" or "dates" in item.metadata:
        return twin
    said_at = said_at or item.valid_from
    mentions = date_mentions(item.content, said_at)
    if mentions:
        twin.metadata = {**item.metadata, "dates": {mention.text: mention.when for mention in mentions}}
        alone = len(sentences(item.content)) == 1
        day = happened_on(mentions, said_at, alone=alone) if moves else None
        if day is not None:
            twin.occurred_at = said_at.replace(year=day.year, month=day.month, day=day.day)
    return twin
