"""How a model is called, whoever it is: in bounded time, silently, and every failure with a sentence."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from infrastructure.language import set_language
from infrastructure.service import FAILURES, Service, in_time

PROJECT = Path(__file__).resolve().parent.parent


def test_work_that_never_ends_is_left_in_time():
    def never() -> Iterator[int]:
        yield 1
        time.sleep(5)

    begin = time.monotonic()
    with pytest.raises(TimeoutError):
        list(in_time(never, first=5, pause=0.05))
    assert time.monotonic() - begin < 2


def test_a_password_in_the_address_is_not_shown():
    service = Service("LLM", "openai/m", None, "http://me:secret@host/v1", 1, {})
    assert "secret" not in service.sentence("unreachable")


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_failure_is_a_sentence_with_a_known_reason(kind, language):
    set_language(language)
    sentence = Service("LLM", "openai/m", None, None, 60, {}).sentence(kind, "a detail")
    assert FAILURES[kind][0] in ("auth", "quota", "timeout", "refused", "empty", "cut", "network", "other")
    assert "{" not in sentence
    assert any("一" <= char <= "鿿" for char in sentence) == (language == "zh")


def test_importing_litellm_is_silent_and_neither_calls_out_nor_reads_a_dotenv(tmp_path):
    (tmp_path / ".env").write_text("STRANGER_API_KEY=1\n", encoding="utf-8")
    code = (
        f"import sys, os, socket; sys.path.insert(0, {str(PROJECT)!r})\n"
        "def refuse(*args): os._exit(7)\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from infrastructure.service import load_litellm; load_litellm()\n"
        "assert 'STRANGER_API_KEY' not in os.environ"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
