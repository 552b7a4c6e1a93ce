"""Numbers for answers and rankings, each small enough to be worked out by hand.

What a text says is decided by words, not by a model: `says` is the only place where that happens. Rankings are scored by
ir_measures, which is what TREC's own program computes; intervals are percentile bootstraps by SciPy.
"""

import re
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from infrastructure.extraction import support
from infrastructure.extras import need
from infrastructure.text import content_tokens, sentences, tokens

# ---- What a text says ----

SAID = (
    0.8  # share of a point's content words that must be in the text: a person need not repeat every word of a long one
)
GROUNDED = 0.5  # share of a claim's content words that one source must have; the same bar the product sets


def says(text: str, point: str) -> bool:
    """Whether a text makes a point: nearly all of its content words, and each of its numbers. No words: no.

    >>> says("The exam was moved to 5 June.", "exam on 5 June"), says("The exam is on 3 June.", "exam on 5 June")
    (True, False)
    """
    wanted, there = set(content_tokens(point) or tokens(point)), set(tokens(text))
    if not wanted or not {word for word in wanted if word.isdigit()} <= there:
        return False
    return len(wanted & there) >= SAID * len(wanted)


def says_any(texts: Iterable[str], point: str) -> bool:
    return any(says(text, point) for text in texts)


def points_made(answer: str, points: Sequence[str], unsaid: Sequence[str] = ()) -> float:
    """Share of the points that the answer makes; 0 as soon as it says what it must not. No points: 1, nothing was asked.

    >>> points_made("Momentum is conserved. Energy is not.", ["momentum conserved", "entropy grows"])
    0.5
    """
    if any(says(answer, wrong) for wrong in unsaid):
        return 0.0
    return sum(says(answer, point) for point in points) / len(points) if points else 1.0


_QUOTED = re.compile(r"“([^”]+)”|「([^」]+)」")


def claims(answer: str, *, quotes: bool) -> list[str]:
    """What an answer claims: its sentences, or of an answer made of quotations (`quotes`) what it quotes.

    >>> claims("Not in your documents, but you told me:\\n“I like tea.”", quotes=True)
    ['I like tea.']
    """
    if quotes:
        return [first or second for first, second in _QUOTED.findall(answer)]
    return [answer[start:end] for start, end in sentences(answer)]


def grounding(claimed: Sequence[str], sources: Sequence[str]) -> float | None:
    """Share of the claims that one of the sources carries; None when nothing is claimed.

    >>> grounding(["Recall counts evidence.", "It was invented in 1950."], ["recall counts the evidence found"])
    0.5
    """
    if not claimed:
        return None
    return sum(support(claim, sources) >= GROUNDED for claim in claimed) / len(claimed)


# ---- Means that say how sure they are ----

RESAMPLES, SEED = 2000, 7


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, over n values. As text, half the interval's width stands for it.

    >>> str(Estimate(0.5, 0.41, 0.59, 20))
    '0.500 ±0.090'
    """

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{round(self.mean, 3) + 0.0:.3f} ±{(self.high - self.low) / 2:.3f}"  # + 0.0: no "-0.000"

    def to_json(self) -> dict[str, float]:
        return {"mean": round(self.mean, 4), "low": round(self.low, 4), "high": round(self.high, 4), "n": self.n}


def estimate(values: Iterable[float | None]) -> Estimate | None:
    """Mean and 95 % percentile bootstrap; values that are None do not count; None when nothing is left."""
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    mean = statistics.fmean(known)
    if min(known) == max(known):  # nothing to resample
        return Estimate(mean, mean, mean, len(known))
    import numpy as np
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.array(known),), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(SEED)
    )
    return Estimate(mean, float(found.confidence_interval.low), float(found.confidence_interval.high), len(known))


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Estimate | None:
    """Ours minus theirs, question by question: far narrower than the two intervals, as hard questions are hard for both."""
    return estimate(a - b for a, b in zip(ours, theirs, strict=True))


def percentile(values: Sequence[float], share: int) -> float:
    """The value below which `share` percent of the values lie; of one value, that value.

    >>> percentile([1.0, 2.0, 3.0], 50)
    2.0
    """
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1] if len(values) > 1 else values[0]


# ---- Rankings ----

RANK_METRICS = ("R@5", "R@10", "RR")


def rank_scores(
    rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Collection[str]]
) -> dict[str, dict[str, float]]:
    """{question: {metric: value}} for rankings (best first) of every question that has something relevant.

    Recall of the first 5 and 10 is a question's mean share of evidence, RR the reciprocal rank of the first piece. A question
    for which nothing was ranked scores 0. Raises StudyError when ir_measures is not installed.
    """
    ir_measures = need("rankings")
    measures = {name: ir_measures.parse_measure(name) for name in RANK_METRICS}
    run = {
        question: {item: float(len(ranked) - place) for place, item in enumerate(ranked)}
        for question, ranked in rankings.items()
    }
    judged = {question: dict.fromkeys(items, 1) for question, items in relevant.items() if items}
    scores = {question: dict.fromkeys(RANK_METRICS, 0.0) for question in judged}
    for found in ir_measures.iter_calc(list(measures.values()), judged, run):
        scores[found.query_id][str(found.measure)] = found.value
    return scores
