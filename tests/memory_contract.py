"""The five clauses that a memory of conversations must keep, for any class: subclass and say how one is made.

class TestMine(MemoryContract):
    def make(self, folder): return MyMemory(folder)
"""

import pytest

SAID = "My dog is called Biscuit."
ASKED = "What is my dog called?"


class MemoryContract:
    remembers = True  # NullMemory does not

    def make(self, folder):
        raise NotImplementedError

    @pytest.fixture
    def memory(self, tmp_path):
        return self.make(tmp_path / "one")

    def test_an_empty_query_gives_a_string(self, memory):
        assert memory.retrieve("") == ""
        memory.ingest(SAID)
        assert isinstance(memory.retrieve(""), str) and isinstance(memory.retrieve("  \n"), str)

    def test_after_a_reset_nothing_is_retrieved(self, memory):
        for number in range(3):
            memory.ingest(f"{SAID} I told you {number + 2} times.", "monday")
        memory.reset()
        assert memory.retrieve(ASKED) == ""

    def test_after_a_reset_it_learns_again(self, memory):
        memory.ingest("My cat is called Pepper.")
        memory.reset()
        memory.ingest(SAID)
        assert ("Biscuit" in memory.retrieve(ASKED)) is self.remembers

    def test_instances_share_nothing(self, memory, tmp_path):
        memory.ingest(SAID)
        assert self.make(tmp_path / "two").retrieve(ASKED) == ""

    def test_what_is_retrieved_is_always_a_string(self, memory):
        memory.ingest(SAID)
        assert all(type(memory.retrieve(query)) is str for query in (ASKED, "量子纠缠", "🙂", "?", '"; DROP TABLE'))
