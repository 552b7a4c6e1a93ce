"""Quiz and cards: what comes first, what an answer is worth, what a grade changes. Hand-made cards, one clock."""

from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module

import pytest

from infrastructure.cards import Draft
from infrastructure.errors import UsageError
from infrastructure.lesson import StoppedClock
from infrastructure.storage import Storage
from study.schedule import AGAIN, EASY, GOOD, Timetable

m13 = import_module("13_pdf_learning_assistant")
SHANGHAI = timezone(timedelta(hours=8))


@pytest.fixture
def clock():
    return StoppedClock(datetime(2026, 3, 1, 16, 30, tzinfo=UTC))  # half past midnight, March 2, in Shanghai


@pytest.fixture
def zone():
    return SHANGHAI


@pytest.fixture
def tutor(assistant):
    return assistant.tutor


def draft(point: str, **changes) -> Draft:
    usual = {"kind": "cloze", "question": f"{point}: the half-life is ____ hours.", "answer": "24",
             "quote": "The half-life is 24 hours.", "document_id": "d1", "document": "guide.pdf", "page": 6}  # fmt: skip
    return Draft(**{**usual, "point": point, **changes})


def test_due_cards_come_first_then_those_never_answered(tutor, clock):
    new, later, due, long_due = tutor.cards.add([draft(name) for name in "abcd"])
    for card, rating, days in ((long_due, GOOD, 5), (due, GOOD, 2), (later, EASY, 0)):
        clock.moment -= timedelta(days=days)
        tutor.answer(card.card_id, rating=rating)
        clock.moment += timedelta(days=days)
    assert [card.point for card in tutor.quiz(count=5).cards] == ["d", "c", "a"]
    assert [card.point for card in tutor.quiz(count=5, due_only=True).cards] == ["d", "c"]
    assert tutor.quiz(count=1, due_only=True).waiting == 1
    assert new.memory.is_new


def test_an_answer_is_judged_graded_and_saved_in_one_go(tutor, clock, tmp_path):
    (card,) = tutor.cards.add([draft("a")])
    graded = tutor.answer(card.card_id[:10], "24 hours", seconds=4.2)
    assert (graded.verdict, graded.rating, graded.review.given) == ("right", GOOD, "24 hours")
    assert graded.due == clock() + timedelta(minutes=10)
    with Storage(tmp_path / "home", now=clock) as again:
        seen = m13.PDFLearningAssistant(again).tutor.cards
        assert seen.reviews() == [graded.review] and seen.get(card.card_id) == graded.card


@pytest.mark.parametrize(("given", "rating"), [("24", 3), ("", 1), ("42", 1)])
def test_the_program_grades(tutor, given, rating):
    (card,) = tutor.cards.add([draft("a")])
    assert tutor.answer(card.card_id, given).rating == rating


def test_a_letter_is_written_down_as_the_option_it_stands_for(tutor):
    (card,) = tutor.cards.add([draft("a", options=("12", "24", "36", "48"))])
    assert tutor.answer(card.card_id, "b").review.given == "24"


def test_overruling_a_grade_counts_as_if_it_had_been_given_so(tutor, clock):
    first, second = tutor.cards.add([draft("a"), draft("b")])
    wrong = tutor.answer(first.card_id, "twenty fore")
    clock.move(minutes=3)
    graded = tutor.regrade(wrong, EASY)
    clock.move(minutes=-3)
    assert graded.card.memory == tutor.answer(second.card_id, rating=EASY).card.memory
    assert [review.rating for review in tutor.cards.reviews([first.card_id])] == [EASY]


def test_a_break_is_not_study(tutor):
    (card,) = tutor.cards.add([draft("a")])
    assert tutor.answer(card.card_id, "24", seconds=5000).review.seconds == 300


def test_a_night_in_shanghai_is_one_day(tutor, clock):
    first, second = tutor.cards.add([draft("a"), draft("b")])
    clock.moment -= timedelta(hours=2)  # 22:30
    before = tutor.answer(first.card_id, "24").review.day
    clock.moment += timedelta(hours=2)  # 00:30
    assert tutor.answer(second.card_id, "24").review.day == before
    clock.moment += timedelta(hours=4)  # 04:30
    assert tutor.answer(first.card_id, "24").review.day == before + timedelta(days=1)


def test_a_clock_that_was_moved_back_loses_no_grade(tutor, clock):
    (card,) = tutor.cards.add([draft("a")])
    tutor.answer(card.card_id, rating=EASY)
    before = tutor.cards.get(card.card_id).memory
    clock.moment -= timedelta(days=30)
    after = tutor.answer(card.card_id, rating=GOOD).card.memory
    assert (
        len(tutor.cards.reviews()) == 2 and after.due > before.last_review and after.last_review == before.last_review
    )


def test_a_suspended_card_is_not_asked_and_says_how_it_comes_back(tutor):
    (card,) = tutor.cards.add([draft("a")])
    tutor.set_status(card.card_id, "suspended")
    assert tutor.quiz().cards == []
    with pytest.raises(UsageError, match=f"cards resume {card.card_id[:8]}"):
        tutor.answer(card.card_id, "24")
    tutor.set_status(card.card_id, "active")
    assert [c.card_id for c in tutor.quiz().cards] == [card.card_id]


def test_a_corrected_answer_stays_among_its_options_and_keeps_its_due_date(tutor):
    (card,) = tutor.cards.add([draft("a", answer="Recal", options=("Recal", "Decay", "Noise", "Pool"))])
    tutor.answer(card.card_id, rating=EASY)
    due = tutor.cards.get(card.card_id).memory
    edited = tutor.edit(card.card_id, answer="Recall")
    assert edited.options == ("Recall", "Decay", "Noise", "Pool") and edited.memory == due
    with pytest.raises(UsageError, match="other options"):
        tutor.edit(card.card_id, answer="Decay")
    with pytest.raises(UsageError, match="--question"):
        tutor.edit(card.card_id, question="  ")


def test_a_topic_chooses_among_cards_and_a_document_too(tutor):
    tutor.cards.add(
        [draft("decay"), draft("rivers", question="The Nile is ____ km long.", quote="24 km", document_id="d2")]
    )
    assert [card.point for card in tutor.quiz("half-life").cards] == ["decay"]
    assert [card.point for card in tutor.quiz(document_id="d2").cards] == ["rivers"]
    assert tutor.quiz("quantum").cards == []
    with pytest.raises(UsageError):
        tutor.quiz("？！")


def test_cards_stay_when_their_document_goes_and_go_with_it_in_a_purge(assistant, tutor):
    text = "# Decay\n\nThe half-life is 24 hours: then half is left.\n"
    assistant.load_text(text, "decay.md")
    (card,) = assistant.quiz().cards
    tutor.answer(card.card_id, "24")
    assistant.remove_document("decay.md")
    assert tutor.cards.get(card.card_id).document == "decay.md" and len(tutor.cards.reviews()) == 1
    assistant.load_text(text, "decay.md")
    assert assistant.quiz().cards == [], "the same content is the same document, and its card is still there"
    assistant.remove_document("decay.md", purge=True)
    assert tutor.cards.list() == [] and tutor.cards.reviews() == []


def test_a_retention_that_is_asked_for_changes_the_intervals(tmp_path, clock):
    with Storage(tmp_path / "other", now=clock) as storage:
        strict = m13.PDFLearningAssistant(storage, timetable=Timetable(0.97)).tutor
        (card,) = strict.cards.add([draft("a")])
        assert strict.answer(card.card_id, rating=EASY).due < clock() + timedelta(days=8)
        assert strict.answer(card.card_id, rating=AGAIN).rating == AGAIN


def test_cards_follow_a_document_that_changed_to_the_page_that_still_says_so(assistant, tutor):
    first = "# Decay\n\nThe half-life is 24 hours: then half is left.\n\nRecall is the share of what was found.\n"
    old = assistant.load_text(first, "decay.md").document_id
    half_life, recall = sorted(assistant.quiz().cards, key=lambda card: card.kind)
    before = tutor.answer(half_life.card_id, "24").card.memory
    new = assistant.load_text(
        "# Decay\n\nIt is new.\n\nThe half-life is 24 hours: then half\nis left.\n", "decay.md"
    ).document_id
    followed = tutor.cards.get(half_life.card_id)
    assert (followed.document_id, followed.memory) == (new, before) and new != old
    assert tutor.cards.get(recall.card_id).document_id == old, "its words are gone"
    assert assistant.quiz(document="decay.md", count=9).cards == [], "the point has its card"


def test_a_note_on_a_document_that_changed_still_has_its_source(assistant):
    assistant.load_text("The half-life is 24 hours.", "decay.md")
    assistant.add_note("Half is left.", document="decay.md", page=1)
    assistant.load_text("The half-life is 36 hours.", "decay.md")
    assert "source_removed" not in assistant.notes()[0].metadata
