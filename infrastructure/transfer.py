"""A whole home as a file of JSON Lines, and back: nothing is lost, and nothing has to be embedded again.

    export   one snapshot of the database → a line for every row, in a file that is complete or not there
    restore  the file is read to its end and found sound → one transaction: the home is the file's, or as it was

    {"type": "memory", "id": 7, "key": "…", "content": "…", "metadata": {…}, "vector": "base64 of float32", …}

A record has every column of its tables, by name. Words, Chroma and marks are not in the file: they follow from the rows.
Neither are the lines typed at the prompt. A backup made under an older schema is brought up to ours by the same migrations.
"""

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from infrastructure.backup_file import Progress, Record, as_json, damaged, new_name, read_backup, write_backup
from infrastructure.copies import BACKUPS
from infrastructure.database import Database, to_iso
from infrastructure.errors import DocumentError, UsageError
from infrastructure.language import tr
from infrastructure.schema import MIGRATIONS
from infrastructure.storage import Storage

ROWS_AT_ONCE = 1_000
LOCAL_META = ("chroma", "synced_by", "erasing")  # true of this folder, not of what is in it


@dataclass(frozen=True)
class Kind:
    """One type of record: its tables, joined by `id`, which rows of the first one, and the order they come in."""

    name: str
    tables: tuple[str, ...]
    order: str
    where: str = "1"

    @property
    def has_vector(self) -> bool:
        return self.tables[0] == "texts"


_NO_KIND_OF_ITS_OWN = "id NOT IN (SELECT id FROM chunks) AND id NOT IN (SELECT id FROM memories)"

# In an order in which they can be put in: what is referred to comes before what refers to it.
KINDS = (
    Kind("setting", ("meta",), "key", f"key NOT IN {LOCAL_META}"),
    Kind("document", ("documents",), "document_id"),
    Kind("page", ("pages",), "document_id, page"),
    Kind("chunk", ("texts", "chunks"), "id"),
    Kind("memory", ("texts", "memories"), "id"),
    Kind("text", ("texts",), "id", _NO_KIND_OF_ITS_OWN),
    Kind("entity", ("entities",), "entity_id"),
    Kind("alias", ("entity_aliases",), "folded"),
    Kind("mention", ("entity_mentions",), "entity_id, id"),
    Kind("relation", ("relations",), "subject_id, predicate, object_id, id"),
    Kind("session", ("sessions",), "session_id"),
    Kind("turn", ("turns",), "turn_id"),
    Kind("card", ("cards",), "n"),
    Kind("grade", ("reviews",), "review_id"),
    Kind("log", ("log",), "n"),
)
DERIVED = ("vectors", "pending")  # vectors travel with their texts, marks are made anew
JSON_COLUMNS = {"outline", "warnings", "offsets", "derived_from", "metadata", "trace", "details"}
JSON_COLUMNS |= {"options", "accepted", "before"}


@dataclass(frozen=True)
class Summary:
    """A backup that was written or read: how many records of each kind. `previous`: where what was here before is kept."""

    path: Path
    counts: dict[str, int]
    schema: int
    bytes: int
    previous: Path | None = None


# ---- Records and rows ----


class Shape:
    """How records of a kind lie in the tables of an open database: `select` and `insert` are inverse to each other."""

    def __init__(self, kind: Kind, db: sqlite3.Connection) -> None:
        self.kind = kind
        self.columns = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")] for table in kind.tables}
        self.names = list(dict.fromkeys(name for names in self.columns.values() for name in names))

    def count(self, db: sqlite3.Connection) -> int:
        return db.execute(f"SELECT count(*) FROM {self._joined} WHERE {self.kind.where}").fetchone()[0]

    def select(self, db: sqlite3.Connection) -> Iterator[Record]:
        """All records, in their order."""
        vectors = "LEFT JOIN vectors USING (id)" if self.kind.has_vector else ""
        names = _quoted([*self.names, *(["vector"] if vectors else [])])
        sql = f"SELECT {names} FROM {self._joined} {vectors} WHERE {self.kind.where} ORDER BY {self.kind.order}"
        return (self._record(row) for row in db.execute(sql))

    @property
    def _joined(self) -> str:
        first, *others = self.kind.tables
        return " ".join([first, *(f"JOIN {table} USING (id)" for table in others)])

    def _record(self, row: Mapping[str, Any]) -> Record:
        record = {"type": self.kind.name}
        for name in row.keys():  # noqa: SIM118  a Row is no mapping
            value = row[name]
            if name == "vector":
                value = None if value is None else base64.b64encode(value).decode()
            record[name] = _unfolded(value) if name in JSON_COLUMNS else value
        return record

    @cached_property
    def inserts(self) -> dict[str, str]:
        """A statement for each table."""
        sql = {
            table: f"INSERT INTO {table} ({_quoted(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
            for table, names in self.columns.items()
        }
        return sql | (
            {"vectors": "INSERT INTO vectors (id, vector) VALUES (:id, :vector)"} if self.kind.has_vector else {}
        )

    def insert(self, db: sqlite3.Connection, records: Iterable[Record]) -> int:
        rows = [self._row(record) for record in records]
        for table, sql in self.inserts.items():
            db.executemany(sql, (row for row in rows if table != "vectors" or row["vector"] is not None))
        return len(rows)

    def _row(self, record: Record) -> dict[str, Any]:
        row = {name: _folded(value) if name in JSON_COLUMNS else value for name, value in record.items()}
        if self.kind.has_vector and row["vector"] is not None:
            row["vector"] = base64.b64decode(row["vector"], validate=True)
        return row

    def fits(self, record: Record) -> bool:
        """Has the record the fields of this kind, all of them and no others?"""
        return record.keys() == {"type", *self.names, *(["vector"] if self.kind.has_vector else [])}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)  # END is a word of SQL


def _unfolded(stored: Any) -> Any:
    """A column of JSON as JSON, where that can be undone to the last character; else as the text it is.

    >>> _unfolded('{"a": 1}'), _unfolded('{"a":1}')
    ({'a': 1}, '{"a":1}')
    """
    with suppress(ValueError, TypeError):
        value = json.loads(stored)
        if isinstance(value, dict | list) and as_json(value) == stored:
            return value
    return stored


def _folded(value: Any) -> Any:
    return as_json(value) if isinstance(value, dict | list) else value


# ---- Export ----


def export_home(storage: Storage, path: Path, *, progress: Progress | None = None) -> Summary:
    """Write everything a home holds into a file, packed when its name ends in .gz; see `backup_path` for where.

    HomeError when the file cannot be written: then there is none, and an older one of that name is as it was.
    """
    return export_database(storage.database, path, to_iso(storage.now()), progress)


def export_database(database: Database, path: Path, written_at: str, progress: Progress | None = None) -> Summary:
    with database.snapshot() as db:
        shapes = [shape for shape in (Shape(kind, db) for kind in KINDS) if shape.names]
        counts = {shape.kind.name: shape.count(db) for shape in shapes}
        schema = db.execute("PRAGMA user_version").fetchone()[0]
        records = chain.from_iterable(shape.select(db) for shape in shapes)
        write_backup(path, records, counts, schema=schema, written_at=written_at, progress=progress)
    return Summary(path, counts, schema, path.stat().st_size)


# ---- Restore ----


def restore_home(storage: Storage, path: Path, *, overwrite: bool = False, progress: Progress | None = None) -> Summary:
    """Make a home what a backup says. One that holds anything already is a UsageError, unless `overwrite`: then a backup of it
    is made first. Chroma is built by the next `settle`."""
    summary = check_backup(path)
    previous = None
    if not is_empty(storage):
        if not overwrite:
            raise UsageError(_not_empty(storage.home))
        previous = new_name(storage.home / BACKUPS, "before-restore", storage.now())
        export_home(storage, previous)
    with _refused_if_unsound(path), _in_our_schema(summary) as current, storage.rewriting() as db:
        _empty(db)
        _fill(db, current, progress)
    return replace(summary, previous=previous)


def check_backup(path: Path) -> Summary:
    """Read a backup to its end; DocumentError when it is not sound, or not made of the fields of its schema."""
    records = _read(path)
    header = next(records)
    shapes = _shapes_of(header["schema"])
    for record in records:
        if not shapes[record["type"]].fits(record):
            problem = tr("a {} has fields it should not have, or lacks some", "{} 的字段不对")
            raise DocumentError(damaged(path, problem.format(record["type"])))
    return Summary(path, header["counts"], header["schema"], path.stat().st_size)


def _shapes_of(schema: int) -> dict[str, Shape]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.row_factory = sqlite3.Row  # as migrations find it
        for _name, step in MIGRATIONS[:schema]:
            step(db)
        return {kind.name: Shape(kind, db) for kind in KINDS}


def _read(path: Path) -> Iterator[Record]:
    return read_backup(path, kinds={kind.name for kind in KINDS}, newest_schema=len(MIGRATIONS))


def is_empty(storage: Storage) -> bool:
    """No document, memory, turn or anything else; which embedder it has does not matter."""
    tables = [kind.tables[0] for kind in KINDS if kind.name != "setting"]
    return all(storage.database.value(f"SELECT 1 FROM {table} LIMIT 1") is None for table in tables)


def _not_empty(home: Path) -> str:
    return tr(
        f"{home} is not empty; restore into an empty folder with --home, or add --replace (what is here is backed up first).",
        f"{home} 里已有内容；请用 --home 恢复到空文件夹，或加上 --replace（会先备份现有内容）。",
    )


_NO_ROW = (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)  # what no table takes


@contextmanager
def _refused_if_unsound(path: Path) -> Iterator[None]:
    """A file whose checksum is right and whose rows no table takes was made by hand."""
    try:
        yield
    except (*_NO_ROW, ValueError, TypeError, OverflowError) as error:
        raise DocumentError(damaged(path, str(error))) from error


@contextmanager
def _in_our_schema(backup: Summary) -> Iterator[Path]:
    """The backup itself, or one made of it by the migrations that came after it was written."""
    if backup.schema == len(MIGRATIONS):
        yield backup.path
        return
    with TemporaryDirectory(prefix="restore-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "memory.db")
        with closing(Database(path, migrations=MIGRATIONS[: backup.schema])) as old, old.transaction() as db:
            _fill(db, backup.path, None)
        with closing(Database(path)) as migrated:
            yield export_database(migrated, Path(folder, "current.jsonl"), "").path


def _empty(db: sqlite3.Connection) -> None:
    for kind in reversed(KINDS):
        for table in reversed(kind.tables):
            db.execute(f"DELETE FROM {table} WHERE {kind.where if table == 'meta' else 1}")


def _fill(db: sqlite3.Connection, path: Path, progress: Progress | None) -> None:
    records = _read(path)
    counts = next(records)["counts"]
    shapes = {kind.name: Shape(kind, db) for kind in KINDS if kind.name in counts}
    done, total = 0, sum(counts.values())
    for name, alike in groupby(records, key=itemgetter("type")):
        while part := list(islice(alike, ROWS_AT_ONCE)):
            done += shapes[name].insert(db, part)
            if progress:
                progress(done, total)
    _check_vectors(db)


def _check_vectors(db: sqlite3.Connection) -> None:
    """All vectors of a home have as many numbers as its settings say: anything else would break every search."""
    row = db.execute("SELECT value FROM meta WHERE key = 'dimension'").fetchone()
    lengths = {row[0] for row in db.execute("SELECT DISTINCT length(vector) FROM vectors")}
    if lengths and (row is None or lengths != {4 * int(row[0])}):
        raise ValueError("vectors of several sizes")
