"""Items that lie in RAM for a while, per session: the plumbing under the working memory of script 09.

What an item is worth, and how it is found, is the lesson's business; here are time to live, room, filters and pages.
"""

from __future__ import annotations  # the method `list` would hide the type in the annotations below it

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from infrastructure.memory_table import Filter, is_new_use
from infrastructure.reconcile import excludes, may_replace, says_the_same
from infrastructure.text import estimate_tokens_mixed

CHANGEABLE = ("content", "importance", "pinned", "source", "metadata")


class Desk:
    """At most `capacity` items and `max_tokens` tokens a session, for `ttl_minutes` minutes. `forgotten` counts what fell
    off. A pinned item stays, and so does the one that was just put there."""

    def __init__(self, capacity: int, ttl_minutes: float, max_tokens: int, now: Callable[[], datetime]) -> None:
        self.capacity = capacity
        self.ttl = timedelta(minutes=ttl_minutes)
        self.max_tokens = max_tokens
        self.forgotten = 0
        self._now = now
        self._items: dict[str, Any] = {}
        self._lock = threading.RLock()  # the life cycle may run in the background (script 10)

    # ---- looking ----

    def list(self, *, limit: int = 100, offset: int = 0, **chosen: Any) -> list[Any]:
        """Items of all sessions, oldest first; limit −1 means all. `chosen` as in `Filter`: session_id, since, …"""
        narrow = Filter(**chosen)
        found = sorted(filter(narrow.accepts, self._alive()), key=lambda item: item.timestamp)
        return found[offset:] if limit < 0 else found[offset : offset + limit]

    def items(self, session_id: str = "default") -> list[Any]:
        """What is on this session's desk, oldest first."""
        return self.list(session_id=session_id, limit=-1)

    def get(self, memory_id: str) -> Any | None:
        return next((item for item in self._alive() if item.memory_id == memory_id), None)

    def has_memory(self, memory_id: str) -> bool:
        return self.get(memory_id) is not None

    def get_recent(self, n: int = 5, *, session_id: str = "default") -> list[Any]:
        """The last n, newest first."""
        return self.items(session_id)[::-1][:n]

    def get_important(self, n: int = 5, *, session_id: str = "default") -> list[Any]:
        return sorted(self.items(session_id), key=lambda item: -item.importance)[:n]

    def get_context_summary(self, max_tokens: int = 500, *, session_id: str = "default") -> str:
        """The newest items that fit, in the order they were said, one a line; "" for an empty desk."""
        chosen: list[str] = []
        for item in self.get_recent(self.capacity, session_id=session_id):
            max_tokens -= estimate_tokens_mixed(item.content)
            if max_tokens < 0:
                break
            chosen.append(item.content)
        return "\n".join(reversed(chosen))

    def sessions(self) -> list[str]:
        """Sessions that have something on their desk."""
        return sorted({item.session_id for item in self._alive()})

    def size(self, session_id: str | None = None) -> int:
        return len(self.list(session_id=session_id, limit=-1))

    def get_stats(self) -> dict[str, Any]:
        return {
            "count": self.size(),
            "sessions": len(self.sessions()),
            "forgotten": self.forgotten,
            "capacity": self.capacity,
        }

    # ---- changing ----

    def add_many(self, items: Sequence[Any]) -> list[str]:
        """Put items on their sessions' desks; returns a memory_id for each, that of the known item where it is a repeat."""
        with self._lock:
            return [self._put(item) for item in items]

    def _put(self, item: Any) -> str:
        for known in self.items(item.session_id):
            if says_the_same(known, item):
                known.mentions += 1
                known.timestamp = max(known.timestamp, item.timestamp)
                known.importance = max(known.importance, item.importance)
                return known.memory_id
            if excludes(known, item) and may_replace(item, known):
                known.status, known.valid_until, known.superseded_by = "superseded", item.valid_from, item.memory_id
        self._items[item.memory_id] = item
        self._make_room(item)
        return item.memory_id

    def update(self, memory_id: str, **changes: Any) -> bool:
        """Change content, importance, pinned, source, or add to metadata; False when there is no such item."""
        unknown = changes.keys() - set(CHANGEABLE)
        if unknown:
            raise TypeError(f"what can be changed is {', '.join(CHANGEABLE)}, not {', '.join(sorted(unknown))}")
        with self._lock:
            item = self.get(memory_id)
            if item is None:
                return False
            changes["metadata"] = {**item.metadata, **changes.get("metadata", {})}
            self._items[memory_id] = replace(item, **changes)
        return True

    def remove(self, memory_id: str) -> bool:
        return self._items.pop(memory_id, None) is not None

    def clear(self, session_id: str) -> int:
        """Empty one session's desk; returns how many items were on it. An empty id is a ValueError, not "all"."""
        if not session_id:
            raise ValueError("say which session to clear")
        with self._lock:
            items = self.list(session_id=session_id, status=None, limit=-1)
            for item in items:
                del self._items[item.memory_id]
        return len(items)

    def mark_used(self, memory_ids: Iterable[str]) -> int:
        """These were used in an answer (D3); returns how many counted, as uses close together are one use."""
        counted = 0
        for item in filter(None, map(self.get, memory_ids)):
            is_new = is_new_use(item.last_accessed, self._now())
            item.access_count += is_new
            counted += is_new
            item.last_accessed = self._now()
        return counted

    # ---- room and time ----

    def _alive(self) -> list[Any]:
        """All sessions' items. Expired ones are removed here, and pinned ones never expire."""
        oldest = self._now() - self.ttl
        with self._lock:
            for item in [item for item in self._items.values() if item.timestamp < oldest and not item.pinned]:
                self._forget(item)
            return list(self._items.values())

    def _worth(self, item: Any) -> float:
        """How much an item deserves its place."""
        raise NotImplementedError

    def _make_room(self, added: Any) -> None:
        """Forget the items of a session that are worth least, outdated ones first, until the rest has room."""
        items = self.list(session_id=added.session_id, status=None, limit=-1)
        used = sum(estimate_tokens_mixed(item.content) for item in items)
        over = len(items) - self.capacity
        leaving = [item for item in items if item is not added and not item.pinned]
        for worst in sorted(leaving, key=lambda item: (item.status == "active", self._worth(item))):
            if over <= 0 and used <= self.max_tokens:
                return
            over -= 1
            used -= estimate_tokens_mixed(worst.content)
            self._forget(worst)

    def _forget(self, item: Any) -> None:
        del self._items[item.memory_id]
        self.forgotten += 1
