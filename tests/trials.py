"""Trials that a home has to stand: killed at random instants, and many threads and processes at once.

The suite runs them briefly, benchmarks/memory_stores.py for long; so nothing here knows pytest.
"""

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import children
from children import acknowledged
from support import HashEmbedder

from infrastructure.storage import Storage

Row = tuple[str, str]  # shelf and content


@dataclass
class Trial:
    """What came of it. `faults` is empty when the home stood it; `changes` were acknowledged, `texts` were there at the end."""

    faults: list[str] = field(default_factory=list)
    changes: int = 0
    texts: int = 0
    reopen_seconds: list[float] = field(default_factory=list)

    @property
    def stood(self) -> bool:
        return not self.faults


# ---- Killed at random instants ----


def kill_and_look(folder: Path, kills: int, seed: int, *, longest: float = 0.6) -> Trial:
    """So many times: a process changes the home in this folder, is killed after a random time, and the home is looked at.
    Everything acknowledged has to be there, nothing twice, and rows = words = vectors = Chroma.

    Every other process is given the time to begin: on a busy machine the rest are killed while they open the home."""
    rng, trial, journal = random.Random(seed), Trial(), folder / "journal"
    journal.touch()
    for kill in range(kills):
        written = journal.stat().st_size
        child = children.start(children.write_for_ever, folder / "home", journal, 1000 * seed + kill)
        begin_by = time.monotonic() + 30 * (kill % 2)
        while journal.stat().st_size == written and time.monotonic() < begin_by:
            time.sleep(0.005)
        child.join(rng.uniform(0.02, longest))
        child.kill()
        child.join(10)
        begun = time.perf_counter()
        with Storage(folder / "home", embedder=HashEmbedder(16)) as storage:
            trial.reopen_seconds.append(time.perf_counter() - begun)
            trial.faults += [f"kill {kill}: {fault}" for fault in _faults(storage, [journal])]
            trial.texts = storage.verify().texts
    trial.changes = journal.read_text(encoding="utf-8").count("done\n")
    return trial


def _faults(storage: Storage, journals: Sequence[Path]) -> list[str]:
    """What is wrong with a home, once everything that is owed is done."""
    faults = [f"still owed: {owed}" for owed in [storage.settle()] if owed] + storage.verify().problems
    there = {row["key"]: (row["shelf"], row["content"]) for row in storage.database.rows("SELECT * FROM texts")}
    expected: dict[str, Row] = {}
    uncertain: set[str] = set()
    for journal in journals:
        state, begun = acknowledged(journal)
        expected |= state
        uncertain |= begun
    certain = {key: row for key, row in expected.items() if key not in uncertain}
    faults += [f"lost or wrong: {key} {row}" for key, row in certain.items() if there.get(key) != row]
    faults += [f"never written: {key}" for key in there.keys() - expected.keys() - uncertain]
    contents = [content for _shelf, content in there.values()]
    return faults + [f"twice: {len(contents) - len(set(contents))} texts"] * (len(contents) != len(set(contents)))


# ---- Many at once ----


def soak(folder: Path, seconds: float, *, threads: int = 8, processes: int = 2, seed: int = 0) -> Trial:
    """Threads of this process and other processes write, change, search and remove at once, each its own texts. No error, no
    row lost, and at the end rows = words = vectors = Chroma."""
    trial, end = Trial(), time.time() + seconds
    journals = [folder / f"journal {number}" for number in range(threads + processes)]
    for journal in journals:
        journal.touch()
    with Storage(folder / "home", embedder=HashEmbedder(16)) as storage:
        storage.hold_vectors()
        storage.start_worker()
        others = [
            children.start(
                children.write_until, folder / "home", journals[threads + number], seed + threads + number, end
            )
            for number in range(processes)
        ]
        trial.faults += _in_threads(threads, lambda n: _work(storage, journals[n], seed + n, end), seconds + 60)
        for child in others:
            child.join(60)
            trial.faults += [f"a process ended with {child.exitcode}"] * (child.exitcode != 0)
        trial.faults += [*_faults(storage, journals), *storage.notices]
        trial.texts = storage.verify().texts
    trial.changes = sum(journal.read_text(encoding="utf-8").count("done\n") for journal in journals)
    return trial


def _work(storage: Storage, journal: Path, seed: int, end: float) -> None:
    children.change(storage, journal, seed, end=end, search=True)


def _in_threads(count: int, work: Any, longest: float) -> list[str]:
    """Run work(0) … work(count − 1) at once; what went wrong, hanging included."""
    errors: list[str] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001  whatever it is, it is a fault of the home
            errors.append(f"thread {number}: {type(error).__name__}: {error}")

    started = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(longest)
    return errors + ["a thread hangs"] * any(thread.is_alive() for thread in started)
