"""The commands quiz and cards, as they are typed and as programs use them."""

import doctest
import io
import json
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest
from fake_assistant import lesson
from support import ScriptedLLM

from infrastructure.cards import Draft
from infrastructure.console import Screen
from infrastructure.errors import UsageError
from infrastructure.language import set_language
from infrastructure.storage import Storage
from study import learning, learning_views
from study.arguments import parse
from study.commands import find
from study.desk import Desk

m13 = import_module("13_pdf_learning_assistant")
DATA = Path(__file__).parent / "data"
BOOK = """# Decay

The half-life is 24 hours: then half is left.

# Memories

Recall is the share of what was found in the end.
"""


@pytest.fixture
def assistant(assistant):
    """Has the book."""
    assistant.load_text(BOOK, "guide.md")
    return assistant


class Keyboard:
    """Answers in turn, then the end of input; an exception stands for a key. `asked` are the prompts."""

    def __init__(self, *lines):
        self.lines, self.asked = list(lines), []

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        if isinstance(line, type):
            raise line
        return line


def run(assistant, words: str | list[str], *lines, as_json: bool = False, width: int = 80):
    """(exit code, what was shown or the JSON, the keyboard)."""
    out, keyboard = io.StringIO(), Keyboard(*lines)
    desk = Desk(Screen(out, io.StringIO(), json=as_json, color=False, width=width), lesson, assistant=assistant)
    desk.ask_line = keyboard
    name, *rest = words.split() if isinstance(words, str) else words
    command = find(name)
    try:
        code = command.run(desk, parse(command, rest))
    except KeyboardInterrupt:
        code = 130
    return code, json.loads(out.getvalue()) if as_json else out.getvalue(), keyboard


def valid(value, name: str) -> None:
    jsonschema.validate(value, json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8")))


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(learning).failed == 0


# ---- In a terminal ----


def test_one_question_one_answer_then_the_verdict_with_page_and_quotation_and_when_it_comes_back(assistant):
    code, shown, keyboard = run(assistant, "quiz half-life --count 1", "24", "")
    assert code == 0 and len(keyboard.asked) == 2
    for said in ("1/1  guide.md", "Fill the gap:", "The half-life is ____ hours", "Right.", "“The half-life is 24 hours",
                 "Saved as “good”; it comes back in 10 minutes.", "1 of 1 known."):  # fmt: skip
        assert said in shown
    assert [review.rating for review in assistant.tutor.cards.reviews()] == [3]


def test_the_same_in_chinese(assistant):
    set_language("zh")
    _, shown, keyboard = run(assistant, "quiz half-life --count 1", "25", "2")
    for said in ("填空：", "还没有答对。答案：24", "已记为「重来」，1 分钟后再考。", "已记为「困难」，6 分钟后再考。"):
        assert said in shown
    assert "直接回车看答案" in keyboard.asked[0] and "1 重来 2 困难 3 良好 4 轻松" in keyboard.asked[1]


def test_the_heading_is_shown_unless_it_is_the_answer(assistant):
    _, shown, _ = run(assistant, "quiz --count 5")
    assert "guide.md · Decay" in shown
    _, shown, _ = run(assistant, "quiz recall --count 1")
    assert "Memories" in shown
    assistant.load_text("# Entropy\n\nEntropy is a measure of how much disorder there is.\n", "heat.md")
    _, shown, _ = run(assistant, "quiz disorder --count 1")
    assert "Which term belongs here?" in shown and "Entropy" not in shown


@pytest.mark.parametrize("key", [KeyboardInterrupt, EOFError, "/stop", "/quit", "／stop", "quit", "exit", "/help"])
def test_leaving_in_the_middle_keeps_every_grade(assistant, tmp_path, clock, key):
    code, shown, _ = run(assistant, "quiz --count 2", "24", "", key)
    assert code == (130 if key is KeyboardInterrupt else 0)
    assert "Stopped after 1 of 2; 1 known, all saved." in shown
    with Storage(tmp_path / "home", now=clock) as again:
        assert len(m13.PDFLearningAssistant(again).tutor.cards.reviews()) == 1


def test_a_command_that_ends_a_quiz_in_the_session_is_obeyed(assistant):
    desk = Desk(Screen(out := io.StringIO(), io.StringIO(), color=False, width=80), lesson, assistant=assistant)
    desk.interactive, desk.ask_line = True, Keyboard("/docs")
    find("quiz").run(desk, parse(find("quiz"), []))
    assert "Nothing answered" in out.getvalue() and "guide.md" in out.getvalue().split("Nothing answered")[1]
    assert assistant.tutor.cards.reviews() == []


def test_ctrl_c_in_a_session_at_a_terminal_is_told_once(assistant, monkeypatch):
    monkeypatch.setattr(Desk, "can_be_asked", True)
    desk = Desk(Screen(out := io.StringIO(), io.StringIO(), color=False, width=80), lesson, assistant=assistant)
    desk.interactive, desk.ask_line = True, Keyboard("24", "", KeyboardInterrupt)
    assert find("quiz").run(desk, parse(find("quiz"), ["--count", "2"])) == 0
    assert out.getvalue().count("Stopped") == 1


def test_a_letter_nobody_offered_and_a_grade_nobody_knows_are_asked_again(assistant):
    (card,) = assistant.quiz("half-life", count=1).cards
    assistant.tutor.cards.edit(card.card_id, options=("24", "36", "48"))
    _, _, keyboard = run(assistant, "quiz half-life --count 1", "E", "A", "9", "4")
    assert [prompt[:3] for prompt in keyboard.asked] == ["A–C", "A–C", "Ent", "Ent"] and "Ctrl-C" in keyboard.asked[0]
    assert [review.rating for review in assistant.tutor.cards.reviews()] == [4]


def test_a_slip_in_a_command_is_no_answer(assistant):
    run(assistant, "quiz half-life --count 1", "/hepl", "24", "")
    assert [review.rating for review in assistant.tutor.cards.reviews()] == [3]


def test_an_answer_just_given_is_not_said_again(assistant):
    assert "The answer:" not in run(assistant, "quiz half-life --count 1", "24", "")[1]
    set_language("zh")
    assert run(assistant, "quiz --count 1", "", "")[1].count("答案") == 1


def test_leaving_at_the_prompt_for_a_grade_keeps_the_programs_own(assistant):
    run(assistant, "quiz half-life --count 1", "24", KeyboardInterrupt)
    assert [review.rating for review in assistant.tutor.cards.reviews()] == [3]


def test_an_empty_answer_shows_it_and_counts_as_not_known(assistant):
    _, shown, _ = run(assistant, "quiz half-life --count 1", "", "")
    assert "Here it is. The answer: 24" in shown and "0 of 1 known." in shown


def test_without_anything_to_ask_the_next_step_is_said(assistant, tmp_path, clock):
    assert "Nothing about quantum to ask" in run(assistant, "quiz quantum")[1]
    assert "Nothing is due." in run(assistant, "quiz --due")[1]
    for card in assistant.quiz(count=9).cards:
        assistant.tutor.answer(card.card_id, rating=4)
    assert "Every sentence that makes a question has one" in run(assistant, "quiz")[1]
    with Storage(tmp_path / "empty", now=clock) as storage:
        assert "load a document" in run(m13.PDFLearningAssistant(storage), "quiz")[1]


def test_what_a_model_made_and_was_dropped_is_told_with_the_reason(assistant):
    bad = {"passage": 1, "question": "What?", "options": ["a", "a", "a", "a"], "answer": "a", "quote": "x"}
    assistant.use_model(ScriptedLLM(default=json.dumps([bad])))
    out, err = io.StringIO(), io.StringIO()
    desk = Desk(Screen(out, err, color=False, width=80), lesson, assistant=assistant, ask_line=Keyboard())
    find("quiz").run(desk, parse(find("quiz"), []))
    assert "Dropped: “What?” its options are the same" in err.getvalue()


# ---- For programs ----


def test_questions_as_json_say_no_answer_and_an_answer_by_id_is_graded(assistant):
    code, made, _ = run(assistant, "quiz --count 2", as_json=True)
    valid(made, "quiz")
    assert code == 0 and len(made["questions"]) == 2
    assert not {"answer", "quote", "heading_path"} & made["questions"][0].keys()
    card_id = next(question["card_id"] for question in made["questions"] if "half-life" in question["question"])
    _, graded, _ = run(assistant, ["quiz", "--answer", card_id, "24", "hours"], as_json=True)
    valid(graded, "quiz")
    assert (graded["verdict"], graded["grade"], graded["given"]) == ("right", "good", "24 hours")
    _, graded, _ = run(assistant, ["quiz", "--answer", card_id, "--grade", "hard"], as_json=True)
    valid(graded, "quiz")
    assert (graded["verdict"], graded["grade"]) == ("", "hard") and len(assistant.tutor.cards.reviews()) == 2


def test_an_answer_needs_a_text_or_a_grade_and_a_grade_needs_a_card(assistant):
    (card,) = assistant.quiz(count=1).cards
    for words in (["quiz", "--answer", card.card_id], ["quiz", "--grade", "good"], ["quiz", "--answer", "zz", "x"]):
        with pytest.raises(UsageError):
            run(assistant, words)
    assert assistant.tutor.cards.reviews() == []


@pytest.mark.parametrize(
    "words", ["quiz --count 0", "quiz --count 51", "quiz --count many", "quiz --grade best", "cards x"]
)
def test_a_senseless_number_or_word_is_refused(assistant, words):
    with pytest.raises(UsageError):
        run(assistant, words)


def test_a_full_width_number_is_a_number(assistant):
    assert len(run(assistant, "quiz --count １", as_json=True)[1]["questions"]) == 1


# ---- Cards ----


def many(assistant, count: int) -> list:
    drafts = [Draft("cloze", f"Question {n} ____", str(n), f"Question {n} {n}", f"p{n}", document_id="gone",
                    document="old.pdf", page=3) for n in range(count)]  # fmt: skip
    return assistant.tutor.cards.add(drafts)


def test_cards_are_listed_page_by_page(assistant):
    many(assistant, 45)
    _, listed, _ = run(assistant, "cards --page 3", as_json=True)
    valid(listed, "cards")
    assert (listed["total"], listed["page"], listed["pages"], len(listed["cards"])) == (45, 3, 3, 5)
    assert "45 cards, page 1 of 3" in run(assistant, "cards")[1]
    with pytest.raises(UsageError, match="only 3 pages"):
        run(assistant, "cards --page 4")
    with pytest.raises(UsageError, match="--page 2"):
        run(assistant, "cards list 2")


def test_a_card_whose_document_is_gone_says_so(assistant):
    many(assistant, 1)
    assert "(source removed)" in run(assistant, "cards")[1]
    assert run(assistant, "cards", as_json=True)[1]["cards"][0]["source_removed"]


def test_a_card_is_edited_suspended_and_resumed_by_the_beginning_of_its_id(assistant):
    (card,) = many(assistant, 1)
    short = card.card_id[:8]
    assert "Changed" in run(assistant, ["cards", "edit", short, "--question", "How many?", "--answer", "none"])[1]
    assert (assistant.tutor.cards.get(card.card_id).question, assistant.tutor.cards.get(card.card_id).answer) == (
        "How many?", "none",
    )  # fmt: skip
    assert "Suspended" in run(assistant, ["cards", "suspend", short])[1] and "suspended" in run(assistant, "cards")[1]
    assert "Back" in run(assistant, ["cards", "resume", short])[1]
    with pytest.raises(UsageError, match="Which card"):
        run(assistant, "cards edit")


def test_no_cards_say_how_to_make_some(assistant):
    assert "type quiz" in run(assistant, "cards")[1]
    _, listed, _ = run(assistant, "cards", as_json=True)
    valid(listed, "cards")


# ---- Looks ----


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_is_wider_than_the_terminal(assistant, width, lang):
    from rich.cells import cell_len

    set_language(lang)
    (card,) = assistant.tutor.cards.add([Draft(
        "choice", "检索增强生成的问题很长，需要换行才能放下，" * 4, "答案是这个选项", "答案是这个选项" * 30, "p",
        ("答案是这个选项", "b" * 70, "c", "d"), ("other",), document_id="d",
        document="检索增强生成导论 lecture notes.pdf", page=3, page_label="iv",
    )])  # fmt: skip
    for words, lines in (("quiz --count 1", ["x", "2"]), ("cards", [])):
        for line in run(assistant, words, *lines, width=width)[1].splitlines():
            assert cell_len(line.rstrip()) <= width
    assert learning_views.LETTERS.startswith("ABCD") and card.memory.is_new
