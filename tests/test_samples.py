"""The sample guide: the committed PDF is what its generator makes, and it can be read, cited and navigated."""

import importlib.util
from pathlib import Path

import pytest

from study.reading import SourceDocument, read_document

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


@pytest.fixture(scope="module")
def guide() -> SourceDocument:
    return read_document(SAMPLES / "memory_rag_guide.pdf")


@pytest.fixture(scope="module")
def make_guide():
    spec = importlib.util.spec_from_file_location("make_guide", SAMPLES / "make_guide.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_making_the_guide_again_gives_the_same_text(guide, make_guide, tmp_path):
    again = tmp_path / "again.pdf"
    again.write_bytes(make_guide.make_guide())
    assert [page.raw for page in read_document(again).pages] == [page.raw for page in guide.pages]


def test_the_guide_has_all_of_its_text(guide, make_guide):
    said = "".join(guide.text.split())
    for block in make_guide.blocks((SAMPLES / "memory_rag_guide.md").read_text(encoding="utf-8")):
        for half in block.text.split(" / "):
            assert "".join(half.split())[:20] in said


def test_every_character_has_a_shape(make_guide):
    from fontTools.ttLib import TTFont

    known = TTFont(make_guide.REGULAR).getBestCmap()
    text = make_guide.SOURCE.read_text(encoding="utf-8")
    assert {char for char in text if ord(char) not in known} <= {"\n"}


def test_pages_are_labelled_i_ii_then_1_2_3(guide):
    labels = [page.label for page in guide.pages]
    assert labels == ["i", "ii", *map(str, range(1, len(labels) - 1))]


def test_the_outline_has_chapters_and_sections_on_their_pages(guide):
    assert sum(entry.level == 1 for entry in guide.outline) == 7
    assert {entry.level for entry in guide.outline} == {1, 2}
    assert all(guide.text[at:].startswith(title) for at, _, title in guide.headings)


def test_the_running_head_and_the_page_numbers_are_not_searched(guide, make_guide):
    assert make_guide.RUNNING_HEAD in guide.pages[5].raw
    assert make_guide.RUNNING_HEAD not in guide.text
    assert not any(page.clean.endswith(f"\n{page.label}") for page in guide.pages)


@pytest.mark.parametrize(
    ("passage", "heading"),
    [
        ("评估 RAG 系统主要看三个指标", "5.1"),
        ("做实验时，先看 Recall。", "5.2"),
        ("两者冲突时，取舍的办法是把两步分开", "5.3"),
        ("优化 RAG 系统要从失败样本入手", "5.4"),
        ("HyDE stands for hypothetical document embeddings.", "4.3"),
    ],
)
def test_the_first_questions_have_their_answer_under_the_right_heading(guide, passage, heading):
    at = guide.text.index(passage)
    assert [title for offset, _, title in guide.headings if offset <= at][-1].startswith(heading)


def test_the_guide_is_small_and_carries_its_font_licence():
    assert (SAMPLES / "memory_rag_guide.pdf").stat().st_size < 600_000
    assert "SIL OPEN FONT LICENSE" in (SAMPLES / "fonts" / "OFL.txt").read_text(encoding="utf-8")
