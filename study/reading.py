"""Read a document the learner brought: PDF, Markdown or plain text.

    file → what is it really? → pages as the engine gives them (raw) → clean text for search → one text with headings

`read_document` either returns pages with text in them, or raises one sentence that says what is wrong and what to do next.
Success means that text was found: what could not be read is named page by page in `warnings`.
"""

import hashlib
import re
import stat
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from infrastructure.extras import has
from infrastructure.text import fold_radicals, repair
from study import office, trouble
from study.document import NO_OCR, STOPPED, Page, Progress, SourceDocument, unfinished_hash
from study.filekind import foreign_kind, is_pdf, office_kind
from study.outline import OutlineEntry
from study.pdf import read_pdf
from study.plaintext import decode, markdown_headings

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
TEXT_SUFFIXES = (".txt", ".text", ".log", ".rst", ".tex", ".csv", ".tsv")
OFFICE_SUFFIXES = (".docx", ".pptx", ".epub", ".html", ".htm", ".xhtml")
LARGEST_TEXT = 50_000_000  # bytes of a text file

# ---- Entry points ----


def read_document(path: str | Path, *, password: str | None = None, progress: Progress | None = None) -> SourceDocument:
    """The document in a file. DocumentError (PasswordNeeded for a locked PDF) says in one sentence why it cannot be read.

    progress(page, total, stage) is called after each page of a PDF. Ctrl-C keeps the pages that were read.
    """
    path = _ordinary(_local_path(path))
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
        return read_pdf(path, content_hash, password, progress or _no_progress, truncated=b"%%EOF" not in tail)
    if office_kind(path, head) and path.suffix.lower() != ".pdf":
        return _office_document(path, content_hash)
    kind = foreign_kind(path, head)
    if kind is not None or path.suffix.lower() == ".pdf":
        raise trouble.wrong_kind(path, kind, size, head)
    return _read_text_file(path, content_hash, size)


def identify(path: str | Path) -> tuple[Path, str]:
    """(the local file a path means, sha256 of its bytes): enough to tell whether it is here already, without reading it."""
    file = _ordinary(_local_path(path))
    try:
        with file.open("rb") as opened:
            return file.resolve(), hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise trouble.cannot_open(file, error) from error


def hashes_of_readings(content_hash: str) -> tuple[list[str], list[str]]:
    """Under which hashes this content may be stored: (those with which nothing is left to do, those to be read again)."""
    without_ocr, stopped = (unfinished_hash(content_hash, why) for why in (NO_OCR, STOPPED))
    return ([content_hash], [without_ocr, stopped]) if has("ocr") else ([content_hash, without_ocr], [stopped])


def read_text(text: str, name: str) -> SourceDocument:
    """A document that is already text. A name ending in .md, or headings in the text, make it Markdown."""
    content_hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return _text_document(text, name=name, path="", content_hash=content_hash)


def _no_progress(page: int, total: int, stage: str) -> None:
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


def _ordinary(path: Path) -> Path:
    """The path, unless it is a pipe or a device: reading one may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return path  # whoever opens it says why
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise trouble.endless(path)
    return path


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


# ---- Word, PowerPoint, EPUB, HTML ----


def _office_document(path: Path, content_hash: str) -> SourceDocument:
    """Slides are pages; the others are one page with headings."""
    texts = [fold_radicals(repair(text)) for text in office.pages_of(path)]
    if not any(text.strip() for text in texts):
        raise trouble.no_words(path.name)
    document = SourceDocument(
        name=path.name,
        path=str(path),
        media_type="markdown",
        content_hash=content_hash,
        title=path.stem,
        pages=[Page(number, None, text, text) for number, text in enumerate(texts, 1)],
    )
    document.headings = markdown_headings(document.text)
    document.outline = [
        OutlineEntry(level, title, document.page_at(offset).number) for offset, level, title in document.headings
    ]
    if document.headings:
        document.title = document.headings[0][2]
    return document
