"""The desk of a session holds its turns: the last one to lean on, the last answered one to correct."""

from importlib import import_module

import pytest

from infrastructure.conversation import Conversation
from infrastructure.lesson import StoppedClock
from infrastructure.transcript import Turn

m09 = import_module("09_memory_system")


@pytest.fixture
def clock():
    return StoppedClock()


@pytest.fixture
def conversation(clock):
    return Conversation(m09.WorkingMemory(capacity=30, ttl_minutes=120, now=clock), "s1")


def test_the_last_turn_is_the_newest_and_a_wish_is_no_turn(conversation, clock):
    assert conversation.last() is None
    for question in ("What is recall?", "What is precision?"):
        conversation.put(question, "An answer.", {"found": True})
        clock.move(minutes=1)
    conversation.working.add("Answer briefly this time", session_id="s1")
    assert conversation.last().metadata["question"] == "What is precision?"


def test_the_second_point_is_the_second_thing_its_first_sentence_lists_or_the_second_sentence(conversation, clock):
    listing, other = "主要看三个指标：召回率、精确率和忠实度。", "先看检索。"
    conversation.put("怎么评估？", "An answer.", {"points": [listing, other]})
    assert conversation.pointed_at("那第二点呢？")[0] == "精确率"
    clock.move(minutes=1)
    conversation.put("先做什么？", "Another.", {"points": [other, listing]})
    assert conversation.pointed_at("那第二点呢？")[0] == listing


def test_a_correction_takes_the_place_of_the_last_answer_that_was_found(conversation, clock):
    conversation.put("How long?", "12 hours", {"found": True})
    clock.move(minutes=1)
    conversation.put("Who won?", "Nothing found", {"found": False})
    clock.move(minutes=1)
    conversation.correct(conversation.last_answered(), "24 hours")
    said = conversation.summary(200)
    assert "24 hours" in said and "12 hours" not in said


def test_resuming_leaves_out_notes_and_answers_from_documents_that_are_gone(conversation, clock):
    def turn(question, **trace):
        return Turn(1, "s2", clock(), question, f"Answer to {question}", True, "extractive", trace)

    turns = [
        turn("I am told", noted=True),
        turn("From here", sources=[{"document_id": "here"}]),
        turn("From what is gone", sources=[{"document_id": "gone"}]),
    ]
    conversation.resume("s2", turns, {"here"})
    assert conversation.session_id == "s2"
    said = conversation.summary(500)
    assert "Answer to From here" in said
    assert "I am told" not in said and "Answer to From what is gone" not in said and "Q: From what is gone" in said
