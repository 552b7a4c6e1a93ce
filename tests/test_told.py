"""What is told goes to the memory it belongs in; the receipt says which, and what it took the place of."""

from importlib import import_module

import pytest

from infrastructure.told import CORRECTION_IMPORTANCE, TOLD_IMPORTANCE, Listener, courtesy, hear
from infrastructure.utterance import Statement

m09 = import_module("09_memory_system")


@pytest.fixture
def listener(clock, diary, handbook):
    return Listener(m09.WorkingMemory(now=clock), diary, handbook)


@pytest.mark.parametrize(("kind", "where"), [("fact", "semantic"), ("event", "episodic"), ("wish", "working")])
def test_each_kind_of_statement_has_its_memory(listener, kind, where):
    receipt = listener.remember(Statement("I study law", kind), "s1")
    assert (receipt.action, receipt.memory_type) == ("written", where)
    kept = {"semantic": listener.semantic, "episodic": listener.episodic, "working": listener.working}[where]
    assert kept.get(receipt.memory_id).content == "I study law"
    assert kept.get(receipt.memory_id).session_id == "s1"


def test_what_is_told_is_at_least_so_important_that_consolidation_takes_it(listener):
    receipt = listener.remember(Statement("I study law", "fact"), "s1")
    assert listener.semantic.get(receipt.memory_id).importance >= TOLD_IMPORTANCE


@pytest.mark.parametrize("text", ["My API key is sk-abcdef1234567890abcdef", "我的密码是 hunter2secret"])
def test_a_secret_goes_nowhere_told_or_corrected(listener, text):
    assert listener.remember(Statement(text, "fact"), "s1").action == "refused"
    assert listener.correct(text, "s1", {}).action == "refused"
    assert listener.semantic.size() == listener.episodic.size() == listener.working.size() == 0


def test_a_correction_ends_what_the_wrong_answer_stood_on(listener):
    wrong = listener.semantic.add("HyDE 是一种数据库")
    receipt = listener.correct("HyDE 是假想文档检索", "s1", {"question": "HyDE 是什么？", "recalled": [wrong]})
    assert receipt.action == "superseded"
    assert "HyDE 是一种数据库" in receipt.reason
    assert listener.semantic.get(wrong).status == "superseded"
    assert listener.semantic.get(receipt.memory_id).importance == CORRECTION_IMPORTANCE


def test_a_note_is_the_learners_own_and_no_correction_ends_it(listener):
    note = listener.semantic.add("先看召回率", note_type="user_note")
    listener.correct("应该先看精确率", "s1", {"question": "先看什么？", "recalled": [note]})
    assert listener.semantic.get(note).status == "active"


def test_the_second_correction_of_a_topic_ends_the_first_and_another_topics_stays(listener):
    first = listener.correct("it weighs words", "s1", {"question": "What does BM25 do?"})
    other = listener.correct("it makes variants", "s1", {"question": "What does MQE do?"})
    second = listener.correct("it weighs rare words", "s1", {"question": "What does BM25 do?"})
    assert second.action == "superseded"
    assert listener.semantic.get(first.memory_id).status == "superseded"
    assert listener.semantic.get(other.memory_id).status == "active"


def test_a_new_value_names_the_one_whose_place_it_takes(listener):
    listener.remember(Statement("My favourite colour is blue", "fact"), "s1")
    receipt = listener.remember(Statement("My favourite colour is green", "fact"), "s2")
    assert (receipt.action, receipt.reason) == ("superseded", "replaces “My favourite colour is blue”")


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("hi", "Hello! Ask your documents"),
        ("Thanks a lot!", "You're welcome. Ask"),
        ("ok", "All right. Ask"),
        ("bye", "See you!"),
        ("你好", "你好！可以"),
        ("谢谢你！", "不客气。可以"),
        ("好的", "好的。可以"),
        ("再见", "再见！"),
    ],
)
def test_a_courtesy_gets_one_friendly_line_in_its_own_language_and_asks_nothing(text, begins):
    assert not hear(text).asks
    said = courtesy(text)
    assert said.startswith(begins) and "\n" not in said


@pytest.mark.parametrize(
    "text", ["hi, what is recall?", "你好，什么是召回率？", "What does “thanks” mean?", "Is bye a word?"]
)
def test_a_question_behind_a_greeting_is_asked(text):
    assert hear(text).asks
