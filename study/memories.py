"""`/memory`: what is remembered, found, looked at, put right, put away and deleted. A row of the table in `commands`; what it
shows is made in `memory_views`, what it does in `memory_book`."""

import argparse
import json
import re
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, time, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.memory_rows import STATUSES
from infrastructure.text import fold
from study.command import Argument, number, one_of
from study.deleting import may_delete
from study.desk import Desk
from study.memory_book import KINDS, MemoryBook, as_json
from study.paths import local_path, text_of

PAGE_SIZE = 20
MOST_LISTED = 1000
MOST_PAGES = 10**6
_DAYS = {"today": 0, "今天": 0, "yesterday": 1, "昨天": 1}


def memory(desk: Desk, args: Namespace) -> int:
    """One of ACTIONS; without one, the list."""
    if not desk.interactive:
        desk.assistant.resume()  # so that the desk holds what the last session was about
    name = fold(args.action or "list")
    if name not in ACTIONS:
        raise UsageError(_no_such_action(args.action))
    return ACTIONS[name](desk, args)


def _no_such_action(word: str) -> str:
    from study.commands import nearest

    near = nearest(fold(word), iter(ACTIONS))
    if near:
        return tr(
            f"memory cannot {word}; did you mean memory {near}?", f"memory 没有 {word}，是不是要用 memory {near}？"
        )
    names = ", ".join(ACTIONS)
    return tr(f"memory cannot {word}; it can {names}.", f"memory 没有 {word}，可用的有：{names}。")


# ---- Looking ----


def _list(desk: Desk, args: Namespace) -> int:
    if args.words:
        return _search(desk, args)
    limit = args.limit or PAGE_SIZE
    offset = (args.page - 1) * limit
    found = _book(desk).page(kinds=_kinds(args), limit=limit, offset=offset, **_chosen(desk, args))
    value = {"memories": [as_json(item) for item in found.items], "total": found.total, "page": args.page}
    desk.result(value, lambda: _views().memories(found.items, found.total, offset, limit, slash=desk.slash))
    return 0


def _search(desk: Desk, args: Namespace) -> int:
    query = text_of(args.words)
    if not query.strip():
        raise UsageError(tr("What to look for? memory search WORDS", "要找什么？memory search 关键词"))
    chosen = _chosen(desk, args, any_status="active")
    limit = args.limit or PAGE_SIZE
    hits = _book(desk).search(query, desk.assistant.session_id, kinds=_kinds(args), limit=limit, **chosen)
    found = [{**as_json(hit.item), "score": round(hit.score, 4), "why": hit.why} for hit in hits]
    desk.result({"query": query, "memories": found}, lambda: _views().hits(hits))
    return 0


def _show(desk: Desk, args: Namespace) -> int:
    about = _book(desk).about(_one(desk, args))
    desk.result({"memory": about.to_json()}, lambda: _views().about(about))
    return 0


# ---- Changing ----


def _edit(desk: Desk, args: Namespace) -> int:
    old = _one(desk, args)
    new = _book(desk).edit(old, _text(args))
    desk.result({"memory": as_json(new)}, lambda: _views().edited(old, new))
    return 0


def _correct(desk: Desk, args: Namespace) -> int:
    old = _one(desk, args)
    new = _book(desk).correct(old, _text(args))
    value = {"memory": as_json(new), "replaces": None if new.memory_id == old.memory_id else old.memory_id}
    desk.result(value, lambda: _views().corrected(old, new))
    return 0


def _forget(desk: Desk, args: Namespace) -> int:
    """One memory, or, without an id, what policy would put away."""
    if not args.words:
        forgotten = _book(desk).forget_by_policy(dry_run=args.dry_run)
        value = {"forgotten": [asdict(one) for one in forgotten], "dry_run": args.dry_run}
        desk.result(value, lambda: _views().forgotten_by_policy(forgotten, dry_run=args.dry_run))
        return 0
    item = _one(desk, args)
    done = item.status == "active" and (args.dry_run or _book(desk).forget(item))
    value = {"forgotten": [as_json(item)] if done else [], "dry_run": args.dry_run}
    desk.result(value, lambda: _views().forgotten(item, done=done, dry_run=args.dry_run, slash=desk.slash))
    return 0


def _restore(desk: Desk, args: Namespace) -> int:
    book, item = _book(desk), _one(desk, args)
    rival = book.about(item).successor if item.status == "superseded" else None
    done = book.restore(item)
    value = {"restored": [as_json(item)] if done else []}
    desk.result(value, lambda: _views().restored(item, done=done, rival=rival))
    return 0


def _purge(desk: Desk, args: Namespace) -> int:
    """Delete for good, if that is really wanted."""
    book, item = _book(desk), _one(desk, args)
    going = book.would_purge(item)
    if args.dry_run:
        value = {"purged": [one.memory_id for one in going], "turns": None, "lines": None, "dry_run": True}
        desk.result(value, lambda: _views().would_purge(going))
        return 0
    if not may_delete(desk, lambda: _views().would_purge(going), yes=args.yes):
        return 0
    report = book.purge(item)
    value = {"purged": report.memory_ids, "turns": report.turns, "lines": report.lines, "dry_run": False}
    desk.result(value, lambda: _views().purged(report))
    return 0


def _export(desk: Desk, args: Namespace) -> int:
    """One JSON object a line, into a file; with --json and no file, to stdout."""
    from infrastructure.copies import taking_its_place

    memories = list(_book(desk).export(_kinds(args)))
    if desk.screen.json_only and not args.words:
        desk.screen.json({"memories": memories})
        return 0
    file = local_path(text_of(args.words)).absolute() if args.words else _export_file(desk)
    file.parent.mkdir(parents=True, exist_ok=True)
    with taking_its_place(file) as unfinished:
        lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in memories)
        unfinished.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    desk.result({"file": str(file), "count": len(memories)}, lambda: _views().exported(file, len(memories)))
    return 0


def _export_file(desk: Desk) -> Path:
    """In the home, where a purge finds it."""
    from infrastructure.copies import EXPORTS

    return desk.settings.home / EXPORTS / f"memories-{desk.assistant.storage.now():%Y%m%d-%H%M%S}.jsonl"


ACTIONS: Mapping[str, Callable[[Desk, Namespace], int]] = {
    **{"list": _list, "search": _search, "show": _show, "edit": _edit, "correct": _correct, "forget": _forget},
    **{"restore": _restore, "purge": _purge, "export": _export},
}
TAKES_AN_ID = ("show", "edit", "correct", "forget", "restore", "purge")

# ---- Values ----


def _book(desk: Desk) -> MemoryBook:
    return desk.assistant.memories


def _one(desk: Desk, args: Namespace) -> Any:
    if not args.words:
        action = fold(args.action)
        raise UsageError(
            tr(
                f"Which memory? memory {action} ID; list shows the ids.",
                f"哪一条？memory {action} 编号；用 list 查看编号。",
            )
        )
    if len(args.words) > 1 and fold(args.action) not in ("edit", "correct"):
        many = len(args.words)
        raise UsageError(tr(f"One memory at a time, not {many}.", f"一次只能处理一条，不能写 {many} 条。"))
    return _book(desk).find(args.words[0])


def _text(args: Namespace) -> str:
    return text_of(args.words[1:]) if len(args.words) > 1 else ""


def _kinds(args: Namespace) -> Sequence[str]:
    return [args.kind] if args.kind else KINDS


def _chosen(desk: Desk, args: Namespace, *, any_status: str | None = None) -> dict[str, Any]:
    """The filters that were given, as `Filter` takes them."""
    chosen: dict[str, Any] = {"status": any_status if args.status == "all" else args.status}
    if args.since is not None:
        chosen["since"] = args.since
    if args.session is not None:
        chosen["session_id"] = _session_id(desk, args.session)
    return chosen


def _session_id(desk: Desk, wanted: str) -> str:
    from study.sitting import ALL, chosen_session

    if fold(wanted) in ("this", "current", "当前"):
        return desk.assistant.session_id
    return chosen_session(desk.assistant.transcript.sessions(ALL), wanted, desk.typed("session")).session_id


def since(text: str) -> datetime:
    """The beginning of a day on this computer's calendar: 2026-03-01, 7d (that many days ago), today, yesterday."""
    word = fold(text)
    today = datetime.combine(datetime.now().astimezone().date(), time()).astimezone()
    if word in _DAYS:
        return today - timedelta(days=_DAYS[word])
    if match := re.fullmatch(r"(\d{1,5})(?:d|天)", word):
        return today - timedelta(days=int(match[1]))
    try:
        return datetime.fromisoformat(word).astimezone()
    except ValueError:
        raise argparse.ArgumentTypeError(
            tr(
                f"a day such as 2026-03-01, 7d or yesterday, not {text!r}",
                f"2026-03-01、7d 或 昨天 这样的日期，不能是 {text!r}",
            )
        ) from None


MEMORY_ARGUMENTS = (
    Argument(
        "action",
        (f"{', '.join(ACTIONS)} (list)", f"{'、'.join(ACTIONS)}（默认 list）"),
        {"nargs": "?", "metavar": "ACTION"},
        "memory action",
    ),
    Argument(
        "words",
        (
            "an id or its beginning, then text; for search, words; for export, a file",
            "编号（可只写开头）和内容；search 写关键词，export 写文件名",
        ),
        {"nargs": "*", "metavar": "WORD"},
        "memory",
    ),
    Argument(
        "--kind",
        ("working, episodic or semantic", "working、episodic 或 semantic"),
        {"type": one_of(*KINDS), "metavar": "KIND"},
        "memory kind",
    ),
    Argument(
        "--session",
        ("of one session: its number or id, or this", "只看某个会话：序号、ID 或 this"),
        {"metavar": "ID"},
        "session",
    ),
    Argument(
        "--since",
        ("from a day on: 2026-03-01, 7d, yesterday", "从某天起：2026-03-01、7d、昨天"),
        {"type": since, "metavar": "DAY"},
    ),
    Argument(
        "--status",
        (f"{', '.join(STATUSES)} or all (active)", f"{'、'.join(STATUSES)} 或 all（默认 active）"),
        {"type": one_of(*STATUSES, "all"), "default": "active", "metavar": "STATUS"},
        "memory status",
    ),
    Argument(
        "--limit",
        (f"how many on a page ({PAGE_SIZE})", f"每页多少条（默认 {PAGE_SIZE}）"),
        {"type": number(MOST_LISTED), "metavar": "N"},
    ),
    Argument(
        "--page",
        ("which page of the list (1)", "第几页（默认 1）"),
        {"type": number(MOST_PAGES), "default": 1, "metavar": "N"},
    ),
    Argument(
        "--dry-run",
        ("forget, purge: only say what would go", "forget、purge：只说明会删除什么"),
        {"action": "store_true"},
    ),
    Argument("--yes", ("purge without being asked", "purge 时不再确认"), {"action": "store_true"}),
)


def _views() -> ModuleType:
    from study import memory_views  # brings rich

    return memory_views
