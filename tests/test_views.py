import doctest
import io
import unicodedata
from types import SimpleNamespace

import pytest
from fake_assistant import THEN, FakeAssistant, LoadReport, citation
from rich.cells import cell_len

from infrastructure.answers import Answer, MemoryUse, Receipt
from infrastructure.console import Screen
from infrastructure.language import set_language
from infrastructure.library import DocumentInfo
from infrastructure.settings import Setting
from study import blocks, stats_views, views

LONG_HEADING = "第五章 检索增强系统的评估，方法与指标 > 5.3 Faithfulness against recall，二者冲突时怎么取舍"
LONG_QUOTE = "检索增强生成把资料里的句子找出来，再让模型根据这些句子作答，因此答案可以核对，也可以引用。" * 3


def seen(renderable, width: int = 80) -> str:
    """What a terminal of this width shows, without colours and the blanks at line ends."""
    out = io.StringIO()
    Screen(out, io.StringIO(), width=width, color=False).show(renderable)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def answer(text: str = "HyDE widens the search [1].", **changes) -> Answer:
    usual = {"mode": "llm", "found": True, "citations": [citation()]}
    return Answer("What is HyDE?", text, **{**usual, **changes})


def info(name: str = "guide.pdf", **changes) -> DocumentInfo:
    usual = {"path": "", "media_type": "pdf", "pages": 12, "chunks": 34, "added_at": THEN.isoformat()}
    return DocumentInfo("id", name, **{**usual, **changes})


def everything() -> list:
    """Each view once, with texts long and wide enough to break."""
    cited = [
        citation(n, document="检索增强生成导论 lecture notes.pdf", heading_path=LONG_HEADING, quote=LONG_QUOTE)
        for n in (1, 2)
    ]
    numbers = FakeAssistant().get_stats()
    review = FakeAssistant().review("评估")
    section = SimpleNamespace(document="guide.pdf", heading_path=LONG_HEADING, page=7, touched=False)
    review.sections = [section]
    return [
        views.answer(answer(LONG_QUOTE + " [1]", citations=cited)),
        views.load_report(LoadReport("检索增强生成导论.pdf", "id", "loaded", 12, 34, [LONG_QUOTE])),
        views.documents(
            [info(name="检索增强生成导论，第二版（修订）.pdf", warnings=["198 of 311 pages have no text: 12–209."])]
        ),
        views.review(review),
        views.stats(numbers),
        stats_views.overview(numbers),
        views.settings(
            [
                Setting("EMBEDDING_MODEL", "intfloat/multilingual-e5-small", "environment"),
                Setting("LLM_MODEL", "", "default"),
            ]
        ),
        views.first_run("/load samples/guide.pdf", has_model=False, home="/home/li/study/memory_db"),
        views.welcome_back(numbers, "那我这个实验应该先看哪个指标？"),
        views.command_list(
            [("资料", [("/load PATH...", "加载文件、文件夹或 *.pdf 这样的通配符，可以一次加载多个文件")])]
        ),
    ]


@pytest.mark.parametrize("module", [blocks, views])
def test_the_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


# ---- Looks ----


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_view_keeps_to_the_width(width, lang):
    set_language(lang)
    for view in everything():
        for line in seen(view, width).splitlines():
            assert cell_len(line) <= width, line


@pytest.mark.parametrize("width", range(40, 100, 7))
def test_no_line_begins_with_a_closing_mark(width):
    for view in everything():
        for line in seen(view, width).splitlines():
            assert not line.strip().startswith(tuple("，。！？；：、）》”」")), line


def test_no_view_has_a_box():
    shown = "".join(map(seen, everything()))
    assert not any(unicodedata.name(char, "").startswith("BOX DRAWINGS") for char in shown)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_first_screen_has_under_15_lines_and_says_what_to_type(lang):
    set_language(lang)
    shown = seen(views.first_run("/load samples/memory_rag_guide.pdf", has_model=False, home="/home/li/memory_db"))
    assert (
        shown.count("\n") < 15
        and "/load samples/memory_rag_guide.pdf" in shown
        and "/help" in shown
        and "Ctrl-D" in shown
    )


def test_a_pipe_gets_one_line_for_one_thing():
    quoting = views.answer(answer(LONG_QUOTE, citations=[citation(n, quote=f"{n} {LONG_QUOTE}" * 2) for n in (1, 2)]))
    lines = [seen_line for part in blocks.lines(quoting) for seen_line in seen(part, 10_000).splitlines()]
    assert len(lines) == 6  # the answer, nothing, and two sources of two lines
    assert lines[2].startswith("[1] ") and lines[3].startswith("    “")


def test_a_table_in_a_pipe_is_as_wide_as_its_names():
    name = "a very long name " * 10
    rows = [part.plain for part in blocks.lines(views.documents([info(name=name.strip())]))]
    assert len(rows) == 2 and name.strip() in rows[1] and not rows[1].endswith(" ")


# ---- Foreign text ----


def test_text_of_documents_and_models_is_printed_as_it_reads():
    nasty = "[red]x[/red] [/b] [link=http://a]y[/link] :smile:"
    for view in (
        views.answer(answer(nasty, citations=[citation(document=nasty, heading_path=nasty, quote=nasty)])),
        views.load_report(LoadReport(nasty, "id", "loaded", 1, 1, [nasty])),
        views.documents([info(name=nasty)]),
        views.removed(info(name=nasty)),
    ):
        assert nasty in seen(view, 400)


def test_control_characters_never_reach_the_screen():
    nasty = "a\x1b[2J\x07\u202eb"
    for view in (views.answer(answer(nasty, citations=[citation(quote=nasty)])), views.documents([info(name=nasty)])):
        assert not {"\x1b", "\x07", "\u202e"} & set(seen(view))


# ---- Answers ----


def test_a_source_shows_number_document_both_page_numbers_heading_and_quote():
    assert seen(views.answer(answer())).splitlines()[2:] == [
        "[1] guide.pdf, p. 3 (PDF page 6) · 3 Retrieval > 3.2 HyDE",
        "    “HyDE searches with a supposed answer.”",
    ]


def test_the_same_in_chinese():
    set_language("zh")
    shown = seen(views.answer(answer()))
    assert "[1] guide.pdf，第 3 页（PDF 第 6 页）" in shown and "「HyDE searches with a supposed answer.」" in shown


@pytest.mark.parametrize("label", [None, "6"])
def test_a_printed_number_that_is_the_pdfs_own_is_not_repeated(label):
    assert "guide.pdf, p. 6 ·" in seen(views.answer(answer(citations=[citation(page_label=label)])))


def test_a_text_file_has_no_pages_worth_naming():
    shown = seen(views.source(citation(document="notes.md", page=1, page_label=None, heading_path="")))
    assert shown.splitlines()[0] == "[1] notes.md"


def test_a_quotation_that_is_the_answer_is_not_repeated():
    quoted = answer("“HyDE searches with a supposed answer.” [1]", mode="extractive")
    assert seen(views.answer(quoted)).count("supposed") == 1


def test_a_line_break_between_chinese_characters_is_no_space():
    shown = seen(views.answer(answer(citations=[citation(quote="把它加载进来，然\n后向它提问。")])))
    assert "然后" in shown


def test_what_was_streamed_is_not_shown_again():
    assert "widens" not in seen(views.answer(answer(citations=[]), streamed="HyDE widens the\nsearch [1]."))


def test_an_answer_that_differs_from_what_was_streamed_is_shown():
    assert "quoted instead" in seen(views.answer(answer("quoted instead"), streamed="The model began and"))


def test_nothing_found_offers_the_nearest_passages():
    shown = seen(views.answer(answer("I found nothing.", found=False, citations=[], nearest=[citation()])))
    assert shown.startswith("I found nothing.\n\nNearest passages, not an answer:\n[1] guide.pdf")


def test_each_of_the_nearest_passages_has_one_line_however_narrow_the_terminal():
    long = citation(quote="A passage that goes on and on, " * 20)
    shown = views.answer(answer("I found nothing.", found=False, citations=[], nearest=[long, long]))
    for width in (40, 80, 120):
        lines = blocks.as_text(shown, width).splitlines()
        assert len(lines) == 5 and all(cell_len(line.rstrip()) <= width for line in lines)


def test_a_memory_that_the_answer_quotes_is_not_named_again():
    used = [MemoryUse("a", "semantic", "My name is Anna.", 1.0, {})]
    told = answer("You told me: “My name is Anna.”", citations=[], memories=used, trace={"memories_named": ["a"]})
    assert seen(views.answer(told)) == "You told me: “My name is Anna.”\n"


def test_citations_that_failed_their_check_are_marked():
    checks = {"dropped": [7], "unsupported": ["The moon is cheese [1]."]}
    shown = seen(views.answer(answer(trace={"citations": checks})))
    assert (
        "No such source, taken out: [7]" in shown and "Not borne out by its source: “The moon is cheese [1].”" in shown
    )


def test_only_memories_that_were_used_are_named():
    memories = [MemoryUse("a", "semantic", "prefers\nexamples", 0.9, {}), MemoryUse("b", "semantic", "other", 0.8, {})]
    shown = seen(views.answer(answer(memories=memories, trace={"memories_named": ["a"]})))
    assert shown.splitlines()[-1] == "Memories used: “prefers examples”"
    assert "Memories" not in seen(views.answer(answer(memories=memories)))


def test_a_question_that_leaned_on_the_past_shows_what_it_was_taken_to_mean():
    leaning = answer(enriched_query="How? (context: HyDE)", trace={"background": ["HyDE"]})
    assert "Understood as: How? (context: HyDE)" in seen(views.answer(leaning))
    assert "Understood" not in seen(views.answer(answer(enriched_query="What is HyDE?")))


# ---- Documents, notes, review, numbers ----


@pytest.mark.parametrize(
    ("action", "said"),
    [("loaded", "loaded"), ("already here", "already here"), ("replaced", "changed since last time")],
)
def test_a_load_report_is_one_line_and_one_for_each_warning(action, said):
    report = LoadReport("a.pdf", "id", action, 1, 2, ["198 of 311 pages have no text: 12–209."])
    first, second = seen(views.load_report(report)).splitlines()
    assert first.startswith(f"a.pdf: {said}") and first.endswith("1 page, 2 passages")
    assert second.strip() == "198 of 311 pages have no text: 12–209."


def test_the_summary_of_a_load_counts_what_happened():
    reports = [LoadReport("a", "i", "loaded", 1, 1), LoadReport("b", "i", "already here", 1, 1)]
    tried = [("a", reports[0]), ("b", reports[1]), ("/books/c.pdf", "c.pdf is empty.")]
    *rows, tally = seen(views.load_table(tried)).splitlines()
    assert tally == "1 loaded, 1 already here, 1 failed."
    assert [row.split()[0] for row in rows if "loaded" in row or "here" in row or "failed" in row] == [
        "a",
        "b",
        "c.pdf",
    ]


def test_no_documents_is_a_sentence():
    assert seen(views.documents([])) == "No documents yet.\n"


def test_documents_are_numbered_as_remove_takes_them():
    rows = seen(views.documents([info("a.pdf"), info("b.pdf")])).splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [["1", "a.pdf"], ["2", "b.pdf"]]


@pytest.mark.parametrize(
    ("receipt", "said"),
    [
        (Receipt("written", "semantic", ""), "Noted under “评估”."),
        (Receipt("counted", "semantic", ""), "You had noted this already."),
        (Receipt("refused", "semantic", "it holds a secret"), "Not kept: it holds a secret."),
    ],
)
def test_a_note_says_what_became_of_it(receipt, said):
    assert seen(views.note(receipt, "评估")).strip() == said


def test_a_review_names_questions_notes_pages_and_a_next_step():
    review = FakeAssistant().review("RAG")
    review.sections = [SimpleNamespace(document="guide.pdf", heading_path="3", page=7, touched=True)]
    shown = seen(views.review(review))
    assert "RAG 系统怎么评估？" in shown and "先看 Recall  [评估]" in shown
    assert "read guide.pdf, p. 7 · 3" in shown and shown.endswith("Next: Read guide.pdf, p. 7.\n")


def test_a_review_of_nothing_says_so():
    lists = {name: [] for name in ("asked", "noted", "wrong", "known", "sections", "gaps")}
    empty = SimpleNamespace(topic="tides", **lists, is_empty=True, next_step="Ask a question.")
    assert seen(views.review(empty)) == "Nothing about tides yet.\nNext: Ask a question.\n"


def test_stats_say_what_answers_and_what_searches():
    shown = seen(views.stats(FakeAssistant().get_stats()))
    assert "by words only" in shown and "quoted from your documents" in shown
