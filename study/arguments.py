"""From words to arguments: an argparse parser for each command of the table, with help and errors in the screen's language.

Each command has one parser that also knows the options of the program, so `--home MINE ask q` and `ask q --home MINE` are the
same. (With argparse's own subparsers the second default silently overwrites the first value.)
"""

import argparse
import re
import shutil
import unicodedata
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from infrastructure.errors import UsageError
from infrastructure.language import tr
from study.command import Argument, Command
from study.commands import grouped, nearest
from study.desk import PROGRAM
from study.sitting import language_code

HELP_COLUMNS = 28  # where explanations begin


class ShowText(Exception):
    """--help and --version: what to print instead of doing anything."""


PROGRAM_OPTIONS = (
    Argument("--home", ("your data (memory_db beside the scripts)", "数据文件夹（默认为脚本旁的 memory_db）"),
             {"metavar": "DIR"}),
    Argument("--lang", ("language of the screen", "界面语言"),
             {"metavar": "en|zh", "dest": "language", "type": language_code}),
    Argument("--model", ("language model, e.g. ollama/qwen2.5:7b", "语言模型，例如 ollama/qwen2.5:7b"),
             {"metavar": "NAME", "dest": "llm_model"}),
    Argument("--embedder", ("embedding model; none: words only", "嵌入模型；none 表示仅按词检索"), {"metavar": "NAME"}),
    Argument("--download", ("the embedding model may be fetched", "允许下载嵌入模型"), {"action": "store_true"}),
    Argument("--json", ("print one JSON object and nothing else", "只输出一个 JSON 对象"), {"action": "store_true"}),
    Argument("--no-color", ("plain output", "纯文本输出"), {"action": "store_true"}),
    Argument("--debug", ("tracebacks and the libraries' logs", "显示错误堆栈和各库的日志"), {"action": "store_true"}),
)  # fmt: skip
CHAT = Command(
    "",
    (
        "Ask your own documents; every answer shows the page it stands on.",
        "向自己的资料提问，每个回答都注明出自哪一页。",
    ),
    lambda desk, args: 0,  # the command line runs the session itself
    (
        Argument("files", ("loaded first", "先加载这些文件"), {"nargs": "*", "metavar": "FILE"}, "path"),
        Argument(
            "--continue",
            ("go on with the last session, however old", "接着上一个会话，不论多久以前"),
            {"action": "store_true", "dest": "go_on"},
        ),
    ),
    "samples/memory_rag_guide.pdf",
)


# ---- Parsing ----


def parse(command: Command, words: Sequence[str], *, in_session: bool = False) -> Namespace:
    """The arguments of a command. UsageError says what is wrong; ShowText carries the help that was asked for.

    Options may stand anywhere; after "--" there are none.
    """
    if "--" in words:
        at = list(words).index("--")
        words = [*words[:at], *(f"\0{word}" if word.startswith("-") else word for word in words[at + 1 :])]
    parser = _parser(command, in_session=in_session)
    args, unknown = parser.parse_known_intermixed_args(words)
    if unknown:
        parser.refuse(unknown[0])
    for name, value in vars(args).items():
        if isinstance(value, list):
            setattr(args, name, [word.removeprefix("\0") if word[:1] == "\0" else word for word in value])
    return args


def first_word(argv: Sequence[str]) -> int | None:
    """Index of the first word that is no option of the program, nor an option's value; None when there is none."""
    valued = {option.name for option in PROGRAM_OPTIONS if "metavar" in option.options}
    is_value = False
    for index, word in enumerate(argv):
        if word == "--":
            return None
        if not is_value and not word.startswith("-"):
            return index
        is_value = not is_value and word in valued
    return None


def given(argv: Sequence[str], option: str) -> str | None:
    """The value of an option before anything is parsed: --lang zh, --lang=zh. None when it is not there."""
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        if word == "--":
            break
        if word == option or word.startswith(f"{option}="):
            return following if word == option else word[len(option) + 1 :]
    return None


class _Parser(argparse.ArgumentParser):
    def __init__(self, command: Command, **options: Any) -> None:
        super().__init__(add_help=False, allow_abbrev=False, formatter_class=_Formatter, **options)
        self.command = command

    def format_help(self) -> str:
        return re.sub(r"(?<=[\u4e00-\u9fff]):$", "：", super().format_help(), flags=re.MULTILINE)

    def error(self, message: str) -> None:
        raise UsageError(_sentence(message) + self._next_step())

    def refuse(self, word: str) -> None:
        """A word that has no place: an option nobody knows, or one argument too many."""
        if not word.startswith("-"):
            raise UsageError(tr(f"{word} is too much here", f"多了 {word}") + self._next_step())
        name = word.split("=")[0]
        near = nearest(name, (option for action in self._actions for option in action.option_strings))
        told = tr(f"There is no option {name}", f"没有选项 {name}")
        raise UsageError(
            told + (tr(f"; did you mean {near}?", f"，是不是要用 {near}？") if near else self._next_step())
        )

    def _next_step(self) -> str:
        if self.command.example:
            before = self.prog.removesuffix(self.command.name) if self.command.name else f"{self.prog} "
            example = f"{before}{self.command.example}"
            return tr(f"; for example: {example}", f"；例如：{example}")
        return tr(f"; see {self.prog} --help", f"；详见 {self.prog} --help")


class _Show(argparse.Action):
    """Stops parsing to show something."""

    def __init__(self, option_strings: Sequence[str], dest: str, *, show: Any, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)
        self.show = show

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        raise ShowText(self.show(parser))


def _parser(command: Command, *, in_session: bool) -> _Parser:
    prog = f"/{command.name}" if in_session else f"{PROGRAM} {command.name}".strip()
    parser = _Parser(command, prog=prog, usage=_usage(command, prog), description=_description(command))
    words = parser.add_argument_group(tr("Arguments", "参数"))
    own = parser.add_argument_group(tr("Options of this command", "本命令的选项"))
    for argument in command.arguments:
        _add(own if argument.is_option else words, argument)
    program = own if in_session else parser.add_argument_group(
        tr("Options everywhere, before or after the command", "通用选项，写在命令前后均可")
    )  # fmt: skip
    for argument in () if in_session else PROGRAM_OPTIONS:
        _add(program, argument)
    if not in_session:
        program.add_argument("--version", action=_Show, show=_version, help=tr("name and version", "名称和版本"))
    program.add_argument(
        "-h", "--help", action=_Show, show=lambda p: p.format_help(), help=tr("this text", "显示本说明")
    )
    return parser


def _add(group: Any, argument: Argument) -> None:
    may_be_none = {"default": []} if argument.options.get("nargs") == "*" else {}  # else argparse calls it required
    group.add_argument(argument.name, help=tr(*argument.help), **may_be_none, **argument.options)


def _version(parser: argparse.ArgumentParser) -> str:
    import tomllib

    from infrastructure.settings import PROJECT

    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['name']} {project['version']}\n"


# ---- Errors in the screen's language ----

_MESSAGES = (
    (r"the following arguments are required: (.+)", "{} is missing", "缺少 {}"),
    (r"argument (\S+): expected .*argument.*", "{} needs a value", "{} 后面要写一个值"),
    (r"argument (\S+): ignored explicit argument .*", "{} takes no value", "{} 不带值"),
    (r"argument [^-\s]\S*\|\S*: (.+)", "It must be {}", "{}"),  # en|zh: the name is what the sentence says
    (r"argument (\S+): (.+)", "{} must be {}", "{} {}"),
)


def _sentence(message: str) -> str:
    """What argparse says, in the screen's language."""
    for pattern, en, zh in _MESSAGES:
        if match := re.fullmatch(pattern, message, re.DOTALL):
            return tr(en, zh).format(*match.groups())
    return message


# ---- Help ----


def help_for(command: Command, *, in_session: bool = False) -> str:
    return _parser(command, in_session=in_session).format_help()


def _description(command: Command) -> str:
    told = tr(*command.help)
    if command.name:
        return f"{told}." if told.isascii() else f"{told}。"
    rows = [
        row
        for title, others in grouped(session=False)
        for row in ("", tr(*title), *(row for other in others for row in _listed(other)))
    ]
    more = tr(
        "Without a command: an interactive session; FILEs are loaded first.\nCOMMAND --help says more.",
        "不写命令：进入交互会话，并先加载 FILE。\n各命令的详细说明：COMMAND --help。",
    )
    return "\n".join([told, "", more, *rows])


def _listed(command: Command) -> list[str]:
    """Its row in the list of commands; two when the way it is typed needs the room of both columns."""
    synopsis, told = f"  {command.synopsis}", tr(*command.help)
    if len(synopsis) < HELP_COLUMNS:
        return [f"{synopsis:<{HELP_COLUMNS}}{told}"]
    return [synopsis, " " * HELP_COLUMNS + told]


def _usage(command: Command, prog: str) -> str:
    typed = f"{prog} {command.synopsis.removeprefix(command.name)}".replace("  ", " ").rstrip()
    options = tr(" [options]", " [选项]") if not prog.startswith("/") or command.usage != command.synopsis else ""
    return typed + options + (f"\n       {prog} COMMAND ..." if not command.name else "")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """argparse counts characters; a Chinese one is two cells wide."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=HELP_COLUMNS, width=min(shutil.get_terminal_size().columns, 100))

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, tr("Usage: ", "用法：") if prefix is None else prefix)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """A description keeps its lines; those of the table of commands go on below their second column."""
        filled: list[str] = []
        for line in text.split("\n"):
            hanging = " " * HELP_COLUMNS if line.startswith("  ") else ""
            first, *rest = _wrapped(line[len(hanging) :], width - len(hanging))
            filled += [line[: len(hanging)] + first, *(hanging + more for more in rest)]
        return "\n".join(filled)


def _wrapped(text: str, width: int) -> list[str]:
    lines, room = [""], width
    for piece in re.findall(r"[\u2e80-\uffef]|[^\s\u2e80-\uffef]+|\s+", text):
        cells = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in piece)
        if cells > room and not piece.isspace():
            lines.append("")
            room = width
        lines[-1] += piece
        room -= cells
    return [line.strip() for line in lines]
