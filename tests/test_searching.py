"""The benchmark of searching a large library, in small: each search is timed, and what is filtered keeps to its filter."""

import json
import sys

import pytest
from support import HashEmbedder

from benchmarks import memory_stores, searching
from benchmarks.embedding import Remembering
from infrastructure.library import Library
from infrastructure.storage import Storage


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(memory_stores, "ASKED", 4)
    monkeypatch.setattr(searching, "WARM", 1)


def test_each_search_and_a_whole_question_are_timed(tmp_path):
    embedder = Remembering(HashEmbedder(memory_stores.DIMENSION))
    rows = list(searching.measure(tmp_path, [200], embedder))
    assert [row["what"] for row in rows] == ["search", "filtered: document", "filtered: pages", "ask"]
    assert all(0 < row["median"] <= row["p95"] for row in rows)


def test_the_made_up_library_has_as_many_chunks_as_asked_for_each_with_a_vector(tmp_path):
    prepared = searching.Prepared()
    with Storage(tmp_path, embedder=prepared) as storage:
        searching.fill(storage, prepared, memory_stores.Source(), 400)
        library = Library(storage)
        assert [document.chunks for document in library.documents()] == [200, 200]
        assert len(library.chunk_ids(pages=(11, 20))) == 2 * 10 * searching.ON_PAGE
        assert not storage.owed() and prepared.vectors == {}


def test_the_command_prints_a_line_for_each_kind_and_size_and_writes_the_figures(tmp_path, monkeypatch, capsys):
    target = tmp_path / "figures.json"
    monkeypatch.setattr(
        sys, "argv", ["searching.py", "--chunks", "200", "400", "--embedder", "none", "--json", str(target)]
    )
    assert searching.main() == 0
    figures = json.loads(target.read_text(encoding="utf-8"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(figures) == 2 * 3 and all(
        row["what"] in line for row, line in zip(figures, lines, strict=True)
    )


def test_fewer_chunks_than_a_document_has_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["searching.py", "--chunks", "10"])
    with pytest.raises(SystemExit):
        searching.main()
    assert "at least 200 chunks" in capsys.readouterr().err
