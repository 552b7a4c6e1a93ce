import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.calibration import RELEVANT, WITH_VECTORS, WORDS_ONLY, relevance_of, rescaled
from infrastructure.embedders import E5_SMALL_ANCHORS

shares = st.floats(0, 1)


def test_anchors_put_embedders_on_one_scale():
    assert rescaled(0.75, (0.75, 0.95)) == rescaled(0.0, (0.0, 0.9)) == 0
    assert rescaled(0.95, (0.75, 0.95)) == rescaled(0.9, (0.0, 0.9)) == 1


@pytest.mark.parametrize("calibration", [*WITH_VECTORS.values(), *WORDS_ONLY.values()])
@given(a=st.tuples(st.floats(-2, 2), shares), b=st.tuples(st.floats(-2, 2), shares))
def test_relevance_lies_in_0_1_and_never_falls_when_cosine_and_coverage_rise(calibration, a, b):
    better = max(a[0], b[0]), max(a[1], b[1])
    assert 0 <= calibration.relevance(*a, rows=9) <= calibration.relevance(*better, rows=9) <= 1


def across(cosine, **options):
    """Relevance of a Chinese text for an English question that shares no word with it."""
    known = {"asked": "en", "anchors": E5_SMALL_ANCHORS, "is_short": False, "rows": 100, **options}
    return relevance_of(cosine, 0.0, 0.0, ["检", "索", "检索"], **known)


def test_across_languages_each_direction_has_a_scale_of_its_own():
    english = ["retrieval", "augmented"]
    there = relevance_of(0.76, 0.0, 0.0, english, asked="zh", anchors=E5_SMALL_ANCHORS, is_short=False, rows=100)
    assert there < RELEVANT < across(0.76)


def test_the_larger_the_library_the_nearer_a_foreign_text_must_be():
    found = [across(0.755, rows=rows) for rows in (1, 10, 100, 10_000)]
    assert found == sorted(found, reverse=True)
    assert found[0] > RELEVANT > found[-1]


def test_a_foreign_note_must_be_nearer_than_a_foreign_passage():
    assert across(0.79, is_short=True) < RELEVANT < across(0.79)
    assert across(0.85, is_short=True) > RELEVANT


def test_without_a_vector_or_a_scale_words_decide_alone():
    assert across(None) == across(0.99, anchors=None) < RELEVANT
