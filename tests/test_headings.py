"""Finding "chapter 3" in an outline: by the number in its title, by counting, or beside the one before."""

import pytest

from infrastructure.asked_place import LAST, NEXT, PREVIOUS
from infrastructure.headings import chapter_level, chapters_of, heading_meant, headings_of

NUMBERED = headings_of(
    [(1, "1 Birds", 1), (2, "1.1 Herons", 1), (1, "2 Cats", 4), (2, "2.1 Lynx", 4), (2, "2.2 Lion", 6), (1, "References", 8)], 9
)  # fmt: skip
PLAIN = headings_of(
    [(1, "Animals", 1), (2, "Preface", 1), (2, "Birds", 2), (2, "Cats", 3), (3, "Lynx", 4), (2, "References", 5)], 5
)
CHINESE = headings_of(
    [(1, "第一章 鸟", 1), (2, "第一节 鹭", 1), (1, "第二章 猫", 2), (2, "第一节 猞猁", 2), (2, "第二节 狮", 3)], 3
)


def title(number, headings, path=""):
    heading = heading_meant(number, headings, path)
    return heading and heading.title


@pytest.mark.parametrize(
    ("number", "found"),
    [("2", "2 Cats"), ("2.2", "2.2 Lion"), ("ii", "2 Cats"), ("3", None), ("2.9", None), (LAST, "2 Cats")],
)
def test_a_number_in_a_title_is_the_chapters(number, found):
    assert title(number, NUMBERED) == found


@pytest.mark.parametrize(
    ("number", "found"), [("1", "Birds"), ("2", "Cats"), ("3", None), ("2.1", "Lynx"), ("2.2", None), (LAST, "Cats")]
)
def test_chapters_without_numbers_are_counted_but_not_the_title_the_preface_and_the_references(number, found):
    assert title(number, PLAIN) == found


@pytest.mark.parametrize(
    ("number", "found"), [("2", "第二章 猫"), ("2.1", "第一节 猞猁"), ("1.1", "第一节 鹭"), ("3", None)]
)
def test_a_section_of_a_chapter_is_found_by_both_numbers(number, found):
    assert title(number, CHINESE) == found


def test_numbered_chapters_may_stand_below_parts_without_a_number():
    parts = headings_of([(1, "Cover", 1), (1, "Air", 2), (2, "1: Birds", 2), (1, "Land", 5), (2, "2: Cats", 5)], 9)
    assert [chapter.title for chapter in chapters_of(parts)] == ["1: Birds", "2: Cats"]
    assert title("2", parts) == "2: Cats"


def test_the_next_and_the_previous_one_stand_on_the_same_level():
    assert title(NEXT, NUMBERED, "1 Birds") == "2 Cats"
    assert title(PREVIOUS, NUMBERED, "2 Cats > 2.2 Lion") == "2.1 Lynx"
    assert title(PREVIOUS, NUMBERED, "1 Birds") is None
    assert title(NEXT, NUMBERED, "gone") is None


def test_a_heading_knows_its_pages_and_its_path():
    lion = heading_meant("2.2", NUMBERED)
    assert (lion.page, lion.last_page, lion.path) == (6, 8, "2 Cats > 2.2 Lion")
    assert NUMBERED[-1].last_page == 9


def test_nothing_has_no_chapters():
    assert (headings_of([], 5), chapters_of([]), heading_meant("1", []), heading_meant(LAST, []), chapter_level([])) == (
        [], [], None, None, 0,
    )  # fmt: skip
