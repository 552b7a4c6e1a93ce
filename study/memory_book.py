"""What a learner may see of the memories of a home, and do to them: the three stores and the archive as one book.

Ids may be given by their beginning. Nothing here decides what is forgotten: that is script 10, whose manager is received.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from infrastructure.database import from_iso
from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.lineage import lineage
from infrastructure.text import fold, repair

KINDS = ("working", "episodic", "semantic")
SHORT_ID = 8  # characters shown of an id; enough to give it back
SECRETS = ("key", "password", "card")
_FIELDS = (
    *("memory_id", "memory_type", "status", "content", "importance", "session_id", "source", "pinned", "access_count"),
    *("mentions", "superseded_by", "derived_from", "metadata"),
)
_MOMENTS = ("timestamp", "occurred_at", "last_accessed", "valid_from", "valid_until")


class Page(NamedTuple):
    """Memories of a list, newest first, and how many there are on all its pages."""

    items: list[Any]
    total: int


@dataclass(frozen=True)
class About:
    """What is known about one memory. `log`: (when, what was done, by whom) as far as it was written down, oldest first."""

    item: Any
    kept: str
    made_from: list[Any]
    made_of_it: list[Any]
    took_the_place_of: list[Any]
    successor: Any | None
    log: list[tuple[datetime, str, str]]

    def to_json(self) -> dict[str, Any]:
        def ids(items: Sequence[Any]) -> list[str]:
            return [item.memory_id for item in items]

        return {
            **as_json(self.item), "kept": self.kept, "made_from": ids(self.made_from), "made_of_it": ids(self.made_of_it),
            "took_the_place_of": ids(self.took_the_place_of),
            "log": [{"at": at.isoformat(), "action": action, "by": by} for at, action, by in self.log],
        }  # fmt: skip


def as_json(item: Any) -> dict[str, Any]:
    """A memory with all its fields; times as ISO 8601 with zone, null where there is none."""
    moments = {name: getattr(item, name) for name in _MOMENTS}
    return {name: getattr(item, name) for name in _FIELDS} | {
        name: moment and moment.isoformat() for name, moment in moments.items()
    }


class MemoryBook:
    """`lifecycle` is script 10's manager: it has the working, episodic and semantic memory of one home."""

    def __init__(self, lifecycle: Any) -> None:
        self._lifecycle = lifecycle
        self._stores = {kind: getattr(lifecycle, kind) for kind in KINDS}
        self._kept_stores = (lifecycle.episodic, lifecycle.semantic)  # those that keep rows

    # ---- looking ----

    def page(self, *, kinds: Sequence[str] = KINDS, limit: int = 20, offset: int = 0, **chosen: Any) -> Page:
        """One page of the memories of these kinds, by when they happened. `chosen` as in `Filter`: session_id, since, status."""
        items, total = [], 0
        for kind in kinds:
            store = self._stores[kind]
            if kind == "working":
                found = store.list(limit=-1, **chosen)[::-1]
                total += len(found)
            else:
                found = store.list(limit=offset + limit, newest_first=True, **chosen)
                total += store.count(**chosen)
            items += found
        items.sort(key=lambda item: (item.occurred_at, item.memory_id), reverse=True)
        return Page(items[offset : offset + limit], total)

    def search(
        self, query: str, session_id: str, *, kinds: Sequence[str] = KINDS, limit: int = 10, **chosen: Any
    ) -> list[Any]:
        """Hits about the query, best first, as in each store's `retrieve`. session_id: whose desk is looked at."""
        hits = []
        for kind in kinds:
            whose = {"session_id": session_id} if kind == "working" and "session_id" not in chosen else {}
            hits += self._stores[kind].retrieve(query, limit, **whose, **chosen)
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.memory_id))[:limit]

    def find(self, beginning: str) -> Any:
        """The one memory whose id begins so, whatever its kind and status. UsageError when there is none, or several."""
        wanted = fold(beginning).strip()
        found = self.beginning(wanted) if wanted else []
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(item.memory_id[: len(wanted) + 4] for item in found[:5])
            raise UsageError(
                tr(
                    f"Several memories begin with {beginning}; give more of the id: {listed}",
                    f"有多条记忆以 {beginning} 开头，请多写几位：{listed}",
                )
            )
        raise UsageError(
            tr(
                f"There is no memory {beginning}; list or search shows their ids.",
                f"没有编号为 {beginning} 的记忆；用 list 或 search 查看编号。",
            )
        )

    def beginning(self, prefix: str) -> list[Any]:
        """Memories whose id begins so; of each kind ten at most."""
        on_desk = self._lifecycle.working.list(status=None, limit=-1)
        ids = [memory_id for store in self._kept_stores for memory_id in store.ids_beginning(prefix)]
        return [item for item in on_desk if item.memory_id.startswith(prefix)] + [
            item for item in map(self._get, ids) if item is not None
        ]

    def _get(self, memory_id: str) -> Any | None:
        return next(filter(None, (store.get(memory_id) for store in self._stores.values())), None)

    def notes(self, concept: str = "") -> list[Any]:
        """The learner's own notes, oldest first: of this concept, or of those that have its words in their name; "": all."""
        notes = [item for item in self._lifecycle.semantic.list(limit=-1) if item.metadata.get("note_type")]
        wanted = fold(concept)
        named = [(fold(str(note.metadata.get("concept") or "general")), note) for note in notes]
        exact = [note for name, note in named if name == wanted]
        return exact or [note for name, note in named if wanted in name]

    def about(self, item: Any) -> About:
        """Where a memory comes from, what became of it, and why it is kept."""
        derived = [made for store in self._kept_stores for made in store.derived()]
        earlier = [
            old for store in self._kept_stores for olds in store.looked_up("superseded_by", [item.memory_id]).values()
            for old in olds
        ]  # fmt: skip
        replaced = {old.memory_id for old in earlier}
        return About(
            item,
            self._why_kept(item),
            [source for source in map(self._get, item.derived_from) if source and source.memory_id not in replaced],
            [made for made in derived if item.memory_id in made.derived_from and made.memory_id != item.superseded_by],
            earlier,
            item.superseded_by and self._get(item.superseded_by),
            self._log_of(item.memory_id),
        )

    def _log_of(self, memory_id: str) -> list[tuple[datetime, str, str]]:
        rows = self._lifecycle.storage.database.rows(
            "SELECT at, action, coalesce(json_extract(details, '$.by'), '') AS by FROM log "
            "WHERE json_extract(details, '$.memory_id') = ? ORDER BY n",
            (memory_id,),
        )
        return [(from_iso(row["at"]), row["action"], row["by"]) for row in rows]

    def _why_kept(self, item: Any) -> str:
        if item.status == "superseded":
            return tr("as history: something else holds now", "作为历史保留：已有新的说法取代它")
        if item.status == "archived":
            return tr("in the archive, out of every search; it can be restored", "已归档，不参与检索，可以恢复")
        if item.pinned:
            return tr("pinned: no policy puts it away", "已固定：不会被自动归档")
        if item.memory_type == "working":
            until = f"{(item.timestamp + self._lifecycle.working.ttl).astimezone():%H:%M}"
            return tr(f"on this session's desk until {until}", f"在本次会话的工作记忆中，到 {until} 为止")
        if item.metadata.get("restored"):
            return tr("you brought it back: no policy puts it away again", "由你恢复：不会再被自动归档")
        ends = self._lifecycle.forgets_at(item)
        if ends is not None:
            day = f"{ends.astimezone():%Y-%m-%d}"
            return tr(f"until {day}, unless it is used before; then it is archived", f"到 {day} 仍未用到就会归档")
        if item.source == "user":
            return tr("you said it: no policy puts it away", "是你说的：不会被自动归档")
        return tr("knowledge does not age", "知识不会过期")

    # ---- changing ----

    def edit(self, item: Any, text: str) -> Any:
        """Another wording in its place; the learner's, so no policy forgets it. Returns the memory as it is now."""
        text = _checked(text)
        self._stores[item.memory_type].update(item.memory_id, content=text, source="user")
        return self._get(item.memory_id)

    def correct(self, item: Any, text: str) -> Any:
        """What is right instead; the wrong one ends and is kept as history. Returns the memory that holds now."""
        if item.memory_type == "working":
            raise UsageError(
                tr("The desk keeps no history; use edit.", "工作记忆不保留历史，请用 edit。")
            )  # fmt: skip
        store = self._stores[item.memory_type]
        return store.get(store.supersede(item.memory_id, _checked(text), source="user"))

    def forget(self, item: Any) -> bool:
        """Out of every search: into the archive, or off the desk. False when it is put away already."""
        if item.memory_type == "working":
            return self._lifecycle.working.remove(item.memory_id)
        return self._lifecycle.archive(item.memory_id)

    def forget_by_policy(self, *, dry_run: bool) -> list[Any]:
        """What policy archives now, or would: unimportant and stale things that a model wrote and nobody used."""
        found = [
            forgotten
            for strategy in ("importance", "time")
            for forgotten in self._lifecycle.forget(strategy, dry_run=dry_run).forgotten
        ]
        return list({forgotten.memory_id: forgotten for forgotten in found}.values())

    def restore(self, item: Any) -> bool:
        """Back from the archive, or from history. False when it is in use already."""
        return self._lifecycle.restore(item.memory_id)

    def would_purge(self, item: Any) -> list[Any]:
        """The memory and whatever was made of it."""
        return lineage(item.memory_id, self._lifecycle.working, self._kept_stores)

    def purge(self, item: Any) -> Any:
        """Delete for good; returns what that reached."""
        return self._lifecycle.purge(item.memory_id)

    # ---- taking it along ----

    def export(self, kinds: Sequence[str] = KINDS) -> Iterator[dict[str, Any]]:
        """Every memory of these kinds, whatever its status, ready for JSON."""
        for kind in kinds:
            yield from map(as_json, self._stores[kind].list(status=None, limit=-1))


def _checked(text: str) -> str:
    """A text to be kept. UsageError when there is nothing in it, or a secret."""
    from infrastructure.utterance import secret_in  # many patterns to compile, which --help does not need

    text = repair(text).strip()
    if not text:
        raise UsageError(tr("The new text is empty; write it after the id.", "新内容是空的，请写在编号后面。"))
    if secret_in(text) in SECRETS:
        raise UsageError(tr("It holds a secret; remove that first.", "其中有密钥或密码，请先去掉。"))
    return text
