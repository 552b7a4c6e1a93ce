"""The home's SQLite file: transactions, migrations, and one sentence for what disks do. SQLite is the truth; everything else can
be rebuilt from it. What is in it: schema.py.
"""

import sqlite3
import threading
from collections.abc import Callable, Container, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from infrastructure.errors import HomeError
from infrastructure.language import tr
from infrastructure.schema import MIGRATIONS, SHELVES, Migration

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
