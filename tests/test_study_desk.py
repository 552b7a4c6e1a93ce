"""The desk a learner sits at: study/desk.py."""

import io
import pydoc

import pytest
from fake_assistant import lesson
from rich.text import Text

from infrastructure.console import Screen
from study.desk import Desk


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def paged(monkeypatch):
    """What went through the pager."""
    shown: list[str] = []
    monkeypatch.setattr(pydoc, "pager", shown.append)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("LESS", raising=False)
    return shown


def desk_at(stdout, stdin, **options) -> Desk:
    return Desk(Screen(stdout, io.StringIO(), **options), lesson, stdin)


def lines(number: int) -> Text:
    return Text("\n".join(f"line {n}" for n in range(number)))


@pytest.mark.parametrize(("length", "goes"), [(20, False), (44, False), (46, True), (300, True)])
def test_what_is_longer_than_two_screens_goes_through_the_pager(paged, length, goes):
    out = Terminal()
    desk_at(out, Terminal()).show_long(lines(length))
    assert (bool(paged), "line 0" in out.getvalue()) == (goes, not goes)


@pytest.mark.parametrize(
    ("stdout", "stdin"), [(io.StringIO, Terminal), (Terminal, io.StringIO), (io.StringIO, io.StringIO)]
)
def test_no_pager_without_somebody_at_a_terminal(paged, stdout, stdin):
    out = stdout()
    desk_at(out, stdin()).show_long(lines(300))
    assert not paged and "line 299" in out.getvalue()


def test_the_pager_keeps_colours_unless_output_is_plain(paged):
    for options in ({}, {"color": False}):
        desk_at(Terminal(), Terminal(), **options).show_long(Text("\n".join(["red"] * 99), "red"))
    assert "\x1b[31m" in paged[0] and "\x1b" not in paged[1]


@pytest.mark.parametrize(
    ("said", "meant"), [("y", True), ("YES", True), ("是", True), ("", False), ("n", False), ("yeah no", False)]
)
def test_only_a_yes_is_a_yes(said, meant):
    desk = desk_at(Terminal(), Terminal())
    desk.ask_line = lambda question: said
    assert desk.confirm("Sure?") is meant


def test_somebody_can_be_asked_only_at_a_terminal():
    desk = desk_at(Terminal(), Terminal())
    assert desk.can_be_asked
    desk.stdin = io.StringIO()
    assert not desk.can_be_asked
