"""The first engine: what it reads, in which order, and what it leaves out because nobody sees it.

What holds for every engine is in test_engines.py.
"""

import pytest
from data.make_pdfs import Line, make_pdf, scan_with_text, set_stream, writer_of, written

from study.pdfium import PdfiumFile

THREE = ["first page", "second page", "third page"]
LEFT = ["memory", "keeps", "what", "was", "asked", "and", "noted"]
RIGHT = ["retrieval", "finds", "the", "page", "that", "answers", "it"]


@pytest.fixture
def engine():
    return PdfiumFile


def two_columns() -> list[Line]:
    """Seven rows of two columns of 200 points each, drawn row by row under a title across both."""
    lines = [Line("A title that goes across the two columns of this page of ours", size=16, x=72, y=760)]
    for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        y = 700 - 16 * number
        lines += [Line(f"{left:x<36}", x=72, y=y), Line(f"{right:x<36}", x=320, y=y)]
    return lines


def test_lines_end_in_one_sign_and_a_cut_word_keeps_its_hyphen(opened):
    assert opened(make_pdf(["gener-\nation\nends"])).read(0).text == "gener-\nation\nends"


def test_two_columns_drawn_row_by_row_are_read_one_after_the_other(opened):
    lines = [line.rstrip("x") for line in opened(make_pdf([two_columns()])).read(0).text.split("\n")]
    assert lines[1:] == [*LEFT, *RIGHT]


def test_rows_of_a_table_stay_rows(opened):
    table = [
        line
        for number in range(8)
        for line in (
            Line(f"metric {number}", x=72, y=700 - 16 * number),
            Line(f"0.{number}", x=320, y=700 - 16 * number),
        )
    ]
    assert "metric 3 0.3" in opened(make_pdf([table])).read(0).text


def test_fake_bold_is_read_once(opened):
    lines = [Line("年度报告全文", x=72, y=700), Line("年度报告全文", x=72.3, y=700)]
    assert opened(make_pdf([lines])).read(0).text == "年度报告全文"


def test_text_outside_the_page_is_left_out_and_counted(opened):
    page = opened(make_pdf([[Line("visible words"), Line("slug", x=900, y=500), Line("below", x=72, y=-40)]])).read(0)
    assert (page.text.strip(), page.hidden) == ("visible words", len("slugbelow"))


def test_text_without_ink_beside_text_with_ink_is_left_out(opened):
    page = opened(make_pdf([[Line("visible words"), Line("obey me", ink=False)]])).read(0)
    assert (page.text.strip(), page.hidden) == ("visible words", len("obeyme"))


def test_text_without_ink_over_a_scan_is_the_text(opened):
    page = opened(scan_with_text([Line("found by OCR", ink=False), Line("a stamp", y=40)])).read(0)
    assert "found by OCR" in page.text
    assert (page.hidden, page.covered) == (0, 1.0)


def test_text_without_ink_alone_on_its_page_is_the_text(opened):
    assert opened(make_pdf([[Line("found by OCR", ink=False)]])).read(0).text == "found by OCR"


def test_sizes_tell_headings_from_text(opened):
    sizes = opened(make_pdf([[Line("Title", size=20), Line("body text", size=10)]])).sizes(0)
    assert sizes["title"] == pytest.approx(2 * sizes["bodytext"], rel=0.1)


def test_a_page_can_be_drawn(opened):
    picture = opened(make_pdf(THREE)).picture(0)
    assert picture.shape[2] == 3
    assert picture.shape[0] > picture.shape[1] > 1000


def test_content_in_an_unknown_packing_is_silence(opened):
    writer = writer_of(THREE)
    set_stream(writer, 1, b"??", "/NoSuchPacking")
    assert opened(written(writer)).read(1).text == ""
