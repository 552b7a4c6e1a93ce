"""Writing memories so that they stay true together: a repeat is counted, a new value takes the place of the old one.

    same words in the same place        counted on the memory that is there
    one value at a time, another one    the old one is kept, superseded, with the interval in which it was held true
    the same, denied                    likewise
    anything else                       one more memory

Words nominate by index (equal fingerprint, equal slot) and words decide; no cosine is asked. Nothing is deleted here. What is
told late goes to its place in history: that I lived in Rome in 2019 does not end my living in Paris today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from infrastructure.memory_rows import for_another_text
from infrastructure.memory_table import SOURCES, MemoryTable
from infrastructure.slots import contradict, same_slot, slot_of
from infrastructure.statements import denies, same_statement


class Written(NamedTuple):
    """What became of one item. action: "written", "counted" (it was there already) or "superseded" (it took the place of
    the memories in `replaced`)."""

    memory_id: str
    action: str
    replaced: tuple[str, ...] = ()


def says_the_same(a: Any, b: Any) -> bool:
    return same_statement(a.content, b.content) or same_slot(slot_of(a.content), slot_of(b.content))


def excludes(a: Any, b: Any) -> bool:
    """Whether two memories cannot both be true."""
    return contradict(slot_of(a.content), slot_of(b.content)) or denies(a.content, b.content)


def may_replace(new: Any, old: Any) -> bool:
    """Whether a statement is trusted enough to end another one. A document ends nothing: two of them may disagree, and
    what one says of "me" is not said of the learner."""
    return new.source != "document" and SOURCES.index(new.source) >= SOURCES.index(old.source)


class ReconcilingTable(MemoryTable):
    """A table of memories that are written through `write_many`."""

    def write_many(self, items: Sequence[Any], *, vectors=None) -> list[Written]:
        """Store items in one transaction, in order. `vectors` (n, dim) unit rows saves embedding them."""
        return self._write_prepared([self._prepared(item) for item in items], vectors)

    def _write_prepared(self, items: Sequence[Any], vectors=None) -> list[Written]:
        written: list[Written] = []
        with self.transaction():
            for part in _parts(items):
                written += self._write(items[part], None if vectors is None else vectors[part])
        return written

    def find_same(self, item: Any) -> Any | None:
        """The active memory that makes the same statement in the same place."""
        return self._same(self._alike([item]), item)

    def supersede(self, memory_id: str, content: str, **fields: Any) -> str:
        """Replace what turned out wrong or has changed; returns the id of the new memory. Unknown ids are a KeyError.

        The new text is active; the old one keeps its interval and leaves the default search. `fields` as in `add`; what
        is not given stays as it was. If the memory was superseded already, its successor is what is replaced.
        """
        with self.transaction():
            old = self._current(memory_id)
            wanted = self._successor(old, content, **fields)
            item = self._prepared(wanted)
            item.source = wanted.source  # what it replaces is where it comes from, yet not what it stands on
            ((new_id, _, _),) = self._write([item], None)
            if new_id != old.memory_id:
                self._end(self.get(old.memory_id), self.get(new_id))
        return new_id

    def _current(self, memory_id: str) -> Any:
        """The memory itself, or the one that took its place, however often."""
        item = self.get(memory_id)
        while item is not None and item.superseded_by is not None and self.has_memory(item.superseded_by):
            item = self.get(item.superseded_by)
        if item is None:
            raise KeyError(memory_id)
        return item

    def _successor(self, old: Any, content: str, **given: Any) -> Any:
        """An item that takes another one's place. Its trust is that of who says it, not of what was wrong."""
        kept = {"importance": old.importance, "source": old.source, "pinned": old.pinned, "occurred_at": None}
        kept |= {"derived_from": [old.memory_id]}
        chosen = {name: given.pop(name, value) for name, value in kept.items()}
        if chosen["importance"] is None:
            chosen["importance"] = self.rate(content)
        metadata = for_another_text(old.metadata) | given
        return self.item_type(
            content,
            self.memory_type,
            timestamp=self.storage.now(),
            session_id=old.session_id,
            metadata=metadata,
            **chosen,
        )

    # ---- what each kind of memory knows ----

    def _prepared(self, item: Any) -> Any:
        """A copy of an item as it is to be stored."""
        raise NotImplementedError

    rate: Callable[[str], float]  # the importance of a text that nobody rated

    def _same_place(self, known: Any, item: Any) -> bool:
        """Whether two statements are about the same."""
        raise NotImplementedError

    # ---- one piece, in which no item can exclude another ----

    def _write(self, items: Sequence[Any], vectors) -> list[Written]:
        alike = self._alike(items)
        stored = {known.memory_id for group in alike.values() for known in group}
        fresh: dict[int, Any] = {}
        written: list[Written] = []
        for number, item in enumerate(items):
            known = self._same(alike, item)
            if known is None:
                fresh[number] = item
                alike.setdefault(item.fingerprint, []).append(item)
            elif known.memory_id in stored:
                self._count_mention(known.memory_id, item)
            else:
                known.mentions += item.mentions
            written.append(Written((known or item).memory_id, "counted" if known else "written"))
        self.insert(list(fresh.values()), None if vectors is None else [vectors[number] for number in fresh])
        for number, item in fresh.items():
            replaced = self._find_its_time(item, alike) if stored else ()
            if replaced:
                written[number] = Written(item.memory_id, "superseded", replaced)
        return written

    def _alike(self, items: Sequence[Any]) -> dict[str, list[Any]]:
        """Stored memories by fingerprint and by slot, as far as these items have them."""
        found = self.looked_up("fingerprint", (item.fingerprint for item in items))
        return found | self.looked_up("slot", (item.slot for item in items if item.slot))

    def _same(self, alike: dict[str, list[Any]], item: Any) -> Any | None:
        known = [k for key in (item.fingerprint, item.slot) for k in alike.get(key, ())]
        there = (k for k in known if k.status == "active" and self._same_place(k, item))
        return next((k for k in there if says_the_same(k, item)), None)

    def _find_its_time(self, item: Any, alike: dict[str, list[Any]]) -> tuple[str, ...]:
        """End what this item excludes, as of when it is held true, and this item where a later one excludes it; returns
        the ids of the former."""
        known = {k.memory_id: k for key in (item.fingerprint, item.slot) for k in alike.get(key, ())}
        rivals = [k for k in known.values() if k is not item and self._same_place(k, item) and excludes(k, item)]
        before = [k for k in rivals if k.held_at(item.valid_from) and may_replace(item, k)]
        after = [k for k in rivals if k.valid_from > item.valid_from and may_replace(k, item)]
        if any(old.pinned and old.status == "active" for old in before):
            self._save(replace(item, pinned=True))
        for old in before:
            self._end(old, item)
        if after:
            self._end(self.get(item.memory_id), min(after, key=lambda k: k.valid_from))
        return tuple(old.memory_id for old in before)

    def _end(self, old: Any, new: Any) -> None:
        end = {"valid_until": max(old.valid_from, new.valid_from), "superseded_by": new.memory_id}
        if old.status == "active":
            self._retire(old, status="superseded", **end)
            self.storage.log("superseded", memory_id=old.memory_id, by=new.memory_id)
        else:
            self._save(replace(old, **end))


def _parts(items: Sequence[Any]) -> Iterator[slice]:
    """Pieces in which no item can exclude another: blue, green, blue again are three."""
    start = 0
    met: dict[str, str] = {}
    for number, item in enumerate(items):
        keys = [key for key in (item.fingerprint, item.slot) if key]
        if any(met.get(key, item.content) != item.content for key in keys):
            yield slice(start, number)
            start, met = number, {}
        met |= dict.fromkeys(keys, item.content)
    if start < len(items):
        yield slice(start, len(items))
