"""A document as it was read: pages with their text as it stands and as it is searched, headings, and what is missing."""

import hashlib
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from infrastructure.library import raw_slice
from study.outline import Heading, OutlineEntry
from study.pagetext import Offsets

PAGE_BREAK = "\n\n"  # between the pages of SourceDocument.text
STOPPED, NO_OCR = "stopped", "no ocr"  # why a document is not read to its end

Progress = Callable[[int, int, str], None]  # (pages done, pages in all, one of stages)


@dataclass
class Page:
    number: int  # from 1, as a viewer counts
    label: str | None  # the number printed on it, if the file says; two pages may share one
    raw: str  # what the page says, for quotations
    clean: str  # the same made fit for search; "" for a page without readable text
    heading_path: str = ""  # "Chapter > Section" in force where the page begins
    offsets: Offsets = ((0, 0),)  # breakpoints (clean, raw), see pagetext

    def quote(self, start: int, end: int) -> str:
        """The words of the page itself where clean[start:end] came from: a slice of raw."""
        return raw_slice(self.raw, self.offsets, start, min(end, len(self.clean)))


@dataclass
class SourceDocument:
    name: str
    path: str
    media_type: str  # "pdf" | "markdown" | "text"
    content_hash: str  # sha256 of the bytes; of an unfinished reading see unfinished_hash
    title: str
    pages: list[Page]
    outline: list[OutlineEntry] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    stopped: bool = False  # the learner stopped the reading; what was read by then is here
    text: str = field(init=False)
    page_starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.text = PAGE_BREAK.join(page.clean for page in self.pages)
        self.page_starts, offset = [], 0
        for page in self.pages:
            self.page_starts.append(offset)
            offset += len(page.clean) + len(PAGE_BREAK)

    def page_at(self, offset: int) -> Page:
        """The page that holds this offset of `text`."""
        return self.pages[max(0, bisect_right(self.page_starts, offset) - 1)]


def unfinished_hash(content_hash: str, why: str) -> str:
    """The hash under which a reading that is not finished is kept, so that loading the file again reads it again.

    why: STOPPED, or NO_OCR when pages wait for the optional package that reads scans.
    """
    return hashlib.sha256(f"{content_hash} {why}".encode()).hexdigest()
