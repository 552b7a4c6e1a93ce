"""The second engine: pypdf. It is slow, but opens what pdfium refuses, and its limits keep a page from filling memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from infrastructure.language import tr
from infrastructure.text import repair
from study.engine import EngineError, PageText, locked, reason_of, spellings
from study.outline import OutlineEntry, OutlineWalk, one_line

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


class PypdfFile:
    name = "pypdf"

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

    def read(self, page: int) -> PageText:
        with _guarded():
            found = self._reader.pages[page]
            _refuse_large(found)
            try:
                return PageText(found.extract_text())
            finally:
                _forget(found)

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

    if isinstance(error, LimitReachedError):
        return reason_of(MemoryError())
    if isinstance(error, DependencyError):
        return tr("it needs a decoder that is not installed", "需要未安装的解码器")
    return reason_of(error)


def _unlock(decrypt: Callable[[str], object], name: str, password: str | None) -> None:
    """Each spelling of the password is tried as the user's and as the owner's."""
    for attempt in spellings(password):
        with _guarded():
            if decrypt(attempt):
                return
    raise locked(name, password)


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
