"""Do the stores keep what they promise, and how fast are they when they are full?

    python benchmarks/memory_stores.py [--kills N] [--soak SECONDS] [--scale N ...] [--json FILE]

kills   a process adds, changes and removes memories and chunks and is killed at a random instant, so many times; each time the
        home is opened again: every acknowledged change there, nothing twice, rows = words = vectors = Chroma
soak    8 threads and 2 processes at once for so many seconds: no error, no lost row
scale   one home grows to each size in turn, vectors given (384 numbers, in topics). Writes are acknowledged, that is: row, words
        and vector are committed. Chroma's rate is that of raw Chroma on the same vectors in the same run, piece by piece in
        turns. Searches are `retrieve` with the query's vector at hand; a session has 500 memories.

Without options: --kills 200 --soak 60 --scale 1000 10000 100000, which takes about ten minutes on two cores. Figures are only
comparable within one run of one machine that does nothing else.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROJECT), str(PROJECT / "tests")]

from infrastructure.console import Screen  # noqa: E402
from infrastructure.lesson import table  # noqa: E402
from infrastructure.storage import Storage  # noqa: E402

m09 = import_module("09_memory_system")

DIMENSION, TOPICS, IN_SESSION = 384, 400, 500
# Memories in one add_many. Ids are random, so each commit touches every page of their index: 1,000 at once are a fifth slower.
WRITE_BATCH = 5_000
ASKED = 200  # searches of each kind, and gets, and updates
FOLDER = "memory-stores-"


@dataclass
class Measure:
    """One line of the table. values by column ("" for what has no size). A target is to be met at the largest size."""

    name: str
    unit: str
    values: dict[str, float] = field(default_factory=dict)
    target: str = ""
    met: bool | None = None


# ---- Kills and soak ----


def kills(count: int) -> list[Measure]:
    import trials

    with TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True) as folder:
        trial = trials.kill_and_look(Path(folder), count, seed=int(time.time()))
    return _of_trial(f"{count} kills", trial)


def soak(seconds: float) -> list[Measure]:
    import trials

    with TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True) as folder:
        trial = trials.soak(Path(folder), seconds)
    return _of_trial(f"soak of {seconds:g} s", trial)


def _of_trial(name: str, trial: Any) -> list[Measure]:
    for fault in trial.faults[:10]:
        print(f"{name}: {fault}", file=sys.stderr)
    return [
        Measure(f"{name}: faults", "", {"": len(trial.faults)}, "0", trial.stood),
        Measure(f"{name}: changes acknowledged", "", {"": trial.changes}),
        Measure(f"{name}: texts at the end", "", {"": trial.texts}),
    ]


# ---- Scale: what is written ----


class Source:
    """Memories without end: half Chinese, half English, words as rare as in real text, a vector near that of their topic."""

    def __init__(self, seed: int = 1) -> None:
        import numpy as np

        self.rng, self.numbers, self.made = random.Random(seed), np.random.default_rng(seed), 0
        letters, characters = "aeioubcdfglmnprst", [chr(code) for code in range(0x4E00, 0x4E00 + 2_500)]
        self.english = ["".join(self.rng.choices(letters, k=self.rng.randint(4, 10))) for _ in range(20_000)]
        self.chinese = ["".join(self.rng.choices(characters, k=2)) for _ in range(20_000)]
        self.weights = [1 / rank for rank in range(1, 20_001)]
        self.topics = self.numbers.normal(size=(TOPICS, DIMENSION)).astype(np.float32)

    def items(self, count: int) -> tuple[list[Any], Any]:
        """(memories, their vectors): unit rows (count, DIMENSION)."""
        items = []
        for _ in range(count):
            self.made += 1
            vocabulary, space = ((self.english, " "), (self.chinese, ""))[self.made % 2]
            words = space.join(self.rng.choices(vocabulary, self.weights, k=16))
            session = f"session {self.made // IN_SESSION}"
            items.append(m09.MemoryItem(f"{self.made}: {words}", importance=self.rng.random(), session_id=session))
        chosen = self.numbers.integers(TOPICS, size=count)
        return items, self._near(chosen)

    def _near(self, chosen: Any) -> Any:
        import numpy as np

        noise = self.numbers.normal(size=(len(chosen), DIMENSION)).astype(np.float32)
        vectors = self.topics[chosen] + 0.7 * noise
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def questions(self, storage: Storage, shelf: str = "episodic") -> list[tuple[str, Any, str, str]]:
        """(words of a stored text, a vector near a topic, its session or document, its key)."""
        stored = [row[0] for row in storage.database.rows("SELECT id FROM texts WHERE shelf = ?", (shelf,))]
        texts = list(storage.texts(self.rng.sample(stored, ASKED)).values())
        vectors = self._near(self.numbers.integers(TOPICS, size=len(texts)))
        return [(_some_words(self.rng, t.content), v, t.scope, t.key) for t, v in zip(texts, vectors, strict=True)]


def _some_words(rng: random.Random, content: str) -> str:
    content = content.partition(": ")[2]
    if " " in content:
        return " ".join(rng.sample(content.split(), 5))
    start = rng.randrange(len(content) - 8)
    return content[start : start + 8]


# ---- Scale: how it is measured ----


@contextmanager
def timed(spent: list[float]) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    spent.append(time.perf_counter() - begun)


class RawChroma:
    """Chroma alone, with the same vectors in the same pieces."""

    def __init__(self, folder: Path) -> None:
        import chromadb
        from chromadb.config import Settings

        self.client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        options = {"embedding_function": None, "configuration": {"hnsw": {"space": "cosine"}}}
        self.collection = self.client.create_collection("vectors", **options)

    def upsert(self, vectors: Any) -> None:
        first = self.collection.count()
        self.collection.upsert(ids=[str(first + number) for number in range(len(vectors))], embeddings=vectors)

    def query(self, vector: Any) -> None:
        """The five nearest."""
        self.collection.query(query_embeddings=[vector], n_results=5)

    def close(self) -> None:
        self.client.close()


def grow(storage: Storage, raw: RawChroma, source: Source, count: int) -> dict[str, float]:
    """Add memories, in pieces: first ours, then raw Chroma or the other way round, so that both see the machine alike."""
    diary = m09.EpisodicMemory(storage)
    writes: list[float] = []
    ours: list[float] = []
    theirs: list[float] = []
    for number, size in enumerate(_pieces(count, WRITE_BATCH)):
        items, vectors = source.items(size)
        with timed(writes):
            diary.add_many(items, vectors=vectors)
        both = [(ours, storage.settle), (theirs, partial(raw.upsert, vectors))]
        for spent, work in both if number % 2 else reversed(both):
            with timed(spent):
                work()
    return {"writes": count / sum(writes), "vectors": count / sum(ours), "raw": count / sum(theirs)}


def _pieces(count: int, size: int) -> list[int]:
    return [min(size, count - begun) for begun in range(0, count, size)]


def searches(storage: Storage, source: Source) -> dict[str, list[float]]:
    """Seconds of each search, get and update, by kind, once everything is in memory."""
    diary = m09.EpisodicMemory(storage)
    kinds: dict[str, Callable[..., object]] = {
        "search": lambda text, vector, session, key: diary.retrieve(text, 5, vector=vector, min_relevance=0.0),
        "search by session": lambda text, vector, session, key: diary.retrieve(
            text, 5, vector=vector, min_relevance=0.0, session_id=session
        ),
        "get": lambda text, vector, session, key: diary.get(key),
        "update": lambda text, vector, session, key: diary.update(key, importance=0.6),
    }
    spent: dict[str, list[float]] = {kind: [] for kind in kinds}
    for kind, work in kinds.items():
        for question in source.questions(storage)[:5]:
            work(*question)
        for question in source.questions(storage):
            with timed(spent[kind]):
                work(*question)
    return spent


def openings(home: Path, source: Source) -> dict[str, list[float]]:
    """Opening a home, and its first search, which reads the vectors it needs."""
    spent: dict[str, list[float]] = {"open": [], "first search": []}
    for _ in range(3):
        with timed(spent["open"]):
            storage = Storage(home)
        with storage:
            text, vector, _session, _key = source.questions(storage)[0]
            with timed(spent["first search"]):
                m09.EpisodicMemory(storage).retrieve(text, 5, vector=vector)
    return spent


def scale(sizes: Sequence[int]) -> list[Measure]:
    """One home that grows; figures at each size."""
    source, at = Source(), {}
    with TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True) as folder:
        home, raw = Path(folder, "home"), RawChroma(Path(folder, "raw"))
        for before, size in pairwise([0, *sizes]):
            with Storage(home) as storage:
                rates = grow(storage, raw, source, size - before)
                at[f"{size:,}"] = (rates, searches(storage, source), openings_later := {})
                assert storage.verify().ok
            openings_later |= openings(home, source)
        raw.close()
    return _of_scale(at)


def _of_scale(at: dict[str, tuple[dict, dict, dict]]) -> list[Measure]:
    def line(
        name: str, unit: str, target: str, value: Callable[..., float], good: Callable[[float], bool] | None = None
    ):
        values = {size: value(*figures) for size, figures in at.items()}
        return Measure(name, unit, values, target, None if good is None else good(values[max(values, key=_number)]))

    lines = [
        line(
            "writes acknowledged (row, words, vector)",
            "/s",
            "≥ 5,000",
            lambda r, s, o: r["writes"],
            lambda v: v >= 5_000,
        ),
        line("vectors into Chroma", "/s", "", lambda r, s, o: r["vectors"]),
        line("raw Chroma, same vectors", "/s", "", lambda r, s, o: r["raw"]),
        line("ours ÷ raw Chroma", "", "≥ 0.80", lambda r, s, o: r["vectors"] / r["raw"], lambda v: v >= 0.8),
    ]
    for kind, most in (("search", 40), ("search by session", 40), ("get", 5), ("update", 5)):
        lines.append(line(f"{kind}, median", "ms", "", partial(_milliseconds, kind, 50)))
        lines.append(
            line(f"{kind}, p95", "ms", f"≤ {most}", partial(_milliseconds, kind, 95), lambda v, m=most: v <= m)
        )
    lines.append(line("open", "ms", "≤ 1,000", lambda r, s, o: 1000 * max(o["open"]), lambda v: v <= 1_000))
    lines.append(line("first search after that", "ms", "", lambda r, s, o: 1000 * max(o["first search"])))
    return [*lines, *(_growth(kind, at) for kind in ("search", "search by session"))] if len(at) > 1 else lines


def _number(size: str) -> int:
    return int(size.replace(",", ""))


def _milliseconds(kind: str, share: int, _rates: Any, spent: dict[str, list[float]], _openings: Any) -> float:
    return 1000 * statistics.quantiles(spent[kind], n=100, method="inclusive")[share - 1]


def _growth(kind: str, at: dict[str, tuple[dict, dict, dict]]) -> Measure:
    (smallest, first), *_, (largest, last) = at.items()
    ratio = _milliseconds(kind, 50, *last) / _milliseconds(kind, 50, *first)
    return Measure(f"{kind}, cost of {largest} ÷ {smallest}", "×", {largest: ratio}, "≤ 5", ratio <= 5)


# ---- Showing ----


def shown(measures: Sequence[Measure]) -> Any:
    columns = list(dict.fromkeys(size for measure in measures for size in measure.values if size))
    rows = []
    for measure in measures:
        cells = ["" if size not in measure.values else _cell(measure.values[size]) for size in columns or [""]]
        if "" in measure.values:
            cells[0] = _cell(measure.values[""])
        met = {True: "yes", False: "NO", None: ""}[measure.met]
        rows.append([measure.name, *cells, measure.unit, measure.target, met])
    return table("measure", *(columns or ["value"]), "unit", "target", "met", rows=rows)


def _cell(value: float) -> str:
    """
    >>> _cell(5123.4), _cell(0.8249), _cell(200)
    ('5,123', '0.82', '200')
    """
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--soak", type=float)
    parser.add_argument("--scale", type=int, nargs="+")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(argv)
    if args.kills is None and args.soak is None and args.scale is None:
        args.kills, args.soak, args.scale = 200, 60, [1_000, 10_000, 100_000]
    measures = kills(args.kills) if args.kills else []
    measures += soak(args.soak) if args.soak else []
    measures += scale(sorted(args.scale)) if args.scale else []
    Screen(width=120).show(shown(measures))
    if args.json:
        data = [{k: getattr(m, k) for k in ("name", "unit", "values", "target", "met")} for m in measures]
        args.json.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    return 1 if any(measure.met is False for measure in measures) else 0


if __name__ == "__main__":
    sys.exit(main())
