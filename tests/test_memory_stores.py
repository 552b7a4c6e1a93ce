"""The benchmark of the stores, in small: it runs, it prints one table, and its JSON says the same."""

import doctest
import json

import pytest

from benchmarks import memory_stores


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(memory_stores).failed == 0


def test_it_measures_each_size_and_writes_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(memory_stores, "ASKED", 20)
    memory_stores.main(["--scale", "300", "600", "--json", str(tmp_path / "figures.json")])
    measures = {
        measure["name"]: measure for measure in json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    }
    assert measures["search, p95"]["values"].keys() == {"300", "600"}
    assert measures["ours ÷ raw Chroma"]["values"]["600"] > 0
    assert measures["get, p95"]["met"] is True
    out = capsys.readouterr().out
    assert all(name in out for name in measures) and "target" in out


@pytest.mark.parametrize("faults", [[], ["lost: 7"]])
def test_a_fault_is_said_and_the_exit_code_tells(monkeypatch, capsys, faults):
    import trials

    monkeypatch.setattr(trials, "kill_and_look", lambda folder, count, seed: trials.Trial(faults, 5, 4))
    assert memory_stores.main(["--kills", "3"]) == len(faults)
    shown = capsys.readouterr()
    assert "3 kills: faults" in shown.out and ("lost: 7" in shown.err) == bool(faults)
