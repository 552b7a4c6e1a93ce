"""What `/memory` and `/notes` show, as rich renderables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from infrastructure.language import tr
from study.blocks import Item, columns, count_of, line, local_time, quotation, shortened, titled
from study.memory_book import SHORT_ID, About

LONGEST_LISTED = 160  # characters of a memory in a list
LONGEST_NAMED = 80  # where it is only named


def kind(memory_type: str) -> str:
    return {
        "working": tr("working", "工作"),
        "episodic": tr("episodic", "情景"),
        "semantic": tr("semantic", "语义"),
    }[memory_type]


def short(item: Any) -> str:
    return item.memory_id[:SHORT_ID]


def _status(item: Any) -> str:
    words = {"archived": tr(" (archived)", "（已归档）"), "superseded": tr(" (superseded)", "（已被取代）")}
    return words.get(item.status, "")


def memories(items: Sequence[Any], total: int, offset: int, limit: int, *, slash: str) -> RenderableType:
    """One page of the list, and how to see the next."""
    if not items:
        nothing = tr("No memories here.", "没有记忆。") if not total else tr(
            f"There is no page {offset // limit + 1}; all {total} are on the pages before.",
            f"没有第 {offset // limit + 1} 页；全部 {total} 条都在前面的页。",
        )  # fmt: skip
        return line(nothing)
    table = columns(
        ("ID", {"no_wrap": True}),
        (tr("Kind", "类型"), {"no_wrap": True}),
        (tr("When", "时间"), {"no_wrap": True}),
        (tr("Memory", "记忆"), {"overflow": "fold", "ratio": 1}),
    )
    for item in items:
        table.add_row(
            line((short(item), "cyan")), line(kind(item.memory_type)), line((local_time(item.occurred_at)[:10], "dim")),
            line(shortened(item.content, LONGEST_LISTED), (_status(item), "dim")),
        )  # fmt: skip
    return Group(table, line((_counted(len(items), total, offset, limit, slash), "dim")))


def _counted(here: int, total: int, offset: int, limit: int, slash: str) -> str:
    """What is on this page, and how to go on."""
    shown, page = f"{offset + 1}–{offset + here}", offset // limit + 2
    more = tr(f"; --page {page} goes on", f"；--page {page} 看下一页") if offset + here < total else ""
    return tr(
        f"{shown} of {total}{more}. {slash}memory show ID tells all about one.",
        f"第 {shown} 条，共 {total} 条{more}。{slash}memory show 编号 查看详情。",
    )


def hits(found: Sequence[Any]) -> RenderableType:
    if not found:
        return line(tr("Nothing remembered about that.", "没有相关的记忆。"))
    table = columns(
        (tr("Score", "得分"), {"justify": "right", "no_wrap": True}),
        ("ID", {"no_wrap": True}),
        (tr("Kind", "类型"), {"no_wrap": True}),
        (tr("Memory", "记忆"), {"overflow": "fold", "ratio": 1}),
    )
    for hit in found:
        table.add_row(
            f"{hit.score:.2f}", line((short(hit.item), "cyan")), line(kind(hit.item.memory_type)),
            line(shortened(hit.item.content, LONGEST_LISTED), (_status(hit.item), "dim")),
        )  # fmt: skip
    return table


# ---- One memory ----


def about(about: About) -> RenderableType:
    """Everything about one memory: its text, then facts in two columns, then what it is related to."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in _facts(about):
        grid.add_row(line(label), line(value))
    parts: list[RenderableType] = [line(about.item.content, (_status(about.item), "yellow")), "", grid]
    for title, related in (
        (tr("Made from", "来源"), about.made_from),
        (tr("Made of it", "由它得出"), about.made_of_it),
        (tr("Took the place of", "取代了"), about.took_the_place_of),
        (tr("Its place was taken by", "已被取代为"), [about.successor] if about.successor else []),
    ):
        if related:
            parts += ["", *titled(title, map(_named, related))[:-1]]
    if about.log:
        parts += ["", *titled(tr("What happened to it", "经过"), map(_logged, about.log))[:-1]]
    return Group(*parts)


def _facts(about: About) -> list[tuple[str, str]]:
    item = about.item
    said_by = {"user": tr("you", "你"), "document": tr("a document", "资料"), "model": tr("the assistant", "助手")}
    if item.memory_type == "working" and "question" in item.metadata:
        said_by["user"] = tr("this conversation", "本次对话")
    until = local_time(item.valid_until) if item.valid_until else tr("now", "现在")
    used = tr(f"in {count_of(item.access_count, 'answer')}", f"{item.access_count} 个回答")
    if item.last_accessed:
        used += tr(f", last {local_time(item.last_accessed)}", f"，最近一次 {local_time(item.last_accessed)}")
    facts = [
        ("ID", item.memory_id),
        (tr("Kind", "类型"), kind(item.memory_type)),
        (tr("Said by", "来自"), said_by[item.source]),
        (tr("Happened", "发生于"), local_time(item.occurred_at)),
        (
            tr("Held true", "有效期"),
            tr(f"{local_time(item.valid_from)} to {until}", f"{local_time(item.valid_from)} 至 {until}"),
        ),
        (tr("Said", "说过"), tr(count_of(item.mentions, "time"), f"{item.mentions} 次")),
        (tr("Used", "用过"), used),
        (tr("Importance", "重要性"), f"{item.importance:.2f}"),
        (tr("Kept", "保留"), about.kept),
        (tr("Session", "会话"), item.session_id[:SHORT_ID]),
    ]
    return [*facts[:2], *_place(item.metadata), *facts[2:]]


def _place(metadata: dict[str, Any]) -> list[tuple[str, str]]:
    """Where a note belongs, as far as that is known."""
    facts = []
    if concept := metadata.get("concept"):
        facts.append((tr("Concept", "概念"), str(concept)))
    if document := metadata.get("document"):
        page = tr(f", p. {metadata['page']}", f"，第 {metadata['page']} 页") if metadata.get("page") else ""
        facts.append((tr("Source", "出处"), f"{document}{page}"))
    return facts


def _named(item: Any) -> Item:
    return Item(line((short(item), "cyan")), line(shortened(item.content, LONGEST_NAMED), (_status(item), "dim")))


def _logged(entry: tuple[Any, str, str]) -> Item:
    at, action, by = entry
    words = {
        "archived": tr("archived", "已归档"),
        "restored": tr("restored", "已恢复"),
        "superseded": tr("superseded", "被取代"),
    }
    who = {
        "learner": tr("by you", "由你操作"),
        "importance": tr("because it was unimportant", "因为不重要"),
        "time": tr("because nobody used it for long", "因为长期未用"),
        "capacity": tr("because there were too many", "因为数量太多"),
    }.get(by, by[:SHORT_ID])
    return Item(line((local_time(at), "dim")), line(words.get(action, action), f" {who}" if who else ""))


# ---- What was done ----


def edited(old: Any, new: Any) -> RenderableType:
    return line(tr("Now: ", "现在是："), quotation(new.content, LONGEST_LISTED), (f"  {short(new)}", "dim"))


def corrected(old: Any, new: Any) -> RenderableType:
    if new.memory_id == old.memory_id:
        return line(tr("It says so already.", "原本就是这样。"))
    now = line(tr("Now: ", "现在是："), quotation(new.content, LONGEST_LISTED), (f"  {short(new)}", "dim"))
    kept = tr("Kept as history: ", "作为历史保留：")
    return Group(now, line((kept + quotation(old.content, LONGEST_NAMED) + f"  {short(old)}", "dim")))


def forgotten(item: Any, *, done: bool, dry_run: bool, slash: str) -> RenderableType:
    named = quotation(item.content, LONGEST_NAMED)
    if not done:
        return line(tr(f"Put away already: {named}", f"早已收起：{named}"))
    if item.memory_type == "working":
        if dry_run:
            return line(tr(f"Would leave the desk: {named}", f"将从工作记忆中移走：{named}"))
        return line(tr(f"Off the desk: {named}", f"已从工作记忆中移走：{named}"))
    if dry_run:
        return line(tr(f"Would be archived: {named}", f"将归档：{named}"))
    told = tr(f"Archived: {named}", f"已归档：{named}")
    back = tr(f"{slash}memory restore {short(item)} brings it back.", f"{slash}memory restore {short(item)} 可恢复。")
    return Group(line(told), line((back, "dim")))


def forgotten_by_policy(found: Sequence[Any], *, dry_run: bool) -> RenderableType:
    if not found:
        return line(tr("There is nothing that policy would forget.", "没有需要遗忘的记忆。"))
    head = tr("Would be archived:", "将归档：") if dry_run else tr("Archived:", "已归档：")
    why = {"importance": tr("unimportant", "不重要"), "time": tr("not used for long", "长期未用")}
    rows = [
        Item(line((one.memory_id[:SHORT_ID], "cyan")),
             line(shortened(one.content, LONGEST_NAMED), (f"  ({why.get(one.strategy, one.strategy)})", "dim")))
        for one in found
    ]  # fmt: skip
    return Group(line((head, "bold")), *rows)


def restored(item: Any, *, done: bool, rival: Any) -> RenderableType:
    named = quotation(item.content, LONGEST_NAMED)
    if not done:
        return line(tr(f"It is not put away: {named}", f"它没有被收起：{named}"))
    told = line(tr(f"Back: {named}", f"已恢复：{named}"))
    if rival is None:
        return told
    both = tr("This holds now, too: ", "现在同时有效的还有：") + quotation(rival.content, LONGEST_NAMED)
    return Group(told, line((f"{both}  {short(rival)}", "yellow")))


def would_purge(going: Sequence[Any]) -> RenderableType:
    head = tr("Would go for good, with every trace of them:", "将彻底删除，不留痕迹：")
    return Group(line((head, "bold")), *map(_named, going))


def purged(report: Any) -> Text:
    memories, turns = len(report.memory_ids), report.turns
    told = tr(
        f"Deleted for good: {count_of(memories, 'memory', 'memories')}; blacked out in {count_of(turns, 'turn')}. "
        "Copies outside the data folder are yours to delete.",
        f"已彻底删除 {memories} 条记忆，并在 {turns} 轮对话中涂黑。数据文件夹以外的副本请自行删除。",
    )
    return line(told)


def exported(file: Path, count: int) -> RenderableType:
    return line(
        tr(f"{count_of(count, 'memory', 'memories')}, one a line, in {file}", f"{count} 条记忆已存入 {file}，每行一条")
    )


# ---- Notes ----


def notes(found: Sequence[Any], concept: str, *, slash: str) -> RenderableType:
    """By concept, in the order in which the concepts first came up."""
    if not found:
        about = tr(f" under “{concept}”", f"，概念「{concept}」") if concept else ""
        return line(
            tr(f"No notes{about} yet. {slash}note TEXT keeps one.", f"还没有笔记{about}。用 {slash}note 内容 记一条。")
        )
    groups: dict[str, list[Any]] = {}
    for note in found:
        groups.setdefault(str(note.metadata.get("concept") or "general"), []).append(note)
    parts: list[RenderableType] = []
    for name, members in groups.items():
        title = tr("Without a concept", "未归类") if name == "general" else name
        parts += titled(title, map(_note, members))
    return Group(*parts[:-1])


def _note(item: Any) -> Item:
    place = ""
    if document := item.metadata.get("document"):
        page = item.metadata.get("page")
        place = f"  [{document}{tr(f', p. {page}', f'，第 {page} 页') if page else ''}]"
    return Item(
        line((local_time(item.timestamp)[:10], "dim"), (f" {short(item)}", "cyan")), line(item.content, (place, "dim"))
    )
