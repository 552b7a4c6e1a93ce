"""Answering without a model: the sentences of the passages that say most about the question, and how well a text is supported.

Words come first: a sentence that has the question's rare words is chosen for a reason that can be shown. Only where words
cannot meet, across languages, are sentences embedded, and at most six, because each costs as much as a search.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infrastructure.language import language_of
from infrastructure.ranking import coverage
from infrastructure.text import content_tokens, fold, sentences, tokens

EMBEDDED_SENTENCES = 6
WORDS_MEET = 0.3  # best coverage below this: the words of question and passage do not meet
SHORTEST = 8  # characters; shorter pieces are headings, numbering or remains of a table
LONGEST = 400  # characters; longer ones are tables or lost punctuation, cut for the reader


@dataclass(frozen=True)
class Extract:
    """A sentence of source number `source` (from 0), at [start, end) in its text. score: higher is better."""

    source: int
    start: int
    end: int
    text: str
    score: float


def best_sentences(
    sources: Sequence[str],
    weights: dict[str, float],
    *,
    scores: Sequence[float],
    question: str,
    similarity: Callable[[Sequence[str]], Sequence[float]] | None = None,
) -> list[Extract]:
    """For each source its best sentence, best first. scores: each source's own, in [0, 1]. No sources: [].

    weights: the question's words with their rarity. similarity: cosines of some sentences to the question, asked for only
    where words do not meet.
    """
    candidates = [
        Extract(number, start, min(end, start + LONGEST), text[start : min(end, start + LONGEST)], 0.0)
        for number, text in enumerate(sources)
        for start, end in sentences(text)
        if end - start >= SHORTEST
    ]
    if not candidates:
        return []
    rated = [
        _rated(c, coverage(weights, set(tokens(c.text))) + _defines(question, c.text), scores[c.source])
        for c in candidates
    ]
    if similarity is not None and max(c.score for c in rated) < WORDS_MEET:
        rated = _by_meaning(rated, scores, similarity)
    best: dict[int, Extract] = {}
    for extract in rated:
        if extract.source not in best or extract.score > best[extract.source].score:
            best[extract.source] = extract
    return sorted(best.values(), key=lambda extract: (-extract.score, extract.source))


def _rated(extract: Extract, score: float, source_score: float) -> Extract:
    """A good sentence in a good passage: the passage's own score counts for a third. One that begins by pointing at the
    sentence before it says less by itself."""
    score *= 0.8 if _POINTS_BACK.match(extract.text) else 1.0
    return Extract(extract.source, extract.start, extract.end, extract.text, score * (2 + source_score) / 3)


def _by_meaning(rated: Sequence[Extract], scores: Sequence[float], similarity) -> list[Extract]:
    """The first sentences of the best sources, by cosine; the rest stay below them."""
    order = sorted(range(len(rated)), key=lambda i: (-scores[rated[i].source], rated[i].source, rated[i].start))
    chosen = order[:EMBEDDED_SENTENCES]
    near = dict(zip(chosen, similarity([rated[i].text for i in chosen]), strict=True))
    return [_rated(e, 1 + near[i], scores[e.source]) if i in near else e for i, e in enumerate(rated)]


_POINTS_BACK = re.compile(
    r"(?:这|该|此|它|其|上述|因此|但是|而且|this |these |it |they |that |such |however|therefore|thus )", re.I
)
_WHAT_IS = ("what is", "what are", "define", "什么是", "是什么", "是指", "什么叫", "含义", "定义", "meaning of")


def _defines(question: str, sentence: str) -> float:
    """A bonus for "X is …" when the question asks what X is."""
    asked = fold(question)
    if not any(mark in asked for mark in _WHAT_IS):
        return 0.0
    terms = content_tokens(question)
    start = set(tokens(sentence[:40]))
    is_one = any(
        mark in fold(sentence[:80]) for mark in (" is ", " are ", "是", "指", " means ", "refers to", "称为", "叫做")
    )
    return 0.3 if is_one and terms and all(term in start for term in terms) else 0.0


def support(sentence: str, sources: Sequence[str]) -> float:
    """Share in [0, 1] of a sentence's content words that one of the sources has; 1 for a sentence without any.

    >>> support("Recall counts the evidence", ["recall is the share of evidence that was found"])
    0.6666666666666666
    """
    words = set(content_tokens(sentence))
    if not words:
        return 1.0
    return max((len(words & set(tokens(source))) / len(words) for source in sources), default=0.0)


def speaks_another_language(question: str, sources: Sequence[str]) -> bool:
    return any(language_of(source) != language_of(question) for source in sources)
