"""The cards as a deck for Anki, made with genanki.

    card_id → the note's guid          exported again, a note is updated, never doubled
    the home's own number → deck id    two learners' decks stay two, also in one Anki
    when a card was last edited → the note's time, so that what was changed in Anki since is not undone by an older text

Due dates are not exported: Anki keeps its own. Suspended cards stay at home.
"""

import html
import re
import uuid
import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infrastructure.cards import Card
from infrastructure.copies import DECK_MARK, taking_its_place
from infrastructure.database import Database
from infrastructure.language import tr
from study.blocks import place
from study.grading import LETTERS
from study.questions import one_line

if TYPE_CHECKING:
    import genanki

MODEL_ID = 1_742_118_630  # of our kind of note, for ever: another number would make a second kind in every Anki
MODEL_TIME = 1_767_225_600.0  # seconds; raise it when the templates change
DECK_KEY = "deck"  # in the home's settings
FIELDS = ("Question", "Options", "Answer", "Quote", "Source")
FRONT = '<div class="question">{{Question}}</div>{{#Options}}<div class="options">{{Options}}</div>{{/Options}}'
BACK = """{{FrontSide}}<hr id="answer"><div class="right">{{Answer}}</div>
{{#Quote}}<blockquote>{{Quote}}</blockquote>{{/Quote}}<div class="source">{{Source}}</div>"""
STYLE = """.card { font-family: sans-serif; font-size: 20px; max-width: 40em; margin: 1em auto; }
.options { margin-top: 1em; } .right { font-weight: bold; }
blockquote { font-style: italic; } .source { opacity: 0.6; font-size: 14px; }"""


def export_deck(cards: Sequence[Card], database: Database, here: set[str], path: Path) -> int:
    """Write the active cards as an .apkg file; returns how many. here: ids of the documents that are in the library.

    HomeError when the file cannot be written: an older one of that name is then as it was.
    """
    import genanki

    number = deck_number(database)
    deck = genanki.Deck(
        1_000_000_000 + number, f"Study helper ({number:x})"
    )  # the same in every language: Anki goes by it
    model = _model()
    active = [card for card in cards if card.status == "active"]
    for card in active:
        deck.add_note(_note(model, card, here))
    with taking_its_place(path) as unfinished:
        path.parent.mkdir(parents=True, exist_ok=True)
        genanki.Package(deck).write_to_file(str(unfinished), timestamp=MODEL_TIME)
        with zipfile.ZipFile(unfinished, "a") as package:
            package.comment = DECK_MARK
    return len(active)


def deck_number(database: Database) -> int:
    """The home's own, made once and kept with it, through backup and restore too."""
    number = database.get_meta(DECK_KEY)
    if number is None:
        number = str(uuid.uuid4().int % 900_000_000)
        database.set_meta(DECK_KEY, number)
    return int(number)


def _model() -> "genanki.Model":
    import genanki

    return genanki.Model(
        MODEL_ID, "Study helper", fields=[{"name": name} for name in FIELDS],
        templates=[{"name": "Card", "qfmt": FRONT, "afmt": BACK}], css=STYLE,
    )  # fmt: skip


def _note(model: "genanki.Model", card: Card, here: set[str]) -> Any:
    import genanki

    class Note(genanki.Note):
        """A note that says when its card was edited, not when the deck was written."""

        def write_to_db(self, cursor: Any, timestamp: float, deck_id: int, id_gen: Any) -> None:
            super().write_to_db(cursor, datetime.fromisoformat(card.edited_at).timestamp(), deck_id, id_gen)

    options = [f"{letter}) {option}" for letter, option in zip(LETTERS, card.options, strict=False)]
    answer = " / ".join([card.answer, *card.accepted])
    quote = "" if card.kind == "note" else one_line(card.quote)
    fields = [_html(text) for text in (card.question, "\n".join(options), answer, quote, _source(card))]
    return Note(model=model, fields=fields, guid=genanki.guid_for(card.card_id), tags=_tags(card, here))


def _source(card: Card) -> str:
    if card.page is None:
        return card.document or tr("my note", "我的笔记")
    return f"{card.document}, {place(card.page, card.page_label)}"


def _html(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")


def _tags(card: Card, here: set[str]) -> list[str]:
    """What Anki filters by: the document, the kind, and that its source is gone. A tag has no spaces."""
    gone = card.document_id and card.document_id not in here
    names = [card.document or "note", card.kind, *(["source_removed"] if gone else [])]
    return [re.sub(r"[\s\x00-\x1f\"]+", "_", name) for name in names]
