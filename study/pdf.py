"""PDF engines: what opens a PDF and gives its pages one by one.

    open → unlock → count → labels, outline, then page after page; each step may fail without the others

pypdf is the first and so far the only one in ENGINES; a page that it cannot read, or reads as signs, is offered to the next.
An engine raises EngineError with a short reason and nothing else: pypdf itself raises ValueError, KeyError, RecursionError and
a dozen types of its own, depending on which part of the file is broken.
"""

import logging
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from infrastructure.errors import PasswordNeeded
from infrastructure.language import tr
from infrastructure.text import repair
from study.outline import OutlineEntry, OutlineWalk, one_line
from study.pagetext import bare

# What one page may cost. pypdf reads about 200,000 tokens of page content a second and its text grows with the square of
# the page's size: 60 MB of text on one page took eight minutes. Real pages stay below 3 MB.
LIMITS = {
    "zlib_maximum_output_length": 32_000_000,
    "lzw_maximum_output_length": 32_000_000,
    "run_length_maximum_output_length": 32_000_000,
    "array_based_stream_maximum_output_length": 32_000_000,
    "stream_parsing_work_maximum_count": 1_000_000,
}
LARGEST_CONTENT = 8_000_000  # bytes of page content and of the forms it draws, unpacked


class EngineError(Exception):
    """`str(error)` is a few words, without the file's name: "page content too large"."""


class PdfFile(Protocol):
    page_count: int
    title: str

    def text(self, page: int) -> str:
        """What the engine reads on a page (from 0), untouched."""

    def places(self, page: int) -> dict[str, tuple[float, float]]:
        """Where lines stand: their letters and digits, case folded → (font size, height above the page's foot)."""

    def labels(self) -> list[str | None]: ...

    def outline(self) -> list[OutlineEntry]: ...

    def close(self) -> None: ...


# ---- pypdf ----


class PypdfFile:
    def __init__(self, path: Path, password: str | None = None) -> None:
        """PasswordNeeded when neither the empty password nor `password` opens the file; EngineError for all else."""
        from pypdf import PdfReader

        self._stream = path.open("rb")
        try:
            with _guarded():
                self._reader = PdfReader(self._stream, strict=False, root_object_recovery_limit=10_000)
            if self._reader.is_encrypted:
                _unlock(self._reader.decrypt, path.name, password)
            with _guarded():
                self.page_count = len(self._reader.pages)
        except BaseException:
            self.close()
            raise
        self.title = self._title()

    def close(self) -> None:
        self._stream.close()

    def text(self, page: int) -> str:
        with _guarded():
            found = self._reader.pages[page]
            _refuse_large(found)
            try:
                return found.extract_text()
            finally:
                _forget(found)

    def places(self, page: int) -> dict[str, tuple[float, float]]:
        places: dict[str, tuple[float, float]] = {}
        line, place = "", (0.0, 0.0)

        def visit(text: str, cm: list[float], tm: list[float], _font: object, size: float) -> None:
            nonlocal line, place
            for piece in re.split("(\n)", text):
                if piece == "\n":
                    places.setdefault(bare(line), place)
                    line = ""
                elif piece.strip():
                    if not line:
                        height = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
                        place = (abs(size * (tm[3] or tm[1]) * (cm[3] or cm[1])), height)
                    line += piece

        with _guarded():
            self._reader.pages[page].extract_text(visitor_text=visit)
        places.setdefault(bare(line), place)
        places.pop("", None)
        return places

    def labels(self) -> list[str | None]:
        with _guarded():
            if "/PageLabels" not in self._reader.root_object:
                return [None] * self.page_count
            labels = [repair(str(label)).strip() or None for label in self._reader.page_labels]
        return (labels + [None] * self.page_count)[: self.page_count]

    def outline(self) -> list[OutlineEntry]:
        with _guarded():
            return OutlineWalk(self._reader, self.page_count).entries()

    def _title(self) -> str:
        try:
            with _guarded():
                information = self._reader.metadata
                return one_line(information.title or "") if information else ""
        except EngineError:
            return ""


@contextmanager
def _guarded() -> Iterator[None]:
    """Run one step of pypdf within LIMITS; whatever it raises leaves as an EngineError."""
    from pypdf import apply_configuration

    try:
        with apply_configuration(**LIMITS):
            yield
    except EngineError:
        raise
    except Exception as error:
        raise EngineError(_reason(error)) from error


def _reason(error: Exception) -> str:
    from pypdf.errors import DependencyError, LimitReachedError

    if isinstance(error, LimitReachedError | MemoryError):
        return tr("it unpacks to more than can be read safely", "解压后过大，无法安全读取")
    if isinstance(error, RecursionError):
        return tr("its parts refer to each other without end", "内部引用无限循环")
    if isinstance(error, DependencyError):
        return tr("it needs a decoder that is not installed", "需要未安装的解码器")
    message = one_line(str(error))[:100].rstrip(".:")
    return message or type(error).__name__


def _unlock(decrypt: Callable[[str], object], name: str, password: str | None) -> None:
    """Each spelling of the password is tried as the user's and as the owner's."""
    for attempt in _spellings(password):
        with _guarded():
            if decrypt(attempt):
                return
    if password is None:
        message = tr(
            "{name} is protected by a password: load it again with --password, or type it when asked.",
            "{name} 有密码保护：请用 --password 给出密码，或在提示时输入。",
        )
    else:
        message = tr(
            "That password does not open {name}: check upper and lower case and the keyboard layout, then try again.",
            "密码不正确，打不开 {name}：请检查大小写和键盘布局后重试。",
        )
    raise PasswordNeeded(message.format(name=name))


def _spellings(password: str | None) -> list[str]:
    """The empty password first: it opens files that only forbid printing. Then as typed, and as RFC 4013 prepares it."""
    if not password:
        return [""]
    prepared = unicodedata.normalize("NFKC", password.replace("\u00ad", ""))
    return list(dict.fromkeys(["", password, prepared]))


def _refuse_large(page) -> None:
    """EngineError before pypdf begins to parse what would take minutes."""
    contents = page.get_contents()
    size = len(contents.get_data()) if contents is not None else 0
    if size <= LARGEST_CONTENT:
        size += _form_sizes(page.get("/Resources"), set(), 0)
    if size > LARGEST_CONTENT:
        raise EngineError(tr("its content is too large to read safely", "页面内容过大，无法安全读取"))


def _forget(page) -> None:
    """Let go of the unpacked content, which pypdf keeps for as long as the file is open: a long book would fill memory."""
    contents = page.get("/Contents")
    contents = contents.get_object() if contents is not None else None
    for stream in contents if isinstance(contents, list) else [contents]:
        stream = stream.get_object() if stream is not None else None
        if getattr(stream, "decoded_self", None) is not None:
            stream.decoded_self = None


def _form_sizes(resources, seen: set[int], depth: int) -> int:
    """Unpacked bytes of the forms a page can draw, nested ones included."""
    total = 0
    drawn = resources.get_object().get("/XObject") if resources is not None and depth < 4 else None
    for form in (drawn.get_object() if drawn is not None else {}).values():
        form = form.get_object()
        if id(form) in seen or form.get("/Subtype") != "/Form":
            continue
        seen.add(id(form))
        total += len(form.get_data()) + _form_sizes(form.get("/Resources"), seen, depth + 1)
        if total > LARGEST_CONTENT:
            break
    return total


ENGINES: tuple[Callable[[Path, str | None], PdfFile], ...] = (PypdfFile,)


@contextmanager
def quiet_engines() -> Iterator[None]:
    """Engines log every oddity of a file; only someone who debugs wants to read that (root logger at INFO or below)."""
    names = [] if logging.getLogger().isEnabledFor(logging.INFO) else ["pypdf", "fontTools"]
    levels = [(logging.getLogger(name), logging.getLogger(name).level) for name in names]
    for logger, _ in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels:
            logger.setLevel(level)
