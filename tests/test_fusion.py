import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.fusion import SOFTNESS, Candidate, Places, Weights, fuse, rescale, zscores

scores = st.floats(-1e6, 1e6)
PLAIN = Weights()  # words and vectors count the same, nothing else counts


# ---- The scales ----


@given(st.lists(scores | st.none()))
def test_z_scores_are_numbers_and_the_unknown_is_average(values):
    found = zscores(values)
    assert len(found) == len(values)
    assert all(math.isfinite(z) for z in found)
    assert all(z == 0 for value, z in zip(values, found, strict=True) if value is None)


@given(st.lists(scores, min_size=2))
def test_z_scores_keep_the_order(values):
    found = zscores(values)
    best, worst = values.index(max(values)), values.index(min(values))
    assert found[best] == max(found)
    assert found[worst] == min(found)


@given(scores, st.integers(1, 5))
def test_equal_values_all_score_0_or_all_1(value, count):
    assert zscores([value] * count) == [0.0] * count
    assert rescale([value] * count) == [1.0] * count


@given(st.lists(scores, min_size=1))
def test_rescaled_values_lie_in_0_1_and_the_best_is_1(values):
    found = rescale(values)
    assert all(0 <= value <= 1 for value in found)
    assert found[values.index(max(values))] == 1


def test_nothing_rescales_to_nothing():
    assert rescale([]) == zscores([]) == []


# ---- Fusion ----


def test_a_text_that_both_legs_like_comes_first():
    pool = [
        Candidate(1, "s", 0, words=9.0, cosine=0.1),
        Candidate(2, "s", 9, words=8.0, cosine=0.8),
        Candidate(3, "s", 20, words=0.0, cosine=0.9),
    ]
    assert fuse(pool, PLAIN)[0].id == 2


def test_a_missing_vector_is_neutral_not_lowest():
    pool = [
        Candidate(1, "s", 0, words=1.0, cosine=0.9),
        Candidate(2, "s", 9, words=1.0, cosine=None),
        Candidate(3, "s", 20, words=1.0, cosine=0.1),
    ]
    assert [candidate.id for candidate in fuse(pool, PLAIN)] == [1, 2, 3]


def test_a_text_beside_a_good_one_is_lifted():
    def pool():
        return [
            Candidate(1, "s", 0, words=9.0),
            Candidate(2, "s", 50, words=1.0),
            Candidate(3, "s", 1, words=1.0),
            Candidate(4, "other", 1, words=1.0),
        ]

    assert [c.id for c in fuse(pool(), PLAIN)] == [1, 2, 3, 4]
    assert [c.id for c in fuse(pool(), Weights(before=0.5))] == [1, 3, 2, 4]
    assert [c.id for c in fuse(pool(), Weights(parent=0.5))] == [1, 2, 3, 4]


def test_a_text_in_a_session_that_has_all_the_words_is_lifted():
    pool = [Candidate(1, "half", 0, words=1.0, together=0.5), Candidate(2, "all", 0, words=1.0, together=1.0)]
    assert [c.id for c in fuse(pool, PLAIN)] == [1, 2]
    assert [c.id for c in fuse(pool, Weights(together=0.5))] == [2, 1]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-20, 20)), min_size=1, max_size=20))
def test_the_soft_maximum_lies_between_the_best_and_the_best_and_all_others_as_good(rows):
    pool = [Candidate(n, f"s{scope}", n) for n, (scope, _) in enumerate(rows)]
    values = np.array([value for _, value in rows])
    for (scope, _), found in zip(rows, Places(pool).soft_best(values), strict=True):
        own = [value for other, value in rows if other == scope]
        assert max(own) - 1e-9 <= found <= max(own) + SOFTNESS * math.log(len(own)) + 1e-9


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5)), min_size=1, max_size=12))
def test_the_best_of_a_session_is_the_best_of_its_texts(rows):
    pool = [Candidate(n, f"s{scope}", n) for n, (scope, _) in enumerate(rows)]
    found = Places(pool).best(np.array([value for _, value in rows]))
    assert found.tolist() == [max(value for other, value in rows if other == scope) for scope, _ in rows]


def test_a_turn_gains_by_the_nearest_turn_of_its_session():
    near, beside, alone = (
        Candidate(1, "a", 0, cosine=0.9),
        Candidate(2, "a", 9, cosine=0.2),
        Candidate(3, "b", 0, cosine=0.2),
    )
    fuse([near, beside, alone], Weights(nearest=1.0))
    assert beside.nearest == near.nearest > alone.nearest and beside.fused > alone.fused


def test_the_best_of_the_pool_matches_1_and_the_worst_0():
    found = fuse([Candidate(n, "s", 9 * n, words=float(n)) for n in range(5)], PLAIN)
    assert [candidate.match for candidate in found] == pytest.approx([1.0, 0.75, 0.5, 0.25, 0.0])


def test_a_single_candidate_is_the_best_and_nothing_fuses_to_nothing():
    assert [candidate.match for candidate in fuse([Candidate(1, "s", 0)], PLAIN)] == [1.0]
    assert fuse([], PLAIN) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 30), st.none() | st.floats(-1, 1)), max_size=30))
def test_every_fused_score_is_a_number(rows):
    pool = [Candidate(n, f"s{scope}", n, words=words, cosine=cosine) for n, (scope, words, cosine) in enumerate(rows)]
    found = fuse(pool, Weights(before=0.4, after=0.3, window=1.0, parent=0.5, together=0.5, subject=1.5))
    assert sorted(candidate.id for candidate in found) == list(range(len(rows)))
    assert all(math.isfinite(candidate.fused) and 0 <= candidate.match <= 1 for candidate in found)
