"""Rankings of several systems become tables: figures, intervals, differences, categories, what a signal is worth."""

import doctest

import pytest
from test_rivals import TALK, TEXTS

from benchmarks import rankings
from benchmarks.metrics import Estimate
from benchmarks.rankings import measure, run
from benchmarks.readers import Question
from benchmarks.report import Chart, Table
from infrastructure.console import Screen
from infrastructure.errors import UsageError


class Fixed:
    """Ranks the same items for every question."""

    name = "fixed"

    def __init__(self, *ranked):
        self.ranked = list(ranked)

    def index(self, corpus):
        """It knows."""

    def rank(self, question):
        return self.ranked

    def close(self):
        self.closed = True


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(rankings).failed == 0


def test_a_run_scores_every_question_of_every_corpus_and_closes_the_system():
    """ "2" is ranked first: right for the second question, second best for the first one."""
    system = Fixed("2", "1")
    result = run(system, [TALK, TALK], Screen())
    assert result.metrics["RR"] == [0.5, 1.0, 0.5, 1.0] and result.metrics["R@5"] == [1.0] * 4
    assert result.groups == [1.0] * 4 and len(result.ms) == 4 and system.closed
    assert result.tokens[0] > 0


def test_a_table_has_a_row_for_each_system_and_the_difference_to_ours():
    ours, floor = run(Fixed("1", "2"), [TALK], Screen()), run(Fixed(), [TALK], Screen())
    table, categories, chart = rankings.tables("LoCoMo", [ours, floor], "turns", "none")
    assert isinstance(chart, Chart) and isinstance(categories, Table)
    (_, r5, r10, rr, sessions, against, *_), (_, *_, less, tokens, _) = table.rows
    assert (r5, rr, sessions, against) == (1.0, 0.75, 1.0, None) and r10 == Estimate(1.0, 1.0, 1.0, 2)
    assert less == Estimate(1.0, 1.0, 1.0, 2) and tokens == 0.0
    assert categories.columns == ["system", "single-hop (1)", "temporal (1)"]


def test_rivals_and_ablations_come_with_a_word_about_what_is_missing():
    parts = list(measure("LoCoMo", [TALK], "none", rivals=True, ablations=True))
    tables = {part.key: part for part in parts if isinstance(part, Table)}
    names = [row[0] for row in tables["LoCoMo rankings"].rows]
    assert names[:2] == ["ours", "the article's formula"] and "full history" in names
    full = next(row for row in tables["LoCoMo rankings"].rows if row[0] == "full history")
    assert full[1:6] == [None] * 5 and full[6] > 0
    assert len(tables["LoCoMo ablations"].rows) == 9
    assert len([part for part in parts if isinstance(part, str)]) == 2


def test_documents_are_compared_without_sessions_and_without_ablations():
    table = next(part for part in measure("SQuAD", [TEXTS], "none") if isinstance(part, Table))
    assert "session R@5" not in table.columns
    with pytest.raises(UsageError, match="chats"):
        list(measure("SQuAD", [TEXTS], "none", ablations=True))


def test_sessions_count_as_met_by_any_of_their_turns():
    asked = Question("q", "?", frozenset(["1", "3"]), "")
    group = {"1": "monday", "2": "monday", "3": "tuesday"}
    assert rankings.group_recall(["2"], asked, group) == 0.5
    assert rankings.group_recall([], asked, group) == 0.0
