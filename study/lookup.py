"""Looking things up: a cited page around its quote, any page, the outline of a document, one's own notes. Rows of the table in
`commands`; what they show is made in `lookup_views`."""

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.text import fold
from study.desk import Desk
from study.memory_book import as_json
from study.paths import text_of

if TYPE_CHECKING:
    from infrastructure.library import DocumentInfo, Library, StoredPage
    from infrastructure.transcript import Turn

AROUND = 250  # characters shown before and after a quote, to the next line break
LOOKED_BACK = 20  # turns: what was cited longer ago is looked up by its page

Span = tuple[int, int]


@dataclass(frozen=True)
class View:
    """A page, or the part of it around a quote. `marks` are the quotes, as ascending spans of `text`. also: the PDF page that
    has the number asked for printed on it, when that is another one. is_part: there is more of the page."""

    document: str
    document_id: str
    page: int
    page_label: str | None
    pages: int
    heading_path: str
    text: str
    marks: list[Span]
    also: int | None = None
    is_part: bool = False
    n: int | None = None  # of the citation that is opened


# ---- /page and /open ----


def page(desk: Desk, args: Namespace) -> int:
    """A page of the document named, else of the one last looked at or cited."""
    info = _document(desk, args.document or (text_of(args.words) if args.words else ""))
    found, also = page_of(desk.assistant.library, info, args.page)
    quotes = [s["quote"] for s in _sources(desk) if (s["document_id"], s["page"]) == (info.document_id, found.page)]
    marks = merged(filter(None, (find_quote(found.clean, quote) for quote in quotes)))
    desk.reading = info.document_id
    desk.assistant.library.note_opened(info.document_id, found.page)
    view = View(
        info.name, info.document_id, found.page, found.label, info.pages, found.heading_path, found.clean, marks, also
    )
    desk.result(_view_json(view), lambda: _views().page(view, plain=desk.screen.is_plain, slash=desk.slash))
    return 0


def open_(desk: Desk, args: Namespace) -> int:
    """The page behind a citation of the last answer, around what was quoted from it."""
    sources = _sources(desk)
    chosen = next((source for source in sources if source["n"] == args.number), None)
    if chosen is None:
        raise UsageError(_no_source(args.number, sources))
    info = next((d for d in desk.assistant.documents() if d.document_id == chosen["document_id"]), None)
    found = info and desk.assistant.library.page(info.document_id, chosen["page"])
    if not found:
        document = chosen["document"]
        raise UsageError(tr(f"{document} has been removed since; load it again.", f"{document} 已被移除，请重新加载。"))
    mark = find_quote(found.clean, chosen["quote"])
    start, end = around(found.clean, mark) if mark else (0, len(found.clean))
    marks = [(mark[0] - start, mark[1] - start)] if mark else []
    is_part = bool(found.clean[:start].strip() or found.clean[end:].strip())
    desk.reading = info.document_id
    desk.assistant.library.note_opened(info.document_id, found.page)
    view = View(
        info.name, info.document_id, found.page, found.label, info.pages, chosen["heading_path"],
        found.clean[start:end].strip("\n"), marks, is_part=is_part, n=args.number,
    )  # fmt: skip
    desk.result(_view_json(view), lambda: _views().page(view, plain=desk.screen.is_plain, slash=desk.slash))
    return 0


def _view_json(view: View) -> dict[str, Any]:
    quotes = [view.text[start:end] for start, end in view.marks]
    return {name: value for name, value in asdict(view).items() if name != "marks"} | {"quotes": quotes}


def _no_source(number: int, sources: Sequence[Mapping[str, Any]]) -> str:
    if not sources:
        return tr(
            "No answer of this session cites anything yet; page N shows a page.",
            "本次会话还没有引用过资料；用 page 页码 查看某一页。",
        )
    listed = ", ".join(str(source["n"]) for source in sources)
    return tr(
        f"The last answer has no source {number}; it has {listed}.", f"上一个回答没有来源 {number}，只有 {listed}。"
    )


def last_turns(desk: Desk, most: int = 1) -> "list[Turn]":
    """The turns of the session at the desk, newest first; a command of its own looks at the last session there was."""
    session_id = desk.assistant.session_id
    if not desk.interactive:
        sessions = desk.assistant.sessions()
        session_id = sessions[0].session_id if sessions else session_id
    return desk.assistant.transcript.turns(session_id, last=most)[::-1]


def _sources(desk: Desk) -> list[dict[str, Any]]:
    """What the last answer that stood on something cited, or what was offered in its place."""
    for turn in last_turns(desk, LOOKED_BACK):
        if sources := turn.trace.get("sources") or turn.trace.get("nearest"):
            return sources
    return []


# ---- Which document, which page? ----


def _document(desk: Desk, name: str) -> "DocumentInfo":
    """The one named; else the one looked at last, the one cited first, or the only one."""
    infos = desk.assistant.documents()
    if name:
        return desk.assistant.find_document(name)
    by_id = {info.document_id: info for info in infos}
    cited = [source["document_id"] for source in _sources(desk)]
    for document_id in [desk.reading, *cited]:
        if document_id in by_id:
            return by_id[document_id]
    if len(infos) == 1:
        return infos[0]
    if not infos:
        raise UsageError(tr("There are no documents yet; load one first.", "还没有资料，请先加载一份。"))
    listed = ", ".join(info.name for info in infos)
    raise UsageError(tr(f"Of which document? Name one: {listed}", f"哪份资料？请写名称：{listed}"))


def page_of(library: "Library", info: "DocumentInfo", wanted: str) -> "tuple[StoredPage, int | None]":
    """The page a learner means: a PDF page, else the one page with that label printed on it. UsageError when there is none.

    Beside it the PDF page that has the wanted number printed on it, when that is another one.
    """
    word = re.sub(r"^(?:pages?\b|pp?(?=[.\s\d])|第)[.\s]*|\s*页$", "", fold(wanted).strip())
    labelled = [number for number, label in library.labels(info.document_id) if label and fold(label) == word]
    number = int(word) if word.isdecimal() else 0
    if 1 <= number <= info.pages:
        also = labelled[0] if len(labelled) == 1 and labelled[0] != number else None
        return library.page(info.document_id, number), also
    if len(labelled) == 1:
        return library.page(info.document_id, labelled[0]), None
    raise UsageError(_no_page(info, wanted, labelled))


def _no_page(info: "DocumentInfo", wanted: str, labelled: Sequence[int]) -> str:
    if labelled:
        listed = ", ".join(map(str, labelled))
        return tr(
            f"{info.name} has several pages {wanted}; give the PDF page: {listed}",
            f"{info.name} 有多个第 {wanted} 页，请写 PDF 页码：{listed}",
        )
    return tr(
        f"{info.name} has no page {wanted}; it has 1 to {info.pages}.",
        f"{info.name} 没有第 {wanted} 页，页码从 1 到 {info.pages}。",
    )


# ---- Where on the page? ----


def find_quote(text: str, quote: str) -> Span | None:
    """Where a page's clean text says what was quoted from the page as it was read: by letters alone, since line breaks, hyphens
    and old forms of characters are not the same in both. None when it is not there.

    >>> find_quote("He reads: all is real.", "re-\\nal")
    (17, 21)
    """
    letters, places = _letters(text)
    wanted, _ = _letters(quote)
    at = letters.find(wanted)
    if not wanted or at < 0:
        return None
    start, end = places[at], places[at + len(wanted) - 1] + 1
    for mark in re.search(r"[\W_]*\Z", quote.rstrip())[0]:  # the full stop that belongs to it
        end += text[end : end + 1] == mark
    return start, end


def _letters(text: str) -> tuple[str, list[int]]:
    """Folded letters and digits, and the place in the text that each came from."""
    found = [(letter, place) for place, char in enumerate(text) for letter in fold(char) if letter.isalnum()]
    return "".join(letter for letter, _ in found), [place for _, place in found]


def around(text: str, span: Span) -> Span:
    """The span with about AROUND characters on each side, from line break to line break."""
    start = text.rfind("\n", 0, max(0, span[0] - AROUND)) + 1
    end = text.find("\n", min(len(text), span[1] + AROUND))
    return start, len(text) if end < 0 else end


def merged(spans: "Iterator[Span]") -> list[Span]:
    """Ascending and apart.

    >>> merged(iter([(5, 9), (0, 2), (1, 4)]))
    [(0, 4), (5, 9)]
    """
    kept: list[Span] = []
    for start, end in sorted(spans):
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    return kept


# ---- /outline and /notes ----


def outline(desk: Desk, args: Namespace) -> int:
    """The headings of one document, or of all."""
    library = desk.assistant.library
    infos = [desk.assistant.find_document(text_of(args.document))] if args.document else desk.assistant.documents()
    told = []
    for info in infos:
        labels = dict(library.labels(info.document_id))
        entries = [
            {"level": level, "title": title, "page": page, "page_label": labels.get(page)}
            for level, title, page in library.outline(info.document_id)
        ]
        told.append({"document": info.name, "document_id": info.document_id, "outline": entries})
    desk.result({"documents": told}, lambda: _views().outline(told))
    return 0


def notes(desk: Desk, args: Namespace) -> int:
    from study import memory_views

    concept = text_of(args.concept) if args.concept else ""
    found = desk.assistant.memories.notes(concept)
    desk.result(
        {"notes": [as_json(note) for note in found]}, lambda: memory_views.notes(found, concept, slash=desk.slash)
    )
    return 0


def _views() -> ModuleType:
    from study import lookup_views  # brings rich

    return lookup_views
