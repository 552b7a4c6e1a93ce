"""Memories that stay true together: infrastructure/reconcile.py, through the two stored memories of script 09."""

import doctest
from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest

from infrastructure import annotate, dates, entities, gate, slots, statements, terms

m09 = import_module("09_memory_system")

DAY = timedelta(days=1)


def active(memory):
    return [item.content for item in memory.list()]


def history(memory):
    """(content, first day, last day or None) of everything, as it came in."""
    items = sorted(memory.list(status=None), key=lambda item: item.valid_from)
    return [(i.content, i.valid_from.year, i.valid_until and i.valid_until.year) for i in items]


def year(number):
    return datetime(number, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize("module", [annotate, dates, entities, gate, slots, statements, terms])
def test_the_examples_in_the_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


# ---- Superseding ----


def test_a_new_value_says_what_it_replaced(handbook):
    old = handbook.write("我住在上海")
    new = handbook.write("我搬到北京了")
    assert (old.action, new.action, new.replaced) == ("written", "superseded", (old.memory_id,))
    assert active(handbook) == ["我搬到北京了"]


def test_additive_facts_stay_side_by_side(handbook, diary):
    hobbies = ["I like tea", "I like coffee", "我喜欢下棋", "我喜欢跑步"]
    chapters = ["I read chapter 3", "I read chapter 4", "读完了第3章", "读完了第4章"]
    handbook.add_many([m09.MemoryItem(hobby) for hobby in hobbies])
    diary.add_many([m09.MemoryItem(chapter) for chapter in chapters])
    assert (active(handbook), active(diary)) == (hobbies, chapters)


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("I like tea", "I don't like tea any more"),
        ("I am vegetarian", "I'm not vegetarian"),
        ("I have a cat", "I have no cat"),
        ("I love tea", "I hate tea"),
        ("我喜欢茶", "我不喜欢茶了"),
        ("我是素食者", "我不是素食者"),
        ("我有猫", "我没有猫了"),
        ("我喜欢茶", "我讨厌茶"),
    ],
)
def test_a_denial_supersedes_and_can_be_taken_back(handbook, yes, no):
    first = handbook.write(yes)
    assert handbook.write(no).replaced == (first.memory_id,)
    assert active(handbook) == [no]
    handbook.add(yes)
    assert active(handbook) == [yes]
    assert handbook.size() == 1


def test_who_he_is_changes_from_talk_to_talk(handbook):
    handbook.add("He likes tea")
    handbook.add("He does not like tea")
    assert handbook.size() == 2


def test_nothing_is_deleted_and_the_log_says_what_happened(handbook, storage):
    ids = [handbook.add(f"k1 is 1.{n}") for n in range(5)]
    assert [handbook.get(memory_id).superseded_by for memory_id in ids] == [*ids[1:], None]
    assert storage.database.value("SELECT count(*) FROM log WHERE action = 'superseded'") == 4


def test_a_value_that_comes_back_is_current_again(handbook, clock):
    for content in ("My favourite colour is blue", "My favourite colour is green", "My favourite colour is blue"):
        handbook.add(content)
        clock.move(days=1)
    assert active(handbook) == ["My favourite colour is blue"]
    assert len(handbook.list(status="superseded")) == 2


def test_in_one_batch_the_last_value_holds(handbook):
    values = ("blue", "green", "blue", "red", "red")
    ids = handbook.add_many([m09.MemoryItem(f"My favourite colour is {value}") for value in values])
    assert active(handbook) == ["My favourite colour is red"]
    assert (len(set(ids)), handbook.get(ids[-1]).mentions) == (4, 2)


def test_a_pin_goes_to_the_new_value(handbook):
    handbook.add("My exam is on 3 June", pinned=True)
    assert handbook.get(handbook.add("My exam is on 5 June")).pinned


def test_a_text_that_says_more_is_not_ended_by_a_part_of_it(handbook):
    handbook.add("My favourite colour is blue. My cat likes it too.")
    handbook.add("My favourite colour is green")
    assert handbook.size() == 2


def test_the_events_of_another_session_are_left_alone(diary):
    diary.add("I live in Rome", session_id="one")
    diary.add("I live in Paris", session_id="two")
    assert diary.size() == 2


def test_a_note_on_another_concept_is_about_something_else(handbook):
    handbook.add("k1 is 1.2", concept="the book")
    handbook.add("k1 is 0.9", concept="my experiment")
    assert handbook.size() == 2


def test_a_superseded_value_can_be_restored(handbook):
    old = handbook.add("My exam is on 3 June")
    handbook.add("My exam is on 5 June")
    assert handbook.restore(old)
    assert handbook.size() == 2


# ---- Trust ----


@pytest.mark.parametrize(
    ("first", "second", "current"),
    [
        ("user", "user", ["5 June"]),
        ("user", "model", ["3 June", "5 June"]),
        ("user", "document", ["3 June", "5 June"]),
        ("model", "model", ["5 June"]),
        ("model", "user", ["5 June"]),
        ("document", "user", ["5 June"]),
        ("document", "model", ["3 June", "5 June"]),
        ("document", "document", ["3 June", "5 June"]),
    ],
)
def test_what_is_less_trusted_ends_nothing(handbook, first, second, current):
    handbook.add("The exam is on 3 June", source=first)
    handbook.add("The exam is on 5 June", source=second)
    assert active(handbook) == [f"The exam is on {day}" for day in current]


def test_what_is_made_of_something_is_trusted_no_more_than_that(handbook, diary):
    heard = diary.add("The fee is due in May", source="document")
    told = diary.add("I paid the fee")
    made = [
        handbook.add(f"Fees, part {n}", derived_from=ids) for n, ids in enumerate(([heard, told], [told], ["gone"]))
    ]
    assert [handbook.get(memory_id).source for memory_id in made] == ["document", "user", "user"]


def test_a_correction_of_a_document_is_the_learners_own(handbook):
    heard = handbook.add("Fees fall due in May", source="document")
    assert handbook.get(handbook.supersede(heard, "Fees fall due in June", source="user")).source == "user"


# ---- History ----


def test_what_is_told_late_goes_to_its_place_in_history(handbook):
    for content, said in (("I live in Paris", 2022), ("I live in Rome", 2019), ("I live in Oslo", 2020)):
        handbook.add(content, said_at=year(said))
    assert history(handbook) == [
        ("I live in Rome", 2019, 2020),
        ("I live in Oslo", 2020, 2022),
        ("I live in Paris", 2022, None),
    ]
    assert active(handbook) == ["I live in Paris"]


@pytest.mark.parametrize(("when", "city"), [(2018, []), (2019, ["Rome"]), (2021, ["Oslo"]), (2023, ["Paris"])])
def test_as_of_gives_what_was_held_true_then(handbook, when, city):
    for content, said in (("I live in Rome", 2019), ("I live in Oslo", 2020), ("I live in Paris", 2022)):
        handbook.add(content, said_at=year(said))
    then = year(when) + DAY
    assert [item.content[10:] for item in handbook.list(as_of=then)] == city
    assert [hit.item.content[10:] for hit in handbook.retrieve("Where do I live?", as_of=then)] == city


def test_as_of_leaves_out_what_was_archived(handbook, clock):
    handbook.archive(handbook.add("I live in Rome"))
    assert handbook.list(as_of=clock() + DAY) == []


def test_a_move_told_today_that_happened_yesterday_ends_what_was_said_this_morning(diary, clock):
    diary.add("I live in Rome")
    clock.move(hours=1)
    diary.add("I moved to Paris yesterday")
    assert active(diary) == ["I moved to Paris yesterday"]


# ---- Time ----


def test_only_events_are_moved_to_when_they_happened(handbook, diary, clock):
    facts = [memory.get(memory.add("I read chapter 3 yesterday")) for memory in (handbook, diary)]
    assert [item.occurred_at for item in facts] == [clock(), clock() - DAY]
    assert [list(item.metadata["dates"]) for item in facts] == [["yesterday"], ["yesterday"]]


def test_a_time_that_was_given_is_kept(diary, clock):
    then = clock() - 30 * DAY
    item = diary.get(diary.add("I fell yesterday", occurred_at=then))
    assert item.occurred_at == item.valid_from == then
    assert item.metadata["dates"] == {"yesterday": f"{then - DAY:%Y-%m-%d}"}


def test_an_imported_items_own_time_is_when_it_was_said(diary):
    (memory_id,) = diary.add_many([m09.MemoryItem("昨天读完第3章", timestamp=datetime(2023, 5, 8, tzinfo=UTC))])
    assert diary.get(memory_id).occurred_at == datetime(2023, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize("source", ["document", "model"])
def test_the_yesterday_of_a_document_is_another_day(diary, source, clock):
    item = diary.get(diary.add("It rained yesterday", source=source))
    assert (item.occurred_at, item.metadata) == (clock(), {})


def test_what_is_written_again_from_an_export_is_not_dated_again(diary):
    item = diary.get(diary.add("I fell yesterday"))
    diary.remove(item.memory_id)
    diary.add_many([item])
    assert diary.get(item.memory_id) == item


# ---- Lists ----


def test_sessions_are_listed_with_their_first_and_last_time(diary, clock):
    for day, session in enumerate("abab"):
        diary.add(f"event {day}", session_id=session, occurred_at=clock() + day * DAY)
    spans = [(span.session_id, span.count, (span.last - span.first).days) for span in diary.sessions()]
    assert spans == [("a", 2, 2), ("b", 2, 2)]


def test_everything_of_a_kind_is_cleared_only_by_name(diary, handbook):
    diary.add("event", session_id="one")
    handbook.add("fact")
    assert (diary.clear_all(), diary.size(), handbook.size()) == (1, 0, 1)


def test_five_thousand_in_one_call_are_all_there(diary):
    items = [m09.MemoryItem(f"event {number}", session_id=f"s{number % 7}") for number in range(5_000)]
    assert diary.add_many(items) == [item.memory_id for item in items]
    assert diary.size() == 5_000
