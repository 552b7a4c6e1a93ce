"""When cards come back: py-fsrs's own numbers, and days that begin at four."""

import doctest
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import fsrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.cards import Card, Memory
from study import schedule
from study.schedule import Timetable

SHANGHAI = timezone(timedelta(hours=8))
NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def card(memory: Memory, status: str = "active") -> Card:
    return Card("cloze", "____", "x", "x", "p", card_id="c", status=status, memory=memory)


def in_shanghai(day: int, hour: int, minute: int = 30) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=SHANGHAI).astimezone(UTC)


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(schedule).failed == 0


# ---- FSRS ----

GRADES = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 400), st.integers(0, 86_399)), min_size=1, max_size=12)


@given(GRADES, st.sampled_from([0.8, 0.9, 0.95]))
def test_every_number_is_the_one_py_fsrs_gives(grades, retention):
    theirs, scheduler = fsrs.Card(card_id=7, due=NOW), fsrs.Scheduler(desired_retention=retention, enable_fuzzing=False)
    ours, now = Memory(NOW), NOW
    for rating, days, seconds in grades:
        now += timedelta(days=days, seconds=seconds)
        theirs, _ = scheduler.review_card(theirs, fsrs.Rating(rating), now)
        ours = Timetable(retention).after(ours, rating, now)
        assert (ours.stability, ours.difficulty, ours.due) == (theirs.stability, theirs.difficulty, theirs.due)
        assert (ours.state, ours.step, ours.last_review) == (theirs.state.value, theirs.step, theirs.last_review)
    later = now + timedelta(days=10)
    assert Timetable().retrievability(ours, later) == fsrs.Scheduler().get_card_retrievability(theirs, later)


def test_the_numbers_published_with_py_fsrs_come_out():
    """The series of intervals that its own tests state: thirteen grades, each when the card is due."""
    memory, now, intervals = (
        Memory(datetime(2022, 11, 29, 12, 30, tzinfo=UTC)),
        datetime(2022, 11, 29, 12, 30, tzinfo=UTC),
        [],
    )
    for rating in (3, 3, 3, 3, 3, 3, 1, 1, 3, 3, 3, 3, 3):
        memory = Timetable().after(memory, rating, now)
        intervals.append((memory.due - memory.last_review).days)
        now = memory.due
    assert intervals == [0, 2, 11, 46, 163, 498, 0, 0, 2, 4, 7, 12, 21]


def test_the_same_grades_give_the_same_due_date_every_time():
    memory = Timetable().after(Memory(NOW), schedule.EASY, NOW)
    assert {Timetable().after(memory, schedule.GOOD, memory.due).due for _ in range(20)} == {
        Timetable().after(memory, schedule.GOOD, memory.due).due
    }


def test_a_higher_wanted_retention_brings_a_card_back_sooner():
    sooner, later = (Timetable(retention).after(Memory(NOW), schedule.EASY, NOW).due for retention in (0.97, 0.8))
    assert sooner < later


def test_a_clock_that_was_moved_back_loses_nothing():
    memory = Timetable().after(Memory(NOW), schedule.EASY, NOW)
    again = Timetable().after(memory, schedule.GOOD, NOW - timedelta(days=40))
    assert again == Timetable().after(memory, schedule.GOOD, NOW)
    assert again.last_review == NOW and again.due > NOW
    assert Timetable().retrievability(memory, NOW - timedelta(days=40)) == 1


# ---- Days ----


@pytest.mark.parametrize(("hour", "day"), [(0, 1), (3, 1), (4, 2), (12, 2), (23, 2)])
def test_half_past_midnight_in_shanghai_belongs_to_the_evening_before(hour, day):
    assert Timetable(zone=SHANGHAI).day(in_shanghai(2, hour)) == date(2026, 3, day)


def test_a_day_can_begin_at_another_hour():
    assert Timetable(day_start=0, zone=SHANGHAI).day(in_shanghai(2, 0)) == date(2026, 3, 2)
    assert Timetable(day_start=6, zone=SHANGHAI).day(in_shanghai(2, 5)) == date(2026, 3, 1)


def test_a_card_graded_after_midnight_is_due_when_the_next_morning_begins():
    times = Timetable(zone=SHANGHAI)
    graded = in_shanghai(2, 0)  # the evening of March 1
    memory = Memory(graded + timedelta(days=1), schedule.REVIEW, None, 1.0, 5.0, graded)
    assert not times.is_due(card(memory), in_shanghai(2, 3, 59))
    assert times.is_due(card(memory), in_shanghai(2, 4))
    by_utc_days = Timetable(day_start=0, zone=UTC)
    assert not by_utc_days.is_due(card(memory), in_shanghai(2, 4)), "which is what this is about"


def test_minutes_are_waited_for_and_new_or_suspended_cards_are_not_due():
    times = Timetable(zone=SHANGHAI)
    learning = times.after(Memory(NOW), schedule.AGAIN, NOW)
    assert not times.is_due(card(learning), NOW) and times.is_due(card(learning), NOW + timedelta(minutes=1))
    assert not times.is_due(card(learning, "suspended"), NOW + timedelta(days=1))
    assert not times.is_due(card(Memory(NOW)), NOW + timedelta(days=1))


@given(st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)), st.integers(0, 23))
def test_a_day_ends_after_every_moment_of_it_and_then_the_next_begins(moment, day_start):
    times = Timetable(day_start=day_start, zone=timezone(timedelta(hours=5, minutes=30)))
    end = times.end_of(times.day(moment))
    assert moment < end <= moment + timedelta(hours=24)
    assert times.day(end) == times.day(moment) + timedelta(days=1)


def test_a_flight_to_another_zone_moves_only_the_days_to_come():
    graded, times = in_shanghai(2, 12), Timetable(zone=SHANGHAI)
    memory = times.after(Memory(graded), schedule.EASY, graded)
    elsewhere = Timetable(zone=timezone(timedelta(hours=-5)))
    assert elsewhere.after(memory, schedule.GOOD, memory.due) == times.after(memory, schedule.GOOD, memory.due)
    assert abs(times.day(memory.due) - elsewhere.day(memory.due)) <= timedelta(days=1)


def test_a_day_of_twenty_three_hours_is_still_a_day():
    """Clocks in New York went forward on March 8, 2026."""
    try:
        times = Timetable(zone=ZoneInfo("America/New_York"))
    except KeyError:
        pytest.skip("this machine has no time zone data")
    evening = datetime(2026, 3, 7, 20, tzinfo=times.zone)
    assert times.day(evening) == date(2026, 3, 7)
    assert times.end_of(date(2026, 3, 7)) == datetime(2026, 3, 8, 8, tzinfo=UTC)
    assert times.end_of(date(2026, 3, 8)) == datetime(2026, 3, 9, 8, tzinfo=UTC)
