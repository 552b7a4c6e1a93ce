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
