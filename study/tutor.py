"""Quiz and cards: which questions come, what an answer is worth, and when each comes back.

    due cards → cards never answered → new questions, until there are enough
    answer → verdict by the program → grade → FSRS → one transaction

Nothing here remembers anything: every number is in the home's database when a method returns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from infrastructure.cards import Card, CardTable, Review
from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.text import content_tokens, tokens
from study.grading import RATINGS, chosen, judge, key
from study.quizmaker import QuizMaker
from study.schedule import Timetable

LONGEST_THOUGHT = timedelta(minutes=5)  # an answer that took longer was a break


@dataclass(frozen=True)
class Quiz:
    """Cards to ask, in order. dropped: (question, reason) of what a model made and is no good. note: why the model did not help.

    waiting: due cards that this quiz does not ask.
    """

    cards: list[Card]
    dropped: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""
    waiting: int = 0


@dataclass(frozen=True)
class Graded:
    """A grade as it was written. card: as it is now; verdict "" when the learner graded without an answer."""

    card: Card
    review: Review
    given: str
    verdict: str
    rating: int

    @property
    def due(self) -> datetime:
        return self.card.memory.due


class Tutor:
    """On one home. `maker` makes new questions; `timetable` knows the learner's day and FSRS."""

    def __init__(self, storage: Any, maker: QuizMaker, cards: CardTable, timetable: Timetable) -> None:
        self._storage, self._maker, self.cards, self.timetable = storage, maker, cards, timetable

    # ---- Asking ----

    def quiz(
        self,
        topic: str = "",
        *,
        document_id: str | None = None,
        count: int = 5,
        due_only: bool = False,
        llm: Any = None,
    ) -> Quiz:
        """Due cards first, then cards never answered, then new questions (which are kept as cards)."""
        if topic and not tokens(topic):
            raise UsageError(tr("Give a topic in words, or none at all.", "请用文字写主题，或者不写。"))
        now = self._storage.now()
        known = [card for card in self.cards.list(status="active", document_id=document_id) if _speaks_of(topic, card)]
        due = sorted((c for c in known if self.timetable.is_due(c, now)), key=lambda card: card.memory.due)
        if due_only:
            return Quiz(due[:count], waiting=len(due[count:]))
        asked = [*due, *(card for card in known if card.memory.is_new)][:count]
        if len(asked) == count:
            return Quiz(asked, waiting=len(due[count:]))
        made = self._maker.make(count - len(asked), topic, [document_id] if document_id else None, llm=llm)
        return Quiz([*asked, *self.cards.add(made.drafts)], made.dropped, made.note)

    # ---- Answering ----

    def answer(self, card_id: str, given: str = "", *, rating: int | None = None, seconds: float = 0.0) -> Graded:
        """Judge an answer, or take the learner's own rating (1 again … 4 easy), and write it down at once."""
        card = self.cards.find(card_id)
        if card.status != "active":
            raise UsageError(tr(f"This card is suspended; first: cards resume {card.card_id[:8]}",
                                f"这张卡片已停用；请先执行 cards resume {card.card_id[:8]}"))  # fmt: skip
        verdict = "" if rating and not given.strip() else judge(card, given)
        rating = rating or RATINGS[verdict]
        now = self._storage.now()
        given = chosen(card, given)
        review = self.cards.grade(
            card, self.timetable.after(card.memory, rating, now), rating=rating, verdict=verdict, given=given,
            day=self.timetable.day(now), seconds=min(seconds, LONGEST_THOUGHT.total_seconds()),
        )  # fmt: skip
        return Graded(self.cards.get(card.card_id), review, given, verdict, rating)

    def regrade(self, graded: Graded, rating: int) -> Graded:
        """Another rating in place of the one just given, as if it had been given then."""
        after = self.timetable.after(graded.review.before, rating, graded.review.at)
        self.cards.regrade(graded.review, after, rating)
        review = self.cards.review(graded.review.review_id)
        return Graded(self.cards.get(graded.card.card_id), review, graded.given, graded.verdict, rating)

    def about(self, topic: str, passages: Sequence[Any] = ()) -> list[Card]:
        """The cards that speak of a topic, or whose quotation stands in one of these passages."""
        texts = [(passage.document_id, key(passage.content)) for passage in passages]
        return [
            card for card in self.cards.list()
            if _speaks_of(topic, card) or any(card.document_id == d and key(card.quote) in text for d, text in texts)
        ]  # fmt: skip

    # ---- Keeping cards ----

    def edit(self, card_id: str, *, question: str | None = None, answer: str | None = None) -> Card:
        """Correct a question or its answer; an option that was the answer changes along. The due date stays."""
        card = self.cards.find(card_id)
        changes: dict[str, Any] = {"question": question, "answer": answer}
        changes = {name: value.strip() for name, value in changes.items() if value is not None}
        if not changes or not all(changes.values()):
            raise UsageError(tr("Say what to change: --question TEXT or --answer TEXT.",
                                "请写明要改什么：--question 文字 或 --answer 文字。"))  # fmt: skip
        if "answer" in changes and card.options:
            options = [changes["answer"] if option == card.answer else option for option in card.options]
            if len(set(options)) < len(options):
                raise UsageError(tr("That is one of the other options already.", "这已经是另一个选项了。"))
            changes["options"] = options
        return self.cards.edit(card.card_id, **changes)

    def set_status(self, card_id: str, status: str) -> Card:
        """ "active" or "suspended"; a suspended card is not asked and keeps what it knows."""
        return self.cards.edit(self.cards.find(card_id).card_id, status=status)

    def follow(self, replaced: Sequence[str], document_id: str, pages: Sequence[Any]) -> None:
        """A document was replaced by a newer version: its cards go to the page that still says what they quote. Those whose
        words are gone stay with the old one, and say that their source was removed."""
        texts = [(page, key(page.raw)) for page in pages]
        for card in (card for old in replaced for card in self.cards.list(document_id=old)):
            found = next((page for page, text in texts if key(card.quote) in text), None)
            if found is not None:
                self.cards.edit(card.card_id, document_id=document_id, page=found.page, page_label=found.label)

    def numbers(self, library: Any, turns: Sequence[Any], opened: Iterable[tuple[str, int]]) -> dict[str, Any]:
        """My study in numbers; see `stats`."""
        from study.stats import study_numbers

        now = self._storage.now()
        return study_numbers(library, turns, self.cards.list(), self.cards.reviews(), self.timetable, now, opened)


def _speaks_of(topic: str, card: Card) -> bool:
    """Half of the topic's words, or more, stand in the card or in the heading above its page."""
    if not topic:
        return True
    words = set(content_tokens(topic) or tokens(topic))
    said = set(tokens(" ".join([card.question, card.answer, card.quote, card.heading_path])))
    return len(words & said) >= max(1, len(words) / 2)


def without_answers(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """Questions as `quiz --json` prints them."""
    shown = ("card_id", "kind", "question", "document", "page", "page_label")
    return [
        {name: getattr(card, name) for name in shown}
        | {"options": list(card.options), "new": card.memory.is_new, "due": card.memory.due.isoformat()}
        for card in cards
    ]
