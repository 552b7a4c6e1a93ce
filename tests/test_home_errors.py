"""Homes that cannot be used, or not quite: each time one sentence that says what to do, and nothing half-written."""

import hashlib
import io
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from support import HashEmbedder

from infrastructure import database as database_module
from infrastructure.database import Database
from infrastructure.errors import HomeError
from infrastructure.schema import MIGRATIONS
from infrastructure.shelves import Text
from infrastructure.storage import Storage
from infrastructure.text import tokens
from infrastructure.transfer import export_home
from study import commandline

m13 = import_module("13_pdf_learning_assistant")
PROJECT = Path(__file__).resolve().parent.parent
TIDES = "# Tides\n\nThe tide is caused by the moon, which pulls the water of the sea.\n"
COMMANDS = (
    *(
        ["ask", "What causes the tide?"],
        ["note", "the moon"],
        ["load", "tides.md"],
        ["stats"],
        ["docs"],
        ["review", "tide"],
    ),
    *(
        ["remove", "tides.md"],
        ["backup"],
        ["restore", "copy.jsonl", "--replace"],
        ["doctor"],
        ["doctor", "--rebuild-index"],
        [],
    ),
)


def run(home: Path, *words: str) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = commandline.run(
        ["--home", str(home), "--embedder", "none", *words],
        open_assistant=m13.open_assistant, lesson=lambda home: iter(()), stdin=io.StringIO("What causes the tide?\n"),
        stdout=out, stderr=err,
    )  # fmt: skip
    return code, *(stream.buffer.getvalue().decode() for stream in (out, err) if not stream.flush())


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with one document, and a backup of it beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tides.md").write_text(TIDES, encoding="utf-8")
    assert run(tmp_path / "home", "load", "tides.md")[0] == 0
    assert run(tmp_path / "home", "backup", "copy.jsonl")[0] == 0
    return tmp_path / "home"


def state(home: Path) -> dict[str, str]:
    return {str(f): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(home.rglob("*")) if f.is_file()}


# ---- Read-only ----


@contextmanager
def mounted(*options: str, on: Path):
    """Something mounted on a folder, where the user of this process may do that; else the test is skipped."""
    done = subprocess.run(["mount", *options, str(on)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.decode().strip()}")
    try:
        yield on
    finally:
        subprocess.run(["umount", "--lazy", str(on)], check=True)


@contextmanager
def read_only(folder: Path):
    """A folder that nobody may write, not even root, for whom permissions do not count."""
    if os.geteuid():
        folder.chmod(0o555)
        try:
            yield
        finally:
            folder.chmod(0o755)
    else:
        with mounted("--bind", str(folder), on=folder):
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
            yield


posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="read-only folders and mounts are POSIX's")


@posix
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_on_a_read_only_home_every_command_says_one_sentence(home, words):
    with read_only(home):
        before = state(home)
        code, out, err = run(home, *words)
        assert (code, out, err.count("\n")) == (1, "", 1), err
        assert "cannot be written; choose another folder with --home or change its permissions." in err
        assert state(home) == before


@posix
def test_a_read_only_home_is_no_traceback_in_a_process_of_its_own(home):
    words = [sys.executable, PROJECT / "13_pdf_learning_assistant.py", "--home", home, "--lang", "en", "ask", "Why?"]
    with read_only(home):
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "cannot be written" in done.stderr and "Traceback" not in done.stderr


@posix
def test_a_home_in_a_read_only_folder_cannot_be_made(tmp_path):
    (tmp_path / "there").mkdir()
    with read_only(tmp_path / "there"):
        code, _, err = run(tmp_path / "there" / "home", "stats")
    assert code == 1 and "cannot be made" in err and err.count("\n") == 1


@posix
def test_a_backup_into_a_read_only_folder_is_one_sentence(home, tmp_path):
    (tmp_path / "there").mkdir()
    with read_only(tmp_path / "there"):
        code, _, err = run(home, "backup", str(tmp_path / "there" / "a.jsonl.gz"))
    assert code == 1 and "a.jsonl.gz cannot be written" in err and err.count("\n") == 1


# ---- A full disk ----


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MB."""
    (tmp_path / "disk").mkdir()
    with mounted("-t", "tmpfs", "-o", "size=2m", "tmpfs", on=tmp_path / "disk") as disk:
        yield disk


def add(storage: Storage, number: int) -> None:
    storage.add_texts("chunk", [Text(f"k{number}-{i}", "book", f"text {number} {i} " * 40) for i in range(20)])


def fill_up(storage: Storage) -> int:
    """Add until the disk is full; how many additions were acknowledged."""
    for number in range(1000):
        try:
            add(storage, number)
        except HomeError as error:
            assert "is full or failing; free some space" in str(error)
            return number
    raise AssertionError("the disk never filled up")


def sound(storage: Storage, additions: int) -> None:
    assert storage.count("chunk") == 20 * additions
    assert len(storage.search_words("chunk", tokens("text"), 10_000)) == 20 * additions
    assert storage.verify().problems == []


@posix
def test_a_disk_that_fills_up_keeps_what_was_acknowledged_and_nothing_else(small_disk):
    with Storage(small_disk / "home") as storage:
        additions = fill_up(storage)
        sound(storage, additions)
    with Storage(small_disk / "home") as again:
        sound(again, additions)


@posix
def test_on_a_full_disk_a_backup_is_not_half_there(small_disk):
    with Storage(small_disk / "home") as storage:
        additions = fill_up(storage)
        with pytest.raises(HomeError, match=r"cannot be written .*free some space"):
            export_home(storage, small_disk / "a.jsonl")
        assert sorted(path.name for path in small_disk.iterdir()) == ["home"]
        sound(storage, additions)


CHROMA_NEEDS_MORE = 200_000  # bytes; our own marks need less


@posix
def test_when_the_disk_fills_up_under_chroma_the_vectors_are_kept_and_answer(small_disk):
    with Storage(small_disk / "home", embedder=HashEmbedder(64)) as storage:
        storage.add_texts("chunk", [Text(f"k{i}", "book", f"text number{i}") for i in range(200)])
        assert storage.settle(chroma=False).embed == 0
        room = os.statvfs(small_disk)
        (small_disk / "filler").write_bytes(b"x" * (room.f_bavail * room.f_frsize - CHROMA_NEEDS_MORE))
        assert storage.settle().index > 0
        assert "cannot be written" in storage.notices[0] and "doctor --rebuild-index" in storage.notices[0]
        found = storage.search_vectors("chunk", HashEmbedder(64).embed_query("number7"), 1)
        assert storage.texts([found[0][0]])[found[0][0]].content == "text number7"
        (small_disk / "filler").unlink()
        assert not storage.rebuild_index()
        assert storage.verify().problems == []


def test_a_database_that_may_not_grow_is_a_full_disk_too(tmp_path):
    with Storage(tmp_path / "home") as storage:
        storage.database.value(f"PRAGMA max_page_count = {storage.database.value('PRAGMA page_count') + 40}")
        sound(storage, fill_up(storage))


def test_a_restore_onto_a_full_disk_leaves_the_home_as_it_was(home, tmp_path):
    with Storage(tmp_path / "large") as large:
        for number in range(20):
            add(large, number)
        export_home(large, tmp_path / "large.jsonl")
    with Storage(home) as storage:
        storage.database.value(f"PRAGMA max_page_count = {storage.database.value('PRAGMA page_count') + 20}")
        with pytest.raises(HomeError, match="full or failing"):
            import_module("infrastructure.transfer").restore_home(storage, tmp_path / "large.jsonl", overwrite=True)
        assert storage.count("chunk") == 1
        assert storage.search_words("chunk", tokens("moon"), 5)
        assert storage.verify().problems == []


# ---- Newer, older, not a database ----


def test_a_newer_home_is_refused_and_left_alone(home):
    with closing(sqlite3.connect(home / "memory.db")) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = state(home)
    for words in (["ask", "What causes the tide?"], ["doctor"], ["restore", "copy.jsonl", "--replace"]):
        code, out, err = run(home, *words)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "newer version of this program; update the program" in err
    assert state(home) == before


def test_a_file_that_is_no_database_is_one_sentence_that_names_the_backups(home):
    (home / "memory.db").write_bytes(b"something else " * 1000)
    code, _, err = run(home, "stats")
    assert code == 1 and "is damaged" in err and "backups" in err and err.count("\n") == 1


def add_second(db):
    db.execute("CREATE TABLE another (n INTEGER)")


def test_without_room_for_the_copy_there_is_no_migration(tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    Database(path).close()
    (tmp_path / "backups").write_text("in the way", encoding="utf-8")
    with pytest.raises(HomeError, match=r"before-another\.db cannot be written"):
        Database(path, migrations=(*MIGRATIONS, ("another", add_second)))
    with closing(Database(path)) as database:
        assert database.schema_version == len(MIGRATIONS)


def test_a_copy_that_fails_in_the_middle_leaves_neither_copy_nor_migration(tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    Database(path).close()

    def fill_disk(self, unfinished):
        unfinished.write_bytes(b"half")
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(database_module.Database, "_copy_to", fill_disk)
    with pytest.raises(HomeError, match="full or failing"):
        Database(path, migrations=(*MIGRATIONS, ("another", add_second)))
    monkeypatch.undo()
    assert list((tmp_path / "backups").iterdir()) == []
    with closing(Database(path)) as database:
        assert database.schema_version == len(MIGRATIONS)


# ---- A folder that a cloud keeps in step ----


def test_a_home_in_a_synced_folder_works_and_is_warned_of_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tides.md").write_text(TIDES, encoding="utf-8")
    home = tmp_path / "OneDrive - Uni" / "home"
    code, _, err = run(home, "load", "tides.md")
    assert code == 0 and "OneDrive keeps in step" in err and err.count("\n") == 1
    assert "OneDrive" not in run(home, "ask", "What causes the tide?")[2]
