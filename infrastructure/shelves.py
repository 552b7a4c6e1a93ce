"""Texts on their shelves: the rows, the words they are found by, and the marks for what is still owed to their vectors.

    shelf   a set of texts that are searched together, with statistics of its own: see infrastructure/schema.py
    change  row + words + pending mark, in one transaction: when it returns, the text is found by its words
    search  FTS5 nominates and scores with its bm25; what ranks in the end is infrastructure/ranking.py

Only SQLite is known here. Vectors, Chroma, the embedder and the worker are Storage's, which is these shelves and more.
"""

import hashlib
import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from sqlite3 import Connection, Row

from infrastructure.database import Database, to_iso
from infrastructure.schema import SHELVES, make_words
from infrastructure.text import tokens
from infrastructure.vectors import VectorMatrix

COMMON_TERM_SHARE = 0.05  # a term in more than 5 % of the rows costs 90 ms at 100,000 rows and ranks nothing
COMMON_TERM_ROWS = 2_000  # ... but in a small shelf every term is cheap, so all are used
SCORED_ROWS = 6_000  # bm25 costs 2 µs a row: the rarest terms that stand in so many rows together are enough
SQL_VARIABLES = 900  # SQLite allows 999 host parameters in its oldest builds
MEAN_LENGTH = "mean length"  # no term has a space in it
READ_BATCH = 1_000  # texts read at a time where all of them are


@dataclass(frozen=True, slots=True)
class Text:
    """What the search machinery knows of a chunk or a memory. `scope` is its document or session."""

    key: str
    scope: str
    content: str
    heading: str = ""
    shelf: str = ""
    position: int = -1
    id: int = -1
    words: Sequence[str] | None = None  # its tokens, where somebody has them at hand

    @property
    def embedded_text(self) -> str:
        """What is embedded and indexed: the heading says what a passage is about when the passage itself does not."""
        return f"{self.heading}\n{self.content}" if self.heading else self.content


class Shelves:
    """The texts of one home. Not opened by itself: Storage is one."""

    def __init__(self, database: Database, *, now: Callable[[], datetime]) -> None:
        self.database = database
        self.now = now
        self._matrices: Mapping[str, VectorMatrix] = {shelf: VectorMatrix(database, shelf) for shelf in SHELVES}
        self._counted: dict[object, float] = {}
        self._counted_at: object = None

    # ---- writing texts ----

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Rows, words and pending marks that belong together go in one of these."""
        with self.database.transaction() as db:
            yield db

    def add_texts(self, shelf: str, texts: Sequence[Text], *, vectors=None) -> list[int]:
        """Store texts and their words; returns row ids in the same order. `vectors` (n, dim) unit rows, if at hand.

        Without vectors the texts are marked for the worker. Positions continue each scope's own count.
        """
        if not texts:
            return []
        with self.transaction() as db:
            first = 1 + (self.database.value("SELECT seq FROM sqlite_sequence WHERE name = 'texts'") or 0)
            ids = list(range(first, first + len(texts)))
            positions = self._next_positions(shelf, texts)
            db.executemany(
                "INSERT INTO texts (id, key, shelf, scope, position, heading, content) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (i, text.key, shelf, text.scope, position, text.heading, text.content)
                    for i, text, position in zip(ids, texts, positions, strict=True)
                ),
            )
            self._add_words(db, shelf, zip(ids, texts, strict=True))
            if vectors is None:
                self._owe(db, shelf, ids, "embed")
            else:
                self._agree_on_dimension(len(vectors[0]))
                self._add_vectors(db, zip(ids, vectors, strict=True))
                self._owe(db, shelf, ids, "index")
        self._after_write()
        return ids

    def replace_text(self, key: str, content: str, *, heading: str = "") -> None:
        """Give a text new content under the same key and id; its old words and vector are gone at once."""
        with self.transaction() as db:
            row = self._require(key)
            db.execute("UPDATE texts SET content = ?, heading = ? WHERE id = ?", (content, heading, row["id"]))
            db.execute(f"DELETE FROM words_{row['shelf']} WHERE rowid = ?", (row["id"],))
            db.execute("DELETE FROM vectors WHERE id = ?", (row["id"],))
            self._add_words(db, row["shelf"], [(row["id"], Text(key, row["scope"], content, heading))])
            self._owe(db, row["shelf"], [row["id"]], "embed")
            self._matrices[row["shelf"]].discard([row["id"]])
        self._after_write()

    def move_text(self, key: str, shelf: str) -> None:
        """Put a text on another shelf, e.g. into the archive and back. Its vector goes with it."""
        with self.transaction() as db:
            row = self._require(key)
            if row["shelf"] == shelf:
                return
            db.execute("UPDATE texts SET shelf = ? WHERE id = ?", (shelf, row["id"]))
            db.execute(f"DELETE FROM words_{row['shelf']} WHERE rowid = ?", (row["id"],))
            self._add_words(db, shelf, [(row["id"], self._text(row))])
            vector = self.database.value("SELECT vector FROM vectors WHERE id = ?", (row["id"],))
            self._owe(db, row["shelf"], [row["id"]], "remove")
            self._owe(db, shelf, [row["id"]], "embed" if vector is None else "index")
            if vector is not None:  # a new n, so that the new shelf's matrix takes it in
                db.execute("INSERT OR REPLACE INTO vectors (id, vector) VALUES (?, ?)", (row["id"], vector))
            self._matrices[row["shelf"]].discard([row["id"]])
        self._after_write()

    def remove_texts(self, keys: Iterable[str]) -> int:
        """Delete rows, words, vectors and whatever hangs on the rows; Chroma follows by tombstone. Unknown keys are skipped."""
        gone: dict[str, list[int]] = {}
        with self.transaction() as db:
            for key in keys:
                row = self.database.row("SELECT id, shelf FROM texts WHERE key = ?", (key,))
                if row is not None:
                    gone.setdefault(row["shelf"], []).append(row["id"])
            for shelf, ids in gone.items():
                db.executemany(f"DELETE FROM words_{shelf} WHERE rowid = ?", ((i,) for i in ids))
                db.executemany("DELETE FROM texts WHERE id = ?", ((i,) for i in ids))
                self._owe(db, shelf, ids, "remove")
                self._matrices[shelf].discard(ids)
        self._after_write()
        return sum(len(ids) for ids in gone.values())

    def _require(self, key: str) -> Row:
        row = self.database.row("SELECT * FROM texts WHERE key = ?", (key,))
        if row is None:
            raise KeyError(key)
        return row

    def _next_positions(self, shelf: str, texts: Sequence[Text]) -> list[int]:
        following: dict[str, int] = {}
        positions = []
        for text in texts:
            if text.scope not in following:
                following[text.scope] = self.database.value(
                    "SELECT coalesce(max(position) + 1, 0) FROM texts WHERE shelf = ? AND scope = ?",
                    (shelf, text.scope),
                )
            positions.append(following[text.scope])
            following[text.scope] += 1
        return positions

    @staticmethod
    def _add_words(db: Connection, shelf: str, numbered: Iterable[tuple[int, Text]]) -> None:
        db.executemany(
            f"INSERT INTO words_{shelf} (rowid, scope, body) VALUES (?, ?, ?)",
            ((i, scope_token(text.scope), " ".join(text.words or tokens(text.embedded_text))) for i, text in numbered),
        )

    @staticmethod
    def _add_vectors(db: Connection, numbered: Iterable[tuple[int, object]]) -> None:
        import numpy as np

        db.executemany(
            "INSERT OR REPLACE INTO vectors (id, vector) VALUES (?, ?)",
            ((i, np.asarray(vector, dtype=np.float32).tobytes()) for i, vector in numbered),
        )

    @staticmethod
    def _owe(db: Connection, shelf: str, ids: Iterable[int], op: str) -> None:
        db.executemany("INSERT OR REPLACE INTO pending (id, shelf, op) VALUES (?, ?, ?)", ((i, shelf, op) for i in ids))

    def _after_write(self) -> None:
        """Called after each change: numbers that were counted no longer hold."""
        self._counted_at = None

    def _agree_on_dimension(self, dimension: int) -> None:
        """Called with the dimension of vectors that come with their texts; raises when it is not the home's."""

    # ---- reading texts ----

    @staticmethod
    def _text(row: Row) -> Text:
        return Text(row["key"], row["scope"], row["content"], row["heading"], row["shelf"], row["position"], row["id"])

    def texts(self, ids: Iterable[int]) -> dict[int, Text]:
        """Texts by row id; ids that no longer exist are absent."""
        return {row["id"]: self._text(row) for row in self.select_in("SELECT * FROM texts WHERE id IN", ids)}

    def places_around(self, shelf: str, ids: Iterable[int], reach: int) -> dict[int, tuple[str, int]]:
        """(scope, position) by row id, of these texts and of those up to `reach` places before and after them. The texts
        themselves are not read; ids that are not on the shelf are absent."""
        # CROSS JOIN: look the ids up. SQLite on its own walks through all texts of the shelf.
        rows = self.database.rows(
            "SELECT DISTINCT near.id, near.scope, near.position FROM json_each(?) AS wanted "
            "CROSS JOIN texts AS here ON here.id = wanted.value CROSS JOIN texts AS near ON near.shelf = here.shelf "
            "AND near.scope = here.scope AND near.position BETWEEN here.position - ? AND here.position + ? "
            "WHERE here.shelf = ?",
            (json.dumps(list(ids)), reach, reach, shelf),
        )
        return {row["id"]: (row["scope"], row["position"]) for row in rows}

    def text(self, key: str) -> Text | None:
        row = self.database.row("SELECT * FROM texts WHERE key = ?", (key,))
        return None if row is None else self._text(row)

    def select_in(self, sql: str, values: Iterable[object], args: tuple = ()) -> list[Row]:
        """Rows of `sql (?, ?, …)` for any number of values, a few hundred a statement."""
        values = list(values)
        rows = []
        for start in range(0, len(values), SQL_VARIABLES):
            part = values[start : start + SQL_VARIABLES]
            rows += self.database.rows(f"{sql} ({', '.join('?' * len(part))})", (*args, *part))
        return rows

    def count(self, shelf: str) -> int:
        """Number of texts on a shelf."""
        known = self._statistics()
        if shelf not in known:
            known[shelf] = self.database.value("SELECT count(*) FROM texts WHERE shelf = ?", (shelf,))
        return known[shelf]

    def mean_length(self, shelf: str) -> float:
        """Words an indexed text of the shelf has on average; 0 without texts."""
        known, key = self._statistics(), (shelf, MEAN_LENGTH)
        if key not in known:
            # Row 1 is what FTS5 keeps for its own bm25: how many texts, and how many words in all in `scope` and in `body`.
            totals = _numbers(self.database.value(f"SELECT block FROM words_{shelf}_data WHERE id = 1"))
            known[key] = totals[2] / totals[0] if totals and totals[0] else 0.0
        return known[key]

    def _statistics(self) -> dict[object, float]:
        """Numbers that hold until somebody writes, by shelf, (shelf, term) or (shelf, MEAN_LENGTH). A thread that was overtaken
        by a write puts its number into a dict that nobody looks at any more."""
        stamp = (self.database.data_version(), self.database.rollbacks)
        if self._counted_at != stamp:
            self._counted = {}
            self._counted_at = stamp
        return self._counted

    # ---- words ----

    def document_frequencies(self, shelf: str, terms: Iterable[str]) -> dict[str, int]:
        """In how many texts of the shelf each term stands; 0 for unknown terms."""
        terms, known = dict.fromkeys(terms), self._statistics()
        new = [term for term in terms if (shelf, term) not in known]
        if new:
            rows = self.select_in(f"SELECT term, doc FROM terms_{shelf} WHERE term IN", new)
            found = {row["term"]: row["doc"] for row in rows}
            known |= {(shelf, term): found.get(term, 0) for term in new}
        return {term: known[shelf, term] for term in terms}

    def search_words(
        self,
        shelf: str,
        terms: Sequence[str],
        limit: int,
        *,
        scope: str | None = None,
        only: Container[int] | None = None,
        frequencies: dict[str, int] | None = None,
    ) -> list[tuple[int, float]]:
        """(id, bm25), best first, bm25 > 0. `terms` as made by `text.tokens`; a text needs one of them, not all. `scope` and
        `only` (row ids) restrict the search."""
        frequencies = frequencies or self.document_frequencies(shelf, terms)
        chosen = self._selective_terms(shelf, terms, frequencies)
        if not chosen:
            return []
        query = "body:(" + " OR ".join(f'"{term}"' for term in chosen) + ")"
        if scope is not None:
            query = f'scope:"{scope_token(scope)}" AND {query}'
        # A list of ids beside MATCH is 200 times slower: FTS5 searches for each of them. The function is asked only about
        # texts that match, and before their bm25 is computed, which makes a restricted search the faster one.
        restriction = "" if only is None else "AND is_wanted(rowid)"
        rows = self.database.rows(
            f"SELECT rowid, -bm25(words_{shelf}, 0.0, 1.0) AS score FROM words_{shelf} WHERE words_{shelf} MATCH ? "
            f"{restriction} ORDER BY score DESC, rowid LIMIT ?",
            (query, limit),
            wanted=only or (),
        )
        return [(row["rowid"], row["score"]) for row in rows]

    def _selective_terms(self, shelf: str, terms: Sequence[str], frequencies: dict[str, int]) -> list[str]:
        known = [term for term in dict.fromkeys(terms) if frequencies.get(term, 0) > 0]
        most = max(COMMON_TERM_ROWS, COMMON_TERM_SHARE * self.count(shelf))
        by_rarity = sorted(known, key=frequencies.__getitem__)
        rows = accumulate(frequencies[term] for term in by_rarity)
        chosen = [
            term
            for term, sum_ in zip(by_rarity, rows, strict=True)
            if frequencies[term] <= most and sum_ <= SCORED_ROWS
        ]
        return chosen or by_rarity[:1]

    def indexed_words(self, shelf: str, ids: Iterable[int]) -> dict[int, list[str]]:
        """The words each text is indexed by, in order, with repeats."""
        # From the table in which FTS5 keeps the texts it was given: through FTS5 itself the same takes twice as long.
        rows = self.database.rows(
            f"SELECT w.id, w.c1 AS body FROM json_each(?) AS wanted CROSS JOIN words_{shelf}_content AS w "
            "ON w.id = wanted.value",
            (json.dumps(list(ids)),),
        )
        return {row["id"]: row["body"].split() for row in rows}

    def rebuild_words(self) -> None:
        """The word index anew, from the texts."""
        with self.transaction() as db:
            self._index_words(db)
        self._after_write()

    def _index_words(self, db: Connection) -> None:
        for shelf in SHELVES:
            make_words(db, shelf)
            sql = f"SELECT * FROM texts WHERE +shelf = ? AND id > ? ORDER BY id LIMIT {READ_BATCH}"
            last = 0
            while rows := db.execute(sql, (shelf, last)).fetchall():
                self._add_words(db, shelf, ((row["id"], self._text(row)) for row in rows))
                last = rows[-1]["id"]

    def log(self, action: str, **details: object) -> None:
        """One line in the home's log of what policy did (forgetting, merging), for `/memory log` and restore."""
        with self.transaction() as db:
            db.execute(
                "INSERT INTO log (at, action, details) VALUES (?, ?, ?)",
                (to_iso(self.now()), action, json.dumps(details, ensure_ascii=False)),
            )


def scope_token(scope: str) -> str:
    """A document or session id as one FTS5 token, whatever characters it holds.

    >>> scope_token("default") == scope_token("default") != scope_token("Default")
    True
    """
    return "s" + hashlib.blake2b(scope.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _numbers(record: bytes) -> list[int]:
    """Numbers as SQLite packs them: seven bits a byte, the highest bit says that another byte follows.

    >>> _numbers(bytes([3, 0x81, 0x02]))
    [3, 130]
    """
    numbers, number = [], 0
    for byte in record:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    return numbers


def inverse_frequency(rows: int, frequency: int) -> float:
    """Weight of a term that stands in `frequency` of `rows` texts (Robertson's idf, never negative).

    >>> round(inverse_frequency(100, 1), 2), inverse_frequency(1, 1) < 0.3
    (4.21, True)
    """
    return math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5))
