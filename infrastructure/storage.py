"""One learner's home folder: what is stored, how it is found, and what is still owed to the vectors.

    write   one SQLite transaction (row + words + pending mark)  --> acknowledged
    worker  embed --> blob --> Chroma --> clear the mark         whatever instant we die, the next start goes on from the marks
    search  words: FTS5 bm25       vectors: Chroma if it is open and owed nothing, else exact cosines over the blobs

A text is findable by its words before it has a vector. Only the process that holds `vectors.lock` embeds and touches Chroma;
any other process writes its rows, leaves the marks, and searches words and blobs.
"""

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection, Row

from infrastructure import synced
from infrastructure.copies import delete_copies
from infrastructure.database import Database, utc_now
from infrastructure.errors import EmbedderUnavailable, HomeError, StudyError
from infrastructure.language import tr
from infrastructure.language_axis import LanguageAxis
from infrastructure.schema import SHELVES
from infrastructure.shelves import Shelves
from infrastructure.vectors import ChromaIndex, IndexBroken

EMBED_BATCH = 8  # texts between two commits of the worker: about a second's work can be lost, never a row
INDEX_BATCH = 1_000  # vectors between two looks at whether we are closing
POLL_SECONDS = 2.0  # how often the worker looks for what another process has left
LONGEST_PAUSE = 300.0  # seconds the worker waits at most between two tries when the embedder fails
ERASING = "erasing"  # in `meta` from a real deletion until no byte of what was deleted is left


@dataclass
class Owed:
    """How much work is pending: texts without vector, vectors not yet in Chroma, removals not yet in Chroma."""

    embed: int = 0
    index: int = 0
    remove: int = 0

    def __bool__(self) -> bool:
        return bool(self.embed or self.index or self.remove)


@dataclass
class Report:
    """What `verify` found: the four sets of ids that must be equal, and the sentences that say where they are not."""

    texts: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


class Storage(Shelves):
    """Open one home folder: its texts and words (see Shelves), their vectors, the home's embedder, and the worker.

    Usable from several threads and, for everything but vectors, from several processes.
    """

    def __init__(self, home: Path | str, *, embedder=None, now: Callable[[], datetime] = utc_now) -> None:
        self.home = Path(home)
        self.notices: list[str] = []  # sentences for the learner: a changed embedder, another process at work
        self._embedder = embedder
        self._agreed_at: int | None = None  # the data_version at which the embedder was last found to be the home's
        self._make_folder()
        super().__init__(Database(self.home / "memory.db", now=now), now=now)
        self._chroma = ChromaIndex(self.home)
        self._chroma_given_up = False
        self.chroma_put_off = False  # see _put_off_chroma
        self.languages = LanguageAxis(self)
        # Whoever needs several takes them in this order: _embedding, _chroma_lock, database.lock, _lock_file_guard.
        self._embedding = threading.RLock()
        self._chroma_lock = threading.RLock()
        self._lock_file = None
        self._lock_file_guard = threading.Lock()
        self._worker: threading.Thread | None = None
        self._wake = threading.Event()
        self._stopping = False
        self._warn_if_synced()

    def _warn_if_synced(self) -> None:
        """Once for a home and a service; `doctor` says it every time."""
        service = synced.service_of(self.home.absolute())
        if service and self.database.get_meta("synced_by") != service:
            self._notice(synced.warning(self.home, service))
            self.database.set_meta("synced_by", service)

    def _make_folder(self) -> None:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HomeError(
                tr(
                    f"The folder {self.home} cannot be made ({error.strerror}); choose another one with --home.",
                    f"无法创建文件夹 {self.home}（{error.strerror}）；请用 --home 换一个。",
                )
            ) from error

    def __enter__(self) -> "Storage":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _after_write(self) -> None:
        super()._after_write()
        if self._worker is not None:
            self._wake.set()

    # ---- searching by vectors ----

    def search_vectors(
        self, shelf: str, query, limit: int, *, scope: str | None = None, only: Iterable[int] | None = None
    ) -> list[tuple[int, float]]:
        """(id, cosine), best first. `query` (dim,) is unit length. Texts without a vector are absent."""
        if scope is None and only is None:
            found = self._search_chroma(shelf, query, limit)
            if found is not None:
                return found
        if scope is not None:
            in_scope = self.database.rows("SELECT id FROM texts WHERE shelf = ? AND scope = ?", (shelf, scope))
            only = [row["id"] for row in in_scope] if only is None else {row["id"] for row in in_scope} & set(only)
        with self.database.lock:
            self._matrices[shelf].sync()
            return self._matrices[shelf].search(query, limit, only=only)

    def _search_chroma(self, shelf: str, query, limit: int) -> list[tuple[int, float]] | None:
        """None when Chroma is not open, or owes this shelf anything: then the blobs know better."""
        if not self._chroma.is_open or len(query) != self._dimension():
            return None
        if self.database.value("SELECT 1 FROM pending WHERE op IN ('index', 'remove') AND shelf = ? LIMIT 1", (shelf,)):
            return None
        if not self._chroma_lock.acquire(blocking=False):  # the worker is writing; a search never waits for it
            return None
        try:
            found = self._chroma.search(shelf, query, limit) if self._chroma.is_open else None
        except IndexBroken:  # the folder was deleted under us; whoever settles next looks into it
            self._chroma.close()
            return None
        finally:
            self._chroma_lock.release()
        return None if found is None else self._without_outdated(shelf, found)

    def _without_outdated(self, shelf: str, found: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Without texts that were changed since: Chroma keeps the old text's vector until the new one is embedded."""
        sql = "SELECT id FROM pending WHERE +op = 'embed' AND shelf = ? AND id IN"
        outdated = {row["id"] for row in self.select_in(sql, [text_id for text_id, _ in found], (shelf,))}
        return [(text_id, cosine) for text_id, cosine in found if text_id not in outdated]

    def cosines(self, shelf: str, query, ids: Sequence[int]) -> dict[int, float]:
        """Cosine to `query` for those of `ids` that have a vector."""
        import numpy as np

        with self.database.lock:
            matrix = self._matrices[shelf]
            if len(matrix):
                matrix.sync()
                return matrix.cosines(query, ids)
        if len(query) != self._dimension():
            return {}
        rows = self.select_in("SELECT id, vector FROM vectors WHERE id IN", ids)
        if not rows:
            return {}
        stacked = np.frombuffer(b"".join(row["vector"] for row in rows), dtype=np.float32).reshape(len(rows), -1)
        return dict(zip([row["id"] for row in rows], (stacked @ query).tolist(), strict=True))

    # ---- the embedder: one per home ----

    @property
    def embedder(self):
        """The home's embedder, or None: words only. The first one to be used is recorded; a different one is refused
        with a notice, because vectors of two models cannot be compared; `switch_embedder` changes it."""
        with self.database.lock:
            version = self.database.data_version()  # another process may have switched
            if self._embedder is not None and self._agreed_at != version:
                self._check_embedder()
                self._agreed_at = version
            return self._embedder

    def use_embedder(self, embedder) -> None:
        """The embedder to use from now on; looked at when it is first needed, so that opening a home loads no model."""
        with self.database.lock:
            self._embedder, self._agreed_at = embedder, None

    def _check_embedder(self) -> None:
        try:
            agreed = self._record_embedder(self._embedder)
        except EmbedderUnavailable as error:
            self._notice(str(error))
            self._embedder = None
            return
        if not agreed:
            name, self._embedder = self._embedder.name, None
            known = self.recorded_embedder or tr(
                f"vectors of {self._dimension()} numbers", f"{self._dimension()} 维的向量"
            )
            self._notice(
                tr(
                    f"This home was indexed with {known}, not {name}; answering by words. "
                    f"To index it again: --embedder {name} with the command 'doctor --rebuild-index'.",
                    f"此文件夹是用 {known} 建立索引的，不是 {name}；现在按词语检索。"
                    f"如要重建索引：doctor --rebuild-index 加上 --embedder {name}。",
                )
            )

    def _record_embedder(self, embedder) -> bool:
        """Make it the home's embedder if the home has none yet, or none that was put to use. False: it has another one."""
        mine = (embedder.name, embedder.dimension)
        if (self.recorded_embedder, self._dimension()) == mine:  # looking does not wait for whoever is writing
            return True
        with self.transaction():
            name, dimension = recorded = (self.recorded_embedder, self._dimension())
            if recorded == mine:
                return True
            unused = self.database.value("SELECT 1 FROM vectors LIMIT 1") is None
            free = name is None and dimension in (None, embedder.dimension)
            if not free and not (unused and self.hold_vectors()):  # whoever holds them may be embedding just now
                return False
            self._set_embedder(embedder)
        return True

    def _set_embedder(self, embedder) -> None:
        self.database.set_meta("embedder", embedder.name)
        self.database.set_meta("dimension", str(embedder.dimension))

    @property
    def recorded_embedder(self) -> str | None:
        """Name of the embedder that makes this home's vectors, None before the first one was used."""
        return self.database.get_meta("embedder")

    def _dimension(self) -> int | None:
        recorded = self.database.get_meta("dimension")
        return None if recorded is None else int(recorded)

    def _agree_on_dimension(self, dimension: int) -> None:
        """All vectors of a home have as many numbers as its first one; others are a ValueError."""
        recorded = self._dimension()
        if recorded is None:
            self.database.set_meta("dimension", str(dimension))
        elif recorded != dimension:
            raise ValueError(f"this home's vectors have {recorded} numbers, not {dimension}")

    def switch_embedder(self, embedder) -> None:
        """Drop all vectors and owe new ones to every text; words answer meanwhile. The same embedder changes nothing.

        None means words only from now on; the vectors stay. HomeError while another process holds the vectors.
        """
        if embedder is None or (self.recorded_embedder, self._dimension()) == (embedder.name, embedder.dimension):
            self.use_embedder(embedder)
            return
        if not self.hold_vectors():
            raise HomeError(self.busy_sentence())
        with self._embedding, self._chroma_lock:
            with self.transaction() as db:
                self._set_embedder(embedder)
                self.database.set_meta("chroma", None)
                db.execute("DELETE FROM vectors")
                db.execute("DELETE FROM pending")
                db.execute("INSERT INTO pending (id, shelf, op) SELECT id, shelf, 'embed' FROM texts")
                for matrix in self._matrices.values():
                    matrix.forget()
            self.use_embedder(embedder)
            self._chroma.discard()
        self._after_write()

    def embed_query(self, text: str):
        """Unit vector (dim,) or None when this home has no embedder or it failed (a notice says why)."""
        if self.embedder is None:
            return None
        try:
            return self.embedder.embed_query(text)
        except EmbedderUnavailable as error:
            self._notice(str(error))
            return None

    def _notice(self, sentence: str) -> None:
        if sentence not in self.notices:
            self.notices.append(sentence)

    # ---- what is owed ----

    def owed(self) -> Owed:
        counts = {
            row["op"]: row["n"] for row in self.database.rows("SELECT op, count(*) AS n FROM pending GROUP BY op")
        }
        return Owed(**counts)

    def hold_vectors(self) -> bool:
        """Try to become the process that embeds and keeps Chroma. False while another process is."""
        with self._lock_file_guard:
            if self._lock_file is None:
                from filelock import FileLock, Timeout

                lock = FileLock(self.home / "vectors.lock", thread_local=False)
                try:
                    lock.acquire(timeout=0)
                except Timeout:
                    return False
                except OSError as error:
                    raise HomeError(
                        tr(
                            f"{lock.lock_file} cannot be written ({error.strerror}); choose another folder with --home.",
                            f"无法写入 {lock.lock_file}（{error.strerror}）；请用 --home 换一个文件夹。",
                        )
                    ) from error
                self._lock_file = lock
            return True

    def settle(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        chroma: bool = True,
        indexing: Callable[[int, int], None] | None = None,
    ) -> Owed:
        """Do everything that is owed, in this thread. `progress(done, total)` counts vectors as they are made, `indexing` as
        they reach Chroma. Returns what is left: vectors when there is no embedder, everything when another process holds the
        vectors. An embedder that fails is an EmbedderUnavailable, raised after everything else is done."""
        if not self.hold_vectors():
            return self.owed()
        try:
            self._embed_all(progress)
        except EmbedderUnavailable:
            if chroma:
                self._settle_chroma(indexing)
            raise
        if chroma:
            self._settle_chroma(indexing)
        return self.owed()

    def _embed_all(self, progress: Callable[[int, int], None] | None) -> None:
        total, done = self.owed().embed, 0
        while not self._stopping and (count := self._embed_some()):
            done += count
            if progress:
                progress(done, max(total, done))

    def _embed_some(self) -> int:
        with self._embedding:
            embedder = self.embedder
            if embedder is None:
                return 0
            batch = self.database.rows(
                "SELECT p.n, t.* FROM pending p CROSS JOIN texts t ON t.id = p.id AND t.shelf = p.shelf "
                "WHERE p.op = 'embed' ORDER BY p.n LIMIT ?",
                (EMBED_BATCH,),
            )
            if not batch:
                return 0
            vectors = embedder.embed_passages([self._text(row).embedded_text for row in batch])
            _require_sound(vectors, len(batch), embedder)
            with self.transaction() as db:
                for row, vector in zip(batch, vectors, strict=True):
                    # A mark with another n was written while we embedded: the text has changed, its new mark stands.
                    if db.execute("UPDATE pending SET op = 'index' WHERE n = ? AND op = 'embed'", (row["n"],)).rowcount:
                        self._add_vectors(db, [(row["id"], vector)])
        return len(batch)

    def _settle_chroma(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring Chroma up to date; if it cannot, try once more with a new folder, then leave it: the blobs answer as well."""
        if self.chroma_put_off:
            with self.transaction() as db:  # whoever begins the new folder owes it every vector anyway
                db.execute("DELETE FROM pending WHERE op != 'embed'")
            return
        if self._chroma_given_up or self._needs_no_chroma():
            return
        try:
            self._follow_marks(progress)
        except IndexBroken:
            with self._chroma_lock:
                self._chroma.discard()  # if the disk is full, this makes room
            try:
                self._new_chroma()
                self._follow_marks(progress)
            except IndexBroken as error:
                self._give_up_chroma(error)

    def _needs_no_chroma(self) -> bool:
        """A home of words only need not import Chroma to hear that nothing is in it."""
        if self._chroma.is_open or self.database.get_meta("chroma") is not None:
            return False
        if self.database.value("SELECT 1 FROM vectors LIMIT 1") is not None:
            return False
        with self.transaction() as db:
            db.execute("DELETE FROM pending WHERE op = 'remove'")
        return True

    def _give_up_chroma(self, error: IndexBroken) -> None:
        with self._chroma_lock:
            self._chroma.discard()
        self._chroma_given_up = True
        self._notice(
            tr(
                f"The vector index in {self.home / 'chroma'} cannot be written ({error}); searching without it. "
                "Check the disk, then run 'doctor --rebuild-index'.",
                f"无法写入 {self.home / 'chroma'} 中的向量索引（{error}）；暂不使用它进行检索。"
                "请检查磁盘，然后运行 doctor --rebuild-index。",
            )
        )

    def _follow_marks(self, progress: Callable[[int, int], None] | None) -> None:
        done = 0
        while not self._stopping:
            with self._chroma_lock:
                if self.chroma_put_off:
                    return
                if not self._chroma.is_open:
                    self._open_chroma()
                count = self._index_some() or self._unindex_some()
            if not count:
                return
            done += count
            if progress:
                left = self.owed()
                progress(done, done + left.index + left.remove)

    def _open_chroma(self) -> None:
        build = self.database.get_meta("chroma")
        if build is None or not self._chroma.open(build) or not self._counts_agree():
            self._new_chroma()

    def _new_chroma(self) -> None:
        """Begin an empty Chroma folder and owe it every vector. After the commit the old folder belongs to nobody."""
        with self._chroma_lock:
            build = uuid.uuid4().hex[:12]
            with self.transaction() as db:
                self.database.set_meta("chroma", build)
                db.execute("DELETE FROM pending WHERE op != 'embed'")
                db.execute(
                    "INSERT OR REPLACE INTO pending (id, shelf, op) "
                    "SELECT t.id, t.shelf, 'index' FROM vectors v JOIN texts t USING (id)"
                )
            self._chroma.create(build)

    def _counts_agree(self) -> bool:
        """Whether each shelf's count in Chroma is what the marks can explain. The ids are compared only by `verify`."""
        for shelf in SHELVES:
            settled = self.database.value(
                "SELECT count(*) FROM texts t JOIN vectors v USING (id) WHERE t.shelf = ? "
                "AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.id = t.id AND p.shelf = t.shelf)",
                (shelf,),
            )
            owed = self.database.value("SELECT count(*) FROM pending WHERE shelf = ?", (shelf,))
            if not settled <= self._chroma.count(shelf) <= settled + owed:
                return False
        return True

    def _index_some(self) -> int:
        import numpy as np

        batch = self.database.rows(
            "SELECT p.n, p.shelf, p.id, v.vector FROM pending p CROSS JOIN vectors v ON v.id = p.id "
            "WHERE p.op = 'index' ORDER BY p.n LIMIT ?",
            (INDEX_BATCH,),
        )
        for shelf in SHELVES:
            part = [row for row in batch if row["shelf"] == shelf]
            if part:
                rows = np.frombuffer(b"".join(row["vector"] for row in part), dtype=np.float32).reshape(len(part), -1)
                self._chroma.upsert(shelf, [row["id"] for row in part], rows)
        self._clear_marks(batch)
        return len(batch)

    def _unindex_some(self) -> int:
        batch = self.database.rows("SELECT n, shelf, id FROM pending WHERE op = 'remove' LIMIT ?", (INDEX_BATCH,))
        for shelf in SHELVES:
            self._chroma.remove(shelf, [row["id"] for row in batch if row["shelf"] == shelf])
        self._clear_marks(batch)
        return len(batch)

    def _clear_marks(self, batch: Sequence[Row]) -> None:
        """By n, not by id: a mark that was renewed meanwhile stands for a newer change."""
        if batch:
            with self.transaction() as db:
                db.executemany("DELETE FROM pending WHERE n = ?", ((row["n"],) for row in batch))

    def rebuild_index(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        indexing: Callable[[int, int], None] | None = None,
    ) -> Owed:
        """Rebuild Chroma from the blobs, and embed whatever lacks a vector. Returns what is still owed. See `settle`."""
        if not self.hold_vectors():
            raise HomeError(self.busy_sentence())
        with self.transaction() as db:
            self._owe_missing_vectors(db)
        self._chroma_given_up = False
        self._drop_chroma()
        return self.settle(progress, indexing=indexing)

    @staticmethod
    def _owe_missing_vectors(db: Connection) -> None:
        """A mark for every text that has neither vector nor mark, which only a fault or a hand in the file can bring about."""
        db.execute(
            "DELETE FROM pending WHERE op != 'remove' AND NOT EXISTS "
            "(SELECT 1 FROM texts t WHERE t.id = pending.id AND t.shelf = pending.shelf)"
        )
        db.execute(
            "INSERT OR REPLACE INTO pending (id, shelf, op) SELECT id, shelf, 'embed' FROM texts WHERE id NOT IN "
            "(SELECT id FROM vectors UNION SELECT id FROM pending WHERE op = 'embed')"
        )

    @contextmanager
    def rewriting(self) -> Iterator[Connection]:
        """For whoever puts other rows in place of all there are (restore), in one transaction. Words and marks are made from
        the new rows; Chroma follows with the next `settle`. HomeError while another process holds the vectors."""
        if not self.hold_vectors():
            raise HomeError(self.busy_sentence())
        with self._embedding, self._chroma_lock:
            with self.transaction() as db:
                yield db
                self.database.set_meta("chroma", None)
                self._index_words(db)
                db.execute("DELETE FROM pending")
                self._owe_missing_vectors(db)
                for matrix in self._matrices.values():
                    matrix.forget()
            self.use_embedder(self._embedder)
            self._chroma.discard()
        self._after_write()

    def _drop_chroma(self) -> None:
        """Whoever settles next begins a new folder. Without the lock file this leaves the folder to its owner."""
        self.database.set_meta("chroma", None)
        if self.hold_vectors():
            with self._chroma_lock:
                self._chroma.discard()

    def _put_off_chroma(self) -> None:
        """No Chroma any more in this process. Its HNSW files are written from memory that was never cleared, so they can hold
        pieces of whatever this process had in memory before: of what was just deleted, for one. The next process begins a new
        folder; until then the blobs answer."""
        with self._chroma_lock:
            self.chroma_put_off = True
            self._drop_chroma()

    @staticmethod
    def busy_sentence() -> str:
        return tr(
            "Another process is using this home's vectors; close it and try again.",
            "另一个进程正在使用此文件夹的向量索引；请关闭它后重试。",
        )

    # ---- the background worker ----

    def start_worker(self) -> None:
        """Settle what is owed in the background: now, after each write, and when another process has left something.
        Harmless when it already runs."""
        with self._lock_file_guard:
            if self._worker is None and self._embedder is not None:
                self._wake.set()
                self._worker = threading.Thread(target=self._work, name="vectors", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        pause = POLL_SECONDS
        while True:
            self._wake.wait(pause)
            self._wake.clear()
            if self._stopping:
                return
            try:
                self.settle()
                pause = POLL_SECONDS
            except StudyError as error:
                self._notice(str(error))
                pause = min(2 * pause, LONGEST_PAUSE)
            except Exception as error:  # noqa: BLE001  a fault in an embedder must not end the learner's session, nor go unseen
                self._notice(
                    tr(
                        f"Indexing in the background failed ({error}); words still answer. Run 'doctor' to see more.",
                        f"后台索引失败（{error}）；仍可按词语检索。运行 doctor 查看详情。",
                    )
                )
                pause = min(2 * pause, LONGEST_PAUSE)

    # ---- keeping house ----

    def verify(self) -> Report:
        """Compare SQLite, words, blobs and Chroma id by id. Only for `doctor` and tests: it reads everything."""
        report = Report(texts=self.database.value("SELECT count(*) FROM texts"))
        if not self.hold_vectors():
            report.problems.append(self.busy_sentence())
            return report
        try:
            with self._chroma_lock:
                if not (self._chroma.is_open or self.chroma_put_off or self._needs_no_chroma()):
                    self._open_chroma()
                with self.transaction():  # nobody writes between two looks
                    for shelf in SHELVES:
                        self._verify_shelf(shelf, report)
        except IndexBroken as error:
            report.problems.append(f"Chroma: {error}")
        return report

    def _verify_shelf(self, shelf: str, report: Report) -> None:
        def ids(sql: str) -> set[int]:
            return {row[0] for row in self.database.rows(sql)}

        rows = ids(f"SELECT id FROM texts WHERE shelf = '{shelf}'")
        words = ids(f"SELECT rowid FROM words_{shelf}")
        blobs = ids(f"SELECT v.id FROM vectors v JOIN texts t USING (id) WHERE t.shelf = '{shelf}'")
        owed = {
            op: ids(f"SELECT id FROM pending WHERE shelf = '{shelf}' AND op = '{op}'")
            for op in ("embed", "index", "remove")
        }
        indexed = self._chroma.ids(shelf) if self._chroma.is_open else set()
        compared = [("words", words, rows), ("vectors", blobs, rows - owed["embed"])]
        if not self.chroma_put_off:
            settled = indexed - owed["remove"] - owed["index"] - owed["embed"]
            compared.append(("Chroma", settled, blobs - owed["index"]))
        for name, there, expected in compared:
            if there != expected:
                report.problems.append(
                    tr(
                        f"{shelf}: {name} lacks {len(expected - there)} and has {len(there - expected)} too many",
                        f"{shelf}：{name} 缺少 {len(expected - there)} 条，多出 {len(there - expected)} 条",
                    )
                )

    def erase_traces(self) -> None:
        """After a removal that must be real: no byte of removed text stays in SQLite, the word index, the log, Chroma, or in
        backups and exports inside the home, which are deleted. HomeError when something is in the way, such as another
        process that is reading; what is left to do stays owed, see `finish_erasing`."""
        self.database.set_meta(ERASING, "1")
        self._put_off_chroma()
        delete_copies(self.home)
        self.database.erase_traces()
        if self.hold_vectors():
            self.database.set_meta(ERASING, None)
        else:
            self._notice(
                tr(
                    "The text is deleted; the vector index, which another process is using now, goes at the next start.",
                    "文本已删除；另一个进程正在使用的向量索引将在下次启动时清除。",
                )
            )
        self._after_write()

    @property
    def owes_erasing(self) -> bool:
        """True when a real deletion was interrupted, or somebody stood in its way."""
        return self.database.get_meta(ERASING) is not None

    def finish_erasing(self) -> None:
        """Go on with a real deletion that could not be finished. HomeError as in `erase_traces`."""
        if self.owes_erasing and self.hold_vectors():
            self.erase_traces()

    def close(self) -> None:
        """Stop the worker after its current batch, close Chroma, release the lock. Marks that are left are next time's."""
        self._stopping = True
        if self._worker is not None:
            self._wake.set()
            self._worker.join()
        with self._chroma_lock:
            self._chroma.close()
        with self._lock_file_guard:
            if self._lock_file is not None:
                self._lock_file.release()
                self._lock_file = None
        self.database.close()


def _require_sound(vectors, count: int, embedder) -> None:
    """A vector that is not a number, or one too few, would poison every later comparison."""
    import numpy as np

    if vectors.shape != (count, embedder.dimension) or not np.isfinite(vectors).all():
        raise EmbedderUnavailable(
            tr(
                f"{embedder.name} gave vectors that cannot be used; choose another one with --embedder.",
                f"{embedder.name} 返回的向量不可用；请用 --embedder 换一个。",
            )
        )
