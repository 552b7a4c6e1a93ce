"""The first engine: pdfium, the one in Chrome.

It reads 4 to 10 times as fast as pypdf, knows CJK fonts without a letter table, keeps the rows of tables together, writes fake
bold once, and tells where each piece of text stands. It may crash on a broken file, which is why it runs in a child process.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

from infrastructure.text import repair
from study.engine import PICTURE, EngineError, PageText, guarded, locked, reason_of, spellings
from study.layout import MOST_BOXES, Box, gutter, halves, in_columns, outside
from study.outline import DEEPEST_OUTLINE, LONGEST_OUTLINE, OutlineEntry, one_line
from study.pagetext import bare

MOST_OBJECTS = 20_000  # looked at on one page; text comes first or among them, a map has a million lines
MOST_FORMS = 4  # levels of forms within forms
DOTS_PER_INCH = 150  # 10 pt letters are 20 pixels high, which is what OCR was trained on
LARGEST_PICTURE = 4000  # pixels; a poster is drawn smaller
CUT = "\ufffe"  # a hyphen at a line end and the end itself


class PdfiumFile:
    name = "pdfium"

    def __init__(self, path: Path, password: str | None = None) -> None:
        """PasswordNeeded when neither the empty password nor `password` opens the file; EngineError for all else."""
        self._document = _open(path, password)
        with guarded():
            self.page_count = len(self._document)
            self.title = one_line(self._document.get_metadata_value("Title"))

    def close(self) -> None:
        self._document.close()

    def read(self, page: int) -> PageText:
        with guarded(), _page(self._document, page) as opened:
            text = opened.get_textpage()
            try:
                return _read(opened, text)
            finally:
                text.close()

    def sizes(self, page: int) -> dict[str, float]:
        """How large lines are set, in points: their letters and digits, case folded → height."""
        from pypdfium2 import raw as api

        sizes: dict[str, float] = {}
        with guarded(), _page(self._document, page) as opened:
            text = opened.get_textpage()
            whole = _text(text)
            places = _places(whole, text)
            for at, line in _lines(whole):
                letters = bare(line)
                if letters:
                    box = api.FS_RECTF()
                    api.FPDFText_GetLooseCharBox(text, places[at + len(line) - len(line.lstrip())], box)
                    sizes.setdefault(letters, round(abs(box.top - box.bottom), 1))
            text.close()
        return sizes

    def picture(self, page: int) -> Any:
        """The page as people see it: bytes in an array (height, width, 3), red first."""
        with guarded(), _page(self._document, page) as opened:
            scale = min(DOTS_PER_INCH / 72, LARGEST_PICTURE / max(opened.get_size()))
            return opened.render(scale=scale, rev_byteorder=True).to_numpy()[:, :, :3].copy()

    def labels(self) -> list[str | None]:
        with guarded():
            given = (self._document.get_page_label(page) for page in range(self.page_count))
            return [repair(label).strip() or None for label in given]

    def outline(self) -> list[OutlineEntry]:
        entries: list[OutlineEntry] = []
        with guarded():
            for bookmark in self._document.get_toc(max_depth=DEEPEST_OUTLINE):
                target = bookmark.get_dest()
                page = target.get_index() if target is not None else None
                title = one_line(bookmark.get_title())
                if title and page is not None and 0 <= page < self.page_count:
                    entries.append(OutlineEntry(bookmark.level + 1, title, page + 1))
                if len(entries) >= LONGEST_OUTLINE:
                    break
        return entries


# ---- Opening ----


def _open(path: Path, password: str | None):
    import pypdfium2

    for attempt in spellings(password):
        try:
            return pypdfium2.PdfDocument(path, password=attempt or None)
        except Exception as error:
            if getattr(error, "err_code", None) != pypdfium2.raw.FPDF_ERR_PASSWORD:
                raise EngineError(reason_of(error)) from error
    raise locked(path.name, password)


@contextmanager
def _page(document, number: int) -> Iterator:
    page = document[number]
    try:
        yield page
    finally:
        page.close()


# ---- Reading a page ----


class _Objects(NamedTuple):
    """What is drawn on a page: texts with and without ink, and how much of it pictures cover (0 to 1)."""

    inked: bool
    unseen: frozenset[int]  # addresses of text objects without ink
    covered: float


def _read(page, text) -> PageText:
    paper = page.get_bbox()
    drawn = _objects(page, paper)
    whole = _text(text)
    # Letters without ink over a picture, or alone on the page, are what OCR found there: they are the text.
    unseen = drawn.unseen if drawn.inked and drawn.covered < PICTURE else frozenset()
    boxes = [text.get_rect(place) for place in range(min(text.count_rects(), MOST_BOXES + 1))]
    if unseen or any(outside(box, paper) for box in boxes):
        whole, hidden = _visible(whole, text, unseen, paper)
        return PageText(_unix(whole), drawn.covered, hidden)
    split = gutter(boxes)
    return PageText(_unix(whole) if split is None else _by_columns(whole, text, split), drawn.covered)


def _text(text) -> str:
    from pypdfium2 import raw as api

    whole = text.get_text_range()
    if CUT not in whole:
        return whole
    # A code that means nothing comes as the same sign: it is taken for NUL, which goes later.
    marks = [at for at, char in enumerate(whole) if char == CUT]
    places = _places(whole, text)
    false = {at for at in marks if api.FPDFText_IsHyphen(text, places[at]) != 1}
    return "".join("\0" if at in false else char for at, char in enumerate(whole)) if false else whole


def _unix(text: str) -> str:
    """pdfium writes a hyphen and the line end after it as one sign."""
    return text.replace("\r\n", "\n").replace(CUT, "-\n")


def _objects(page, paper: Box) -> _Objects:
    from ctypes import c_float, c_void_p, cast

    from pypdfium2 import raw as api

    inked, unseen, covered = False, [], 0.0
    sides = [c_float() for _ in range(4)]
    for thing in islice(_drawn(page, api.FPDFPage_CountObjects, api.FPDFPage_GetObject, 0), MOST_OBJECTS):
        kind = api.FPDFPageObj_GetType(thing)
        if kind == api.FPDF_PAGEOBJ_IMAGE:
            api.FPDFPageObj_GetBounds(thing, *sides)
            left, bottom, right, top = (side.value for side in sides)
            covered += max(0.0, right - left) * max(0.0, top - bottom)
        elif kind == api.FPDF_PAGEOBJ_TEXT:
            if api.FPDFTextObj_GetTextRenderMode(thing) == api.FPDF_TEXTRENDERMODE_INVISIBLE:
                unseen.append(cast(thing, c_void_p).value)
            else:
                inked = True
    area = max(1.0, (paper[2] - paper[0]) * (paper[3] - paper[1]))
    return _Objects(inked, frozenset(unseen), min(1.0, covered / area))


def _drawn(parent, count, get, depth: int) -> Iterator:
    """The objects of a page or form, those of the forms in it too."""
    from pypdfium2 import raw as api

    for place in range(count(parent)):
        thing = get(parent, place)
        if api.FPDFPageObj_GetType(thing) == api.FPDF_PAGEOBJ_FORM:
            if depth < MOST_FORMS:
                yield from _drawn(thing, api.FPDFFormObj_CountObjects, api.FPDFFormObj_GetObject, depth + 1)
        else:
            yield thing


def _lines(whole: str) -> Iterator[tuple[int, str]]:
    """(offset, line) and (offset, what ends it) in turn."""
    at = 0
    for piece in re.split(f"(\r\n|{CUT})", whole):
        yield at, piece
        at += len(piece)


def _places(whole: str, text) -> Sequence[int]:
    """For each character pdfium's own number of it, by which it tells its place; −1 for one it made up."""
    from pypdfium2 import raw as api

    if text.count_chars() == len(whole):
        return range(len(whole))
    units = accumulate((1 + (char > "\uffff") for char in whole), initial=0)
    return [api.FPDFText_GetCharIndexFromTextIndex(text, unit) for _, unit in zip(whole, units, strict=False)]


def _visible(whole: str, text, unseen: frozenset[int], paper: Box) -> tuple[str, int]:
    """The text without the letters that nobody sees, and their number. Blanks share the fate of the letter before."""
    from ctypes import c_void_p, cast

    from pypdfium2 import raw as api

    def is_seen(place: int) -> bool:
        if unseen and cast(api.FPDFText_GetTextObject(text, place), c_void_p).value in unseen:
            return False
        return not outside(text.get_charbox(place), paper)

    kept: list[str] = []
    hidden, keep = 0, True
    places = _places(whole, text)
    for at, line in _lines(whole):
        letters = [place for place, char in zip(places[at:], line, strict=False) if place >= 0 and not char.isspace()]
        # Asking for each letter costs more than reading the page: for what lies beside it, the ends of a line tell.
        if letters and not unseen and is_seen(letters[0]) and is_seen(letters[-1]):
            kept.append(line)
            keep = True
            continue
        for char, place in zip(line, places[at:], strict=False):
            if place >= 0 and not char.isspace():
                keep = is_seen(place)
                hidden += not keep
            if keep:
                kept.append(char)
    return "".join(kept), hidden


def _by_columns(whole: str, text, split: float) -> str:
    """Each line cut at the gutter, the left halves before the right ones."""
    lines: list[str] = []
    sides: list[int] = []
    places = _places(whole, text)
    for at, line in _lines(whole):
        if line == CUT and lines:
            lines[-1] += "-"
        elif line.strip():
            boxes = [
                None if char.isspace() or place < 0 else text.get_charbox(place)
                for char, place in zip(line, places[at : at + len(line)], strict=True)
            ]
            for piece, side in halves(line, boxes, split):
                lines.append(piece)
                sides.append(side)
    return "\n".join(in_columns(lines, sides))
