"""How a memory lies in the tables `texts` and `memories`: the one codec between an item's fields and columns."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from infrastructure.database import from_iso, to_iso

SOURCES = ("model", "document", "user")  # least trusted first
STATUSES = ("active", "archived", "superseded")
_PLAIN = ("memory_type", "importance", "access_count", "source", "status", "mentions", "superseded_by")
_MOMENTS = ("timestamp", "occurred_at", "last_accessed", "valid_from", "valid_until")
_DERIVED = ("fingerprint", "slot")  # looked up by; worked out from the content
ABOUT_THE_TEXT = ("dates", "entities", "relations")  # metadata that is of no use to another text
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def to_columns(item: Any) -> dict[str, Any]:
    """The columns of table `memories`; content, memory_id and session_id are columns of `texts`."""
    columns = {name: getattr(item, name) for name in (*_PLAIN, *_DERIVED)}
    for name in _MOMENTS:
        moment = getattr(item, name)
        columns[name] = moment and _iso(moment)
    columns["pinned"] = int(item.pinned)
    columns["derived_from"] = _json(item.derived_from)
    columns["metadata"] = _json(item.metadata)
    return columns


def from_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an item, from a row of `texts` joined with `memories`."""
    return {
        "content": row["content"],
        "memory_id": row["key"],
        "session_id": row["scope"],
        "metadata": json.loads(row["metadata"]),
        "derived_from": json.loads(row["derived_from"]),
        "pinned": bool(row["pinned"]),
        **{name: row[name] for name in _PLAIN},
        **{name: row[name] and from_iso(row[name]) for name in _MOMENTS},
    }


_iso = lru_cache(maxsize=16)(to_iso)  # most items have one moment, three times


def for_another_text(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name not in ABOUT_THE_TEXT}


def _json(value: Any) -> str:
    """Readable, unless it holds half a character, which SQLite takes only as an escape."""
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or not _SURROGATE.search(text) else json.dumps(value)
