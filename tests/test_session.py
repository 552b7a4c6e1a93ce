"""A whole study session in a real terminal: the real program and a real home. That answers stream through LiteLLM, and in a
terminal, is shown by test_acceptance."""

import io
import re
import sys
from pathlib import Path

import pytest
from program import environment

pexpect = pytest.importorskip("pexpect", reason="a real terminal is only driven where pexpect is installed")
if sys.platform == "win32":
    pytest.skip("pexpect needs a Unix terminal", allow_module_level=True)

PROJECT = Path(__file__).resolve().parent.parent
PROGRAM = PROJECT / "13_pdf_learning_assistant.py"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][A-Z0-9]?")
CTRL_C, CTRL_D, CTRL_R, UP = "\x03", "\x04", "\x12", "\x1b[A"
LISTENS = "\x1b[?2004h"  # the line editor is ready


class Terminal:
    """The program in a pseudo-terminal; `say` sends a line and returns what is shown until the next prompt."""

    def __init__(self, home: Path, program: Path = PROGRAM) -> None:
        env = environment(TERM="xterm", PROMPT_TOOLKIT_NO_CPR="1", PAGER="cat", EMBEDDING_MODEL="none")
        self.child = pexpect.spawn(
            sys.executable, [str(program), "--home", str(home)],
            cwd=PROJECT, env=env, encoding="utf-8", dimensions=(40, 100), timeout=60,
        )  # fmt: skip
        self.child.logfile_read = io.StringIO()
        self.first = self.until_prompt()

    def until_prompt(self) -> str:
        self.child.expect_exact(LISTENS)
        return ESCAPE.sub("", self.child.before).replace("\r", "")

    def say(self, line: str) -> str:
        self.child.send(line + "\r")
        self.child.expect_exact("\x1b[?2004l")  # the line is taken
        return self.until_prompt()

    def leave(self, key: str) -> int:
        self.child.send(key)
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def terminal(tmp_path):
    """terminal() → the program, listening; again on the same home."""
    open_now: list[Terminal] = []

    def sit_down(program: Path = PROGRAM) -> Terminal:
        open_now.append(Terminal(tmp_path / "home", program))
        return open_now[-1]

    yield sit_down
    for here in open_now:
        here.child.close(force=True)


def test_a_first_evening_and_the_next_morning(terminal):
    here = terminal()
    assert "/load samples/memory_rag_guide.pdf" in here.first and here.first.strip().count("\n") < 15
    assert "loaded · 12 pages" in here.say("/load samples/memory_rag_guide.pdf")
    assert "p. 5 (PDF page 7)" in here.say("What does HyDE stand for?")
    assert "Understood as" in here.say("那这个怎么优化？")
    assert "评估 RAG 系统主要看三个指标" in here.say("RAG 系统怎么评估？")
    assert "did you mean /page?" in here.say("/pagge 5")
    assert "PDF page 7" in here.say("/page ７") and "semantic" not in here.say("/memory list --kind episodic")
    assert here.leave(CTRL_D) == 0

    here = terminal()
    assert "1 document, 3 questions so far." in here.first and "What does HyDE stand for?" in here.first
    assert "评估" in here.say("/why")
    here.child.send(CTRL_R + "pagge\r")
    assert "did you mean /page?" in here.say("")
    assert here.leave("/quit\r") == 0


def test_a_purged_note_is_gone_from_the_lines_typed_before_too(terminal):
    here = terminal()
    here.say("/note My zebra is called Tom.")
    memory_id = re.search(r"\b[0-9a-f]{8}\b", here.say("/notes"))[0]
    here.child.send(f"/memory purge {memory_id}\r")
    here.child.expect_exact("Delete for good?")
    here.child.send("y\r")
    here.child.expect_exact("Deleted for good: 1 memory")
    here.until_prompt()
    before = len(here.child.logfile_read.getvalue())
    here.child.send(UP * 6 + "\r")
    here.until_prompt()
    assert "zebra" not in here.child.logfile_read.getvalue()[before:]


def test_ctrl_c_stops_a_model_and_what_it_had_said_is_kept(terminal):
    here = terminal(Path(__file__).with_name("slow_model.py"))
    here.say("/load samples/memory_rag_guide.pdf")
    here.child.send("What does HyDE stand for?\r")
    here.child.expect_exact("word 3")
    here.child.send(CTRL_C)
    here.child.expect_exact("Stopped.")
    here.until_prompt()
    shown = here.say("/why")
    assert "until you stopped it" in shown and "a part is no memory" in shown
    assert "No memories here." in here.say("/memory list --kind episodic")
    assert "PDF page" in here.say("/open 1")
    here.child.send(CTRL_C)
    here.child.expect_exact("Ctrl-C once more")
    assert here.leave(CTRL_C) == 0


def test_a_quiz_asks_one_question_at_a_time_and_ctrl_c_keeps_what_was_graded(terminal):
    here = terminal()
    here.say("/load samples/memory_rag_guide.pdf")
    assert "1/2" in here.say("/quiz half-life --count 2")
    verdict = here.say("24")
    assert "Right." in verdict and "p. 3 (PDF page 5)" in verdict and "it comes back in 10 minutes" in verdict
    assert "2/2" in here.say("")
    here.child.send(CTRL_C)
    assert "Stopped after 1 of 2; 1 known, all saved." in here.until_prompt()
    assert "RAG 系统" in here.say("RAG 系统怎么评估？"), "the session goes on"
    assert here.leave(CTRL_D) == 0
    assert "due today" in terminal().first
