"""doctor, backup, restore and remove --purge as they are typed, on a real home."""

import gzip
import io
import json
import shutil
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest
from support import HashEmbedder

from infrastructure.errors import EmbedderUnavailable
from infrastructure.storage import Storage
from study import commandline, upkeep
from study.commands import COMMANDS
from study.desk import PROGRAM, Desk

m13 = import_module("13_pdf_learning_assistant")
TIDES = "# Tides\n\nThe tide is caused by the moon, which pulls the water of the sea.\n"


@pytest.fixture(autouse=True)
def tides(own_folder):
    (own_folder / "tides.md").write_text(TIDES, encoding="utf-8")


class Terminal(io.TextIOWrapper):
    def __init__(self, *, is_terminal=False):
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")
        self.isatty = lambda: is_terminal

    @property
    def text(self):
        self.flush()
        return self.buffer.getvalue().decode()


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run(*words) → (exit code, stdout, stderr), words only; `embedder` to have vectors, `home` for another home."""

    def run(*words, home="home", embedder=None, stdin="", bars=False):
        attach = import_module("11_unified_retrieval")
        monkeypatch.setattr(attach, "attach_embedder", lambda storage, settings: storage.use_embedder(embedder))
        out, err = Terminal(), Terminal(is_terminal=bars)
        code = commandline.run(
            ["--home", str(tmp_path / home), *words],
            open_assistant=m13.open_assistant, lesson=lambda home: iter(()), stdin=io.StringIO(stdin), stdout=out, stderr=err,
        )  # fmt: skip
        return code, out.text, err.text

    return run


def bytes_in(home):
    return b"".join(file.read_bytes() for file in home.rglob("*") if file.is_file())


# ---- doctor ----


def test_doctor_says_that_everything_is_in_order(run):
    run("load", "tides.md")
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    assert out.endswith("Everything is in order.\n") and "documents: 1, passages: 1" in out


def test_doctor_speaks_chinese(run):
    code, out, _ = run("doctor", "--lang", "zh")
    assert code == 0 and out.endswith("一切正常。\n") and "正常 数据库：完好" in out


def test_doctor_in_json_has_findings_and_numbers(run):
    run("load", "tides.md", embedder=HashEmbedder())
    code, out, _ = run("doctor", "--json", embedder=HashEmbedder())
    told = json.loads(out)
    assert code == 0 and told["ok"] and "error" not in told
    assert {finding["name"] for finding in told["findings"]} >= {"folder", "database", "contents", "search", "embedder"}
    assert told["counts"]["chunks"] == told["texts"] == 1
    assert told["owed"] == {"embed": 0, "index": 0, "remove": 0}
    assert told["versions"]["chromadb"] and told["free_bytes"] > told["bytes"]["home"] > 0
    assert told["embedder"]["recorded"] == told["embedder"]["available"] == "hash-64"


def test_what_is_wrong_is_exit_code_1_and_says_what_to_do_which_helps(run, tmp_path):
    run("load", "tides.md", embedder=HashEmbedder())
    with closing(sqlite3.connect(tmp_path / "home" / "memory.db")) as db, db:
        db.execute("DELETE FROM words_chunk")
    code, out, _ = run("doctor")
    assert code == 1 and "words lacks 1" in out and "doctor --rebuild-index" in out and "One thing is wrong." in out
    assert json.loads(run("doctor", "--json")[1])["error"].startswith("search: chunk: words lacks 1")
    code, out, _ = run("doctor", "--rebuild-index", embedder=HashEmbedder())
    assert code == 0 and out.endswith("Everything is in order.\n")
    assert "moon" in run("ask", "What causes the tide?")[1]


def test_rebuilding_makes_chroma_from_the_vectors_and_the_vectors_that_are_missing(run, tmp_path):
    run("load", "tides.md", embedder=HashEmbedder())
    shutil.rmtree(tmp_path / "home" / "chroma")
    (tmp_path / "moon.md").write_text("# Moon\n\nThe moon goes around the earth.\n", encoding="utf-8")
    run("load", "moon.md")
    embedder = HashEmbedder()
    assert run("doctor", "--rebuild-index", embedder=embedder)[0] == 0
    embedded = [text for text in embedder.history if "earth" in text or "sea" in text]
    assert len(embedded) == 1 and "earth" in embedded[0]
    with Storage(tmp_path / "home", embedder=HashEmbedder()) as storage:
        assert not storage.owed() and storage.verify().ok


def test_rebuilding_shows_bars_one_after_the_other(run):
    run("load", "tides.md")
    err = run("doctor", "--rebuild-index", embedder=HashEmbedder(), bars=True)[2]
    assert err.index("Making vectors") < err.index("Building the index")


def test_an_embedder_that_fails_while_rebuilding_is_said_and_the_rest_is_done(run):
    run("load", "tides.md")
    broken = HashEmbedder()
    broken.error = EmbedderUnavailable("The service does not answer; try later.")
    code, out, err = run("doctor", "--rebuild-index", embedder=broken)
    assert code == 1 and "does not answer" in err and "WRONG" in out


def test_every_command_here_is_a_command_of_the_session_too(run):
    out = run(stdin="/doctor\n/backup here.jsonl\n/restore here.jsonl --replace\n/quit\n")[1]
    assert "Everything is in order." in out and "Backed up to" in out and "Restored from" in out


# ---- backup and restore ----


def test_a_backup_goes_into_the_home_when_no_file_is_named(run, tmp_path):
    run("load", "tides.md")
    code, out, _ = run("backup")
    (file,) = (tmp_path / "home" / "backups").iterdir()
    assert code == 0 and out.startswith(f"Backed up to {file}") and "documents: 1, passages: 1" in out
    assert b"pulls the water" in gzip.decompress(file.read_bytes())


def test_a_backup_and_what_it_holds_in_json(run, tmp_path):
    run("load", "tides.md")
    told = json.loads(run("backup", "a.jsonl", "--json")[1])
    assert told["file"] == str(tmp_path / "a.jsonl") and told["bytes"] == (tmp_path / "a.jsonl").stat().st_size
    assert told["counts"]["document"] == told["counts"]["chunk"] == 1


def test_a_file_with_spaces_needs_no_quotes(run, tmp_path):
    assert run("backup", "my", "notes.jsonl")[0] == 0
    assert (tmp_path / "my notes.jsonl").exists()


def test_restoring_into_a_new_home_brings_everything_back(run, tmp_path):
    run("load", "tides.md", embedder=HashEmbedder())
    run("note", "The moon first.", "--concept", "tides", embedder=HashEmbedder())
    run("backup", "a.jsonl.gz")
    embedder = HashEmbedder()
    code, out, err = run("restore", "a.jsonl.gz", home="new", embedder=embedder)
    assert (code, err) == (0, "") and out.startswith(f"Restored from {tmp_path / 'a.jsonl.gz'}\n")
    assert embedder.history == []
    assert run("stats", home="new")[1] == run("stats")[1]
    with Storage(tmp_path / "new", embedder=HashEmbedder()) as storage:
        assert storage.verify().ok and not storage.owed() and (tmp_path / "new" / "chroma").exists()
    assert "moon" in run("ask", "What causes the tide?", home="new")[1]


def test_restoring_over_something_needs_replace_and_keeps_it(run, tmp_path):
    run("load", "tides.md")
    run("backup", "a.jsonl")
    run("note", "written later")
    code, out, err = run("restore", "a.jsonl")
    assert (code, out) == (2, "") and "is not empty" in err and "--replace" in err
    told = json.loads(run("restore", "a.jsonl", "--replace", "--json")[1])
    assert json.loads(run("stats", "--json")[1])["notes"] == 0
    assert run("restore", told["previous"], "--replace")[0] == 0
    assert json.loads(run("stats", "--json")[1])["notes"] == 1


@pytest.mark.parametrize("name", ["tides.md", "nosuch.jsonl", "cut.jsonl"])
def test_what_cannot_be_restored_is_one_sentence_and_changes_nothing(run, tmp_path, name):
    run("load", "tides.md")
    run("backup", "cut.jsonl")
    whole = Path("cut.jsonl").read_bytes()
    Path("cut.jsonl").write_bytes(whole[:-30])
    code, out, err = run("restore", name, "--replace")
    assert (code, out, err.count("\n")) == (1, "", 1) and name in err
    assert json.loads(run("stats", "--json")[1])["documents"] == 1
    assert not (tmp_path / "home" / "backups").exists()


def test_a_session_goes_on_with_what_was_restored(run):
    run("load", "tides.md")
    run("backup", "tides.jsonl")
    out = run(home="other", stdin="/restore tides.jsonl\nWhat causes the tide?\n/quit\n")[1]
    assert "caused by the moon" in out


# ---- remove --purge ----


def test_remove_leaves_copies_and_purge_does_not(run, tmp_path):
    run("load", "tides.md")
    run("ask", "What causes the tide?")
    run("backup")
    assert "Nothing of it is left in the data folder" in run("remove", "tides.md", "--purge", "--yes")[1]
    data = bytes_in(tmp_path / "home")
    assert b"pulls the water" not in data and b"What causes the tide?" in data
    assert not (tmp_path / "home" / "backups").exists()


def test_a_purge_with_nobody_to_ask_needs_yes_and_removes_nothing(run, tmp_path):
    run("load", "tides.md")
    run("backup")
    code, out, err = run("remove", "tides.md", "--purge")
    assert (code, out) == (2, "") and "1 backup, 0 exports" in err and "add --yes" in err
    assert len(list((tmp_path / "home" / "backups").iterdir())) == 1 and "tides.md" in run("docs")[1]
    assert run("--lang", "zh", "remove", "tides.md", "--purge")[2].startswith(
        "这会彻底删除。数据文件夹里的副本会一起删除：备份 1 个"
    )


@pytest.mark.parametrize(("said", "gone"), [("y", True), ("", False), ("n", False)])
def test_a_purge_at_a_terminal_asks_and_names_the_backups(run, monkeypatch, said, gone):
    run("load", "tides.md")
    run("backup")
    monkeypatch.setattr(Desk, "can_be_asked", True)
    monkeypatch.setattr(Desk, "question", lambda desk, prompt: said)
    code, out, _ = run("remove", "tides.md", "--purge")
    assert code == 0 and "1 backup, 0 exports" in out
    assert ("Nothing of it is left" in out, "Nothing was deleted." in out) == (gone, not gone)
    assert ("tides.md" in run("docs")[1]) is not gone


def test_remove_says_what_stays_and_how_that_goes(run):
    run("load", "tides.md")
    assert run("remove", "tides.md")[1].rstrip().endswith("Your own notes stay.")
    run("load", "tides.md")
    run("ask", "What causes the tide?")
    assert run("remove", "tides.md")[1].rstrip().endswith(f"until: {PROGRAM} remove tides.md --purge")


def test_what_answers_quoted_from_a_document_removed_earlier_can_still_be_purged(run, tmp_path):
    run("load", "tides.md")
    run("ask", "What causes the tide?")
    run("remove", "tides.md")
    assert b"pulls the water" in bytes_in(tmp_path / "home")
    code, _, err = run("remove", "tides.md")
    assert code == 2 and "was removed earlier" in err and "remove tides.md --purge" in err
    assert run("remove", "tides.md", "--purge")[0] == 2 and b"pulls the water" in bytes_in(tmp_path / "home")
    code, out, err = run("remove", "tides.md", "--purge", "--yes")
    assert (code, err) == (0, "") and "past answers" in out
    data = bytes_in(tmp_path / "home")
    assert b"pulls the water" not in data and b"What causes the tide?" in data


def test_a_name_removed_earlier_is_not_taken_for_a_part_of_another(run, tmp_path):
    (tmp_path / "my tides.md").write_text(TIDES.replace("moon", "moons"), encoding="utf-8")
    run("load", "tides.md", "my tides.md")
    run("ask", "What causes the tide?")
    run("remove", "tides.md")
    run("remove", "tides.md", "--purge", "--yes")
    assert "my tides.md" in run("docs")[1]


def test_the_table_leads_to_these_functions():
    rows = {command.name: command.run for command in COMMANDS}
    assert (rows["doctor"], rows["backup"], rows["restore"]) == (upkeep.doctor, upkeep.backup, upkeep.restore)
