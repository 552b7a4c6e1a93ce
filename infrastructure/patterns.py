"""What keeps coming back in a list of events: things they speak of, and times at which they happen. Pure, no storage.

    topic, entity   a name in at least `min_count` events: not a word of every sentence, not a part of a longer name
    time            a weekday or a part of the day on which clearly more happens than by chance

An event has content, occurred_at, memory_id and metadata.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from infrastructure.abstraction import gist
from infrastructure.dates import WEEKDAYS
from infrastructure.entities import extract_entities, is_common
from infrastructure.language import tr
from infrastructure.text import fold
from infrastructure.themes import recurring_phrases

EXAMPLES = 3
# What many sentences say, whatever they are about.
_COMMON = """their other his her he she they them not no first second last next two three most more many much all any some such
like one new old good well may might must made make makes get got go went going come came see saw look put take took time year day
week month today yesterday tomorrow morning evening only even still very really just now than both between over under after before
through again while because each every own few off out up down finished started read reading"""
_NO_TOPICS = frozenset(_COMMON.split())
PARTS_OF_DAY = ((5, 12), (12, 18), (18, 23), (23, 29))  # hours; the night ends in the morning of the next day
CLEARLY_MORE = 2.0  # standard deviations above what chance gives


@dataclass(frozen=True)
class Pattern:
    """kind: "entity", "topic" or "time". count: events it is in. examples: the first few memory_ids, oldest first."""

    kind: str
    name: str
    count: int
    first: datetime
    last: datetime
    examples: tuple[str, ...]


def find_patterns(
    events: Sequence[Any], min_count: int = 3, limit: int = 20, zone: tzinfo | None = None
) -> list[Pattern]:
    """Most frequent first; topics and entities before times where equal. zone: the learner's, None for this computer's."""
    events = sorted(events, key=lambda event: (event.occurred_at, event.memory_id))
    found = [*_named(events, min_count), *_timed(events, min_count, zone)]
    return sorted(found, key=lambda pattern: (-pattern.count, pattern.kind == "time", pattern.name))[:limit]


def _named(events: Sequence[Any], min_count: int) -> Iterator[Pattern]:
    gists = [gist(event) for event in events]
    entities = {fold(entity.name) for text in gists for entity in extract_entities(text)}
    for name, places in recurring_phrases(gists, min_count):
        if fold(name) in _NO_TOPICS or is_common(name):
            continue
        yield _pattern("entity" if fold(name) in entities else "topic", name, [events[place] for place in places])


def _timed(events: Sequence[Any], min_count: int, zone: tzinfo | None) -> Iterator[Pattern]:
    local = [event.occurred_at.astimezone(zone) for event in events]
    for weekday in range(7):
        yield from _more_than_chance(
            events, [m.weekday() == weekday for m in local], 1 / 7, min_count, _weekday(weekday)
        )
    for start, end in PARTS_OF_DAY:
        inside = [start <= moment.hour + 24 * (moment.hour < PARTS_OF_DAY[0][0]) < end for moment in local]
        yield from _more_than_chance(
            events, inside, (end - start) / 24, min_count, f"{start % 24:02}:00–{end % 24:02}:00"
        )


def _more_than_chance(
    events: Sequence[Any], inside: Sequence[bool], chance: float, min_count: int, name: str
) -> Iterator[Pattern]:
    count, n = sum(inside), len(events)
    if count >= min_count and count > n * chance + CLEARLY_MORE * math.sqrt(n * chance * (1 - chance)):
        yield _pattern("time", name, [event for event, there in zip(events, inside, strict=True) if there])


def _pattern(kind: str, name: str, events: Sequence[Any]) -> Pattern:
    examples = tuple(event.memory_id for event in events[:EXAMPLES])
    return Pattern(kind, name, len(events), events[0].occurred_at, events[-1].occurred_at, examples)


def _weekday(number: int) -> str:
    return tr(f"on {WEEKDAYS[number].capitalize()}s", f"每周{'一二三四五六日'[number]}")
