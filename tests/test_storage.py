import random
import shutil
import sqlite3
import threading
import time

import children
import numpy as np
import pytest
import trials
from hypothesis import given, settings
from hypothesis import strategies as st
from support import HashEmbedder

from infrastructure import shelves
from infrastructure import storage as storage_module
from infrastructure.errors import EmbedderUnavailable, HomeError
from infrastructure.shelves import Text, inverse_frequency, scope_token
from infrastructure.storage import Storage
from infrastructure.text import tokens
from infrastructure.vectors import MARKER, ChromaIndex


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def embedder():
    return HashEmbedder()


def add(storage, *contents, shelf="chunk", scope="book", **options):
    """Texts whose key is their content; returns their ids."""
    return storage.add_texts(shelf, [Text(content, scope, content) for content in contents], **options)


def by_words(storage, query, shelf="chunk", **options):
    """What the words find, as contents, best first."""
    found = [text_id for text_id, _ in storage.search_words(shelf, tokens(query), 10, **options)]
    return contents_of(storage, found)


def contents_of(storage, ids):
    """Contents in the order of the ids; another thread may have removed some meanwhile."""
    texts = storage.texts(ids)
    return [texts[text_id].content for text_id in ids if text_id in texts]


def by_vector(storage, query, shelf="chunk", **options):
    found = [text_id for text_id, cosine in storage.search_vectors(shelf, embed(query), 10, **options) if cosine > 0.3]
    return contents_of(storage, found)


def embed(text, dimension=64):
    return HashEmbedder(dimension).embed_query(text)


def settled(storage):
    """Nothing owed, and rows = words = vectors = Chroma."""
    assert not storage.settle()
    report = storage.verify()
    assert report.problems == []
    return report.texts


def build(home):
    """Name of the Chroma folder that is there."""
    return [folder.name for folder in (home / "chroma").iterdir()]


class HeldEmbedder(HashEmbedder):
    """Stops in the middle of embedding passages until it is released."""

    def __init__(self, dimension=64):
        super().__init__(dimension)
        self.reached, self.release = threading.Event(), threading.Event()

    def embed_passages(self, texts):
        self.reached.set()
        assert self.release.wait(10)
        return super().embed_passages(texts)


# ---- Writing and reading ----


def test_ids_are_returned_in_the_order_of_the_texts(storage):
    ids = add(storage, "one", "two", "three")
    assert [storage.texts(ids)[text_id].content for text_id in ids] == ["one", "two", "three"]


def test_positions_count_within_each_scope(storage):
    storage.add_texts("chunk", [Text("a", "x", "1"), Text("b", "y", "2"), Text("c", "x", "3")])
    storage.add_texts("chunk", [Text("d", "x", "4")])
    assert [(storage.text(key).scope, storage.text(key).position) for key in "abcd"] == [
        ("x", 0), ("y", 0), ("x", 1), ("x", 2),
    ]  # fmt: skip


def test_places_around_a_text_keep_to_its_scope_and_skip_what_is_not_there(storage):
    first, second, third = add(storage, "one", "two", "three")
    (film,) = storage.add_texts("chunk", [Text("film", "film", "one")])
    assert storage.places_around("chunk", [first], 1) == {first: ("book", 0), second: ("book", 1)}
    assert storage.places_around("chunk", [second, film], 0) == {second: ("book", 1), film: ("film", 0)}
    assert storage.places_around("chunk", [first, third, 999], 2).keys() == {first, second, third}
    assert storage.places_around("episodic", [first], 2) == {}


def test_any_number_of_places_can_be_asked_for(storage):
    ids = add(storage, *map(str, range(1200)))
    assert storage.places_around("chunk", ids, 2) == {i: ("book", n) for n, i in enumerate(ids)}


def test_a_key_that_is_taken_adds_nothing_at_all(storage):
    add(storage, "one")
    with pytest.raises(sqlite3.IntegrityError):
        add(storage, "two", "one")
    assert (storage.count("chunk"), storage.text("two"), by_words(storage, "two")) == (1, None, [])


def test_adding_nothing_is_nothing(storage):
    assert add(storage) == []
    assert storage.remove_texts([]) == 0


@settings(max_examples=60)
@given(
    content=st.text(st.characters(exclude_categories=["Cs"])), scope=st.text(st.characters(exclude_categories=["Cs"]))
)
def test_any_unicode_comes_back_as_it_was_written(tmp_path_factory, content, scope):
    with Storage(tmp_path_factory.mktemp("home")) as storage:
        storage.add_texts("chunk", [Text("key", scope, content, heading=content)])
        text = storage.text("key")
        assert (text.content, text.heading, text.scope) == (content, content, scope)
        assert by_words(storage, content, scope=scope) == ([content] if tokens(content) else [])


def test_replacing_a_text_replaces_its_words_and_vector(storage):
    add(storage, "red apple", vectors=[embed("red apple")])
    assert by_vector(storage, "red apple") == ["red apple"]
    storage.replace_text("red apple", "green pear")
    assert (by_words(storage, "apple"), by_words(storage, "pear")) == ([], ["green pear"])
    assert by_vector(storage, "red apple") == []
    storage.settle(chroma=False)
    assert by_vector(storage, "green pear") == ["green pear"]


def test_replacing_an_unknown_key_is_a_key_error(storage):
    with pytest.raises(KeyError):
        storage.replace_text("nobody", "x")


def test_removing_a_text_removes_words_and_vector_and_skips_unknown_keys(storage):
    add(storage, "apple", "pear", vectors=[embed("apple"), embed("pear")])
    assert by_vector(storage, "apple") == ["apple"]
    assert storage.remove_texts(["apple", "nobody"]) == 1
    assert (by_words(storage, "apple"), by_vector(storage, "apple"), by_words(storage, "pear")) == ([], [], ["pear"])


def test_a_moved_text_takes_words_and_vector_along(storage):
    add(storage, "apple", vectors=[embed("apple")])
    storage.move_text("apple", "archive")
    assert (by_words(storage, "apple"), by_vector(storage, "apple")) == ([], [])
    assert (by_words(storage, "apple", "archive"), by_vector(storage, "apple", "archive")) == (["apple"], ["apple"])


def test_a_text_moved_there_and_back_is_as_before(storage):
    add(storage, "apple", "pear")
    storage.settle(chroma=False)
    assert by_vector(storage, "apple") == ["apple"]
    storage.move_text("apple", "archive")
    storage.move_text("apple", "chunk")
    assert (by_vector(storage, "apple"), by_words(storage, "apple")) == (["apple"], ["apple"])
    assert settled(storage) == 2


def test_a_rolled_back_change_leaves_words_vectors_and_counts_as_they_were(storage):
    add(storage, "apple", vectors=[embed("apple")])
    with pytest.raises(ZeroDivisionError), storage.transaction():
        storage.remove_texts(["apple"])
        add(storage, "pear", "fig", vectors=[embed("pear"), embed("fig")])
        assert (by_vector(storage, "apple pear"), storage.count("chunk")) == (["pear"], 2)
        storage.move_text("pear", "archive")
        1 / 0  # noqa: B018
    assert (by_vector(storage, "apple pear"), by_words(storage, "apple pear")) == (["apple"], ["apple"])
    assert (storage.count("chunk"), storage.count("archive")) == (1, 0)
    (plum,) = add(storage, "plum", vectors=[embed("plum")])
    assert by_vector(storage, "plum") == ["plum"]
    assert storage.texts([plum])[plum].content == "plum"


def test_what_another_process_writes_is_seen_at_the_next_search(home, storage):
    add(storage, "apple", "pear", vectors=[embed("apple"), embed("pear")])
    assert by_vector(storage, "apple") == ["apple"]
    with Storage(home) as other:
        other.remove_texts(["apple"])
        other.replace_text("pear", "plum")
        add(other, "fig", vectors=[embed("fig")])
        assert by_vector(storage, "apple pear fig") == ["fig"]
    assert (by_words(storage, "plum"), storage.count("chunk")) == (["plum"], 2)


def test_vectors_of_another_dimension_are_refused(storage):
    add(storage, "apple", vectors=[embed("apple")])
    with pytest.raises(ValueError, match="have 64 numbers, not 32"):
        add(storage, "pear", vectors=[embed("pear", 32)])
    assert storage.text("pear") is None


# ---- Words ----


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("用户的信任怎么增加", "信任"),
        ("猫", "猫"),
        ("昨天重跑gen-itgc后通过了", "重跑"),
        ("昨天重跑gen-itgc后通过了", "gen-itgc"),
        ("Москва — столица", "москва"),
        ("un café crème", "cafe"),
        ("ＲＡＧ 系统", "rag"),
        ("⽤⼾⼿册", "用户"),
        ("learn C++ first", "C++"),
        ("한국어 검색", "검색"),
    ],
)
def test_a_word_of_any_script_is_found(storage, content, query):
    add(storage, "something else entirely", content)
    assert by_words(storage, query) == [content]


def test_a_word_inside_another_word_is_not_found(storage):
    add(storage, "the storage is full", "a tragic story")
    assert by_words(storage, "RAG") == []


def test_the_rarer_word_counts_more(storage):
    add(storage, "index of all words", "index", "index of bm25", "an index")
    assert by_words(storage, "index bm25")[0] == "index of bm25"


def test_words_can_be_restricted_to_one_scope(storage):
    add(storage, "apple pie", scope="Default")
    add(storage, "apple cake", scope="default")
    assert by_words(storage, "apple", scope="default") == ["apple cake"]
    assert by_words(storage, "apple", scope="default' OR 1") == []


def test_words_can_be_restricted_to_some_ids_and_score_as_they_do_among_all(storage):
    ids = add(storage, *(f"apple {'pie ' * (n % 3)}{n}" for n in range(9)))
    everything = storage.search_words("chunk", tokens("apple pie"), 9)
    some = {*ids[2:7], 999}
    assert storage.search_words("chunk", tokens("apple pie"), 9, only=some) == [
        hit for hit in everything if hit[0] in some
    ]
    assert len(storage.search_words("chunk", tokens("apple pie"), 2, only=some)) == 2
    assert storage.search_words("chunk", tokens("apple"), 9, only=set()) == []


def test_the_scope_itself_is_not_a_word(storage):
    add(storage, "apple", scope="book")
    assert by_words(storage, scope_token("book")) == by_words(storage, "book") == []


def test_a_heading_is_searched_with_its_text(storage):
    storage.add_texts("chunk", [Text("k", "book", "first step", heading="Query rewriting")])
    assert by_words(storage, "rewriting") == ["first step"]


def test_the_mean_length_is_that_of_the_texts_there_are(storage):
    assert storage.mean_length("chunk") == 0
    add(storage, "one", "one two three " * 100)
    add(storage, "memory", shelf="episodic")
    assert storage.mean_length("chunk") == (1 + 300) / 2
    storage.replace_text("one", "one two three")
    assert storage.mean_length("chunk") == (3 + 300) / 2
    storage.remove_texts(["one two three " * 100])
    assert storage.mean_length("chunk") == 3
    storage.remove_texts(["one"])
    assert storage.mean_length("chunk") == 0


def test_rarity_is_counted_per_shelf(storage):
    add(storage, "apple", "apple pie")
    add(storage, "a chat about apple", shelf="episodic")
    assert storage.document_frequencies("chunk", ["appl", "nobody"]) == {"appl": 2, "nobody": 0}


def test_a_shelf_of_nothing_but_common_words_still_answers(storage, monkeypatch):
    monkeypatch.setattr(shelves, "COMMON_TERM_ROWS", 1)
    add(storage, *(f"apple {n}" for n in range(5)))
    assert len(by_words(storage, "apple")) == 5


def test_common_words_give_way_when_rarer_ones_fill_the_budget(storage, monkeypatch):
    monkeypatch.setattr(shelves, "SCORED_ROWS", 3)
    add(storage, "apple pie", "apple", "apple cake", "apple tart")
    assert by_words(storage, "apple pie") == ["apple pie"]


# ---- Vectors without Chroma ----


def test_a_text_is_found_by_words_before_it_has_a_vector(storage):
    add(storage, "apple")
    assert (by_words(storage, "apple"), by_vector(storage, "apple")) == (["apple"], [])
    assert storage.owed().embed == 1


def test_cosines_are_the_same_whether_or_not_the_vectors_are_in_memory(home, storage):
    ids = add(storage, "apple", "pear", vectors=[embed("apple"), embed("pear")])
    straight_from_the_blobs = storage.cosines("chunk", embed("apple"), ids)
    by_vector(storage, "apple")
    assert storage.cosines("chunk", embed("apple"), ids) == pytest.approx(straight_from_the_blobs)
    assert straight_from_the_blobs[ids[0]] == pytest.approx(1.0)


def test_a_query_vector_of_another_dimension_finds_nothing(storage):
    ids = add(storage, "apple", vectors=[embed("apple")])
    assert storage.cosines("chunk", embed("apple", 32), ids) == {}
    assert storage.search_vectors("chunk", embed("apple", 32), 5) == []
    settled(storage)
    assert storage.search_vectors("chunk", embed("apple", 32), 5) == []


def test_vectors_can_be_restricted_to_scope_and_ids(storage):
    (pie,) = add(storage, "apple pie", scope="a", vectors=[embed("apple pie")])
    (cake,) = add(storage, "apple cake", scope="b", vectors=[embed("apple cake")])
    assert by_vector(storage, "apple", scope="a") == ["apple pie"]
    assert by_vector(storage, "apple", only=[cake]) == ["apple cake"]
    assert by_vector(storage, "apple", scope="a", only=[cake]) == []
    assert by_vector(storage, "apple", scope="a", only=[pie, cake]) == ["apple pie"]


def test_opening_and_searching_a_home_of_words_never_opens_chroma(home):
    with Storage(home) as storage:
        add(storage, "apple")
        storage.remove_texts(["apple"])
        assert not storage.settle()
        assert storage.verify().ok
    assert not (home / "chroma").exists()


# ---- While a text is being embedded, it changes ----


@pytest.fixture
def embedding(home):
    """A storage in whose background the text "apple" is being embedded right now; `finish` ends that."""
    embedder = HeldEmbedder()
    with Storage(home, embedder=embedder) as storage:
        add(storage, "apple")
        worker = threading.Thread(target=storage.settle, kwargs={"chroma": False})
        worker.start()
        assert embedder.reached.wait(10)

        def finish():
            embedder.release.set()
            worker.join(10)
            assert not worker.is_alive()

        yield storage, finish
        embedder.release.set()


def test_a_text_changed_meanwhile_gets_the_vector_of_its_new_content(embedding):
    storage, finish = embedding
    storage.replace_text("apple", "pear")
    finish()
    assert (by_vector(storage, "apple"), by_vector(storage, "pear")) == ([], ["pear"])
    assert settled(storage) == 1


def test_a_text_removed_meanwhile_stays_removed(embedding):
    storage, finish = embedding
    storage.remove_texts(["apple"])
    finish()
    assert by_vector(storage, "apple") == []
    assert settled(storage) == 0


def test_a_text_moved_meanwhile_gets_its_vector_on_the_new_shelf(embedding):
    storage, finish = embedding
    storage.move_text("apple", "archive")
    finish()
    assert (by_vector(storage, "apple"), by_vector(storage, "apple", "archive")) == ([], ["apple"])
    assert settled(storage) == 1


def test_switching_the_embedder_waits_for_the_batch_and_drops_its_vectors(embedding):
    storage, finish = embedding
    switch = threading.Thread(target=storage.switch_embedder, args=(HashEmbedder(32),))
    switch.start()
    switch.join(0.1)
    assert storage.recorded_embedder == "hash-64"
    finish()
    switch.join(10)
    storage.settle()
    assert storage.cosines("chunk", embed("apple", 32), [1]) == {1: pytest.approx(1.0)}
    assert settled(storage) == 1


def test_searching_and_writing_do_not_wait_for_the_embedder(embedding):
    storage, finish = embedding
    add(storage, "pear")
    assert by_words(storage, "pear") == ["pear"]
    assert by_vector(storage, "pear") == []
    finish()


# ---- Settling, and Chroma ----


def test_settling_brings_rows_words_vectors_and_chroma_into_step(storage):
    add(storage, "apple", "pear", "plum")
    storage.remove_texts(["pear"])
    add(storage, "a chat", shelf="episodic", scope="s1")
    storage.move_text("plum", "archive")
    assert settled(storage) == 3
    assert by_vector(storage, "apple") == ["apple"]


def test_progress_counts_every_vector(storage):
    seen = []
    add(storage, *map(str, range(20)))
    storage.settle(lambda done, total: seen.append((done, total)), chroma=False)
    assert seen[-1] == (20, 20)


def test_chroma_finds_what_the_blobs_find(storage):
    contents = [f"word{n % 7} word{n % 11} text{n}" for n in range(60)]
    ids = add(storage, *contents)
    exact = dict(_exact(storage, contents, ids))
    settled(storage)
    through_chroma = dict(storage.search_vectors("chunk", embed("word3 word5"), 60))
    assert through_chroma == pytest.approx(exact, abs=1e-5)


def _exact(storage, contents, ids):
    vectors = HashEmbedder().embed_passages(contents)
    return zip(ids, (vectors @ embed("word3 word5")).tolist(), strict=True)


def test_chroma_does_not_return_the_vector_of_a_text_that_was_changed_since(storage):
    add(storage, "apple", "pear")
    settled(storage)
    storage.replace_text("apple", "plum")
    assert by_vector(storage, "apple") == []
    assert by_vector(storage, "pear") == ["pear"]
    settled(storage)
    assert by_vector(storage, "plum") == ["plum"]


def test_no_text_is_kept_in_chroma(home, storage):
    add(storage, "zebramarker")
    settled(storage)
    assert files_with(home / "chroma", b"zebramarker") == []


def test_a_reopened_home_does_not_index_again(home):
    embedder = HashEmbedder()
    for _ in range(2):
        with Storage(home, embedder=embedder) as storage:
            if not storage.count("chunk"):
                add(storage, "apple")
            settled(storage)
    assert embedder.history == ["apple"]


@pytest.mark.parametrize("instant", ["upsert", "_clear_marks"])
def test_stopped_before_or_after_chroma_has_written_the_next_settling_goes_on(storage, monkeypatch, instant):
    def stop(*args):
        raise KeyboardInterrupt

    add(storage, *map(str, range(30)))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(storage._chroma if instant == "upsert" else storage, instant, stop)
        storage.settle()
    assert storage.owed().index == 30
    assert settled(storage) == 30


def test_an_opening_that_killed_the_process_costs_the_folder_and_nothing_else(home, storage):
    add(storage, "apple")
    settled(storage)
    old = build(home)
    storage.close()
    (home / MARKER).touch()
    with Storage(home, embedder=HashEmbedder()) as again:
        assert settled(again) == 1
        assert by_vector(again, "apple") == ["apple"]
    assert build(home) != old
    assert not (home / MARKER).exists()


@pytest.mark.parametrize("harm", ["deleted", "emptied", "spoiled", "another build"])
def test_a_folder_harmed_by_hand_is_rebuilt(home, storage, harm):
    add(storage, *map(str, range(30)))
    settled(storage)
    storage.close()
    folder = home / "chroma" / build(home)[0]
    if harm == "deleted":
        shutil.rmtree(home / "chroma")
    elif harm == "emptied":
        (folder / "chroma.sqlite3").write_bytes(b"")
    elif harm == "spoiled":
        (folder / "chroma.sqlite3").write_bytes(b"spoiled" * 1000)
    else:
        folder.rename(folder.with_name("other"))
    with Storage(home, embedder=HashEmbedder()) as again:
        assert settled(again) == 30


def test_a_folder_that_lost_a_vector_is_rebuilt(home, storage):
    add(storage, "apple", "pear")
    settled(storage)
    storage._chroma.remove("chunk", [1])
    storage.close()
    with Storage(home, embedder=HashEmbedder()) as again:
        assert settled(again) == 2


def test_a_folder_deleted_while_it_is_open_is_rebuilt_and_searches_go_on(home, storage):
    add(storage, "apple")
    settled(storage)
    shutil.rmtree(home / "chroma")
    add(storage, "pear")
    assert by_vector(storage, "apple") == ["apple"]
    assert settled(storage) == 2
    assert (by_vector(storage, "apple"), by_vector(storage, "pear")) == (["apple"], ["pear"])
    assert storage.notices == []


def test_when_chroma_cannot_be_written_at_all_the_blobs_answer_and_a_notice_says_so(home, monkeypatch):
    def refuse(self, build):
        raise OSError("no space left on device")

    monkeypatch.setattr(ChromaIndex, "_connect", refuse)
    with Storage(home, embedder=HashEmbedder()) as storage:
        add(storage, "apple")
        assert storage.settle().index == 1
        storage.settle()
        assert by_vector(storage, "apple") == ["apple"]
        assert len(storage.notices) == 1
        assert "no space left" in storage.notices[0]


def test_a_restored_backup_gets_a_chroma_folder_of_its_own(home, storage):
    add(storage, "apple", "pear")
    settled(storage)
    copy = storage.database.backup(home / "backups" / "copy.db")
    storage.remove_texts(["apple"])
    add(storage, "plum")  # as many texts as in the copy, but others
    settled(storage)
    storage.close()
    for file in home.glob("memory.db*"):
        file.unlink()
    shutil.copy(copy, home / "memory.db")
    with Storage(home, embedder=HashEmbedder()) as restored:
        assert settled(restored) == 2
        assert (by_vector(restored, "apple"), by_vector(restored, "plum")) == (["apple"], [])


def test_rebuilding_the_index_copies_vectors_and_embeds_nothing(home, storage):
    add(storage, "apple")
    settled(storage)
    old = build(home)
    assert not storage.rebuild_index()
    assert build(home) != old
    assert storage.embedder.history == ["apple"]
    assert storage.verify().ok


def test_verify_says_what_is_wrong(storage):
    add(storage, "apple", "pear")
    settled(storage)
    with storage.transaction() as db:
        db.execute("DELETE FROM words_chunk WHERE rowid = 1")
        db.execute("DELETE FROM vectors WHERE id = 2")
    assert storage.verify().problems == [
        "chunk: words lacks 1 and has 0 too many",
        "chunk: vectors lacks 1 and has 0 too many",
        "chunk: Chroma lacks 0 and has 1 too many",
    ]


# ---- The worker ----


def test_the_worker_settles_what_is_written(storage):
    storage.start_worker()
    add(storage, "apple")
    wait_until(lambda: not storage.owed())
    assert by_vector(storage, "apple") == ["apple"]


def test_an_embedder_that_fails_leaves_a_notice_and_is_tried_again(storage):
    storage.embedder.error = EmbedderUnavailable("The embedding service does not answer; try later.")
    storage.start_worker()
    add(storage, "apple")
    wait_until(lambda: storage.notices)
    storage.embedder.error = None
    add(storage, "pear")
    wait_until(lambda: not storage.owed())
    assert storage.notices == ["The embedding service does not answer; try later."]


def test_a_fault_in_the_embedder_is_a_notice_not_the_end_of_the_worker(storage):
    storage.embedder.error = ZeroDivisionError("a fault")
    storage.start_worker()
    add(storage, "apple")
    wait_until(lambda: storage.notices)
    assert "failed (a fault); words still answer" in storage.notices[0]
    storage.embedder.error = None
    add(storage, "pear")
    wait_until(lambda: not storage.owed())


def test_an_embedder_that_fails_does_not_keep_other_vectors_from_chroma(storage):
    add(storage, "apple", vectors=[embed("apple")])
    add(storage, "pear")
    storage.embedder.error = EmbedderUnavailable("no")
    with pytest.raises(EmbedderUnavailable):
        storage.settle()
    assert (storage.owed().embed, storage.owed().index) == (1, 0)


@pytest.mark.parametrize("bad", [np.full((1, 64), np.nan), np.ones((2, 64)), np.ones((1, 32))])
def test_vectors_that_cannot_be_used_are_refused(storage, bad, monkeypatch):
    add(storage, "apple")
    monkeypatch.setattr(storage.embedder, "embed_passages", lambda texts: bad.astype(np.float32))
    with pytest.raises(EmbedderUnavailable, match="cannot be used"):
        storage.settle(chroma=False)
    assert storage.owed().embed == 1


def test_closing_ends_the_worker_after_its_batch(home):
    embedder = HeldEmbedder()
    with Storage(home, embedder=embedder) as storage:
        add(storage, *map(str, range(100)))
        storage.start_worker()
        assert embedder.reached.wait(10)
        threading.Timer(0.1, embedder.release.set).start()
    assert len(embedder.history) <= 2 * storage_module.EMBED_BATCH
    with Storage(home, embedder=HashEmbedder()) as again:
        assert settled(again) == 100


def wait_until(condition, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


# ---- One embedder per home ----


def test_another_embedder_is_refused_with_a_notice_and_words_answer(home, storage):
    add(storage, "apple")
    settled(storage)
    with Storage(home, embedder=HashEmbedder(32)) as other:
        assert other.embedder is None
        assert other.embed_query("apple") is None
        assert by_words(other, "apple") == ["apple"]
        assert len(other.notices) == 1
        assert "hash-64, not hash-32" in other.notices[0]


def test_the_same_name_with_another_dimension_is_another_embedder(home, storage):
    add(storage, "apple")
    settled(storage)
    with Storage(home, embedder=HashEmbedder(32, name="hash-64")) as other:
        assert other.embedder is None


def test_vectors_that_came_from_outside_decide_the_dimension(home):
    with Storage(home) as storage:
        add(storage, "apple", vectors=[embed("apple")])
    with Storage(home, embedder=HashEmbedder(32)) as other:
        assert other.embedder is None
    with Storage(home, embedder=HashEmbedder(64)) as fitting:
        assert fitting.embedder is not None


def test_an_embedder_that_made_no_vector_yet_can_be_replaced(home):
    with Storage(home, embedder=HashEmbedder(64)) as storage:
        assert storage.embed_query("apple") is not None
    with Storage(home, embedder=HashEmbedder(32)) as other:
        add(other, "apple")
        assert settled(other) == 1
        assert other.recorded_embedder == "hash-32"


def test_switching_the_embedder_embeds_everything_anew(storage):
    add(storage, "apple", "pear")
    settled(storage)
    storage.switch_embedder(HashEmbedder(32))
    assert storage.owed().embed == 2
    assert by_words(storage, "apple") == ["apple"]
    assert settled(storage) == 2
    assert storage.recorded_embedder == "hash-32"
    assert storage.search_vectors("chunk", embed("apple", 32), 1) == [(1, pytest.approx(1.0, abs=1e-5))]


def test_switching_to_the_same_embedder_changes_nothing(storage):
    add(storage, "apple")
    settled(storage)
    storage.switch_embedder(HashEmbedder(64))
    assert not storage.owed()


def test_the_vectors_of_a_process_that_was_open_before_the_switch_do_not_mix_in(home, storage):
    add(storage, "apple")
    settled(storage)
    with Storage(home, embedder=HashEmbedder(64)) as old:
        assert old.embedder is not None
        storage.switch_embedder(HashEmbedder(32))
        assert old.embedder is None
        assert "hash-32, not hash-64" in old.notices[0]


def test_the_embedder_cannot_be_switched_while_another_process_holds_the_vectors(home, storage):
    add(storage, "apple")
    settled(storage)
    with Storage(home) as other, pytest.raises(HomeError, match="Another process is using"):
        other.switch_embedder(HashEmbedder(32))
    assert storage.recorded_embedder == "hash-64"


def test_an_embedder_that_cannot_serve_leaves_words_and_a_notice(home):
    class Broken(HashEmbedder):
        @property
        def dimension(self):
            raise EmbedderUnavailable("No network; answering by words.")

        @dimension.setter
        def dimension(self, value):
            pass

    with Storage(home, embedder=Broken(name="broken")) as storage:
        add(storage, "apple")
        assert storage.embedder is None
        assert storage.settle().embed == 1
        assert storage.notices == ["No network; answering by words."]


def test_looking_at_the_embedder_does_not_wait_for_whoever_is_writing(home, storage):
    assert storage.embedder is not None
    storage.database.value("PRAGMA busy_timeout = 20")
    with Storage(home) as other:
        other.log("something")
        with other.transaction():
            assert storage.embedder is not None


# ---- Homes that cannot be used ----


def test_a_file_where_the_folder_should_be_is_one_sentence(home):
    home.write_text("in the way", encoding="utf-8")
    with pytest.raises(HomeError, match=r"cannot be made .* --home"):
        Storage(home)


def test_a_lock_file_that_cannot_be_written_is_one_sentence(home, storage):
    (home / "vectors.lock").mkdir()
    with pytest.raises(HomeError, match=r"vectors\.lock cannot be written"):
        storage.settle()


def test_a_disk_that_fills_up_keeps_what_was_acknowledged(storage):
    add(storage, "apple")
    storage.database.value(f"PRAGMA max_page_count = {storage.database.value('PRAGMA page_count') + 8}")
    with pytest.raises(HomeError, match="full"):
        add(storage, *(f"text {n} " * 100 for n in range(200)))
    assert (storage.count("chunk"), by_words(storage, "text")) == (1, [])
    assert settled(storage) == 1


# ---- Homes and deletion ----


def test_what_is_in_one_home_is_in_no_other(tmp_path):
    with Storage(tmp_path / "a", embedder=HashEmbedder()) as a, Storage(tmp_path / "b", embedder=HashEmbedder()) as b:
        add(a, "secret apple")
        add(b, "pear")
        assert (settled(a), settled(b)) == (1, 1)
        assert (by_words(b, "secret apple"), by_vector(b, "secret apple"), b.text("secret apple")) == ([], [], None)
        assert b.document_frequencies("chunk", ["secret"]) == {"secret": 0}


def files_with(folder, marker):
    return [file.name for file in folder.rglob("*") if file.is_file() and marker in file.read_bytes()]


def test_erased_text_is_in_no_file_of_the_home(home, storage):
    add(storage, "kept", "zebramarker goes")
    settled(storage)
    storage.database.backup(home / "backups" / "before.db")
    vector = embed("zebramarker goes").tobytes()
    storage.remove_texts(["zebramarker goes"])
    settled(storage)
    storage.erase_traces()
    assert (files_with(home, b"zebramarker"), files_with(home, vector)) == ([], [])
    assert settled(storage) == 1
    assert by_vector(storage, "kept") == ["kept"]


def test_text_can_be_erased_while_the_worker_is_embedding(embedding, home):
    storage, finish = embedding
    add(storage, "zebramarker")
    storage.remove_texts(["zebramarker"])
    storage.erase_traces()
    finish()
    assert files_with(home, b"zebramarker") == []


# ---- Two processes ----


def test_a_second_storage_answers_by_words_and_blobs_and_leaves_marks(home, storage):
    add(storage, "apple")
    settled(storage)
    with Storage(home, embedder=HashEmbedder()) as second:
        add(second, "pear")
        assert not second.hold_vectors()
        assert second.settle().embed == 1
        assert (by_words(second, "pear"), by_vector(second, "apple")) == (["pear"], ["apple"])
        assert second.verify().problems == [Storage.busy_sentence()]
    assert settled(storage) == 2


def test_the_second_takes_over_when_the_first_is_closed(home, storage):
    storage.settle()
    with Storage(home, embedder=HashEmbedder()) as second:
        assert not second.hold_vectors()
        storage.close()
        add(second, "apple")
        assert settled(second) == 1


def test_the_holding_process_finishes_what_another_one_leaves(home):
    here, there = children.CONTEXT.Pipe()
    holder = children.start(children.hold_vectors, home, there)
    assert here.poll(30)
    here.recv()
    with Storage(home, embedder=HashEmbedder(16)) as second:
        add(second, "apple")
        assert second.settle().embed <= 1
        wait_until(lambda: not second.owed())
        found = second.search_vectors("chunk", embed("apple", 16), 1)
        assert found == [(1, pytest.approx(1.0))]
        here.send("end")
        assert here.poll(30)
        holder.join(10)
        assert settled(second) == 1


def test_eight_threads_and_two_processes_lose_nothing_in_five_seconds(tmp_path):
    trial = trials.soak(tmp_path, 5)
    assert trial.faults == []
    assert trial.changes > 500


def in_threads(count, work, seconds=60):
    """Run work(0) … work(count − 1) at once; returns the errors. Hanging is a failure."""
    errors = []

    def run(number):
        try:
            work(number)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive(), "a thread hangs"
    return errors


def test_threads_that_write_search_settle_and_erase_neither_fail_nor_hang(home):
    end = time.monotonic() + 3

    def work(number):
        rng, mine = random.Random(number), []
        while time.monotonic() < end:
            match rng.randrange(8):
                case 0 | 1:
                    mine.append(f"text {number} {rng.random()}")
                    add(storage, mine[-1], scope=f"book {number}")
                case 2 if mine:
                    storage.remove_texts([mine.pop()])
                case 3 if mine:
                    storage.replace_text(rng.choice(mine), f"changed {rng.random()}")
                case 4 if mine:
                    storage.move_text(rng.choice(mine), rng.choice(["chunk", "archive"]))
                case 5:
                    storage.settle()
                case 6 if rng.random() < 0.05:
                    storage.erase_traces()
                case _:
                    by_words(storage, "text")
                    by_vector(storage, f"text {number}")
                    by_vector(storage, f"text {number}", scope=f"book {number}")
        kept.extend(mine)

    kept = []
    with Storage(home, embedder=HashEmbedder()) as storage:
        storage.start_worker()
        assert in_threads(4, work, seconds=30) == []
        assert settled(storage) == len(kept)


# ---- Killed at any instant ----


@pytest.mark.parametrize("round_", range(2))
def test_whenever_the_process_is_killed_nothing_acknowledged_is_lost(tmp_path, round_):
    trial = trials.kill_and_look(tmp_path, 10, seed=round_)
    assert trial.faults == []
    assert trial.changes > 50 and trial.texts > 10


# ---- Small things ----


def test_a_scope_token_is_one_word_of_the_index(tmp_path):
    with Storage(tmp_path / "home") as storage:
        assert tokens(scope_token("任何 scope, with 'quotes'")) == [scope_token("任何 scope, with 'quotes'")]
        assert storage.count("chunk") == 0


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_rarer_words_weigh_more_and_never_less_than_nothing(rows, frequency):
    frequency = min(frequency, rows)
    assert inverse_frequency(rows, frequency) > 0
    assert frequency == 0 or inverse_frequency(rows, frequency) < inverse_frequency(rows, frequency - 1)


def test_the_log_keeps_what_policy_did(storage):
    storage.log("forgotten", memory_id="m1", why="低重要性")
    row = storage.database.row("SELECT * FROM log")
    assert (row["at"], row["action"]) == ("2026-05-08T09:00:00.000000+00:00", "forgotten")
    assert "低重要性" in row["details"]
