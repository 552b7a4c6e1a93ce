"""Loading files one by one: what fails does not stop the rest, and Ctrl-C keeps what is done.

One file gets its line at once; several get a table with a line each at the end.
"""

from argparse import Namespace
from collections.abc import Sequence
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
    if loading.reports and not loading.stopped:
        desk.settle()
    _tell(desk, loading, len(files))
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


def _tell(desk: Desk, loading: Loading, files: int) -> None:
    if desk.screen.json_only:
        desk.screen.json(_as_json(loading))
    elif files > 1:
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
