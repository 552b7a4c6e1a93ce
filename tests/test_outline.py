"""Headings of a PDF at their places in the text."""

import doctest

from study import outline, trouble
from study.outline import OutlineEntry, heading_paths, locate_headings


def located(text: str, *titles: str) -> list[int]:
    entries = [OutlineEntry(1, title, 1) for title in titles]
    return [offset for offset, _, _ in locate_headings([text], [0], entries)]


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(outline).failed == doctest.testmod(trouble).failed == 0


def test_a_title_is_found_whatever_its_spaces_and_case():
    assert located("intro\n2.1  TIME-DECAY\ntext", "2.1 Time decay") == [6]


def test_a_number_that_only_the_page_has_does_not_hide_the_title():
    assert located("intro\n3. Forgetting\ntext", "Forgetting") == [6]


def test_a_line_that_begins_with_the_title_wins_over_a_mention():
    assert located("see Decay below\nDecay\ntext", "Decay") == [16]


def test_two_equal_titles_on_one_page_have_two_places():
    assert located("Summary\ntext\nSummary\ntext", "Summary", "Summary") == [0, 13]


def test_headings_never_go_back():
    offsets = located("B first\nA second", "A second", "B first")
    assert offsets == sorted(offsets)


def test_an_entry_for_a_later_page_is_sorted_in():
    entries = [OutlineEntry(1, "Late", 2), OutlineEntry(1, "Early", 1)]
    assert [title for _, _, title in locate_headings(["Early", "Late"], [0, 7], entries)] == ["Early", "Late"]


def test_a_chapter_ends_the_sections_of_the_one_before():
    headings = [(0, 1, "A"), (5, 2, "A.1"), (10, 1, "B")]
    assert heading_paths(headings, [5, 10]) == ["A > A.1", "B"]
