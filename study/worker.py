"""Reading in a child process, so that no file can hang, fill or crash the session.

    FileReader    one PDF: open, then page by page, each within its time; a lost child is replaced, the page named
    Worker        the child itself: a request and its answer

A child serves one file after the other: starting it costs 0.2 s, a request 0.1 ms.
"""

import atexit
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from infrastructure.errors import PasswordNeeded, StudyError
from infrastructure.language import language, tr
from infrastructure.settings import PROJECT
from study.chain import ReadPage
from study.engine import EngineError
from study.outline import OutlineEntry

OPEN_SECONDS = 60.0
PAGE_SECONDS = 20.0  # a page of a real book takes 0.003 s, the worst map seen 4 s
OCR_SECONDS = 300.0  # about 4 s a page on two idle cores, a minute on busy ones; the first loads its models
CONVERT_SECONDS = 180.0


class WorkerLost(Exception):
    """The child is gone. in_time: it died by itself; else it took too long and was ended."""

    def __init__(self, *, in_time: bool) -> None:
        super().__init__(
            tr("it made the reader break down", "读取程序因它崩溃") if in_time else tr("it takes too long", "耗时过长")
        )
        self.in_time = in_time


# ---- The child ----


class Worker:
    def __init__(self) -> None:
        # A process group of its own: Ctrl-C in the terminal is the session's to hear.
        apart = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if sys.platform == "win32" else {"process_group": 0}
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "study.worker_main"], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, encoding="ascii", **apart,
        )  # fmt: skip
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.is_free = True  # no answer is owed
        threading.Thread(target=self._listen, name="reading", daemon=True).start()

    def ask(self, do: str, *, seconds: float, **options: Any) -> Any:
        """The answer's value. EngineError, StudyError or PasswordNeeded as in the child; WorkerLost ends this worker."""
        self.is_free = False
        try:
            self._process.stdin.write(json.dumps({"do": do, **options}) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=seconds)
        except queue.Empty as error:
            self.end()
            raise WorkerLost(in_time=False) from error
        except OSError:
            line = ""
        if not line:
            self.end()
            raise WorkerLost(in_time=True)
        self.is_free = True
        answer = json.loads(line)
        if "error" in answer:
            raise _ERRORS[answer["kind"]](answer["error"])
        return answer["value"]

    def end(self) -> None:
        self.is_free = False
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # what was still to be written to it
            self._process.stdin.close()

    def _listen(self) -> None:
        """Lines as they come, "" when there are no more. A queue, for a pipe cannot be waited on for a time everywhere."""
        with self._process.stdout as answers:
            for line in answers:
                self._answers.put(line)
        self._answers.put("")


_ERRORS: dict[str, type[Exception]] = {"engine": EngineError, "password": PasswordNeeded, "study": StudyError}
_idle: list[Worker] = []


def _take() -> Worker:
    return _idle.pop() if _idle else Worker()


def _give_back(worker: Worker) -> None:
    """For the next file, unless an answer is owed or one is waiting already."""
    if worker.is_free and not _idle:
        _idle.append(worker)
    else:
        worker.end()


@atexit.register
def end_idle() -> None:
    while _idle:
        _idle.pop().end()


# ---- A file ----


class FileReader:
    """One PDF, read in a child. Raises PasswordNeeded, or EngineError when no engine can open it."""

    def __init__(self, path: Path, password: str | None) -> None:
        self._path, self._password = path, password
        self._worker = _take()
        self._slow = 0  # pages that took too long
        self._has_recognised = False
        try:
            opened = self._open_somehow()
        except BaseException:
            self.close()
            raise
        self.page_count: int = opened["pages"]
        self.title: str = opened["title"]

    def close(self) -> None:
        """The child lets go of the file, and waits for the next one unless it holds the models of OCR, half a gigabyte."""
        if self._worker.is_free and not self._has_recognised:
            with suppress(WorkerLost, EngineError):
                self._worker.ask("close", seconds=OPEN_SECONDS)
        else:
            self._worker.end()
        _give_back(self._worker)

    def labels(self) -> list[str | None]:
        return self._extra("labels") or [None] * self.page_count

    def outline(self) -> list[OutlineEntry]:
        return [OutlineEntry(*entry) for entry in self._extra("outline") or ()]

    def sizes(self, page: int) -> dict[str, float]:
        return self._extra("sizes", page=page) or {}

    def page(self, page: int) -> ReadPage:
        """Never raises for what a page does: a page that cannot be read has a reason."""
        try:
            return self._read(page)
        except WorkerLost as lost:
            self._slow += not lost.in_time
            reason = str(lost)
            with suppress(WorkerLost, EngineError):
                if lost.in_time:  # pdfium broke down; the others may not
                    self._reopen(without=["pdfium"])
                    return self._read(page)
            return ReadPage(reason=reason)
        finally:
            if not self._worker.is_free:
                self._reopen()

    def recognise(self, page: int) -> str:
        """What OCR reads on the page, "" for nothing. EngineError says why it cannot, StudyError that the extra is absent."""
        self._has_recognised = True
        try:
            return self._worker.ask("recognise", seconds=OCR_SECONDS, page=page)
        except WorkerLost as lost:
            raise EngineError(str(lost)) from lost
        finally:
            if not self._worker.is_free:
                self._reopen()

    def _read(self, page: int) -> ReadPage:
        # A file full of pages that take too long gets less and less time for each.
        try:
            return ReadPage(*self._worker.ask("page", seconds=PAGE_SECONDS / (1 + self._slow), page=page))
        except EngineError as error:
            return ReadPage(reason=str(error))

    def _extra(self, what: str, **options: Any) -> Any:
        """Labels, outline, sizes: done without when they cannot be had."""
        try:
            return self._worker.ask(what, seconds=PAGE_SECONDS, **options)
        except (WorkerLost, EngineError):
            return None
        finally:
            if not self._worker.is_free:
                self._reopen()

    def _open_somehow(self) -> dict[str, Any]:
        try:
            return self._open([])
        except WorkerLost as lost:
            self._worker = Worker()
            if not lost.in_time:
                raise EngineError(str(lost)) from lost
        try:
            return self._open(["pdfium"])
        except WorkerLost as lost:
            raise EngineError(str(lost)) from lost

    def _reopen(self, without: list[str] | None = None) -> None:
        self._worker.end()
        self._worker = Worker()
        with suppress(WorkerLost, EngineError):  # then every page to come says why
            self._open(without or [])

    def _open(self, without: list[str]) -> dict[str, Any]:
        return self._worker.ask(
            "open", seconds=OPEN_SECONDS, path=str(self._path.absolute()), password=self._password,
            language=language(), without=without,
        )  # fmt: skip


@contextmanager
def opened(path: Path, password: str | None = None) -> Iterator[FileReader]:
    """The file for as long as it is read."""
    reader = FileReader(path, password)
    try:
        yield reader
    finally:
        reader.close()


def convert(path: Path) -> str:
    """An office file as Markdown, made in a child. StudyError or EngineError when it cannot be."""
    worker = _take()
    try:
        return worker.ask("convert", seconds=CONVERT_SECONDS, path=str(path.absolute()), language=language())
    except WorkerLost as lost:
        raise EngineError(str(lost)) from lost
    finally:
        _give_back(worker)
