"""What tests run in processes of their own: a writer that is killed, and the other process of two.

Children are forks of one clean process that has imported what is slow, so starting one takes a few hundredths of a second.
"""

import json
import math
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [path for path in (str(PROJECT), str(PROJECT / "tests")) if path not in sys.path]

from support import HashEmbedder  # noqa: E402

from infrastructure import storage as storage_module  # noqa: E402
from infrastructure.shelves import Text  # noqa: E402
from infrastructure.storage import Storage  # noqa: E402
from infrastructure.transfer import restore_home  # noqa: E402

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
    """Change the home without end, also what others have written before."""
    with Storage(home, embedder=HashEmbedder(16)) as storage:
        storage.start_worker()
        change(storage, journal, seed, begin_with=[text.key for text in _texts(storage, "chunk")])


def write_until(home: Path, journal: Path, seed: int, end: float) -> None:
    """Change the home until a moment of `time.time`: only what was written here, because others are at work."""
    with Storage(home, embedder=HashEmbedder(16)) as storage:
        storage.start_worker()
        change(storage, journal, seed, end=end)


def change(
    storage: Storage,
    journal: Path,
    seed: int,
    *,
    end: float = math.inf,
    begin_with: Sequence[str] = (),
    search: bool = False,
) -> None:
    """Change a home at random. The journal gets a line before each change and another when it is acknowledged."""
    rng, notes, alive = random.Random(seed), m09.EpisodicMemory(storage), list(begin_with)
    with journal.open("a", encoding="utf-8") as lines:
        for number in range(1_000_000):
            if time.time() > end:
                return
            change, key, content = rng.choice(CHANGES), f"{seed}-{number}", f"passage {seed} {number} 第 {number} 段"
            if change in ("replace", "remove", "archive"):
                if not alive:
                    continue
                key = alive.pop(rng.randrange(len(alive)))
            lines.write(json.dumps([change, key, content]) + "\n")
            lines.flush()
            _make(storage, notes, change, key, content, scope=f"book {number % 3}")
            if change in ("chunk", "replace"):
                alive.append(key)
            lines.write("done\n")
            lines.flush()
            if search:
                notes.retrieve(f"passage {number}", top_k=1)
                storage.search_vectors("chunk", HashEmbedder(16).embed_query(content), 3)


def _make(storage: Storage, notes: Any, change: str, key: str, content: str, *, scope: str) -> None:
    match change:
        case "note":
            notes.add_many([m09.MemoryItem(content, memory_id=key)])
        case "chunk":
            storage.add_texts("chunk", [Text(key, scope, content)])
        case "replace":
            storage.replace_text(key, content)
        case "remove":
            storage.remove_texts([key])
        case "archive":
            storage.move_text(key, "archive")


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


def restore(home: Path, backup: Path) -> None:
    """Put a backup in the place of what a home holds."""
    with Storage(home, embedder=HashEmbedder(16)) as storage:
        restore_home(storage, backup, overwrite=True)


def settle(home: Path, dimension: int) -> None:
    """What a start does for a home: everything that is owed, Chroma included."""
    with Storage(home, embedder=HashEmbedder(dimension)) as storage:
        assert not storage.settle()
        assert storage.verify().problems == []
