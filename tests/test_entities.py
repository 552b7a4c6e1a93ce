import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.entities import extract_entities, extract_relations


def names(text):
    return [entity.name for entity in extract_entities(text)]


def triples(text):
    return [(r.subject, r.predicate, r.object) for r in extract_relations(text, extract_entities(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("混合检索结合BM25和向量检索", ["混合检索", "BM25", "向量检索"]),
        ("We compared BM25, ChromaDB and Cross-Encoder.", ["BM25", "ChromaDB", "Cross-Encoder"]),
        ("learn C++ before GPT-4", ["C++", "GPT-4"]),
        ("HyDE is a method that searches with an answer", ["HyDE"]),
        ("这叫「候选池」", ["这叫", "候选池"][1:]),
        ("we met Alice in Paris", ["Alice", "Paris"]),
        ("nothing to see here", []),
        ("", []),
    ],
)
def test_terms_are_found_in_order(text, expected):
    assert [name for name in names(text) if name in expected] == expected
    assert expected or names(text) == []


def test_rag_is_not_found_in_storage():
    assert "RAG" not in names("The STORAGE and the storage are full of fragments")


def test_a_term_is_found_inside_an_unspaced_sentence():
    assert "ChromaDB" in names("我们使用ChromaDB保存向量")


@pytest.mark.parametrize("text", ["检索增强生成（RAG）减少幻觉", "检索增强生成(RAG)减少幻觉"])
def test_a_gloss_is_another_name(text):
    assert extract_entities(text)[0].name == "检索增强生成"
    assert extract_entities(text)[0].aliases == ("RAG",)


def test_an_equation_is_another_name():
    assert extract_entities("RAG = Retrieval Augmented Generation")[0].aliases == ("Retrieval Augmented Generation",)


@pytest.mark.parametrize(
    "text",
    [
        "今天天气很好所以我们决定一起去公园散步然后回家做饭吃饭睡觉",
        "this is a long sentence about nothing in particular and it goes on and on",
        "“这是一句完整的话，不是一个术语，所以不应该整个成为实体。”",
    ],
)
def test_a_whole_sentence_is_no_entity(text):
    assert all(len(name) <= 12 for name in names(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("混合检索结合BM25", ("混合检索", "combines", "BM25")),
        ("ChromaDB uses HNSW", ("ChromaDB", "uses", "HNSW")),
        ("RAGAS 基于 LLM", ("RAGAS", "depends on", "LLM")),
    ],
)
def test_a_verb_between_two_terms_is_a_relation(text, expected):
    assert triples(text) == [expected]


def test_no_relation_reaches_across_sentences():
    assert triples("We like BM25. It uses words. ChromaDB is fast.") == []


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_names_that_stand_in_it(text):
    entities = extract_entities(text)
    for entity in entities:
        assert len(entity.name) >= 2
        assert entity.name in text
    extract_relations(text, entities)
