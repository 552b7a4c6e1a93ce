"""Cards and grades as rows: what is written is there, whatever happens next."""

import sqlite3
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infrastructure.cards import Card, CardTable, Draft
from infrastructure.errors import UsageError
from infrastructure.storage import Storage
from infrastructure.text import repair
from study.schedule import EASY, GOOD, Timetable

TODAY = date(2026, 5, 8)


@pytest.fixture
def table(storage):
    return CardTable(storage)


def draft(point: str = "p1", **changes) -> Draft:
    usual = Draft(
        "cloze", "The half-life is ____ hours.", "24", "The half-life is 24 hours.", point, document_id="d1",
        document="guide.pdf", page=6, page_label="3", heading_path="3 Decay",
    )  # fmt: skip
    return replace(usual, **changes)


def graded(table: CardTable, card: Card, rating: int = GOOD, **changes):
    after = Timetable().after(card.memory, rating, table._storage.now())
    usual = {"rating": rating, "verdict": "right", "given": "24", "day": TODAY, "seconds": 3.14}
    return table.grade(card, after, **{**usual, **changes})


def test_a_new_card_is_due_at_once_and_was_never_asked(table, storage):
    (card,) = table.add([draft()])
    assert card == table.get(card.card_id) and card.memory.is_new and card.memory.due == storage.now()
    assert (card.page, card.page_label, card.status) == (6, "3", "active")


def test_a_point_is_asked_about_once(table):
    assert len(table.add([draft("a"), draft("a"), draft("b")])) == 2
    assert table.add([draft("a", question="Otherwise worded ____")]) == [] and table.count() == 2


TEXT = st.text(max_size=30)


@given(st.lists(TEXT, max_size=4), TEXT, TEXT)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_any_text_comes_back_as_it_was_but_for_what_no_store_can_carry(table, options, question, answer):
    made = table.add([draft(f"{table.count()}", question=question, answer=answer, options=tuple(options))])
    card = CardTable(table._storage).get(made[0].card_id)
    assert (card.question, card.answer) == (repair(question), repair(answer))
    assert card.options == tuple(map(repair, options))


def test_a_grade_and_its_due_date_are_there_in_another_process_at_once(table, storage):
    (card,) = table.add([draft()])
    review = graded(table, card)
    with Storage(storage.home, now=storage.now) as other:
        seen = CardTable(other)
        assert seen.reviews() == [review] and seen.get(card.card_id).memory == table.get(card.card_id).memory
    assert review.before == card.memory and review.day == TODAY and review.seconds == 3.1


def test_neither_is_written_when_one_of_them_fails(table):
    (card,) = table.add([draft()])
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        after = Timetable().after(card.memory, EASY, table._storage.now())
        table.grade(card, after, rating=7, verdict="right", given="24", day=TODAY, seconds=1)
    assert table.reviews() == [] and table.get(card.card_id) == card


def test_a_grade_that_is_changed_counts_as_if_it_had_been_given_so(table, storage):
    (card,) = table.add([draft()])
    review = graded(table, card)
    after = Timetable().after(review.before, EASY, storage.now())
    table.regrade(review, after, EASY)
    assert table.get(card.card_id).memory == after and [r.rating for r in table.reviews()] == [EASY]


def test_an_edited_card_keeps_its_due_date_and_remembers_when(table, storage):
    (card,) = table.add([draft()])
    graded(table, card)
    storage.now.move(hours=1)
    edited = table.edit(card.card_id, question="The half-life is ____ h.", accepted=("twenty-four",))
    assert (edited.question, edited.accepted) == ("The half-life is ____ h.", ("twenty-four",))
    assert edited.memory == table.get(card.card_id).memory and edited.edited_at > card.edited_at
    suspended = table.edit(card.card_id, status="suspended")
    assert suspended.status == "suspended" and suspended.edited_at == edited.edited_at


def test_a_card_is_found_by_the_beginning_of_its_id(table):
    first, second = table.add([draft("a"), draft("b")])
    assert table.find(first.card_id[:12].upper()) == first
    with table._storage.transaction() as db:
        db.execute("UPDATE cards SET card_id = 'aa1' WHERE card_id = ?", (first.card_id,))
        db.execute("UPDATE cards SET card_id = 'aa2' WHERE card_id = ?", (second.card_id,))
    for wrong, told in (("aa", "Several"), ("zz", "no card zz"), ("", "no card"), ("%", "no card %")):
        with pytest.raises(UsageError, match=told):
            table.find(wrong)


def test_cards_are_listed_in_the_order_they_were_made_page_by_page(table):
    cards = table.add([draft(str(number), document_id="d1" if number < 3 else "d2") for number in range(5)])
    assert table.list() == cards and table.list(limit=2, offset=1) == cards[1:3]
    table.edit(cards[0].card_id, status="suspended")
    assert table.count(status="active") == 4 and table.count(document_id="d1", status="suspended") == 1
    assert table.list(document_id="d2") == cards[3:]


def test_what_must_go_takes_its_grades_along(table, storage):
    of_document, of_note, said, other = table.add(
        [draft("a"), draft("b", document_id="", note_id="n1"), draft("c", document_id="d2", quote="my secret"),
         draft("d", document_id="d2")]
    )  # fmt: skip
    for card in (of_document, of_note, said):
        graded(table, card)
    graded(table, other, given="was it my secret?")
    assert table.remove_of(document_id="d1", note_ids=["n1"]) == 2
    table.redact("my secret")
    assert table.list() == [table.get(other.card_id)]
    assert [review.given for review in table.reviews()] == ["was it ▇▇▇?"]


def test_reviews_are_those_of_the_cards_asked_for(table, storage):
    first, second = table.add([draft("a"), draft("b")])
    for card in (first, second, table.get(first.card_id)):
        graded(table, table.get(card.card_id))
        storage.now.moment += timedelta(minutes=10)
    assert [r.card_id for r in table.reviews([first.card_id])] == [first.card_id] * 2
