"""One order out of several signals: z-scores over one pool, added with weights, and what stands around a text counts too.

    words, cosine   how a text itself fits the question             base
    neighbours      the base of the texts right before and after    a turn says little by itself
    window          the words of a text and its neighbours at once
    parent          how good the texts of the same document or session are
    nearest         the best cosine among them
    together        how much of the question all of them have between them
    close           how much of the question stands close together in the text
    kind            the text has a date or a number, near a word of the question, where the question asks for one
    subject         the text begins with a word of the question

A z-score says how a text stands out from its pool: it ranks well and means nothing across pools (see calibration.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """How much each signal adds to the fused score, in standard deviations. Zero switches a signal off.

    before, after: the score of the texts right before and after (half of it two steps away). window: the words of a text
    and its two neighbours on each side, taken together. parent: the texts of the same document or session, the best of
    them most. nearest: the one of them whose vector is nearest to the question's. together: how many of the question's
    words, by rarity, those texts have between them. subject: the text begins with a word of the question, as "Caroline: …"
    does. close: the question's words, by rarity, that stand within a sentence or two of each other. kind: an answer of the
    kind that is asked for, a date or a number, near one of them.
    """

    words: float = 1.0
    dense: float = 1.0
    before: float = 0.0
    after: float = 0.0
    window: float = 0.0
    parent: float = 0.0
    nearest: float = 0.0
    together: float = 0.0
    subject: float = 0.0
    close: float = 0.0
    kind: float = 0.0
    reach: int = 2  # neighbours looked at on each side; 0: none come into the pool


# Chosen on LoCoMo's development half (turns) and XQuAD (paragraphs). A turn says little without its neighbours. A paragraph
# says enough: its neighbours only blur which of them answers, even when they do no more than share its pool (English question
# about a Chinese paragraph: 0.671 first without them, 0.626 with them), and they are two thirds of the work.
# In a paragraph it matters where the words stand: with `close` and less of BM25, recall@1 rises from 0.950 to 0.955 in Chinese.
# `kind` is worth 0.001 to 0.002 in paragraphs, from 0.5 to 1.0 alike; in turns 0.005 of recall and 0.013 of MRR.
# `together`, `nearest`, and a parent that is not only its best text, find the right session a little more often.
MEMORY_WEIGHTS = Weights(
    dense=1.3, before=0.4, after=0.3, window=1.0, parent=0.5, nearest=0.4, together=0.5, subject=1.5, kind=0.8
)
CHUNK_WEIGHTS = Weights(words=0.4, dense=1.2, close=0.5, kind=0.6, reach=0)
# Where only words speak, words in one place say no more than words anywhere (Chinese: 0.926 against 0.935). Few texts may have
# any of them: those beside them come into the pool to show what no match is, and count for nothing.
CHUNK_WORDS_WEIGHTS = Weights(kind=0.4, reach=1)


def weights_for(shelf: str, *, by_words: bool) -> Weights:
    """by_words: there is no vector of the question."""
    if shelf != "chunk":
        return MEMORY_WEIGHTS
    return CHUNK_WORDS_WEIGHTS if by_words else CHUNK_WEIGHTS


@dataclass(slots=True)
class Candidate:
    """One text of the pool with everything that was found out about it.

    words: bm25, 0 when no word matched. cosine: None without a vector. likeness: the cosine on a scale that holds for both
    languages, None where there is only one; fusion takes it in place of the cosine. fused: unbounded, comparable only
    within one search. match: fused rescaled so that the pool's best is 1 and its worst 0. coverage: how near the words come
    to the best possible match, [0, 1]. relevance: [0, 1], comparable across searches.
    """

    id: int
    scope: str
    position: int
    words: float = 0.0
    cosine: float | None = None
    likeness: float | None = None
    window: float = 0.0
    together: float = 0.0
    subject: float = 0.0
    close: float = 0.0
    kind: float = 0.0
    neighbours: float = 0.0
    parent: float = 0.0
    nearest: float = 0.0
    fused: float = 0.0
    match: float = 0.0
    coverage: float = 0.0
    relevance: float = 0.0

    def why(self) -> dict[str, float]:
        """Each part of the score, for people: what `explain` and `/why` show."""
        names = (
            "words",
            "cosine",
            "neighbours",
            "window",
            "parent",
            "nearest",
            "together",
            "subject",
            "close",
            "kind",
            "match",
            "coverage",
            "relevance",
        )
        parts = {name: getattr(self, name) for name in names}
        return {name: round(value, 4) for name, value in parts.items() if value is not None}


# ---- Scales ----


def zscores(values: Sequence[float | None]) -> list[float]:
    """How many standard deviations each value lies above the mean; None (unknown) counts as the mean. Equal values give 0.

    >>> zscores([1.0, 3.0, None])
    [-1.0, 1.0, 0.0]
    """
    import numpy as np

    numbers = np.array(values, dtype=float)  # None becomes NaN
    known = ~np.isnan(numbers)
    if not known.any():
        return [0.0] * len(values)
    mean, spread = numbers[known].mean(), numbers[known].std()
    if spread <= 1e-12 * max(1.0, abs(mean)):  # equal but for rounding
        return [0.0] * len(values)
    return np.where(known, (numbers - mean) / spread, 0.0).tolist()


def rescale(values: Sequence[float]) -> list[float]:
    """Best becomes 1, worst 0, in proportion; a single value, or equal ones, become 1.

    >>> rescale([2.0, 4.0, 3.0])
    [0.0, 1.0, 0.5]
    """
    if not values:
        return []
    low, high = min(values), max(values)
    return [1.0 if high - low < 1e-12 else (value - low) / (high - low) for value in values]


class Places:
    """Where the texts of a pool stand, so that what is known of one can be asked of those beside it, all at once."""

    def __init__(self, pool: Sequence["Candidate"]) -> None:
        import numpy as np

        number = {scope: n for n, scope in enumerate(dict.fromkeys(candidate.scope for candidate in pool))}
        self.scopes = np.array([number[candidate.scope] for candidate in pool], dtype=np.int64)
        self._keys = self.scopes * FAR_APART + np.array([candidate.position for candidate in pool], dtype=np.int64)
        self._order = np.argsort(self._keys, kind="stable")
        self._sorted = self._keys[self._order]

    def beside(self, values, step: int):
        """values (n, …) of the texts `step` places further on; 0 where the pool has none there."""
        import numpy as np

        if not len(values):
            return values
        wanted = self._keys + step
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(wanted) - 1)
        there = self._sorted[at] == wanted
        return np.where(there.reshape(-1, *[1] * (values.ndim - 1)), values[self._order[at]], 0)

    def total(self, values):
        """values (n, …) summed over each text's document or session."""
        import numpy as np

        sums = np.zeros((self.scopes.max(initial=-1) + 1, *values.shape[1:]))
        np.add.at(sums, self.scopes, values)
        return sums[self.scopes]

    def best(self, values):
        """(n,) the highest of the values (n,) of each text's document or session."""
        import numpy as np

        highest = np.full(self.scopes.max(initial=-1) + 1, -np.inf)
        np.maximum.at(highest, self.scopes, values)
        return highest[self.scopes]

    def soft_best(self, values):
        """(n,) a maximum of the values (n,) of each text's document or session to which the others add: log of a sum of
        exponentials."""
        import numpy as np

        return SOFTNESS * np.log(self.total(np.exp(values / SOFTNESS)))


SOFTNESS = 2.0  # standard deviations; towards 0 only the best text counts
FAR_APART = 2**40  # texts between two scopes' places: no step leads from one into another


def fuse(pool: Sequence[Candidate], weights: Weights) -> list[Candidate]:
    """Fill in neighbours, parent, nearest, fused and match of every candidate; best first, ties by id."""
    import numpy as np

    places = Places(pool)
    words = np.array(zscores([candidate.words for candidate in pool]))
    dense = np.array(zscores([c.cosine if c.likeness is None else c.likeness for c in pool]))
    window = np.array(zscores([candidate.window for candidate in pool]))
    together = np.array(zscores([candidate.together for candidate in pool]))
    close = np.array(zscores([candidate.close for candidate in pool]))
    kind = np.array(zscores([candidate.kind for candidate in pool]))
    subject = np.array([candidate.subject for candidate in pool])
    base = weights.words * words + weights.dense * dense
    neighbours = _neighbours(places, base, weights)
    parent = np.array(zscores(places.soft_best(base)))
    nearest = np.array(zscores(places.best(dense)))
    fused = base + neighbours + weights.window * window + weights.subject * subject
    fused += (
        weights.parent * parent
        + weights.nearest * nearest
        + weights.together * together
        + weights.close * close
        + weights.kind * kind
    )
    found = zip(
        neighbours.tolist(), parent.tolist(), nearest.tolist(), fused.tolist(), rescale(fused.tolist()), strict=True
    )
    for candidate, parts in zip(pool, found, strict=True):
        candidate.neighbours, candidate.parent, candidate.nearest, candidate.fused, candidate.match = parts
    return sorted(pool, key=lambda candidate: (-candidate.fused, candidate.id))


def _neighbours(places: Places, base, weights: Weights):
    """(n,) the weighted scores of the texts around; a place nobody knows anything about is average, 0."""
    total = 0.0 * base
    for step in range(1, weights.reach + 1):
        total += weights.before * places.beside(base, -step) / step
        total += weights.after * places.beside(base, step) / step
    return total
