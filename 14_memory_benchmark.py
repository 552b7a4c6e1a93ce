"""14 · Does memory help? The same questions with and without it, six numbers, and what got lost.

After this script you can explain why a set of single questions cannot show what memory is worth, why a memory that is never
wrong matters more than one that is always there, and how far to trust a number that came without its interval.

    story: documents + what a learner said → question, once for each mode → answer, memories used, memories kept → metrics

Modes. plain RAG: documents only. memory context: every line of the history was put into the diary and on the desk, as it was
said, and what fits is recalled beside the passages. enrich + context: the question is also searched with what it leans on.
full: the assistant has lived through the history and writes back: what it knows has passed its gate.

Metrics, each the mean over the samples it is defined for, with a 95 % bootstrap interval. "Says" is benchmarks/metrics.py:
four fifths of a point's content words and all its numbers. No model decides anything, unless you name one with --judge.
  memory hit rate            share of the expected memories that one used for the answer says
  memory precision           share of the memories used that say an expected one; where any was used
  answer grounding           share of an answer's claims whose words a document or a used memory carries
  personalisation accuracy   share of the expected points the answer makes, where memory is needed; 0 if it says what is outdated
  memory pollution rate      share of the samples with something that must not last, after which a long-term memory says it
  latency and cost           ms of the question, ms to remember a turn, tokens that memory adds to a prompt
Beside them: the points made where no memory is needed, which memory must not spoil.
Not done here: judging style. A model's answer in other words than the point's is scored too low; that is what --judge is for.
Article: §8 samples, modes, metrics.

    python 14_memory_benchmark.py [--lang en|zh] [--help]
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.embedding import Remembering
from benchmarks.metrics import Estimate, claims, estimate, grounding, percentile, points_made, says_any
from benchmarks.report import Chart, Part, Table
from benchmarks.stories import KINDS, Sample, Story
from infrastructure.answers import Answer
from infrastructure.language import tr
from infrastructure.lesson import StoppedClock
from infrastructure.llm import Usage
from infrastructure.storage import Storage
from infrastructure.text import estimate_tokens_mixed

if TYPE_CHECKING:
    import memory_enhanced_rag as m12
    import pdf_learning_assistant as m13
else:
    m12 = import_module("12_memory_enhanced_rag")
    m13 = import_module("13_pdf_learning_assistant")

# ---- §8 Four modes (四种模式) ----


@dataclass(frozen=True)
class Mode:
    """recalls: memory is looked into. enriches: the question is filled in from it. writes_back: it is made by the assistant
    itself; otherwise the history is put into it line by line."""

    name: str
    name_zh: str
    recalls: bool = False
    enriches: bool = False
    writes_back: bool = False


PLAIN = Mode("plain RAG", "普通 RAG")
CONTEXT = Mode("memory context", "仅记忆上下文", recalls=True)
ENRICH = Mode("enrich + context", "增强 + 上下文", recalls=True, enriches=True)
FULL = Mode("full", "完整", recalls=True, enriches=True, writes_back=True)
MODES = (PLAIN, CONTEXT, ENRICH, FULL)

# ---- One sample, lived through ----

MINUTES_A_TURN = 1  # between two turns of a session; the next session is a day later


@dataclass
class Outcome:
    """What came of one sample in one mode. used: the memories that took part in the answer; lasting: all of long-term memory
    afterwards. remember_ms: per line of the history. usage: of the language model, if there is one."""

    sample: Sample
    mode: Mode
    answer: Answer
    used: list[str]
    lasting: list[str]
    ms: float
    remember_ms: list[float] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    judged: float | None = None


class Stage:
    """Homes for samples: a story's documents are loaded once, and each sample gets a copy of that home."""

    def __init__(self, folder: Path, *, embedder=None, llm=None) -> None:
        self._folder, self._llm = folder, llm
        self._embedder = None if embedder is None else Remembering(embedder)

    def run(self, sample: Sample, mode: Mode) -> Outcome:
        """Live through a sample in a home of its own, which is gone afterwards."""
        home = self._folder / "now"
        shutil.copytree(self._prepared(sample.story), home)
        clock = StoppedClock()
        if self._embedder is not None:
            self._embedder.forget_questions()  # or the second mode would be faster than the first
        try:
            with Storage(home, embedder=self._embedder, now=clock) as storage:
                return self._live(storage, clock, sample, mode)
        finally:
            shutil.rmtree(home)

    def _prepared(self, story: Story) -> Path:
        home = self._folder / story.name
        if not home.exists():
            with Storage(home, embedder=self._embedder, now=StoppedClock()) as storage:
                assistant = m13.PDFLearningAssistant(storage)
                for name, text in story.documents:
                    assistant.load_text(text, name)
                storage.settle(chroma=False)
        return home

    def _live(self, storage: Storage, clock: StoppedClock, sample: Sample, mode: Mode) -> Outcome:
        rag = m12.MemoryRAG(storage, llm=self._llm, session_id="first")
        remember_ms = []
        for said in sample.history:
            begun = time.perf_counter()
            tell(rag, said, mode)
            remember_ms.append(1000 * (time.perf_counter() - begun))
            clock.move(minutes=MINUTES_A_TURN)
        storage.settle(chroma=False)  # a learner types more slowly than vectors are made
        if not sample.same_session:
            clock.move(days=1)
            rag.set_session("second")
        before = Usage() if self._llm is None else self._llm.usage
        begun = time.perf_counter()
        answer = rag.query(sample.question, use_memory=mode.recalls, enrich=mode.enriches, write_back=mode.writes_back)
        ms = 1000 * (time.perf_counter() - begun)
        usage = Usage() if self._llm is None else self._llm.usage.since(before)
        return Outcome(sample, mode, answer, used_in(answer), lasting(rag), ms, remember_ms, usage)


def tell(rag: "m12.MemoryRAG", said: str, mode: Mode) -> None:
    """One line of the history: a turn of the conversation, or a line put into memory by hand, or nothing that would be kept."""
    if mode.writes_back:
        rag.query(said)
    elif mode.recalls:
        rag.episodic.add(said, session_id=rag.session_id)
        rag.working.add(said, session_id=rag.session_id, question=said, topic=said)


def used_in(answer: Answer) -> list[str]:
    """Texts of the memories recalled for an answer, and of what filled in its question."""
    return list(dict.fromkeys([*(memory.content for memory in answer.memories), *answer.trace.get("background", [])]))


def lasting(rag: "m12.MemoryRAG") -> list[str]:
    """Everything that long-term memory holds to be true now."""
    return [item.content for store in (rag.episodic, rag.semantic) for item in store.list(limit=-1)]


# ---- §8 Six metrics (六个指标) ----


def memory_hit(outcome: Outcome) -> float | None:
    wanted = outcome.sample.expected_memory
    return sum(says_any(outcome.used, memory) for memory in wanted) / len(wanted) if wanted else None


def memory_precision(outcome: Outcome) -> float | None:
    wanted = outcome.sample.expected_memory
    right = [any(says_any([used], memory) for memory in wanted) for used in outcome.used]
    return sum(right) / len(right) if right else None


def answer_grounding(outcome: Outcome) -> float | None:
    answer = outcome.answer
    if not answer.found:
        return None
    documents = [text for _, text in outcome.sample.story.documents]
    return grounding(claims(answer.answer, quotes=answer.mode == "extractive"), [*documents, *outcome.used])


def personalisation(outcome: Outcome) -> float | None:
    return _points(outcome) if outcome.sample.needs_memory else None


def points_without_memory(outcome: Outcome) -> float | None:
    return None if outcome.sample.needs_memory else _points(outcome)


def _points(outcome: Outcome) -> float:
    sample = outcome.sample
    return points_made(outcome.answer.answer, sample.expected_answer_points, sample.must_not_say)


def pollution(outcome: Outcome) -> float | None:
    wrong = outcome.sample.must_not_remember
    return float(any(says_any(outcome.lasting, each) for each in wrong)) if wrong else None


def memory_tokens(outcome: Outcome) -> float:
    return float(sum(map(estimate_tokens_mixed, outcome.used)))


@dataclass(frozen=True)
class Metric:
    """`of`: its value for one outcome, None where it is not defined."""

    name: str
    name_zh: str
    of: Callable[[Outcome], float | None]


HIT = Metric("memory hit rate", "记忆命中率", memory_hit)
PRECISION = Metric("memory precision", "记忆精确率", memory_precision)
PERSONAL = Metric("personalisation accuracy", "个性化准确率", personalisation)
POLLUTION = Metric("memory pollution rate", "记忆污染率", pollution)
UNSPOILT = Metric("points, no memory needed", "不需要记忆时的要点", points_without_memory)
METRICS = (
    HIT,
    PRECISION,
    Metric("answer grounding", "回答有据率", answer_grounding),
    PERSONAL,
    POLLUTION,
    UNSPOILT,
    Metric("tokens that memory adds", "记忆增加的 token", memory_tokens),
)
JUDGED = Metric("points, by the judge", "判定模型认可的要点", lambda outcome: outcome.judged)


def outcomes_of(mode: Mode, outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.mode is mode]


def measured(metric: Metric, mode: Mode, outcomes: Sequence[Outcome]) -> Estimate | None:
    return estimate(metric.of(outcome) for outcome in outcomes_of(mode, outcomes))


def latency(mode: Mode, outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Median and p95 ms of a question, median ms of remembering a turn (None: nothing was told)."""
    own = outcomes_of(mode, outcomes)
    told = [ms for outcome in own for ms in outcome.remember_ms]
    asked = [outcome.ms for outcome in own]
    remember = percentile(told, 50) if told else None
    return {"median": percentile(asked, 50), "p95": percentile(asked, 95), "remember": remember}


def cost(mode: Mode, outcomes: Sequence[Outcome]) -> Usage:
    return sum((outcome.usage for outcome in outcomes_of(mode, outcomes)), Usage())


def promises(outcomes: Sequence[Outcome]) -> list[tuple[str, bool]]:
    """What memory has to keep to be worth having: (sentence, kept)."""

    def mean(metric: Metric, mode: Mode) -> float:
        found = measured(metric, mode, outcomes)
        return found.mean if found else 0.0

    return [
        (
            tr("Full mode finds more memories than plain RAG.", "完整模式的记忆命中率高于普通 RAG。"),
            mean(HIT, FULL) > mean(HIT, PLAIN),
        ),
        (
            tr("Its answers fit the learner better.", "回答更符合学习者的情况。"),
            mean(PERSONAL, FULL) > mean(PERSONAL, PLAIN),
        ),
        (tr("Nothing wrong became a lasting memory.", "没有错误内容成为长期记忆。"), mean(POLLUTION, FULL) == 0),
        (
            tr("Where no memory is needed, nothing is lost.", "不需要记忆的问题没有变差。"),
            mean(UNSPOILT, FULL) >= mean(UNSPOILT, PLAIN),
        ),
    ]


def missed(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """What full mode got wrong: an expected memory not used, a point not made, something wrong kept."""

    def went_wrong(outcome: Outcome) -> bool:
        return memory_hit(outcome) not in (None, 1.0) or _points(outcome) < 1 or bool(pollution(outcome))

    return [outcome for outcome in outcomes_of(FULL, outcomes) if went_wrong(outcome)]


# ---- What is shown ----

MISSES_SHOWN = 6


def name_of(thing: Mode | Metric) -> str:
    return tr(thing.name, thing.name_zh)


def compare(
    samples: Sequence[Sample], *, embedder=None, llm=None, judge=None, done: Callable[[int], None] = lambda count: None
) -> list[Outcome]:
    """Every sample in every mode; done(samples so far) is called after each. judge: see benchmarks/judge.py."""
    outcomes: list[Outcome] = []
    with TemporaryDirectory(prefix="memory-benchmark-", ignore_cleanup_errors=True) as folder:
        stage = Stage(Path(folder), embedder=embedder, llm=llm)
        for number, sample in enumerate(samples, start=1):
            outcomes += [stage.run(sample, mode) for mode in MODES]
            done(number)
    for outcome in outcomes if judge else ():
        sample = outcome.sample
        outcome.judged = judge.share_made(sample.question, outcome.answer.answer, sample.expected_answer_points)
    return outcomes


def findings(outcomes: Sequence[Outcome]) -> Iterator[Part]:
    """The comparison as tables, one chart and the promises, for the terminal, JSON and the page alike."""
    metrics = [*METRICS, JUDGED] if any(outcome.judged is not None for outcome in outcomes) else METRICS
    values = {metric: {mode: measured(metric, mode, outcomes) for mode in MODES} for metric in metrics}
    modes = [name_of(mode) for mode in MODES]
    rows = [[name_of(metric), *(values[metric][mode] for mode in MODES)] for metric in metrics]
    count = len(outcomes_of(FULL, outcomes))
    yield Table(
        "metrics",
        tr(
            f"§8 Four modes, {count} samples: mean ± half the 95 % interval",
            f"§8 四种模式，{count} 个样本：均值 ± 95% 区间半宽",
        ),
        [tr("metric", "指标"), *modes],
        rows,
    )
    yield Table(
        "kinds",
        tr("§8 Points made, by kind of question", "§8 按问题类型看答出的要点"),
        [tr("kind", "类型"), *modes, "n"],
        list(_by_kind(outcomes)),
    )
    yield Table(
        "latency",
        tr("§8 Latency and cost", "§8 延迟与成本"),
        [tr("per question or turn", "每问或每轮"), *modes],
        _times(outcomes),
    )
    shares = [metric for metric in metrics if metric.name != "tokens that memory adds"]
    yield Chart(
        tr("Four modes", "四种模式"),
        {name_of(mode): {name_of(metric): values[metric][mode] for metric in shares} for mode in MODES},
    )
    yield from _judgement(outcomes)


def _by_kind(outcomes: Sequence[Outcome]) -> Iterator[list[Any]]:
    for kind, kind_zh in KINDS.items():
        own = [outcome for outcome in outcomes if outcome.sample.kind == kind]
        if own:
            means = [estimate(_points(outcome) for outcome in outcomes_of(mode, own)) for mode in MODES]
            yield [tr(kind, kind_zh), *(found.mean for found in means), len(own) // len(MODES)]


def _times(outcomes: Sequence[Outcome]) -> list[list[Any]]:
    spent = [latency(mode, outcomes) for mode in MODES]
    labels = {
        "median": tr("ms of a question, median", "一次提问的毫秒数，中位数"),
        "p95": tr("ms of a question, p95", "一次提问的毫秒数，p95"),
        "remember": tr("ms to remember a turn, median", "记住一轮的毫秒数，中位数"),
    }
    rows: list[list[Any]] = [[label, *(times[key] for times in spent)] for key, label in labels.items()]
    used = [cost(mode, outcomes) for mode in MODES]
    if any(usage.prompt_tokens for usage in used):
        rows.append([tr("tokens sent to the model", "发送给模型的 token"), *(usage.prompt_tokens for usage in used)])
        rows.append([tr("US dollars", "美元"), *(usage.cost for usage in used)])
    return rows


def _judgement(outcomes: Sequence[Outcome]) -> Iterator[Part]:
    kept = promises(outcomes)
    yield Table("promises", tr("What memory has to keep", "记忆必须做到的"), ["", ""],
                [[sentence, tr("yes", "是") if held else tr("NO", "否")] for sentence, held in kept])  # fmt: skip
    lost = missed(outcomes)
    columns = [tr("sample", "样本"), tr("asked", "问题"), tr("answered", "回答"), tr("memories used", "用到的记忆")]
    rows = [[o.sample.id, o.sample.question, o.answer.answer, "\n".join(o.used) or "–"] for o in lost[:MISSES_SHOWN]]
    title = tr(
        f"What full mode got wrong: {len(lost)} of {len(outcomes_of(FULL, outcomes))}",
        f"完整模式答错的：{len(outcomes_of(FULL, outcomes))} 个中的 {len(lost)} 个",
    )
    yield Table(
        "missed",
        title,
        columns,
        rows,
        tr("The first of them; --json lists them all.", "只列前几个；--json 会列出全部。"),
    )


def rows_for_json(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Every outcome, for whoever wants to look at single answers."""
    return [
        {
            "id": outcome.sample.id,
            "mode": outcome.mode.name,
            "answer": outcome.answer.answer,
            "used": outcome.used,
            "ms": round(outcome.ms, 1),
            **{metric.name: metric.of(outcome) for metric in METRICS},
        }
        for outcome in outcomes
    ]


# ---- lesson ----


def lesson(samples: Sequence[Sample], outcomes: Sequence[Outcome]) -> Iterator[Part]:
    """One sample in all modes, the findings, and what to try."""
    shown = next((sample for sample in samples if sample.needs_memory), samples[0])
    yield Table(
        "example",
        tr(f"One sample: “{shown.question}”", f"一个样本：「{shown.question}」"),
        [tr("mode", "模式"), tr("answer", "回答")],
        [[name_of(o.mode), o.answer.answer] for o in outcomes if o.sample is shown],
        tr("Said before: ", "之前说过：") + " ".join(shown.history),
    )
    yield from findings(outcomes)
    yield Table("try", tr("Try it", "试一试"), ["", ""], list(enumerate(to_try(), start=1)))


def to_try() -> list[str]:
    return [
        tr(
            "Give FULL enriches=False: the follow-ups fall back to what plain RAG makes of them.",
            "把 FULL 的 enriches 改成 False：追问就退回普通 RAG 的水平。",
        ),
        tr(
            "MINUTES_A_TURN = 180: the desk is empty after two hours, so the follow-ups lean on nothing.",
            "把 MINUTES_A_TURN 改成 180：桌面两小时后清空，追问就没有前文可依。",
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    from benchmarks.command import run

    return run(argv, __doc__, compare=compare, lesson=lesson, promises=promises, rows_for_json=rows_for_json)


if __name__ == "__main__":
    sys.exit(main())
