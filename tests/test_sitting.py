import json
from types import SimpleNamespace

import pytest
import terminal_schemas
from jsonschema import Draft202012Validator
from screen import said
from support import OpenAIServer, Reply, ScriptedLLM

from infrastructure.errors import LLMUnavailable, UsageError
from infrastructure.settings import Settings
from study.sitting import chosen_session, resume

TIDES = "# Tides\n\nThe tide is caused by the moon, which pulls the water of the sea.\n"


def ask_in_three_sessions(assistant, clock) -> list[str]:
    """Ids, oldest first."""
    ids = []
    for question in ("What causes the tide?", "什么是潮汐？", "And the sea?"):
        ids.append(assistant.new_session())
        assistant.ask(question)
        clock.move(hours=3)
    return ids


# ---- Sessions ----


def test_sessions_are_listed_newest_first_and_the_one_at_the_desk_is_marked(desk, assistant, clock):
    ids = ask_in_three_sessions(assistant, clock)
    rows = said(desk, "session").splitlines()[1:]
    assert [row.split()[-1] for row in rows] == [session_id[:8] for session_id in reversed(ids)]
    assert rows[0].startswith("* 1") and "And the sea?" in rows[0] and "什么是潮汐？" in rows[1]


def test_without_sessions_the_list_says_what_to_do(desk):
    assert said(desk, "session") == "No sessions yet; ask something.\n"


@pytest.mark.parametrize("by", ["number", "full-width number", "beginning of the id"])
def test_a_session_is_taken_up_again_by_number_or_id(desk, assistant, clock, by):
    first, second, _ = ask_in_three_sessions(assistant, clock)
    chosen = {"number": ("2", second), "full-width number": ("３", first), "beginning of the id": (first[:10], first)}
    word, session_id = chosen[by]
    assert "Going on with the session that began with" in said(desk, "session", word)
    assert assistant.session_id == session_id


def test_a_session_that_is_taken_up_again_knows_what_it_was_about(desk, assistant, clock):
    assistant.load_text(TIDES, "tides.md")
    assistant.ask("What causes the tide?")
    said(desk, "session", "new")
    said(desk, "session", "1")
    assert "What causes the tide?" in assistant.ask("那这个怎么解释？").enriched_query


def test_a_new_session_leans_on_nothing(desk, assistant):
    assistant.ask("What causes the tide?")
    before = assistant.session_id
    assert "new session" in said(desk, "session", "new")
    assert assistant.session_id != before


@pytest.mark.parametrize(("word", "told"), [("9", "no session 9"), ("zz", "no session zz"), ("a", "begin with a")])
def test_a_session_nobody_knows_is_one_sentence(word, told):
    sessions = [SimpleNamespace(session_id=session_id) for session_id in ("ab1", "ab2", "cd3")]
    with pytest.raises(UsageError, match=f"{told}.*/session lists them"):
        chosen_session(sessions, word)


def test_a_command_of_its_own_does_not_switch(desk, assistant):
    desk.interactive = False
    with pytest.raises(UsageError, match="ask --session ID"):
        said(desk, "session", "new")


def test_sessions_in_json(desk, assistant, clock):
    ids = ask_in_three_sessions(assistant, clock)
    desk.screen.json_only = True
    listed = json.loads(said(desk, "session"))
    Draft202012Validator(terminal_schemas.SESSIONS).validate(listed)
    assert [session["session_id"] for session in listed["sessions"]] == ids[::-1]


def test_a_session_that_is_too_old_for_the_list_is_still_found_by_its_id(desk, assistant, clock):
    oldest = assistant.session_id
    assistant.ask("What causes the tide?")
    for _ in range(25):
        clock.move(hours=3)
        assistant.new_session()
        assistant.ask("And the sea?")
    assert oldest not in [session.session_id for session in assistant.sessions()]
    said(desk, "session", oldest[:12])
    assert assistant.session_id == oldest


# ---- The model ----


def test_without_a_model_it_is_said_how_to_take_one(desk):
    assert "answers quote your documents" in said(desk, "model") and "/model NAME" in said(desk, "model")


def test_a_model_is_asked_once_before_it_is_taken(desk, assistant, monkeypatch):
    with OpenAIServer("ok") as server:
        monkeypatch.setattr(desk, "settings", Settings.load(
            {"home": desk.settings.home, "language": "en"},
            environ={"LLM_API_BASE": server.url, "LLM_API_KEY": "k"}, dotenv={},
        ))  # fmt: skip
        assert "openai/test-model answers from now on" in said(desk, "model", "openai/test-model")
        assert len(server.requests) == 1
        assert assistant.get_stats()["llm"] == "openai/test-model"
        rows = said(desk, "settings").splitlines()
        assert any(row.split() == ["LLM_MODEL", "openai/test-model", "/model"] for row in rows)
        assert "tokens sent" in said(desk, "model")


def test_a_model_that_does_not_answer_is_not_taken(desk, assistant):
    old = ScriptedLLM(default="old")
    assistant.use_model(old)
    desk.settings = Settings.load(
        {"home": desk.settings.home, "llm_model": "old", "language": "en"}, environ={}, dotenv={}
    )
    with OpenAIServer(default=Reply.failure(401, "bad key")) as server:
        desk.settings = Settings.load(
            {"home": desk.settings.home, "llm_model": "old", "language": "en"},
            environ={"LLM_API_BASE": server.url, "LLM_API_KEY": "k"}, dotenv={},
        )  # fmt: skip
        with pytest.raises(LLMUnavailable, match="It stays with old"):
            said(desk, "model", "openai/test-model")
    assert assistant.llm is old and desk.settings.llm_model == "old"


def test_off_means_quoting(desk, assistant):
    assistant.load_text(TIDES, "tides.md")
    assistant.use_model(ScriptedLLM(default="never asked"))
    assert "quote your documents" in said(desk, "model", "OFF")
    assert assistant.ask("What causes the tide?").mode == "extractive"


def test_what_is_set_is_told_in_json_with_secrets_masked(desk):
    desk.settings = Settings.load(
        {"home": desk.settings.home}, environ={"LLM_API_KEY": "sk-0123456789abcdef"}, dotenv={}
    )
    desk.screen.json_only = True
    shown = said(desk, "settings")
    Draft202012Validator(terminal_schemas.SETTINGS).validate(json.loads(shown))
    rows = {row["name"]: (row["value"], row["source"]) for row in json.loads(shown)["settings"]}
    assert rows["LLM_API_KEY"] == ("…cdef", "environment") and "0123456789" not in shown


@pytest.mark.parametrize(("go_on", "same"), [(False, False), (True, True)])
def test_the_last_session_goes_on_after_a_year_when_that_is_wished(desk, assistant, clock, go_on, same):
    ids = ask_in_three_sessions(assistant, clock)
    clock.move(hours=24 * 365)
    assert (resume(desk, go_on=go_on) == ids[-1]) == same


def test_with_no_session_to_go_on_with_a_new_one_begins(desk, assistant):
    before = assistant.session_id
    assert resume(desk, go_on=True) == assistant.session_id != before


def test_a_question_of_its_own_goes_on_with_the_last_session_too(desk, assistant, clock):
    ids = ask_in_three_sessions(assistant, clock)
    clock.move(hours=24 * 365)
    desk.interactive = False
    said(desk, "ask", "--continue", "And the moon?")
    assert assistant.transcript.turns(ids[-1])[-1].question == "And the moon?"


def test_a_question_of_its_own_in_a_session_nobody_knows_is_refused(desk, assistant, clock):
    ask_in_three_sessions(assistant, clock)
    desk.interactive = False
    with pytest.raises(UsageError, match=r"no session zzz; .*[^/]session lists them"):
        said(desk, "ask", "And the moon?", "--session", "zzz")
    assert len(assistant.sessions()) == 3


def test_a_question_of_its_own_begins_a_session_when_that_is_wished(desk, assistant, clock):
    ids = ask_in_three_sessions(assistant, clock)
    desk.interactive = False
    said(desk, "ask", "And the moon?", "--session", "new")
    assert assistant.session_id not in ids and len(assistant.sessions()) == 4


def test_an_id_in_full_is_taken_before_a_number():
    sessions = [SimpleNamespace(session_id=session_id) for session_id in ("ab1", "Cd2", "1")]
    assert [chosen_session(sessions, word).session_id for word in ("1", "Cd2", "2")] == ["1", "Cd2", "Cd2"]
