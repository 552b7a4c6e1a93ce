"""What is in one home is in no other, and what was said in one session is on no other session's desk.

The entry points are found by looking, so that a method added tomorrow is tried, too: each is called on a home that knows
nothing, with the words and ids of a home that knows. To see that the calls would show something, they are made on that home
as well.
"""

import inspect
import io
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from support import HashEmbedder

from infrastructure.cards import CardTable
from infrastructure.database import Database
from infrastructure.erasure import Eraser
from infrastructure.graph import EntityGraph
from infrastructure.lesson import StoppedClock
from infrastructure.library import Library
from infrastructure.shelves import scope_token
from infrastructure.storage import Storage
from infrastructure.text import tokens
from infrastructure.transcript import Transcript
from study import commandline
from study.commands import COMMANDS
from study.memory_book import MemoryBook
from study.tutor import Tutor

m09 = import_module("09_memory_system")
m10 = import_module("10_memory_lifecycle")
m11 = import_module("11_unified_retrieval")
m12 = import_module("12_memory_enhanced_rag")
m13 = import_module("13_pdf_learning_assistant")

MARKER = "zebramarker"
QUERY = "animals 动物 stripes"  # the marker itself would come back in an echo of the question
THEIRS = f"# Animals 动物\n\nThe {MARKER} is an animal 动物 with fifty stripes.\n"
OURS = "# Animals 动物\n\nThe quagga is an animal 动物 with few stripes.\n"


@dataclass
class Home:
    """An assistant on a home of its own, and what an intruder could know of it."""

    assistant: Any
    document_id: str = ""
    memory_id: str = ""
    event_id: str = ""
    desk_id: str = ""
    card_id: str = ""

    @property
    def session_id(self) -> str:
        return self.assistant.session_id

    def parts(self) -> dict[str, Any]:
        """Everything with public methods that stands on this home, by the name of its class."""
        rag = self.assistant._rag
        parts = [self.assistant, rag, rag.working, rag.episodic, rag.semantic, rag.semantic.graph, rag.retriever]
        parts += [
            self.assistant.memories,
            self.assistant.tutor,
            self.assistant.tutor.cards,
            rag.lifecycle,
            rag.lifecycle.eraser,
            rag.transcript,
            rag.library,
            rag.storage,
            rag.storage.database,
        ]
        return {type(part).__name__: part for part in parts}


def made(folder: Path, text: str, told: str) -> Home:
    storage = Storage(folder, embedder=HashEmbedder(), now=StoppedClock())
    home = Home(m13.PDFLearningAssistant(storage))
    home.document_id = home.assistant.load_text(text, f"{told}.md").document_id
    home.assistant.ask(f"Is the {told} an animal with stripes?")
    home.memory_id = home.assistant.add_note(f"{told} is my favourite of all animals 动物", concept=told).memory_id
    home.event_id = home.assistant._rag.episodic.add(f"saw a {told} among the animals 动物", session_id=home.session_id)
    home.desk_id = home.assistant._rag.working.add(f"{told} and other animals 动物", 0.9, home.session_id)
    home.card_id = home.assistant.quiz(told, count=1).cards[0].card_id
    home.assistant.tutor.answer(home.card_id, told)
    storage.settle()
    return home


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """(one that knows the marker, one that does not), open at the same time in this process."""
    folder = tmp_path_factory.mktemp("homes")
    knowing, other = made(folder / "theirs", THEIRS, MARKER), made(folder / "ours", OURS, "quagga")
    yield knowing, other
    for home in (knowing, other):
        home.assistant.close()
        home.assistant.storage.close()


def arguments(home: Home, class_name: str) -> dict[str, Any]:
    """What to pass for a parameter of a name, whichever method it belongs to: words and ids of the home that knows."""
    row_id = home.assistant.storage.text(home.memory_id).id
    own_id = {"WorkingMemory": home.desk_id, "EpisodicMemory": home.event_id}.get(class_name, home.memory_id)
    place = {"document_id": home.document_id, "page": 1, "first": 0, "last": 9, "start": 0, "end": 80}
    rows = {"ids": range(1, 50), "row_ids": range(1, 50), "text_id": row_id, "id": row_id, "turn_id": 1}
    where = {
        "scope": home.document_id,
        "session_id": home.session_id,
        "places": [(home.session_id, 0)],
        "shelf": "semantic",
    }
    which = {"memory_id": own_id, "memory_ids": [home.memory_id, home.event_id, home.desk_id], "key": own_id}
    which["beginning"] = home.memory_id[:8]
    words = {
        "query": QUERY,
        "terms": tokens(QUERY),
        "prefix": MARKER[:4],
        "beginning": home.memory_id[:8],
        "name": MARKER,
        "fingerprints": ["x"],
    }
    much = {"limit": 50, "top_k": 20, "max_age": m13.SESSION_PAUSE, "strategy": "capacity", "chosen": m09.Filter()}
    files = {"path": Path("/nowhere.jsonl"), "doc_name": "new", "sql": "SELECT 1"}
    cards = {"card_id": home.card_id, "card_ids": [home.card_id], "review_id": 1, "topic": QUERY}
    if class_name == "CardTable":
        cards["beginning"] = home.card_id[:8]
    return place | rows | where | which | words | much | files | cards


CLASSES = {
    cls.__name__: cls
    for cls in (
        *(
            m13.PDFLearningAssistant,
            m12.MemoryRAG,
            m11.UnifiedRetriever,
            m10.MemoryLifecycleManager,
            Eraser,
            MemoryBook,
        ),
        *(
            m09.WorkingMemory,
            m09.EpisodicMemory,
            m09.SemanticMemory,
            EntityGraph,
            Library,
            Transcript,
            Storage,
            Database,
            CardTable,
            Tutor,
        ),
    )
}
LEAVE_ALONE = {  # they end or change what the other calls stand on, and give nothing back
    *("close", "use_embedder", "switch_embedder", "start_worker", "warm_up", "start_background", "stop", "wake"),
    *("rewriting", "transaction", "snapshot", "aquery", "insert", "use_model"),
}


def entry_points() -> list[tuple[str, str]]:
    """(class, method or property) of everything public."""
    return [
        (name, member)
        for name, cls in CLASSES.items()
        for member, value in inspect.getmembers(cls)
        if not member.startswith("_") and member not in LEAVE_ALONE and (callable(value) or isinstance(value, property))
    ]


def called(part: Any, name: str, known: Home) -> str:
    """What a method gives back when it is called with what is known, as text; what it refuses is said, too."""
    member = getattr(part, name)
    if not callable(member):
        return repr(member)
    values, given = arguments(known, type(part).__name__), {}
    positional = []
    for parameter in inspect.signature(member).parameters.values():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            if (
                parameter.name in ("session_id", "scope", "limit", "top_k", "min_relevance")
                and parameter.name in values
            ):
                given[parameter.name] = values[parameter.name]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            given[parameter.name] = values.get(parameter.name, QUERY)
        else:
            positional.append(values.get(parameter.name, QUERY))
    try:
        result = member(*positional, **given)
        return repr(list(result) if inspect.isgenerator(result) else result)
    except Exception as error:  # noqa: BLE001  a call that makes no sense here is refused, and may say too much
        return repr(error)


@pytest.mark.parametrize(("cls", "name"), entry_points())
def test_no_entry_point_shows_what_another_home_holds(homes, cls, name):
    knowing, other = homes
    before = knowing.assistant.get_stats()
    assert MARKER not in called(other.parts()[cls], name, knowing).replace(f"{MARKER!r}", "")
    assert knowing.assistant.get_stats() == before
    assert knowing.assistant.storage.text(knowing.memory_id) is not None


SAYS_IT_AT_HOME = {
    "PDFLearningAssistant": ["documents", "find_document", "review", "ask", "sessions", "notes"],
    "MemoryRAG": ["query"],
    "MemoryBook": ["page", "search", "find", "notes", "export"],
    "UnifiedRetriever": ["search"],
    "WorkingMemory": ["get", "items", "list", "get_recent", "get_important", "get_context_summary", "retrieve"],
    "EpisodicMemory": ["get", "list", "export", "timeline", "retrieve"],
    "SemanticMemory": ["get", "list", "export", "export_knowledge_graph", "search_entities", "retrieve", "items"],
    "EntityGraph": ["search", "to_graphml", "to_jsonld"],
    "Library": ["documents", "page", "passages_between", "passages", "quote"],
    "Transcript": ["turns", "all_turns", "turn", "sessions"],
    "Storage": ["texts", "text"],
    "Tutor": ["about"],
    "CardTable": ["get", "find", "list", "reviews", "review"],
}


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls in SAYS_IT_AT_HOME for name in SAYS_IT_AT_HOME[cls]])
def test_the_same_calls_do_show_it_at_home(homes, cls, name):
    knowing, _ = homes
    assert MARKER in called(knowing.parts()[cls], name, knowing)


def test_no_file_of_the_other_home_holds_it(homes):
    _, other = homes
    files = [file for file in other.assistant.storage.home.rglob("*") if file.is_file() and "chroma" not in file.parts]
    assert [file for file in files if MARKER.encode() in file.read_bytes()] == []


# ---- The command line ----

WORDS = {
    "load": ["no-such.pdf"], "ask": ["Which animal has fifty stripes?"], "note": ["an animal"], "review": ["animals 动物"],
    "page": ["1"], "open": ["1"],
    "memory": ["list", "--status", "all"], "remove": ["no-such.md"], "restore": ["no-such.jsonl"],
}  # fmt: skip


@pytest.mark.parametrize("command", [command.name for command in COMMANDS if command.where == "both"])
def test_no_command_shows_what_another_home_holds(tmp_path, command):
    def run(home: str, *words: str) -> str:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        commandline.run(
            ["--home", str(tmp_path / home), "--embedder", "none", *words],
            open_assistant=m13.open_assistant, lesson=lambda home: iter(()), stdin=None, stdout=out, stderr=err,
        )  # fmt: skip
        return "".join(stream.buffer.getvalue().decode() for stream in (out, err) if not stream.flush())

    for home, text in (("theirs", THEIRS), ("ours", OURS)):
        (tmp_path / f"{home}.md").write_text(text, encoding="utf-8")
        assert "loaded" in run(home, "load", str(tmp_path / f"{home}.md"))
    run("theirs", "note", f"{MARKER} is my favourite animal 动物")
    for form in ([], ["--json"]):
        assert MARKER not in run("ours", command, *WORDS.get(command, []), *form)
    if command in ("ask", "review", "memory"):
        assert MARKER in run("theirs", command, *WORDS[command])


# ---- Sessions ----

ALIKE = ["s1", "S1", "s", "s10", "s1 ", "ｓ1", "s%", "s_", "s1' OR 1 --", "", "默认", "默認"]


@pytest.fixture
def desk():
    desk = m09.WorkingMemory(now=StoppedClock())
    for session in ALIKE:
        desk.add(f"apple of {session!r}", 0.9, session)
    return desk


@pytest.mark.parametrize("session", ALIKE)
def test_a_desk_is_one_sessions_own_whatever_the_others_are_called(desk, session):
    own = [f"apple of {session!r}"]
    shown = {
        "items": desk.items(session), "list": desk.list(session_id=session), "recent": desk.get_recent(9, session_id=session),
        "important": desk.get_important(9, session_id=session),
        "retrieve": [hit.item for hit in desk.retrieve("apple", 20, session_id=session)],
    }  # fmt: skip
    assert {name: [item.content for item in items] for name, items in shown.items()} == dict.fromkeys(shown, own)
    assert desk.get_context_summary(500, session_id=session) == own[0]
    assert desk.size(session) == 1


def test_clearing_one_desk_leaves_the_others(desk):
    desk.clear("s1")
    assert set(desk.sessions()) == set(ALIKE) - {"s1"}


@pytest.mark.parametrize("kind", [m09.EpisodicMemory, m09.SemanticMemory])
def test_a_session_filter_is_exact(tmp_path, kind):
    with Storage(tmp_path / "home", embedder=HashEmbedder(), now=StoppedClock()) as storage:
        store = kind(storage)
        told = {
            session: f"apple {number}" for number, session in enumerate(ALIKE)
        }  # knowledge is told once, whoever tells it
        store.add_many([m09.MemoryItem(text, store.memory_type, session_id=session) for session, text in told.items()])
        for settled in (False, True):
            for session in ALIKE:
                own = [told[session]]
                hits = store.retrieve("apple", 20, session_id=session, min_relevance=0.0)
                assert [hit.item.content for hit in hits] == own
                assert [item.content for item in store.list(session_id=session)] == own
                assert store.size(session) == 1
            if not settled:
                storage.settle()
        assert store.clear("s1") == 1
        assert store.size() == len(ALIKE) - 1


def test_sessions_of_the_transcript_do_not_mix(tmp_path):
    with Storage(tmp_path / "home") as storage:
        transcript = Transcript(storage)
        for session in ALIKE:
            transcript.add(session, f"question of {session!r}", "", found=False, mode="llm", trace={})
        for session in ALIKE:
            assert [turn.question for turn in transcript.turns(session)] == [f"question of {session!r}"]


def test_names_of_sessions_become_different_words_of_the_index():
    assert len({scope_token(session) for session in ALIKE}) == len(ALIKE)


def test_a_conversation_leans_on_its_own_session_only(tmp_path):
    with Storage(tmp_path / "home", now=StoppedClock()) as storage:
        rag = m12.MemoryRAG(storage, session_id="one")
        m11.shelve(rag.library, m12.PARAGRAPHS)
        rag.query("RAG 系统怎么评估？")
        rag.set_session("two")
        assert "评估" not in rag.query("那这个怎么优化？").enriched_query
        rag.set_session("one")
        assert "评估" in rag.query("那这个怎么优化？").enriched_query
