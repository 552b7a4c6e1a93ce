"""09 · Three memories: what is being talked about, what happened, what is known.

After this script you can explain why a memory is more than a string, why the three kinds are stored and searched
differently, why two memories can contradict each other, and why a ranking that lets age or importance win forgets the question.

    text → MemoryItem → working    the session's desk: in RAM, small, forgets within the hour
                      → episodic   the diary: events, with the time they happened
                      → semantic   the handbook: knowledge, with the entities it speaks of
    said again → counted · another value → the old one ends, and is kept · yesterday → the day it was when it was said
    question → words + vectors → relevance → a nudge of at most 10 % for importance, age and use → Hit(item, score, why)

Not done here: pictures and sound (the article's perceptual memory), and deciding what to keep (script 10).
Article: §1.1 three kinds, not four; §2.1 MemoryItem; §2.2 working; §2.3 episodic; §2.4 semantic memory.

    python 09_memory_system.py [--lang en|zh]
"""

import math
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infrastructure.calibration import RELEVANT
from infrastructure.database import utc_now
from infrastructure.dates import dated
from infrastructure.desk import Desk
from infrastructure.entities import entities_and_relations
from infrastructure.fusion import Candidate
from infrastructure.graph import Entity, EntityGraph
from infrastructure.importance import WEIGHTY, is_small_talk
from infrastructure.language import tr
from infrastructure.lesson import StoppedClock, heading, run_lesson, table, try_it
from infrastructure.memory_rows import from_columns, to_columns
from infrastructure.memory_table import SOURCES, STATUSES, Filter, only_metadata, require_scoring
from infrastructure.patterns import Pattern, find_patterns
from infrastructure.ranking import hybrid_search
from infrastructure.reconcile import ReconcilingTable, Written
from infrastructure.slots import slot_key
from infrastructure.sparse import keywords, tfidf
from infrastructure.statements import fingerprint
from infrastructure.storage import Storage
from infrastructure.terms import TermFinder, link_terms
from infrastructure.text import repair, tokens

if TYPE_CHECKING:
    from rich.console import RenderableType

Clock = Callable[[], datetime]

# ---- §2.1 MemoryItem: a memory is more than a string (记忆不是一段字符串) ----

MEMORY_TYPES = ("working", "episodic", "semantic")


@dataclass
class MemoryItem:
    """One memory of any kind. `importance` in [0, 1]; times are UTC with zone; `metadata` is anything JSON can hold.

    timestamp: when it was written down. occurred_at: when it happened. valid_from: when it was said, and held true until
    valid_until, if that came. All the same unless told otherwise.
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
    valid_from: datetime | None = None
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
        self.occurred_at = self.occurred_at or self.valid_from or self.timestamp
        self.valid_from = self.valid_from or min(self.occurred_at, self.timestamp)

    @cached_property
    def words(self) -> list[str]:
        """Its tokens. This and what follows are worked out once: to change the content, `replace` the item."""
        return tokens(self.content)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for items that may make the same statement, or deny it."""
        return fingerprint(self.content, self.words)

    @cached_property
    def slot(self) -> str | None:
        """What the statement is about if it can hold only one value, e.g. my favourite colour; None for all others."""
        return slot_key(self.content)

    def held_at(self, moment: datetime) -> bool:
        return self.valid_from <= moment and (self.valid_until is None or moment < self.valid_until)

    @property
    def heading(self) -> str:
        """What the memory is about, if somebody said so: it is searched with the text, as a chunk's heading path is."""
        concept = str(self.metadata.get("concept") or "")
        return "" if concept == "general" else concept

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "MemoryItem":
        """The inverse of `to_row`, for a row of `texts` joined with `memories`."""
        return cls(**from_columns(row))

    def to_row(self) -> dict[str, Any]:
        """The columns of table `memories`."""
        return to_columns(self)


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


def rule_importance(content: str) -> float:
    """Importance in [0, 1] of a text nobody rated: 0.5, +0.1 when long, +0.2 for weighty words, −0.4 for small talk.

    >>> rule_importance("注意：必须先建索引"), round(rule_importance("ok, thanks!"), 1), rule_importance("RAG uses search")
    (0.7, 0.1, 0.5)
    """
    score = 0.5 + 0.1 * (len(content) > 100) + 0.2 * bool(WEIGHTY.search(content)) - 0.4 * is_small_talk(content)
    return clamp(round(score, 6))


# ---- §2.2 WorkingMemory: the session's desk (当前会话的短期缓存) ----


class WorkingMemory(Desk):
    """What the current conversations are about, in RAM, per session. Old items fall off by age, number and tokens.

    `capacity` items and `max_tokens` tokens a session, `ttl_minutes` minutes. An item that must go is the one that scores
    lowest on importance, recency, use and not being in long-term memory yet (D6); `forgotten` counts them. A pinned item
    stays, and so does the one that was just added.
    """

    def __init__(
        self, capacity: int = 50, ttl_minutes: float = 60, *, max_tokens: int = 4000, now: Clock = utc_now
    ) -> None:
        super().__init__(capacity, ttl_minutes, max_tokens, now)

    def add(
        self, content: str, importance: float | None = None, session_id: str = "default", *, timestamp: datetime | None = None,
        source: str = "user", **metadata: Any,
    ) -> str:  # fmt: skip
        """Put an item on the desk; returns its memory_id. The same statement again refreshes the item that is there, and
        another value for the same thing outdates it."""
        item = MemoryItem(
            content, "working", rule_importance(content) if importance is None else importance, timestamp or self._now(),
            metadata=only_metadata(metadata, MemoryItem), session_id=session_id, source=source,
        )  # fmt: skip
        return self.add_many([item])[0]

    def retrieve(
        self, query: str, top_k: int = 5, *, session_id: str = "default", scoring: str = "bounded", **chosen: Any
    ) -> list[Hit]:
        """Items that share words with the query, best first; only this session's. An unrelated query gives []. `chosen` as
        in `Filter`: since, until, min_importance, …"""
        require_scoring(scoring)
        items = self.list(session_id=session_id, limit=-1, **chosen)
        if not items or not tokens(query):
            return []
        texts = [item.content for item in items]
        hits = []
        for item, cosine, keyword in zip(items, tfidf(query, texts), keywords(query, texts), strict=True):
            if cosine <= 0 and keyword <= 0:
                continue
            age = self._now() - item.timestamp
            base = 0.7 * cosine + 0.3 * keyword if cosine > 0 else keyword
            if scoring == "article":
                score = working_score(cosine, keyword, age, item.importance)
            else:
                score = min(1.0, base * nudge(item.importance, age, item.access_count))
            left = decay(age, WORKING_HALF_LIFE)
            why = {"tfidf": cosine, "keyword": keyword, "decay": left, "importance": item.importance}
            hits.append(Hit(item, score, {name: round(value, 4) for name, value in why.items()}))
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.memory_id))[:top_k]

    def _worth(self, item: MemoryItem) -> float:
        """How much an item deserves its place: importance, recency, use; less when it is safe in long-term memory."""
        recency = decay(self._now() - item.timestamp, WORKING_HALF_LIFE)
        use = 1 - 1 / (1 + item.access_count)
        return 0.5 * item.importance + 0.3 * recency + 0.2 * use - 0.3 * bool(item.metadata.get("consolidated"))


# ---- What the two stored memories have in common ----


class StoredMemory(ReconcilingTable):
    """A memory kept in a home folder: rows in SQLite, words in FTS5, vectors in blobs and Chroma, all through Storage.

    `home` is an open Storage, or a folder that this memory opens itself (with `embedder`) and closes in `close`.
    """

    item_type = MemoryItem
    holds_events = False
    rate = staticmethod(rule_importance)

    def __init__(
        self, home: Storage | Path | str, *, embedder=None, now: Clock = utc_now, scoring: str = "bounded"
    ) -> None:
        self._owns_storage = not isinstance(home, Storage)
        super().__init__(Storage(home, embedder=embedder, now=now) if self._owns_storage else home)
        self.scoring = require_scoring(scoring)

    def close(self) -> None:
        if self._owns_storage:
            self.storage.close()

    # ---- writing ----

    def add(self, content: str, importance: float | None = None, session_id: str = "default", **fields: Any) -> str:
        """Remember a text; returns its memory_id. `fields` as in `write`, whose short form this is."""
        return self.write(content, importance, session_id, **fields).memory_id

    def write(
        self, content: str, importance: float | None = None, session_id: str = "default", *, source: str = "user",
        said_at: datetime | None = None, occurred_at: datetime | None = None, pinned: bool = False,
        derived_from: Sequence[str] = (), **metadata: Any,
    ) -> Written:  # fmt: skip
        """Remember a text; returns what became of it. importance None: the rule decides. said_at: when it was said, if not
        now. occurred_at: when it happened, if the text does not say.

        The same statement again is counted on the memory that is there (`mentions`). A new value for something that holds
        one value at a time, or a denial, supersedes the old one, unless that comes from a more trusted source.
        """
        item = MemoryItem(
            content, self.memory_type, rule_importance(content) if importance is None else importance, self.storage.now(),
            metadata=only_metadata(metadata, MemoryItem), session_id=session_id, occurred_at=occurred_at, valid_from=said_at,
            source=source, pinned=pinned, derived_from=list(derived_from),
        )  # fmt: skip
        here = None if said_at or occurred_at else item.valid_from.astimezone()  # whose yesterday: this computer's
        return self._write_prepared([self._prepared(item, moves=occurred_at is None, said_at=here)])[0]

    def add_many(self, items: Sequence[MemoryItem], *, vectors=None) -> list[str]:
        """Store items in one transaction; returns a memory_id for each, that of the known memory where it is a repeat.

        `vectors` (n, dim) unit rows saves embedding them. Importance and times are taken from the items as they are.
        """
        return [memory_id for memory_id, _, _ in self.write_many(items, vectors=vectors)]

    def _prepared(self, item: MemoryItem, *, moves: bool | None = None, said_at: datetime | None = None) -> MemoryItem:
        """Of this kind, with the dates it speaks of, and no more trusted than what it was made of. moves: whether its text may
        say when it happened; None: unless the item does."""
        moves = item.occurred_at == item.timestamp if moves is None else moves
        twin = dated(item, moves=moves and self.holds_events, said_at=said_at)
        twin.memory_type = self.memory_type
        if item.derived_from:
            twin.source = self.trust_of(item.derived_from, item.source)
        return twin

    def _same_place(self, known: MemoryItem, item: MemoryItem) -> bool:
        """Whether a repeat here is a repeat: an event of another session is another event."""
        return known.session_id == item.session_id

    # ---- finding ----

    def retrieve(
        self, query: str, top_k: int = 5, *, min_relevance: float = RELEVANT, scoring: str | None = None, vector=None,
        **chosen: Any,
    ) -> list[Hit]:  # fmt: skip
        """Memories about the query, best first; [] when none is. `chosen` as in `Filter`: session_id, since, until, …;
        as_of: what was held true then; of status, one: "active", or "archived" or "superseded" to look for what was put
        away.

        scoring: "bounded" (default) or "article" (§2's own formula). `vector`: the query's, if already at hand.
        min_relevance: 0 returns the nearest, whatever they are.
        """
        score = self._article_hits if require_scoring(scoring or self.scoring) == "article" else self._bounded_hits
        narrow = Filter(**chosen)
        if narrow.status is None:
            raise ValueError(f"search one status at a time: {', '.join(STATUSES)}")
        if not tokens(query):
            return []
        vector = self.storage.embed_query(query) if vector is None else vector
        only = self.row_ids(narrow) if narrow.narrows_search else None
        hits: list[Hit] = []
        for shelf in self._shelves(narrow):
            pool = hybrid_search(
                self.storage, shelf, query, limit=max(3 * top_k, 30), scope=narrow.session_id, only=only, vector=vector
            )
            pool = [candidate for candidate in pool if candidate.relevance >= min_relevance]
            items = self.items(candidate.id for candidate in pool)  # one may be gone by now
            hits += score(query, [(candidate, items[candidate.id]) for candidate in pool if candidate.id in items])
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.memory_id))[:top_k]

    def _shelves(self, narrow: Filter) -> tuple[str, ...]:
        if narrow.as_of:
            return self.memory_type, "archive"
        return (self.memory_type if narrow.status == "active" else "archive",)

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

LOOKED_BACK = 2_000  # events: what recurs no more is no pattern


class EpisodicMemory(StoredMemory):
    """What happened, and when. Every event belongs to a session and has the time it happened beside the time it was noted."""

    memory_type = "episodic"
    holds_events = True

    def get_session_history(self, session_id: str, limit: int = 100) -> list[MemoryItem]:
        return self.list(session_id=session_id, limit=limit)

    def timeline(self, *, limit: int = 100, offset: int = 0, **chosen: Any) -> dict[str, list[MemoryItem]]:
        """Events grouped by day ("2026-05-08", on this computer's calendar), oldest day first. `chosen` as in `Filter`."""
        days: dict[str, list[MemoryItem]] = {}
        for item in self.list(limit=limit, offset=offset, **chosen):
            days.setdefault(item.occurred_at.astimezone().date().isoformat(), []).append(item)
        return days

    def find_patterns(self, *, min_count: int = 3, limit: int = 20, **chosen: Any) -> list[Pattern]:
        """What recurs over the last LOOKED_BACK events: topics, entities and times, each with its count, its first and last
        time and some examples. `chosen` as in `Filter`."""
        events = self.list(limit=-1, **chosen)[-LOOKED_BACK:]
        return find_patterns(events, min_count, limit)

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
        self._terms = TermFinder(self.storage, self.memory_type)

    def _same_place(self, known: MemoryItem, item: MemoryItem) -> bool:
        """Knowledge belongs to the home, whichever session it came from; a note stays with its concept."""
        return known.metadata.get("concept") == item.metadata.get("concept")

    def _linked(self, row_ids: Sequence[int], items: Sequence[MemoryItem]) -> None:
        for row_id, item in zip(row_ids, items, strict=True):
            self.graph.unlink(row_id)
            self.graph.link(row_id, *entities_and_relations(item.content, item.metadata))
            link_terms(self.graph, self._terms, row_id, item.content)

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

    def memories_about(self, name: str, limit: int = 20) -> list[MemoryItem]:
        """The memories that speak of an entity, under any of its names: where what is known of it comes from. Newest first."""
        items = self.items(self.graph.texts_about(name, limit))
        return [items[row_id] for row_id in sorted(items, reverse=True)]

    def export_knowledge_graph(self, form: str = "jsonld") -> str:
        """The graph as "jsonld" or "graphml", each node and edge with the memories it comes from."""
        forms = {"jsonld": self.graph.to_jsonld, "graphml": self.graph.to_graphml}
        if form not in forms:
            raise ValueError(f"a graph is exported as {' or '.join(forms)}, not {form!r}")
        return forms[form]()

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

TOLD = (
    "My favourite player is Ronaldo",
    "我喜欢茶",
    "My favourite player is Messi",
    "我喜欢咖啡",
)  # one every ten days
ASKED_AFTER = timedelta(minutes=5)  # from putting things on the desk to asking
ON_THE_DESK = (
    "正在比较 Faithfulness 和 Recall 两个指标",
    "The experiment runs on 200 questions from the course notes.",
)
EVENTS = (  # days ago, what happened
    (20, "读完 RAGAS 论文，记下了四个指标"),
    (10, "Failed the quiz question on HyDE."),
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
        yield heading(tr("What is true now, and what was", "现在为真的，和曾经为真的"))
        yield table(tr("said", "说过的话"), tr("from", "从"), tr("until", "到"), rows=truth_rows(memories[2], clock))
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


def truth_rows(handbook: SemanticMemory, clock: StoppedClock) -> Iterator[tuple[str, str, str]]:
    """Statements made ten days apart: a second value ends the first, a second taste does not."""
    ids = []
    for content in TOLD:
        clock.move(days=10)
        ids.append(handbook.add(content))
    for item in map(handbook.get, ids):
        until = item.valid_until and f"{item.valid_until:%Y-%m-%d}"
        yield item.content, f"{item.valid_from:%Y-%m-%d}", until or tr("today", "今天")


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
