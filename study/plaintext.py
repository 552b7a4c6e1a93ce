"""Plain text and Markdown: which encoding the bytes are in, and where the headings are."""

import codecs
import re
from typing import NamedTuple

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Decoded(NamedTuple):
    text: str
    encoding: str
    damaged: bool  # some bytes could not be read


def decode(data: bytes) -> Decoded | None:
    """The bytes as text, or None when they are no text at all.

    >>> decode("记忆".encode("gb18030")).text, decode("déjà vu".encode("latin-1")).text, decode(bytes(64))
    ('记忆', 'déjà vu', None)
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            text = data.decode(encoding, errors="replace")
            return Decoded(text, encoding, "\ufffd" in text)
    for encoding, accepts in (("utf-8", _any_text), *_utf16_guess(data), ("gb18030", _is_usual_chinese)):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if accepts(text):
            return Decoded(text, encoding, False)
    return _decode_damaged(data)


def _any_text(text: str) -> bool:
    return len(_CONTROLS.findall(text)) <= len(text) // 100


def _utf16_guess(data: bytes) -> list:
    """UTF-16 without its mark: every other byte of ASCII text is zero."""
    zeros = [data[place:4096:2].count(0) for place in (0, 1)]
    if max(zeros) < max(2, len(data[:4096]) // 8) or min(zeros) > max(zeros) // 8:
        return []
    return [("utf-16-le" if zeros[1] > zeros[0] else "utf-16-be", _any_text)]


def _is_usual_chinese(text: str) -> bool:
    """Any two bytes make some GB18030 character; only real Chinese consists of common ones (those of GB2312)."""
    foreign = [char for char in text if not char.isascii()]
    return _any_text(text) and sum(_in_gb2312(char) for char in foreign) >= 0.9 * len(foreign)


def _in_gb2312(char: str) -> bool:
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _decode_damaged(data: bytes) -> Decoded | None:
    text = data.decode("utf-8", errors="replace")
    if text.count("\ufffd") <= len(text) // 100 and _any_text(text):
        return Decoded(text, "utf-8", True)
    text = data.decode("cp1252", errors="replace")
    return Decoded(text, "cp1252", "\ufffd" in text) if _any_text(text) else None


# ---- Chinese that was read as Latin-1 ----

_BYTE_RUN = re.compile("[\u0080-\u00ff\u0152-\u0178\u0192\u02c6\u02dc\u2013-\u2122\u20ac]{2,}")
_FEWEST_REGAINED = 8  # Han characters; fewer could be chance


def regain_chinese(text: str) -> str:
    """GBK bytes that a PDF without a letter table shows as Latin letters, as Chinese again; any other text as it is.

    >>> regain_chinese("检索增强生成系统概述".encode("gbk").decode("latin-1")), regain_chinese("déjà vu, Noël")
    ('检索增强生成系统概述', 'déjà vu, Noël')
    """
    if not any("\u00a1" <= char <= "\u00ff" for char in text):
        return text
    regained = "".join(_gbk_run(piece) for piece in re.split(r"(\s+)", text))
    han = sum("\u4e00" <= char <= "\u9fff" for char in regained) - sum("\u4e00" <= char <= "\u9fff" for char in text)
    left = len(re.findall("[\u00a1-\u00ff]", regained))
    # In French an accented letter stands alone between plain ones, and hardly ever pairs up to a common character.
    return regained if han >= _FEWEST_REGAINED and left < han / 4 else text


def _gbk_run(word: str) -> str:
    """A word without blanks, its runs of high bytes decoded where they are common Chinese."""

    def decoded(run: re.Match[str]) -> str:
        try:
            chinese = b"".join(_byte_of(char) for char in run[0]).decode("gbk")
        except UnicodeError:
            return run[0]
        return chinese if all(map(_in_gb2312, chinese)) else run[0]

    return _BYTE_RUN.sub(decoded, word)


def _byte_of(char: str) -> bytes:
    """The byte that a reader of Latin-1, or of Windows' own kind of it, took for this character."""
    return bytes([ord(char)]) if char <= "\u00ff" else char.encode("cp1252")


# ---- Markdown ----

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?---[ \t]*\n")
_NOT_A_TITLE = re.compile(r"[ \t]*(?:[-*+>|]|\d+[.)][ \t]|$)|.*\|")


def markdown_headings(text: str) -> list[tuple[int, int, str]]:
    """(offset, level, title) of every heading, in order. A "#" inside a code fence is a comment, not a heading.

    >>> markdown_headings("# RAG\\n```\\n# not this\\n```\\nHyDE\\n----\\n")
    [(0, 1, 'RAG'), (25, 2, 'HyDE')]
    """
    headings: list[tuple[int, int, str]] = []
    fence, above, offset = "", (0, ""), 0  # above: offset and text of a line that an underline could make a heading
    front = _FRONT_MATTER.match(text)
    if front:
        offset = front.end()
    for line in text[offset:].split("\n"):
        mark, heading, underline = _FENCE.match(line), _HEADING.match(line), _UNDERLINE.match(line)
        candidate = ""
        if fence:
            closes = mark and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closes else fence
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif heading and heading[2]:
            headings.append((offset, len(heading[1]), heading[2].strip()))
        elif underline and not _NOT_A_TITLE.match(above[1]):
            headings.append((above[0], 1 if underline[1][0] == "=" else 2, above[1].strip()))
        else:
            candidate = line
        above = (offset, candidate)
        offset += len(line) + 1
    return headings
