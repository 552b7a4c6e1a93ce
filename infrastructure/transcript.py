"""Sessions and turns: the transcript. Never searched as memory; the source of resume, of `/why`, and of "asked but not found"."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from infrastructure.answers import Answer, Receipt, cited_in
from infrastructure.database import from_iso, to_iso
from infrastructure.storage import Storage
from infrastructure.text import repair
from infrastructure.utterance import secrets_in

LOOKED_BACK = 5  # turns in which "the next page" or "this document" may have its beginning


@dataclass(frozen=True)
class Turn:
    """One question and its answer. `found`: the answer stands on documents or memories. `trace`: what /why shows."""

    turn_id: int
    session_id: str
    asked_at: datetime
    question: str
    answer: str
    found: bool
    mode: str
    trace: dict[str, Any] = field(default_factory=dict)

    @property
    def is_question(self) -> bool:
        """A thanks, or something told, is none; an answer that was stopped was one to a question."""
        return not self.trace.get("noted") or bool(self.trace.get("partial"))

    @property
    def cited(self) -> list[dict[str, Any]]:
        """The sources that the answer names, in the order of their numbers; others were shown beside it, or only found."""
        named = cited_in(self.answer)
        return [source for source in self.trace.get("sources", []) if source["n"] in named]


_IS_QUESTION = "(json_extract(trace, '$.noted') IS NOT 1 OR json_extract(trace, '$.partial') IS 1)"


@dataclass(frozen=True)
class Session:
    session_id: str
    started_at: datetime
    last_at: datetime
    turns: int
    first_question: str


class Transcript:
    """The sessions of one home."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._db = storage.database

    def touch(self, session_id: str) -> None:
        """Begin a session, or note that it goes on."""
        now = to_iso(self._storage.now())
        with self._storage.transaction() as db:
            db.execute(
                "INSERT INTO sessions (session_id, started_at, last_at) VALUES (?, ?, ?) "
                "ON CONFLICT (session_id) DO UPDATE SET last_at = max(last_at, excluded.last_at)",
                (session_id, now, now),
            )

    def add(self, session_id: str, question: str, answer: str, *, found: bool, mode: str, trace: dict[str, Any]) -> int:
        """Write a turn down; returns its turn_id. Keys and passwords in what was asked are blacked out, wherever they stand."""
        for secret in secrets_in(question):
            question, answer, trace = (blacked_out(part, secret) for part in (question, answer, trace))
        with self._storage.transaction() as db:
            self.touch(session_id)
            cursor = db.execute(
                "INSERT INTO turns (session_id, asked_at, question, answer, found, mode, trace) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (session_id, to_iso(self._storage.now()), repair(question), repair(answer), int(found), mode,
                 repair(json.dumps(trace, ensure_ascii=False))),
            )  # fmt: skip
            return cursor.lastrowid

    def record(self, answer: Answer) -> int:
        """Write an answer down with what /why and resume need to know of it."""
        answer.trace |= {
            "sources": [asdict(citation) for citation in answer.citations],
            "nearest": [asdict(citation) for citation in answer.nearest],
            "memories": [asdict(memory) for memory in answer.memories],
            "written": [receipt.memory_id for receipt in answer.receipts if receipt.memory_id],
            "receipts": [_traced_receipt(receipt) for receipt in answer.receipts],
            "enriched_query": answer.enriched_query,
            "note": "" if "llm_failure" in answer.trace else answer.note,  # a provider's words are nobody's memory
        }
        return self.add(
            answer.session_id, answer.question, answer.answer, found=answer.found, mode=answer.mode, trace=answer.trace
        )

    def turns(self, session_id: str, *, since: datetime | None = None, last: int = -1) -> list[Turn]:
        """A session's turns, oldest first: those since a time, and of these the last so many (−1: all)."""
        rows = self._db.rows(
            "SELECT * FROM turns WHERE session_id = ? AND asked_at >= ? ORDER BY turn_id DESC LIMIT ?",
            (session_id, to_iso(since) if since else "", last),
        )
        return [self._turn(row) for row in reversed(rows)]

    def last_traces(self, session_id: str) -> list[dict[str, Any]]:
        """What led to the last few answers of a session, the latest first."""
        return [turn.trace for turn in reversed(self.turns(session_id, last=LOOKED_BACK))]

    def turn(self, turn_id: int) -> Turn | None:
        row = self._db.row("SELECT * FROM turns WHERE turn_id = ?", (turn_id,))
        return None if row is None else self._turn(row)

    def all_turns(self) -> list[Turn]:
        return [self._turn(row) for row in self._db.rows("SELECT * FROM turns ORDER BY turn_id")]

    @staticmethod
    def _turn(row) -> Turn:
        return Turn(
            row["turn_id"], row["session_id"], from_iso(row["asked_at"]), row["question"], row["answer"], bool(row["found"]),
            row["mode"], json.loads(row["trace"]),
        )  # fmt: skip

    def sessions(self, limit: int = 20) -> list[Session]:
        """The latest sessions, newest first."""
        rows = self._db.rows(
            "SELECT s.*, (SELECT count(*) FROM turns t WHERE t.session_id = s.session_id) AS turns, "
            f"(SELECT question FROM turns t WHERE t.session_id = s.session_id ORDER BY NOT {_IS_QUESTION}, turn_id LIMIT 1) "
            "AS first_question "
            "FROM sessions s ORDER BY last_at DESC, started_at DESC LIMIT ?",
            (limit,),
        )
        return [
            Session(
                r["session_id"],
                from_iso(r["started_at"]),
                from_iso(r["last_at"]),
                r["turns"],
                r["first_question"] or "",
            )
            for r in rows
        ]

    def latest(self, max_age: timedelta) -> str | None:
        """The session that was active last, if that is less than `max_age` ago."""
        sessions = self.sessions(1)
        if sessions and self._storage.now() - sessions[0].last_at < max_age:
            return sessions[0].session_id
        return None

    @staticmethod
    def new_id() -> str:
        return uuid.uuid4().hex

    # ---- real deletion ----

    def redact(self, text: str) -> int:
        """Black out a text wherever it stands verbatim in questions, answers and traces; returns in how many turns."""
        rows = self._db.rows(
            "SELECT * FROM turns WHERE instr(question, :text) OR instr(answer, :text) OR instr(trace, :in_json)",
            {"text": text, "in_json": in_json(text)},
        )
        return sum(self.rewrite(turn, blacked_out(turn, text)) for turn in map(self._turn, rows))

    def rewrite(self, old: Turn, new: Turn) -> bool:
        """Put a turn in place of what it was; False when they are the same."""
        if new == old:
            return False
        with self._storage.transaction() as db:
            db.execute(
                "UPDATE turns SET question = ?, answer = ?, trace = ? WHERE turn_id = ?",
                (new.question, new.answer, json.dumps(new.trace, ensure_ascii=False), old.turn_id),
            )
        return True

    def remove(self, turn_id: int) -> None:
        with self._storage.transaction() as db:
            db.execute("DELETE FROM turns WHERE turn_id = ?", (turn_id,))

    def counts(self) -> dict[str, int]:
        """questions, answered (found), sessions with at least one turn."""
        row = self._db.row(
            f"SELECT coalesce(sum({_IS_QUESTION}), 0) AS questions, coalesce(sum(found AND {_IS_QUESTION}), 0) AS answered, "
            "count(DISTINCT session_id) AS sessions FROM turns"
        )
        return dict(row)


def _traced_receipt(receipt: Receipt) -> dict[str, Any]:
    """Why something was refused is told for good; what a new value took the place of stays with the memories."""
    reason = receipt.reason if receipt.action == "refused" else ""
    return {**asdict(receipt), "reason": reason}


def traced_search(asked: Any, variants: Sequence[Any], results: Sequence[Any]) -> dict[str, Any]:
    """What a question was taken to mean (an Enrichment of script 12), what was searched and what was found."""
    return {
        "leans": asked.leans,
        "topic": asked.topic,
        "background": list(asked.used),
        "enriched_by": list(asked.memory_ids),
        "variants": [asdict(variant) for variant in variants],
        "results": [
            {
                "chunk_id": result.passage.chunk_id,
                "page": result.passage.page_start,
                "score": result.score,
                "relevance": round(result.relevance, 4),
                "why": result.why,
                "found_by": result.found_by,
            }
            for result in results
        ],
    }


BAR = "▇▇▇"  # what stands where something was


def blacked_out(value: Any, text: str) -> Any:
    """A turn, or anything JSON holds, without a text. Names of fields stay: a note that says "page" must not break the rest.

    >>> blacked_out({"page": ["my page", 7]}, "page")
    {'page': ['my ▇▇▇', 7]}
    """
    match value:
        case Turn():
            parts = {name: blacked_out(getattr(value, name), text) for name in ("question", "answer", "trace")}
            return replace(value, **parts)
        case dict():
            return {name: blacked_out(part, text) for name, part in value.items()}
        case list():
            return [blacked_out(part, text) for part in value]
        case str():
            return value.replace(text, BAR)
    return value


def in_json(text: str) -> str:
    """A text as it stands inside a string of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
