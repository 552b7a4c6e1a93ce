"""What Tab offers: commands, their options, and what fits each argument."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from infrastructure.language import tr
from infrastructure.memory_rows import STATUSES
from infrastructure.text import fold
from study import learning
from study.command import Argument, Command
from study.commands import COMMANDS
from study.desk import Desk
from study.memories import ACTIONS, TAKES_AN_ID
from study.memory_book import KINDS, SHORT_ID
from study.paths import complete_path

MOST_OFFERED = 30  # memories or cards
LONGEST_ABOUT = 50


class Offer(NamedTuple):
    """What Tab offers: a text that replaces the last `-start` characters, its name in the menu, and a word about it."""

    text: str
    start: int
    shown: str
    about: str = ""


def complete(text: str, desk: Desk) -> Iterator[Offer]:
    """Offers for the line up to the cursor; a question gets none."""
    match = re.match(r"[/／](\S*)(\s+)?", text)
    if match is None:
        return
    name = fold(match[1])
    if match[2] is None:
        for command in COMMANDS:
            if command.name.startswith(name):
                yield Offer(f"/{command.name}", -len(text), f"/{command.name}", tr(*command.help))
        return
    command = next((command for command in COMMANDS if name in (command.name, *command.aliases)), None)
    if command is not None:
        yield from _complete_argument(command, text[match.end() :], desk)


def _complete_argument(command: Command, text: str, desk: Desk) -> Iterator[Offer]:
    *before, last = re.split(r"\s+", text)
    if last.startswith("-"):
        for argument in command.arguments:
            if argument.is_option and argument.name.startswith(last):
                yield Offer(argument.name, -len(last), argument.name, tr(*argument.help))
        return
    valued = {a.name: a for a in command.arguments if a.is_option and "metavar" in a.options}
    if before and before[-1] in valued:
        yield from _offers(valued[before[-1]], [], last, desk)
        return
    positional = [argument for argument in command.arguments if not argument.is_option]
    if positional:
        place = min(len(before), len(positional) - 1)
        typed = re.split(r"\s+", text, maxsplit=place)[place] if place else text  # a maxsplit of 0 splits everywhere
        yield from _offers(positional[place], before[:place], typed, desk)


def _offers(argument: Argument, before: list[str], typed: str, desk: Desk) -> Iterator[Offer]:
    """For one argument, of which `typed` is there; `before`: the arguments in front of it."""
    kind = argument.completes
    if kind == "memory":
        kind, typed = _within_memory(fold(before[0]) if before else "", typed)
    if kind == "path":
        yield from (Offer(*found) for found in complete_path(typed))
    elif kind in CHOICES:
        for text, about in CHOICES[kind](desk, typed):
            if fold(text).startswith(fold(typed)):
                yield Offer(text, -len(typed), text, about)


def _within_memory(action: str, typed: str) -> tuple[str, str]:
    """What comes after an action: one id, or a file."""
    if action in TAKES_AN_ID and not re.search(r"\s", typed):
        return "memory id", typed
    return ("path" if action == "export" else ""), typed


# ---- What there is to choose from: (text, a word about it) ----

Choices = Iterator[tuple[str, str]]


def _documents(desk: Desk, typed: str) -> Choices:
    infos = desk.assistant.documents()
    yield from ((info.name, "") for info in infos)
    if typed:
        yield from ((info.document_id, info.name) for info in infos)


def _memories(desk: Desk, typed: str) -> Choices:
    """The newest; of what begins as typed, any."""
    book = desk.assistant.memories
    newest = book.page(status=None, limit=MOST_OFFERED).items
    known = [*newest, *(book.beginning(fold(typed)) if typed else [])]
    for memory_id, item in {item.memory_id: item for item in known}.items():
        yield memory_id[:SHORT_ID], " ".join(item.content.split())[:LONGEST_ABOUT]


def _sessions(desk: Desk, typed: str) -> Choices:
    for session in desk.assistant.sessions():
        yield session.session_id[:SHORT_ID], " ".join(session.first_question.split())[:LONGEST_ABOUT]
    yield "new", tr("a new session", "新会话")


def _cards(desk: Desk, typed: str) -> Choices:
    for card in desk.assistant.tutor.cards.list(limit=MOST_OFFERED):
        yield card.card_id[:SHORT_ID], " ".join(card.question.split())[:LONGEST_ABOUT]


def _concepts(desk: Desk, typed: str) -> Choices:
    names = {str(note.metadata.get("concept") or "general") for note in desk.assistant.memories.notes()}
    yield from ((name, "") for name in sorted(names - {"general"}))


def _fixed(*texts: str) -> Callable[[Desk, str], Choices]:
    return lambda desk, typed: ((text, "") for text in texts)


CHOICES: Mapping[str, Callable[[Desk, str], Choices]] = {
    "document": _documents,
    "command": _fixed(*(command.name for command in COMMANDS)),
    "language": _fixed("en", "zh"),
    "session": _sessions,
    "concept": _concepts,
    "memory action": _fixed(*ACTIONS),
    "card action": _fixed(*learning.ACTIONS),
    "card": _cards,
    "export": _fixed(*learning.EXPORTS),
    "memory id": _memories,
    "memory kind": _fixed(*KINDS),
    "memory status": _fixed(*STATUSES, "all"),
}
