"""The line editor of the session: history, completion, pasted text as one message. Only a terminal gets it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import is_searching
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from infrastructure.language import tr
from infrastructure.text import repair
from infrastructure.utterance import secret_in
from study.completion import complete
from study.desk import Desk
from study.terminal import PROMPT

HISTORY = "prompt_history"  # in the home folder
REFRESH_SECONDS = 1.0
MENU_LINES = 6  # kept free below the line for what Tab offers


class LineEditor:
    """prompt_toolkit, with the keys learners know: Enter sends, Meta-Enter begins a line, Ctrl-C clears the line."""

    is_terminal = True

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._history_file = desk.settings.home / HISTORY
        self._history_id = _file_id(self._history_file)
        self._session: PromptSession[str] = PromptSession(
            history=History(self._history_file, desk.note),
            completer=_Completer(desk),
            complete_while_typing=False,
            key_bindings=_keys(),
            multiline=True,
            prompt_continuation=lambda width, line, wrapped: " " * width,
            color_depth=ColorDepth.DEPTH_1_BIT if desk.settings.no_color else None,
            reserve_space_for_menu=MENU_LINES,
            enable_suspend=True,
            search_ignore_case=True,
        )

    def read(self) -> str:
        busy = self._desk.indexing() > 0
        self._forget_with_the_file()
        line = self._session.prompt(
            [("bold", PROMPT)], rprompt=self._indexing, refresh_interval=REFRESH_SECONDS if busy else 0
        )
        self._history_id = _file_id(self._history_file)
        return line

    def _forget_with_the_file(self) -> None:
        """A purge has put another file in the place of the history: what it took out must not come back with Up."""
        if self._history_id not in (None, _file_id(self._history_file)):
            fresh = History(self._history_file, self._desk.note)
            self._session.history = self._session.default_buffer.history = fresh

    def ask(self, prompt: str) -> str:
        answers: PromptSession[str] = PromptSession(
            color_depth=self._session.color_depth, enable_suspend=True, reserve_space_for_menu=0
        )
        return answers.prompt([("bold", prompt)])

    @contextmanager
    def busy(self) -> Iterator[None]:
        """What is typed meanwhile is not echoed into the answer; it shows at the next prompt. Ctrl-C still interrupts."""
        try:
            import termios
        except ImportError:  # Windows
            yield
            return
        terminal = self._desk.stdin.fileno()
        before = termios.tcgetattr(terminal)
        silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(terminal, termios.TCSADRAIN, silent)
        try:
            yield
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _indexing(self) -> list[tuple[str, str]]:
        """At the right edge while a worker is busy; gone from the line that is sent."""
        counting = self._desk.assistant.storage.recorded_embedder and not get_app().is_done
        left = self._desk.indexing() if counting else 0
        return [("ansibrightblack", tr(f"indexing: {left} to go", f"正在索引：还剩 {left} 段"))] if left else []


def _file_id(path: Path) -> int | None:
    """Another number for another file of the same name; None where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _keys() -> KeyBindings:
    keys = KeyBindings()
    editing = ~is_searching  # in a search (Ctrl-R) Enter takes what is found, and Ctrl-C ends the search

    @keys.add("enter", filter=editing)
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None  # the first Enter takes what the menu offers
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=editing)
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-c", filter=editing)
    def clear_or_leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt(), style="class:aborting")

    return keys


class _Completer(Completer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        for offer in complete(document.text_before_cursor, self._desk):
            yield Completion(offer.text, offer.start, display=offer.shown, display_meta=offer.about)


class History(FileHistory):
    """Lines of earlier sessions. Secrets are not written down; a folder that cannot be written costs one warning."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        super().__init__(str(path))
        self._warn: Callable[[str], None] | None = warn

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        string = repair(string)
        if secret_in(string) or "--password" in string:
            return
        try:
            super().store_string(string)
        except OSError as error:
            if self._warn is not None:
                self._warn(
                    tr(
                        f"Your lines are not kept for the next session ({error.strerror}).",
                        f"输入历史无法保存（{error.strerror}）。",
                    )
                )
            self._warn = None
