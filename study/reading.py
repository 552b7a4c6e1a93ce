"""Read a document the learner brought: PDF, Markdown or plain text.

    file → what is it really? → pages as the engine gives them (raw) → clean text for search → one text with headings

`read_document` either returns pages with text in them, or raises one sentence that says what is wrong and what to do next.
Success means that text was found: what could not be read is named page by page in `warnings`.
"""

import hashlib
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from infrastructure.errors import DocumentError
from infrastructure.language import tr
from infrastructure.text import fold_radicals, repair
from study.filekind import foreign_kind, is_pdf
from study.pagetext import Offsets, bare, clean_page, raw_slice
from study.pdf import ENGINES, EngineError, OutlineEntry, PdfFile, quiet_engines
from study.plaintext import decode, markdown_headings
from study.readability import DOUBTFUL, UNREADABLE, readability
from study.running import running_lines

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
TEXT_SUFFIXES = (".txt", ".text", ".log", ".rst", ".tex", ".csv", ".tsv")
LARGEST_TEXT = 50_000_000  # bytes of a text file
PAGE_BREAK = "\n\n"  # between the pages of SourceDocument.text

Progress = Callable[[int, int], None]  # (pages read, pages in all)
Heading = tuple[int, int, str]  # offset in SourceDocument.text, level from 1, title


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


def read_document(
    path: str | Path, *, password: str | None = None, progress: Progress | None = None
) -> SourceDocument:
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
        raise _cannot_open(path, error) from error
    if not size:
        raise DocumentError(
            tr("{name} is empty (0 bytes): copy or download it again.", "{name} 是空文件（0 字节）：请重新复制或下载。").format(
                name=path.name
            )
        )
    if is_pdf(head):
        with quiet_engines():
            return _read_pdf(path, content_hash, password, progress or _no_progress, truncated=b"%%EOF" not in tail)
    kind = foreign_kind(path, head)
    if kind is not None or path.suffix.lower() == ".pdf":
        raise _wrong_kind(path, kind, size, head)
    return _read_text_file(path, content_hash, size)


def identify(path: str | Path) -> tuple[Path, str]:
    """(the local file a path means, sha256 of its bytes): enough to tell whether it is here already, without reading it."""
    file = _local_path(path)
    try:
        with file.open("rb") as opened:
            return file.resolve(), hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise _cannot_open(file, error) from error


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
        raise DocumentError(
            tr(
                "{path} is a web address: download the file first, then load it from your disk.",
                "{path} 是网址：请先下载到本地，再加载文件。",
            ).format(path=text)
        )
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~name of nobody
        return Path(text)


# ---- Text and Markdown ----


def _read_text_file(path: Path, content_hash: str, size: int) -> SourceDocument:
    if size > LARGEST_TEXT:
        raise DocumentError(
            tr(
                "{name} is too large for a text file ({size:,} bytes): split it and load the parts.",
                "{name} 作为文本文件过大（{size:,} 字节）：请拆分后分别加载。",
            ).format(name=path.name, size=size)
        )
    decoded = decode(path.read_bytes())
    if decoded is None:
        raise DocumentError(
            tr(
                "{name} is not text: load a PDF, Markdown or plain text file.",
                "{name} 不是文本：请加载 PDF、Markdown 或纯文本文件。",
            ).format(name=path.name)
        )
    document = _text_document(decoded.text, name=path.name, path=str(path), content_hash=content_hash)
    if decoded.damaged:
        document.warnings.append(
            tr(
                "Some bytes of {name} are not valid {encoding} and show as �.",
                "{name} 中有些字节不是有效的 {encoding}，显示为 �。",
            ).format(name=path.name, encoding=decoded.encoding)
        )
    return document


def _text_document(text: str, *, name: str, path: str, content_hash: str) -> SourceDocument:
    raw = repair(text.replace("\f", "\n").removeprefix("\ufeff"))
    clean = fold_radicals(raw)
    if not clean.strip():
        raise DocumentError(
            tr("{name} holds no text: check the file.", "{name} 里没有文字：请检查文件。").format(name=name)
        )
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
class _Pages:
    """What the engines gave, page by page, and what went wrong."""

    raw: list[str] = field(default_factory=list)
    gaps: list[list[int]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)  # page (from 0) → reason


def _read_pdf(
    path: Path, content_hash: str, password: str | None, progress: Progress, *, truncated: bool
) -> SourceDocument:
    files = _open_engines(path, password, truncated=truncated)
    try:
        first = files[0]
        labels = _or_else(first.labels, [None] * first.page_count)
        outline = _or_else(first.outline, [])
        pages = _read_pages(files, progress)
        titles: dict[int, list[str]] = defaultdict(list)
        for _, title, page in outline:
            titles[page - 1].append(title)
        dropped = running_lines(
            pages.raw, headings=titles, labels=labels, place=lambda page: _or_else(lambda: first.places(page), {})
        )
        title = first.title
    finally:
        for file in files:
            file.close()
    compounds = _compounds(pages.raw)
    document = SourceDocument(
        name=path.name,
        path=str(path),
        media_type="pdf",
        content_hash=content_hash,
        title=title if _is_real_title(title) else path.stem,
        pages=[],
        outline=outline,
    )
    for number, raw in enumerate(pages.raw):
        readable = pages.scores[number] >= UNREADABLE
        text, offsets = clean_page(
            raw, dropped=dropped[number], gaps=pages.gaps[number], compounds=compounds, titles=set(map(bare, titles.get(number, ())))
        ) if readable else ("", ())
        document.pages.append(Page(number + 1, labels[number], raw, text, offsets=offsets))
    document.__post_init__()
    document.headings = locate_headings(document.pages, document.page_starts, outline)
    _set_heading_paths(document)
    document.warnings = _warnings(document, pages, truncated=truncated)
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
        raise _broken(path, reasons, truncated=truncated)
    if not files[0].page_count:
        raise DocumentError(
            tr("{name} has no pages: download or export it again.", "{name} 一页也没有：请重新下载或导出。").format(
                name=path.name
            )
        )
    return files


def _or_else(step: Callable, default):
    """Labels, outline and places are conveniences: a file that cannot give them is still read."""
    try:
        return step()
    except EngineError:
        return default


def _read_pages(files: Sequence[PdfFile], progress: Progress) -> _Pages:
    pages = _Pages()
    given: list[str] = []
    total = files[0].page_count
    for page in range(total):
        text, score, reason = _read_page(files, page)
        given.append(text)
        pages.scores.append(score)
        if reason:
            pages.failed[page] = reason
        progress(page + 1, total)
    separators = _separators(given)
    for text in given:
        raw, gaps = _repair_keeping_gaps(text, separators)
        pages.raw.append(raw)
        pages.gaps.append(gaps)
    return pages


def _read_page(files: Sequence[PdfFile], page: int) -> tuple[str, float, str]:
    """(text, readability, why it failed or "") from the first engine that reads the page well, else the best of them."""
    best = ("", 1.0, "")
    for place, file in enumerate(files):
        try:
            text = file.text(page)
        except EngineError as error:
            best = best if place and best[0] else ("", 1.0, str(error))
            continue
        score = readability(text, noise=len(_NOISE.findall(text)))
        if score >= DOUBTFUL:
            return text, score, ""
        if not best[0] or score > best[1]:
            best = (text, score, "")
    return best


_NOISE = re.compile("[\x02-\x08\x0e-\x1f\x7f-\x9f]")
_SEPARATOR_CODES = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_USUAL_SEPARATOR = 5  # times in a document


def _separators(texts: Iterable[str]) -> str:
    """Control codes that stand for a space: some fonts have no other (a browser's print gives "et\\x01al.")."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_SEPARATOR_CODES.findall(text))
    return "".join(code for code, count in counts.items() if count >= _USUAL_SEPARATOR)


def _repair_keeping_gaps(text: str, separators: str) -> tuple[str, list[int]]:
    """The repaired text, and the offsets in it where a separator was taken out."""
    if not separators or not any(code in text for code in separators):
        return repair(text), []
    parts = [repair(part) for part in re.split(f"[{re.escape(separators)}]", text)]
    gaps, offset = [], 0
    for part in parts[:-1]:
        offset += len(part)
        gaps.append(offset)
    return "".join(parts), [gap for gap in dict.fromkeys(gaps) if gap]


_NOT_IN_WORDS = ".,;:!?()[]\"'“”‘’…"


def _compounds(pages: Iterable[str]) -> set[str]:
    """Words this document writes with a hyphen in the middle of a line: they keep it when a line ends there."""
    return {
        word.strip(_NOT_IN_WORDS).lower() for page in pages if "-" in page for word in page.split() if "-" in word[1:-1]
    }


_FILE_TITLE = re.compile(r"untitled|unbenannt|无标题|microsoft \w+ - |.*\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|qxd|pdf|wps)$", re.IGNORECASE)


def _is_real_title(title: str) -> bool:
    """Programs like to enter a file name, "untitled" or nothing as the title."""
    return len(bare(title)) >= 2 and not _FILE_TITLE.match(title)


# ---- Headings ----


def locate_headings(pages: Sequence[Page], page_starts: Sequence[int], outline: Sequence[OutlineEntry]) -> list[Heading]:
    """Each outline entry where its title stands on its page, else where the page begins; offsets never go back."""
    headings: list[Heading] = []
    behind = 0
    for level, title, number in sorted(outline, key=lambda entry: entry.page):
        start = page_starts[number - 1]
        behind = max(behind, start)
        place = _find_title(pages[number - 1].clean, title, behind - start)
        offset = start + place if place is not None else behind
        headings.append((offset, level, title))
        behind = offset
    return headings


def _find_title(text: str, title: str, begin: int) -> int | None:
    """Where the title stands on the page, spaces and punctuation aside; at the start of a line if it can be had."""
    letters = bare(title)
    if not letters or not text:
        return None
    pattern = r"[\W_]{0,9}".join(map(re.escape, letters))
    numbered = r"[\W_]{0,9}" if letters[0].isdigit() else r"[\W\d_]{0,20}"
    for expression in (rf"(?m)^{numbered}{pattern}", pattern):
        found = re.compile(expression, re.IGNORECASE).search(text, begin)
        if found:
            return found.start() + len(found[0]) - len(found[0].lstrip())
    return None


def _set_heading_paths(document: SourceDocument) -> None:
    """A page's path is the chain of headings above its first words; a heading that is its first words counts."""
    path: dict[int, str] = {}
    pending = list(document.headings)
    for page, start in zip(document.pages, document.page_starts, strict=True):
        while pending and pending[0][0] <= start:
            _, level, title = pending.pop(0)
            path = {above: name for above, name in path.items() if above < level} | {level: title}
        page.heading_path = " > ".join(path[level] for level in sorted(path))
