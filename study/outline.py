"""The outline of a PDF: from the tree in the file to headings at their places in the text.

entries in the file → (level, title, page) → where the title stands on that page → the path in force on each page
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from infrastructure.text import fold_radicals, repair
from study.pagetext import bare

DEEPEST_OUTLINE = 12  # levels
LONGEST_OUTLINE = 20_000  # entries
MOST_NAME_NODES = 20_000  # in the tree of named places

Heading = tuple[int, int, str]  # offset in the document's text, level from 1, title


class OutlineEntry(NamedTuple):
    level: int  # 1 is the top
    title: str
    page: int  # from 1


def one_line(text: str) -> str:
    return " ".join(fold_radicals(repair(str(text))).split())


class OutlineWalk:
    """Walks the outline entry by entry, so that one broken entry costs itself and not its siblings."""

    def __init__(self, reader, page_count: int) -> None:
        self._reader = reader
        self._count = page_count
        self._seen: set[int] = set()
        self._found: list[OutlineEntry] = []
        self._page_by_id: dict[int, int] = {}
        self._named: dict[str, object] | None = None

    def entries(self) -> list[OutlineEntry]:
        """In the order of the outline. What pypdf raises on the way to its first entry, the caller has to catch."""
        top = self._reader.root_object.get("/Outlines")
        top = top.get_object() if top is not None else None
        if not hasattr(top, "get"):
            return []
        for number in range(self._count):
            reference = self._reader.pages[number].indirect_reference
            if reference is not None:
                self._page_by_id[reference.idnum] = number + 1
        self._walk(top.get("/First"), 1)
        return self._found

    def _walk(self, reference, level: int) -> None:
        while reference is not None and level <= DEEPEST_OUTLINE and len(self._found) < LONGEST_OUTLINE:
            try:
                entry = reference.get_object()
                if not hasattr(entry, "get") or id(entry) in self._seen:
                    return
                self._seen.add(id(entry))
            except Exception:  # noqa: BLE001 — the chain of siblings is cut here
                return
            self._keep(entry, level)
            self._walk(entry.raw_get("/First") if "/First" in entry else None, level + 1)
            reference = entry.raw_get("/Next") if "/Next" in entry else None

    def _keep(self, entry, level: int) -> None:
        try:
            title, page = one_line(entry.get("/Title") or ""), self._target(entry)
        except Exception:  # noqa: BLE001 — a title or target of the wrong type
            return
        if title and page is not None:
            self._found.append(OutlineEntry(level, title, page))

    def _target(self, entry) -> int | None:
        """The page number (from 1) an entry leads to; None for a missing page, another file, a web address."""
        action = entry.get("/A")
        destination = entry.get("/Dest")
        if destination is None and action is not None and action.get("/S", "/GoTo") == "/GoTo":
            destination = action.get("/D")
        return self._page_of(destination)

    def _page_of(self, destination) -> int | None:
        for _ in range(4):  # a name may lead to a dictionary that leads to an array
            if isinstance(destination, str | bytes):
                destination = self._by_name(destination)
            elif hasattr(destination, "keys"):
                destination = destination.get("/D")
        if not isinstance(destination, list) or not destination:
            return None
        target = destination[0]
        if isinstance(target, int):
            return target + 1 if 0 <= target < self._count else None
        return self._page_by_id.get(getattr(target, "idnum", -1))

    def _by_name(self, name: str | bytes) -> object:
        if self._named is None:
            self._named = {}
            root = self._reader.root_object
            self._collect_names(root.get("/Names", {}).get("/Dests"), set())
            for old_name, target in (root.get("/Dests") or {}).items():
                self._named.setdefault(old_name, target)
        key = name.decode("latin-1") if isinstance(name, bytes) else str(name)
        target = self._named.get(key)
        return target.get_object() if target is not None else None

    def _collect_names(self, node, seen: set[int]) -> None:
        """Names and their targets, unresolved: building pypdf's own table of destinations costs more than the outline."""
        node = node.get_object() if node is not None else None
        if not hasattr(node, "get") or id(node) in seen or len(seen) > MOST_NAME_NODES:
            return
        seen.add(id(node))
        names = list(node.get("/Names") or ())
        for name, target in zip(names[::2], names[1::2], strict=False):
            name = name.get_object()
            self._named.setdefault(name.decode("latin-1") if isinstance(name, bytes) else str(name), target)
        for kid in node.get("/Kids") or ():
            self._collect_names(kid, seen)


# ---- Headings in the text ----


def locate_headings(pages: Sequence[str], starts: Sequence[int], outline: Sequence[OutlineEntry]) -> list[Heading]:
    """Each outline entry where its title stands on its page, else where the page begins; offsets never go back.

    starts: offset of each page in the document's text.
    """
    headings: list[Heading] = []
    behind = 0  # the heading before; a title that stands twice on a page is looked for after it
    for level, title, number in sorted(outline, key=lambda entry: entry.page):
        start = starts[number - 1]
        begin = behind + 1 - start if headings and behind >= start else 0
        place = _find_title(pages[number - 1], title, begin)
        offset = start + place if place is not None else max(behind, start)
        headings.append((offset, level, title))
        behind = offset
    return headings


def _find_title(text: str, title: str, begin: int) -> int | None:
    """Where the title stands on the page, spaces and punctuation aside; at the start of a line if it can be had."""
    letters = bare(title)
    if not letters or not text:
        return None
    pattern = r"[\W_]{0,9}".join(map(re.escape, letters))
    numbered = r"[\W_]{0,9}" if letters[0].isdigit() else r"[\W\d_]{0,20}"
    for expression in (rf"(?m)^{numbered}{pattern}", pattern):
        found = re.compile(expression, re.IGNORECASE).search(text, begin)
        if found:
            return found.start() + len(found[0]) - len(found[0].lstrip())
    return None


def heading_paths(headings: Sequence[Heading], starts: Sequence[int]) -> list[str]:
    """For each page the chain of headings above its first words; a heading that is its first words counts.

    >>> heading_paths([(0, 1, "Memory"), (50, 2, "Decay"), (200, 1, "Retrieval")], [0, 100, 200])
    ['Memory', 'Memory > Decay', 'Retrieval']
    """
    paths = []
    path: dict[int, str] = {}
    pending = list(headings)
    for start in starts:
        while pending and pending[0][0] <= start:
            _, level, title = pending.pop(0)
            path = {above: name for above, name in path.items() if above < level} | {level: title}
        paths.append(" > ".join(path[level] for level in sorted(path)))
    return paths
