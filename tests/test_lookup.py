import doctest
from pathlib import Path

import pytest
import terminal_schemas
from jsonschema import Draft202012Validator
from screen import said, said_as_json

from infrastructure.errors import UsageError
from study import lookup
from study.desk import Desk
from study.lookup import find_quote

GUIDE = Path(__file__).resolve().parent.parent / "samples" / "memory_rag_guide.pdf"
TIDES = "# Tides\n\nThe tide is caused by the moon, which pulls the water of the sea.\n"
HYDE = "What does HyDE stand for?"
SCHEMAS = {
    **{"page": terminal_schemas.PAGE, "open": terminal_schemas.PAGE},
    **{"outline": terminal_schemas.OUTLINE, "notes": terminal_schemas.NOTES},
}


@pytest.fixture
def guide(desk):
    """The sample guide, loaded. Its page 7 has a 5 printed on it."""
    return desk.assistant.load_document(GUIDE)


def told(desk: Desk, name: str, *words: str):
    value = said_as_json(desk, name, *words)
    Draft202012Validator(SCHEMAS[name]).validate(value)
    return value


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(lookup).failed == 0


# ---- /open ----


def test_open_shows_the_page_around_the_quote_and_marks_it(desk, guide):
    answer = desk.assistant.ask(HYDE)
    first = answer.citations[0]
    shown = said(desk, "open", "1")
    assert shown.startswith("[1] memory_rag_guide.pdf, p. 5 (PDF page 7)")
    assert f">>{' '.join(first.quote.split())}<<" in " ".join(shown.split())
    assert f"/page {first.page} shows all of it." in shown and "4.1 Hybrid retrieval" not in shown


def test_every_source_of_an_answer_can_be_opened_at_its_quote(desk, guide):
    answer = desk.assistant.ask("RAG 系统怎么评估？")
    assert len(answer.citations) > 2
    for citation in answer.citations:
        opened = told(desk, "open", str(citation.n))
        (quote,) = opened["quotes"]
        assert (opened["page"], opened["n"]) == (citation.page, citation.n)
        assert "".join(quote.split()) == "".join(citation.quote.split())


def test_what_was_opened_counts_as_read_and_what_was_only_shown_does_not(desk, guide):
    library = desk.assistant.library
    desk.assistant.ask(HYDE)
    (turn,) = desk.assistant.transcript.all_turns()
    cited = {source["page"] for source in turn.cited}
    chapters = desk.assistant.get_stats()["study"]["chapters"]
    assert sum(chapter["opened"] for chapter in chapters) == len(cited)
    for words in (("page", "2"), ("page", "2"), ("page", "11"), ("open", "1")):
        said(desk, *words)
    assert library.opened() == {(guide.document_id, page) for page in (2, 11, 7)}
    chapters = desk.assistant.get_stats()["study"]["chapters"]
    assert sum(chapter["opened"] for chapter in chapters) == len(cited | {2, 11, 7})
    assert {s.touched for s in desk.assistant.review("write-back gate").sections if s.page == 11} == {True}
    desk.assistant.remove_document("memory_rag_guide.pdf", purge=True)
    assert library.opened() == set()


def test_what_was_offered_in_place_of_an_answer_can_be_opened(desk, guide):
    answer = desk.assistant.ask("How long does it take to boil an egg?")
    assert not answer.found and answer.nearest
    assert told(desk, "open", str(answer.nearest[0].n))["page"] == answer.nearest[0].page


def test_a_remark_after_the_answer_does_not_hide_its_sources(desk, guide):
    desk.assistant.ask(HYDE)
    desk.assistant.ask("Thanks!")
    assert told(desk, "open", "１")["page"] == 7


@pytest.mark.parametrize(
    ("ask", "told_"), [(False, "No answer of this session cites"), (True, "no source 40; it has 1")]
)
def test_a_source_that_is_not_there_is_one_sentence(desk, guide, ask, told_):
    if ask:
        desk.assistant.ask(HYDE)
    with pytest.raises(UsageError, match=told_):
        said(desk, "open", "40")


def test_a_document_that_was_removed_since_is_named(desk, guide):
    desk.assistant.ask(HYDE)
    desk.assistant.remove_document("memory_rag_guide.pdf")
    with pytest.raises(UsageError, match=r"memory_rag_guide\.pdf has been removed since"):
        said(desk, "open", "1")


def test_a_command_of_its_own_opens_what_the_last_session_cited(desk, guide):
    desk.assistant.ask(HYDE)
    desk.assistant.new_session()
    with pytest.raises(UsageError):
        said(desk, "open", "1")
    desk.interactive = False
    shown = said(desk, "open", "1")
    assert "PDF page 7" in shown and "\npage 7 shows all" in shown


# ---- /page ----


def test_a_number_is_the_pdf_page_and_the_printed_one_is_named(desk, guide):
    shown = said(desk, "page", "5")
    assert shown.startswith("memory_rag_guide.pdf, p. 3 (PDF page 5)")
    assert "the page with 5 printed on it is /page 7" in shown and "/page 6 goes on." in shown
    assert told(desk, "page", "５")["page"] == 5


@pytest.mark.parametrize(
    ("typed", "page"), [("ii", 2), ("II", 2), ("p. ii", 2), ("第7页", 7), ("p7", 7), ("page 7", 7)]
)
def test_a_page_may_be_named_as_one_says_it(desk, guide, typed, page):
    assert told(desk, "page", typed)["page"] == page


def test_quotes_of_the_last_answer_are_marked_on_the_whole_page(desk, guide):
    desk.assistant.ask(HYDE)
    seen = told(desk, "page", "7")
    assert seen["quotes"] == ["HyDE stands for hypothetical document embeddings."] and "4.1 Hybrid" in seen["text"]
    assert told(desk, "page", "4")["quotes"] == []


@pytest.mark.parametrize("typed", ["0", "13", "xii", "-1", "first"])
def test_a_page_that_is_not_there_says_which_are(desk, guide, typed):
    from study.lookup import page_of

    with pytest.raises(UsageError, match=f"has no page {typed}; it has 1 to 12"):
        page_of(desk.assistant.library, desk.assistant.documents()[0], typed)


def test_the_document_is_the_one_named_looked_at_or_cited(desk, guide):
    desk.assistant.load_text(TIDES, "tides.md")
    with pytest.raises(UsageError, match="Of which document"):
        said(desk, "page", "1")
    desk.ask("What causes the tide?")
    assert told(desk, "page", "1")["document"] == "tides.md"
    assert told(desk, "page", "1", "memory_rag_guide.pdf")["document"] == "memory_rag_guide.pdf"
    assert told(desk, "page", "2")["document"] == "memory_rag_guide.pdf", "it was looked at last"
    assert told(desk, "page", "1", "--document", "tides")["document"] == "tides.md"
    desk.ask(HYDE)
    assert told(desk, "page", "1")["document"] == "memory_rag_guide.pdf"


def test_without_documents_there_is_no_page(desk):
    with pytest.raises(UsageError, match="no documents yet"):
        said(desk, "page", "1")


def test_a_page_whose_label_two_pages_have_asks_for_the_number(desk, guide):
    with desk.assistant.storage.transaction() as db:
        db.execute("UPDATE pages SET label = 'A-1' WHERE page IN (3, 9)")
    with pytest.raises(UsageError, match="several pages A-1; give the PDF page: 3, 9"):
        said(desk, "page", "A-1")


# ---- Where a quote stands ----


def test_old_forms_of_characters_are_the_same_character():
    assert find_quote("检索阶段：使用编码模型。", "使⽤编码模\n型。") == (5, 12)


def test_a_quote_that_is_not_on_the_page_is_not_found():
    assert find_quote("The tide.", "▇▇▇") is None and find_quote("", "x") is None and find_quote("abc", "abd") is None


# ---- /outline and /notes ----


def test_the_outline_shows_titles_by_level_with_their_pages(desk, guide):
    rows = [row.rstrip() for row in said(desk, "outline").splitlines()]
    assert rows[0] == "memory_rag_guide.pdf"
    assert any(row.startswith("  1 From RAG") and row.endswith("p. 1 (PDF page 3)") for row in rows)
    assert any(row.startswith("    1.1 What plain") for row in rows)
    entries = told(desk, "outline", "1")["documents"][0]["outline"]
    assert entries[0]["page"] == 3 and entries[0]["page_label"] == "1"


def test_a_file_without_an_outline_says_so(desk):
    desk.assistant.load_text("just a line of text about tides", "plain.txt")
    assert "no outline in the file" in said(desk, "outline", "plain.txt")
    assert said(desk, "outline").startswith("plain.txt")


def test_notes_stand_under_their_concepts(desk):
    desk.assistant.add_note("先看 Recall", concept="评估")
    desk.assistant.add_note("HyDE invents an answer", concept="HyDE")
    desk.assistant.add_note("再看 Precision", concept="评估")
    desk.assistant.add_note("loose")
    rows = said(desk, "notes").splitlines()
    assert [row for row in rows if row and row[0] not in "12"] == ["评估", "HyDE", "Without a concept"]
    assert [note["content"] for note in told(desk, "notes", "评估")["notes"]] == ["先看 Recall", "再看 Precision"]
    assert [note["content"] for note in told(desk, "notes", "hyd")["notes"]] == ["HyDE invents an answer"]
    assert said(desk, "notes", "nothing") == "No notes under “nothing” yet. /note TEXT keeps one.\n"
