"""What a command is: a function, how it is typed, and what its arguments are. The table of them is in `commands`."""

import argparse
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from infrastructure.language import tr
from infrastructure.text import fold
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


# ---- Values ----


def number(most: int) -> Callable[[str], int]:
    """An argparse type: a number from 1 to `most`, full-width digits too."""

    def parse(text: str) -> int:
        folded = fold(text)
        if not folded.isdecimal() or not 1 <= int(folded) <= most:
            raise argparse.ArgumentTypeError(
                tr(f"a number from 1 to {most}, not {text!r}", f"应为 1 到 {most} 的整数，不能是 {text!r}")
            )
        return int(folded)

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    """An argparse type: one of these words, in any width and case."""

    def choose(text: str) -> str:
        word = fold(text)
        if word not in choices:
            listed = ", ".join(choices)
            raise argparse.ArgumentTypeError(
                tr(f"one of {listed}, not {text!r}", f"应为 {listed} 之一，不能是 {text!r}")
            )
        return word

    return choose
