"""Vectors: exact cosines over the blobs kept in memory, and Chroma as a derived, disposable index of the same blobs.

    blobs in SQLite --> VectorMatrix   exact, any subset, 6 ms for 100,000 rows
                    --> ChromaIndex    the whole shelf without holding it in memory; one process at a time

Chroma is single-process: a second reading process fails most of its queries and two writers can leave a folder that crashes
at `count()`. So one process holds a file lock for it; everybody else answers from the blobs. A marker file stands while
Chroma is being opened: found at the next start, it means the opening killed us, and the folder is rebuilt from the blobs.
"""

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from infrastructure.database import Database

MARKER = "chroma.opening"


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
        self._ids: list[int] = []
        self._row_of: dict[int, int] = {}
        self._rows = None  # (capacity, dim) float32; the first len(_ids) rows are in use
        self._newest = 0
        self._seen_version: int | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def discard(self, ids: Iterable[int]) -> None:
        for text_id in ids:
            row = self._row_of.pop(text_id, None)
            if row is None:
                continue
            last_id = self._ids.pop()
            if last_id != text_id:
                self._rows[row] = self._rows[len(self._ids)]
                self._ids[row] = last_id
                self._row_of[last_id] = row

    def sync(self) -> None:
        """Take in what was written since the last call, by us or by another process."""
        import numpy as np

        version = self._database.data_version()
        others_wrote = self._seen_version is not None and version != self._seen_version
        self._seen_version = version
        fresh = self._database.rows(
            "SELECT v.n, v.id, v.vector FROM vectors v JOIN texts t USING (id) WHERE v.n > ? AND t.shelf = ? ORDER BY v.n",
            (self._newest, self._shelf),
        )
        if fresh and self._rows is not None and len(fresh[0]["vector"]) != 4 * self._rows.shape[1]:
            self.forget()  # another process changed the embedder: other dimensions, nothing old is left
            self.sync()
            return
        for row in fresh:
            self._put(row["id"], np.frombuffer(row["vector"], dtype=np.float32))
        if fresh:
            self._newest = fresh[-1]["n"]
        if others_wrote:
            there = self._database.rows(
                "SELECT v.id FROM vectors v JOIN texts t USING (id) WHERE t.shelf = ?", (self._shelf,)
            )
            self.discard(set(self._ids) - {row["id"] for row in there})

    def _put(self, text_id: int, vector) -> None:
        import numpy as np

        row = self._row_of.get(text_id)
        if row is None:
            row = len(self._ids)
            if self._rows is None:
                self._rows = np.empty((64, len(vector)), dtype=np.float32)
            elif row == len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._ids.append(text_id)
            self._row_of[text_id] = row
        self._rows[row] = vector

    def search(self, query, limit: int, *, only: Iterable[int] | None = None) -> list[tuple[int, float]]:
        """(id, cosine), best first. `query` (dim,) is unit length; `only` restricts to these ids; no rows gives []."""
        import numpy as np

        if not self._ids:
            return []
        if only is None:
            rows = None
            scores = self._rows[: len(self._ids)] @ query
        else:
            rows = [self._row_of[text_id] for text_id in only if text_id in self._row_of]
            scores = self._rows[rows] @ query if rows else np.empty(0, dtype=np.float32)
        best = _top(scores, limit)
        return [(self._ids[i if rows is None else rows[i]], float(scores[i])) for i in best]

    def cosines(self, query, ids: Sequence[int]) -> dict[int, float]:
        """Cosine for those of `ids` that have a vector; the others are absent from the answer."""
        known = [text_id for text_id in ids if text_id in self._row_of]
        if not known:
            return {}
        scores = self._rows[[self._row_of[text_id] for text_id in known]] @ query
        return dict(zip(known, scores.tolist(), strict=True))


def _top(scores, limit: int) -> list[int]:
    """Positions of the `limit` highest scores, best first; ties by position, so results repeat."""
    import numpy as np

    if len(scores) > limit:
        candidates = np.argpartition(-scores, limit - 1)[:limit]
    else:
        candidates = np.arange(len(scores))
    return candidates[np.lexsort((candidates, -scores[candidates]))].tolist()


class ChromaIndex:
    """Persistent Chroma, one collection a shelf, ids are the texts' row ids, no text inside.

    Only the process that holds the home's vector lock may construct one.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home / "chroma"
        self._marker = home / MARKER
        self._client = None
        self._collections: dict[str, object] = {}
        self.was_rebuilt = False

    @property
    def is_open(self) -> bool:
        return self._client is not None

    def open(self) -> None:
        """Import Chroma (about 1 s) and open the folder; one left behind by a crash while opening is thrown away first."""
        if self._marker.exists():
            self._discard_folder()
        self._marker.touch()
        try:
            self._client = self._connect()
            for collection in self._client.list_collections():
                collection.count()
        except Exception:  # noqa: BLE001  Chroma raises whatever its Rust core raises; the folder is derived, so start afresh
            self._close_client()
            self._discard_folder()
            self._client = self._connect()
        self._marker.unlink(missing_ok=True)

    def _connect(self):
        import chromadb
        from chromadb.config import Settings

        return chromadb.PersistentClient(str(self._folder), settings=Settings(anonymized_telemetry=False))

    def discard(self) -> None:
        """Delete the folder while it is not open."""
        self._discard_folder()

    def _discard_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._collections.clear()
        self.was_rebuilt = True

    def _collection(self, shelf: str):
        if shelf not in self._collections:
            self._collections[shelf] = self._client.get_or_create_collection(
                f"{shelf}s", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collections[shelf]

    def count(self, shelf: str) -> int:
        return self._collection(shelf).count()

    def ids(self, shelf: str) -> set[int]:
        return {int(text_id) for text_id in self._collection(shelf).get(include=[])["ids"]}

    def upsert(self, shelf: str, ids: Sequence[int], vectors) -> None:
        """vectors: (n, dim) float32, n = len(ids), in the same order."""
        step = self._client.get_max_batch_size()
        for start in range(0, len(ids), step):
            part = slice(start, start + step)
            self._collection(shelf).upsert(ids=[str(i) for i in ids[part]], embeddings=vectors[part])

    def remove(self, shelf: str, ids: Sequence[int]) -> None:
        if ids and self._collection(shelf).count():
            self._collection(shelf).delete(ids=[str(i) for i in ids])

    def search(self, shelf: str, query, limit: int) -> list[tuple[int, float]]:
        """(id, cosine), best first."""
        found = self._collection(shelf).query(query_embeddings=[query], n_results=limit, include=["distances"])
        return [(int(i), 1.0 - d) for i, d in zip(found["ids"][0], found["distances"][0], strict=True)]

    def reset(self) -> None:
        """Delete the folder and start an empty one: Chroma's own deletes leave the bytes behind."""
        self._close_client()
        self._discard_folder()
        self._client = self._connect()

    def _close_client(self) -> None:
        self._collections.clear()
        if self._client is not None:
            with contextlib.suppress(Exception):  # a client that cannot be closed is dropped all the same
                self._client.close()
            self._client = None

    def close(self) -> None:
        self._close_client()
