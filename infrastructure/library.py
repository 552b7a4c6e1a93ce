"""The documents of a home: their pages as they were read, and their chunks as they are searched.

A document's id comes from its content, a chunk's id from its document (D14). So the same content is one document under any
name, and a file that changed is another document: the old one goes with its pages, chunks and vectors in one transaction.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from infrastructure.database import to_iso
from infrastructure.language import tr_like
from infrastructure.shelves import Text
from infrastructure.storage import Storage

OPENED = "opened"  # in the log: a page the learner looked at


@dataclass(frozen=True)
class DocumentInfo:
    """A document as it is listed. `pages`, `chunks` and `silent_pages`, those without text, are numbers of them; `added_at`
    is ISO 8601, UTC."""

    document_id: str
    name: str
    path: str
    media_type: str
    pages: int
    chunks: int
    added_at: str
    warnings: list[str] = field(default_factory=list)
    silent_pages: int = 0


@dataclass(frozen=True)
class StoredPage:
    """One page: 1-based number, printed label (None: none), text as read and as searched, runs that map one to the other."""

    page: int
    label: str | None
    heading_path: str
    raw: str
    clean: str
    offsets: list[Any]


@dataclass(frozen=True)
class Passage:
    """A chunk with its place. `start` and `end` are offsets in the document's clean text (pages joined by a blank line)."""

    id: int
    chunk_id: str
    document_id: str
    document: str
    content: str
    heading_path: str
    position: int
    start: int
    end: int
    page_start: int
    page_end: int


@dataclass(frozen=True)
class Quote:
    """A verbatim piece of one page, as it was read from the file."""

    page: int
    label: str | None
    text: str


@dataclass(frozen=True)
class NewChunk:
    content: str
    heading_path: str
    start: int
    end: int
    page_start: int
    page_end: int


_PASSAGE = (
    "SELECT t.id, t.key, t.scope, t.heading, t.position, t.content, c.start, c.end, c.page_start, c.page_end, d.name "
    "FROM texts t JOIN chunks c USING (id) JOIN documents d USING (document_id)"
)


class Library:
    """Documents of one home. Searching them is script 11's lesson; this only keeps them."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._db = storage.database

    # ---- writing ----

    def add(
        self,
        *,
        name: str,
        path: str,
        media_type: str,
        content_hash: str,
        pages: Sequence[StoredPage],
        chunks: Sequence[NewChunk],
        outline: Sequence[tuple[int, str, int]] = (),
        warnings: Sequence[str] = (),
        replaces: Iterable[str] = (),
    ) -> str:
        """Store a document whole, or not at all; returns its document_id. `replaces`: ids that go in the same transaction.

        outline: (level, title, page) in reading order. Content that is already here is a ValueError: ask `find` first.
        """
        document_id = content_hash[:16]
        replaces = set(replaces)
        if self.find(content_hash) not in {None, *replaces}:
            raise ValueError(f"{name} is already here")
        with self.storage.transaction() as db:
            for old in replaces:
                self._delete(old)
            db.execute(
                "INSERT INTO documents (document_id, name, path, content_hash, media_type, page_count, status, added_at, "
                "outline, warnings) VALUES (?, ?, ?, ?, ?, ?, 'ready', ?, ?, ?)",
                (document_id, name, path, content_hash, media_type, len(pages), to_iso(self.storage.now()),
                 _json(outline), _json(warnings)),
            )  # fmt: skip
            db.executemany(
                "INSERT INTO pages (document_id, page, label, heading_path, raw, clean, offsets) VALUES (?, ?, ?, ?, ?, ?, ?)",
                ((document_id, p.page, p.label, p.heading_path, p.raw, p.clean, _json(p.offsets)) for p in pages),
            )
            texts = [
                Text(f"{document_id}_chunk_{i}", document_id, c.content, c.heading_path) for i, c in enumerate(chunks)
            ]
            ids = self.storage.add_texts("chunk", texts)
            db.executemany(
                "INSERT INTO chunks (id, document_id, start, end, page_start, page_end) VALUES (?, ?, ?, ?, ?, ?)",
                ((i, document_id, c.start, c.end, c.page_start, c.page_end) for i, c in zip(ids, chunks, strict=True)),
            )
        return document_id

    def remove(self, document_id: str) -> bool:
        """Take a document with its pages, chunks and vectors; False when there is none."""
        if self._db.row("SELECT 1 FROM documents WHERE document_id = ?", (document_id,)) is None:
            return False
        with self.storage.transaction():
            self._delete(document_id)
        return True

    def _delete(self, document_id: str) -> None:
        keys = self._db.rows("SELECT key FROM texts WHERE shelf = 'chunk' AND scope = ?", (document_id,))
        with self.storage.transaction() as db:
            self.storage.remove_texts(row["key"] for row in keys)
            db.execute("DELETE FROM documents WHERE document_id = ?", (document_id,))

    def rename(self, document_id: str, *, name: str, path: str) -> None:
        """The same content was found under another path: remember where it lies now."""
        with self.storage.transaction() as db:
            db.execute("UPDATE documents SET name = ?, path = ? WHERE document_id = ?", (name, path, document_id))

    # ---- reading ----

    def documents(self) -> list[DocumentInfo]:
        """All documents, in the order they were added."""
        rows = self._db.rows(
            "SELECT d.*, (SELECT count(*) FROM chunks c WHERE c.document_id = d.document_id) AS chunks, (SELECT count(*) "
            "FROM pages p WHERE p.document_id = d.document_id AND p.clean = '') AS silent FROM documents d "
            "ORDER BY added_at, document_id"
        )
        return [
            DocumentInfo(
                row["document_id"], row["name"], row["path"], row["media_type"], row["page_count"], row["chunks"],
                row["added_at"], json.loads(row["warnings"]), row["silent"],
            )
            for row in rows
        ]  # fmt: skip

    def find(self, content_hash: str) -> str | None:
        """document_id of this content, None when it is not here."""
        return self._db.value("SELECT document_id FROM documents WHERE content_hash = ?", (content_hash,))

    def at_path(self, path: str) -> list[str]:
        """document_ids that were loaded from this path."""
        return [
            row["document_id"] for row in self._db.rows("SELECT document_id FROM documents WHERE path = ?", (path,))
        ]

    def outline(self, document_id: str) -> list[tuple[int, str, int]]:
        """(level, title, page) as read from the file; [] when it has none."""
        stored = self._db.value("SELECT outline FROM documents WHERE document_id = ?", (document_id,))
        return [tuple(entry) for entry in json.loads(stored or "[]")]

    def chapters(self, question: str, depth: int = 2, *, spoken: str = "") -> str:
        """The outlines as lines "title (document, p. n)", with the printed page where there is one, of the documents the
        question names, else of all; "" without any. spoken: a text in the reader's language, if it is not the question."""
        documents = self.documents()
        named = [document for document in documents if document.name.casefold() in question.casefold()] or documents
        lines = []
        for document in named:
            labels = dict(self.labels(document.document_id))
            for level, title, page in self.outline(document.document_id):
                name, number = document.name, labels.get(page) or page
                place = tr_like(spoken or question, f" ({name}, p. {number})", f"（{name}，第 {number} 页）")
                lines += [f"{'  ' * (level - 1)}{title}{place}"] * (level <= depth)
        return "\n".join(lines)

    def says(self, document_id: str, words: str) -> bool:
        """Do these very words stand on a page of the document, whatever their case?"""
        sql = "SELECT 1 FROM pages WHERE document_id = ? AND instr(lower(clean), ?) LIMIT 1"
        return self._db.row(sql, (document_id, words.lower())) is not None

    def page(self, document_id: str, page: int) -> StoredPage | None:
        row = self._db.row("SELECT * FROM pages WHERE document_id = ? AND page = ?", (document_id, page))
        if row is None:
            return None
        return StoredPage(
            row["page"], row["label"], row["heading_path"], row["raw"], row["clean"], json.loads(row["offsets"])
        )

    def labels(self, document_id: str) -> list[tuple[int, str | None]]:
        """(page, printed label) of every page, in order; a label is None where none is given."""
        rows = self._db.rows("SELECT page, label FROM pages WHERE document_id = ? ORDER BY page", (document_id,))
        return [(row["page"], row["label"]) for row in rows]

    def note_opened(self, document_id: str, page: int) -> None:
        """The learner looked at a page; once is enough to know it."""
        if (document_id, page) not in self.opened():
            self.storage.log(OPENED, document_id=document_id, page=page)

    def opened(self) -> set[tuple[str, int]]:
        """(document id, page) of what was looked at, of removed documents, too."""
        rows = self._db.rows(
            "SELECT json_extract(details, '$.document_id'), json_extract(details, '$.page') FROM log WHERE action = ?",
            (OPENED,),
        )
        return {(row[0], row[1]) for row in rows}

    def page_starts(self, document_id: str) -> list[tuple[int, int]]:
        """(page, offset of its first character in the document's clean text), in order."""
        starts, offset = [], 0
        for row in self._db.rows(
            "SELECT page, length(clean) AS size FROM pages WHERE document_id = ? ORDER BY page", (document_id,)
        ):
            starts.append((row["page"], offset))
            offset += row["size"] + 2
        return starts

    def quote(self, document_id: str, start: int, end: int) -> Quote | None:
        """What the page really says at [start, end) of the document's clean text; cut where the page ends.

        None when there is nothing at that place.
        """
        for page, offset in reversed(self.page_starts(document_id)):
            if offset <= start:
                stored = self.page(document_id, page)
                text = raw_slice(stored.raw, stored.offsets, start - offset, min(end - offset, len(stored.clean)))
                return Quote(page, stored.label, text) if text.strip() else None
        return None

    def passages(self, ids: Iterable[int]) -> dict[int, Passage]:
        """Chunks by row id; those that no longer exist are absent."""
        return {row["id"]: self._passage(row) for row in self.storage.select_in(f"{_PASSAGE} WHERE t.id IN", ids)}

    def passages_between(self, document_id: str, first: int, last: int) -> list[Passage]:
        """Chunks of a document by position, both ends included."""
        rows = self._db.rows(
            f"{_PASSAGE} WHERE t.shelf = 'chunk' AND t.scope = ? AND t.position BETWEEN ? AND ? ORDER BY t.position",
            (document_id, first, last),
        )
        return [self._passage(row) for row in rows]

    def chunks_on_page(self, page: int) -> set[int]:
        """Row ids of the chunks that touch this page of any document: the one with that number printed on it, else the n-th;
        −1 is each document's last page."""
        printed = "(SELECT p.page FROM pages p WHERE p.document_id = d.document_id AND p.label = ? ORDER BY p.page)"
        # The page is found once for each document. In a plain join SQLite finds it anew for each chunk.
        rows = self._db.rows(
            "WITH meant AS MATERIALIZED (SELECT d.document_id, "
            f"CASE ? WHEN -1 THEN d.page_count ELSE coalesce({printed}, ?) END AS page FROM documents d) "
            "SELECT c.id FROM meant CROSS JOIN chunks c USING (document_id) "
            "WHERE meant.page BETWEEN c.page_start AND c.page_end",
            (page, str(page), page),
        )
        return {row["id"] for row in rows}

    def chunk_ids(
        self,
        *,
        documents: Sequence[str] | None = None,
        pages: tuple[int, int] | None = None,
        section: str | None = None,
    ) -> frozenset[int]:
        """Row ids of the chunks in these documents that touch these pages (first, last) and lie under this heading path."""
        tests, args = ["1"], []
        if documents is not None:
            tests.append(f"c.document_id IN ({', '.join('?' * len(documents))})")
            args += documents
        if pages is not None:
            tests.append("c.page_start <= ? AND c.page_end >= ?")
            args += [pages[1], pages[0]]
        if section is not None:
            tests.append("(t.heading = ? OR substr(t.heading, 1, ?) = ?)")
            args += [section, len(section) + 3, f"{section} > "]
        headings = "JOIN texts t USING (id)" if section is not None else ""
        # As one value: 20,000 rows take twice as long.
        sql = f"SELECT json_group_array(c.id) FROM chunks c {headings} WHERE {' AND '.join(tests)}"
        return frozenset(json.loads(self._db.value(sql, args)))

    @staticmethod
    def _passage(row) -> Passage:
        return Passage(
            row["id"], row["key"], row["scope"], row["name"], row["content"], row["heading"], row["position"],
            row["start"], row["end"], row["page_start"], row["page_end"],
        )  # fmt: skip


def raw_slice(raw: str, offsets: Sequence[Sequence[int]], start: int, end: int) -> str:
    """The stretch of a raw page that clean text [start, end) stands for. offsets: (clean, raw) breakpoints, ascending.

    >>> raw_slice("re-\\nal", [[0, 0], [2, 4]], 0, 4)
    're-\\nal'
    """
    if start >= end or not offsets:
        return ""
    return raw[_to_raw(offsets, start) : _to_raw(offsets, end - 1) + 1]


def _to_raw(offsets: Sequence[Sequence[int]], position: int) -> int:
    clean, raw = offsets[max(0, bisect_right(offsets, position, key=lambda point: point[0]) - 1)]
    return raw + position - clean


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
