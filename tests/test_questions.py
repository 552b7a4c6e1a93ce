"""Questions by rules: which sentences make one, what is blanked, and which question is not asked."""

import doctest
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.cards import Draft
from infrastructure.language import set_language
from study import model_questions, questions
from study.grading import key
from study.questions import BLANK, Source, Terms, draft_of, finds, is_term, note_draft, refusal, same_point, span_of


def asked(text: str, heading: str = "") -> list[tuple[str, str, str]]:
    """(kind, question, answer) of what a passage gives."""
    source = Source(text, heading, "d1", "guide.pdf")
    return [(f.kind, draft_of(f, source).question, f.answer) for f in finds(source)]


@pytest.mark.parametrize("module", [questions, model_questions])
def test_the_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


# ---- What makes a question ----


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Recall is the share of the passages that were found.", "Recall"),
        ("An episodic memory is a diary of the events of a day.", "episodic memory"),
        ("HyDE stands for hypothetical document embeddings.", "HyDE"),
        ("召回率是指该找到的证据中找到了多少。", "召回率"),
        ("归一化是一种把数据缩放到同一范围的方法。", "归一化"),
    ],
)
def test_a_definition_asks_for_the_term_it_defines(text, answer):
    found = asked(text)
    assert [(kind, said) for kind, _, said in found] == [("term", answer)]
    assert all(BLANK in question and answer.lower() not in question.lower() for _, question, _ in found)


def test_a_gloss_in_brackets_is_blanked_with_its_term_and_is_right_too():
    source = Source("召回率（Recall）是指该找到的证据中找到了多少。", "", "d1")
    (found,) = finds(source)
    assert (found.answer, found.accepted) == ("召回率", ("Recall",))
    assert draft_of(found, source).question == "____是指该找到的证据中找到了多少。"


@pytest.mark.parametrize(
    ("heading", "text", "answer"),
    [
        ("2 Memories > 2.1 Working memory / 工作记忆", "Working memory holds what happened a moment ago.", "Working memory"),
        ("2 Memories > 2.1 Working memory / 工作记忆", "工作记忆保存刚刚发生的事，也就是最近的问与答。", "工作记忆"),
        ("3.3 Forgetting", "Forgetting is control of attention rather than loss.", "Forgetting"),
    ],
)  # fmt: skip
def test_a_sentence_that_begins_with_the_subject_of_its_section_asks_for_it(heading, text, answer):
    ((kind, question, said),) = asked(text, heading)
    assert (kind, said) == ("term", answer) and question.startswith(BLANK)


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        ("The half-life is 24 hours: then half is left.", "The half-life is ____ hours: then half is left.", "24"),
        ("半衰期是 24 小时，之后剩下一半。", "半衰期是 ____ 小时，之后剩下一半。", "24"),
        ("The share fell from 0.64 to 17 in a year.", "The share fell from ____ to 17 in a year.", "0.64"),
        ("More than 700,000 letters came to the office.", "More than ____ letters came to the office.", "700,000"),
    ],
)
def test_a_number_is_blanked_the_most_telling_one(text, question, answer):
    assert asked(text) == [("cloze", question, answer)]


def test_a_name_is_blanked_where_there_is_nothing_better_but_not_what_the_chapter_is_about():
    assert asked("Word search, usually BM25, finds exact terms.") == [
        ("name", "Word search, usually ____, finds exact terms.", "BM25")
    ]
    assert asked("Word search, usually BM25, finds exact terms.", "4 BM25 and friends") == []


@pytest.mark.parametrize(
    "text",
    [
        "It is small (50 entries by default) and forgets after 60 minutes.",  # what is?
        "它容量小，默认只保存 50 条，一小时后过期。",
        "This is a new statement, not a copy of 12 others.",
        "The result is a new statement, not a copy.",
        "What is the share of the passages that were found?",
        "Figure 3 shows the 24 runs of the experiment.",
        "图 3 显示了 24 次实验的结果。",
        "score = 0.5 × similarity + 0.3 × importance.",
        "See https://example.org for the 24 results.",
        "[12] A. Author, “A title,” arXiv preprint, 2023.",
        "Lewis et al. 2020, Retrieval for 24 tasks.",
        "Passages are expensive and distract the model.",
        "Too short 24.",
        "This line has no end and 24 words",
        "COPYRIGHT 2003 BY THE PENGUIN PRESS IN LONDON.",
        "the rest of page 24 is about something else. " * 9,
    ],
)
def test_a_sentence_that_says_nothing_by_itself_makes_no_question(text):
    assert asked(text if len(text) < 300 else text.replace(". ", ", ")) == []


def test_the_heading_line_of_a_passage_is_no_sentence_of_it():
    text = "3.1 Decay in 24 hours.\nThe half-life is 36 hours: then half is left."
    assert [answer for _, _, answer in asked(text, "3 Life > 3.1 Decay in 24 hours.")] == ["36"]


def test_items_of_a_list_are_sentences_of_their_own():
    text = "Three metrics:\n• Recall is the share of what was found.\n• Precision is the share of what is relevant."
    assert [answer for _, _, answer in asked(text)] == ["Recall", "Precision"]


@given(st.text(max_size=300), st.text(max_size=30))
def test_whatever_the_text_a_find_is_a_piece_of_it_and_never_says_its_answer(text, heading):
    source = Source(text, heading, "d1")
    for found in finds(source):
        assert text[found.start : found.end] == found.sentence
        assert key(found.answer) in key(found.sentence) and BLANK in found.blanked


# ---- Options ----


def terms(*names: str) -> Terms:
    made = Terms()
    made.add(names)
    return made


def test_the_right_answer_stands_among_three_others_of_its_script_that_the_quotation_does_not_name():
    known = terms("Recall", "Precision", "Faithfulness", "Decay", "召回率", "recall", "Precision at five")
    options = known.beside("Recall", "Recall counts what precision leaves out.", "p")
    assert len(set(options)) == 4 and "Recall" in options
    assert set(options) == {"Recall", "Faithfulness", "Decay", "Precision at five"}
    assert options == known.beside("Recall", "Recall counts what precision leaves out.", "p"), "the same every time"


def test_the_right_answer_is_not_always_the_first():
    known = terms("Alpha", "Bravo", "Delta", "Hotel", "India")
    places = {known.beside("Alpha", "", str(n)).index("Alpha") for n in range(20)}
    assert places == {0, 1, 2, 3}


def test_with_too_few_terms_the_answer_is_typed():
    assert terms("Recall", "Precision", "召回率", "工作记忆", "情景记忆").beside("Recall", "", "p") == ()


@pytest.mark.parametrize(
    "text", ["the", "what it is", "one of the many things that are", "示例和方法", "A", "而且", "x" * 60]
)
def test_function_words_and_sentences_are_no_terms(text):
    assert not is_term(text)


# ---- Notes ----


def test_a_note_is_asked_for_by_its_concept():
    note = Source("Look at recall first.", "evaluation", note_id="n1")
    draft = note_draft(note, alone=True)
    assert (draft.question, draft.answer, draft.note_id) == ("What did you note about “evaluation”?", note.text, "n1")
    assert (
        note_draft(replace(note, text="先看召回率。", heading_path="评估"), alone=True).question
        == "关于「评估」，你记过什么？"
    )
    assert "It begins: “Look…”" in note_draft(note, alone=False).question
    assert note_draft(replace(note, heading_path="general"), alone=True) is None


# ---- What is not asked ----

PAGE = "Recall is the share of the passages that were found. Precision is another share. The half-life is 24 hours."
GOOD = Draft(
    "choice", "What is the share of found passages called?", "Recall", "Recall is the share of the passages that were found.",
    "p1", ("Recall", "Precision", "Decay", "Faithfulness"), document_id="d1", page=1,
)  # fmt: skip


def test_a_good_question_is_asked():
    assert refusal(GOOD, [], PAGE) == ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"options": ("Recall",) * 4}, "its options are the same"),
        ({"options": ("Recall", "recall.", "Decay", "Other")}, "its options are the same"),
        ({"options": ("Recall", "", "Decay", "Other")}, "its options are the same"),
        ({"options": ("Recall",)}, "it has a single option"),
        ({"answer": "Faith"}, "its right option does not exist"),
        ({"quote": "Recall is everything."}, "its quotation is not on the page"),
        ({"quote": ""}, "its quotation is not on the page"),
        ({"quote": "Precision is another share."}, "its answer is not on the page"),
        ({"question": "Is recall the share of found passages?"}, "the question says the answer"),
        ({"question": " "}, "it has no question or no answer"),
        ({"answer": "…", "options": ()}, "it has no question or no answer"),
        ({"answer": "x" * 61, "options": ()}, "its answer is too long"),
    ],
)
def test_a_bad_one_is_dropped_with_its_reason(changes, reason):
    assert refusal(replace(GOOD, **changes), [], PAGE) == reason


def test_a_quotation_may_differ_from_the_page_in_line_breaks_hyphens_and_radicals():
    page = "Recall is the share of the pas-\nsages that were\nfound. ⽤⼾的记忆。"
    assert refusal(GOOD, [], page) == ""
    assert (
        refusal(replace(GOOD, options=(), question="谁的记忆？", answer="用户", quote="用户的记忆。"), [], page) == ""
    )


def test_the_same_point_is_asked_once():
    again = replace(GOOD, question="How do we name the part of passages that came up?", point="p2")
    assert refusal(again, [GOOD], PAGE) == "it asks the same as another question"
    assert same_point(replace(GOOD, point="p3", page=9, answer="x"), GOOD), "nearly the same words"
    assert not same_point(replace(again, page=2), GOOD)
    assert not same_point(replace(GOOD, point="p3", document_id="d2"), GOOD)


def test_reasons_are_said_in_the_language_of_the_screen():
    set_language("zh")
    assert refusal(replace(GOOD, options=("Recall",) * 4), [], PAGE) == "选项相同"


# ---- Quotations ----


def test_a_quotation_is_found_however_it_was_copied():
    text = "First one. Recall is the share\nof found passages. Last one."
    start, end = span_of("Recall is the share of found passages", text)
    assert text[start:end] == "Recall is the share\nof found passages."
    assert span_of("the share\nof found", text) == (text.index("the share"), text.index(" passages."))
    assert text[slice(*span_of("First one. Recall is the share of found passages.", text))].endswith("passages.")
    assert span_of("nothing of it", text) is None and span_of("", text) is None
