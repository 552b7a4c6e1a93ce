"""What texts have in common: infrastructure/themes.py and abstraction.py."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.abstraction import shortened, theme_statement
from infrastructure.text import estimate_tokens_mixed
from infrastructure.themes import SHARED, clusters, rarities, share, shared_terms, theme_words

words = st.sets(st.sampled_from(["bm25", "rag", "hyde", "recall", "fsrs"]))
WEIGHTS = rarities({"bm25": 9, "rag": 10, "hyde": 1, "recall": 3, "fsrs": 2}, 10)


@given(words, words)
def test_the_share_is_symmetric_and_in_0_1(a, b):
    assert 0 <= share(a, b, WEIGHTS) == share(b, a, WEIGHTS) <= 1


def test_equal_words_share_all_and_no_words_share_nothing():
    assert share({"bm25"}, {"bm25"}, WEIGHTS) == 1
    assert share(set(), {"bm25"}, WEIGHTS) == share(set(), set(), WEIGHTS) == 0


def test_a_word_that_every_text_has_does_not_relate_two_of_them():
    weights = rarities({"rag": 1000, "k1": 3, "tune": 4, "hyde": 3, "templat": 2}, 1000)
    assert share({"rag", "k1", "tune"}, {"rag", "hyde", "templat"}, weights) < SHARED


def test_a_word_that_no_text_has_yet_weighs_most_and_is_no_error():
    assert rarities({"new": 0, "old": 5}, 5)["new"] > rarities({"new": 0, "old": 5}, 5)["old"] > 0


@pytest.mark.parametrize(
    "asking", ["用户问：这个方法的区别是什么？", "Please explain the difference, what does it mean?"]
)
def test_how_one_asks_is_not_what_one_asks_about(asking):
    assert theme_words(asking) == frozenset()


def test_shared_terms_are_whole_phrases_in_the_spelling_of_the_texts():
    assert shared_terms(["Transformer 为什么需要位置编码", "Transformer 的位置编码怎么算"]) == [
        "Transformer",
        "位置编码",
    ]


def test_the_word_of_most_texts_comes_first():
    assert shared_terms(["k1 in BM25", "tune BM25 and k1", "BM25 or not"])[0] == "BM25"


def test_a_text_that_shares_nothing_still_adds_its_own_term():
    assert shared_terms(["How is BM25 tuned?", "Who tuned BM25?", "怎么减少幻觉"]) == ["BM25", "tuned", "幻觉"]


@pytest.mark.parametrize("texts", [[], ["。。。", "???"]])
def test_texts_without_words_have_no_terms(texts):
    assert shared_terms(texts) == []


# ---- clusters ----


@dataclass(frozen=True)
class Event:
    memory_id: str


def ids(found):
    return [sorted(cluster.ids) for cluster in found]


def grouped(fresh, themes, kin):
    """`kin`: {"a": "bc"} says that a is related to b and c."""
    return clusters([Event(i) for i in fresh], themes, lambda event: [Event(i) for i in kin.get(event.memory_id, "")])


def test_an_event_founds_a_cluster_with_its_relatives_and_a_loner_founds_none():
    assert ids(grouped("ax", [], {"a": "bc"})) == [["a", "b", "c"]]


def test_an_event_joins_the_cluster_that_holds_most_of_its_relatives():
    assert ids(grouped("ade", [], {"a": "bc", "d": "xy", "e": "bxy"})) == [["a", "b", "c"], ["d", "e", "x", "y"]]


def test_no_event_is_in_two_clusters():
    found = grouped("ad", [SimpleNamespace(derived_from=["t", "b"])], {"a": "cx", "d": "tbx"})
    assert ids(found) == [["b", "d", "t"], ["a", "c", "x"]]


def test_an_event_joins_the_theme_of_its_relatives():
    (cluster,) = grouped("a", [SimpleNamespace(derived_from=["b"])], {"a": "bc"})
    assert [event.memory_id for event in cluster.joined] == ["a", "c"]


# ---- what is written ----


@given(st.text(max_size=2000), st.integers(5, 100))
def test_a_shortened_text_keeps_to_its_tokens(text, room):
    import re

    assert estimate_tokens_mixed(shortened(text, room, re.compile("must"))) <= room


def test_a_theme_of_one_wordless_event_quotes_it():
    from datetime import UTC, datetime

    event = SimpleNamespace(content="???", metadata={}, occurred_at=datetime(2026, 5, 8, tzinfo=UTC))
    assert theme_statement([event]) == "Keeps coming back to ??? (1 events, 2026-05-08)."
