"""Complaints of people who use quizzes, cards and reviews, one test each, with what is right."""

import json
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module

import fsrs
import pytest
from anki_oracle import collection, taken_in
from support import ScriptedLLM

from infrastructure.cards import CardTable
from infrastructure.lesson import StoppedClock
from infrastructure.storage import Storage
from study.anki import export_deck
from study.schedule import Timetable

m13 = import_module("13_pdf_learning_assistant")
SHANGHAI = timezone(timedelta(hours=8))
BOOK = """# Tides

The tide is caused by the moon, which pulls the water of the sea. A turn of the moon takes 27 days or so.

# Rivers

A river delta is a landform made of the mud that a river carries.
"""


@pytest.fixture
def clock():
    return StoppedClock(datetime(2026, 3, 1, 4, tzinfo=UTC))  # noon in Shanghai


def opened(folder, clock, llm=None):
    storage = Storage(folder, now=clock)
    return m13.PDFLearningAssistant(storage, llm=llm, timetable=Timetable(zone=SHANGHAI))


@pytest.fixture
def zone():
    return SHANGHAI


@pytest.fixture
def assistant(assistant):
    """Has the book."""
    assistant.load_text(BOOK, "tides.md")
    return assistant


def question(text: str, **changes) -> dict:
    usual = {"passage": 1, "question": text, "options": ["moon", "wind", "rain", "ships"], "answer": "moon",
             "quote": "The tide is caused by the moon, which pulls the water of the sea."}  # fmt: skip
    return {**usual, **changes}


def test_1_bad_questions_are_dropped_with_a_reason_the_others_kept_and_the_model_asked_a_bounded_number_of_times(
    assistant,
):
    bad = [
        question("What pulls?", options=["moon"] * 4),
        question("What pulls?", answer=7),
        question("What pulls?", quote="The sun does."),
        question("Why does the sea rise?"),
        question("For what reason does the sea rise?"),
    ]
    llm = ScriptedLLM(default=json.dumps(bad))
    assistant.use_model(llm)
    made = assistant.quiz("moon tide", count=4)
    assert [card.question for card in made.cards if card.source == "model"] == ["Why does the sea rise?"]
    assert len({reason for _, reason in made.dropped}) >= 4 and all(reason for _, reason in made.dropped)
    assert len(llm.history) == 3


def test_2_a_model_that_claims_a_score_saves_none_and_the_program_says_what_it_wrote(assistant):
    assistant.use_model(ScriptedLLM(default="Great! I saved your score: 100 % [1]."))
    assistant.ask("Did I get it right? Please save my score for the moon.")
    assert assistant.tutor.cards.reviews() == []
    assistant.use_model(None)
    (card,) = assistant.quiz("moon", count=1).cards
    graded = assistant.tutor.answer(card.card_id, "27")
    assert assistant.tutor.cards.reviews() == [graded.review] and graded.verdict == "right"


@pytest.fixture
def anki(tmp_path):
    with collection(tmp_path) as opened:
        yield opened


def test_3_exported_again_after_a_typo_the_same_note_is_updated_and_decks_never_collide(
    assistant, anki, tmp_path, clock
):
    cards = assistant.quiz(count=2).cards
    taken_in(anki, assistant.export("anki", tmp_path / "a.apkg").path)
    clock.move(minutes=1)
    assistant.tutor.edit(cards[0].card_id, question="Corrected ____")
    assert taken_in(anki, assistant.export("anki", tmp_path / "a.apkg").path) == (0, 1)
    with Storage(tmp_path / "other", now=clock) as other:
        CardTable(other).add(cards)
        export_deck(CardTable(other).list(), other.database, set(), tmp_path / "b.apkg")
    assert taken_in(anki, tmp_path / "b.apkg") == (len(cards), 0) and anki.note_count() == 2 * len(cards)


def test_4_a_night_session_is_one_day_and_cards_are_due_by_the_learners_day(assistant, clock):
    (card,) = assistant.quiz("moon", count=1).cards
    clock.moment = datetime(2026, 3, 2, 0, 30, tzinfo=SHANGHAI).astimezone(UTC)
    graded = assistant.tutor.answer(card.card_id, rating=4)
    assert graded.review.day.isoformat() == "2026-03-01"
    due_day = assistant.tutor.timetable.day(graded.due)
    for hour, is_due in ((3, False), (4, True)):
        clock.moment = datetime(due_day.year, due_day.month, due_day.day, hour, 30, tzinfo=SHANGHAI).astimezone(UTC)
        assert bool(assistant.quiz(due_only=True).cards) is is_due
    clock.moment = datetime(2026, 3, 2, 4, 30, tzinfo=SHANGHAI).astimezone(UTC)
    assert assistant.tutor.answer(card.card_id, rating=3).review.day.isoformat() == "2026-03-02"


def test_4_a_clock_moved_back_and_another_zone_lose_nothing(assistant, clock, tmp_path):
    (card,) = assistant.quiz("moon", count=1).cards
    assistant.tutor.answer(card.card_id, rating=4)
    clock.move(days=-3)
    assistant.tutor.answer(card.card_id, rating=3)
    kept = assistant.tutor.cards.reviews()
    with Storage(tmp_path / "home", now=clock) as storage:
        elsewhere = m13.PDFLearningAssistant(storage, timetable=Timetable(zone=timezone(timedelta(hours=-5))))
        assert elsewhere.tutor.cards.reviews() == kept and len(kept) == 2
        assert elsewhere.tutor.cards.get(card.card_id) == assistant.tutor.cards.get(card.card_id)


def test_5_intervals_are_those_of_fsrs_and_follow_the_retention_that_is_wanted(assistant, clock):
    (card,) = assistant.quiz("moon", count=1).cards
    theirs, scheduler = fsrs.Card(due=clock()), fsrs.Scheduler(enable_fuzzing=False)
    for rating in (3, 3, 3, 1, 2, 4):
        theirs, _ = scheduler.review_card(theirs, fsrs.Rating(rating), clock())
        memory = assistant.tutor.answer(card.card_id, rating=rating).card.memory
        assert (memory.due, memory.stability, memory.difficulty) == (theirs.due, theirs.stability, theirs.difficulty)
        clock.moment = memory.due
    wanted = [Timetable(share).after(memory, 3, clock()).due for share in (0.95, 0.9, 0.8)]
    assert wanted == sorted(wanted) and len(set(wanted)) == 3


def test_6_a_review_tells_nothing_unrelated_and_names_the_sections_that_cover_the_topic(assistant):
    assistant.ask("What causes the tide?")
    assistant.add_note("Tomatoes need sun.", concept="gardening")
    assistant.tutor.answer(assistant.quiz("moon", count=1).cards[0].card_id, "30")
    review = assistant.review("river delta")
    assert review.is_empty and [section.heading_path for section in review.sections] == ["Rivers"]
    assert assistant.review("quantum entanglement").sections == []


def test_7_a_review_tells_what_was_asked_noted_wrong_and_untouched_and_the_next_step_has_a_page(assistant):
    assistant.ask("What causes the tide and pulls the sea?")
    assistant.add_note("The moon pulls.", concept="tide")
    assistant.tutor.answer(assistant.quiz("moon", document="tides.md", count=1).cards[0].card_id, "30")
    review = assistant.review("tide moon")
    assert review.asked and review.noted and [mistake.given for mistake in review.wrong] == ["30"]
    assert review.wrong[0].at == assistant.storage.now() and "p. 1" in review.next_step


def test_8_a_note_is_verbatim_and_keeps_concept_document_and_page_also_when_its_document_goes(assistant):
    text = "My  own words,\nwith a\ttab — and “quotes”."
    assistant.use_model(ScriptedLLM(default="Rewritten by a model."))
    assistant.add_note(text, concept="tides", document="tides.md", page=1)
    assistant.remove_document("tides.md")
    (note,) = assistant.notes()
    assert note.content == text
    place = {name: note.metadata[name] for name in ("concept", "document", "page", "source_removed")}
    assert place == {"concept": "tides", "document": "tides.md", "page": 1, "source_removed": True}


def test_9_every_number_is_in_the_database(assistant, tmp_path, clock):
    assistant.ask("What causes the tide?")
    assistant.tutor.answer(assistant.quiz("moon", count=1).cards[0].card_id, "27")
    assistant.new_session()
    before = assistant.get_stats()["study"]
    again = opened(tmp_path / "home", clock)
    assert again.get_stats()["study"] == before and before["reviews"] == 1
    again.storage.close()


def test_10_a_grade_is_on_the_disk_when_it_is_given(assistant, tmp_path, clock):
    cards = assistant.quiz(count=2).cards
    for number, card in enumerate(cards, start=1):
        assistant.tutor.answer(card.card_id, "27")
        other = opened(tmp_path / "home", clock)
        assert len(other.tutor.cards.reviews()) == number
        other.storage.close()
