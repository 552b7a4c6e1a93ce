"""What views are made of: a paragraph, an item with its mark, a table, a quotation, a place in a document.

Text from documents, models and memories goes through `plain`: never markup, no control characters. There are no boxes, because
their right edges go ragged beside Chinese in half of all terminals.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from io import StringIO
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from infrastructure.console import plain
from infrastructure.language import tr

UNWRAPPED = 100_000  # cells; wider than any table

Part = str | tuple[str, str]  # a text, or a text and its style


def line(*parts: Part) -> Text:
    """One paragraph made of foreign texts, each with its style."""
    text = plain("")
    for part in parts:
        content, style = part if isinstance(part, tuple) else (part, None)
        text.append(plain(content).plain, style)
    return text


class Item:
    """A mark and the paragraphs that hang beside it; what wraps stays indented."""

    def __init__(self, mark: Text, *paragraphs: Text) -> None:
        self.mark, self.paragraphs = mark, paragraphs

    def __rich_console__(self, console: Any, options: Any) -> Iterator[RenderableType]:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(self.mark, Group(*self.paragraphs))
        yield grid

    def unwrapped(self) -> Iterator[Text]:
        """The same for a pipe: one line each, whatever its length."""
        mark = self.mark.plain
        for paragraph in self.paragraphs:
            yield line(f"{mark} ") + paragraph if mark else paragraph
            mark = " " * len(mark)


def lines(renderable: RenderableType) -> Iterator[RenderableType]:
    """A view in the pieces a pipe gets: paragraphs and table rows that nobody has wrapped."""
    match renderable:
        case Group():
            for part in renderable.renderables:
                yield from lines(part)
        case Item():
            yield from renderable.unwrapped()
        case Table(box=None):
            yield from (line(row.rstrip()) for row in as_text(renderable, width=UNWRAPPED).splitlines())
        case _:
            yield renderable


def as_text(renderable: RenderableType, width: int = 80, *, color: bool = False) -> str:
    """What it looks like, line by line, without a terminal or as one with colours shows it."""
    system, forced = ("standard", True) if color else (None, None)
    console = Console(
        file=StringIO(),
        width=width,
        color_system=system,
        force_terminal=forced,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(renderable)
    return console.file.getvalue()


_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_BROKEN_CHINESE = re.compile(rf"(?<=[{_WIDE}])\s*\n\s*(?=[{_WIDE}])")  # a line break between two characters is no space


def shortened(text: str, longest: int) -> str:
    """On one line, and not longer than `longest` characters.

    >>> shortened("two\\n words", 20), shortened("abcdef", 4)
    ('two words', 'abc…')
    """
    text = " ".join(_BROKEN_CHINESE.sub("", text).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def quotation(text: str, longest: int) -> str:
    return tr("“{}”", "「{}」").format(shortened(text, longest))


def local_time(moment: datetime | str) -> str:
    """A time as the learner's clock shows it."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def place(page: int, page_label: str | None) -> str:
    """Where a passage stands: the printed number first, because that is what the book shows.

    >>> place(6, "3"), place(6, "6"), place(6, None)
    ('p. 3 (PDF page 6)', 'p. 6', 'p. 6')
    """
    if page_label and page_label != str(page):
        return tr(f"p. {page_label} (PDF page {page})", f"第 {page_label} 页（PDF 第 {page} 页）")
    return tr(f"p. {page}", f"第 {page} 页")


def where(document: str, page: int, page_label: str | None) -> list[Part]:
    """Document and page; a text file has one endless page, which says nothing."""
    if document.lower().endswith(_WITHOUT_PAGES):
        return [document]
    return [document, tr(", ", "，"), place(page, page_label)]


_WITHOUT_PAGES = (".md", ".markdown", ".txt", ".text", ".rst", ".log")


def columns(*headers: tuple[str, dict[str, Any]]) -> Table:
    """An empty table without lines; a header comes with the options of its column."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for header, options in headers:
        table.add_column(header, **options)
    return table


def count_of(number: int, noun: str, plural: str = "") -> str:
    """
    >>> count_of(1, "page"), count_of(2, "page"), count_of(0, "memory", "memories")
    ('1 page', '2 pages', '0 memories')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def titled(title: str, entries: Iterable[Item]) -> list[RenderableType]:
    """A title, what stands under it, and a blank line; [] when there is nothing."""
    entries = list(entries)
    return [line((title, "bold")), *entries, ""] if entries else []
