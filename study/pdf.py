"""A PDF, from what the engines give page by page to a document.

pages (raw) → OCR for those that are pictures → running lines out → clean text → headings at their places
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infrastructure.extras import has
from study import trouble
from study.chain import ReadPage
from study.document import NO_OCR, STOPPED, Page, Progress, SourceDocument, unfinished_hash
from study.engine import PICTURE, EngineError
from study.outline import heading_paths, locate_headings
from study.pagetext import bare, clean_page, hyphenated_words, raw_pages
from study.readability import DOUBTFUL, UNREADABLE, readability
from study.running import running_lines
from study.stages import READING, RECOGNISING
from study.worker import FileReader, opened

FEW_LETTERS = 30  # on a page that is a picture: a stamp, a page number
COVERS = 0.02  # of a book's pages may be pictures, its cover: nobody waits for their words


@dataclass
class _Given:
    """What the engines gave, page by page."""

    pages: list[ReadPage] = field(default_factory=list)
    recognised: list[int] = field(default_factory=list)  # numbers of pages read by OCR
    waiting: list[int] = field(default_factory=list)  # numbers of pages that only OCR could read
    stopped_at: int | None = None  # the last page read when the learner had enough


def read_pdf(
    path: Path, content_hash: str, password: str | None, progress: Progress, *, truncated: bool
) -> SourceDocument:
    """PasswordNeeded or DocumentError when there is nothing to search. Ctrl-C keeps the pages read so far, if there are any."""
    try:
        with opened(path, password) as file:
            if not file.page_count:
                raise trouble.no_pages(path)
            return _read(file, path, content_hash, progress, truncated=truncated)
    except EngineError as error:
        raise trouble.broken_pdf(path, str(error), truncated=truncated) from error


def _read(file: FileReader, path: Path, content_hash: str, progress: Progress, *, truncated: bool) -> SourceDocument:
    labels, outline = file.labels(), file.outline()
    given = _read_pages(file, progress)
    _recognise(file, given, progress)
    raws = raw_pages([page.text for page in given.pages])
    outline = [entry for entry in outline if entry.page <= len(raws)]
    titles: dict[int, list[str]] = defaultdict(list)
    for _, title, number in outline:
        titles[number - 1].append(title)
    dropped = running_lines(raws, headings=titles, labels=labels, sizes=file.sizes, stamps=not given.recognised)
    document = SourceDocument(
        name=path.name,
        path=str(path),
        media_type="pdf",
        content_hash=_hash(content_hash, given),
        title=file.title if _is_real_title(file.title) else path.stem,
        pages=_clean_pages(raws, given.pages, labels, dropped, titles),
        outline=outline,
        stopped=given.stopped_at is not None,
    )
    document.warnings = [trouble.end_missing()] if truncated else []
    document.warnings += _partial_warnings(document, given, file.page_count)
    document.headings = locate_headings([page.clean for page in document.pages], document.page_starts, outline)
    for page, heading_path in zip(document.pages, heading_paths(document.headings, document.page_starts), strict=True):
        page.heading_path = heading_path
    return document


def _hash(content_hash: str, given: _Given) -> str:
    if given.stopped_at is not None:
        return unfinished_hash(content_hash, STOPPED)
    return unfinished_hash(content_hash, NO_OCR) if given.waiting else content_hash


# ---- Pages ----


def _read_pages(file: FileReader, progress: Progress) -> _Given:
    given = _Given()
    try:
        for page in range(file.page_count):
            given.pages.append(file.page(page))
            progress(page + 1, file.page_count, READING)
    except KeyboardInterrupt:
        if not given.pages:
            raise
        given.stopped_at = len(given.pages)
    return given


def _recognise(file: FileReader, given: _Given, progress: Progress) -> None:
    """Read pages that are pictures, or signs nobody can read, by OCR; without it they are waiting."""
    pictures = [place for place, page in enumerate(given.pages) if _needs_ocr(page)]
    if len(pictures) <= COVERS * len(given.pages):
        return
    if not has("ocr") or given.stopped_at is not None:
        given.waiting = [place + 1 for place in pictures]
        return
    try:
        progress(0, len(pictures), RECOGNISING)
        for done, place in enumerate(pictures, 1):
            given.pages[place], recognised = _recognised(file, place, given.pages[place])
            given.recognised += [place + 1] if recognised else []
            progress(done, len(pictures), RECOGNISING)
    except KeyboardInterrupt:
        if not any(page.text.strip() for page in given.pages):
            raise
        given.stopped_at = len(given.pages)


def _recognised(file: FileReader, place: int, page: ReadPage) -> tuple[ReadPage, bool]:
    """The page as OCR reads it, True; or as it was, False, when that says no more."""
    try:
        text = file.recognise(place)
    except EngineError as error:
        return page if page.text.strip() else page._replace(reason=str(error)), False
    if text and (page.score < UNREADABLE or len(bare(text)) > len(bare(page.text))):
        return ReadPage(text, readability(text), page.covered), True
    return page, False


def _needs_ocr(page: ReadPage) -> bool:
    if page.reason:
        return False
    return page.score < UNREADABLE or (page.covered >= PICTURE and len(bare(page.text)) < FEW_LETTERS)


def _clean_pages(
    raws: Sequence[str],
    given: Sequence[ReadPage],
    labels: Sequence[str | None],
    dropped: Sequence[set[int]],
    titles: Mapping[int, Sequence[str]],
) -> list[Page]:
    hyphenated = hyphenated_words(raws)
    pages = []
    for place, raw in enumerate(raws):
        clean, offsets = "", ()
        if given[place].score >= UNREADABLE:
            headings = set(map(bare, titles.get(place, ())))
            clean, offsets = clean_page(raw, dropped=dropped[place], compounds=hyphenated, titles=headings)
        pages.append(Page(place + 1, labels[place], raw, clean, offsets=offsets))
    return pages


# ---- The whole ----

_FILE_TITLE = re.compile(
    r"untitled|unbenannt|无标题|microsoft \w+ - |.*\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|qxd|pdf|wps)$", re.IGNORECASE
)


def _is_real_title(title: str) -> bool:
    """Programs like to enter a file name, "untitled" or nothing as the title."""
    return len(bare(title)) >= 2 and not _FILE_TITLE.match(title)


def _partial_warnings(document: SourceDocument, given: _Given, page_count: int) -> list[str]:
    """What is missing from search; DocumentError when nothing is left."""
    numbered = list(enumerate(given.pages, 1))
    failed = {number: page.reason for number, page in numbered if page.reason}
    unreadable = [number for number, page in numbered if page.score < UNREADABLE]
    known = {*failed, *unreadable}
    empty = [page.number for page in document.pages if not page.clean and page.number not in known]
    if not any(page.clean for page in document.pages):
        raise trouble.nothing_to_search(document.name, empty=empty, failed=failed, unreadable=unreadable)
    warnings = trouble.partial_warnings(
        len(document.pages),
        empty=empty,
        failed=failed,
        unreadable=unreadable,
        doubtful=[number for number, page in numbered if UNREADABLE <= page.score < DOUBTFUL],
        recognised=given.recognised,
        hidden=[number for number, page in numbered if page.hidden],
    )
    if given.stopped_at is not None:
        warnings.insert(0, trouble.stopped(given.stopped_at, page_count))
    elif given.waiting:
        warnings.append(trouble.ocr_is_missing())
    return warnings
