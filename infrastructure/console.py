"""What reaches the screen: data on stdout, progress and warnings on stderr, and nothing that an old console chokes on.

Foreign text (documents, models, memories) is never markup and carries no control characters: a page with "[red]" in
it is printed as it reads. Output is plain, without colour, boxes or cursor tricks, when stdout is no terminal,
NO_COLOR is set or TERM is dumb.
"""

import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO

from infrastructure.text import is_cjk, repair

if TYPE_CHECKING:  # rich is loaded when something is shown, not when a script starts
    from rich.console import Console, RenderableType
    from rich.text import Text

_BIDI_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # they make a line read otherwise than it is


class Screen:
    """color: None lets the terminal decide, False is plain, True forces colour. width in cells, None: as it is."""

    def __init__(
        self,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        *,
        color: bool | None = None,
        json: bool = False,
        width: int | None = None,
    ) -> None:
        self.stdout = stdout or sys.stdout or StringIO()  # a process started without them (>&-, pythonw) has none
        self.stderr = stderr or sys.stderr or StringIO()
        self.json_only = json
        self._color, self._width = color, width
        self._consoles: dict[int, Console] = {}
        for stream in (self.stdout, self.stderr):
            if hasattr(stream, "reconfigure"):  # a GBK or C console prints "?" for what it lacks and goes on
                stream.reconfigure(errors="replace")

    def show(self, renderable: "RenderableType") -> None:
        """To stdout. A str is foreign text. With json=True nothing is shown: stdout then belongs to the method json."""
        if not self.json_only:
            self._print(self.stdout, renderable)

    def note(self, text: str) -> None:
        """One line of progress or warning, to stderr."""
        self._print(self.stderr, text)

    def json(self, value: Any) -> None:
        """One JSON document to stdout, not ASCII-escaped unless the stream's encoding makes it necessary."""
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
        encoding = (self.stdout.encoding or "utf-8").lower()
        if not encoding.startswith("utf") and not self.stdout.isatty():
            encoding = "ascii"  # a program reads this and expects UTF-8: ASCII is both
        self.stdout.write(_escape_unencodable(text, encoding) + "\n")
        self.stdout.flush()

    @contextmanager
    def progress(self, description: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """A bar on stderr that goes away; yields a function to call with the number done. Silent without a terminal."""
        console = self._console(self.stderr)
        if _is_plain(console):
            yield lambda done: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            task = bars.add_task(plain(description).plain, total=total)
            yield lambda done: bars.update(task, completed=done)

    @property
    def is_plain(self) -> bool:
        """True when stdout gets no colour, no boxes and no cursor tricks."""
        return _is_plain(self._console(self.stdout))

    @property
    def width(self) -> int:
        """Cells in a line of stdout."""
        return self._console(self.stdout).width

    def _print(self, stream: TextIO, renderable: "RenderableType") -> None:
        console = self._console(stream)
        renderable = plain(renderable) if isinstance(renderable, str) else renderable
        if _is_plain(console):
            renderable = _unboxed(renderable)
        # Piped text keeps its own lines: whoever reads it wraps it.
        wrap_freely = not console.is_terminal and self._width is None and hasattr(renderable, "plain")
        console.print(_Clean(renderable), soft_wrap=wrap_freely)

    def _console(self, stream: TextIO) -> "Console":
        if id(stream) not in self._consoles:
            console = _new_console(stream, self._color, self._width)
            if console.no_color:  # NO_COLOR takes colour from rich, but leaves it bold and italics
                console = _new_console(stream, False, self._width)
            self._consoles[id(stream)] = console
        return self._consoles[id(stream)]


def _new_console(stream: TextIO, color: bool | None, width: int | None) -> "Console":
    from rich.console import Console

    return Console(
        file=stream,
        color_system=None if color is False else "truecolor" if color else "auto",
        force_terminal=True if color else None,
        no_color=None if color is None else not color,
        width=width,
        markup=False,
        emoji=False,
        highlight=False,
    )


def plain(text: str) -> "Text":
    """Foreign text as rich shows it: never markup, no control characters, wrapped as Chinese is."""
    return _wrapping_text()(_BIDI_CONTROLS.sub("", repair(text)))


def quiet_libraries(*, debug: bool) -> None:
    """Readers and model libraries log to whoever listens; a learner should not have to."""
    if debug:
        logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
        return
    warnings.filterwarnings("ignore")
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.CRITICAL)


_NOISY = (
    *("pypdf", "pdfminer", "pdfplumber", "fontTools", "chromadb", "LiteLLM", "litellm", "httpx", "httpcore", "openai"),
    *("huggingface_hub", "transformers", "sentence_transformers", "torch", "RapidOCR", "dotenv", "posthog"),
)


# ---- Line breaks ----

_OPENING = "（「『《〈【〔“‘(\\[{"
_CLOSING = "，。！？；：、）」』》〉】〕”’…—·,.!?;:)\\]}%"
_CANNOT_BEGIN = frozenset(_CLOSING.replace("\\", ""))
_INSIDE = r"[.,!?;:%](?=[A-Za-z0-9_])"  # 0.03, guide.pdf: no place to break
_UNIT = re.compile(rf"[{_OPENING}]*(?:[^\s{_OPENING}{_CLOSING}]|{_INSIDE})*[{_CLOSING}]*\s*")


def line_breaks(text: str, width: int) -> list[int]:
    """Offsets at which `text` is broken so that no line is wider than `width` cells. No line starts with a comma.

    >>> line_breaks("检索增强生成，可以", 12)
    [5]
    """
    from rich.cells import cell_len

    breaks: list[int] = []
    column = 0
    for start, unit in _units(text):
        cells = cell_len(unit.rstrip())
        if column and column + cells > width:
            breaks.append(start)
            column = 0
        if cells <= width:
            column += cell_len(unit)
            continue
        for offset, char in enumerate(unit, start):  # one long word: cut where the line is full
            if column and column + cell_len(char) > width:
                breaks.append(_before_closing(text, breaks[-1] if breaks else 0, offset, width))
                column = cell_len(text[breaks[-1] : offset])
            column += cell_len(char)
    return breaks


def _before_closing(text: str, line_start: int, offset: int, width: int) -> int:
    """Where to cut a long word at `offset`: earlier if a comma would begin the next line, and if that line has room for it."""
    from rich.cells import cell_len

    at = offset
    while text[at] in _CANNOT_BEGIN and at - 1 > line_start:
        at -= 1
    return at if text[at] not in _CANNOT_BEGIN and cell_len(text[at : offset + 1]) <= width else offset


def _units(text: str) -> Iterator[tuple[int, str]]:
    """(start, what must stay together): a word, or one CJK character, each with the punctuation that clings to it."""
    for match in _UNIT.finditer(text):
        start, unit = match.start(), match[0]
        for offset in range(1, len(unit)):
            before, after = unit[offset - 1], unit[offset]
            if (is_cjk(before) and after.isalnum()) or (is_cjk(after) and before.isalnum()):
                yield start, text[start : match.start() + offset]
                start = match.start() + offset
        if start < match.end():
            yield start, text[start : match.end()]


@cache
def _wrapping_text() -> "type[Text]":
    from rich.text import Text

    class WrappingText(Text):
        """Text that breaks lines by `line_breaks`; rich breaks at spaces, which Chinese does not have."""

        def wrap(self, console: Any, width: int, **options: Any) -> Any:
            if options.get("no_wrap") or self.no_wrap or options.get("overflow") == "ignore":
                return super().wrap(console, width, **options)
            pieces = [
                piece for line in self.split(allow_blank=True) for piece in line.divide(line_breaks(line.plain, width))
            ]
            return Text.wrap(self.blank_copy("\n").join(pieces), console, width, **options)

    return WrappingText


# ---- Plain output ----


class _Clean:
    """Any renderable with the control characters taken out of its text, wherever in it they were."""

    def __init__(self, renderable: "RenderableType") -> None:
        self.renderable = renderable

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.segment import Segment

        for segment in console.render(self.renderable, options):
            yield segment if segment.control else Segment(repair(segment.text), segment.style)


def _is_plain(console: "Console") -> bool:
    return console.no_color or console.is_dumb_terminal or not console.is_terminal


def _unboxed(renderable: Any) -> Any:
    """Tables and panels without their lines; what is inside stays."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.rule import Rule
    from rich.table import Table

    match renderable:
        case Table():
            renderable = copy(renderable)
            renderable.box = None
        case Panel():
            title = [plain(str(renderable.title))] if renderable.title else []
            return Group(*title, _unboxed(renderable.renderable))
        case Rule():
            return plain(str(renderable.title))
        case Group():
            return Group(*map(_unboxed, renderable.renderables))
    return renderable


def _escape_unencodable(text: str, encoding: str) -> str:
    r"""JSON with \uXXXX for what `encoding` lacks, two beyond U+FFFF. Such characters occur only inside strings."""
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        return "".join(char if _encodable(char, encoding) else json.dumps(char)[1:-1] for char in text)


def _encodable(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
