"""Read a document the learner brought: PDF, Markdown or plain text.

    file → what is it really? → pages as the engine gives them (raw) → clean text for search → one text with headings

`read_document` either returns pages with text in them, or raises one sentence that says what is wrong and what to do next.
Success means that text was found: what could not be read is named page by page in `warnings`.
"""

import hashlib
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from infrastructure.library import raw_slice
from infrastructure.text import fold_radicals, repair
from study import trouble
from study.filekind import foreign_kind, is_pdf
from study.outline import Heading, OutlineEntry, heading_paths, locate_headings
from study.pagetext import Offsets, RawText, bare, clean_page, hyphenated_words, noise, raw_pages
from study.pdf import ENGINES, EngineError, PdfFile, quiet_engines
from study.plaintext import decode, markdown_headings
from study.readability import DOUBTFUL, UNREADABLE, readability
from study.running import running_lines

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
TEXT_SUFFIXES = (".txt", ".text", ".log", ".rst", ".tex", ".csv", ".tsv")
LARGEST_TEXT = 50_000_000  # bytes of a text file
PAGE_BREAK = "\n\n"  # between the pages of SourceDocument.text

Progress = Callable[[int, int], None]  # (pages read, pages in all)


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
    content_hash: str  # sha256 of the bytes
    title: str
    pages: list[Page]
    outline: list[OutlineEntry] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
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


# ---- Entry points ----


def read_document(path: str | Path, *, password: str | None = None, progress: Progress | None = None) -> SourceDocument:
    """The document in a file. DocumentError (PasswordNeeded for a locked PDF) says in one sentence why it cannot be read.

    progress(page, total) is called after each page of a PDF.
    """
    path = _local_path(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(4096)
            file.seek(max(0, size - 2048))
            tail = file.read(2048)
            file.seek(0)
            content_hash = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise trouble.cannot_open(path, error) from error
    if not size:
        raise trouble.empty_file(path)
    if is_pdf(head):
        with quiet_engines():
            return _read_pdf(path, content_hash, password, progress or _no_progress, truncated=b"%%EOF" not in tail)
    kind = foreign_kind(path, head)
    if kind is not None or path.suffix.lower() == ".pdf":
        raise trouble.wrong_kind(path, kind, size, head)
    return _read_text_file(path, content_hash, size)


def identify(path: str | Path) -> tuple[Path, str]:
    """(the local file a path means, sha256 of its bytes): enough to tell whether it is here already, without reading it."""
    file = _local_path(path)
    try:
        with file.open("rb") as opened:
            return file.resolve(), hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise trouble.cannot_open(file, error) from error


def read_text(text: str, name: str) -> SourceDocument:
    """A document that is already text. A name ending in .md, or headings in the text, make it Markdown."""
    content_hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return _text_document(text, name=name, path="", content_hash=content_hash)


def _no_progress(page: int, total: int) -> None:
    pass


# ---- Finding the file ----


def _local_path(path: str | Path) -> Path:
    text = str(path)
    if text.startswith("file:"):
        text = url2pathname(urlsplit(text).path)
    elif re.match(r"[a-z][a-z0-9+.-]+://", text, re.IGNORECASE):
        raise trouble.web_address(text)
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~name of nobody
        return Path(text)


# ---- Text and Markdown ----


def _read_text_file(path: Path, content_hash: str, size: int) -> SourceDocument:
    if size > LARGEST_TEXT:
        raise trouble.too_large(path, size)
    decoded = decode(path.read_bytes())
    if decoded is None:
        raise trouble.not_text(path.name)
    document = _text_document(decoded.text, name=path.name, path=str(path), content_hash=content_hash)
    if decoded.damaged:
        document.warnings.append(trouble.damaged_text(path.name, decoded.encoding))
    return document


def _text_document(text: str, *, name: str, path: str, content_hash: str) -> SourceDocument:
    raw = repair(text.removeprefix("\ufeff"))
    clean = fold_radicals(raw)
    if not clean.strip():
        raise trouble.no_words(name)
    suffix = Path(name).suffix.lower()
    headings = [] if suffix in TEXT_SUFFIXES else markdown_headings(clean)
    markdown = suffix in MARKDOWN_SUFFIXES or bool(headings)
    return SourceDocument(
        name=name,
        path=path,
        media_type="markdown" if markdown else "text",
        content_hash=content_hash,
        title=headings[0][2] if headings else Path(name).stem,
        pages=[Page(1, None, raw, clean)],
        outline=[OutlineEntry(level, title, 1) for _, level, title in headings],
        headings=headings,
    )


# ---- PDF ----


@dataclass
class _Given:
    """What the engines gave, page by page, and what went wrong."""

    texts: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)  # page number → reason


def _read_pdf(
    path: Path, content_hash: str, password: str | None, progress: Progress, *, truncated: bool
) -> SourceDocument:
    files = _open_engines(path, password, truncated=truncated)
    try:
        first = files[0]
        labels = _or_else(first.labels, [None] * first.page_count)
        outline = _or_else(first.outline, [])
        given = _read_pages(files, progress)
        raws = raw_pages(given.texts)
        titles: dict[int, list[str]] = defaultdict(list)
        for _, title, number in outline:
            titles[number - 1].append(title)
        dropped = running_lines(
            [raw.text for raw in raws],
            headings=titles,
            labels=labels,
            place=lambda page: _or_else(lambda: first.places(page), {}),
        )
        title = first.title
    finally:
        for file in files:
            file.close()
    document = SourceDocument(
        name=path.name,
        path=str(path),
        media_type="pdf",
        content_hash=content_hash,
        title=title if _is_real_title(title) else path.stem,
        pages=_clean_pages(raws, given.scores, labels, dropped, titles),
        outline=outline,
    )
    document.warnings = [trouble.end_missing()] if truncated else []
    document.warnings += _partial_warnings(document, given)
    document.headings = locate_headings([page.clean for page in document.pages], document.page_starts, outline)
    for page, heading_path in zip(document.pages, heading_paths(document.headings, document.page_starts), strict=True):
        page.heading_path = heading_path
    return document


def _open_engines(path: Path, password: str | None, *, truncated: bool) -> list[PdfFile]:
    """The engines that can open the file, in order; at least one, else DocumentError."""
    files: list[PdfFile] = []
    reasons = []
    for engine in ENGINES:
        try:
            files.append(engine(path, password))
        except EngineError as error:
            reasons.append(str(error))
    if not files:
        raise trouble.broken_pdf(path, reasons, truncated=truncated)
    if not files[0].page_count:
        raise trouble.no_pages(path)
    return files


def _or_else(step: Callable, default):
    """Labels, outline and places are conveniences: a file that cannot give them is still read."""
    try:
        return step()
    except EngineError:
        return default


def _read_pages(files: Sequence[PdfFile], progress: Progress) -> _Given:
    given = _Given()
    total = files[0].page_count
    for page in range(total):
        text, score, reason = _read_page(files, page)
        given.texts.append(text)
        given.scores.append(score)
        if reason:
            given.failed[page + 1] = reason
        progress(page + 1, total)
    return given


def _read_page(files: Sequence[PdfFile], page: int) -> tuple[str, float, str]:
    """(text, readability, "") from the first engine that reads the page well, else from the best; ("", 1.0, reason)."""
    best: tuple[str, float, str] | None = None
    reason = ""
    for file in files:
        try:
            text = file.text(page)
        except EngineError as error:
            reason = reason or str(error)
            continue
        score = readability(text, noise=noise(text))
        if best is None or score > best[1]:
            best = (text, score, "")
        if score >= DOUBTFUL:
            break
    return best or ("", 1.0, reason)


def _clean_pages(
    raws: Sequence[RawText],
    scores: Sequence[float],
    labels: Sequence[str | None],
    dropped: Sequence[set[int]],
    titles: Mapping[int, Sequence[str]],
) -> list[Page]:
    hyphenated = hyphenated_words(raw.text for raw in raws)
    pages = []
    for place, (raw, gaps) in enumerate(raws):
        clean, offsets = "", ()
        if scores[place] >= UNREADABLE:
            headings = set(map(bare, titles.get(place, ())))
            clean, offsets = clean_page(raw, dropped=dropped[place], gaps=gaps, compounds=hyphenated, titles=headings)
        pages.append(Page(place + 1, labels[place], raw, clean, offsets=offsets))
    return pages


_FILE_TITLE = re.compile(
    r"untitled|unbenannt|无标题|microsoft \w+ - |.*\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|qxd|pdf|wps)$", re.IGNORECASE
)


def _is_real_title(title: str) -> bool:
    """Programs like to enter a file name, "untitled" or nothing as the title."""
    return len(bare(title)) >= 2 and not _FILE_TITLE.match(title)


def _partial_warnings(document: SourceDocument, given: _Given) -> list[str]:
    """What is missing from search; DocumentError when nothing is left."""
    unreadable = [number for number, score in enumerate(given.scores, 1) if score < UNREADABLE]
    doubtful = [number for number, score in enumerate(given.scores, 1) if UNREADABLE <= score < DOUBTFUL]
    known = {*given.failed, *unreadable}
    empty = [page.number for page in document.pages if not page.clean and page.number not in known]
    if not any(page.clean for page in document.pages):
        raise trouble.nothing_to_search(document.name, empty=empty, failed=given.failed, unreadable=unreadable)
    return trouble.partial_warnings(
        len(document.pages), empty=empty, failed=given.failed, unreadable=unreadable, doubtful=doubtful
    )
