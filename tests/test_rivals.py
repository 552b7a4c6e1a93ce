"""Every system finds what it should in a corpus small enough to see through, behind one interface."""

import doctest
import sys
from types import ModuleType, SimpleNamespace

import pytest
from data.make_pdfs import make_pdf
from support import HashEmbedder

from benchmarks import rivals
from benchmarks.readers import Corpus, Item, Question
from benchmarks.rivals import (
    DenseOnly,
    FullHistory,
    Nothing,
    OurDocuments,
    OurMemory,
    RankFusion,
    WordsOnly,
    ablations,
    baselines,
    fuse_ranks,
    others,
    ours,
)

ITEMS = (
    Item("1", "Ann: I adopted a puppy called Biscuit.", "monday"),
    Item("2", "Ben: The train to Leeds was late again.", "monday"),
    Item("3", "Ann: Quantum chess is harder than it looks.", "tuesday"),
    Item("4", "Ann: I adopted a puppy called Biscuit.", "tuesday"),
)
PUPPY = Question("q1", "What is the puppy called?", frozenset(["1"]), "single-hop")
TALK = Corpus("talk", "turns", ITEMS, (PUPPY, Question("q2", "Which train was late?", frozenset(["2"]), "temporal")))
TEXTS = Corpus("texts", "paragraphs", ITEMS[:3], TALK.questions)


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(rivals).failed == 0


@pytest.mark.parametrize(
    "system",
    [
        lambda: OurMemory(HashEmbedder()),
        lambda: OurMemory(None),
        lambda: OurMemory(HashEmbedder(), "article"),
        lambda: WordsOnly(),
        lambda: DenseOnly(HashEmbedder(256)),
        lambda: RankFusion(HashEmbedder(256)),
        *(lambda number=number: ablations(HashEmbedder())[number] for number in range(8)),
    ],
)
def test_a_system_ranks_the_evidence_first_and_serves_one_corpus_after_another(system):
    system = system()
    for _ in range(2):
        system.index(TALK)
        assert [system.rank(question)[0] in ("1", "4", "2") for question in TALK.questions] == [True, True]
        assert system.rank(TALK.questions[1])[0] == "2"
    system.close()


def test_a_turn_that_was_said_twice_is_found_in_both_places():
    system = OurMemory(None)
    system.index(TALK)
    assert {"1", "4"} <= set(system.rank(PUPPY))
    system.close()


def test_words_that_nothing_has_rank_nothing():
    words = WordsOnly()
    words.index(TALK)
    assert words.rank(Question("q", "zeppelin", frozenset("1"), "")) == []


def test_fusion_adds_the_reciprocal_ranks():
    """b: 1/62 + 1/61 is more than a's 1/61 + 1/63 and c's 1/63 + 1/62."""
    assert fuse_ranks([["a", "b", "c"], ["b", "c", "a"]]) == ["b", "a", "c"]


def test_full_history_reads_everything_and_no_memory_nothing():
    for system, expected in ((FullHistory(), ["1", "2", "3", "4"]), (Nothing(), [])):
        system.index(TALK)
        assert system.rank(PUPPY) == expected


def test_paragraphs_and_pages_are_documents_of_the_assistant(tmp_path):
    system = OurDocuments(None)
    system.index(TEXTS)
    assert system.rank(PUPPY)[0] == "1"
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf([item.text for item in ITEMS[:3]]))
    system.index(Corpus("a.pdf", "pages", TEXTS.items, TEXTS.questions, path))
    assert system.rank(TALK.questions[1])[0] == "2"
    system.close()


def test_without_an_embedder_only_what_needs_none_is_compared():
    names = [type(system).__name__ for system in baselines(None, "turns")]
    assert names == ["OurMemory", "WordsOnly", "FullHistory", "Nothing"]
    assert [type(ours(None, kind)) for kind in ("turns", "pages")] == [OurMemory, OurDocuments]


def test_an_absent_library_is_left_out_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda name: None)
    there, absent = others(HashEmbedder())
    assert not there and all("pip install" in sentence for sentence in absent) and len(absent) == 2


def test_a_library_that_needs_vectors_is_left_out_without_an_embedder(monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda name: object())
    there, absent = others(None)
    assert not there and all("needs an embedder" in sentence for sentence in absent)


def test_mem0_gets_each_text_word_for_word_with_our_vectors(monkeypatch):
    """A stand-in with mem0's methods: the real one is compared by hand, it is too heavy for a test."""
    from benchmarks.mem0_system import Mem0

    kept = []

    class Memory:
        @classmethod
        def from_config(cls, config):
            assert config["vector_store"]["config"]["embedding_model_dims"] == 64
            return cls()

        def add(self, text, *, user_id, metadata, infer):
            assert infer is False and self.embedding_model.embed(text, "add")
            kept.append((text, metadata["item"]))

        def search(self, query, *, filters, top_k, threshold):
            assert filters == {"user_id": "learner"} and len(self.embedding_model.embed(query, "search")) == 64
            return {"results": [{"metadata": {"item": item}} for text, item in kept if "puppy" in text]}

    fake = ModuleType("mem0")
    fake.Memory = Memory
    monkeypatch.setitem(sys.modules, "mem0", fake)
    system = Mem0(HashEmbedder())
    system.index(TALK)
    assert system.rank(PUPPY) == ["1", "4"] and len(kept) == 4
    system.close()


def test_txtai_gets_our_vectors_for_its_hybrid_index(monkeypatch):
    made = SimpleNamespace()

    class Embeddings:
        def __init__(self, **options):
            made.options = options

        def index(self, rows):
            made.rows = list(rows)

        def search(self, query, limit):
            assert made.options["transform"]([query]).shape == (1, 64)
            assert made.options["transform"]([text for _, text in made.rows]).shape == (4, 64)
            return [("1", 0.9)]

    fake = ModuleType("txtai")
    fake.Embeddings = Embeddings
    monkeypatch.setitem(sys.modules, "txtai", fake)
    system = rivals.Txtai(HashEmbedder())
    system.index(TALK)
    assert system.rank(PUPPY) == ["1"] and made.options["hybrid"] is True
