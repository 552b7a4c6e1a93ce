"""The pictures of a study report: activity by day, forgetting curves, coverage by chapter. SVG, drawn by matplotlib, an extra.

A font that lacks Chinese draws boxes. So a font that has it is looked for among those installed; where there is none, the
picture speaks English and chapters are numbers, which the report explains below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from infrastructure.extras import need
from infrastructure.language import language, tr
from infrastructure.text import is_cjk
from study.blocks import shortened

# In the order of preference; the first is what Debian and Fedora install, then Windows and macOS, then what is often there.
CJK_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "Microsoft YaHei", "PingFang SC"),
    *("Hiragino Sans GB", "Heiti SC", "SimHei", "DengXian", "SimSun", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei"),
    *(
        "Noto Serif CJK SC",
        "AR PL UMing CN",
        "AR PL UKai CN",
        "Droid Sans Fallback",
        "Arial Unicode MS",
        "Noto Sans CJK JP",
    ),
)
PLAIN_FONT = "DejaVu Sans"  # comes with matplotlib
SAMPLE = "学习记忆章节"  # a font that has these has the rest
BLUE, ORANGE, GREEN, GREY = "#4472c4", "#ed7d31", "#70ad47", "#a6a6a6"
COLOURS = (BLUE, ORANGE, GREEN, "#7030a0", "#c00000")
CURVES = len(COLOURS)
TITLE = 28  # characters of a chapter's title
INCHES = (8.0, 3.2)
MOST_BARS = 24


@dataclass(frozen=True)
class Picture:
    """A file that was drawn. legend: what the numbers in it stand for, when titles could not be drawn."""

    path: Path
    title: str
    legend: list[str]


@dataclass(frozen=True)
class Curve:
    """The mean chance of knowing the cards of a chapter, for today and each day after."""

    title: str
    shares: Sequence[float]


@cache
def chinese_font() -> str | None:
    """The name of an installed font that can draw Chinese, None when there is none."""
    need("charts")
    from matplotlib import font_manager, ft2font

    installed = {entry.name: entry.fname for entry in font_manager.fontManager.ttflist}
    for name in CJK_FONTS:
        if name in installed and all(ord(char) in ft2font.FT2Font(installed[name]).get_charmap() for char in SAMPLE):
            return name
    return None


class Labels:
    """Titles as they can be drawn, and what stands in their place."""

    def __init__(self, font: str | None) -> None:
        self.font = font
        self.legend: list[str] = []

    def __call__(self, title: str) -> str:
        if self.font or not any(map(is_cjk, title)):
            return shortened(title, TITLE)
        self.legend.append(title)
        return f"({len(self.legend)})"

    def word(self, en: str, zh: str) -> str:
        return tr(en, zh) if self.font or language() == "en" else en


def draw_all(folder: Path, days: Sequence[Mapping[str, Any]], curves: Sequence[Curve], chapters: Sequence[Mapping[str, Any]],
             *, retention: float, font: str | None = None) -> list[Picture]:  # fmt: skip
    """Draw what there is something to draw of, as SVG files in a folder that exists. font None: whatever can be drawn without."""
    matplotlib = need("charts")
    families = (
        [font, PLAIN_FONT] if font else [PLAIN_FONT]
    )  # a font is chosen when a text is made, not when it is drawn
    pictures = []
    # Letters become outlines, so that a picture looks the same everywhere; the same numbers give the same bytes.
    with matplotlib.rc_context({"font.family": families, "svg.fonttype": "path", "svg.hashsalt": "study"}):
        if any(day["questions"] or day["reviews"] for day in days):
            pictures.append(_activity(folder / "activity.svg", days, Labels(font)))
        if curves:
            pictures.append(_forgetting(folder / "forgetting.svg", curves, retention, Labels(font)))
        if chapters:
            pictures.append(_coverage(folder / "coverage.svg", chapters[:MOST_BARS], Labels(font)))
    return pictures


def _activity(path: Path, days: Sequence[Mapping[str, Any]], labels: Labels) -> Picture:
    figure, axes = _figure()
    at = range(len(days))
    asked, answered = [day["questions"] for day in days], [day["reviews"] for day in days]
    axes.bar(at, asked, color=BLUE, label=labels.word("questions", "提问"))
    axes.bar(at, answered, bottom=asked, color=ORANGE, label=labels.word("cards", "卡片"))
    axes.set_xticks(list(at)[::7], [day["day"][5:] for day in days[::7]])
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)
    return _saved(figure, path, tr("Activity by day", "每天的学习"), labels)


def _forgetting(path: Path, curves: Sequence[Curve], retention: float, labels: Labels) -> Picture:
    figure, axes = _figure()
    for colour, curve in zip(COLOURS, curves, strict=False):
        axes.plot(range(len(curve.shares)), curve.shares, color=colour, label=labels(curve.title))
    axes.axhline(retention, color=GREY, linestyle="--", label=labels.word("wanted", "目标"))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(labels.word("days from now without a review", "从今天起不复习的天数"))
    axes.set_ylabel(labels.word("chance to know", "仍记得的概率"))
    axes.legend(frameon=False, fontsize="small")
    return _saved(figure, path, tr("Forgetting curves", "遗忘曲线"), labels)


def _coverage(path: Path, chapters: Sequence[Mapping[str, Any]], labels: Labels) -> Picture:
    figure, axes = _figure(height=0.9 + 0.3 * len(chapters))
    shares = [chapter["opened"] / chapter["pages"] for chapter in chapters]
    at = range(len(chapters))
    axes.barh(at, [1] * len(chapters), color="#eeeeee")
    axes.barh(at, shares, color=GREEN)
    axes.set_yticks(list(at), [labels(chapter["title"]) for chapter in chapters])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel(labels.word("share of the pages opened", "读过的页面所占比例"))
    return _saved(figure, path, tr("Coverage by chapter", "各章覆盖情况"), labels)


def _figure(*, height: float = INCHES[1]) -> tuple[Any, Any]:
    """An empty picture without a frame; made without pyplot, which would open windows and keep figures."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(INCHES[0], height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _saved(figure: Any, path: Path, title: str, labels: Labels) -> Picture:
    figure.savefig(path, format="svg", metadata={"Date": None})
    return Picture(path, title, [f"({n}) {text}" for n, text in enumerate(labels.legend, start=1)])
