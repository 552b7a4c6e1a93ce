"""What a turn gives back, and the checks a text must pass before it counts as an answer."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from infrastructure.extraction import Extract, support
from infrastructure.language import language_of, tr, tr_like
from infrastructure.text import sentences


@dataclass(frozen=True)
class Citation:
    """Where an answer stands. page is the 1-based PDF page; quote is verbatim from that page."""

    n: int
    document: str
    page: int
    page_label: str | None
    heading_path: str
    quote: str
    document_id: str = ""
    chunk_id: str = ""
    relevance: float = 0.0


@dataclass(frozen=True)
class MemoryUse:
    """A memory that was recalled for this turn. What is no longer true says so in `content`, wherever it is quoted."""

    memory_id: str
    memory_type: str
    content: str
    score: float
    why: dict[str, float]

    @classmethod
    def of(cls, item: Any, score: float, why: dict[str, float], question: str) -> "MemoryUse":
        content = item.content
        if until := item.valid_until and f"{item.valid_until:%Y-%m-%d}":
            content += tr_like(question, f" (until {until})", f"（到 {until} 为止）")
        return cls(item.memory_id, item.memory_type, content, round(score, 4), why)


@dataclass(frozen=True)
class Receipt:
    """What happened to something that might have been remembered. action: written, counted, superseded or refused."""

    action: str
    memory_type: str
    reason: str
    memory_id: str | None = None


@dataclass
class Answer:
    """One turn. mode: "llm" or "extractive". found: it stands on documents or on the learner's own memories.

    note: one sentence when something kept the model from answering. nearest: offered when nothing was found.
    """

    question: str
    answer: str
    mode: str
    found: bool
    citations: list[Citation] = field(default_factory=list)
    memories: list[MemoryUse] = field(default_factory=list)
    enriched_query: str = ""
    session_id: str = ""
    timings_ms: dict[str, float] = field(default_factory=dict)
    note: str = ""
    nearest: list[Citation] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    trace: dict[str, Any] = field(default_factory=dict)

    def say_first(self, sentence: str) -> None:
        """Put a sentence before the note; "" changes nothing."""
        self.note = tr(" ", "").join(filter(None, [sentence, self.note]))

    @property
    def memory_used(self) -> bool:
        return bool(self.memories)

    def to_json(self) -> dict[str, Any]:
        """What `ask --json` prints."""
        public = ("n", "document", "page", "page_label", "heading_path", "quote")
        cited = [{name: getattr(citation, name) for name in public} for citation in self.citations]
        near = [{name: getattr(citation, name) for name in public} for citation in self.nearest]
        plain = ("question", "answer", "mode", "found", "enriched_query", "session_id", "timings_ms", "note")
        return {
            **{name: getattr(self, name) for name in plain},
            "citations": cited,
            "memories": [asdict(memory) for memory in self.memories],
            "nearest": near,
            "unsupported": self.trace.get("citations", {}).get("unsupported", []),
            "receipts": [asdict(receipt) for receipt in self.receipts],
        }


# ---- Checks ----

_OUR_TAGS = re.compile(r"<(?=\s*/?\s*(?:documents?|memor(?:y|ies)|conversation|question|source)\b)", re.I)
CITED = re.compile(r"(?<!\b[A-Za-z])\[(M?)(\d{1,3})\]")  # not the a[0] of a program


def cited_in(text: str) -> set[int]:
    """Numbers of the sources a text names.

    >>> cited_in("Recall [1] counts it, as you said [M2].")
    {1}
    """
    return {int(number) for kind, number in CITED.findall(text) if not kind}


def named_in(text: str, memories: Sequence[MemoryUse]) -> list[str]:
    """Ids of the memories a text names: [M2] is the second."""
    used = {int(number) for kind, number in CITED.findall(text) if kind}
    return [memory.memory_id for number, memory in enumerate(memories, start=1) if number in used]


_AS_WRITTEN = re.compile(
    r"[\[【［]\s*(?:sources?\s|来源|\^)?\s*(M?\d{1,3}(?:\s*[,，、;；–-]\s*M?\d{1,3})*)\s*[\]】］]", re.I
)


def as_data(text: str) -> str:
    """Quoted text that cannot close the section it stands in."""
    return _OUR_TAGS.sub("‹", text)


QUOTED = 3  # sentences at most


def quotable(extracts: Sequence[Extract]) -> list[Extract]:
    """The sentences that are not far below the best. extracts: best first."""
    return [extract for extract in extracts if extract.score >= 0.5 * extracts[0].score]


def quoted(extracts: Sequence[Extract], question: str, citations: Sequence[Citation], most: int = QUOTED) -> str:
    """The best sentences, each with its source number, as far as they can be cited."""
    numbers = {citation.n for citation in citations}
    good = [extract for extract in quotable(extracts) if extract.source + 1 in numbers][:most]
    marks = tr_like(question, "“{}” [{}]", "「{}」[{}]")
    return "\n".join(marks.format(" ".join(extract.text.split()), extract.source + 1) for extract in good)


def without_model() -> str:
    """What is said with an answer that no model made."""
    return tr(
        "No language model is set, so these are the passages' own sentences.", "未设置语言模型，以下是资料中的原句。"
    )


def points_of(text: str) -> list[str]:
    """The things a model's answer listed, for "the second one": its numbered or bulleted lines, else its sentences."""
    listed = re.findall(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s*(.+)$", text, re.M)
    return (listed or [text[start:end] for start, end in sentences(text)])[:9]


LONGEST_ITEM = 30  # characters; what is longer between two commas is a clause


def listed_in(sentence: str) -> list[str]:
    """The things one sentence lists behind its colon, three or more; [] when it lists none.

    >>> listed_in("主要看三个指标：召回率（Recall）、精确率和忠实度。"), listed_in("One thing: it works.")
    (['召回率（Recall）', '精确率', '忠实度'], [])
    """
    _, colon, behind = sentence.replace("：", ":").partition(":")
    *first, last = re.split(r"[、，,]\s*", behind.strip(" .。"))
    items = [*first, *re.split(r"\s*(?:和|以及|\b(?:and|or)\b)\s*", last, maxsplit=1)]
    items = [item.strip() for item in items if item.strip()]
    return items if colon and len(items) > 2 and max(map(len, items)) <= LONGEST_ITEM else []


SUPPORTED = 0.5  # share of a sentence's content words that its source must have


def check_citations(text: str, sources: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Drop numbers that name no source; list the cited ones and the sentences their sources do not carry.

    >>> check_citations("Recall counts evidence [1]. So it is [7].", ["recall counts the evidence found"])
    ('Recall counts evidence [1]. So it is.', {'cited': [1], 'dropped': [7], 'unsupported': []})
    """
    dropped: list[int] = []

    def keep(match: re.Match[str]) -> str:
        if match[1] or 1 <= int(match[2]) <= len(sources):
            return match[0]
        dropped.append(int(match[2]))
        return ""

    checked = _outside_code(CITED, keep, one_by_one(text))
    if dropped:
        checked = re.sub(r"(?<=\S)[ \t]+(?=[.,;。，；]|[ \t]|$)", "", checked, flags=re.M)
    prose = _CODE.sub("", checked)
    cited = sorted({int(n) for kind, n in CITED.findall(prose) if not kind})
    unsupported = []
    for sentence in _statements(prose):
        numbers = [int(n) for kind, n in CITED.findall(sentence) if not kind]
        plain = CITED.sub("", sentence)
        same = [sources[n - 1] for n in numbers if language_of(sources[n - 1]) == language_of(plain)]
        if same and support(plain, same) < SUPPORTED:
            unsupported.append(sentence.strip())
    return checked, {"cited": cited, "dropped": dropped, "unsupported": unsupported}


def one_by_one(text: str) -> str:
    """Citations as we write them, however the model wrote them.

    >>> one_by_one("found [1, 3] and [2-4]【5】")
    'found [1][3] and [2][3][4][5]'
    """

    def apart(match: re.Match[str]) -> str:
        numbers: list[str] = []
        for part in re.split(r"\s*[,，、;；]\s*", match[1].upper()):
            first, *last = re.split(r"\s*[–-]\s*", part)
            span = range(int(first), int(last[0]) + 1) if last and first.isdigit() and last[0].isdigit() else ()
            numbers += map(str, span[:LONGEST_RANGE]) if span else [first, *last]
        return "".join(f"[{number}]" for number in numbers)

    return _outside_code(_AS_WRITTEN, apart, text)


LONGEST_RANGE = 20  # sources


def _outside_code(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """pattern.sub, but [1, 2] in a piece of code is a list."""
    parts = _CODE.split(text)
    return "".join(part if place % 2 else pattern.sub(replace, part) for place, part in enumerate(parts))


_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.S)


def _statements(text: str) -> list[str]:
    """The sentences of an answer, each with the citations that belong to it, also when they stand behind its full stop."""
    found: list[str] = []
    for line in text.split("\n"):
        for place, (start, end) in enumerate(sentences(line)):
            sentence = line[start:end]
            first = _CITED_FIRST.match(sentence)
            if first and place and not CITED.search(found[-1]):
                found[-1] += first[0].rstrip()
                sentence = sentence[first.end() :]
            if sentence:
                found.append(sentence)
    return found


_CITED_FIRST = re.compile(r"(?:\s*\[M?\d{1,3}\])+\s*")


class Stopwatch:
    """Milliseconds by step, and in total."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._steps: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._steps[step] = round(1000 * (time.perf_counter() - start), 1)

    def timings(self) -> dict[str, float]:
        return {**self._steps, "total": round(1000 * (time.perf_counter() - self._start), 1)}
