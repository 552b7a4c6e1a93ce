"""The tables of a home, as migrations made them one after the other.

    texts    one row per searchable text, whatever it is: id, shelf, scope (document or session), position in the scope
    words_*  FTS5, one table per shelf, fed with our own tokens (infrastructure.text): FTS5 itself sees only ASCII spaces
    vectors  float32 blobs: re-embedding 100,000 texts takes hours, copying their vectors seconds
    pending  what is still owed to the vectors or to Chroma; written in the same transaction as the change that owes it

A *shelf* is a set of texts that are searched together: chunk, episodic, semantic, archive. Statistics such as a word's rarity
are per shelf, so 100,000 chats do not change what is rare in your textbook. Archiving a memory moves it to another shelf,
which is why the default search cannot see it and need not filter.
"""

import sqlite3
from collections.abc import Callable

SHELVES = ("chunk", "episodic", "semantic", "archive")


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
