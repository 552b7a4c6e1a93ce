"""A word that stands nowhere, and the one that was probably meant: retreival, evaluaton, semnatic.

    nowhere    in no document and in no memory; Latin letters, five or more; no name in code, no number, no abbreviation
    slip       a letter too many, too few, another one, or two changed places; never the first one
    two slips  in eight letters or more, of which the first three are right

The index holds stems, and a stem is no word. So what is compared in the end, and shown, are words as they stand in a text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from infrastructure.answers import Answer
from infrastructure.calibration import RELEVANT
from infrastructure.language import tr
from infrastructure.storage import Storage
from infrastructure.text import STOP_WORDS, tokens

HELD = ("chunk", "semantic")  # what is held to be right; that a question was asked with a slip in it is an event
SHORTEST = 5  # letters; shorter words are near to too many others
TWO_SLIPS = 8  # letters from which two slips are allowed
ANY_LETTER = 7  # letters from which another letter may be a slip; "firms" and "farms" are two words
SURE_LETTERS = 3  # at the beginning; slips in them are tried one by one, and there is only one
LONGEST_ENDING = 7  # letters a stem lacks: -ization
COVERED = 0.5  # of the words of a question, by their rarity: what has so much was found by its words
MOST_MEANT = 2  # words that may have been meant; more are a guess
STEMS_READ, TEXTS_READ = 8, 10  # stems whose words are read, and texts of each
_VOWELS = frozenset("aeiouy")
_KEYS = {
    key: (row, column)
    for row, keys in enumerate(("qwertyuiop", "asdfghjkl", "zxcvbnm"))
    for column, key in enumerate(keys)
}
_PLAIN_WORD = re.compile(r"(?<![A-Za-z0-9_.@/\\'’$#-])[A-Za-z][a-z]+(?![A-Za-z0-9_@/\\$#(-]|['’][a-z]|\.\w)")
_CODE = re.compile(r"`[^`]*`")

Slip = tuple[str, str]  # as it was typed; the word, or two words, as they stand in a text


def corrected(text: str, slips: Sequence[Slip]) -> str:
    """The text with the words that were probably meant.

    >>> corrected("What is semnatic memory?", [("semnatic", "semantic")])
    'What is semantic memory?'
    """
    for typed, meant in slips:
        text = re.sub(rf"(?<![A-Za-z0-9_]){typed}(?![A-Za-z0-9_])", meant, text)
    return text


def found_by_words(results: Sequence) -> bool:
    """Has a search (results with .relevance and .why) found something relevant by the very words of the question?"""
    return any(r.relevance >= RELEVANT and r.why.get("coverage", 0.0) >= COVERED for r in results)


def mark_slips(answer: Answer, slips: Sequence[Slip]) -> None:
    """Say in an answer with which words it was searched for, too."""
    if slips:
        answer.trace["slips"] = [list(slip) for slip in slips]
        answer.say_first(also_searched(slips))


def also_searched(slips: Sequence[Slip]) -> str:
    """One line for the learner."""
    words = [word for _, meant in slips for word in meant.split()]
    en, zh = ", ".join(f"“{word}”" for word in words), "、".join(words)
    return tr(f"Also searched for {en}.", f"也按 {zh} 检索了。")


class Speller:
    """Knows the words of one home's documents."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def slips(self, question: str) -> list[Slip]:
        """The question's words that stand nowhere, each with the one that was probably meant; those without one are absent."""
        found = []
        for typed in dict.fromkeys(_PLAIN_WORD.findall(_CODE.sub(" ", question))):
            if len(typed) >= SHORTEST and typed.lower() not in STOP_WORDS and self._stands_nowhere(typed):
                meant = self._meant(typed)
                found += [(typed, " ".join(meant))] if meant else []
        return found

    def _stands_nowhere(self, word: str) -> bool:
        stems = tokens(word)
        return not any(max(self._storage.document_frequencies(shelf, stems).values()) for shelf in HELD)

    def _meant(self, word: str) -> list[str]:
        """One word, or two that are equally near; none when there are more, or none. A name is a name in the text, too."""
        typed = word.lower()
        stems = self._beginning_alike(typed) + self._known(tokens(" ".join(early_slips(typed))))
        words = [other for stem in stems[:STEMS_READ] for other in self._words(stem, typed)]
        for slips in (1, 2) if len(typed) >= TWO_SLIPS else (1,):
            near = [other for other in words if is_slip(typed, other.lower(), slips=slips)]
            near = [other for other in near if other[0].isupper()] if word[0].isupper() else [o.lower() for o in near]
            if near:
                near = list(dict.fromkeys(near))
                return near if len(near) <= MOST_MEANT else []
        return []

    def _beginning_alike(self, typed: str) -> list[str]:
        """Stems with the same first letters that are near to the beginning of a word, the nearest first."""
        first = typed[:SURE_LETTERS]
        rows = self._storage.database.rows(
            "SELECT term FROM terms_chunk WHERE term >= ? AND term < ?",
            (first, f"{first[:-1]}{chr(ord(first[-1]) + 1)}"),
        )
        shortest = len(typed) - LONGEST_ENDING
        nearness = {row["term"]: min(distances(row["term"], typed)) for row in rows if len(row["term"]) >= shortest}
        near = (stem for stem, slips in nearness.items() if slips <= 2)
        return sorted(near, key=lambda stem: (nearness[stem], -len(stem), stem))

    def _known(self, stems: Sequence[str]) -> list[str]:
        """Those in the index, the most frequent first."""
        frequencies = self._storage.document_frequencies("chunk", stems)
        return sorted((stem for stem, rows in frequencies.items() if rows), key=lambda stem: (-frequencies[stem], stem))

    def _words(self, stem: str, typed: str) -> list[str]:
        """The word with this stem that is nearest to what was typed, as it stands in a text; [] when it stands in none."""
        rows = self._storage.database.rows(
            "SELECT t.content, t.heading FROM (SELECT rowid FROM words_chunk WHERE words_chunk MATCH ? LIMIT ?) AS found "
            "JOIN texts AS t ON t.id = found.rowid",
            (f'body:"{stem}"', TEXTS_READ),
        )
        alike = re.compile(rf"\b{stem[:2]}[a-z]+", re.I)
        words = {word for row in rows for word in alike.findall(f"{row['heading']} {row['content']}")}
        own = [word for word in words if word.isascii() and tokens(word) == [stem]]  # re.I lets ſ through
        return sorted(own, key=lambda word: (distances(typed, word.lower())[-1], word[0].isupper(), word))[:1]


# ---- Slips ----


def early_slips(word: str) -> Iterator[str]:
    """Every word that this one can be with one slip in its second or third letter.

    >>> "retrieval" in early_slips("rterieval"), "retrieval" in early_slips("rretrieval")
    (True, True)
    """
    for at in range(1, SURE_LETTERS):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        yield from (head + letter + tail[1:] for letter in ascii_lowercase)
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]


def is_slip(typed: str, meant: str, *, slips: int = 1) -> bool:
    """Can `typed` be that word with just so many slips? Two may change two letters, whatever their places: "translation" is no
    "transition".

    >>> is_slip("retreival", "retrieval"), is_slip("paris", "parts"), is_slip("translation", "transition", slips=2)
    (True, False, False)
    """
    if typed[0] != meant[0] or distances(typed, meant)[-1] != slips:
        return False
    if slips > 1:
        return sum(((Counter(typed) - Counter(meant)) + (Counter(meant) - Counter(typed))).values()) <= slips
    other = [pair for pair in zip(typed, meant, strict=False) if pair[0] != pair[1]]
    replaced = len(typed) == len(meant) and len(other) == 1
    return not replaced or (len(typed) >= ANY_LETTER and _are_taken_for_each_other(*other[0]))


def _are_taken_for_each_other(a: str, b: str) -> bool:
    """Two vowels, or two keys side by side: "contract" is no slip for "contrast"."""
    (row, column), (lower, beside) = sorted((_KEYS[a], _KEYS[b]))
    near = (0, -1) if lower == row + 1 else (1,) if lower == row else ()  # a lower row lies half a key to the right
    return _VOWELS.issuperset((a, b)) or beside - column in near


def distances(a: str, b: str) -> list[int]:
    """How many letters of `a` have to be put in, left out, replaced, or changed with their neighbour, to have the first 0, 1,
    2 … letters of `b`; the last is the distance of both.

    >>> distances("semnatic", "semantic")[-1], distances("evalu", "evaluaton")
    (1, [5, 4, 3, 2, 1, 0, 1, 2, 3, 4])
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        new = [i]
        for j, other in enumerate(b, start=1):
            best = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            new.append(best)
        before, row = row, new
    return row
