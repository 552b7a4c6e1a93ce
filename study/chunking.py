"""The pieces of a text that a chunk may end at, and how they are packed: what script 13 needs once it has found the sections.

section → blocks (paragraphs, code, tables) → units (sentences, or whole blocks) → chunks of consecutive units
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from infrastructure.text import estimate_tokens_mixed, sentences

LONGEST_TOKEN = 8  # characters; English has about five to a token

Span = tuple[int, int]


def units_of(text: str, start: int, end: int, max_tokens: int) -> list[tuple[Span, bool]]:
    """(span, begins a paragraph) of the smallest pieces a chunk may end at: sentences, and whole code blocks, tables and lists,
    or lines of them when they are too long."""
    units: list[tuple[Span, bool]] = []
    for block in _blocks(text, start, end):
        piece = text[block[0] : block[1]]
        structured = _is_structured(piece)
        if structured and size(piece) <= max_tokens:
            spans = [(0, len(piece))]
        else:
            spans = _line_spans(piece) if structured else sentences(piece)
        fitting = [small for span in spans for small in _cut_to(piece, span, max_tokens)]
        units += [((block[0] + a, block[0] + b), i == 0) for i, (a, b) in enumerate(fitting)]
    return units


def _blocks(text: str, start: int, end: int) -> Iterator[Span]:
    """Paragraphs, trimmed; a fenced code block is one, whatever blank lines it holds."""
    at, opened, fence = None, 0, ""
    position = start
    for line in text[start:end].split("\n"):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and (not fence or mark == fence):
            fence = "" if fence else mark
        if line.strip():
            at = position if at is None else at
            opened = position + len(line.rstrip())
        elif at is not None and not fence:
            yield at, opened
            at = None
        position += len(line) + 1
    if at is not None:
        yield at, opened


_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪] |\d{1,3}[.)、]|[(（]\d{1,2}[)）]|[一二三四五六七八九十]{1,3}、)\s*\S")


def _is_structured(block: str) -> bool:
    """Code, a table, or a list with the line that introduces it: its lines say little when they are torn apart.

    >>> _is_structured("Steps:\\n1. read\\n2. cut\\n   and store"), _is_structured("In 2023\\n- and later -\\nwe saw")
    (True, False)
    """
    lines = block.split("\n")
    if lines[0].lstrip().startswith(("```", "~~~")) or all(line.lstrip().startswith("|") for line in lines):
        return True
    items = lines if _ITEM.match(lines[0]) else lines[1:]
    return len(items) > 1 and all(_ITEM.match(line) or line[:1].isspace() for line in items)


def _line_spans(block: str) -> list[Span]:
    starts = accumulate((len(line) + 1 for line in block.split("\n")), initial=0)
    return [(start, start + len(line)) for start, line in zip(starts, block.split("\n"), strict=False) if line.strip()]


def _cut_to(text: str, span: Span, max_tokens: int) -> list[Span]:
    """The span in pieces of at most max_tokens, cut at white space where there is some, else anywhere."""
    start, end = span
    pieces: list[Span] = []
    # No piece is longer than this, so nobody need look further: a table may be a megabyte.
    window = LONGEST_TOKEN * (max_tokens + 1)
    while end - start >= window or size(text[start:end]) > max_tokens:
        fits = _fitting(text[start : min(end, start + window)], max_tokens)
        blank = max(text.rfind(" ", start, start + fits), text.rfind("\n", start, start + fits))
        stop = blank if blank > start + fits // 2 else start + fits
        pieces.append((start, stop))
        start = _BLANKS.match(text, stop, end).end()
    return [*pieces, (start, end)] if start < end else pieces


_BLANKS = re.compile(r"\s*")


def _fitting(text: str, max_tokens: int) -> int:
    """How many leading characters hold at most max_tokens: found by halving, the estimate grows with the text."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle]) <= max_tokens else (low, middle - 1)
    return low


def size(text: str) -> int:
    """Tokens, by the estimate, but a token has an end: a key, an address or a sequence of bases is no single word.

    >>> size("检索增强 generation works"), size("ACGT" * 500)
    (7, 250)
    """
    return max(estimate_tokens_mixed(text), len(text) // LONGEST_TOKEN)


def packed(text: str, units: Sequence[tuple[Span, bool]], max_tokens: int, overlap_tokens: int) -> Iterator[Span]:
    """Consecutive units as chunks. A chunk that is full gives back the begun paragraph, if it is past its half."""
    costs = [size(text[a:b]) for (a, b), _ in units]
    before = list(accumulate(costs, initial=0))
    first = 0
    while first < len(units):
        last, used = first, costs[first]
        while last + 1 < len(units) and used + costs[last + 1] <= max_tokens:
            last += 1
            used += costs[last]
        if last + 1 < len(units):
            half = before[first] + max_tokens / 2
            breaks = [i for i in range(first + 1, last + 2) if units[i][1] and before[i] >= half]
            last = breaks[-1] - 1 if breaks else last
        yield units[first][0][0], units[last][0][1]
        if last + 1 == len(units):
            return
        following, shared = last + 1, 0
        while following - 1 > first and shared + costs[following - 1] <= overlap_tokens:
            following -= 1
            shared += costs[following]
        first = following if shared + costs[last + 1] <= max_tokens else last + 1
