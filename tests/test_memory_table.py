from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import HashEmbedder

from infrastructure.storage import Storage

m09 = import_module("09_memory_system")

MAY_1 = datetime(2026, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)

# Everything JSON can hold; surrogates are halves of characters, as a broken export may contain them.
any_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def embedder():
    return HashEmbedder()


def contents(items):
    return [item.content for item in items]


def a_week(diary):
    """Seven events of May, one a day, importance 0.1 to 0.7, in two sessions."""
    for day in range(1, 8):
        session = "odd" if day % 2 else "even"
        diary.add(f"event {day}", day / 10, session, occurred_at=MAY_1 + (day - 1) * DAY)


# ---- Reading ----


def test_what_is_read_back_equals_what_was_written(storage, diary):
    item = m09.MemoryItem(
        "考试在周五",
        "episodic",
        importance=0.7,
        timestamp=MAY_1,
        metadata={"chapter": 3},
        access_count=2,
        session_id="s1",
        occurred_at=MAY_1 - DAY,
        last_accessed=MAY_1 + DAY,
        source="document",
        pinned=True,
        mentions=4,
        valid_until=MAY_1 + 2 * DAY,
        derived_from=["a", "b"],
    )
    diary.add_many([item])
    assert diary.get(item.memory_id) == item


@settings(max_examples=60)
@given(st.dictionaries(st.text(), any_json, max_size=4))
def test_metadata_of_any_json_comes_back(tmp_path_factory, metadata):
    with Storage(tmp_path_factory.mktemp("home")) as storage:
        (memory_id,) = m09.EpisodicMemory(storage).add_many([m09.MemoryItem("x", metadata=metadata)])
        assert m09.EpisodicMemory(storage).get(memory_id).metadata == metadata


def test_metadata_that_json_cannot_hold_is_refused_and_nothing_is_written(diary):
    with pytest.raises(TypeError):
        diary.add("event", when=MAY_1)
    assert diary.size() == 0


def test_one_kind_of_memory_does_not_see_the_other(diary, handbook):
    event, fact = diary.add("BM25 in class"), handbook.add("BM25 ranks words")
    assert (diary.get(fact), handbook.has_memory(event)) == (None, False)
    assert (diary.remove(fact), handbook.archive(event), diary.update(fact, importance=1.0)) == (False, False, False)
    assert contents(diary.list()) == ["BM25 in class"]


def test_a_list_is_in_the_order_of_events_page_by_page(diary):
    a_week(diary)
    assert contents(diary.list(limit=3)) == ["event 1", "event 2", "event 3"]
    assert contents(diary.list(limit=3, offset=5)) == ["event 6", "event 7"]
    assert len(diary.list(limit=-1)) == 7


@pytest.mark.parametrize(
    ("chosen", "days"),
    [
        ({"session_id": "even"}, [2, 4, 6]),
        ({"session_id": "eve"}, []),
        ({"session_id": "EVEN"}, []),
        ({"since": MAY_1 + DAY, "until": MAY_1 + 3 * DAY}, [2, 3]),
        ({"min_importance": 0.6}, [6, 7]),
        ({"session_id": "odd", "min_importance": 0.3, "until": MAY_1 + 6 * DAY}, [3, 5]),
        ({"status": "archived"}, [1]),
        ({"status": None}, [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_filters_are_exact_in_lists_and_in_searches(diary, chosen, days):
    a_week(diary)
    for item in diary.list(until=MAY_1 + DAY):
        diary.archive(item.memory_id)
    expected = [f"event {day}" for day in days if day > 1 or chosen.get("status", "active") != "active"]
    assert contents(diary.list(**chosen)) == expected
    if chosen.get("status", "active") is not None:
        hits = diary.retrieve("event", 10, min_relevance=0, **chosen)
        assert sorted(hit.item.content for hit in hits) == expected


def test_an_unknown_filter_is_an_error(diary):
    with pytest.raises(TypeError):
        diary.list(sesion_id="s1")
    with pytest.raises(TypeError):
        diary.retrieve("event", sesion_id="s1")


def test_stats_are_the_same_after_a_restart(tmp_path, storage, diary):
    a_week(diary)
    diary.archive(diary.list()[0].memory_id)
    before = diary.get_stats()
    assert (before["count"], before["archived"], before["mean_importance"]) == (6, 1, pytest.approx(0.45))
    with Storage(tmp_path / "home") as again:
        assert m09.EpisodicMemory(again).get_stats() == before


def test_size_counts_active_memories_of_one_session_or_all(diary):
    a_week(diary)
    assert (diary.size(), diary.size("even"), diary.size("nobody")) == (7, 3, 0)


def test_an_export_holds_every_memory_with_every_field(diary):
    kept, archived = diary.add("kept", chapter=3), diary.add("put away")
    diary.archive(archived)
    rows = {row["memory_id"]: row for row in diary.export()}
    assert (rows[kept]["content"], rows[kept]["metadata"]) == ("kept", '{"chapter": 3}')
    assert rows[archived]["status"] == "archived"


# ---- Changing ----


def test_an_update_changes_what_is_given_and_keeps_the_rest(diary):
    memory_id = diary.add("red apple", 0.4, chapter=3)
    before = diary.get(memory_id)
    assert diary.update(memory_id, content="green pear", metadata={"page": 7})
    after = diary.get(memory_id)
    assert (after.content, after.metadata) == ("green pear", {"chapter": 3, "page": 7})
    assert (after.importance, after.timestamp, after.session_id) == (before.importance, before.timestamp, "default")
    assert (diary.retrieve("apple"), contents(hit.item for hit in diary.retrieve("pear"))) == ([], ["green pear"])


def test_an_updated_text_is_known_when_it_is_said_again(diary):
    memory_id = diary.add("red apple")
    diary.update(memory_id, content="green pear")
    assert diary.add("green pear") == memory_id
    assert diary.add("red apple") != memory_id


def test_updating_an_unknown_memory_is_false(diary):
    assert not diary.update("nobody", content="x")


def test_an_update_that_fails_changes_nothing(diary):
    memory_id = diary.add("red apple")
    with pytest.raises(ValueError, match="needs some text"):
        diary.update(memory_id, content="  ", importance=1.0)
    assert diary.get(memory_id).importance == 0.5


def test_an_archived_memory_is_not_found_until_it_is_restored(diary):
    memory_id = diary.add("red apple")
    assert diary.archive(memory_id)
    assert not diary.archive(memory_id)
    assert (diary.retrieve("red apple"), diary.list(), diary.get(memory_id).status) == ([], [], "archived")
    assert diary.restore(memory_id)
    assert not diary.restore(memory_id)
    assert contents(hit.item for hit in diary.retrieve("red apple")) == ["red apple"]


def test_a_removed_memory_is_gone_from_everything(storage, diary):
    memory_id = diary.add("red apple")
    storage.settle()
    assert diary.remove(memory_id)
    assert not diary.remove(memory_id)
    assert (diary.get(memory_id), diary.list(), diary.retrieve("red apple", min_relevance=0)) == (None, [], [])
    assert not storage.settle()
    assert storage.verify().ok


def test_clearing_takes_one_session_and_whatever_its_status(diary):
    a_week(diary)
    diary.archive(diary.list(session_id="even")[0].memory_id)
    assert diary.clear("even") == 3
    assert (diary.size("odd"), diary.list(session_id="even", status=None)) == (4, [])


def test_an_empty_scope_is_refused_not_taken_for_all(diary):
    diary.add("red apple")
    with pytest.raises(ValueError, match="which session"):
        diary.clear("")
    assert diary.size() == 1


def test_a_use_is_counted_where_it_happened_and_reading_counts_nothing(diary):
    used, read = diary.add("red apple"), diary.add("green pear")
    diary.mark_used([used])
    for _ in range(3):
        diary.get(read), diary.list(), diary.retrieve("pear")
    assert (diary.get(used).access_count, diary.get(read).access_count) == (1, 0)
    assert diary.get(used).last_accessed == datetime(2026, 5, 8, 9, tzinfo=UTC)


def test_changes_that_belong_together_are_all_or_nothing(diary):
    kept = diary.add("kept")
    with pytest.raises(ZeroDivisionError), diary.transaction():
        diary.add("lost")
        diary.archive(kept)
        1 / 0  # noqa: B018
    assert contents(diary.list()) == ["kept"]
