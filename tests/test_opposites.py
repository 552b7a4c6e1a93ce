"""Sentences about the other side of what is asked."""

from importlib import import_module

import pytest

from infrastructure.opposites import other_side
from infrastructure.storage import Storage

m11 = import_module("11_unified_retrieval")
m12 = import_module("12_memory_enhanced_rag")


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What are the disadvantages of HyDE?", "The main advantage of HyDE is that answers resemble answers."),
        ("What are the benefits of MQE?", "A drawback of MQE is its cost."),
        ("HyDE 的缺点是什么？", "HyDE 的优点是答案与答案更像。"),
        ("HyDE 有什么优势", "HyDE 的局限在于多一次模型调用。"),
        ("What increases recall?", "A small pool decreases recall."),
        ("怎样提高召回率？", "片段太长会降低召回率。"),
        ("What do they have in common?", "They differ in length."),
        ("二者有什么不同？", "二者的共同之处是都要检索。"),
        ("What is the maximum length?", "The minimum length is three."),
        ("What happens before consolidation?", "After consolidation the events are archived."),
        ("整合之前做什么？", "整合之后归档。"),
        ("哪些记忆会被遗忘？", "学习者写下的内容不会被遗忘。"),
        ("哪些记忆不会被遗忘？", "三十天以上的会被遗忘。"),
    ],
)
def test_a_sentence_about_the_other_side_is_told(question, sentence):
    assert other_side(question)(sentence) == (True, False)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What are the disadvantages of HyDE?", "Beside its advantages HyDE has a drawback."),
        ("What are the disadvantages of HyDE?", "HyDE may mislead the search."),
        ("What are the advantages of HyDE?", "HyDE has no disadvantages."),
        ("HyDE 的优点是什么？", "HyDE 没有缺点。"),
        ("HyDE 的优点是什么？", "下表列出 HyDE 的优缺点。"),
        ("HyDE 的优点是什么？", "HyDE 在数据不足时也有效。"),
        ("两者有哪些不一致的地方？", "两者的不同在于速度。"),
        ("哪些地方不相同？", "区别在于速度。"),
        ("What increases recall?", "Lowering the threshold brings in more passages and so more evidence."),
        ("What increases recall?", "A larger pool raises recall and reduces precision."),
        ("What happens before consolidation?", "Events are scored after each turn, then consolidation begins."),
        ("What is the maximum length?", "It has up to three words, and at least one of them is short."),
        ("哪些记忆会被遗忘？", "大多数被遗忘的记忆只是移出视线。"),
        ("哪些记忆不会被遗忘？", "写下的不会被遗忘。"),
    ],
)
def test_other_sentences_are_left_alone(question, sentence):
    assert not other_side(question)(sentence)[0]


@pytest.mark.parametrize(
    "question",
    [
        "What are the advantages and disadvantages of HyDE?",
        "HyDE 的优缺点",
        "HyDE 的优点和缺点分别是什么？",
        "What is HyDE?",
        "Does it increase or decrease?",
        "整合之前和整合之后有什么",
        "写下的内容会被遗忘吗？",
        "哪些记忆会不会被遗忘？",
        "",
    ],
)
def test_a_question_for_both_sides_or_none_is_not_checked(question):
    assert other_side(question) is None


# ---- In an answer ----


@pytest.fixture
def ask(tmp_path):
    with Storage(tmp_path) as storage:
        rag = m12.MemoryRAG(storage)

        def ask(question, *paragraphs):
            m11.shelve(rag.library, paragraphs)
            return rag.query(question)

        yield ask


FILLER = ("其他", "向量检索按意思查找。")
ONLY_GOOD = ("HyDE", "The main advantage of HyDE is that answers resemble answers. HyDE is a way to search.")
BOTH = ("HyDE", "An advantage of HyDE is its recall. A disadvantage of HyDE is that a wrong guess misleads the search.")


def test_advantages_are_not_served_as_disadvantages(ask):
    answer = ask("What are the disadvantages of HyDE?", ONLY_GOOD, FILLER)
    assert (answer.found, answer.citations) == (False, [])
    assert answer.answer == "I found nothing about this in your documents."
    assert [citation.heading_path for citation in answer.nearest] == ["HyDE"]


def test_优点_are_not_served_as_缺点(ask):
    answer = ask("HyDE 的缺点是什么？", ("HyDE", "HyDE 的优点是答案与答案更像，HyDE 因此找得更准。"), FILLER)
    assert not answer.found and answer.nearest


def test_where_both_are_written_the_right_one_is_quoted(ask):
    answer = ask("What are the disadvantages of HyDE?", BOTH, FILLER)
    assert answer.found and "misleads the search" in answer.answer and "its recall" not in answer.answer


def test_a_heading_speaks_for_its_sentences(ask):
    answer = ask(
        "What are the disadvantages of HyDE?",
        ("HyDE > Advantages", "HyDE finds answers that use other words than the question."),
        ("HyDE > Disadvantages", "HyDE costs one more call of the model."),
    )
    assert answer.found and "one more call" in answer.answer and "other words" not in answer.answer


def test_a_question_without_a_side_is_answered_as_before(ask):
    assert "main advantage" in ask("Why does an answer resemble answers with HyDE?", ONLY_GOOD, FILLER).answer
