"""Ranking texts for a question: legs, fusion, and the calibrated relevance that says "nothing here answers this".

    words (bm25) ┐
    vectors (cos)├─ z-scores over one pool ─ sum ─ + neighbours ─ + parent ─→ fused   in what order
                 └─ cosine + share of the question's rare words ─ logistic ─→ relevance   whether at all

Scripts 09 and 11 both search through `hybrid_search`: memories in sessions and chunks in documents are the same problem.
Order and acceptance need different signals. A z-score says how a text stands out from its pool, so it ranks well, but it
means nothing across pools: with three texts in the library somebody is always the best. The cosine and the covered words
are absolute, so they decide whether a text is about the question at all.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from infrastructure.storage import Storage, inverse_frequency
from infrastructure.text import content_tokens, tokens

POOL = 200  # candidates each leg may nominate


@dataclass(frozen=True)
class Weights:
    """How much each signal adds to the fused score. Zero switches a leg off."""

    words: float = 1.0
    dense: float = 1.0
    neighbours: float = 0.5
    parent: float = 0.3


WEIGHTS = Weights()


@dataclass(slots=True)
class Candidate:
    """One text of the pool with everything that was found out about it.

    words: bm25, 0 when no word matched. cosine: None without a vector. fused: unbounded, comparable only within one search.
    match: fused rescaled so that the pool's best is 1 and its worst 0. relevance: [0, 1], comparable across searches.
    """

    id: int
    scope: str
    position: int
    words: float = 0.0
    cosine: float | None = None
    base: float = 0.0
    neighbours: float = 0.0
    parent: float = 0.0
    fused: float = 0.0
    match: float = 0.0
    coverage: float = 0.0
    relevance: float = 0.0

    def why(self) -> dict[str, float]:
        """Each part of the score, for people: what `explain` and `/why` show."""
        parts = {
            "words": self.words,
            "cosine": self.cosine,
            "neighbours": self.neighbours,
            "parent": self.parent,
            "match": self.match,
            "coverage": self.coverage,
            "relevance": self.relevance,
        }
        return {name: round(value, 4) for name, value in parts.items() if value is not None}


# ---- calibration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration:
    """relevance = 1 / (1 + exp(−(bias + cosine·c + coverage·v + both·c·v))), c being the cosine rescaled by the embedder's anchors.

    The anchors put the mean cosine of unrelated pairs at 0 and of question–answer pairs at 1, which is what makes one
    calibration serve embedders whose raw cosines live on different scales (e5: 0.65–0.95, MiniLM: 0–0.9).
    """

    bias: float
    cosine: float
    coverage: float
    both: float = 0.0

    def relevance(self, cosine01: float, coverage: float) -> float:
        return 1 / (
            1
            + math.exp(
                -(self.bias + self.cosine * cosine01 + self.coverage * coverage + self.both * cosine01 * coverage)
            )
        )


WITH_VECTORS = Calibration(bias=-4.0, cosine=4.5, coverage=4.0)
WORDS_ONLY = Calibration(bias=-4.0, cosine=0.0, coverage=8.0)
RELEVANT = 0.5  # below this a text does not answer the question


def rescaled(cosine: float, anchors: tuple[float, float]) -> float:
    """Cosine on the scale where unrelated pairs average 0 and matching ones 1.

    >>> rescaled(0.85, anchors=(0.75, 0.95))
    0.5
    """
    unrelated, matching = anchors
    return round((cosine - unrelated) / (matching - unrelated), 9)


def coverage(weights: dict[str, float], words: set[str]) -> float:
    """Share in [0, 1] of the question's words that a text has, each weighted by its rarity. No words: 0.

    >>> coverage({"bm25": 3.0, "use": 1.0}, {"bm25", "index"})
    0.75
    """
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in words) / total if total else 0.0


# ---- fusion ---------------------------------------------------------------------------------------------------------


def zscores(values: Sequence[float | None]) -> list[float]:
    """How many standard deviations each value lies above the mean; None (unknown) counts as the mean. Equal values give 0.

    >>> zscores([1.0, 3.0, None])
    [-1.0, 1.0, 0.0]
    """
    known = [value for value in values if value is not None]
    if not known:
        return [0.0] * len(values)
    mean = math.fsum(known) / len(known)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))
    if spread < 1e-12:
        return [0.0] * len(values)
    return [0.0 if value is None else (value - mean) / spread for value in values]


def rescale(values: Sequence[float]) -> list[float]:
    """Best becomes 1, worst 0, in proportion; a single value, or equal ones, become 1.

    >>> rescale([2.0, 4.0, 3.0])
    [0.0, 1.0, 0.5]
    """
    if not values:
        return []
    low, high = min(values), max(values)
    return [1.0 if high - low < 1e-12 else (value - low) / (high - low) for value in values]


def fuse(pool: Sequence[Candidate], weights: Weights = WEIGHTS) -> list[Candidate]:
    """Fill in base, neighbours, parent, fused and match of every candidate; best first, ties by id."""
    words = zscores([candidate.words for candidate in pool])
    dense = zscores([candidate.cosine for candidate in pool])
    at_place: dict[tuple[str, int], float] = {}
    best_in_scope: dict[str, float] = {}
    for candidate, w, d in zip(pool, words, dense, strict=True):
        candidate.base = weights.words * w + weights.dense * d
        at_place[candidate.scope, candidate.position] = candidate.base
        best_in_scope[candidate.scope] = max(candidate.base, best_in_scope.get(candidate.scope, -math.inf))
    parents = zscores([best_in_scope[candidate.scope] for candidate in pool])
    for candidate, parent in zip(pool, parents, strict=True):
        candidate.neighbours = _mean_beside(at_place, candidate.scope, candidate.position)
        candidate.parent = parent
        candidate.fused = candidate.base + weights.neighbours * candidate.neighbours + weights.parent * parent
    for candidate, match in zip(pool, rescale([candidate.fused for candidate in pool]), strict=True):
        candidate.match = match
    return sorted(pool, key=lambda candidate: (-candidate.fused, candidate.id))


def _mean_beside(at_place: dict[tuple[str, int], float], scope: str, position: int) -> float:
    before, after = at_place.get((scope, position - 1)), at_place.get((scope, position + 1))
    if before is None or after is None:
        return before or after or 0.0
    return (before + after) / 2


# ---- search ---------------------------------------------------------------------------------------------------------


def hybrid_search(
    storage: Storage,
    shelf: str,
    query: str,
    *,
    limit: int = 10,
    scope: str | None = None,
    only: Iterable[int] | None = None,
    vector=None,
    weights: Weights = WEIGHTS,
) -> list[Candidate]:
    """The `limit` best texts of a shelf, best first, with relevance filled in.

    `vector` is the query's unit vector (dim,), None for words only. `scope` and `only` (row ids) restrict the search.
    An empty query, or one that matches nothing, gives [].
    """
    terms = content_tokens(query) or tokens(query)
    allowed = None if only is None else set(only)
    frequencies = storage.document_frequencies(shelf, terms)
    words = _words_leg(storage, shelf, terms, frequencies, scope, allowed)
    dense = {} if vector is None else dict(storage.search_vectors(shelf, vector, POOL, scope=scope, only=allowed))
    pool = _pool(storage, shelf, words, dense, vector)
    ranked = fuse(pool, weights)
    if allowed is not None:
        ranked = [candidate for candidate in ranked if candidate.id in allowed]
    ranked = ranked[:limit]
    _judge(storage, shelf, ranked, frequencies, vector)
    return ranked


def _words_leg(storage, shelf, terms, frequencies, scope, allowed) -> dict[int, float]:
    # A filter on row ids inside MATCH is 200 times slower than taking all matches and filtering here.
    limit = POOL if allowed is None else storage.count(shelf)
    found = storage.search_words(shelf, terms, limit, scope=scope, frequencies=frequencies)
    return dict([(i, score) for i, score in found if allowed is None or i in allowed][:POOL])


def _pool(storage: Storage, shelf: str, words: dict[int, float], dense: dict[int, float], vector) -> list[Candidate]:
    """Everything a leg nominated and whatever stands beside it, each with both raw scores."""
    places = storage.places(shelf, words.keys() | dense.keys())
    adjacent = {(scope, position + step) for scope, position in places.values() for step in (-1, 1)}
    beside = storage.neighbours(shelf, adjacent - set(places.values()))
    places |= {text_id: place for place, text_id in beside.items()}
    if vector is not None:
        dense = dense | storage.cosines(shelf, vector, [text_id for text_id in places if text_id not in dense])
    return [
        Candidate(text_id, *places[text_id], words=words.get(text_id, 0.0), cosine=dense.get(text_id))
        for text_id in sorted(places)
    ]


def judge(storage: Storage, shelf: str, query: str, candidates: Sequence[Candidate], *, vector=None) -> None:
    """Set coverage and relevance of candidates for a query. `vector` is its unit vector (dim,), None for words only.

    A candidate that was judged before keeps the better of the two: it may be asked for in more than one way.
    """
    frequencies = storage.document_frequencies(shelf, content_tokens(query) or tokens(query))
    _judge(storage, shelf, candidates, frequencies, vector)


def _judge(storage: Storage, shelf: str, candidates: Sequence[Candidate], frequencies: dict[str, int], vector) -> None:
    rows = storage.count(shelf)
    weights = {term: inverse_frequency(rows, frequency) for term, frequency in frequencies.items()}
    ids = [candidate.id for candidate in candidates]
    indexed = storage.words_of(shelf, ids)
    cosines = {} if vector is None else storage.cosines(shelf, vector, ids)
    anchors = getattr(storage.embedder, "anchors", None)
    for candidate in candidates:
        covered = coverage(weights, indexed.get(candidate.id, set()))
        cosine = cosines.get(candidate.id)
        if cosine is None or anchors is None:
            relevance = WORDS_ONLY.relevance(0.0, covered)
        else:
            relevance = WITH_VECTORS.relevance(rescaled(cosine, anchors), covered)
        if relevance >= candidate.relevance:
            candidate.cosine, candidate.coverage, candidate.relevance = cosine, covered, relevance
