import io
import re
import sys
from pathlib import Path

import pytest
from fake_assistant import FakeAssistant, lesson
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.console import Screen, line_breaks
from infrastructure.errors import UsageError
from infrastructure.settings import Settings
from study.desk import Desk
from study.flow import Flow
from study.terminal import PlainReader, Session, understand

pexpect = pytest.importorskip("pexpect", reason="a real terminal is only driven where pexpect is installed")
if sys.platform == "win32":
    pytest.skip("pexpect needs a Unix terminal", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("own_folder")

FAKE = Path(__file__).with_name("fake_assistant.py")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][A-Z0-9]?")
COLOR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-7]|9[0-7]|4[0-7])(?:;[0-9]+)*m")
CTRL_C, CTRL_D, ALT_ENTER, TAB, UP = "\x03", "\x04", "\x1b\r", "\t", "\x1b[A"


# ---- What a line means ----


@pytest.mark.parametrize(
    ("line", "command", "words"),
    [
        ("/docs", "docs", []),
        ("／ｄｏｃｓ", "docs", []),
        ("/DOCS", "docs", []),
        ("/ask：什么是 RAG", "ask", ["什么是", "RAG"]),
        ("/ask, what now", "ask", ["what", "now"]),
        ("/ask　－－top-k　３　q", "ask", ["--top-k", "３", "q"]),
        ("／ｍｅｍｏｒｙ　ｌｉｓｔ　－－ｌｉｍｉｔ　２", "memory", ["ｌｉｓｔ", "--limit", "２"]),
        ("exit", "quit", []),
        ("Quit.", "quit", []),
        ("退出", "quit", []),
        ("/q", "quit", []),
        ("?", "help", []),
        ("？", "help", []),
        ("/", "help", []),
        ("/？", "help", []),
        ("/home/nobody/notes.pdf", "load", ["/home/nobody/notes.pdf"]),
    ],
)
def test_a_command_is_understood_in_any_width_and_case(line, command, words):
    meant = understand(line)
    assert (meant.command.name, meant.words) == (command, words)


@pytest.mark.parametrize(
    "line", ["What is RAG?", "load", "help me understand RAG", "quit smoking?", "and/or", "１／２ 是什么", "x"]
)
def test_anything_else_is_a_question(line):
    assert understand(line) is None


@pytest.mark.parametrize(("line", "near"), [("/hlep", "/help"), ("/rev RAG", "/review"), ("/laod x", "/load")])
def test_an_unknown_command_suggests_the_nearest(line, near):
    with pytest.raises(UsageError, match=f"did you mean {near}\\?"):
        understand(line)


def test_a_dropped_file_is_loaded():
    Path("my notes.pdf").touch()
    for line in (
        "'my notes.pdf'",
        r"my\ notes.pdf",
        str(Path("my notes.pdf").absolute()),
        Path("my notes.pdf").absolute().as_uri(),
    ):
        assert understand(line).command.name == "load"
    assert understand("What is in notes.pdf?") is None


# ---- Without a terminal: commands and questions, one a line ----


@pytest.fixture
def assistant():
    return FakeAssistant()


@pytest.fixture
def session(assistant, tmp_path):
    """session(text) → (exit code, stdout, stderr, assistant) for lines that come through a pipe."""

    def session(piped: str | bytes, encoding: str = "utf-8") -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        data = piped if isinstance(piped, bytes) else piped.encode(encoding)
        desk = Desk(
            Screen(out, err),
            lesson,
            io.TextIOWrapper(io.BytesIO(data), encoding),
            interactive=True,
            assistant=assistant,
        )
        desk.settings = Settings.load({"home": tmp_path, "language": "en"}, environ={}, dotenv={})
        code = Session(desk).run()
        return code, out.getvalue(), err.getvalue()

    return session


def asked(assistant: FakeAssistant) -> list[str]:
    return [call[1] for call in assistant.calls if call[0] == "ask"]


def test_piped_lines_are_done_one_by_one(session, assistant):
    code, out, _ = session("什么是 RAG？\n\n/docs\nWhat is it?")
    assert code == 0 and asked(assistant) == ["什么是 RAG？", "What is it?"]
    assert "No documents yet." in out and not out.startswith(">")


def test_the_end_of_input_is_a_clean_end(session):
    assert session("") == (0, "", "")


def test_after_quit_nothing_is_read(session, assistant):
    session("/quit\nq\n")
    assert asked(assistant) == []


def test_an_unknown_command_never_goes_to_the_assistant(session, assistant):
    code, _, err = session("/hlep\n/x y z\n")
    assert code == 0 and asked(assistant) == []
    assert err == "There is no command /hlep; did you mean /help?\nThere is no command /x; /help lists them.\n"


def test_a_failure_does_not_end_the_session(session, assistant):
    code, _, err = session("crash\n/ask\n/load nosuch.pdf\nq\n")
    assert code == 0 and asked(assistant) == ["crash", "q"]
    assert "boom" in err and "QUESTION is missing; for example: /ask" in err and "no file nosuch.pdf" in err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk"])
def test_any_encoding_of_the_pipe_will_do(session, assistant, encoding):
    session("检索增强\r\n".encode(encoding), "gbk" if encoding == "gbk" else "utf-8")
    assert asked(assistant) == ["检索增强"]


def test_utf8_is_understood_on_a_gbk_console(session, assistant):
    session("检索增强\n".encode(), "gbk")
    assert asked(assistant) == ["检索增强"]


def test_no_surrogates_or_control_characters_reach_the_assistant(session, assistant):
    session(b"a\xff\x1b[31mb\x00\n")
    assert asked(assistant) == ["a\ufffdb"]


def test_without_stdin_there_is_nothing_to_read():
    with pytest.raises(EOFError):
        PlainReader(None).read()


def test_every_command_of_the_shell_is_one_of_the_session_with_the_same_options(session, assistant):
    Path("a.pdf").touch()
    session(
        '/load a.pdf\n/ask --top-k 3 --hyde what\'s "this"\n/note "先看" Recall --concept 评估\n/review RAG\n/stats\n/remove 1\n'
    )
    assert (
        "ask",
        'what\'s "this"',
        {"top_k": 3, "use_mqe": True, "use_hyde": True, "use_memory": True},
    ) in assistant.calls
    assert ("note", '"先看" Recall', "评估") in assistant.calls
    assert assistant.documents() == []


def test_help_in_the_session(session):
    out = session("/help\n/help ask\n/ask --help\n/lang zh\n/help\n")[1]
    assert "/load PATH..." in out and out.count("Usage: /ask QUESTION... [options]") == 2
    assert "--home" not in out and "界面已切换为中文" in out and "向资料提问" in out


def test_settings_show_what_is_in_force_and_where_it_came_from(session):
    out = session("/lang zh\n/lang en\n/settings\n")[1]
    rows = {
        row.split()[0]: row.split()[1:]
        for row in out.splitlines()
        if row.startswith(("MEMORY_HOME", "STUDY_LANG", "LLM_MODEL"))
    }
    assert rows["MEMORY_HOME"][1:] == ["command", "line"] and rows["STUDY_LANG"] == ["en", "/lang"]
    assert rows["LLM_MODEL"] == ["–", "default"]


# ---- Streaming ----


def flowed(pieces: list[str], width: int) -> str:
    written: list[str] = []
    flow = Flow(written.append, width)
    for piece in pieces:
        flow.feed(piece)
    flow.finish()
    return "".join(written)


def test_streamed_lines_break_between_words():
    assert flowed(["re", "trieval aug", "mented gen", "eration"], 20) == "retrieval augmented\ngeneration\n"


def test_streamed_chinese_never_begins_a_line_with_a_comma():
    assert flowed(list("检索增强生成，可以减少幻觉。"), 12) == "检索增强生\n成，可以减少\n幻觉。\n"


def test_what_is_settled_is_written_at_once():
    written: list[str] = []
    Flow(written.append, 80).feed("The answer is ret")
    assert "".join(written) == "The answer is"


@given(st.lists(st.text("a1. 字，。（）《\n", max_size=6), max_size=20), st.integers(4, 20))
def test_a_streamed_text_is_broken_as_if_it_had_come_at_once(pieces, width):
    lines = "".join(pieces).split("\n")
    broken = [
        line[a:b].rstrip()
        for line in lines
        for a, b in zip([0, *line_breaks(line, width)], [*line_breaks(line, width), len(line)], strict=True)
    ]
    assert flowed(pieces, width).rstrip("\n") == "\n".join(broken).rstrip("\n")


def test_streamed_text_carries_no_escape_sequences():
    assert flowed(["a\x1b", "[31mb [red]\x07"], 80) == "a[31mb [red]\n"


# ---- In a real terminal ----


@pytest.fixture
def terminal(tmp_path):
    """terminal(*words, **environment) → the program in a pseudo-terminal, at its first prompt."""
    children = []

    def start(*words: str, columns: int = 80, wait_for: str = "Ctrl-D leaves", **environment: str) -> "pexpect.spawn":
        env = {
            "PATH": "/usr/bin:/bin",
            "TERM": "xterm",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "LANG": "C.UTF-8",
            "HOME": str(tmp_path),
        }
        child = pexpect.spawn(
            sys.executable, [str(FAKE), "--home", str(tmp_path / "home"), *words],
            env={**env, **environment}, encoding="utf-8", dimensions=(24, columns), timeout=30,
        )  # fmt: skip
        children.append(child)
        child.logfile_read = io.StringIO()
        child.expect_exact(wait_for)
        if environment.get("TERM") != "dumb":
            child.expect_exact("\x1b[?2004h")  # the line editor listens
        return child

    yield start
    for child in children:
        child.close(force=True)


def send(child: "pexpect.spawn", line: str) -> None:
    child.send(line + "\r")


def left(child: "pexpect.spawn") -> int:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_question_answer_and_ctrl_d(terminal):
    child = terminal()
    send(child, "What is HyDE?")
    child.expect_exact("You asked: What is HyDE? [1]".replace("[1]", ""))
    child.expect_exact("p. 3 (PDF page 6)")
    child.send(CTRL_D)
    assert left(child) == 0


def test_ctrl_c_stops_an_answer_and_keeps_it(terminal):
    child = terminal()
    send(child, "slow")
    child.expect_exact("word5")
    child.send(CTRL_C)
    child.expect_exact("Stopped.")
    assert "word1 word2 word3" in child.logfile_read.getvalue()
    send(child, "next")
    child.expect_exact("You asked: next")


def test_what_is_typed_during_an_answer_is_not_mixed_into_it(terminal):
    child = terminal()
    send(child, "slow")
    child.expect_exact("word5")
    send(child, "zebra")
    child.expect_exact("word40")
    child.send(CTRL_C)
    child.expect_exact("Stopped.")
    assert "zebra" not in child.logfile_read.getvalue() and "^C" not in child.logfile_read.getvalue()
    send(child, "shown again")
    child.expect_exact("shown again")


def test_the_first_idle_ctrl_c_says_how_to_leave_and_the_second_leaves(terminal):
    child = terminal()
    child.send(CTRL_C)
    child.expect_exact("Ctrl-C once more")
    send(child, "still here")
    child.expect_exact("You asked: still here")
    child.send(CTRL_C)
    child.expect_exact("Ctrl-C once more")
    child.send(CTRL_C)
    assert left(child) == 0


def test_ctrl_c_clears_a_line_that_was_begun(terminal):
    child = terminal()
    child.send("wrong" + CTRL_C)
    send(child, "right")
    child.expect_exact("You asked: right")
    assert "once more" not in child.logfile_read.getvalue()


def test_a_one_shot_command_that_is_interrupted_ends_with_130(terminal):
    child = pexpect.spawn(
        sys.executable, [str(FAKE), "--home", str(Path("home").absolute()), "ask", "slow"],
        env={"PATH": "/usr/bin", "TERM": "xterm", "LANG": "C.UTF-8"}, encoding="utf-8", timeout=30,
    )  # fmt: skip
    child.expect_exact("word5")
    child.sendintr()
    child.expect_exact("Interrupted; what was done is kept.")
    assert left(child) == 130


def test_a_paste_is_one_message(terminal):
    child = terminal()
    child.send("\x1b[200~first line\nsecond line\x1b[201~\r")
    child.expect_exact("You asked: first line\r\nsecond line")


def test_alt_enter_begins_a_new_line(terminal):
    child = terminal()
    child.send("one" + ALT_ENTER + "two\r")
    child.expect_exact("You asked: one\r\ntwo")


def test_tab_completes(terminal):
    Path("only.pdf").touch()
    child = terminal()
    child.send("/lo" + TAB)
    child.expect_exact("ad")
    child.send(" onl" + TAB)
    child.expect_exact("y.pdf")
    child.send("\r")
    child.expect_exact("loaded")


def test_backspace_deletes_one_chinese_character(terminal):
    child = terminal()
    send(child, "检索错\x7f")
    child.expect_exact("You asked: 检索 ")


def test_earlier_lines_come_back_in_the_next_session_but_no_secrets(terminal, tmp_path):
    child = terminal()
    for line in ("first question", "my password is hunter22", "/load x.pdf --password hunter22"):
        send(child, line)
        child.expect_exact("\x1b[?2004h")
    send(child, "/quit")
    assert left(child) == 0
    kept = (tmp_path / "home" / "prompt_history").read_text(encoding="utf-8")
    assert "first question" in kept and "hunter22" not in kept
    child = terminal()
    child.send(UP + UP + "\r")
    child.expect_exact("You asked: first question")


def test_a_history_that_cannot_be_written_is_one_warning(terminal, tmp_path):
    (tmp_path / "home" / "prompt_history").mkdir(parents=True)
    child = terminal()
    for line in ("one", "two"):
        send(child, line)
        child.expect_exact(f"You asked: {line}")
    assert child.logfile_read.getvalue().count("are not kept") == 1


def test_a_password_is_not_shown(terminal):
    Path("locked.pdf").touch()
    child = terminal()
    send(child, "/load locked.pdf")
    child.expect_exact("Password for locked.pdf (Enter skips it): ")
    child.waitnoecho()
    child.sendline("open sesame")
    child.expect_exact("loaded")
    assert "sesame" not in child.logfile_read.getvalue()


def test_a_file_on_the_command_line_is_loaded_first(terminal):
    Path("a.pdf").touch()
    child = terminal("a.pdf")
    shown = child.logfile_read.getvalue()
    assert shown.index("a.pdf") < shown.index("1 document")


def test_the_session_is_coloured_in_a_terminal_and_plain_when_asked(terminal):
    child = terminal()
    assert COLOR.search(child.logfile_read.getvalue())
    for words, environment in ((["--no-color"], {}), ([], {"NO_COLOR": "1"})):
        child = terminal(*words, **environment)
        send(child, "q")
        child.expect_exact("p. 3")
        assert not COLOR.search(child.logfile_read.getvalue())


def test_a_dumb_terminal_gets_no_escape_sequence_at_all(terminal):
    child = terminal(TERM="dumb")
    child.sendline("检索？")
    child.expect_exact("p. 3")
    child.sendline("slow")
    child.expect_exact("word5")
    child.sendintr()
    child.expect_exact("Stopped.")
    child.sendeof()
    assert left(child) == 0
    assert "\x1b" not in child.logfile_read.getvalue()


def test_the_screen_speaks_chinese(terminal):
    child = terminal("--lang", "zh", wait_for="Ctrl-D 离开")
    send(child, "／ｈｅｌｐ")
    child.expect_exact("向资料提问")


def test_a_narrow_terminal_is_kept_to(terminal):
    from rich.cells import cell_len

    child = terminal(columns=60)
    send(child, "model")
    child.expect_exact("so [1].")
    shown = ESCAPE.sub("", child.logfile_read.getvalue()).replace("\r", "\n")
    assert max(map(cell_len, shown.split("\n"))) <= 60
