"""Knowledge that was made of events: how it lies in the semantic memory, and how it is written without doing so twice.

A theme's metadata: kind "theme", events (how many), made (a digest of the text as it was written, so that a text that a person
has edited since is known by it).
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any


def themes(semantic: Any) -> list[Any]:
    """Every theme, whatever its status, oldest first."""
    return [item for item in semantic.derived() if item.metadata.get("kind") == "theme"]


def write_theme(semantic: Any, theme: Any | None, events: Sequence[Any], text: str, source: str) -> str:
    """One row, in one transaction; returns its memory_id, "" when it is there already. `theme` None: a new one. A text that a
    person edited or pinned is left as it is and only gains sources."""
    ids = [event.memory_id for event in events]
    made = {"kind": "theme", "events": len(ids), "made": digest(text)}
    with semantic.transaction():
        if any(set(ids) <= set(known.derived_from) for known in themes(semantic)):
            return ""  # another process was first
        if theme is None:
            theme = _new(semantic, events, text, source, made)
            if semantic.find_same(theme) is not None:
                return ""
            semantic.insert([theme])
        elif theme.pinned or theme.metadata["made"] != digest(theme.content):
            semantic.update(theme.memory_id, derived_from=ids, metadata={"events": len(ids)})
        else:
            occurred_at = events[-1].occurred_at
            semantic.update(
                theme.memory_id, content=text, source=source, occurred_at=occurred_at, derived_from=ids, metadata=made
            )
        semantic.storage.log("promoted", memory_id=theme.memory_id, sources=ids)
    return theme.memory_id


def _new(semantic: Any, events: Sequence[Any], text: str, source: str, metadata: dict[str, Any]) -> Any:
    sessions = {event.session_id for event in events}
    return semantic.item_type(
        text, "semantic", max(event.importance for event in events), semantic.storage.now(), metadata=metadata, source=source,
        session_id=sessions.pop() if len(sessions) == 1 else "default", occurred_at=events[-1].occurred_at,
        derived_from=[event.memory_id for event in events],
    )  # fmt: skip


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()
