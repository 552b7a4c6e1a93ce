"""What tests run in processes of their own: a writer that is killed, and the other process of two.

Children are forks of one clean process that has imported what is slow, so starting one takes a few hundredths of a second.
"""

import json
import multiprocessing
import random
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [path for path in (str(PROJECT), str(PROJECT / "tests")) if path not in sys.path]

from support import HashEmbedder  # noqa: E402

from infrastructure import storage as storage_module  # noqa: E402
from infrastructure.storage import Storage, Text  # noqa: E402

m09 = import_module("09_memory_system")

CONTEXT = multiprocessing.get_context("forkserver" if sys.platform != "win32" else "spawn")
if sys.platform != "win32":
    CONTEXT.set_forkserver_preload(["children", "chromadb"])


def start(target: Callable[..., None], *args: Any) -> multiprocessing.Process:
    child = CONTEXT.Process(target=target, args=args, daemon=True)
    child.start()
    return child


# ---- The writer that is killed ----


def write_for_ever(home: Path, journal: Path, seed: int) -> None:
    """Change the home without end. The journal gets a line before each change and another when it is acknowledged."""
    rng = random.Random(seed)
    with Storage(home, embedder=HashEmbedder(16)) as storage, journal.open("a", encoding="utf-8") as lines:
        storage.start_worker()
        notes = m09.EpisodicMemory(storage)
        alive = [text.key for text in _texts(storage, "chunk")]
        for number in range(1_000_000):
            change, key, content = rng.choice(CHANGES), f"{seed}-{number}", f"passage {seed} {number} 第 {number} 段"
            if change in ("replace", "remove", "archive"):
                if not alive:
                    continue
                key = alive.pop(rng.randrange(len(alive)))
            lines.write(json.dumps([change, key, content]) + "\n")
            lines.flush()
            if change == "note":
                notes.add_many([m09.MemoryItem(content, memory_id=key)])
            elif change == "chunk":
                storage.add_texts("chunk", [Text(key, f"book {number % 3}", content)])
            elif change == "replace":
                storage.replace_text(key, content)
            elif change == "remove":
                storage.remove_texts([key])
            else:
                storage.move_text(key, "archive")
            if change in ("chunk", "replace"):
                alive.append(key)
            lines.write("done\n")
            lines.flush()
            if rng.random() < 0.03:
                storage.erase_traces()  # rewrites the file and throws Chroma's folder away


CHANGES = ("note", "note", "chunk", "chunk", "chunk", "replace", "remove", "archive")


def _texts(storage: Storage, shelf: str) -> list[Text]:
    ids = [row["id"] for row in storage.database.rows("SELECT id FROM texts WHERE shelf = ?", (shelf,))]
    return list(storage.texts(ids).values())


def acknowledged(journal: Path) -> tuple[dict[str, tuple[str, str]], set[str]]:
    """What must be there, {key: (shelf, content)}, and the keys of changes that were begun and not acknowledged."""
    state: dict[str, tuple[str, str]] = {}
    begun: list[str] | None = None
    uncertain = set()
    for line in journal.read_text(encoding="utf-8").splitlines():
        if line != "done":
            if begun:
                uncertain.add(begun[1])
            begun = json.loads(line)
            continue
        change, key, content = begun
        begun = None
        if change == "remove":
            state.pop(key, None)
        elif change == "archive":
            state[key] = ("archive", state.get(key, ("", ""))[1])
        else:
            state[key] = ("episodic" if change == "note" else "chunk", content)
    return state, uncertain | ({begun[1]} if begun else set())


# ---- The other process of two ----


def hold_vectors(home: Path, pipe: Any) -> None:
    """Hold the vectors and settle in the background until told to end."""
    storage_module.POLL_SECONDS = 0.05
    with Storage(home, embedder=HashEmbedder(16)) as storage:
        storage.settle()
        storage.start_worker()
        pipe.send("ready")
        pipe.recv()
    pipe.send("closed")


def write_notes(home: Path, name: str, count: int) -> None:
    """Add notes as a process that never gets hold of the vectors."""
    with Storage(home, embedder=HashEmbedder(16)) as storage:
        notes = m09.EpisodicMemory(storage)
        for number in range(count):
            notes.add(f"note {number} of {name}")
            notes.retrieve(f"note {number}", top_k=1)
