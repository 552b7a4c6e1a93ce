"""What recurs over events: infrastructure/patterns.py."""

from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest

from infrastructure.patterns import find_patterns
from infrastructure.storage import Storage

m09 = import_module("09_memory_system")

MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def event(content, day=0, hour=9, **fields):
    return m09.MemoryItem(
        content, occurred_at=MONDAY + day * DAY + timedelta(hours=hour - 9), memory_id=f"{day:03}", **fields
    )


def named(events, **options):
    return [(p.kind, p.name, p.count) for p in find_patterns(events, zone=UTC, **options) if p.kind != "time"]


def test_a_topic_of_three_events_is_a_pattern_with_its_first_and_last_time():
    texts = ["Asked how BM25 saturates", "读了 BM25 的参数", "Tuned BM25 by hand", "Went swimming"]
    (pattern,) = [
        p for p in find_patterns([event(text, day) for day, text in enumerate(texts)], zone=UTC) if p.kind == "entity"
    ]
    assert (pattern.name, pattern.count, pattern.examples) == ("BM25", 3, ("000", "001", "002"))
    assert (pattern.first, pattern.last) == (MONDAY, MONDAY + 2 * DAY)


def test_a_longer_name_speaks_for_its_parts():
    texts = ["学了位置编码", "问了位置编码的作用", "复习位置编码"]
    assert named([event(text, day) for day, text in enumerate(texts)]) == [("entity", "位置编码", 3)]


def test_what_every_sentence_says_is_no_topic():
    texts = ["I read their first book", "I read their first page", "I read their first line"]
    assert named([event(text, day) for day, text in enumerate(texts)]) == []


def test_what_comes_twice_is_no_pattern_unless_asked_for():
    events = [event("Practised chess", 0), event("Practised chess again", 1)]
    assert named(events) == []
    assert ("topic", "chess", 2) in named(events, min_count=2)


def test_a_day_and_an_hour_that_are_clearly_preferred_are_patterns():
    events = [event(f"met number {week}", 7 * week, hour=20) for week in range(8)]
    times = {p.name: p.count for p in find_patterns(events, zone=UTC) if p.kind == "time"}
    assert times == {"on Mondays": 8, "18:00–23:00": 8}


def test_events_spread_over_the_week_have_no_preferred_day():
    events = [event(f"met number {day}", day, hour=day % 24) for day in range(28)]
    assert [p.name for p in find_patterns(events, zone=UTC) if p.kind == "time"] == []


def test_no_events_have_no_patterns():
    assert find_patterns([]) == []


@pytest.mark.parametrize(("chosen", "count"), [({}, 4), ({"session_id": "a"}, 3), ({"until": MONDAY + 2 * DAY}, None)])
def test_the_diary_looks_only_where_it_is_told_to(tmp_path, chosen, count):
    with Storage(tmp_path) as storage:
        diary = m09.EpisodicMemory(storage)
        for day in range(4):
            diary.add(
                f"Practised chess, lesson {day}", session_id="a" if day < 3 else "b", occurred_at=MONDAY + day * DAY
            )
        counts = [p.count for p in diary.find_patterns(**chosen) if p.name == "chess"]
    assert counts == ([] if count is None else [count])
