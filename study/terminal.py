"""The session: lines in, answers out, until the learner leaves.

A line that begins with / is a command of the table in `commands`, a dropped file is loaded, anything else is a question.
Lines come from prompt_toolkit in a terminal and from a plain reader everywhere else, one command or question a line.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO, NamedTuple, Protocol, TextIO

from infrastructure.language import tr
from infrastructure.text import fold, repair
from study.arguments import ShowText, parse
from study.command import Command
from study.commands import find
from study.desk import Desk, sample_path
from study.paths import as_utf8, dropped, split_words
from study.sitting import resume

PROMPT = "> "


class Reader(Protocol):
    """`read` gives the next line, or several that were pasted as one; EOFError at the end, KeyboardInterrupt on Ctrl-C."""

    is_terminal: bool

    def read(self) -> str: ...

    def ask(self, question: str) -> str:
        """The answer to a question of ours, which is no line of the session."""

    def busy(self) -> AbstractContextManager[None]:
        """Around whatever a line started."""


# ---- The session ----


class Session:
    """Reads and does, one line after the other. `reader` None: whatever suits where the desk stands. go_on: with the last
    session, however long ago it was."""

    def __init__(self, desk: Desk, reader: Reader | None = None, *, go_on: bool = False) -> None:
        self.desk = desk
        self.go_on = go_on
        self.reader = reader or open_reader(desk)
        desk.ask_line = self.reader.ask
        if self.reader.is_terminal:
            desk.in_background = True
            desk.assistant.warm_up()

    def run(self) -> int:
        """0 when the learner left, or the input ended."""
        self._greet()
        about_to_leave = False
        while not self.desk.done:
            self.desk.tell_notices()
            try:
                text = self.reader.read()
            except EOFError:
                break
            except KeyboardInterrupt:
                if about_to_leave or not self.reader.is_terminal:
                    break
                about_to_leave = True
                self.desk.note(tr("Ctrl-C once more, or Ctrl-D, to leave.", "再按一次 Ctrl-C 或 Ctrl-D 离开。"))
                continue
            about_to_leave = False
            self._handle(text)
        return 0

    def _handle(self, text: str) -> None:
        """One line. Ctrl-C in a terminal ends what it started, not the session."""
        try:
            with self.reader.busy():
                self.desk.attempt(lambda: self._do(text))
        except KeyboardInterrupt:
            if not self.reader.is_terminal:
                raise
            self.desk.note(tr("Stopped.", "已停止。"))
        if self.reader.is_terminal and not self.desk.done:
            self.desk.show("")

    def _do(self, text: str) -> int:
        text = repair(as_utf8(text)).lstrip("\ufeff").strip()
        if not text:
            return 0
        meant = understand(text)
        if meant is None:
            self.desk.ask(text)
            return 0
        try:
            args = parse(meant.command, meant.words, in_session=True)
        except ShowText as shown:
            self.desk.show(str(shown).rstrip("\n"))
            return 0
        return meant.command.run(self.desk, args)

    def _greet(self) -> None:
        desk = self.desk
        going_on = self._resume()
        if not (self.reader.is_terminal and desk.on_terminal):
            return
        numbers = desk.assistant.get_stats()
        if numbers["documents"]:
            desk.show(desk.views.welcome_back(numbers, going_on))
        else:
            command = desk.typed(f"load {sample_path()}")
            desk.show(desk.views.first_run(command, has_model=bool(numbers.get("llm")), home=str(desk.settings.home)))
        desk.show("")

    def _resume(self) -> str:
        """Go on with the last session if it is recent, or wished; the question it began with, "" for a new session."""
        chosen = resume(self.desk, go_on=self.go_on)
        sessions = {session.session_id: session for session in self.desk.assistant.sessions()}
        return sessions[chosen].first_question if chosen in sessions else ""


# ---- What does a line mean? ----


class Meant(NamedTuple):
    command: Command
    words: Sequence[str]


_BARE = {
    **dict.fromkeys(("exit", "quit", "bye", "退出", "离开"), "quit"),
    **dict.fromkeys(("?", "help", "帮助"), "help"),
}
_COMMAND = re.compile(r"[/／]\s*([^\s：:，,]*)[\s：:，,]*")


def understand(text: str) -> Meant | None:
    """The command a line stands for, None for a question. UsageError for a /word that is no command.

    >>> understand("What is RAG?"), understand("／Review：RAG 评估").words
    (None, ['RAG', '评估'])
    """
    bare = _BARE.get(fold(text).rstrip(" .!。"))
    if bare:
        return Meant(find(bare), [])
    files = dropped(text)
    if files:
        return Meant(find("load"), files)
    match = _COMMAND.match(text)
    if match is None:
        return None
    name, words = fold(match[1]), split_words(text[match.end() :])
    if "/" in name:  # /home/me/notes.pdf, which is not there
        return Meant(find("load"), split_words(text))
    return Meant(find(name or "help"), words)


def command_in(text: str) -> Meant | None:
    """The command a line stands for that begins with a slash, also where another line would be no question."""
    match = _COMMAND.match(text)
    return understand(text) if match and match[1] and "/" not in match[1] else None


# ---- Reading lines ----


def open_reader(desk: Desk) -> Reader:
    """A line editor where there is a terminal that can have one."""
    if desk.at_terminal and desk.on_terminal:
        from prompt_toolkit.utils import is_dumb_terminal

        if not is_dumb_terminal():
            from study.prompt import LineEditor

            return LineEditor(desk)
    return PlainReader(desk.stdin, prompt_to=desk.screen.stdout if desk.at_terminal and desk.on_terminal else None)


class PlainReader:
    """Line by line from a pipe, a file, or a terminal that can do no more. Any encoding will do; no input is its end."""

    def __init__(self, stdin: TextIO | None, *, prompt_to: TextIO | None = None) -> None:
        self._stdin, self._prompt_to = stdin, prompt_to
        self.is_terminal = prompt_to is not None

    def read(self) -> str:
        return self.ask(PROMPT)

    def ask(self, question: str) -> str:
        if self._prompt_to is not None:
            self._prompt_to.write(question)
            self._prompt_to.flush()
        if self._stdin is None:
            raise EOFError
        buffer: BinaryIO | None = getattr(self._stdin, "buffer", None)
        line = self._stdin.readline() if buffer is None else self._decoded(buffer.readline())
        if not line:
            raise EOFError
        return line.rstrip("\r\n")

    def busy(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _decoded(self, line: bytes) -> str:
        """UTF-8 if it can be, whatever the console speaks: that is what files are written in."""
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            return line.decode(self._stdin.encoding or "utf-8", "replace")
