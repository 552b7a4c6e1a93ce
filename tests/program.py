"""The study helper as it is started, script 13 whole: in a process of its own, or in this one, which costs no importing."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from conftest import OURS, TERMINAL

from study import commandline

m13 = import_module("13_pdf_learning_assistant")

PROJECT = Path(__file__).resolve().parent.parent
PROGRAM = PROJECT / "13_pdf_learning_assistant.py"


def environment(**more: str) -> dict[str, str]:
    """A newcomer's: no keys, no model, nothing in the Hugging Face cache."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith((*OURS, "HF_")) and not name.endswith(("_API_KEY", "_API_BASE")) and name not in TERMINAL
    }
    nothing = str(PROJECT / "tests" / "no-such-cache")
    return own | {"HF_HOME": nothing, "PYTHONIOENCODING": "utf-8", "STUDY_LANG": "en"} | more


@dataclass(frozen=True)
class Outcome:
    returncode: int
    stdout: str
    stderr: str


def run(*words: str | Path, home: Path, **variables: str) -> Outcome:
    """A command in a process of its own, in the folder that the home is in. `words` may name another home."""
    done = subprocess.run(
        [sys.executable, PROGRAM, "--home", str(home), *map(str, words)], cwd=home.parent, env=environment(**variables),
        capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def typed(*words: str | Path, home: Path, **variables: str) -> Outcome:
    """The same command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    own = environment(**variables)
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(home.parent):
        for name in os.environ.keys() - own.keys():
            patch.delenv(name)
        for name, value in own.items():
            patch.setenv(name, value)
        code = commandline.run(
            ["--home", str(home), *map(str, words)], open_assistant=m13.open_assistant, lesson=m13.lesson,
            stdin=io.StringIO(), stdout=out, stderr=err,
        )  # fmt: skip
    return Outcome(code, out.getvalue(), err.getvalue())
