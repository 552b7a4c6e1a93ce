import doctest
import shutil
from collections import namedtuple
from importlib import import_module

import pytest
from support import HashEmbedder

from infrastructure import health
from infrastructure.errors import EmbedderUnavailable
from infrastructure.shelves import Text
from infrastructure.storage import ERASING, Storage
from study import upkeep_views
from study.blocks import as_text

m09 = import_module("09_memory_system")


@pytest.fixture
def storage(tmp_path):
    with Storage(tmp_path / "home", embedder=HashEmbedder()) as storage:
        m09.EpisodicMemory(storage).add("apple pie was baked")
        m09.SemanticMemory(storage).add("BM25 ranks by words")
        storage.settle()
        yield storage


def found(storage, name):
    return next(finding for finding in health.examine(storage).findings if finding.name == name)


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(health).failed == 0


def test_a_sound_home_is_in_order(storage):
    checkup = health.examine(storage)
    assert checkup.ok
    assert {finding.level for finding in checkup.findings} == {"ok"}
    assert checkup.numbers["counts"]["memories"] == checkup.numbers["texts"] == 2
    assert checkup.numbers["embedder"]["available"] == "hash-64"
    assert checkup.numbers["embedder"]["passages_per_second"] > 0
    assert checkup.numbers["versions"]["pypdf"]
    assert checkup.numbers["bytes"]["home"] > checkup.numbers["bytes"]["chroma"] > 0


def test_an_empty_home_is_in_order(tmp_path):
    with Storage(tmp_path / "home") as storage:
        assert health.examine(storage).ok


def test_what_is_pending_is_no_fault_and_is_said(storage):
    m09.EpisodicMemory(storage).add("another apple")
    assert found(storage, "pending").level == "note"
    assert "1 texts wait" in found(storage, "pending").told
    checkup = health.examine(storage)
    assert checkup.ok and checkup.unfinished == "1 texts wait for their vectors: doctor --rebuild-index"
    verdict = as_text(upkeep_views.checkup(checkup), 120).splitlines()[-1]
    assert verdict == "Nothing is wrong, but 1 texts wait for their vectors: doctor --rebuild-index"
    health.repair(storage)
    assert found(storage, "pending").level == "ok"
    assert as_text(upkeep_views.checkup(health.examine(storage)), 120).splitlines()[-1] == "Everything is in order."


def test_a_home_stopped_before_its_first_vector_is_told_how_to_go_on_and_one_of_words_only_is_not(tmp_path):
    with Storage(tmp_path / "stopped", embedder=HashEmbedder()) as storage:
        m09.EpisodicMemory(storage).add("apple pie was baked")
        assert storage.owed().embed == 1 and "doctor --rebuild-index" in found(storage, "pending").advice
    with Storage(tmp_path / "words") as storage:
        m09.EpisodicMemory(storage).add("apple pie was baked")
        assert (found(storage, "pending").advice, health.examine(storage).unfinished) == ("", "")


# ---- What is wrong is found, and repaired where that loses nothing ----

HARM = {
    "words lost": "DELETE FROM words_episodic WHERE rowid = 1",
    "words too many": "INSERT INTO words_chunk (rowid, scope, body) VALUES (77, 's', 'ghost')",
    "words of another text": "UPDATE words_episodic SET rowid = 78 WHERE rowid = 1",
    "vector lost": "DELETE FROM vectors WHERE id = 2",
    "mark of nothing": "INSERT INTO pending (id, shelf, op) VALUES (99, 'chunk', 'embed')",
}


@pytest.mark.parametrize("harm", HARM)
def test_harm_is_found_and_repaired(storage, harm):
    with storage.transaction() as db:
        db.execute(HARM[harm])
    if harm != "mark of nothing":
        assert "doctor --rebuild-index" in found(storage, "search").advice
    health.repair(storage)
    assert health.examine(storage).ok and not storage.owed()
    assert m09.EpisodicMemory(storage).retrieve("apple pie")
    assert m09.SemanticMemory(storage).retrieve("BM25 words")


def test_a_word_index_that_is_damaged_inside_is_found_and_repaired(storage):
    with storage.transaction() as db:
        db.execute("UPDATE words_episodic_data SET block = zeroblob(20) WHERE id > 1")
    assert "word index is damaged" in found(storage, "search").told
    health.repair(storage)
    assert health.examine(storage).ok
    assert m09.EpisodicMemory(storage).retrieve("apple pie")


def test_a_lost_chroma_folder_is_rebuilt_without_embedding(storage):
    embedded = len(storage.embedder.history)
    shutil.rmtree(storage.home / "chroma")
    seen = []
    health.repair(storage, indexing=lambda *count: seen.append(count))
    assert seen == [(2, 2)]
    assert len(storage.embedder.history) == embedded
    assert storage.verify().ok


def test_texts_that_belong_to_nothing_are_found(storage):
    storage.add_texts("chunk", [Text("loose", "x", "nobody's")])
    finding = found(storage, "contents")
    assert (finding.level, "1 texts belong to no document" in finding.told) == ("wrong", True)


def test_a_row_that_points_nowhere_is_found(storage):
    storage.database.value("PRAGMA foreign_keys = OFF")
    with storage.transaction() as db:
        db.execute("INSERT INTO entity_mentions (entity_id, id) VALUES (555, 1)")
    finding = found(storage, "database")
    assert finding.level == "wrong" and "entity_mentions" in finding.told


def test_a_deletion_that_was_not_finished_is_found_and_finished(storage):
    storage.database.set_meta(ERASING, "1")
    assert found(storage, "deletion").level == "wrong"
    health.repair(storage)
    checkup = health.examine(storage)
    assert checkup.ok and "next start" in next(finding.told for finding in checkup.findings if finding.level == "note")


def test_a_full_disk_is_wrong_and_a_nearly_full_one_a_note(storage, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(health.shutil, "disk_usage", lambda path: usage(1, 1, 1000))
    assert (found(storage, "folder").level, health.examine(storage).ok) == ("wrong", False)
    monkeypatch.setattr(health.shutil, "disk_usage", lambda path: usage(1, 1, 10**12))
    assert found(storage, "folder").level == "ok"


def test_a_home_in_a_synced_folder_is_noted_every_time(tmp_path):
    with Storage(tmp_path / "OneDrive" / "home") as storage:
        assert found(storage, "cloud").level == found(storage, "cloud").level == "note"


# ---- The embedder ----


def test_another_embedder_than_the_recorded_one_is_wrong_and_says_which(storage):
    with Storage(storage.home, embedder=HashEmbedder(32)) as other:
        finding = found(other, "embedder")
        assert finding.level == "wrong" and "hash-64" in finding.told and "hash-32" in finding.told
        assert "--rebuild-index --embedder" in finding.advice
        assert other.notices == []


def test_words_only_by_choice_is_no_fault(storage):
    with Storage(storage.home) as other:
        assert found(other, "embedder").level == "note"


def test_an_embedder_that_fails_is_wrong(storage):
    storage.embedder.error = EmbedderUnavailable("The service does not answer; try later.")
    finding = found(storage, "embedder")
    assert finding.level == "wrong" and "does not answer" in finding.told


def test_a_package_that_is_absent_is_a_note(storage, monkeypatch):
    monkeypatch.setattr(health, "PACKAGES", ("pypdf", "no-such-package"))
    finding = found(storage, "versions")
    assert finding.level == "note" and "not installed: no-such-package" in finding.told


def test_while_another_process_holds_the_vectors_the_rest_is_checked(storage):
    storage.hold_vectors()
    with Storage(storage.home, embedder=HashEmbedder()) as second:
        assert found(second, "search").level == "note"
        assert health.examine(second).ok
