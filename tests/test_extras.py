import shlex
import sys
from pathlib import Path

import pytest

from infrastructure import extras
from infrastructure.errors import StudyError
from infrastructure.language import set_language

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture
def absent(monkeypatch):
    """An extra whose module nobody has."""
    extra = extras.Extra("no_such_module_here", ("no-such[thing]>=1,<2",), ("Doing it", "做这件事"))
    monkeypatch.setitem(extras.EXTRAS, "absent", extra)


def test_the_table_and_the_requirements_file_name_the_same_packages():
    lines = (PROJECT / "requirements-extras.txt").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    assert listed == [requirement for extra in extras.EXTRAS.values() for requirement in extra.requirements]
    introduced = [line.removeprefix("# ").partition(":")[0] for line in lines[1:] if line.startswith("#")]
    assert introduced == list(extras.EXTRAS)


def test_an_extra_that_is_there_is_imported(monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "json", extras.Extra("json", ("json",), ("Reading", "读取")))
    assert extras.has("json")
    assert extras.need("json").loads("[1]") == [1]


def test_an_absent_extra_is_one_sentence_that_ends_with_a_command_for_this_python(absent):
    assert not extras.has("absent")
    with pytest.raises(StudyError, match=r"^Doing it needs a package that is not installed: ") as caught:
        extras.need("absent")
    command = shlex.split(str(caught.value).partition("installed: ")[2])
    assert command[1:] == ["-m", "pip", "install", "no-such[thing]>=1,<2"]
    assert (Path.cwd() / command[0]).samefile(sys.executable)


def test_it_is_said_in_chinese_too(absent):
    set_language("zh")
    assert extras.missing("absent").startswith("做这件事需要安装额外的包：")


def test_a_python_in_a_folder_with_spaces_is_quoted(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/my tools/python")
    assert extras.pip_command("x>1") == '"/my tools/python" -m pip install "x>1"'


def test_a_name_that_is_no_extra_is_a_fault_of_ours():
    with pytest.raises(KeyError):
        extras.need("teleport")
