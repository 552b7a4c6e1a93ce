"""Files of samples: what is read, and what is said of a line that is wrong."""

import doctest
import json

import pytest

from benchmarks import stories
from benchmarks.stories import read_samples, some_of
from infrastructure.errors import UsageError

STORY = {"story": "s", "language": "en", "documents": [{"name": "a.md", "text": "Tea is hot."}]}
SAMPLE = {"id": "s-1", "story": "s", "kind": "progress", "history": ["I drank it."], "question": "Is tea hot?"}


def written(folder, *rows):
    path = folder / "samples.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(stories).failed == 0


def test_a_sample_knows_its_story_and_what_was_left_out_is_empty(tmp_path):
    (sample,) = read_samples(written(tmp_path, STORY, "", SAMPLE))
    assert sample.story.documents == (("a.md", "Tea is hot."),)
    assert sample.history == ("I drank it.",) and sample.must_not_say == () and not sample.needs_memory


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "[]",
        {**SAMPLE, "story": "t"},
        {**SAMPLE, "kind": "?"},
        {**SAMPLE, "history": "I drank it."},
        {"story": "s"},
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path, row):
    with pytest.raises(UsageError, match=r"line 2 .*benchmarks/stories\.py"):
        read_samples(written(tmp_path, STORY, row))


@pytest.mark.parametrize("rows", [[], [STORY]])
def test_a_file_without_samples_is_refused(tmp_path, rows):
    with pytest.raises(UsageError, match="no samples"):
        read_samples(written(tmp_path, *rows))


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        read_samples(tmp_path / "x")


def test_some_are_the_same_each_time_and_in_order():
    assert some_of(range(100), 10) == some_of(range(100), 10) == sorted(some_of(range(100), 10))
    assert len(set(some_of(range(100), 10))) == 10 and some_of(range(3), 0) == []
