"""Exports: where they go, what they may replace, and what the report says."""

import json
from datetime import UTC, datetime
from importlib import import_module

import pytest

from infrastructure import extras
from infrastructure.copies import REPORT_MARK, is_backup, is_report, pictures_of
from infrastructure.errors import UsageError
from infrastructure.language import set_language
from infrastructure.lesson import StoppedClock
from infrastructure.storage import Storage
from study import report
from study.exports import export_path
from study.schedule import Timetable

m13 = import_module("13_pdf_learning_assistant")
BOOK = "# Decay\n\nThe half-life is 24 hours: then half is left.\n\n# Rivers\n\nThe Nile is 6650 kilometres long, they say.\n"


@pytest.fixture
def clock():
    return StoppedClock(datetime(2026, 3, 4, 4, tzinfo=UTC))


@pytest.fixture
def zone():
    return UTC


@pytest.fixture
def assistant(assistant):
    """Has the book."""
    assistant.load_text(BOOK, "guide.md")
    return assistant


@pytest.fixture
def without_matplotlib(monkeypatch):
    monkeypatch.setattr(report, "has", lambda name: False)


# ---- Where ----


def test_without_a_name_an_export_goes_into_the_home(assistant, without_matplotlib):
    assistant.quiz()
    home = assistant.storage.home
    assert assistant.export("anki").path == home / "exports" / "cards.apkg"
    assert assistant.export("markdown").path == home / "exports" / "report.md"
    assert is_backup(assistant.export("json").path)


def test_an_export_replaces_its_own_kind_and_nothing_else(assistant, tmp_path, without_matplotlib):
    assistant.quiz()
    for kind, name in (("anki", "a.apkg"), ("markdown", "a.md"), ("json", "a.jsonl")):
        for _ in range(2):
            assert assistant.export(kind, tmp_path / name).path.exists()
        foreign = tmp_path / f"thesis{name[1:]}"
        foreign.write_text("my thesis", encoding="utf-8")
        with pytest.raises(UsageError, match="another name"):
            assistant.export(kind, foreign)
        assert foreign.read_text(encoding="utf-8") == "my thesis"


@pytest.mark.parametrize(("kind", "ending"), [("anki", ".apkg"), ("markdown", ".md")])
def test_a_name_with_another_ending_is_refused_and_a_folder_is_a_place(tmp_path, kind, ending):
    with pytest.raises(UsageError, match=ending):
        export_path(tmp_path, kind, tmp_path / "cards.txt")
    assert export_path(tmp_path, kind, tmp_path).parent == tmp_path


def test_without_cards_there_is_no_deck(assistant, tmp_path):
    with pytest.raises(UsageError, match="quiz"):
        assistant.export("anki", tmp_path / "a.apkg")
    assert not (tmp_path / "a.apkg").exists()


def test_everything_comes_back_from_json(assistant, tmp_path):
    (card, *_) = assistant.quiz().cards
    assistant.tutor.answer(card.card_id, "25")
    assistant.export("json", tmp_path / "all.jsonl")
    with Storage(tmp_path / "other", now=assistant.storage.now) as storage:
        other = m13.PDFLearningAssistant(storage, timetable=Timetable(zone=UTC))
        other.restore(tmp_path / "all.jsonl")
        assert other.tutor.cards.list() == assistant.tutor.cards.list()
        assert other.tutor.cards.reviews() == assistant.tutor.cards.reviews()
        assert other.get_stats()["study"] == assistant.get_stats()["study"]


# ---- The report ----


def test_a_report_says_what_went_wrong_what_was_noted_and_what_is_due(assistant, tmp_path, without_matplotlib):
    note = "Half is left | after *one* day.\nI checked it!"
    assistant.add_note(note, concept="half-life", document="guide.md", page=1)
    assistant.ask("What is quantum entanglement?")
    for card in assistant.quiz(document="guide.md").cards:
        assistant.tutor.answer(card.card_id, "25")
    text = assistant.export("markdown", tmp_path / "r.md").path.read_text(encoding="utf-8")
    assert text.startswith(f"{REPORT_MARK}\n# Study report\n\n2026-03-04 04:00\n")
    for said in ("- Cards: 2", "The half-life is ____ hours", "answered “25”; right is **24** — guide.md", "- 2026-03-04: 2",
                 "> Half is left | after *one* day.\n> I checked it!", "**half-life** 2026-03-04 — guide.md",
                 "- What is quantum entanglement?"):  # fmt: skip
        assert said in text
    assert extras.missing("charts") in text


def test_a_report_in_chinese_is_chinese(assistant, tmp_path, without_matplotlib):
    set_language("zh")
    assistant.quiz()
    text = assistant.export("markdown", tmp_path / "r.md").path.read_text(encoding="utf-8")
    assert "# 学习报告" in text and "- 卡片：2" in text and "## 章节" in text


def test_notes_and_cards_of_a_removed_document_stay_and_say_so(assistant, tmp_path, without_matplotlib):
    assistant.add_note("Half is left after one day.", document="guide.md", page=1)
    for card in assistant.quiz(document="guide.md").cards:
        assistant.tutor.answer(card.card_id, "25")
    assistant.remove_document("guide.md")
    text = assistant.export("markdown", tmp_path / "r.md").path.read_text(encoding="utf-8")
    assert "> Half is left after one day." in text and text.count("guide.md (source removed)") == 3
    assert assistant.notes()[0].metadata["source_removed"] is True


def test_pictures_lie_beside_the_report_and_go_with_it(assistant, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib, the extra for charts, is not installed")
    for card in assistant.quiz().cards:
        assistant.tutor.answer(card.card_id, "24")
    path = assistant.export("markdown", assistant.storage.home / "my report.md").path
    assert {picture.name for picture in pictures_of(path).iterdir()} == {
        "activity.svg",
        "forgetting.svg",
        "coverage.svg",
    }
    assert "![Forgetting curves](<my report.md.pictures/forgetting.svg>)" in path.read_text(encoding="utf-8")
    assistant.remove_document("guide.md", purge=True)
    assert not path.exists() and not pictures_of(path).exists()


def test_a_forgetting_curve_falls_and_is_the_mean_of_its_cards(assistant):
    for card in assistant.quiz().cards:
        assistant.tutor.answer(card.card_id, rating=4)
    told = import_module("study.exports")._told(assistant)
    curves = report.forgetting_curves(told)
    assert {curve.title for curve in curves} == {"Decay", "Rivers"}
    for curve in curves:
        assert (
            curve.shares[0] == 1
            and list(curve.shares) == sorted(curve.shares, reverse=True)
            and len(curve.shares) == 31
        )


def test_signs_of_markdown_in_foreign_text_are_escaped():
    assert report._inline("a|b <i> [x](y) `c` *d* snake_case _e_ __g__ ____ h\nf") == (
        r"a\|b \<i\> \[x\](y) \`c\` \*d\* snake_case \_e\_ \_\_g\_\_ ____ h f"
    )


def test_another_file_is_no_report_of_ours(tmp_path):
    (tmp_path / "a.md").write_text("# Study report\n", encoding="utf-8")
    assert not is_report(tmp_path / "a.md") and not is_report(tmp_path / "none.md")


# ---- Notes have a place ----


def test_a_note_keeps_its_words_concept_document_and_page(assistant):
    text = "  先看 Recall:\n\t- 证据!  "
    assistant.add_note(text, concept="RAG 评估", document="guide", page=1)
    (note,) = assistant.notes()
    assert note.content == text.strip()
    wanted = {"concept": "RAG 评估", "document": "guide.md", "page": 1}
    assert {name: note.metadata[name] for name in wanted} == wanted and json.dumps(note.metadata)


def test_a_page_or_document_that_is_not_there_is_refused(assistant):
    for place, told in (
        ({"document": "guide.md", "page": 2}, "pages 1 to 1"),
        ({"document": "nothing"}, "No document"),
    ):
        with pytest.raises(UsageError, match=told):
            assistant.add_note("x y z", **place)
    assert assistant.notes() == []


def test_a_page_alone_is_one_of_the_only_document(assistant):
    assistant.add_note("Half is left.", page=1)
    assert assistant.notes()[0].metadata["document"] == "guide.md"
    assistant.load_text("Another one.", "other.md")
    with pytest.raises(UsageError, match="several"):
        assistant.add_note("Half is right.", page=1)
