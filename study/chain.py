"""The chain of engines: the first that reads a page well is believed; each is opened when the one before it fails.

    pdfium → pypdf → pdfplumber        read well: people can read it, and its words stand apart

What one engine reads as signs another often reads rightly, because each has its own tables for fonts without one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from infrastructure.errors import PasswordNeeded
from infrastructure.language import tr
from study.engine import PICTURE, EngineError, PageText, PdfFile
from study.outline import OutlineEntry
from study.pdfium import PdfiumFile
from study.plaintext import regain_chinese
from study.plumber import PlumberFile
from study.pypdf_engine import PypdfFile
from study.readability import DOUBTFUL, UNREADABLE, WELL_SPACED, readability, spacing

ENGINES: tuple[type[PdfFile], ...] = (PdfiumFile, PypdfFile, PlumberFile)
GIVE_UP = 2  # pages read by every engine in vain: the rest of the file is left to the first


class ReadPage(NamedTuple):
    """What the chain made of a page. reason: why no engine could read it, "" when one did."""

    text: str = ""
    score: float = 1.0  # readability, 0 to 1
    covered: float = 0.0  # share of the page that pictures cover
    hidden: int = 0  # letters left out because nobody sees them
    reason: str = ""


class Chain:
    """One file, open. Raises PasswordNeeded when it is locked, else EngineError with the first engine's reason."""

    def __init__(self, path: Path, password: str | None = None, engines: Sequence[type[PdfFile]] = ENGINES) -> None:
        self._path, self._password = path, password
        self._waiting = list(engines)
        self._files: list[PdfFile] = []
        self.reasons: list[str] = []
        self._locked: PasswordNeeded | None = None
        self._in_vain = 0  # times on end that asking the others has not helped
        if next(self._opened(), None) is None:
            raise self._locked or EngineError(self.reasons[0])
        self.first = self._files[0]

    def close(self) -> None:
        for file in self._files:
            file.close()

    def labels(self) -> list[str | None]:
        return self._given("labels") or [None] * self.first.page_count

    def outline(self) -> list[OutlineEntry]:
        return self._given("outline") or []

    def sizes(self, page: int) -> dict[str, float]:
        return self._given("sizes", page) or {}

    def picture(self, page: int) -> Any:
        """The page as people see it, for OCR: an RGB array. Only pdfium draws."""
        for file in self._opened():
            if isinstance(file, PdfiumFile):
                return file.picture(page)
        raise EngineError(tr("it cannot be drawn", "无法渲染页面"))

    def _given(self, what: str, *args: int) -> Any:
        """Labels, outline and sizes are conveniences: a file or an engine that cannot give them is still read."""
        try:
            return getattr(self.first, what)(*args) if hasattr(self.first, what) else None
        except EngineError:
            return None

    def read(self, page: int) -> ReadPage:
        """The first reading that is good enough, else the best. Silence is checked once: the others say why a page fails."""
        readings: list[tuple[float, ReadPage]] = []
        reason, enough = "", False
        for file in self._opened():
            try:
                found = _judged(file.read(page))
            except EngineError as error:
                reason = reason or str(error)
            else:
                spaced = spacing(found.text)
                readings.append((found.score * spaced, found))
                enough |= found.score >= DOUBTFUL and spaced >= WELL_SPACED and not _is_silent(found)
            if enough or (readings and self._in_vain >= GIVE_UP):
                break
            enough = bool(readings) and _is_silent(readings[0][1])
        return self._best(readings, reason)

    def _best(self, readings: Sequence[tuple[float, ReadPage]], reason: str) -> ReadPage:
        if not readings:
            return ReadPage(reason=reason)
        _, best = max(readings, key=lambda reading: (bool(reading[1].text.strip()), reading[0]))
        if len(readings) > 1:
            helped = best is not readings[0][1] and best.score >= UNREADABLE
            self._in_vain = 0 if helped else self._in_vain + 1
        return best if best.text.strip() else best._replace(reason=reason)

    def _opened(self) -> Iterator[PdfFile]:
        """The engines that can open the file, those that wait opened when it comes to them."""
        yield from list(self._files)
        while self._waiting:
            engine = self._waiting.pop(0)
            try:
                file = engine(self._path, self._password)
            except PasswordNeeded as error:
                self._locked = error
            except EngineError as error:
                self.reasons.append(str(error))
            else:
                self._files.append(file)
                yield file


def _judged(page: PageText) -> ReadPage:
    text = regain_chinese(page.text)
    return ReadPage(text, readability(text), page.covered, page.hidden)


def _is_silent(page: ReadPage) -> bool:
    """Neither text nor a picture that could be a scan."""
    return not page.text.strip() and page.covered < PICTURE
