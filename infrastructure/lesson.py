"""What every lesson needs: a clock that can be set, a folder that goes away, tables, and a command line with --lang.

A lesson is a generator of renderables; only `run_lesson` prints. It never sees the learner's own home.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from infrastructure.console import Screen, plain
from infrastructure.errors import UsageError
from infrastructure.language import set_language, tr
from infrastructure.settings import choose_language

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

Lesson = Callable[[Path], Iterable["RenderableType"]]


class StoppedClock:
    """Tells the same time until it is moved, so that a lesson reads the same every day.

    >>> clock = StoppedClock(); clock.move(days=1); clock() - StoppedClock()()
    datetime.timedelta(days=1)
    """

    def __init__(self, moment: datetime = datetime(2026, 5, 8, 9, tzinfo=UTC)) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **delta: float) -> None:
        self.moment += timedelta(**delta)


def heading(text: str) -> Text:
    from rich.text import Text

    return Text("\n" + text, style="bold")


def word(name: str) -> str:
    """A kind of memory, its source or a receipt's action in the screen's language; English uses the names of the code.

    >>> word("episodic")
    'episodic'
    """
    chinese = {
        **{
            "working": "工作",
            "episodic": "情景",
            "semantic": "语义",
            "user": "学习者",
            "model": "模型",
            "document": "资料",
        },
        **{"written": "已写入", "counted": "已有，计数", "superseded": "取代旧值", "refused": "未写入"},
    }
    return tr(name, chinese[name])


def table(*columns: str, rows: Iterable[Sequence[Any]]) -> Table:
    """Rows of anything, shown by str(); numbers to the right."""
    from rich import box
    from rich.table import Table

    rows = [list(row) for row in rows]
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[number], int | float) for row in rows)
        shown.add_column(name, justify="right" if numeric else "left")
    for row in rows:
        shown.add_row(*(plain(str(cell)) for cell in row))
    return shown


def try_it(*changes: str) -> Iterable[RenderableType]:
    """The end of a lesson: what a reader can change in the file, and what happens then."""
    yield heading(tr("Try it", "试一试"))
    yield from (f"{number}. {change}" for number, change in enumerate(changes, start=1))


def run_lesson(lesson: Lesson, description: str, argv: Sequence[str] | None = None) -> int:
    """Show a lesson that works in a temporary folder. --lang as for the application: flag, STUDY_LANG, .env, locale."""
    screen = Screen()  # first: it makes a console print what it cannot show as "?", --help included
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", choices=("en", "zh"), help="language of the lesson / 课程语言")
    args = parser.parse_args(argv)
    try:
        set_language(choose_language(args.lang))
    except UsageError as error:
        screen.note(str(error))
        return error.exit_code
    with TemporaryDirectory(prefix="lesson-", ignore_cleanup_errors=True) as folder:
        try:
            for renderable in lesson(Path(folder)):
                screen.show(renderable)
            screen.stdout.flush()
        except BrokenPipeError:  # whoever reads has seen enough, as in "… | head"
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
