"""Real deletion: where a text leaves traces in a home, and how all of them go.

    the memory, what was made of it, its copies on the desk      rows, words, vectors and entities are deleted
    cards made of it, or that say it                             deleted with their grades
    the turns in which it was told, used or repeated             blacked out
    the log, the lines typed at the prompt                       blacked out, taken out
    backups and exports in the home, free pages, word index,
    write-ahead log, Chroma                                      deleted or rewritten, see Storage.erase_traces

What another process holds in RAM, and copies made outside the home, nobody here can reach.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from infrastructure.cards import CardTable
from infrastructure.copies import forget_lines
from infrastructure.library import OPENED
from infrastructure.lineage import REMOVED_DOCUMENTS, lineage, made_from_document
from infrastructure.storage import ERASING, Storage
from infrastructure.text import fold, repair
from infrastructure.transcript import BAR, Transcript, Turn, blacked_out, in_json

SHORTEST = 4  # characters: blacking out "RAG" everywhere would delete what was not asked for
QUOTED_IN = (
    "sources",
    "nearest",
)  # what a trace holds in a document's own words: cited, or offered when nothing was found
MADE_ON_THE_WAY = ("points", "citations", "variants")  # what a trace holds in the words of a document or a model


@dataclass
class PurgeReport:
    """What real deletion reached: the memories, the turns that were blacked out in whole or in part, and how many lines of
    the prompt's history went."""

    memory_ids: list[str] = field(default_factory=list)
    turns: int = 0
    lines: int = 0


class Eraser:
    """Deletes for good. `desk` and `stores` are the memories of script 09; `stores` keep rows."""

    def __init__(self, storage: Storage, desk: Any, stores: Sequence[Any]) -> None:
        self.storage, self.desk, self.stores = storage, desk, stores
        self.transcript = Transcript(storage)
        self.cards = CardTable(storage)

    def memory(self, memory_id: str) -> PurgeReport:
        """A memory and whatever was made of it. An unknown id gives an empty report."""
        return self._erase(lineage(memory_id, self.desk, self.stores))

    def turn(self, turn_id: int) -> PurgeReport:
        """A turn of the transcript, and the memories it wrote. An unknown id gives an empty report."""
        turn = self.transcript.turn(turn_id)
        if turn is None:
            return PurgeReport()
        written = [
            item for memory_id in _written_in(turn) for item in lineage(memory_id, self.desk, self.stores)
        ]  # fmt: skip
        return self._erase(written, turn)

    def document(self, document_id: str) -> int:
        """What answers and cards have quoted from a document, and the memories made of such answers; its pages and chunks are
        the library's to remove. Returns in how many turns something was blacked out. The learner's questions stay. `finish`
        must follow."""
        with self.storage.transaction() as db:
            self.storage.database.set_meta(ERASING, "1")
            made = made_from_document(document_id, self.desk, self.stores)
            ids = {item.memory_id for item in made}
            for store in self.stores:
                store.remove_many(sorted(ids))
            turns = [turn for turn in self.transcript.all_turns() if _stands_on(turn, document_id)]
            texts = {text for turn in turns for text in _quotations(turn, document_id)}
            texts |= {item.content for item in made}
            cleared = {turn.turn_id: _without_recalled(turn, ids) for turn in self.transcript.all_turns()}
            cleared |= {turn.turn_id: _without_document(cleared[turn.turn_id], document_id) for turn in turns}
            self.cards.remove_of(document_id=document_id)
            of_it = "action = ? AND json_extract(details, '$.document_id') = ?"
            db.execute(f"DELETE FROM log WHERE {of_it}", (OPENED, document_id))
            for session_id in {turn.session_id for turn in turns}:
                self.desk.clear(session_id)
            return self._clear_turns(cleared, _long_enough(texts))

    def quoted_under(self, name: str) -> set[str]:
        """Ids of the documents of this name, in any case, that answers, cards or memories stand on, be they here or removed."""
        quoted = [
            (source["document"], source["document_id"])
            for turn in self.transcript.all_turns()
            for kind in QUOTED_IN
            for source in turn.trace.get(kind, [])
        ]
        quoted += [(card.document, card.document_id) for card in self.cards.list() if card.document_id]
        for item in (item for store in self.stores for item in store.derived()):
            quoted += [(document, known) for known, document in item.metadata.get(REMOVED_DOCUMENTS, {}).items()]
        return {document_id for document, document_id in quoted if document.casefold() == name.casefold()}

    def finish(self) -> None:
        """Rewrite the files so that no byte of what was deleted is left."""
        self.storage.erase_traces()

    # ---- memories and turns ----

    def _erase(self, items: Sequence[Any], turn: Turn | None = None) -> PurgeReport:
        if not items and turn is None:
            return PurgeReport()
        items = self._with_records(items, turn)
        report = PurgeReport([item.memory_id for item in items])
        ids, every_wording = self._ids(items), self._wordings(items, turn)
        texts = _long_enough(every_wording)
        report.lines = forget_lines(self.storage.home, lambda typed: _tells(typed, every_wording))
        with self.storage.transaction():
            self.storage.database.set_meta(ERASING, "1")  # whatever happens from now on, the bytes will go
            for store in self.stores:
                store.remove_many(report.memory_ids)
            cleared = {told.turn_id: _without_memories(told, ids) for told in self.transcript.all_turns()}
            report.turns = self._clear_turns(cleared, texts)
            if turn is not None:
                self.transcript.remove(turn.turn_id)
            self.cards.remove_of(note_ids=report.memory_ids)
            for text in texts:
                self.cards.redact(text)
            self._clear_rows("memories", "id", "metadata", texts)
            self._clear_rows("log", "n", "details", texts)
            self.storage.log("purged", memory_ids=report.memory_ids)
        self._clear_desk(ids, texts)
        self.finish()
        return report

    def _with_records(self, items: Sequence[Any], turn: Turn | None) -> list[Any]:
        """Together with what a model recorded of the turns they were told in: "Asked “My cat is … What is RAG?”"."""
        found = {item.memory_id: item for item in items}
        for text in _long_enough(self._wordings(items, turn)):
            rows = self.storage.database.rows(
                "SELECT t.key FROM memories m JOIN texts t USING (id) WHERE m.source = 'model' AND instr(t.content, ?)",
                (text,),
            )
            for row in rows:
                found |= {item.memory_id: item for item in lineage(row["key"], self.desk, self.stores)}
        return list(found.values())

    def _ids(self, items: Sequence[Any]) -> set[str]:
        """By which turns know them: their own, and those of the desk's items they were made of, though the desk has changed."""
        made_of = {source for item in items for source in item.derived_from}
        lost = {source for source in made_of if not any(store.has_memory(source) for store in self.stores)}
        return {item.memory_id for item in items} | lost

    def _wordings(self, items: Sequence[Any], turn: Turn | None) -> set[str]:
        """Every wording of what is to go: as it is, as it was when an answer used it, and as it was told."""
        ids = self._ids(items)
        texts = {item.content for item in items} | {str(item.metadata.get("question") or "") for item in items}
        for told in self.transcript.all_turns():
            texts |= {memory["content"] for memory in told.trace.get("memories", []) if memory["memory_id"] in ids}
            if ids.intersection(_written_in(told)):
                texts.add(told.question)
        return (texts | ({turn.question} if turn else set())) - {"", BAR}

    def _clear_turns(self, cleared: Mapping[int, Turn], texts: Sequence[str]) -> int:
        """Put cleared turns in place of what they were, black the texts out in all others; returns how many changed.

        A model is shown what was said before in its session: its answers after a turn that is cleared go, too.
        """
        before = {turn.turn_id: turn for turn in self.transcript.all_turns()}
        sessions = set()
        for turn_id, turn in before.items():
            new = cleared.get(turn_id, turn)
            if turn.session_id in sessions:
                new = _without_model_answer(new)
            if self.transcript.rewrite(turn, new):
                sessions.add(turn.session_id)
        for text in texts:
            self.transcript.redact(text)
        return sum(turn != before[turn.turn_id] for turn in self.transcript.all_turns())

    def _clear_rows(self, table: str, key: str, column: str, texts: Sequence[str]) -> None:
        """Black the texts out in a column of JSON. A learner's own words, in a memory that stays, are not touched."""
        model_only = " AND source = 'model'" if table == "memories" else ""
        with self.storage.transaction() as db:
            for text in texts:
                sql = f"SELECT {key}, {column} FROM {table} WHERE instr({column}, ?){model_only}"
                for row in db.execute(sql, (in_json(text),)).fetchall():
                    cleared = _as_stored(blacked_out(json.loads(row[1]), text))
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (cleared, row[0]))

    def _clear_desk(self, ids: set[str], texts: Sequence[str]) -> None:
        for item in self.desk.list(status=None, limit=-1):
            said = f"{item.content}\n{json.dumps(item.metadata, ensure_ascii=False, default=str)}"
            used = ids.intersection((item.memory_id, *item.metadata.get("recalled", [])))
            if used or any(text in said or in_json(text) in said for text in texts):
                self.desk.remove(item.memory_id)


# ---- One turn without something ----


def _written_in(turn: Turn) -> list[str]:
    return turn.trace.get("written", [])


def _without_memories(turn: Turn, ids: set[str]) -> Turn:
    """Where one of them was told, nothing is left."""
    if ids.intersection(_written_in(turn)):
        return replace(turn, question=BAR, answer=BAR, trace={"noted": True})
    return _without_recalled(turn, ids)


def _without_recalled(turn: Turn, ids: set[str]) -> Turn:
    """A model that was shown one of them may have put it into its own words."""
    shown = {memory["memory_id"] for memory in turn.trace.get("memories", [])} & ids
    if not shown:
        return turn
    kept = [memory for memory in turn.trace["memories"] if memory["memory_id"] not in ids]
    return _without_model_answer(replace(turn, trace={**turn.trace, "memories": kept}))


def _without_model_answer(turn: Turn) -> Turn:
    if turn.mode != "llm" or turn.answer == BAR:
        return turn
    return replace(turn, answer=BAR, trace=_without(turn.trace, MADE_ON_THE_WAY))


def _without(trace: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in trace.items() if name not in names}


def _stands_on(turn: Turn, document_id: str) -> bool:
    """Was something of this document quoted, or shown to a model?"""
    if _sources(turn, document_id):
        return True
    return any(str(found["chunk_id"]).startswith(f"{document_id}_") for found in turn.trace.get("results", []))


def _sources(turn: Turn, document_id: str) -> list[dict[str, Any]]:
    quoted = (source for name in QUOTED_IN for source in turn.trace.get(name, []))
    return [source for source in quoted if source["document_id"] == document_id]


def _quotations(turn: Turn, document_id: str) -> Iterator[str]:
    """What a later turn may have taken up: points of the answer, and quotations."""
    yield from (point for point in turn.trace.get("points", []) if isinstance(point, str))
    yield from (source["quote"] for source in _sources(turn, document_id))


def _without_document(turn: Turn, document_id: str) -> Turn:
    quoted = _sources(turn, document_id)
    trace = _without(turn.trace, MADE_ON_THE_WAY)
    trace |= {name: [s for s in trace.get(name, []) if s not in quoted] for name in QUOTED_IN}
    said = any(source in turn.trace.get("sources", []) for source in quoted)
    return replace(turn, answer=BAR if said or turn.mode == "llm" else turn.answer, trace=trace)


def _as_stored(value: Any) -> str:
    """Readable, unless it holds half a character, which SQLite takes only as an escape."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if text != repair(text) else text


def _long_enough(texts: Collection[str]) -> list[str]:
    """The texts that are looked for inside others, the longest first, because one may hold another."""
    return sorted((text for text in texts if len(text) >= SHORTEST), key=len, reverse=True)


def _tells(typed: str, texts: Iterable[str]) -> bool:
    """Does a line hold one of the texts, but for spaces, quotes and the like? A short one only if it is all of the line.

    >>> _tells('/note "My cat  is Tom"', ["My cat is Tom."]), _tells("/note RAG", ["RAG"]), _tells("What is RAG?", ["RAG"])
    (True, True, False)
    """
    line = _letters(re.sub(r"^[/／]\w+\s", "", typed))
    letters = filter(None, map(_letters, texts))
    return any(text in line if len(text) >= SHORTEST else text == line for text in letters)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(text))
