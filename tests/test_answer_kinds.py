"""What kind of answer a question asks for, and which texts have one."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure import answer_kinds
from infrastructure.answer_kinds import NEAR, answers_nearby, kind_asked
from infrastructure.extraction import best_sentences
from infrastructure.fusion import Weights
from infrastructure.ranking import hybrid_search
from infrastructure.shelves import Text
from infrastructure.text import content_tokens, tokens


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(answer_kinds).failed == 0


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was HyDE proposed?", "date"),
        ("In which year did it begin?", "date"),
        ("HyDE 是什么时候提出的？", "date"),
        ("哪一年提出的？", "date"),
        ("How many memories are kept?", "number"),
        ("What percentage of turns is found?", "number"),
        ("工作记忆能放多少条？", "number"),
        ("一共有几种记忆？", "number"),
        ("过了几个月？", "number"),
        ("考试是几月？", "date"),
        ("What is HyDE?", None),
        ("Whenever it rains, why does it pour?", None),
        ("为什么要遗忘？", None),
        ("", None),
    ],
)
def test_the_kind_that_is_asked_for(question, kind):
    found = kind_asked(question)
    assert (found and found.name) == kind


@pytest.mark.parametrize(
    ("question", "text", "answered"),
    [
        ("When was HyDE proposed?", "HyDE was proposed in 2022.", True),
        ("When was HyDE proposed?", "HyDE was proposed in December.", True),
        ("When was HyDE proposed?", "HyDE was proposed by two authors.", False),
        ("HyDE 是什么时候提出的？", "HyDE 于 2022 年提出。", True),
        ("How many memories are kept?", "Fifty memories are kept.", False),  # not among the number words
        ("How many memories are kept?", "Twelve memories are kept.", True),
        ("How many memories are kept?", "Memories are kept for a while.", False),
        ("记忆一共有几种？", "记忆分为三种。", True),
        ("记忆一共有几种？", "记忆会衰减。", False),
        ("How many of the 50 memories are kept?", "The 50 memories are kept.", False),  # the question's own number
    ],
)
def test_a_text_has_an_answer_of_the_kind(question, text, answered):
    assert answers_nearby(kind_asked(question), tokens(text), frozenset(content_tokens(question))) == answered


@given(gap=st.integers(0, 3 * NEAR))
def test_a_number_far_from_the_words_of_the_question_answers_nothing(gap):
    words = ["memori", *["so"] * gap, "7"]
    assert answers_nearby(kind_asked("how many memories"), words, frozenset(["memori"])) == (gap + 1 <= NEAR)


def test_the_sentence_with_the_date_is_quoted():
    text = (
        "Recall was proposed for library search by several groups. Recall was first used by a group in London in 1955."
    )
    question = "When was recall first proposed?"
    weights = dict.fromkeys(content_tokens(question), 1.0)
    assert "1955" in best_sentences([text], weights, scores=[1.0], question=question)[0].text


def test_a_passage_with_the_number_ranks_before_its_twin_without(storage):
    contents = [
        "The archive keeps letters of the harbour.",
        "The archive keeps 300 letters of it.",
        "Boats leave at noon.",
    ]
    storage.add_texts("chunk", [Text(content, "book", content) for content in contents])
    question = "How many letters are kept in the archive?"
    found = hybrid_search(storage, "chunk", question, weights=Weights(words=0.0, kind=1.0, reach=0))
    assert storage.texts([found[0].id])[found[0].id].content == contents[1]
