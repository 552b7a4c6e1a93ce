"""What `/page`, `/open` and `/outline` show, as rich renderables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from infrastructure.console import plain
from infrastructure.language import tr
from study.blocks import columns, line, place, where

if TYPE_CHECKING:
    from study.lookup import View

QUOTED = "black on yellow"


def page(view: "View", *, plain: bool, slash: str) -> RenderableType:
    """The page's text with what was quoted from it marked: by colour, or, where output is plain, by >> and <<."""
    number = [(f"[{view.n}] ", "cyan")] if view.n is not None else []
    heading = [(f" · {view.heading_path}", "dim")] if view.heading_path else []
    head = line(*number, *((part, "bold") for part in where(view.document, view.page, view.page_label)), *heading)
    parts: list[RenderableType] = [head, "", _marked(view, plain=plain)]
    if more := _more(view, slash):
        parts += ["", line((more, "dim"))]
    return Group(*parts)


def _marked(view: "View", *, plain: bool) -> Text:
    if not view.text.strip():
        return line((tr("There is no text on this page.", "这一页没有文字。"), "yellow"))
    pieces, end = [], 0
    for start, stop in view.marks:
        quoted = view.text[start:stop]
        pieces += [view.text[end:start], f">>{quoted}<<" if plain else (quoted, QUOTED)]
        end = stop
    return line(*pieces, view.text[end:])


def _more(view: "View", slash: str) -> str:
    """What else there is to see, in one line."""
    told = []
    if view.is_part:
        told.append(tr(f"{slash}page {view.page} shows all of it.", f"{slash}page {view.page} 显示整页。"))
    elif view.page < view.pages:
        told.append(tr(f"{slash}page {view.page + 1} goes on.", f"{slash}page {view.page + 1} 看下一页。"))
    if view.also is not None:
        same = tr(
            f"This is PDF page {view.page}; the page with {view.page} printed on it is {slash}page {view.also}.",
            f"这是 PDF 第 {view.page} 页；印着页码 {view.page} 的是 {slash}page {view.also}。",
        )
        told.append(same)
    return " ".join(told)


def outline(documents: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Titles, indented by level, with their pages."""
    if not documents:
        return line(tr("No documents yet.", "还没有资料。"))
    parts: list[RenderableType] = []
    for document in documents:
        parts.append(line((document["document"], "bold")))
        if not document["outline"]:
            parts += [line((tr("  no outline in the file", "  文件中没有目录"), "dim")), ""]
            continue
        table = columns(("", {"overflow": "fold", "ratio": 1}), ("", {"no_wrap": True, "justify": "right"}))
        table.show_header = False
        top = min(entry["level"] for entry in document["outline"])
        for entry in document["outline"]:
            title = Padding(plain(entry["title"]), (0, 0, 0, 2 * (entry["level"] - top + 1)))
            table.add_row(title, line((place(entry["page"], entry["page_label"]), "dim")))
        parts += [table, ""]
    return Group(*parts[:-1])
