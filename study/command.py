"""What a command is: a function, how it is typed, and what its arguments are. The table of them is in `commands`."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from study.desk import Desk

Pair = tuple[str, str]  # the same in English and Chinese


@dataclass(frozen=True)
class Argument:
    """One argument as argparse takes it. `completes`: what Tab offers for it, see `completion`."""

    name: str  # "paths", or "--top-k"
    help: Pair
    options: Mapping[str, Any] = field(default_factory=dict)
    completes: str = ""

    @property
    def is_option(self) -> bool:
        return self.name.startswith("-")


@dataclass(frozen=True)
class Command:
    """`where`: "both", or only in the "session". opens_home False: it needs no assistant."""

    name: str
    help: Pair
    run: Callable[[Desk, Namespace], int]
    arguments: tuple[Argument, ...] = ()
    example: str = ""
    aliases: tuple[str, ...] = ()
    where: str = "both"
    opens_home: bool = True

    @property
    def usage(self) -> str:
        """How it is typed: "load PATH... [--password P]"."""
        return " ".join([self.name, *map(_usage, self.arguments)])

    @property
    def synopsis(self) -> str:
        """The same without options."""
        return " ".join([self.name, *(_usage(argument) for argument in self.arguments if not argument.is_option)])


def _usage(argument: Argument) -> str:
    metavar = argument.options.get("metavar", "")
    if not argument.is_option:
        many = "..." if argument.options.get("nargs") in ("+", "*") else ""
        shown = f"{metavar}{many}"
        return f"[{shown}]" if argument.options.get("nargs") in ("*", "?") else shown
    return f"[{' '.join(filter(None, [argument.name, metavar]))}]"
