"""Real files that learners load: papers, books, slides, scans, encrypted, garbled and broken ones.

They are not part of the project; the tests run where the public data sets lie (see conftest.data_dir). Of long books only the
first pages are read, and scans are not recognised, unless STUDY_TEST_SLOW is set: then every page of every file is, by OCR where
it takes that, which takes about ten minutes.
"""

import csv
import os
from pathlib import Path

import pytest

from infrastructure.errors import DocumentError, PasswordNeeded
from infrastructure.extras import has
from infrastructure.text import fold_radicals
from study import worker
from study.document import SourceDocument
from study.pdfium import PdfiumFile
from study.reading import read_document
from study.worker import FileReader

PAGES = 3  # read of each file
SLOW = bool(os.environ.get("STUDY_TEST_SLOW"))
slow = pytest.mark.skipif(not SLOW, reason="takes minutes; set STUDY_TEST_SLOW=1 to run it")

SCANS = {"077", "081", "085", "087"}
BLANK = {"089", "111", "113"}  # eleven empty pages; two wrecks that open, and hold nothing
VERDICTS = (
    dict.fromkeys(SCANS | BLANK, "has no text layer")
    | dict.fromkeys(["114"], "is damaged")
    | {"116": "has no pages", "118": "looks incomplete", "121": "is empty", "123": "nobody can read"}
)
MANY_UNREADABLE = "122"  # its first page can be read


class FirstPages(FileReader):
    def __init__(self, path: Path, password: str | None) -> None:
        super().__init__(path, password)
        self.page_count = min(self.page_count, PAGES)


@pytest.fixture
def quick(monkeypatch, without_ocr):
    """A few pages of each file, and no OCR."""
    monkeypatch.setattr(worker, "FileReader", FirstPages)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "pdfs" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def one(folder: Path, number: str) -> Path:
    (path,) = (folder / "pdfs").glob(f"{number}_*.pdf")
    return path


def verdict(folder: Path, row: dict[str, str]) -> SourceDocument | str:
    try:
        return read_document(folder / "pdfs" / row["file"], password=row["password"] or None)
    except DocumentError as error:
        return str(error)


def test_every_file_gets_the_right_verdict(data_dir, quick):
    for row in rows(data_dir, "manifest.csv"):
        number, found = row["file"][:3], verdict(data_dir, row)
        if number in VERDICTS:
            assert isinstance(found, str) and VERDICTS[number] in found, (row["file"], found)
        else:
            assert isinstance(found, SourceDocument), (row["file"], found)
            assert any(page.clean for page in found.pages), row["file"]
            assert len(found.pages) == min(int(row["pages"]), PAGES), row["file"]


@slow
def test_every_page_of_every_file_is_read(data_dir):
    for row in rows(data_dir, "manifest.csv"):
        number, found = row["file"][:3], verdict(data_dir, row)
        read = isinstance(found, SourceDocument)
        by_ocr = has("ocr") and number in SCANS | {"123"}
        assert read == (number not in VERDICTS or by_ocr), (row["file"], found)
        assert not read or len(found.pages) == int(row["pages"]), row["file"]
        assert not (by_ocr or (number == MANY_UNREADABLE and has("ocr"))) or "read by OCR" in " ".join(found.warnings)


def test_locked_files_ask_and_refuse_a_wrong_password(data_dir):
    for row in rows(data_dir, "manifest.csv"):
        if row["password"]:
            for guess in (None, "wrong"):
                with pytest.raises(PasswordNeeded):
                    read_document(data_dir / "pdfs" / row["file"], password=guess)


def test_labels_are_those_of_the_manifest(data_dir):
    for row in rows(data_dir, "manifest.csv"):
        if row["page_labels"]:
            labels = PdfiumFile(data_dir / "pdfs" / row["file"]).labels()
            assert "|".join(map(str, labels[:8])) == row["page_labels"], row["file"]


def test_every_bookmark_leads_to_its_page_and_label(data_dir):
    files: dict[str, tuple[set, list]] = {}
    for row in rows(data_dir, "outline_queries.csv"):
        if row["file"] not in files:
            file = PdfiumFile(data_dir / "pdfs" / row["file"])
            files[row["file"]] = {(entry.title, entry.page) for entry in file.outline()}, file.labels()
        entries, labels = files[row["file"]]
        page = int(row["page_index"]) + 1
        assert (" ".join(fold_radicals(row["title"]).split()), page) in entries
        assert (labels[page - 1] or str(page)) == row["page_label"]


def test_headings_of_a_paper_are_found_on_their_pages(data_dir):
    document = read_document(one(data_dir, "005"))
    assert all(title.split()[0].lower() in document.text[at : at + 40].lower() for at, _, title in document.headings)


def test_the_chinese_print_with_radicals_can_be_searched_and_quoted(data_dir, quick):
    page = read_document(one(data_dir, "059")).pages[0]
    start = page.clean.index("增加用户信任")
    assert fold_radicals(page.quote(start, start + 6)) == "增加用户信任"
    assert "提高回答的准确性" in page.clean


def test_fourfold_overprinting_is_read_once(data_dir):
    assert "股票代码：300218" in read_document(one(data_dir, "062")).text


def test_a_book_whose_fonts_have_no_letter_table_is_read(data_dir, quick):
    """pypdf reads Kannada and Armenian letters in it."""
    document = read_document(one(data_dir, "054"))
    assert "机器学习" in document.text
    assert not any("unreadable" in warning for warning in document.warnings)


def test_printers_marks_outside_the_page_are_left_out(data_dir, quick):
    document = read_document(one(data_dir, "030"))
    assert "14773" not in "".join(page.raw for page in document.pages)
    assert any("nobody sees" in warning for warning in document.warnings)


def test_rows_of_a_table_keep_their_words_together(data_dir, quick):
    assert "Cadmium (Cd) 100 ppm (0.01 weight %)" in read_document(one(data_dir, "130")).text


def test_invisible_text_without_a_scan_is_left_out(data_dir):
    assert read_document(one(data_dir, "086")).text.split() == ["Visible", "heading", "line"]


def test_two_columns_drawn_across_are_not_interleaved(data_dir, quick):
    text = " ".join(read_document(one(data_dir, "004")).text.split())
    assert "responses within contexts spanning no more than five chat sessions" in text
