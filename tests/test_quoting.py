"""From results to citations: numbered by place, verbatim from the page, never beyond it."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from support import HashEmbedder, ScriptedLLM

from infrastructure.errors import EmbedderUnavailable, LLMUnavailable
from infrastructure.extraction import Extract
from infrastructure.library import NewChunk, StoredPage
from infrastructure.quoting import Quoter, by_quotation, one_a_page, page_of
from infrastructure.storage import Storage
from study.pagetext import clean_page

m11 = import_module("11_unified_retrieval")
m12 = import_module("12_memory_enhanced_rag")

RAW = (
    "Recall counts the evi-\ndence that was found.\nTomatoes need sun.",
    "⽤⼾的信任来⾃可以核对的\n引⽤。Precision counts what was needed of the evidence.",
)


def store(storage, pages, *, across=False):
    """One chunk a page, or one across all of them."""
    clean = [clean_page(raw) for raw in pages]
    texts = [page.text for page in clean]
    starts = [sum(len(text) + 2 for text in texts[:i]) for i in range(len(texts))]
    chunks = [
        NewChunk(text, "", start, start + len(text), page, page)
        for page, (text, start) in enumerate(zip(texts, starts, strict=True), start=1)
    ]
    whole = "\n\n".join(texts)
    retriever = m11.UnifiedRetriever(storage)
    retriever.library.add(
        name="book.pdf", path="", media_type="pdf", content_hash="a" * 64,
        pages=[StoredPage(n, f"l{n}", "", raw, page.text, page.offsets)
               for n, (raw, page) in enumerate(zip(pages, clean, strict=True), start=1)],
        chunks=[NewChunk(whole, "", 0, len(whole), 1, len(pages))] if across else chunks,
    )  # fmt: skip
    return retriever


def cited(retriever, question, top_k=2):
    quoter = Quoter(retriever.storage, retriever.library)
    results = retriever.search(question, top_k, use_mqe=False, use_hyde=False)
    return quoter.cite(results, quoter.extract(question, question, results))


@pytest.fixture(params=["words", "words and vectors"])
def embedder(request):
    return HashEmbedder() if request.param == "words and vectors" else None


@pytest.fixture
def retriever(storage):
    retriever = store(storage, RAW)
    storage.settle(chroma=False)
    return retriever


@pytest.mark.parametrize(
    ("question", "page", "quote"),
    [
        ("What does recall count?", 1, "Recall counts the evi-\ndence that was found."),
        ("用户的信任来自什么？", 2, "⽤⼾的信任来⾃可以核对的\n引⽤。"),
        ("What does precision count?", 2, "Precision counts what was needed of the evidence."),
    ],
)
def test_a_quotation_is_the_pages_own_words_with_its_breaks_and_radicals(retriever, question, page, quote):
    citation = cited(retriever, question)[0]
    assert (citation.n, citation.page, citation.page_label, citation.quote) == (1, page, f"l{page}", quote)


def test_every_quotation_stands_on_its_page(retriever):
    for question in ("evidence", "信任", "tomatoes and trust", "zebras"):
        for citation in cited(retriever, question):
            assert citation.quote in RAW[citation.page - 1]


def test_a_passage_across_pages_is_cited_where_its_sentence_stands(tmp_path):
    with Storage(tmp_path) as storage:
        retriever = store(storage, RAW, across=True)
        assert cited(retriever, "What does precision count?")[0].page == 2
        assert cited(retriever, "What does recall count?")[0].page == 1


def test_the_same_words_of_one_page_are_cited_once_and_numbers_stay_places(tmp_path):
    with Storage(tmp_path) as storage:
        retriever = store(storage, RAW)
        result = retriever.search("recall evidence", 1)[0]
        other = retriever.search("precision", 1)[0]
        quoter = Quoter(storage, retriever.library)
        results = [result, result, other]
        citations = quoter.cite(results, quoter.extract("recall precision", "recall precision", results))
    assert [citation.n for citation in citations] == [1, 3]


def test_a_passage_without_a_sentence_is_cited_by_its_beginning(tmp_path):
    with Storage(tmp_path) as storage:
        retriever = store(storage, ["RAG."])
        assert [citation.quote for citation in cited(retriever, "RAG")] == ["RAG."]


def test_the_context_helps_to_choose_but_weighs_less_than_the_question(tmp_path):
    text = "Recall counts the evidence here. Precision counts what was needed."
    with Storage(tmp_path) as storage:
        retriever = store(storage, [text])
        quoter = Quoter(storage, retriever.library)
        results = retriever.search("counts", 1)
        leaning = quoter.extract("and that one counts?", "and that one counts? (context: precision)", results)
        named = quoter.extract("recall evidence", "recall evidence (context: precision needed)", results)
    assert leaning[0].text.startswith("Precision")
    assert named[0].text.startswith("Recall")


def test_an_embedder_that_fails_while_quoting_leaves_the_words(tmp_path):
    embedder = HashEmbedder()
    with Storage(tmp_path, embedder=embedder) as storage:
        retriever = store(storage, RAW)
        storage.settle(chroma=False)
        results = retriever.search("evidence", 2)
        embedder.error = EmbedderUnavailable("The service is down.")
        quoter = Quoter(storage, retriever.library)
        assert len(quoter.extract("zebras", "zebras", results)) == 2


def test_the_best_sentence_comes_first_and_keeps_its_result(tmp_path):
    with Storage(tmp_path) as storage:
        retriever = store(storage, RAW)
        quoter = Quoter(storage, retriever.library)
        results = retriever.search("precision evidence", 2)[::-1]
        ordered, extracts = by_quotation(results, quoter.extract("precision evidence", "", results))
        for extract in extracts:
            assert extract.text in ordered[extract.source].passage.content
        assert [extract.source for extract in extracts] == [0, 1]
    assert by_quotation([], []) == ([], [])


def test_each_page_is_shown_once_by_its_first_result_and_numbers_follow():
    def on_page(page):
        return SimpleNamespace(passage=SimpleNamespace(document_id="d", page_start=page))

    results = [on_page(3), on_page(3), on_page(5)]
    extracts = [Extract(n, 0, 1, text, 1.0) for n, text in enumerate(("first of 3", "second of 3", "first of 5"))]
    kept, numbered = one_a_page(results, extracts)
    assert [page_of(result) for result in kept] == [("d", 3), ("d", 5)]
    assert [(extract.source, extract.text) for extract in numbered] == [(0, "first of 3"), (1, "first of 5")]
    assert one_a_page([]) == ([], [])


def test_after_a_model_has_failed_each_number_still_names_its_quotation(tmp_path):
    with Storage(tmp_path) as storage:
        rag = m12.MemoryRAG(storage)
        m11.shelve(rag.library, m12.PARAGRAPHS)
        for question in m12.DIALOGUE[:3]:
            rag.llm = ScriptedLLM(LLMUnavailable("down", reason="network"))
            answer = rag.query(question, use_mqe=False)
            quotes = {citation.n: citation.quote for citation in answer.citations}
            for line in answer.answer.splitlines():
                said, _, number = line.rpartition("[")
                assert said.strip("「」“” ") == quotes[int(number.rstrip("]"))]
        rag.close()
