"""What `stats` shows: what is due, how it went, the last weeks, the chapters, the memories. Numbers in, picture out.

Bars are block characters, one colour each, no boxes; everything stays readable at 60 columns and without colour.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from infrastructure.language import tr
from study.blocks import columns, line, shortened
from study.views import stats as home_in_numbers

FULL = "█"
STEPS = " ▁▂▃▄▅▆▇█"
BAR = 10  # cells
TITLE = 26  # characters of a chapter's title
MOST_CHAPTERS = 20  # on screen; --json has all


def overview(numbers: Mapping[str, Any]) -> Group:
    """All of it, with a blank line between its parts."""
    study = numbers["study"]
    parts: list[RenderableType] = [_today(study), "", home_in_numbers(numbers)]
    if any(day["questions"] or day["reviews"] for day in study["days"]):
        parts += ["", _head(tr("Last four weeks", "最近四周")), _weeks(study["days"])]
    if study["chapters"]:
        parts += ["", _head(tr("Chapters", "章节")), _chapters(study["chapters"])]
    parts += ["", _head(tr("Memories", "记忆")), _memories(numbers)]
    return Group(*parts)


def _head(text: str) -> Text:
    return line((text, "bold"))


def _today(study: Mapping[str, Any]) -> Group:
    """What a learner looks for first."""
    due, new, streak = study["due_today"], study["new"], study["streak_days"]
    told = [
        (tr(f"{due} due today", f"今天到期 {due} 张"), "bold yellow" if due else "bold"),
        (tr(f"{new} new", f"新卡片 {new} 张"), "bold"),
        (tr(f"{streak} {'day' if streak == 1 else 'days'} in a row", f"连续学习 {streak} 天"), "bold"),
        (tr(f"{study['minutes']['today']} min today", f"今天 {study['minutes']['today']} 分钟"), "bold"),
    ]
    parts = [part for piece in told for part in (piece, (" · ", "dim"))][:-1]
    return Group(line(*parts), line((_retention(study), "dim")))


def _retention(study: Mapping[str, Any]) -> str:
    if study["retention"] is None:
        return tr("No card has come back after a day or more yet.", "还没有隔天再考过的卡片。")
    share, count = round(100 * study["retention"]), study["retention_of"]
    return tr(f"Still known when they came back: {share} % of {count} in 30 days",
              f"再次出现时仍记得：{share}%（30 天内 {count} 次）")  # fmt: skip


# ---- Weeks ----


def _weeks(days: Sequence[Mapping[str, Any]]) -> Table:
    """A row a week, a column a day: how much was done, as the height of a block; and the sums."""
    most = max(_done(day) for day in days)
    names = tr("M T W T F S S", "一 二 三 四 五 六 日")
    table = columns((tr("Week of", "周"), {"no_wrap": True}), (names, {"no_wrap": True}),
                    (tr("asked", "提问"), {"justify": "right"}), (tr("cards", "卡片"), {"justify": "right"}),
                    (tr("min", "分钟"), {"justify": "right"}))  # fmt: skip
    gap = tr(" ", "  ")
    for start in range(0, len(days), 7):
        week = days[start : start + 7]
        blocks = gap.join(_block(_done(day), most) for day in week)
        table.add_row(
            line((f"{date.fromisoformat(week[0]['day']):%m-%d}", "dim")), line((blocks, "green")),
            str(sum(day["questions"] for day in week)), str(sum(day["reviews"] for day in week)),
            str(round(sum(day["minutes"] for day in week))),
        )  # fmt: skip
    return table


def _done(day: Mapping[str, Any]) -> int:
    return day["questions"] + day["reviews"]


def _block(value: float, most: float) -> str:
    """A block as high as its share of the most; "·" for nothing.

    >>> _block(0, 9), _block(1, 9), _block(9, 9)
    ('·', '▁', '█')
    """
    return STEPS[max(1, round(8 * value / most))] if value else "·"


# ---- Chapters and memories ----


def _chapters(chapters: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Per chapter: how much of it was opened, questions asked, answers given."""
    table = columns(
        ("", {"overflow": "fold"}), (tr("opened", "读过"), {"no_wrap": True}),
        (tr("asked", "提问"), {"justify": "right"}), (tr("cards", "卡片"), {"justify": "right"}),
        (tr("known", "答对"), {"justify": "right"}),
    )  # fmt: skip
    shown, several = _worth_showing(chapters), len({chapter["document"] for chapter in chapters}) > 1
    for number, chapter in enumerate(shown):
        if several and (number == 0 or shown[number - 1]["document"] != chapter["document"]):
            table.add_row(line((shortened(chapter["document"], TITLE), "dim")))
        known = f"{chapter['right']}/{chapter['answers']}" if chapter["answers"] else ""
        table.add_row(
            line(shortened(chapter["title"], TITLE)), line((_bar(chapter["opened"], chapter["pages"]), "cyan")),
            str(chapter["questions"] or ""), str(chapter["cards"] or ""), known,
        )  # fmt: skip
    left = len(chapters) - MOST_CHAPTERS
    more = tr(f"… and {left} more, see stats --json", f"……另有 {left} 章，见 stats --json")
    return Group(table, line((more, "dim"))) if left > 0 else table


def _worth_showing(chapters: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """In the order of the books; where there are too many, those in which something was done come first."""
    if len(chapters) <= MOST_CHAPTERS:
        return chapters
    busy = sorted(chapters, key=lambda c: -(c["questions"] + c["cards"]))[:MOST_CHAPTERS]
    return [chapter for chapter in chapters if chapter in busy]


def _bar(part: float, whole: float) -> str:
    """
    >>> _bar(1, 2), _bar(0, 3), _bar(1, 100)
    ('█████·····', '··········', '█·········')
    """
    filled = min(BAR, max(1 if part else 0, round(BAR * part / whole))) if whole else 0
    return FULL * filled + "·" * (BAR - filled)


def _memories(numbers: Mapping[str, Any]) -> Table:
    counts = list(_memory_counts(numbers))
    most = max((count for _, count in counts), default=0)
    table = columns(("", {"no_wrap": True}), ("", {"no_wrap": True}), ("", {"justify": "right"}))
    table.show_header = False
    for name, count in counts:
        table.add_row(line(name), line((_bar(count, most or 1), "magenta")), str(count))
    return table


def _memory_counts(numbers: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    names = {
        "working": tr("working", "工作记忆"),
        "episodic": tr("episodic", "情景记忆"),
        "semantic": tr("semantic", "语义记忆"),
    }
    for kind, name in names.items():
        yield name, numbers[kind]["count"]
    yield tr("of these, notes", "其中笔记"), numbers["notes"]
