"""Which document is meant: the one rule for every command that takes one."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.text import fold

if TYPE_CHECKING:
    from infrastructure.library import DocumentInfo

SHORTEST_ID = 4  # digits: ids are hexadecimal, so that one in sixteen begins with the 1 of "number 1"


def document_among(infos: "Sequence[DocumentInfo]", wanted: str) -> "DocumentInfo":
    """The one document meant by its name, id or path, a part of the name, the beginning of the id, or its number in `docs`.

    A number is a number only if no other document's name begins with it, and never with a leading zero: "005" is a part of
    a name. UsageError when none or several are meant.
    """
    word = wanted.casefold()
    exact = [d for d in infos if word in (d.name.casefold(), d.document_id, d.path.casefold())]
    numbered = None if exact else _numbered(infos, fold(wanted).strip())
    if numbered:
        return numbered
    close = exact or [d for d in infos if word in d.name.casefold() or d.document_id.startswith(word)]
    if len(close) == 1:
        return close[0]
    listed = _listed(close or infos) or tr("none", "无")
    if close:
        raise UsageError(
            tr(
                f"{wanted!r} could be several documents; give the id: {listed}",
                f"{wanted!r} 对应多个资料，请写编号：{listed}",
            )
        )
    raise UsageError(tr(f"No document {wanted!r}; loaded are: {listed}", f"没有资料 {wanted!r}；已加载：{listed}"))


def _numbered(infos: "Sequence[DocumentInfo]", word: str) -> "DocumentInfo | None":
    """The document with this number; None when it is no number of one. UsageError when the word is a beginning, too."""
    if not re.fullmatch(r"[1-9][0-9]*", word) or int(word) > len(infos):
        return None
    numbered = infos[int(word) - 1]
    others = [info for info in infos if info is not numbered and _begins(info, word)]
    if not others:
        return numbered
    listed = _listed(others)
    raise UsageError(
        tr(
            f"{word} could mean {listed} or number {word}, {_listed([numbered])}; write more of the name, or the id.",
            f"{word} 可能是 {listed}，也可能是第 {word} 份 {_listed([numbered])}；请多写几个字的名称，或写编号。",
        )
    )


def _begins(info: "DocumentInfo", word: str) -> bool:
    return info.name.casefold().startswith(word) or (len(word) >= SHORTEST_ID and info.document_id.startswith(word))


def _listed(infos: "Sequence[DocumentInfo]") -> str:
    return ", ".join(f"{info.name} ({info.document_id})" for info in infos)
