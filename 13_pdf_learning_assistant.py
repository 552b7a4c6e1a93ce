"""13 · The study helper: what a learner does, and nothing of how it is done.

After this script you can explain why documents are cut along their headings, why a note is memory and not a document, and
why a review of what *I* learned is another thing than a summary of the book.

    load  file → pages → chunks with heading path and pages → library        ask     MemoryRAG.query (script 12)
    note  my words → semantic memory, with concept and page                  review  what I asked, noted, got wrong, never opened
    quiz  pages and notes → questions → my answers → grades → when each comes back

Used as a program this is the daily study helper; see README.md, or type

    python 13_pdf_learning_assistant.py --help
    python 13_pdf_learning_assistant.py lesson [--lang en|zh]

Article: §6 the application; §6.1 chunks along the structure; §6.2 notes; §6.3 review; §6.4 ids that cannot collide.
"""

import sys
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infrastructure.calibration import RELEVANT
from infrastructure.errors import HomeError, UsageError
from infrastructure.language import tr
from infrastructure.lineage import forget_sources
from infrastructure.text import content_tokens, repair, tokens
from study.memory_book import MemoryBook

if TYPE_CHECKING:
    import memory_enhanced_rag as m12

    from infrastructure.erasure import PurgeReport
    from infrastructure.health import Checkup
    from infrastructure.library import DocumentInfo
    from infrastructure.settings import Settings
    from infrastructure.transfer import Summary
    from study.exports import Exported
    from study.lookback import Mistake, Section
    from study.reading import SourceDocument
    from study.schedule import Timetable
    from study.tutor import Quiz

# Script 12 and what hangs on it are imported in `open_assistant`: --help must not wait for them.

# ---- §6.1 Chunks along the structure (Markdown 结构感知分块) ----

# A passage about one thing: with 320, an evidence page was among five cited ones in 0.83 of the cases, with 200 in 0.87.
MAX_TOKENS = 200
OVERLAP_TOKENS = 30  # a sentence or so, for what a chunk refers to is not always in the one before

LONGEST_NOTE = (
    20_000  # characters, a dozen pages: what is longer is a document, and is found better when cut into passages
)

Heading = tuple[int, int, str]  # offset in the text, level from 1, title


def chunk_markdown_with_paths(
    text: str,
    *,
    max_tokens: int = MAX_TOKENS,
    overlap_tokens: int = OVERLAP_TOKENS,
    headings: Sequence[Heading] | None = None,
    breaks: Sequence[int] = (),
    base_path: str = "",
) -> list[dict[str, Any]]:
    """Cut a text along its headings into {"content", "heading_path", "index", "start", "end"}, content = text[start:end].

    headings None: Markdown's own, never those inside code fences. A chunk stays within max_tokens (estimate_tokens_mixed),
    ends at a paragraph if it can and at a sentence if it must, and repeats up to overlap_tokens (a quarter of max_tokens at
    most) of the one before it in its section. A code block or table is not cut unless it is too long by itself. breaks:
    ascending offsets that no chunk crosses, such as the beginnings of pages, so that a chunk names the page it is on.
    """
    from study.chunking import packed, units_of

    if headings is None:
        from study.plaintext import markdown_headings

        headings = markdown_headings(text)
    chunks: list[dict[str, Any]] = []
    sections = _cut_at(breaks, _sections(text, headings, base_path))
    for (start, end, path), (_, _, following) in pairwise([*sections, (0, 0, "")]):
        carried = path and f"{following} > ".startswith(f"{path} > ")
        if carried and "".join(tokens(text[start:end])) in "".join(tokens(path)):
            continue  # nothing but its own title, which the paths below it carry
        for span in packed(
            text, units_of(text, start, end, max_tokens), max_tokens, min(overlap_tokens, max_tokens // 4)
        ):
            content = text[span[0] : span[1]]
            chunks.append(
                {"content": content, "heading_path": path, "index": len(chunks), "start": span[0], "end": span[1]}
            )
    return chunks


def _sections(text: str, headings: Sequence[Heading], base_path: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, heading path) of every stretch between headings; a path joins the titles in force with " > "."""
    open_titles: list[tuple[int, str]] = []
    start, path = 0, base_path
    for offset, level, title in [*headings, (len(text), 0, "")]:
        if offset > start:
            yield start, offset, path
        while open_titles and open_titles[-1][0] >= level:
            open_titles.pop()
        open_titles.append((level, title))
        path = " > ".join(filter(None, [base_path, *(title for _, title in open_titles)]))
        start = offset


def _cut_at(breaks: Sequence[int], sections: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    for start, end, path in sections:
        inside = breaks[bisect_right(breaks, start) : bisect_left(breaks, end)]
        for first, last in pairwise([start, *inside, end]):
            yield first, last, path


# ---- §6 What a learner gets back ----


@dataclass(frozen=True)
class LoadReport:
    """What loading did. action: "loaded", "already here", "replaced" or, after Ctrl-C, "stopped". warnings are sentences."""

    name: str
    document_id: str
    action: str
    pages: int
    chunks: int
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Review:
    """What *I* learned about a topic (D16). asked and noted are in the order of time, wrong (answers in a quiz) the latest first.

    sections: where the documents speak of it. gaps: parts of the same chapters that were never touched. next_step: a sentence.
    """

    topic: str
    asked: list["m12.Turn"]
    noted: list[Any]
    known: list[Any]
    sections: list["Section"]
    wrong: list["Mistake"] = field(default_factory=list)
    gaps: list["Section"] = field(default_factory=list)
    next_step: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.asked or self.noted or self.known or self.wrong)


# ---- §6 PDFLearningAssistant ----

SESSION_PAUSE = timedelta(minutes=120)  # a one-shot question within this time goes on with the last session


class PDFLearningAssistant:
    """The learner's actions, on one home. `storage` is open and stays the caller's to close; `llm` None: extractive answers."""

    def __init__(
        self, storage, *, llm=None, reranker=None, session_id: str | None = None, timetable: "Timetable | None" = None
    ) -> None:
        from infrastructure.cards import CardTable
        from study import quizmaker, schedule, tutor

        self.storage = storage
        m12 = import_module("12_memory_enhanced_rag")
        self._rag = m12.MemoryRAG(storage, llm=llm, reranker=reranker, session_id=session_id or m12.Transcript.new_id())
        self.library = self._rag.library
        self.transcript = self._rag.transcript
        self.memories = MemoryBook(self._rag.lifecycle)
        cards = CardTable(storage)
        maker = quizmaker.QuizMaker(self.library, cards, self._rag.retriever, self._rag.semantic)
        self.tutor = tutor.Tutor(storage, maker, cards, timetable or schedule.Timetable())

    # ---- §6 documents ----

    def load_document(
        self,
        path: str | Path,
        *,
        password: str | None = None,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> LoadReport:
        """Read a file and make it searchable by words at once; vectors follow (`settle`, or the background worker).

        The same content again changes nothing; a changed file replaces its old text without a trace (D14). Raises
        DocumentError with one sentence when there is nothing to read. progress(page, pages, stage) is called as pages are
        read. Ctrl-C keeps the pages read by then; loading the file again reads the rest.
        """
        from study import reading

        file, content_hash = reading.identify(path)
        finished, unfinished = ([*filter(None, map(self.library.find, hashes))]
                                for hashes in reading.hashes_of_readings(content_hash))  # fmt: skip
        if finished:
            return self._already_here(finished[0], str(file), file.name)
        document = reading.read_document(file, password=password, progress=progress)
        return self._store(document, replaces=self.library.at_path(str(file)), rest_of=unfinished)

    def load_text(self, text: str, doc_name: str = "document") -> LoadReport:
        """The same for a text at hand; a changed text of the same name replaces the old one."""
        from study import reading

        document = reading.read_text(text, doc_name)
        known = self.library.find(document.content_hash)
        path = f"text:{doc_name}"
        if known is not None:
            return self._already_here(known, path)
        document.path = path
        return self._store(document, replaces=self.library.at_path(path))

    def _already_here(self, document_id: str, path: str, name: str = "") -> LoadReport:
        """The content is known; another text may have been at this path before, and a file (with a name) may have moved."""
        self._take_out([old for old in self.library.at_path(path) if old != document_id])
        if name and not Path(self.find_document(document_id).path).exists():
            self.library.rename(document_id, name=name, path=path)
        info = self.find_document(document_id)
        return LoadReport(info.name, document_id, "already here", info.pages, info.chunks, info.warnings)

    def _store(self, document: "SourceDocument", *, replaces: Sequence[str], rest_of: Sequence[str] = ()) -> LoadReport:
        """rest_of: earlier readings of the same content that were not finished; they go, but nothing has changed."""
        from infrastructure.library import NewChunk, StoredPage

        chunks = []
        for chunk in chunk_markdown_with_paths(document.text, headings=document.headings, breaks=document.page_starts):
            first, last = (self._page_at(document, offset) for offset in (chunk["start"], chunk["end"] - 1))
            chunks.append(NewChunk(chunk["content"], chunk["heading_path"], chunk["start"], chunk["end"], first, last))
        pages = [StoredPage(p.number, p.label, p.heading_path, p.raw, p.clean, list(p.offsets)) for p in document.pages]
        for old in (gone := {*replaces, *rest_of}):
            self._forget_answers_from(old)
        document_id = self.library.add(
            name=document.name,
            path=document.path,
            media_type=document.media_type,
            content_hash=document.content_hash,
            pages=pages,
            chunks=chunks,
            outline=[(entry.level, entry.title, entry.page) for entry in document.outline],
            warnings=document.warnings,
            replaces=gone,
        )
        if gone:
            self.tutor.follow(sorted(gone), document_id, pages)
            self._rag.set_session(self._rag.session_id)
        action = "stopped" if document.stopped else "replaced" if gone - set(rest_of) else "loaded"
        return LoadReport(document.name, document_id, action, len(pages), len(chunks), document.warnings)

    @staticmethod
    def _page_at(document: "SourceDocument", offset: int) -> int:
        return document.pages[max(0, bisect_right(document.page_starts, offset) - 1)].number

    def documents(self) -> list["DocumentInfo"]:
        return self.library.documents()

    def find_document(self, name: str) -> "DocumentInfo":
        """The one document meant by a name, an id, a part of either, or a number in the list. UsageError when none or several
        are."""
        from study.choosing import document_among

        return document_among(self.documents(), name)

    def remove_document(self, name: str, *, purge: bool = False) -> "DocumentInfo":
        """Take a document with its pages, chunks, vectors and the memories of answers from it. Notes and cards are the
        learner's own: they stay. Past answers stay in the transcript, unless `purge`: then what they quoted is blacked out,
        backups in the home are deleted, and no byte of the document is left in any file."""
        info = self.find_document(name)
        eraser = self._rag.lifecycle.eraser
        with self.storage.transaction():
            if purge:  # with what is left of its earlier versions
                here = {other.document_id for other in self.documents() if other.document_id != info.document_id}
                for document_id in {info.document_id, *eraser.quoted_under(info.name)} - here:
                    eraser.document(document_id)
            self._take_out([info.document_id])
        if purge:
            eraser.finish()
        return info

    def removed_earlier(self, name: str) -> set[str]:
        """Ids of documents of this very name that are gone, while answers or cards still quote them; none while one is here."""
        here = self.documents()
        if any(name.casefold() in (info.name.casefold(), info.document_id, info.path.casefold()) for info in here):
            return set()
        return self._rag.lifecycle.eraser.quoted_under(name) - {info.document_id for info in here}

    def purge_removed(self, name: str) -> int:
        """What answers and cards have kept of documents removed earlier goes, with the backups. Returns how many turns did."""
        eraser = self._rag.lifecycle.eraser
        with self.storage.transaction():
            turns = sum(eraser.document(document_id) for document_id in self.removed_earlier(name))
        eraser.finish()
        self._rag.set_session(self._rag.session_id)
        return turns

    def _take_out(self, document_ids: Sequence[str]) -> None:
        if not document_ids:
            return
        with self.storage.transaction():
            for document_id in document_ids:
                self._forget_answers_from(document_id)
                self.library.remove(document_id)
        self._rag.set_session(self._rag.session_id)

    def _forget_answers_from(self, document_id: str) -> None:
        events = self._rag.episodic.list(status=None, limit=-1)
        gone = [e for e in events if any(place[0] == document_id for place in e.metadata.get("pages", []))]
        self._rag.episodic.remove_many([event.memory_id for event in gone])
        name = next(info.name for info in self.documents() if info.document_id == document_id)
        forget_sources(gone, self._rag.semantic, document_id, name)

    def settle(self, progress: Callable[[int, int], None] | None = None):
        """Make the vectors that are still owed, here and now. progress(done, total) counts them; returns what is left."""
        return self.storage.settle(progress)

    # ---- §6 asking ----

    def ask(
        self,
        question: str,
        *,
        top_k: int = 5,
        use_mqe: bool = True,
        use_hyde: bool = False,
        use_memory: bool = True,
        on_text: Callable[[str], None] | None = None,
    ) -> "m12.Answer":
        """Ask the documents; see MemoryRAG.query. A question without a word, or a text in place of one, is a UsageError."""
        from infrastructure.utterance import LONGEST_QUESTION

        if len(question) > LONGEST_QUESTION:
            raise UsageError(
                tr(
                    f"The question has {len(question):,} characters, {LONGEST_QUESTION:,} are the most; ask briefly, and load a "
                    "long text as a file.",
                    f"问题有 {len(question):,} 个字符，最多 {LONGEST_QUESTION:,} 个；请简短提问，长文本请存成文件后加载。",
                )
            )
        if not tokens(question):
            raise UsageError(tr("The question is empty; type what you want to know.", "问题是空的；请输入想问的内容。"))
        return self._rag.query(question, use_mqe, use_hyde, top_k, use_memory=use_memory, on_text=on_text)

    # ---- §6.2 Notes go to semantic memory (笔记进入语义记忆) ----

    def add_note(
        self, content: str, *, concept: str = "general", document: str | None = None, page: int | None = None
    ) -> "m12.Receipt":
        """Keep the learner's own words, verbatim, with their concept and place. A note with a secret in it is refused."""
        from infrastructure.answers import Receipt
        from infrastructure.told import receipt
        from infrastructure.utterance import secret_in

        if not content.strip():
            raise UsageError(tr("The note is empty; type what to keep.", "笔记是空的；请输入要记下的内容。"))
        if len(content) > LONGEST_NOTE:
            raise UsageError(
                tr(
                    f"The note has {len(content):,} characters, {LONGEST_NOTE:,} are the most; save it as a .txt file and "
                    "load it.",
                    f"笔记有 {len(content):,} 个字符，最多 {LONGEST_NOTE:,} 个；请存成 .txt 文件再加载。",
                )
            )
        if secret_in(content) in ("key", "password", "card"):
            return Receipt(
                "refused", "semantic", tr("it holds a secret; remove it first", "其中有密钥或密码，请先去掉")
            )
        place = self._note_place(document, page)
        written = self._rag.semantic.write(
            content,
            0.8,
            self._rag.session_id,
            concept=" ".join(repair(concept).split()) or "general",
            note_type="user_note",
            **place,
        )
        return receipt(self._rag.semantic, written, tr("your note", "你的笔记"))

    def _note_place(self, document: str | None, page: int | None) -> dict[str, Any]:
        """Where a note belongs: the document's name and id, and the page. A page alone is one of the only document."""
        if document is None and page is None:
            return {}
        info = self.find_document(document or "")
        if page is not None and not 1 <= page <= info.pages:
            raise UsageError(tr(f"{info.name} has pages 1 to {info.pages}, not {page}.",
                                f"{info.name} 只有第 1 到 {info.pages} 页，没有第 {page} 页。"))  # fmt: skip
        place = {"document": info.name, "document_id": info.document_id}
        return place if page is None else {**place, "page": page}

    def notes(self) -> list:
        """My notes, the oldest first; one whose document was removed says so in metadata["source_removed"]."""
        notes = [item for item in self._rag.semantic.list(limit=-1) if item.metadata.get("note_type")]
        return [self._with_source(note) for note in sorted(notes, key=lambda note: note.timestamp)]

    # ---- §6.3 Review: not what the book says, but what I did with it (回顾学习记录) ----

    def review(self, topic: str) -> Review:
        """What I asked, noted and was told about a topic, what the documents hold on it that I never opened, a next step."""
        if not tokens(topic):
            raise UsageError(tr("Give a topic to review.", "请给出要回顾的主题。"))
        from study import lookback

        items = sorted(
            (hit.item for hit in self._rag.semantic.retrieve(topic, top_k=20)), key=lambda item: item.timestamp
        )
        noted = [self._with_source(item) for item in items if item.metadata.get("note_type")]
        known = [item for item in items if not item.metadata.get("note_type")]
        found = self._rag.retriever.search(topic, top_k=8, use_mqe=False, use_hyde=False, min_relevance=RELEVANT)
        passages = [result.passage for result in found]
        asked = self._asked_about(topic, {passage.chunk_id for passage in passages})
        cards, reviews = self.tutor.cards.list(), self.tutor.cards.reviews()
        touched = lookback.touched_places(
            self.transcript.all_turns(), cards, reviews, self.notes(), self.library.opened()
        )
        sections = list(dict.fromkeys(self._section(passage, touched) for passage in passages))
        wrong = lookback.mistakes(self.tutor.about(topic, passages), reviews)
        gaps = lookback.gaps(self.library, passages, touched)
        step = lookback.next_step(topic, asked, noted, wrong, sections, gaps)
        return Review(topic, asked, noted, known, sections, wrong, gaps, step)

    def _with_source(self, note):
        """A note whose document was removed says so: metadata["source_removed"]."""
        named = {note.metadata.get(name) for name in ("document_id", "document")} - {None, ""}
        here = {name for info in self.library.documents() for name in (info.name, info.document_id)}
        if not named or named & here:
            return note
        return replace(note, metadata={**note.metadata, "source_removed": True})

    def _section(self, passage, touched: set[tuple[str, int]]) -> "Section":
        from study.lookback import Section

        page = self.library.page(passage.document_id, passage.page_start)
        was_touched = (passage.document_id, passage.page_start) in touched
        return Section(passage.document, passage.heading_path, passage.page_start, was_touched, page and page.label)

    def _asked_about(self, topic: str, passages: set[str]) -> list:
        """Turns whose question, or what it leaned on, has the topic's words, or whose event is about it, or whose answer
        stands first of all on one of these passages (chunk ids): a question in another language shares no word with it."""
        events = {hit.item.content for hit in self._rag.episodic.retrieve(topic, top_k=20)}
        words = set(content_tokens(topic) or tokens(topic))
        about = []
        for turn in filter(lambda turn: turn.is_question, self.transcript.all_turns()):
            said = set(tokens(f"{turn.question} {turn.trace.get('topic', '')}"))
            named = len(words & said) >= max(1, len(words) / 2) or any(turn.question in event for event in events)
            if named or any(source["chunk_id"] in passages for source in turn.trace.get("sources", [])[:1]):
                about.append(turn)
        return about

    # ---- §6.3 Quiz: what I know, not what I read (自测) ----

    def quiz(self, topic: str = "", *, document: str | None = None, count: int = 5, due_only: bool = False) -> "Quiz":
        """Cards to answer with `tutor.answer`: those that are due, then new ones from my documents and notes."""
        document_id = self.find_document(document).document_id if document else None
        return self.tutor.quiz(topic, document_id=document_id, count=count, due_only=due_only, llm=self.llm)

    def export(self, kind: str, path: Path | None = None) -> "Exported":
        """Write an "anki" deck, a "markdown" report, or everything as "json"; None: into the home's own folder."""
        from study import exports

        return exports.export(self, kind, path)

    # ---- Keeping house ----

    def forget(self, memory_id: str) -> "PurgeReport":
        """Delete a memory for good, wherever a trace of it is; see `MemoryLifecycleManager.purge`."""
        return self._rag.lifecycle.purge(memory_id)

    def forget_turn(self, turn_id: int) -> "PurgeReport":
        """Delete a question, its answer and the memories it wrote for good."""
        return self._rag.lifecycle.eraser.turn(turn_id)

    def doctor(self) -> "Checkup":
        """Everything about this home that can be looked at, and what to do where something is wrong."""
        from infrastructure import health

        return health.examine(self.storage)

    def repair(self, **progress: Callable[[int, int], None]) -> None:
        """Make words and index anew from what is stored, and the vectors that are missing; see `health.repair`."""
        from infrastructure import health

        health.repair(self.storage, **progress)

    def backup(self, path: Path | None = None, *, progress: Callable[[int, int], None] | None = None) -> "Summary":
        """The whole home in one file; None: a new one in the home's own folder for backups."""
        from infrastructure import backup_file, transfer

        path = backup_file.backup_path(self.storage.home, self.storage.now(), path)
        return transfer.export_home(self.storage, path, progress=progress)

    def restore(
        self, path: Path, *, overwrite: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> "Summary":
        """Make this home what a backup says; one that is not empty only with `overwrite`, and then it is backed up first."""
        from infrastructure import transfer

        summary = transfer.restore_home(self.storage, path, overwrite=overwrite, progress=progress)
        for session in self._rag.working.sessions():
            self._rag.working.clear(session)
        self.resume()
        return summary

    # ---- Sessions and numbers ----

    @property
    def session_id(self) -> str:
        return self._rag.session_id

    def resume(self, session_id: str | None = None) -> str:
        """Go on with a session: the given one, else the last if it is recent, else a new one. Returns its id."""
        chosen = session_id or self.transcript.latest(SESSION_PAUSE) or self.transcript.new_id()
        self._rag.set_session(chosen)
        return chosen

    def new_session(self) -> str:
        self._rag.set_session(self.transcript.new_id())
        return self.session_id

    def sessions(self) -> list:
        return self.transcript.sessions()

    @property
    def llm(self) -> Any:
        return self._rag.llm

    def use_model(self, llm: Any) -> None:
        """Let another model answer from now on; None: quote."""
        self._rag.use_model(llm)

    def get_stats(self) -> dict[str, Any]:
        """Everything countable, from the home: the same after a restart."""
        study = self.tutor.numbers(self.library, self.transcript.all_turns(), self.library.opened())
        return {**self._rag.get_stats(), "notes": len(self.notes()), "session_id": self.session_id, "study": study}

    def warm_up(self) -> None:
        """For a session: make vectors in the background, and import there what the first questions would wait for."""
        self.storage.start_worker()
        slow = ["sklearn.feature_extraction.text", *(["litellm"] if self._rag.llm is not None else [])]
        threading.Thread(target=lambda: [import_module(name) for name in slow], name="imports", daemon=True).start()

    def close(self) -> None:
        """Finish the few vectors a conversation owes, so that the next start finds nothing to do; big loads stay marked."""
        self._rag.close()
        if 0 < self.storage.owed().embed <= 4:
            self.storage.settle(chroma=False)


# ---- Opening a home ----


@contextmanager
def open_assistant(settings: "Settings") -> Iterator[PDFLearningAssistant]:
    """The assistant on the learner's home, with the embedder and model the settings name. Closes everything at the end."""
    from infrastructure.llm import connect
    from infrastructure.storage import Storage
    from study.schedule import Timetable

    m11 = import_module("11_unified_retrieval")
    with Storage(settings.home) as storage:
        try:
            storage.finish_erasing()
        except HomeError as error:  # a file that cannot be deleted is no reason not to study
            storage.notices.append(str(error))
        m11.attach_embedder(storage, settings)
        timetable = Timetable(settings.retention, settings.day_start)
        reranker = m11.reranker_for(storage, settings)
        assistant = PDFLearningAssistant(storage, llm=connect(settings), reranker=reranker, timetable=timetable)
        try:
            yield assistant
        finally:
            assistant.close()


# ---- lesson ----

SAMPLE = Path(__file__).resolve().parent / "samples" / "memory_rag_guide.pdf"
DIALOGUE = ("RAG 系统怎么评估？", "那我这个实验应该先看哪个指标？", "刚才说的 Faithfulness 和 Recall 冲突时怎么取舍？")


def lesson(home: Path) -> Iterator[Any]:
    """A study session on the sample guide, as renderables, in the given (temporary) folder. Vectors are left for later: a
    document can be asked about as soon as its words are in."""
    from infrastructure.lesson import heading, try_it
    from infrastructure.settings import Settings
    from study import learning_views, views

    with open_assistant(Settings.load({"home": home, "embedder": "none"})) as assistant:
        yield heading(tr("1. Load a document", "1. 加载资料"))
        yield views.load_report(assistant.load_document(SAMPLE))
        yield heading(tr("2. A dialogue that leans on itself", "2. 要靠前文才说得通的对话"))
        for question in DIALOGUE:
            yield heading(f"> {question}")
            yield views.answer(assistant.ask(question))
        yield heading(tr("3. A note of my own, and a review of what I did", "3. 写一条自己的笔记，再回顾学习记录"))
        assistant.add_note("先看 Recall：证据没找到，后面都谈不上。", concept="RAG 评估")
        yield views.review(assistant.review("RAG 评估"))
        yield heading(tr("4. A question for me, and when it comes back", "4. 考自己一题，再看什么时候重考"))
        (card,) = assistant.quiz(tr("half-life", "半衰期"), count=1).cards
        yield learning_views.question(card, 1, 1)
        graded = assistant.tutor.answer(card.card_id, card.answer)
        yield learning_views.verdict(graded, assistant.tutor.timetable, assistant.storage.now())
        yield heading(tr("5. The numbers", "5. 统计"))
        yield views.stats(assistant.get_stats())
    yield from try_it(
        tr(
            "MAX_TOKENS = 80: more passages, each with less around its answer.",
            "把 MAX_TOKENS 改成 80：片段变多，每段里答案的上下文变少。",
        ),
        tr(
            "SESSION_PAUSE = 0 minutes, then ask twice with `ask`: the second question leans on nothing.",
            "把 SESSION_PAUSE 改成 0 分钟，再用 ask 连问两次：第二问没有前文可依。",
        ),
    )


def main(argv: Sequence[str] | None = None) -> int:
    from study.commandline import run

    return run(argv, open_assistant=open_assistant, lesson=lesson)


if __name__ == "__main__":
    sys.exit(main())
