"""What the learner sees, as rich renderables. Nothing here prints, and nothing reads the home: data in, picture out.
What the pictures are made of is in blocks.py.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from infrastructure.console import plain
from infrastructure.language import tr
from study.blocks import Item, columns, count_of, line, local_time, quotation, shortened, titled, where

if TYPE_CHECKING:  # the shapes that are shown; this module imports no script
    from infrastructure.answers import Answer, Citation, Receipt

LONGEST_QUOTE = 240  # characters of a quotation on screen; --json has all of it
LONGEST_HINT = 120  # of a passage that is near and no answer
LONGEST_MEMORY = 60

# ---- Answers ----


def answer(answer: "Answer", *, streamed: str = "") -> Group:
    """The answer, its sources below it, and what stood behind it. `streamed`: what is on the screen already."""
    parts: list[RenderableType] = []
    if streamed.split() != answer.answer.split():
        parts += [_answer_text(answer.answer), ""]
    elif streamed:
        parts.append("")
    parts += [_source(citation, answer.answer) for citation in answer.citations]
    if answer.nearest and not answer.found:
        title = tr("Nearest passages, not an answer:", "最接近的段落（不是回答）：")
        parts += [line((title, "bold")), *map(_near, answer.nearest)]
    parts += _doubts(answer)
    if background := list(_background(answer)):
        parts += background if parts and parts[-1] == "" else ["", *background]
    while parts and parts[-1] == "":
        parts.pop()
    return Group(*parts)


def _answer_text(text: str) -> Text:
    shown = plain(text.strip())
    shown.highlight_regex(r"\[M?\d{1,3}\]", "cyan")
    return shown


def source(citation: "Citation") -> Item:
    """One source: number, document, page, heading path, and its words."""
    return _source(citation, "")


def _source(citation: "Citation", shown_answer: str) -> Item:
    told = where(citation.document, citation.page, citation.page_label)
    if citation.heading_path:
        told.append((f" · {citation.heading_path}", "dim"))
    paragraphs = [line(*told)]
    if citation.quote.strip() and not _says(shown_answer, citation.quote):
        paragraphs.append(line((quotation(citation.quote, LONGEST_QUOTE), "italic")))
    return Item(line((f"[{citation.n}]", "cyan")), *paragraphs)


def _near(citation: "Citation") -> Text:
    """One line on a terminal, however narrow: a hint where to look, and no more."""
    told = where(citation.document, citation.page, citation.page_label)
    hint = line(
        (f"[{citation.n}]", "cyan"), " ", *told, tr(": ", "："), (quotation(citation.quote, LONGEST_HINT), "dim")
    )
    hint.no_wrap, hint.overflow = True, "ellipsis"
    return hint


def _says(text: str, quote: str) -> bool:
    """Does the text hold this quotation already, but for spaces and hyphens? An answer without a model is quotations."""
    return _letters(quote) in _letters(text)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", plain(text).plain)


def _doubts(answer: "Answer") -> Iterator[Text]:
    """What the check of a model's citations found."""
    checks = answer.trace.get("citations") or {}
    if not isinstance(checks, Mapping):
        return
    if dropped := checks.get("dropped"):
        numbers = ", ".join(f"[{number}]" for number in dropped)
        yield line((tr(f"No such source, taken out: {numbers}", f"来源不存在，已去掉：{numbers}"), "yellow"))
    for sentence in checks.get("unsupported", ()):
        told = tr("Not borne out by its source: ", "来源中没有依据：")
        yield line((told + quotation(sentence, LONGEST_QUOTE), "yellow"))


def _background(answer: "Answer") -> Iterator[Text]:
    """What the conversation and the memories added, in one dim line each."""
    if answer.enriched_query and answer.enriched_query != answer.question and answer.trace.get("background"):
        yield line((tr("Understood as: ", "理解为：") + shortened(answer.enriched_query, LONGEST_QUOTE), "dim"))
    used = {*answer.trace.get("memories_named", ()), *answer.trace.get("enriched_by", ())}
    named = [memory.content for memory in answer.memories if memory.memory_id in used]
    memories = [memory for memory in named if not _says(answer.answer, memory)]
    if memories:
        quoted = tr(", ", "、").join(quotation(memory, LONGEST_MEMORY) for memory in memories)
        yield line((tr("Memories used: ", "用到的记忆：") + quoted, "dim"))


# ---- Documents ----


def _action(action: str) -> str:
    return {
        "loaded": tr("loaded", "已加载"),
        "already here": tr("already here", "已在库中"),
        "replaced": tr("changed, replaced", "有变化，已替换"),
        "stopped": tr("stopped", "中途停止"),
    }[action]


def load_report(report: Any) -> Group:
    """One line for one file, and a line for each thing that could not be read."""
    word = {
        "already here": tr("already here, nothing to do", "已在资料库中，无需重复加载"),
        "replaced": tr("changed since last time, replaced", "内容有变化，已替换旧版本"),
    }.get(report.action) or _action(report.action)
    size = tr(
        f"{count_of(report.pages, 'page')}, {count_of(report.chunks, 'passage')}",
        f"{report.pages} 页，{report.chunks} 个段落",
    )
    told = line((report.name, "bold"), tr(": ", "："), word, (tr(" · ", " · ") + size, "dim"))
    return Group(told, *(Item(line(" "), line((warning, "yellow"))) for warning in report.warnings))


def load_table(tried: Sequence[tuple[str, Any]]) -> RenderableType:
    """What became of several files, a line for each: (path, report or the sentence why it failed, which has been said)."""
    table = columns(
        (tr("File", "文件"), {"overflow": "fold"}),
        (tr("Result", "结果"), {"no_wrap": True}),
        (tr("Pages", "页数"), {"justify": "right"}),
        (tr("Passages", "段落"), {"justify": "right"}),
    )
    for path, outcome in tried:
        if isinstance(outcome, str):
            table.add_row(line(_file_name(path) or outcome), line((tr("failed", "失败"), "red")), "", "")
        else:
            name = line(outcome.name, *((f"\n{warning}", "yellow") for warning in outcome.warnings))
            table.add_row(name, _action(outcome.action), str(outcome.pages), str(outcome.chunks))
    return Group(table, _tally([outcome for _, outcome in tried]))


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _tally(outcomes: Sequence[Any]) -> Text:
    """ "3 loaded, 1 failed"."""
    words = {
        "loaded": tr("loaded", "个已加载"),
        "replaced": tr("replaced", "个已替换"),
        "already here": tr("already here", "个已在库中"),
        "stopped": tr("stopped", "个中途停止"),
        "failed": tr("failed", "个失败"),
    }
    counts = Counter("failed" if isinstance(outcome, str) else outcome.action for outcome in outcomes)
    told = [f"{counts[action]} {word}" for action, word in words.items() if counts[action]]
    return line(tr(", ", "，").join(told) + tr(".", "。"))


def documents(infos: Sequence[Any]) -> RenderableType:
    """The library as a table; [] says how to begin."""
    if not infos:
        return line(tr("No documents yet.", "还没有资料。"))
    table = columns(
        ("#", {"justify": "right"}),
        (tr("Document", "资料"), {"overflow": "fold"}),
        (tr("Pages", "页数"), {"justify": "right"}),
        (tr("Passages", "段落"), {"justify": "right"}),
        (tr("Added", "加入时间"), {"no_wrap": True}),
    )
    for number, info in enumerate(infos, start=1):
        name = line(info.name, *((f"\n{warning}", "yellow") for warning in info.warnings))
        table.add_row(str(number), name, str(info.pages), str(info.chunks), line((local_time(info.added_at), "dim")))
    return table


def removed(info: Any, purge: str = "", *, purged: bool = False) -> Text:
    """purge: the command that deletes what answers and cards quote of the document; "" when nothing does."""
    told = tr(
        f"Removed {info.name} ({count_of(info.pages, 'page')}). Your own notes stay.",
        f"已移除 {info.name}（{info.pages} 页）。你自己的笔记会保留。",
    )
    kept = tr(
        f" What past answers quoted from it stays, too, until: {purge}",
        f"过去的回答引用过的内容也会保留；要彻底清除，请用：{purge}",
    )
    nothing = tr(
        " Nothing of it is left in the data folder; the backups in there were deleted, too.",
        "数据文件夹里已没有它的任何内容，其中的备份也已删除。",
    )
    return line(told + (nothing if purged else kept if purge else ""))


def would_remove(info: Any) -> Text:
    return line(
        tr(
            f"Would go for good, with its cards and what past answers quoted: {info.name} ({count_of(info.pages, 'page')})",
            f"将彻底删除，连同由它生成的卡片和过去回答里的引文：{info.name}（{info.pages} 页）",
        )
    )


def would_forget(name: str) -> Text:
    return line(
        tr(
            f"Would go for good: what past answers and cards have kept of {name}, which was removed earlier.",
            f"将彻底删除：过去的回答和卡片里留下的 {name} 的内容（该资料已移除）。",
        )
    )


def forgot(name: str, turns: int) -> Text:
    return line(
        tr(
            f"What past answers and cards had kept of {name} is deleted (in {count_of(turns, 'turn')}); so are the backups "
            "in the data folder.",
            f"过去的回答和卡片里留下的 {name} 的内容已删除（涉及 {turns} 轮对话），数据文件夹里的备份也已删除。",
        )
    )


# ---- Notes, review, numbers ----


def note(receipt: "Receipt", concept: str) -> Text:
    """What became of a note."""
    if receipt.action == "refused":
        return line((tr(f"Not kept: {receipt.reason}.", f"没有记下：{receipt.reason}。"), "yellow"))
    if receipt.action == "counted":
        return line(tr("You had noted this already.", "这条笔记已经有了。"))
    about = "" if concept == "general" else tr(f" under “{concept}”", f"，归入「{concept}」")
    instead = tr(f"; it {receipt.reason}", f"，{receipt.reason}") if receipt.action == "superseded" else ""
    return line(tr(f"Noted{about}{instead}.", f"已记下{about}{instead}。"))


def review(review: Any) -> Group:
    """What I asked, noted, got wrong and know about a topic, what the documents hold on it, and a next step."""
    parts: list[RenderableType] = []
    if review.is_empty:
        parts.append(line(tr(f"Nothing about {review.topic} yet.", f"还没有关于「{review.topic}」的学习记录。")))
    for title, entries in (
        (tr("You asked", "问过"), map(_asked, review.asked)),
        (tr("You noted", "记过"), map(_remembered, review.noted)),
        (tr("You got wrong", "答错过"), map(_mistake, review.wrong)),
        (tr("You know", "已知"), map(_remembered, review.known)),
        (tr("In your documents", "资料中"), map(_section, review.sections)),
        (tr("Never touched, in the same chapters", "同一章里还没碰过的"), map(_section, review.gaps)),
    ):
        parts += titled(title, list(entries))
    if review.next_step:
        parts.append(line((tr("Next: ", "下一步："), "bold"), review.next_step))
    return Group(*parts)


def _asked(turn: Any) -> Item:
    missing = "" if turn.found else tr("  (not in your documents)", "（资料中没有）")
    return Item(line((local_time(turn.asked_at), "dim")), line(turn.question, (missing, "yellow")))


def _remembered(item: Any) -> Item:
    concept = item.metadata.get("concept", "general")
    about = "" if concept == "general" else f"  [{concept}]"
    removed = tr("  (source removed)", "（来源已移除）") if item.metadata.get("source_removed") else ""
    document, page = item.metadata.get("document") or "", item.metadata.get("page")
    place = "".join(map(str, where(document, page, None))) if document and page else document
    told = line(item.content, (about, "cyan"), (f"  {place}" if place else "", "dim"), (removed, "dim"))
    return Item(line((local_time(item.timestamp), "dim")), told)


def _mistake(mistake: Any) -> Item:
    """When, which question, what was said and what is right, and where to read it."""
    said = (
        tr("you said “{}”", "你答的是「{}」").format(shortened(mistake.given, LONGEST_MEMORY))
        if mistake.given
        else tr("no answer", "没有作答")
    )
    right = tr("right is", "正确答案是")
    known = tr(", known since", "，后来答对了") if mistake.known_since else ""
    times = tr(f", {mistake.times} times", f"，共 {mistake.times} 次") if mistake.times > 1 else ""
    place = (
        where(mistake.document, mistake.page, mistake.page_label)
        if mistake.page
        else [mistake.document or tr("your note", "你的笔记")]
    )
    return Item(
        line((local_time(mistake.at), "dim")),
        line(shortened(mistake.question, LONGEST_QUOTE)),
        line(f"{said}; {right} ", (shortened(mistake.answer, LONGEST_MEMORY), "bold"), (f"{times}{known}", "dim"), "  ",
             *((part if isinstance(part, tuple) else (part, "dim")) for part in place)),
    )  # fmt: skip


def _section(section: Any) -> Item:
    read = tr("read", "读过") if section.touched else tr("new ", "未读")
    told = where(section.document, section.page, getattr(section, "page_label", None))
    heading = f" · {section.heading_path}" if section.heading_path else ""
    return Item(line((read, "dim" if section.touched else "green")), line(*told, (heading, "dim")))


def stats(numbers: Mapping[str, Any]) -> Table:
    """The home in numbers."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for label, value in _stat_rows(numbers):
        grid.add_row(label, line(value))
    return grid


def _stat_rows(numbers: Mapping[str, Any]) -> list[tuple[str, str]]:
    documents, chunks, questions, answered, sessions = (
        numbers.get(name, 0) for name in ("documents", "chunks", "questions", "answered", "sessions")
    )
    asked = tr(
        f"{questions} in {count_of(sessions, 'session')}, {answered} answered from what you have",
        f"{questions} 次，{sessions} 个会话，其中 {answered} 次有据可答",
    )
    quoting = tr("quoted from your documents (no language model set)", "引用资料原文（未设置语言模型）")
    return [
        (
            tr("Documents", "资料"),
            tr(f"{documents} ({count_of(chunks, 'passage')})", f"{documents} 份（{chunks} 个段落）"),
        ),
        (tr("Questions", "提问"), asked),
        (tr("Notes", "笔记"), str(numbers.get("notes", 0))),
        (tr("Search", "检索"), numbers.get("embedder") or tr("by words only", "仅按词检索")),
        (tr("Answers", "回答"), numbers.get("llm") or quoting),
    ]


def settings(lines: Iterable[Any]) -> Table:
    """(name, value, source) of every setting; values that are secret come masked."""
    table = columns(
        (tr("Setting", "设置"), {"no_wrap": True}), (tr("Value", "值"), {"overflow": "fold"}), (tr("From", "来源"), {})
    )
    for setting in lines:
        table.add_row(line(setting.name), line(setting.value or "–"), line((setting_source(setting.source), "dim")))
    return table


def setting_source(source: str) -> str:
    """Where a setting came from, in words."""
    words = {
        "flag": tr("command line", "命令行"),
        "environment": tr("environment", "环境变量"),
        "default": tr("default", "默认"),
    }
    return words.get(source, source)


# ---- Screens ----


def first_run(sample_command: str, *, has_model: bool, home: str) -> Group:
    """For someone who has nothing loaded: what to type next. Under 15 lines at 80 columns."""
    model = [] if has_model else [line((_no_model(), "dim"))]
    return Group(
        line((tr("Ask your own documents", "向自己的资料提问"), "bold"),
             tr(": every answer shows the page it stands on.", "：每个回答都注明出自哪一页。")),
        "",
        line(tr("Load a file (or drag one in here). To try it, the guide that comes along:",
                "先加载一个文件（也可以直接拖进来）。想先试试，用自带的指南：")),
        line((f"  {sample_command}", "cyan")),
        line(tr("Then ask, in English or Chinese:", "然后用中文或英文提问：")),
        line((tr("  What is HyDE good for?", "  RAG 系统怎么评估？"), "cyan")),
        "",
        line(_how_to_type()),
        *model,
        line((tr(f"All you do stays in {home}", f"所有记录都保存在 {home}"), "dim")),
    )  # fmt: skip


def welcome_back(numbers: Mapping[str, Any], going_on: str) -> Group:
    """For someone who has documents. `going_on`: the first question of the session that is continued, "" for a new one."""
    told = tr(
        f"{count_of(numbers['documents'], 'document')}, {count_of(numbers['questions'], 'question')} so far.",
        f"资料 {numbers['documents']} 份，已提问 {numbers['questions']} 次。",
    )
    parts = [line(told)]
    if due := numbers["study"]["due_today"]:
        parts.append(
            line((tr(f"{count_of(due, 'card')} due today: /quiz", f"今天有 {due} 张卡片到期：/quiz"), "yellow"))
        )
    if going_on:
        going = tr("Going on with the session that began with {}", "接着上次的会话：{}")
        parts.append(line((going.format(quotation(going_on, LONGEST_MEMORY)), "dim")))
    return Group(*parts, line(_how_to_type()))


def _how_to_type() -> str:
    return tr(
        "/help lists the commands; anything without a / is a question. Ctrl-D leaves.",
        "/help 列出命令；不带 / 的内容都当作提问；Ctrl-D 离开。",
    )


def _no_model() -> str:
    return tr(
        "No language model set: answers quote your documents (/model NAME takes one).",
        "未设置语言模型：回答直接引用资料原文（用 /model NAME 启用）。",
    )


def command_list(groups: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> Group:
    """/help: under each title (usage, what it does) line by line."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for title, commands in groups:
        grid.add_row(line((title, "bold")))
        for usage, told in commands:
            grid.add_row(line("  ", (usage, "cyan")), line(told))
    more = tr(
        "/help COMMAND shows its options. Anything without a / is a question; a file dropped in here is loaded.",
        "/help COMMAND 显示该命令的选项。不带 / 的内容都当作提问；拖进来的文件会被加载。",
    )
    keys = tr(
        "Tab completes, Alt-Enter begins a new line, Ctrl-R searches your lines, Ctrl-C stops an answer, Ctrl-D leaves.",
        "Tab 补全，Alt-Enter 换行，Ctrl-R 搜索历史输入，Ctrl-C 停止回答，Ctrl-D 离开。",
    )
    return Group(grid, "", line((more, "dim")), line((keys, "dim")))
