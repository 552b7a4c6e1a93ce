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
from typing import NamedTuple, Protocol

from infrastructure.errors import PasswordNeeded
from infrastructure.language import tr
from infrastructure.text import fold_radicals, repair
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
DEEPEST_OUTLINE = 12  # levels
LONGEST_OUTLINE = 20_000  # entries
DEEPEST_NAMES, MOST_NAMES = 20, 200_000


class OutlineEntry(NamedTuple):
    level: int  # 1 is the top
    title: str
    page: int  # from 1


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
        return _Outline(self._reader, self.page_count).entries()

    def _title(self) -> str:
        try:
            with _guarded():
                information = self._reader.metadata
                return _one_line(information.title or "") if information else ""
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
    except Exception as error:  # noqa: BLE001 — there is no common type to name, see the docstring above
        raise EngineError(_reason(error)) from error


def _reason(error: Exception) -> str:
    from pypdf.errors import DependencyError, LimitReachedError

    if isinstance(error, LimitReachedError | MemoryError):
        return tr("it unpacks to more than can be read safely", "解压后过大，无法安全读取")
    if isinstance(error, RecursionError):
        return tr("its parts refer to each other without end", "内部引用无限循环")
    if isinstance(error, DependencyError):
        return tr("it needs a decoder that is not installed", "需要未安装的解码器")
    message = _one_line(str(error))[:100].rstrip(".:")
    return message or type(error).__name__


def _one_line(text: str) -> str:
    return " ".join(fold_radicals(repair(str(text))).split())


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


# ---- Outline ----


class _Outline:
    """Walks the outline entry by entry, so that one broken entry costs itself and not its siblings."""

    def __init__(self, reader, page_count: int) -> None:
        self._reader = reader
        self._count = page_count
        self._seen: set[int] = set()
        self._found: list[OutlineEntry] = []
        self._page_by_id: dict[int, int] = {}
        self._named: dict[str, object] | None = None

    def entries(self) -> list[OutlineEntry]:
        with _guarded():
            top = self._reader.root_object.get("/Outlines")
            top = top.get_object() if top is not None else None
            if not hasattr(top, "get"):
                return []
            for number in range(self._count):
                reference = self._reader.pages[number].indirect_reference
                if reference is not None:
                    self._page_by_id[reference.idnum] = number + 1
            self._walk(top.get("/First"), 1)
        return self._found

    def _walk(self, reference, level: int) -> None:
        while reference is not None and level <= DEEPEST_OUTLINE and len(self._found) < LONGEST_OUTLINE:
            try:
                entry = reference.get_object()
                if not hasattr(entry, "get") or id(entry) in self._seen:
                    return
                self._seen.add(id(entry))
            except Exception:  # noqa: BLE001 — the chain of siblings is cut here
                return
            self._keep(entry, level)
            self._walk(entry.raw_get("/First") if "/First" in entry else None, level + 1)
            reference = entry.raw_get("/Next") if "/Next" in entry else None

    def _keep(self, entry, level: int) -> None:
        try:
            title, page = _one_line(entry.get("/Title") or ""), self._target(entry)
        except Exception:  # noqa: BLE001 — a title or target of the wrong type
            return
        if title and page is not None:
            self._found.append(OutlineEntry(level, title, page))

    def _target(self, entry) -> int | None:
        """The page number (from 1) an entry leads to; None for a missing page, another file, a web address."""
        action = entry.get("/A")
        destination = entry.get("/Dest")
        if destination is None and action is not None and action.get("/S", "/GoTo") == "/GoTo":
            destination = action.get("/D")
        return self._page_of(destination)

    def _page_of(self, destination) -> int | None:
        for _ in range(4):  # a name may lead to a dictionary that leads to an array
            if isinstance(destination, str | bytes):
                destination = self._by_name(destination)
            elif hasattr(destination, "keys"):
                destination = destination.get("/D")
        if not isinstance(destination, list) or not destination:
            return None
        target = destination[0]
        if isinstance(target, int):
            return target + 1 if 0 <= target < self._count else None
        return self._page_by_id.get(getattr(target, "idnum", -1))

    def _by_name(self, name: str | bytes) -> object:
        if self._named is None:
            self._named = {}
            root = self._reader.root_object
            self._collect_names(root.get("/Names", {}).get("/Dests"), 0)
            for old_name, target in (root.get("/Dests") or {}).items():
                self._named.setdefault(old_name, target)
        key = name.decode("latin-1") if isinstance(name, bytes) else str(name)
        target = self._named.get(key)
        return target.get_object() if target is not None else None

    def _collect_names(self, node, depth: int) -> None:
        """Names and their targets, unresolved: building pypdf's own table of destinations costs more than the outline."""
        node = node.get_object() if node is not None else None
        if not hasattr(node, "get") or depth > DEEPEST_NAMES or len(self._named) > MOST_NAMES:
            return
        names = list(node.get("/Names") or ())
        for name, target in zip(names[::2], names[1::2], strict=False):
            name = name.get_object()
            self._named.setdefault(name.decode("latin-1") if isinstance(name, bytes) else str(name), target)
        for kid in node.get("/Kids") or ():
            self._collect_names(kid, depth + 1)


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
