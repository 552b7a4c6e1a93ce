"""Parts of a review of a topic: what went wrong in quizzes, which parts of its chapters were never touched, what to do next."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from infrastructure.cards import Card, Review
from infrastructure.language import tr

Place = tuple[str, int]  # document_id, page
AGAIN = 1
MOST_GAPS = 8
MOST_MISTAKES = 10


@dataclass(frozen=True)
class Section:
    """A place in a document that is about the topic. `touched`: an answer cited this page, a card or a note stood on it, or it
    was opened."""

    document: str
    heading_path: str
    page: int
    touched: bool
    page_label: str | None = None


@dataclass(frozen=True)
class Mistake:
    """A card that was answered wrongly: when last, what was said, how often, and whether it has been known since."""

    card_id: str
    question: str
    given: str
    answer: str
    at: datetime
    times: int
    known_since: bool
    document: str
    page: int | None
    page_label: str | None


def mistakes(cards: Sequence[Card], reviews: Sequence[Review]) -> list[Mistake]:
    """For each of the cards that was ever wrong, the last time it was; the latest first."""
    by_card: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        by_card[review.card_id].append(review)
    found = []
    for card in cards:
        wrong = [review for review in by_card[card.card_id] if review.rating == AGAIN]
        if wrong:
            known = by_card[card.card_id][-1].rating > AGAIN
            found.append(Mistake(card.card_id, card.question, wrong[-1].given, card.answer, wrong[-1].at, len(wrong), known,
                                 card.document, card.page, card.page_label))  # fmt: skip
    return sorted(found, key=lambda mistake: mistake.at, reverse=True)[:MOST_MISTAKES]


def touched_places(
    turns: Sequence[Any],
    cards: Sequence[Card],
    reviews: Sequence[Review],
    notes: Sequence[Any],
    opened: Iterable[Place],
) -> set[Place]:
    """Pages that an answer cited or the learner opened, on which a card was answered, or a note was written."""
    answered = {review.card_id for review in reviews}
    places = {(source["document_id"], source["page"]) for turn in turns for source in turn.cited} | set(opened)
    places |= {(card.document_id, card.page) for card in cards if card.page and card.card_id in answered}
    noted = [note.metadata for note in notes if {"document_id", "page"} <= note.metadata.keys()]
    return places | {(place["document_id"], place["page"]) for place in noted}


def gaps(library: Any, passages: Sequence[Any], touched: Collection[Place]) -> list[Section]:
    """Parts of the outline beside those these passages stand in, under the same heading, of which no page was ever touched.
    What stands under other headings is another topic."""
    parents: dict[tuple[str, str], set[str]] = defaultdict(set)
    for passage in passages:
        if passage.heading_path:
            parent = passage.heading_path.rpartition(" > ")[0] or passage.heading_path
            parents[passage.document_id, passage.document].add(parent)
    found = []
    for (document_id, document), wanted in parents.items():
        for path, pages in _leaves(library.outline(document_id)):
            inside = any(path == parent or path.startswith(f"{parent} > ") for parent in wanted)
            if inside and not any((document_id, page) in touched for page in pages):
                stored = library.page(document_id, pages[0])
                found.append(Section(document, path, pages[0], False, stored and stored.label))
    return found[:MOST_GAPS]


def _leaves(outline: Sequence[tuple[int, str, int]]) -> Iterator[tuple[str, range]]:
    """(heading path, pages) of every entry that has no parts of its own."""
    open_titles: list[tuple[int, str]] = []
    for (level, title, page), (next_level, _, following) in pairwise([*outline, (0, "", 0)]):
        while open_titles and open_titles[-1][0] >= level:
            open_titles.pop()
        open_titles.append((level, title))
        if next_level <= level:
            yield " > ".join(title for _, title in open_titles), range(page, max(page, following - 1) + 1)


def next_step(topic: str, asked: Sequence, noted: Sequence, wrong: Sequence[Mistake], sections: Sequence[Section],
              gaps: Sequence[Section]) -> str:  # fmt: skip
    """One sentence: read what answers have not used, repeat what went wrong, fill a gap, write a note, test yourself."""
    if unread := next((section for section in sections if not section.touched), None):
        place = _place(unread)
        return tr(f"Read {place}: you have not opened it yet.", f"可以读 {place}：这一页你还没有看过。")
    if again := next((mistake for mistake in wrong if not mistake.known_since), None):
        place = _page(again.document, again.page, again.page_label) if again.page else again.document
        place = place or tr("your note", "你的笔记")
        return tr(f"Read {place} again, then type: quiz {topic}", f"重读 {place}，再输入：quiz {topic}")
    if gaps:
        place = _place(gaps[0])
        return tr(f"Go on with {place}: nothing of it was touched.", f"接着读 {place}：这部分还没有碰过。")
    if asked and not noted:
        return tr(
            f"Put what you learned about {topic} into a note of your own.", f"把学到的“{topic}”写成一条自己的笔记。"
        )
    if asked or noted or wrong:
        return tr(f"Everything found on it has been opened: test yourself with quiz {topic}",
                  f"相关页面都看过了，可以自测：quiz {topic}")  # fmt: skip
    return tr(f"Nothing about {topic} yet; ask a first question.", f"还没有关于“{topic}”的记录；先问一个问题吧。")


def _place(section: Section) -> str:
    place = _page(section.document, section.page, section.page_label)
    heading = section.heading_path
    return place + tr(f" ({heading})", f"（{heading}）") if heading else place


def _page(document: str, page: int, page_label: str | None) -> str:
    """In the words and with the numbers of the list above it."""
    from study.blocks import place  # brings rich with it

    return f"{document}{tr(', ', '，')}{place(page, page_label)}"
