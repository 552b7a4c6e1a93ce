"""The study report: one Markdown file with what a learner did, what is due, what went wrong and what was noted, in their own
words. With pictures beside it when matplotlib is installed; without it, the numbers are there all the same."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from infrastructure.cards import Card, Review
from infrastructure.copies import REPORT_MARK, pictures_of, taking_its_place
from infrastructure.extras import has, missing
from infrastructure.language import tr
from study.blocks import where
from study.charts import CURVES, Curve, Picture, chinese_font, draw_all
from study.questions import one_line
from study.schedule import Timetable
from study.stats_views import BAR, FULL

CURVE_DAYS = 30
MOST_WRONG = 50
COMING_DAYS = 7


@dataclass(frozen=True)
class Told:
    """Everything a report is made of. notes are memories with concept, document and page; missed: questions without an answer."""

    numbers: Mapping[str, Any]
    cards: Sequence[Card]
    reviews: Sequence[Review]
    notes: Sequence[Any]
    missed: Sequence[str]
    here: set[str]  # ids of the documents in the library
    timetable: Timetable
    now: datetime


def write_report(told: Told, path: Path) -> list[Path]:
    """Write the report and its pictures; returns the pictures. HomeError when the disk refuses: an older report stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures = _draw(told, pictures_of(path)) if has("charts") else []
    with taking_its_place(path) as unfinished:
        unfinished.write_text("\n".join(report_lines(told, pictures)) + "\n", encoding="utf-8")
    return [picture.path for picture in pictures]


def _draw(told: Told, folder: Path) -> list[Picture]:
    folder.mkdir(exist_ok=True)
    study = told.numbers["study"]
    return draw_all(folder, study["days"], forgetting_curves(told), study["chapters"],
                    retention=told.timetable.retention, font=chinese_font())  # fmt: skip


def forgetting_curves(told: Told) -> list[Curve]:
    """For the chapters with the most cards that were answered: the mean chance to know them, day by day without a review."""
    groups: dict[str, list[Card]] = defaultdict(list)
    for card in told.cards:
        if not card.memory.is_new and card.status == "active":
            groups[card.heading_path.partition(" > ")[0] or card.document or tr("Notes", "笔记")].append(card)
    largest = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))[:CURVES]
    days = [told.now + timedelta(days=day) for day in range(CURVE_DAYS + 1)]
    chance = told.timetable.retrievability
    return [
        Curve(title, [sum(chance(card.memory, day) for card in cards) / len(cards) for day in days])
        for title, cards in largest
    ]


# ---- Markdown ----


def report_lines(told: Told, pictures: Sequence[Picture]) -> Iterator[str]:
    """The report, line by line."""
    yield REPORT_MARK
    yield f"# {tr('Study report', '学习报告')}"
    yield ""
    yield f"{told.timetable.local(told.now):%Y-%m-%d %H:%M}"
    yield from _glance(told)
    yield from _pictures(pictures)
    yield from _chapters(told.numbers["study"]["chapters"])
    yield from _wrong(told)
    yield from _coming(told)
    yield from _notes(told)
    yield from _missed(told)


def _section(title: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")


def _glance(told: Told) -> Iterator[str]:
    numbers, study = told.numbers, told.numbers["study"]
    yield from _section(tr("At a glance", "概览"))
    share = "–" if study["retention"] is None else f"{round(100 * study['retention'])} %"
    for name, value in (
        (tr("Documents", "资料"), numbers["documents"]),
        (tr("Questions asked", "提问"), numbers["questions"]),
        (tr("of these answered from the documents", "其中有据可答"), numbers["answered"]),
        (tr("Notes", "笔记"), numbers["notes"]),
        (tr("Cards", "卡片"), study["cards"]),
        (tr("due today", "今天到期"), study["due_today"]),
        (tr("Cards answered", "答题次数"), study["reviews"]),
        (tr("Still known when they came back (30 days)", "再次出现时仍记得（30 天）"), share),
        (tr("Days in a row", "连续学习天数"), study["streak_days"]),
        (tr("Minutes of study", "学习分钟数"), study["minutes"]["total"]),
    ):
        yield f"- {name}: {value}" if name.isascii() else f"- {name}：{value}"


def _pictures(pictures: Sequence[Picture]) -> Iterator[str]:
    if not has("charts"):
        yield from ("", f"*{missing('charts')}*")
    for picture in pictures:
        yield from _section(picture.title)
        yield f"![{picture.title}](<{picture.path.parent.name}/{picture.path.name}>)"
        if picture.legend:
            yield ""
            yield from (f"- {line}" for line in picture.legend)


def _chapters(chapters: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not chapters:
        return
    yield from _section(tr("Chapters", "章节"))
    yield tr(
        "| document | chapter | pages | opened | asked | cards | known |",
        "| 资料 | 章节 | 页 | 读过 | 提问 | 卡片 | 答对 |",
    )
    yield "|---|---|---|---|---|---|---|"
    for c in chapters:
        filled = round(BAR * min(1.0, c["opened"] / c["pages"]))
        opened = f"{FULL * filled}{'·' * (BAR - filled)} {c['opened']}/{c['pages']}"
        known = f"{c['right']}/{c['answers']}" if c["answers"] else ""
        pages = f"{c['first']}–{c['last']}" if c["last"] > c["first"] else str(c["first"])
        cells = (c["document"], c["title"], pages, opened, c["questions"], c["cards"], known)
        yield f"| {' | '.join(_inline(str(cell)) for cell in cells)} |"


def _wrong(told: Told) -> Iterator[str]:
    """The latest wrong answer to each card, the newest first."""
    cards = {card.card_id: card for card in told.cards}
    last = {review.card_id: review for review in told.reviews if review.rating == 1}
    wrong = sorted(last.values(), key=lambda review: review.at, reverse=True)[:MOST_WRONG]
    if not wrong:
        return
    yield from _section(tr("What went wrong", "答错的题"))
    for review in wrong:
        card = cards[review.card_id]
        given = (
            tr("answered “{}”", "答「{}」").format(one_line(review.given))
            if review.given
            else tr("no answer", "没有作答")
        )
        place = _place(card.document, card.page, card.page_label, card.document_id, told.here)
        yield f"- {_inline(card.question)}"
        yield f"  - {review.day}: {_inline(given)}; {tr('right is', '正确答案是')} **{_inline(card.answer)}**{place}"


def _place(document: str, page: int | None, label: str | None, document_id: str, here: set[str]) -> str:
    if not document:
        return ""
    told = document if page is None else "".join(map(str, where(document, page, label)))
    gone = tr(" (source removed)", "（来源已移除）") if document_id and document_id not in here else ""
    return f" — {_inline(told)}{gone}"


def _coming(told: Told) -> Iterator[str]:
    """How many cards come back on each of the next days."""
    today = told.timetable.day(told.now)
    due = [told.timetable.day(c.memory.due) for c in told.cards if c.status == "active" and not c.memory.is_new]
    rows = [(today + timedelta(days=n), sum(day == today + timedelta(days=n) or (n == 0 and day < today) for day in due))
            for n in range(COMING_DAYS)]  # fmt: skip
    if any(count for _, count in rows):
        yield from _section(tr("Coming back", "接下来的复习"))
        yield from (f"- {day}: {count}" for day, count in rows)


def _notes(told: Told) -> Iterator[str]:
    """Verbatim, line by line, each with its concept and place."""
    if not told.notes:
        return
    yield from _section(tr("My notes", "我的笔记"))
    for note in told.notes:
        meta = note.metadata
        place = _place(meta.get("document") or "", meta.get("page"), None, meta.get("document_id", ""), told.here)
        yield f"**{_inline(str(meta.get('concept', 'general')))}** {told.timetable.local(note.timestamp):%Y-%m-%d}{place}"
        yield ""
        yield from (f"> {line}" for line in note.content.split("\n"))
        yield ""


def _missed(told: Told) -> Iterator[str]:
    if told.missed:
        yield from _section(tr("Asked, and not in my documents", "问过但资料中没有的"))
        yield from (f"- {_inline(question)}" for question in told.missed)


# Signs that Markdown takes for its own; an underscore only where it could begin or end an emphasis, not in ____ or snake_case.
_MARKUP = re.compile(r"[\\`*<>\[\]#|]|(?<!\w)_{1,2}(?=[^\W_])|(?<=[^\W_])_{1,2}(?!\w)")


def _inline(text: str) -> str:
    """Foreign text on one line, as it reads."""
    return _MARKUP.sub(lambda signs: "".join(f"\\{sign}" for sign in signs[0]), one_line(text))
