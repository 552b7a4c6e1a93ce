"""What `/session` and `/model` show, as rich renderables."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType

from infrastructure.language import tr
from study.blocks import columns, line, local_time, quotation, shortened
from study.views import LONGEST_MEMORY, setting_source

LONGEST_LISTED = 80  # characters of a question in a table


def sessions(sessions: Sequence[Any], current: str) -> RenderableType:
    """Newest first, with the numbers that `/session N` takes; a star marks the one at the desk."""
    if not sessions:
        return line(tr("No sessions yet; ask something.", "还没有会话，先提个问题吧。"))
    table = columns(
        ("#", {"justify": "right", "no_wrap": True}),
        (tr("Last", "最近"), {"no_wrap": True}),
        (tr("Questions", "提问"), {"justify": "right"}),
        (tr("Began with", "第一个问题"), {"overflow": "fold"}),
        ("ID", {"no_wrap": True}),
    )
    for number, session in enumerate(sessions, start=1):
        here = session.session_id == current
        asked = line((shortened(session.first_question, LONGEST_LISTED) or "–", "bold" if here else ""))
        table.add_row(
            line((f"* {number}" if here else f"{number}", "bold" if here else "")),
            line((local_time(session.last_at), "dim")), line(str(session.turns)), asked,
            line((session.session_id[:8], "dim")),
        )  # fmt: skip
    return table


def going_on(session: Any) -> RenderableType:
    began = quotation(session.first_question, LONGEST_MEMORY)
    return line(
        tr(
            f"Going on with the session that began with {began}, {session.turns} so far.",
            f"接着以{began}开头的会话，已有 {session.turns} 个提问。",
        )
        if session.first_question
        else tr("Going on with that session.", "已切换到该会话。")
    )


def _no_model() -> str:
    return tr("No model: answers quote your documents.", "未使用模型：回答直接引用资料原文。")


def model(llm: Any, source: str) -> RenderableType:
    """Which model answers, where that was set, and what it has used so far."""
    if llm is None:
        how = tr(
            "/model NAME takes one, e.g. /model ollama/qwen2.5:7b",
            "/model NAME 启用模型，例如 /model ollama/qwen2.5:7b",
        )
        return Group(line(_no_model()), line((how, "dim")))
    used = llm.usage
    cost = tr("unknown", "未知") if used.cost is None else f"${used.cost:.4f}"
    return Group(
        line((llm.name, "bold"), (f"  ({setting_source(source)})", "dim")),
        line(
            tr(
                f"So far: {used.prompt_tokens} tokens sent, {used.completion_tokens} received, cost {cost}.",
                f"到目前为止：发送 {used.prompt_tokens} 个 token，接收 {used.completion_tokens} 个，费用 {cost}。",
            )
        ),
        line((tr("/model NAME takes another one, /model off none.", "/model NAME 换一个模型，/model off 关闭。"), "dim")),
    )  # fmt: skip
