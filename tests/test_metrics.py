"""The benchmark's numbers against what can be worked out by hand, and against other libraries."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import label_ranking_average_precision_score

from benchmarks import metrics
from benchmarks.metrics import Estimate, claims, difference, estimate, percentile, points_made, rank_scores, says


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(metrics).failed == 0


@pytest.mark.parametrize(
    ("text", "point", "said"),
    [
        ("我的考试改到12月21日了", "考试12月21日", True),
        ("我的考试是12月20日", "考试12月21日", False),  # a number is never close enough
        ("我的日语老师是田中", "日语老师是中村", False),  # one name of four words is too much to miss
        ("She moved the cache entries first", "move the cache entry", True),  # stems
        ("anything", "", False),
        ("", "anything", False),
    ],
)
def test_a_text_says_a_point_when_nearly_all_its_words_and_all_its_numbers_are_there(text, point, said):
    assert says(text, point) is said


def test_points_are_shares_and_a_forbidden_word_takes_them_all():
    assert points_made("Momentum is conserved.", ["momentum conserved", "entropy grows"]) == 0.5
    assert points_made("Momentum is conserved.", ["momentum conserved"], ["momentum"]) == 0.0
    assert points_made("anything", []) == 1.0


def test_the_claims_of_a_model_are_its_sentences_and_those_of_a_quotation_what_it_quotes():
    assert claims("Recall counts. Precision too.", quotes=False) == ["Recall counts.", "Precision too."]
    assert claims("资料里没有，但你告诉过我：\n「我喜欢茶」", quotes=True) == ["我喜欢茶"]
    assert metrics.grounding([], ["text"]) is None


def test_an_estimate_leaves_out_what_is_not_defined():
    assert estimate([1.0, None, 0.0, None]).n == 2
    assert estimate([None]) is None and estimate([]) is None
    assert estimate([0.5, 0.5]) == Estimate(0.5, 0.5, 0.5, 2)


def test_the_interval_is_that_of_a_bootstrap_done_by_hand():
    values = [1.0] * 60 + [0.0] * 40
    means = np.random.default_rng(1).choice(values, (20_000, 100)).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    found = estimate(values)
    assert (found.low, found.high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))
    assert found == estimate(values), "the same figures each time"


@settings(max_examples=25)  # each is a bootstrap
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_mean_lies_in_its_interval(values):
    found = estimate(values)
    assert found.low - 1e-9 <= found.mean <= found.high + 1e-9


def test_a_difference_is_taken_question_by_question():
    """Both find half, but never the same half: the interval of the difference knows."""
    assert difference([1, 0, 1, 0], [1, 0, 1, 0]) == Estimate(0.0, 0.0, 0.0, 4)
    apart = difference([1, 0, 1, 0], [0, 1, 0, 1])
    assert apart.mean == 0.0 and apart.low < 0 < apart.high


def test_a_percentile_of_one_value_is_that_value():
    assert percentile([7.0], 95) == 7.0
    assert percentile([0.0, 10.0], 50) == 5.0


def test_rankings_are_scored_as_by_hand():
    """Two pieces of evidence, one found second: R@5 one half, reciprocal rank one half."""
    scores = rank_scores({"q": ["x", "a", "y"], "none": []}, {"q": {"a", "b"}, "none": {"a"}, "empty": set()})
    assert scores["q"] == {"R@5": 0.5, "R@10": 0.5, "RR": 0.5}
    assert scores["none"] == {"R@5": 0.0, "R@10": 0.0, "RR": 0.0} and "empty" not in scores


@settings(max_examples=40)
@given(st.permutations(list("abcdefgh")), st.sampled_from("abcdefgh"))
def test_the_reciprocal_rank_of_one_relevant_item_is_what_scikit_learn_says(ranking, relevant):
    places = [ranking.index(item) for item in "abcdefgh"]
    truth = [[item == relevant for item in "abcdefgh"]]
    expected = label_ranking_average_precision_score(truth, [[-place for place in places]])
    assert rank_scores({"q": ranking}, {"q": {relevant}})["q"]["RR"] == pytest.approx(expected)
