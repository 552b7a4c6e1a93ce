import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure import database as database_module
from infrastructure.database import Database, from_iso, to_iso
from infrastructure.errors import HomeError
from infrastructure.language import set_language
from infrastructure.schema import MIGRATIONS
from infrastructure.statements import fingerprint

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones)


def add_second(db):
    db.execute("CREATE TABLE second (n INTEGER)")


def add_third(db):
    db.execute("CREATE TABLE third (n INTEGER)")


def break_down(db):
    db.execute("CREATE TABLE half (n INTEGER)")
    raise ValueError("a fault in a migration")


SECOND = (*MIGRATIONS, ("second", add_second))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def database(path):
    with closing(Database(path)) as database:
        yield database


def names(database):
    return [row["name"] for row in database.rows("SELECT name FROM documents ORDER BY name")]


def add_document(db, name):
    db.execute(
        "INSERT INTO documents (document_id, name, path, content_hash, media_type, page_count, status, added_at) "
        "VALUES (?, ?, '', ?, 'text', 1, 'ready', '')",
        (name, name, name),
    )


# ---- Times ----


@given(moments)
def test_a_time_survives_being_written(moment):
    assert from_iso(to_iso(moment)) == moment


@given(moments, moments)
def test_the_order_of_written_times_is_the_order_of_times(a, b):
    assert (to_iso(a) < to_iso(b)) == (a < b)


def test_a_time_is_written_in_utc():
    assert to_iso(datetime(2026, 5, 8, 9, tzinfo=timezone(timedelta(hours=8)))) == "2026-05-08T01:00:00.000000+00:00"


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="zone"):
        to_iso(datetime(2026, 5, 8))


# ---- Transactions ----


def test_a_failed_transaction_leaves_nothing(database):
    with pytest.raises(ZeroDivisionError), database.transaction() as db:
        add_document(db, "a")
        1 / 0  # noqa: B018
    assert names(database) == []
    assert not database.in_transaction


def test_a_nested_transaction_joins_the_outer_one(database):
    with pytest.raises(ZeroDivisionError), database.transaction():
        with database.transaction() as db:
            add_document(db, "inner")
        1 / 0  # noqa: B018
    assert names(database) == []


def test_a_transaction_cannot_be_committed_once_a_part_of_it_has_failed(database):
    with pytest.raises(RuntimeError, match="nothing of it was written"), database.transaction() as db:
        add_document(db, "before")
        with pytest.raises(ZeroDivisionError), database.transaction() as db:
            add_document(db, "half")
            1 / 0  # noqa: B018
    assert names(database) == []


def test_after_a_failed_transaction_the_next_one_works(database):
    with pytest.raises(KeyboardInterrupt), database.transaction():
        raise KeyboardInterrupt
    with database.transaction() as db:
        add_document(db, "b")
    assert names(database) == ["b"]
    assert database.rollbacks == 1


def test_another_thread_does_not_see_an_open_transaction(database):
    seen, started = [], threading.Event()

    def look():
        started.set()
        seen.extend(names(database))

    reader = threading.Thread(target=look)
    with pytest.raises(ZeroDivisionError), database.transaction() as db:
        add_document(db, "a")
        reader.start()
        started.wait(5)
        1 / 0  # noqa: B018
    reader.join(5)
    assert seen == []


def test_only_what_others_write_changes_the_data_version(path, database):
    before = database.data_version()
    database.set_meta("mine", "1")
    assert database.data_version() == before
    with closing(Database(path)) as other:
        other.set_meta("theirs", "1")
    assert database.data_version() != before


def test_meta_values_are_set_replaced_and_removed(database):
    database.set_meta("key", "一")
    database.set_meta("key", "二")
    assert database.get_meta("key") == "二"
    database.set_meta("key", None)
    assert database.get_meta("key") is None


# ---- Schema ----


def test_a_new_file_has_the_newest_schema(database):
    assert database.schema_version == len(MIGRATIONS)


def test_many_processes_may_open_a_new_home_at_the_same_moment(path):
    versions, all_ready = [], threading.Barrier(6)

    def open_it():
        all_ready.wait()
        with closing(Database(path)) as database:
            versions.append(database.schema_version)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert versions == [len(MIGRATIONS)] * 6


def test_a_newer_schema_is_refused_and_left_alone(path):
    Database(path, migrations=SECOND).close()
    with pytest.raises(HomeError, match="newer version"):
        Database(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(SECOND),)


def test_a_migration_keeps_a_copy_of_the_file_as_it_was(path):
    with closing(Database(path)) as database, database.transaction() as db:
        add_document(db, "old")
    with closing(Database(path, migrations=SECOND)) as database:
        assert database.schema_version == len(SECOND)
    with closing(Database(path.parent / "backups" / "before-second.db")) as copy:
        assert (copy.schema_version, names(copy)) == (len(MIGRATIONS), ["old"])


def test_several_migrations_are_one_step_with_one_copy(path):
    Database(path).close()
    Database(path, migrations=(*SECOND, ("third", add_third))).close()
    assert [file.name for file in (path.parent / "backups").iterdir()] == ["before-second.db"]


def test_a_migration_that_fails_changes_nothing(path):
    Database(path).close()
    with pytest.raises(ValueError, match="a fault"):
        Database(path, migrations=(*SECOND, ("bad", break_down)))
    with closing(Database(path)) as database:
        assert database.schema_version == len(MIGRATIONS)
        assert database.value("SELECT count(*) FROM sqlite_master WHERE name IN ('second', 'half')") == 0


def test_memories_of_the_first_schema_get_what_the_second_looks_them_up_by(path):
    with closing(Database(path, migrations=MIGRATIONS[:1])) as database, database.transaction() as db:
        db.execute(
            "INSERT INTO texts (key, shelf, scope, position, content) VALUES ('m', 'semantic', 's', 0, 'My name is Li')"
        )
        db.execute(
            "INSERT INTO memories (id, memory_type, importance, timestamp, occurred_at, fingerprint) "
            "VALUES (1, 'semantic', 0.5, '2026', '2025', 'old')"
        )
    with closing(Database(path)) as database:
        row = database.row("SELECT slot, fingerprint, valid_from FROM memories")
        assert tuple(row) == ("en:name", fingerprint("My name is Li"), "2025")


# ---- Backup ----


def test_a_backup_can_be_opened_and_holds_what_was_committed(tmp_path, database):
    with database.transaction() as db:
        add_document(db, "kept")
    database.backup(tmp_path / "copies" / "today.db")
    with closing(Database(tmp_path / "copies" / "today.db")) as copy:
        assert names(copy) == ["kept"]


def test_a_backup_inside_a_transaction_holds_what_was_before_it(tmp_path, database):
    with database.transaction() as db:
        add_document(db, "not yet")
        database.backup(tmp_path / "copy.db")
    with closing(Database(tmp_path / "copy.db")) as copy:
        assert names(copy) == []


def test_a_backup_that_cannot_be_made_keeps_the_older_one(tmp_path, database):
    database.backup(tmp_path / "copy.db")
    (tmp_path / "copy.db.part").mkdir()
    with pytest.raises(HomeError, match=r"copy\.db cannot be written"):
        database.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").exists()


# ---- What can be wrong with a home: one sentence each ----


def test_a_full_disk_is_one_sentence_and_nothing_is_half_written(database):
    pages = database.value("PRAGMA page_count")
    database.value(f"PRAGMA max_page_count = {pages + 8}")
    with pytest.raises(HomeError, match="full or failing; free some space"), database.transaction() as db:
        add_document(db, "small")
        add_document(db, "large" * 100_000)
    assert names(database) == []


def test_there_is_room_again_after_a_full_disk(database):
    database.value(f"PRAGMA max_page_count = {database.value('PRAGMA page_count') + 8}")
    with pytest.raises(HomeError), database.transaction() as db:
        add_document(db, "large" * 100_000)
    with database.transaction() as db:
        add_document(db, "small")
    assert names(database) == ["small"]


def test_a_read_only_file_is_one_sentence(database):
    database.value("PRAGMA query_only = ON")
    with pytest.raises(HomeError, match="cannot be written; choose another folder"):
        database.set_meta("key", "value")


def test_a_folder_in_place_of_the_file_is_one_sentence(path):
    path.mkdir()
    with pytest.raises(HomeError, match="cannot be written"):
        Database(path)


def test_a_file_that_is_no_database_is_one_sentence(path):
    path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(HomeError, match=r"is damaged .* restore a copy"):
        Database(path)


def test_a_writer_that_does_not_end_is_one_sentence(path, database, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 20)
    with closing(Database(path)) as impatient, database.transaction():
        with pytest.raises(HomeError, match="in use by another process"):
            impatient.set_meta("key", "value")
        assert not impatient.in_transaction


def test_the_sentence_is_in_the_language_of_the_screen(path):
    path.mkdir()
    set_language("zh")
    with pytest.raises(HomeError, match="无法写入"):
        Database(path)


# ---- Real deletion ----


def test_erased_text_is_in_no_file(path, database):
    with database.transaction() as db:
        db.execute("INSERT INTO words_chunk (rowid, scope, body) VALUES (1, 's', 'zebramarker stays not')")
        add_document(db, "zebramarker" * 2000)
    with database.transaction() as db:
        db.execute("DELETE FROM words_chunk")
        db.execute("DELETE FROM documents")
    database.erase_traces()
    assert [file.name for file in path.parent.iterdir() if b"zebramarker" in file.read_bytes()] == []


def test_erasing_says_so_when_somebody_still_reads_the_old_pages(path, database, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 20)
    with closing(Database(path)) as eraser, closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        with database.transaction() as db:
            add_document(db, "new")
        with pytest.raises(HomeError, match="in use by another process"):
            eraser.erase_traces()


def test_the_word_index_has_one_row_per_token_as_text_makes_them(database):
    with database.transaction() as db:
        db.execute("INSERT INTO words_chunk (rowid, scope, body) VALUES (1, 's1', '重 跑 重跑 gen')")
    assert {row["term"] for row in database.rows("SELECT term FROM terms_chunk")} == {"s1", "重", "跑", "重跑", "gen"}


def test_utc_now_has_a_zone():
    assert database_module.utc_now().tzinfo is UTC
