"""Pictures of the report: drawn, the same each time, and never boxes in place of Chinese."""

import warnings

import pytest

pytest.importorskip("matplotlib", reason="matplotlib, the extra for charts, is not installed")

from infrastructure.language import set_language
from study import charts
from study.charts import Curve, Labels, chinese_font, draw_all

DAYS = [{"day": f"2026-03-{day:02}", "questions": day % 3, "reviews": day} for day in range(1, 29)]
CURVES = [Curve("记忆的生命周期", [1 - day / 60 for day in range(31)]), Curve("Recall", [0.9] * 31)]
CHAPTERS = [{"title": "第一章 记忆", "opened": 1, "pages": 4}, {"title": "2 Recall", "opened": 0, "pages": 9}]


@pytest.fixture
def strict():
    """matplotlib warns when it draws a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph .* missing")
        yield


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_without_a_chinese_font_titles_are_numbers_that_a_legend_explains(tmp_path, strict, lang):
    set_language(lang)
    pictures = draw_all(tmp_path, DAYS, CURVES, CHAPTERS, retention=0.9, font=None)
    assert [picture.path.name for picture in pictures] == ["activity.svg", "forgetting.svg", "coverage.svg"]
    assert [picture.legend for picture in pictures] == [[], ["(1) 记忆的生命周期"], ["(1) 第一章 记忆"]]


def test_with_one_they_are_drawn(tmp_path, strict):
    font = chinese_font()
    if font is None:
        pytest.skip("no Chinese font is installed here")
    set_language("zh")
    assert all(not picture.legend for picture in draw_all(tmp_path, DAYS, CURVES, CHAPTERS, retention=0.9, font=font))


def test_the_same_numbers_give_the_same_bytes_and_no_text_that_a_search_could_miss(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        draw_all(tmp_path / name, DAYS, CURVES, [], retention=0.9)
    for picture in (tmp_path / "a").iterdir():
        assert picture.read_bytes() == (tmp_path / "b" / picture.name).read_bytes()
        assert b"<text" not in picture.read_bytes() and picture.stat().st_size < 200_000


def test_nothing_done_is_no_picture(tmp_path):
    idle = [{"day": "2026-03-01", "questions": 0, "reviews": 0}]
    assert draw_all(tmp_path, idle, [], [], retention=0.9) == []


def test_a_font_counts_only_if_it_has_the_characters(monkeypatch):
    monkeypatch.setattr(charts, "CJK_FONTS", ("DejaVu Sans",))
    chinese_font.cache_clear()
    assert chinese_font() is None
    chinese_font.cache_clear()


def test_long_titles_are_shortened():
    assert len(Labels(None)("x" * 100)) == charts.TITLE
