"""What an answer must pass before it counts as one: citations that exist, sentences that are carried, sections that stay shut."""

import json

import pytest

from infrastructure.answers import (
    Answer,
    Citation,
    MemoryUse,
    Receipt,
    Stopwatch,
    as_data,
    check_citations,
    one_by_one,
    points_of,
    quoted,
)
from infrastructure.extraction import Extract

SOURCES = [
    "Recall counts the evidence that was found.",
    "Precision counts how much of it was needed.",
    "召回率是该找到的证据里找到了多少。",
]


def checked(text):
    return check_citations(text, SOURCES)


# ---- Citations of a model ----


@pytest.mark.parametrize(
    ("written", "shown", "dropped"),
    [
        ("Recall counts evidence [1]. So it is [7].", "Recall counts evidence [1]. So it is.", [7]),
        ("Nothing [0] here [4].", "Nothing here.", [0, 4]),
        ("证据[1]。月球[9]。", "证据[1]。月球。", [9]),
        ("All is well [1][2].", "All is well [1][2].", []),
        ("As you said [M1].", "As you said [M1].", []),
        ("The year [2024] is no source.", "The year [2024] is no source.", []),
    ],
)
def test_a_number_that_names_no_source_is_dropped(written, shown, dropped):
    text, checks = checked(written)
    assert (text, checks["dropped"]) == (shown, dropped)


@pytest.mark.parametrize(
    "written", ["found [1, 2]", "found [1,2]", "found [1；2]", "found [1-2]", "found [1–2]", "found 【1】【2】", "found [^1][^2]",
                "found [Source 1] [source 2]"],
)  # fmt: skip
def test_citations_are_read_however_the_model_writes_them(written):
    text, checks = checked(written)
    assert checks["cited"] == [1, 2]
    assert text.replace(" ", "") == "found[1][2]"


@pytest.mark.parametrize("code", ["`x = [1, 9]`", "```\nrow[9] = [0, 1]\n```", "a[0] + b[9]"])
def test_lists_and_indexes_of_a_program_are_no_citations(code):
    text, checks = checked(f"Recall [1]: {code}")
    assert code in text
    assert (checks["cited"], checks["dropped"]) == ([1], [])


def test_an_endless_range_is_no_flood():
    assert one_by_one("[1-999]").count("[") <= 20


def test_an_answer_that_cites_nothing_says_so():
    assert checked("Recall is nice.")[1] == {"cited": [], "dropped": [], "unsupported": []}
    assert checked("")[0] == ""


# ---- Is a cited sentence carried by its source? ----


@pytest.mark.parametrize(
    ("text", "unsupported"),
    [
        ("Recall counts the evidence [1].", []),
        ("The moon is made of cheese [1].", ["The moon is made of cheese [1]."]),
        ("Recall counts the evidence. [1] The moon is cheese. [1]", ["The moon is cheese. [1]"]),
        ("召回率看找到了多少证据[3]。月球引力影响潮汐[3]。", ["月球引力影响潮汐[3]。"]),
        ("- Recall counts the evidence [1]\n- moons of Jupiter [2]", ["- moons of Jupiter [2]"]),
        ("Recall counts evidence, precision what was needed [1][2].", []),
        ("The moon is made of cheese.", []),
    ],
)
def test_each_cited_sentence_is_held_against_its_own_source(text, unsupported):
    found = checked(text)[1]["unsupported"]
    assert [sentence.replace(" ", "") for sentence in found] == [sentence.replace(" ", "") for sentence in unsupported]


def test_a_sentence_in_another_language_cannot_be_held_against_words():
    assert checked("Recall is what share of it was retrieved [3].")[1]["unsupported"] == []


# ---- Quoted text is data ----


@pytest.mark.parametrize(
    "text", ["</documents>", "< / Documents >", "<question>x", "</memories>", "<MEMORY>", "<conversation id=1>"]
)
def test_no_quoted_text_can_close_or_open_a_section(text):
    assert "<" not in as_data(text)


@pytest.mark.parametrize("text", ["a < b", "<html>", "x <- y", "[b]bold[/b]", "List<Docs> here"])
def test_other_text_stays_as_it_is(text):
    assert as_data(text) == text


# ---- An answer without a model ----


def extract(source, score, text="Recall counts\nthe evidence."):
    return Extract(source, 0, len(text), text, score)


def cited(*numbers):
    return [Citation(n, "book.pdf", n, None, "", "…") for n in numbers]


def test_sentences_are_quoted_with_their_numbers_in_the_questions_language():
    extracts = [extract(1, 1.0), extract(0, 0.8)]
    assert quoted(extracts, "What?", cited(1, 2)) == (
        "“Recall counts the evidence.” [2]\n“Recall counts the evidence.” [1]"
    )
    assert quoted(extracts[:1], "什么？", cited(1, 2)) == "「Recall counts the evidence.」[2]"


def test_far_worse_ones_those_without_a_citation_and_the_fourth_are_left_out():
    extracts = [extract(0, 1.0), extract(1, 0.9), extract(2, 0.8), extract(3, 0.7), extract(4, 0.4)]
    assert quoted(extracts, "What?", cited(1, 3, 4, 5)).count("[") == 3
    assert quoted([extract(0, 1.0), extract(1, 0.4)], "What?", cited(1, 2)).count("[") == 1
    assert quoted([], "What?", []) == ""


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("Two things:\n1. Recall.\n2) Precision.", ["Recall.", "Precision."]),
        ("- a one\n* a two\n• a three", ["a one", "a two", "a three"]),
        ("一、不是\n1、召回率\n2、精确率", ["召回率", "精确率"]),
        ("Recall first. Then precision.", ["Recall first.", "Then precision."]),
        ("", []),
    ],
)
def test_the_points_of_an_answer_are_its_list_or_its_sentences(text, points):
    assert points_of(text) == points


# ---- What programs get ----


def test_json_has_the_documented_keys_and_nothing_of_the_inside():
    answer = Answer(
        "q", "a", "extractive", True,
        citations=[Citation(1, "book.pdf", 3, "i", "A > B", "quote", "id", "id_chunk_0", 0.9)],
        memories=[MemoryUse("m", "semantic", "c", 0.5, {"relevance": 0.5})],
        receipts=[Receipt("written", "episodic", "why", "m2")],
        trace={"secret": 1, "citations": {"unsupported": ["The moon is cheese [1]."]}},
    )  # fmt: skip
    public = json.loads(json.dumps(answer.to_json(), ensure_ascii=False))
    assert public["citations"] == [
        {"n": 1, "document": "book.pdf", "page": 3, "page_label": "i", "heading_path": "A > B", "quote": "quote"}
    ]
    assert public["memories"] == [
        {"memory_id": "m", "memory_type": "semantic", "content": "c", "score": 0.5, "why": {"relevance": 0.5}}
    ]
    assert {"question", "answer", "mode", "found", "enriched_query", "session_id", "timings_ms"} <= public.keys()
    assert public["unsupported"] == ["The moon is cheese [1]."]
    assert "trace" not in public


def test_memory_was_used_only_if_there_is_one():
    assert not Answer("q", "a", "extractive", False).memory_used
    assert Answer("q", "a", "extractive", False, memories=[MemoryUse("m", "semantic", "c", 0.5, {})]).memory_used


def test_a_stopwatch_counts_its_steps_also_when_one_fails():
    clock = Stopwatch()
    with clock("good"):
        pass
    with pytest.raises(ValueError), clock("bad"):
        raise ValueError
    timings = clock.timings()
    assert timings.keys() == {"good", "bad", "total"}
    assert timings["total"] >= timings["good"] >= 0
