"""What was made of what: the memories that must go when one of them goes for good.

Items have memory_id, derived_from and superseded_by. `stores` have `get(memory_id)`; those that keep rows have `derived()`.
"""

from collections.abc import Collection, Sequence
from typing import Any


def lineage(memory_id: str, desk: Any, stores: Sequence[Any]) -> list[Any]:
    """A memory, whatever was made of it, whatever was made of that; and what lies on the desk of any of them.

    A correction that superseded a memory is a statement of its own and stays. An unknown id gives [].
    """
    derived = [item for store in stores for item in store.derived()]
    found: dict[str, Any] = {}
    queue = [memory_id]
    while queue:
        next_id = queue.pop(0)
        item = next(filter(None, (store.get(next_id) for store in (desk, *stores))), None)
        if item is None or next_id in found:
            continue
        found[next_id] = item
        queue += [
            made.memory_id for made in derived if next_id in made.derived_from and made.memory_id != item.superseded_by
        ]
        queue += [source for source in item.derived_from if desk.has_memory(source)]
    return list(found.values())


def forget_sources(gone: Collection[str], store: Any, *, everything: bool = False) -> None:
    """After events are gone: what was made of them loses these sources, and goes with the last of them, or with the first if
    `everything` that stood on one has to go."""
    gone = set(gone)
    for made in store.derived():
        left = [source for source in made.derived_from if source not in gone]
        if len(left) == len(made.derived_from):
            continue
        if everything or not left:
            store.remove(made.memory_id)
        else:
            store.update(made.memory_id, derived_from=left)
