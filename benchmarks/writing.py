"""How fast memories are written: acknowledged means row and words are committed, and repeats and old values were dealt with.

    python benchmarks/writing.py [--memories N] [--json FILE]

batch     EpisodicMemory.add_many, 5,000 at a time with their vectors given, into a home that grows to N
single    one add of its own, without an embedder: an event, knowledge with its entities, a value that supersedes another
Half of the texts are Chinese, half English. Figures are only comparable within one run of one machine that does nothing else.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from infrastructure.console import Screen  # noqa: E402
from infrastructure.lesson import table  # noqa: E402
from infrastructure.storage import Storage  # noqa: E402

m09 = import_module("09_memory_system")

BATCH, DIMENSION, SINGLES = 5_000, 384, 300
_ENGLISH = """memory retrieval vector index question answer learner chapter notes exam recall precision hybrid ranking search
document page evidence score decay"""
_CHINESE = "检索 增强 生成 记忆 向量 索引 问题 答案 学习 章节 笔记 考试 召回 精确 混合 排序 文档 页面 证据 得分"
ENGLISH, CHINESE = _ENGLISH.split(), _CHINESE.split()


def texts(seed: int = 1) -> Iterator[str]:
    rng, number = random.Random(seed), 0
    while True:
        yield f"event {number}: {' '.join(rng.choices(ENGLISH, k=12))}"
        yield f"第{number}件事，{''.join(rng.choices(CHINESE, k=12))}"
        number += 1


def batches(home: Path, memories: int) -> Iterator[tuple[int, float]]:
    """(memories before, memories a second) for each batch."""
    import numpy as np

    vectors = np.random.default_rng(0).normal(size=(BATCH, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    source = texts()
    with Storage(home) as storage:
        diary = m09.EpisodicMemory(storage)
        for before in range(0, memories, BATCH):
            items = [m09.MemoryItem(next(source), session_id=f"s{number % 50}") for number in range(BATCH)]
            begun = time.perf_counter()
            diary.add_many(items, vectors=vectors)
            yield before, BATCH / (time.perf_counter() - begun)


def singles(write: Callable[[str], object], contents: Iterator[str]) -> tuple[float, float]:
    """Median and 95th percentile of one write, in ms."""
    spent = []
    for _ in range(SINGLES):
        content = next(contents)
        begun = time.perf_counter()
        write(content)
        spent.append(1000 * (time.perf_counter() - begun))
    return statistics.median(spent), statistics.quantiles(spent, n=20)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        rates = list(batches(Path(folder) / "batch", args.memories))
        with Storage(Path(folder) / "batch") as storage:
            diary, handbook = m09.EpisodicMemory(storage), m09.SemanticMemory(storage)
            one_by_one = {
                "event": singles(diary.add, texts(2)),
                "knowledge": singles(handbook.add, texts(3)),
                "superseding": singles(handbook.add, (f"My budget is {number} euros" for number in range(SINGLES))),
            }
    screen = Screen()
    rows = [(f"batch, after {before:,}", f"{rate:,.0f}/s", "") for before, rate in rates]
    rows += [(f"single, {name}", f"{median:.1f} ms", f"p95 {p95:.1f} ms") for name, (median, p95) in one_by_one.items()]
    screen.show(table("write", "rate or median", "", rows=rows))
    if args.json:
        args.json.write_text(json.dumps({"batch": rates, "single_ms": one_by_one}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
