"""Reviewing a topic: what went wrong and when, what of its chapters was never touched, and the next step."""

import pytest
from data.make_pdfs import make_pdf
from screen import shown

from infrastructure.language import set_language
from study import views
from study.lookback import Section, next_step

BOOK = """# 1 Tides

## 1.1 Moon

The tide is caused by the moon, which pulls the water of the sea. A turn of the moon takes 27 days or so.

## 1.2 Spring tides

Twice a month the water rises highest, when everything stands in line.

# 2 Rivers

## 2.1 Deltas

A river delta is a landform made of the mud that a river carries.
"""


@pytest.fixture
def assistant(assistant):
    """Has the book."""
    assistant.load_text(BOOK, "tides.md")
    return assistant


def card_about(assistant, topic: str):
    return assistant.quiz(topic, count=1).cards[0]


def test_a_wrong_answer_is_told_with_its_time_and_what_is_right(assistant, clock):
    card = card_about(assistant, "moon")
    assistant.tutor.answer(card.card_id, "30")
    clock.move(hours=1)
    assistant.tutor.answer(card.card_id, "31")
    (mistake,) = assistant.review("moon").wrong
    assert (mistake.given, mistake.answer, mistake.times, mistake.known_since) == ("31", "27", 2, False)
    assert mistake.at == clock() and mistake.document == "tides.md"
    assert "you said “31”; right is 27, 2 times" in shown(views.review(assistant.review("moon")))


def test_what_is_known_by_now_says_so_and_what_was_never_wrong_is_not_told(assistant, clock):
    card = card_about(assistant, "moon")
    assistant.tutor.answer(card.card_id, "")
    clock.move(minutes=5)
    assistant.tutor.answer(card.card_id, "27")
    (mistake,) = assistant.review("moon").wrong
    assert mistake.known_since and "known since" in shown(views.review(assistant.review("moon")))
    other = card_about(assistant, "river delta")
    assistant.tutor.answer(other.card_id, rating=3)
    assert assistant.review("river delta").wrong == []


def test_a_mistake_elsewhere_is_another_topic(assistant):
    assistant.tutor.answer(card_about(assistant, "river delta").card_id, "")
    assert assistant.review("moon").wrong == [] and assistant.review("quantum").is_empty


def test_a_card_on_the_topics_passage_belongs_to_it_whatever_its_words(assistant):
    card = card_about(assistant, "moon")
    assistant.tutor.answer(card.card_id, "30")
    assistant.tutor.edit(card.card_id, question="How many days?")
    assert len(assistant.review("tide and sea").wrong) == 1


def test_gaps_are_parts_of_the_same_chapter_that_were_never_touched(tmp_path, assistant):

    pages = [
        "The tide is caused by the moon, which pulls the sea.",
        "Twice a month the water rises highest.",
        "Rivers carry mud.",
    ]
    outline = [(1, "1 Tides", 1), (2, "1.1 Moon", 1), (2, "1.2 Spring tides", 2), (1, "2 Rivers", 3)]
    (tmp_path / "book.pdf").write_bytes(make_pdf(pages, outline=outline))
    document_id = assistant.load_document(tmp_path / "book.pdf").document_id
    assistant.remove_document("tides.md")
    assistant.ask("What causes the tide and pulls the sea?")
    gaps = assistant.review("moon").gaps
    assert [(gap.heading_path, gap.page) for gap in gaps] == [("1 Tides > 1.2 Spring tides", 2)]
    assert "Never touched" in shown(views.review(assistant.review("moon")))
    assistant.add_note("Highest at new moon.", document=document_id, page=2)
    assert assistant.review("moon").gaps == []


def test_the_next_step_names_the_page_to_read_again(assistant):
    assistant.ask("What causes the tide and pulls the water of the sea?")
    for section in assistant.review("moon").sections:
        assert section.touched
    assistant.tutor.answer(card_about(assistant, "moon").card_id, "30")
    assert assistant.review("moon").next_step == "Read tides.md, p. 1 again, then type: quiz moon"


def test_the_next_step_has_the_words_and_numbers_of_the_list_above_it():
    unread = Section("guide.pdf", "3 Forgetting", 6, False, "4")
    set_language("zh")
    try:
        step = next_step("遗忘", [], [], [], [unread], [])
    finally:
        set_language("en")
    assert step == "可以读 guide.pdf，第 4 页（PDF 第 6 页）（3 Forgetting）：这一页你还没有看过。"


def test_nothing_yet_names_the_sections_that_cover_it(assistant):
    review = assistant.review("river delta")
    assert review.is_empty and review.sections[0].heading_path == "2 Rivers > 2.1 Deltas"
    assert shown(views.review(review)).startswith("Nothing about river delta yet.")


def test_a_note_shows_its_document_and_page(assistant):
    assistant.add_note("The moon pulls!", concept="moon", document="tides.md", page=1)
    assert "The moon pulls!  [moon]  tides.md" in shown(views.review(assistant.review("moon")))
