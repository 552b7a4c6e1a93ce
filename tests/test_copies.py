from pathlib import Path

import pytest

from infrastructure.copies import copies_in, delete_copies, forget_lines, is_backup
from infrastructure.errors import HomeError
from infrastructure.storage import Storage
from infrastructure.transfer import export_home

HISTORY = "\n# 2026-03-01 09:30:00.000000\n+/note my cat\n+is Tom\n\n# 2026-03-01 09:31:00.000000\n+What is RAG?\n"


@pytest.fixture
def home(tmp_path):
    with Storage(tmp_path / "home") as storage:
        export_home(storage, tmp_path / "home" / "mine.jsonl.gz")
    return tmp_path / "home"


def test_our_own_files_are_known_by_what_they_hold(home):
    (home / "theirs.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    assert is_backup(home / "mine.jsonl.gz") and not is_backup(home / "theirs.jsonl")
    assert not is_backup(home / "nosuch.jsonl") and not is_backup(home)


def test_copies_are_deleted_and_a_learners_other_files_stay(home):
    for name in ("backups/before.db", "exports/deck.apkg", "prompt_history.part", "thesis.pdf", "theirs.jsonl"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("x", encoding="utf-8")
    gone = {path.name for path in delete_copies(home)}
    assert gone == {"backups", "exports", "prompt_history.part", "mine.jsonl.gz"}
    assert {"memory.db", "thesis.pdf", "theirs.jsonl"} <= {path.name for path in home.iterdir()}
    assert list(copies_in(home)) == []


def test_a_copy_that_cannot_be_deleted_is_named(home, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(HomeError, match=r"mine\.jsonl\.gz cannot be deleted .*still holds"):
        delete_copies(home)


# ---- The lines typed at the prompt ----


def test_an_entry_of_several_lines_goes_as_one(tmp_path):
    (tmp_path / "prompt_history").write_text(HISTORY, encoding="utf-8")
    assert forget_lines(tmp_path, lambda typed: typed == "/note my cat\nis Tom") == 1
    left = (tmp_path / "prompt_history").read_text(encoding="utf-8")
    assert "cat" not in left and "Tom" not in left and "+What is RAG?\n" in left


def test_prompt_toolkit_reads_what_is_left(tmp_path):
    from prompt_toolkit.history import FileHistory

    history = FileHistory(str(tmp_path / "prompt_history"))
    for line in ("first", "two\nlines", "third \x85 with\u2028odd breaks", "last"):
        history.store_string(line)
    assert forget_lines(tmp_path, lambda typed: typed == "two\nlines") == 1
    assert list(history.load_history_strings()) == ["last", "third \x85 with\u2028odd breaks", "first"]


def test_without_a_match_the_file_is_not_touched(tmp_path):
    (tmp_path / "prompt_history").write_text(HISTORY, encoding="utf-8")
    before = (tmp_path / "prompt_history").stat().st_mtime_ns
    assert forget_lines(tmp_path, lambda typed: "dog" in typed) == 0
    assert (tmp_path / "prompt_history").stat().st_mtime_ns == before
    assert forget_lines(tmp_path / "nosuch", lambda typed: True) == 0
