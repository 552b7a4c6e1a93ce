"""What the two READMEs promise: each command in them is known here and runs, and both say the same."""

import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from program import typed

from benchmarks import command
from infrastructure.settings import Settings
from study.arguments import CHAT, help_for
from study.commands import COMMANDS

PROJECT = Path(__file__).resolve().parent.parent
READMES = ("README.md", "README.zh-CN.md")
PYTHON = ".venv/bin/python"
PROGRAM = "13_pdf_learning_assistant.py"
BENCHMARK = "14_memory_benchmark.py"
SCRIPTS = [*sorted(path.name for path in PROJECT.glob("[01][0-9]_*.py"))]

texts = {name: (PROJECT / name).read_text(encoding="utf-8") for name in READMES}


def commands(name: str) -> list[str]:
    """Every line of every code block."""
    blocks = re.findall(r"^```bash\n(.*?)^```", texts[name], re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def kind(line: str) -> str:
    """What a command of a README is for; a KeyError for one that no test runs."""
    words = shlex.split(line, comments=True)
    if line.startswith("python3 -m venv "):
        return "set-up"
    if words[0].startswith("LLM_MODEL="):
        return "settings"
    if words[0] == PYTHON and words[1] == BENCHMARK:
        return "benchmark"
    if words[0] == PYTHON and words[1] in SCRIPTS:
        return "lesson" if words[2:] == (["lesson"] if words[1] == PROGRAM else []) else "tour"
    raise KeyError(line)


def of_kind(name: str, wanted: str) -> list[str]:
    return [line for line in commands(name) if kind(line) == wanted]


# ---- Every command ----


@pytest.mark.parametrize("name", READMES)
def test_every_command_is_one_that_a_test_runs(name):
    assert {kind(line) for line in commands(name)} == {"set-up", "lesson", "tour", "settings", "benchmark"}
    assert not re.search(r"^```(?!bash|$)", texts[name], re.M), "a code block that is no command"


def test_both_have_the_same_commands_in_the_same_order():
    without_comments = [[line.partition("#")[0].rstrip() for line in commands(name)] for name in READMES]
    assert without_comments[0] == without_comments[1]


def test_the_lessons_are_the_scripts_in_order(tmp_path):
    """They are run, in this order and from another folder, by test_acceptance."""
    lessons = [shlex.split(line)[1] for line in of_kind("README.md", "lesson")]
    assert lessons == [script for script in SCRIPTS if script <= PROGRAM]


@pytest.mark.parametrize("line", of_kind("README.md", "benchmark"))
def test_the_words_of_a_benchmark_are_understood(line):
    """They are run, in small, by test_14_memory_benchmark."""
    understood = command.parser("").parse_args(shlex.split(line)[2:])
    assert all(value in line for value in (str(understood.locomo or ""), str(understood.pages or "")))


def test_the_tour_runs_from_the_first_command_to_the_last(tmp_path):
    """By words only: that the real embedder takes part is test_acceptance's business."""
    (tmp_path / "samples").symlink_to(PROJECT / "samples", target_is_directory=True)
    shown = []
    for line in of_kind("README.md", "tour"):
        python, script, *words = shlex.split(line, comments=True)
        assert (python, script) == (PYTHON, PROGRAM)
        result = typed(*words, home=tmp_path / "home", EMBEDDING_MODEL="none")
        assert result.returncode == 0, f"{line}\n{result.stderr}"
        shown.append(result.stdout)
    everything = "\n".join(shown)
    for said in ("loaded", "召回率（Recall）", "RAG 系统怎么评估？）", "Noted under “evaluation”", '"citations": ['):
        assert said in everything


@pytest.mark.parametrize("name", READMES)
@pytest.mark.parametrize("marker", ["start", "test"])
def test_a_set_up_command_is_one_line_and_names_what_exists(name, marker):
    marked = re.findall(rf"<!-- {marker} command -->\n```bash\n(.*?)```", texts[name], re.S)
    assert len(marked) == 1
    line = marked[0].removesuffix("\n")
    assert "\n" not in line
    create, install, use = (shlex.split(part) for part in line.split(" && "))
    folder = create[-1]
    assert create == ["python3", "-m", "venv", folder]
    assert install[:3] == [f"{folder}/bin/pip", "install", "-r"]
    assert (PROJECT / install[3]).is_file()
    assert use[0] == f"{folder}/bin/python"
    assert use[1:] == ["-m", "pytest"] if marker == "test" else all((PROJECT / word).is_file() for word in use[1:])
    assert re.search(rf"^{re.escape('.venv*/')}$", (PROJECT / ".gitignore").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("line", of_kind("README.md", "settings"))
def test_the_settings_of_an_example_are_settings(line, tmp_path):
    given = dict(word.split("=", 1) for word in shlex.split(line, comments=True))
    settings = Settings.load({}, environ=given | {"MEMORY_HOME": str(tmp_path)}, dotenv={})
    assert settings.llm_model == given["LLM_MODEL"]
    assert "/" in settings.llm_model
    known = {setting.name: setting.source for setting in settings.explain()}
    assert all(known[name] == "environment" for name in given)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_ci_runs_the_test_command_of_the_readme_word_for_word_and_then_ruff(tmp_path):
    log = tmp_path / "log"
    for path in (".ci/run", "README.md"):
        target = tmp_path / path
        target.parent.mkdir(exist_ok=True)
        target.write_text((PROJECT / path).read_text(encoding="utf-8"), encoding="utf-8")
    for program in ("bin/python3", ".venv-dev/bin/pip", ".venv-dev/bin/python", ".venv-dev/bin/ruff"):
        stand_in = tmp_path / program
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text(f'#!/bin/sh\necho "{program} $*" >> "{log}"\n', encoding="utf-8")
        stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["bash", tmp_path / ".ci" / "run"], env=os.environ | {"PATH": path}, check=True, capture_output=True)
    assert log.read_text(encoding="utf-8").splitlines() == [
        "bin/python3 -m venv .venv-dev",
        ".venv-dev/bin/pip install -r requirements-dev.txt",
        ".venv-dev/bin/python -m pytest",
        ".venv-dev/bin/ruff check .",
        ".venv-dev/bin/ruff format --check .",
    ]


# ---- Both say the same, and what they say is there ----


def headings(name: str) -> list[int]:
    """Levels, in order."""
    prose = re.sub(r"^```.*?^```", "", texts[name], flags=re.M | re.S)
    return [len(marks) for marks in re.findall(r"^(#+) ", prose, re.M)]


def tables(name: str) -> list[list[list[str]]]:
    """For each table, for each row, the pieces of code in it."""
    found = re.findall(r"(?:^\|.*\n)+", texts[name], re.M)
    return [[re.findall(r"`([^`]+)`", row) for row in table.splitlines()] for table in found]


def test_both_have_the_same_headings_and_tables():
    assert headings("README.md") == headings("README.zh-CN.md")
    assert tables("README.md") == tables("README.zh-CN.md")
    assert len(tables("README.md")) >= 3


def test_both_have_the_same_figures_in_their_tables():
    figures = [
        re.findall(r"(?<![\w§.])\d+(?:\.\d+)?", "\n".join(re.findall(r"^\|.*", texts[name], re.M))) for name in READMES
    ]
    assert figures[0] == figures[1] and len(figures[0]) > 30


@pytest.mark.parametrize("name", READMES)
def test_what_a_readme_links_to_exists(name):
    links = re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", texts[name])
    assert "docs/screen.svg" in links
    for link in links:
        if "://" not in link and not link.startswith("#"):
            assert (PROJECT / link).is_file(), link


@pytest.mark.parametrize("name", READMES)
def test_every_script_and_class_of_the_table_exists(name):
    for script, *names in (row for row in tables(name)[0] if row):
        source = (PROJECT / script).read_text(encoding="utf-8")
        for part in names:
            assert part.partition(".")[0].rstrip("…") in source, f"{part} is not in {script}"
            assert part.rpartition(".")[2].rstrip("…") in source, f"{part} is not in {script}"


@pytest.mark.parametrize("name", READMES)
def test_every_command_and_option_of_the_help_is_in_a_readme(name):
    code = " ".join(re.findall(r"`([^`\n]+)`", texts[name]))
    said = set(re.findall(r"--?[\w-]+|\w+", code))
    options = {option for command in (CHAT, *COMMANDS) for option in re.findall(r"--[\w-]+", help_for(command))}
    missing = ({command.name for command in COMMANDS} | options) - said
    assert not missing


@pytest.mark.parametrize("name", READMES)
def test_every_variable_of_the_example_file_is_explained(name):
    example = (PROJECT / ".env.example").read_text(encoding="utf-8")
    variables = set(re.findall(r"^# ?([A-Z_]+)=", example, re.M))
    assert {variable for variable in variables if not variable.endswith("_API_KEY")} <= set(
        re.findall(r"[A-Z_]+", texts[name])
    )


@pytest.mark.parametrize("name", READMES)
def test_every_direct_requirement_has_its_licence_named(name):
    required = "\n".join(
        (PROJECT / f"requirements{kind}.txt").read_text(encoding="utf-8") for kind in ("", "-dev", "-extras")
    )
    for package in re.findall(r"^([A-Za-z][\w-]*)", required, re.M):
        assert package.lower().replace("_", "-") in texts[name].lower().replace("_", "-"), package


def test_the_picture_is_small_self_contained_and_shows_real_answers():
    svg = (PROJECT / "docs" / "screen.svg").read_text(encoding="utf-8")
    assert len(svg.encode()) < 200_000
    assert "@font-face" not in svg
    assert not re.search(r"""(?:href|src)=|url\((?!#)""", svg)
    words = re.sub(r"<[^>]+>|&#160;", " ", svg)
    for said in ("HyDE stands for hypothetical", "p. 5 (PDF page 7)", "RAG 系统怎么评估"):
        assert said in " ".join(words.split())
