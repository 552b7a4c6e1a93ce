import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.calibration import WITH_VECTORS, WORDS_ONLY, rescaled

shares = st.floats(0, 1)


def test_anchors_put_embedders_on_one_scale():
    assert rescaled(0.75, (0.75, 0.95)) == rescaled(0.0, (0.0, 0.9)) == 0
    assert rescaled(0.95, (0.75, 0.95)) == rescaled(0.9, (0.0, 0.9)) == 1


@pytest.mark.parametrize("calibration", [*WITH_VECTORS.values(), *WORDS_ONLY.values()])
@given(a=st.tuples(st.floats(-2, 2), shares), b=st.tuples(st.floats(-2, 2), shares))
def test_relevance_lies_in_0_1_and_never_falls_when_cosine_and_coverage_rise(calibration, a, b):
    better = max(a[0], b[0]), max(a[1], b[1])
    assert 0 <= calibration.relevance(*a) <= calibration.relevance(*better) <= 1
