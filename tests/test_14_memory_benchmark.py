"""Script 14: the six metrics on answers that can be worked out by hand, the modes on a slice of the bundled questions."""

import json
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import pytest
from support import HashEmbedder, ScriptedLLM

from benchmarks import metrics
from benchmarks.judge import Judge
from benchmarks.stories import KINDS, Sample, Story, read_samples
from infrastructure.answers import Answer
from infrastructure.language import set_language

m14 = import_module("14_memory_benchmark")

NURSE = Story("nurse", "en", (("drip.md", "# Drip rate\nDrops per minute are the volume times the drop factor."),))
ASKED = Sample(
    "n-1", NURSE, "preference", ("I like mnemonics.",), "What do I like?", ("I like mnemonics",), ("mnemonics",)
)


def outcome(sample=ASKED, mode=m14.FULL, *, answer="You told me: “I like mnemonics.”", used=(), lasting=(), ms=10.0):
    given = Answer(sample.question, answer, "extractive", True)
    return m14.Outcome(sample, mode, given, list(used), list(lasting), ms, [1.0, 3.0])


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """Half of the Chinese student and of the English nurse in all modes, without vectors."""
    samples = [s for s in read_samples() if s.story.name in ("exam-zh", "nurse-en")][::2]
    return samples, m14.compare(samples)


# ---- The metrics, by hand ----


def test_a_hit_is_the_share_of_expected_memories_that_one_used_memory_says():
    both = replace(ASKED, expected_memory=("I like mnemonics", "I live in Leeds"))
    assert m14.memory_hit(outcome(both, used=["I like mnemonics a lot."])) == 0.5
    assert m14.memory_hit(outcome(replace(ASKED, expected_memory=()))) is None


def test_precision_counts_the_memories_that_were_not_asked_for():
    assert m14.memory_precision(outcome(used=["I like mnemonics.", "I live in Leeds.", "My bike is red."])) == 1 / 3
    assert m14.memory_precision(outcome(used=[])) is None


def test_grounding_looks_for_each_quoted_claim_in_documents_and_memories():
    said = "“Drops per minute are the volume times the drop factor.” [1]\nYou told me: “Whales can sing.”"
    assert m14.answer_grounding(outcome(answer=said)) == 0.5
    assert m14.answer_grounding(outcome(answer=said, used=["Whales can sing"])) == 1.0


def test_personalisation_is_nothing_once_the_outdated_value_is_said():
    moved = replace(ASKED, expected_answer_points=("5 June",), must_not_say=("3 June",))
    assert m14.personalisation(outcome(moved, answer="On 5 June.")) == 1.0
    assert m14.personalisation(outcome(moved, answer="On 3 June, no, 5 June.")) == 0.0
    assert m14.personalisation(outcome(replace(moved, expected_memory=()), answer="On 5 June.")) is None


def test_pollution_is_what_long_term_memory_says_that_must_not_last():
    wish = replace(ASKED, must_not_remember=("skip the vocabulary",))
    assert m14.pollution(outcome(wish, lasting=["I want to skip the vocabulary"])) == 1.0
    assert m14.pollution(outcome(wish, lasting=["I like mnemonics"])) == 0.0
    assert m14.pollution(outcome()) is None


def test_latency_is_median_and_p95_of_the_questions_and_median_of_the_turns():
    times = m14.latency(m14.FULL, [outcome(ms=ms) for ms in (10, 20, 30)] + [outcome(mode=m14.PLAIN, ms=500)])
    assert times == {"median": 20, "p95": pytest.approx(29), "remember": 2.0}


def test_a_promise_is_broken_by_a_single_polluted_sample():
    wish = replace(ASKED, must_not_remember=("skip the vocabulary",))
    plain = outcome(wish, m14.PLAIN, answer="“No.”")
    clean, dirty = outcome(wish, used=["I like mnemonics"]), outcome(wish, lasting=["skip the vocabulary"])
    assert [held for _, held in m14.promises([plain, clean])] == [True, True, True, True]
    assert [held for _, held in m14.promises([plain, dirty])][2] is False
    assert m14.missed([plain, clean, dirty]) == [dirty]


# ---- The modes ----


def test_memory_helps_where_it_is_needed_and_spoils_nothing_else(lived):
    _, outcomes = lived
    assert all(held for _, held in m14.promises(outcomes))
    assert m14.measured(m14.HIT, m14.FULL, outcomes).mean >= 0.9
    assert m14.measured(m14.POLLUTION, m14.CONTEXT, outcomes).mean > 0, (
        "a memory without a gate keeps what it should not"
    )


def test_plain_rag_remembers_nothing_and_full_mode_writes_back(lived):
    _, outcomes = lived
    assert all(not o.used and not o.lasting for o in outcomes if o.mode is m14.PLAIN)
    assert any(o.lasting for o in outcomes if o.mode is m14.FULL)


def test_only_a_question_that_leans_is_enriched_and_only_where_that_is_switched_on(lived):
    _, outcomes = lived
    enriched = {o.mode.name for o in outcomes if o.answer.trace.get("background")}
    assert enriched == {"enrich + context", "full"}


def follow_ups(folder, mode):
    """Points made for six questions that lean on the one before."""
    samples = [s for s in read_samples() if s.kind == "follow-up" and s.story.language == "en"][:6]
    stage = m14.Stage(folder)
    return sum(m14.personalisation(stage.run(sample, mode)) for sample in samples)


def test_trying_it_follow_ups_need_enrichment_and_a_desk_that_is_not_empty_yet(tmp_path, monkeypatch):
    """The lesson's two changes."""
    as_it_is = follow_ups(tmp_path, m14.FULL)
    assert follow_ups(tmp_path, replace(m14.FULL, enriches=False)) < as_it_is
    monkeypatch.setattr(m14, "MINUTES_A_TURN", 180)
    assert follow_ups(tmp_path, m14.FULL) < as_it_is


def test_each_sample_has_a_home_of_its_own(tmp_path):
    stage = m14.Stage(tmp_path, embedder=HashEmbedder())
    stage.run(ASKED, m14.FULL)
    other = stage.run(replace(ASKED, id="n-2", history=()), m14.FULL)
    assert not other.used and [path.name for path in tmp_path.iterdir()] == ["nurse"]


def test_a_model_answers_and_its_tokens_are_counted(tmp_path):
    llm = ScriptedLLM(default="Drops per minute are the volume times the drop factor [1].")
    asked = replace(ASKED, history=(), question="How many drops per minute?")
    found = m14.Stage(tmp_path, llm=llm).run(asked, m14.PLAIN)
    assert found.answer.mode == "llm" and found.usage.prompt_tokens > 100
    assert m14.answer_grounding(found) == 1.0


def test_a_judge_is_asked_about_each_answer():
    llm = ScriptedLLM(default='{"made": true}', name="judge")
    outcomes = m14.compare([ASKED], judge=Judge(llm))
    assert [o.judged for o in outcomes] == [1.0] * 4
    rows = next(part for part in m14.findings(outcomes) if part.key == "metrics").rows
    assert rows[-1][0] == "points, by the judge"


# ---- The bundled questions ----


def test_the_bundled_set_has_stories_samples_and_kinds_enough():
    samples = read_samples()
    for language in ("zh", "en"):
        own = [s for s in samples if s.story.language == language]
        assert len(own) >= 60 and len({s.story.name for s in own}) >= 6
        assert {s.kind for s in own} == set(KINDS)


def test_every_bundled_sample_can_be_answered_from_what_it_holds():
    """Each point stands in the documents or was said; what must not last was said by somebody; a wish expects no memory."""
    for sample in read_samples():
        told = [*sample.history, *(text for _, text in sample.story.documents)]
        assert sample.history and sample.expected_answer_points, sample.id
        for point in (*sample.expected_memory, *sample.expected_answer_points, *sample.must_not_remember):
            assert metrics.says(" ".join(told), point), (sample.id, point)
        assert all(any(metrics.says(said, m) for said in sample.history) for m in sample.expected_memory), sample.id
        assert sample.needs_memory == (sample.kind not in ("wish", "no memory", "poison")), sample.id
        assert bool(sample.must_not_remember) == (sample.kind in ("correction", "wish", "poison")), sample.id


# ---- What is shown ----


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_lesson_shows_a_sample_the_tables_and_what_to_try(lived, language):
    set_language(language)
    samples, outcomes = lived
    keys = [getattr(part, "key", type(part).__name__) for part in m14.lesson(samples, outcomes)]
    assert keys == ["example", "metrics", "kinds", "latency", "Chart", "promises", "missed", "try"]


def test_the_command_line_runs_a_slice_and_writes_json_and_a_page(tmp_path, capsys):
    files = {kind: tmp_path / f"figures.{kind}" for kind in ("json", "html")}
    code = m14.main(
        [
            "--limit",
            "6",
            "--embedder",
            "none",
            "--lang",
            "zh",
            *(w for k, f in files.items() for w in (f"--{k}", str(f))),
        ]
    )
    shown = capsys.readouterr().out
    figures = json.loads(files["json"].read_text(encoding="utf-8"))
    assert code == 0 and "记忆命中率" in shown and "试一试" in shown
    assert len(figures["outcomes"]) == 24 and figures["command"].startswith("python 14_memory_benchmark.py --limit 6")
    assert files["html"].read_text(encoding="utf-8").count("<svg") == 1


def test_a_broken_promise_is_an_exit_code(capsys, monkeypatch):
    monkeypatch.setattr(m14, "promises", lambda outcomes: [("It never fails.", False)])
    assert m14.main(["--limit", "1", "--embedder", "none", "--lang", "en"]) == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--questions", "/nowhere.jsonl"], "cannot be read"),
        (["--locomo", "/nowhere.json"], "locomo10.json"),
        (["--rivals"], "--longmemeval"),
        (["--limit", "0"], "from 1 on"),
        (["--speed", "10"], "from 1,000 on"),
        (["--embedder", "no-such/model", "--limit", "1"], "no-such/model"),
        (["--json", "/nowhere/figures.json"], "name another file"),  # before anything is measured
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(words, said, capsys):
    assert m14.main([*words, "--lang", "en"]) != 0
    error = capsys.readouterr().err
    assert said in error and len(error.strip().splitlines()) == 1


def test_the_learners_own_home_stays_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMORY_HOME", str(tmp_path / "mine"))
    assert m14.main(["--limit", "2", "--embedder", "none", "--lang", "en"]) in (0, 1)
    assert not (tmp_path / "mine").exists()


def test_help_answers_before_anything_heavy_is_loaded(capsys):
    with pytest.raises(SystemExit) as left:
        m14.main(["--help", "--lang", "zh"])
    assert left.value.code == 0 and "逐个关闭信号" in capsys.readouterr().out


def test_a_turn_that_is_told_reaches_memory_only_where_memory_is_looked_into():
    calls = []
    memory = SimpleNamespace(add=lambda *a, **k: calls.append("put"))
    rag = SimpleNamespace(query=lambda said: calls.append("asked"), episodic=memory, working=memory, session_id="s")
    for mode in m14.MODES:
        m14.tell(rag, "I like tea.", mode)
    assert calls == ["put", "put", "put", "put", "asked"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--speed"], [("speed", [1_000, 10_000, 100_000])]),
        (["--speed", "5000", "2000", "--squad", "FILE"], [("speed", [2_000, 5_000]), ("SQuAD", "paragraphs")]),
        (["--squad", "FILE", "--rivals"], [("SQuAD", "paragraphs")]),
    ],
)
def test_the_words_choose_what_is_measured(words, expected, monkeypatch, tmp_path, capsys):
    """And the bundled questions are left alone then."""
    from benchmarks import rankings, speed

    done = []
    monkeypatch.setattr(speed, "measure", lambda sizes, embedder: done.append(("speed", sizes)) or [])
    monkeypatch.setattr(rankings, "measure", lambda name, corpora, *_, **__: done.append((name, corpora[0].kind)) or [])
    squad = {"data": [{"paragraphs": [{"context": "Tea.", "qas": [{"id": "1", "question": "?"}]}]}]}
    (tmp_path / "FILE").write_text(json.dumps(squad), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert m14.main(["--lang", "en", *words]) == 0
    assert done == expected


def test_an_interrupted_run_says_so(monkeypatch, capsys):
    def interrupted(samples, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(m14, "compare", interrupted)
    assert m14.main(["--limit", "1", "--embedder", "none", "--lang", "zh"]) == 130
    assert "已中断" in capsys.readouterr().err


def test_a_model_named_for_the_benchmark_is_asked_and_one_from_the_environment_is_not(monkeypatch):
    from benchmarks.command import _connect

    monkeypatch.setenv("LLM_MODEL", "openai/from-the-environment")
    assert _connect(None) is None
    assert _connect("openai/named-here").name == "openai/named-here"


def test_each_mode_embeds_its_question_itself(tmp_path):
    """Or the second mode would be faster than the first."""
    embedder = HashEmbedder()
    stage = m14.Stage(tmp_path, embedder=embedder)
    for mode in (m14.PLAIN, m14.CONTEXT):
        stage.run(ASKED, mode)
    assert embedder.history.count(ASKED.question) == 2


def test_a_sample_without_history_and_without_need_of_memory_is_measured_too(capsys):
    plain = replace(ASKED, history=(), expected_memory=(), question="How many drops per minute?")
    outcomes = m14.compare([plain])
    assert m14.latency(m14.FULL, outcomes)["remember"] is None
    assert "example" in [getattr(part, "key", "") for part in m14.lesson([plain], outcomes)]
