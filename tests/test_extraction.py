"""Answering without a model: which sentence is chosen, and how far a text is supported by its sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.extraction import (
    EMBEDDED_SENTENCES,
    LONGEST,
    SHORTEST,
    best_sentences,
    is_title,
    subject_terms,
    support,
)
from infrastructure.text import content_tokens

RECALL = "Recall counts the evidence that was found. Precision counts how much of it was needed."
CHINESE = "召回率看该找到的证据找到了多少。精确率看找到的片段有多少相关。"


def best(question, *sources, scores=None, **options):
    """Every word of the question weighs the same, every source is as good as the others."""
    weights = dict.fromkeys(content_tokens(question), 1.0)
    return best_sentences(sources, weights, scores=scores or [1.0] * len(sources), question=question, **options)


def texts(extracts):
    return [extract.text for extract in extracts]


def test_the_sentence_with_the_questions_words_is_chosen():
    assert texts(best("What is needed for precision?", RECALL)) == [
        "Precision counts how much of it was needed.",
    ]
    assert texts(best("精确率看什么？", CHINESE)) == ["精确率看找到的片段有多少相关。"]


def test_each_source_gives_one_sentence_best_first():
    extracts = best("What counts evidence?", "Tomatoes need sun and water.", RECALL)
    assert [extract.source for extract in extracts] == [1, 0]
    assert extracts[0].score > extracts[1].score


def test_a_span_is_where_its_text_stands():
    for extract in best("What counts?", RECALL, CHINESE):
        assert (RECALL, CHINESE)[extract.source][extract.start : extract.end] == extract.text


def test_of_no_sources_nothing_is_said():
    assert best("What counts?") == []
    assert best("What counts?", "", "12.", "—") == []


def test_rare_words_decide_over_common_ones():
    question = "method hyde"
    sources = ["This method is a common method of methods. HyDE invents an answer first."]
    extract = best_sentences(sources, {"method": 0.1, "hyde": 3.0}, scores=[1.0], question=question)[0]
    assert extract.text == "HyDE invents an answer first."


def test_a_heading_that_opens_its_passage_is_not_quoted():
    source = "5.1 Recall and evidence\nRecall counts the evidence that was found."
    extract = best("recall and evidence", source, headings=["5 Metrics > 5.1 Recall and evidence"])[0]
    assert extract.text == "Recall counts the evidence that was found."


@pytest.mark.parametrize(
    "title",
    [
        "2 Related Work",
        "（2）调整模块间流程",
        "（1）添加或替换模块",
        "2.1 经验误差与过拟合 . . . 23",
        "2.1 经验误差与过拟合……23",
        "第三章 过拟合",
        "Table 3 Results of evaluation",
        "0.36 0.64 0.52 12 81",
        "[12] Lewis P. Retrieval-augmented generation for knowledge-intensive NLP tasks",
        "Retrieval-augmented generation, arXiv preprint, 2020",
    ],
)
def test_titles_contents_tables_of_figures_and_references_say_nothing(title):
    assert is_title(title)


@pytest.mark.parametrize(
    "sentence",
    [
        "2. Recall counts the evidence that was found.",
        "（2）过拟合是指模型记住了训练数据。",
        "3 is the smallest odd prime",
        "6 月 3 日考试",
        "3.5小时之后减半",
        "[3] However, recall counts more than precision here.",
        "In 2020 the share of evidence was 0.64.",
        "过拟合指学得太好",
        "（3）把检索到的片段按相关性重新排序，然后只保留前五条交给模型回答",
        "Recall. It counts the evidence...",
    ],
)
def test_what_says_something_is_no_title(sentence):
    assert not is_title(sentence)


def test_a_title_is_quoted_only_where_nothing_else_speaks_of_it():
    definition = "过拟合是指模型把训练样本的特点当成了一般规律。"
    for contents in ("2.1 经验误差与过拟合 . . . 23", "2.1 经验误差与过拟合……23"):
        assert best("什么是过拟合？", contents, definition)[0].text == definition
        assert best("什么是过拟合？", contents)[0].text.startswith("2.1 经验误差与过拟合")


def test_a_title_far_from_the_question_is_not_quoted_at_all():
    sources = ["（2）调整模块间流程", "2 Related Work", "（1）添加或替换模块"]
    assert best("tell me a joke about cats", *sources, similarity=lambda texts: [0.9] * len(texts)) == []


def test_a_list_of_references_is_known_by_its_heading_or_its_entries():
    title = "Precision of evidence in retrieval."
    entries = f"[1] A. Li. {title}\n[2] B. Wu. Recall of things.\n[3] C. Xu. Memory of machines."
    assert best("evidence precision", entries)[0].score < best("evidence precision", RECALL)[0].score
    assert best("evidence precision", title, headings=["References"])[0].score < 0.5


def test_the_answer_to_a_question_in_the_text_is_quoted_not_the_question():
    source = "What does recall count? It is the share of the evidence. Other things follow here."
    assert texts(best("What does recall count?", source)) == ["It is the share of the evidence."]


def test_for_what_is_a_definition_is_preferred():
    source = "We use HyDE every day with great joy. HyDE is a search with an invented answer."
    assert texts(best("What is HyDE?", source)) == ["HyDE is a search with an invented answer."]
    source = "我们每天都用候选池做检索。候选池是各个查询结果的合并。"
    assert texts(best("什么是候选池？", source)) == ["候选池是各个查询结果的合并。"]


@pytest.mark.parametrize(
    ("question", "definition"),
    [
        ("What is HyDE?", "HyDE stands for hypothetical document embeddings."),
        ("What does HyDE stand for?", "HyDE denotes a search with an invented answer."),
        ("What does HyDE mean?", "HyDE, short for hypothetical document embeddings, searches with an answer."),
        ("HyDE 是什么？", "HyDE 的全称是假设性文档嵌入。"),
        ("HyDE 的全称是什么？", "HyDE 指先编一个答案再检索的方法。"),
        ("HyDE 是什么意思？", "假设性文档嵌入，简称 HyDE，用答案检索。"),
    ],
)
def test_a_definition_is_known_by_whatever_words_stand_for_is(question, definition):
    for source in (f"HyDE 每天都用，HyDE 很有用。 {definition}", f"HyDE helps here, HyDE helps there. {definition}"):
        assert texts(best(question, source)) == [definition]


@pytest.mark.parametrize(
    ("question", "source", "answer"),
    [
        ("工作记忆能存多少条？", "工作记忆保存刚刚发生的事。它容量小（默认 50 条）。", "它容量小（默认 50 条）。"),
        ("工作记忆多久过期？", "工作记忆保存刚刚发生的事。它一小时后过期。", "它一小时后过期。"),
        (
            "How many entries does working memory hold?",
            "Working memory holds the last turns. It is small (50 entries).",
            "It is small (50 entries).",
        ),
    ],
)
def test_an_amount_of_what_is_asked_for_answers_for_the_sentence_before_it(question, source, answer):
    assert best(question, source)[0].text == answer


def test_a_line_that_opens_a_list_is_quoted_with_its_first_item_and_never_with_a_bare_number():
    source = "RAG 的核心优势包括：\n1. 更准确：回答有来源。\n2. 更新快。"
    assert best("RAG 的优势是什么？", source)[0].text == "RAG 的核心优势包括：\n1. 更准确：回答有来源。"


def test_words_that_only_ask_for_a_meaning_lead_nowhere_else():
    assert subject_terms("RAG 指的是什么意思？") == ["rag"]
    assert subject_terms("What is the meaning of RAG?") == ["rag"]
    assert subject_terms("什么是指针？") == subject_terms("指针") == ["指针"]
    assert subject_terms("有哪些有意思的例子？") == content_tokens("有哪些有意思的例子？")


def test_with_equal_words_the_readers_language_wins():
    source = "BM25 finds exact terms in any text. BM25 擅长查找准确的术语。"
    assert texts(best("BM25 有什么用？", source)) == ["BM25 擅长查找准确的术语。"]
    assert texts(best("What is BM25 good for?", source)) == ["BM25 finds exact terms in any text."]


def test_a_sentence_that_points_back_is_worth_less():
    source = "It also counts the evidence here. Recall here counts the evidence."
    assert texts(best("counts evidence", source)) == ["Recall here counts the evidence."]


def test_what_was_quoted_before_comes_after_what_is_new_but_not_after_what_is_beside_the_point():
    first, second = "Recall counts the evidence first.", "Precision counts the evidence second."
    assert texts(best("counts evidence", f"{first} {second}", said=[first])) == [second]
    assert texts(best("counts evidence", f"{first} Tomatoes need sun.", said=[first])) == [first]


def test_with_equal_words_the_better_passage_wins():
    extracts = best("counts evidence", "A counts the evidence.", "B counts the evidence.", scores=[0.2, 0.9])
    assert [extract.source for extract in extracts] == [1, 0]


def test_scraps_are_not_quoted_and_endless_ones_are_cut():
    assert texts(best("recall", "Recall. Recall counts the evidence.")) == ["Recall counts the evidence."]
    assert len(best("recall", "recall and evidence " * 200)[0].text) == LONGEST


# ---- Across languages ----


def asked_for(history):
    def similarity(sentences):
        history.append(list(sentences))
        return [0.9 if "evidence" in sentence else 0.1 for sentence in sentences]

    return similarity


def test_where_words_meet_no_sentence_is_embedded():
    history = []
    best("What counts the evidence?", RECALL, similarity=asked_for(history))
    assert history == []


def test_where_words_cannot_meet_meaning_decides_at_a_bounded_price():
    history = []
    source = "Tomatoes need a lot of sun. Recall counts the evidence. " * 10
    extract = best("召回率是什么", source, similarity=asked_for(history))[0]
    assert extract.text == "Recall counts the evidence."
    assert [len(sentences) for sentences in history] == [EMBEDDED_SENTENCES]


def test_the_best_sources_are_embedded_first():
    history = []
    best("召回率是什么", "Tomatoes need sun. " * 9, RECALL, scores=[0.1, 0.9], similarity=asked_for(history))
    assert history[0][0] == "Recall counts the evidence that was found."


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=40))
def test_any_text_and_any_question_give_spans_inside_their_source(first, second, question):
    for extract in best(question, first, second, similarity=lambda sentences: [0.5] * len(sentences)):
        assert (first, second)[extract.source][extract.start : extract.end] == extract.text
        assert len(extract.text) >= SHORTEST
        assert extract.score >= 0


# ---- Support ----


@pytest.mark.parametrize(
    ("sentence", "share"),
    [
        ("Recall counts the evidence", 1.0),
        ("Recall counts the moons of Jupiter", 0.5),
        ("Jupiter has moons", 0.0),
        ("It is so.", 1.0),
        ("", 1.0),
    ],
)
def test_support_is_the_share_of_content_words_a_source_has(sentence, share):
    assert support(sentence, [RECALL]) == share


def test_one_source_must_carry_the_sentence_and_the_best_one_counts():
    assert support("tomatoes evidence", ["tomatoes need sun", "evidence counts"]) == 0.5
    assert support("召回率看证据", [CHINESE, "x"]) > 0.6
    assert support("Recall counts", []) == 0.0
