import shutil
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infrastructure import vectors as vectors_module
from infrastructure.database import Database
from infrastructure.shelves import Text
from infrastructure.storage import Storage
from infrastructure.vectors import ChromaIndex, IndexBroken, VectorMatrix, _top

EAST, NORTH, NORTHEAST = np.eye(4, dtype=np.float32)[0], np.eye(4, dtype=np.float32)[1], np.zeros(4, dtype=np.float32)
NORTHEAST[:2] = 0.5**0.5


@pytest.fixture
def matrix(storage):
    return VectorMatrix(storage.database, "chunk")


def add(storage, *vectors, shelf="chunk"):
    """Texts with these vectors; returns their ids."""
    first = 1 + storage.count(shelf)
    texts = [Text(f"{shelf}-{first + n}", "book", f"passage {first + n}") for n in range(len(vectors))]
    return storage.add_texts(shelf, texts, vectors=vectors)


def found(matrix, query=EAST, **options):
    matrix.sync()
    return [text_id for text_id, _ in matrix.search(query, 10, **options)]


# ---- The vectors in memory ----


def test_an_empty_shelf_finds_nothing(matrix):
    assert found(matrix) == []
    assert matrix.cosines(EAST, [1]) == {}


def test_the_nearest_comes_first_with_its_cosine(storage, matrix):
    north, northeast, east = add(storage, NORTH, NORTHEAST, EAST)
    matrix.sync()
    assert matrix.search(EAST, 2) == [(east, 1.0), (northeast, pytest.approx(0.7071, abs=1e-4))]
    assert matrix.cosines(EAST, [north, 999]) == {north: 0.0}


def test_equal_cosines_keep_their_order(storage, matrix):
    ids = add(storage, *[NORTH] * 5)
    assert found(matrix, NORTH) == ids


def test_a_search_can_be_restricted_to_some_ids(storage, matrix):
    first, _second, third = add(storage, EAST, EAST, EAST)
    assert found(matrix, only={first, third, 999}) == [first, third]
    assert found(matrix, only=[]) == []


def test_restricting_to_few_or_to_many_ids_gives_the_same_cosines(storage, matrix):
    ids = add(storage, *np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32))
    matrix.sync()
    everything = dict(matrix.search(EAST, 50))
    for only in (ids[:3], ids[:40]):
        assert dict(matrix.search(EAST, 50, only=only)) == pytest.approx({i: everything[i] for i in only}, abs=1e-6)


def test_each_shelf_has_its_own_vectors(storage, matrix):
    add(storage, EAST, shelf="episodic")
    (chunk,) = add(storage, NORTH)
    assert found(matrix) == [chunk]


def test_a_query_of_another_dimension_finds_nothing(storage, matrix):
    add(storage, EAST)
    assert found(matrix, np.ones(8, dtype=np.float32)) == []


def test_what_another_process_adds_and_removes_is_seen(tmp_path, storage, matrix):
    (mine,) = add(storage, EAST)
    assert found(matrix) == [mine]
    with Storage(tmp_path / "home") as other:
        (theirs,) = add(other, NORTH)
        other.remove_texts(["chunk-1"])
    assert found(matrix) == [theirs]


def test_the_vectors_of_other_shelves_are_passed_once_and_not_at_every_look(storage):
    add(storage, *[EAST] * 5)
    diary = VectorMatrix(storage.database, "episodic")
    assert found(diary) == []
    assert diary._newest == storage.database.value("SELECT max(n) FROM vectors")
    assert found(diary) == [] and found(VectorMatrix(storage.database, "chunk")) != []
    told = add(storage, NORTH, shelf="episodic")
    assert found(diary, NORTH) == told


def test_vectors_of_another_dimension_replace_the_old_ones(tmp_path, storage, matrix):
    add(storage, EAST)
    matrix.sync()
    with closing(Database(tmp_path / "home" / "memory.db")) as other, other.transaction() as db:
        db.execute("DELETE FROM vectors")
        db.execute("INSERT INTO vectors (id, vector) VALUES (1, ?)", (np.ones(8, dtype=np.float32).tobytes(),))
    assert found(matrix, np.ones(8, dtype=np.float32)) == [1]


def test_what_was_seen_in_a_rolled_back_transaction_is_forgotten(storage, matrix):
    (kept,) = add(storage, EAST)
    with pytest.raises(ZeroDivisionError), storage.transaction():
        add(storage, NORTH)
        assert len(found(matrix)) == 2
        matrix.discard([kept])
        1 / 0  # noqa: B018
    assert found(matrix) == [kept]
    (after,) = add(storage, NORTH)  # gets the row number that was rolled back
    assert found(matrix) == [kept, after]


def test_more_rows_than_are_read_at_once_are_all_there(storage, matrix, monkeypatch):
    monkeypatch.setattr(vectors_module, "ROWS_AT_ONCE", 7)
    ids = add(storage, *[NORTH] * 20)
    matrix.sync()
    assert matrix.cosines(NORTH, ids) == dict.fromkeys(ids, 1.0)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(["add", "remove", "replace"]), st.integers(0, 30)), max_size=40), st.randoms()
)
def test_whatever_happens_the_matrix_equals_the_table(tmp_path_factory, changes, random):
    with Storage(tmp_path_factory.mktemp("home")) as storage:
        matrix, table = VectorMatrix(storage.database, "chunk"), {}
        for number, (change, pick) in enumerate(changes):
            vector = np.array([random.random() for _ in range(4)], dtype=np.float32)
            key = f"k{number}" if change == "add" or not table else sorted(table)[pick % len(table)]
            if change == "remove" and table:
                matrix.discard([table.pop(key)[0]])
                storage.remove_texts([key])
            elif change == "replace" and table:
                with storage.transaction() as db:
                    db.execute("REPLACE INTO vectors (id, vector) VALUES (?, ?)", (table[key][0], vector.tobytes()))
                table[key] = (table[key][0], vector)
            else:
                table[key] = (storage.add_texts("chunk", [Text(key, "book", "x")], vectors=[vector])[0], vector)
            if random.random() < 0.5:
                matrix.sync()
        matrix.sync()
        expected = {text_id: float(vector @ EAST) for text_id, vector in table.values()}
        assert dict(matrix.search(EAST, 100)) == pytest.approx(expected)


@given(st.lists(st.integers(-5, 5), max_size=30), st.integers(-1, 40))
def test_the_top_is_what_sorting_everything_gives(scores, limit):
    best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    assert [scores[place] for place in _top(np.array(scores, dtype=np.float32), limit)] == [
        scores[place] for place in best[: max(0, limit)]
    ]


# ---- Chroma ----

SIXTY = np.random.default_rng(2).normal(size=(60, 8)).astype(np.float32)


@pytest.fixture
def home(tmp_path):
    """A home with a closed Chroma folder, build "one", that holds sixty vectors."""
    with closing(ChromaIndex(tmp_path)) as index:
        index.create("one")
        index.upsert("chunk", range(60), SIXTY)
    return tmp_path


def reopened(home, build="one"):
    index = ChromaIndex(home)
    try:
        return index.open(build) and index.is_open
    finally:
        index.close()


def spoil(folder, name):
    for file in folder.rglob(name):
        file.write_bytes(bytes(n * 7 % 256 for n in range(file.stat().st_size)))


def test_what_was_written_is_found_after_reopening(home):
    with closing(ChromaIndex(home)) as index:
        assert index.open("one")
        assert index.ids("chunk") == set(range(60))
        assert index.search("chunk", SIXTY[7] / np.linalg.norm(SIXTY[7]), 1) == [(7, pytest.approx(1.0, abs=1e-5))]


def test_writing_the_same_again_and_removing_what_is_not_there_change_nothing(home):
    with closing(ChromaIndex(home)) as index:
        index.open("one")
        index.upsert("chunk", range(60), SIXTY)
        index.remove("chunk", [1000, 1001])
        index.remove("episodic", [1])
        assert index.count("chunk") == 60


def test_an_empty_shelf_of_chroma_finds_nothing(home):
    with closing(ChromaIndex(home)) as index:
        index.open("one")
        assert (index.search("archive", SIXTY[0], 5), index.ids("archive")) == ([], set())


def test_a_build_that_is_not_there_is_not_opened(home):
    assert not reopened(home, "two")


def test_a_new_build_deletes_the_old_one(home):
    with closing(ChromaIndex(home)) as index:
        index.create("two")
        assert index.count("chunk") == 0
    assert [folder.name for folder in (home / "chroma").iterdir()] == ["two"]


def test_a_folder_whose_opening_killed_the_process_is_not_opened_again(home):
    (home / vectors_module.MARKER).touch()
    assert not reopened(home)


def test_one_write_that_did_not_end_is_forgiven_two_in_a_row_are_not(home):
    (home / vectors_module.WRITING).write_bytes(b".")
    assert reopened(home)
    (home / vectors_module.WRITING).write_bytes(b"..")
    assert not reopened(home)


def test_a_write_that_ended_clears_the_count(home):
    (home / vectors_module.WRITING).write_bytes(b".")
    with closing(ChromaIndex(home)) as index:
        index.open("one")
        index.upsert("chunk", [60], SIXTY[:1])
    assert not (home / vectors_module.WRITING).exists()


@pytest.mark.parametrize("name", ["chroma.sqlite3", "header.bin", "index_metadata.pickle"])
def test_a_spoiled_file_is_noticed_at_opening_and_a_new_build_works(tmp_path, name):
    many = (
        np.random.default_rng(3).normal(size=(1500, 8)).astype(np.float32)
    )  # enough that Chroma writes its graph to files
    with closing(ChromaIndex(tmp_path)) as index:
        index.create("one")
        index.upsert("chunk", range(1500), many)
    assert list((tmp_path / "chroma").rglob(name))
    spoil(tmp_path / "chroma", name)
    with closing(ChromaIndex(tmp_path)) as index:
        assert not index.open("one")
        index.create("two")
        index.upsert("chunk", [1], SIXTY[:1])
        assert index.ids("chunk") == {1}


def test_a_file_in_place_of_the_folder_is_replaced(home):
    shutil.rmtree(home / "chroma")
    (home / "chroma").write_text("in the way", encoding="utf-8")
    assert not reopened(home)
    with closing(ChromaIndex(home)) as index:
        index.create("two")
        assert index.count("chunk") == 0


def test_a_folder_deleted_under_an_open_index_is_an_index_broken(home):
    with closing(ChromaIndex(home)) as index:
        index.open("one")
        shutil.rmtree(home / "chroma")
        with pytest.raises(IndexBroken):
            index.upsert("chunk", [60], SIXTY[:1])
