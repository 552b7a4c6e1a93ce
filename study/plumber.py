"""The third engine: pdfplumber, on pdfminer. The slowest; it finds its way in page trees that lead the other two astray."""

from pathlib import Path

from study.engine import EngineError, PageText, guarded, locked, reason_of, spellings
from study.outline import one_line


class PlumberFile:
    name = "pdfplumber"

    def __init__(self, path: Path, password: str | None = None) -> None:
        """PasswordNeeded when neither the empty password nor `password` opens the file; EngineError for all else."""
        self._file = _open(path, password)
        with guarded():
            self.page_count = len(self._file.pages)
            self.title = one_line((self._file.metadata or {}).get("Title") or "")

    def close(self) -> None:
        self._file.close()

    def read(self, page: int) -> PageText:
        with guarded():
            opened = self._file.pages[page]
            try:
                return PageText(opened.extract_text() or "")
            finally:
                opened.close()  # it keeps every letter of every page otherwise


def _open(path: Path, password: str | None):
    import pdfplumber
    from pdfminer.pdfdocument import PDFPasswordIncorrect

    for attempt in spellings(password):
        try:
            return pdfplumber.open(path, password=attempt)
        except Exception as error:
            wrapped = error.args[0] if error.args else error
            if not isinstance(wrapped, PDFPasswordIncorrect):
                raise EngineError(reason_of(error)) from error
    raise locked(path.name, password)
