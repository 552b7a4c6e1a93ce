"""My study in numbers: counted by hand here, and the same after a restart."""

import doctest
import io
import json
from datetime import UTC, date, datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from data.make_pdfs import make_pdf
from rich.cells import cell_len

from infrastructure.cards import Draft
from infrastructure.console import Screen
from infrastructure.language import set_language
from infrastructure.lesson import StoppedClock
from infrastructure.storage import Storage
from study import stats, stats_views
from study.schedule import EASY, GOOD, Timetable

m13 = import_module("13_pdf_learning_assistant")
SHANGHAI = timezone(timedelta(hours=8))
SCHEMA = json.loads((Path(__file__).parent / "data" / "stats.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def clock():
    return StoppedClock(datetime(2026, 3, 4, 4, tzinfo=UTC))  # a Wednesday noon in Shanghai


@pytest.fixture
def zone():
    return SHANGHAI


def opened(storage):
    return m13.PDFLearningAssistant(storage, timetable=Timetable(zone=SHANGHAI))


def study(assistant) -> dict:
    numbers = assistant.get_stats()
    jsonschema.validate(numbers, SCHEMA)
    return numbers["study"]


def cards(assistant, count: int) -> list[str]:
    drafts = [Draft("cloze", f"Question {n} ____", "x", "x", f"p{n}") for n in range(count)]
    return [card.card_id for card in assistant.tutor.cards.add(drafts)]


@pytest.mark.parametrize("module", [stats, stats_views])
def test_the_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


def test_an_empty_home_has_numbers_too(assistant):
    told = study(assistant)
    assert (told["due_today"], told["retention"], told["streak_days"], told["chapters"]) == (0, None, 0, [])
    assert len(told["days"]) == 24 and told["days"][0]["day"] == "2026-02-09", "four weeks that begin on a Monday"


def test_due_today_are_those_that_come_back_before_the_day_ends(assistant, clock):
    soon, tomorrow, _new, suspended = cards(assistant, 4)
    assistant.tutor.answer(soon, rating=GOOD)  # in ten minutes
    assistant.tutor.answer(tomorrow, rating=EASY)
    assistant.tutor.answer(suspended, rating=GOOD)
    assistant.tutor.set_status(suspended, "suspended")
    told = study(assistant)
    assert (told["due_today"], told["new"], told["cards"], told["suspended"]) == (1, 1, 4, 1)
    clock.move(days=8)
    assert study(assistant)["due_today"] == 2


def test_retention_counts_cards_that_came_back_after_days_and_no_others(assistant, clock):
    ids = cards(assistant, 4)
    for card_id in ids:
        assistant.tutor.answer(card_id, rating=EASY)  # the first time says nothing of memory
    assert study(assistant)["retention"] is None
    clock.move(days=9)
    for card_id, rating in zip(ids, (1, 2, 3, 4), strict=True):
        assistant.tutor.answer(card_id, rating=rating)
    assistant.tutor.answer(ids[0], rating=GOOD)  # learning again
    told = study(assistant)
    assert (told["retention"], told["retention_of"], told["reviews"]) == (0.75, 4, 9)
    clock.move(days=31)
    assert study(assistant)["retention"] is None


def test_a_streak_is_of_the_learners_days_and_today_may_still_come(assistant, clock):
    (card_id,) = cards(assistant, 1)
    for _ in range(3):
        assistant.tutor.answer(card_id, rating=GOOD)
        clock.move(days=1)
    assert study(assistant)["streak_days"] == 3
    clock.move(hours=15)  # three in the morning of the next day: still the same
    assert study(assistant)["streak_days"] == 3
    clock.move(hours=2)
    assert study(assistant)["streak_days"] == 0


def test_a_flight_westward_does_not_break_a_streak():
    days = {date(2026, 3, 1), date(2026, 3, 2)}
    assert stats.streak(days, date(2026, 3, 1)) == 2


def test_minutes_are_those_between_things_done_without_breaks():
    start = datetime(2026, 3, 4, 4, tzinfo=UTC)
    turns = [SimpleNamespace(asked_at=start + timedelta(minutes=m)) for m in (0, 5, 40)]
    review = SimpleNamespace(at=start + timedelta(minutes=47), seconds=30.0, day=date(2026, 3, 4))
    alone = SimpleNamespace(at=start + timedelta(hours=5), seconds=30.0, day=date(2026, 3, 4))
    minutes = stats.minutes_by_day(turns, [review, alone], Timetable(zone=SHANGHAI))
    assert minutes == {date(2026, 3, 4): 5 + 7 + 0.5}


def test_questions_cards_and_opened_pages_are_counted_by_chapter(assistant, tmp_path):
    pages = [
        "Chapter one begins.",
        "The tide is caused by the moon, which pulls the sea.",
        "Rivers carry mud to the delta.",
    ]
    path = tmp_path / "book.pdf"
    path.write_bytes(make_pdf(pages, outline=[(1, "1 Tides", 1), (1, "2 Rivers", 3)]))
    document_id = assistant.load_document(path).document_id
    assistant.ask("What causes the tide?")
    drafts = [
        Draft("cloze", f"Q{n} ____", "x", "x", f"p{n}", document_id=document_id, page=page)
        for n, page in ((1, 3), (2, 3))
    ]
    first, _ = assistant.tutor.cards.add(drafts)
    assistant.tutor.answer(first.card_id, rating=GOOD)
    tides, rivers = study(assistant)["chapters"]
    assert [tides[name] for name in ("title", "first", "last", "questions")] == ["1 Tides", 1, 2, 1]
    assert (
        2 in {source["page"] for source in assistant.transcript.all_turns()[0].trace["sources"]}
        and tides["opened"] >= 1
    )
    assert [rivers[name] for name in ("pages", "cards", "answers", "right", "opened")] == [1, 2, 1, 1, 1]


def test_a_document_without_an_outline_is_one_chapter(assistant):
    assistant.load_text("The tide is caused by the moon, which pulls the sea.", "tides.txt")
    (chapter,) = study(assistant)["chapters"]
    assert (chapter["title"], chapter["first"], chapter["last"]) == ("tides.txt", 1, 1)


def test_after_a_restart_and_a_removed_document_the_numbers_are_there(assistant, tmp_path, clock):
    assistant.load_text("# Decay\n\nThe half-life is 24 hours: then half is left.\n", "decay.md")
    assistant.ask("What is the half-life?")
    (card,) = assistant.quiz().cards
    assistant.tutor.answer(card.card_id, "24")
    assistant.remove_document("decay.md")
    before = study(assistant)
    with Storage(tmp_path / "home", now=clock) as again:
        assert study(opened(again)) == before
    assert (before["cards"], before["reviews"], before["chapters"]) == (1, 1, [])


# ---- Looks ----


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_is_readable_at_this_width(assistant, lang, width):
    set_language(lang)
    chinese = "# 第五章 检索增强系统的评估，方法与指标\n\n半衰期是 24 小时，之后剩下一半。\n\n# Two\n\nIt goes on.\n"
    assistant.load_text(chinese, "很长的文件名" * 6 + ".md")
    assistant.load_text("# One\n\nThe half-life is 24 hours: then half is left.\n\n# Two\n\nIt goes on.\n", "decay.md")
    assistant.ask("What is the half-life?")
    out = io.StringIO()
    Screen(out, io.StringIO(), color=False, width=width).show(stats_views.overview(assistant.get_stats()))
    assert all(cell_len(line.rstrip()) <= width for line in out.getvalue().splitlines())
    assert "█" in out.getvalue() and "decay.md" in out.getvalue()


def test_many_chapters_are_shortened_to_the_busy_ones(assistant):
    numbers = assistant.get_stats()
    chapter = dict.fromkeys(("opened", "questions", "cards", "answers", "right"), 0)
    chapter |= {"document": "b.pdf", "first": 1, "last": 1, "pages": 1}
    numbers["study"]["chapters"] = [{**chapter, "title": f"Chapter {n}", "questions": int(n == 29)} for n in range(30)]
    out = io.StringIO()
    Screen(out, io.StringIO(), color=False, width=80).show(stats_views.overview(numbers))
    assert "Chapter 29" in out.getvalue() and "Chapter 28" not in out.getvalue() and "10 more" in out.getvalue()
