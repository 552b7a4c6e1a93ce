"""The entity graph forgets with its texts: infrastructure/graph.py."""

from importlib import import_module

import pytest

m09 = import_module("09_memory_system")


@pytest.fixture
def knowledge(tmp_path):
    memory = m09.SemanticMemory(tmp_path)
    yield memory
    memory.close()


def spellings(knowledge):
    return {(entity.name, *entity.aliases) for entity in knowledge.search_entities()}


def test_a_spelling_that_stood_only_in_a_removed_text_goes_with_it(knowledge):
    gone = knowledge.add("RAG（秘密代号）减少幻觉")
    knowledge.add("RAG uses search")
    knowledge.remove(gone)
    assert spellings(knowledge) == {("RAG",)}


def test_an_entity_whose_first_name_is_gone_takes_the_one_that_is_left(knowledge):
    gone = knowledge.add("秘密代号（RAG）减少幻觉")
    knowledge.add("RAG uses search")
    knowledge.remove(gone)
    assert spellings(knowledge) == {("RAG",)}
    assert knowledge.graph.relations() == []


def test_a_name_that_another_text_still_uses_stays(knowledge):
    gone = knowledge.add("检索增强生成（RAG）减少幻觉")
    knowledge.add("检索增强生成结合BM25")
    knowledge.add("RAG uses search")
    knowledge.remove(gone)
    assert ("检索增强生成", "RAG") in spellings(knowledge)


@pytest.mark.parametrize("how", ["remove", "clear", "update"])
def test_an_entity_nobody_speaks_of_any_more_is_gone(knowledge, how):
    memory_id = knowledge.add("ChromaDB stores vectors.", session_id="s")
    if how == "remove":
        knowledge.remove(memory_id)
    elif how == "clear":
        knowledge.clear("s")
    else:
        knowledge.update(memory_id, content="it stores vectors")
    assert knowledge.search_entities() == []


def test_adding_does_not_slow_down_with_the_number_of_entities(knowledge, monkeypatch):
    """A new text has nothing to forget, so nothing may be scanned."""
    knowledge.add("ChromaDB stores vectors.")
    looked_at = []
    monkeypatch.setattr(knowledge.graph, "_texts_of", lambda *args, **kwargs: looked_at.append(args))
    knowledge.add("BM25 ranks words.")
    assert looked_at == []


def test_a_quoted_sentence_is_no_entity(knowledge):
    knowledge.add("问了「RAG 系统怎么评估？」")
    assert all("？" not in entity.name for entity in knowledge.search_entities())


# ---- Names ----


def related(knowledge, name, hops=1):
    return [(entity.name, distance) for entity, distance in knowledge.get_related_entities(name, hops)]


def named(knowledge, text):
    return set(knowledge.graph.names_in(text).values())


@pytest.mark.parametrize("text", ["what is bm25?", "ＢＭ２５是什么", "用BM25检索", "(BM25)"])
def test_a_name_is_recognised_in_any_spelling(knowledge, text):
    knowledge.add("BM25 ranks words")
    assert named(knowledge, text) == {"BM25"}


@pytest.mark.parametrize("text", ["the storage is full", "fragment", "drag and drop"])
def test_a_name_inside_another_word_is_not_recognised(knowledge, text):
    knowledge.add("RAG uses search")
    assert named(knowledge, text) == set()


def test_an_alias_leads_to_the_same_entity(knowledge):
    knowledge.add("检索增强生成（RAG）减少幻觉")
    assert named(knowledge, "RAG 好用吗") == named(knowledge, "检索增强生成好用吗") == {"检索增强生成"}
    assert knowledge.graph.counts()["entities"] == len(knowledge.search_entities())


def test_a_gloss_told_later_makes_two_entities_one(knowledge):
    knowledge.add("RAG uses BM25")
    knowledge.add("检索增强生成减少幻觉")
    assert len(named(knowledge, "RAG 和检索增强生成")) == 2
    knowledge.add("检索增强生成（RAG）很好")
    assert named(knowledge, "RAG 和检索增强生成") == {"检索增强生成"}
    assert ("BM25", 1) in related(knowledge, "检索增强生成")


def test_a_thing_is_not_related_to_itself_under_another_name(knowledge):
    knowledge.add("RAG 是检索增强生成")
    knowledge.add("检索增强生成（RAG）很好")
    assert all(relation.subject != relation.object for relation in knowledge.graph.relations())


def test_a_long_text_is_looked_up_in_bounded_time(knowledge, monkeypatch):
    knowledge.add("BM25 ranks words")
    asked = []
    select_in = knowledge.storage.select_in
    monkeypatch.setattr(
        knowledge.storage, "select_in", lambda sql, values: asked.extend(values) or select_in(sql, values)
    )
    assert named(knowledge, "BM25 " + "检索增强生成的幻觉" * 10_000) == {"BM25"}
    assert len(asked) < 25_000


# ---- Search and paths ----


def test_entities_are_searched_by_the_beginning_of_any_spelling(knowledge):
    knowledge.add("检索增强生成（RAG）减少幻觉")
    knowledge.add("RAGAS measures faithfulness")
    assert {entity.name for entity in knowledge.search_entities("rag")} == {"检索增强生成", "RAGAS"}
    assert knowledge.search_entities("ag") == []


def test_the_most_mentioned_entity_comes_first(knowledge):
    for content in ("BM25 ranks words", "BM25 and HyDE", "HyDE uses BM25"):
        knowledge.add(content)
    assert [entity.name for entity in knowledge.search_entities()] == ["BM25", "HyDE"]
    assert [entity.name for entity in knowledge.search_entities(limit=1)] == ["BM25"]


def test_paths_end_after_so_many_hops_and_never_come_back(knowledge):
    for content in ("AAA1 uses BBB2", "BBB2 uses CCC3", "CCC3 uses AAA1", "CCC3 uses DDD4"):
        knowledge.add(content)
    assert related(knowledge, "AAA1") == [("BBB2", 1), ("CCC3", 1)]
    assert related(knowledge, "AAA1", hops=5) == [("BBB2", 1), ("CCC3", 1), ("DDD4", 2)]
    assert related(knowledge, "AAA1", hops=0) == []


def test_a_text_matches_by_how_many_named_entities_it_speaks_of(knowledge):
    knowledge.add("BM25 and HyDE")
    knowledge.add("BM25 ranks words")
    assert sorted(knowledge.graph.match("HyDE or BM25?").values()) == [1, 2]


# ---- Export ----


def test_graphml_holds_every_entity_and_relation_and_is_well_formed(knowledge):
    from xml.etree import ElementTree

    memory_id = knowledge.add('混合检索 <&"> 结合BM25')
    knowledge.add("混合检索结合BM25")
    root = ElementTree.fromstring(knowledge.export_knowledge_graph("graphml"))
    tags = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert tags.count("node") == knowledge.graph.counts()["entities"]
    assert tags.count("edge") == knowledge.graph.counts()["relations"] >= 1
    assert memory_id


def test_jsonld_names_the_memory_that_says_so(knowledge):
    import json

    memory_id = knowledge.add("混合检索结合BM25")
    graph = json.loads(knowledge.export_knowledge_graph())["@graph"]
    (statement,) = [node for node in graph if node["@type"] == "Statement"]
    assert (statement["predicate"], statement["isBasedOn"]) == ("combines", memory_id)


def test_an_unknown_form_of_export_is_an_error(knowledge):
    with pytest.raises(ValueError, match="jsonld or graphml"):
        knowledge.export_knowledge_graph("csv")
