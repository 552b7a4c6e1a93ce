"""Text from a picture of a page, with the optional package rapidocr: its models for Chinese and English lie in its wheel.

About 4 s a page on two cores, and 1 s for the first to load the models.
"""

from functools import cache
from typing import Any

from infrastructure.extras import need
from study.layout import Box, gutter, in_columns

SUREST = 0.5  # readings of which the model is less sure than that are stains and stamps


@cache
def _engine() -> Any:
    return need("ocr").RapidOCR(params={"Global.log_level": "critical"})


def recognise(picture: Any) -> str:
    """Lines of text from top to bottom, columns one after the other; "" when there are none. picture: RGB, (h, w, 3)."""
    found = _engine()(picture[:, :, ::-1])
    if found.txts is None:
        return ""
    pieces = [
        (_box(corners, picture.shape[0]), text.strip())
        for corners, text, sure in zip(found.boxes, found.txts, found.scores, strict=True)
        if sure >= SUREST and text.strip()
    ]
    return "\n".join(in_lines(pieces))


def _box(corners: Any, height: int) -> Box:
    """Corners in pixels from the top as a box from the foot of the page, as PDF has it."""
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return min(across), height - max(down), max(across), height - min(down)


def in_lines(pieces: list[tuple[Box, str]]) -> list[str]:
    """Pieces on one height as one line, unless they stand in two columns."""
    rows: list[list[tuple[Box, str]]] = []
    for box, text in sorted(pieces, key=lambda piece: -piece[0][1] - piece[0][3]):
        middle = (box[1] + box[3]) / 2
        if rows and rows[-1][0][0][1] < middle < rows[-1][0][0][3]:
            rows[-1].append((box, text))
        else:
            rows.append([(box, text)])
    ordered = [piece for row in rows for piece in sorted(row, key=lambda piece: piece[0][0])]
    split = gutter([box for box, _ in ordered])
    if split is None:
        return [" ".join(text for _, text in sorted(row, key=lambda piece: piece[0][0])) for row in rows]
    sides = [-1 if box[2] <= split else 1 if box[0] >= split else 0 for box, _ in ordered]
    return in_columns([text for _, text in ordered], sides)
