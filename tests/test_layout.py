"""Columns and visibility, from boxes alone."""

import doctest

from study import layout
from study.layout import gutter, halves, in_columns, outside

PAPER = (0.0, 0.0, 595.0, 842.0)


def rows(left=(72, 280), right=(320, 530), count=12):
    """Boxes of two columns drawn row by row."""
    boxes = []
    for number in range(count):
        bottom = 700 - 16 * number
        boxes += [(left[0], bottom, left[1], bottom + 10), (right[0], bottom, right[1], bottom + 10)]
    return boxes


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(layout).failed == 0


def test_the_gutter_lies_between_the_columns():
    assert 280 <= gutter(rows()) <= 320


def test_a_title_across_both_columns_does_not_hide_them():
    assert 280 <= gutter([(72, 760, 530, 790), *rows(), (290, 40, 310, 50)]) <= 320


def test_columns_drawn_one_after_the_other_are_left_alone():
    boxes = rows()
    assert gutter(boxes[::2] + boxes[1::2]) is None


def test_a_table_of_terms_and_explanations_stays_a_table():
    cells = [
        box
        for number in range(12)
        for box in ((72, 700 - 16 * number, 100 + 15 * (number % 5), 710 - 16 * number),
                    (320, 700 - 16 * number, 400 + 10 * number, 710 - 16 * number))
    ]  # fmt: skip
    assert gutter(cells) is None


def test_a_narrow_column_of_numbers_beside_text_is_no_second_column():
    assert gutter(rows(left=(72, 420), right=(480, 530))) is None


def test_few_lines_are_no_columns():
    assert gutter(rows(count=4)) is None


def test_words_in_another_font_belong_to_their_line():
    boxes = [piece for box in rows() for piece in ((box[0], box[1], box[0] + 60, box[3]), (box[0] + 63, *box[1:]))]
    assert 280 <= gutter(boxes) <= 320


def test_a_line_is_cut_at_the_gutter_unless_it_lies_across():
    apart = [(10, 0, 20, 9), None, (60, 0, 70, 9)]
    assert halves("a b", apart, 50) == [("a", -1), ("b", 1)]
    assert halves("abc", [(10, 0, 20, 9), (45, 0, 55, 9), (60, 0, 70, 9)], 50) == [("abc", 0)]


def test_a_line_across_ends_the_columns_above_it():
    lines, sides = ["a", "x", "b", "y", "Next", "c", "z"], [-1, 1, -1, 1, 0, -1, 1]
    assert in_columns(lines, sides) == ["a", "b", "x", "y", "Next", "c", "z"]


def test_what_touches_the_page_is_on_it():
    assert outside((600, 10, 700, 20), PAPER)
    assert outside((10, -20, 90, -5), PAPER)
    assert not outside((590, 10, 700, 20), PAPER)
