"""The study helper: how texts are cut, what loading changes, notes, reviews, sessions. Files made here, no model, one clock."""

import doctest
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from data.make_pdfs import make_pdf
from hypothesis import given
from hypothesis import strategies as st
from support import HashEmbedder

from infrastructure.errors import DocumentError, PasswordNeeded, UsageError
from infrastructure.lesson import StoppedClock
from infrastructure.settings import PROJECT
from infrastructure.storage import Storage
from infrastructure.text import estimate_tokens_mixed
from infrastructure.utterance import LONGEST_QUESTION
from study import chunking, worker
from study.chunking import LONGEST_TOKEN, size

m13 = import_module("13_pdf_learning_assistant")
cut = m13.chunk_markdown_with_paths

# ---- §6.1 Chunks ----

WORDS = st.sampled_from(["recall", "evidence", "HyDE", "3.5", "naïve", "x" * 30])
SENTENCE = st.lists(WORDS, min_size=1, max_size=12).map(lambda words: " ".join(words) + ".")
CHINESE = st.text("检索增强生成记忆，。", min_size=1, max_size=60)
FENCE = st.just("```python\n# no heading\n\nx = [1, 2]\n```")
TABLE = st.just("| a | b |\n|---|---|\n| 1 | 2 |")
HEADING = st.builds("{} {}".format, st.sampled_from(["#", "##", "###"]), st.sampled_from(["Memory", "检索", "HyDE"]))
UNBROKEN = st.sampled_from(["A" * 700, "检" * 200, "ab/" * 200])
BLOCK = st.one_of(SENTENCE, CHINESE, FENCE, TABLE, HEADING, UNBROKEN, st.text(max_size=20))
TEXT = st.lists(BLOCK, max_size=12).map("\n\n".join)


@given(TEXT, st.integers(8, 60), st.integers(0, 20))
def test_a_chunk_is_a_piece_of_the_text_and_small_enough(text, max_tokens, overlap_tokens):
    chunks = cut(text, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
    assert [chunk["index"] for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk["content"] == text[chunk["start"] : chunk["end"]]
        assert chunk["content"] == chunk["content"].strip() != ""
        assert estimate_tokens_mixed(chunk["content"]) <= max_tokens
        assert len(chunk["content"]) <= 2 * LONGEST_TOKEN * (max_tokens + 1)


@given(TEXT, st.integers(8, 60))
def test_nothing_is_lost_but_blanks_and_titles_that_the_paths_carry(text, max_tokens):
    chunks = cut(text, max_tokens=max_tokens)
    covered = {place for chunk in chunks for place in range(chunk["start"], chunk["end"])}
    paths = " ".join(chunk["heading_path"] for chunk in chunks)
    missing = "".join(char if place not in covered else "\n" for place, char in enumerate(text))
    for line in filter(None, map(str.strip, missing.split("\n"))):
        assert re.sub(r"\W", "", line) in re.sub(r"\W", "", paths)


@given(TEXT, st.integers(8, 60))
def test_chunks_stand_in_the_order_of_the_text_and_each_one_goes_further(text, max_tokens):
    chunks = cut(text, max_tokens=max_tokens)
    ends = [chunk["end"] for chunk in chunks]
    starts = [chunk["start"] for chunk in chunks]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends))


@given(TEXT, st.lists(st.integers(0, 400), max_size=5).map(sorted))
def test_no_chunk_crosses_the_beginning_of_a_page(text, breaks):
    for chunk in cut(text, max_tokens=20, breaks=breaks):
        assert not any(chunk["start"] < offset < chunk["end"] for offset in breaks)


GUIDE = """Preface.

# Memory

A memory is kept.

## Decay

Half a day, half a memory.

```
# not a heading
```

### Half-life

24 hours.

# Retrieval

HyDE searches.
"""


def test_each_chunk_is_under_the_headings_that_are_open_there():
    assert [(chunk["heading_path"], chunk["content"].split("\n")[-1]) for chunk in cut(GUIDE)] == [
        ("", "Preface."),
        ("Memory", "A memory is kept."),
        ("Memory > Decay", "```"),
        ("Memory > Decay > Half-life", "24 hours."),
        ("Retrieval", "HyDE searches."),
    ]


def test_a_base_path_stands_before_all_others():
    paths = [chunk["heading_path"] for chunk in cut(GUIDE, base_path="guide")]
    assert paths[:3] == ["guide", "guide > Memory", "guide > Memory > Decay"]


def test_headings_that_are_given_replace_those_of_the_text():
    chunks = cut("# One\n\nTwo lines here.", headings=[(7, 1, "Outline")])
    assert [(chunk["heading_path"], chunk["content"]) for chunk in chunks] == [
        ("", "# One"),
        ("Outline", "Two lines here."),
    ]


def test_a_title_without_text_lives_on_in_the_paths_below_it():
    assert [chunk["content"] for chunk in cut("# Book\n\n## Chapter\n\nText.")] == ["## Chapter\n\nText."]


def test_a_title_with_nothing_below_it_is_a_chunk():
    assert [chunk["content"] for chunk in cut("# Book\n\n## Recall\n\n## Precision")] == ["## Recall", "## Precision"]


def test_a_code_block_is_not_cut_at_its_blank_lines():
    code = "```python\nfor item in items:\n\n    print(item)\n```"
    chunks = cut(f"{'One sentence is here. ' * 4}\n\n{code}\n\nAnd after.", max_tokens=24, overlap_tokens=0)
    assert any(code in chunk["content"] for chunk in chunks)


def test_a_list_stays_with_the_line_that_introduces_it():
    steps = "Three steps lead to an answer:\n1. read the file\n2. cut it into passages\n3. search them"
    chunks = cut(f"{'One sentence is here. ' * 5}\n\n{steps}\n\nAnd after.", max_tokens=40, overlap_tokens=0)
    assert any(steps in chunk["content"] for chunk in chunks)


def test_a_table_that_is_too_long_is_cut_between_its_rows():
    rows = [f"| metric number {n} | 0.{n} and more |" for n in range(30)]
    chunks = cut("\n".join(rows), max_tokens=50, overlap_tokens=0)
    assert len(chunks) > 2
    assert [row for chunk in chunks for row in chunk["content"].split("\n")] == rows


def test_the_examples_of_the_chunking_module_are_true():
    assert doctest.testmod(chunking).failed == 0


def test_ten_thousand_characters_without_a_mark_become_chunks_of_full_size():
    for text in ("检索增强生成" * 1667, "word " * 2000, "ACGT" * 2500):
        chunks = cut(text, max_tokens=320, overlap_tokens=0)
        sizes = [size(chunk["content"]) for chunk in chunks]
        assert max(sizes) <= 320
        assert min(sizes[:-1]) >= 300


def test_a_word_is_cut_only_when_it_is_too_long_by_itself():
    chunks = cut("word " * 500, max_tokens=50, overlap_tokens=0)
    assert {word for chunk in chunks for word in chunk["content"].split()} == {"word"}


def test_a_chunk_repeats_the_last_sentence_of_the_one_before():
    text = " ".join(f"Sentence number {n} is here." for n in range(20))
    chunks = cut(text, max_tokens=30, overlap_tokens=8)
    assert all(b["start"] < a["end"] for a, b in pairwise(chunks))
    assert all(estimate_tokens_mixed(text[b["start"] : a["end"]]) <= 8 for a, b in pairwise(chunks))


def test_nothing_is_repeated_across_headings():
    chunks = cut("# A\n\nOne. Two.\n\n# B\n\nThree. Four.", max_tokens=10, overlap_tokens=5)
    assert [chunk["content"] for chunk in chunks] == ["# A\n\nOne. Two.", "# B\n\nThree. Four."]


def test_a_megabyte_in_one_line_is_cut_in_seconds():
    assert len(cut("检索，" * 100_000)) > 600


# ---- A home ----


@pytest.fixture
def embedder():
    return HashEmbedder()


@pytest.fixture
def assistant(storage):
    """For tests that close the home themselves."""
    return m13.PDFLearningAssistant(storage)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


NOTES = (
    "# Recall\n\nRecall is the share of the evidence that was found.\n\n# HyDE\n\nHyDE invents an answer and searches."
)
OTHER = "# Recall\n\nRecall was redefined by the zebrafinch committee.\n"


# ---- Loading (D14) ----


def test_loading_a_file_again_changes_nothing(assistant, tmp_path):
    first = assistant.load_document(write(tmp_path / "notes.md", NOTES))
    again = assistant.load_document(tmp_path / "notes.md")
    assert (first.action, again.action) == ("loaded", "already here")
    assert (again.document_id, again.chunks, again.pages) == (first.document_id, first.chunks, first.pages)
    assert assistant.storage.count("chunk") == first.chunks == 2


def test_the_same_content_under_another_name_is_the_same_document(assistant, tmp_path):
    first = assistant.load_document(write(tmp_path / "notes.md", NOTES))
    copy = assistant.load_document(write(tmp_path / "sub" / "copy of notes.md", NOTES))
    assert copy.document_id == first.document_id
    assert [info.name for info in assistant.documents()] == ["notes.md"]


def test_a_file_that_was_moved_is_known_where_it_lies_now(assistant, tmp_path):
    assistant.load_document(write(tmp_path / "notes.md", NOTES))
    (tmp_path / "notes.md").rename(tmp_path / "renamed.md")
    assert assistant.load_document(tmp_path / "renamed.md").name == "renamed.md"
    assert [info.path for info in assistant.documents()] == [str(tmp_path / "renamed.md")]


def test_two_files_of_one_name_are_two_documents(assistant, tmp_path):
    assistant.load_document(write(tmp_path / "a" / "notes.md", NOTES))
    assistant.load_document(write(tmp_path / "b" / "notes.md", OTHER))
    assert [info.name for info in assistant.documents()] == ["notes.md", "notes.md"]


def test_a_text_is_replaced_under_its_name_and_known_by_its_content(assistant):
    assert assistant.load_text(OTHER, "lecture").action == "loaded"
    assert assistant.load_text(OTHER, "lecture").action == "already here"
    assert assistant.load_text(NOTES, "lecture").action == "replaced"
    assert len(assistant.documents()) == 1


def everything_stored(assistant):
    """Whatever a later answer could be made from: rows, words, memories, the desk. The transcript is a record, no source."""
    database, rag = assistant.storage.database, assistant._rag
    rows = [
        *database.rows("SELECT content, heading FROM texts"),
        *database.rows("SELECT raw, clean FROM pages"),
        *database.rows("SELECT body FROM words_chunk"),
        *database.rows("SELECT body FROM words_episodic"),
    ]
    memories = [*rag.episodic.list(status=None, limit=-1), *rag.semantic.list(status=None, limit=-1)]
    desk = rag.working.items(rag.session_id)
    return "\n".join(
        [*(str(tuple(row)) for row in rows), *(f"{item.content} {item.metadata}" for item in (*memories, *desk))]
    )


def ids_everywhere_agree(storage):
    storage.settle()
    return storage.verify().problems == []


def change(assistant, path):
    """The file says something else now, after it was asked about."""
    write(path, OTHER)
    old = assistant.load_document(path).document_id
    assistant.settle()
    assert "zebrafinch" in assistant.ask("What did the zebrafinch committee redefine?").answer
    assert "zebrafinch" in everything_stored(assistant)
    return old


@pytest.mark.parametrize("then", ["replace", "remove", "replace by a known text"])
def test_of_a_document_that_is_gone_no_trace_stays(assistant, tmp_path, then):
    old = change(assistant, tmp_path / "notes.md")
    if then == "remove":
        assistant.remove_document("notes.md")
    else:
        if then != "replace":
            assistant.load_document(write(tmp_path / "same.md", NOTES))
        write(tmp_path / "notes.md", NOTES)
        action = assistant.load_document(tmp_path / "notes.md").action
        assert action == ("replaced" if then == "replace" else "already here")
    assert ids_everywhere_agree(assistant.storage)
    left = everything_stored(assistant)
    questions = [item.metadata["question"] for item in assistant._rag.working.items(assistant.session_id)]
    assert left.count("zebrafinch committee") == sum(left.count(question) for question in questions)
    assert "redefined by" not in left
    assert old not in left
    assert not assistant.ask("zebrafinch").found


def test_after_a_restart_a_gone_document_is_not_brought_back_by_the_session(assistant, storage, tmp_path):
    change(assistant, tmp_path / "notes.md")
    assistant.remove_document("notes.md")
    again = m13.PDFLearningAssistant(storage, session_id=assistant.session_id)
    assert [item.content for item in again._rag.working.items(again.session_id)] == [
        "Q: What did the zebrafinch committee redefine?\nA:"
    ]


def test_a_gone_document_leaves_the_others_alone(assistant, tmp_path):
    change(assistant, tmp_path / "notes.md")
    assistant.load_document(write(tmp_path / "other.md", NOTES))
    assistant.remove_document("notes.md")
    assert assistant.ask("What is the share of the evidence that was found?").citations[0].document == "other.md"


@pytest.mark.parametrize(("name", "said"), [("nothing.md", "nothing.md"), ("notes", "could be several")])
def test_what_to_remove_must_be_one_document(assistant, tmp_path, name, said):
    assistant.load_document(write(tmp_path / "a" / "notes.md", NOTES))
    assistant.load_document(write(tmp_path / "b" / "notes.md", OTHER))
    with pytest.raises(UsageError, match=said) as error:
        assistant.remove_document(name)
    assert all(info.document_id in str(error.value) for info in assistant.documents())
    assert len(assistant.documents()) == 2


def test_a_document_is_named_by_its_id_or_the_beginning_of_it(assistant, tmp_path):
    first = assistant.load_document(write(tmp_path / "a" / "notes.md", NOTES))
    assistant.load_document(write(tmp_path / "b" / "notes.md", OTHER))
    assert assistant.find_document(first.document_id[:6]).document_id == first.document_id
    assert assistant.remove_document(first.document_id).name == "notes.md"


def test_an_unknown_name_in_an_empty_home_says_that_there_is_none(assistant):
    with pytest.raises(UsageError, match="none"):
        assistant.remove_document("notes")


def test_pages_without_text_are_counted(assistant, tmp_path):
    path = tmp_path / "partly.pdf"
    path.write_bytes(make_pdf(["", "The only text is about memory.", ""]))
    assert assistant.load_document(path).warnings[0].startswith("2 of 3 pages have no text: 1, 3")
    (info,) = assistant.documents()
    assert (info.pages, info.silent_pages) == (3, 2)


def interrupted_at(page: int, monkeypatch) -> None:
    """Ctrl-C comes while this page (from 0) is read."""
    read = worker.FileReader.page

    def stop(self, number):
        if number == page:
            raise KeyboardInterrupt
        return read(self, number)

    monkeypatch.setattr(worker.FileReader, "page", stop)


def test_ctrl_c_keeps_the_pages_that_were_read_and_loading_again_reads_the_rest(assistant, tmp_path, monkeypatch):
    path = tmp_path / "long.pdf"
    path.write_bytes(make_pdf([f"Chapter {n} is about the number {n * n}." for n in range(1, 6)]))
    with monkeypatch.context() as patched:
        interrupted_at(3, patched)
        for _ in range(2):  # stopped twice at the same place
            report = assistant.load_document(path)
            assert (report.action, report.pages) == ("stopped", 3)
    assert report.warnings[0].startswith("Reading was stopped at page 3 of 5")
    assert assistant.ask("What is chapter 2 about?").citations[0].page == 2
    report = assistant.load_document(path)
    assert (report.action, report.pages, report.warnings) == ("loaded", 5, [])
    assert [info.pages for info in assistant.documents()] == [5]
    assert assistant.load_document(path).action == "already here"


def test_ctrl_c_before_the_first_page_leaves_nothing(assistant, tmp_path, monkeypatch):
    path = tmp_path / "long.pdf"
    path.write_bytes(make_pdf(["one", "two"]))
    interrupted_at(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        assistant.load_document(path)
    assert assistant.documents() == []


def test_a_file_that_cannot_be_read_leaves_the_home_as_it_was(assistant, tmp_path):
    (tmp_path / "locked.pdf").write_bytes(make_pdf(["secret"], password="p"))
    with pytest.raises(PasswordNeeded):
        assistant.load_document(tmp_path / "locked.pdf")
    with pytest.raises(DocumentError):
        assistant.load_document(tmp_path / "missing.pdf")
    assert assistant.documents() == []
    assert assistant.load_document(tmp_path / "locked.pdf", password="p").action == "loaded"


# ---- Pages and citations ----


@pytest.fixture
def book(assistant, tmp_path):
    pages = [
        "Foreword by nobody of importance.",
        "Recall counts the evidence that was found.",
        "Precision counts what was\nneeded of it.",
    ]
    path = tmp_path / "book.pdf"
    path.write_bytes(make_pdf(pages, outline=[(1, "Front", 1), (1, "Metrics", 2), (2, "Precision", 3)],
                              labels=[(1, 1, "r", 1), (2, 3, "D", 1)]))  # fmt: skip
    return assistant.load_document(path)


@pytest.mark.parametrize(
    ("question", "page", "label"),
    [
        ("Was the foreword by nobody of importance?", 1, "i"),
        ("What does recall count?", 2, "1"),
        ("What does precision count?", 3, "2"),
    ],
)
def test_facts_on_pages_1_2_3_are_cited_as_1_2_3(assistant, book, question, page, label):
    citation = assistant.ask(question, top_k=1).citations[0]
    assert (citation.page, citation.page_label) == (page, label)


def test_a_quotation_keeps_the_line_break_of_its_page(assistant, book):
    assert (
        assistant.ask("What does precision count?", top_k=1)
        .citations[0]
        .quote.startswith("Precision counts what was\n")
    )


def test_the_outline_gives_the_heading_path(assistant, book):
    assert assistant.ask("What does precision count?", top_k=1).citations[0].heading_path == "Metrics > Precision"


def test_every_cited_page_exists(assistant, book):
    answers = [assistant.ask(question) for question in ("recall", "precision", "foreword", "page 3")]
    cited = [citation.page for answer in answers for citation in (*answer.citations, *answer.nearest)]
    assert cited and all(1 <= page <= book.pages for page in cited)


def test_chapters_are_read_off_the_outline(assistant, book):
    answer = assistant.ask("List the chapters")
    assert answer.answer.split("\n") == [
        "Front (book.pdf, p. i)",
        "Metrics (book.pdf, p. 1)",
        "  Precision (book.pdf, p. 2)",
    ]


@pytest.mark.parametrize("question", ["", "  \n", "\u3000", "?", "\u200b", "！"])
def test_an_empty_question_is_a_usage_error(assistant, question):
    with pytest.raises(UsageError):
        assistant.ask(question)


def test_a_text_in_place_of_a_question_or_a_note_is_refused_before_anything_is_done(assistant, book):
    with pytest.raises(UsageError, match="2,001"):
        assistant.ask("?" * (LONGEST_QUESTION + 1))
    with pytest.raises(UsageError, match=r"\.txt"):
        assistant.add_note("n" * (m13.LONGEST_NOTE + 1))
    assert assistant.transcript.counts()["questions"] == 0
    assert assistant.notes() == []
    assert assistant.ask("recall " * (LONGEST_QUESTION // 7)).question
    assert assistant.add_note("n " * (m13.LONGEST_NOTE // 2)).action == "written"


def test_half_a_character_in_a_question_or_a_note_does_no_harm(assistant, book):
    assert assistant.ask("What does recall \ud83d count?").found
    assert assistant.add_note("half \ud83d a note", concept="con\ud83dcept").action == "written"
    assert assistant.review("concept").noted[0].content == "half  a note"


def test_a_concept_is_one_line(assistant):
    assistant.add_note("Evidence first.", concept=" two\nlines ")
    assert assistant.notes()[0].metadata["concept"] == "two lines"


# ---- Notes (§6.2) ----


def test_a_note_keeps_its_words_concept_document_and_page(assistant, book):
    text = "先看 Recall：[b]证据[/b]没找到，\n后面都谈不上。"
    receipt = assistant.add_note(text, concept="RAG 评估", document="book.pdf", page=2)
    note = assistant.review("RAG 评估").noted[0]
    assert (receipt.action, note.memory_id) == ("written", receipt.memory_id)
    assert note.content == text
    assert {name: note.metadata[name] for name in ("concept", "document", "page")} == {
        "concept": "RAG 评估",
        "document": "book.pdf",
        "page": 2,
    }


def test_a_note_stays_when_its_document_goes(assistant, book):
    assistant.add_note("Recall first.", concept="evaluation", document="book.pdf", page=2)
    assistant.remove_document("book.pdf")
    assert [note.content for note in assistant.review("evaluation").noted] == ["Recall first."]


def test_the_same_note_twice_is_one_note(assistant):
    assert [assistant.add_note("Recall first.").action for _ in range(2)] == ["written", "counted"]
    assert assistant.get_stats()["notes"] == 1


def test_a_note_for_another_concept_is_another_note(assistant):
    assistant.add_note("Measure first.", concept="retrieval")
    assistant.add_note("Measure first.", concept="cooking")
    assert [note.metadata["concept"] for note in assistant.review("cooking").noted] == ["cooking"]


@pytest.mark.parametrize("text", ["my key is sk-abcdefghijklmnop1234", "我的密码是 hunter22", "4111 1111 1111 1111"])
def test_a_note_with_a_secret_is_refused_and_nowhere_to_be_found(assistant, storage, text):
    receipt = assistant.add_note(text)
    assert (receipt.action, receipt.memory_id) == ("refused", None)
    assert text not in everything_stored(assistant)
    storage.database.close()
    assert not any(text.encode() in path.read_bytes() for path in storage.home.rglob("*") if path.is_file())


@pytest.mark.parametrize("text", ["A token is usually a part of a word.", "token: 最小的文本单位", "密码学研究加密"])
def test_a_note_about_tokens_or_passwords_is_no_secret(assistant, text):
    assert assistant.add_note(text).action == "written"


def test_an_empty_note_is_a_usage_error(assistant):
    with pytest.raises(UsageError):
        assistant.add_note("  ")


# ---- Review (D16, §6.3) ----


def test_a_review_tells_what_i_asked_and_noted_and_when(assistant, book, clock):
    assistant.ask("What does recall count?")
    clock.move(minutes=5)
    assistant.add_note("Evidence first.", concept="recall")
    review = assistant.review("recall")
    assert [(turn.question, turn.found) for turn in review.asked] == [("What does recall count?", True)]
    assert [note.content for note in review.noted] == ["Evidence first."]
    assert review.noted[0].timestamp - review.asked[0].asked_at == clock() - StoppedClock()()


def test_a_review_leaves_other_topics_out(assistant, book):
    assistant.ask("Who wrote the foreword?")
    assistant.add_note("Tomatoes need sun.", concept="gardening")
    review = assistant.review("recall")
    assert review.is_empty


def test_a_review_shows_a_question_that_found_nothing(assistant, book):
    assistant.ask("How do zebras affect recall of elephants?")
    assistant.ask("What does quantum entanglement mean for love?")
    assert [turn.found for turn in assistant.review("quantum entanglement").asked] == [False]


def test_a_follow_up_belongs_to_the_topic_it_leaned_on(assistant, book):
    assistant.ask("What does recall count?")
    assistant.ask("why is that?")
    assert len(assistant.review("recall").asked) == 2


def test_a_question_that_was_answered_from_the_topics_passage_belongs_to_it(assistant, book):
    assistant.ask("What counts what was needed of it?")
    assert [turn.question for turn in assistant.review("precision").asked] == ["What counts what was needed of it?"]


def test_a_section_with_several_passages_is_listed_once(assistant, tmp_path):
    text = "# Recall\n\n" + " ".join(f"Recall number {n} counts the evidence that was found." for n in range(60))
    assistant.load_document(write(tmp_path / "long.md", text))
    assert assistant.storage.count("chunk") > 1
    assert len(assistant.review("recall").sections) == 1


def test_an_empty_review_still_says_where_to_read(assistant, book):
    review = assistant.review("precision")
    assert review.is_empty
    assert [(section.document, section.page, section.touched) for section in review.sections][:1] == [
        ("book.pdf", 3, False)
    ]
    assert "book.pdf, p. 2" in review.next_step


def test_a_page_that_an_answer_stood_on_counts_as_read_whatever_was_asked(assistant, book):
    assert assistant.ask("What was needed of it, and who counts that?").citations[0].page == 3
    touched = {section.page: section.touched for section in assistant.review("precision").sections}
    assert touched[3]


def test_when_everything_was_read_the_next_step_is_a_note_and_then_a_test(assistant, tmp_path):
    assistant.load_document(write(tmp_path / "notes.md", NOTES))
    assistant.ask("What is recall?")
    assert "note of your own" in assistant.review("recall").next_step
    assistant.add_note("Found over needed.", concept="recall")
    assert "test yourself" in assistant.review("recall").next_step


def test_nothing_known_and_nothing_to_read_asks_for_a_question(assistant):
    assert "ask a first question" in assistant.review("zebras").next_step


def test_a_review_of_nothing_is_a_usage_error(assistant):
    with pytest.raises(UsageError):
        assistant.review("…")


# ---- Sessions and restarts ----


def reopened(home, clock, **options):
    storage = Storage(home, embedder=HashEmbedder(), now=clock)
    return m13.PDFLearningAssistant(storage, **options)


def test_a_new_process_knows_everything_that_was_there(assistant, storage, book, clock):
    assistant.ask("What does recall count?")
    assistant.add_note("Evidence first.", concept="recall")
    before = assistant.get_stats()
    session = assistant.session_id
    assistant.close()
    storage.close()
    again = reopened(storage.home, clock, session_id=session)
    with again.storage:
        assert again.get_stats() == before
        assert [info.name for info in again.documents()] == ["book.pdf"]
        assert [note.content for note in again.review("recall").noted] == ["Evidence first."]
        assert [turn.question for turn in again.review("recall").asked] == ["What does recall count?"]
        assert again.ask("What does recall count?").citations[0].page == 2
        assert again.storage.verify().problems == []


@pytest.mark.parametrize(("minutes", "joins"), [(119, True), (121, False)])
def test_a_one_shot_question_joins_the_last_session_within_two_hours(assistant, book, storage, clock, minutes, joins):
    assistant.ask("What does recall count?")
    clock.move(minutes=minutes)
    later = m13.PDFLearningAssistant(storage)
    assert (later.resume() == assistant.session_id) is joins
    assert ("recall" in later.ask("why is that?").enriched_query) is joins


def test_a_session_can_be_named_whatever_its_age(assistant, book, storage, clock):
    assistant.ask("What does recall count?")
    clock.move(days=30)
    assert m13.PDFLearningAssistant(storage).resume(assistant.session_id) == assistant.session_id


def test_a_new_session_leans_on_nothing(assistant, book):
    assistant.ask("What does recall count?")
    assistant.new_session()
    assert assistant.ask("why is that?").enriched_query == "why is that?"
    assert len(assistant.sessions()) == 2


def test_numbers_are_counted_in_the_home(assistant, book):
    assistant.ask("What does recall count?")
    assistant.ask("What about zebras?")
    assistant.add_note("Evidence first.")
    stats = assistant.get_stats()
    counted = {name: stats[name] for name in ("documents", "questions", "answered", "sessions", "notes")}
    assert counted == {"documents": 1, "questions": 2, "answered": 1, "sessions": 1, "notes": 1}


def test_closing_makes_the_few_vectors_a_conversation_owes(assistant, storage):
    assistant.add_note("Evidence first.")
    assert storage.owed().embed == 1
    assistant.close()
    assert storage.owed().embed == 0


# ---- The lesson, and what it says you can try ----


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """(what the lesson yields, what it left in its folder, what changed in the learner's own)."""

    def listing():
        return {path: path.stat().st_mtime_ns for path in (PROJECT / "memory_db").rglob("*")}

    before = listing()
    home = tmp_path_factory.mktemp("lesson")
    parts = list(m13.lesson(home))
    return parts, home, listing() == before


def test_the_lesson_works_in_the_folder_it_is_given(shown):
    from study.blocks import as_text

    parts, home, untouched = shown
    text = "\n".join(as_text(part) for part in parts)
    assert untouched
    assert (home / "memory.db").exists()
    assert "RAG 系统怎么评估？）" in text.replace("\n", "") or "RAG 系统怎么评估？；" in text.replace("\n", "")
    assert "先看 Recall：证据没找到" in text
    assert "The half-life is ____ hours" in text and "it comes back in 10 minutes" in text
    assert "Try it" in text


def test_try_it_smaller_passages_are_more_passages():
    text = " ".join(f"Sentence number {n} says a little." for n in range(100))
    assert len(cut(text, max_tokens=80)) > 2 * len(cut(text))


def test_try_it_without_a_pause_the_second_question_leans_on_nothing(assistant, book, storage, monkeypatch):
    from datetime import timedelta

    monkeypatch.setattr(m13, "SESSION_PAUSE", timedelta(0))
    assistant.ask("What does recall count?")
    later = m13.PDFLearningAssistant(storage)
    later.resume()
    assert later.ask("why is that?").enriched_query == "why is that?"
