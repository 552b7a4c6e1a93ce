"""When a card comes back: FSRS as py-fsrs computes it, and the learner's own day around it.

    grade → fsrs.Scheduler (default parameters, no random fuzz) → Memory with its due time
    a day begins at four: whoever studies at half past midnight is still in yesterday evening

FSRS predicts better than fixed tables or SM-2; we keep its numbers as they are and only decide which *day* a due time falls
on. Times are UTC; the zone is the learner's at the moment of asking, and each grade keeps the day it was given on, so moving
to another zone changes no past day.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

from infrastructure.cards import Card, Memory

if TYPE_CHECKING:
    import fsrs

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4  # FSRS's ratings
REVIEW = 2  # the state in which intervals are days; before and beside it they are minutes


@dataclass(frozen=True)
class Timetable:
    """retention: the share of cards that should still be known when they come back. day_start: the hour a day begins at.

    zone None: the computer's own, whatever it is when it is asked.
    """

    retention: float = 0.9
    day_start: int = 4
    zone: tzinfo | None = field(default=None, compare=False)

    # ---- Days ----

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.zone)

    def day(self, moment: datetime) -> date:
        """The learner's day: by the clock on the wall, moved back by day_start hours.

        >>> from datetime import timezone
        >>> shanghai = Timetable(zone=timezone(timedelta(hours=8)))
        >>> [shanghai.day(datetime(2026, 3, 1, hour, 30, tzinfo=UTC)).day for hour in (16, 20)]  # 00:30 and 04:30 on March 2
        [1, 2]
        """
        return (self.local(moment).replace(tzinfo=None) - timedelta(hours=self.day_start)).date()

    def end_of(self, day: date) -> datetime:
        """The moment, in UTC, at which the next day begins."""
        start = datetime.combine(day + timedelta(days=1), time(self.day_start))
        return (start.astimezone() if self.zone is None else start.replace(tzinfo=self.zone)).astimezone(UTC)

    def is_due(self, card: Card, now: datetime) -> bool:
        """Days are due as a whole, from their beginning on; minutes when they are over. A new card is not "due"."""
        memory = card.memory
        if memory.is_new or card.status != "active":
            return False
        return memory.due < self.end_of(self.day(now)) if memory.state == REVIEW else memory.due <= now

    # ---- FSRS ----

    def after(self, memory: Memory, rating: int, now: datetime) -> Memory:
        """What a grade makes of a card's memory. A clock that was moved back counts as no time at all."""
        import fsrs

        card, _ = self._scheduler.review_card(_as_fsrs(memory), fsrs.Rating(rating), _not_before(memory, now))
        return Memory(card.due, card.state.value, card.step, card.stability, card.difficulty, card.last_review)

    def retrievability(self, memory: Memory, now: datetime) -> float:
        """The chance in [0, 1] that a card is known now; 0 for one that was never asked."""
        return float(self._scheduler.get_card_retrievability(_as_fsrs(memory), _not_before(memory, now)))

    @cached_property
    def _scheduler(self) -> "fsrs.Scheduler":
        import fsrs

        return fsrs.Scheduler(desired_retention=self.retention, enable_fuzzing=False)


def _not_before(memory: Memory, now: datetime) -> datetime:
    now = now.astimezone(UTC)
    return max(now, memory.last_review) if memory.last_review else now


def _as_fsrs(memory: Memory) -> Any:
    import fsrs

    return fsrs.Card(
        card_id=0, state=fsrs.State(memory.state), step=memory.step, stability=memory.stability,
        difficulty=memory.difficulty, due=memory.due, last_review=memory.last_review,
    )  # fmt: skip
