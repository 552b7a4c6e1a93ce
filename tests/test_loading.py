"""Loading several files: none stops the others, and Ctrl-C keeps what is done."""

import io
import json
from importlib import import_module
from pathlib import Path

import pytest
from fake_assistant import FakeAssistant
from support import HashEmbedder

from infrastructure.console import Screen
from infrastructure.storage import Storage
from study import loading as loading_module
from study.desk import Desk
from study.loading import load_files

m13 = import_module("13_pdf_learning_assistant")


class Stopping(FakeAssistant):
    """Ctrl-C comes while "long.pdf" is read: some of its pages stay; "early.pdf" is stopped before its first page."""

    def load_document(self, path, **options):
        if path.name == "early.pdf":
            raise KeyboardInterrupt
        report = super().load_document(path, **options)
        return type(report)(**{**vars(report), "action": "stopped"}) if path.name == "long.pdf" else report


def desk_with(*names: str, as_json: bool = False) -> tuple[Desk, list[Path]]:
    files = [Path(name) for name in names]
    for file in files:
        file.touch()
    return Desk(Screen(io.StringIO(), io.StringIO(), json=as_json), None, assistant=Stopping()), files


def test_a_file_that_was_stopped_is_the_last(own_folder):
    desk, files = desk_with("a.pdf", "long.pdf", "c.pdf")
    loading = load_files(desk, files)
    assert loading.stopped
    assert [report.action for report in loading.reports] == ["loaded", "stopped"]
    assert "not tried yet: 1" in desk.screen.stderr.getvalue()


def test_stopping_leaves_the_vectors_for_later(own_folder):
    desk, files = desk_with("a.pdf", "long.pdf")
    load_files(desk, files)
    assert ("settle",) not in desk.assistant.calls


def test_stopped_before_its_first_page_a_file_leaves_the_others_loaded(own_folder):
    desk, files = desk_with("a.pdf", "early.pdf")
    loading = load_files(desk, files)
    assert loading.stopped
    assert "1 loaded." in desk.screen.stdout.getvalue()


def test_when_nothing_was_loaded_ctrl_c_is_just_that(own_folder):
    desk, files = desk_with("early.pdf")
    with pytest.raises(KeyboardInterrupt):
        load_files(desk, files)


def test_several_files_have_a_line_each(own_folder):
    desk, files = desk_with("a.pdf", "broken.pdf", "c.pdf")
    load_files(desk, files)
    shown = desk.screen.stdout.getvalue().splitlines()
    assert [line.split()[:2] for line in shown if ".pdf" in line] == [
        ["a.pdf", "loaded"], ["broken.pdf", "failed"], ["c.pdf", "loaded"]
    ]  # fmt: skip
    assert shown[-1] == "2 loaded, 1 failed."
    assert "broken.pdf cannot be read" in desk.screen.stderr.getvalue()


def test_json_has_an_entry_for_each(own_folder):
    desk, files = desk_with("a.pdf", "broken.pdf", as_json=True)
    load_files(desk, files)
    told = json.loads(desk.screen.stdout.getvalue())
    assert [document.get("action", "failed") for document in told["documents"]] == ["loaded", "failed"]
    assert told["error"] == "1 of 2 files could not be loaded."


# ---- Vectors ----


class SlowEmbedder(HashEmbedder):
    """Ctrl-C comes while the batch number `stop_at` is embedded."""

    stop_at = 0

    def embed_passages(self, texts):
        self.stop_at -= 1
        if self.stop_at == 0:
            raise KeyboardInterrupt
        return super().embed_passages(texts)


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "book.md"
    path.write_text(
        "".join(f"# Part {n}\n\nThe tide number {n} is caused by the moon.\n\n" for n in range(30)), encoding="utf-8"
    )
    return path


def test_words_are_ready_before_vectors_and_ctrl_c_in_between_leaves_all_consistent(tmp_path, book):
    embedder = SlowEmbedder()
    embedder.stop_at = 2
    with Storage(tmp_path / "home", embedder=embedder) as storage:
        assistant = m13.PDFLearningAssistant(storage)
        desk = Desk(Screen(io.StringIO(), io.StringIO()), None, assistant=assistant)
        loading = load_files(desk, [book])
        assert loading.stopped and loading.reports[0].action == "loaded"
        told = desk.screen.stderr.getvalue()
        left = storage.owed().embed
        assert 0 < left < loading.reports[0].chunks == 30
        assert told.startswith("Searchable by words now. Making vectors: 0 of 30; Ctrl-C is safe.\n")
        assert f"Stopped: {left} of 30 vectors" in told and "doctor --rebuild-index" in told
        assert assistant.ask("Which tide is number 7?").found
        assert storage.verify().problems == []
        left = storage.owed().embed  # the answer is remembered, too
    with Storage(tmp_path / "home", embedder=HashEmbedder()) as storage:
        desk = Desk(Screen(io.StringIO(), io.StringIO()), None, assistant=m13.PDFLearningAssistant(storage))
        assert load_files(desk, [book]).reports[0].action == "already here"
        assert f"Making vectors: 0 of {left}" in desk.screen.stderr.getvalue()
        assert not storage.owed() and storage.verify().problems == []


def test_where_no_bar_can_be_shown_progress_is_a_line_now_and_then(tmp_path, book, monkeypatch):
    monkeypatch.setattr(loading_module, "SECONDS_BETWEEN_LINES", 0)
    with Storage(tmp_path / "home", embedder=HashEmbedder()) as storage:
        desk = Desk(Screen(io.StringIO(), io.StringIO()), None, assistant=m13.PDFLearningAssistant(storage))
        load_files(desk, [book])
    assert desk.screen.stderr.getvalue().splitlines()[1:] == [
        f"Making vectors: {done} of 30" for done in (8, 16, 24, 30)
    ]
    assert "book.md: loaded" in desk.screen.stdout.getvalue()


def test_a_home_of_words_only_promises_no_vectors(tmp_path, book):
    with Storage(tmp_path / "home") as storage:
        desk = Desk(Screen(io.StringIO(), io.StringIO()), None, assistant=m13.PDFLearningAssistant(storage))
        assert not load_files(desk, [book]).stopped
    assert desk.screen.stderr.getvalue() == ""
