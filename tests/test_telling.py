"""Which sentences say most about a place."""

import pytest

from infrastructure.library import Passage
from infrastructure.storage import Storage
from infrastructure.telling import telling

BIRDS = "Herons are birds that fish at dawn. It rained. Herons and other birds stand still while they fish."
FISH = "Carp are fish. 鲤鱼是一种在冬天睡觉的鱼。"


@pytest.fixture
def storage(tmp_path):
    with Storage(tmp_path) as storage:
        yield storage


def passage(number, content, heading=""):
    return Passage(number, f"c{number}", "d", "book.pdf", content, heading, number, 0, len(content), 1, 1)


def told(storage, passages, question="What?", most=4):
    return [extract.text for extract in telling(storage, passages, question, most)]


def test_what_a_place_keeps_speaking_of_is_telling(storage):
    assert "It rained." not in told(storage, [passage(0, BIRDS)])
    assert len(told(storage, [passage(0, BIRDS)])) == 2


def test_every_heading_gets_one_sentence_in_reading_order(storage):
    found = told(
        storage, [passage(0, BIRDS, "Birds"), passage(1, "The lynx is a cat.", "Cats"), passage(2, FISH, "Fish")]
    )
    assert [text.split()[0] for text in found[-2:]] == ["The", "Carp"] and len(found) == 3


def test_with_little_room_the_most_telling_headings_are_left(storage):
    passages = [passage(n, f"Herons number {n} fish at dawn.", f"H{n}") for n in range(9)]
    assert len(told(storage, passages, most=3)) == 3


def test_the_questions_language_is_preferred_where_it_is_spoken(storage):
    assert told(storage, [passage(0, FISH)], "讲了什么？") == ["鲤鱼是一种在冬天睡觉的鱼。"]
    assert told(storage, [passage(0, "Carp are fish that sleep.")], "讲了什么？") == ["Carp are fish that sleep."]


def test_titles_references_lists_and_repeats_are_not_quoted(storage):
    noise = "2 Related Work\n\n• only an item\n\n[1] A. Bird, Herons. In Proceedings of Birds, 2020."
    assert told(storage, [passage(0, noise)]) == []
    assert told(storage, [passage(0, "Herons fish at dawn."), passage(1, "Herons fish  at dawn.")]) == [
        "Herons fish at dawn."
    ]


def test_the_heading_before_a_sentence_is_left_out(storage):
    found = telling(storage, [passage(0, "1 The Birds Herons fish at dawn.", "Animals > The Birds")], "What?", 1)
    assert [(extract.text, extract.start) for extract in found] == [("Herons fish at dawn.", 12)]


def test_what_was_cut_off_is_quoted_only_where_nothing_else_is(storage):
    assert told(storage, [passage(0, "Herons and herons fish at dawn and then\n\nHerons sleep.")]) == ["Herons sleep."]
    assert told(storage, [passage(0, "Herons fish at dawn and then")]) == ["Herons fish at dawn and then"]


def test_nothing_tells_nothing(storage):
    assert told(storage, []) == []
