import doctest
import errno
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_assistant import PASSWORD, FakeAssistant, lesson, opener

from infrastructure import language
from infrastructure.errors import UsageError
from study import arguments, commandline, commands, desk, paths
from study.arguments import parse
from study.commands import COMMANDS, find
from study.desk import PROGRAM
from study.paths import expand, local_path, split_words, text_of

PROJECT = Path(__file__).resolve().parent.parent
HEAVY = ("numpy", "rich", "chromadb", "litellm", "sklearn", "pypdf", "prompt_toolkit", "torch", "sentence_transformers",
         "pypdfium2", "pdfplumber")  # fmt: skip


pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def assistant():
    return FakeAssistant()


def terminal_stream(text: str = "", *, terminal: bool = False) -> io.TextIOWrapper:
    stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", newline="\n")
    stream.isatty = lambda: terminal
    return stream


@pytest.fixture
def run(assistant, tmp_path):
    """run(*words) → (exit code, stdout, stderr), with a home of its own and nobody at the keyboard."""

    def run(*words: str, stdin: str | None = "", opened=None) -> tuple[int, str, str]:
        out, err = terminal_stream(), terminal_stream()
        given = None if stdin is None else terminal_stream(stdin)
        code = commandline.run(
            ["--home", str(tmp_path / "home"), *words],
            open_assistant=opened or opener(assistant), lesson=lesson, stdin=given, stdout=out, stderr=err,
        )  # fmt: skip
        return code, *(stream.buffer.getvalue().decode() for stream in (out, err) if not stream.flush())

    return run


@pytest.fixture
def files(tmp_path):
    """Makes empty files in the current folder."""

    def make(*names: str) -> None:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x", encoding="utf-8")

    return make


def program(*words: str, env: dict[str, str] | None = None, script: str = "tests/fake_assistant.py", **options):
    """The command line in a process of its own."""
    usual = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    return subprocess.run(
        [sys.executable, str(PROJECT / script), *words],
        capture_output=True, timeout=60, env={**usual, **(env or {})}, **options,
    )  # fmt: skip


@pytest.mark.parametrize("module", [arguments, commandline, commands, desk, paths])
def test_the_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


# ---- Start-up ----


@pytest.mark.parametrize("script", ["tests/fake_assistant.py", "13_pdf_learning_assistant.py"])
def test_help_imports_nothing_heavy(script):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", PROJECT / script, "--help"], capture_output=True, text=True
    )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert done.returncode == 0 and "study" in imported and imported.isdisjoint(HEAVY)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not count the time of child processes")
def test_help_takes_less_than_half_a_second_of_the_processor():
    before = os.times()
    assert program("--help", script="13_pdf_learning_assistant.py").returncode == 0
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert 0 < spent < 0.5


# ---- Help ----


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_lists_every_command_in_the_language_of_the_screen(run, lang):
    code, out, err = run("--lang", lang, "--help")
    assert code == 0 and err == ""
    for command in COMMANDS:
        if command.where == "both":
            assert re.search(rf"^  {re.escape(command.synopsis)}\s", out, re.M) and command.help[lang == "zh"] in out


def test_chinese_help_has_no_english_headings(run):
    out = run("ask", "--help", "--lang=zh")[1]
    assert "用法：" in out and "参数：" in out
    assert not any(word in out.lower() for word in ("usage", "options", "positional", "show this"))


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_help_fits_the_terminal(run, monkeypatch, columns):
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", columns)
    for lang in ("en", "zh"):
        for command in COMMANDS:
            out = run("--lang", lang, command.name if command.where == "both" else "--help", "--help")[1]
            lines = [line for line in out.splitlines() if "python 13_" not in line]
            assert max(map(cell_len, lines)) <= int(columns), out


def test_help_as_a_word_is_help(run):
    assert run("help")[1] == run("--help")[1]


def test_version(run):
    assert run("--version")[1] == "memory-rag-study-helper 0.1.0\n"


# ---- Options ----


@pytest.mark.parametrize(
    "words", [["--home", "MINE", "ask", "q"], ["ask", "q", "--home", "MINE"], ["ask", "--home=MINE", "q"]]
)
def test_the_home_is_taken_from_either_side_of_the_command(words, assistant, tmp_path):
    code = commandline.run(
        words,
        open_assistant=opener(assistant),
        lesson=lesson,
        stdin=None,
        stdout=terminal_stream(),
        stderr=terminal_stream(),
    )
    assert code == 0 and assistant.settings.home == tmp_path / "MINE"


def test_program_options_reach_the_settings(run, assistant):
    run("ask", "q", "--model", "ollama/x", "--embedder", "none", "--download", "--debug", "--no-color", "--lang", "zh")
    settings = assistant.settings
    assert (settings.llm_model, settings.embedder, settings.language) == ("ollama/x", "none", "zh")
    assert settings.download and settings.debug and settings.no_color


def test_ask_passes_its_options_on(run, assistant):
    run("ask", "q", "--top-k", "3", "--no-mqe", "--hyde", "--no-memory", "--session", "s7")
    assert assistant.calls[-2:] == [
        ("resume", "s7"),
        ("ask", "q", {"top_k": 3, "use_mqe": False, "use_hyde": True, "use_memory": False}),
    ]


def test_ask_by_default_widens_the_search_and_uses_memory(run, assistant):
    run("ask", "q")
    assert assistant.calls == [
        ("resume", None),
        ("ask", "q", {"top_k": 5, "use_mqe": True, "use_hyde": False, "use_memory": True}),
    ]


def test_a_question_needs_no_quotes_and_may_surround_options(run, assistant):
    run("ask", "what", "is", "--top-k", "3", "RAG?")
    assert assistant.calls[-1][1] == "what is RAG?"


def test_after_two_dashes_everything_is_text(run, assistant):
    run("note", "--", "--json", "-x is negative")
    assert assistant.calls[-1] == ("note", "--json -x is negative", "general")


# ---- Typed wrongly: 2 ----


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lod", "x.pdf"], "did you mean load?"),
        (["何" * 300], "to ask it"),
        (["hello"], "no command and no file named hello"),
        (["What is RAG?"], 'ask "What is RAG?"'),
        (["什么是RAG"], 'ask "什么是RAG"'),
        (["ask"], "QUESTION is missing; for example: python 13_pdf_learning_assistant.py ask"),
        (["ask", "q", "--topk", "3"], "There is no option --topk; did you mean --top-k?"),
        (["ask", "q", "--top-k"], "--top-k needs a value"),
        (["ask", "q", "--top-k", "0"], "--top-k must be a number from 1 to 50, not '0'"),
        (["ask", "q", "--top-k", "many"], "not 'many'"),
        (["stats", "--json=1"], "--json takes no value"),
        (["stats", "more"], "more is too much here"),
        (["ask", "q", "--lang", "fr"], "--lang must be en or zh, not 'fr'"),
        (["quit"], "no command"),
    ],
)
def test_a_word_that_makes_no_sense_is_refused_in_one_sentence(run, assistant, words, said):
    code, out, err = run(*words)
    assert code == 2 and out == "" and said in err and err.count("\n") == 1
    assert assistant.calls == []


def test_errors_are_translated(run):
    assert run("--lang", "zh", "ask")[2].startswith("缺少 QUESTION；例如：")
    assert "没有选项 --topk，是不是要用 --top-k？" in run("ask", "q", "--topk", "3", "--lang", "zh")[2]
    assert "没有名为 lod 的命令或文件" in run("--lang=zh", "lod")[2]


def test_full_width_digits_are_digits(run, assistant):
    run("ask", "q", "--top-k", "３")
    assert assistant.calls[-1][2]["top_k"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--foo"], f"There is no option --foo; for example: {PROGRAM} samples/memory_rag_guide.pdf\n"),
        (["export"], f"KIND is missing; for example: {PROGRAM} export anki cards.apkg\n"),
        (["--lang", "zh", "export", "foo"], "KIND 应为 anki, markdown, json 之一，不能是 'foo'；"),
        (["--lang", "zh", "cards", "foo"], "ACTION 应为 list, edit, suspend, resume 之一，不能是 'foo'；"),
    ],
)
def test_what_is_wrong_is_said_in_the_language_of_the_screen_with_an_example_to_copy(run, words, said):
    code, _, err = run(*words)
    assert code == 2 and err.startswith(said)


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "It must be en or zh, not 'fr'; "), ("zh", "只能是 en 或 zh，不能是 'fr'；")]
)
def test_a_language_nobody_speaks_is_refused_without_saying_its_choices_twice(lang, said):
    language.set_language(lang)
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        parse(find("lang"), ["fr"], in_session=True)


def test_a_missing_file_is_one_sentence_and_1(run, assistant):
    code, out, err = run("nosuch.pdf")
    assert (code, out) == (1, "") and err.startswith("There is no file nosuch.pdf") and err.count("\n") == 1
    assert assistant.calls == []


def test_a_file_named_like_a_command_needs_a_dot_and_slash(run, assistant, files):
    files("load", "stats")
    assert run("load")[2].endswith("For the file named load, write ./load\n")
    assert "write ./stats" in run("stats")[2]
    assert run("./load")[0] == 0
    assert assistant.calls[0][:2] == ("load", "load")


# ---- Streams and exit codes ----


def test_data_is_on_stdout_and_warnings_on_stderr(run):
    code, out, err = run("ask", "q")
    assert code == 0 and out.startswith("You asked: q [1]\n\n[1] guide.pdf, p. 3 (PDF page 6)")
    assert err == "No model is set.\n"


def test_not_in_your_documents_is_no_failure(run):
    code, out, err = run("ask", "unknown")
    assert code == 0 and "Nearest passages, not an answer:" in out
    assert "There are no documents yet; load one: python 13_pdf_learning_assistant.py load" in err


def test_an_answer_that_may_stand_on_an_unread_page_says_so(run, files, assistant):
    files("a.pdf")
    run("load", "a.pdf")
    assert run("ask", "unknown")[2] == ""
    assistant._documents[0] = replace(assistant._documents[0], silent_pages=5)
    assert "5 of 12 pages of a.pdf have no text that can be searched: it may stand there." in run("ask", "unknown")[2]


def test_json_is_one_object_and_nothing_else(run):
    code, out, err = run("ask", "检索？", "--json")
    answer = json.loads(out)
    assert code == 0 and answer["question"] == "检索？" and "检索" in out
    assert answer["citations"][0] == {
        "n": 1, "document": "guide.pdf", "page": 6, "page_label": "3", "heading_path": "3 Retrieval > 3.2 HyDE",
        "quote": "HyDE searches with\na supposed answer.",
    }  # fmt: skip
    assert err == "No model is set.\n"


@pytest.mark.parametrize("words", [["stats"], ["docs"], ["note", "x"], ["review", "x"], ["lesson"]])
def test_every_command_speaks_json(run, words):
    code, out, _ = run("--json", *words)
    assert code == 0 and isinstance(json.loads(out), dict)


@pytest.mark.parametrize(
    ("words", "code"), [(["ask"], 2), (["ask", "crash"], 1), (["nosuch.pdf"], 1), (["remove", "x"], 2), ([], 2)]
)
def test_a_failure_in_json_is_an_object_too(run, words, code):
    exit_code, out, err = run(*words, "--json")
    assert exit_code == code and json.loads(out) == {"error": err.strip()}


def test_an_unexpected_error_is_one_sentence_that_names_debug(run):
    code, _, err = run("ask", "crash")
    assert code == 1 and "boom" in err and "--debug" in err and "Traceback" not in err
    assert "Traceback" in run("ask", "crash", "--debug")[2]


def test_a_full_disk_is_no_fault_of_the_program():
    assert (
        desk.unexpected(OSError(errno.ENOSPC, "No space left on device"))
        == "The disk is full; free some space and try again."
    )


def test_an_error_of_the_learners_is_shown_as_it_is(run):
    assert run("ask", "refused") == (1, "", "The model refused; try again.\n")


def test_interrupted_is_130(run):
    assert run("ask", "interrupt")[0] == 130
    code, out, _ = run("ask", "interrupt", "--json")
    assert code == 130 and json.loads(out) == {"error": "Interrupted; what was done is kept."}


def test_a_home_that_cannot_be_opened_is_one_sentence(run):
    def locked(settings):
        raise UsageError("The home is read-only; choose another with --home.")

    assert run("stats", opened=locked) == (2, "", "The home is read-only; choose another with --home.\n")


def test_foreign_text_is_never_markup(run):
    assert "[red]x[/] \\[b]" in run("ask", "[red]x[/] \\[b]\x1b[31m")[1]


def test_a_pipe_that_closes_is_left_in_silence():
    command = f"{sys.executable} {PROJECT / 'tests/fake_assistant.py'} lesson --lang en | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert done.stderr == b""


@pytest.mark.parametrize(
    "env",
    [
        {"LANG": "C"},
        {"PYTHONIOENCODING": "gbk"},
        {"LC_ALL": "POSIX"},
        {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
    ],
)
def test_old_consoles_survive(env, tmp_path):
    done = program("--home", str(tmp_path), "ask", "😀 检索", env=env)
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    done = program("--home", str(tmp_path), "ask", "😀 检索", "--json", env=env)
    assert json.loads(done.stdout.decode())["question"] == "😀 检索"


def test_no_input_is_a_clean_end(tmp_path):
    for stdin in (subprocess.DEVNULL, subprocess.PIPE):
        done = program("--home", str(tmp_path), stdin=stdin)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# ---- Loading ----


def test_one_bad_file_does_not_stop_the_rest(run, files):
    files("a.pdf", "broken.pdf", "c.pdf")
    code, out, err = run("load", "a.pdf", "broken.pdf", "nosuch.pdf", "c.pdf")
    assert code == 1
    told = [line.split() for line in out.splitlines() if ".pdf" in line]
    assert [row[:2] for row in told] == [
        ["a.pdf", "loaded"], ["broken.pdf", "failed"], ["nosuch.pdf", "failed"], ["c.pdf", "loaded"]
    ]  # fmt: skip
    assert out.endswith("2 loaded, 2 failed.\n")
    assert "broken.pdf cannot be read" in err and "no file nosuch.pdf" in err


def test_loading_one_file_says_one_line(run, files):
    files("a.pdf")
    assert run("load", "a.pdf") == (0, "a.pdf: loaded · 12 pages, 34 passages\n", "")
    assert run("load", "a.pdf")[1].startswith("a.pdf: already here")


def test_load_in_json_names_what_failed(run, files):
    files("a.pdf", "broken.pdf")
    code, out, _ = run("load", "a.pdf", "broken.pdf", "--json")
    told = json.loads(out)
    assert code == 1 and told["error"] == "1 of 2 files could not be loaded."
    assert told["documents"][0]["action"] == "loaded" and "error" in told["documents"][1]


def test_load_waits_for_the_vectors_unless_nothing_was_loaded(run, files, assistant):
    run("load", "nosuch.pdf")
    assert ("settle",) not in assistant.calls
    files("a.pdf")
    run("load", "a.pdf")
    assert assistant.calls[-1] == ("settle",)


def test_a_password_is_taken_from_the_command_line_and_not_asked_of_a_pipe(run, files, assistant):
    files("locked.pdf")
    code, _, err = run("load", "locked.pdf")
    assert code == 1 and "protected by a password" in err and len(assistant.calls) == 1
    assert run("load", "locked.pdf", "--password", PASSWORD)[0] == 0


@pytest.mark.parametrize(("typed", "tries"), [(["no", PASSWORD], 3), (["no"] * 5, 4), ([""], 1)])
def test_a_password_is_asked_at_most_three_times(files, assistant, typed, tries, tmp_path):
    files("locked.pdf")
    answers = iter(typed)
    place = desk.Desk(
        commandline.Screen(terminal_stream(), terminal_stream()), lesson, terminal_stream(terminal=True),
        assistant=assistant, ask_password=lambda prompt: next(answers),
    )  # fmt: skip
    place.attempt(lambda: place.load(tmp_path / "locked.pdf") and 0)
    assert len([call for call in assistant.calls if call[0] == "load"]) == tries


# ---- Which files? ----


def test_a_folder_gives_its_readable_files_in_natural_order(files):
    files("b/ch10.pdf", "b/ch2.PDF", "b/deep/notes.md", "b/picture.png", "b/.git/x.md")
    assert [path.name for path in expand(["b"])] == ["ch2.PDF", "ch10.pdf", "notes.md"]


def test_a_locked_folder_is_named_beside_the_files_that_can_be_read(files, monkeypatch):
    files("b/ch1.pdf", "b/locked/ch2.pdf")
    monkeypatch.setattr(paths.os, "access", lambda path, _mode: path.name != "locked")
    first, error = expand(["b"])
    assert first == Path("b/ch1.pdf") and "b/locked cannot be opened" in str(error).replace("\\", "/")


def test_patterns_are_expanded_when_the_shell_has_not(files):
    files("ch1.pdf", "ch2.pdf", "a[1].pdf")
    assert expand(["ch*.pdf"]) == [Path("ch1.pdf"), Path("ch2.pdf")]
    assert expand(["a[1].pdf"]) == [Path("a[1].pdf")]


def test_a_file_named_twice_is_loaded_once(files):
    files("a.pdf")
    assert expand(["a.pdf", "*.pdf"]) == [Path("a.pdf")]


def test_an_empty_folder_does_not_stop_the_rest(run, files):
    Path("empty").mkdir()
    files("a.pdf")
    code, out, err = run("load", "empty", "*.doc", "a.pdf")
    assert code == 1 and "1 loaded, 2 failed." in out
    assert "There is no file in empty" in err and "No file matches *.doc" in err


@pytest.mark.parametrize(
    "typed",
    [
        r"my\ 笔记\ \(1\).pdf",
        "'my 笔记 (1).pdf'",
        '"my 笔记 (1).pdf"',
        "my 笔记 (1).pdf",
        "my%20{}%20(1).pdf",
        "“my 笔记 (1).pdf”",
    ],
)
def test_a_dropped_file_is_understood_however_the_terminal_types_it(files, tmp_path, typed):
    files("my 笔记 (1).pdf")
    if "%20" in typed:
        typed = (tmp_path / "my 笔记 (1).pdf").as_uri()
    assert [path.name for path in expand(split_words(typed))] == ["my 笔记 (1).pdf"]


def test_a_name_with_an_apostrophe_is_understood(files):
    files("it's.pdf")
    for typed in ("it's.pdf", r"'it'\''s.pdf'", '"it\'s.pdf"'):
        assert expand(split_words(typed)) == [Path("it's.pdf")]


def test_several_files_may_be_separated_by_commas(files):
    files("a.pdf", "b.pdf")
    assert expand(split_words("a.pdf，b.pdf")) == [Path("a.pdf"), Path("b.pdf")]


def test_a_windows_path_keeps_its_backslashes():
    assert split_words(r"C:\Users\li\notes.pdf D:\资料\a.pdf") == [r"C:\Users\li\notes.pdf", r"D:\资料\a.pdf"]


def test_a_tilde_of_nobody_is_an_ordinary_name():
    assert local_path("~nobody-here/x.pdf") == Path("~nobody-here/x.pdf")


def test_free_text_keeps_its_spaces_and_quotes():
    assert text_of(split_words('he said  "no"\nand left')) == 'he said  "no"\nand left'


# ---- The other commands ----


def test_a_note_keeps_its_concept(run, assistant):
    code, out, _ = run("note", "先看 Recall", "--concept", "评估")
    assert (code, out) == (0, "Noted under “评估”.\n")
    assert assistant.calls[-1] == ("note", "先看 Recall", "评估")


def test_a_note_that_is_refused_is_a_failure(run):
    code, out, _ = run("note", "sk-1234", "--json")
    assert code == 1 and json.loads(out)["error"] == "it holds a secret"


def test_docs_says_how_to_begin_when_there_are_none(run):
    code, out, err = run("docs")
    assert (code, out) == (0, "No documents yet.\n") and "load" in err


@pytest.mark.parametrize("wanted", ["b.pdf", "id-b.pdf", "2", "２"])
def test_a_document_is_removed_by_name_id_or_number(run, files, assistant, wanted):
    files("a.pdf", "b.pdf")
    run("load", "a.pdf", "b.pdf")
    assert run("remove", wanted)[1].startswith("Removed b.pdf (12 pages). Your own notes stay.")
    assert [info.name for info in assistant.documents()] == ["a.pdf"]


def test_a_document_without_a_name_is_not_the_only_one_there_is(run, files, assistant):
    files("a.pdf")
    run("load", "a.pdf")
    code, _, error = run("remove", "")
    assert code == 2 and "Which document?" in error and assistant.documents()


def test_the_lesson_works_in_a_folder_that_goes_away(run, tmp_path):
    code, out, _ = run("lesson")
    heading, folder = out.splitlines()
    assert code == 0 and heading == "1. Load a document. [red]"
    assert not Path(folder).exists() and not (tmp_path / "home").exists()


def test_notices_of_the_storage_reach_the_learner_once(run, assistant):
    assistant.storage.notices.append("Another process holds the vectors.")
    assert run("stats")[2] == "Another process holds the vectors.\n"


# ---- The real assistant ----


def test_the_real_script_loads_and_answers_by_words(tmp_path):
    script = "13_pdf_learning_assistant.py"
    options = ("--home", str(tmp_path), "--embedder", "none", "--lang", "en")
    (tmp_path / "notes.md").write_text(
        "# Tides\n\nThe tide is caused by the moon, which pulls the water of the sea.\n", encoding="utf-8"
    )
    loaded = program("load", str(tmp_path / "notes.md"), *options, script=script)
    assert loaded.returncode == 0 and loaded.stdout.startswith(b"notes.md: loaded")
    answer = json.loads(program("ask", "What is the tide caused by?", "--json", *options, script=script).stdout)
    assert answer["found"] and "moon" in answer["answer"]
    listed = program(*options, script=script, input=b"/docs\n/stats\n/quit\n")
    assert listed.returncode == 0 and b"notes.md" in listed.stdout


@pytest.mark.parametrize("session", [False, True])
def test_every_command_stands_in_the_help_once(session):
    listed = [command.name for _, members in commands.grouped(session=session) for command in members]
    assert sorted(listed) == sorted(commands.names(session=session))
    assert {name for _, members in commands.GROUPS for name in members} <= {command.name for command in COMMANDS}
