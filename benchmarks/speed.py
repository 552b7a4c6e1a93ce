"""How long reading, adding, searching and asking take, beside what they are made of, in the same process and on the same data.

reading   the sample guide ten times over as one PDF: pypdf alone, then `load_document` until its words can be searched; the
          embedder alone on its chunks, then `settle`
growing   one home that grows to each size, vectors given: writes a second, vectors into Chroma beside raw Chroma in turns,
          `retrieve` beside a query of raw Chroma, one memory more, and a question end to end with the guide as document

Figures are only comparable within one run of one machine; the ratios travel better.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.embedding import make_embedder
from benchmarks.memory_stores import DIMENSION, RawChroma, Source, grow, searches, timed
from benchmarks.metrics import percentile
from benchmarks.report import Chart, Part, Table
from infrastructure.language import tr
from infrastructure.storage import EMBED_BATCH, Storage

GUIDE = Path(__file__).resolve().parent.parent / "samples" / "memory_rag_guide.pdf"
COPIES = 10
ASKED, SINGLES, REPEATS = 30, 30, 3
QUESTIONS = ("What is HyDE?", "RAG 系统怎么评估？", "How does working memory forget?", "什么时候写入长期记忆？")


def measure(sizes: Sequence[int], embedder_name: str) -> Iterator[Part]:
    """Tables and growth curves; sizes ascending, in memories."""
    embedder = make_embedder(embedder_name)
    with TemporaryDirectory(prefix="speed-", ignore_cleanup_errors=True) as folder:
        yield reading(Path(folder), embedder)
        at = growing(Path(folder), sizes, embedder)
    yield from _of_sizes(at)


# ---- Reading ----


def reading(folder: Path, embedder) -> Table:
    """Pages a second, ours and pypdf's; texts a second, ours and the embedder's."""
    path = longer_guide(folder)
    raw, ours = [], []
    for number in range(REPEATS):  # in turns, so that both see the machine alike
        with timed(raw):
            pages = read_with_pypdf(path)
        with timed(ours), Storage(folder / f"read{number}") as storage:
            import_module("13_pdf_learning_assistant").PDFLearningAssistant(storage).load_document(path)
    rows = [_ratio(tr("pages until words are found", "页（可按词语检索）"), "pypdf", pages, ours, raw)]
    if embedder is not None:
        name = tr("texts until vectors are found", "段（可按向量检索）")
        rows.append(_ratio(name, tr("embedder", "向量模型"), *_vectors(folder, embedder.bare)))
    beside = [tr("ours", "本项目"), tr("alone", "单独"), tr("of what", "对照"), tr("ours ÷ alone", "本项目 ÷ 单独")]
    title = tr(f"Reading {pages} pages", f"读 {pages} 页")
    return Table("reading", title, [tr("a second", "每秒"), *beside], rows)


def _ratio(name: str, other: str, count: int, ours: Sequence[float], alone: Sequence[float]) -> list[Any]:
    """Rates by the medians of the seconds."""
    mine, theirs = statistics.median(ours), statistics.median(alone)
    return [name, round(count / mine, 1), round(count / theirs, 1), other, theirs / mine]


def longer_guide(folder: Path) -> Path:
    """The guide COPIES times in one file."""
    from pypdf import PdfWriter

    writer = PdfWriter()
    for _ in range(COPIES):
        writer.append(GUIDE)
    path = folder / "long.pdf"
    writer.write(path)
    return path


def read_with_pypdf(path: Path) -> int:
    """Number of its pages, their text having been extracted."""
    from pypdf import PdfReader

    reader = PdfReader(path)
    return len([page.extract_text() for page in reader.pages])


def _vectors(folder: Path, embedder) -> tuple[int, list[float], list[float]]:
    """(texts, seconds of settle, seconds of the embedder alone) for the chunks of one guide."""
    ours: list[float] = []
    alone: list[float] = []
    with Storage(folder / "embedded", embedder=embedder) as storage:
        assistant = import_module("13_pdf_learning_assistant").PDFLearningAssistant(storage)
        document_id = assistant.load_document(GUIDE).document_id
        chunks = assistant.library.chunk_ids(documents=[document_id])
        texts = [text.content for text in storage.texts(chunks).values()]
        with timed(alone):
            for start in range(0, len(texts), EMBED_BATCH):
                embedder.embed_passages(texts[start : start + EMBED_BATCH])
        with timed(ours):
            storage.settle(chroma=False)
    return len(texts), ours, alone


# ---- Growing ----


def growing(folder: Path, sizes: Sequence[int], embedder) -> dict[int, dict[str, float]]:
    """{memories: figures}; ms but for the rates."""
    source, raw = Source(), RawChroma(folder / "raw")
    fits = embedder is None or embedder.dimension == DIMENSION
    at = {}
    with Storage(folder / "home", embedder=embedder if fits else None) as storage:
        import_module("13_pdf_learning_assistant").PDFLearningAssistant(storage).load_document(GUIDE)
        storage.settle()
        for before, size in pairwise([0, *sizes]):
            rates = grow(storage, raw, source, size - before)
            at[size] = {**rates, **_times(storage, raw, source, embedder)}
    raw.close()
    return at


def _times(storage: Storage, raw: RawChroma, source: Source, embedder) -> dict[str, float]:
    spent = {kind: values for kind, values in searches(storage, source).items() if kind.startswith("search")}
    asked = source.questions(storage)
    spent["raw Chroma"] = clock([partial(raw.query, vector) for _, vector, _, _ in asked])
    m09, m12 = import_module("09_memory_system"), import_module("12_memory_enhanced_rag")
    rag = m12.MemoryRAG(storage)
    if embedder is not None:
        embedder.forget_questions()
    questions = [*QUESTIONS, *(text for text, *_ in asked)][:ASKED]
    spent["ask"] = clock([partial(rag.query, question, write_back=False) for question in questions])
    diary, single = m09.EpisodicMemory(storage), source.items(SINGLES)[0]
    spent["add"] = clock([partial(diary.add, item.content) for item in single])
    return {
        f"{kind} {name}": 1000 * percentile(values, share)
        for kind, values in spent.items()
        for name, share in (("median", 50), ("p95", 95))
    }


def clock(works: Sequence[Callable[[], Any]], warm: int = 3) -> list[float]:
    """Seconds of each, the first `warm` having been done once before."""
    spent: list[float] = []
    for work in works[:warm]:
        work()
    for work in works:
        begun = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begun)
    return spent


def _of_sizes(at: dict[int, dict[str, float]]) -> Iterator[Part]:
    names = {
        "search": tr("search", "检索"),
        "search by session": tr("search in a session", "会话内检索"),
        "raw Chroma": tr("raw Chroma, a query", "单独的 Chroma 查询"),
        "add": tr("one memory more", "再记一条"),
        "ask": tr("a question, end to end", "一次完整提问"),
    }
    rows: list[list[Any]] = [
        [tr("writes a second", "每秒写入"), *(round(figures["writes"]) for figures in at.values())],
        [tr("vectors a second", "每秒向量"), *(round(figures["vectors"]) for figures in at.values())],
        [
            tr("of raw Chroma's rate", "与单独 Chroma 之比"),
            *(figures["vectors"] / figures["raw"] for figures in at.values()),
        ],
    ]
    for kind, name in names.items():
        for share, word in (("median", tr("median", "中位数")), ("p95", "p95")):
            label = f"{name}, {word}"
            rows.append([label, *(round(figures[f"{kind} {share}"], 2) for figures in at.values())])
    sizes = [f"{size:,}" for size in at]
    yield Table(
        "speed",
        tr("Growing: ms, unless it says otherwise", "增长：毫秒（另注明者除外）"),
        ["", *sizes],
        rows,
        _growth(at),
    )
    yield Chart(
        tr("Growth, median", "增长曲线（中位数）"),
        {name: {size: figures[f"{kind} median"] for size, figures in at.items()} for kind, name in names.items()},
        logarithmic=True,
        unit=tr("ms, by memories", "毫秒，按记忆条数"),
    )


def _growth(at: dict[int, dict[str, float]]) -> str:
    """From the smallest to the largest home; "" for a single size."""
    first, last = min(at), max(at)
    if first == last:
        return ""
    search, ask = (at[last][f"{kind} median"] / at[first][f"{kind} median"] for kind in ("search", "ask"))
    return tr(
        f"{last // first}x the memories: a search takes {search:.1f}x as long, a question {ask:.1f}x.",
        f"记忆增至 {last // first} 倍：检索耗时 {search:.1f} 倍，提问 {ask:.1f} 倍。",
    )
