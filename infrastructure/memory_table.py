"""The rows of one kind of memory: get, list, change, archive, delete. Script 09 adds what makes them memories.

A memory is a text (found by the machinery that finds all texts) and a row of `memories` with the same id. What a row means
is the item's business: `item_type.from_row` and `item.to_row` are inverse to each other.
"""

from __future__ import annotations  # the method `list` would hide the type in the annotations below it

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from infrastructure.database import from_iso, to_iso
from infrastructure.memory_rows import SOURCES, STATUSES, for_another_text
from infrastructure.shelves import Text
from infrastructure.storage import Storage

SCORINGS = ("bounded", "article")

# Uses closer together than this are one use: five questions in one sitting say less than one a day for five days.
SPACING = timedelta(minutes=10)


def is_new_use(last_accessed: datetime | None, now: datetime) -> bool:
    """False within SPACING of the last use. A last use in the future was stamped by a clock that ran ahead: it is over."""
    return last_accessed is None or not timedelta(0) <= now - last_accessed < SPACING


def require_scoring(name: str) -> str:
    if name not in SCORINGS:
        raise ValueError(f"scoring is one of {', '.join(SCORINGS)}, not {name!r}")
    return name


def only_metadata(metadata: dict[str, Any], item_type: type) -> dict[str, Any]:
    """A field of an item is no metadata: `add("…", status="archived")` would be ignored without a word."""
    taken = metadata.keys() & {field.name for field in fields(item_type)}
    if taken:
        raise TypeError(f"cannot be given here: {', '.join(sorted(taken))}")
    return metadata


_FROM = "FROM texts t JOIN memories m USING (id)"
_SELECT = f"SELECT t.key, t.scope, t.content, m.* {_FROM}"


@dataclass(frozen=True)
class Filter:
    """Which memories: of one session, since ≤ occurred_at < until, min ≤ importance < max, so often used or more, from
    one source, neither written nor used since a moment, of one status (None: any).

    as_of: what was held true at that moment, whether it still is ("active") or not ("superseded").
    """

    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_importance: float = 0.0
    max_importance: float | None = None
    min_access: int = 0
    source: str | None = None
    untouched_since: datetime | None = None
    status: str | None = "active"
    as_of: datetime | None = None

    def __post_init__(self) -> None:
        for value, known in ((self.status, STATUSES), (self.source, SOURCES)):
            if value is not None and value not in known:
                raise ValueError(f"{value!r} is none of {', '.join(known)}")

    @property
    def narrows_search(self) -> bool:
        """True when it asks for more than one session's active memories, which the search machinery does by itself."""
        return self != Filter(session_id=self.session_id)

    def where(self, memory_type: str) -> tuple[str, list[Any]]:
        """As SQL, with its arguments."""
        tests = {
            "m.memory_type = ?": memory_type,
            "t.scope = ?": self.session_id,
            "m.occurred_at >= ?": self.since and to_iso(self.since),
            "m.occurred_at < ?": self.until and to_iso(self.until),
            "m.importance >= ?": self.min_importance or None,
            "m.importance < ?": self.max_importance,
            "m.access_count >= ?": self.min_access or None,
            "m.source = ?": self.source,
            "max(m.timestamp, coalesce(m.last_accessed, '')) < ?": self.untouched_since
            and to_iso(self.untouched_since),
            "m.valid_from <= ?": self.as_of and to_iso(self.as_of),
            "coalesce(m.valid_until, '~') > ?": self.as_of and to_iso(self.as_of),
            "m.status != ?": self.as_of and "archived",
            "m.status = ?": None if self.as_of else self.status,
        }
        given = {test: value for test, value in tests.items() if value is not None}
        return " AND ".join(given), list(given.values())

    def accepts(self, item: Any) -> bool:
        """The same for an item that is in no table."""
        told, touched = item.occurred_at, max(item.timestamp, item.last_accessed or item.timestamp)
        tests = (
            self.session_id in (None, item.session_id),
            (self.since is None or told >= self.since) and (self.until is None or told < self.until),
            self.min_importance <= item.importance < (math.inf if self.max_importance is None else self.max_importance),
            item.access_count >= self.min_access,
            self.source in (None, item.source),
            self.untouched_since is None or touched < self.untouched_since,
            item.held_at(self.as_of) and item.status != "archived"
            if self.as_of
            else self.status in (None, item.status),
        )
        return all(tests)


class SessionSpan(NamedTuple):
    """One session's share of a kind of memory."""

    session_id: str
    count: int
    first: datetime
    last: datetime


class MemoryTable:
    """The memories of one `memory_type` in one home. Changes that belong together go in `with table.transaction():`."""

    memory_type = ""
    item_type: type

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._db = storage.database
        self.transaction = storage.transaction

    # ---- reading ----

    def get(self, memory_id: str) -> Any | None:
        row = self._db.row(f"{_SELECT} WHERE t.key = ? AND m.memory_type = ?", (memory_id, self.memory_type))
        return None if row is None else self.item_type.from_row(row)

    def has_memory(self, memory_id: str) -> bool:
        return self.get(memory_id) is not None

    def list(self, *, limit: int = 100, offset: int = 0, newest_first: bool = False, **chosen: Any) -> list[Any]:
        """Memories by when they happened, oldest first unless `newest_first`; limit −1 means all.

        `chosen` as in `Filter`: session_id, since, until, min_importance, …, status (default "active").
        """
        where, args = Filter(**chosen).where(self.memory_type)
        order = "m.occurred_at DESC, t.id DESC" if newest_first else "m.occurred_at, t.id"
        sql = f"{_SELECT} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?"
        return [self.item_type.from_row(row) for row in self._db.rows(sql, (*args, limit, offset))]

    def ids_beginning(self, prefix: str, limit: int = 10) -> list[str]:
        """memory_ids that begin so, whatever their status, in order."""
        sql = f"SELECT t.key {_FROM} WHERE m.memory_type = ? AND t.key >= ? AND substr(t.key, 1, ?) = ? ORDER BY t.key LIMIT ?"
        return [row["key"] for row in self._db.rows(sql, (self.memory_type, prefix, len(prefix), prefix, limit))]

    def size(self, session_id: str | None = None) -> int:
        """How many active memories, of one session or of all."""
        return self.count(session_id=session_id)

    def count(self, **chosen: Any) -> int:
        """How many memories `list` would give without a limit."""
        where, args = Filter(**chosen).where(self.memory_type)
        return self._db.value(f"SELECT count(*) {_FROM} WHERE {where}", args)

    def get_stats(self) -> dict[str, Any]:
        """count, mean_importance, uses, oldest, newest of the active ones; how many are archived, and superseded."""
        row = self._db.row(
            "SELECT count(*) AS count, avg(importance) AS mean_importance, coalesce(sum(access_count), 0) AS uses, "
            "min(occurred_at) AS oldest, max(occurred_at) AS newest "
            "FROM memories WHERE memory_type = ? AND status = 'active'",
            (self.memory_type,),
        )
        away = dict(
            self._db.rows(
                "SELECT status, count(*) FROM memories WHERE memory_type = ? AND status != 'active' GROUP BY status",
                (self.memory_type,),
            )
        )
        return {**dict(row), "archived": away.get("archived", 0), "superseded": away.get("superseded", 0)}

    def sessions(self) -> list[SessionSpan]:
        """Every session with active memories of this kind: how many, and when the first and the last of them happened."""
        rows = self._db.rows(
            f"SELECT t.scope, count(*), min(m.occurred_at) AS first, max(m.occurred_at) {_FROM} "
            "WHERE m.memory_type = ? AND m.status = 'active' GROUP BY t.scope ORDER BY first, t.scope",
            (self.memory_type,),
        )
        return [SessionSpan(scope, count, from_iso(first), from_iso(last)) for scope, count, first, last in rows]

    def export(self) -> Iterator[dict[str, Any]]:
        """Every memory of this kind as a JSON-ready dict, whatever its status."""
        for item in self.list(status=None, limit=-1):
            yield {"memory_id": item.memory_id, "session_id": item.session_id, "content": item.content, **item.to_row()}

    def row_ids(self, chosen: Filter) -> list[int]:
        where, args = chosen.where(self.memory_type)
        # Alone, `memories` is read off the index memories_by_time.
        tables = "memories m" if chosen.session_id is None else "memories m JOIN texts t USING (id)"
        return [row[0] for row in self._db.rows(f"SELECT m.id FROM {tables} WHERE {where}", args)]

    def items(self, row_ids: Iterable[int]) -> dict[int, Any]:
        rows = self.storage.select_in(f"{_SELECT} WHERE t.id IN", row_ids)
        return {row["id"]: self.item_type.from_row(row) for row in rows}

    def looked_up(self, column: str, values: Iterable[str]) -> dict[str, list[Any]]:
        """Memories, but for the archived ones, by fingerprint or slot: the candidates for "said before", or otherwise."""
        # +status: look the values up. SQLite on its own walks through all active memories.
        sql = f"{_SELECT} WHERE m.memory_type = ? AND +m.status != 'archived' AND m.{column} IN"
        found: dict[str, list[Any]] = {}
        for row in self.storage.select_in(sql, set(values), (self.memory_type,)):
            found.setdefault(row[column], []).append(self.item_type.from_row(row))
        return found

    def trust_of(self, memory_ids: Sequence[str], source: str) -> str:
        """The least trusted of a source and those of memories of any kind: what is made of them is no better."""
        rows = self.storage.select_in(f"SELECT DISTINCT m.source {_FROM} WHERE t.key IN", memory_ids)
        return min([source, *(row["source"] for row in rows)], key=SOURCES.index)

    def derived(self) -> list[Any]:
        """Memories of this kind that were made from others, whatever their status, oldest first."""
        sql = f"{_SELECT} WHERE m.memory_type = ? AND m.derived_from != '[]' ORDER BY t.id"
        return [self.item_type.from_row(row) for row in self._db.rows(sql, (self.memory_type,))]

    # ---- writing ----

    def insert(self, items: Sequence[Any], vectors=None) -> list[int]:
        """New rows for new items, in one transaction; returns their row ids. `vectors` (n, dim) as in `add_texts`."""
        if not items:
            return []
        columns = tuple(items[0].to_row())
        sql = f"INSERT INTO memories (id, {', '.join(columns)}) VALUES (:id, {', '.join(f':{c}' for c in columns)})"
        texts = [
            Text(
                item.memory_id, item.session_id, item.content, item.heading, words=None if item.heading else item.words
            )
            for item in items
        ]
        with self.transaction() as db:
            row_ids = self.storage.add_texts(self.memory_type, texts, vectors=vectors)
            db.executemany(sql, [{"id": i, **item.to_row()} for i, item in zip(row_ids, items, strict=True)])
            self._linked(row_ids, items)
        return row_ids

    def update(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        importance: float | None = None,
        pinned: bool | None = None,
        source: str | None = None,
        occurred_at: datetime | None = None,
        derived_from: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> bool:
        """Change what is given, keep the rest; False when there is no such memory.

        For a value that *was* true, `supersede` keeps the old one with its interval.
        """
        given = {
            "content": content,
            "importance": importance,
            "pinned": pinned,
            "source": source,
            "occurred_at": occurred_at,
            "derived_from": None if derived_from is None else list(derived_from),
        }
        changes = {name: value for name, value in given.items() if value is not None}
        with self.transaction():
            item = self.get(memory_id)
            if item is None:
                return False
            is_new = content is not None and content != item.content
            kept = for_another_text(item.metadata) if is_new else item.metadata
            changed = replace(item, **changes, metadata={**kept, **(metadata or {})})
            self._save(changed)
            if (changed.content, changed.heading) != (item.content, item.heading):
                self.storage.replace_text(memory_id, changed.content, heading=changed.heading)
            if (changed.content, changed.metadata) != (item.content, item.metadata):
                self._linked([self._row_id(memory_id)], [changed])
        return True

    def archive(self, memory_id: str) -> bool:
        """Out of the default search, restorable. False when there is no such active memory."""
        with self.transaction():
            item = self.get(memory_id)
            if item is None or item.status != "active":
                return False
            self._retire(item, status="archived")
        return True

    def restore(self, memory_id: str) -> bool:
        """Back into the default search, as it was before it was archived or superseded."""
        with self.transaction():
            item = self.get(memory_id)
            if item is None or item.status == "active":
                return False
            self._save(replace(item, status="active", valid_until=None, superseded_by=None))
            self.storage.move_text(memory_id, self.memory_type)
        return True

    def remove(self, memory_id: str) -> bool:
        """Delete a memory for good; False when there is none. Bytes in free pages go with `storage.erase_traces`."""
        return self.remove_many([memory_id]) == 1

    def remove_many(self, memory_ids: Iterable[str]) -> int:
        """Delete memories of this kind for good; returns how many there were. Other ids are skipped."""
        with self.transaction():
            return self.storage.remove_texts([i for i in memory_ids if self.has_memory(i)])

    def clear(self, session_id: str) -> int:
        """Delete one session's memories of this kind; returns how many. An empty id is a ValueError, not "all"."""
        if not session_id:
            raise ValueError("say which session to clear")
        return self.remove_many(item.memory_id for item in self.list(session_id=session_id, status=None, limit=-1))

    def clear_all(self) -> int:
        """Delete every memory of this kind, of all sessions; returns how many."""
        return self.remove_many(item.memory_id for item in self.list(status=None, limit=-1))

    def mark_used(self, memory_ids: Iterable[str]) -> int:
        """D3: these memories were used in an answer. Reading or listing a memory never counts. Returns how many counted.

        Uses within SPACING of the last one are the same use: they move `last_accessed`, not `access_count`.
        """
        now = self.storage.now()
        moments = {"now": to_iso(now), "from": to_iso(now - SPACING)}
        counted = 0
        with self.transaction() as db:
            for memory_id in memory_ids:
                row = {**moments, "type": self.memory_type, "id": self._row_id(memory_id)}
                counted += db.execute(
                    "UPDATE memories SET access_count = access_count + 1 WHERE id = :id AND memory_type = :type "
                    "AND (last_accessed IS NULL OR last_accessed <= :from OR last_accessed > :now)",
                    row,
                ).rowcount
                db.execute("UPDATE memories SET last_accessed = :now WHERE id = :id AND memory_type = :type", row)
        return counted

    def _count_mention(self, memory_id: str, item: Any) -> None:
        """The same was said again: add to its count; importance and pin never get less by it."""
        with self.transaction() as db:
            db.execute(
                "UPDATE memories SET mentions = mentions + ?, importance = max(importance, ?), pinned = max(pinned, ?) "
                "WHERE id = ?",
                (item.mentions, item.importance, int(item.pinned), self._row_id(memory_id)),
            )

    def _retire(self, item: Any, **changes: Any) -> None:
        with self.transaction():
            self._save(replace(item, **changes))
            self.storage.move_text(item.memory_id, "archive")

    def _save(self, item: Any) -> None:
        columns = item.to_row()
        sql = f"UPDATE memories SET {', '.join(f'{c} = :{c}' for c in columns)} WHERE id = :id"
        with self.transaction() as db:
            db.execute(sql, {"id": self._row_id(item.memory_id), **columns})

    def _row_id(self, memory_id: str) -> int | None:
        return self._db.value("SELECT id FROM texts WHERE key = ?", (memory_id,))

    def _linked(self, row_ids: Sequence[int], items: Sequence[Any]) -> None:
        """Called inside the transaction with new or changed rows, for what a kind of memory keeps beside them."""
