"""What `doctor`, `backup` and `restore` show, as rich renderables."""

from rich.console import Group

from infrastructure.health import Checkup, Finding, readable_size
from infrastructure.language import tr
from infrastructure.transfer import Summary
from study.blocks import Item, line

CHINESE = {
    **{
        "folder": "文件夹",
        "cloud": "云同步",
        "deletion": "删除",
        "database": "数据库",
        "contents": "内容",
        "search": "检索",
    },
    **{"pending": "待办", "embedder": "嵌入模型", "versions": "版本"},
}


def checkup(checkup: Checkup) -> Group:
    """One paragraph for each finding, with what to do below it, and the verdict."""
    wrong = len(checkup.wrong)
    verdict = tr("Everything is in order.", "一切正常。")
    if checkup.unfinished:
        verdict = tr(f"Nothing is wrong, but {checkup.unfinished}", f"没有问题，但还有{checkup.unfinished}")
    if wrong == 1:
        verdict = tr("One thing is wrong.", "有一处问题。")
    elif wrong:
        verdict = tr(f"{wrong} things are wrong.", f"有 {wrong} 处问题。")
    style = "bold red" if wrong else "bold yellow" if checkup.unfinished else "bold green"
    return Group(*map(_finding, checkup.findings), line((verdict, style)))


def _finding(finding: Finding) -> Item:
    word, style = {
        "ok": (tr("ok   ", "正常"), "green"),
        "note": (tr("note ", "提示"), "yellow"),
        "wrong": (tr("WRONG", "问题"), "bold red"),
    }[finding.level]
    paragraphs = [line((tr(finding.name, CHINESE[finding.name]), "bold"), tr(": ", "："), finding.told)]
    if finding.advice:
        paragraphs.append(line((finding.advice, style)))
    return Item(line((word, style)), *paragraphs)


def backed_up(summary: Summary) -> Group:
    where = tr(f"Backed up to {summary.path}", f"已备份到 {summary.path}")
    return Group(line(where, (f" ({readable_size(summary.bytes)})", "dim")), line((_counted(summary), "dim")))


def restored(summary: Summary) -> Group:
    parts = [line(tr(f"Restored from {summary.path}", f"已从 {summary.path} 恢复")), line((_counted(summary), "dim"))]
    if summary.previous is not None:
        told = tr(f"What was here before is in {summary.previous}", f"原有内容已备份到 {summary.previous}")
        parts.append(line(told))
    return Group(*parts)


def _counted(summary: Summary) -> str:
    counts = {name: summary.counts.get(name, 0) for name in ("document", "chunk", "memory", "turn")}
    return tr(
        "documents: {document}, passages: {chunk}, memories: {memory}, questions: {turn}",
        "资料 {document} 份，段落 {chunk} 个，记忆 {memory} 条，提问 {turn} 次",
    ).format(**counts)
