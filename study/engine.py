"""What every PDF engine gives, and how it fails: with an EngineError and a short reason, or with PasswordNeeded.

The engines themselves raise ValueError, KeyError, RecursionError and a dozen types of their own, depending on which part of
the file is broken; none of that leaves them.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from infrastructure.errors import PasswordNeeded
from infrastructure.language import tr
from study.outline import one_line

PICTURE = 0.4  # of a page covered by pictures: it may be a scan


class EngineError(Exception):
    """`str(error)` is a few words, without the file's name: "page content too large"."""


class PageText(NamedTuple):
    text: str  # as the engine gives it
    covered: float = 0.0  # share of the page, 0 to 1, that pictures cover; 0 when the engine does not know
    hidden: int = 0  # letters left out because nobody sees them: without ink, or beside the page


class PdfFile(Protocol):
    """An open file. An engine may also have labels(), outline() and sizes(page); see pdfium.py."""

    name: str
    page_count: int
    title: str

    def __init__(self, path: Path, password: str | None = None) -> None: ...

    def read(self, page: int) -> PageText:
        """What the engine reads on a page (from 0)."""

    def close(self) -> None: ...


def reason_of(error: Exception) -> str:
    """What a library complains of, in a few words."""
    if isinstance(error, MemoryError):
        return tr("it unpacks to more than can be read safely", "解压后过大，无法安全读取")
    if isinstance(error, RecursionError):
        return tr("its parts refer to each other without end", "内部引用无限循环")
    message = one_line(str(error))
    inner = re.search(r"\(PDFium: (.+?)\)", message)
    return (inner[1] if inner else message)[:100].rstrip(".:") or type(error).__name__


@contextmanager
def guarded() -> Iterator[None]:
    """Whatever an engine's library raises leaves as an EngineError."""
    try:
        yield
    except EngineError:
        raise
    except Exception as error:
        raise EngineError(reason_of(error)) from error


def locked(name: str, password: str | None) -> PasswordNeeded:
    if password is None:
        message = tr(
            "{name} is protected by a password: load it again with --password, or type it when asked.",
            "{name} 有密码保护：请用 --password 给出密码，或在提示时输入。",
        )
    else:
        message = tr(
            "That password does not open {name}: check upper and lower case and the keyboard layout, then try again.",
            "密码不正确，打不开 {name}：请检查大小写和键盘布局后重试。",
        )
    return PasswordNeeded(message.format(name=name))


def spellings(password: str | None) -> list[str]:
    """The empty password first: it opens files that only forbid printing. Then as typed, and as RFC 4013 prepares it."""
    if not password:
        return [""]
    prepared = unicodedata.normalize("NFKC", password.replace("\u00ad", ""))
    return list(dict.fromkeys(["", password, prepared]))
