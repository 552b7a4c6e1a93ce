"""What the commands that look at memories, pages and traces print with --json, as JSON schemas."""

from typing import Any

TEXT, NUMBER, COUNT, FLAG = (
    {"type": "string"},
    {"type": "number"},
    {"type": "integer", "minimum": 0},
    {"type": "boolean"},
)
MOMENT = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)$"}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
ID = {"type": "string", "pattern": "^[0-9a-f]{32}$"}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def listing(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def record(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these fields and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def extended(schema: dict[str, Any], **properties: dict[str, Any]) -> dict[str, Any]:
    return record(**schema["properties"], **properties)


MEMORY = record(
    memory_id=ID,
    memory_type={"enum": ["working", "episodic", "semantic"]},
    status={"enum": ["active", "archived", "superseded"]},
    content=TEXT,
    importance=SHARE,
    session_id=TEXT,
    source={"enum": ["model", "document", "user"]},
    pinned=FLAG,
    access_count=COUNT,
    mentions=COUNT,
    superseded_by=nullable(ID),
    derived_from=listing(ID),
    metadata={"type": "object"},
    timestamp=MOMENT,
    occurred_at=MOMENT,
    last_accessed=nullable(MOMENT),
    valid_from=MOMENT,
    valid_until=nullable(MOMENT),
)
LOGGED = record(at=MOMENT, action=TEXT, by=TEXT)
ABOUT = extended(
    MEMORY,
    kept=TEXT,
    made_from=listing(ID),
    made_of_it=listing(ID),
    took_the_place_of=listing(ID),
    log=listing(LOGGED),
)
FORGOTTEN = record(
    memory_id=ID,
    memory_type={"enum": ["episodic", "semantic"]},
    content=TEXT,
    strategy={"enum": ["importance", "time"]},
)
FOUND = extended(MEMORY, score=SHARE, why={"type": "object", "additionalProperties": NUMBER})

MEMORY_COMMANDS = {
    "list": record(memories=listing(MEMORY), total=COUNT, page={"type": "integer", "minimum": 1}),
    "search": record(query=TEXT, memories=listing(FOUND)),
    "show": record(memory=ABOUT),
    "edit": record(memory=MEMORY),
    "correct": record(memory=MEMORY, replaces=nullable(ID)),
    "forget": record(forgotten=listing({"anyOf": [MEMORY, FORGOTTEN]}), dry_run=FLAG),
    "restore": record(restored=listing(MEMORY)),
    "purge": record(purged=listing(ID), turns=nullable(COUNT), lines=nullable(COUNT), dry_run=FLAG),
    "export": record(memories=listing(MEMORY)),
}

# ---- Looking things up ----

PAGE = record(
    document=TEXT,
    document_id=TEXT,
    page={"type": "integer", "minimum": 1},
    page_label=nullable(TEXT),
    pages={"type": "integer", "minimum": 1},
    heading_path=TEXT,
    text=TEXT,
    quotes=listing(TEXT),
    also=nullable(COUNT),
    is_part=FLAG,
    n=nullable(COUNT),
)
ENTRY = record(level=COUNT, title=TEXT, page=COUNT, page_label=nullable(TEXT))
OUTLINE = record(documents=listing(record(document=TEXT, document_id=TEXT, outline=listing(ENTRY))))
NOTES = record(notes=listing(MEMORY))

# ---- /why ----

LEG = {"type": "array", "prefixItems": [NUMBER, {"type": "integer", "minimum": 1}], "minItems": 2, "maxItems": 2}
TRACED_SOURCE = record(
    n=COUNT,
    document=TEXT,
    page=COUNT,
    page_label=nullable(TEXT),
    heading_path=TEXT,
    quote=TEXT,
    relevance=SHARE,
    score=nullable(SHARE),
    legs={"type": "object", "additionalProperties": LEG},
    found_by={"type": "object", "additionalProperties": NUMBER},
)
TRACED_MEMORY = record(
    memory_id=ID,
    memory_type=TEXT,
    content=TEXT,
    score=SHARE,
    why={"type": "object", "additionalProperties": NUMBER},
    used=FLAG,
)
RECEIPT = record(
    action={"enum": ["written", "counted", "superseded", "refused"]},
    memory_type={"enum": ["working", "episodic", "semantic"]},
    reason=TEXT,
    memory_id=nullable(ID),
)
WHY = record(
    question=TEXT,
    asked_at=MOMENT,
    session_id=TEXT,
    answer=TEXT,
    kind={"enum": ["answer", "told"]},
    mode={"enum": ["extractive", "llm"]},
    found=FLAG,
    partial=FLAG,
    llm_failure=nullable(TEXT),
    read_off=nullable(record(kind=TEXT, at=TEXT, topic=TEXT, document=TEXT, document_id=TEXT)),
    enriched_query=TEXT,
    leans=TEXT,
    background=listing(TEXT),
    enriched_by=listing(ID),
    slips=listing(listing(TEXT)),
    variants=listing(record(kind=TEXT, text=TEXT, added=TEXT)),
    sources=listing(TRACED_SOURCE),
    passages_found=COUNT,
    memories=listing(TRACED_MEMORY),
    receipts=listing(RECEIPT),
    unsupported=listing(TEXT),
    dropped=listing(COUNT),
)

# ---- One sitting ----

SESSIONS = record(
    sessions=listing(record(session_id=TEXT, started_at=MOMENT, last_at=MOMENT, turns=COUNT, first_question=TEXT))
)
SETTINGS = record(settings=listing(record(name=TEXT, value=TEXT, source=TEXT)))
