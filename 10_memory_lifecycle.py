"""10 · The life of a memory: score, consolidate, forget. A store that only grows becomes noise.

After this script you can explain why adding recency to similarity loses the question, why knowledge is abstracted from
events and never copied, and why forgetting means steering attention, not deleting data.

    score        0.5 · similarity + 0.3 · importance + 0.2 · recency, where recency halves every 24 hours
    consolidate  working → importance ≥ 0.7 → episodic → used in ≥ 5 answers, with what it is related to → semantic
    forget       importance < 0.2, untouched for 30 days, more than 100 → archived: logged, restorable, never what you wrote

Ways to forget, from mild to final: off the desk (script 09) · a lower weight: `fade` · out of the default search: `archive`,
undone by `restore` · `purge`, which is real deletion. What is pinned, no policy touches.

Not done here: deciding what enters memory at all; that is the gate of script 12.
Article: §3.1 time decay; §3.2 MemoryScorer; §3.3 MemoryConsolidator; §3.4 forgetting; §7.3 access_count closes the loop.

    python 10_memory_lifecycle.py [--lang en|zh]
"""

from __future__ import annotations  # m09 is a name that only type checkers can resolve before it is imported

import math
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infrastructure.abstraction import abstract_prompt, gist, refusal, shortened, theme_statement
from infrastructure.annotate import annotate
from infrastructure.background import Background
from infrastructure.database import utc_now
from infrastructure.erasure import Eraser, PurgeReport
from infrastructure.errors import LLMUnavailable, StudyError
from infrastructure.language import tr
from infrastructure.lesson import StoppedClock, heading, run_lesson, table, try_it
from infrastructure.storage import Storage
from infrastructure.theme_shelf import themes, write_theme
from infrastructure.themes import SHARED, Cluster, clusters, rarities, share, theme_words

if TYPE_CHECKING:
    import memory_system as m09
    from rich.console import RenderableType
else:
    m09 = import_module("09_memory_system")

Clock = Callable[[], datetime]

# ---- §3.1 Time decay (时间衰减) ----

HALF_LIFE_HOURS = 24.0


def time_decay(timestamp: datetime, half_life_hours: float = HALF_LIFE_HOURS, *, now: Clock = utc_now) -> float:
    """exp(−ln 2 · hours / half_life), in (0, 1]: 1 now, 0.5 after one half-life, 0.25 after two.

    A timestamp from a clock that runs ahead counts as now; one without a zone is local time.
    """
    if not half_life_hours > 0:
        raise ValueError("half_life_hours must be above 0")
    zoned = timestamp.astimezone() if timestamp.tzinfo is None else timestamp
    return m09.decay(now() - zoned, timedelta(hours=half_life_hours))


# ---- §3.2 MemoryScorer: similarity, importance and recency in one sum ----


class MemoryScorer:
    """score = alpha · similarity + beta · importance + gamma · recency, in [0, alpha + beta + gamma].

    It merges memories of different kinds and says who goes first when room is short. To answer a question it is a poor
    ranking: an important lunch from today passes a relevant note from last month. That is why retrieval (script 09) nudges.
    """

    def __init__(self, alpha: float = 0.5, beta: float = 0.3, gamma: float = 0.2, *, now: Clock = utc_now) -> None:
        if not all(0 <= weight < math.inf for weight in (alpha, beta, gamma)):
            raise ValueError("weights are finite and not negative")
        self.alpha, self.beta, self.gamma = alpha, beta, gamma
        self._now = now

    def score(self, semantic_sim: float, importance: float, timestamp: datetime) -> float:
        """Similarity and importance are clamped to [0, 1]; NaN counts as 0.5, no opinion."""
        recency = time_decay(timestamp, now=self._now)
        return self.alpha * m09.clamp(semantic_sim) + self.beta * m09.clamp(importance) + self.gamma * recency

    def rank(self, hits: Iterable[m09.Hit]) -> list[m09.Hit]:
        """Hits of any store, best first; what comes in as score is taken as the similarity. Ties by memory_id."""
        ranked = []
        for item, similarity, _why in hits:
            recency = time_decay(item.occurred_at, now=self._now)
            why = {"similarity": similarity, "importance": item.importance, "recency": round(recency, 4)}
            ranked.append(m09.Hit(item, self.score(similarity, item.importance, item.occurred_at), why))
        return sorted(ranked, key=lambda hit: (-hit.score, hit.item.memory_id))


# ---- §3.3 MemoryConsolidator: from the desk to the diary, from the diary to the handbook ----

IMPORTANT = 0.7
HOT = 5
EVENT_TOKENS = 80  # what an event keeps of a long text (D7: events, not transcripts)
NEIGHBOURS = 10  # how many events a hot one is compared with
SAME_SITTING = 3  # unrelated hot events of one session that a model may look at together


@dataclass(frozen=True)
class Promotion:
    """What consolidation wrote, would write (dry run), or refused to. `sources`: the memory_ids it stands on.

    action: added, updated or refused. memory_id: "" where nothing was written. reason: why it was refused.
    """

    action: str
    memory_type: str
    content: str
    sources: tuple[str, ...]
    memory_id: str = ""
    reason: str = ""


class MemoryConsolidator:
    """Moves what matters on: important things become events, events that keep being used become knowledge.

    Running it again changes nothing. Sources stay where they are; a policy may archive them later.
    """

    def __init__(self, importance_threshold: float = IMPORTANT, access_threshold: int = HOT, *, llm=None) -> None:
        self.importance_threshold = importance_threshold
        self.access_threshold = access_threshold
        self.llm = llm
        self._settled: set[frozenset[str]] = set()  # clusters that came to nothing: not tried again until they change

    def consolidate_working_to_episodic(
        self, working: m09.WorkingMemory, episodic: m09.EpisodicMemory, session_id: str = "default", *, dry_run: bool = False
    ) -> list[Promotion]:  # fmt: skip
        """Write a session's important or pinned items into the diary, shortened to events, and mark them on the desk."""
        promotions = []
        for item in working.items(session_id):
            if item.metadata.get("consolidated") or not (item.pinned or item.importance >= self.importance_threshold):
                continue
            event = replace(
                item, content=shortened(item.content, EVENT_TOKENS, m09.WEIGHTY), memory_type="episodic",
                memory_id=uuid.uuid4().hex, derived_from=[item.memory_id],
                metadata={**item.metadata, "consolidated_from": "working"},
            )  # fmt: skip
            with episodic.transaction():
                known = episodic.find_same(event)
                if known is None and not dry_run:
                    episodic.add_many([event])
            if not dry_run:
                item.metadata["consolidated"] = (known or event).memory_id
            if known is None:
                memory_id = "" if dry_run else event.memory_id
                promotions.append(Promotion("added", "episodic", event.content, (item.memory_id,), memory_id))
        return promotions

    def consolidate_episodic_to_semantic(
        self, episodic: m09.EpisodicMemory, semantic: m09.SemanticMemory, *, dry_run: bool = False
    ) -> list[Promotion]:
        """Abstract events that keep being used, together with related ones, into knowledge (D3).

        The knowledge is keyed on its sources: a hot event that no theme stands on yet joins the theme of its relatives, or
        founds one with them. A single event is no theme. A model that fails or answers badly changes nothing.
        """
        hot = episodic.list(min_access=self.access_threshold, limit=-1)
        known = themes(semantic) if hot else []
        covered = {memory_id for theme in known for memory_id in theme.derived_from}
        fresh = [event for event in hot if event.memory_id not in covered]
        found = clusters(fresh, known, lambda event: self._relatives(episodic, event, fresh))
        found += self._sittings(fresh, found)
        promotions = []
        for cluster in found:
            if not cluster.joined or (cluster.theme and cluster.theme.status != "active"):
                continue
            events = sorted(filter(None, map(episodic.get, cluster.ids)), key=lambda e: (e.occurred_at, e.memory_id))
            if len(events) < 2:
                continue
            try:
                promotions += self._promote(cluster.theme, events, semantic, dry_run)
            except LLMUnavailable as error:
                promotions.append(self._refuse(semantic, events, error.reason))
                break  # the next cluster would only wait for the same failure
        return promotions

    @staticmethod
    def _relatives(
        episodic: m09.EpisodicMemory, event: m09.MemoryItem, fresh: Sequence[m09.MemoryItem]
    ) -> list[m09.MemoryItem]:
        """Events about the same thing. The search, by vectors too, nominates; shared rare words decide (themes.py)."""
        hits = episodic.retrieve(gist(event), NEIGHBOURS, min_relevance=0.0)
        nominated = {item.memory_id: item for item in (*(hit.item for hit in hits), *fresh)}
        nominated.pop(event.memory_id, None)
        words = {memory_id: theme_words(gist(item)) for memory_id, item in nominated.items()}
        mine = theme_words(gist(event))
        frequencies = episodic.storage.document_frequencies("episodic", mine.union(*words.values()))
        weights = rarities(frequencies, episodic.size())
        return [item for item in nominated.values() if share(mine, words[item.memory_id], weights) >= SHARED]

    def _sittings(self, fresh: Sequence[m09.MemoryItem], found: Sequence[Cluster]) -> list[Cluster]:
        """Hot events of one session that share no word may still be about one thing; only a model can tell."""
        if self.llm is None:
            return []
        taken = set().union(*(cluster.ids for cluster in found))
        sittings: dict[str, Cluster] = {}
        for event in fresh:
            if event.memory_id not in taken:
                sittings.setdefault(event.session_id, Cluster()).add(event)
        return [cluster for cluster in sittings.values() if len(cluster.ids) >= SAME_SITTING]

    def _promote(
        self, theme: m09.MemoryItem | None, events: list[m09.MemoryItem], semantic: m09.SemanticMemory, dry_run: bool
    ) -> list[Promotion]:
        """Abstract related events, oldest first, and write it; [] when there is nothing new to say."""
        ids = tuple(event.memory_id for event in events)
        if frozenset(ids) in self._settled:
            return []
        text, source = theme_statement(events), least_trusted(events)
        if self.llm is not None and not dry_run:
            text = self.llm.complete(abstract_prompt(events), max_tokens=200).strip()
            source = "model"  # it has read the events, but what it makes of them is its own
            if reason := refusal(text, events):
                self._settled.add(frozenset(ids))
                return [self._refuse(semantic, events, reason)]
        memory_id = theme.memory_id if theme else ""
        if not dry_run:
            memory_id = write_theme(semantic, theme, events, text, source)
            if not memory_id:
                self._settled.add(frozenset(ids))
                return []
        return [Promotion("updated" if theme else "added", "semantic", text, ids, memory_id)]

    @staticmethod
    def _refuse(semantic: m09.SemanticMemory, events: Sequence[m09.MemoryItem], reason: str) -> Promotion:
        ids = [event.memory_id for event in events]
        semantic.storage.log("consolidation_refused", sources=ids, reason=reason)  # never the model's words
        return Promotion("refused", "semantic", "", tuple(ids), reason=reason)


def least_trusted(items: Iterable[m09.MemoryItem]) -> str:
    """The trust of whatever is made of these: model < document < user."""
    return min((item.source for item in items), key=m09.SOURCES.index)


# ---- §3.4 Forgetting controls attention (遗忘是控制注意力，不是删数据) ----


UNIMPORTANT = 0.2
STALE_DAYS = 30


class Split(NamedTuple):
    """What a forget function decides, each list in the order it came in. It changes nothing by itself."""

    kept: list[m09.MemoryItem]
    forgotten: list[m09.MemoryItem]


def forget_by_importance(items: Iterable[m09.MemoryItem], threshold: float = UNIMPORTANT) -> Split:
    """Forget what is less important than the threshold: small talk, passing remarks. Pinned items are kept."""
    return _split(items, lambda item: item.importance >= threshold)


def forget_by_time(items: Iterable[m09.MemoryItem], max_age_days: float = STALE_DAYS, *, now: Clock = utc_now) -> Split:
    """Forget what was neither written nor used for longer than that: finished tasks. Pinned items are kept."""
    oldest = now() - timedelta(days=max_age_days)
    return _split(items, lambda item: last_touched(item) >= oldest)


def forget_by_capacity(
    items: Iterable[m09.MemoryItem], capacity: int = 100, *, scorer: MemoryScorer | None = None, now: Clock = utc_now
) -> Split:
    """Keep the `capacity` best by score, there being no question to be similar to; pinned items first and always."""
    items = list(items)
    scorer = scorer or MemoryScorer(now=now)

    def value(item: m09.MemoryItem) -> tuple[bool, float, str]:
        return item.pinned, scorer.score(0.0, item.importance, last_touched(item)), item.memory_id

    best = {item.memory_id for item in sorted(items, key=value, reverse=True)[: max(0, capacity)]}
    return _split(items, lambda item: item.memory_id in best)


def _split(items: Iterable[m09.MemoryItem], worth_keeping: Callable[[m09.MemoryItem], bool]) -> Split:
    split = Split([], [])
    for item in items:
        (split.kept if item.pinned or worth_keeping(item) else split.forgotten).append(item)
    return split


def last_touched(item: m09.MemoryItem) -> datetime:
    """When a memory was last written or used: use keeps it alive."""
    return max(item.timestamp, item.last_accessed or item.timestamp)


# ---- The manager: score → consolidate → forget, with a policy that nobody regrets ----

STRATEGIES = ("importance", "time", "capacity")


@dataclass(frozen=True)
class Forgotten:
    """A memory that policy archived, or would archive (dry run), and by which strategy."""

    memory_id: str
    memory_type: str
    content: str
    strategy: str


@dataclass
class LifecycleReport:
    """What a run did, or in a dry run would do. Nothing in it is lost: `restore(memory_id)` undoes each Forgotten."""

    promoted: list[Promotion] = field(default_factory=list)
    forgotten: list[Forgotten] = field(default_factory=list)
    dry_run: bool = False


class MemoryLifecycleManager:
    """Ties the three memories together. Policy archives only what a model wrote and nobody pinned or restored, so that a
    learner back from holidays has lost nothing; anything more is up to the learner (`archive`, `purge`)."""

    def __init__(
        self, working: m09.WorkingMemory, episodic: m09.EpisodicMemory, semantic: m09.SemanticMemory, *, llm=None,
        now: Clock | None = None, consolidator: MemoryConsolidator | None = None,
    ) -> None:  # fmt: skip
        self.working, self.episodic, self.semantic = working, episodic, semantic
        self.storage = episodic.storage
        self.eraser = Eraser(self.storage, working, (episodic, semantic))
        self.consolidator = consolidator or MemoryConsolidator(llm=llm)
        self._now = now or self.storage.now
        self._running = threading.Lock()
        self._not_annotated: set[str] = set()
        self._background = Background(self._run_quietly, "life cycle")

    def run(self, session_id: str | None = None, dry_run: bool = False) -> LifecycleReport:
        """Consolidate, then forget by importance and time. session_id: whose desk; None: everybody's."""
        report = LifecycleReport(dry_run=dry_run)
        with self._running:
            for session in self.working.sessions() if session_id is None else [session_id]:
                report.promoted += self.consolidator.consolidate_working_to_episodic(
                    self.working, self.episodic, session, dry_run=dry_run
                )
            report.promoted += self.consolidator.consolidate_episodic_to_semantic(
                self.episodic, self.semantic, dry_run=dry_run
            )
            for strategy in ("importance", "time"):
                seen = {forgotten.memory_id for forgotten in report.forgotten}
                found = self.forget(strategy, dry_run=dry_run).forgotten
                report.forgotten += [forgotten for forgotten in found if forgotten.memory_id not in seen]
        return report

    def annotate(self) -> int:
        """With a model: let it add entities and relations to new knowledge (§2.4); returns to how many. Without one: 0."""
        llm = self.consolidator.llm
        return 0 if llm is None else annotate(self.semantic, llm, self._not_annotated)

    def forget(self, strategy: str, *, dry_run: bool = False, **options: Any) -> LifecycleReport:
        """Archive what a strategy would forget, as far as policy may. Options as in the forget function of that name.

        Knowledge does not grow stale by itself, so "time" and "capacity" look at events only.
        """
        decide = {"importance": self._by_importance, "time": self._by_time, "capacity": self._by_capacity}
        if strategy not in decide:
            raise ValueError(f"strategy is one of {', '.join(STRATEGIES)}, not {strategy!r}")
        with self.storage.transaction():  # nobody pins or uses one of them in between
            chosen = [item for item in decide[strategy](**options) if self.may_forget(item)]
            for item in [] if dry_run else chosen:
                self._store(item.memory_id).archive(item.memory_id)
                self.storage.log("archived", memory_id=item.memory_id, by=strategy)
        forgotten = [Forgotten(i.memory_id, i.memory_type, i.content, strategy) for i in chosen]
        return LifecycleReport(forgotten=forgotten, dry_run=dry_run)

    def _by_importance(self, threshold: float = UNIMPORTANT) -> list[m09.MemoryItem]:
        found = [s.list(source="model", max_importance=threshold, limit=-1) for s in (self.episodic, self.semantic)]
        return forget_by_importance((item for items in found for item in items), threshold).forgotten

    def _by_time(self, max_age_days: float = STALE_DAYS) -> list[m09.MemoryItem]:
        oldest = self._now() - timedelta(days=max_age_days)
        found = self.episodic.list(source="model", untouched_since=oldest, limit=-1)
        return forget_by_time(found, max_age_days, now=self._now).forgotten

    def _by_capacity(self, **given: Any) -> list[m09.MemoryItem]:
        return forget_by_capacity(self.episodic.list(limit=-1), now=self._now, **given).forgotten

    @staticmethod
    def may_forget(item: m09.MemoryItem) -> bool:
        """Whether policy may put this away without being asked."""
        return item.source == "model" and not item.pinned and not item.metadata.get("restored")

    def forgets_at(self, item: m09.MemoryItem) -> datetime | None:
        """From when on policy puts this away if nobody uses it before; None: never."""
        if not self.may_forget(item):
            return None
        if item.importance < UNIMPORTANT:
            return item.timestamp
        return last_touched(item) + timedelta(days=STALE_DAYS) if item.memory_type == "episodic" else None

    # ---- what a learner does to one memory; each is False for an unknown id ----

    def archive(self, memory_id: str) -> bool:
        """Out of the default search, in the archive."""
        store = self._store(memory_id)
        done = store is not None and store.archive(memory_id)
        return done and self._logged("archived", memory_id, by="learner")

    def restore(self, memory_id: str) -> bool:
        """Back from the archive; policy leaves it alone from now on."""
        store = self._store(memory_id)
        done = store is not None and store.restore(memory_id) and store.update(memory_id, metadata={"restored": True})
        return done and self._logged("restored", memory_id)

    def pin(self, memory_id: str, pinned: bool = True) -> bool:
        """No policy forgets a pinned memory. On the desk it outlives the hour, and the next run writes it down."""
        item = self.working.get(memory_id)
        if item is not None:
            item.pinned = pinned
            return True
        store = self._store(memory_id)
        return store is not None and store.update(memory_id, pinned=pinned)

    def fade(self, memory_id: str, factor: float = 0.5) -> bool:
        """Lower the weight: importance times factor."""
        store = self._store(memory_id)
        item = None if store is None else store.get(memory_id)
        return item is not None and store.update(memory_id, importance=item.importance * factor)

    def reinforce(self, memory_ids: Iterable[str]) -> int:
        """These were used in an answer (D3); returns how many uses counted.

        Spaced repeats count more than massed ones (`memory_table.SPACING`), and the effect has a ceiling: use is a fifth of
        a nudge of ±10 %, however often, so what was shown once cannot keep itself on top.
        """
        memory_ids = list(dict.fromkeys(memory_ids))
        return sum(memory.mark_used(memory_ids) for memory in (self.working, self.episodic, self.semantic))

    def purge(self, memory_id: str) -> PurgeReport:
        """Delete for good, from every store, index, vector and copy in the home: the memory, what was made of it, the desk's
        copy, its words in transcript, log and prompt history; then rewrite the files so that no byte is left. An unknown id
        gives an empty report."""
        return self.eraser.memory(memory_id)

    def _store(self, memory_id: str) -> m09.StoredMemory | None:
        return next((store for store in (self.episodic, self.semantic) if store.has_memory(memory_id)), None)

    def _logged(self, action: str, memory_id: str, **details: Any) -> bool:
        self.storage.log(action, memory_id=memory_id, **details)
        return True

    # ---- in the background ----

    def start_background(self, interval_seconds: float = 600) -> None:
        """Run for every session at this interval, and when woken, in a thread of its own."""
        self._background.start(interval_seconds)

    def wake(self) -> None:
        """Run soon in the background, without making anybody wait for it."""
        self._background.wake()

    def stop(self) -> None:
        """End the background thread after its current run. Call it before the storage is closed."""
        self._background.stop()

    def _run_quietly(self) -> None:
        try:
            self.run()
            self.annotate()
        except StudyError as error:
            self.storage.notices.append(str(error))


# ---- lesson ----

ASKED = "How do I tune k1 in BM25?"
TEN = (  # days ago, importance, memory
    (21, 0.5, "To tune BM25, start with k1 = 1.2 and b = 0.75."),
    (9, 0.5, "Raising k1 in BM25 lets repeated words count more."),
    (30, 0.5, "先固定 b，再给 BM25 调 k1"),
    (1, 0.5, "Tuned my guitar before the exam."),
    (0, 1.0, "Important: lunch with my advisor at noon!"),
    (0, 0.9, "今晚必须交实验报告"),
    (2, 0.5, "HyDE writes a made-up answer first."),
    (5, 0.5, "向量检索看意思，不看字面"),
    (60, 0.7, "A deadlock needs four conditions at once."),
    (0, 0.1, "ok, thanks!"),
)
DIARY = (  # in how many answers it was used, event
    (5, "问了 RAGAS 怎么评估 Faithfulness"),
    (6, "问了 Faithfulness 和 Recall 冲突时怎么取舍"),
    (2, "问了 Faithfulness 低要不要做 answer repair"),
    (5, "Asked how FSRS schedules reviews."),
    (5, "Asked why spaced reviews beat cramming."),
    (0, "Asked where the canteen is."),
)
OLD = (  # days ago, importance, written by, pinned, memory
    (0, 0.1, "model", False, "好的，谢谢！"),
    (40, 0.5, "model", False, "Asked for the room of the April exam."),
    (40, 0.5, "model", True, "问了四月考试的大纲"),
    (40, 0.5, "user", False, "My grandmother taught me to read."),
    (3, 0.5, "model", False, "Asked what HyDE is."),
)


def decay_rows(hours: Sequence[float] = (0, 1, 12, 24, 48, 168, 720)) -> list[list[str]]:
    """Age, then what is left of it with a half-life of an hour, of HALF_LIFE_HOURS, of 30 days."""
    clock = StoppedClock()
    rows = []
    for age in hours:
        left = (time_decay(clock() - timedelta(hours=age), half, now=clock) for half in (1, HALF_LIFE_HOURS, 720))
        rows.append([f"{age:g} h", *(f"{value:.3f}" for value in left)])
    return rows


def ranked_both_ways(clock: StoppedClock, scorer: MemoryScorer) -> list[tuple[Any, ...]]:
    """(place by the article, place when bounded, similarity, importance, days, memory), best first when bounded.

    What stands for the similarity is the share of rare words, since there are no vectors here.
    """
    asked, words = theme_words(ASKED), [theme_words(text) for _days, _importance, text in TEN]
    weights = rarities({word: sum(word in one for one in words) for word in asked.union(*words)}, len(TEN))
    hits = []
    for number, (days, importance, text) in enumerate(TEN):
        item = m09.MemoryItem(
            text, "episodic", importance, clock(), memory_id=f"{number}", occurred_at=clock() - timedelta(days=days)
        )
        hits.append(m09.Hit(item, share(asked, words[number], weights), {}))
    article = {hit.item.memory_id: place for place, hit in enumerate(scorer.rank(hits), start=1)}

    def bounded(hit: m09.Hit) -> float:
        return hit.score * m09.nudge(hit.item.importance, clock() - hit.item.occurred_at, hit.item.access_count)

    rows = []
    for place, (item, similarity, _why) in enumerate(sorted(hits, key=bounded, reverse=True), start=1):
        age = (clock() - item.occurred_at).days
        rows.append((article[item.memory_id], place, round(similarity, 2), item.importance, age, item.content))
    return rows


def keep_a_diary(manager: MemoryLifecycleManager, clock: StoppedClock) -> list[tuple[int, str]]:
    """Events, each used in so many answers, one every eight hours; (access_count, event)."""
    ids = []
    for _uses, event in DIARY:
        ids.append(manager.episodic.add(event, source="model"))
        clock.move(hours=8)
    for number in range(max(uses for uses, _event in DIARY)):
        manager.reinforce(memory_id for memory_id, (uses, _) in zip(ids, DIARY, strict=True) if uses > number)
        clock.move(hours=8)
    return [
        (manager.episodic.get(memory_id).access_count, event) for memory_id, (_, event) in zip(ids, DIARY, strict=True)
    ]


def grow_old(manager: MemoryLifecycleManager, clock: StoppedClock) -> list[tuple[Any, ...]]:
    """(days, importance, written by, what the pure functions say, what policy would do, memory)"""
    items = [
        m09.MemoryItem(text, "episodic", importance, clock() - timedelta(days=days), source=source, pinned=pinned)
        for days, importance, source, pinned, text in OLD
    ]
    manager.episodic.add_many(items)
    would = {
        item.memory_id for item in forget_by_importance(items).forgotten + forget_by_time(items, now=clock).forgotten
    }
    will = {forgotten.memory_id for forgotten in manager.run(dry_run=True).forgotten}
    forget, keep, archive = tr("forget", "忘记"), tr("keep", "保留"), tr("archive", "归档")
    return [
        (days, importance, tr(source, {"user": "你", "model": "模型"}[source]) + tr(", pinned", "，已固定") * pinned,
         forget if item.memory_id in would else keep, archive if item.memory_id in will else keep, text)
        for item, (days, importance, source, pinned, text) in zip(items, OLD, strict=True)
    ]  # fmt: skip


def lesson(home: Path) -> Iterator[RenderableType]:
    clock = StoppedClock()
    yield heading(tr("§3.1 What is left after some time", "§3.1 过一段时间还剩多少"))
    columns = (tr(f"half-life {text}", f"半衰期 {text}") for text in ("1 h", f"{HALF_LIFE_HOURS:g} h", "30 d"))
    yield table(tr("age", "时间"), *columns, rows=decay_rows())

    yield heading(tr(f"§3.2 Ten memories, one question: {ASKED}", f"§3.2 十条记忆，一个问题：{ASKED}"))
    columns = (tr("article", "原文"), tr("bounded", "有界"), tr("similarity", "相似"), tr("importance", "重要"))
    rows = ranked_both_ways(clock, MemoryScorer(now=clock))
    yield table(*columns, tr("days", "天"), tr("memory", "记忆"), rows=rows)

    with Storage(home, now=clock) as storage:
        desk, diary, handbook = m09.WorkingMemory(now=clock), m09.EpisodicMemory(storage), m09.SemanticMemory(storage)
        manager = MemoryLifecycleManager(desk, diary, handbook)
        yield heading(tr("§3.3 Before: events, and how often they were used", "§3.3 整合之前：事件和用过的次数"))
        yield table(tr("uses", "次数"), tr("event", "事件"), rows=keep_a_diary(manager, clock))
        yield heading(tr("After: what they have in common", "整合之后：它们的共同点"))
        promoted = manager.run().promoted
        rows = [(len(promotion.sources), promotion.content) for promotion in promoted]
        yield table(tr("made from", "来源数"), tr("knowledge", "知识"), rows=rows)
        again = len(manager.run().promoted)
        yield tr(
            f"The same run again: {again} new, the six events are still there.",
            f"再运行一次：新增 {again} 条，六个事件都还在。",
        )

        yield heading(tr("§3.4 Forgetting, a dry run", "§3.4 遗忘（只演练）"))
        columns = (tr("days", "天"), tr("importance", "重要"), tr("by", "来自"), tr("formula", "公式"))
        yield table(*columns, tr("policy", "策略"), tr("memory", "记忆"), rows=grow_old(manager, clock))
        yield tr(
            f"Still in the diary: {diary.size()} of {len(DIARY) + len(OLD)}.",
            f"日记里还有 {diary.size()} 条，一条没少。",
        )
    yield from try_it(
        tr(
            "HALF_LIFE_HOURS = 240: after two days 0.871 is left, not 0.250.",
            "把 HALF_LIFE_HOURS 改成 240：两天后剩 0.871，而不是 0.250。",
        ),
        tr(
            "MemoryScorer(1, 0, 0, now=clock) in the lesson: the lunch loses its second place to the notes on BM25.",
            "课程里改成 MemoryScorer(1, 0, 0, now=clock)：午饭的第二名让给了 BM25 的笔记。",
        ),
        tr(
            "HOT = 6: one event alone is hot; it takes its cooler relatives along, the reviews stay events.",
            "把 HOT 改成 6：只有一个事件够热，它带上相关的事件；复习那组仍是事件。",
        ),
    )


def main(argv: Sequence[str] | None = None) -> int:
    return run_lesson(lesson, __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
