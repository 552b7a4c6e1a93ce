"""From the text of a PDF page to text that can be searched, without losing the way back.

    raw lines → drop running lines → write doubled lines once → expand ligatures → join what the page width had cut

`clean_page` returns the clean text together with `offsets`: breakpoints (clean, raw), ascending, that say where each stretch
of clean text lies in the raw page. A quotation is cut from the raw page with them, so it is what the page really says:

>>> from infrastructure.library import raw_slice
>>> page = clean_page("Retrieval is efﬁ-\\ncient.")
>>> page.text
'Retrieval is efficient.'
>>> raw_slice("Retrieval is efﬁ-\\ncient.", page.offsets, 13, 22)
'efﬁ-\\ncient'
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from infrastructure.text import fold_radicals, repair

Offsets = tuple[tuple[int, int], ...]


class CleanText(NamedTuple):
    text: str
    offsets: Offsets


# ---- Raw text ----

_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
USUAL_SEPARATOR = 5  # times in a document


def raw_pages(given: Sequence[str]) -> list[str]:
    """What an engine gave, page by page, without what cannot be stored or shown.

    Some fonts have no space and use a control code for it (a browser's print gives "et\\x01al."). A code that a document
    uses again and again is taken for that.
    """
    counts: Counter[str] = Counter()
    for text in given:
        counts.update(_CONTROLS.findall(text))
    spaces = dict.fromkeys((code for code, count in counts.items() if code < " " and count >= USUAL_SEPARATOR), " ")
    return [repair(text.translate(str.maketrans(spaces)) if spaces else text) for text in given]


_NOT_IN_WORDS = ".,;:!?()[]\"'“”‘’…"


def hyphenated_words(pages: Iterable[str]) -> set[str]:
    """Words this document writes with a hyphen in the middle of a line: they keep it when a line ends there."""
    return {
        word.strip(_NOT_IN_WORDS).lower() for page in pages if "-" in page for word in page.split() if "-" in word[1:-1]
    }


# ---- Clean text ----


class _Builder:
    """Clean text in the making. A breakpoint is written only where clean and raw stop running in step."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.offsets: list[tuple[int, int]] = []
        self._lead: int | None = None

    def copy(self, text: str, raw: int) -> None:
        """`text` stands for as many characters of the raw page, from `raw` on."""
        if not text:
            return
        if raw - self.length != self._lead:
            self._lead = raw - self.length
            self.offsets.append((self.length, raw))
        self.parts.append(text)
        self.length += len(text)

    def replace(self, text: str, raw: int) -> None:
        """Every character of `text` stands for the one raw character at `raw`."""
        for char in text:
            self.copy(char, raw)


# ---- Lines ----


def bare(text: str) -> str:
    """The letters and digits alone, case folded: how a line is recognised again.

    >>> bare("1.2  Naïve RAG —")
    '12naïverag'
    """
    return re.sub(r"[\W_]+", "", text).casefold()


LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_ODD_SPACE = "\t\u00a0\u2000-\u200a\u202f\u205f\u3000"
_INSIDE = re.compile(
    rf"(?P<space> [ {_ODD_SPACE}]+|[{_ODD_SPACE}][ {_ODD_SPACE}]*)|(?P<ligature>[ﬀ-ﬆ])|[\u00ad\u200b\u2060\ufeff]"
)
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]")
_RADICALS = re.compile("[\u2e80-\u2fd5戶靑]")


class Line(NamedTuple):
    """One printed line: where its text lies in the raw page, without the blanks around it."""

    start: int
    end: int
    text: str
    indent: int
    ends_blank: bool
    after_gap: bool  # an empty line came before
    continues: bool = False  # a later piece of an overprinted line

    @property
    def width(self) -> int:
        """Columns: a CJK character takes two."""
        return len(self.text) if self.text.isascii() else len(self.text) + len(_WIDE.findall(self.text))


def page_lines(raw: str) -> list[tuple[int, str]]:
    """(offset, line) for every line of a page, split at "\\n" alone: splitlines() would also split at U+2028."""
    lines, offset = [], 0
    for line in raw.split("\n"):
        lines.append((offset, line))
        offset += len(line) + 1
    return lines


def clean_page(
    raw: str,
    *,
    dropped: Collection[int] = (),
    compounds: Collection[str] = (),
    titles: Collection[str] = (),
) -> CleanText:
    """The searchable text of one page.

    dropped: numbers of the lines that are no text of this page (running headers, footers, page numbers), from 0.
    compounds: lower-case words known to keep their hyphen. titles: headings of this page, bare; such a line is not joined with
    its neighbours.
    """
    folded = fold_radicals(raw) if _RADICALS.search(raw) else raw
    lines = _kept_lines(folded, dropped)
    builder = _Builder()
    widths = [line.width for line in lines]
    measure = sorted(widths)[int(0.9 * (len(widths) - 1))] if widths else 0
    headings = {index for index, line in enumerate(lines) if bare(line.text) in titles} if titles else ()
    for index, line in enumerate(lines):
        if index + 1 == len(lines):
            joint = ""
        elif index in headings or index + 1 in headings:
            joint = "\n" if index in headings else "\n\n"
        else:
            joint = _joint(line, lines[index + 1], _fills(widths, index, measure), compounds)
        end = line.end - 1 if joint == _DEHYPHENATE else line.end
        _copy_line(builder, line, end)
        if joint not in ("", _DEHYPHENATE):
            builder.replace(joint, line.end) if len(joint) > 1 else builder.copy(joint, line.end)
    return CleanText("".join(builder.parts), tuple(builder.offsets))


def _kept_lines(folded: str, dropped: Collection[int]) -> list[Line]:
    lines: list[Line] = []
    gap = False
    for number, (offset, whole) in enumerate(page_lines(folded)):
        text = whole.strip()
        if not text:
            gap = True
            continue
        if number in dropped:
            continue
        indent = len(whole) - len(whole.lstrip()) if whole[0].isspace() else 0
        if lines and not gap and text == lines[-1].text and _letters(text) >= 4:
            continue  # fake bold: the same line drawn twice
        for piece, (start, end) in enumerate(_printed_once(text)):
            start, end = start + offset + indent, end + offset + indent
            lines.append(Line(start, end, folded[start:end], indent, whole[-1].isspace(), gap, piece > 0))
            gap = False
    return lines


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


# Bold without a bold font: the same words drawn two to four times, a hair apart. pypdf then writes each piece that often.
_FOURFOLD, _THREEFOLD = (re.compile(rf"\s*(\S.{{0,79}}?)\1{{{times - 1}}}") for times in (4, 3))
LONGEST_OVERPRINTED = 600  # characters; looking for repetition takes the square of the length
_TWOFOLD = re.compile(r"(\S.*?\S) ?\1")


def _printed_once(text: str) -> list[tuple[int, int]]:
    """The spans of `text` that remain when overprinted copies are left out: one span, the whole, for an ordinary line.

    >>> _printed_once("年度报告年度报告"), _printed_once("一步一步来")
    ([(0, 4)], [(0, 5)])
    """
    if len(text) <= LONGEST_OVERPRINTED and text.find(text[:2], 1) > 0:
        double = _TWOFOLD.fullmatch(text)
        for pattern in (_FOURFOLD, _THREEFOLD):
            spans = _pieces(pattern, text)
            if spans:
                return spans
        if double and _letters(double[1]) >= 4:
            return [double.span(1)]
    return [(0, len(text))]


def _pieces(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    spans, position = [], 0
    while position < len(text):
        match = pattern.match(text, position)
        if not match:
            return []
        spans.append(match.span(1))
        position = match.end()
    return spans if any(_letters(text[start:end]) >= 2 for start, end in spans) else []


def _copy_line(builder: _Builder, line: Line, end: int) -> None:
    start = line.start
    if _INSIDE.search(line.text) is None:
        builder.copy(line.text[: end - start], start)
        return
    for match in _INSIDE.finditer(line.text, 0, end - line.start):
        at = line.start + match.start()
        builder.copy(line.text[start - line.start : match.start()], start)
        if match["space"]:
            builder.copy(" ", at)
        elif match["ligature"]:
            builder.replace(LIGATURES[match["ligature"]], at)
        start = line.start + match.end()
    builder.copy(line.text[start - line.start : end - line.start], start)


# ---- Joints: what stands between two lines ----

_DEHYPHENATE = "-"
_HAN_KANA = "\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’…—"
_HAN_OR_KANA = re.compile(f"[{_HAN_KANA}]")
_CJK_MARK = re.compile("[\u3001-\u301f\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65“”‘’…—]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_SENTENCE_END = re.compile(r"[.!?。！？]['\"”’」』）)\]]*$")
_ITEM = re.compile(
    r"[•‣◦▪■□●○◆◇*·–—\uf000-\uf0ff]|- |[(（][\dA-Za-z一二三四五六七八九十]{1,3}[)）]|\d{1,3}[.)．、]\s?(?!\d)|\d+(?:\.\d+)+\s"
    r"|[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十百\d]{1,4}[章节條条部篇]|[①-⑳]"
)
_DIGIT = re.compile(r"\d")
_is_number = re.compile(r"[(±+-]?[$€¥]?\d[\d,.]*[%)]?").fullmatch
_LEADERS = re.compile(r"(?:\. ?){4,}|…{2,}|·{4,}")
_CODE_END = re.compile(r"[;{}]$")
_LETTER = r"[^\W\d_\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]"  # of a script with words, ligatures included
LONGEST_WORD = 80  # letters
_WORD_BEFORE = re.compile(rf"{_LETTER}+(?:[-‐]{_LETTER}+)*[-‐]$")
_WORD_AFTER = re.compile(rf"{_LETTER}+(?:[-‐]{_LETTER}+)*")


def _fills(widths: Sequence[int], index: int, measure: int) -> bool:
    """Was this line cut by the right margin? Judged by its neighbours and by the page's usual line."""
    nearby = max(widths[max(0, index - 1) : index + 2])
    return widths[index] >= max(10, 0.72 * nearby, 0.5 * measure)


def _joint(line: Line, following: Line, fills: bool, compounds: Collection[str]) -> str:
    """ "" or " " joins, "\\n" keeps the line end, "\\n\\n" ends a paragraph, _DEHYPHENATE drops the hyphen and joins."""
    if following.continues:
        return ""
    if following.after_gap:
        return "\n\n"
    head, tail = line.text[-1], following.text[0]
    if head in "-‐\u00ad" and len(line.text) > 1 and line.text[-2].isalpha() and tail.isalpha():
        return _hyphen_joint(line.text, following.text, compounds)
    ends_sentence = _SENTENCE_END.search(line.text[-8:]) is not None
    if ends_sentence and (not fills or following.indent > line.indent + 1):
        return "\n\n"
    if (
        not fills
        or ends_sentence
        or _ITEM.match(following.text)
        or _is_tabular(line.text)
        or _is_tabular(following.text)
    ):
        return "\n"
    if _CODE_END.search(line.text) or (head.isdigit() and tail.isdigit()):
        return "\n"  # the second: entries of a table of contents
    return _space_between(head, tail, line.ends_blank)


def _hyphen_joint(text: str, following: str, compounds: Collection[str]) -> str:
    """Joined either way; the question is whether the hyphen belongs to the word (Retrieval-Augmented, state-of-the-art)."""
    before, after = _WORD_BEFORE.search(text[-LONGEST_WORD:]), _WORD_AFTER.match(following[:LONGEST_WORD])
    if text[-1] == "\u00ad" or before is None or after is None or not after[0][0].islower():
        return ""  # a soft hyphen is left out of clean text wherever it stands
    first = before[0][:-1]  # "J-shaped", "LLM-based", "state-of-the", and what this document hyphenates elsewhere
    compound = first[-1].isupper() or "-" in first or f"{first}-{after[0]}".replace("‐", "-").lower() in compounds
    return "" if compound else _DEHYPHENATE


def _is_tabular(text: str) -> bool:
    """A table row or a line of a table of contents: joined with the next it would say something else.

    >>> _is_tabular("MiniLM 0.43 0.59 0.64"), _is_tabular("1 Introduction . . . . . . . 3"), _is_tabular("In 2023 we saw")
    (True, True, False)
    """
    if _DIGIT.search(text) is None:
        return False
    words = text.split()
    numbers = sum(_is_number(word) is not None for word in words)
    return (numbers >= 2 and 2 * numbers >= len(words)) or _LEADERS.search(text) is not None


def _space_between(head: str, tail: str, ends_blank: bool) -> str:
    if _HANGUL.match(head) and _HANGUL.match(tail):
        return " " if ends_blank else ""  # Korean breaks lines inside words too; a blank at the end says it did not
    if _CJK_MARK.match(head) or _CJK_MARK.match(tail):
        return ""
    both = _HAN_OR_KANA.match(head) and _HAN_OR_KANA.match(tail)
    return "" if both else " "
