import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import HashEmbedder

from infrastructure import ranking
from infrastructure.calibration import RELEVANT
from infrastructure.fusion import Weights
from infrastructure.ranking import CLOSE, Seen, Terms, hybrid_search, judge
from infrastructure.shelves import Text


@pytest.fixture
def embedder():
    return HashEmbedder()


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


def test_words_that_stand_together_say_more_than_the_same_words_apart():
    terms = Terms(("red", "apple"), np.array([1.0, 3.0]))
    assert close(terms, ["red", "apple", "pie"]) == 1.0
    assert close(terms, ["apple", *["x"] * CLOSE, "red"]) == 0.75
    assert close(terms, ["red", *["x"] * (CLOSE - 2), "apple"]) == 1.0
    assert close(terms, ["pie"]) == close(terms, []) == close(Terms((), np.array([])), ["pie"]) == 0.0


def close(terms, *texts):
    """How close the words stand; of several texts, all of them in a list."""
    found = terms.close(Seen.in_texts(texts, terms.query), texts).tolist()
    return found if len(texts) > 1 else found[0]


@given(st.lists(st.lists(st.sampled_from(["red", "apple", "pie", *"xyz"]), max_size=3 * CLOSE), min_size=2, max_size=8))
def test_how_close_words_stand_is_the_best_of_all_stretches_of_that_many_words(texts):
    rarity = {"red": 1.0, "apple": 3.0, "pie": 0.5}

    def best(text):
        stretches = [set(text[start : start + CLOSE]) for start in range(len(text))]
        return max((sum(rarity[word] for word in rarity.keys() & near) for near in stretches), default=0.0) / 4.5

    terms = Terms(tuple(rarity), np.array(list(rarity.values())))
    assert close(terms, *texts) == pytest.approx([best(text) for text in texts])


def test_a_passage_with_the_words_in_one_sentence_comes_before_one_that_scatters_them(storage):
    filler = " ".join(f"filler{n}" for n in range(60))
    add(storage, f"apples {filler} sour", f"sour apples {filler}", scope="a")
    storage.settle(chroma=False)
    assert search(storage, "sour apples", weights=Weights(close=1.0))[0].startswith("sour apples")


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


def test_a_search_among_some_finds_what_a_search_among_all_would_leave_of_them(storage):
    ids = add(storage, *(f"apple {'pie ' * (n % 7)}number{n}" for n in range(40)))
    storage.settle(chroma=False)
    vector = storage.embed_query("apple pie number7")
    alone = Weights(words=0.0, reach=0)  # by one signal the order of two texts does not depend on who else is there
    everything = hybrid_search(storage, "chunk", "apple pie number7", limit=40, vector=vector, weights=alone)
    some = frozenset(ids[::3])
    found = hybrid_search(storage, "chunk", "apple pie number7", limit=40, vector=vector, weights=alone, only=some)
    assert [candidate.id for candidate in found] == [candidate.id for candidate in everything if candidate.id in some]


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


def test_a_word_alone_across_languages_must_be_as_near_as_a_note(storage, monkeypatch):
    add(storage, "混合检索结合词语和向量")
    storage.settle(chroma=False)
    judged = []
    monkeypatch.setattr(ranking, "relevance_of", lambda *_, is_short, **__: judged.append(is_short) or 0.0)
    search(storage, "xyzzy")
    search(storage, "xyzzy in retrieval")
    assert judged == [True, False]
