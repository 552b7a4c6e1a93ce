"""The benchmark of speed, in small: every figure is there, ratios are those of its own figures, curves have every size."""

from pathlib import Path

import pytest
from support import HashEmbedder

from benchmarks import memory_stores, speed
from benchmarks.embedding import Remembering
from benchmarks.report import Chart, Table


@pytest.fixture
def small(monkeypatch):
    for module, name, value in (
        (memory_stores, "ASKED", 8),
        (speed, "ASKED", 4),
        (speed, "SINGLES", 4),
        (speed, "COPIES", 1),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(speed, "REPEATS", 1)


def test_it_measures_each_size_and_draws_the_growth(small, monkeypatch):
    embedder = Remembering(HashEmbedder(memory_stores.DIMENSION))
    monkeypatch.setattr(speed, "make_embedder", lambda name: embedder)
    reading, growth, curves = speed.measure([60, 120], "hash")
    assert isinstance(growth, Table) and isinstance(curves, Chart)
    assert growth.columns == ["", "60", "120"] and growth.note.startswith("2x the memories")
    assert [row[0] for row in reading.rows] == ["pages until words are found", "texts until vectors are found"]
    assert all(value > 0 for row in growth.rows for value in row[1:])
    assert {"a question, end to end", "raw Chroma, a query"} <= curves.series.keys()
    assert all(list(values) == [60, 120] for values in curves.series.values())


def test_a_ratio_is_the_other_time_over_ours():
    """100 pages in 4 s are 25 a second; pypdf's 50 a second make ours half as fast."""
    assert speed._ratio("pages", "pypdf", 100, [4.0, 4.0, 9.0], [2.0]) == ["pages", 25.0, 50.0, "pypdf", 0.5]


def test_the_longer_guide_is_the_guide_over_and_over(tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "COPIES", 2)
    path = speed.longer_guide(tmp_path)
    assert speed.read_with_pypdf(path) == 2 * speed.read_with_pypdf(speed.GUIDE)
    assert isinstance(path, Path)


def test_the_clock_warms_up_and_counts_each_work_once():
    done = []
    spent = speed.clock([lambda n=n: done.append(n) for n in range(4)], warm=2)
    assert done == [0, 1, 0, 1, 2, 3] and len(spent) == 4
