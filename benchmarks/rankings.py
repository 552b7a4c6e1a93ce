"""Which of the texts holds the evidence? Ours and its rivals on the same public questions, with intervals and by category.

Every system ranks the items of a corpus for every question; ir_measures scores the rankings; the mean comes with its 95 %
bootstrap interval, and the difference to ours with its own, question by question.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.embedding import make_embedder
from benchmarks.metrics import difference, estimate, percentile, rank_scores
from benchmarks.readers import Corpus, Question
from benchmarks.report import Chart, Part, Table
from benchmarks.rivals import FIRST, FullHistory, System, ablations, baselines, others, ours
from benchmarks.stories import some_of
from infrastructure.console import Screen
from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.text import estimate_tokens_mixed

MAIN = "R@10"
SHOWN = ("R@5", MAIN, "RR")


@dataclass
class Result:
    """One system's figures, question by question in the order of the corpora. groups: recall of the first 5 groups (sessions,
    documents). tokens: what the first 10 items add to a prompt. reads_all: it ranks nothing, only its tokens count."""

    name: str
    metrics: dict[str, list[float]] = field(default_factory=dict)
    categories: list[str] = field(default_factory=list)
    groups: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)
    reads_all: bool = False
    ms: list[float] = field(default_factory=list)


def measure(
    name: str,
    corpora: Sequence[Corpus],
    embedder_name: str,
    *,
    rivals: bool = False,
    ablations: bool = False,
    limit: int | None = None,
    screen: Screen | None = None,
) -> Iterator[Part]:
    """Tables for one public set. limit: of the corpora, that many from beginning to end."""
    corpora = some_of(corpora, limit)
    embedder = make_embedder(embedder_name)
    for question in (question for corpus in corpora for question in corpus.questions if embedder):
        embedder.embed_query(question.text)  # remembered, so that no system's time has it
    kind = corpora[0].kind
    systems, absent = [ours(embedder, kind)], []
    if rivals:
        there, absent = others(embedder)
        systems += [*baselines(embedder, kind), *there]
    results = [run(system, corpora, screen) for system in systems]
    yield from tables(name, results, kind, embedder_name)
    yield from absent
    if ablations:
        yield _of_ablations(name, results[0], corpora, embedder, screen)


def run(system: System, corpora: Sequence[Corpus], screen: Screen | None = None) -> Result:
    """Every question of every corpus."""
    result = Result(system.name, reads_all=isinstance(system, FullHistory))
    screen = screen or Screen()
    with screen.progress(f"{system.name}", sum(len(corpus.questions) for corpus in corpora)) as done:
        for corpus in corpora:
            system.index(corpus)
            _score(result, corpus, _rank_all(system, corpus, result, done))
    system.close()
    return result


def _rank_all(system: System, corpus: Corpus, result: Result, done) -> dict[str, list[str]]:
    rankings = {}
    for question in corpus.questions:
        begun = time.perf_counter()
        rankings[question.id] = system.rank(question)
        result.ms.append(1000 * (time.perf_counter() - begun))
        done(len(result.ms))
    return rankings


def _score(result: Result, corpus: Corpus, rankings: dict[str, list[str]]) -> None:
    scores = rank_scores(rankings, {question.id: question.relevant for question in corpus.questions})
    group = {item.id: item.group for item in corpus.items}
    size = {item.id: float(estimate_tokens_mixed(item.text)) for item in corpus.items}
    for question in corpus.questions:
        for metric, value in scores[question.id].items():
            result.metrics.setdefault(metric, []).append(value)
        ranked = rankings[question.id]
        result.categories.append(question.category)
        result.groups.append(group_recall(ranked, question, group))
        read = ranked if result.reads_all else ranked[:FIRST]
        result.tokens.append(sum(size[item] for item in read))


def group_recall(ranked: Sequence[str], question: Question, group: dict[str, str], first: int = 5) -> float:
    """Share of the groups with evidence among the first five that are met in a ranking.

    >>> asked = Question("q", "?", frozenset(["a", "d"]), "")
    >>> group_recall(["b", "a", "c"], asked, {"a": "s1", "b": "s1", "c": "s2", "d": "s3"})
    0.5
    """
    wanted = {group[item] for item in question.relevant if item in group}
    met = list(dict.fromkeys(group[item] for item in ranked))[:first]
    return len(wanted.intersection(met)) / len(wanted) if wanted else 0.0


# ---- Tables ----


def tables(name: str, results: Sequence[Result], kind: str, embedder_name: str) -> Iterator[Part]:
    first, ranked = results[0], [result for result in results if not result.reads_all]
    count, categories = len(first.ms), sorted(set(first.categories))
    columns = [tr("system", "系统"), *SHOWN]
    if kind == "turns":
        columns.append(tr("session R@5", "会话 R@5"))
    columns += [tr("ours − it", "本项目 − 它"), tr("tokens", "token"), tr("ms", "毫秒")]
    rows = [_row(result, first, kind) for result in results]
    title = tr(f"{name}: {count} questions, {embedder_name}", f"{name}：{count} 个问题，{embedder_name}")
    note = tr(
        "R: mean share of a question's evidence found. Tokens: of the first ten, or of everything. The difference is that of "
        "R@10. ms: median of a question, its vector at hand.",
        "R：每题证据被找到的比例的均值。token：读入前十条（或全部）的量。差值指 R@10。毫秒：一题的中位数，不含生成问题向量。",
    )
    yield Table(f"{name} rankings", title, columns, rows, note)
    if len(categories) > 1:
        yield _by_category(name, ranked, categories)
    yield Chart(
        title, {metric: {result.name: estimate(result.metrics[metric]) for result in ranked} for metric in SHOWN}
    )


def _row(result: Result, first: Result, kind: str) -> list:
    if result.reads_all:
        empty = [None] * (len(SHOWN) + 1 + (kind == "turns"))
        return [result.name, *empty, estimate(result.tokens).mean, None]
    row: list = [result.name]
    for metric in SHOWN:
        found = estimate(result.metrics[metric])
        row.append(found if metric == MAIN else found.mean)
    if kind == "turns":
        row.append(estimate(result.groups).mean)
    against = None if result is first else difference(first.metrics[MAIN], result.metrics[MAIN])
    return [*row, against, estimate(result.tokens).mean, round(percentile(result.ms, 50), 1)]


def _by_category(name: str, results: Sequence[Result], categories: Sequence[str]) -> Table:
    rows = []
    for result in results:
        pairs = list(zip(result.categories, result.metrics[MAIN], strict=True))
        rows.append([result.name, *(estimate(v for c, v in pairs if c == category) for category in categories)])
    counts = [f"{category} ({results[0].categories.count(category)})" for category in categories]
    return Table(
        f"{name} categories",
        tr(f"{name}: R@10 by category", f"{name}：各类的 R@10"),
        [tr("system", "系统"), *counts],
        rows,
    )


def _of_ablations(name: str, full: Result, corpora: Sequence[Corpus], embedder, screen: Screen | None) -> Table:
    """What each signal is worth: ours minus ours without it."""
    if corpora[0].kind != "turns":
        raise UsageError(
            tr(
                "Ablations are for chats: LoCoMo, LongMemEval.",
                "消融只在对话数据（LoCoMo、LongMemEval）上做。",
            )
        )
    results = [run(system, corpora, screen) for system in ablations(embedder)]
    rows = [[r.name, estimate(r.metrics[MAIN]), difference(full.metrics[MAIN], r.metrics[MAIN])] for r in results]
    return Table(
        f"{name} ablations",
        tr(f"{name}: what each signal is worth", f"{name}：每个信号的贡献"),
        [tr("ours", "本项目"), MAIN, tr("lost without it", "去掉后损失")],
        [[tr("complete", "完整"), estimate(full.metrics[MAIN]), None], *rows],
    )
