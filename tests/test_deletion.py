"""Real deletion: what is purged is in no file of the home, byte by byte, and in nothing the program says."""

import contextlib
import gzip
import shutil
import sqlite3
from importlib import import_module

import children
import pytest
from support import HashEmbedder, ScriptedLLM

from infrastructure.cards import Draft
from infrastructure.copies import PROMPT_HISTORY
from infrastructure.errors import HomeError
from infrastructure.lesson import StoppedClock
from infrastructure.storage import ERASING, Storage
from infrastructure.text import tokens
from study.prompt import History

m09 = import_module("09_memory_system")
m13 = import_module("13_pdf_learning_assistant")

MARKERS = ("zebramarker", "斑马暗号")  # no other text in these tests has anything of them
TOLD = "我最喜欢的动物是斑马暗号 zebramarker"
BOOK = "# Animals\n\nThe quagga lived in Africa. Its cousin, the zebramarker or 斑马暗号, has fifty stripes.\n"
OTHER_BOOK = "# Tides\n\nThe tide is caused by the moon, which pulls the water of the sea.\n"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def llm():
    return None


@pytest.fixture
def assistant(home, llm):
    with Storage(home, embedder=HashEmbedder(), now=StoppedClock()) as storage:
        assistant = m13.PDFLearningAssistant(storage, llm=llm)
        assistant.load_text(OTHER_BOOK, "tides.md")
        assistant.add_note("Recall comes first.", concept="evaluation")
        yield assistant
        with contextlib.suppress(sqlite3.ProgrammingError):  # a test has closed it
            assistant.close()


def copies_of(assistant):
    """Everything a home gathers in daily use: vectors in Chroma, the prompt's history, backups, exports, an open log."""
    storage = assistant.storage
    assert not storage.settle()
    storage.search_vectors("chunk", storage.embed_query("the moon"), 3)
    history = History(storage.home / PROMPT_HISTORY, print)
    for typed in (f"/note {TOLD}", TOLD, "What causes the tide?"):
        history.store_string(typed)
    assistant.backup()
    assistant.backup(storage.home / "own.jsonl")
    storage.database.backup(storage.home / "backups" / "before-something.db")
    (storage.home / "exports").mkdir(exist_ok=True)
    (storage.home / "exports" / "deck.txt").write_text(TOLD, encoding="utf-8")


def files_with_markers(home):
    """The files under a folder in whose bytes a marker, or a token of one, stands; packed files are looked into."""
    wanted = {token.encode() for marker in MARKERS for token in tokens(marker) if len(token.encode()) > 3}
    wanted |= {marker.encode(encoding) for marker in MARKERS for encoding in ("utf-8", "utf-16-le")}
    found = []
    for file in filter(lambda path: path.is_file(), home.rglob("*")):
        data = file.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if any(text in data.lower() for text in wanted):
            found.append(file.relative_to(home).as_posix())
    return found


def everything_said(assistant):
    """What the public methods give back, as one text."""
    rag, storage = assistant._rag, assistant.storage
    said = [assistant.documents(), assistant.sessions(), assistant.get_stats(), assistant.doctor().to_json()]
    said += [
        assistant.tutor.cards.list(),
        assistant.tutor.cards.reviews(),
        assistant.notes(),
        assistant.quiz("animals"),
    ]
    said += [assistant.review(topic) for topic in ("animals", "动物", "evaluation")]
    said += [assistant.transcript.all_turns(), assistant.transcript.turns(assistant.session_id)]
    for document in assistant.documents():
        said += [assistant.library.page(document.document_id, 1), assistant.library.outline(document.document_id)]
    said += [assistant.library.chapters("")]
    for store in (rag.episodic, rag.semantic):
        said += [store.list(status=None, limit=-1), list(store.export()), store.get_stats()]
        said += [store.retrieve("animals 动物 stripes", top_k=50, min_relevance=0.0)]
        said += [store.retrieve("animals 动物 stripes", top_k=50, min_relevance=0.0, status="archived")]
    said += [rag.episodic.timeline(), rag.semantic.search_entities(), rag.semantic.export_knowledge_graph()]
    said += [rag.semantic.get_related_entities(entity.name, 3) for entity in rag.semantic.search_entities()]
    said += [rag.working.list(status=None, limit=-1), rag.working.get_context_summary(5000, session_id=rag.session_id)]
    said += [rag.retriever.search(query, top_k=20, min_relevance=0.0) for query in ("animal stripes", "动物")]
    said += [dict(row) for row in storage.database.rows("SELECT * FROM log")]
    said += [rag.lifecycle.run(dry_run=True), storage.notices]
    for question in ("Which animal has stripes?", "我喜欢什么动物？", "Who lived in Africa?"):
        answer = assistant.ask(question)
        said += [answer, answer.to_json(), answer.trace]
    return "\n".join(map(repr, said))


def gone(assistant, home):
    """In no file and in nothing said, now and after a restart."""
    assert files_with_markers(home) == []
    assert not [marker for marker in MARKERS if marker in everything_said(assistant)]
    for shelf in ("chunk", "episodic", "semantic", "archive"):
        assert assistant.storage.search_words(shelf, tokens(" ".join(MARKERS)), 5) == []
    assert not assistant.storage.settle()
    assert assistant.storage.verify().problems == []
    assistant.backup(home.parent / "outside.jsonl")
    shutil.copytree(home, home.parent / "restarted")
    restart = children.start(children.settle, home.parent / "restarted", 64)  # builds Chroma with memory of its own
    restart.join(60)
    assert restart.exitcode == 0 and (home.parent / "restarted" / "chroma").exists()
    assert files_with_markers(home.parent) == []
    with Storage(home.parent / "restarted", embedder=HashEmbedder()) as again:
        assert not [marker for marker in MARKERS if marker in everything_said(m13.PDFLearningAssistant(again))]


def there(assistant, home):
    """Before: it is in the database and in every copy of it."""
    found = files_with_markers(home)
    assert {"prompt_history", "own.jsonl", "backups/before-something.db", "exports/deck.txt"} <= set(found)
    assert {"memory.db", "memory.db-wal"} & set(found)


# ---- A memory ----


def test_a_memory_that_was_told_in_a_question_is_purged(assistant, home):
    answer = assistant.ask(f"{TOLD}。What causes the tide?")
    assistant.ask("我喜欢什么动物？")
    (written, *_) = [receipt for receipt in answer.receipts if receipt.memory_type == "semantic"]
    copies_of(assistant)
    there(assistant, home)
    report = assistant.forget(written.memory_id)
    assert written.memory_id in report.memory_ids and report.turns >= 1 and report.lines == 2
    gone(assistant, home)


@pytest.mark.parametrize("kind", ["episodic", "semantic"])
def test_a_memory_of_either_kind_is_purged_with_its_older_wordings(assistant, home, kind):
    store = getattr(assistant._rag, kind)
    memory_id = store.add(f"About animals 动物: {TOLD}")
    assistant.ask("Tell me about animals 动物")
    store.update(memory_id, content=f"About animals 动物, put otherwise: {TOLD}, {MARKERS[0]} again")
    store.archive(memory_id)
    copies_of(assistant)
    there(assistant, home)
    (home / PROMPT_HISTORY).unlink()  # its lines are not where this memory came from
    assistant.forget(memory_id)
    gone(assistant, home)


def test_a_value_that_was_superseded_is_purged_and_the_new_one_stays(assistant, home):
    old = assistant._rag.semantic.add(TOLD)
    new = assistant._rag.semantic.supersede(old, "我最喜欢的动物是猫头鹰")
    copies_of(assistant)
    assistant.forget(old)
    assert assistant._rag.semantic.get(new).content == "我最喜欢的动物是猫头鹰"
    gone(assistant, home)


def test_a_note_is_purged_with_its_concept(assistant, home):
    receipt = assistant.add_note(TOLD, concept="zebramarker")
    copies_of(assistant)
    there(assistant, home)
    assistant.forget(receipt.memory_id)
    gone(assistant, home)


def test_a_memory_that_is_only_on_the_desk_is_purged(assistant, home):
    memory_id = assistant._rag.working.add(TOLD, 0.9, assistant.session_id)
    assistant._rag.lifecycle.run()
    copies_of(assistant)
    assistant.forget(memory_id)
    gone(assistant, home)


def test_an_event_is_purged_with_the_turn_it_was_told_in_after_the_desk_has_forgotten_it(assistant, home):
    rag, session = assistant._rag, assistant.session_id
    told = f"{TOLD}。" + "注意：必须先读第三章。" * 30
    desk_id = rag.working.add(told, 0.9, session)
    trace = {"noted": True, "written": [desk_id]}
    assistant.transcript.add(session, told, "Noted.", found=False, mode="extractive", trace=trace)
    rag.lifecycle.run()
    (event,) = rag.episodic.list()
    assert len(event.content) < len(told)
    rag.working.clear(session)
    assistant.forget(event.memory_id)
    assert files_with_markers(home) == []


@pytest.mark.parametrize("llm", [ScriptedLLM(default="Your zebramarker animal, 斑马暗号, likes the sea [1].")])
def test_what_a_model_made_of_a_memory_goes_with_it(assistant, home):
    receipt = assistant.add_note("The tide and the moon remind me of my animal", concept="general")
    for _ in range(3):
        assistant.ask("What causes the tide and the moon?", use_mqe=False)
    assert "memory.db-wal" in files_with_markers(home)
    assistant.forget(receipt.memory_id)
    assert files_with_markers(home) == []


@pytest.mark.parametrize("llm", [ScriptedLLM(default="The tide is caused by the moon, as by your zebramarker [1].")])
def test_what_a_model_took_from_the_conversation_goes_with_it(assistant, home):
    (receipt,) = assistant.ask(TOLD).receipts
    assistant.ask("What causes the tide?", use_memory=False)
    assert not assistant.transcript.all_turns()[-1].trace["memories"]
    assistant.forget(receipt.memory_id)
    assert files_with_markers(home) == []


def test_the_same_text_of_another_home_is_not_touched(assistant, home, tmp_path):
    with Storage(tmp_path / "other", embedder=HashEmbedder()) as other:
        theirs = m09.SemanticMemory(other).add(TOLD)
        assistant.forget(assistant._rag.semantic.add(TOLD))
        assert m09.SemanticMemory(other).get(theirs).content == TOLD
        assert m09.SemanticMemory(other).retrieve(TOLD)


def test_purging_leaves_what_is_not_meant(assistant, home):
    kept = [assistant.ask("What causes the tide?").answer, len(assistant.transcript.all_turns())]
    copies_of(assistant)
    assistant.forget(assistant._rag.semantic.add(TOLD))
    assert [assistant.transcript.all_turns()[0].answer, len(assistant.transcript.all_turns())] == kept
    assert "+What causes the tide?\n" in (home / PROMPT_HISTORY).read_text(encoding="utf-8")
    assert [item.content for item in assistant._rag.semantic.list()] == ["Recall comes first."]


def test_words_in_the_log_are_blacked_out(assistant):
    assistant.storage.log("kept", why=f"because of “{TOLD}”", kept=True)
    assistant.forget(assistant._rag.semantic.add(TOLD))
    assert (
        assistant.storage.database.rows("SELECT details FROM log")[0][0] == '{"why": "because of “▇▇▇”", "kept": true}'
    )


def test_a_memory_named_like_a_field_of_the_transcript_does_not_break_it(assistant):
    assistant.ask("What causes the tide?")
    for name in ("document_id", "sources", "quote", "found"):
        assistant.forget(assistant._rag.semantic.add(name))
    assert assistant.transcript.all_turns()[0].trace["sources"][0]["document_id"]
    assistant.resume()


def test_purging_the_unknown_touches_nothing(assistant, home):
    copies_of(assistant)
    assert assistant.forget("nobody") == assistant.forget_turn(12345)
    assert (home / "backups").exists()


# ---- A turn ----


def test_a_turn_is_purged_with_what_it_wrote(assistant, home):
    assistant.ask(f"{TOLD}。What causes the tide?")
    assistant.ask(f"What is a {MARKERS[0]} 斑马暗号?")
    copies_of(assistant)
    there(assistant, home)
    for turn in assistant.transcript.all_turns():
        assistant.forget_turn(turn.turn_id)
    assert assistant.transcript.all_turns() == []
    gone(assistant, home)


# ---- Cards and exports ----


def answered_and_exported(assistant, card):
    """A card that was answered, exported in every way."""
    assistant.tutor.answer(card.card_id, TOLD)
    for place in (None, assistant.storage.home / "mine"):
        if place is not None:
            place.mkdir()
        for kind in ("anki", "markdown", "json"):
            assistant.export(kind, place)


def test_cards_of_a_purged_note_go_with_their_grades_and_exports(assistant, home):
    receipt = assistant.add_note(TOLD, concept="zebramarker")
    (card, *_) = [card for card in assistant.quiz("zebramarker").cards if card.note_id]
    answered_and_exported(assistant, card)
    assert any("report.md" in name for name in files_with_markers(home))
    assistant.forget(receipt.memory_id)
    assert assistant.tutor.cards.list() == [] and list((home / "mine").iterdir()) == []
    gone(assistant, home)


def test_cards_of_a_purged_document_go_with_their_grades_and_exports(assistant, home):
    assistant.load_text(BOOK + "\n\nZebramarker is the name of an animal with stripes.\n", "animals.md")
    (card, *_) = assistant.quiz(document="animals.md").cards
    assert card.answer == "Zebramarker"
    answered_and_exported(assistant, card)
    assistant.remove_document("animals.md", purge=True)
    assert assistant.tutor.cards.list() == [] and assistant.tutor.cards.reviews() == []
    gone(assistant, home)


def test_what_was_purged_is_blacked_out_in_answers_to_other_cards(assistant, home):
    (card,) = assistant.tutor.cards.add(
        [Draft("cloze", "The ____ pulls the sea.", "moon", "The moon pulls the sea.", "p")]
    )
    answered_and_exported(assistant, card)
    assistant.forget(assistant._rag.semantic.add(TOLD))
    assert [review.given for review in assistant.tutor.cards.reviews()] == ["▇▇▇"]
    gone(assistant, home)


# ---- A document ----


def test_a_purged_document_is_in_no_file(assistant, home):
    assistant.load_text(BOOK, "animals.md")
    for question in ("Where did the quagga live?", "How many stripes has its cousin?", "the second one?", "那它呢？"):
        assistant.ask(question)
    assistant.ask("What causes the tide?")
    copies_of(assistant)
    (home / PROMPT_HISTORY).unlink()
    (home / "exports" / "deck.txt").write_text(BOOK, encoding="utf-8")
    assert "own.jsonl" in files_with_markers(home)
    asked = [turn.question for turn in assistant.transcript.all_turns()]
    assistant.remove_document("animals.md", purge=True)
    assert [turn.question for turn in assistant.transcript.all_turns()] == asked
    assert [info.name for info in assistant.documents()] == ["tides.md"]
    gone(assistant, home)


@pytest.mark.parametrize("llm", [ScriptedLLM(default="Its cousin, the zebramarker, has fifty stripes [1].")])
def test_what_a_model_said_from_a_purged_document_goes_with_it(assistant, home):
    assistant.load_text(BOOK, "animals.md")
    for question in ("How many stripes has the cousin of the quagga?", "What causes the tide?", "And the second?"):
        assistant.ask(question)
    assistant.remove_document("animals.md", purge=True)
    assert files_with_markers(home) == []


def test_a_removed_document_leaves_search_and_its_answers_stay_in_the_transcript(assistant, home):
    assistant.load_text(BOOK, "animals.md")
    answer = assistant.ask("How many stripes has the cousin of the quagga?")
    assistant.remove_document("animals.md")
    assert assistant.transcript.all_turns()[-1].answer == answer.answer
    assert not assistant.ask("How many stripes has the cousin of the quagga?").found
    assert assistant.storage.search_words("chunk", tokens(MARKERS[0]), 5) == []


def test_a_note_on_a_removed_document_stays_and_says_so(assistant):
    assistant.load_text(BOOK, "animals.md")
    assistant.add_note("Fifty stripes!", concept="animals", document="animals.md", page=1)
    assert "source_removed" not in assistant.review("animals").noted[0].metadata
    assistant.remove_document("animals.md", purge=True)
    (note,) = assistant.review("animals").noted
    assert (note.content, note.metadata["source_removed"]) == ("Fifty stripes!", True)


def test_knowledge_loses_the_sources_that_stood_on_a_removed_document(assistant):
    rag = assistant._rag
    info = assistant.load_text(BOOK, "animals.md")
    gone = [rag.episodic.add(f"event {n}", pages=[[info.document_id, 1]]) for n in range(2)]
    stays = rag.episodic.add("an event of its own")
    both = rag.semantic.add("made of two", derived_from=[gone[0], stays], kind="theme")
    alone = rag.semantic.add("made of one", derived_from=[gone[1]], kind="theme")
    assistant.remove_document("animals.md")
    assert rag.semantic.get(both).derived_from == [stays]
    assert not rag.semantic.has_memory(alone)


def read_and_remove(assistant, *, change=False):
    """A book is asked about, and what was made of that answer and of one from another book is recalled, before the book is
    removed as usual, or gives way to a changed file."""
    rag = assistant._rag
    info = assistant.load_text(BOOK, "animals.md")
    assistant.ask("Which animal has fifty stripes?")
    (event,) = [item for item in rag.episodic.list() if item.metadata["pages"][0][0] == info.document_id]
    tide = rag.episodic.add("Asked what causes the tide", pages=[])
    theme = rag.semantic.add("Keeps coming back to the zebramarker and the tide", derived_from=[event.memory_id, tide],
                             kind="theme", source="model")  # fmt: skip
    above = rag.semantic.add("The zebramarker is on their mind", derived_from=[theme], source="model")
    assistant.ask("What about the tide do I keep coming back to?")
    if change:
        assistant.load_text("# Animals\n\nThe lynx hunts at night in the northern woods.\n", "animals.md")
    else:
        assistant.remove_document("animals.md")
    return theme, above, tide


@pytest.mark.parametrize("change", [False, True], ids=["removed", "changed"])
def test_what_was_made_of_several_events_goes_when_one_of_their_documents_is_purged_later(assistant, home, change):
    theme, above, tide = read_and_remove(assistant, change=change)
    assert assistant._rag.semantic.get(theme).derived_from == [tide]
    assert "zebramarker" in everything_said(assistant)
    if change:
        assistant.remove_document("animals.md", purge=True)
    else:
        assert assistant.purge_removed("animals.md") > 0
    assert not any(map(assistant._rag.semantic.has_memory, (theme, above)))
    assert assistant._rag.episodic.has_memory(tide)
    gone(assistant, home)


def test_a_purge_at_once_takes_recalled_memories_out_of_the_transcript(assistant, home):
    assistant.load_text(BOOK, "animals.md")
    assistant.ask("Which animal has fifty stripes?")
    (event,) = [item for item in assistant._rag.episodic.list() if item.metadata.get("pages")]
    assistant._rag.semantic.add("Keeps coming back to the zebramarker", derived_from=[event.memory_id], source="model")
    answer = assistant.ask("What keeps coming back, the tide?")
    assert any("zebramarker" in memory.content for memory in answer.memories)
    assistant.remove_document("animals.md", purge=True)
    gone(assistant, home)


def test_a_removed_document_that_only_a_memory_remembers_can_still_be_purged(assistant):
    theme, _, _ = read_and_remove(assistant)
    for turn in assistant.transcript.all_turns():
        assistant.forget_turn(turn.turn_id)
    assert assistant._rag.semantic.has_memory(theme)
    assistant.purge_removed("animals.md")
    assert not assistant._rag.semantic.has_memory(theme)


def test_what_was_made_of_what_was_made_goes_with_its_last_source_and_a_correction_stays(assistant):
    rag = assistant._rag
    info = assistant.load_text(BOOK, "animals.md")
    event = rag.episodic.add("an event", pages=[[info.document_id, 1]])
    theme = rag.semantic.add("made of one", derived_from=[event], kind="theme")
    above = rag.semantic.add("made of that", derived_from=[theme])
    corrected = rag.semantic.supersede(theme, "The learner knows better", source="user")
    assistant.remove_document("animals.md")
    assert not rag.semantic.has_memory(theme) and not rag.semantic.has_memory(above)
    assert rag.semantic.has_memory(corrected)


# ---- What stands in the way ----


def test_a_deletion_that_was_interrupted_is_finished_at_the_next_start(assistant, home, monkeypatch):
    memory_id = assistant._rag.semantic.add(TOLD)
    copies_of(assistant)
    monkeypatch.setattr(Storage, "erase_traces", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        assistant.forget(memory_id)
    monkeypatch.undo()
    assert not assistant._rag.semantic.has_memory(memory_id)
    assistant.storage.close()
    assert files_with_markers(home) != []
    with m13.open_assistant(import_module("infrastructure.settings").Settings.load({"home": home, "embedder": "none"})):
        pass
    assert files_with_markers(home) == []


def test_while_another_process_holds_the_vectors_the_text_goes_and_its_vectors_at_the_next_start(assistant, home):
    assistant.storage.settle()
    with Storage(home, embedder=HashEmbedder()) as second:
        eraser = m13.PDFLearningAssistant(second)
        eraser.forget(eraser._rag.semantic.add(TOLD))
        assert [file for file in files_with_markers(home) if not file.startswith("chroma/")] == []
        assert "goes at the next start" in second.notices[0]
        assert second.database.get_meta(ERASING) == "1"
    assistant.storage.finish_erasing()
    assert not assistant.storage.owes_erasing


def test_a_deletion_that_still_cannot_be_finished_does_not_keep_a_learner_from_studying(home, monkeypatch):
    with Storage(home) as storage:
        storage.database.set_meta(ERASING, "1")

    def refuse(self):
        raise HomeError("a.db cannot be deleted; delete it yourself.")

    monkeypatch.setattr(Storage, "erase_traces", refuse)
    settings = import_module("infrastructure.settings").Settings.load({"home": home, "embedder": "none"})
    with m13.open_assistant(settings) as assistant:
        assert assistant.storage.notices == ["a.db cannot be deleted; delete it yourself."]
        assert assistant.get_stats()["documents"] == 0


def test_a_copy_that_cannot_be_deleted_is_said_and_stays_owed(assistant, home, monkeypatch):
    memory_id = assistant._rag.semantic.add(TOLD)
    copies_of(assistant)
    delete = shutil.rmtree

    def refuse_backups(path, **options):
        if path.name == "backups":
            raise PermissionError(13, "Permission denied", str(path))
        delete(path, **options)

    monkeypatch.setattr(shutil, "rmtree", refuse_backups)
    with pytest.raises(HomeError, match="cannot be deleted"):
        assistant.forget(memory_id)
    monkeypatch.undo()
    assert assistant.storage.owes_erasing
    assert assistant.doctor().wrong[0].name == "deletion"
    assistant.repair()
    gone(assistant, home)
