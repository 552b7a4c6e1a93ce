"""Which document a word means."""

import pytest

from infrastructure.errors import UsageError
from infrastructure.library import DocumentInfo
from study.choosing import document_among


def shelf(*names: str, ids: str = "abcdefghij") -> list[DocumentInfo]:
    return [
        DocumentInfo(ids[at] * 8, name, f"/books/{name}", "pdf", 1, 1, "2026-03-01T00:00:00+00:00")
        for at, name in enumerate(names)
    ]


FIVE = shelf("001_a.md", "002_b.md", "003_c.md", "004_d.md", "intro.md", "005_e.md")


@pytest.mark.parametrize("typed", ["005", "005_", "005_e.md"])
def test_a_leading_zero_is_the_beginning_of_a_name_and_no_number(typed):
    assert document_among(FIVE, typed).name == "005_e.md"


def test_a_leading_zero_without_such_a_name_is_nothing():
    with pytest.raises(UsageError, match="No document '006'"):
        document_among(FIVE, "006")


@pytest.mark.parametrize("typed", ["5", "５"])
def test_a_number_is_the_one_in_the_list(typed):
    assert document_among(FIVE, typed).name == "intro.md"


def test_a_number_that_is_the_beginning_of_another_name_is_refused_naming_both():
    with pytest.raises(UsageError) as refused:
        document_among(shelf("a.md", "b.md", "1_c.md"), "1")
    assert "1_c.md" in str(refused.value) and "a.md" in str(refused.value)


def test_a_number_that_is_the_beginning_of_the_same_documents_name_is_no_riddle():
    assert document_among(shelf("1_a.md", "b.md"), "1").name == "1_a.md"


def test_a_name_in_full_wins_over_a_number():
    assert document_among(shelf("a.md", "1"), "1").name == "1"


def test_the_beginning_of_an_id_of_digits_wins_when_the_list_is_shorter():
    assert document_among(shelf("a.md", "b.md", ids="a1"), "1111").name == "b.md"


def test_one_digit_of_an_id_does_not_take_the_numbers_away():
    assert document_among(shelf("a.md", "b.md", ids="a1"), "1").name == "a.md"


def test_a_part_that_several_names_hold_is_refused():
    with pytest.raises(UsageError, match="could be several"):
        document_among(FIVE, "00")
