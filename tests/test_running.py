"""Which lines at the edges of pages are headers, footers and page numbers, and which only look like it."""

import doctest

import pytest

from study import running
from study.running import running_lines

BODIES = [
    "Working memory holds the last questions.\nIt is small and forgets after an hour.\nWords find what is in it",
    "Episodic memory is a diary of events.\nOne sentence for each event is enough.\nTime and session belong to it",
    "Semantic memory holds knowledge.\nIt keeps entities beside its vectors.\nNotes of the learner go there",
    "Forgetting is control of attention.\nMost of it can be undone at once.\nOnly a request deletes for good",
    "Consolidation looks for what is shared.\nFive uses make an event worth it.\nThe sources are kept with it",
    "A gate stands before every write.\nErrors never pass, nor do guesses.\nCorrections replace what was wrong",
]
ENDS = tuple(body.split("\n")[-1] for body in BODIES)


def book(top="", bottom="", count=4):
    """Pages with the same frame, {n} the page number, and a text of their own."""
    return ["\n".join(filter(None, [top.format(n=n), BODIES[n - 1], bottom.format(n=n)])) for n in range(1, count + 1)]


def kept(pages, **options):
    dropped = running_lines(pages, **options)
    return [
        "\n".join(line for number, line in enumerate(page.split("\n")) if number not in lines)
        for page, lines in zip(pages, dropped, strict=True)
    ]


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(running).failed == 0


def test_page_numbers_are_dropped():
    assert all(page.endswith(ENDS) for page in kept(book(bottom="{n}")))


def test_roman_page_numbers_are_dropped():
    pages = [f"{page}\n{number}" for page, number in zip(book(), ["iii", "iv", "v", "vi"], strict=True)]
    assert all(page.endswith(ENDS) for page in kept(pages))


def test_a_number_in_words_is_dropped():
    assert all(page.endswith(ENDS) for page in kept(book(bottom="第 {n} 页 共 4 页")))


def test_a_header_with_the_page_number_in_it_is_dropped_on_every_page():
    assert not any("draft" in page for page in kept(book(top="Course notes, draft 7          {n}")))


def test_a_footer_that_never_changes_is_dropped_on_every_page():
    assert not any("Confidential" in page for page in kept(book(bottom="Confidential")))


@pytest.mark.parametrize(
    "line",
    ["USCA11 Case: 21-13199 Date Filed: 01/05/2022 Page: {n} of 4", "© 2019 The Author(s)", "2024 年修订版 · {n}"],
)
@pytest.mark.parametrize("place", ["top", "bottom"])
def test_a_frame_with_a_date_or_number_of_its_own_is_found_once(place, line):
    first, *others = kept(book(**{place: line}))
    assert line.format(n=1) in first and not any(line.format(n=n) in page for n, page in enumerate(others, start=2))


def test_left_and_right_pages_may_have_headers_of_their_own():
    pages = [f"{'Memory RAG' if n % 2 else 'Chapter on retrieval'}\n{page}" for n, page in enumerate(book(count=6))]
    assert not any("Chapter on" in page or "Memory RAG" in page for page in kept(pages)[1:])


def test_the_title_on_the_first_page_stays():
    pages = book(top="Memory RAG explained")
    assert ["Memory RAG explained" in page for page in kept(pages)] == [True, False, False, False]


def test_the_last_row_of_a_table_stays():
    rows = ["2021 345 678", "2022 456 789", "2023 567 890", "2024 678 901"]
    pages = [f"{page}\n{row}" for page, row in zip(book(), rows, strict=True)]
    assert [page.split("\n")[-1] for page in kept(pages)] == rows


def test_chapter_headings_that_count_with_the_pages_stay():
    assert all("Chapter" in page for page in kept(book(top="Chapter {n}")))


def test_a_counting_heading_in_large_type_stays():
    sizes = {f"retrieval{n}": 18.0 for n in range(1, 5)} | dict.fromkeys(
        ["body", "more", "text", "here", "again"], 10.0
    )
    assert all("Retrieval" in page for page in kept(book(top="Retrieval {n}"), sizes=lambda page: sizes))
    small = dict.fromkeys(sizes, 10.0)
    assert not any("Retrieval" in page for page in kept(book(top="Retrieval {n}"), sizes=lambda page: small))


def test_a_heading_that_the_outline_names_stays():
    result = kept(book(top="Memory RAG explained"), headings={2: ["Memory RAG explained"]})
    assert ["explained" in page for page in result] == [True, False, True, False]


def test_a_line_inside_the_text_is_never_a_header():
    pages = [f"{n} own beginning {n * n}\nsame words\n{page}" for n, page in enumerate(book(), 7)]
    assert all("same words" in page for page in kept(pages))


def test_the_label_of_a_page_is_its_number():
    pages = book(count=2)
    pages[1] += "\nii"
    assert kept(pages, labels=["i", "ii"])[1].endswith(ENDS)


def test_pages_that_carry_only_the_same_stamp_are_empty():
    assert kept(["Scanned with CamScanner"] * 3) == ["", "", ""]


def test_a_blank_page_with_header_and_number_is_empty():
    pages = book(top="Memory RAG explained", bottom="{n}", count=5)
    pages[2] = "Memory RAG explained\n3"
    assert kept(pages)[2] == ""


def test_short_pages_that_differ_only_in_a_number_keep_their_text():
    pages = [f"This is the text of page {n}" for n in (1, 2, 3)]
    assert kept(pages) == pages


def test_one_page_has_nothing_that_repeats():
    assert running_lines(["Header\ntext\n1"]) == [set()]
