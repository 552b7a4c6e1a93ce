"""Reading off instead of searching: on the sample guide with its printed page numbers, and on documents that lack something."""

from importlib import import_module
from pathlib import Path

import pytest
from data.make_pdfs import make_pdf
from support import ScriptedLLM

from infrastructure.errors import LLMUnavailable
from infrastructure.language import language_of, set_language
from infrastructure.lesson import StoppedClock
from infrastructure.storage import Storage
from study.trace import explained

m13 = import_module("13_pdf_learning_assistant")

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "memory_rag_guide.pdf"
PAGES = (
    "The heron is a bird that fishes at dawn.",
    "",
    "The carp is a fish that sleeps in winter. See section 230 of the law.",
)


@pytest.fixture(autouse=True)
def english():
    set_language("en")
    yield
    set_language("en")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    with Storage(tmp_path_factory.mktemp("guide"), now=StoppedClock()) as storage:
        assistant = m13.PDFLearningAssistant(storage)
        assistant.load_document(SAMPLE)
        yield assistant


@pytest.fixture
def guide(loaded):
    """The guide in a session of its own, without a model."""
    loaded.new_session()
    yield loaded
    loaded.use_model(None)


@pytest.fixture
def assistant(tmp_path):
    with Storage(tmp_path / "home", now=StoppedClock()) as storage:
        yield m13.PDFLearningAssistant(storage)


@pytest.fixture
def load_pdf(assistant, tmp_path):
    def load(pages=PAGES, *, name="book.pdf", **options):
        path = tmp_path / name
        path.write_bytes(make_pdf(pages, **options))
        return assistant.load_document(path)

    return load


def pages_of(answer):
    return {citation.page for citation in answer.citations}


# ---- A page ----


@pytest.mark.parametrize(
    "question", ["What is on page 5?", "summarize page 5", "第5页讲了什么？", "总结一下第 5 页", "PDF page 7"]
)
def test_a_page_is_answered_with_what_stands_on_it(guide, question):
    answer = guide.ask(question)
    assert answer.found and pages_of(answer) == {7}
    assert {citation.page_label for citation in answer.citations} == {"5"}
    assert "4.2 Multi-query expansion (MQE) / 多查询扩展" in answer.answer
    for citation in answer.citations:
        assert f"[{citation.n}]" in answer.answer
        assert citation.quote in guide.library.page(citation.document_id, 7).raw


def test_the_sentences_are_in_the_questions_language(guide):
    assert "检索有两种方式。" in guide.ask("第5页讲了什么？").answer
    assert {language_of(citation.quote) for citation in guide.ask("What is on page 5?").citations} == {"en"}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is on page 99?", "memory_rag_guide.pdf has no page 99: it has 12 pages."),
        ("第99页讲了什么？", "memory_rag_guide.pdf 没有第 99 页：共 12 页。"),
        ("What does page 99 say about recall?", "memory_rag_guide.pdf has no page 99: it has 12 pages."),
        ("page 0", "memory_rag_guide.pdf has no page 0: it has 12 pages."),
    ],
)
def test_a_page_that_does_not_exist_is_said_not_to_with_how_many_there_are(guide, question, told):
    answer = guide.ask(question)
    assert (answer.found, answer.answer, answer.citations) == (False, told, [])


def test_a_page_named_by_a_roman_numeral_is_the_one_with_it_printed(guide):
    assert pages_of(guide.ask("What is on page ii?")) == {2}


def test_a_page_without_text_says_so(assistant, load_pdf):
    load_pdf()
    answer = assistant.ask("What is on page 2?")
    assert (answer.found, answer.answer) == (False, "Page 2 of book.pdf has no text that could be read.")


def test_a_page_asked_about_a_topic_is_searched_and_no_other(guide):
    answer = guide.ask("What does page 5 say about HyDE?")
    assert answer.found and pages_of(answer) == {7} and "HyDE" in answer.answer
    missing = guide.ask("What does page 5 say about faithfulness?")
    assert (missing.found, missing.answer) == (
        False, "Page 5 (PDF page 7) of memory_rag_guide.pdf says nothing about “faithfulness”.",
    )  # fmt: skip


# ---- Going on ----


@pytest.mark.parametrize(
    ("questions", "page"),
    [
        (("What is on page 5?", "and page 6?"), 8),
        (("第5页讲了什么？", "那第6页呢？"), 8),
        (("page 5", "the next page"), 8),
        (("第5页", "上一页"), 6),
    ],
)
def test_the_next_question_goes_on_from_the_page_read(guide, questions, page):
    for question in questions:
        answer = guide.ask(question)
    assert pages_of(answer) == {page}


def test_the_next_chapter_follows_the_one_read(guide):
    guide.ask("What is chapter 3 about?")
    assert guide.ask("the next chapter").answer.startswith("4 Finding the right passage")


def test_after_a_page_a_leaning_question_leans_on_its_heading(guide):
    guide.ask("What is on page 5?")
    assert "4 Finding the right passage" in guide.ask("How can it be improved?").enriched_query


def test_before_anything_was_read_there_is_no_next_page(guide):
    answer = guide.ask("the next page")
    assert answer.trace.get("read_off") is None


def test_after_a_page_that_does_not_exist_there_is_no_next_one(guide):
    guide.ask("What is on page 500?")
    assert guide.ask("the next page").trace.get("read_off") is None


# ---- A chapter ----


@pytest.mark.parametrize("question", ["What is chapter 3 about?", "第三章讲什么？"])
def test_a_chapter_is_its_headings_and_first_sentences(guide, question):
    answer = guide.ask(question)
    assert answer.found and pages_of(answer) <= {5, 6}
    for heading in ("3.1 Scoring and decay", "3.2 Consolidation", "3.3 Forgetting"):
        assert heading in answer.answer
    assert all(citation.heading_path.startswith("3 The life of a memory") for citation in answer.citations)


def test_a_section_is_read_alone(guide):
    answer = guide.ask("section 2.1")
    assert "Working memory holds what happened a moment ago" in answer.answer
    assert {citation.heading_path.split(" > ")[-1] for citation in answer.citations} == {
        "2.1 Working memory / 工作记忆"
    }


@pytest.mark.parametrize("question", ["What does chapter 3 say about forgetting?", "第三章关于遗忘讲了什么？"])
def test_a_chapter_asked_about_a_topic_is_searched_and_no_other(guide, question):
    answer = guide.ask(question)
    assert answer.found
    assert all(citation.heading_path.startswith("3 The life of a memory") for citation in answer.citations)


@pytest.mark.parametrize("question", ["What does chapter 3 say about precision?", "第三章关于量子纠缠讲了什么？"])
def test_what_stands_in_another_chapter_is_not_served_as_this_ones(guide, question):
    answer = guide.ask(question)
    assert not answer.found and answer.answer.startswith("3 The life of a memory")


@pytest.mark.parametrize(
    ("question", "told"), [("chapter 9", "has no chapter 9; it has:"), ("第九章讲什么", "没有第 9 章，目录如下：")]
)
def test_a_chapter_that_does_not_exist_is_said_not_to_with_those_that_do(guide, question, told):
    answer = guide.ask(question)
    assert not answer.found and told in answer.answer
    assert "7 Study habits that work" in answer.answer and "2.1" not in answer.answer


def test_without_an_outline_no_chapter_can_be_told(assistant, load_pdf):
    load_pdf()
    answer = assistant.ask("What does chapter 3 say?")
    assert (answer.found, answer.answer) == (False, "book.pdf has no outline to find a chapter by.")


def test_a_section_the_text_itself_speaks_of_is_searched_for(assistant, load_pdf):
    load_pdf(outline=[(1, "Birds", 1), (1, "Fish", 3)])
    answer = assistant.ask("Explain section 230")
    assert answer.trace.get("read_off") is None and pages_of(answer) == {3}


# ---- The whole document ----


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is this document about?", "A short guide, in English and Chinese"),
        ("summarize memory_rag_guide.pdf", "A short guide, in English and Chinese"),
        ("这份文档讲什么？", "一份中英双语的简短指南"),
        ("总结一下", "一份中英双语的简短指南"),
    ],
)
def test_a_document_is_its_title_its_chapters_and_how_it_begins(guide, question, sentence):
    answer = guide.ask(question)
    assert answer.found and answer.answer.startswith("memory_rag_guide.pdf")
    assert "Memory RAG: giving RAG a state" in answer.answer
    assert "7 Study habits that work / 有效的学习习惯" in answer.answer
    assert sentence in answer.answer and pages_of(answer) == {1}


def test_an_abstract_says_more_than_the_names_of_the_authors(assistant, load_pdf):
    load_pdf(
        ["On Herons\nA. Bird and B. Cat, Institute of Animals.\nAbstract\nHerons fish at dawn, and we say why.\nMore."]
    )
    answer = assistant.ask("What is this paper about?")
    assert "Herons fish at dawn" in answer.answer and "Institute" not in answer.answer


def test_summarize_alone_is_about_what_was_just_spoken_of(guide):
    guide.ask("What is HyDE?")
    assert guide.ask("总结一下").trace.get("read_off") is None


def test_a_text_without_headings_is_told_by_its_first_sentences(assistant):
    assistant.load_text("Herons fish at dawn. They stand still for hours.\n\nLater they fly.", "notes.txt")
    answer = assistant.ask("What is this document about?")
    assert answer.found and answer.answer.startswith("notes.txt\n") and "Herons fish at dawn." in answer.answer


def test_a_text_has_no_pages(assistant):
    assistant.load_text("# Birds\n\nHerons fish at dawn.", "notes.md")
    assert assistant.ask("What is on page 2?").answer == "notes.md is one text without pages."
    assert assistant.ask("有多少页？").answer == "notes.md 是不分页的文本。"


# ---- Contents and numbers ----


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How many pages does it have?", "memory_rag_guide.pdf has 12 pages."),
        ("这份文档有多少页？", "memory_rag_guide.pdf 共 12 页。"),
        ("How many chapters are there?", "memory_rag_guide.pdf has 7 chapters."),
        ("一共有几章？", "memory_rag_guide.pdf 有 7 章。"),
    ],
)
def test_how_many_pages_and_chapters_there_are(guide, question, told):
    answer = guide.ask(question)
    assert answer.found and answer.answer.split("\n")[0] == told


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("table of contents", " (memory_rag_guide.pdf, p. 1)"),
        ("目录里有什么", "（memory_rag_guide.pdf，第 1 页）"),
        ("list the chapters", " (memory_rag_guide.pdf, p. 1)"),
    ],
)
def test_the_contents_have_the_printed_pages_in_the_words_of_the_question(guide, question, place):
    lines = guide.ask(question).answer.split("\n")
    assert lines[0] == f"1 From RAG to Memory RAG / 从 RAG 到 Memory RAG{place}"
    assert len(lines) == 28


# ---- Several documents ----


@pytest.mark.parametrize(
    ("question", "read"), [("heron book第3页讲了什么？", "old.pdf"), ("《carp book》的第3页讲了什么", "new.pdf")]
)
def test_a_book_may_be_called_by_what_stands_on_its_first_page(assistant, load_pdf, question, read):
    load_pdf(["The heron.", "", "Herons wade."], name="old.pdf")
    assistant.storage.now.move(minutes=1)
    load_pdf(["The carp.", "", "Carps swim."], name="new.pdf")
    answer = assistant.ask(question.replace(" book", "的书" if "heron" in question else "书"))
    assert answer.answer.startswith(f"{read} 第 3 页")


def test_a_book_that_nothing_is_called_is_the_one_at_hand_and_that_is_said(assistant, load_pdf):
    load_pdf(["Old things."], name="old_book.pdf")
    assistant.storage.now.move(minutes=1)
    load_pdf(["New things happen."], name="new_book.pdf")
    answer = assistant.ask("西瓜书第1页讲了什么")
    assert answer.answer.startswith("new_book.pdf 第 1 页") and "the newest of 2 documents" in answer.note


def test_of_several_the_newest_is_read_and_that_is_said(assistant, load_pdf):
    load_pdf(["Old things."], name="old_book.pdf")
    assistant.storage.now.move(minutes=1)
    load_pdf(["New things happen."], name="new_book.pdf")
    answer = assistant.ask("What is this document about?")
    assert answer.answer.startswith("new_book.pdf")
    assert "Read off new_book.pdf, the newest of 2 documents" in answer.note


@pytest.mark.parametrize(
    "question", ["What is on page 1 of old_book.pdf?", "old book 第1页讲了什么", "《old_book》第一页讲了什么"]
)
def test_the_one_named_is_read_and_nothing_more_is_said(assistant, load_pdf, question):
    load_pdf(["Old things happened."], name="old_book.pdf")
    load_pdf(["New things happen."], name="new_book.pdf")
    answer = assistant.ask(question)
    assert "Old things happened." in answer.answer and "documents" not in answer.note and "份资料" not in answer.note


def test_the_one_just_cited_is_read_on(assistant, load_pdf):
    load_pdf(["The zebra finch sings at night.", "The second page of it."], name="old_book.pdf")
    assistant.storage.now.move(minutes=1)
    load_pdf(["New things happen.", "More new things."], name="new_book.pdf")
    assistant.ask("When does the zebra finch sing?")
    answer = assistant.ask("What is on page 2?")
    assert "The second page of it." in answer.answer and "the one cited last" in answer.note
    again = assistant.ask("and page 1?")
    assert "zebra finch" in again.answer and "the one cited last" not in again.note


def test_nothing_is_read_where_there_is_nothing(assistant):
    assert not assistant.ask("What is on page 5?").found


# ---- With a model, and what is kept ----


def test_a_model_gets_what_stands_there_and_nothing_else(guide):
    llm = ScriptedLLM("It is about finding passages [1].")
    guide.use_model(llm)
    answer = guide.ask("What is on page 5?")
    (prompt,) = llm.history
    assert "Page 5 (PDF page 7) of memory_rag_guide.pdf" in prompt.prompt
    assert "MQE asks the question" in prompt.prompt and "Faithfulness is the share" not in prompt.prompt
    assert (answer.mode, answer.answer, pages_of(answer)) == ("llm", "It is about finding passages [1].", {7})


def test_a_model_is_not_asked_for_what_is_not_there(guide):
    guide.use_model(llm := ScriptedLLM())
    for question in ("page 99", "chapter 9", "list the chapters", "How many pages does it have?"):
        guide.ask(question)
    assert llm.history == []


def test_when_the_model_fails_the_place_is_quoted(guide):
    guide.use_model(ScriptedLLM(LLMUnavailable("The key was refused.", reason="auth")))
    answer = guide.ask("What is on page 5?")
    assert answer.mode == "extractive" and pages_of(answer) == {7} and answer.note == "The key was refused."


def test_what_was_read_is_kept_like_any_answer_and_the_contents_are_not(guide):
    assert [receipt.action for receipt in guide.ask("What is on page 5?").receipts] == ["written"]
    (receipt,) = guide.ask("list the chapters").receipts
    assert (receipt.action, receipt.reason) == ("refused", "answered from what is known already")


def test_it_is_known_afterwards_where_it_was_read(guide):
    guide.ask("What is on page 5?")
    (turn,) = guide.transcript.turns(guide.session_id)
    told = explained(turn)
    assert (told["read_off"]["kind"], told["read_off"]["at"], told["variants"]) == ("page", "7", [])


@pytest.mark.parametrize(
    "question",
    [
        "What does page rank mean?",
        "How does chapter structure influence reading?",
        "What is the document frequency?",
        "目录服务是什么",
    ],
)
def test_an_ordinary_question_is_searched_as_before(guide, question):
    assert "read_off" not in guide.ask(question).trace
