"""The command line: what was typed into the shell → one command, or the session → an exit code.

    0 done (also when the answer is "not in your documents")    1 it failed    2 it was not typed right    130 interrupted

Nothing heavy is imported until it is known that it will be needed: --help answers at once.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TextIO

from infrastructure.console import Screen, quiet_libraries
from infrastructure.errors import DocumentError, StudyError, UsageError
from infrastructure.language import set_language, tr
from infrastructure.settings import Settings, choose_language
from study.arguments import CHAT, ShowText, first_word, given, help_for, parse
from study.command import Command
from study.commands import COMMANDS, names, nearest
from study.desk import PROGRAM, Desk, Lesson
from study.paths import exists, expand

OpenAssistant = Callable[[Settings], AbstractContextManager[Any]]
INTERRUPTED = 130
_SETTINGS = ("home", "language", "llm_model", "embedder", "download", "no_color", "debug")


def run(
    argv: Sequence[str] | None = None,
    *,
    open_assistant: OpenAssistant,
    lesson: Lesson,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Do what the words say; the exit code. argv is without the program's name, None: this process's own."""
    argv = list(sys.argv[1:] if argv is None else argv)
    options = argv[: [*argv, "--"].index("--")]
    screen = Screen(stdout, stderr, color=False if "--no-color" in options else None, json="--json" in options)
    desk = Desk(screen, lesson, sys.stdin if stdin is None else stdin, debug="--debug" in options)
    try:
        code = desk.attempt(lambda: _start(desk, argv, open_assistant))
        screen.stdout.flush()
        return code
    except KeyboardInterrupt:
        desk.fail(tr("Interrupted; what was done is kept.", "已中断，已完成的部分会保留。"))
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe had enough
        _discard(screen.stdout)
        _discard(screen.stderr)
        return 1


def _discard(stream: TextIO) -> None:
    """Let the interpreter's own flush at exit find an open door."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _start(desk: Desk, argv: Sequence[str], open_assistant: OpenAssistant) -> int:
    set_language(_language(argv))
    try:
        command, args = _read(desk, argv)
    except ShowText as shown:
        desk.screen.stdout.write(str(shown))
        return 0
    desk.settings = Settings.load({name: getattr(args, name) for name in _SETTINGS})
    if desk.settings.no_color:
        desk.screen = Screen(desk.screen.stdout, desk.screen.stderr, color=False, json=desk.screen.json_only)
    quiet_libraries(debug=desk.settings.debug)
    if command is CHAT:
        return _session(desk, args, open_assistant)
    if not command.opens_home:
        return command.run(desk, args)
    with open_assistant(desk.settings) as desk.assistant:
        desk.tell_notices()
        code = command.run(desk, args)
        desk.tell_notices()
        return code


def _language(argv: Sequence[str]) -> str:
    """Known before anything is parsed, because help is translated. A --lang nobody knows is parse's to refuse."""
    flag = given(argv, "--lang")
    try:
        return choose_language(flag)
    except UsageError:
        return choose_language() if flag else "en"


# ---- Which command? ----


def _read(desk: Desk, argv: Sequence[str]) -> tuple[Command, Namespace]:
    """The command and its arguments; files alone, or nothing, mean the session."""
    at = first_word(argv)
    word = None if at is None else argv[at]
    if word == "help":
        raise ShowText(help_for(CHAT))
    command = next((command for command in COMMANDS if command.name == word and command.where == "both"), None)
    if command is None:
        args = parse(CHAT, argv)
        _check_files(args.files)
        return CHAT, args
    namesake = tr(f"For the file named {word}, write ./{word}", f"要打开名为 {word} 的文件，请写 ./{word}")
    try:
        args = parse(command, [*argv[:at], *argv[at + 1 :]])
    except UsageError as error:
        raise UsageError(f"{error}. {namesake}" if Path(word).is_file() else str(error)) from error
    if Path(word).is_file():
        desk.note(namesake + tr(".", "。"))
    return command, args


def _check_files(words: Sequence[str]) -> None:
    """A word in the place of a file that is no file: a command misspelt, a question, or a file that is not there."""
    for word in words:
        if exists(word) or any(char in word for char in "*["):
            continue
        if "." not in word and not any(sep in word for sep in "/\\"):
            raise _no_such_word(word)
        if word.rstrip().endswith(("?", "？")):
            raise _question_for_a_file(word)
        raise DocumentError(
            tr(
                f"There is no file {word}; check the spelling, or drag the file into the terminal.",
                f"找不到文件 {word}；请检查路径，或把文件拖进终端。",
            )
        )


def _no_such_word(word: str) -> StudyError:
    near = nearest(word, names(session=False))
    if near:
        return UsageError(
            tr(
                f"There is no command and no file named {word}; did you mean {near}?",
                f"没有名为 {word} 的命令或文件，是不是要用 {near}？",
            )
        )
    return _question_for_a_file(word)


def _question_for_a_file(word: str) -> StudyError:
    return UsageError(
        tr(
            f'There is no command and no file named {word}; to ask it, write: {PROGRAM} ask "{word}"',
            f'没有名为 {word} 的命令或文件；如果是提问，请写：{PROGRAM} ask "{word}"',
        )
    )


# ---- The session ----


def _session(desk: Desk, args: Namespace, open_assistant: OpenAssistant) -> int:
    """Load the files, then listen. 1 when there were files and none of them could be loaded."""
    if desk.screen.json_only:
        example = f'{PROGRAM} ask "…" --json'
        raise UsageError(tr(f"--json goes with a command: {example}", f"--json 要和命令一起用：{example}"))
    from study.loading import load_files
    from study.terminal import Session

    paths = expand(args.files)
    with open_assistant(desk.settings) as desk.assistant:
        desk.interactive = True
        session = Session(desk, go_on=args.go_on)
        if paths and not load_files(desk, paths).reports:
            return 1
        return session.run()
