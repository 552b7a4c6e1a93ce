"""Loading files one by one: what fails does not stop the rest, and Ctrl-C keeps what is done.

One file gets its line at once; several get a table with a line each at the end.
"""

import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from infrastructure.errors import DocumentError, StudyError
from infrastructure.language import tr
from study.desk import Desk
from study.paths import expand


@dataclass
class Loading:
    """What became of the files: a report or a sentence for each that was tried. stopped: the learner had enough."""

    tried: list[tuple[str, Any]] = field(default_factory=list)  # (file, LoadReport or sentence)
    stopped: bool = False

    @property
    def reports(self) -> list[Any]:
        return [outcome for _, outcome in self.tried if not isinstance(outcome, str)]

    @property
    def errors(self) -> list[str]:
        return [outcome for _, outcome in self.tried if isinstance(outcome, str)]


def load(desk: Desk, args: Namespace) -> int:
    """1 if any file failed, 130 if Ctrl-C ended it."""
    loading = load_files(desk, expand(args.paths), args.password)
    return 130 if loading.stopped else 1 if loading.errors else 0


def load_files(desk: Desk, files: Sequence[Path | DocumentError], password: str | None = None) -> Loading:
    """Load them and tell of each."""
    loading = Loading()
    try:
        for path in files:
            _load_one(desk, path, password, loading, alone=len(files) == 1)
            if loading.stopped:
                break
    except KeyboardInterrupt:
        if not loading.reports:
            raise
        loading.stopped = True
    _tell(desk, loading, len(files))
    if loading.reports and not loading.stopped:
        loading.stopped = not make_vectors(desk)
    if desk.screen.json_only:
        desk.screen.json(_as_json(loading))
    return loading


def _load_one(desk: Desk, path: Path | DocumentError, password: str | None, loading: Loading, *, alone: bool) -> None:
    name = "" if isinstance(path, DocumentError) else str(path)
    try:
        report = desk.load(path, password)
    except StudyError as error:
        loading.tried.append((name, str(error)))
        desk.note(str(error), "red")
        return
    loading.tried.append((name, report))
    loading.stopped = report.action == "stopped"
    if alone and not desk.screen.json_only:
        desk.show(desk.views.load_report(report))


# ---- Vectors ----

SECONDS_BETWEEN_LINES = 10  # of progress, where no bar can be shown


def make_vectors(desk: Desk) -> bool:
    """Make what loading left to be made, unless a worker does. False when Ctrl-C put off the rest: what is done is kept."""
    if desk.in_background:
        return True
    storage = desk.assistant.storage
    waiting = storage.owed().embed
    if waiting and storage.embedder is not None:
        desk.note(
            tr(
                f"Searchable by words now. Making vectors: 0 of {waiting}; Ctrl-C is safe.",
                f"现在已可按词语检索。正在生成向量：0/{waiting}，按 Ctrl-C 也安全。",
            )
        )
    try:
        with _progress(desk, waiting) as progress:
            desk.assistant.settle(progress)
    except KeyboardInterrupt:
        left, command = storage.owed().embed, desk.typed("doctor --rebuild-index")
        desk.note(
            tr(
                f"Stopped: {left} of {waiting} vectors are still to be made, by the next session or by: {command}",
                f"已停止：{waiting} 个向量中还有 {left} 个未生成，下次会话会继续，也可以运行：{command}",
            )
        )
        return False
    return True


@contextmanager
def _progress(desk: Desk, waiting: int) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, or, where none can be shown, a line now and then."""
    if desk.screen.stderr.isatty():
        with desk.screen.progress(tr("Making vectors", "正在生成向量"), waiting) as advance:
            yield lambda done, total: advance(done)
        return
    last = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            desk.note(tr(f"Making vectors: {done} of {total}", f"正在生成向量：{done}/{total}"))

    yield progress


def _tell(desk: Desk, loading: Loading, files: int) -> None:
    """Nothing with --json: whoever reads that waits for the end."""
    if files > 1 and not desk.screen.json_only:
        desk.show(desk.views.load_table(loading.tried))
        left = files - len(loading.tried)
        if left:
            desk.note(tr(f"Stopped; not tried yet: {left}.", f"已停止，还有 {left} 个文件未加载。"))


def _as_json(loading: Loading) -> dict[str, Any]:
    rows = [
        {"path": path, "error": outcome} if isinstance(outcome, str) else {"path": path, **asdict(outcome)}
        for path, outcome in loading.tried
    ]
    errors = loading.errors
    few = tr(
        f"{len(errors)} of {len(rows)} files could not be loaded.", f"{len(rows)} 个文件中有 {len(errors)} 个加载失败。"
    )
    told = {"error": errors[0] if len(rows) == 1 else few} if errors else {}
    return {"documents": rows, **told}
