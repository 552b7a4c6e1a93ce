"""Systems that look for evidence, ours and others, behind one interface: index a corpus once, then rank its items.

All get the same texts and, where they use one, the same embedder; the words of bm25s are the same stemmed tokens as ours, so
that what is compared is the ranking and not the tokens. A system that is not installed is left out, with the pip line.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from benchmarks.embedding import home
from benchmarks.readers import Corpus, Question
from infrastructure.extras import need, pip_command
from infrastructure.fusion import MEMORY_WEIGHTS, Weights
from infrastructure.language import tr
from infrastructure.ranking import hybrid_search
from infrastructure.text import content_tokens, tokens

DEPTH = 50  # items a system ranks for a question
FIRST = 10  # of them that would enter a prompt


class System(Protocol):
    """name: as in the tables. One instance serves one corpus after another."""

    name: str

    def index(self, corpus: Corpus) -> None: ...

    def rank(self, question: Question) -> list[str]:
        """Ids of at most DEPTH items, best first."""

    def close(self) -> None: ...


# ---- Ours ----


class OurMemory:
    """EpisodicMemory as script 09 has it: each turn an event of its session. scoring: "bounded" or the article's formula."""

    def __init__(self, embedder, scoring: str = "bounded") -> None:
        self.name = tr("ours", "本项目") if scoring == "bounded" else tr("the article's formula", "文章的公式")
        self._embedder, self._scoring = embedder, scoring
        self._open = ExitStack()

    def index(self, corpus: Corpus) -> None:
        self.close()
        self._store, self._ids = remembered(corpus, self._open.enter_context(home(self._embedder)), self._embedder)

    def rank(self, question: Question) -> list[str]:
        hits = self._store.retrieve(question.text, DEPTH, min_relevance=0.0, scoring=self._scoring)
        return [item_id for hit in hits for item_id in self._ids[hit.item.memory_id]]

    def close(self) -> None:
        self._open.close()


def remembered(corpus: Corpus, storage, embedder) -> tuple[Any, dict[str, list[str]]]:
    """(episodic memory with every item of a corpus, {memory_id: ids}); items that say the same are one memory."""
    m09 = import_module("09_memory_system")
    store = m09.EpisodicMemory(storage)
    items = [m09.MemoryItem(item.text, "episodic", session_id=item.group) for item in corpus.items]
    vectors = None if embedder is None else embedder.embed_passages([item.content for item in items])
    ids: dict[str, list[str]] = {}
    for item, memory_id in zip(corpus.items, store.add_many(items, vectors=vectors), strict=True):
        ids.setdefault(memory_id, []).append(item.id)
    return store, ids


class Weighted(OurMemory):
    """The fusion alone, without the nudge of importance and recency, and with other weights: for ablations."""

    def __init__(self, embedder, name: str, weights: Weights) -> None:
        super().__init__(embedder)
        self.name, self._weights = name, weights

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self._by_row = {self._store._row_id(memory_id): ids for memory_id, ids in self._ids.items()}

    def rank(self, question: Question) -> list[str]:
        storage = self._store.storage
        vector = storage.embed_query(question.text) if self._weights.dense else None
        found = hybrid_search(storage, "episodic", question.text, limit=DEPTH, vector=vector, weights=self._weights)
        return [item_id for candidate in found for item_id in self._by_row[candidate.id]]


OF_WORDS = ("words", "window", "together", "subject", "kind")  # signals that words carry


def ablations(embedder) -> list[System]:
    """Ours without each of its signals."""
    off: dict[tuple[str, str], dict[str, float]] = {
        ("without recency and importance", "去掉时间和重要性"): {},
        ("without words", "去掉词语"): dict.fromkeys(OF_WORDS, 0.0),
        ("without vectors", "去掉向量"): {"dense": 0.0},
        ("without neighbours", "去掉邻近"): {"before": 0.0, "after": 0.0},
        ("without windows", "去掉窗口"): {"window": 0.0},
        ("without sessions", "去掉会话"): {"parent": 0.0, "nearest": 0.0, "together": 0.0},
        ("without subjects", "去掉主语"): {"subject": 0.0},
        ("without kinds of answers", "去掉答案类型"): {"kind": 0.0},
    }
    return [Weighted(embedder, tr(*name), replace(MEMORY_WEIGHTS, **weights)) for name, weights in off.items()]


class OurDocuments:
    """PDFLearningAssistant with each paragraph as a document, or with the PDF that the pages are of."""

    def __init__(self, embedder) -> None:
        self.name = tr("ours", "本项目")
        self._embedder, self._open = embedder, ExitStack()

    def index(self, corpus: Corpus) -> None:
        self.close()
        m12, m13 = import_module("12_memory_enhanced_rag"), import_module("13_pdf_learning_assistant")
        storage = self._open.enter_context(home(self._embedder))
        assistant = m13.PDFLearningAssistant(storage)
        self._pages = corpus.path is not None
        if self._pages:
            assistant.load_document(corpus.path)
        else:
            for item in corpus.items:
                assistant.load_text(item.text, item.id)
        storage.settle(chroma=False)
        self._rag = m12.MemoryRAG(storage)

    def rank(self, question: Question) -> list[str]:
        if self._pages:  # as cited, for the best sentence may move a page up
            answer = self._rag.query(question.text, top_k=FIRST, use_memory=False)
            found = [str(citation.page) for citation in answer.citations or answer.nearest]
        else:
            results = self._rag.retriever.search(question.text, FIRST, use_hyde=False)
            found = [result.passage.document for result in results]
        return list(dict.fromkeys(found))

    def close(self) -> None:
        self._open.close()


# ---- Baselines ----


class WordsOnly:
    """BM25 by the library bm25s, with its own defaults."""

    name = "BM25 (bm25s)"

    def index(self, corpus: Corpus) -> None:
        need("rankings")
        import bm25s

        self._ids = [item.id for item in corpus.items]
        self._bm25 = bm25s.BM25()
        self._bm25.index([tokens(item.text) for item in corpus.items], show_progress=False)

    def rank(self, question: Question) -> list[str]:
        words = [word for word in content_tokens(question.text) if word in self._bm25.vocab_dict]
        if not words:
            return []
        depth = min(DEPTH, len(self._ids))
        places, scores = self._bm25.retrieve([words], k=depth, show_progress=False)
        return [self._ids[place] for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    def close(self) -> None:
        """Nothing is open."""


class DenseOnly:
    """Cosine of the embedder's vectors, nothing else: what most implementations do."""

    def __init__(self, embedder) -> None:
        self.name = tr("vectors only", "仅向量")
        self._embedder = embedder

    def index(self, corpus: Corpus) -> None:
        self._ids = [item.id for item in corpus.items]
        self._vectors = self._embedder.embed_passages([item.text for item in corpus.items])

    def rank(self, question: Question) -> list[str]:
        cosines = self._vectors @ self._embedder.embed_query(question.text)
        return [self._ids[place] for place in (-cosines).argsort(kind="stable")[:DEPTH]]

    def close(self) -> None:
        """Nothing is open."""


RRF_K = 60  # the constant of Cormack et al. 2009


class RankFusion:
    """Reciprocal-rank fusion of the two: Σ 1 / (60 + rank)."""

    def __init__(self, embedder) -> None:
        self.name = tr("reciprocal-rank fusion", "倒数排名融合（RRF）")
        self._legs: list[System] = [WordsOnly(), DenseOnly(embedder)]

    def index(self, corpus: Corpus) -> None:
        for leg in self._legs:
            leg.index(corpus)

    def rank(self, question: Question) -> list[str]:
        return fuse_ranks([leg.rank(question) for leg in self._legs])[:DEPTH]

    def close(self) -> None:
        """Nothing is open."""


def fuse_ranks(rankings: Sequence[Sequence[str]]) -> list[str]:
    """
    >>> fuse_ranks([["a", "b", "c"], ["b", "c"]])
    ['b', 'c', 'a']
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda item: (-scores[item], item))


class FullHistory:
    """Everything into the prompt, oldest first: nothing is missed, if one can pay for it and the model finds it."""

    def __init__(self) -> None:
        self.name = tr("full history", "全部历史")

    def index(self, corpus: Corpus) -> None:
        self._ids = [item.id for item in corpus.items]

    def rank(self, question: Question) -> list[str]:
        return self._ids  # all of them, so nothing is found: everything is read

    def close(self) -> None:
        """Nothing is open."""


class Nothing:
    """NullMemory: the floor."""

    def __init__(self) -> None:
        self.name = tr("no memory", "没有记忆")

    def index(self, corpus: Corpus) -> None:
        """Nothing is kept."""

    def rank(self, question: Question) -> list[str]:
        return []

    def close(self) -> None:
        """Nothing is open."""


# ---- Other people's systems, when they are installed ----


class Txtai:
    """txtai's own hybrid index (BM25 and vectors), given our embedder's vectors."""

    name = "txtai"

    def __init__(self, embedder) -> None:
        self._embedder = embedder

    def index(self, corpus: Corpus) -> None:
        from txtai import Embeddings

        known = {item.text for item in corpus.items}

        def vectors(texts: Sequence[str]) -> Any:
            import numpy as np

            if all(text in known for text in texts):
                return self._embedder.embed_passages(texts)
            return np.stack([self._embedder.embed_query(text) for text in texts])

        self._index = Embeddings(method="external", transform=vectors, hybrid=True, content=False)
        self._index.index((item.id, item.text) for item in corpus.items)

    def rank(self, question: Question) -> list[str]:
        return [item_id for item_id, _ in self._index.search(question.text, DEPTH)]

    def close(self) -> None:
        """The index lies in memory."""


OTHERS: dict[str, tuple[Callable[[Any], System], str]] = {
    "txtai": (Txtai, "txtai>=9.14"),
    "mem0": (lambda embedder: import_module("benchmarks.mem0_system").Mem0(embedder), "mem0ai>=2.2"),
}


def others(embedder) -> tuple[list[System], list[str]]:
    """(systems that are installed, a sentence for each that is not)."""
    there: list[System] = []
    absent: list[str] = []
    for module, (make, requirement) in OTHERS.items():
        if find_spec(module) is None:
            command = pip_command(requirement)
            absent.append(
                tr(f"{module} is left out, it is not installed: {command}", f"略过 {module}，没有安装：{command}")
            )
        elif embedder is None:
            absent.append(tr(f"{module} is left out, it needs an embedder.", f"略过 {module}，它需要向量模型。"))
        else:
            there.append(make(embedder))
    return there, absent


def baselines(embedder, kind: str) -> list[System]:
    """What needs nothing but an embedder, and does without one where it is None. kind: as a corpus's."""
    systems: list[System] = [OurMemory(embedder, "article")] if kind == "turns" else []
    systems.append(WordsOnly())
    if embedder is not None:
        systems += [DenseOnly(embedder), RankFusion(embedder)]
    return [*systems, FullHistory(), Nothing()]


def ours(embedder, kind: str) -> System:
    return OurMemory(embedder) if kind == "turns" else OurDocuments(embedder)
