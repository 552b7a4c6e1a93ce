"""Our memory under the interfaces of other frameworks."""

import asyncio
import doctest
from importlib import import_module
from types import SimpleNamespace

import pytest
from memory_contract import ASKED, SAID, MemoryContract
from support import HashEmbedder

from infrastructure import adapters
from infrastructure.adapters import AsyncMemory, ConversationMemory, NullMemory
from infrastructure.storage import Storage

m12 = import_module("12_memory_enhanced_rag")


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(adapters).failed == 0


@pytest.fixture
def rag(storage):
    return m12.MemoryRAG(storage)


class TestNullMemory(MemoryContract):
    remembers = False

    def make(self, folder):
        return NullMemory()


class TestConversationMemory(MemoryContract):
    @pytest.fixture(autouse=True)
    def homes(self):
        self.opened = []
        yield
        for storage in self.opened:
            storage.close()

    def make(self, folder):
        self.opened.append(Storage(folder, embedder=self.embedder()))
        return ConversationMemory(m12.MemoryRAG(self.opened[-1]))

    def embedder(self):
        return None


class TestConversationMemoryWithVectors(TestConversationMemory):
    def embedder(self):
        return HashEmbedder()


# ---- ingest ----


def test_a_message_keeps_its_session_its_day_and_who_said_it(rag):
    session = SimpleNamespace(session_id="s7", date_str="1:56 pm on 8 May, 2023")
    ConversationMemory(rag).ingest(SimpleNamespace(role="assistant", content="Your exam was moved."), session)
    (item,) = rag.episodic.list()
    assert (item.session_id, item.source, item.valid_from.date().isoformat()) == ("s7", "model", "2023-05-08")


@pytest.mark.parametrize("content", ["", "ok, thanks!", "[M1] (semantic) likes tea", "my password is hunter22", None])
def test_what_the_gate_refuses_is_not_kept(rag, content):
    ConversationMemory(rag).ingest({"role": "user", "content": content})
    assert rag.episodic.size() == 0


def test_a_reset_leaves_the_documents(rag):
    import_module("11_unified_retrieval").shelve(rag.library, [("Tea", "Tea is a hot drink.")])
    rag.add_knowledge("I like tea.")
    ConversationMemory(rag).reset()
    assert rag.semantic.size() == 0 and len(rag.library.documents()) == 1


# ---- AsyncMemory ----


def test_an_agent_gets_what_is_remembered_before_its_own_messages(rag):
    memory = AsyncMemory(rag)
    asyncio.run(
        memory.add_messages([{"role": "user", "content": SAID}, {"role": "assistant", "content": "A fine name."}])
    )
    first, second = asyncio.run(memory.retrieval_update([{"role": "user", "content": ASKED}]))
    assert first["role"] == "user" and "Biscuit" in first["content"] and second["content"] == ASKED


def test_nothing_remembered_leaves_the_messages_as_they_are(rag):
    messages = [{"role": "system", "content": "You are a helpful assistant."}]
    assert asyncio.run(AsyncMemory(rag).retrieval_update(messages)) == messages
    assert asyncio.run(AsyncMemory(rag).retrieval_update([])) == []


def test_the_framework_says_what_a_message_is(rag):
    memory = AsyncMemory(rag, make_message=lambda text: SimpleNamespace(role="user", content=text))
    asyncio.run(memory.add_messages([SimpleNamespace(role="user", content=SAID)]))
    first, _ = asyncio.run(memory.retrieval_update([SimpleNamespace(role="user", content=ASKED)]))
    assert "Biscuit" in first.content


def test_a_context_handed_over_again_is_not_doubled_and_recalled_text_does_not_come_back_as_memory(rag):
    memory = AsyncMemory(rag)
    messages = [{"role": "user", "content": SAID}]
    for _ in range(3):
        messages = asyncio.run(memory.retrieval_update([*messages, {"role": "user", "content": ASKED}]))
        asyncio.run(memory.add_messages(messages))
    assert sorted(item.content for item in rag.episodic.list()) == [SAID, ASKED]


def test_clear_forgets(rag):
    memory = AsyncMemory(rag)
    asyncio.run(memory.add_messages([SAID]))
    asyncio.run(memory.clear())
    assert rag.episodic.size() == 0
