"""The conversation as it lies on the desk: what a follow-up leans on, and what a correction corrects.

Every turn is one item of working memory, whose metadata say what it was about: question, topic, points (what its answer
listed or quoted), found, recalled (ids of the memories it stood on).
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from infrastructure.answers import listed_in
from infrastructure.utterance import ordinal

ANSWER_KEPT = 100  # characters of an answer: what it was about, not what it said


class Conversation:
    """The turns of one session at a time; `working` is the working memory of script 09."""

    def __init__(self, working: Any, session_id: str) -> None:
        self.working = working
        self.session_id = session_id

    def resume(self, session_id: str, turns: Iterable[Any], here: Collection[str]) -> None:
        """Go on with a session: its turns are put back on the desk, as old as they are. here: ids of the documents there are;
        of an answer from one that is gone since, only the question comes back."""
        self.session_id = session_id
        self.working.clear(session_id)
        for turn in turns:
            if turn.trace.get("noted"):
                continue
            asked = turn.trace.get("asked", turn.question)
            if all(source["document_id"] in here for source in turn.trace.get("sources", [])):
                self.put(asked, turn.answer, turn.trace, asked_at=turn.asked_at)
            else:
                self.put(asked, "", {"topic": turn.trace.get("topic", "")}, asked_at=turn.asked_at)

    def put(self, question: str, answer: str, trace: Mapping[str, Any], *, asked_at: datetime | None = None) -> None:
        """Lay a turn on the desk. `consolidated`: its event is in the diary already, so it need not be promoted."""
        self.working.add(
            f"Q: {question}\nA: {answer[:ANSWER_KEPT]}",
            session_id=self.session_id,
            timestamp=asked_at,
            question=question,
            topic=trace.get("topic", question),
            points=trace.get("points", []),
            found=trace.get("found", False),
            recalled=trace.get("recalled", []),
            consolidated=True,
        )

    def last(self) -> Any | None:
        """The turn before this one."""
        return next((item for item in self._newest_first(self.working.capacity) if "topic" in item.metadata), None)

    def pointed_at(self, question: str) -> list[str]:
        """What a leaning question points at: the n-th thing of the last answer, its topic, the last question."""
        last = self.last()
        if last is None:
            return []
        number, points = ordinal(question), last.metadata.get("points", [])
        points = listed_in(points[0]) or points if points else []
        nth = [points[number - 1]] if number is not None and number <= len(points) else []
        return list(dict.fromkeys([*nth, last.metadata["topic"], last.metadata["question"]]))

    def last_answered(self) -> Any | None:
        """What "no, it is …" speaks of."""
        return next((item for item in self._newest_first(5) if item.metadata.get("found")), None)

    def correct(self, turn: Any, text: str) -> None:
        """The wrong answer leaves the desk; what is right lies there in its place."""
        topic = turn.metadata["question"]
        self.working.remove(turn.memory_id)
        self.put(topic, text, {"topic": topic, "found": True})

    def summary(self, max_tokens: int) -> str:
        return self.working.get_context_summary(max_tokens, session_id=self.session_id)

    def _newest_first(self, most: int) -> list[Any]:
        return self.working.get_recent(most, session_id=self.session_id)
