"""A text that arrives in pieces, written so that lines break between words, and in Chinese never before a comma."""

import re
from collections.abc import Callable
from itertools import pairwise

from infrastructure.console import line_breaks, plain

# What more text could still change: the last word, or the last character of a text without spaces, with the blanks around it.
_UNSPACED = (
    "\u1100-\u11ff\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3031-\u31ff\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_UNSETTLED = re.compile(rf"\s*[{_UNSPACED}]?[^\s{_UNSPACED}]*\s*\Z")


class Flow:
    """feed() it pieces, then finish() it. What is written at once is all but the last word; `text` is what came in."""

    def __init__(self, write: Callable[[str], object], width: int) -> None:
        self.text = ""
        self._write, self._width = write, width
        self._line = ""  # since the last line break
        self._shown = 0  # characters of it that are written

    def feed(self, piece: str) -> None:
        self.text += piece
        *ended, rest = (self._line + plain(piece).plain).split("\n")
        for line in ended:
            self._line = line
            self._end_line()
        self._line = rest
        self._show(_UNSETTLED.search(rest).start())

    def finish(self) -> None:
        """Write what was held back; the cursor ends at the start of a line."""
        if self._line:
            self._end_line()

    def _end_line(self) -> None:
        self._show(len(self._line.rstrip()))
        self._write("\n")
        self._line, self._shown = "", 0

    def _show(self, end: int) -> None:
        if end <= self._shown:
            return
        breaks = [offset for offset in line_breaks(self._line, self._width) if self._shown <= offset < end]
        *full, last = [self._line[a:b] for a, b in pairwise([self._shown, *breaks, end])]
        self._write("".join(f"{part.rstrip()}\n" for part in full) + last)  # a blank too many would begin a line
        start = breaks[-1] if breaks else 0
        self._line, self._shown = self._line[start:], end - start
