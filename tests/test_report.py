"""One set of findings as terminal output, JSON and a page that stands alone."""

import doctest
import re
from xml.etree import ElementTree

import pytest

from benchmarks import report
from benchmarks.metrics import Estimate
from benchmarks.report import Chart, Report, Table, page, to_json
from infrastructure.console import Screen

SURE = Estimate(0.5, 0.4, 0.6, 20)
ROWS = [["hits & misses", None, SURE], ["ms", 12.5, 1234]]
TABLE = Table("metrics", "Metrics <1>", ["metric", "plain", "full"], ROWS, "A note.")
BARS = Chart("Modes", {"plain": {"hits": 0.1, "points": None}, "full": {"hits": SURE, "points": 1.0}})
CURVES = Chart(
    "Growth", {"search": {1_000: 2.0, 100_000: 9.0}, "add": {1_000: 0.1, 100_000: 0.2}}, logarithmic=True, unit="ms"
)


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(report).failed == 0


def test_json_has_the_interval_and_plain_values_by_column():
    assert to_json([TABLE, BARS, "a sentence"]) == {
        "metrics": [
            {"metric": "hits & misses", "plain": None, "full": {"mean": 0.5, "low": 0.4, "high": 0.6, "n": 20}},
            {"metric": "ms", "plain": 12.5, "full": 1234},
        ]
    }


def test_the_terminal_shows_tables_and_sentences_and_keeps_every_part(capsys):
    seen = Report(Screen(color=False, width=80))
    seen.add([TABLE, BARS, "[red]a sentence[/red]"])
    shown = capsys.readouterr().out
    assert "0.500 ±0.100" in shown and "1,234" in shown and "[red]a sentence[/red]" in shown and "A note." in shown
    assert seen.parts == [TABLE, BARS, "[red]a sentence[/red]"]


def test_the_page_stands_alone_and_every_chart_is_well_formed():
    html = page("Does memory help?", "python 14.py --html <x>", [TABLE, BARS, CURVES, "A <b>sentence</b>."])
    assert not re.search(r"""(?:href|src)=|url\(|<script|@import""", html)
    assert "prefers-color-scheme: dark" in html and "&lt;b&gt;" in html and "Metrics &lt;1&gt;" in html
    charts = re.findall(r"<svg.*?</svg>", html, re.S)
    assert len(charts) == 2 and all(ElementTree.fromstring(chart).get("role") == "img" for chart in charts)


def test_bars_are_as_long_as_their_values_and_whiskers_as_wide_as_their_intervals():
    svg = ElementTree.fromstring(report.bars(BARS))
    widths = [float(rect.get("width")) for rect in svg.iter("rect") if rect.get("rx") == "1"]
    assert widths == pytest.approx([0.1 * report.PLOT, 0.5 * report.PLOT, 1.0 * report.PLOT])
    (whisker,) = [line for line in svg.iter("line") if line.get("class") == "whisker"]
    assert float(whisker.get("x2")) - float(whisker.get("x1")) == pytest.approx(0.2 * report.PLOT)


def test_equal_factors_are_equal_steps_in_a_curve():
    """Both axes are logarithmic: from 1,000 to 10,000 is as far as from 10,000 to 100,000."""
    svg = ElementTree.fromstring(
        report.curves(Chart("", {"a": {1_000: 1.0, 10_000: 10.0, 100_000: 100.0}}, logarithmic=True))
    )
    places = [tuple(map(float, point.split(","))) for point in next(svg.iter("polyline")).get("points").split()]
    (x0, y0), (x1, y1), (x2, y2) = places
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and y0 - y1 == pytest.approx(y1 - y2, abs=0.2)


def test_one_size_is_drawn_too():
    assert "<circle" in report.curves(Chart("", {"a": {1_000: 1.0}}, logarithmic=True))


@pytest.mark.parametrize(("width", "told"), [(60, True), (110, False)])
def test_a_narrow_window_gets_means_without_intervals_and_is_told_where_they_are(width, told, capsys):
    Report(Screen(color=False, width=width)).add([Table("t", "T", ["system", *"abcdef"], [["ours", *[SURE] * 6]])])
    shown = capsys.readouterr().out
    assert "0.500" in shown and ("±" in shown) is not told and ("--json" in shown) is told
