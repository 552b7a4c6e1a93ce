import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import HashEmbedder

from infrastructure.lesson import StoppedClock
from infrastructure.ranking import (
    RELEVANT,
    WITH_VECTORS,
    WORDS_ONLY,
    Candidate,
    Weights,
    fuse,
    hybrid_search,
    judge,
    rescale,
    rescaled,
    zscores,
)
from infrastructure.shelves import Text
from infrastructure.storage import Storage

scores = st.floats(-1e6, 1e6)
shares = st.floats(0, 1)
PLAIN = Weights()  # words and vectors count the same, nothing else counts


@pytest.fixture
def storage(tmp_path):
    with Storage(tmp_path / "home", embedder=HashEmbedder(), now=StoppedClock()) as storage:
        yield storage


def add(storage, *contents, shelf="chunk", scope="book"):
    return storage.add_texts(shelf, [Text(f"{scope}: {content}", scope, content) for content in contents])


def search(storage, query, shelf="chunk", **options):
    """Contents of what is found, best first."""
    found = hybrid_search(storage, shelf, query, vector=storage.embed_query(query), **options)
    texts = storage.texts(candidate.id for candidate in found)
    return [texts[candidate.id].content for candidate in found]


def relevant(storage, query, **options):
    found = hybrid_search(storage, "chunk", query, vector=storage.embed_query(query), **options)
    return [candidate.id for candidate in found if candidate.relevance >= RELEVANT]


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


def test_anchors_put_embedders_on_one_scale():
    assert rescaled(0.75, (0.75, 0.95)) == rescaled(0.0, (0.0, 0.9)) == 0
    assert rescaled(0.95, (0.75, 0.95)) == rescaled(0.9, (0.0, 0.9)) == 1


@pytest.mark.parametrize("calibration", [*WITH_VECTORS.values(), *WORDS_ONLY.values()])
@given(a=st.tuples(st.floats(-2, 2), shares), b=st.tuples(st.floats(-2, 2), shares))
def test_relevance_lies_in_0_1_and_never_falls_when_cosine_and_coverage_rise(calibration, a, b):
    better = max(a[0], b[0]), max(a[1], b[1])
    assert 0 <= calibration.relevance(*a) <= calibration.relevance(*better) <= 1


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


def test_the_best_of_the_pool_matches_1_and_the_worst_0():
    found = fuse([Candidate(n, "s", 9 * n, words=float(n)) for n in range(5)], PLAIN)
    assert [candidate.match for candidate in found] == pytest.approx([1.0, 0.75, 0.5, 0.25, 0.0])


def test_a_single_candidate_is_the_best_and_nothing_fuses_to_nothing():
    assert [candidate.match for candidate in fuse([Candidate(1, "s", 0)], PLAIN)] == [1.0]
    assert fuse([], PLAIN) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 30), st.none() | st.floats(-1, 1)), max_size=30))
def test_every_fused_score_is_a_number(rows):
    pool = [Candidate(n, f"s{scope}", n, words=words, cosine=cosine) for n, (scope, words, cosine) in enumerate(rows)]
    found = fuse(pool, Weights(before=0.4, after=0.3, window=1.0, parent=0.5, subject=1.5))
    assert sorted(candidate.id for candidate in found) == list(range(len(rows)))
    assert all(math.isfinite(candidate.fused) and 0 <= candidate.match <= 1 for candidate in found)


# ---- Search ----


def test_an_empty_query_and_an_empty_shelf_give_nothing(storage):
    assert search(storage, "apple") == []
    add(storage, "apple")
    storage.settle(chroma=False)
    assert hybrid_search(storage, "chunk", "") == hybrid_search(storage, "chunk", "？！") == []


def test_the_text_about_the_question_comes_first(storage):
    add(storage, "Bananas are yellow", "BM25 ranks texts by the words of a query", "Cats sleep all day")
    storage.settle(chroma=False)
    assert search(storage, "How does BM25 rank a query?")[0].startswith("BM25")


def test_words_alone_find_it_too(storage):
    add(storage, "Bananas are yellow", "BM25 ranks texts by the words of a query", "Cats sleep all day")
    found = hybrid_search(storage, "chunk", "How does BM25 rank a query?")
    assert storage.texts([found[0].id])[found[0].id].content.startswith("BM25")
    assert all(candidate.cosine is None for candidate in found)


@pytest.mark.parametrize("query", ["量子纠缠是什么？", "What is photosynthesis?", "Фотосинтез"])
def test_nothing_is_relevant_to_an_unrelated_question_however_small_the_library(storage, query):
    add(storage, "混合检索结合BM25和向量检索", "BM25 ranks texts by the words of a query")
    storage.settle(chroma=False)
    assert relevant(storage, query) == []


def test_the_answer_is_relevant_in_a_library_of_one(storage):
    ids = add(storage, "BM25 ranks texts by the words of a query")
    assert relevant(storage, "Which words does BM25 rank texts by?") == ids
    storage.settle(chroma=False)
    assert relevant(storage, "Which words does BM25 rank texts by?") == ids


def test_a_search_keeps_to_its_scope_and_to_the_ids_it_is_given(storage):
    (pie,) = add(storage, "apple pie", scope="a")
    cake, tart = add(storage, "apple cake", "apple tart", scope="b")
    storage.settle(chroma=False)
    assert sorted(search(storage, "apple", scope="b")) == ["apple cake", "apple tart"]
    assert sorted(search(storage, "apple", only=[pie, tart])) == ["apple pie", "apple tart"]
    assert search(storage, "apple", scope="b", only=[pie, cake]) == ["apple cake"]
    assert search(storage, "apple", only=[]) == []


def test_a_search_keeps_to_its_shelf(storage):
    add(storage, "apple pie")
    add(storage, "apple chat", shelf="episodic")
    storage.settle(chroma=False)
    assert search(storage, "apple") == ["apple pie"]


def test_never_more_than_the_limit(storage):
    add(storage, *(f"apple {n}" for n in range(9)))
    storage.settle(chroma=False)
    assert len(search(storage, "apple", limit=4)) == 4


def test_a_text_without_a_vector_is_found_among_texts_that_have_one(storage):
    add(storage, "green pear", "yellow plum")
    storage.settle(chroma=False)
    add(storage, "red apple")
    assert search(storage, "apple")[0] == "red apple"


def test_with_chroma_the_order_is_that_of_the_blobs(storage):
    add(storage, *(f"apple {'pie ' * (n % 4)} number{n}" for n in range(40)))
    storage.settle(chroma=False)
    exact = search(storage, "apple pie", limit=40)
    storage.settle()
    assert search(storage, "apple pie", limit=40) == exact


def test_the_same_question_gives_the_same_answer(storage):
    add(storage, *(f"apple {n % 3}" + " x" * n for n in range(20)))
    storage.settle(chroma=False)
    assert search(storage, "apple 1") == search(storage, "apple 1")


def test_judging_in_another_way_keeps_the_better_of_two(storage):
    add(storage, "BM25 ranks texts by the words of a query", "Cats sleep all day")
    found = hybrid_search(storage, "chunk", "Which words does BM25 rank texts by?")
    before = [candidate.relevance for candidate in found]
    judge(storage, "chunk", "photosynthesis", found)
    assert [candidate.relevance for candidate in found] == before


def test_why_names_every_part_that_is_known(storage):
    add(storage, "red apple")
    (candidate,) = hybrid_search(storage, "chunk", "apple")
    assert "cosine" not in candidate.why()
    storage.settle(chroma=False)
    (candidate,) = hybrid_search(storage, "chunk", "apple", vector=storage.embed_query("apple"))
    assert candidate.why()["cosine"] == pytest.approx(0.7071, abs=1e-3)
    assert candidate.why()["relevance"] == pytest.approx(candidate.relevance, abs=1e-4)
