"""Questions about the learner are told from questions to the documents, and lead to what was told."""

from importlib import import_module

import pytest

from infrastructure import about_me
from infrastructure.answers import MemoryUse
from infrastructure.lesson import StoppedClock
from infrastructure.slots import slot_key
from infrastructure.storage import Storage

m11 = import_module("11_unified_retrieval")
m12 = import_module("12_memory_enhanced_rag")

ABOUT_ME = [
    "What am I preparing for?",
    "What is my name?",
    "When is my exam?",
    "Where do I live?",
    "What do I prefer?",
    "Which chapter did I find hard?",
    "What have I finished?",
    "Have I read chapter 3?",
    "How many points did I get?",
    "Do you remember my name?",
    "Can you remember my name?",
    "Could you tell me when my exam is?",
    "What did I read in May?",
    "能不能告诉我我的考试是哪天？",
    "你可以告诉我我叫什么吗？",
    "What do you know about me?",
    "What did I say about recall?",
    "Who am I?",
    "我叫什么？",
    "我是谁？",
    "我住在哪里？",
    "我在准备什么？",
    "我的考试是哪天？",
    "我最喜欢什么颜色？",
    "我读过哪几章？",
    "哪一章我觉得难？",
    "关于召回率我说过什么？",
    "你还记得我的名字吗？",
]
TO_THE_DOCUMENTS = [
    "How do I evaluate RAG?",
    "What should I look at first?",
    "What do I need for hybrid retrieval?",
    "When do I use HyDE?",
    "How can I improve my recall?",
    "Am I right that recall counts evidence?",
    "Can you tell me how to improve my recall?",
    "When may I use HyDE?",
    "What is HyDE?",
    "What is a memory?",
    "那我这个实验应该先看哪个指标？",
    "我该怎么优化？",
    "我要怎么准备考试？",
    "我的实验怎么评估？",
    "我们为什么需要记忆？",
    "我想知道什么是HyDE",
]


def test_a_document_that_names_no_day_does_not_say_when_my_exam_is(tmp_path):
    with Storage(tmp_path) as storage:
        rag = m12.MemoryRAG(storage)
        m11.shelve(rag.library, [("考试", "说错会造成损害的场合是考试。"), ("鸟", "苍鹭在清晨捕鱼。")])
        assert not rag.query("我的考试是哪天？").found
        m11.shelve(rag.library, [("考试", "我的考试是12月4日，地点待定。"), ("鸟", "苍鹭在清晨捕鱼。")])
        assert "12月4日" in rag.query("我的考试是哪天？").answer


@pytest.mark.parametrize("question", ABOUT_ME)
def test_a_question_only_the_learner_can_answer_is_known_as_such(question):
    assert about_me.is_asked(question)


@pytest.mark.parametrize("question", TO_THE_DOCUMENTS)
def test_a_question_for_advice_or_facts_goes_to_the_documents(question):
    assert not about_me.is_asked(question)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is my name?", "My name is Anna"),
        ("who am I", "我叫李明"),
        ("When is my exam?", "My exam is on 5 June"),
        ("Where do I live now?", "I moved to Lisbon"),
        ("What's my favourite colour?", "My favorite color is blue"),
        ("我叫什么名字？", "My name is Anna"),
        ("我现在住在哪里？", "我搬到北京了"),
        ("我的考试是哪天？", "考试在6月5日"),
        ("我的导师是谁？", "我的导师是王老师"),
        ("我最喜欢什么颜色？", "我最喜欢的颜色是蓝色"),
    ],
)
def test_the_slot_a_question_asks_for_is_the_one_the_statement_fills(question, told):
    assert slot_key(told) in about_me.slots_asked_for(question)


def test_a_question_for_no_single_value_names_no_slot():
    assert about_me.slots_asked_for("What am I preparing for?") == []


def test_the_value_that_was_asked_for_leads_and_what_is_only_near_is_left_out():
    value, near, far = (
        MemoryUse("a", "semantic", "My exam is on 5 June", 0.6, {about_me.BY_SLOT: 1.0}),
        MemoryUse("b", "semantic", "I prepare for the exam", 0.9, {}),
        MemoryUse("c", "semantic", "Exams tire me", 0.3, {}),
    )
    assert about_me.leading([near, value, far]) == [value]
    assert about_me.leading([near, far]) == [near]


# ---- In the conversation ----


@pytest.fixture
def storage(tmp_path):
    with Storage(tmp_path / "home", now=StoppedClock()) as storage:
        yield storage


@pytest.fixture
def rag(storage):
    rag = m12.MemoryRAG(storage)
    texts = [("Exams", "An exam in medicine is hard; my own exam name is a mystery to the chapter on exams.")]
    m11.shelve(rag.library, [*m12.PARAGRAPHS, *texts])
    return rag


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("My exam is on 12 March.", "When is my exam?", "You told me: “My exam is on 12 March.”"),
        ("My name is Anna.", "What is my name?", "You told me: “My name is Anna.”"),
        ("我叫李明。", "我叫什么？", "你说过：「我叫李明。」"),
        ("My name is Anna.", "我叫什么名字？", "你说过：「My name is Anna.」"),
        (
            "Remember: I found chapter 5 hard.",
            "Which chapter did I find hard?",
            "You told me: “I found chapter 5 hard.”",
        ),
        ("我住在北京。", "我住在哪里？", "你说过：「我住在北京。」"),
    ],
)
def test_what_the_learner_told_leads_and_documents_about_something_else_are_not_shown(rag, told, question, answer):
    rag.query(told)
    got = rag.query(question)
    assert (got.answer, got.found, got.citations, got.nearest) == (answer, True, [], [])


def test_a_document_that_speaks_of_the_same_is_shown_below(rag):
    rag.query("记住：Faithfulness 与 Recall 冲突时，我先保 Faithfulness。")
    got = rag.query("关于 Faithfulness 我说过什么？")
    assert got.answer == "你说过：「Faithfulness 与 Recall 冲突时，我先保 Faithfulness。」"
    assert [citation.heading_path for citation in got.citations] == ["取舍"]
    assert got.receipts[0].action == "refused"  # it was not answered from the document


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did I say about recall?", "You have not told me anything about this yet."),
        ("关于 Recall 我说过什么？", "这方面你还没有告诉过我。"),
    ],
)
def test_what_was_never_said_is_not_made_up_from_the_documents(rag, question, answer):
    got = rag.query(question)
    assert (got.answer, got.found, got.citations) == (answer, False, [])


def test_a_document_may_answer_what_was_never_told(rag):
    assert rag.query("What is my exam name?").citations[0].heading_path == "Exams"


def test_everything_that_is_known_is_told_newest_first(rag):
    for told in ("My name is Anna.", "I live in Rome.", "I moved to Lisbon."):
        rag.query(told)
    assert rag.query("What do you know about me?").answer.splitlines()[1:] == [
        "“I moved to Lisbon.”",
        "“My name is Anna.”",
    ]


@pytest.mark.parametrize(
    ("before", "now", "question", "answer"),
    [
        ("I am a nurse.", "I am a doctor now, not a nurse.", "What is my job?", "I am a doctor now, not a nurse."),
        ("我是护士。", "我现在是医生，不是护士了。", "我是做什么的？", "我现在是医生，不是护士了。"),
    ],
)
def test_a_new_job_takes_the_place_of_the_old_one_which_stays_in_history(rag, before, now, question, answer):
    rag.query(before)
    told = rag.query(now)
    assert told.receipts[0].action == "superseded" and before in told.answer
    assert [item.content for item in rag.semantic.list()] == [now]
    assert [item.content for item in rag.semantic.list(status="superseded")] == [before]
    got = rag.query(question).answer
    assert answer in got and before not in got


def test_what_was_true_then_is_asked_of_history(storage):
    rag = m12.MemoryRAG(storage)
    rag.query("I live in Rome.")
    storage.now.move(days=60)
    rag.query("I moved to Lisbon.")
    assert rag.query("Where do I live?").answer == "You told me: “I moved to Lisbon.”"
    assert "I live in Rome. (until" in rag.query("Where did I live last month?").answer
