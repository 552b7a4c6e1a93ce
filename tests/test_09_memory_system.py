import math
from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import HashEmbedder

from infrastructure.storage import Storage
from infrastructure.text import repair

m09 = import_module("09_memory_system")

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
shares = st.floats(0, 1)
ages = st.timedeltas(timedelta(days=-400), timedelta(days=40_000))
any_text = st.text(st.characters(exclude_categories=()))


@pytest.fixture
def embedder():
    return HashEmbedder()


@pytest.fixture
def desk(clock):
    return m09.WorkingMemory(now=clock)


@pytest.fixture(params=["desk", "diary", "handbook"])
def memory(request):
    """Each of the three memories in turn."""
    return request.getfixturevalue(request.param)


def found(memory, query, **options):
    return [hit.item.content for hit in memory.retrieve(query, **options)]


# ---- §2.1 MemoryItem ----


def test_an_item_needs_only_its_content():
    item = m09.MemoryItem("hello")
    assert (item.memory_type, item.importance, item.session_id, item.access_count) == ("working", 0.5, "default", 0)
    assert item.occurred_at == item.timestamp
    assert len(item.memory_id) == 32


@pytest.mark.parametrize("content", ["", "  \n", "\x00", "\ud800"])
def test_an_item_without_text_is_refused(content):
    with pytest.raises(ValueError, match="needs some text"):
        m09.MemoryItem(content)


@pytest.mark.parametrize("field", [{"memory_type": "perceptual"}, {"source": "rumour"}])
def test_an_unknown_kind_or_source_is_refused(field):
    with pytest.raises(ValueError, match="is one of"):
        m09.MemoryItem("hello", **field)


def test_an_unknown_field_is_an_error():
    with pytest.raises(TypeError):
        m09.MemoryItem("hello", importence=1.0)


@pytest.mark.parametrize(("given_", "kept"), [(2, 1.0), (-1, 0.0), (math.nan, 0.5), (math.inf, 1.0), (0.3, 0.3)])
def test_importance_is_kept_between_0_and_1(given_, kept):
    assert m09.MemoryItem("hello", importance=given_).importance == kept


# ---- The article's formulas ----


@given(ages)
def test_decay_is_above_0_and_never_above_1(age):
    assert 0 < m09.decay(age, HOUR) <= 1


@given(ages, ages)
def test_what_is_newer_decays_no_more(a, b):
    assert (a <= b) <= (m09.decay(a, DAY) >= m09.decay(b, DAY))


def test_a_clock_that_runs_ahead_makes_nothing_stronger():
    assert m09.decay(-3 * DAY, DAY) == 1


def test_the_formulas_by_hand():
    assert m09.working_score(0.5, 0.4, HOUR, 0.5) == pytest.approx((0.7 * 0.5 + 0.3 * 0.4) * 0.5 * 1.0)
    assert m09.working_score(0.0, 0.4, timedelta(0), 1.0) == pytest.approx(0.4 * 1.2)
    assert m09.episodic_score(0.5, DAY, 0.0) == pytest.approx((0.8 * 0.5 + 0.2 * math.exp(-0.1)) * 0.8)
    assert m09.semantic_score(0.5, 1.0, 0.5) == pytest.approx(0.7 * 0.5 + 0.3)


SCORES = [
    lambda near, age, important: m09.working_score(near, near, age, important),
    m09.episodic_score,
    lambda near, age, important: m09.semantic_score(near, near, important),
    lambda near, age, important: near * m09.nudge(important, age, 0),
]


@pytest.mark.parametrize("score", SCORES)
@given(a=st.tuples(shares, ages, shares), b=st.tuples(shares, ages, shares))
def test_nearer_newer_and_more_important_never_scores_less(score, a, b):
    better = max(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2])
    assert score(*better) >= max(score(*a), score(*b)) - 1e-12


@given(shares, ages, st.integers(0, 10**9))
def test_the_nudge_is_at_most_ten_percent_either_way(importance, age, uses):
    assert 0.9 <= m09.nudge(importance, age, uses) <= 1.1


@given(shares, ages, st.integers(0, 1000))
def test_use_never_weighs_less(importance, age, uses):
    assert m09.nudge(importance, age, uses + 1) >= m09.nudge(importance, age, uses)


# ---- Importance by rule ----


@pytest.mark.parametrize(
    ("content", "importance"),
    [
        ("RAG uses search", 0.5),
        ("注意：必须先建索引", 0.7),
        ("Remember the exam", 0.7),
        ("a reminder", 0.5),
        ("x" * 101, 0.6),
        ("好的，谢谢！", 0.1),
        ("OK, thanks!", 0.1),
        ("ok, the index is built", 0.5),
        ("好的，考试改到周五", 0.5),
    ],
)
def test_importance_follows_from_the_text(content, importance):
    assert m09.rule_importance(content) == pytest.approx(importance)


# ---- What holds for all three memories ----


def test_a_memory_comes_back_by_its_id_and_can_be_removed(memory):
    memory_id = memory.add("BM25 ranks words")
    assert (memory.get(memory_id).content, memory.has_memory(memory_id)) == ("BM25 ranks words", True)
    assert memory.remove(memory_id)
    assert (memory.get(memory_id), memory.has_memory(memory_id), memory.remove(memory_id)) == (None, False, False)
    assert found(memory, "BM25") == []


def test_an_unrelated_query_finds_nothing(memory):
    memory.add("混合检索结合关键词和向量")
    memory.add("The exam takes place on Friday")
    assert found(memory, "量子纠缠") == found(memory, "photosynthesis of plants") == []


@pytest.mark.parametrize("query", ["", "   ", "？！", "\x00"])
def test_a_query_without_a_word_finds_nothing(memory, query):
    memory.add("混合检索")
    assert found(memory, query) == []


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("今天读完了幻觉那一章", "幻觉"),
        ("猫", "猫"),
        ("昨天重跑gen-itgc后通过了", "重跑gen-itgc后"),
        ("Москва — столица России", "Москва"),
        ("We met at the Café Bühler", "cafe buhler"),
        ("⽤⼾⼿册第三章", "用户手册"),
    ],
)
def test_a_word_of_any_script_is_found(memory, content, query):
    memory.add("一些别的事情")
    memory.add(content)
    assert found(memory, query)[:1] == [content]


def test_a_word_inside_another_word_is_not_found(memory):
    memory.add("The storage is full")
    assert found(memory, "RAG") == []


def test_memories_of_one_character_are_no_trouble(memory):
    for content in "猫狗鸟":
        memory.add(content)
    assert found(memory, "狗") == ["狗"]


def test_text_keeps_its_language_and_names(memory):
    memory_id = memory.add("张伟说：用 BM25！")
    assert memory.get(memory_id).content == "张伟说：用 BM25！"


@settings(max_examples=50)
@given(any_text)
def test_any_unicode_comes_back_repaired(tmp_path_factory, text):
    assume(repair(text).strip())
    with Storage(tmp_path_factory.mktemp("home")) as storage:
        for memory in (m09.EpisodicMemory(storage), m09.SemanticMemory(storage), m09.WorkingMemory()):
            assert memory.get(memory.add(text)).content == repair(text).strip()
            memory.retrieve(text)


def test_the_same_text_twice_is_one_memory_mentioned_twice(memory):
    first = memory.add("My favourite colour is blue.", 0.4)
    second = memory.add("my favorite color is blue", 0.6)
    assert first == second
    assert (memory.get(first).mentions, memory.get(first).importance, memory.size()) == (2, 0.6, 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
        ("The exam has 3 parts", "The exam has 4 parts"),
        ("He likes tea", "He does not like tea"),
        ("recall > 0.9", "recall < 0.9"),
    ],
)
def test_another_value_number_or_negation_is_another_memory(memory, first, second):
    assert memory.add(first) != memory.add(second)
    assert len(memory.list(status=None)) == 2


def test_five_ways_to_name_a_colour_are_one_memory_a_language(memory):
    for content in (
        "My favourite colour is blue.",
        "my favorite color is blue",
        "Blue is my favourite colour",
        "我最喜欢的颜色是蓝色",
        "我最喜欢的颜色是蓝色。",
    ):
        memory.add(content)
    assert memory.size() == 2


def test_every_hit_says_why(memory):
    memory.add("BM25 ranks words")
    (hit,) = memory.retrieve("BM25")
    assert 0 < hit.score <= 1
    assert all(isinstance(value, float | int) for value in hit.why.values())
    assert hit.why


def test_the_important_lunch_does_not_outrank_the_answer(memory):
    memory.add("Lunch with my advisor about the BM25 notes", 1.0)
    memory.add("BM25 combines term frequency and document length", 0.1)
    assert found(memory, "How does BM25 treat term frequency?")[0].startswith("BM25 combines")


def test_an_unknown_scoring_is_refused(memory):
    with pytest.raises(ValueError, match="scoring is one of bounded, article"):
        memory.retrieve("BM25", scoring="artikel")


def test_the_articles_scoring_can_be_chosen(memory):
    memory.add("BM25 ranks words", 1.0)
    (bounded,), (article,) = memory.retrieve("BM25"), memory.retrieve("BM25", scoring="article")
    assert bounded.item.memory_id == article.item.memory_id


def test_fifty_acknowledgements_are_one_memory_of_little_importance(memory):
    for _ in range(50):
        memory.add("好的，谢谢！")
    assert memory.size() == 1


# ---- §2.2 WorkingMemory ----


def test_the_desk_forgets_after_its_time(desk, clock):
    memory_id = desk.add("BM25 ranks words")
    clock.move(minutes=60)
    assert desk.has_memory(memory_id)
    clock.move(seconds=1)
    assert (desk.get(memory_id), desk.size(), desk.get_stats()["count"], desk.items()) == (None, 0, 0, [])
    assert desk.forgotten == 1


def test_saying_it_again_keeps_it_on_the_desk(desk, clock):
    memory_id = desk.add("BM25 ranks words")
    clock.move(minutes=50)
    desk.add("BM25 ranks words.")
    clock.move(minutes=50)
    assert desk.has_memory(memory_id)


def test_the_least_deserving_item_leaves_a_full_desk(clock):
    desk = m09.WorkingMemory(capacity=3, now=clock)
    for content, importance in (("first", 0.9), ("dull", 0.1), ("third", 0.5), ("fourth", 0.5)):
        desk.add(content, importance)
    assert [item.content for item in desk.items()] == ["first", "third", "fourth"]


def test_what_is_safe_in_long_term_memory_leaves_first(clock):
    desk = m09.WorkingMemory(capacity=2, now=clock)
    desk.add("written down", 0.9, consolidated=True)
    desk.add("only here", 0.5)
    desk.add("new", 0.5)
    assert [item.content for item in desk.items()] == ["only here", "new"]


def test_use_keeps_an_item_on_the_desk(clock):
    desk = m09.WorkingMemory(capacity=2, now=clock)
    used = desk.add("used", 0.5)
    desk.add("unused", 0.5)
    desk.mark_used([used])
    desk.add("new", 0.5)
    assert [item.content for item in desk.items()] == ["used", "new"]


def test_the_desk_has_room_for_so_many_tokens(clock):
    desk = m09.WorkingMemory(max_tokens=10, now=clock)
    desk.add("一二三四五六")
    clock.move(minutes=1)
    desk.add("七八九十甲乙")
    assert [item.content for item in desk.items()] == ["七八九十甲乙"]


def test_a_text_longer_than_the_desk_stays_alone(clock):
    desk = m09.WorkingMemory(max_tokens=3, now=clock)
    desk.add("一二三四五六")
    assert desk.size() == 1


def test_one_session_does_not_see_the_desk_of_another(desk):
    desk.add("apple of a", session_id="a")
    desk.add("apple of b", session_id="b")
    assert found(desk, "apple", session_id="a") == ["apple of a"]
    assert desk.get_context_summary(session_id="b") == "apple of b"
    assert [item.content for item in desk.get_recent(session_id="a") + desk.get_important(session_id="a")] == [
        "apple of a"
    ] * 2
    assert (desk.clear("a"), desk.size("a"), desk.size("b")) == (1, 0, 1)


def test_a_full_desk_evicts_only_from_its_own_session(clock):
    desk = m09.WorkingMemory(capacity=1, now=clock)
    desk.add("of a", 0.1, session_id="a")
    desk.add("of b", 0.5, session_id="b")
    desk.add("more of b", 0.5, session_id="b")
    assert (desk.size("a"), desk.size("b")) == (1, 1)


def test_recent_important_and_summary(desk, clock):
    for content, importance in (("one", 0.2), ("two", 0.9), ("three", 0.4)):
        desk.add(content, importance)
        clock.move(minutes=1)
    assert [item.content for item in desk.get_recent(2)] == ["three", "two"]
    assert [item.content for item in desk.get_important(1)] == ["two"]
    assert desk.get_context_summary(max_tokens=4) == "two\nthree"
    assert m09.WorkingMemory().get_context_summary() == ""


def test_what_was_said_longer_ago_scores_no_higher(desk, clock):
    desk.add("BM25 early")
    clock.move(minutes=30)
    desk.add("BM25 later")
    for scoring in ("bounded", "article"):
        assert found(desk, "BM25", scoring=scoring) == ["BM25 later", "BM25 early"]


def test_many_threads_may_use_the_desk(clock):
    from threading import Thread

    desk, errors = m09.WorkingMemory(capacity=20, now=clock), []

    def work(number):
        try:
            for step in range(60):
                desk.add(f"thread {number} step {step}", session_id=f"s{step % 3}")
                desk.retrieve("step", session_id=f"s{step % 3}")
                desk.get_stats()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (errors, desk.size()) == ([], 60)


# ---- What the two stored memories have in common ----


@pytest.fixture(params=["diary", "handbook"])
def stored(request):
    return request.getfixturevalue(request.param)


def test_a_memory_is_there_after_a_restart(tmp_path, clock):
    with Storage(tmp_path, now=clock) as storage:
        memory_id = m09.EpisodicMemory(storage).add("读完第三章", chapter=3)
        before = m09.EpisodicMemory(storage).get(memory_id)
    with Storage(tmp_path, now=clock) as storage:
        assert m09.EpisodicMemory(storage).get(memory_id) == before
        assert found(m09.EpisodicMemory(storage), "第三章") == ["读完第三章"]


def test_a_memory_may_open_a_folder_of_its_own(tmp_path):
    diary = m09.EpisodicMemory(tmp_path / "home")
    diary.add("red apple")
    diary.close()
    again = m09.EpisodicMemory(tmp_path / "home")
    assert found(again, "apple") == ["red apple"]
    again.close()


def test_closing_a_memory_leaves_a_storage_that_others_use_open(storage, diary):
    diary.close()
    assert storage.count("episodic") == 0


def test_vectors_at_hand_are_not_made_again(storage, diary):
    contents = ["red apple", "green pear"]
    vectors = HashEmbedder().embed_passages(contents)
    diary.add_many([m09.MemoryItem(content) for content in contents], vectors=vectors)
    assert not storage.settle()
    assert storage.embedder.history == []


def test_repeats_within_one_batch_are_one_memory(stored):
    items = [m09.MemoryItem(content) for content in ("red apple", "green pear", "red apple.", "Red apple")]
    ids = stored.add_many(items)
    assert ids == [items[0].memory_id, items[1].memory_id, items[0].memory_id, items[0].memory_id]
    assert [stored.get(memory_id).mentions for memory_id in ids[:2]] == [3, 1]
    assert items[0].mentions == 1


def test_a_repeat_of_a_stored_memory_takes_none_of_the_vectors_of_the_others(storage, stored):
    stored.add("red apple")
    contents = ["red apple", "green pear"]
    stored.add_many([m09.MemoryItem(c) for c in contents], vectors=HashEmbedder().embed_passages(contents))
    assert not storage.settle()
    assert found(stored, "green pear") == ["green pear"]
    assert storage.verify().ok


def test_the_same_event_in_another_session_is_another_event(diary):
    assert diary.add("read chapter 3", session_id="a") != diary.add("read chapter 3", session_id="b")


def test_the_same_knowledge_in_another_session_is_the_same(handbook):
    assert handbook.add("BM25 ranks words", session_id="a") == handbook.add("BM25 ranks words", session_id="b")


def test_a_note_stays_with_its_concept(handbook):
    assert handbook.add("see page 3", concept="BM25") != handbook.add("see page 3", concept="HyDE")


def test_a_memory_said_again_is_pinned_if_either_was(stored):
    memory_id = stored.add("red apple")
    stored.add("red apple", pinned=True)
    stored.add("red apple")
    assert stored.get(memory_id).pinned


def test_a_correction_supersedes_and_keeps_the_old_with_its_interval(stored, clock):
    old = stored.add("My favourite player is Ronaldo", 0.8, team="Portugal")
    clock.move(days=30)
    new = stored.supersede(old, "My favourite player is Messi", team="Argentina")
    assert found(stored, "favourite player") == ["My favourite player is Messi"]
    was = stored.get(old)
    assert (was.status, was.superseded_by, was.timestamp, was.valid_until) == (
        "superseded", new, clock() - 30 * DAY, clock(),
    )  # fmt: skip
    now = stored.get(new)
    assert (now.importance, now.metadata, now.derived_from) == (0.8, {"team": "Argentina"}, [old])


def test_what_is_not_given_in_a_correction_stays_as_it_was(stored):
    old = stored.add("red apple", 0.8, "s1", source="document", pinned=True, content_of="x")
    item = stored.get(stored.supersede(old, "green apple"))
    assert (item.importance, item.session_id, item.source, item.pinned) == (0.8, "s1", "document", True)
    assert item.metadata == {"content_of": "x"}


def test_a_correction_of_what_was_corrected_replaces_the_current_value(stored):
    first = stored.add("Exam on Monday")
    second = stored.supersede(first, "Exam on Tuesday")
    third = stored.supersede(first, "Exam on Friday")
    assert found(stored, "exam") == ["Exam on Friday"]
    assert (stored.get(first).superseded_by, stored.get(second).superseded_by) == (second, third)


def test_a_correction_that_says_the_same_corrects_nothing(stored):
    memory_id = stored.add("Exam on Monday")
    assert stored.supersede(memory_id, "exam on monday!") == memory_id
    assert (stored.get(memory_id).status, stored.size()) == ("active", 1)


def test_correcting_an_unknown_memory_is_a_key_error(stored):
    with pytest.raises(KeyError):
        stored.supersede("nobody", "x")
    assert stored.size() == 0


def test_a_superseded_memory_can_be_looked_for_and_restored(stored):
    old = stored.add("My favourite player is Ronaldo")
    stored.supersede(old, "My favourite player is Messi")
    assert found(stored, "Ronaldo", status="superseded") == ["My favourite player is Ronaldo"]
    stored.restore(old)
    assert (stored.get(old).status, stored.get(old).valid_until) == ("active", None)
    assert found(stored, "Ronaldo") == ["My favourite player is Ronaldo"]


def test_the_archive_of_one_kind_is_not_searched_for_the_other(diary, handbook):
    diary.archive(diary.add("apple event"))
    handbook.archive(handbook.add("apple knowledge"))
    assert found(diary, "apple", status="archived") == ["apple event"]


def test_a_search_survives_that_a_memory_is_removed_under_it(stored, monkeypatch):
    memory_id = stored.add("red apple")
    stored.add("green apple")
    judged = m09.hybrid_search

    def search_then_remove(*args, **options):
        found = judged(*args, **options)
        stored.remove(memory_id)
        return found

    monkeypatch.setattr(m09, "hybrid_search", search_then_remove)
    assert found(stored, "apple") == ["green apple"]


def test_new_memories_are_found_by_words_before_they_have_a_vector(storage, stored):
    stored.add("red apple")
    assert found(stored, "apple") == ["red apple"]
    storage.settle()
    assert found(stored, "apple") == ["red apple"]


def test_a_query_vector_for_a_home_without_an_embedder_is_no_trouble(tmp_path):
    with Storage(tmp_path) as storage:
        diary = m09.EpisodicMemory(storage)
        diary.add_many([m09.MemoryItem("red apple")], vectors=HashEmbedder().embed_passages(["red apple"]))
        assert found(diary, "apple", vector=HashEmbedder().embed_query("apple")) == ["red apple"]


# ---- §2.3 EpisodicMemory ----


def test_an_event_keeps_when_it_happened_beside_when_it_was_told(diary, clock):
    happened = datetime(2023, 5, 7, tzinfo=UTC)
    item = diary.get(diary.add("moved to Berlin", occurred_at=happened))
    assert (item.occurred_at, item.timestamp) == (happened, clock())


def test_the_timeline_groups_events_by_day(diary, clock):
    diary.add("today")
    diary.add("the day before", occurred_at=clock() - DAY)
    diary.add("that day, too", occurred_at=clock() - DAY + HOUR)
    assert {day: [item.content for item in items] for day, items in diary.timeline().items()} == {
        "2026-05-07": ["the day before", "that day, too"],
        "2026-05-08": ["today"],
    }


def test_the_history_of_a_session_is_its_own(diary):
    diary.add("one", session_id="a")
    diary.add("two", session_id="b")
    assert [item.content for item in diary.get_session_history("a")] == ["one"]


def test_of_two_equal_events_the_newer_comes_first(diary, clock):
    diary.add("quiz on BM25 failed", session_id="a", occurred_at=clock() - 40 * DAY)
    diary.add("quiz on BM25 failed", session_id="b", occurred_at=clock())
    for scoring in ("bounded", "article"):
        first, second = diary.retrieve("quiz BM25", scoring=scoring)
        assert first.item.occurred_at > second.item.occurred_at


# ---- §2.4 SemanticMemory ----


def test_entities_and_relations_come_with_the_knowledge(handbook):
    memory_id = handbook.add("混合检索结合BM25")
    handbook.add("检索增强生成（RAG）减少幻觉")
    assert [entity.name for entity in handbook.search_entities("BM")] == ["BM25"]
    assert handbook.search_entities("rag")[0].aliases == ("RAG",)
    (relation,) = handbook.graph.relations("BM25")
    assert (relation.subject, relation.predicate, relation.object) == ("混合检索", "combines", "BM25")
    assert relation.memory_id == memory_id


def test_related_entities_are_reached_in_hops(handbook):
    handbook.add("混合检索结合BM25")
    handbook.add("BM25和倒排索引")
    assert [(entity.name, hops) for entity, hops in handbook.get_related_entities("混合检索", hops=2)] == [
        ("BM25", 1),
        ("倒排索引", 2),
    ]
    assert handbook.get_related_entities("nobody") == []


def test_changed_knowledge_speaks_of_other_entities(handbook):
    memory_id = handbook.add("混合检索结合BM25")
    handbook.update(memory_id, content="混合检索结合HyDE")
    assert handbook.search_entities("BM25") == []
    assert [entity.name for entity in handbook.search_entities("HyDE")] == ["HyDE"]


def test_a_named_entity_lifts_its_knowledge_in_the_articles_formula(handbook):
    handbook.add("BM25 ranks by words")
    handbook.add("TF-IDF ranks by words")
    hits = handbook.retrieve("BM25 ranks by words?", scoring="article")
    assert [hit.why["entity"] for hit in hits] == [1.0, 0.0]


def test_stats_count_entities_and_relations(handbook):
    handbook.add("混合检索结合BM25")
    stats = handbook.get_stats()
    assert (stats["count"], stats["entities"], stats["relations"]) == (1, 2, 1)


# ---- Homes ----


def test_a_marker_in_one_home_is_in_no_answer_of_another(tmp_path, clock):
    marker = "zebramarker"
    with Storage(tmp_path / "a", now=clock) as a, Storage(tmp_path / "b", now=clock) as b:
        ids = [kind(a).add(f"ZebraMarker is a {marker}") for kind in (m09.EpisodicMemory, m09.SemanticMemory)]
        for kind in (m09.EpisodicMemory, m09.SemanticMemory):
            memory = kind(b)
            memory.add("something else")
            answers = [
                memory.retrieve(marker, min_relevance=0), memory.list(status=None), memory.get_stats(),
                list(memory.export()), [memory.get(i) for i in ids], [memory.has_memory(i) for i in ids],
                [memory.remove(i) for i in ids], [memory.archive(i) for i in ids], [memory.update(i, pinned=True) for i in ids],
            ]  # fmt: skip
            if kind is m09.EpisodicMemory:
                answers += [memory.timeline(), memory.get_session_history("default")]
            else:
                answers += [
                    memory.search_entities(),
                    memory.get_related_entities("ZebraMarker"),
                    memory.graph.relations(),
                ]
                answers += [memory.export_knowledge_graph(form) for form in ("jsonld", "graphml")]
            assert marker not in repr(answers).lower()
        assert [kind(a).size() for kind in (m09.EpisodicMemory, m09.SemanticMemory)] == [1, 1]
