"""Real files that learners load: papers, books, slides, scans, encrypted, garbled and broken ones.

They are not part of the project; the tests run where the public data sets lie (see conftest.data_dir). Of long books only
the first pages are read here.
"""

import csv
from pathlib import Path

import pytest

from infrastructure.errors import DocumentError, PasswordNeeded
from infrastructure.text import fold_radicals
from study import reading
from study.pdf import PypdfFile
from study.reading import read_document

PAGES = 3  # read of each file
NO_TEXT = {"077", "081", "085", "087", "089"}  # scans, and eleven empty pages
DAMAGED = {"111", "112", "113", "114", "116", "118"}
EMPTY, UNDECODABLE, UNREADABLE = "121", "117", "123"
VERDICTS = (
    dict.fromkeys(NO_TEXT, "has no text layer")
    | dict.fromkeys(DAMAGED, "damaged|incomplete")
    | {EMPTY: "is empty", UNDECODABLE: "none of its pages", UNREADABLE: "nobody can read"}
)


class FirstPages(PypdfFile):
    def __init__(self, path: Path, password: str | None = None) -> None:
        super().__init__(path, password)
        self.page_count = min(self.page_count, PAGES)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "pdfs" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_file_gets_the_right_verdict(data_dir, monkeypatch):
    monkeypatch.setattr(reading, "ENGINES", (FirstPages,))
    for row in rows(data_dir, "manifest.csv"):
        path, number = data_dir / "pdfs" / row["file"], row["file"][:3]
        if number in VERDICTS:
            with pytest.raises(DocumentError, match=VERDICTS[number]):
                read_document(path)
        else:
            document = read_document(path, password=row["password"] or None)
            assert any(page.clean for page in document.pages), row["file"]
            assert len(document.pages) == min(int(row["pages"]), PAGES), row["file"]


def test_locked_files_ask_and_refuse_a_wrong_password(data_dir):
    for row in rows(data_dir, "manifest.csv"):
        if row["password"]:
            for guess in (None, "wrong"):
                with pytest.raises(PasswordNeeded):
                    read_document(data_dir / "pdfs" / row["file"], password=guess)


def test_labels_are_those_of_the_manifest(data_dir):
    for row in rows(data_dir, "manifest.csv"):
        if row["page_labels"]:
            labels = PypdfFile(data_dir / "pdfs" / row["file"]).labels()
            assert "|".join(map(str, labels[:8])) == row["page_labels"], row["file"]


def test_every_bookmark_leads_to_its_page_and_label(data_dir):
    files: dict[str, tuple[set, list]] = {}
    for row in rows(data_dir, "outline_queries.csv"):
        if row["file"] not in files:
            file = PypdfFile(data_dir / "pdfs" / row["file"])
            files[row["file"]] = {(entry.title, entry.page) for entry in file.outline()}, file.labels()
        entries, labels = files[row["file"]]
        page = int(row["page_index"]) + 1
        assert (" ".join(fold_radicals(row["title"]).split()), page) in entries
        assert (labels[page - 1] or str(page)) == row["page_label"]


def test_headings_of_a_paper_are_found_on_their_pages(data_dir):
    document = read_document(data_dir / "pdfs" / "005_paper_2col_en_Paper-MemoryOS.pdf")
    assert all(title.split()[0].lower() in document.text[at : at + 40].lower() for at, _, title in document.headings)


def test_the_chinese_print_with_radicals_can_be_searched_and_quoted(data_dir, monkeypatch):
    monkeypatch.setattr(reading, "ENGINES", (FirstPages,))
    (path,) = (data_dir / "pdfs").glob("059_*.pdf")
    page = read_document(path).pages[0]
    start = page.clean.index("增加用户信任")
    assert page.quote(start, start + 6) == "增加⽤⼾信任"
    assert "提高回答的准确性" in page.clean


def test_fourfold_overprinting_is_read_once(data_dir):
    (path,) = (data_dir / "pdfs").glob("062_*.pdf")
    assert "股票代码：300218" in read_document(path).text


def test_a_book_in_which_pypdf_misreads_the_font_says_so(data_dir, monkeypatch):
    monkeypatch.setattr(reading, "ENGINES", (FirstPages,))
    (path,) = (data_dir / "pdfs").glob("054_*.pdf")
    document = read_document(path)
    assert "unreadable" in document.warnings[0]
    assert [page.number for page in document.pages if page.clean] == [1]
