"""The library: documents whole or not at all, pages as they were read, quotations from the page itself, filters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.library import Library, NewChunk, StoredPage, raw_slice
from study.pagetext import clean_page


@pytest.fixture
def library(storage):
    return Library(storage)


def add(library, texts, *, name="book.pdf", path="/books/book.pdf", headings=(), **options):
    """One page and one chunk a text; the content hash is made of the texts."""
    starts = [sum(len(text) + 2 for text in texts[:i]) for i in range(len(texts))]
    headings = headings or [""] * len(texts)
    return library.add(
        name=name,
        path=path,
        media_type="pdf",
        content_hash="".join(texts).encode().hex().ljust(64, "0"),
        pages=[StoredPage(i, str(i), "", text, text, [(0, 0)]) for i, text in enumerate(texts, start=1)],
        chunks=[
            NewChunk(text, heading, start, start + len(text), page, page)
            for page, (text, heading, start) in enumerate(zip(texts, headings, starts, strict=True), start=1)
        ],
        **options,
    )


# ---- Documents ----


def test_a_document_is_listed_as_it_was_added(library):
    document_id = add(library, ["Recall.", "Precision."], warnings=["page 3 is a picture"])
    info = library.documents()[0]
    assert (info.document_id, info.name, info.path, info.media_type) == (
        document_id,
        "book.pdf",
        "/books/book.pdf",
        "pdf",
    )
    assert (info.pages, info.chunks, info.warnings) == (2, 2, ["page 3 is a picture"])
    assert info.added_at == "2026-05-08T09:00:00.000000+00:00"


def test_ids_derive_from_the_content(library):
    document_id = add(library, ["Recall."])
    passages = library.passages(library.chunk_ids()).values()
    assert document_id == "526563616c6c2e00"
    assert [passage.chunk_id for passage in passages] == [f"{document_id}_chunk_0"]


def test_the_same_content_cannot_be_added_twice(library):
    add(library, ["Recall."])
    with pytest.raises(ValueError, match="already here"):
        add(library, ["Recall."], name="copy.pdf", path="/copy.pdf")
    assert len(library.documents()) == 1


def test_a_document_is_found_by_its_content_and_by_its_path(library):
    document_id = add(library, ["Recall."])
    assert library.find(b"Recall.".hex().ljust(64, "0")) == document_id
    assert library.find("0" * 64) is None
    assert library.at_path("/books/book.pdf") == [document_id]
    assert library.at_path("/elsewhere.pdf") == []


def test_a_replacement_takes_the_old_one_out_in_the_same_step(library):
    old = add(library, ["Recall."])
    new = add(library, ["Precision."], replaces=[old])
    assert [info.document_id for info in library.documents()] == [new]
    assert library.page(old, 1) is None
    assert [p.content for p in library.passages(library.chunk_ids()).values()] == ["Precision."]


def test_a_document_that_cannot_be_stored_whole_is_not_stored_and_replaces_nothing(library):
    old = add(library, ["Recall."])
    with pytest.raises(TypeError):
        add(library, ["Precision."], path="/other.pdf", outline=[(1, object(), 1)], replaces=[old])
    assert [info.document_id for info in library.documents()] == [old]
    assert library.storage.search_words("chunk", ["precis"], 5) == []


def test_removing_takes_pages_chunks_and_words(library):
    document_id = add(library, ["Recall."])
    assert library.remove(document_id)
    assert library.documents() == []
    assert library.page(document_id, 1) is None
    assert library.storage.count("chunk") == 0
    assert library.storage.search_words("chunk", ["recal"], 5) == []


def test_removing_what_is_not_there_is_false(library):
    assert not library.remove("nothing")


def test_a_renamed_document_keeps_everything_else(library):
    document_id = add(library, ["Recall."])
    library.rename(document_id, name="new.pdf", path="/new.pdf")
    info = library.documents()[0]
    assert (info.document_id, info.name, info.path, info.chunks) == (document_id, "new.pdf", "/new.pdf", 1)


# ---- Outline ----


def test_the_outline_is_read_back_in_order(library):
    document_id = add(library, ["A.", "B."], outline=[(1, "One", 1), (2, "One a", 2)])
    assert library.outline(document_id) == [(1, "One", 1), (2, "One a", 2)]
    assert library.outline("nothing") == []


def test_chapters_are_those_of_the_documents_that_are_named_else_of_all(library):
    add(library, ["A."], name="a.pdf", path="/a.pdf", outline=[(1, "Alpha", 1), (2, "Part", 1), (3, "Detail", 1)])
    add(library, ["B."], name="b.pdf", path="/b.pdf", outline=[(1, "Beta", 1)])
    assert library.chapters("Which chapters?") == "Alpha (a.pdf, p. 1)\n  Part (a.pdf, p. 1)\nBeta (b.pdf, p. 1)"
    assert library.chapters("Chapters of B.pdf?") == "Beta (b.pdf, p. 1)"


def test_without_an_outline_there_are_no_chapters(library):
    add(library, ["A."])
    assert library.chapters("Which chapters?") == ""


# ---- Pages and quotations ----


def test_a_page_is_read_back_as_it_was_stored(library):
    document_id = add(library, ["第一页", "Second."])
    assert library.page(document_id, 2) == StoredPage(2, "2", "", "Second.", "Second.", [[0, 0]])
    assert library.page(document_id, 3) is None


def test_pages_begin_where_the_pages_before_them_end(library):
    document_id = add(library, ["𝄞 a", "", "语言"])
    assert library.page_starts(document_id) == [(1, 0), (2, 5), (3, 7)]


def test_a_quotation_is_what_the_page_says_not_what_is_searched(library):
    raw = "Retrieval is efﬁ-\ncient ⽤⼾."
    clean = clean_page(raw)
    document_id = library.add(
        name="n", path="", media_type="pdf", content_hash="a" * 64, chunks=[],
        pages=[StoredPage(1, "i", "", raw, clean.text, clean.offsets)],
    )  # fmt: skip
    quote = library.quote(document_id, 13, len(clean.text))
    assert (quote.page, quote.label, quote.text) == (1, "i", "efﬁ-\ncient ⽤⼾.")


def test_a_quotation_ends_where_its_page_ends(library):
    document_id = add(library, ["One.", "Two."])
    assert library.quote(document_id, 0, 10).text == "One."
    assert library.quote(document_id, 6, 10).text == "Two."
    assert library.quote(document_id, 6, 10).page == 2


def test_between_pages_and_beyond_them_there_is_nothing_to_quote(library):
    document_id = add(library, ["One.", "Two."])
    assert library.quote(document_id, 4, 6) is None
    assert library.quote(document_id, 50, 60) is None
    assert library.quote("nothing", 0, 5) is None


RAW = st.text("ab ﬁ-\n⽤⼾检。.é\u00ad", max_size=60)


@given(RAW, st.data())
def test_whatever_is_quoted_stands_on_the_raw_page(raw, data):
    clean = clean_page(raw)
    start = data.draw(st.integers(0, len(clean.text)))
    end = data.draw(st.integers(start, len(clean.text)))
    assert raw_slice(raw, clean.offsets, start, end) in raw


def test_an_empty_span_or_a_page_without_a_map_gives_nothing():
    assert raw_slice("abc", [(0, 0)], 2, 2) == raw_slice("abc", [], 0, 3) == ""


# ---- Passages and filters ----


def test_passages_carry_their_place(library):
    document_id = add(library, ["Recall.", "Precision."], headings=["A", "A > B"])
    second = list(library.passages(library.chunk_ids()).values())[1]
    assert (second.document_id, second.document, second.content) == (document_id, "book.pdf", "Precision.")
    assert (second.heading_path, second.position, second.page_start, second.page_end) == ("A > B", 1, 2, 2)
    assert (second.start, second.end) == (9, 19)


def test_passages_that_are_gone_are_absent(library):
    add(library, ["Recall."])
    assert library.passages([*library.chunk_ids(), 999]).keys() == set(library.chunk_ids())


def test_passages_between_two_positions(library):
    document_id = add(library, ["A a.", "B b.", "C c.", "D d."])
    assert [p.content for p in library.passages_between(document_id, 1, 2)] == ["B b.", "C c."]
    assert [p.content for p in library.passages_between(document_id, -3, 0)] == ["A a."]


def contents(library, ids):
    return sorted(passage.content for passage in library.passages(ids).values())


@pytest.fixture
def two(library):
    first = add(library, ["A a.", "B b.", "C c."], path="/1.pdf", headings=["One", "One > b", "Once"])
    second = add(library, ["D d."], path="/2.pdf", headings=["50%_"])
    return first, second


def test_chunks_by_document_page_and_section(library, two):
    first, second = two
    assert contents(library, library.chunk_ids(documents=[second])) == ["D d."]
    assert contents(library, library.chunk_ids(documents=[])) == []
    assert contents(library, library.chunk_ids(pages=(2, 3))) == ["B b.", "C c."]
    assert contents(library, library.chunk_ids(section="One")) == ["A a.", "B b."]
    assert contents(library, library.chunk_ids(section="50%_")) == ["D d."]
    assert contents(library, library.chunk_ids(documents=[first], pages=(1, 2), section="One > b")) == ["B b."]
    assert len(library.chunk_ids()) == 4


def test_a_page_is_first_the_one_with_that_number_printed_on_it(library):
    library.add(
        name="n", path="", media_type="pdf", content_hash="b" * 64,
        pages=[StoredPage(page, label, "", label, label, [(0, 0)]) for page, label in enumerate("i1234", start=1)],
        chunks=[NewChunk(label, "", 3 * page, 3 * page + 1, page + 1, page + 1) for page, label in enumerate("i1234")],
    )  # fmt: skip
    assert [contents(library, library.chunks_on_page(page)) for page in (1, 4, 5, -1)] == [["1"], ["4"], ["4"], ["4"]]


def test_chunks_on_a_page_of_any_document_and_on_the_last_page_of_each(library, two):
    assert contents(library, library.chunks_on_page(1)) == ["A a.", "D d."]
    assert contents(library, library.chunks_on_page(-1)) == ["C c.", "D d."]
    assert library.chunks_on_page(9) == set()
