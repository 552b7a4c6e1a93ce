"""Cards and grades: what a learner is asked, and each time it was.

    cards     a question with its answer, the page it stands on, the words that say so, and when it is due
    reviews   one row per grade, written in the same transaction as the card's new due date; `before` takes a grade back

A card remembers the name of its document: when the document is removed, the card stays. What the numbers of a `Memory` mean
is the scheduler's business; this file keeps them.
"""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import date, datetime
from typing import Any

from infrastructure.database import from_iso, to_iso
from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.storage import Storage
from infrastructure.text import repair
from infrastructure.transcript import BAR, in_json


@dataclass(frozen=True)
class Memory:
    """How well a card sits, as FSRS keeps it: state 1 learning, 2 review, 3 relearning; stability in days; difficulty 1–10."""

    due: datetime
    state: int = 1
    step: int | None = 0
    stability: float | None = None
    difficulty: float | None = None
    last_review: datetime | None = None  # None: never asked

    @property
    def is_new(self) -> bool:
        return self.last_review is None


@dataclass(frozen=True)
class Draft:
    """A question before it is a card. `quote` is verbatim from the page (or the note `note_id`) and contains the answer.

    kind: "term", "cloze", "choice", or "note" for a note told in other words.
    options: () for a typed answer, else all choices, the right one among them. accepted: other answers that are right.
    point: what it asks about, so that nothing is asked twice. source: who made it, "rules" or "model".
    """

    kind: str
    question: str
    answer: str
    quote: str
    point: str
    options: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    document_id: str = ""
    document: str = ""
    page: int | None = None
    page_label: str | None = None
    heading_path: str = ""
    note_id: str = ""
    source: str = "rules"


@dataclass(frozen=True)
class Card(Draft):
    """A kept question. status: "active" or "suspended"."""

    card_id: str = ""
    status: str = "active"
    created_at: str = ""
    edited_at: str = ""
    memory: Memory = field(default=Memory(datetime.max))

    @classmethod
    def from_row(cls, row: Any) -> "Card":
        drafted = {name: row[name] for name in _DRAFTED}
        drafted |= {name: tuple(json.loads(row[name])) for name in ("options", "accepted")}
        kept = {name: row[name] for name in ("card_id", "status", "created_at", "edited_at")}
        return cls(**drafted, **kept, memory=_memory({name: row[name] for name in _REMEMBERED}))


@dataclass(frozen=True)
class Review:
    """One grade. day: the learner's own day, which may begin at four in the morning. seconds: how long the answer took.

    verdict: "right", "almost", "wrong", or "" when the learner graded without an answer to judge.
    """

    review_id: int
    card_id: str
    at: datetime
    day: date
    given: str
    verdict: str
    rating: int
    seconds: float
    before: Memory


_DRAFTED = tuple(f.name for f in fields(Draft))
_REMEMBERED = tuple(f.name for f in fields(Memory))


def _memory(values: dict[str, Any]) -> Memory:
    times = {name: values[name] and from_iso(values[name]) for name in ("due", "last_review")}
    return Memory(**{**values, **times})


def _stored(memory: Memory) -> dict[str, Any]:
    times = {"due": to_iso(memory.due), "last_review": memory.last_review and to_iso(memory.last_review)}
    return {**asdict(memory), **times}


class CardTable:
    """The cards of one home."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._db = storage.database

    # ---- writing ----

    def add(self, drafts: Iterable[Draft]) -> list[Card]:
        """Keep these questions; new ones are due at once. A point that has a card already is left out."""
        added = []
        now = to_iso(self._storage.now())
        columns = [*_DRAFTED, "card_id", "created_at", "edited_at", *_REMEMBERED]
        sql = f"INSERT OR IGNORE INTO cards ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"
        with self._storage.transaction() as db:
            for draft in drafts:
                row = {
                    name: repair(value) if isinstance(value, str) else value for name, value in asdict(draft).items()
                }
                row |= {name: _json([*map(repair, row[name])]) for name in ("options", "accepted")}
                row |= {"card_id": uuid.uuid4().hex, "created_at": now, "edited_at": now}
                if db.execute(sql, row | _stored(Memory(self._storage.now()))).rowcount:
                    added.append(row["card_id"])
        return [self.get(card_id) for card_id in added]

    def edit(self, card_id: str, **changes: Any) -> Card:
        """Change question, answer, options, accepted, place or status. Its due date stays: a typo corrected is no new card."""
        changes |= {name: _json(changes[name]) for name in ("options", "accepted") if name in changes}
        changes = {name: repair(value) if isinstance(value, str) else value for name, value in changes.items()}
        if "status" not in changes:
            changes["edited_at"] = to_iso(self._storage.now())
        with self._storage.transaction() as db:
            sets = ", ".join(f"{name} = :{name}" for name in changes)
            db.execute(f"UPDATE cards SET {sets} WHERE card_id = :card_id", changes | {"card_id": card_id})
        return self.get(card_id)

    def grade(
        self, card: Card, after: Memory, *, rating: int, verdict: str, given: str, day: date, seconds: float
    ) -> Review:
        """A grade and the card's new due date, in one transaction: whatever happens next, both are there."""
        with self._storage.transaction() as db:
            self._remember(card.card_id, after)
            cursor = db.execute(
                "INSERT INTO reviews (card_id, at, day, given, verdict, rating, seconds, before) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (card.card_id, to_iso(self._storage.now()), day.isoformat(), repair(given), verdict, rating,
                 round(seconds, 1), _json(_stored(card.memory))),
            )  # fmt: skip
            return self.review(cursor.lastrowid)

    def regrade(self, review: Review, after: Memory, rating: int) -> None:
        """The learner knows better: another rating in place of the one that was just written."""
        with self._storage.transaction() as db:
            self._remember(review.card_id, after)
            db.execute("UPDATE reviews SET rating = ? WHERE review_id = ?", (rating, review.review_id))

    def _remember(self, card_id: str, memory: Memory) -> None:
        sets = ", ".join(f"{name} = :{name}" for name in _REMEMBERED)
        with self._storage.transaction() as db:
            db.execute(f"UPDATE cards SET {sets} WHERE card_id = :card_id", _stored(memory) | {"card_id": card_id})

    # ---- reading ----

    def get(self, card_id: str) -> Card | None:
        row = self._db.row("SELECT * FROM cards WHERE card_id = ?", (card_id,))
        return None if row is None else Card.from_row(row)

    def find(self, beginning: str) -> Card:
        """The one card whose id begins so. UsageError when none or several do."""
        wanted = beginning.strip().lower()
        rows = self._db.rows(
            "SELECT * FROM cards WHERE substr(card_id, 1, length(:b)) = :b AND :b != '' LIMIT 2", {"b": wanted}
        )
        if len(rows) == 1:
            return Card.from_row(rows[0])
        if rows:
            raise UsageError(tr(f"Several cards begin with {beginning}; give more of the id.",
                                f"有多张卡片以 {beginning} 开头，请多写几位编号。"))  # fmt: skip
        raise UsageError(tr(f"There is no card {beginning}; the command cards lists them.",
                            f"没有卡片 {beginning}；用 cards 命令可以列出全部卡片。"))  # fmt: skip

    def list(
        self, *, status: str | None = None, document_id: str | None = None, limit: int = -1, offset: int = 0
    ) -> list[Card]:
        """Cards in the order they were made; limit −1 means all, None of a filter too."""
        where, args = _narrowed(status, document_id)
        rows = self._db.rows(f"SELECT * FROM cards WHERE {where} ORDER BY n LIMIT ? OFFSET ?", (*args, limit, offset))
        return [Card.from_row(row) for row in rows]

    def count(self, *, status: str | None = None, document_id: str | None = None) -> int:
        where, args = _narrowed(status, document_id)
        return self._db.value(f"SELECT count(*) FROM cards WHERE {where}", args)

    def review(self, review_id: int) -> Review:
        return _review(self._db.row("SELECT * FROM reviews WHERE review_id = ?", (review_id,)))

    def reviews(self, card_ids: Sequence[str] | None = None) -> "list[Review]":
        """All grades, or those of some cards, in the order they were given."""
        rows = self._db.rows("SELECT * FROM reviews ORDER BY review_id")
        return [_review(row) for row in rows if card_ids is None or row["card_id"] in card_ids]

    # ---- real deletion ----

    def remove_of(self, *, document_id: str = "", note_ids: Iterable[str] = ()) -> int:
        """Delete the cards made from a document or from notes, with their grades; returns how many there were."""
        with self._storage.transaction() as db:
            gone = db.execute("DELETE FROM cards WHERE document_id = ? AND document_id != ''", (document_id,)).rowcount
            for note_id in note_ids:
                gone += db.execute("DELETE FROM cards WHERE note_id = ?", (note_id,)).rowcount
        return gone

    def redact(self, text: str) -> None:
        """Delete the cards in which a text stands, and black it out in what was answered to others."""
        stands = " OR ".join(f"instr({name}, :text)" for name in ("question", "answer", "quote"))
        stands += " OR instr(options, :in_json) OR instr(accepted, :in_json)"
        with self._storage.transaction() as db:
            db.execute(f"DELETE FROM cards WHERE {stands}", {"text": text, "in_json": in_json(text)})
            db.execute("UPDATE reviews SET given = replace(given, :text, :bar) WHERE instr(given, :text)",
                       {"text": text, "bar": BAR})  # fmt: skip


def _narrowed(status: str | None, document_id: str | None) -> tuple[str, list[str]]:
    chosen = [(name, value) for name, value in (("status", status), ("document_id", document_id)) if value is not None]
    return " AND ".join(["1", *(f"{name} = ?" for name, _ in chosen)]), [value for _, value in chosen]


def _review(row: Any) -> Review:
    return Review(
        row["review_id"], row["card_id"], from_iso(row["at"]), date.fromisoformat(row["day"]), row["given"], row["verdict"],
        row["rating"], row["seconds"], _memory(json.loads(row["before"])),
    )  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
