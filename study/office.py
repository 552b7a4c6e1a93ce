"""Word, PowerPoint, EPUB and web pages as Markdown, with the optional package markitdown.

What its kind of file calls a page is a page here: slides are; the others flow, and are cited by heading.
"""

import re
from pathlib import Path

from infrastructure.errors import DocumentError
from infrastructure.extras import has, missing, need
from study import trouble
from study.engine import EngineError

_SLIDE = re.compile(r"\s*<!-- Slide number: \d+ -->\s*")
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")


def pages_of(path: Path) -> list[str]:
    """Markdown, page by page, made in a child process. DocumentError when the extra is absent or the file broken."""
    from study.worker import convert

    if not has("documents"):
        raise DocumentError(missing("documents"))
    try:
        text = convert(path)
    except EngineError as error:
        raise trouble.broken_office_file(path, str(error)) from error
    first, *slides = _SLIDE.split(text)
    return [*([first] if first.strip() else []), *slides] or [text]


def to_markdown(path: Path) -> str:
    """In the child: what markitdown makes of the file, without the pictures in it, whose words stay."""
    converter = need("documents").MarkItDown(enable_plugins=False)
    try:
        text = converter.convert_local(path).markdown
    except Exception as error:
        raise EngineError(type(error).__name__) from error
    return _PICTURE.sub(r"\1", text)
