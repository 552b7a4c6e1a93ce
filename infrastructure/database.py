"""The home's SQLite file: schema, migrations, transactions. SQLite is the truth; everything else can be rebuilt from it.

    texts    one row per searchable text, whatever it is: id, shelf, scope (document or session), position in the scope
    words_*  FTS5, one table per shelf, fed with our own tokens (infrastructure.text): FTS5 itself sees only ASCII spaces
    vectors  float32 blobs: re-embedding 100,000 texts takes hours, copying their vectors seconds
    pending  what is still owed to the vectors or to Chroma; written in the same transaction as the change that owes it

A *shelf* is a set of texts that are searched together: chunk, episodic, semantic, archive. Statistics such as a word's rarity
are per shelf, so 100,000 chats do not change what is rare in your textbook. Archiving a memory moves it to another shelf,
which is why the default search cannot see it and need not filter.
"""

import sqlite3
import threading
from collections.abc import Callable, Container, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from infrastructure.errors import HomeError
from infrastructure.language import tr

SHELVES = ("chunk", "episodic", "semantic", "archive")
BUSY_TIMEOUT_MS = 30_000  # another process may be writing a large batch


def utc_now() -> datetime:
    """Now, in UTC and with its zone. The default clock; tests and lessons inject their own."""
    return datetime.now(UTC)


def to_iso(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds: fixed width, so text order is time order. A naive time is a ValueError."""
    if moment.tzinfo is None:
        raise ValueError("a time needs its zone, e.g. datetime.now(timezone.utc)")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_iso(text: str) -> datetime:
    return datetime.fromisoformat(text)


# ---- schema ---------------------------------------------------------------------------------------------------------


def _first_schema(db: sqlite3.Connection) -> None:
    for statement in _SCHEMA_1.split(";\n"):
        if statement.strip():
            db.execute(statement)
    for shelf in SHELVES:
        make_words(db, shelf)


def make_words(db: sqlite3.Connection, shelf: str) -> None:
    """An empty word index for a shelf, in place of the one that may be there."""
    for table in (f"terms_{shelf}", f"words_{shelf}"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    # Not detail=column, though no phrase is ever asked for: bm25 would read and cut up the text of every row that matches.
    db.execute(
        f"CREATE VIRTUAL TABLE words_{shelf} USING fts5(scope, body, "
        "tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* Co M*'\")"
    )
    db.execute(f"CREATE VIRTUAL TABLE terms_{shelf} USING fts5vocab(words_{shelf}, row)")


_SCHEMA_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    shelf TEXT NOT NULL,
    scope TEXT NOT NULL,
    position INTEGER NOT NULL,
    heading TEXT NOT NULL DEFAULT '',
    content TEXT NOT NULL
);
CREATE INDEX texts_by_place ON texts (shelf, scope, position);
CREATE TABLE vectors (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id INTEGER NOT NULL UNIQUE REFERENCES texts (id) ON DELETE CASCADE,
    vector BLOB NOT NULL
);
CREATE TABLE pending (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id INTEGER NOT NULL,
    shelf TEXT NOT NULL,
    op TEXT NOT NULL CHECK (op IN ('embed', 'index', 'remove')),
    UNIQUE (id, shelf)
);
CREATE INDEX pending_by_op ON pending (op, n);
CREATE TABLE documents (
    document_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    content_hash TEXT NOT NULL UNIQUE,
    media_type TEXT NOT NULL,
    page_count INTEGER NOT NULL,
    status TEXT NOT NULL,
    added_at TEXT NOT NULL,
    outline TEXT NOT NULL DEFAULT '[]',
    warnings TEXT NOT NULL DEFAULT '[]'
) WITHOUT ROWID;
CREATE TABLE pages (
    document_id TEXT NOT NULL REFERENCES documents (document_id) ON DELETE CASCADE,
    page INTEGER NOT NULL,
    label TEXT,
    heading_path TEXT NOT NULL DEFAULT '',
    raw TEXT NOT NULL,
    clean TEXT NOT NULL,
    offsets TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (document_id, page)
) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY REFERENCES texts (id) ON DELETE CASCADE,
    document_id TEXT NOT NULL REFERENCES documents (document_id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    page_start INTEGER NOT NULL,
    page_end INTEGER NOT NULL
);
CREATE INDEX chunks_by_document ON chunks (document_id);
CREATE TABLE memories (
    id INTEGER PRIMARY KEY REFERENCES texts (id) ON DELETE CASCADE,
    memory_type TEXT NOT NULL,
    importance REAL NOT NULL,
    timestamp TEXT NOT NULL,
    occurred_at TEXT NOT NULL,
    access_count INTEGER NOT NULL DEFAULT 0,
    last_accessed TEXT,
    status TEXT NOT NULL DEFAULT 'active',
    source TEXT NOT NULL DEFAULT 'user',
    pinned INTEGER NOT NULL DEFAULT 0,
    mentions INTEGER NOT NULL DEFAULT 1,
    fingerprint TEXT NOT NULL,
    valid_until TEXT,
    superseded_by TEXT,
    derived_from TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX memories_by_fingerprint ON memories (memory_type, fingerprint);
CREATE INDEX memories_by_time ON memories (memory_type, status, occurred_at, importance, access_count, source);
CREATE INDEX memories_by_use ON memories (memory_type, access_count);
CREATE TABLE entities (
    entity_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL DEFAULT 'concept'
);
CREATE TABLE entity_aliases (
    folded TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entities (entity_id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE entity_mentions (
    entity_id INTEGER NOT NULL REFERENCES entities (entity_id) ON DELETE CASCADE,
    id INTEGER NOT NULL REFERENCES texts (id) ON DELETE CASCADE,
    PRIMARY KEY (entity_id, id)
) WITHOUT ROWID;
CREATE INDEX entity_mentions_by_text ON entity_mentions (id);
CREATE TABLE relations (
    subject_id INTEGER NOT NULL REFERENCES entities (entity_id) ON DELETE CASCADE,
    predicate TEXT NOT NULL,
    object_id INTEGER NOT NULL REFERENCES entities (entity_id) ON DELETE CASCADE,
    id INTEGER NOT NULL REFERENCES texts (id) ON DELETE CASCADE,
    PRIMARY KEY (subject_id, predicate, object_id, id)
) WITHOUT ROWID;
CREATE INDEX relations_by_object ON relations (object_id);
CREATE INDEX relations_by_text ON relations (id);
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    started_at TEXT NOT NULL,
    last_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE turns (
    turn_id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    asked_at TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    found INTEGER NOT NULL,
    mode TEXT NOT NULL,
    trace TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX turns_by_session ON turns (session_id, turn_id);
CREATE TABLE log (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    action TEXT NOT NULL,
    details TEXT NOT NULL DEFAULT '{}'
)
"""


def _truth_over_time(db: sqlite3.Connection) -> None:
    """memories.slot: what a statement that holds one value at a time is about. valid_from: since when it is held true.
    The fingerprint leaves yes and no out, so that a denial is found beside what it denies."""
    db.execute("ALTER TABLE memories ADD COLUMN slot TEXT")
    db.execute("ALTER TABLE memories ADD COLUMN valid_from TEXT NOT NULL DEFAULT ''")
    db.execute("CREATE INDEX memories_by_slot ON memories (memory_type, slot) WHERE slot IS NOT NULL")
    renew_statements(db)


def renew_statements(db: sqlite3.Connection) -> None:
    """Work out again what follows from the memories' texts: for rows that an older program wrote."""
    from infrastructure.slots import slot_key
    from infrastructure.statements import fingerprint

    db.execute("UPDATE memories SET valid_from = min(timestamp, occurred_at) WHERE valid_from = ''")
    rows = db.execute("SELECT m.id, t.content FROM memories m JOIN texts t USING (id)").fetchall()
    db.executemany(
        "UPDATE memories SET fingerprint = ?, slot = ? WHERE id = ?",
        ((fingerprint(row["content"]), slot_key(row["content"]), row["id"]) for row in rows),
    )


def _cards_and_grades(db: sqlite3.Connection) -> None:
    """Cards outlive their document, so document_id refers to nothing; grades go with their card."""
    for statement in _SCHEMA_3.split(";\n"):
        db.execute(statement)


_SCHEMA_3 = """
CREATE TABLE cards (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    card_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    options TEXT NOT NULL DEFAULT '[]',
    accepted TEXT NOT NULL DEFAULT '[]',
    quote TEXT NOT NULL,
    document_id TEXT NOT NULL,
    document TEXT NOT NULL,
    page INTEGER,
    page_label TEXT,
    heading_path TEXT NOT NULL,
    note_id TEXT NOT NULL,
    source TEXT NOT NULL,
    point TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL DEFAULT 'active',
    created_at TEXT NOT NULL,
    edited_at TEXT NOT NULL,
    state INTEGER NOT NULL,
    step INTEGER,
    stability REAL,
    difficulty REAL,
    due TEXT NOT NULL,
    last_review TEXT
);
CREATE INDEX cards_by_document ON cards (document_id);
CREATE TABLE reviews (
    review_id INTEGER PRIMARY KEY AUTOINCREMENT,
    card_id TEXT NOT NULL REFERENCES cards (card_id) ON DELETE CASCADE,
    at TEXT NOT NULL,
    day TEXT NOT NULL,
    given TEXT NOT NULL,
    verdict TEXT NOT NULL,
    rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 4),
    seconds REAL NOT NULL,
    before TEXT NOT NULL
);
CREATE INDEX reviews_by_card ON reviews (card_id)
"""


Migration = tuple[str, Callable[[sqlite3.Connection], None]]
MIGRATIONS: tuple[Migration, ...] = (
    ("first_schema", _first_schema),
    ("truth_over_time", _truth_over_time),
    ("cards_and_grades", _cards_and_grades),
    ("slots_of_jobs", renew_statements),  # statements about a job and a year of study fill a slot from here on
)


# ---- the file -------------------------------------------------------------------------------------------------------


class Database:
    """One connection for the whole process, serialised by a lock; other processes are held off by SQLite itself.

    A connection per thread was the alternative: it reads in parallel, but no query here takes long enough to pay for it.
    """

    def __init__(
        self, path: Path, *, now: Callable[[], datetime] = utc_now, migrations: tuple[Migration, ...] = MIGRATIONS
    ):
        self.path = path
        self.lock = threading.RLock()  # also guards what must stay in step with our own writes (VectorMatrix)
        self.rollbacks = 0  # whoever keeps a copy of rows compares it with this: what it saw may never have been
        self._depth = 0
        self._wanted: Container[int] = ()
        self._broken = False  # the running transaction has failed somewhere inside and must not be committed
        self._now = now
        self._migrations = migrations
        with _home_errors(path):
            self._db = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
            )
        try:
            with _home_errors(path):
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        self._db.row_factory = sqlite3.Row
        self._db.create_function("is_wanted", 1, lambda row_id: row_id in self._wanted)
        self._db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.execute("PRAGMA cache_size = -32000")  # 32 MB; the default 2 MB is less than one index of 100,000 rows
        self._db.execute("PRAGMA secure_delete = ON")
        self._refuse_newer_schema()
        self._db.execute("PRAGMA journal_mode = WAL")
        # NORMAL survives a killed process, which is what happens here; FULL would also survive a power cut at a tenth the rate.
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._migrate()

    @property
    def schema_version(self) -> int:
        return self._db.execute("PRAGMA user_version").fetchone()[0]

    def _refuse_newer_schema(self) -> None:
        if self.schema_version > len(self._migrations):
            raise HomeError(
                tr(
                    f"{self.path.parent} was written by a newer version of this program; update the program to open it.",
                    f"{self.path.parent} 由更新版本的程序写入；请先升级本程序再打开。",
                )
            )

    def _migrate(self) -> None:
        if self.schema_version == len(self._migrations):
            return
        with self.transaction() as db:
            # Asked again inside: another process may have migrated meanwhile, and its copy must not be replaced by a newer one.
            if 0 < self.schema_version < len(self._migrations):
                self.backup(self.path.parent / "backups" / f"before-{self._migrations[self.schema_version][0]}.db")
            for number, (_name, step) in enumerate(self._migrations, start=1):
                if number > self.schema_version:
                    step(db)
                    db.execute(f"PRAGMA user_version = {number}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, one writer at a time in this process and in all others. Nested uses join the outer one: when
        one of them fails, the whole cannot be committed any more, even if somebody catches the error."""
        with self.lock, _home_errors(self.path):
            self._depth += 1
            try:
                if self._depth == 1:
                    self._broken = False
                    self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                if self._depth == 1:
                    self._commit()
            except BaseException:
                self._broken = True
                if self._depth == 1:
                    self._roll_back()
                raise
            finally:
                self._depth -= 1

    def _commit(self) -> None:
        if self._broken:
            raise RuntimeError("a part of this transaction failed; nothing of it was written")
        self._db.execute("COMMIT")

    def _roll_back(self) -> None:
        self.rollbacks += 1
        if self._db.in_transaction:  # a full disk may have made SQLite roll back by itself
            self._db.execute("ROLLBACK")

    @property
    def in_transaction(self) -> bool:
        """True inside `transaction`. Ask with `lock` held, else the answer may be about another thread."""
        return self._depth > 0

    def rows(self, sql: str, args: object = (), *, wanted: Container[int] = ()) -> list[sqlite3.Row]:
        """All rows of a SELECT, read at once so that no cursor outlives the lock. `is_wanted(id)` in it is true of ids in
        `wanted`."""
        with self.lock, _home_errors(self.path):
            self._wanted = wanted
            return self._db.execute(sql, args).fetchall()

    def row(self, sql: str, args: object = ()) -> sqlite3.Row | None:
        with self.lock, _home_errors(self.path):
            return self._db.execute(sql, args).fetchone()

    def value(self, sql: str, args: object = ()) -> object:
        """First column of the first row, or None when there is no row."""
        row = self.row(sql, args)
        return None if row is None else row[0]

    def data_version(self) -> int:
        """Changes when another connection has written; our own writes do not change it."""
        return self.value("PRAGMA data_version")

    def get_meta(self, key: str) -> str | None:
        return self.value("SELECT value FROM meta WHERE key = ?", (key,))

    def set_meta(self, key: str, value: str | None) -> None:
        with self.transaction() as db:
            if value is None:
                db.execute("DELETE FROM meta WHERE key = ?", (key,))
            else:
                db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def backup(self, target: Path) -> Path:
        """A consistent copy, made while others may be writing. An older copy of the same name is replaced when it is done.

        The copy knows of no Chroma folder, so one that is put back gets a new one instead of a newer database's.
        """
        unfinished = target.with_name(target.name + ".part")
        with self.lock, _home_errors(target):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                unfinished.unlink(missing_ok=True)
            except OSError as error:
                raise HomeError(_unwritable(target)) from error
            try:
                self._copy_to(unfinished)
                unfinished.replace(target)
            except OSError as error:
                raise HomeError(_unwritable(target)) from error
            finally:
                with suppress(OSError):
                    unfinished.unlink(missing_ok=True)  # where it failed: a full disk needs the space
        return target

    def _copy_to(self, path: Path) -> None:
        # A connection of its own: SQLite would wait for ever to copy from one that is in the middle of a transaction.
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(path)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            copy.execute("DELETE FROM meta WHERE key = 'chroma'")
            copy.commit()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees the file as it is now, whatever is written meanwhile: for reading more than fits in memory."""
        with _home_errors(self.path), closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.row_factory = sqlite3.Row
            db.execute("BEGIN")
            yield db

    def erase_traces(self) -> None:
        """Rewrite the file so that no deleted text is left in it: FTS5 keeps deleted words until `optimize`, SQLite
        keeps free pages until VACUUM, the write-ahead log keeps both until it is truncated."""
        with self.lock, _home_errors(self.path):
            for shelf in SHELVES:
                self._db.execute(f"INSERT INTO words_{shelf} (words_{shelf}) VALUES ('optimize')")
            self._db.execute("VACUUM")
            if self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:  # somebody still reads the old pages
                raise sqlite3.OperationalError("database is locked")

    def close(self) -> None:
        with self.lock:
            self._db.close()


@contextmanager
def _home_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says about disks and locks into one sentence with the next step."""
    try:
        yield
    except sqlite3.OperationalError as error:
        sentence = _sentence(str(error).lower(), path)
        if sentence is None:
            raise
        raise HomeError(sentence) from error
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error) and "malformed" not in str(error):
            raise
        raise HomeError(
            tr(
                f"{path} is damaged ({error}); move it away and restore a copy from the folder 'backups' beside it.",
                f"{path} 已损坏（{error}）；请把它移走，并从旁边的 backups 文件夹恢复一份。",
            )
        ) from error


def _unwritable(path: Path) -> str:
    return tr(
        f"{path} cannot be written; choose another folder with --home or change its permissions.",
        f"无法写入 {path}；请用 --home 换一个文件夹，或修改权限。",
    )


def _sentence(problem: str, path: Path) -> str | None:
    if "readonly" in problem or "unable to open" in problem:
        return _unwritable(path)
    if "is full" in problem or "disk i/o" in problem:
        return tr(
            f"The disk that holds {path} is full or failing; free some space and try again, nothing was half-written.",
            f"{path} 所在磁盘已满或出错；请腾出空间后重试，没有写入一半的数据。",
        )
    if "locked" in problem or "busy" in problem:
        return tr(
            f"{path} is in use by another process; wait until it has finished and try again.",
            f"{path} 正被另一个进程使用；请等它结束后重试。",
        )
    return None
