"""An assistant that answers from a script: for tests of what the learner sees, without models, files or waiting.

Run as a program it is the whole command line, for tests in a real terminal:  python tests/fake_assistant.py [words ...]
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infrastructure.answers import Answer, Citation, Receipt
from infrastructure.errors import DocumentError, LLMUnavailable, PasswordNeeded
from infrastructure.library import DocumentInfo
from study.choosing import document_among
from study.lookback import Mistake

THEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
PASSWORD = "open sesame"
STUDY = {
    **{"due_today": 2, "new": 1, "cards": 4, "suspended": 1, "reviews": 9, "retention": 0.875, "retention_of": 8},
    "streak_days": 3, "minutes": {"today": 12, "total": 90},
    "days": [{"day": f"2026-03-0{day}", "questions": 1, "reviews": day, "right": day, "minutes": 1.5} for day in (2, 3)],
    "chapters": [
        {"document": document, "title": title, "first": 1, "last": 4, "pages": 4, "opened": 1, "questions": 2, "cards": 3,
         "answers": 4, "right": 3}
        for document, title in (("guide.pdf", "3 Retrieval"), ("检索增强生成导论（修订版）.pdf", "第五章 系统的评估"))
    ],
}  # fmt: skip
WORDS = [f"word{number} " for number in range(400)]


@dataclass(frozen=True)
class LoadReport:
    name: str
    document_id: str
    action: str
    pages: int
    chunks: int
    warnings: list[str] = field(default_factory=list)


def citation(n: int = 1, **changes: Any) -> Citation:
    usual = {"document": "guide.pdf", "page": 6, "page_label": "3", "heading_path": "3 Retrieval > 3.2 HyDE",
             "quote": "HyDE searches with\na supposed answer."}  # fmt: skip
    return Citation(n, **{**usual, **changes})


class FakeAssistant:
    """Remembers what it was asked to do in `calls`. The question decides the answer: slow, crash, unknown, model, or any."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []
        self.session_id = "session-new"
        self.storage = SimpleNamespace(notices=[], recorded_embedder=None, owed=lambda: SimpleNamespace(embed=0))
        self.transcript = SimpleNamespace(sessions=lambda most: [SimpleNamespace(session_id="s7")])
        self._documents: list[DocumentInfo] = []

    def warm_up(self) -> None:
        self.calls.append(("warm up",))

    # ---- documents ----

    def load_document(self, path: Path, *, password: str | None = None, progress: Callable | None = None) -> LoadReport:
        self.calls.append(("load", str(path), password))
        path = Path(path)
        if not path.is_file():
            raise DocumentError(f"There is no file {path}: check the spelling.")
        if "broken" in path.name:
            raise DocumentError(f"{path.name} cannot be read: download it again.")
        if "locked" in path.name and password != PASSWORD:
            raise PasswordNeeded(f"{path.name} is protected by a password: load it again with --password.")
        progress(1, 2, "reading")
        known = [info for info in self._documents if info.name == path.name]
        if not known:
            info = DocumentInfo(f"id-{path.name}", path.name, str(path), "pdf", 12, 34, THEN.isoformat())
            self._documents.append(info)
        return LoadReport(path.name, f"id-{path.name}", "already here" if known else "loaded", 12, 34)

    def settle(self, progress: Callable[[int, int], None] | None = None) -> None:
        self.calls.append(("settle",))

    def documents(self) -> list[DocumentInfo]:
        return self._documents

    def find_document(self, name: str) -> DocumentInfo:
        return document_among(self._documents, name)

    def removed_earlier(self, name: str) -> set[str]:
        return set()

    def remove_document(self, name: str) -> DocumentInfo:
        info = self.find_document(name)
        self._documents.remove(info)
        return info

    # ---- asking ----

    def ask(self, question: str, *, on_text: Callable[[str], None] | None = None, **options: Any) -> Answer:
        self.calls.append(("ask", question, options))
        answer = Answer(question, "", "extractive", True, enriched_query=question, session_id=self.session_id)
        if question == "crash":
            raise ValueError("boom")
        if question == "refused":
            raise LLMUnavailable("The model refused; try again.", reason="refused")
        if question == "interrupt":
            raise KeyboardInterrupt
        if question in ("slow", "model"):
            answer.mode, answer.answer = "llm", "".join(self._pieces(question, on_text)).strip()
        elif question == "unknown":
            answer.found, answer.answer, answer.nearest = False, "I found nothing about this.", [citation()]
        else:
            answer.answer, answer.citations = f"You asked: {question} [1]", [citation()]
            answer.note = "No model is set."
        return answer

    @staticmethod
    def _pieces(question: str, on_text: Callable[[str], None] | None) -> Iterator[str]:
        for piece in WORDS if question == "slow" else ["The model ", "says ", "so [1]."]:
            if on_text is not None:
                on_text(piece)
                time.sleep(0.02 if question == "slow" else 0)
            yield piece

    # ---- the rest ----

    def add_note(self, content: str, *, concept: str = "general", **place: Any) -> Receipt:
        self.calls.append(("note", content, concept))
        if "sk-" in content:
            return Receipt("refused", "semantic", "it holds a secret")
        return Receipt("written", "semantic", "your note", "memory-1")

    def review(self, topic: str) -> Any:
        item = SimpleNamespace(memory_id="m1", content="先看 Recall", timestamp=THEN, metadata={"concept": "评估"})
        turn = SimpleNamespace(question="RAG 系统怎么评估？", asked_at=THEN, found=True)
        mistake = Mistake("c1", "The half-life is ____ hours.", "25", "24", THEN, 2, False, "guide.pdf", 7, "4")
        return SimpleNamespace(
            topic=topic, asked=[turn], noted=[item], known=[], wrong=[mistake], sections=[], gaps=[], is_empty=False,
            next_step="Read guide.pdf, p. 7.",
        )  # fmt: skip

    def get_stats(self) -> dict[str, Any]:
        counted = {
            "documents": len(self._documents),
            "chunks": 34,
            "questions": 2,
            "answered": 1,
            "sessions": 1,
            "notes": 1,
        }
        memories = {kind: {"count": n} for n, kind in enumerate(("working", "episodic", "semantic"), start=1)}
        return {**counted, **memories, "embedder": None, "llm": None, "study": STUDY}

    def resume(self, session_id: str | None = None) -> str:
        self.calls.append(("resume", session_id))
        self.session_id = session_id or self.session_id
        return self.session_id

    def sessions(self) -> list[Any]:
        return []


def lesson(home: Path) -> Iterator[Any]:
    (home / "memory.db").touch()
    yield "1. Load a document. [red]"
    yield str(home)


def opener(assistant: FakeAssistant) -> Callable[[Any], Any]:
    """What script 13 hands to the command line."""

    @contextmanager
    def open_assistant(settings: Any) -> Iterator[FakeAssistant]:
        settings.home.mkdir(parents=True, exist_ok=True)
        assistant.settings = settings
        yield assistant

    return open_assistant


if __name__ == "__main__":
    from study.commandline import run

    sys.exit(run(open_assistant=opener(FakeAssistant()), lesson=lesson))
