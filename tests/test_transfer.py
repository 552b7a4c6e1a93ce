"""Backup and restore: nothing is lost, nothing is half done, nothing unsound gets in."""

import doctest
import gzip
import json
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path

import children
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import HashEmbedder

from infrastructure import backup_file, transfer
from infrastructure.backup_file import backup_path, read_backup
from infrastructure.cards import CardTable, Draft, Memory
from infrastructure.database import Database
from infrastructure.errors import DocumentError, HomeError, UsageError
from infrastructure.library import Library, NewChunk, StoredPage
from infrastructure.schema import MIGRATIONS
from infrastructure.shelves import Text
from infrastructure.storage import Storage
from infrastructure.transcript import Transcript
from infrastructure.transfer import DERIVED, KINDS, check_backup, export_home, restore_home

m09 = import_module("09_memory_system")
m10 = import_module("10_memory_lifecycle")


@pytest.fixture
def storage(tmp_path, clock):
    """A home that has at least one record of every kind, some in odd states."""
    with Storage(tmp_path / "home", embedder=HashEmbedder(16), now=clock) as storage:
        fill(storage, clock)
        yield storage


def fill(storage, clock):
    page = StoredPage(1, "iv", "1 Tides > 1.1 Moon", "The moon\npulls 水。\u2028", "The moon pulls 水。", [[0, 0]])
    chunk = NewChunk("The moon pulls 水。", "1 Tides", 0, 17, 1, 1)
    Library(storage).add(
        name="tides.pdf", path="/x/tides.pdf", media_type="pdf", content_hash="ab" * 32, pages=[page], chunks=[chunk],
        outline=[(1, "Tides", 1)], warnings=["Page 2 has no text."],
    )  # fmt: skip
    diary, handbook = m09.EpisodicMemory(storage), m09.SemanticMemory(storage)
    archived = diary.add("Read about the moon.", 0.3, "s1", source="model", kind="asked", pages=[["ab" * 8, 1]])
    m10.MemoryLifecycleManager(m09.WorkingMemory(now=clock), diary, handbook).archive(archived)
    old = handbook.add(
        "检索增强生成（RAG）减少幻觉", session_id="s1", concept="评估", odd='"\\\n\x00', nested={"a": [1, None, 2.5]}
    )
    handbook.supersede(old, "检索增强生成（RAG）能减少但不能消除幻觉")
    handbook.add("BM25 is a ranking formula", pinned=True, derived_from=[archived])
    handbook.graph.link(
        storage.text(old).id, [], [import_module("infrastructure.graph").Relation("RAG", "uses", "BM25")]
    )
    storage.settle(chroma=False)
    storage.add_texts("chunk", [Text("loose", "nowhere", "a text that is nobody's")])
    transcript = Transcript(storage)
    transcript.add("s1", "What pulls the sea?", "The moon. [1]", found=True, mode="extractive", trace={"n": [1]})
    transcript.touch("s2")
    cards = CardTable(storage)
    (card, _) = cards.add([
        Draft("term", "____ pulls 水。", "The moon", "The moon pulls 水。", "moon", ("The moon", "Mars"), document_id="ab" * 8),
        Draft("cloze", "It is ____", "“\u2028”", "", "odd", accepted=("a", "b")),
    ])  # fmt: skip
    after = Memory(clock(), 2, None, 3.25, 1 / 3, clock())
    cards.grade(card, after, rating=3, verdict="almost", given="moon", day=clock().date(), seconds=2)


def export(storage, path):
    export_home(storage, path)
    return path.read_bytes()


def without_time(data):
    first, rest = data.split(b"\n", 1)
    header = json.loads(first)
    assert header.pop("written_at")
    return header, rest


def rows_of(home):
    """Everything in the tables that are the truth, for a comparison that does not trust the export."""
    with closing(sqlite3.connect(home / "memory.db")) as db:
        tables = {table for kind in KINDS for table in kind.tables}
        rows = {table: set(db.execute(f"SELECT * FROM {table}")) for table in tables - {"meta"}}
        rows["vectors"] = set(db.execute("SELECT id, vector FROM vectors"))
        return rows


def records(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write(path, lines):
    """A file of these records with a header and trailer that fit."""
    counts = dict.fromkeys((kind.name for kind in KINDS), 0)
    for record in lines:
        counts[record["type"]] += 1
    backup_file.write_backup(path, lines, counts, schema=len(MIGRATIONS), written_at="2026-01-01T00:00:00+00:00")
    return path


@pytest.fixture
def other(tmp_path, clock):
    with Storage(tmp_path / "other", embedder=HashEmbedder(16), now=clock) as other:
        yield other


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(transfer).failed == 0


# ---- Lossless ----


def test_every_table_is_exported_or_derived(storage):
    named = {row[0] for row in storage.database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    truth = {name for name in named if not name.startswith(("words_", "terms_", "sqlite_"))}
    assert truth == {table for kind in KINDS for table in kind.tables} | set(DERIVED)


def test_the_home_of_these_tests_has_records_of_every_kind(storage, tmp_path):
    counts = export_home(storage, tmp_path / "a.jsonl").counts
    assert set(counts) == {kind.name for kind in KINDS} and all(counts.values())


def test_what_is_restored_exports_to_the_same_bytes(storage, other, tmp_path):
    before = export(storage, tmp_path / "a.jsonl")
    restore_home(other, tmp_path / "a.jsonl")
    assert without_time(export(other, tmp_path / "b.jsonl")) == without_time(before)


def test_what_is_restored_has_equal_rows_and_vectors(storage, other, tmp_path):
    export(storage, tmp_path / "a.jsonl.gz")
    restore_home(other, tmp_path / "a.jsonl.gz")
    assert rows_of(other.home) == rows_of(storage.home)


def test_nothing_is_embedded_again_but_what_had_no_vector(storage, other, tmp_path):
    export(storage, tmp_path / "a.jsonl")
    restore_home(other, tmp_path / "a.jsonl")
    assert other.owed().embed == 1
    assert not other.settle()
    assert other.embedder.history == ["a text that is nobody's"]
    assert other.verify().problems == []


def test_a_restored_home_is_searched_by_words_and_vectors_at_once(storage, other, tmp_path):
    export(storage, tmp_path / "a.jsonl")
    restore_home(other, tmp_path / "a.jsonl")
    (hit,) = m09.SemanticMemory(other).retrieve("BM25 ranking formula", top_k=1)
    assert hit.item.content == "BM25 is a ranking formula"
    assert other.search_vectors("chunk", HashEmbedder(16).embed_query("moon pulls"), 1)[0][1] > 0.5


def test_memories_of_every_status_come_back_as_they_were(storage, other, tmp_path):
    export(storage, tmp_path / "a.jsonl")
    restore_home(other, tmp_path / "a.jsonl")
    for kind in (m09.EpisodicMemory, m09.SemanticMemory):
        assert list(kind(other).export()) == list(kind(storage).export())
    assert m09.SemanticMemory(other).export_knowledge_graph() == m09.SemanticMemory(storage).export_knowledge_graph()


def test_new_ids_go_on_after_the_restored_ones(storage, other, tmp_path):
    export(storage, tmp_path / "a.jsonl")
    restore_home(other, tmp_path / "a.jsonl")
    newest = storage.database.value("SELECT max(id) FROM texts")
    assert other.add_texts("chunk", [Text("new", "x", "new")]) == [newest + 1]


anything = st.text(st.characters(exclude_categories=["Cs"]))
jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=anything, heading=anything, metadata=st.dictionaries(st.text(), jsons, max_size=3))
def test_any_unicode_and_any_metadata_survive(tmp_path_factory, content, heading, metadata):
    folder = tmp_path_factory.mktemp("homes")
    item = m09.MemoryItem(f"x{content}", "semantic", metadata={"m": metadata, "concept": heading}, session_id=content)
    with Storage(folder / "a") as a, Storage(folder / "b") as b:
        m09.SemanticMemory(a).add_many([item])
        Transcript(a).add(content, heading, content, found=False, mode="llm", trace={"m": heading})
        before = export(a, folder / "a.jsonl")
        restore_home(b, folder / "a.jsonl")
        assert rows_of(b.home) == rows_of(a.home)
        assert without_time(export(b, folder / "b.jsonl")) == without_time(before)


def test_equal_homes_give_equal_packed_files(storage, other, tmp_path, clock):
    export(storage, tmp_path / "a.jsonl.gz")
    restore_home(other, tmp_path / "a.jsonl.gz")
    assert export(other, tmp_path / "b.jsonl.gz") == export(storage, tmp_path / "a.jsonl.gz")


def test_a_backup_is_valid_json_lines_that_other_programs_can_read(storage, tmp_path):
    export(storage, tmp_path / "a.jsonl")
    memory = next(r for r in records(tmp_path / "a.jsonl") if r["type"] == "memory" and r["status"] == "superseded")
    assert memory["content"] == "检索增强生成（RAG）减少幻觉"
    assert memory["metadata"]["nested"] == {"a": [1, None, 2.5]}


def test_a_backup_holds_what_was_committed_when_it_began(storage, tmp_path):
    with storage.transaction():
        storage.add_texts("chunk", [Text("later", "x", "not yet")])
        export_home(storage, tmp_path / "a.jsonl")
    assert b"not yet" not in (tmp_path / "a.jsonl").read_bytes()


def test_progress_counts_every_record(storage, other, tmp_path):
    told = []
    total = sum(export_home(storage, tmp_path / "a.jsonl", progress=lambda *n: told.append(n)).counts.values())
    assert told[-1] == (total, total)
    told.clear()
    restore_home(other, tmp_path / "a.jsonl", progress=lambda *n: told.append(n))
    assert told[-1] == (total, total)


# ---- Older and newer programs ----


def test_a_backup_of_an_older_schema_goes_through_the_same_migrations(tmp_path, clock):
    path = tmp_path / "old.jsonl"
    with closing(Database(tmp_path / "old.db", migrations=MIGRATIONS[:1])) as old:
        with old.transaction() as db:
            db.execute("INSERT INTO texts VALUES (1, 'm1', 'semantic', 's', 0, '', 'My city is Rome.')")
            db.execute(
                "INSERT INTO memories (id, memory_type, importance, timestamp, occurred_at, fingerprint) "
                "VALUES (1, 'semantic', 0.5, '2026-01-02T00:00:00+00:00', '2026-01-01T00:00:00+00:00', 'x')"
            )
        transfer.export_database(old, path, "2026-01-03T00:00:00+00:00")
        copy = old.backup(tmp_path / "migrated" / "memory.db")
    assert check_backup(path).schema == 1
    with Storage(copy.parent, now=clock) as migrated, Storage(tmp_path / "restored", now=clock) as restored:
        restore_home(restored, path)
        assert rows_of(restored.home) == rows_of(migrated.home)


@pytest.mark.parametrize("change", [{"schema": len(MIGRATIONS) + 1}, {"version": 2}, {"schema": "x"}])
def test_a_backup_of_a_newer_program_is_refused(storage, other, tmp_path, change):
    export(storage, tmp_path / "a.jsonl")
    first, rest = (tmp_path / "a.jsonl").read_text(encoding="utf-8").split("\n", 1)
    (tmp_path / "a.jsonl").write_text(json.dumps(json.loads(first) | change) + "\n" + rest, encoding="utf-8")
    with pytest.raises(DocumentError, match="newer version"):
        restore_home(other, tmp_path / "a.jsonl")


# ---- Damaged files are refused before anything is written ----


def refused(storage, path, match):
    """A damaged file changes nothing, not even where replacing was allowed, and makes no backup first."""
    before = rows_of(storage.home)
    with pytest.raises(DocumentError, match=match):
        restore_home(storage, path, overwrite=True)
    assert rows_of(storage.home) == before
    assert not (storage.home / "backups").exists()


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_cut_off_anywhere_is_refused(storage, tmp_path, packed):
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    whole = export(storage, path)
    for share in (0.3, 0.6, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * share)])
        refused(storage, path, "damaged or incomplete")
    path.write_bytes(whole[:10])
    refused(storage, path, "is no backup|damaged")


@pytest.mark.parametrize("packed", [False, True])
def test_a_changed_byte_is_noticed(storage, tmp_path, packed):
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    whole = export(storage, path)
    for place in range(600, len(whole) - 8, 997):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1
        path.write_bytes(spoiled)
        with pytest.raises(DocumentError):
            check_backup(path)


def test_a_line_taken_out_or_put_in_twice_is_noticed(storage, tmp_path):
    path = tmp_path / "a.jsonl"
    lines = export(storage, path).splitlines(keepends=True)
    for spoiled in (lines[:5] + lines[6:], lines[:5] + lines[4:], lines + lines[-1:], [lines[0], *lines[:0:-1]]):
        path.write_bytes(b"".join(spoiled))
        refused(storage, path, "damaged or incomplete|is nothing this program knows")


def test_a_record_of_an_unknown_type_is_refused(storage, tmp_path):
    path = tmp_path / "a.jsonl"
    lines = export(storage, path).splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b'{"type": "spaceship"}\n', *lines[3:]]))
    refused(storage, path, "line 4: 'spaceship' is nothing this program knows")


def test_an_unknown_field_is_refused(storage, tmp_path):
    record = {"type": "session", "session_id": "s", "started_at": "x", "last_at": "x", "mood": "good"}
    refused(storage, write(tmp_path / "a.jsonl", [record]), "fields it should not have")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "session", "session_id": None, "started_at": "x", "last_at": "x"},
        {"type": "session", "session_id": ["a"], "started_at": {"b": 1}, "last_at": "x"},
        {"type": "mention", "entity_id": 7, "id": 8},
        {"type": "setting", "key": "a", "value": 2**80},
        {"type": "text", "id": 1, "key": "k", "shelf": "chunk", "scope": "s", "position": 0, "heading": "", "content": "x",
         "vector": "AAAA"},
        {"type": "text", "id": 1, "key": "k", "shelf": "chunk", "scope": "s", "position": 0, "heading": "", "content": "x",
         "vector": "no base64"},
        {"type": "text", "id": 1, "key": "k", "shelf": "chunk", "scope": "s", "position": 0, "heading": "", "content": "x",
         "vector": 7},
    ],
)  # fmt: skip
def test_rows_that_no_home_could_hold_are_refused_and_nothing_is_half_written(storage, tmp_path, record):
    path = write(tmp_path / "a.jsonl", [record])
    before = rows_of(storage.home)
    with pytest.raises(DocumentError, match="damaged"):
        restore_home(storage, path, overwrite=True)
    assert rows_of(storage.home) == before
    assert storage.verify().problems == []


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}", b"%PDF-1.7", b'{"format": "memory-rag-home"}\n', b"\x1f\x8b\x08", b"\xff"]
)
def test_a_file_that_is_no_backup_is_one_sentence(other, tmp_path, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=r"is no backup of this program|is damaged"):
        restore_home(other, path)


def test_a_file_that_is_not_there_is_one_sentence(other, tmp_path):
    with pytest.raises(DocumentError, match=r"cannot be read .*check the name"):
        restore_home(other, tmp_path / "nosuch.jsonl")


# ---- Only into an empty home, or in its place ----


def test_a_home_that_holds_something_is_not_written_over(storage, other, tmp_path):
    export(other, tmp_path / "empty.jsonl")
    with pytest.raises(UsageError, match="is not empty"):
        restore_home(storage, tmp_path / "empty.jsonl")
    assert storage.text("loose") is not None


def test_in_place_of_a_home_its_own_backup_is_made_first(storage, other, tmp_path):
    m09.SemanticMemory(other).add("the other one's own")
    export(storage, tmp_path / "a.jsonl")
    theirs = rows_of(other.home)
    previous = restore_home(other, tmp_path / "a.jsonl", overwrite=True).previous
    assert rows_of(other.home) == rows_of(storage.home)
    restore_home(other, previous, overwrite=True)
    assert rows_of(other.home) == theirs


def test_a_home_with_other_vectors_takes_over_those_of_the_backup(storage, tmp_path, clock):
    export(storage, tmp_path / "a.jsonl")
    with Storage(tmp_path / "other", embedder=HashEmbedder(32), now=clock) as other:
        m09.SemanticMemory(other).add("of 32 numbers")
        assert not other.settle()
        restore_home(other, tmp_path / "a.jsonl", overwrite=True)
        assert (other.recorded_embedder, other.embedder) == ("hash-16", None)
        assert other.search_vectors("chunk", HashEmbedder(16).embed_query("moon pulls"), 1)[0][1] > 0.5
        other.settle()
        assert other.verify().problems == []


def test_while_another_process_holds_the_vectors_nothing_is_restored(storage, tmp_path):
    export(storage, tmp_path / "a.jsonl")
    storage.hold_vectors()
    with Storage(storage.home) as second, pytest.raises(HomeError, match="Another process"):
        restore_home(second, tmp_path / "a.jsonl", overwrite=True)


def test_a_restore_that_fails_in_the_middle_leaves_the_home_as_it_was(storage, tmp_path, monkeypatch):
    export(storage, tmp_path / "a.jsonl")
    before = rows_of(storage.home)
    monkeypatch.setattr(transfer, "_check_vectors", lambda db: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        restore_home(storage, tmp_path / "a.jsonl", overwrite=True)
    assert rows_of(storage.home) == before
    assert storage.search_words("chunk", ["moon"], 5)


def test_a_restore_that_is_killed_at_any_instant_leaves_the_old_home_or_the_new_one(storage, tmp_path):
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    export_home(storage, small)
    m09.EpisodicMemory(storage).add_many([m09.MemoryItem(f"event number {n}") for n in range(1_000)])
    export_home(storage, large)
    states = []
    for file in (small, large):
        restore_home(storage, file, overwrite=True)
        states.append(rows_of(storage.home)["texts"])
    storage.close()
    for number in range(6):
        file = (small, large)[number % 2]
        child = children.start(children.restore, storage.home, file)
        child.join(0.1 + 0.12 * number)
        child.kill()
        child.join(10)
        with Storage(storage.home, embedder=HashEmbedder(16)) as again:
            assert rows_of(again.home)["texts"] in states
            assert again.verify().problems == []


# ---- The file ----


def test_a_backup_that_cannot_be_finished_leaves_no_file_and_keeps_the_older_one(storage, tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    export(storage, path)
    older = path.read_bytes()
    monkeypatch.setattr(
        backup_file.os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(HomeError, match=r"No space left on device.*free some space"):
        export_home(storage, path)
    assert path.read_bytes() == older
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["a.jsonl"]


def test_a_backup_without_a_name_goes_into_the_home_under_a_free_one(tmp_path, clock):
    first = backup_path(tmp_path, clock())
    first.parent.mkdir()
    first.touch()
    second = backup_path(tmp_path, clock())
    assert first.parent == second.parent == tmp_path / "backups"
    assert second.name == first.name.replace(".jsonl.gz", "-2.jsonl.gz")


def test_a_folder_gets_a_new_file(tmp_path, clock):
    assert backup_path(tmp_path / "home", clock(), tmp_path).parent == tmp_path


def test_a_wrong_ending_is_answered_with_the_name_that_would_do(tmp_path, clock):
    with pytest.raises(UsageError, match=r"ends in .jsonl or .jsonl.gz: \S*/notes.jsonl.gz would do"):
        backup_path(tmp_path, clock(), tmp_path / "notes.gz")


def test_a_file_that_is_no_backup_is_never_written_over(tmp_path, clock):
    (tmp_path / "thesis.jsonl").write_text("years of work", encoding="utf-8")
    with pytest.raises(UsageError, match="is no backup"):
        backup_path(tmp_path, clock(), tmp_path / "thesis.jsonl")
    with pytest.raises(UsageError, match=r"ends in \.jsonl"):
        backup_path(tmp_path, clock(), tmp_path / "thesis.pdf")


def test_an_older_backup_is_written_over(storage, tmp_path, clock):
    export(storage, tmp_path / "a.jsonl.gz")
    assert backup_path(tmp_path, clock(), tmp_path / "a.jsonl.gz") == tmp_path / "a.jsonl.gz"


def test_a_packed_backup_is_read_whatever_it_is_called(storage, tmp_path):
    export(storage, tmp_path / "a.jsonl")
    Path(tmp_path / "b.jsonl").write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    kinds = {kind.name for kind in KINDS}
    assert len(list(read_backup(tmp_path / "b.jsonl", kinds=kinds, newest_schema=99))) > 10
