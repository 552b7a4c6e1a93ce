"""What counts as right: what a patient teacher would let pass, in English and Chinese, and nothing else."""

import doctest
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.cards import Card
from study import grading
from study.grading import chosen, judge


def card(answer: str, *options: str, kind: str = "cloze", accepted: tuple[str, ...] = ()) -> Card:
    return Card(kind, "____", answer, answer, "p", options, accepted, card_id="c")


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(grading).failed == 0


@pytest.mark.parametrize(
    ("answer", "typed"),
    [
        ("HyDE", "hyde"), ("HyDE", "ＨｙＤＥ。"), ("half-life", "the half life"), ("naïve Bayes", "naive bayes"),
        ("working memory", "Working  Memory!"), ("passages", "passage"), ("工作记忆", " 工作 记忆。"), ("工作记忆", "是工作记忆"),
        ("⽤⼾", "用户"), ("24", "24 hours"), ("24", "24小时"), ("24", "二十四"), ("24 hours", "24 hour"),
        ("0.64", "０.64"), ("1,200", "1200"), ("two", "2"), ("50 条", "五十条"), ("colour", "color"), ("C++", "c++"),
        ("recall and precision", "precision, recall"),
    ],
)  # fmt: skip
def test_spelling_width_endings_and_numerals_do_not_matter(answer, typed):
    assert judge(card(answer), typed) == "right"


@pytest.mark.parametrize(
    ("answer", "typed"),
    [
        ("HyDE", "BM25"), ("24", "42"), ("24", "24 or 42"), ("24", "not 24"), ("0.64", "0.46"), ("长期记忆", "短期记忆"),
        ("是", "不是"), ("可以恢复", "不可以恢复"), ("工作记忆", "记忆"), ("memory", "episodic memory"), ("recall", ""),
        ("recall", "？"), ("mitosis", "meiosis"), ("ion", "iron"), ("C++", "C#"), ("2023", "2024"), ("1990s", "1980s"),
        ("exothermic", "endothermic"), ("三类", "四类"),
    ],
)  # fmt: skip
def test_another_answer_is_wrong_however_near_it_looks(answer, typed):
    assert judge(card(answer), typed) == "wrong"


@pytest.mark.parametrize("typed", ["faithfullness", "faithfulnes", "faithfulnses", "fiathfulness"])
def test_one_slip_in_a_long_word_is_almost_right(typed):
    assert judge(card("Faithfulness"), typed) == "almost"


def test_another_option_is_wrong_though_it_is_one_letter_away():
    assert judge(card("absorption", "absorption", "adsorption"), "adsorption") == "wrong"
    assert judge(card("absorption"), "adsorption") == "almost"


@pytest.mark.parametrize("typed", ["B", "b", "Ｂ", " b. ", "(b)", "B）"])
def test_a_letter_stands_for_its_option(typed):
    asked = card("episodic", "working", "episodic", "semantic")
    assert chosen(asked, typed) == "episodic" and judge(asked, typed) == "right"


def test_a_letter_that_is_an_option_itself_or_beyond_the_last_one_is_taken_as_text():
    assert judge(card("C", "B", "C"), "C") == "right"
    assert judge(card("x", "x", "y"), "c") == "wrong"
    assert judge(card("d"), "d") == "right"


def test_another_accepted_answer_is_right():
    assert judge(card("召回率", accepted=("Recall",)), "recall") == "right"


def test_a_note_is_told_again_in_other_words():
    note = card("Look at recall first: evidence that was not found cannot be used.", kind="note")
    assert judge(note, "first recall, because evidence not found is of no use") == "right"
    assert judge(note, "precision") == "wrong"
    assert judge(replace(note, answer="先看召回率，再看精确率。"), "先看召回率然后精确率") == "right"


@given(st.text(max_size=30))
def test_every_answer_is_judged_and_itself_is_right(text):
    assert judge(card("HyDE", "HyDE", "BM25"), text) in ("right", "almost", "wrong")
    if grading.key(text):
        assert judge(card(text), text) == "right"
