"""The place where a learner sits: a screen, settings, and the assistant. Every command works on one of these.

A command does not know whether it was typed into a shell or into the session; what differs between the two is decided here.
"""

import errno
import getpass
import os
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from infrastructure.console import Screen
from infrastructure.errors import DocumentError, PasswordNeeded, StudyError
from infrastructure.language import tr
from infrastructure.settings import PROJECT, Settings
from infrastructure.text import fold, repair
from study.flow import Flow
from study.stages import READING, RECOGNISING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from infrastructure.answers import Answer

PROGRAM = "python 13_pdf_learning_assistant.py"
SAMPLE = PROJECT / "samples" / "memory_rag_guide.pdf"
PASSWORD_TRIES = 3
SILENT = 0.05  # of a document's pages without text: fewer are its cover and blank ones
LONG = 2  # screenfuls; what is longer goes through the pager
PROMPT_LINES = 3  # below it: a blank line, the prompt, and room for what it says

Lesson = Callable[[Path], "Iterator[RenderableType]"]


@dataclass
class Desk:
    """`interactive`: in the session, where commands begin with "/". `settings` and `assistant` come when they are known.

    in_background: a worker makes the vectors. done: the learner wants to leave. reading: id of the document looked at last.
    """

    screen: Screen
    lesson: Lesson
    stdin: TextIO | None = None
    debug: bool = False
    interactive: bool = False
    in_background: bool = False
    done: bool = False
    reading: str = ""
    settings: Settings | None = None
    assistant: Any = None
    ask_password: Callable[[str], str] = field(default=getpass.getpass)
    ask_line: Callable[[str], str] | None = None  # reads an answer under a prompt; see `question`

    # ---- Showing ----

    @property
    def views(self) -> Any:
        """The module; it brings rich, so it is loaded when there is something to show."""
        from study import views

        return views

    @property
    def blocks(self) -> Any:
        """The module that views are made with, loaded as late."""
        from study import blocks

        return blocks

    def show(self, renderable: "RenderableType") -> None:
        """Data, to stdout; line by line into a pipe, so that nobody's lines are cut at a width that is not theirs."""
        for part in [renderable] if self.on_terminal else self.blocks.lines(renderable):
            self.screen.show(part)

    def show_long(self, renderable: "RenderableType", screens: int = LONG) -> None:
        """The same, through the pager when the learner sits at a terminal and would have to scroll back that many screens."""
        size = shutil.get_terminal_size()
        if not (self.at_terminal and self.on_terminal) or self.screen.json_only:
            return self.show(renderable)
        text = self.blocks.as_text(renderable, size.columns, color=not self.screen.is_plain)
        if text.count("\n") < screens * size.lines - PROMPT_LINES:
            return self.show(renderable)
        import pydoc

        os.environ.setdefault("LESS", r"-RX -PsSpace\: more   q\: back$")  # colours; what was read stays on the screen
        return pydoc.pager(text)

    def note(self, text: str, style: str = "") -> None:
        """Progress or a warning, to stderr."""
        self.screen.note(self.blocks.line((text, style)))

    def result(self, value: Any, renderable: "Callable[[], RenderableType]") -> None:
        """What a command found: as JSON when that was asked for, else as the picture `renderable` makes."""
        if self.screen.json_only:
            self.screen.json(value)
        else:
            self.show_long(renderable())

    @property
    def on_terminal(self) -> bool:
        return self.screen.stdout.isatty()

    @property
    def at_terminal(self) -> bool:
        return self.stdin is not None and self.stdin.isatty()

    @property
    def can_be_asked(self) -> bool:
        """Is somebody there who can answer a question before something is done?"""
        return self.at_terminal and self.on_terminal and not self.screen.json_only

    def confirm(self, question: str) -> bool:
        """True only for a yes; no answer is no."""
        try:
            said = fold(self.question(question)).strip()
        except EOFError:
            return False
        return said in ("y", "yes", "是", "好", "确认")

    @property
    def slash(self) -> str:
        """What a command begins with here."""
        return "/" if self.interactive else ""

    def question(self, prompt: str) -> str:
        """What the learner answers, from the session's reader or, for a command of its own, from one like it. EOFError at the
        end of input, KeyboardInterrupt on Ctrl-C."""
        if self.ask_line is None:
            from study.terminal import open_reader

            self.ask_line = open_reader(self).ask
        return self.ask_line(prompt)

    def typed(self, command: str) -> str:
        """A command as the learner would type it here."""
        return f"/{command}" if self.interactive else f"{PROGRAM} {command}"

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Something moves on stderr while nothing else does; nothing at all without a terminal or when output is plain."""
        if self.screen.is_plain or not self.screen.stderr.isatty() or self.screen.json_only:
            yield
            return
        from rich.console import Console

        with Console(file=self.screen.stderr).status(text, spinner="line", spinner_style="dim"):
            yield

    def tell_notices(self) -> None:
        """What the storage had to say meanwhile, each once."""
        notices = self.assistant.storage.notices
        while notices:
            self.note(notices.pop(0))

    # ---- Failing ----

    def attempt(self, action: Callable[[], int]) -> int:
        """Do it; the exit code. What goes wrong becomes one sentence, a traceback only with --debug."""
        try:
            return action()
        except StudyError as error:
            self.fail(str(error))
            return error.exit_code
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the learner gets a sentence
            if self.debug:
                self.note(traceback.format_exc())
            self.fail(unexpected(error))
            return 1

    def fail(self, sentence: str) -> None:
        self.note(sentence, "red")
        if self.screen.json_only:
            self.screen.json({"error": repair(sentence)})

    # ---- Asking and loading ----

    def ask(self, question: str, **options: Any) -> "Answer":
        """Ask the assistant and show what it says, as it says it. Interrupted, what was said stays on the screen."""
        question = repair(question).strip()
        self.reading = ""  # what the answer cites is looked at next
        with self._stream() as flow:
            answer = self.assistant.ask(question, on_text=flow and flow.feed, **options)
        if answer.note:
            if flow and flow.text:
                self.show("")
            self.note(answer.note, "dim")
        if self.screen.json_only:
            self.screen.json(answer.to_json())
        else:
            self.show(self.views.answer(answer, streamed=flow.text if flow else ""))
        if not (answer.found or answer.trace.get("noted")):
            self._say_why_not()
        return answer

    def _say_why_not(self) -> None:
        """Nothing was found: there is nothing, or some of it could not be read."""
        infos = self.assistant.documents()
        if not infos:
            command = self.typed(f"load {sample_path()}")
            self.note(tr(f"There are no documents yet; load one: {command}", f"还没有资料，先加载一份：{command}"))
        for info in infos:
            if info.silent_pages > SILENT * info.pages:
                self.note(
                    tr(
                        f"{info.silent_pages} of {info.pages} pages of {info.name} have no text that can be searched: "
                        "it may stand there.",
                        f"{info.name} 共 {info.pages} 页，其中 {info.silent_pages} 页没有可检索的文字：答案也许在那里。",
                    ),
                    "yellow",
                )

    @contextmanager
    def _stream(self) -> Iterator[Flow | None]:
        """Where the pieces of an answer go; None when only the whole of it is wanted."""
        if not self.on_terminal or self.screen.json_only:
            yield None
            return
        with ExitStack() as waiting:
            waiting.enter_context(self.waiting(tr("Looking …", "正在查找……")))

            def write(text: str) -> None:
                waiting.close()
                self.screen.stdout.write(text)
                self.screen.stdout.flush()

            flow = Flow(write, shutil.get_terminal_size().columns)
            try:
                yield flow
            finally:
                flow.finish()

    def load(self, path: Path | DocumentError, password: str | None = None) -> Any:
        """Load one file, with progress; ask for its password up to three times if it has one and somebody is there.

        A DocumentError in place of a file is raised, as if the file had been tried.
        """
        if isinstance(path, DocumentError):
            raise path
        tries = PASSWORD_TRIES if self.at_terminal and not self.screen.json_only else 0
        while True:
            try:
                with self._counting(path.name) as advance:
                    return self.assistant.load_document(path, password=password, progress=advance)
            except PasswordNeeded as error:
                if not tries:
                    raise
                if password is not None:
                    self.note(str(error), "red")
                password = self._password_for(path)
                if not password:
                    raise
                tries -= 1

    def _password_for(self, path: Path) -> str:
        try:
            return self.ask_password(
                tr(f"Password for {path.name} (Enter skips it): ", f"{path.name} 的密码（回车跳过）：")
            )
        except EOFError:
            return ""
        except KeyboardInterrupt:
            self.note("")  # the line of the prompt ends here
            raise

    def indexing(self) -> int:
        """How many texts wait for the worker to make their vectors."""
        return self.assistant.storage.owed().embed if self.in_background else 0

    @contextmanager
    def _counting(self, name: str) -> Iterator[Callable[[int, int, str], None]]:
        """A progress bar for each stage of reading a file, which appears with the first number it is told."""
        titles = {
            READING: tr(f"Reading {name}", f"正在读取 {name}"),
            RECOGNISING: tr(f"Recognising scanned pages of {name}", f"正在识别 {name} 的扫描页"),
        }
        with ExitStack() as stack:
            bars: dict[str, Callable[[int], None]] = {}

            def advance(done: int, total: int, stage: str) -> None:
                if stage not in bars:
                    stack.close()
                    bars[stage] = stack.enter_context(self.screen.progress(titles[stage], total))
                bars[stage](done)

            yield advance


def unexpected(error: Exception) -> str:
    """The sentence for a fault of ours, or for a disk that is full wherever it was met."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return tr("The disk is full; free some space and try again.", "磁盘已满；请腾出空间后重试。")
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return tr(
        f"Something went wrong inside the program ({what}); run it with --debug to see where.",
        f"程序内部出错（{what}）；加上 --debug 可以看到出错位置。",
    )


def sample_path() -> str:
    """The sample as one would type it from here."""
    try:
        path = str(SAMPLE.relative_to(Path.cwd()))
    except ValueError:
        path = str(SAMPLE)
    return f'"{path}"' if " " in path else path
