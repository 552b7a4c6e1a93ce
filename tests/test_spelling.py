"""Words that stand nowhere: which one was meant, and when nothing is guessed."""

import time
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ScriptedLLM

from infrastructure.language import set_language
from infrastructure.shelves import Text
from infrastructure.spelling import Speller, also_searched, corrected, distances, early_slips, is_slip
from infrastructure.storage import Storage
from study.trace import explained

m11 = import_module("11_unified_retrieval")
m12 = import_module("12_memory_enhanced_rag")

PARAGRAPHS = (
    ("Retrieval", "Retrieval finds the passages that hold an answer. Hybrid retrieval joins words and vectors."),
    ("Evaluation", "The evaluation of a system needs questions whose answers are known."),
    ("Memory", "Semantic memory keeps lasting knowledge. Hermann Ebbinghaus measured how fast it fades in 1885."),
    ("遗忘", "艾宾浩斯曲线说明遗忘先快后慢，HyDE 与此无关。"),
)


@pytest.fixture
def storage(tmp_path):
    with Storage(tmp_path / "home") as storage:
        yield storage


@pytest.fixture
def rag(storage):
    rag = m12.MemoryRAG(storage)
    m11.shelve(rag.library, PARAGRAPHS)
    return rag


@pytest.fixture
def slips(rag):
    return Speller(rag.storage).slips


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What is retreival?", [("retreival", "retrieval")]),
        ("How is the evaluaton done?", [("evaluaton", "evaluation")]),
        ("What is semnatic memory?", [("semnatic", "semantic")]),
        ("rterieval", [("rterieval", "retrieval")]),
        ("什么是retreival？", [("retreival", "retrieval")]),
        ("Who was Ebinghaus?", [("Ebinghaus", "Ebbinghaus")]),
        ("retreivel", [("retreivel", "retrieval")]),
    ],
)
def test_the_word_that_was_meant_is_one_that_stands_in_a_text(slips, question, meant):
    assert slips(question) == meant


@pytest.mark.parametrize(
    "question",
    [
        "What is retrieval?",
        "How fast are retrievals?",  # the same stem
        "What is HyDE?",
        "What does retreival_id hold?",
        "What is retreival2?",
        "Call `retreival` again",
        "retreival() fails",
        "RETREIVAL",
        "reTreival",
        "retreival.py",
        "fand",  # too short
        "Xetrieval",  # the first letter is hardly ever wrong
        "Known",
        "quantum entanglement",
        "艾宾豪斯",
        "",
    ],
)
def test_names_in_code_numbers_short_words_and_what_is_near_to_nothing_are_left_alone(slips, question):
    assert slips(question) == []


def test_two_words_may_have_been_meant_but_not_three(storage):
    m11.shelve(
        m12.MemoryRAG(storage).library, [("", "The causal model."), ("", "A casual talk."), ("", "Other things.")]
    )
    assert Speller(storage).slips("caual") == [("caual", "causal casual")]
    storage.add_texts("chunk", [Text("k", "d", "The cual unit.")])
    assert Speller(storage).slips("caual") == []


@pytest.mark.parametrize(
    ("typed", "meant", "slips", "fits"),
    [
        ("semnatic", "semantic", 1, True),
        ("paris", "parts", 1, False),
        ("firms", "farms", 1, False),
        ("grammer", "grammar", 1, True),
        ("evaluatiom", "evaluation", 1, True),
        ("contract", "contrast", 1, False),
        ("contract", "contrast", 2, False),
        ("retreivel", "retrieval", 2, True),
        ("translation", "transition", 2, False),
        ("generation", "generator", 2, False),
        ("meaning", "meaning", 1, False),
    ],
)
def test_a_slip_is_told_from_another_word(typed, meant, slips, fits):
    assert is_slip(typed, meant, slips=slips) is fits


@given(st.text("abcde", max_size=7), st.text("abcde", max_size=7))
def test_a_distance_is_the_same_both_ways_and_never_more_than_the_longer_word(a, b):
    assert distances(a, b)[-1] == distances(b, a)[-1] <= max(len(a), len(b))
    assert (distances(a, b)[-1] == 0) == (a == b)


@given(st.text("abcdefgh", min_size=5, max_size=9))
def test_an_early_slip_is_one_slip(word):
    assert all(distances(word, other)[-1] <= 1 and other[0] == word[0] for other in early_slips(word))


def test_only_whole_words_are_corrected():
    assert corrected("retreival and retreivals", [("retreival", "retrieval")]) == "retrieval and retreivals"


@pytest.mark.parametrize(
    ("code", "told"), [("en", "Also searched for “retrieval”, “memory”."), ("zh", "也按 retrieval、memory 检索了。")]
)
def test_the_learner_is_told_in_one_line(code, told):
    set_language(code)
    try:
        assert also_searched([("retreival", "retrieval"), ("memry", "memory")]) == told
    finally:
        set_language("en")


# ---- In an answer ----


@pytest.mark.parametrize("question", ["What is semnatic memory?", "semnatic memory 是什么？"])
def test_an_answer_is_found_with_the_word_that_was_meant_and_says_so(rag, question):
    answer = rag.query(question)
    assert answer.found and "Semantic memory keeps lasting knowledge." in answer.answer.split("\n")[0]
    assert answer.note.startswith("Also searched for “semantic”.")
    assert answer.question == question
    (turn,) = rag.transcript.turns(rag.session_id)
    assert explained(turn)["slips"] == [["semnatic", "semantic"]]


def test_the_same_slip_is_seen_again_the_next_time(rag):
    notes = [rag.query("What is semnatic memory?").note for _ in range(2)]
    assert notes[0] == notes[1]


def test_a_model_gets_the_passages_found_with_it(rag):
    rag.use_model(llm := ScriptedLLM(default="It keeps knowledge [3]."))
    rag.query("What is semnatic memory?", use_mqe=False)
    assert "Semantic memory keeps lasting knowledge" in llm.history[-1].prompt


def test_nothing_is_guessed_where_the_words_themselves_were_found(rag):
    assert "Also" not in rag.query("Does hybrid retrieval join words and vectors smoothli?").note


def test_a_word_of_a_note_is_right(rag):
    rag.semantic.add("My semnatic is a boat.", source="user")
    assert Speller(rag.storage).slips("semnatic") == []


def test_a_guess_takes_no_time(storage):
    words = [f"{a}{b}{c}ation" for a in "bcdr" for b in "aeiou" for c in ("tr", "nd", "st", "lm")]
    storage.add_texts("chunk", [Text(f"k{n}", "d", " ".join(words[n % 60 : n % 60 + 20])) for n in range(3000)])
    speller = Speller(storage)
    start = time.process_time()
    speller.slips("What is batraton of it?")
    assert time.process_time() - start < 0.25  # measured: 10 ms with 100,000 texts


def test_a_long_s_of_an_old_print_is_passed_over(rag, slips):
    m11.shelve(rag.library, [("Old", "A whiſtle of the boy.")])
    assert slips("What is a whixtle?") == []
