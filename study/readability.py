"""Can people read this page, or did its fonts turn it into signs?

A PDF draws shapes; which letters they are is a table that may be missing. The text then comes out as private codes, glyph
names (/g18/g152), letters of five scripts on one page, or a cipher of the right letters. No engine reports that: the text has
to be looked at.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

UNREADABLE = 0.5  # below: kept out of search
DOUBTFUL = 0.85  # below: searched, with a warning
ENOUGH = 40  # characters; less says nothing about a page
SAMPLE = 1500  # characters; enough to know a cipher
WELL_SPACED = 0.8  # below: another engine may tell the words apart
LONGEST_WORD = 22  # letters; German compounds end about here

_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_SIGNS = re.compile("[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_GLYPH_NAMES = re.compile(r"(?:/[a-zA-Z]{1,3}\d{1,4}(?![\w]))+|\(cid:\d+\)")
_STRAY_MARKS = re.compile("(?<![^\\s\u0300-\u036f])[\u0300-\u036f]")
_ACCENTED = re.compile("[\u00a1-\u00ff]")
_LETTERS = re.compile(r"[^\W\d_]")
_VOWELS = re.compile("[aeiouyAEIOUY]")
_WORDS = re.compile(r"[a-zA-Z]{2,}")
# The commonest words of languages in Latin script: every honest page of prose has some.
_COMMON_WORDS = """
the of and to in is for that with as on by are be this from or an at we it der die und das ist ein le la les des et en est un
une que el los de del il che di per da con os um uma para het een van
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# Scripts beyond Latin, Greek, Cyrillic and CJK, by first character; a page may be written in one of them, not in several.
_SCRIPT_STARTS = (0x530, 0x590, 0x600, 0x700, 0x780, 0x7C0, *range(0x900, 0xE00, 0x80), 0xE00, 0xE80, 0xF00, 0x1000, 0x10A0,
                  0x1100, 0x1200, 0x13A0, 0x1400, 0x1680, 0x1700, 0x1780, 0x1800, 0x1900)  # fmt: skip
_SCRIPT_OF = list(accumulate(0x500 + code in _SCRIPT_STARTS for code in range(0x1800)))
_OTHER_SCRIPTS = re.compile("[\u0530-\u1cff]")


def readability(text: str) -> float:
    """1.0 for a page people can read, toward 0.0 for signs, control codes among them.

    >>> readability("检索增强生成，即 RAG，先查资料再回答。" * 3), readability("/g18/g152/g135/g148" * 5)
    (1.0, 0.0)
    """
    length = len("".join(text.split()))
    if length < ENOUGH:
        return 1.0
    foreign = not text.isascii()
    if (foreign and _is_script_salad(text)) or _is_cipher(text[:SAMPLE]):
        return 0.0
    bad = _control_codes(text)
    if foreign:
        bad += len(_SIGNS.findall(text)) + len(_STRAY_MARKS.findall(text)) + _mojibake(text)
    if text.count("/") > 10 or "(cid:" in text:
        bad += sum(map(len, _GLYPH_NAMES.findall(text)))
    return round(max(0.0, 1 - bad / length), 3)


def _control_codes(text: str) -> int:
    """All but the commonest, which may be the font's space."""
    counts = Counter(_CONTROLS.findall(text))
    return counts.total() - max(counts.values(), default=0)


def _is_script_salad(text: str) -> bool:
    """Letters of several rare scripts at once, on a page that is no prose about scripts.

    Character codes without a table land anywhere, so the few Han characters and signs beside them are chance hits too.
    """
    letters = _OTHER_SCRIPTS.findall(text)
    if len(letters) < 10:
        return False
    scripts = Counter(_SCRIPT_OF[ord(letter) - 0x500] for letter in letters)
    foreign = sum(1 for char in text if not char.isascii() and not char.isspace())
    if scripts.most_common(1)[0][1] > 0.85 * len(letters) or 10 * len(letters) < foreign:
        return False
    words = _WORDS.findall(text)
    return sum(map(len, words)) < 5 * len(letters) or _common_share(words) < 0.05


def _mojibake(text: str) -> int:
    """Chinese bytes read as Latin-1: accented letters outnumber plain ones. French stays below one in ten."""
    accented = len(_ACCENTED.findall(text))
    return accented if accented > ENOUGH and 2 * accented > len(_LETTERS.findall(text)) else 0


def _is_cipher(text: str) -> bool:
    """Latin letters shifted or shuffled: too few vowels, and none of the words that every page of prose has."""
    words = _WORDS.findall(text)
    letters = sum(map(len, words))
    if len(words) < 50 or 2 * letters < len(text):
        return False
    return len(_VOWELS.findall("".join(words))) < 0.27 * letters and _common_share(words) < 0.03


def _common_share(words: Sequence[str]) -> float:
    return sum(word.lower() in _COMMON for word in words) / max(20, len(words))


# ---- Spaces ----

_LATIN_WORDS = re.compile(r"[^\W\d_\u0370-\uffff]+")
_SPELT_OUT = re.compile(
    r"\b[^\W\d_](?: +[^\W\d_]\b){5,}"
)  # a formula has single letters, too, but not so many in a row


def spacing(text: str) -> float:
    """1.0 when words stand apart, less the more of them are glued together or spelt out letter by letter.

    >>> spacing("the quick brown fox jumps over the lazy dog " * 5)
    1.0
    >>> spacing("thequickbrownfoxjumpsoverthelazydog " * 30), spacing("t h e q u i c k b r o w n " * 10)
    (0.0, 0.0)
    """
    words = _LATIN_WORDS.findall(text)
    letters = sum(map(len, words))
    if len(words) < 20 or 4 * letters < len(text):
        return 1.0
    glued = sum(len(word) for word in words if len(word) > LONGEST_WORD)
    spelt = sum(len(_LATIN_WORDS.findall(run)) for run in _SPELT_OUT.findall(text))
    return round(max(0.0, 1 - (glued + spelt) / letters), 3)
