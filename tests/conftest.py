"""What every test stands on: no settings from outside, the same random examples each run, a home, files."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from datetime import tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from screen import desk_at

from infrastructure.console import _NOISY
from infrastructure.embedders import Embedder
from infrastructure.language import set_language
from infrastructure.lesson import StoppedClock
from infrastructure.storage import Storage
from study import pdf, reading, trouble
from study.desk import Desk
from study.document import SourceDocument
from study.engine import PdfFile
from study.schedule import Timetable

PROJECT = Path(__file__).resolve().parent.parent
settings.register_profile("study", deadline=None, derandomize=True)
settings.load_profile("study")

OURS = ("LLM_", "EMBEDDING_", "MEMORY_", "STUDY_LANG", "HF_ENDPOINT", "LC_")
TERMINAL = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS", "LINES", "TERM", "LANG")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it runs in the background deaf to Ctrl-C, and so would be every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own keys, model and home must not reach a test."""
    for name in list(os.environ):
        if name.startswith(OURS) or name.endswith(("_API_KEY", "_API_BASE")) or name in TERMINAL:
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def same_logging() -> Iterator[None]:
    """A command line that ran in this process has silenced the libraries, or with --debug opened the root logger."""
    loggers = [logging.getLogger(), *(logging.getLogger(name) for name in _NOISY)]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    yield
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


@pytest.fixture
def data_dir() -> Path:
    """Public data sets that are not shipped: STUDY_TEST_DATA, else ../shared/data. Skips without them."""
    folder = Path(os.environ.get("STUDY_TEST_DATA") or PROJECT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no public data sets at {folder}; set STUDY_TEST_DATA to a folder that has them")
    return folder


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """A test may choose another language for the screen; the next one begins in English."""
    set_language("en")
    yield
    set_language("en")


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder that the test works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- A home, and what stands on it. A file that wants one part otherwise has a fixture of that name. ----


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def embedder() -> Embedder | None:
    """Words only."""
    return None


@pytest.fixture
def storage(tmp_path: Path, clock: StoppedClock, embedder: Embedder | None) -> Iterator[Storage]:
    with Storage(tmp_path / "home", embedder=embedder, now=clock) as storage:
        yield storage


@pytest.fixture
def diary(storage: Storage) -> Any:
    return import_module("09_memory_system").EpisodicMemory(storage)


@pytest.fixture
def handbook(storage: Storage) -> Any:
    return import_module("09_memory_system").SemanticMemory(storage)


@pytest.fixture
def zone() -> tzinfo | None:
    """Where the learner's days begin and end: as on this machine."""
    return None


@pytest.fixture
def assistant(storage: Storage, zone: tzinfo | None) -> Iterator[Any]:
    m13 = import_module("13_pdf_learning_assistant")
    assistant = m13.PDFLearningAssistant(storage, timetable=Timetable(zone=zone))
    yield assistant
    assistant.close()


@pytest.fixture
def desk(assistant: Any) -> Desk:
    return desk_at(assistant)


# ---- Files ----


@pytest.fixture
def opened(engine: type[PdfFile], tmp_path: Path) -> Iterator[Callable[..., PdfFile]]:
    """opened(bytes, password) → a PDF with these bytes, open in the file's fixture `engine`; closed after the test."""
    files = []

    def open_pdf(data: bytes, password: str | None = None) -> PdfFile:
        path = tmp_path / f"{len(files)}.pdf"
        path.write_bytes(data)
        files.append(engine(path, password))
        return files[-1]

    yield open_pdf
    for file in files:
        file.close()


@pytest.fixture
def without_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were absent: recognising takes seconds, and test_ocr.py does it."""
    for module in (pdf, reading, trouble):
        monkeypatch.setattr(module, "has", lambda name: False)


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., SourceDocument]:
    """load(bytes, name, **options) → what is read of a file with that content."""

    def load_bytes(data: bytes, name: str = "book.pdf", **options: Any) -> SourceDocument:
        path = tmp_path / name
        path.write_bytes(data)
        return reading.read_document(path, **options)

    return load_bytes
