import argparse
import json
from datetime import datetime, timedelta

import pytest
import terminal_schemas
from jsonschema import Draft202012Validator
from screen import said, said_as_json

from infrastructure.errors import UsageError
from study import memories
from study.commands import find
from study.desk import Desk
from study.memories import ACTIONS, since

TIDES = "# Tides\n\nThe tide is caused by the moon, which pulls the water of the sea.\n"
EXPORTS = "exports"


@pytest.fixture
def say(desk):
    """say(*words) → what `/memory words` shows."""
    return lambda *words: said(desk, "memory", *words)


@pytest.fixture
def told(desk):
    """The same, as JSON that fits the schema of its action."""

    def told(*words: str):
        value = said_as_json(desk, "memory", *words)
        Draft202012Validator(terminal_schemas.MEMORY_COMMANDS[words[0] if words else "list"]).validate(value)
        return value

    return told


@pytest.fixture
def note(assistant):
    """note(text) → the id of a note of the learner's."""
    return lambda text, **place: assistant.add_note(text, **place).memory_id


@pytest.fixture
def event(assistant, clock):
    """event(text) → the id of an event that the assistant recorded."""

    def event(text: str, **fields) -> str:
        memory_id = assistant._rag.episodic.add(text, session_id=assistant.session_id, source="model", **fields)
        clock.move(hours=1)
        return memory_id

    return event


def contents(value) -> list[str]:
    return [memory["content"] for memory in value["memories"]]


# ---- list ----


def test_the_list_shows_all_three_kinds_newest_first(told, say, note, event, assistant, clock):
    note("Recall comes first.")
    clock.move(hours=1)
    event("Asked about HyDE.")
    assistant._rag.working.add("The exam is on Friday.", session_id=assistant.session_id)
    assert contents(told()) == ["The exam is on Friday.", "Asked about HyDE.", "Recall comes first."]
    rows = say().splitlines()
    assert [row.split()[1] for row in rows[1:4]] == ["working", "episodic", "semantic"]
    assert rows[4].startswith("1–3 of 3.")


def test_the_list_has_pages(told, say, event):
    for number in range(1, 8):
        event(f"Event number {number}")
    assert contents(told("list", "--limit", "3", "--page", "2")) == [f"Event number {n}" for n in (4, 3, 2)]
    assert "4–6 of 7; --page 3 goes on" in say("list", "--limit", "3", "--page", "２")
    assert say("list", "--limit", "3", "--page", "3").splitlines()[-1].startswith("7–7 of 7.")
    assert say("list", "--page", "9") == "There is no page 9; all 7 are on the pages before.\n"


def test_the_list_is_narrowed_by_kind_session_day_and_status(told, note, event, assistant, clock):
    old = event("An old event")
    clock.move(hours=24 * 10)
    note("A note")
    clock.move(hours=1)
    assistant.new_session()
    event("A new event")
    assistant.memories.forget(assistant.memories.find(old))
    assert contents(told("list", "--kind", "EPISODIC")) == ["A new event"]
    assert contents(told("list", "--session", "this")) == ["A new event"]
    assert contents(told("list", "--since", f"{clock():%Y-%m-%d}")) == ["A new event", "A note"]
    assert contents(told("list", "--status", "archived")) == ["An old event"]
    assert len(contents(told("list", "--status", "all"))) == 3


def test_an_empty_book_says_so(say):
    assert say() == "No memories here.\n"


@pytest.mark.parametrize("words", [("serch", "x"), ("shwo",), ("delete-all",), ("list", "--kind", "perceptual")])
def test_what_memory_cannot_do_is_one_sentence(say, words):
    with pytest.raises(UsageError, match=r"did you mean memory (search|show)|it can list|one of working"):
        say(*words)


@pytest.mark.parametrize(
    ("text", "days"), [("today", 0), ("昨天", 1), ("７d", 7), ("30天", 30)]
)  # fmt: skip
def test_a_day_may_be_given_relative_to_today(text, days):
    assert since(text).date() == datetime.now().astimezone().date() - timedelta(days=days)
    assert (since(text).hour, since(text).utcoffset() is None) == (0, False)


def test_a_day_nobody_can_mean_is_refused():
    with pytest.raises(argparse.ArgumentTypeError, match="2026-03-01"):
        since("someday")


# ---- search ----


def test_search_finds_what_is_about_the_words_and_nothing_else(told, say, note):
    note("HyDE writes a made-up answer first.")
    note("先看召回率，再看精确率。")
    (hit,) = told("search", "HyDE", "answer")["memories"]
    assert hit["content"].startswith("HyDE") and 0 < hit["score"] <= 1 and "words" in hit["why"]
    assert contents(told("search", "召回率")) == ["先看召回率，再看精确率。"]
    assert say("search", "bicycle") == "Nothing remembered about that.\n"


def test_search_looks_at_the_desk_of_this_session_only(told, assistant):
    assistant._rag.working.add("The exam is on Friday.", session_id=assistant.session_id)
    assert contents(told("search", "exam")) == ["The exam is on Friday."]
    assistant.new_session()
    assert contents(told("search", "exam")) == []


def test_search_can_look_into_the_archive(told, note, assistant):
    assistant.memories.forget(assistant.memories.find(note("The moon pulls the sea.")))
    assert contents(told("search", "moon")) == []
    assert contents(told("search", "moon", "--status", "archived")) == ["The moon pulls the sea."]


# ---- show ----


def test_an_id_may_be_given_by_its_beginning_in_any_case(told, note):
    memory_id = note("Recall comes first.")
    for typed in (memory_id, memory_id[:8], memory_id[:6].upper()):
        assert told("show", typed)["memory"]["memory_id"] == memory_id


def test_a_beginning_of_several_ids_lists_them(assistant, say):
    from dataclasses import replace

    item = assistant.memories.find(assistant.add_note("one").memory_id)
    for number in (1, 2):
        assistant._rag.semantic.insert(
            [replace(item, memory_id=f"abcdef{number}" + "0" * 25, content=f"text {number}")]
        )
    with pytest.raises(
        UsageError, match="Several memories begin with abcdef; give more of the id: abcdef1000, abcdef2000"
    ):
        say("show", "abcdef")
    assert "text 2" in say("show", "abcdef2")


@pytest.mark.parametrize("words", [("show", "ffff"), ("show", ""), ("edit", "%", "x"), ("show",)])
def test_an_id_nobody_knows_is_one_sentence(say, note, words):
    note("Recall comes first.")
    with pytest.raises(UsageError, match=r"There is no memory|Which memory"):
        say(*words)


def test_show_tells_where_a_note_is_from_and_why_it_is_kept(say, note, assistant):
    assistant.load_text(TIDES, "tides.md")
    shown = say("show", note("Recall comes first.", concept="evaluation", document="tides.md", page=1))
    facts = dict(row.split("  ", 1) for row in shown.splitlines() if "  " in row)
    facts = {name: value.strip() for name, value in facts.items()}
    assert facts["Said by"] == "you" and facts["Concept"] == "evaluation" and facts["Source"] == "tides.md, p. 1"
    assert facts["Kept"] == "you said it: no policy puts it away"


def test_show_tells_until_when_an_unused_event_is_kept(told, event, clock):
    shown = told("show", event("Asked about HyDE."))["memory"]
    day = (datetime.fromisoformat(shown["timestamp"]) + timedelta(days=30)).astimezone()
    assert shown["kept"].startswith(f"until {day:%Y-%m-%d}, unless it is used before")


def test_show_names_what_took_a_memorys_place_and_when(told, say, note, clock):
    old = note("My exam is on Friday.")
    clock.move(hours=2)
    new = told("correct", old, "My exam is on Monday.")["memory"]["memory_id"]
    before, after = told("show", old)["memory"], told("show", new)["memory"]
    assert (before["status"], before["superseded_by"], before["valid_until"]) == (
        "superseded",
        new,
        after["valid_from"],
    )
    assert after["took_the_place_of"] == [old] and [entry["action"] for entry in before["log"]] == ["superseded"]
    assert "Its place was taken by" in say("show", old) and "My exam is on Monday." in say("show", old)


def test_show_counts_the_answers_a_memory_was_used_in(told, event, assistant, clock):
    memory_id = event("Asked about HyDE.")
    for _ in range(2):
        assistant._rag.lifecycle.reinforce([memory_id])
        clock.move(hours=1)
    assert told("show", memory_id)["memory"]["access_count"] == 2
    assert told("show", memory_id)["memory"]["access_count"] == 2, "looking is no use"


# ---- edit and correct ----


def test_edit_changes_the_text_and_makes_it_the_learners_own(told, event, assistant):
    memory_id = event("Asked about HyDE.")
    edited = told("edit", memory_id[:8], "Asked", "about HyDE, twice.")["memory"]
    assert (edited["memory_id"], edited["content"], edited["source"]) == (memory_id, "Asked about HyDE, twice.", "user")
    assert contents(told("search", "twice")) == ["Asked about HyDE, twice."]


def test_correct_keeps_the_old_text_as_history(told, note):
    old = note("k1 is usually 2.0 in BM25.")
    new = told("correct", old, "k1 is usually", "1.2 in BM25.")
    assert new["replaces"] == old
    assert contents(told("list")) == ["k1 is usually 1.2 in BM25."]
    assert contents(told("list", "--status", "superseded")) == ["k1 is usually 2.0 in BM25."]


@pytest.mark.parametrize("action", ["edit", "correct"])
@pytest.mark.parametrize(("text", "why"), [("", "empty"), ("my password is hunter22", "secret")])
def test_nothing_and_secrets_are_not_kept(say, told, note, action, text, why):
    memory_id = note("Recall comes first.")
    with pytest.raises(UsageError, match=why):
        say(action, memory_id, text)
    assert contents(told()) == ["Recall comes first."]


def test_the_desk_has_no_history(say, assistant):
    memory_id = assistant._rag.working.add("The exam is on Friday.", session_id=assistant.session_id)
    with pytest.raises(UsageError, match="use edit"):
        say("correct", memory_id, "The exam is on Monday.")
    assert "The exam is on Monday." in say("edit", memory_id, "The exam is on Monday.")


# ---- forget and restore ----


def test_forget_archives_and_restore_brings_back(told, say, note):
    memory_id = note("Recall comes first.")
    assert f"memory restore {memory_id[:8]} brings it back" in say("forget", memory_id)
    assert contents(told()) == [] and contents(told("search", "recall")) == []
    assert contents(told("list", "--status", "archived")) == ["Recall comes first."]
    assert told("restore", memory_id)["restored"][0]["memory_id"] == memory_id
    assert contents(told("search", "recall")) == ["Recall comes first."]
    assert [entry["action"] for entry in told("show", memory_id)["memory"]["log"]] == ["archived", "restored"]


def test_a_dry_run_only_says_what_would_happen(told, say, note):
    memory_id = note("Recall comes first.")
    assert say("forget", memory_id, "--dry-run") == "Would be archived: “Recall comes first.”\n"
    assert "Would go for good" in say("purge", memory_id, "--dry-run")
    assert told("purge", memory_id, "--dry-run")["purged"] == [memory_id]
    assert contents(told()) == ["Recall comes first."]


def test_forget_without_an_id_does_what_policy_says_and_says_it_first(told, note, event, clock):
    stale = event("Asked where the canteen is.")
    note("My grandmother taught me to read.")
    clock.move(hours=24 * 31)
    would = told("forget", "--dry-run")
    assert [one["memory_id"] for one in would["forgotten"]] == [stale] and len(contents(told())) == 2
    assert told("forget")["forgotten"] == would["forgotten"]
    assert contents(told()) == ["My grandmother taught me to read."]


def test_what_is_put_away_is_not_put_away_again(told, say, note):
    memory_id = note("Recall comes first.")
    say("forget", memory_id)
    assert "Put away already" in say("forget", memory_id) and told("forget", memory_id)["forgotten"] == []
    say("restore", memory_id)
    assert "not put away" in say("restore", memory_id) and told("restore", memory_id)["restored"] == []


def test_restoring_history_says_what_else_holds_now(say, told, note):
    old = note("k1 is usually 2.0 in BM25.")
    say("correct", old, "k1 is usually 1.2 in BM25.")
    assert "This holds now, too: “k1 is usually 1.2 in BM25.”" in say("restore", old)


def test_forgetting_takes_an_item_off_the_desk(say, told, assistant):
    memory_id = assistant._rag.working.add("The exam is on Friday.", session_id=assistant.session_id)
    assert "Off the desk" in say("forget", memory_id) and contents(told()) == []


# ---- purge ----


def test_purge_without_anybody_to_ask_needs_yes(say, told, note):
    memory_id = note("Recall comes first.")
    with pytest.raises(UsageError, match="add --yes"):
        say("purge", memory_id)
    assert told("purge", memory_id, "--yes")["purged"] == [memory_id]
    assert contents(told("list", "--status", "all")) == []


@pytest.mark.parametrize(("answer", "left"), [("y", 0), ("是", 0), ("Ｙｅｓ", 0), ("", 1), ("n", 1), (EOFError, 1)])
def test_purge_asks_first_and_no_answer_is_no(desk, say, told, note, monkeypatch, answer, left):
    def ask_line(question: str) -> str:
        if answer is EOFError:
            raise EOFError
        return answer

    monkeypatch.setattr(Desk, "can_be_asked", True)
    desk.ask_line = ask_line
    shown = say("purge", note("Recall comes first."))
    assert "Would go for good" in shown and "Recall comes first." in shown
    assert told("list", "--status", "all")["total"] == left
    assert ("Nothing was deleted." in shown) == bool(left)


# ---- export ----


def test_export_writes_every_memory_one_a_line(say, told, note, desk, tmp_path):
    old = note("k1 是 2.0。")
    say("correct", old, "k1 是 1.2。")
    file = tmp_path / "out" / "mine.jsonl"
    assert f"2 memories, one a line, in {file}" in say("export", str(file))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {(line["content"], line["status"]) for line in lines} == {
        ("k1 是 2.0。", "superseded"),
        ("k1 是 1.2。", "active"),
    }
    assert told("export")["memories"] == lines


def test_an_export_without_a_name_lies_in_the_home_where_a_purge_finds_it(say, note, desk):
    memory_id = note("Recall comes first.")
    say("export", "--kind", "semantic")
    (file,) = (desk.settings.home / EXPORTS).iterdir()
    assert memory_id in file.read_text(encoding="utf-8")
    say("purge", memory_id, "--yes")
    assert not file.exists()


# ---- the table ----


def test_every_action_has_a_schema_and_is_in_the_help():
    from study.arguments import help_for

    assert terminal_schemas.MEMORY_COMMANDS.keys() == ACTIONS.keys()
    assert all(name in help_for(find("memory")) for name in ACTIONS)
    assert find("memory").run is memories.memory
