"""How lessons are run: infrastructure/lesson.py. That they run from any folder and leave nothing behind: test_acceptance.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.lesson import StoppedClock, table

PROJECT = Path(__file__).resolve().parent.parent
SCRIPT = "09_memory_system.py"


def run(script, *args, cwd, **environment):
    command = [sys.executable, PROJECT / script, *args]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", timeout=60, env=os.environ | environment
    )


def test_the_language_is_the_one_that_is_set(tmp_path):
    assert "试一试" in run(SCRIPT, cwd=tmp_path, STUDY_LANG="zh", PYTHONIOENCODING="utf-8").stdout


@pytest.mark.parametrize("words", [["--lang", "zh"], ["--help"]])
def test_a_console_that_knows_no_chinese_still_gets_its_lesson(tmp_path, words):
    result = run(SCRIPT, *words, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "") and "?" in result.stdout


def test_an_unknown_language_is_a_usage_error(tmp_path):
    assert run(SCRIPT, "--lang", "fr", cwd=tmp_path).returncode == 2
    assert run(SCRIPT, cwd=tmp_path, STUDY_LANG="fr").returncode == 2


def test_help_says_what_the_lesson_is_about(tmp_path):
    assert "Three memories" in run(SCRIPT, "--help", cwd=tmp_path, PYTHONIOENCODING="utf-8").stdout


def test_a_stopped_clock_moves_only_when_told():
    clock = StoppedClock()
    before = clock()
    assert clock() == before
    clock.move(hours=2)
    assert (clock() - before).total_seconds() == 7200


def test_a_table_without_rows_still_has_its_columns():
    assert [column.header for column in table("one", "two", rows=[]).columns] == ["one", "two"]


def test_ctrl_c_while_a_script_is_imported_is_one_line_and_no_traceback():
    code = "import infrastructure; raise KeyboardInterrupt"
    result = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, encoding="utf-8",
                            env=os.environ | {"PYTHONIOENCODING": "utf-8"})  # fmt: skip
    assert result.returncode != 0 and result.stderr.split() == ["Interrupted.", "已中断。"]
