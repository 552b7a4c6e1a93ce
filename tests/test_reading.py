"""Reading documents: what a learner loads, and the one sentence when it cannot be loaded."""

import hashlib
import os
import re
import zlib
from pathlib import Path

import pytest
from data.make_pdfs import Line, cyclic_pages, make_pdf, pages_without_count, set_stream, writer_of, written

from infrastructure.errors import DocumentError, PasswordNeeded
from infrastructure.language import set_language
from study import paths, trouble
from study.reading import identify, read_document, read_text

pytestmark = pytest.mark.usefixtures("without_ocr")
TEXT = "Retrieval finds the passages that fit\nand the model writes an answer."


def complaint(load, data: bytes, name: str = "book.pdf", **options) -> str:
    with pytest.raises(DocumentError) as caught:
        load(data, name, **options)
    return str(caught.value)


# ---- pages ----


def test_every_page_has_number_label_raw_and_clean_text(load):
    page = load(make_pdf(["first", TEXT], labels=[(1, 1, "r", 1), (2, 2, "D", 1)])).pages[1]
    assert (page.number, page.label, page.raw) == (2, "1", TEXT)
    assert page.clean == "Retrieval finds the passages that fit and the model writes an answer."


def test_a_quote_is_what_the_page_says(load):
    page = load(make_pdf(["about consoli-\ndation and ⽤⼾"])).pages[0]
    start = page.clean.index("consolidation")
    assert page.quote(start, len(page.clean)) == "consoli-\ndation and ⽤⼾"


def test_text_is_all_pages_and_page_starts_point_into_it(load):
    document = load(make_pdf(["first", "", "third"]))
    assert document.text == "first\n\n\n\nthird"
    assert [document.text[start : start + 5] for start in document.page_starts] == ["first", "\n\nthi", "third"]


def test_an_offset_leads_to_its_page(load):
    document = load(make_pdf(["first", "second"]))
    assert document.page_at(document.text.index("second") + 3).number == 2


def test_what_cannot_be_stored_is_taken_out_of_raw_text(load):
    page = load(make_pdf(["a\x00b\x07c\x9bd\ud800e"])).pages[0]
    assert page.raw == "abcde"
    page.raw.encode("utf-8")


def test_a_control_code_used_as_a_space_separates_words_in_quotes_too(load):
    page = load(make_pdf(["Cheng\x01et\x01al.\x01wrote\x01about\x01memory"])).pages[0]
    assert page.raw == "Cheng et al. wrote about memory"
    assert page.clean == "Cheng et al. wrote about memory"


def test_running_lines_are_in_raw_text_and_not_in_clean_text(load):
    bodies = ["working memory", "episodic memory", "semantic memory", "forgetting"]
    document = load(make_pdf([f"Draft of a guide\n{body}\nPage {n} of 4" for n, body in enumerate(bodies, 1)]))
    assert [page.clean for page in document.pages] == ["Draft of a guide working memory", *bodies[1:]]
    assert "Page 2 of 4" in document.pages[1].raw


def test_a_larger_title_stays_on_the_first_page(load):
    bodies = ["working memory", "episodic memory", "semantic memory"]
    pages = [[Line("Memory", size=9, y=800), Line(body, y=700)] for body in bodies]
    pages[0] = [Line("Memory", size=24, y=760), Line(bodies[0], y=700)]
    assert [page.clean for page in load(make_pdf(pages)).pages] == ["Memory\nworking memory", *bodies[1:]]


def test_overprinted_bold_is_read_once(load):
    lines = [
        Line("安利股份有限公司", y=700),
        Line("安利股份有限公司", x=72.3, y=700),
        Line("工作记忆保存刚刚发生的事情", y=600),
    ]
    assert load(make_pdf([lines])).pages[0].clean == "安利股份有限公司\n工作记忆保存刚刚发生的事情"


def test_progress_counts_the_pages(load):
    seen = []
    load(make_pdf(["a", "b", "c"]), progress=lambda *step: seen.append(step))
    assert seen == [(1, 3, "reading"), (2, 3, "reading"), (3, 3, "reading")]


def test_the_hash_is_that_of_the_bytes(load):
    data = make_pdf(["text"])
    assert load(data).content_hash == hashlib.sha256(data).hexdigest()


def test_the_title_is_the_one_in_the_file_unless_it_is_a_file_name(load):
    assert load(make_pdf(["x"], title="Memory RAG")).title == "Memory RAG"
    assert load(make_pdf(["x"], title="Microsoft Word - draft3.doc"), "notes.pdf").title == "notes"


# ---- headings ----

OUTLINE = [(1, "1 Memory", 1), (2, "1.1 Decay", 2), (1, "2 Retrieval", 3)]
CHAPTERS = ["1 Memory\nabout memory", "still about memory\n1.1 Decay\nhalf-life", "2 Retrieval\nabout retrieval"]


def test_headings_stand_where_their_title_does(load):
    document = load(make_pdf(CHAPTERS, outline=OUTLINE))
    assert [(level, title) for _, level, title in document.headings] == [
        (1, "1 Memory"),
        (2, "1.1 Decay"),
        (1, "2 Retrieval"),
    ]
    assert all(document.text[offset:].startswith(title) for offset, _, title in document.headings)


def test_a_heading_whose_title_is_not_on_the_page_stands_at_its_start(load):
    document = load(make_pdf(CHAPTERS, outline=[(1, "Overture", 2)]))
    assert document.headings == [(document.page_starts[1], 1, "Overture")]


def test_the_heading_path_is_the_one_in_force_where_the_page_begins(load):
    document = load(make_pdf([*CHAPTERS, "more"], outline=OUTLINE))
    assert [page.heading_path for page in document.pages] == ["1 Memory", "1 Memory", "2 Retrieval", "2 Retrieval"]


def test_a_page_inside_a_section_has_the_whole_path(load):
    document = load(make_pdf([CHAPTERS[0], CHAPTERS[1], "more on decay"], outline=OUTLINE[:2]))
    assert document.pages[2].heading_path == "1 Memory > 1.1 Decay"


# ---- documents that are only partly text ----


def test_pages_without_text_are_named(load):
    document = load(make_pdf(["", TEXT, ""]))
    assert document.warnings[0].startswith("2 of 3 pages have no text: 1, 3")
    assert document.pages[1].clean


def test_long_runs_of_pages_are_named_as_a_range(load):
    document = load(make_pdf([TEXT, *[""] * 30, "end"]))
    assert "30 of 32 pages have no text: 2–31" in document.warnings[0]


def test_one_bad_page_does_not_stop_the_others(load):
    writer = writer_of(["one", "two", "three"])
    set_stream(writer, 1, b"??", "/NoSuchPacking")
    document = load(written(writer))
    assert [page.clean for page in document.pages] == ["one", "", "three"]
    assert "Could not read 1 of 3 pages: 2" in document.warnings[0]


def test_a_page_that_would_fill_memory_is_skipped_with_its_reason(load):
    writer = writer_of(["one", "two"])
    set_stream(writer, 0, zlib.compress(bytes(264_000_000), 1))
    assert "unpacks to more than can be read safely" in load(written(writer)).warnings[0]


def test_an_unreadable_page_is_kept_out_of_search_and_named(load):
    document = load(make_pdf([TEXT, "\ue001\ue002\ue003\ue004 \ue005\ue006" * 20]))
    assert document.pages[1].clean == ""
    assert document.pages[1].raw
    assert "unreadable" in document.warnings[0]
    assert ": 2 (" in document.warnings[0]


# ---- documents that are no text at all: one sentence each ----


def test_a_scan_names_its_pages_and_the_command_that_installs_ocr(load):
    told = complaint(load, make_pdf([""] * 4))
    assert told.startswith(
        "book.pdf has no text layer (pages 1–4). If these are scans, install OCR and load it again: "
    )
    assert re.search(r'-m pip install "rapidocr\S+" "onnxruntime\S+"$', told)


def test_a_scan_whose_pages_only_carry_a_stamp_has_no_text(load):
    assert "no text layer" in complaint(load, make_pdf(["Scanned with CamScanner"] * 3))


def test_a_scan_with_page_numbers_only_has_no_text(load):
    assert "no text layer" in complaint(load, make_pdf(["Page 1 of 3", "Page 2 of 3", "Page 3 of 3"]))


def test_a_locked_file_asks_for_its_password(load):
    with pytest.raises(PasswordNeeded, match="--password"):
        load(make_pdf([TEXT], password="secret"))


def test_a_locked_file_opens_with_its_password(load):
    assert load(make_pdf([TEXT], password="secret"), password="secret").pages[0].raw == TEXT


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"<!DOCTYPE html><html><body>Please log in</body></html>", "a web page"),
        (b"PK\x03\x04" + bytes(100), "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
        (bytes(1000), "nothing but zero bytes"),
        (b"These are the notes of a learner. " * 20, "plain text"),
    ],
)
def test_a_file_named_pdf_that_is_something_else_is_called_by_its_name(load, data, kind):
    assert f"book.pdf is not a PDF but {kind}" in complaint(load, data)


def test_junk_before_the_header_is_accepted(load):
    assert load(b"HTTP/1.1 200 OK\r\n\r\n" + make_pdf([TEXT])).pages[0].raw == TEXT


def test_an_empty_file(load):
    assert "is empty (0 bytes)" in complaint(load, b"")


def test_a_pdf_without_pages(load):
    assert "has no pages" in complaint(load, pages_without_count(make_pdf(["x"])))


def test_a_truncated_file_is_called_incomplete(load):
    data = make_pdf([TEXT] * 5)
    assert f"looks incomplete ({len(data) // 2:,} bytes, no end mark)" in complaint(load, data[: len(data) // 2])


def test_a_file_whose_last_addition_is_cut_short_is_read_with_a_warning(load):
    document = load(make_pdf([TEXT]) + b"\n12 0 obj\n<< /Length 99999 >> stream\n" + b"x" * 4000)
    assert document.pages[0].raw == TEXT
    assert "end of the file is missing" in document.warnings[0]


def test_a_page_tree_that_contains_itself_is_read_by_another_engine(load):
    assert load(cyclic_pages(make_pdf(["x marks the spot"]))).pages[0].raw == "x marks the spot"


def test_a_missing_file(tmp_path):
    with pytest.raises(DocumentError, match="There is no file"):
        read_document(tmp_path / "nothing.pdf")


def test_a_folder_named_like_a_pdf(tmp_path):
    (tmp_path / "papers.pdf").mkdir()
    with pytest.raises(DocumentError, match="is a folder"):
        read_document(tmp_path / "papers.pdf")


def test_a_web_address_is_not_loaded():
    with pytest.raises(DocumentError, match="web address"):
        read_document("https://example.org/paper.pdf")


@pytest.mark.parametrize("name", ["两份 笔记.pdf", 'it\'s "quoted" #2.pdf', "-dash.pdf"])
def test_any_file_name_is_accepted(load, name):
    assert load(make_pdf([TEXT]), name).name == name


def test_a_file_address_is_accepted(tmp_path):
    path = tmp_path / "my notes.md"
    path.write_text("# Notes\n", encoding="utf-8")
    assert read_document(path.as_uri()).name == "my notes.md"


def test_messages_come_in_the_language_of_the_screen(load):
    set_language("zh")
    assert complaint(load, make_pdf(["", ""])).startswith("book.pdf 没有文字层（第 1–2 页）")


def test_every_complaint_is_one_sentence_with_a_next_step(load):
    for data in (b"", bytes(1000), b"%PDF-1.7\nrubbish", make_pdf([""]), make_pdf(["x"], password="s")):
        message = complaint(load, data)
        assert re.search(r": [^:]+(\.|<2\")$", message), message
        assert "\n" not in message


def test_a_file_is_identified_without_reading_it(tmp_path):
    path = tmp_path / "book.pdf"
    path.write_bytes(make_pdf([TEXT]))
    assert identify(path) == (path.resolve(), read_document(path).content_hash)


def test_identifying_a_missing_file_is_the_same_complaint(tmp_path):
    with pytest.raises(DocumentError, match="There is no file"):
        identify(tmp_path / "nothing.pdf")


# ---- Markdown and text ----


def test_markdown_has_its_headings(load):
    document = load("# 记忆\n\ntext\n\n## 衰减\n".encode(), "notes.md")
    assert (document.media_type, document.title) == ("markdown", "记忆")
    assert document.headings == [(0, 1, "记忆"), (12, 2, "衰减")]


def test_plain_text_is_one_page_with_identical_offsets(load):
    page = load("记忆 is what remains.\r\nSecond line.".encode("gb18030"), "notes.txt").pages[0]
    assert page.quote(0, 99) == page.raw == page.clean == "记忆 is what remains.\nSecond line."


def test_text_files_need_no_extension(load):
    assert load(b"just some notes", "NOTES").media_type == "text"


def test_a_pdf_is_recognised_whatever_it_is_called(load):
    assert load(make_pdf([TEXT]), "download").media_type == "pdf"


def test_a_binary_file_is_refused(load):
    assert "is not text" in complaint(load, bytes(range(256)) * 10, "data.bin")


def test_an_office_file_says_what_to_do(load):
    assert "save it as PDF, Markdown or text" in complaint(load, b"\xd0\xcf\x11\xe0" + bytes(600), "old.doc")


def test_a_text_without_a_word_is_refused(load):
    assert "holds no text" in complaint(load, b"  \n\n", "blank.txt")


def test_text_from_the_clipboard_is_a_document_too():
    document = read_text("HyDE writes a hypothetical answer first.", "pasted")
    assert (document.name, document.media_type, document.text) == (
        "pasted",
        "text",
        "HyDE writes a hypothetical answer first.",
    )


def test_radicals_are_folded_in_clean_text_of_notes():
    page = read_text("⽤⼾", "notes.txt").pages[0]
    assert (page.clean, page.quote(0, 2)) == ("用户", "⽤⼾")


def test_page_ranges_join_neighbours():
    assert trouble.page_ranges([209, 1, 3, *range(12, 209)]) == "1, 3, 12–209"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on Windows")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    for read in (identify, read_document):
        with pytest.raises(DocumentError, match="is a pipe or a device"):
            read(tmp_path / "pipe.txt")


def test_a_file_in_a_folder_that_may_not_be_entered_is_said_to_be_locked(tmp_path, monkeypatch):
    def locked(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", locked)
    monkeypatch.setattr(Path, "open", locked)
    assert paths.expand([str(tmp_path / "a.pdf")]) == [tmp_path / "a.pdf"]
    with pytest.raises(DocumentError, match="check that you may read it"):
        identify(tmp_path / "a.pdf")


def test_an_empty_name_is_no_folder():
    (error,) = paths.expand([""])
    assert isinstance(error, DocumentError)
