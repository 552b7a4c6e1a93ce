"""The deck for Anki, opened by Anki's own importer where that is installed."""

import json
import sqlite3
import zipfile

import pytest
from anki_oracle import collection, taken_in

from infrastructure.cards import CardTable, Draft
from infrastructure.copies import is_deck
from infrastructure.errors import HomeError
from infrastructure.language import set_language
from infrastructure.storage import Storage
from study.anki import MODEL_ID, deck_number, export_deck


@pytest.fixture
def anki(tmp_path):
    with collection(tmp_path) as opened:
        yield opened


def drafts(count: int) -> list[Draft]:
    return [
        Draft("term", f"____ number {n} & <b>more</b>", f"Answer {n}", f"Answer {n} is\nnumber {n}.", f"p{n}",
              ("Answer 1", f"Answer {n}") if n != 1 else (), document_id="d1", document="my guide.pdf", page=6, page_label="3")
        for n in range(count)
    ]  # fmt: skip


def exported(storage, path):
    export_deck(CardTable(storage).list(), storage.database, {"d1"}, path)
    return path


def notes(path) -> list[sqlite3.Row]:
    """The rows of a package, read without Anki."""
    with zipfile.ZipFile(path) as package:
        data = package.read("collection.anki2")
    db = sqlite3.connect(":memory:")
    db.deserialize(data)
    db.row_factory = sqlite3.Row
    return db.execute("SELECT * FROM notes ORDER BY id").fetchall()


def test_anki_opens_the_package_with_the_right_number_of_notes(storage, tmp_path, anki):
    CardTable(storage).add(drafts(5))
    assert taken_in(anki, exported(storage, tmp_path / "a.apkg")) == (5, 0)
    assert (anki.note_count(), anki.card_count()) == (5, 5)
    fields = anki.get_note(anki.find_notes('"number 3"')[0]).fields
    assert fields[0] == "____ number 3 &amp; &lt;b&gt;more&lt;/b&gt;" and fields[2:] == [
        "Answer 3", "Answer 3 is number 3.", "my guide.pdf, p. 3 (PDF page 6)",
    ]  # fmt: skip
    assert anki.find_notes("tag:my_guide.pdf tag:term") != []


def test_a_corrected_typo_updates_the_same_note_and_no_other(storage, tmp_path, anki, clock):
    table = CardTable(storage)
    card, *_ = table.add(drafts(3))
    taken_in(anki, exported(storage, tmp_path / "a.apkg"))
    clock.move(minutes=5)
    table.edit(card.card_id, question="____ corrected")
    assert taken_in(anki, exported(storage, tmp_path / "a.apkg")) == (0, 1)
    assert anki.note_count() == 3 and len(anki.find_notes("corrected")) == 1
    assert taken_in(anki, exported(storage, tmp_path / "b.apkg")) == (0, 0), "nothing has changed since"


def test_two_homes_are_two_decks_in_one_anki(storage, tmp_path, anki, clock):
    CardTable(storage).add(drafts(2))
    taken_in(anki, exported(storage, tmp_path / "a.apkg"))
    with Storage(tmp_path / "other", now=clock) as other:
        CardTable(other).add(drafts(2))
        assert taken_in(anki, exported(other, tmp_path / "b.apkg")) == (2, 0)
        assert deck_number(other.database) != deck_number(storage.database)
    assert anki.note_count() == 4
    assert len([deck for deck in anki.decks.all_names_and_ids() if deck.name.startswith("Study helper")]) == 2


def test_guids_deck_and_kind_of_note_are_the_same_in_every_export_and_language(storage, tmp_path):
    CardTable(storage).add(drafts(3))
    first = notes(exported(storage, tmp_path / "a.apkg"))
    set_language("zh")
    second = notes(exported(storage, tmp_path / "b.apkg"))
    assert [row["guid"] for row in first] == [row["guid"] for row in second] and len({r["guid"] for r in first}) == 3
    assert {row["mid"] for row in first} == {MODEL_ID}


def test_suspended_cards_stay_and_cards_of_removed_documents_are_tagged(storage, tmp_path):
    table = CardTable(storage)
    card, *_ = table.add(drafts(3))
    table.edit(card.card_id, status="suspended")
    assert export_deck(table.list(), storage.database, set(), tmp_path / "a.apkg") == 2
    assert all("source_removed" in row["tags"] for row in notes(tmp_path / "a.apkg"))


def test_a_deck_is_known_as_ours_and_another_zip_is_not(storage, tmp_path):
    CardTable(storage).add(drafts(1))
    assert is_deck(exported(storage, tmp_path / "a.apkg"))
    with zipfile.ZipFile(tmp_path / "b.apkg", "w") as package:
        package.writestr("media", json.dumps({}))
    assert not is_deck(tmp_path / "b.apkg") and not is_deck(tmp_path / "none.apkg")


def test_what_cannot_be_written_is_one_sentence(storage, tmp_path):
    CardTable(storage).add(drafts(1))
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(HomeError):
        exported(storage, tmp_path / "file" / "a.apkg")
