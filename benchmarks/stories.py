"""The article's samples (§8): a history, a question, the memory it should call up and the points of a good answer.

A file of them is JSON Lines of two kinds. A story is a learner with documents; its samples name it:

    {"story": "nurse", "language": "en", "documents": [{"name": "infusions.md", "text": "# Drip rate\\n…"}]}
    {"id": "nurse-01", "story": "nurse", "kind": "preference", "history": ["I like mnemonics."], "question": "…",
     "expected_memory": ["I like mnemonics"], "expected_answer_points": ["mnemonics"]}

Optional in a sample: must_not_remember (what no long-term memory may say afterwards), must_not_say (what no answer may say),
same_session (true: the question follows the history at once; else it is asked the next day, in a new session).
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infrastructure.errors import UsageError
from infrastructure.language import tr

BUNDLED = Path(__file__).resolve().parent / "memory_questions.jsonl"
KINDS = {
    "follow-up": "追问",
    "preference": "偏好",
    "progress": "进度",
    "correction": "更正",
    "wish": "临时愿望",
    "distractor": "干扰",
    "no memory": "不需要记忆",
    "poison": "有毒资料",
}


@dataclass(frozen=True)
class Story:
    """A learner: what they read, in one language. documents: (name, text)."""

    name: str
    language: str
    documents: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Sample:
    """history and question are what the learner says, in order. kind: a key of KINDS."""

    id: str
    story: Story = field(repr=False)
    kind: str
    history: tuple[str, ...]
    question: str
    expected_memory: tuple[str, ...] = ()
    expected_answer_points: tuple[str, ...] = ()
    must_not_remember: tuple[str, ...] = ()
    must_not_say: tuple[str, ...] = ()
    same_session: bool = False

    @property
    def needs_memory(self) -> bool:
        return bool(self.expected_memory)


def read_samples(path: Path = BUNDLED) -> list[Sample]:
    """Every sample of a file. Raises UsageError with the line that is wrong."""
    stories: dict[str, Story] = {}
    samples: list[Sample] = []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "documents" in row:
                stories[row["story"]] = _story(row)
            else:
                samples.append(_sample(row, stories))
        except (ValueError, KeyError, TypeError) as error:
            raise _wrong(path, number, error) from error
    if not samples:
        raise UsageError(tr(f"{path} holds no samples.", f"{path} 里没有样本。"))
    return samples


def some_of(things: Sequence[Any], limit: int | None) -> list[Any]:
    """`limit` of them, by chance but the same each time, in their order; all when no limit is set.

    >>> some_of("abcdef", 3), some_of("ab", 5), some_of("ab", None)
    (['b', 'e', 'f'], ['a', 'b'], ['a', 'b'])
    """
    if limit is None or limit >= len(things):
        return list(things)
    chosen = random.Random(limit).sample(range(len(things)), max(0, limit))
    return [things[place] for place in sorted(chosen)]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            tr(
                f"{path} cannot be read; give a file of samples in UTF-8.",
                f"无法读取 {path}；请给出 UTF-8 编码的样本文件。",
            )
        ) from error


def _story(row: dict[str, Any]) -> Story:
    return Story(row["story"], row["language"], tuple((each["name"], each["text"]) for each in row["documents"]))


def _sample(row: dict[str, Any], stories: dict[str, Story]) -> Sample:
    if row["kind"] not in KINDS:
        raise ValueError(f"kind {row['kind']!r}")
    lists = ("history", "expected_memory", "expected_answer_points", "must_not_remember", "must_not_say")
    given = {name: tuple(_texts(row.get(name, []))) for name in lists}
    return Sample(
        id=row["id"],
        story=stories[row["story"]],
        kind=row["kind"],
        question=row["question"],
        same_session=row.get("same_session", False),
        **given,
    )


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"a list of texts is wanted, not {value!r}")
    return value


def _wrong(path: Path, number: int, error: Exception) -> UsageError:
    what = f"{error}" if not isinstance(error, KeyError) else tr(f"{error} is missing", f"缺少 {error}")
    return UsageError(
        tr(
            f"{path}, line {number} is no story and no sample ({what}); its form is in benchmarks/stories.py.",
            f"{path} 第 {number} 行既不是故事也不是样本（{what}）；格式见 benchmarks/stories.py。",
        )
    )
