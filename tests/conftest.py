"""What every test stands on: the project importable, no settings from outside, the same random examples each run."""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from infrastructure.console import _NOISY  # noqa: E402  the project is importable from here on

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
