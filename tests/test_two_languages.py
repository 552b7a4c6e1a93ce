"""Screen and question may speak different languages. One rule: sentences of an answer that we word ourselves are in the
question's language; headings, hints and reasons around it are in the screen's. What is quoted stays as it was written."""

import io
from importlib import import_module
from pathlib import Path

import pytest

from infrastructure.console import Screen
from infrastructure.errors import LLMUnavailable
from infrastructure.language import set_language
from infrastructure.storage import Storage
from study.blocks import as_text
from study.desk import Desk

m12 = import_module("12_memory_enhanced_rag")
m13 = import_module("13_pdf_learning_assistant")

BOOK = "# Tides\n\nThe tide is caused by the moon, which pulls the sea.\n\n# 潮汐\n\n潮汐由月球引起，月球牵引海水。\n"
# What is told before, the question, and what its answer says in our own words.
EN = [
    ([], "What causes the tide?", "“The tide is caused by the moon"),
    ([], "Who won the chess championship?", "I found nothing about this in your documents."),
    ([], "thanks", "You're welcome. Ask your documents"),
    ([], "I live in Rome.", "Noted: I live in Rome."),
    (["I live in Rome."], "I moved to Lisbon.", "(replaces “I live in Rome.”)"),
    ([], "My favourite key is sk-abcdef1234567890abcdef", "Not stored: it holds a key."),
    (["I live in Rome."], "Where do I live?", "You told me: “I live in Rome.”"),
    ([], "What did I say about the sun?", "You have not told me anything"),
    (["I live in Rome.", "I moved to Lisbon."], "Where did I live on 1 January 2000?", ""),
    ([], "Which chapters are there?", "Tides (tides.md"),
]
ZH = [
    ([], "潮汐由什么引起？", "「潮汐由月球引起"),
    ([], "量子纠缠是什么？", "在你的资料里没有找到相关内容。"),
    ([], "谢谢", "不客气。可以提问"),
    ([], "我住在北京。", "已记下：我住在北京。"),
    (["我住在北京。"], "我搬到上海了。", "（取代“我住在北京。”）"),
    ([], "我最喜欢的密钥是 sk-abcdef1234567890abcdef", "没有保存：其中有密钥。"),
    (["我住在北京。"], "我住在哪里？", "你说过：「我住在北京。」"),
    ([], "关于太阳我说过什么？", "这方面你还没有告诉过我。"),
    (["I live in Rome."], "我住在哪里？", "你说过：「I live in Rome.」"),
]
FRAME = {
    "en": ("Nearest passages, not an answer:", "No language model is set", "Understood as: "),
    "zh": ("最接近的段落（不是回答）：", "未设置语言模型", "理解为："),
}


@pytest.fixture
def desk(tmp_path, clock):
    with Storage(tmp_path / "home", now=clock) as storage:
        assistant = m13.PDFLearningAssistant(storage)
        assistant.load_text(BOOK, "tides.md")
        yield Desk(Screen(io.StringIO(), io.StringIO()), None, assistant=assistant, interactive=True)


def shown(desk, question):
    """(the answer's text, everything else on the screen) for one question."""
    for stream in (desk.screen.stdout, desk.screen.stderr):
        stream.truncate(0)
        stream.seek(0)
    answer = desk.ask(question)
    screen = desk.screen.stdout.getvalue() + desk.screen.stderr.getvalue()
    return answer.answer, screen.replace(answer.answer, "", 1)


@pytest.mark.parametrize("screen", ["en", "zh"])
@pytest.mark.parametrize(("told", "question", "says"), [*EN, *ZH])
def test_what_an_answer_says_is_in_the_language_of_the_question(desk, screen, told, question, says):
    set_language(screen)
    for statement in told:
        desk.ask(statement)
    answer, around = shown(desk, question)
    assert says in answer
    other = "zh" if screen == "en" else "en"
    assert not any(phrase in around for phrase in FRAME[other])


@pytest.mark.parametrize("screen", ["en", "zh"])
@pytest.mark.parametrize(
    "question", ["Which sea king won the chess championship of 1972?", "月球探测器锦标赛的选手和奖金由哪些公司提供？"]
)
def test_the_heading_over_the_nearest_passages_is_the_screens(desk, screen, question):
    set_language(screen)
    assert FRAME[screen][0] in shown(desk, question)[1]


@pytest.mark.parametrize("screen", ["en", "zh"])
@pytest.mark.parametrize(
    ("question", "next_one"),
    [("What causes the tide?", "And how is that measured?"), ("潮汐由什么引起？", "那它怎么测量？")],
)
def test_hints_and_what_a_question_was_taken_to_mean_are_told_in_the_screens_language(desk, screen, question, next_one):
    set_language(screen)
    _, around = shown(desk, question)
    assert FRAME[screen][1] in around
    assert FRAME[screen][2] in shown(desk, next_one)[1]


@pytest.mark.parametrize(("screen", "reason"), [("en", "it holds a key"), ("zh", "其中有密钥")])
def test_a_receipts_reason_is_the_screens_whatever_the_message_speaks(desk, screen, reason):
    set_language(screen)
    for message in ("My favourite key is sk-abcdef1234567890abcdef", "我最喜欢的密钥是 sk-abcdef1234567890abcdef"):
        assert desk.assistant.ask(message).receipts[0].reason == reason


@pytest.mark.parametrize(
    ("question", "until"), [("Where did I live last month?", "(until 2"), ("我上个月住在哪里？", "（到 2")]
)
def test_that_something_was_true_until_then_is_said_in_the_questions_language(desk, clock, question, until):
    for statement in ("I live in Rome.", "我住在罗马。"):
        desk.ask(statement)
    clock.move(days=60)
    for statement in ("I moved to Lisbon.", "我搬到里斯本了。"):
        desk.ask(statement)
    assert until in desk.ask(question).answer


def test_a_model_that_fails_is_explained_in_the_screens_language(desk):
    class Failing:
        name = "failing"

        def stream(self, *args, **options):
            raise LLMUnavailable("The key was refused.", reason="auth")

        complete = stream

    desk.assistant.use_model(Failing())
    answer = desk.assistant.ask("潮汐由什么引起？", use_mqe=False)
    assert answer.note == "The key was refused." and "「潮汐由月球引起" in answer.answer


@pytest.mark.parametrize(
    ("screen", "words"), [("en", ("write-back", "episodic", "refused")), ("zh", ("写回", "情景", "未写入"))]
)
def test_the_lesson_has_its_frame_in_the_screens_language_and_its_answers_in_that_of_the_dialogue(
    tmp_path, screen, words
):

    set_language(screen)
    parts = list(m12.lesson(Path(tmp_path)))
    text = "\n".join(part if isinstance(part, str) else as_text(part) for part in parts)
    assert all(word in text for word in words)
    assert "在你的资料里没有找到相关内容。" in text
    assert screen == "en" or not any(word in text for word in ("episodic", "refused", "written", "write-back"))
