"""09 · Three memories: what is being talked about, what happened, what is known.

After this script you can explain why a memory is more than a string, why the three kinds are stored and searched
differently, and why a ranking that lets age or importance win forgets the question.

    text → MemoryItem → working    the session's desk: in RAM, small, forgets within the hour
                      → episodic   the diary: events, with the time they happened
                      → semantic   the handbook: knowledge, with the entities it speaks of
    question → words + vectors → relevance → a nudge of at most 10 % for importance, age and use → Hit(item, score, why)

Not done here: pictures and sound (the article's perceptual memory), and deciding what to keep (script 10).
Article: §1.1 three kinds, not four; §2.1 MemoryItem; §2.2 working; §2.3 episodic; §2.4 semantic memory.

    python 09_memory_system.py [--lang en|zh]
"""

import json
import math
import re
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infrastructure.database import from_iso, to_iso, utc_now
from infrastructure.entities import extract_entities, extract_relations
from infrastructure.graph import Entity, EntityGraph
from infrastructure.language import tr
from infrastructure.lesson import StoppedClock, heading, run_lesson, table, try_it
from infrastructure.memory_table import Filter, MemoryTable, is_new_use
from infrastructure.ranking import RELEVANT, Candidate, coverage, hybrid_search, inverse_frequency
from infrastructure.statements import fingerprint, same_statement
from infrastructure.storage import Storage
from infrastructure.text import content_tokens, estimate_tokens_mixed, fold, repair, tokens

if TYPE_CHECKING:
    from rich.console import RenderableType

Clock = Callable[[], datetime]

# ---- §2.1 MemoryItem: a memory is more than a string (记忆不是一段字符串) ----

MEMORY_TYPES = ("working", "episodic", "semantic")
SOURCES = ("model", "document", "user")  # least trusted first
STATUSES = ("active", "archived", "superseded")


@dataclass
class MemoryItem:
    """One memory of any kind. `importance` in [0, 1]; times are UTC with zone; `metadata` is anything JSON can hold.

    timestamp: when it was written down. occurred_at: when it happened; the same unless told otherwise.
    source: who said it; trust is that of the least trusted source in its lineage (`derived_from`, memory ids).
    mentions: how often the same statement was made. access_count: how often it was used in an answer.
    """

    content: str
    memory_type: str = "working"
    importance: float = 0.5
    timestamp: datetime = field(default_factory=utc_now)
    memory_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    metadata: dict[str, Any] = field(default_factory=dict)
    access_count: int = 0
    session_id: str = "default"
    occurred_at: datetime | None = None
    last_accessed: datetime | None = None
    source: str = "user"
    status: str = "active"
    pinned: bool = False
    mentions: int = 1
    valid_until: datetime | None = None
    superseded_by: str | None = None
    derived_from: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.content = repair(self.content).strip()
        if not self.content:
            raise ValueError("a memory needs some text")
        if self.memory_type not in MEMORY_TYPES:
            raise ValueError(f"memory_type is one of {', '.join(MEMORY_TYPES)}, not {self.memory_type!r}")
        if self.source not in SOURCES:
            raise ValueError(f"source is one of {', '.join(SOURCES)}, not {self.source!r}")
        self.importance = clamp(self.importance)
        self.occurred_at = self.occurred_at or self.timestamp

    @cached_property
    def fingerprint(self) -> str:
        """Equal for items that may make the same statement. Worked out once: to change the content, `replace` the item."""
        return fingerprint(self.content)

    @property
    def heading(self) -> str:
        """What the memory is about, if somebody said so: it is searched with the text, as a chunk's heading path is."""
        concept = str(self.metadata.get("concept") or "")
        return "" if concept == "general" else concept

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "MemoryItem":
        """The inverse of `to_row`, for a row of `texts` joined with `memories`."""
        return cls(
            content=row["content"],
            memory_id=row["key"],
            session_id=row["scope"],
            metadata=json.loads(row["metadata"]),
            derived_from=json.loads(row["derived_from"]),
            pinned=bool(row["pinned"]),
            **{name: row[name] for name in _PLAIN},
            **{name: row[name] and from_iso(row[name]) for name in _MOMENTS},
        )

    def to_row(self) -> dict[str, Any]:
        """The columns of table `memories`."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            **{name: (moment := getattr(self, name)) and to_iso(moment) for name in _MOMENTS},
            "pinned": int(self.pinned),
            "fingerprint": self.fingerprint,
            "derived_from": json.dumps(self.derived_from),
            "metadata": _json(self.metadata),
        }


def _json(value: Any) -> str:
    """Readable, unless it holds half a character, which SQLite takes only as an escape."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or not _SURROGATE.search(text) else json.dumps(value)


_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PLAIN = ("memory_type", "importance", "access_count", "source", "status", "mentions", "superseded_by")
_MOMENTS = ("timestamp", "occurred_at", "last_accessed", "valid_until")


SCORINGS = ("bounded", "article")


def _require_scoring(name: str) -> str:
    if name not in SCORINGS:
        raise ValueError(f"scoring is one of {', '.join(SCORINGS)}, not {name!r}")
    return name


class Hit(NamedTuple):
    """A memory that was found. `score` in [0, 1] orders the hits; `why` holds every part of it."""

    item: MemoryItem
    score: float
    why: dict[str, float]


# ---- §2.2–2.4 The article's formulas ----


def clamp(value: float) -> float:
    """Into [0, 1]; NaN becomes 0.5, the value of "no opinion"."""
    return 0.5 if math.isnan(value) else min(1.0, max(0.0, value))


def decay(age: timedelta, half_life: timedelta) -> float:
    """0.5 ** (age / half_life), in (0, 1]. A negative age (another clock runs ahead) counts as none.

    >>> decay(timedelta(days=2), half_life=timedelta(days=1))
    0.25
    """
    return max(0.5 ** max(0.0, age / half_life), math.ulp(0.0))


def importance_weight(importance: float) -> float:
    """0.8 + 0.4·importance: unimportant ×0.8, important ×1.2."""
    return 0.8 + 0.4 * importance


def working_score(tfidf: float, keyword: float, age: timedelta, importance: float) -> float:
    """§2.2 base = 0.7·tfidf + 0.3·keyword if tfidf > 0 else keyword; score = base · decay · (0.8 + 0.4·importance)."""
    base = 0.7 * tfidf + 0.3 * keyword if tfidf > 0 else keyword
    return base * decay(age, WORKING_HALF_LIFE) * importance_weight(importance)


def episodic_score(vector: float, age: timedelta, importance: float) -> float:
    """§2.3 (0.8·vector + 0.2·recency) · (0.8 + 0.4·importance), recency = exp(−0.1 · hours / 24)."""
    days = max(0.0, age / timedelta(days=1))
    return (0.8 * vector + 0.2 * math.exp(-0.1 * days)) * importance_weight(importance)


def semantic_score(vector: float, entity: float, importance: float) -> float:
    """§2.4 (0.7·vector + 0.3·entity) · (0.8 + 0.4·importance), entity = matched entities ÷ best match."""
    return (0.7 * vector + 0.3 * entity) * importance_weight(importance)


# ---- The bounded nudge: our default, and why ----

# On LoCoMo (questions about long chats; evidence in the first ten) relevance alone finds 0.64. Adding recency with equal
# weight drops that to 0.17, multiplying by a 30-day decay to 0.30; a nudge of at most ±10 % costs 0.002.
NUDGE = 0.1
WORKING_HALF_LIFE = timedelta(hours=1)
HALF_LIFE = timedelta(hours=24)
NUDGE_HALF_LIFE = timedelta(days=30)  # at 24 h everything older than a week would look equally old


def nudge(importance: float, age: timedelta, access_count: int) -> float:
    """Factor in [0.9, 1.1]: half from importance, three tenths from recency, two tenths from use.

    >>> round(nudge(importance=1.0, age=timedelta(0), access_count=0), 2), round(nudge(0.0, timedelta(days=9999), 0), 2)
    (1.06, 0.9)
    """
    use = 1 - 1 / (1 + access_count)
    pull = 0.5 * importance + 0.3 * decay(age, NUDGE_HALF_LIFE) + 0.2 * use
    return 1 + NUDGE * (2 * pull - 1)


# ---- How important is it? A rule, not a constant ----

WEIGHTY = re.compile(
    r"重要|关键|必须|务必|注意|警告|错误|牢记|"
    r"\b(?:important|crucial|critical|must|never|always|warning|error|note that|remember)\b",
    re.I,
)
_COURTESIES = """
好 好的 好吧 嗯 嗯嗯 哦 行 可以 谢谢 多谢 不客气 收到 明白 明白了 知道了 再见 拜拜 你好 您好 哈哈 没事
ok okay k thanks thx bye hi hello hey yes no yep sure fine great cool nice lol
"""
SMALL_TALK = frozenset(_COURTESIES.split()) | {
    *("thank you", "got it", "i see", "no problem", "you're welcome", "good night", "see you")
}


def rule_importance(content: str) -> float:
    """Importance in [0, 1] of a text nobody rated: 0.5, +0.1 when long, +0.2 for weighty words, −0.4 for small talk.

    >>> rule_importance("注意：必须先建索引"), round(rule_importance("ok, thanks!"), 1), rule_importance("RAG uses search")
    (0.7, 0.1, 0.5)
    """
    score = 0.5 + 0.1 * (len(content) > 100) + 0.2 * bool(WEIGHTY.search(content)) - 0.4 * is_small_talk(content)
    return clamp(round(score, 6))


def is_small_talk(content: str) -> bool:
    """True when nothing is left after the courtesies: "ok, thanks!" is, "ok, the index is built" is not."""
    parts = [part.strip() for part in re.split(r"[,.!?;~，。！？；、…\n]+", fold(content)) if part.strip()]
    return bool(parts) and all(part in SMALL_TALK or all(word in SMALL_TALK for word in part.split()) for part in parts)


# ---- §2.2 WorkingMemory: the session's desk (当前会话的短期缓存) ----


class WorkingMemory:
    """What the current conversations are about, in RAM, per session. Old items fall off by age, number and tokens.

    `capacity` items and `max_tokens` tokens a session, `ttl_minutes` minutes. An item that must go is the one that scores
    lowest on importance, recency, use and not being in long-term memory yet (D6); `forgotten` counts them. A pinned item
    stays, and so does the one that was just added.
    """

    def __init__(
        self,
        capacity: int = 50,
        ttl_minutes: float = 60,
        *,
        max_tokens: int = 4000,
        now: Clock = utc_now,
    ) -> None:
        self.capacity = capacity
        self.ttl = timedelta(minutes=ttl_minutes)
        self.max_tokens = max_tokens
        self.forgotten = 0
        self._now = now
        self._items: dict[str, MemoryItem] = {}
        self._lock = threading.RLock()  # the life cycle may run in the background (script 10)

    def add(
        self, content: str, importance: float | None = None, session_id: str = "default", *, timestamp: datetime | None = None,
        source: str = "user", **metadata: Any,
    ) -> str:  # fmt: skip
        """Put an item on the desk; returns its memory_id. The same statement again refreshes the item that is there."""
        item = MemoryItem(
            content, "working", rule_importance(content) if importance is None else importance, timestamp or self._now(),
            metadata=metadata, session_id=session_id, source=source,
        )  # fmt: skip
        with self._lock:
            for known in self.items(session_id):
                if same_statement(known.content, item.content):
                    known.mentions += 1
                    known.timestamp = max(known.timestamp, item.timestamp)
                    known.importance = max(known.importance, item.importance)
                    return known.memory_id
            self._items[item.memory_id] = item
            self._evict(session_id, added=item)
        return item.memory_id

    def items(self, session_id: str = "default") -> list[MemoryItem]:
        """What is on this session's desk, oldest first."""
        return sorted((i for i in self._alive() if i.session_id == session_id), key=lambda item: item.timestamp)

    def _alive(self) -> list[MemoryItem]:
        """All sessions' items. Expired ones are removed here, and pinned ones never expire."""
        oldest = self._now() - self.ttl
        with self._lock:
            for item in [item for item in self._items.values() if item.timestamp < oldest and not item.pinned]:
                del self._items[item.memory_id]
                self.forgotten += 1
            return list(self._items.values())

    def sessions(self) -> list[str]:
        """Sessions that have something on their desk."""
        return sorted({item.session_id for item in self._alive()})

    def retrieve(
        self, query: str, top_k: int = 5, *, session_id: str = "default", scoring: str = "bounded"
    ) -> list[Hit]:
        """Items that share words with the query, best first; only this session's. An unrelated query gives []."""
        _require_scoring(scoring)
        items = self.items(session_id)
        if not items or not tokens(query):
            return []
        hits = []
        for item, tfidf, keyword in zip(items, _tfidf(query, items), _keywords(query, items), strict=True):
            if tfidf <= 0 and keyword <= 0:
                continue
            age = self._now() - item.timestamp
            base = 0.7 * tfidf + 0.3 * keyword if tfidf > 0 else keyword
            if scoring == "article":
                score = working_score(tfidf, keyword, age, item.importance)
            else:
                score = min(1.0, base * nudge(item.importance, age, item.access_count))
            why = {
                "tfidf": tfidf,
                "keyword": keyword,
                "decay": decay(age, WORKING_HALF_LIFE),
                "importance": item.importance,
            }
            hits.append(Hit(item, score, {name: round(value, 4) for name, value in why.items()}))
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.memory_id))[:top_k]

    def _evict(self, session_id: str, added: MemoryItem) -> None:
        items = self.items(session_id)
        used = sum(estimate_tokens_mixed(item.content) for item in items)
        over = len(items) - self.capacity
        for worst in sorted((i for i in items if i is not added and not i.pinned), key=self._keep_value):
            if over <= 0 and used <= self.max_tokens:
                return
            over -= 1
            used -= estimate_tokens_mixed(worst.content)
            del self._items[worst.memory_id]
            self.forgotten += 1

    def _keep_value(self, item: MemoryItem) -> float:
        """How much an item deserves its place: importance, recency, use; less when it is safe in long-term memory."""
        recency = decay(self._now() - item.timestamp, WORKING_HALF_LIFE)
        use = 1 - 1 / (1 + item.access_count)
        return 0.5 * item.importance + 0.3 * recency + 0.2 * use - 0.3 * bool(item.metadata.get("consolidated"))

    def get(self, memory_id: str) -> MemoryItem | None:
        return next((item for item in self._alive() if item.memory_id == memory_id), None)

    def remove(self, memory_id: str) -> bool:
        return self._items.pop(memory_id, None) is not None

    def has_memory(self, memory_id: str) -> bool:
        return self.get(memory_id) is not None

    def mark_used(self, memory_ids: Iterable[str]) -> int:
        """These were used in an answer (D3); returns how many counted, as uses close together are one use."""
        counted = 0
        for item in filter(None, map(self.get, memory_ids)):
            is_new = is_new_use(item.last_accessed, self._now())
            item.access_count += is_new
            counted += is_new
            item.last_accessed = self._now()
        return counted

    def get_recent(self, n: int = 5, *, session_id: str = "default") -> list[MemoryItem]:
        """The last n, newest first."""
        return self.items(session_id)[::-1][:n]

    def get_important(self, n: int = 5, *, session_id: str = "default") -> list[MemoryItem]:
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

    def clear(self, session_id: str) -> int:
        """Empty one session's desk; returns how many items were on it."""
        with self._lock:
            items = self.items(session_id)
            for item in items:
                del self._items[item.memory_id]
        return len(items)

    def size(self, session_id: str | None = None) -> int:
        return len(self._alive() if session_id is None else self.items(session_id))

    def get_stats(self) -> dict[str, Any]:
        return {
            "count": self.size(),
            "sessions": len(self.sessions()),
            "forgotten": self.forgotten,
            "capacity": self.capacity,
        }


def _tfidf(query: str, items: Sequence[MemoryItem]) -> list[float]:
    """Cosine in [0, 1] of query and items in one TF-IDF space: fitted on the items, the query only transformed (D9)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=lambda text: content_tokens(text) or tokens(text))
    matrix = vectorizer.fit_transform([item.content for item in items] + ["\0padding"])[:-1]
    return (matrix @ vectorizer.transform([query]).T).toarray().ravel().tolist()


def _keywords(query: str, items: Sequence[MemoryItem]) -> list[float]:
    """Share of the query's words that each item has, weighted by rarity among the items."""
    indexed = [set(tokens(item.content)) for item in items]
    terms = content_tokens(query) or tokens(query)
    weights = {term: inverse_frequency(len(items), sum(term in words for words in indexed)) for term in terms}
    return [coverage(weights, words) for words in indexed]


# ---- What the two stored memories have in common ----


class StoredMemory(MemoryTable):
    """A memory kept in a home folder: rows in SQLite, words in FTS5, vectors in blobs and Chroma, all through Storage.

    `home` is an open Storage, or a folder that this memory opens itself (with `embedder`) and closes in `close`.
    """

    item_type = MemoryItem

    def __init__(
        self, home: Storage | Path | str, *, embedder=None, now: Clock = utc_now, scoring: str = "bounded"
    ) -> None:
        self._owns_storage = not isinstance(home, Storage)
        super().__init__(Storage(home, embedder=embedder, now=now) if self._owns_storage else home)
        self.scoring = scoring

    def close(self) -> None:
        if self._owns_storage:
            self.storage.close()

    # ---- writing ----

    def add(
        self,
        content: str,
        importance: float | None = None,
        session_id: str = "default",
        *,
        source: str = "user",
        occurred_at: datetime | None = None,
        pinned: bool = False,
        derived_from: Sequence[str] = (),
        **metadata: Any,
    ) -> str:
        """Remember a text; returns its memory_id. importance None: the rule decides.

        The same statement again is counted on the memory that is there (`mentions`), whose id is returned.
        """
        item = MemoryItem(
            content,
            self.memory_type,
            rule_importance(content) if importance is None else importance,
            self.storage.now(),
            metadata=metadata,
            session_id=session_id,
            occurred_at=occurred_at,
            source=source,
            pinned=pinned,
            derived_from=list(derived_from),
        )
        return self.add_many([item])[0]

    def add_many(self, items: Sequence[MemoryItem], *, vectors=None) -> list[str]:
        """Store items in one transaction; returns a memory_id for each, that of the known memory where it is a repeat.

        `vectors` (n, dim) unit rows saves embedding them. Importance and times are taken from the items as they are.
        """
        ids: list[str] = []
        fresh: dict[int, MemoryItem] = {}
        with self.transaction():
            said = self.with_fingerprints(item.fingerprint for item in items)
            stored = {item.memory_id for alike in said.values() for item in alike}
            for number, item in enumerate(items):
                alike = said.setdefault(item.fingerprint, [])
                known = self._same_among(alike, item)
                if known is None:
                    fresh[number] = copy(item)
                    fresh[number].memory_type = self.memory_type
                    alike.append(fresh[number])
                elif known.memory_id in stored:
                    self._count_mention(known.memory_id, item)
                else:
                    known.mentions += item.mentions
                ids.append((known or item).memory_id)
            chosen = None if vectors is None else [vectors[number] for number in fresh]
            self.insert(list(fresh.values()), chosen)
        return ids

    def find_same(self, item: MemoryItem) -> MemoryItem | None:
        """The active memory that makes the same statement in the same place."""
        return self._same_among(self.with_fingerprints([item.fingerprint]).get(item.fingerprint, []), item)

    def _same_among(self, known: Sequence[MemoryItem], item: MemoryItem) -> MemoryItem | None:
        return next((k for k in known if self._same_place(k, item) and same_statement(k.content, item.content)), None)

    def _same_place(self, known: MemoryItem, item: MemoryItem) -> bool:
        """Whether a repeat here is a repeat: an event of another session is another event."""
        return known.session_id == item.session_id

    def supersede(self, memory_id: str, content: str, **fields: Any) -> str:
        """Replace what turned out wrong or has changed; returns the id of the new memory. Unknown ids are a KeyError.

        The new text is active; the old one keeps its interval and leaves the default search. `fields` as in `add`; what
        is not given stays as it was. If the memory was superseded already, its successor is what is replaced.
        """
        with self.transaction():
            old = self._current(memory_id)
            kept = {
                "importance": old.importance,
                "source": old.source,
                "pinned": old.pinned,
                "derived_from": [old.memory_id],
            }
            chosen = {name: fields.pop(name, value) for name, value in {**kept, "occurred_at": None}.items()}
            if chosen["importance"] is None:
                chosen["importance"] = rule_importance(content)
            item = MemoryItem(
                content, self.memory_type, timestamp=self.storage.now(), session_id=old.session_id,
                metadata={**old.metadata, **fields}, **chosen,
            )  # fmt: skip
            (new_id,) = self.add_many([item])
            if new_id != old.memory_id:
                self._retire(old, status="superseded", valid_until=self.storage.now(), superseded_by=new_id)
        return new_id

    def _current(self, memory_id: str) -> MemoryItem:
        """The memory itself, or the one that took its place, however often."""
        item = self.get(memory_id)
        while item is not None and item.superseded_by is not None and self.has_memory(item.superseded_by):
            item = self.get(item.superseded_by)
        if item is None:
            raise KeyError(memory_id)
        return item

    def retrieve(
        self,
        query: str,
        top_k: int = 5,
        *,
        min_relevance: float = RELEVANT,
        scoring: str | None = None,
        vector=None,
        **chosen: Any,
    ) -> list[Hit]:
        """Memories about the query, best first; [] when none is. `chosen` as in `Filter`: session_id, since, until, …;
        of status, one: "active", or "archived" or "superseded" to look for what was put away.

        scoring: "bounded" (default) or "article" (§2's own formula). `vector`: the query's, if already at hand.
        min_relevance: 0 returns the nearest, whatever they are.
        """
        scoring = _require_scoring(scoring or self.scoring)
        narrow = Filter(**chosen)
        if narrow.status is None:
            raise ValueError(f"search one status at a time: {', '.join(STATUSES)}")
        if not tokens(query):
            return []
        shelf = self.memory_type if narrow.status == "active" else "archive"
        only = self.row_ids(narrow) if narrow.narrows_search else None
        pool = hybrid_search(
            self.storage,
            shelf,
            query,
            limit=max(3 * top_k, 30),
            scope=narrow.session_id,
            only=only,
            vector=self.storage.embed_query(query) if vector is None else vector,
        )
        pool = [candidate for candidate in pool if candidate.relevance >= min_relevance]
        items = self.items(candidate.id for candidate in pool)
        score = self._article_hits if scoring == "article" else self._bounded_hits
        there = [
            (candidate, items[candidate.id]) for candidate in pool if candidate.id in items
        ]  # one may be gone by now
        hits = score(query, there)
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.memory_id))[:top_k]

    def _bounded_hits(self, query: str, pool: Sequence[tuple[Candidate, MemoryItem]]) -> list[Hit]:
        """Rank by fusion, nudged; scaled so that the best hit shows its calibrated relevance."""
        top = max((candidate.relevance for candidate, _ in pool), default=0.0)
        hits = []
        for candidate, item in pool:
            factor = nudge(item.importance, self.storage.now() - item.occurred_at, item.access_count)
            why = {**candidate.why(), "nudge": round(factor, 4)}
            hits.append(Hit(item, min(1.0, top * candidate.match * factor), why))
        return hits

    def _article_hits(self, query: str, pool: Sequence[tuple[Candidate, MemoryItem]]) -> list[Hit]:
        """Each kind has its own formula (§2.3, §2.4)."""
        raise TypeError("StoredMemory itself has no formula; use EpisodicMemory or SemanticMemory")


def _similarity(candidate: Candidate) -> float:
    """What stands for the article's vector similarity: the cosine, else the share of the query's words."""
    return candidate.coverage if candidate.cosine is None else max(0.0, candidate.cosine)


# ---- §2.3 EpisodicMemory: events, not transcripts (保存事件，不保存流水账) ----


class EpisodicMemory(StoredMemory):
    """What happened, and when. Every event belongs to a session and has the time it happened beside the time it was noted."""

    memory_type = "episodic"

    def get_session_history(self, session_id: str, limit: int = 100) -> list[MemoryItem]:
        return self.list(session_id=session_id, limit=limit)

    def timeline(
        self, *, since: datetime | None = None, until: datetime | None = None, limit: int = 100
    ) -> dict[str, list[MemoryItem]]:
        """Events grouped by UTC day ("2026-05-08"), oldest day first."""
        days: dict[str, list[MemoryItem]] = {}
        for item in self.list(since=since, until=until, limit=limit):
            days.setdefault(item.occurred_at.date().isoformat(), []).append(item)
        return days

    def _article_hits(self, query: str, pool: Sequence[tuple[Candidate, MemoryItem]]) -> list[Hit]:
        hits = []
        for candidate, item in pool:
            score = episodic_score(_similarity(candidate), self.storage.now() - item.occurred_at, item.importance)
            hits.append(Hit(item, score, {**candidate.why(), "importance": item.importance}))
        return hits


# ---- §2.4 SemanticMemory: knowledge with entities and relations (长期知识需要实体和关系) ----


class SemanticMemory(StoredMemory):
    """What is known: statements with the entities they speak of. A term is a harder signal than a cosine: BM25 is not TF-IDF."""

    memory_type = "semantic"

    def __init__(self, home: Storage | Path | str, **options: Any) -> None:
        super().__init__(home, **options)
        self.graph = EntityGraph(self.storage)

    def _same_place(self, known: MemoryItem, item: MemoryItem) -> bool:
        """Knowledge belongs to the home, whichever session it came from; a note stays with its concept."""
        return known.metadata.get("concept") == item.metadata.get("concept")

    def _linked(self, row_ids: Sequence[int], items: Sequence[MemoryItem]) -> None:
        for row_id, item in zip(row_ids, items, strict=True):
            entities = extract_entities(item.content)
            concept = item.metadata.get("concept")
            self.graph.unlink(row_id)
            self.graph.link(
                row_id, [*entities, *([Entity(concept)] if concept else [])], extract_relations(item.content, entities)
            )

    def remove_many(self, memory_ids: Iterable[str]) -> int:
        memory_ids = list(memory_ids)
        with self.transaction():
            touched = set().union(*(self.graph.entities_of(self._row_id(memory_id)) for memory_id in memory_ids))
            removed = super().remove_many(memory_ids)
            self.graph.tidy(touched)
        return removed

    def search_entities(self, prefix: str = "", limit: int = 20) -> list[Entity]:
        """Entities whose name or alias begins with `prefix`, most mentioned first."""
        return self.graph.search(prefix, limit)

    def get_related_entities(self, name: str, hops: int = 1) -> list[tuple[Entity, int]]:
        """(entity, distance) within `hops` steps, nearest first; a step is a relation or a shared memory."""
        return self.graph.related(name, hops)

    def export_knowledge_graph(self, form: str = "jsonld") -> str:
        """The graph as "jsonld" or "graphml"."""
        return {"jsonld": self.graph.to_jsonld, "graphml": self.graph.to_graphml}[form]()

    def get_stats(self) -> dict[str, Any]:
        return {**super().get_stats(), **self.graph.counts()}

    def _article_hits(self, query: str, pool: Sequence[tuple[Candidate, MemoryItem]]) -> list[Hit]:
        matched = self.graph.match(query)
        best = max((matched.get(candidate.id, 0) for candidate, _ in pool), default=0)
        hits = []
        for candidate, item in pool:
            entity = matched.get(candidate.id, 0) / best if best else 0.0
            score = semantic_score(_similarity(candidate), entity, item.importance)
            hits.append(Hit(item, score, {**candidate.why(), "entity": round(entity, 4)}))
        return hits


# ---- lesson ----

ASKED_AFTER = timedelta(minutes=5)  # from putting things on the desk to asking
ON_THE_DESK = (
    "正在比较 Faithfulness 和 Recall 两个指标",
    "The experiment runs on 200 questions from the course notes.",
    "注意：今晚八点前必须交实验报告",
)
EVENTS = (  # days ago, what happened
    (20, "读完 RAGAS 论文，记下了四个指标"),
    (10, "Failed the quiz question on HyDE."),
    (6, "完成了第 3 章混合检索的练习"),
    (3, "Compared BM25 with vector search on the course notes."),
    (0, "Important: lunch with my advisor at noon!"),
)
KNOWLEDGE = (
    "检索增强生成（RAG）可以减少幻觉",
    "RAG grounds an answer in documents.",
    "混合检索结合BM25和向量检索",
    "HyDE is a method that searches with a made-up answer.",
)
QUESTIONS = (
    "BM25 和向量检索怎么结合？",
    "How does BM25 compare with vector search?",
    "What is HyDE?",
    "怎么减少幻觉？",
    "先看哪个指标？",
    "量子纠缠是什么？",
)


def remember_all(storage: Storage, clock: StoppedClock) -> tuple[WorkingMemory, EpisodicMemory, SemanticMemory]:
    """A dozen memories of a learner, in Chinese and English, each where it belongs."""
    desk, diary, handbook = WorkingMemory(now=clock), EpisodicMemory(storage), SemanticMemory(storage)
    for days, content in EVENTS:
        diary.add(content, occurred_at=clock() - timedelta(days=days))
    for content in KNOWLEDGE:
        handbook.add(content)
    for content in ON_THE_DESK:
        desk.add(content)
        clock.move(minutes=1)
    clock.moment += ASKED_AFTER
    return desk, diary, handbook


def lesson(home: Path) -> Iterator["RenderableType"]:
    with Storage(home, now=(clock := StoppedClock())) as storage:
        memories = remember_all(storage, clock)
        yield heading(tr("§1.1 Three memories, one question", "§1.1 一个问题，三种记忆"))
        yield tr(
            "Words only: no vectors yet (script 11), so a question finds what is written in its own language.",
            "只用词语，还没有向量（见 11），所以问题只找得到用同一种语言写的记忆。",
        )
        for question in QUESTIONS:
            hits = [hit for memory in memories for hit in memory.retrieve(question, top_k=2)]
            yield heading(question)
            columns = tr("memory", "记忆"), tr("score", "得分"), tr("found", "内容"), tr("why", "依据")
            yield table(*columns, rows=map(hit_row, hits)) if hits else tr("Nothing about that.", "没有相关记忆。")
        yield heading(tr("§2.4 What the knowledge speaks of", "§2.4 知识里的实体"))
        columns = tr("entity", "实体"), tr("also called", "别名"), tr("related to", "相关实体")
        yield table(*columns, rows=entity_rows(memories[2]))
    yield from try_it(
        tr(
            "ASKED_AFTER = 90 minutes: the desk is empty, diary and handbook are not.",
            "把 ASKED_AFTER 改成 90 分钟：桌面空了，日记和手册还在。",
        ),
        tr(
            "Take （RAG） out of the first knowledge: RAG and 检索增强生成 become two entities.",
            "删掉第一条知识里的（RAG）：RAG 和检索增强生成变成两个实体。",
        ),
        tr(
            "Ask just 幻觉, or hyde: two characters, or small letters, find the same.",
            "只问「幻觉」或 hyde：两个字、小写字母，找到的一样。",
        ),
    )


def hit_row(hit: Hit) -> tuple[str, float, str, str]:
    shown = ("tfidf", "keyword", "decay", "coverage", "relevance", "nudge")
    why = "\n".join(f"{name} {hit.why[name]:.2f}" for name in shown if name in hit.why)
    return hit.item.memory_type, round(hit.score, 2), hit.item.content, why


def entity_rows(handbook: SemanticMemory) -> Iterator[tuple[str, str, str]]:
    for entity in handbook.search_entities():
        related = ", ".join(other.name for other, _hops in handbook.get_related_entities(entity.name))
        yield entity.name, ", ".join(entity.aliases), related


def main(argv: Sequence[str] | None = None) -> int:
    return run_lesson(lesson, __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
