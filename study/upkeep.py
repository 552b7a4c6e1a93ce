"""Keeping house: the commands that look after the home itself. Rows of the table in `commands`; what they show is made in
`upkeep_views`."""

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType

from infrastructure.errors import EmbedderUnavailable
from infrastructure.language import tr
from study.desk import Desk
from study.paths import local_path, text_of

Bar = Callable[[int, int], None]  # (done, total)


def doctor(desk: Desk, args: Namespace) -> int:
    """1 if something is wrong."""
    if args.rebuild_index:
        _rebuild(desk)
    with desk.waiting(tr("Looking at everything …", "正在检查……")):
        checkup = desk.assistant.doctor()
    wrong = [f"{finding.name}: {finding.told}" for finding in checkup.wrong]
    error = {"error": "; ".join(wrong)} if wrong else {}
    desk.result({**checkup.to_json(), **error}, lambda: _views().checkup(checkup))
    return 1 if wrong else 0


def backup(desk: Desk, args: Namespace) -> int:
    with _bars(desk) as bar:
        summary = desk.assistant.backup(_file(args.file), progress=bar(tr("Writing the backup", "正在写入备份")))
    value = {"file": str(summary.path), "bytes": summary.bytes, "counts": summary.counts}
    desk.result(value, lambda: _views().backed_up(summary))
    return 0


def restore(desk: Desk, args: Namespace) -> int:
    with _bars(desk) as bar:
        progress = bar(tr("Restoring", "正在恢复"))
        summary = desk.assistant.restore(_file(args.file), overwrite=args.replace, progress=progress)
    if not desk.in_background:
        _rebuild(desk)
    previous = None if summary.previous is None else str(summary.previous)
    value = {"file": str(summary.path), "counts": summary.counts, "previous": previous}
    desk.result(value, lambda: _views().restored(summary))
    return 0


def _file(words: Sequence[str]) -> Path | None:
    return local_path(text_of(words)).absolute() if words else None


def _rebuild(desk: Desk) -> None:
    with _bars(desk) as bar:
        try:
            desk.assistant.repair(
                embedding=bar(tr("Making vectors", "正在生成向量")),
                indexing=bar(tr("Building the index", "正在建立索引")),
            )
        except EmbedderUnavailable as error:
            desk.note(str(error), "red")


@contextmanager
def _bars(desk: Desk) -> Iterator[Callable[[str], Bar]]:
    """Makes progress bars that follow one another: each begins with its first number, which ends the one before."""
    with ExitStack() as shown:
        advance: dict[str, Callable[[int], None]] = {}

        def bar(description: str) -> Bar:
            def tell(done: int, total: int) -> None:
                if description not in advance:
                    shown.close()
                    advance.clear()
                    advance[description] = shown.enter_context(desk.screen.progress(description, total))
                advance[description](done)

            return tell

        yield bar


def _views() -> ModuleType:
    from study import upkeep_views  # brings rich

    return upkeep_views
