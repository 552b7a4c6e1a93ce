"""What was made of what: the memories that must go when one of them goes for good.

Items have memory_id, derived_from and superseded_by. `stores` have `get(memory_id)`; those that keep rows have `derived()`.
"""

from collections.abc import Sequence
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


REMOVED_DOCUMENTS = "removed_documents"  # metadata: {document id: name}, what a memory once stood on, among others


def forget_sources(gone: Sequence[Any], store: Any, document_id: str, document: str) -> None:
    """After the events of a document are gone: what was made of them loses these sources, and goes with the last of them, as
    does what was made of that. What stays remembers the document, for whoever wants to delete every trace of it later."""
    while gone:
        successors = {item.memory_id: item.superseded_by for item in gone}
        gone = []
        for made in store.derived():
            left = [source for source in made.derived_from if successors.get(source, made.memory_id) == made.memory_id]
            if len(left) == len(made.derived_from):
                continue
            if left:
                lost = {**made.metadata.get(REMOVED_DOCUMENTS, {}), document_id: document}
                store.update(made.memory_id, derived_from=left, metadata={REMOVED_DOCUMENTS: lost})
            else:
                store.remove(made.memory_id)
                gone.append(made)


def made_from_document(document_id: str, desk: Any, stores: Sequence[Any]) -> list[Any]:
    """The events of answers from a document, whatever was made of them, and what was made of such events removed earlier."""
    items = [item for store in stores for item in store.list(status=None, limit=-1)]
    roots = [item.memory_id for item in items if _stands_on(item, document_id)]
    return list({item.memory_id: item for root in roots for item in lineage(root, desk, stores)}.values())


def _stands_on(item: Any, document_id: str) -> bool:
    cited = any(place[0] == document_id for place in item.metadata.get("pages", []))
    return cited or document_id in item.metadata.get(REMOVED_DOCUMENTS, {})
