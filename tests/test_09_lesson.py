"""The lesson of script 09, and what it says you can try."""

from datetime import timedelta
from importlib import import_module

import pytest
from screen import shown

from infrastructure.language import set_language
from infrastructure.storage import Storage

m09 = import_module("09_memory_system")


@pytest.mark.parametrize(("language", "word"), [("en", "Try it"), ("zh", "试一试")])
def test_the_lesson_says_the_same_every_time(tmp_path, language, word):
    set_language(language)
    first, second = (shown(*m09.lesson(tmp_path / name)) for name in ("one", "two"))
    assert first == second
    assert word in first


def test_every_question_but_the_last_finds_something(storage, clock):
    memories = m09.remember_all(storage, clock)
    found = [any(memory.retrieve(question) for memory in memories) for question in m09.QUESTIONS]
    assert found == [True] * (len(m09.QUESTIONS) - 1) + [False]


def test_try_it_after_ninety_minutes_only_the_desk_is_empty(storage, clock, monkeypatch):
    monkeypatch.setattr(m09, "ASKED_AFTER", timedelta(minutes=90))
    desk, diary, handbook = m09.remember_all(storage, clock)
    assert (desk.size("default"), diary.size(), handbook.size()) == (0, len(m09.EVENTS), len(m09.KNOWLEDGE))


def test_try_it_without_the_gloss_two_names_are_two_entities(tmp_path, clock, monkeypatch):
    def names(folder):
        with Storage(folder, now=clock) as storage:
            _, _, handbook = m09.remember_all(storage, clock)
            return {(entity.name, *entity.aliases) for entity in handbook.search_entities()}

    assert ("检索增强生成", "RAG") in names(tmp_path / "as it is")
    monkeypatch.setattr(m09, "KNOWLEDGE", tuple(text.replace("（RAG）", "") for text in m09.KNOWLEDGE))
    assert {("检索增强生成",), ("RAG",)} <= names(tmp_path / "changed")


@pytest.mark.parametrize(("short", "full"), [("幻觉", "怎么减少幻觉？"), ("hyde", "What is HyDE?")])
def test_try_it_two_characters_or_small_letters_find_the_same(storage, clock, short, full):
    _, _, handbook = m09.remember_all(storage, clock)
    assert [hit.item.content for hit in handbook.retrieve(short)] == [
        hit.item.content for hit in handbook.retrieve(full)
    ]
