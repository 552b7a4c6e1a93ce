"""Running headers, footers and page numbers: what repeats at the edge of page after page and belongs to no page's text.

A line counts as running when it is the first or last of its page, or has only running lines outside it, and near pages carry
the same line at their edge, or the same line whose page number grows by exactly as many pages as lie between. That last
condition matters: a table that ends in "2021 345" on one page and "2022 456" on the next looks the same once its digits are
masked, but does not count pages.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from study.pagetext import bare, page_lines

EDGE = 4  # lines looked at from each end of a page: header, number, rule, side note
NEAR = 4  # pages: left and right pages may have headers of their own
LONGEST = 200  # characters
MOST_LOOKS = 6  # pages; looking how large lines are set takes a page's time again
STAMP_LINES, STAMP_LENGTH = 3, 300  # a page of at most this much may be nothing but a stamp
HEADING_GROWTH = 1.15  # a heading is set at least this much larger than the text, a running header never is

Sizes = Mapping[str, float]  # line, bare → how large it is set


class Edge(NamedTuple):
    page: int  # from 0
    line: int  # number of the line on its page, from 0
    text: str
    numbers: tuple[int, ...]
    depth: int  # lines between it and the nearer end of its page
    top: bool


def running_lines(
    pages: Sequence[str],
    *,
    headings: Mapping[int, Collection[str]] | None = None,
    labels: Sequence[str | None] = (),
    sizes: Callable[[int], Sizes] | None = None,
    stamps: bool = True,
) -> list[set[int]]:
    """For each raw page the numbers of the lines to leave out of search.

    headings: page (from 0) → titles its outline names there; those lines stay. labels: the printed page numbers the file
    gives; a first or last line that is just this number goes. sizes(page) tells how large lines are set. What must
    be found once stays on the first page: a header that opens it, which may be the title, and a line with a number of its
    own, a date or a case number, which may stand nowhere else. stamps False: a few lines that are on every page are all
    there is, since OCR has looked.
    """
    if len(pages) < 2:
        return [set() for _ in pages]
    if stamps and _only_stamps(pages):
        return [set(range(raw.count("\n") + 1)) for raw in pages]
    look = _Look(sizes)
    found = _by_mask(pages)
    running = [
        edge
        for edges in found.values()
        for edge in edges
        if edge.page < len(labels) and not edge.depth and edge.text == labels[edge.page]
    ]
    for mask, edges in found.items():
        if len(edges) < 2:
            continue
        repeated = [edge for place, edge in enumerate(edges) if _repeats(place, edges, mask, len(pages))]
        if not repeated:
            continue
        counted = any(edge.numbers != repeated[0].numbers for edge in repeated)
        if counted and _is_heading_series(mask, repeated, look):
            continue
        running += [
            edge
            for edge in repeated
            if bare(edge.text) not in map(bare, (headings or {}).get(edge.page, ()))
            and not (edge.page == 0 and (_may_be_title(edge, counted) or _carries_a_number(repeated)))
        ]
    return _spare_short_pages(pages, _outermost(running, len(pages)))


# ---- Repetition ----

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]")  # rules and ornaments are no lines
_ROMAN = re.compile(r"(?:^|(?<=[\s.·|-]))(?=[ivxlc])(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})$", re.IGNORECASE)
_PAGE_WORDS = frozenset(["page", "pages", "p", "pp", "pg", "of", "seite", "von", "第", "共", "页", "頁"])
_BATES = re.compile(r"[A-Z]{2,}[-_ ]?#")
_COUNTED_HEADING = re.compile(
    r"(?:chapter|section|part|lecture|lesson|unit|week|day|step|topic|question|exercise|appendix|figure|table|slide|kapitel)"
    r"\W*#|第 ?#[章节節讲課课单周天步题]",
    re.IGNORECASE,
)


def _by_mask(pages: Sequence[str]) -> dict[str, list[Edge]]:
    """Edge lines by their text with numbers masked, in page order."""
    found: dict[str, list[Edge]] = defaultdict(list)
    for page, raw in enumerate(pages):
        lines = [(number, line.strip()) for number, (_, line) in enumerate(page_lines(raw)) if _WORD.search(line)]
        last = len(lines) - EDGE
        for place, (number, line) in enumerate(lines):
            if (place < EDGE or place >= last) and len(line) <= LONGEST:
                mask, numbers = _mask(line)
                depth = min(place, len(lines) - 1 - place)
                found[mask].append(Edge(page, number, line, numbers, depth, place == depth))
    return found


def _mask(line: str) -> tuple[str, tuple[int, ...]]:
    """The line with its numbers as "#", and the numbers; a roman numeral at the end counts as one.

    >>> _mask("Memory RAG   Page iv"), _mask("12 OchsnerJournal")
    (('Memory RAG Page #', (4,)), ('# OchsnerJournal', (12,)))
    """
    roman = _ROMAN.search(line)
    value = _roman_value(roman[0]) if roman and roman[0] else 0
    if value:
        line = f"{line[: roman.start()]}{value}"
    numbers = tuple(int(digits[-18:]) for digits in _DIGITS.findall(line))
    return " ".join(_DIGITS.sub("#", line).split()), numbers


def _roman_value(numeral: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[char] for char in numeral.lower()]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))


def _repeats(place: int, edges: Sequence[Edge], mask: str, page_count: int) -> bool:
    """Do near pages confirm edges[place]? edges: all lines with that mask, in page order."""
    edge = edges[place]
    worded = sum(map(str.isalpha, mask)) >= 2
    if page_count == 2 and edge.depth:
        return False  # two pages are little evidence: only their very first and last lines
    same, counting = {edge.page}, {edge.page}
    for other in edges[max(0, place - 2 * NEAR) : place + 2 * NEAR + 1]:
        distance = other.page - edge.page
        if not distance or abs(distance) > NEAR:
            continue
        if other.numbers == edge.numbers:
            if worded:
                same.add(other.page)
        elif {after - before for before, after in zip(edge.numbers, other.numbers, strict=True)} - {0} == {distance}:
            counting.add(other.page)
    needed = min(3, page_count)
    return len(same) >= needed or len(counting) >= (2 if _is_page_number(mask) else needed)


def _is_page_number(mask: str) -> bool:
    """
    >>> _is_page_number("- # -"), _is_page_number("第 # 页 共 # 页"), _is_page_number("Chapter #")
    (True, True, False)
    """
    return "#" in mask and _PAGE_WORDS.issuperset(re.sub(r"[\W_]+", " ", mask).lower().split())


def _outermost(running: Sequence[Edge], page_count: int) -> list[set[int]]:
    """Peel each page from both ends: a line with text outside it is text itself."""
    dropped: list[set[int]] = [set() for _ in range(page_count)]
    reached: dict[tuple[int, bool], int] = defaultdict(int)
    for edge in sorted(running, key=lambda edge: edge.depth):
        if edge.depth <= reached[edge.page, edge.top]:
            reached[edge.page, edge.top] = max(reached[edge.page, edge.top], edge.depth + 1)
            dropped[edge.page].add(edge.line)
    return dropped


# ---- Exceptions: headings, titles, pages with nothing else ----


def _may_be_title(edge: Edge, counted: bool) -> bool:
    return edge.top and not counted


def _carries_a_number(repeated: Sequence[Edge]) -> bool:
    """Is a number of three digits or more the same on all of these pages?"""
    return any(
        len(set(values)) == 1 and values[0] >= 100 for values in zip(*(edge.numbers for edge in repeated), strict=True)
    )


class _Look:
    """Font sizes of a few pages, asked for only when a line could be a heading."""

    def __init__(self, sizes: Callable[[int], Sizes] | None) -> None:
        self._sizes = sizes
        self._seen: dict[int, Sizes] = {}

    def is_large(self, edge: Edge) -> bool:
        """Is the line set larger than its page's text? False when that cannot be known."""
        if self._sizes is None or (edge.page not in self._seen and len(self._seen) >= MOST_LOOKS):
            return False
        if edge.page not in self._seen:
            self._seen[edge.page] = self._sizes(edge.page)
        page = self._seen[edge.page]
        size = page.get(bare(edge.text))
        return size is not None and size > HEADING_GROWTH * median(page.values())


def _is_heading_series(mask: str, running: Sequence[Edge], look: _Look) -> bool:
    """Chapter 1, Chapter 2 … at the top of page after page."""
    if _is_page_number(mask):
        return False
    if mask.count("#") > 1:
        return False
    if _COUNTED_HEADING.search(mask):
        return True
    return look.is_large(running[len(running) // 2])


def _only_stamps(pages: Sequence[str]) -> bool:
    """A scan whose pages all say "Scanned with ...", perhaps with a number, says nothing."""
    texts = [_line_set(raw) for raw in pages if raw.strip()]
    if len(texts) < 2 or any(len(text) > STAMP_LINES or sum(map(len, text)) > STAMP_LENGTH for text in texts):
        return False
    common = set.intersection(*texts)
    return all(line in common or _is_number_stamp(line) for text in texts for line in text)


def _spare_short_pages(pages: Sequence[str], dropped: list[set[int]]) -> list[set[int]]:
    """A page left empty keeps its lines, unless near pages have the same ones or they are plainly numbers."""
    emptied = [page for page, raw in enumerate(pages) if dropped[page] and not _remaining(raw, dropped[page])]
    if len(emptied) == sum(1 for raw in pages if raw.strip()):
        return [set() for _ in pages]
    for page in emptied:
        near = [*pages[max(0, page - NEAR) : page], *pages[page + 1 : page + 1 + NEAR]]
        others = set().union(*map(_line_set, near))
        if not all(line in others or _is_number_stamp(line) for line in _line_set(pages[page])):
            dropped[page] = set()
    return dropped


def _line_set(raw: str) -> set[str]:
    return set(map(str.strip, raw.split("\n"))) - {""}


def _remaining(raw: str, dropped: Collection[int]) -> bool:
    return any(line.strip() for number, (_, line) in enumerate(page_lines(raw)) if number not in dropped)


def _is_number_stamp(line: str) -> bool:
    mask, _ = _mask(line)
    return _is_page_number(mask) or _BATES.fullmatch(mask) is not None
