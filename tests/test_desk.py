"""The desk under the working memory: infrastructure/desk.py."""

from datetime import timedelta
from importlib import import_module

import pytest

m09 = import_module("09_memory_system")


@pytest.fixture
def desk(clock):
    return m09.WorkingMemory(now=clock)


def contents(items):
    return [item.content for item in items]


def test_a_list_is_paged_oldest_first(desk, clock):
    for number in range(5):
        desk.add(f"item {number}")
        clock.move(minutes=1)
    assert contents(desk.list(limit=2, offset=1)) == ["item 1", "item 2"]
    assert len(desk.list(limit=-1)) == 5


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"session_id": "a"}, ["one", "three"]),
        ({"min_importance": 0.5}, ["two", "three"]),
        ({"max_importance": 0.5}, ["one"]),
        ({"source": "model"}, ["two"]),
        ({"status": None, "session_id": "b"}, ["two"]),
        ({"status": "archived"}, []),
    ],
)
def test_filters_are_those_of_the_other_memories(desk, chosen, expected):
    for content, importance, session, source in (
        ("one", 0.1, "a", "user"),
        ("two", 0.5, "b", "model"),
        ("three", 0.9, "a", "user"),
    ):
        desk.add(content, importance, session, source=source)
    assert contents(desk.list(**chosen)) == expected


def test_a_time_range_is_exact(desk, clock):
    start = clock()
    for number in range(3):
        desk.add(f"item {number}")
        clock.move(minutes=10)
    since, until = start + timedelta(minutes=10), start + timedelta(minutes=20)
    assert contents(desk.list(since=since, until=until)) == ["item 1"]
    assert [hit.item.content for hit in desk.retrieve("item", since=since)] == ["item 2", "item 1"]


def test_an_item_can_be_changed(desk):
    memory_id = desk.add("BM25 ranks words", 0.3, concept="ranking")
    assert desk.update(memory_id, content="BM25 scores words", importance=0.9, metadata={"seen": True})
    item = desk.get(memory_id)
    assert (item.content, item.importance, item.metadata) == (
        "BM25 scores words",
        0.9,
        {"concept": "ranking", "seen": True},
    )
    assert not desk.update("nobody", importance=0.1)


def test_many_items_at_once_give_their_ids(desk):
    items = [m09.MemoryItem("one"), m09.MemoryItem("two"), m09.MemoryItem("One!")]
    ids = desk.add_many(items)
    assert ids == [items[0].memory_id, items[1].memory_id, items[0].memory_id]
    assert desk.size() == 2


def test_another_value_outdates_the_one_on_the_desk(desk, clock):
    old = desk.add("My seat is 14C")
    clock.move(minutes=5)
    desk.add("My seat is 15A")
    assert contents(desk.items()) == ["My seat is 15A"]
    assert [hit.item.content for hit in desk.retrieve("seat")] == ["My seat is 15A"]
    assert contents(desk.list(as_of=clock() - timedelta(minutes=1))) == ["My seat is 14C"]
    assert desk.get(old).status == "superseded"


def test_a_model_outdates_nothing_of_the_learners(desk):
    desk.add("My seat is 14C")
    desk.add("My seat is 15A", source="model")
    assert desk.size() == 2


def test_outdated_items_leave_a_full_desk_first(clock):
    desk = m09.WorkingMemory(capacity=2, now=clock)
    desk.add("My seat is 14C", 1.0)
    desk.add("My seat is 15A", 0.1)
    desk.add("something else", 0.1)
    assert contents(desk.list(status=None)) == ["My seat is 15A", "something else"]
