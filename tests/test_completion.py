from pathlib import Path

import pytest

from infrastructure.cards import Draft
from infrastructure.memory_rows import STATUSES
from study.commands import COMMANDS
from study.completion import CHOICES, complete
from study.memories import ACTIONS
from study.paths import complete_path


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Beside the home, which would be offered, too."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def offers(desk):
    return lambda text: [offer.text for offer in complete(text, desk)]


def test_commands_options_and_choices(offers):
    assert {"/review", "/remove", "/restore"} <= set(offers("/re")) and offers("／sta") == ["/stats"]
    assert offers("/ask --no") == ["--no-memory"]
    assert offers("/lang ") == ["en", "zh"] and offers("/help sta") == ["stats"]
    assert offers("What is") == [] and offers("/nothing x") == [] and offers("/stats x") == []


def test_paths_come_as_they_must_be_typed(offers):
    for name in ("my notes.pdf", "中文.pdf", ".hidden"):
        Path(name).touch()
    Path("folder").mkdir()
    assert offers("/load ") == ["folder/", r"my\ notes.pdf", "中文.pdf"]
    assert offers("/load a.pdf my") == [r"my\ notes.pdf"] and offers(r"/load my\ n") == [r"my\ notes.pdf"]
    assert offers('/load "my') == ['"my notes.pdf"'] and offers("/load /no/such/") == []


def test_a_completed_path_replaces_what_was_typed_of_it():
    Path("my notes.pdf").touch()
    assert list(complete_path(r"x.pdf my\ n")) == [(r"my\ notes.pdf", -5, "my notes.pdf")]


def test_documents_by_name_and_by_id(offers, assistant):
    document_id = assistant.load_text("# A\n\nSome text about tides.\n", "my notes.md").document_id
    for beginning in ("/remove ", "/remove my n", "/outline m", "/page 3 ", "/page 3 --document my"):
        assert offers(beginning) == ["my notes.md"], beginning
    assert offers(f"/remove {document_id[:5]}") == [document_id] and offers("/page ") == []


def test_memories_by_id_with_a_word_about_each(offers, assistant, desk):
    ids = [assistant.add_note(text).memory_id[:8] for text in ("Recall comes first.", "HyDE invents an answer.")]
    assert sorted(offers("/memory show ")) == sorted(ids)
    (offer,) = complete(f"/memory forget {ids[0][:7]}", desk)
    assert (offer.text, offer.start, offer.about) == (ids[0], -7, "Recall comes first.")
    assert offers("/memory search ") == [] and offers(f"/memory edit {ids[0]} ") == []


def test_a_memory_that_is_put_away_can_still_be_named(offers, assistant):
    memory_id = assistant.add_note("Recall comes first.").memory_id
    assistant.memories.forget(assistant.memories.find(memory_id))
    assert offers("/memory restore ") == [memory_id[:8]]


def test_actions_kinds_and_statuses(offers):
    assert offers("/memory ") == list(ACTIONS) and offers("/memory re") == ["restore"]
    assert offers("/memory list --kind ") == ["working", "episodic", "semantic"]
    assert offers("/memory list --status a") == ["active", "archived", "all"]
    assert len(offers("/memory list --status ")) == len(STATUSES) + 1


def test_sessions_and_concepts(offers, assistant):
    assistant.ask("What causes the tide?")
    assistant.add_note("Recall first", concept="evaluation")
    assistant.add_note("no concept")
    assert offers("/session ") == [assistant.session_id[:8], "new"] and offers("/session n") == ["new"]
    assert offers("/notes ") == ["evaluation"] and offers("/note Recall --concept e") == ["evaluation"]


def test_an_export_goes_to_a_path(offers):
    Path("out").mkdir()
    assert offers("/memory export o") == ["out/"]


def test_what_arguments_complete_with_is_known():
    kinds = {argument.completes for command in COMMANDS for argument in command.arguments}
    assert kinds <= {"", "path", "memory", *CHOICES}


def test_cards_by_action_and_id_and_kinds_of_export(offers, assistant, desk):
    (card,) = assistant.tutor.cards.add([Draft("cloze", "The ____ pulls.", "moon", "The moon pulls.", "p")])
    assert offers("/cards ") == ["list", "edit", "suspend", "resume"] and offers("/cards s") == ["suspend"]
    (offer,) = complete(f"/cards edit {card.card_id[:3]}", desk)
    assert (offer.text, offer.about) == (card.card_id[:8], "The ____ pulls.")
    assert offers("/export ") == ["anki", "markdown", "json"] and offers("/export a") == ["anki"]
