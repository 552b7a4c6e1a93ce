"""My study in numbers, all of them counted from the home's database: the same after a restart, and after /clear.

days      questions asked and cards answered, by the learner's own days
minutes   the time between things I did, as long as it was no break; never the time the program was open
retention of the cards that came back after a day or more, the share I still knew
chapters  by the outline: asked about, cards, right answers, pages an answer cited, a card stood on, or I opened
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from infrastructure.cards import Card, Review
from study.lookback import Place
from study.schedule import REVIEW, Timetable

BREAK = timedelta(minutes=10)  # who does nothing for longer is not studying
WEEKS = 4
RETENTION_DAYS = 30
MOST_CHAPTERS = 60


@dataclass
class Chapter:
    """One chapter of a document by its outline; the whole document when it has none."""

    document_id: str
    document: str
    title: str
    first: int  # page
    last: int
    questions: int = 0
    cards: int = 0
    answers: int = 0
    right: int = 0
    opened: set[int] = field(default_factory=set)  # pages

    @property
    def pages(self) -> int:
        return self.last - self.first + 1

    def to_json(self) -> dict[str, Any]:
        shown = ("document", "title", "first", "last", "questions", "cards", "answers", "right")
        return {**{name: getattr(self, name) for name in shown}, "pages": self.pages, "opened": len(self.opened)}


def study_numbers(library: Any, turns: Sequence[Any], cards: Sequence[Card], reviews: Sequence[Review],
                  timetable: Timetable, now: datetime, opened: Iterable[Place] = ()) -> dict[str, Any]:  # fmt: skip
    """What `stats --json` has under "study". Shares are in [0, 1], None where there is nothing to share. opened: pages I
    looked at."""
    today = timetable.day(now)
    active = [card for card in cards if card.status == "active"]
    known = [
        review for review in reviews if review.before.state == REVIEW and review.at > now - timedelta(RETENTION_DAYS)
    ]
    minutes = minutes_by_day(turns, reviews, timetable)
    return {
        "due_today": sum(not c.memory.is_new and c.memory.due < timetable.end_of(today) for c in active),
        "new": sum(card.memory.is_new for card in active),
        "cards": len(cards),
        "suspended": len(cards) - len(active),
        "reviews": len(reviews),
        "retention": sum(review.rating > 1 for review in known) / len(known) if known else None,
        "retention_of": len(known),
        "streak_days": streak(_active_days(turns, reviews, timetable), today),
        "minutes": {"today": round(minutes[today]), "total": round(sum(minutes.values()))},
        "days": list(days(turns, reviews, minutes, timetable, today)),
        "chapters": [chapter.to_json() for chapter in chapters(library, turns, cards, reviews, opened)],
    }


# ---- Days ----


def _active_days(turns: Sequence[Any], reviews: Sequence[Review], timetable: Timetable) -> set[date]:
    return {timetable.day(turn.asked_at) for turn in turns} | {review.day for review in reviews}


def streak(active: set[date], today: date) -> int:
    """Days in a row, up to today or, while today has not begun, up to yesterday; a trip westward may put the last one ahead.

    >>> streak({date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 4)}, date(2026, 3, 5))
    1
    """
    day = max([day for day in active if day >= today], default=today - timedelta(days=1))
    count = 0
    while day in active:
        count, day = count + 1, day - timedelta(days=1)
    return count


def minutes_by_day(turns: Sequence[Any], reviews: Sequence[Review], timetable: Timetable) -> Counter[date]:
    """Minutes between one thing and the next, where that was no break; an answer that begins a stretch counts itself."""
    done = sorted([(turn.asked_at, 0.0, timetable.day(turn.asked_at)) for turn in turns]
                  + [(review.at, review.seconds, review.day) for review in reviews])  # fmt: skip
    found: Counter[date] = Counter()
    last: datetime | None = None
    for at, seconds, day in done:
        went_on = last is not None and at - last <= BREAK
        found[day] += ((at - last).total_seconds() if went_on else seconds) / 60
        last = at
    return found


def days(turns: Sequence[Any], reviews: Sequence[Review], minutes: Counter[date], timetable: Timetable,
         today: date) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The last four weeks, day by day, the oldest first; the first one is a Monday."""
    asked = Counter(timetable.day(turn.asked_at) for turn in turns if turn.is_question)
    answered = Counter(review.day for review in reviews)
    right = Counter(review.day for review in reviews if review.rating > 1)
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    for number in range((today - first).days + 1):
        day = first + timedelta(days=number)
        yield {"day": day.isoformat(), "questions": asked[day], "reviews": answered[day], "right": right[day],
               "minutes": round(minutes[day], 1)}  # fmt: skip


# ---- Chapters ----


def chapters(library: Any, turns: Iterable[Any], cards: Sequence[Card], reviews: Iterable[Review],
             opened: Iterable[Place] = ()) -> list[Chapter]:  # fmt: skip
    """All chapters of all documents in the library, with what was done in each."""
    books = {info.document_id: _chapters_of(library, info) for info in library.documents()}

    def at(document_id: str, page: int | None) -> Chapter | None:
        found = books.get(document_id, [])
        place = bisect_right([chapter.first for chapter in found], page or 1) - 1
        return found[max(0, place)] if found else None

    for turn in turns:
        for number, source in enumerate(turn.cited):
            if chapter := at(source["document_id"], source["page"]):
                chapter.questions += number == 0
                chapter.opened.add(source["page"])
    for document_id, page in opened:
        if chapter := at(document_id, page):
            chapter.opened.add(page)
    answers = defaultdict(list)
    for review in reviews:
        answers[review.card_id].append(review.rating > 1)
    for card in cards:
        if card.document_id and (chapter := at(card.document_id, card.page)):
            chapter.cards += 1
            chapter.answers += len(answers[card.card_id])
            chapter.right += sum(answers[card.card_id])
            if answers[card.card_id] and card.page:
                chapter.opened.add(card.page)
    return [chapter for book in books.values() for chapter in book][:MOST_CHAPTERS]


def _chapters_of(library: Any, info: Any) -> list[Chapter]:
    """By the shallowest level of the outline that divides the document; pages before the first entry belong to it."""
    entries = library.outline(info.document_id)
    levels = Counter(level for level, _title, _page in entries)
    level = min((level for level, count in levels.items() if count > 1), default=0)
    starts: dict[int, str] = {}
    for entry_level, title, page in entries:
        if entry_level == level:
            starts[page] = f"{starts[page]} · {title}" if page in starts else title
    if not starts:
        return [Chapter(info.document_id, info.name, info.name, 1, max(1, info.pages))]
    pages = sorted(starts)
    ends = [max(page, following - 1) for page, following in pairwise([*pages, info.pages + 1])]
    return [
        Chapter(info.document_id, info.name, starts[first], first, last)
        for first, last in zip(pages, ends, strict=True)
    ]
