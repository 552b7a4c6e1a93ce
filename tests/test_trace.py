from importlib import import_module

import pytest
import terminal_schemas
from jsonschema import Draft202012Validator
from screen import desk_at, said, said_as_json
from support import HashEmbedder, ScriptedLLM

from infrastructure import language
from infrastructure.errors import LLMUnavailable, UsageError
from infrastructure.lesson import StoppedClock
from infrastructure.storage import Storage
from study.desk import Desk

m13 = import_module("13_pdf_learning_assistant")
TIDES = """# Tides

The tide is caused by the moon, which pulls the water of the sea.

# Springs

A spring tide comes when sun and moon pull together.
"""


@pytest.fixture
def home(tmp_path):
    """home(llm) → a desk on the same folder, as after a restart."""
    open_now = []

    def sit_down(llm=None) -> Desk:
        while open_now:
            close(open_now.pop())
        storage = Storage(tmp_path / "home", embedder=HashEmbedder(), now=StoppedClock())
        assistant = m13.PDFLearningAssistant(storage, llm=llm)
        assistant.resume()
        desk = desk_at(assistant)
        open_now.append(desk)
        return desk

    yield sit_down
    while open_now:
        close(open_now.pop())


def close(desk: Desk) -> None:
    desk.assistant.close()
    desk.assistant.storage.close()


@pytest.fixture
def desk(home):
    desk = home()
    desk.assistant.load_text(TIDES, "tides.md")
    desk.assistant.storage.settle()
    return desk


def why(desk: Desk) -> str:
    """What /why shows, on one line."""
    return " ".join(said(desk, "why").split())


def told(desk: Desk):
    value = said_as_json(desk, "why")
    Draft202012Validator(terminal_schemas.WHY).validate(value)
    return value


def test_a_question_that_stands_alone_was_searched_as_it_is(desk):
    desk.assistant.ask("What causes the tide?")
    assert "As it was asked: the question stands alone." in why(desk)
    assert "By quoting the passages below; no model is set." in why(desk)


def test_a_question_that_leans_says_on_what(desk):
    desk.assistant.ask("What causes the tide?")
    desk.assistant.ask("那这个怎么解释？")
    value = told(desk)
    assert value["leans"] == "那" and value["background"] == ["What causes the tide?"]
    assert "With “What causes the tide?” added, because “那” points to something said before." in why(desk)


def test_each_source_has_its_legs_with_score_and_rank(desk):
    answer = desk.assistant.ask("What causes the tide, the moon?")
    first = told(desk)["sources"][0]
    assert (first["n"], first["document"], first["page"]) == (1, "tides.md", answer.citations[0].page)
    assert first["legs"]["words"][1] == first["legs"]["cosine"][1] == 1
    result = answer.trace["results"][0]
    assert first["legs"]["words"][0] == result["why"]["words"] and first["score"] == result["score"]
    assert f"{first['relevance']:.2f} {first['legs']['words'][0]:.2f} (1)" in why(desk)


def test_memories_that_were_found_are_told_from_those_that_were_used(desk):
    desk.assistant.add_note("The moon causes the tide twice a day.")
    desk.assistant.ask("How often does the moon cause the tide each day?")
    value = told(desk)
    assert value["memories"] and all({"relevance", "nudge"} <= memory["why"].keys() for memory in value["memories"])
    assert {memory["used"] for memory in value["memories"] if "twice" in memory["content"]} == {True}


def test_what_was_written_back_is_named_and_can_be_shown(desk):
    desk.assistant.ask("What causes the tide?")
    (receipt,) = told(desk)["receipts"]
    assert (receipt["action"], receipt["memory_type"]) == ("written", "episodic")
    assert desk.assistant.memories.find(receipt["memory_id"][:8]).content.startswith("Asked “What causes the tide?”")
    assert f"Written to episodic memory: {receipt['memory_id'][:8]}" in why(desk)


def test_what_was_refused_says_why(desk):
    desk.assistant.ask("How long does it take to boil an egg?")
    value = told(desk)
    assert not value["found"] and value["receipts"][0]["reason"] == "nothing found in the documents"
    assert "Not written to episodic memory: nothing found in the documents" in why(desk)
    assert "Not found: the best passage has a relevance of" in why(desk)


def test_something_told_was_not_searched_for(desk):
    desk.assistant.ask("My exam is on Friday.")
    value = told(desk)
    assert value["kind"] == "told" and value["receipts"][0]["action"] == "written"
    assert "Nothing: this asked nothing." in why(desk)


def test_sentences_of_a_model_that_no_source_supports_are_listed(desk):
    desk.assistant.use_model(
        ScriptedLLM("", "The tide is caused by the moon [1]. Bananas grow on the sea floor [1]. See [9].", default="")
    )
    desk.assistant.ask("What causes the tide?")
    value = told(desk)
    assert value["mode"] == "llm" and value["dropped"] == [9]
    assert [sentence for sentence in value["unsupported"] if "Bananas" in sentence]
    shown = why(desk)
    assert "Sentences that no source supports - Bananas grow" in shown and "[9]: no such source" in shown
    assert "Not written to episodic memory: some sentences are not supported" in shown


def test_a_model_that_failed_is_named_as_the_reason_for_quoting(desk):
    desk.assistant.use_model(ScriptedLLM(default=LLMUnavailable("too slow", reason="timeout")))
    desk.assistant.ask("What causes the tide?")
    assert told(desk)["llm_failure"] == "timeout" and "the model failed (timeout)" in why(desk)


class StopsListening:
    """Ctrl-C at the second piece of an answer."""

    def __init__(self) -> None:
        self.heard = ""

    def __call__(self, piece: str) -> None:
        self.heard += piece
        if len(self.heard) > 10:
            raise KeyboardInterrupt


def test_an_answer_that_was_stopped_is_in_the_transcript_as_a_part_and_in_no_memory(desk):
    desk.assistant.use_model(ScriptedLLM("", ["The tide is ", "caused by ", "the moon [1]."], default=""))
    with pytest.raises(KeyboardInterrupt):
        desk.assistant.ask("What causes the tide?", on_text=StopsListening())
    value = told(desk)
    assert value["partial"] and value["answer"] == "The tide is " and value["sources"]
    assert "until you stopped it" in why(desk) and "a part is no memory" in why(desk)
    assert desk.assistant.memories.page(status=None).total == 0


def test_after_a_restart_it_is_still_known_why(home, desk):
    desk.assistant.ask("What causes the tide?")
    before = told(desk)
    assert told(home()) == before


def test_a_command_of_its_own_tells_of_the_last_session(home, desk):
    desk.assistant.ask("What causes the tide?")
    again = home()
    again.assistant.new_session()
    with pytest.raises(UsageError, match="Nothing has been asked"):
        why(again)
    again.interactive = False
    assert "What causes the tide?" in why(again)


def test_it_is_told_in_chinese_too(desk):
    desk.assistant.ask("What causes the tide?")
    language.set_language("zh")
    shown = why(desk)
    assert "按原话检索：问题本身说得完整。" in shown and "写入情景记忆" in shown


def test_a_purged_document_leaves_nothing_of_what_was_offered_from_it(desk):
    answer = desk.assistant.ask("How long does it take to boil an egg?")
    assert any("moon" in citation.quote for citation in answer.nearest)
    desk.assistant.remove_document("tides.md", purge=True)
    assert told(desk)["sources"] == []
    files = [file for file in desk.assistant.storage.home.rglob("*") if file.is_file()]
    assert not [file for file in files if b"pulls the water" in file.read_bytes()]
