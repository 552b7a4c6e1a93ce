"""Vectors: exact cosines over the blobs kept in memory, and Chroma as a derived, disposable index of the same blobs.

    blobs in SQLite --> VectorMatrix   exact, any subset, 6 ms for 100,000 rows
                    --> ChromaIndex    the whole shelf without holding it in memory; one process at a time

Chroma is single-process: a second reading process fails most of its queries and two writers can leave a folder that crashes
at `count()`. So one process holds a file lock for it; everybody else answers from the blobs.

A crash inside Chroma takes the process with it, so nothing can be caught: files tell the next start what happened.
`chroma.opening` stands while a folder is opened and tried out: found again, that folder is never opened a second time.
`chroma.writing` grows by a byte with each write that was begun and not finished: one may have been a kill, two are a pattern.
"""

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from infrastructure.database import Database

MARKER = "chroma.opening"
WRITING = "chroma.writing"
UNFINISHED_WRITES = 2  # so many in a row, and the folder is thought to be what kills us
ROWS_AT_ONCE = 10_000  # blobs read in one piece: 15 MB


class VectorMatrix:
    """The vectors of one shelf as rows of one array, kept in step with SQLite at every search.

    Row order is arbitrary: a removed row is overwritten by the last one. Not thread-safe; Storage serialises access.
    """

    def __init__(self, database: Database, shelf: str) -> None:
        self._database = database
        self._shelf = shelf
        self.forget()

    def forget(self) -> None:
        """Drop everything, so that the next use reads it again."""
        self._row_of: dict[int, int] = {}
        self._ids = self._rows = None  # (capacity,) int64 and (capacity, dim) float32; the first len(self) are in use
        self._newest = 0
        self._seen_version: int | None = None
        self._provisional: int | None = None

    def __len__(self) -> int:
        return len(self._row_of)

    def discard(self, ids: Iterable[int]) -> None:
        """Drop these rows. Inside the transaction that deletes them, so that nobody adds them anew in between."""
        self._follow_transaction()
        for text_id in ids:
            row = self._row_of.pop(text_id, None)
            if row is None:
                continue
            last = len(self)
            if row != last:
                self._rows[row], self._ids[row] = self._rows[last], self._ids[last]
                self._row_of[int(self._ids[last])] = row

    def _follow_transaction(self) -> None:
        """What is seen inside a transaction counts only if that is not rolled back; after a rollback, start afresh."""
        if self._provisional not in (None, self._database.rollbacks):
            self.forget()
        self._provisional = self._database.rollbacks if self._database.in_transaction else None

    def sync(self) -> None:
        """Take in what was written since the last call, by us or by another process."""
        self._follow_transaction()
        version = self._database.data_version()
        others_wrote = self._seen_version is not None and version != self._seen_version
        self._seen_version = version
        # Of all shelves, or each look at this one would pass the vectors of the others again.
        newest = self._database.value("SELECT max(n) FROM vectors") or 0
        while self._take(self._fresh()) == ROWS_AT_ONCE:
            pass
        self._newest = max(self._newest, newest)
        if others_wrote:
            there = self._database.rows(
                "SELECT v.id FROM texts t JOIN vectors v USING (id) WHERE t.shelf = ?", (self._shelf,)
            )
            self.discard(self._row_of.keys() - {row["id"] for row in there})

    def _fresh(self) -> list:
        # CROSS JOIN: begin with the few new vectors; SQLite on its own begins with all texts of the shelf.
        return self._database.rows(
            "SELECT v.n, v.id, v.vector FROM vectors v CROSS JOIN texts t ON t.id = v.id "
            f"WHERE v.n > ? AND t.shelf = ? ORDER BY v.n LIMIT {ROWS_AT_ONCE}",
            (self._newest, self._shelf),
        )

    def _take(self, fresh: list) -> int:
        """Put rows (n, id, vector) into the array; returns how many there were."""
        import numpy as np

        if not fresh:
            return 0
        dimension = len(fresh[0]["vector"]) // 4
        if self._rows is not None and self._rows.shape[1] != dimension:
            version = self._seen_version
            self.forget()  # another process changed the embedder: nothing old is left, and n went on counting
            self._follow_transaction()
            self._seen_version = version
        if self._rows is None:
            self._ids, self._rows = np.empty(0, dtype=np.int64), np.empty((0, dimension), dtype=np.float32)
        self._ids, self._rows = (_with_room(array, len(self) + len(fresh)) for array in (self._ids, self._rows))
        places = [self._row_of.setdefault(row["id"], len(self)) for row in fresh]
        self._ids[places] = [row["id"] for row in fresh]
        vectors = np.frombuffer(b"".join(row["vector"] for row in fresh), dtype=np.float32)
        self._rows[places] = vectors.reshape(-1, dimension)
        self._newest = fresh[-1]["n"]
        return len(fresh)

    def search(self, query, limit: int, *, only: Iterable[int] | None = None) -> list[tuple[int, float]]:
        """(id, cosine), best first. `query` (dim,) is unit length; `only` restricts to these ids; no rows gives []."""
        import numpy as np

        if not self._fits(query):
            return []
        ids, rows = self._ids[: len(self)], self._rows[: len(self)]
        if only is None:
            scores = rows @ query
        else:
            chosen = np.isin(ids, np.fromiter(only, dtype=np.int64)).nonzero()[0]
            # Copying many rows costs more than multiplying all of them.
            scores = (rows @ query)[chosen] if 4 * len(chosen) > len(ids) else rows[chosen] @ query
            ids = ids[chosen]
        best = _top(scores, limit)
        return list(zip(ids[best].tolist(), scores[best].tolist(), strict=True))

    def cosines(self, query, ids: Sequence[int]) -> dict[int, float]:
        """Cosine for those of `ids` that have a vector; the others are absent from the answer."""
        known = [text_id for text_id in ids if text_id in self._row_of]
        if not known or not self._fits(query):
            return {}
        scores = self._rows[[self._row_of[text_id] for text_id in known]] @ query
        return dict(zip(known, scores.tolist(), strict=True))

    def _fits(self, query) -> bool:
        """False without rows, and for a query of another embedder's dimension: those have no cosine."""
        return bool(self._row_of) and len(query) == self._rows.shape[1]


def _with_room(array, needed: int):
    """An array of at least `needed` rows that begins with those of `array`; half as large again when it must grow."""
    import numpy as np

    if needed <= len(array):
        return array
    capacity = max(64, needed * 3 // 2 if len(array) else needed)
    larger = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _top(scores, limit: int) -> list[int]:
    """Positions of the `limit` highest scores, best first; ties by position, so results repeat."""
    import numpy as np

    if limit <= 0:
        return []
    candidates = np.argpartition(-scores, limit - 1)[:limit] if len(scores) > limit else np.arange(len(scores))
    return candidates[np.lexsort((candidates, -scores[candidates]))].tolist()


class IndexBroken(Exception):
    """Chroma could not do what it was asked. Never shown: the blobs answer, and the folder is built anew."""


class ChromaIndex:
    """Persistent Chroma, one collection a shelf, ids are the texts' row ids, no text inside.

    Each build has a folder of its own, `chroma/<build>`, and SQLite holds the name of the build that belongs to it: so
    starting afresh is one row in SQLite and cannot be half done. (A path that failed to open cannot be opened again in the
    same process either: Chroma keeps the broken client in a cache.) Only the holder of the home's vector lock may open one.
    Whatever Chroma cannot do is an IndexBroken.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home / "chroma"
        self._marker = home / MARKER
        self._writing = home / WRITING
        self._client = None
        self._collections: dict[str, object] = {}

    @property
    def is_open(self) -> bool:
        return self._client is not None

    # ---- opening ----

    def open(self, build: str) -> bool:
        """Open the folder of a build (importing Chroma takes about 1 s). False when it is gone or not to be trusted."""
        if self._marker.exists() or self._unfinished_writes() >= UNFINISHED_WRITES:
            return False
        if not (self._folder / build).is_dir():
            return False
        sound = False
        try:
            with self._opening():
                self._connect(build)
                sound = self._answers()
        except IndexBroken:
            pass
        finally:
            if not sound:
                self.close()
        return sound

    def create(self, build: str) -> None:
        """Delete all builds and begin an empty one: Chroma's own deletes leave the bytes behind."""
        self.discard()
        with self._opening():
            (self._folder / build).mkdir(parents=True, exist_ok=True)
            self._connect(build)

    def discard(self) -> None:
        """Close, and delete whatever there is."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        for path in (self._folder, self._marker, self._writing):  # a file where the folder should be goes, too
            with contextlib.suppress(OSError):
                path.unlink()

    def close(self) -> None:
        self._collections.clear()
        if self._client is not None:
            with contextlib.suppress(Exception):  # a client that cannot be closed is dropped all the same
                self._client.close()
            self._client = None

    def _connect(self, build: str) -> None:
        import chromadb
        from chromadb.config import Settings

        self._client = chromadb.PersistentClient(
            str(self._folder / build), settings=Settings(anonymized_telemetry=False)
        )

    def _answers(self) -> bool:
        """Whether every collection can be counted and searched: a damaged one says so here, or dies here, under the marker."""
        for collection in self._client.list_collections():
            count = collection.count()
            if count:
                some = collection.get(limit=1, include=["embeddings"])["embeddings"]
                found = collection.query(query_embeddings=some, n_results=min(count, 10), include=[])["ids"][0]
                if len(found) < min(count, 10):
                    return False
        return True

    @contextlib.contextmanager
    def _opening(self) -> Iterator[None]:
        with _chroma_errors():
            self._marker.touch()
            try:
                yield
            finally:
                self._marker.unlink(missing_ok=True)

    def _unfinished_writes(self) -> int:
        return self._writing.stat().st_size if self._writing.exists() else 0

    # ---- reading and writing ----

    def _collection(self, shelf: str):
        if shelf not in self._collections:
            self._collections[shelf] = self._client.get_or_create_collection(
                f"{shelf}s", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collections[shelf]

    def count(self, shelf: str) -> int:
        with _chroma_errors():
            return self._collection(shelf).count()

    def ids(self, shelf: str) -> set[int]:
        with _chroma_errors():
            return {int(text_id) for text_id in self._collection(shelf).get(include=[])["ids"]}

    def search(self, shelf: str, query, limit: int) -> list[tuple[int, float]]:
        """(id, cosine), best first; an empty shelf gives []."""
        with _chroma_errors():
            found = self._collection(shelf).query(query_embeddings=[query], n_results=limit, include=["distances"])
        return [(int(i), 1.0 - d) for i, d in zip(found["ids"][0], found["distances"][0], strict=True)]

    def upsert(self, shelf: str, ids: Sequence[int], vectors) -> None:
        """vectors: (n, dim) float32, n = len(ids), in the same order."""
        with self._a_write():
            step = self._client.get_max_batch_size()
            for start in range(0, len(ids), step):
                part = slice(start, start + step)
                self._collection(shelf).upsert(ids=[str(i) for i in ids[part]], embeddings=vectors[part])

    def remove(self, shelf: str, ids: Sequence[int]) -> None:
        """Ids that are not there are skipped."""
        if ids and self.count(shelf):
            with self._a_write():
                self._collection(shelf).delete(ids=[str(i) for i in ids])

    @contextlib.contextmanager
    def _a_write(self) -> Iterator[None]:
        with _chroma_errors():
            with self._writing.open("ab") as file:
                file.write(b".")
            yield
            self._writing.unlink()


@contextlib.contextmanager
def _chroma_errors() -> Iterator[None]:
    """Chroma raises whatever its Rust core raises, panics included, which are not even Exceptions."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise IndexBroken(f"{type(error).__name__}: {error}") from error
