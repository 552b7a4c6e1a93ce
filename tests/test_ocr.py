"""Scanned pages: which are recognised, what is kept when the learner has enough, and one page read for real."""

from pathlib import Path

import pytest
from data.make_pdfs import make_pdf, scan_with_text

from infrastructure.extras import has
from study import pdf, reading, trouble
from study.chain import ReadPage
from study.engine import EngineError
from study.ocr import in_lines
from study.pdfium import PdfiumFile
from study.reading import read_document

GUIDE = Path(__file__).resolve().parent.parent / "samples" / "memory_rag_guide.pdf"
PROSE = "Retrieval finds the passages that fit, and the model writes an answer from them."
SCAN = ReadPage("", covered=1.0)


class Scans:
    """A file whose pages are these, and whose scans say "words n" to OCR. KeyboardInterrupt at page `interrupted`."""

    title = ""

    def __init__(self, *pages: ReadPage, interrupted: int | None = None) -> None:
        self.pages, self.interrupted = pages, interrupted
        self.page_count = len(pages)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        pass

    def page(self, number: int) -> ReadPage:
        return self.pages[number]

    def recognise(self, number: int) -> str:
        if number == self.interrupted:
            raise KeyboardInterrupt
        return f"words of page {number + 1}"

    def labels(self):
        return [None] * self.page_count

    def outline(self):
        return []

    def sizes(self, number: int):
        return {}


@pytest.fixture
def read(monkeypatch, tmp_path):
    """read(file, ocr) → SourceDocument"""

    def read_pages(file: Scans, *, ocr: bool = True, progress=lambda *step: None):
        for module in (pdf, reading, trouble):
            monkeypatch.setattr(module, "has", lambda name: ocr)
        monkeypatch.setattr(pdf, "opened", lambda path, password: file)
        return pdf.read_pdf(tmp_path / "scan.pdf", "0" * 64, None, progress, truncated=False)

    return read_pages


def test_pages_that_are_pictures_are_recognised_and_named(read):
    document = read(Scans(ReadPage(PROSE), SCAN, SCAN))
    assert [page.clean for page in document.pages] == [PROSE, "words of page 2", "words of page 3"]
    assert document.warnings == ["2 of 3 pages were read by OCR, which makes mistakes: 2–3."]
    assert document.content_hash == "0" * 64


def test_a_stamp_on_a_scan_does_not_count_as_its_text(read):
    assert "words of page 1" in read(Scans(ReadPage("Draft 7", covered=0.9), ReadPage(PROSE))).text


def test_a_page_of_signs_is_recognised_too(read):
    document = read(Scans(ReadPage("\ue001\ue002" * 40, 0.0), ReadPage(PROSE)))
    assert document.pages[0].clean == "words of page 1"


def test_a_page_with_text_over_a_picture_is_not_recognised(read):
    assert read(Scans(ReadPage(PROSE, covered=1.0))).text == PROSE


def test_progress_counts_the_scans_after_the_pages(read):
    steps = []
    read(Scans(ReadPage(PROSE), SCAN, SCAN), progress=lambda *step: steps.append(step))
    assert steps[3:] == [(done, 2, "recognising") for done in range(3)]


def test_when_the_learner_has_enough_the_recognised_pages_stay(read):
    document = read(Scans(SCAN, SCAN, SCAN, interrupted=1))
    assert document.stopped
    assert [page.clean for page in document.pages] == ["words of page 1", "", ""]
    assert document.content_hash != "0" * 64


def test_the_same_words_on_every_scan_are_all_there_is(read, monkeypatch):
    monkeypatch.setattr(Scans, "recognise", lambda self, number: "One slide, scanned twice")
    assert "One slide, scanned twice" in read(Scans(SCAN, SCAN)).text


def test_a_scan_that_ocr_fails_on_is_named_with_the_reason(read, monkeypatch):
    def too_long(self, number):
        raise EngineError("it takes too long")

    monkeypatch.setattr(Scans, "recognise", too_long)
    document = read(Scans(ReadPage(PROSE), SCAN))
    assert document.warnings == ["Could not read 1 of 2 pages: 2 (it takes too long)."]


def test_when_nothing_was_recognised_yet_nothing_is_kept(read):
    with pytest.raises(KeyboardInterrupt):
        read(Scans(SCAN, SCAN, interrupted=0))


def test_without_the_extra_scans_are_named_with_the_command_and_read_again_later(read, monkeypatch):
    document = read(Scans(ReadPage(PROSE), SCAN, SCAN), ocr=False)
    assert document.warnings[0].startswith("2 of 3 pages have no text: 2–3")
    assert 'pip install "rapidocr' in document.warnings[-1]
    finished, unfinished = reading.hashes_of_readings("0" * 64)
    assert document.content_hash in finished
    monkeypatch.setattr(reading, "has", lambda name: True)
    finished, unfinished = reading.hashes_of_readings("0" * 64)
    assert document.content_hash in unfinished
    assert document.content_hash not in finished


@pytest.mark.parametrize("ocr", [True, False])
def test_nobody_waits_for_the_cover_of_a_book(read, ocr):
    document = read(Scans(SCAN, *[ReadPage(f"{PROSE} {n * n}") for n in range(60)]), ocr=ocr)
    assert [warning[:36] for warning in document.warnings] == ["1 of 61 pages have no text: 1 (pictu"]
    assert document.content_hash == "0" * 64


def test_pieces_on_one_height_are_one_line():
    pieces = [((300, 88, 400, 100), "0.43"), ((10, 90, 100, 102), "MiniLM"), ((10, 60, 100, 72), "BM25")]
    assert in_lines(pieces) == ["MiniLM 0.43", "BM25"]


def test_two_columns_are_read_one_after_the_other():
    pieces = [
        ((x, 700 - 20 * row, x + 200, 712 - 20 * row), f"{side}{row}")
        for row in range(8)
        for x, side in ((10, "l"), (260, "r"))
    ]
    assert in_lines(pieces) == [f"l{row}" for row in range(8)] + [f"r{row}" for row in range(8)]


@pytest.mark.skipif(not has("ocr"), reason="rapidocr is not installed; see requirements-extras.txt")
def test_a_scan_is_read_for_real(tmp_path):
    printed = PdfiumFile(GUIDE)
    page = next(n for n in range(printed.page_count) if "HyDE" in printed.read(n).text)
    scan = tmp_path / "scan.pdf"
    paper = printed.picture(page)[:, :, 0]
    paper[250:] = 255  # each line takes the models a third of a second
    scan.write_bytes(scan_with_text([], picture=paper))
    words = [word for word in printed.read(page).text.split() if word.isascii() and word.isalpha()][:12]
    document = read_document(scan)
    assert sum(word in document.text for word in words) >= 0.8 * len(words)
    assert "read by OCR" in document.warnings[0]


def test_a_blank_page_is_no_scan(tmp_path):
    path = tmp_path / "book.pdf"
    path.write_bytes(make_pdf([PROSE, ""]))
    assert read_document(path).warnings[0].startswith("1 of 2 pages have no text: 2")
