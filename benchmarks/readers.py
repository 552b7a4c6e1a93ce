"""Public question sets that you have downloaded, read into one form: texts, and questions whose evidence among them is known.

LoCoMo          turns of long chats, in sessions; evidence turns for each question, five categories
LongMemEval     a chat history for each question, S or oracle; the turns that hold the answer are marked
SQuAD, XQuAD    paragraphs, each with its questions
a folder        PDFs and a questions.jsonl with {"document": FILE, "question": …, "pages": [1-based, …]} on each line

Nothing is downloaded, and nothing of it is part of this project. What has another form is refused with one sentence.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from infrastructure.errors import UsageError
from infrastructure.language import tr


@dataclass(frozen=True)
class Item:
    """A text that can be found. group: its session or document; the order of a corpus's items is theirs in it."""

    id: str
    text: str
    group: str


@dataclass(frozen=True)
class Question:
    """relevant: ids of the items that hold the evidence, at least one."""

    id: str
    text: str
    relevant: frozenset[str]
    category: str


@dataclass(frozen=True)
class Corpus:
    """What is searched together. kind: "turns" are remembered, "paragraphs" are documents, "pages" are those of one PDF."""

    name: str
    kind: str
    items: tuple[Item, ...] = field(repr=False)
    questions: tuple[Question, ...] = field(repr=False)
    path: Path | None = None


Reader = Callable[[Path], Iterator[Corpus]]


def _said_in_one_sentence(form: str) -> Callable[[Reader], Reader]:
    """A file of another form is a UsageError that names the form wanted, whatever went wrong inside the reader."""

    def wrap(read: Reader) -> Reader:
        @wraps(read)
        def checked(path: Path) -> Iterator[Corpus]:
            try:
                found = 0
                for corpus in read(path):
                    found += len(corpus.questions)
                    yield corpus
            except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
                raise UsageError(_refusal(path, form, error)) from error
            if not found:
                raise UsageError(_refusal(path, form, None))

        return checked

    return wrap


def _refusal(path: Path, form: str, error: Exception | None) -> str:
    if isinstance(error, OSError):
        return tr(
            f"{path} cannot be read ({error.strerror}); give {form}.",
            f"无法读取 {path}（{error.strerror}）；请给出{form}。",
        )
    return tr(
        f"{path} holds no questions with evidence; {form} is wanted.", f"{path} 里没有带证据的问题；需要的是{form}。"
    )


# ---- LoCoMo ----

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


@_said_in_one_sentence("locomo10.json")
def read_locomo(path: Path) -> Iterator[Corpus]:
    """One corpus a conversation. Evidence that names no turn is dropped, and a question with none left too."""
    for number, sample in enumerate(_json(path), start=1):
        talk = sample["conversation"]
        sessions = sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
        items = tuple(Item(turn["dia_id"], turn_text(turn), key) for key in sessions for turn in talk[key])
        questions = _locomo_questions(sample["qa"], {item.id for item in items})
        yield Corpus(str(sample.get("sample_id", number)), "turns", items, tuple(questions))


def turn_text(turn: dict[str, Any]) -> str:
    """
    >>> turn_text({"speaker": "Ann", "text": "Look!", "blip_caption": "a red bridge"})
    'Ann: Look! [shares a red bridge]'
    """
    shared = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{shared}"


def _locomo_questions(asked: Iterable[dict[str, Any]], there: set[str]) -> Iterator[Question]:
    for number, qa in enumerate(asked):
        named = {f"D{a}:{b}" for a, b in _EVIDENCE.findall(" ".join(qa.get("evidence", [])))}
        if named & there:
            category = LOCOMO_CATEGORIES.get(qa["category"], str(qa["category"]))
            yield Question(str(number), qa["question"], frozenset(named & there), category)


# ---- LongMemEval ----


@_said_in_one_sentence("longmemeval_s.json / longmemeval_oracle.json")
def read_longmemeval(path: Path) -> Iterator[Corpus]:
    """One corpus a question: its own history. Questions without an answer in the history (…_abs) are left out."""
    for row in _json(path):
        sessions = list(zip(row["haystack_session_ids"], row["haystack_sessions"], strict=True))
        items, relevant = [], set()
        for place, (name, turns) in enumerate(sessions):
            for number, turn in enumerate(turns):
                items.append(Item(f"{place}:{number}", f"{turn['role']}: {turn['content']}", f"{place} {name}"))
                if turn.get("has_answer"):
                    relevant.add(items[-1].id)
        if relevant and not row["question_id"].endswith("_abs"):
            question = Question(row["question_id"], row["question"], frozenset(relevant), row["question_type"])
            yield Corpus(row["question_id"], "turns", tuple(items), (question,))


# ---- SQuAD and what has its form ----


@_said_in_one_sentence("SQuAD / XQuAD JSON")
def read_squad(path: Path) -> Iterator[Corpus]:
    """One corpus: every paragraph, and the questions that have an answer in one. Questions twice over are one."""
    items, questions = [], {}
    for article, entry in enumerate(_json(path)["data"]):
        title = entry.get("title", str(article))
        for paragraph in entry["paragraphs"]:
            items.append(Item(str(len(items)), paragraph["context"], f"{article} {title}"))
            for qa in paragraph["qas"]:
                if not qa.get("is_impossible"):
                    questions[qa["id"]] = Question(qa["id"], qa["question"], frozenset([items[-1].id]), "paragraph")
    yield Corpus(path.stem, "paragraphs", tuple(items), tuple(questions.values()))


# ---- PDFs with the pages of the answers ----


@_said_in_one_sentence('PDF + questions.jsonl {"document", "question", "pages"}')
def read_pages(folder: Path) -> Iterator[Corpus]:
    """One corpus a PDF, its pages being the items; ids are 1-based page numbers. "sources" (text, table …) makes categories."""
    from study.reading import read_document

    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    for document in sorted({row["document"] for row in rows}):
        read = read_document(folder / document)
        items = tuple(Item(str(page.number), page.clean, page.heading_path) for page in read.pages)
        asked = (row for row in rows if row["document"] == document)
        questions = tuple(
            Question(str(n), row["question"], frozenset(map(str, row["pages"])), _kind(row))
            for n, row in enumerate(asked)
        )
        yield Corpus(document, "pages", items, questions, folder / document)


def _kind(row: dict[str, Any]) -> str:
    return "table" if "Table" in row.get("sources", []) else "text"


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
