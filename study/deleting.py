"""Real deletion is asked for: the one rule for every command that deletes for good."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from infrastructure.copies import files_that_go
from infrastructure.errors import UsageError
from infrastructure.language import tr
from study.desk import Desk

if TYPE_CHECKING:
    from rich.console import RenderableType


def may_delete(desk: Desk, going: "Callable[[], RenderableType]", *, yes: bool) -> bool:
    """True when the learner wants it: with --yes, or when they say so after they saw what is `going`, and how many backups
    with it. UsageError when nobody is there to be asked."""
    if yes:
        return True
    copies = _copies(desk)
    if not desk.can_be_asked:
        raise UsageError(
            tr(
                f"This deletes for good. {copies} To do it, add --yes.",
                f"这会彻底删除。{copies}确定要删除，请加上 --yes。",
            )
        )
    desk.show(going())
    desk.show(copies)
    if desk.confirm(tr("Delete for good? [y/N] ", "彻底删除？[y/N] ")):
        return True
    desk.show(tr("Nothing was deleted.", "没有删除任何内容。"))
    return False


def _copies(desk: Desk) -> str:
    """Backups and exports hold what is to go, and cannot be rewritten: they go as a whole."""
    backups, exports = map(len, files_that_go(desk.settings.home))
    if not backups + exports:
        return tr("There are no backups in the data folder.", "数据文件夹里没有备份。")
    count = desk.blocks.count_of
    return tr(
        f"With it go the copies in the data folder: {count(backups, 'backup')}, {count(exports, 'export')}.",
        f"数据文件夹里的副本会一起删除：备份 {backups} 个，导出文件 {exports} 个。",
    )
