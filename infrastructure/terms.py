"""Terms of unspaced Chinese text that no rule marks: runs of characters that return as a whole, in varying company.

    frequent    in at least MIN_TEXTS texts                    位置编码, but also 置编 and 编码器的
    bounded     many different characters before and after it  not 置编: before it always stands 位, after it 码
    maximal     no longer term says it all                     not 编码, where it is nowhere without 位置编码

Nothing is counted beside the word index, which knows in how many texts each pair of characters stands. A new text is looked
at once, when it is written: pairs that are rare cost one lookup, the others a look at the newest SAMPLE texts that have them.
No search ever comes here.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from infrastructure.entities import BETWEEN, is_common
from infrastructure.graph import Entity, EntityGraph
from infrastructure.storage import Storage
from infrastructure.themes import GENERIC

MIN_TEXTS = 3
LONGEST = 6  # characters of a term
SAMPLE = 60  # newest texts in which a term's company is looked at
LOOKED_AT = 500  # characters of a text
STRETCHES = 8  # of a text
FREE = 0.9  # nats of entropy on both sides: three different neighbours in three texts have 1.1, two have 0.6

_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")


def stretches(text: str, frequencies: dict[str, int]) -> Iterator[str]:
    """Parts of a text in which every pair of neighbouring characters is frequent, without the function words."""
    for run in _HAN.findall(text[:LOOKED_AT]):
        for piece in BETWEEN.split(run):
            start = 0
            for end in range(2, len(piece) + 2):
                pair = piece[end - 2 : end]
                if len(pair) == 2 and frequencies.get(pair, 0) >= MIN_TEXTS:
                    continue
                if end - 1 - start >= 2:
                    yield piece[start : end - 1]
                start = end - 1


def pairs_of(text: str) -> set[str]:
    return {run[i : i + 2] for run in _HAN.findall(text[:LOOKED_AT]) for i in range(len(run) - 1)}


def terms_in(stretch: str, texts: Sequence[str]) -> list[str]:
    """Terms of a stretch, longest first, judged by the texts that share pairs with it.

    >>> terms_in("位置编码", ["学了位置编码", "位置编码有用", "正弦位置编码法", "问位置编码吗"])
    ['位置编码']
    """
    found: dict[str, int] = {}
    for size in range(min(LONGEST, len(stretch)), 1, -1):
        for start in range(len(stretch) - size + 1):
            gram = stretch[start : start + size]
            count = _bounded_count(gram, texts)
            longer = max((n for term, n in found.items() if gram in term), default=0)
            if count >= MIN_TEXTS and count > 1.25 * longer and not (is_common(gram) or gram in GENERIC):
                found[gram] = count
    return list(found)


def _bounded_count(gram: str, texts: Sequence[str]) -> int:
    """In how many texts a gram stands; 0 when the characters around it are too often the same."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    count = 0
    for number, text in enumerate(texts):
        at = text.find(gram)
        if at < 0:
            continue
        count += 1
        before[_neighbour(text[at - 1 : at], number)] += 1
        after[_neighbour(text[at + len(gram) : at + len(gram) + 1], number)] += 1
    return count if count and min(_entropy(before), _entropy(after)) >= FREE else 0


def _neighbour(char: str, number: int) -> str:
    """An edge of the text, a space, a comma: free on that side, so each counts as another one."""
    return char if _HAN.match(char * 2) else f"edge {number}"


def _entropy(counts: Counter[str]) -> float:
    total = sum(counts.values())
    return -sum(n / total * math.log(n / total) for n in counts.values())


class TermFinder:
    """Finds the terms of new texts on one shelf."""

    def __init__(self, storage: Storage, shelf: str) -> None:
        self._storage = storage
        self._shelf = shelf

    def stretches(self, text: str) -> list[str]:
        """Where terms may be; costs one lookup."""
        pairs = pairs_of(text)
        frequencies = self._storage.document_frequencies(self._shelf, pairs) if pairs else {}
        return list(dict.fromkeys(stretches(text, frequencies)))[:STRETCHES]

    def terms(self, stretch: str) -> dict[str, list[int]]:
        """Terms of a stretch, each with the row ids of the newest texts that have it."""
        pairs = " OR ".join(f'"{stretch[i : i + 2]}"' for i in range(len(stretch) - 1))
        rows = self._storage.database.rows(
            f"SELECT rowid FROM words_{self._shelf} WHERE words_{self._shelf} MATCH ? ORDER BY rowid DESC LIMIT ?",
            (f"body:({pairs})", SAMPLE),
        )
        sample = {text_id: text.content for text_id, text in self._storage.texts(row[0] for row in rows).items()}
        found = terms_in(stretch, list(sample.values()))
        return {term: [text_id for text_id, content in sample.items() if term in content] for term in found}


def link_terms(graph: EntityGraph, finder: TermFinder, text_id: int, text: str) -> None:
    """Link a new text to the terms in it: to those that are known, and to those that it has made frequent enough, which
    are linked to the earlier texts too."""
    for stretch in finder.stretches(text):
        known = sorted(graph.names_in(stretch).values(), key=len, reverse=True)
        graph.link(text_id, map(Entity, known))
        rest = [stretch]
        for name in known:
            rest = [piece for part in rest for piece in part.split(name)]
        if any(len(piece) > 1 for piece in rest):
            for term, text_ids in finder.terms(stretch).items():
                for one in text_ids:
                    graph.link(one, [Entity(term)])
