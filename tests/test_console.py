import io
import json
import logging
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.panel import Panel
from rich.table import Table

from infrastructure.console import Screen, line_breaks, plain, quiet_libraries


def stream(encoding: str = "utf-8", terminal: bool = False) -> io.TextIOWrapper:
    wrapper = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    wrapper.isatty = lambda: terminal
    return wrapper


def written(wrapper: io.TextIOWrapper) -> str:
    wrapper.flush()
    return wrapper.buffer.getvalue().decode(wrapper.encoding)


def shown(renderable, **options) -> str:
    out = stream(options.pop("encoding", "utf-8"), options.pop("terminal", False))
    Screen(out, stream(), **options).show(renderable)
    return written(out)


def table() -> Table:
    table = Table("name", "value")
    table.add_row("a", "b")
    return table


# ---- Foreign text ----


def test_markup_and_emoji_codes_in_foreign_text_are_printed_as_they_read():
    assert shown("[red]x[/red] [/] :smile:") == "[red]x[/red] [/] :smile:\n"


def test_control_characters_never_reach_the_screen():
    assert shown("a\x1b[2J\x07b\x9bc\u202ed") == "abcd\n"


def test_control_characters_inside_a_table_do_not_either():
    grid = Table("head")
    grid.add_row("a\x1b[2Jb\x07")
    assert "\x1b" not in shown(grid) and "\x07" not in shown(grid)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_shown_and_moves_no_cursor(text):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown(text, encoding="gbk"))


# ---- Plain output ----


def test_a_pipe_gets_whole_lines_without_colour_or_boxes():
    assert shown("word " * 100) == "word " * 100 + "\n"
    assert "─" not in shown(table()) and "\x1b" not in shown(table())


def test_a_panel_without_its_box_keeps_title_and_content():
    assert shown(Panel("inside", title="Title")).split() == ["Title", "inside"]


def test_showing_a_table_plainly_leaves_it_as_it_was():
    grid = table()
    shown(grid)
    assert grid.box is not None


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_the_environment_can_ask_a_terminal_for_plain_output(variables, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "┃" in shown(table(), terminal=True)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    output = shown(table(), terminal=True)
    assert "\x1b" not in output and "┃" not in output


def test_color_false_makes_a_terminal_plain(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b" not in shown(table(), terminal=True, color=False)


# ---- Old consoles ----


@pytest.mark.parametrize("encoding", ["gbk", "ascii", "latin-1"])
def test_a_console_that_lacks_a_character_prints_a_question_mark(encoding):
    assert shown("a😀b", encoding=encoding) == "a?b\n"


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "ascii"])
@pytest.mark.parametrize("terminal", [True, False])
def test_json_is_valid_in_every_encoding(encoding, terminal):
    value = {"答": "a😀\ud800é\x1b"}
    out = stream(encoding, terminal)
    Screen(out, stream(), json=True).json(value)
    assert json.loads(written(out)) == value


def test_json_is_not_ascii_escaped_where_it_need_not_be():
    out = stream()
    Screen(out, stream(), json=True).json({"a": "检索"})
    assert "检索" in written(out)


def test_json_through_a_pipe_is_utf8_even_if_the_console_is_gbk():
    out = stream("gbk")
    Screen(out, stream(), json=True).json({"a": "检索"})
    assert json.loads(out.buffer.getvalue().decode("utf-8")) == {"a": "检索"}


def test_with_json_nothing_else_reaches_stdout():
    out, err = stream(), stream()
    screen = Screen(out, err, json=True)
    screen.show("data")
    screen.note("careful")
    assert (written(out), written(err)) == ("", "careful\n")


# ---- Progress and noise ----


def test_progress_is_silent_without_a_terminal():
    out, err = stream(), stream()
    with Screen(out, err).progress("Reading", 3) as advance:
        advance(1)
    assert written(out) + written(err) == ""


def test_progress_stays_on_stderr(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    out, err = stream(terminal=True), stream(terminal=True)
    with Screen(out, err).progress("Reading", 3) as advance:
        advance(3)
    assert written(out) == "" and "Reading" in written(err)


def test_library_noise_is_hidden_unless_debugging(caplog):
    logger = logging.getLogger("pypdf")
    before = logger.level
    quiet_libraries(debug=False)
    logger.warning("Multiple definitions in dictionary at byte 7")
    logger.setLevel(before)
    assert caplog.records == []


# ---- Line breaks ----


def test_no_line_starts_with_a_comma():
    lines = shown("检索增强生成，可以减少幻觉。", width=12).split("\n")
    assert lines == ["检索增强生", "成，可以减少", "幻觉。", ""]


def test_opening_brackets_do_not_end_a_line():
    assert shown("检索增强（生成）", width=10).split("\n") == ["检索增强", "（生成）", ""]


def test_latin_words_stay_whole_and_only_too_long_ones_are_cut():
    assert shown("用 retrieval 检索 " + "x" * 15, width=12).split("\n") == [
        "用 retrieval",
        "检索 ",
        "x" * 12,
        "xxx",
        "",
    ]


def test_table_cells_break_lines_the_same_way():
    grid = Table.grid()
    grid.add_column(width=12)
    grid.add_row(plain("检索增强生成，可以"))
    assert [line.strip() for line in shown(grid).splitlines()] == ["检索增强生", "成，可以"]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("covered 0.03, importance", 11, ["covered", "0.03,", "importance"]),
        ("见guide.pdf，第5页", 9, ["见", "guide.pd", "f，第5页"]),
        ("abcdefgh。」x", 8, ["abcdefg", "h。」x"]),
    ],
)
def test_numbers_stay_whole_and_no_line_begins_with_a_comma(text, width, lines):
    edges = pairwise([0, *line_breaks(text, width), len(text)])
    assert [text[start:end].rstrip() for start, end in edges] == lines


@given(st.text("ab1. 字，。（）。 \t"), st.integers(2, 20))
def test_no_line_is_wider_than_asked(text, width):
    edges = pairwise([0, *line_breaks(text, width), len(text)])
    assert all(cell_len(text[start:end].rstrip()) <= width for start, end in edges)


def test_a_process_without_stdout_writes_nowhere(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    Screen(stderr=stream()).show("said to nobody")
