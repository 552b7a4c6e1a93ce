"""Loading several files: none stops the others, and Ctrl-C keeps what is done."""

import io
import json
from pathlib import Path

import pytest
from fake_assistant import FakeAssistant

from infrastructure.console import Screen
from study.desk import Desk
from study.loading import load_files


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
