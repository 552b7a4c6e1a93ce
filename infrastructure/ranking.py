"""Searching one shelf for a question: legs, pool, fusion, and the relevance that says "nothing here answers this".

    words (bm25) ┐
    vectors (cos)├─ one pool, with what stands beside ─ fusion.py ─→ fused            in what order
                 └─ cosine + how far the words go towards the best possible match ─ calibration.py ─→ relevance   whether at all

Scripts 09 and 11 both search through `hybrid_search`: memories in sessions and chunks in documents are the same problem.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from infrastructure.answer_kinds import AnswerKind, answers_nearby, kind_asked
from infrastructure.calibration import likeness, relevance_of
from infrastructure.fusion import Candidate, Places, Weights, fuse, weights_for
from infrastructure.language import language_of
from infrastructure.language_axis import without_language
from infrastructure.shelves import inverse_frequency
from infrastructure.storage import Storage
from infrastructure.text import content_tokens, is_cjk, tokens, without_asking

POOL = 50  # candidates each leg may nominate; whatever stands beside them comes on top
# BM25: a repeated word and a short text count less than by FTS5's fixed 1.2 and 0.75 (LoCoMo: 0.63 → 0.65).
K1, B = 0.9, 0.4
CLOSE = 40  # words of the index: a long English sentence, a Chinese one of twenty characters
PRIOR_ROWS = 200  # texts a shelf is imagined to hold beside its own, or three texts would make every word common


# ---- words ----------------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What n indexed texts have of a query's words: counts (n, words) how often each, lengths (n,) of the texts in words,
    leads (n,) 1 where the text begins with one of them."""

    counts: Any
    lengths: Any
    leads: Any

    @classmethod
    def in_texts(cls, texts: Sequence[Sequence[str]], query: Sequence[str]) -> "Seen":
        import numpy as np

        column, asked = {word: n for n, word in enumerate(query)}, frozenset(query)
        counts = np.zeros((len(texts), len(column)))
        for row, words in enumerate(texts):
            for word in asked.intersection(words):
                counts[row, column[word]] = words.count(word)
        lengths = np.array([float(len(words)) for words in texts])
        return cls(counts, lengths, np.array([float(words[:1] != [] and words[0] in asked) for words in texts]))


@dataclass(frozen=True)
class Terms:
    """The different words of a query with their rarity (words,) on a shelf. That of a word no text has is the highest."""

    query: tuple[str, ...]
    rarity: Any

    def bm25(self, seen: Seen, mean_length: float) -> Any:
        """(n,) Okapi BM25 of the texts in which these words were seen; 0 for those that have none of them."""
        norm = K1 * (1 - B + B * seen.lengths / (mean_length or 1.0))[:, None]
        return (self.rarity * seen.counts * (K1 + 1) / (seen.counts + norm)).sum(axis=1)

    def coverage(self, seen: Seen, mean_length: float) -> Any:
        """(n,) BM25 over the best it could be, in [0, 1]: every word of the query, as often as one likes."""
        return self.bm25(seen, mean_length) / ((K1 + 1) * self.rarity.sum() or 1.0)

    def share(self, seen: Seen) -> Any:
        """(n,) how much of the query's rarity the texts have, in [0, 1]."""
        return (seen.counts > 0) @ self.rarity / (self.rarity.sum() or 1.0)

    def close(self, seen: Seen, texts: Sequence[Sequence[str]]) -> Any:
        """(n,) the largest share of the query's rarity, in [0, 1], that stands within CLOSE words of each indexed text."""
        shares = self.share(seen)
        # One word stands close to itself, and in a short text all do: most of a pool need not be walked through.
        scattered = ((seen.counts > 0).sum(axis=1) > 1) & (seen.lengths > CLOSE)
        for row in scattered.nonzero()[0].tolist():
            shares[row] = self._closest(texts[row])
        return shares

    def _closest(self, text: Sequence[str]) -> float:
        rarity, best = self._rarity_of, 0.0
        last: dict[str, int] = {}  # where each word of the query was met last
        for place in [place for place, word in enumerate(text) if word in rarity]:
            last[text[place]] = place
            best = max(best, sum([rarity[word] for word, at in last.items() if at > place - CLOSE]))
        return best / (sum(rarity.values()) or 1.0)

    @cached_property
    def _rarity_of(self) -> dict[str, float]:
        return dict(zip(self.query, self.rarity.tolist(), strict=True))


def said_words(query: str) -> list[str]:
    """The words a text is searched by: what the question is about, or all it has."""
    return content_tokens(without_asking(query)) or tokens(query)


def evidence_words(query: str) -> list[str]:
    """The words relevance is judged by: content words, and in unspaced text every character and pair, for what is a
    function word there is also half of many names (的 in 目的)."""
    asked = without_asking(query)
    unspaced = [token for token in tokens(asked) if is_cjk(token[0])]
    return unspaced + [token for token in content_tokens(asked) if not is_cjk(token[0])] or tokens(query)


def look_up(storage: Storage, shelf: str, words: Iterable[str]) -> Terms:
    import numpy as np

    frequencies = storage.document_frequencies(shelf, words)
    rows = storage.count(shelf) + PRIOR_ROWS
    return Terms(tuple(frequencies), np.array([inverse_frequency(rows, n) for n in frequencies.values()], dtype=float))


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
    judged: bool = True,
) -> list[Candidate]:
    """The `limit` best texts of a shelf, best first, with relevance filled in if they are to be `judged`.

    `vector` is the query's unit vector (dim,), None for words only. `scope` and `only` (row ids) restrict the search.
    An empty query, or one that matches nothing, gives [].
    """
    allowed = None if only is None else frozenset(only)
    weights = weights or weights_for(shelf, by_words=vector is None)
    words = said_words(query)
    nominated = {text_id for text_id, _ in storage.search_words(shelf, words, POOL, scope=scope, only=allowed)}
    dense = {} if vector is None else dict(storage.search_vectors(shelf, vector, POOL, scope=scope, only=allowed))
    axis = storage.languages.of(shelf) if shelf == "chunk" and vector is not None else None
    if axis is not None:
        by_meaning = storage.search_vectors(shelf, without_language(vector, axis), POOL, scope=scope, only=allowed)
        nominated |= {text_id for text_id, _ in by_meaning}
    pool = _pool(storage, shelf, nominated | dense.keys(), dense, vector, weights.reach)
    indexed = storage.indexed_words(shelf, [candidate.id for candidate in pool])
    if axis is not None:
        _compare_languages(pool, indexed, language_of(query), getattr(storage.embedder, "anchors", None))
    _score_words(look_up(storage, shelf, words), pool, indexed, weights)
    if weights.kind:
        _score_kind(kind_asked(query), words, pool, indexed)
    ranked = fuse(pool, weights)
    if allowed is not None:
        ranked = [candidate for candidate in ranked if candidate.id in allowed]
    ranked = ranked[:limit]
    if judged:
        cosines = {candidate.id: candidate.cosine for candidate in ranked if candidate.cosine is not None}
        _judge(storage, shelf, query, ranked, cosines, indexed)
    return ranked


def _pool(
    storage: Storage, shelf: str, nominated: set[int], dense: dict[int, float], vector, reach: int
) -> list[Candidate]:
    """Everything a leg nominated and whatever stands beside it, each with its cosine."""
    places = storage.places_around(shelf, nominated, reach)
    if vector is not None:
        dense = dense | storage.cosines(shelf, vector, [text_id for text_id in places if text_id not in dense])
    return [Candidate(text_id, *places[text_id], cosine=dense.get(text_id)) for text_id in sorted(places)]


def _compare_languages(pool: Sequence[Candidate], indexed: Mapping[int, list[str]], asked: str, anchors) -> None:
    for candidate in pool:
        if candidate.cosine is not None:
            words = indexed.get(candidate.id, [])
            candidate.likeness = likeness(candidate.cosine, words, asked=asked, anchors=anchors)


def _score_words(terms: Terms, pool: Sequence[Candidate], indexed: Mapping[int, list[str]], weights: Weights) -> None:
    """BM25 of every candidate and of its window, and whether it begins with a word of the query."""
    import numpy as np

    texts = [indexed.get(candidate.id, []) for candidate in pool]
    seen = Seen.in_texts(texts, terms.query)
    # Of the pool, not of the shelf: texts with the words are the longer ones, and compared with each other they are found a
    # little more often (LoCoMo, turns among the first five: 0.726 against 0.724).
    mean_length = float(seen.lengths.mean()) if len(pool) else 0.0
    words = terms.bm25(seen, mean_length)
    window, together, close = np.zeros(len(pool)), np.zeros(len(pool)), np.zeros(len(pool))
    if weights.close:
        close = terms.close(seen, texts)
    if weights.window or weights.together:
        places = Places(pool)
    if weights.window:
        steps = range(-weights.reach, weights.reach + 1)
        counts, lengths = (sum(places.beside(part, step) for step in steps) for part in (seen.counts, seen.lengths))
        window = terms.bm25(Seen(counts, lengths, seen.leads), len(steps) * mean_length)
    if weights.together:
        together = terms.share(seen._replace(counts=places.total(seen.counts)))
    found = zip(*(part.tolist() for part in (words, seen.leads, window, together, close)), strict=True)
    for candidate, parts in zip(pool, found, strict=True):
        candidate.words, candidate.subject, candidate.window, candidate.together, candidate.close = parts


def _score_kind(
    kind: AnswerKind | None, words: Sequence[str], pool: Sequence[Candidate], indexed: Mapping[int, list[str]]
) -> None:
    """1 for the candidates that have an answer of the kind that is asked for near a word of the query."""
    if kind is None:
        return
    asked = frozenset(words)
    for candidate in pool:
        candidate.kind = float(answers_nearby(kind, indexed.get(candidate.id, []), asked))


def judge(storage: Storage, shelf: str, query: str, candidates: Sequence[Candidate], *, vector=None) -> None:
    """Set coverage and relevance of candidates for a query. `vector` is its unit vector (dim,), None for words only.

    A candidate that was judged before keeps the better of the two: it may be asked for in more than one way.
    """
    ids = [candidate.id for candidate in candidates]
    if ids:
        cosines = {} if vector is None else storage.cosines(shelf, vector, ids)
        _judge(storage, shelf, query, candidates, cosines, storage.indexed_words(shelf, ids))


def _judge(storage: Storage, shelf: str, query: str, candidates, cosines: dict[int, float], indexed) -> None:
    texts = [indexed.get(candidate.id, []) for candidate in candidates]
    evidence = look_up(storage, shelf, evidence_words(query))
    covered = evidence.coverage(Seen.in_texts(texts, evidence.query), storage.mean_length(shelf)).tolist()
    content = look_up(storage, shelf, said_words(query))
    shares = content.share(Seen.in_texts(texts, content.query)).tolist()
    anchors = getattr(storage.embedder, "anchors", None) if cosines else None
    asked, rows = language_of(query), storage.count(shelf)
    is_short = shelf != "chunk" or len(content.query) == 1  # a word alone is near to anything, as a note is
    mixed = anchors is not None and shelf == "chunk" and storage.languages.of(shelf) is not None
    needs_words = mixed and _says_little(content.query)
    judged = partial(relevance_of, asked=asked, anchors=anchors, is_short=is_short, rows=rows, needs_words=needs_words)
    for candidate, words, coverage, share in zip(candidates, texts, covered, shares, strict=True):
        cosine = cosines.get(candidate.id)
        relevance = judged(cosine, coverage, share, words)
        if relevance >= candidate.relevance:
            candidate.cosine, candidate.coverage, candidate.relevance = cosine, coverage, relevance


def _says_little(query: Sequence[str]) -> bool:
    """Three words, or a Chinese term of six characters, which has five in pairs. On a shelf that speaks both languages their
    vector does not count across: what the own language does not answer is mostly not there, and passages of the other come
    near by chance. Where all is in the other language, they are all there is."""
    return len(query) <= (5 if all(is_cjk(word[0]) for word in query) else 3)
