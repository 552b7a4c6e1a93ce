"""Where an export goes, and that it replaces nothing but an export of ours."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infrastructure.copies import EXPORTS, is_deck, is_report
from infrastructure.errors import UsageError
from infrastructure.language import tr

TARGETS: dict[str, tuple[str, str, Callable[[Path], bool]]] = {  # kind → ending, usual name, is a file one of ours?
    "anki": (".apkg", "cards.apkg", is_deck),
    "markdown": (".md", "report.md", is_report),
}


def export_path(home: Path, kind: str, wanted: Path | None) -> Path:
    """The named file, or the usual name in the named folder or in the home's own. UsageError for another ending, and for a file
    that is there and not ours: a slip of the finger must not cost a learner their thesis."""
    ending, usual, is_ours = TARGETS[kind]
    if wanted is None or wanted.is_dir():
        wanted = (wanted or home / EXPORTS) / usual
    if wanted.suffix.lower() != ending:
        raise UsageError(tr(f"The file's name ends in {ending}: {wanted}{ending} would do.",
                            f"文件名要以 {ending} 结尾，例如 {wanted}{ending}。"))  # fmt: skip
    if wanted.exists() and not is_ours(wanted):
        raise UsageError(tr(f"{wanted} is there and was not made by export; give another name, or delete it first.",
                            f"{wanted} 已存在且不是本程序导出的；请换个名字，或先删除它。"))  # fmt: skip
    return wanted


@dataclass(frozen=True)
class Exported:
    """What was written. count: of cards in a deck, of records in a backup; of pictures beside a report."""

    kind: str
    path: Path
    count: int


def export(assistant: Any, kind: str, wanted: Path | None) -> Exported:
    """Write a deck for Anki, a study report, or everything as JSON Lines (that is `backup`)."""
    if kind == "json":
        summary = assistant.backup(wanted)
        return Exported(kind, summary.path, sum(summary.counts.values()))
    path = export_path(assistant.storage.home, kind, wanted)
    if kind == "anki":
        return Exported(kind, path, _deck(assistant, path))
    from study.report import write_report

    return Exported(kind, path, len(write_report(_told(assistant), path)))


def _deck(assistant: Any, path: Path) -> int:
    from study.anki import export_deck

    cards = assistant.tutor.cards.list(status="active")
    if not cards:
        raise UsageError(
            tr("There are no cards to export yet; quiz makes some.", "还没有可以导出的卡片；quiz 会生成卡片。")
        )
    return export_deck(cards, assistant.storage.database, _here(assistant), path)


def _told(assistant: Any) -> Any:
    from study.report import Told

    missed = [
        turn.question for turn in assistant.transcript.all_turns() if not turn.found and not turn.trace.get("noted")
    ]
    return Told(
        assistant.get_stats(), assistant.tutor.cards.list(), assistant.tutor.cards.reviews(), assistant.notes(),
        list(dict.fromkeys(missed)), _here(assistant), assistant.tutor.timetable, assistant.storage.now(),
    )  # fmt: skip


def _here(assistant: Any) -> set[str]:
    return {info.document_id for info in assistant.documents()}
