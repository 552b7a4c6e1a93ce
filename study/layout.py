"""Where the pieces of a page stand: which of them a reader sees, and in which order they are read.

A PDF draws text anywhere, in any order. Two things go wrong with it: text that nobody sees (drawn without ink, or outside the
page) and two columns drawn row by row, so that left and right come out interleaved. Both are seen from boxes: (left, bottom,
right, top) in points, origin at the foot of the page.

>>> rows = [(72, y, 280, y + 10) for y in range(700, 500, -16)] + [(320, y, 530, y + 10) for y in range(700, 500, -16)]
>>> drawn_row_by_row = sorted(rows, key=lambda box: (-box[1], box[0]))
>>> round(gutter(drawn_row_by_row)), gutter(rows)
(299, None)
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

Box = tuple[float, float, float, float]

COLUMN_LINES = 6  # on each side; fewer are a table or a caption
FILLED = 0.62  # of a column's width is reached by its usual line; cells of a table are ragged
ACROSS = 0.25  # of the lines, titles and footers, may lie across the gutter
NARROWEST = 0.6  # the narrower column against the wider one
MOST_BOXES = 2000  # a page with more is a drawing


def outside(box: Box, paper: Box) -> bool:
    """Does nothing of the box lie on the paper?"""
    return box[2] <= paper[0] or box[0] >= paper[2] or box[3] <= paper[1] or box[1] >= paper[3]


def gutter(boxes: Sequence[Box]) -> float | None:
    """The x between two columns that were drawn row by row; None for a page that reads well as it is.

    boxes: of the pieces of text, in the order they were drawn.
    """
    if not 2 * COLUMN_LINES <= len(boxes) <= MOST_BOXES:
        return None
    segments = _segments(boxes)
    if sum(one[2] < other[0] and _same_row(one, other) for one, other in pairwise(segments)) < COLUMN_LINES:
        return None
    split = _split(segments)
    if split is None:
        return None
    sides = [_side(box, split) for box in segments]
    left, right = ([box for box, side in zip(segments, sides, strict=True) if side == wanted] for wanted in (-1, 1))
    if min(len(left), len(right)) < COLUMN_LINES or sides.count(0) > ACROSS * len(sides):
        return None
    turns = sum(
        sides[place] == -1 and sides[place + 1] == 1 and _same_row(segments[place], segments[place + 1])
        for place in range(len(segments) - 1)
    )
    interleaved = 2 * turns > min(len(left), len(right))
    return split if interleaved and _is_prose(left, right) else None


def halves(line: str, boxes: Sequence[Box | None], split: float) -> list[tuple[str, int]]:
    """(piece, side) of a line whose characters stand in these boxes (None: a blank): one piece across the gutter (side 0), or
    what stands to the left of it (-1) and to the right (1)."""
    if any(box is not None and box[0] < split < box[2] for box in boxes):
        return [(line.strip(), 0)]
    pieces: list[tuple[str, int]] = []
    side = -1
    for char, box in zip(line, boxes, strict=True):
        if box is not None:
            side = -1 if box[2] <= split else 1
        if pieces and pieces[-1][1] == side:
            pieces[-1] = (pieces[-1][0] + char, side)
        else:
            pieces.append((char, side))
    return [(piece.strip(), side) for piece, side in pieces if piece.strip()]


def in_columns(lines: Sequence[str], sides: Sequence[int]) -> list[str]:
    """Lines in reading order. sides: -1 left, 1 right, 0 across; what lies across ends both columns above it.

    >>> in_columns(["Title", "a", "x", "b", "y"], [0, -1, 1, -1, 1])
    ['Title', 'a', 'b', 'x', 'y']
    """
    ordered: list[str] = []
    columns: dict[int, list[str]] = {-1: [], 1: []}
    for line, side in zip(lines, sides, strict=True):
        if side:
            columns[side].append(line)
            continue
        ordered += [*columns[-1], *columns[1], line]
        columns = {-1: [], 1: []}
    return [*ordered, *columns[-1], *columns[1]]


def _same_row(one: Box, other: Box) -> bool:
    height = min(one[3] - one[1], other[3] - other[1])
    return min(one[3], other[3]) - max(one[1], other[1]) > height / 2


def _segments(boxes: Sequence[Box]) -> list[Box]:
    """Neighbours on one row, such as words in another font, as one."""
    joined: list[Box] = []
    for box in boxes:
        if joined:
            last = joined[-1]
            near = -1 <= box[0] - last[2] <= 0.9 * max(1.0, last[3] - last[1])
            if near and _same_row(last, box):
                joined[-1] = (last[0], min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
                continue
        joined.append(box)
    return joined


def _side(box: Box, split: float) -> int:
    return -1 if box[2] <= split else 1 if box[0] >= split else 0


def _split(segments: Sequence[Box]) -> float | None:
    """The x in the middle third that the fewest segments cross; the middle of the widest such gap."""
    low, high = min(box[0] for box in segments), max(box[2] for box in segments)
    places = [low + (high - low) * step / 120 for step in range(40, 81)]
    crossed = [sum(box[0] < x < box[2] for box in segments) for x in places]
    least = min(crossed)
    best: list[float] = []
    run: list[float] = []
    for x, count in zip(places, crossed, strict=True):
        run = [*run, x] if count == least else []
        best = max(best, run, key=len)
    return (best[0] + best[-1]) / 2 if least <= ACROSS * len(segments) else None


def _is_prose(left: Sequence[Box], right: Sequence[Box]) -> bool:
    """Two columns of text, not the cells of a table: their lines fill them, and both are about as wide."""
    widths = []
    for column in (left, right):
        width = max(box[2] for box in column) - min(box[0] for box in column)
        if median(box[2] - box[0] for box in column) < FILLED * width:
            return False
        widths.append(width)
    return min(widths) >= NARROWEST * max(widths)
