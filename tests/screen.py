"""What a learner sees: a desk at a real assistant, what a command shows there, what a thing looks like on the screen."""

import io
import json
from typing import Any

from fake_assistant import lesson

from infrastructure.console import Screen
from infrastructure.settings import Settings
from study.arguments import parse
from study.commands import find
from study.desk import Desk


def desk_at(assistant: Any) -> Desk:
    """A desk as in a session, in English. `said` reads what it shows."""
    desk = Desk(Screen(io.StringIO(), io.StringIO()), lesson, interactive=True, assistant=assistant)
    desk.settings = Settings.load({"home": assistant.storage.home, "language": "en"}, environ={}, dotenv={})
    return desk


def said(desk: Desk, name: str, *words: str) -> str:
    """What the command shows."""
    desk.screen.stdout.seek(0)
    desk.screen.stdout.truncate()
    command = find(name)
    command.run(desk, parse(command, words, in_session=True))
    return desk.screen.stdout.getvalue()


def said_as_json(desk: Desk, name: str, *words: str) -> Any:
    """The same with --json, read."""
    desk.screen.json_only = True
    value = json.loads(said(desk, name, *words))
    desk.screen.json_only = False
    return value


def shown(*renderables: Any, width: int = 120) -> str:
    """The things one below the other, as a screen of that width without colours shows them."""
    out = io.StringIO()
    screen = Screen(out, io.StringIO(), color=False, width=width)
    for renderable in renderables:
        screen.show(renderable)
    return out.getvalue()
