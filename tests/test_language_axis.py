"""A shelf in two languages: passages of both are found, whichever language the question has."""

import math
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.calibration import ACROSS, likeness, relevance_of
from infrastructure.fusion import Candidate, Weights, fuse
from infrastructure.language_axis import FEWEST, without_language
from infrastructure.library import Passage
from infrastructure.ranking import _says_little, hybrid_search
from infrastructure.shelves import Text
from infrastructure.storage import Storage
from infrastructure.text import tokens

m11 = import_module("11_unified_retrieval")
ANCHORS = {"en": (0.7, 0.9), "zh": (0.8, 0.9), "en to zh": (0.6, 0.7), "zh to en": (0.6, 0.7)}
TOPICS = 60  # of each language: more passages than a leg nominates


# Of the vectors below: the language alone makes 0.8, or −0.8; the topic the rest.
OF_TOPICS = {"en": (0.8, 1.0), "zh": (0.8, 1.0), "en to zh": (-0.8, -0.6), "zh to en": (-0.8, -0.6)}


class TwoLanguages:
    """Vectors of a topic and a language: dimension 0 says which language, and says it louder than any topic."""

    name, dimension, max_tokens, anchors = "two", TOPICS + 1, 512, OF_TOPICS

    def vector(self, text):
        vector = np.zeros(self.dimension, dtype=np.float32)
        vector[0] = -2.0 if any("一" <= char <= "鿿" for char in text) else 2.0
        vector[1 + int("".join(char for char in text if char.isdigit()))] = 1.0
        return vector / np.linalg.norm(vector)

    def token_count(self, text):
        return len(text)

    embed_query = vector

    def embed_passages(self, texts):
        return np.stack([self.vector(text) for text in texts])


@pytest.fixture
def embedder():
    return TwoLanguages()


def shelve(storage, en=TOPICS, zh=TOPICS):
    texts = [f"English passage about thing{n}x" for n in range(en)] + [f"中文段落：事物乙{n}" for n in range(zh)]
    storage.add_texts("chunk", [Text(text, "book", text) for text in texts])
    storage.settle(chroma=False)


def test_a_question_finds_the_passage_in_the_other_language_among_many_in_its_own(storage):
    shelve(storage)
    vector = storage.embed_query("thing7x is what")
    found = hybrid_search(
        storage, "chunk", "thing7x is what", vector=vector, weights=Weights(words=0, reach=0), limit=2
    )
    contents = [storage.texts([candidate.id])[candidate.id].content for candidate in found]
    assert contents == ["English passage about thing7x", "中文段落：事物乙7"]


def test_a_shelf_in_one_language_has_no_axis(storage):
    shelve(storage, zh=FEWEST - 1)
    assert storage.languages.of("chunk") is None
    vector = storage.embed_query("thing7x")
    (best, *_) = hybrid_search(storage, "chunk", "thing7x", vector=vector)
    assert best.likeness is None and best.cosine == pytest.approx(1.0)


def test_the_axis_is_found_once_and_again_when_the_shelf_has_grown(storage, monkeypatch):
    shelve(storage, zh=0)
    assert storage.languages.of("chunk") is None
    storage.add_texts("chunk", [Text(f"新{n}", "new", f"新的段落{n}") for n in range(FEWEST)])
    storage.settle(chroma=False)
    assert storage.languages.of("chunk") is None  # three of sixty: not looked at again yet
    storage.add_texts("chunk", [Text(f"更{n}", "new", f"更新的段落{n}") for n in range(9)])
    storage.settle(chroma=False)
    axis = storage.languages.of("chunk")
    assert np.linalg.norm(axis) == pytest.approx(1.0) and abs(axis[0]) > 0.9
    monkeypatch.setattr(storage.languages, "_look", lambda _: pytest.fail("looked again"))
    assert storage.languages.of("chunk") is axis


def test_the_axis_is_found_when_the_vectors_come_in_after_the_first_question(storage):
    texts = [f"English passage about thing{n}x" for n in range(9)] + [f"中文段落：事物乙{n}" for n in range(9)]
    storage.add_texts("chunk", [Text(text, "book", text) for text in texts])
    assert storage.languages.of("chunk") is None
    storage.settle(chroma=False)
    assert storage.languages.of("chunk") is not None


def test_another_embedder_has_an_axis_of_its_own(storage):
    shelve(storage)
    before = storage.languages.of("chunk")
    other = TwoLanguages()
    other.name = "another"
    storage.switch_embedder(other)
    assert storage.languages.of("chunk") is None  # no vectors yet
    assert before is not None


def test_an_empty_shelf_has_no_axis(tmp_path):
    with Storage(tmp_path / "empty", embedder=TwoLanguages()) as storage:
        assert storage.languages.of("chunk") is None


@given(st.lists(st.floats(-1, 1), min_size=8, max_size=8))
def test_what_is_left_of_a_vector_stands_across_the_axis(values):
    vector, axis = np.array(values[:4]), np.array(values[4:])
    length = np.linalg.norm(axis)
    if length > 1e-3:
        assert math.isclose(float(without_language(vector, axis / length) @ axis), 0.0, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("an English text of words", "en", 0.5),  # half-way between 0.7 and 0.9
        ("一段中文的文本", "zh", 0.0),
        ("一段中文的文本", "en", 2 * ACROSS),
        ("an English text of words", "zh", 2 * ACROSS),
    ],
)
def test_a_cosine_counts_on_the_scale_of_its_pair_of_languages(text, asked, expected):
    assert likeness(0.8, tokens(text), asked=asked, anchors=ANCHORS) == pytest.approx(expected)


@pytest.mark.parametrize("anchors", [None, (0.0, 0.8)])
def test_an_embedder_of_unknown_scale_keeps_its_cosines(anchors):
    assert likeness(0.8, ["word"], asked="en", anchors=anchors) is None


def test_fusion_takes_the_likeness_in_place_of_the_cosine():
    near, like = Candidate(1, "s", 0, cosine=0.9, likeness=0.1), Candidate(2, "s", 9, cosine=0.5, likeness=0.9)
    assert [candidate.id for candidate in fuse([near, like], Weights(words=0.0))] == [2, 1]


@pytest.mark.parametrize(
    ("words", "little"),
    [
        (["hyde"], True),
        (["bootstrap", "sampl"], True),
        (["量子", "子纠", "纠缠"], True),
        (["how", "rag", "system", "evalu"], False),
        (["写回", "回质", "质量", "量门", "门槛", "是多"], False),
    ],
)
def test_few_words_say_little(words, little):
    assert _says_little(words) == little


def test_across_languages_a_few_words_on_a_mixed_shelf_count_by_what_they_share():
    judged = {"asked": "zh", "anchors": ANCHORS, "is_short": False, "rows": 50}
    english = tokens("an English text of words")
    assert relevance_of(0.8, 0.0, 0.0, english, **judged) > 0.5
    assert relevance_of(0.8, 0.0, 0.0, english, needs_words=True, **judged) < 0.1
    assert relevance_of(0.8, 0.5, 1.0, english, needs_words=True, **judged) > 0.9
    chinese = tokens("一段中文的文本")
    alone = relevance_of(0.8, 0.1, 0.1, chinese, **judged)
    assert relevance_of(0.8, 0.1, 0.1, chinese, needs_words=True, **judged) == alone


def test_what_the_own_language_answers_is_not_joined_by_chance_finds_of_the_other():
    own, other, shares = (Candidate(n, "s", n, relevance=0.9, coverage=c) for n, c in ((1, 0.5), (2, 0.0), (3, 0.2)))
    places = {"chunk_id": "", "document_id": "", "document": "", "heading_path": "", "position": 0}
    spans = {"start": 0, "end": 0, "page_start": 1, "page_end": 1}
    contents = {1: "自助法是一种抽样方法", 2: "Retrieval comes before the answer", 3: "HyDE writes an answer first"}
    passages = {n: Passage(id=n, content=content, **places, **spans) for n, content in contents.items()}
    m11._prefer_own_language([own, other, shares], passages, "zh")
    assert (own.relevance, shares.relevance) == (0.9, 0.9) and other.relevance == pytest.approx(0.09)
    own.relevance, other.relevance = 0.2, 0.9  # nothing of its own: the other language may answer
    m11._prefer_own_language([own, other], passages, "zh")
    assert other.relevance == 0.9
