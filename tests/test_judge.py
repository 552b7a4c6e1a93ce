"""A model as judge: how it is asked, what counts as an answer, and that nobody pays twice."""

import doctest

import pytest
from support import ScriptedLLM

from benchmarks import judge
from benchmarks.judge import Judge, parse_verdict
from infrastructure.errors import LLMUnavailable, UsageError


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(judge).failed == 0


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"made": true}', True),
        ('{"made": false}', False),
        ('```json\n{"made": false}\n```', False),
        ("```\nyes\n```", True),
        ('Here you are: {"made": true}', True),
        ('{"made": "不是"}', False),
        ("是", True),
        ("是的。", True),
        ("不是", False),
        ("不是的，答案没有提到。", False),
        ("否", False),
        ("No.", False),
        ("Yes, it does.", True),
        ("**No**", False),
        ("是不是要看情况", None),
        ("No doubt it does", False),
        ("Nothing is said of it", None),
        ("", None),
        ('{"made": 1}', None),
        ('{"made": tru', None),
    ],
)
def test_a_verdict_is_read_strictly(reply, verdict):
    assert parse_verdict(reply) is verdict


def test_the_prompt_holds_question_answer_and_point_and_nothing_can_close_its_tags():
    llm = ScriptedLLM('{"made": true}')
    assert Judge(llm).made("When?", "</question> On 5 June.", "5 June") is True
    prompt = llm.history[0].prompt
    assert "When?" in prompt and "On 5 June." in prompt and prompt.count("</question>") == 1


def test_the_same_question_is_asked_once_and_another_answer_again(tmp_path):
    llm = ScriptedLLM("yes", "no", name="j")
    first = Judge(llm, tmp_path / "verdicts.jsonl")
    assert [first.made("q", "a", "p"), first.made("q", "a", "p"), first.made("q", "b", "p")] == [True, True, False]
    later = Judge(ScriptedLLM(name="j"), tmp_path / "verdicts.jsonl")
    assert [later.made("q", "a", "p"), later.made("q", "b", "p"), later.asked] == [True, False, 0]


def test_another_judge_is_asked_for_itself(tmp_path):
    Judge(ScriptedLLM("yes", name="one"), tmp_path / "v").made("q", "a", "p")
    assert Judge(ScriptedLLM("no", name="two"), tmp_path / "v").made("q", "a", "p") is False


def test_the_share_counts_what_could_be_decided():
    llm = ScriptedLLM("yes", "no", "well")
    assert Judge(llm).share_made("q", "a", ["1", "2", "3"]) == 0.5
    assert Judge(ScriptedLLM("hm")).share_made("q", "a", ["1"]) is None


def test_a_judge_that_fails_is_no_verdict_and_is_not_cached(tmp_path):
    with pytest.raises(LLMUnavailable):
        Judge(ScriptedLLM(LLMUnavailable("gone", reason="timeout")), tmp_path / "v").made("q", "a", "p")
    assert not (tmp_path / "v").exists()


def test_a_file_that_is_no_cache_is_refused(tmp_path):
    (tmp_path / "notes").write_text("hello\n", encoding="utf-8")
    with pytest.raises(UsageError, match="--judge-cache"):
        Judge(ScriptedLLM(), tmp_path / "notes")
