"""One sitting at the desk: which session and model it works with, its language, its settings, how it ends. Rows of the
table in `commands`; what they show is made in `sitting_views`."""

import argparse
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from types import ModuleType
from typing import Any

from infrastructure.errors import LLMUnavailable, UsageError
from infrastructure.language import set_language, tr
from infrastructure.text import fold
from study.desk import Desk

NEW = ("new", "新建", "新会话")
ALL = -1  # sessions; the list shows the newest only
OFF = ("off", "none", "关", "关闭")
CHECK = "Answer with one word: ok"
CHECK_TOKENS = 200  # a model that thinks first needs some before it says anything

# ---- Sessions ----


def resume(desk: Desk, session_id: str | None = None, *, go_on: bool = False) -> str:
    """Sit down in the session given, which may be "new", else in the last one if it is recent or `go_on`, else in a new one;
    returns its id. UsageError when there is no such session."""
    if session_id and fold(session_id) in NEW:
        return desk.assistant.new_session()
    if session_id:
        sessions = desk.assistant.transcript.sessions(ALL)
        session_id = chosen_session(sessions, session_id, desk.typed("session")).session_id
    if go_on and session_id is None:
        last = desk.assistant.sessions()[:1]
        session_id = last[0].session_id if last else None
    return desk.assistant.resume(session_id)


def session(desk: Desk, args: Namespace) -> int:
    """List the sessions, or sit down in another one."""
    if not args.which:
        return _list_sessions(desk)
    if not desk.interactive:
        raise UsageError(
            tr(
                'A command of its own has no session to switch; write: ask --session ID "…"',
                "单条命令没有可切换的会话；请写：ask --session ID “……”",
            )
        )
    if fold(args.which) in NEW:
        desk.assistant.new_session()
        desk.show(tr("A new session. What was said before is kept.", "已开始新会话，之前的内容都已保存。"))
        return 0
    chosen = chosen_session(desk.assistant.transcript.sessions(ALL), args.which)
    desk.assistant.resume(chosen.session_id)
    desk.show(_views().going_on(chosen))
    return 0


def _list_sessions(desk: Desk) -> int:
    sessions, current = desk.assistant.sessions(), desk.assistant.session_id
    listed = [{**asdict(s), "started_at": s.started_at.isoformat(), "last_at": s.last_at.isoformat()} for s in sessions]
    desk.result({"sessions": listed}, lambda: _views().sessions(sessions, current if desk.interactive else ""))
    return 0


def chosen_session(sessions: Sequence[Any], wanted: str, listing: str = "/session") -> Any:
    """The one session meant by its id, its number in the list (from 1) or the beginning of its id. UsageError if none or several
    are; listing: the command that shows them."""
    if exact := [session for session in sessions if session.session_id == wanted]:
        return exact[0]
    word = fold(wanted)
    if word.isdecimal() and 1 <= int(word) <= len(sessions):
        return sessions[int(word) - 1]
    close = [session for session in sessions if session.session_id.startswith(word)]
    if len(close) == 1:
        return close[0]
    told = tr(f"Several sessions begin with {wanted}", f"有多个会话以 {wanted} 开头") if close else tr(
        f"There is no session {wanted}", f"没有会话 {wanted}"
    )  # fmt: skip
    raise UsageError(told + tr(f"; {listing} lists them with their numbers.", f"；输入 {listing} 查看会话及其序号。"))


# ---- The model ----


def model(desk: Desk, args: Namespace) -> int:
    """Say which model answers, or take another one for this session, if it does answer."""
    if args.name is None:
        desk.show(_views().model(desk.assistant.llm, desk.settings.sources.get("llm_model", "default")))
    elif fold(args.name) in OFF:
        _take_model(desk, None, None)
        desk.show(tr("Answers quote your documents now; no model is asked.", "现在直接引用资料原文，不再使用模型。"))
    else:
        _take_model(desk, args.name, _connected(desk, args.name))
        told = tr(
            f"{args.name} answers from now on, until you leave; LLM_MODEL={args.name} in .env keeps it.",
            f"从现在起由 {args.name} 回答，离开后失效；在 .env 中写 LLM_MODEL={args.name} 可长期使用。",
        )
        desk.show(told)
    return 0


def _connected(desk: Desk, name: str) -> Any:
    """The model, which has been asked once. LLMUnavailable says why it cannot be used, and what answers in its place."""
    from infrastructure.llm import connect

    llm = connect(replace(desk.settings, llm_model=name))
    try:
        with desk.waiting(tr(f"Asking {name} …", f"正在连接 {name}……")):
            llm.complete(CHECK, max_tokens=CHECK_TOKENS)
    except LLMUnavailable as error:
        before = desk.settings.llm_model
        kept = tr("It stays without a model.", "仍不使用模型。")
        if before:
            kept = tr(f"It stays with {before}.", f"仍使用 {before}。")
        raise LLMUnavailable(f"{error} {kept}", reason=error.reason) from error
    return llm


def _take_model(desk: Desk, name: str | None, llm: Any) -> None:
    desk.assistant.use_model(llm)
    desk.settings = replace(desk.settings, llm_model=name, sources={**desk.settings.sources, "llm_model": "/model"})


# ---- The screen ----


def help_(desk: Desk, args: Namespace) -> int:
    from study.arguments import help_for
    from study.commands import find, grouped

    word = fold(args.command or "").strip("/ ")
    if word:
        desk.show(help_for(find(word), in_session=True).rstrip("\n"))
    else:
        groups = [
            (tr(*title), [(f"/{command.synopsis}", tr(*command.help)) for command in members])
            for title, members in grouped(session=True)
        ]
        desk.show_long(desk.views.command_list(groups), screens=1)
    return 0


def language(desk: Desk, args: Namespace) -> int:
    sources = {**desk.settings.sources, "language": "/lang"}
    desk.settings = replace(desk.settings, language=args.language, sources=sources)
    set_language(args.language)
    desk.show(tr("The screen speaks English now.", "界面已切换为中文。"))
    return 0


def language_code(text: str) -> str:
    """The code en or zh, for argparse; zh-CN and EN will do."""
    code = fold(text).replace("_", "-").split("-")[0]
    if code not in ("en", "zh"):
        raise argparse.ArgumentTypeError(tr(f"en or zh, not {text!r}", f"只能是 en 或 zh，不能是 {text!r}"))
    return code


def settings(desk: Desk, args: Namespace) -> int:
    lines = desk.settings.explain()
    value = {"settings": [setting._asdict() for setting in lines]}
    desk.result(value, lambda: desk.views.settings(lines))
    return 0


def leave(desk: Desk, args: Namespace) -> int:
    desk.done = True
    return 0


def _views() -> ModuleType:
    from study import sitting_views  # brings rich

    return sitting_views
