"""The commands, as one table: it makes the command line, the session's /commands, their help and their completion.

To add a command: write a function (desk, args) -> exit code, and give it a row in COMMANDS.
"""

import argparse
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from infrastructure.errors import UsageError
from infrastructure.language import tr
from infrastructure.text import repair
from study.command import Argument, Command, Pair, number, one_of
from study.deleting import may_delete
from study.desk import Desk, sample_path
from study.learning import ACTIONS, EXPORTS, MOST_QUESTIONS, cards, export, grade_type, quiz, review, stats
from study.loading import load
from study.lookup import notes, open_, outline, page
from study.memories import MEMORY_ARGUMENTS, memory
from study.paths import text_of
from study.sitting import help_, language, language_code, leave, model, resume, session, settings
from study.trace import why
from study.upkeep import backup, doctor, restore

# ---- What the commands do ----


def ask(desk: Desk, args: Namespace) -> int:
    question = text_of(args.question)
    if args.session or args.go_on or not desk.interactive:
        resume(desk, args.session, go_on=args.go_on)
    desk.ask(question, top_k=args.top_k, use_mqe=args.mqe, use_hyde=args.hyde, use_memory=args.memory)
    return 0


def note(desk: Desk, args: Namespace) -> int:
    if not desk.interactive:
        desk.assistant.resume()
    place = {"document": args.document, "page": args.page} if args.document or args.page else {}
    receipt = desk.assistant.add_note(repair(text_of(args.text)), concept=repair(args.concept), **place)
    refused = receipt.action == "refused"
    desk.result(
        {**asdict(receipt), "concept": args.concept, **({"error": receipt.reason} if refused else {})},
        lambda: desk.views.note(receipt, args.concept),
    )
    return 1 if refused else 0


def docs(desk: Desk, args: Namespace) -> int:
    infos = desk.assistant.documents()
    desk.result({"documents": [asdict(info) for info in infos]}, lambda: desk.views.documents(infos))
    if not infos:
        command = desk.typed(f"load {sample_path()}")
        desk.note(tr(f"Load one: {command}", f"先加载一份：{command}"))
    return 0


def remove(desk: Desk, args: Namespace) -> int:
    wanted = text_of(args.document)
    if not wanted.strip():  # as in remove "$FILE": the only document there is was not meant
        raise UsageError(
            tr("Which document? remove DOC; docs lists them.", "要移除哪份资料？remove 资料名；docs 会列出。")
        )
    if desk.assistant.removed_earlier(wanted):
        return _purge_removed(desk, wanted, args)
    info = desk.assistant.find_document(wanted)
    if args.purge and not may_delete(desk, lambda: desk.views.would_remove(info), yes=args.yes):
        return 0
    options = {"purge": True} if args.purge else {}
    desk.assistant.remove_document(info.document_id, **options)
    quoted = not args.purge and desk.assistant.removed_earlier(info.name)
    command = desk.typed(f"remove {info.name} --purge") if quoted else ""
    desk.result(
        {"removed": asdict(info), "purged": args.purge},
        lambda: desk.views.removed(info, command, purged=args.purge),
    )
    return 0


def _purge_removed(desk: Desk, name: str, args: Namespace) -> int:
    """The document is gone already; what is left of it are quotations."""
    if not args.purge:
        command = desk.typed(f"remove {name} --purge")
        raise UsageError(
            tr(
                f"{name} was removed earlier; what past answers and cards have kept of it goes with: {command}",
                f"{name} 已经移除；要清除过去的回答和卡片里留下的内容，请用：{command}",
            )
        )
    if not may_delete(desk, lambda: desk.views.would_forget(name), yes=args.yes):
        return 0
    turns = desk.assistant.purge_removed(name)
    desk.result({"removed": None, "purged": True, "turns": turns}, lambda: desk.views.forgot(name, turns))
    return 0


def lesson(desk: Desk, args: Namespace) -> int:
    """The guided lesson, in a folder that is gone afterwards."""
    from tempfile import TemporaryDirectory

    parts = []
    with TemporaryDirectory(prefix="lesson-", ignore_cleanup_errors=True) as home:
        for part in desk.lesson(Path(home)):
            parts.append(part)
            desk.show(part)
    if desk.screen.json_only:
        desk.screen.json({"lesson": [desk.blocks.as_text(part).rstrip("\n") for part in parts]})
    return 0


# ---- Values ----


# ---- The table ----

MOST_SOURCES = 50  # --top-k at most
MOST_PAGES = 10_000  # --page at most
_SWITCH = {"action": argparse.BooleanOptionalAction}

COMMANDS = (
    Command(
        "load", ("Load files, folders or patterns like *.pdf", "加载文件、文件夹或 *.pdf 这样的通配符"), load,
        (
            Argument("paths", ("PDF, Markdown, text, Word, slides, EPUB, HTML", "PDF、Markdown、文本、Word、幻灯片、EPUB、HTML"),
                     {"nargs": "+", "metavar": "PATH"}, "path"),
            Argument("--password", ("opens a protected PDF", "加密 PDF 的密码"), {"metavar": "P"}),
        ),
        "load notes.pdf",
    ),
    Command(
        "ask", ("Ask your documents", "向资料提问"), ask,
        (
            Argument("question", ("in any words, any language", "用自己的话提问，语言不限"),
                     {"nargs": "+", "metavar": "QUESTION"}),
            Argument("--top-k", ("passages to answer from (5)", "依据多少个段落（默认 5）"),
                     {"type": number(MOST_SOURCES), "default": 5, "metavar": "N"}),
            Argument("--mqe", ("search with several wordings (on)", "换几种说法一起检索（默认开）"),
                     {**_SWITCH, "default": True}),
            Argument("--hyde", ("search with a supposed answer (off)", "用假想答案检索（默认关）"),
                     {**_SWITCH, "default": False}),
            Argument("--no-memory", ("plain RAG: forget the past for once", "不使用记忆，只做普通 RAG"),
                     {"action": "store_false", "dest": "memory"}),
            Argument("--session", ("go on with this session; new begins one", "接着指定的会话；new 表示新会话"),
                     {"metavar": "ID"}, "session"),
            Argument("--continue", ("go on with the last session, however old", "接着上一个会话，不论多久以前"),
                     {"action": "store_true", "dest": "go_on"}),
        ),
        'ask "What is HyDE good for?"',
    ),
    Command(
        "note", ("Keep a note in your own words", "记一条自己的笔记"), note,
        (
            Argument("text", ("what to keep", "笔记内容"), {"nargs": "+", "metavar": "TEXT"}),
            Argument("--concept", ("what it is about", "所属概念"), {"default": "general", "metavar": "C"},
                     "concept"),
            Argument("--document", ("which document it belongs to", "属于哪份资料"), {"metavar": "D"}, "document"),
            Argument("--page", ("which page of it", "属于哪一页"), {"type": number(MOST_PAGES), "metavar": "N"}),
        ),
        'note "Recall first" --concept evaluation',
    ),
    Command(
        "review", ("What you asked, noted and missed on a topic", "回顾某个主题：问过、记过、还没看的"), review,
        (Argument("topic", ("what to look back at", "要回顾的主题"), {"nargs": "+", "metavar": "TOPIC"}),),
        "review evaluation",
    ),
    Command(
        "quiz", ("Test yourself: due cards, then new questions", "自测：先考到期的卡片，再出新题"), quiz,
        (
            Argument("words", ("what to ask about; with --answer: the answer", "要考的主题；与 --answer 合用时是答案"),
                     {"nargs": "*", "metavar": "TOPIC"}),
            Argument("--document", ("only from this document", "只考这份资料"), {"metavar": "D"}, "document"),
            Argument("--count", ("how many questions (5)", "题数（默认 5）"),
                     {"type": number(MOST_QUESTIONS), "default": 5, "metavar": "N"}),
            Argument("--due", ("only cards that are due", "只考到期的卡片"), {"action": "store_true"}),
            Argument("--answer", ("answer this card, for programs", "回答这张卡片（供程序使用）"), {"metavar": "ID"}),
            Argument("--grade", ("with --answer: grade it yourself", "与 --answer 合用：自己评分"),
                     {"type": grade_type, "metavar": "again|hard|good|easy"}),
        ),
        "quiz evaluation --count 3",
    ),
    Command(
        "cards", ("List your cards; edit, suspend or resume one", "列出卡片，修改、停用或恢复某张卡片"), cards,
        (
            Argument("action", ("list, edit, suspend or resume", "list、edit、suspend 或 resume"),
                     {"nargs": "?", "type": one_of(*ACTIONS), "default": "list", "metavar": "ACTION"}, "card action"),
            Argument("id", ("a card, or the beginning of its id", "卡片编号，或编号的开头"), {"nargs": "?", "metavar": "ID"},
                     "card"),
            Argument("--question", ("with edit: the new question", "与 edit 合用：新的题目"), {"metavar": "TEXT"}),
            Argument("--answer", ("with edit: the new answer", "与 edit 合用：新的答案"), {"metavar": "TEXT"}),
            Argument("--document", ("only those from this document", "只列这份资料的卡片"), {"metavar": "D"}, "document"),
            Argument("--page", ("of the list (1)", "列表的页码（默认 1）"),
                     {"type": number(MOST_PAGES), "default": 1, "metavar": "N"}),
        ),
        "cards suspend 3f2a",
    ),
    Command("stats", ("Your study in numbers", "学习统计"), stats),
    Command("docs", ("List your documents", "列出资料"), docs),
    Command(
        "remove", ("Take a document out", "移除一份资料"), remove,
        (
            Argument("document", ("its name, id, or number in docs", "名称、编号，或 docs 中的序号"),
                     {"nargs": "+", "metavar": "DOC"}, "document"),
            Argument("--purge", ("leave no byte: past answers, backups in the home", "彻底清除：包括过去的回答和文件夹里的备份"),
                     {"action": "store_true"}),
            Argument("--yes", ("purge without being asked", "purge 时不再确认"), {"action": "store_true"}),
        ),
        "remove notes.pdf",
    ),
    Command(
        "export", ("Write a deck for Anki, a study report, or everything", "导出 Anki 卡组、学习报告或全部数据"), export,
        (
            Argument("kind", ("anki, markdown or json", "anki、markdown 或 json"),
                     {"type": one_of(*EXPORTS), "metavar": "KIND"}, "export"),
            Argument("file", ("NAME.apkg, NAME.md, NAME.jsonl.gz, or a folder", "文件名 .apkg、.md、.jsonl.gz，或文件夹"),
                     {"nargs": "*", "metavar": "FILE"}, "path"),
        ),
        "export anki cards.apkg",
    ),
    Command(
        "import", ("Bring back what export json has written", "导入 export json 导出的文件"), restore,
        (
            Argument("file", ("what export json or backup has made", "export json 或 backup 生成的文件"),
                     {"nargs": "+", "metavar": "FILE"}, "path"),
            Argument("--replace", ("in place of what is here; that is backed up first", "替换现有内容（会先备份）"),
                     {"action": "store_true"}),
        ),
        "import notes.jsonl.gz",
    ),
    Command(
        "backup", ("Save everything in one file", "把全部数据存成一个文件"), backup,
        (Argument("file", ("NAME.jsonl.gz, or a folder", "文件名 .jsonl.gz，或文件夹"),
                  {"nargs": "*", "metavar": "FILE"}, "path"),),
        "backup notes.jsonl.gz",
    ),
    Command(
        "restore", ("Bring a backup back", "恢复备份"), restore,
        (
            Argument("file", ("what backup has made", "backup 生成的文件"), {"nargs": "+", "metavar": "FILE"}, "path"),
            Argument("--replace", ("in place of what is here; that is backed up first", "替换现有内容（会先备份）"),
                     {"action": "store_true"}),
        ),
        "restore notes.jsonl.gz",
    ),
    Command(
        "doctor", ("Check the data folder; says what to do", "检查数据文件夹，并给出建议"), doctor,
        (Argument("--rebuild-index", ("make the index anew", "重建索引"), {"action": "store_true"}),),
        "doctor",
    ),
    Command("lesson", ("The guided lesson, in a temporary folder", "引导课程，在临时文件夹中进行"), lesson, opens_home=False),
    Command(
        "page", ("Show a page, with what was quoted from it", "查看某一页，并标出引文"), page,
        (
            Argument("page", ("a PDF page, or the number printed on it", "PDF 页码或印刷页码"), {"metavar": "N"}),
            Argument("words", ("a document: its name, id, or number in docs", "资料的名称、编号，或 docs 中的序号"),
                     {"nargs": "*", "metavar": "DOC"}, "document"),
            Argument("--document", ("the same", "同上"),
                     {"metavar": "DOC"}, "document"),
        ),
        "page 5",
    ),
    Command(
        "open", ("Show a source of the last answer on its page", "打开上一个回答的来源"), open_,
        (Argument("number", ("the number in brackets", "方括号中的编号"), {"type": number(MOST_SOURCES), "metavar": "N"}),),
        "open 1",
    ),
    Command("why", ("How the last answer came about", "上一个回答是怎么来的"), why),
    Command(
        "outline", ("Headings and their pages", "目录及页码"), outline,
        (Argument("document", ("of this document only", "只看这份资料"), {"nargs": "*", "metavar": "DOC"}, "document"),),
        "outline",
    ),
    Command(
        "notes", ("Your notes, by concept", "按概念列出笔记"), notes,
        (Argument("concept", ("of this concept only", "只看这个概念"), {"nargs": "*", "metavar": "CONCEPT"}, "concept"),),
        "notes evaluation",
    ),
    Command(
        "memory", ("What is remembered: look, correct, forget", "记忆：查看、更正、遗忘"), memory,
        MEMORY_ARGUMENTS,
        "memory list", aliases=("memories", "mem"),
    ),
    Command(
        "session", ("List your sessions, or go on with one", "列出会话，或切换会话"), session,
        (Argument("which", ("its number in the list, its id, or new", "列表中的序号、ID，或 new"),
                  {"nargs": "?", "metavar": "N|ID|new"}, "session"),),
        "session 2", aliases=("sessions",),
    ),
    Command(
        "model", ("Which model answers; take another, or off", "查看、更换或关闭语言模型"), model,
        (Argument("name", ("e.g. ollama/qwen2.5:7b, or off", "例如 ollama/qwen2.5:7b，或 off"),
                  {"nargs": "?", "metavar": "NAME|off"}),),
        "model ollama/qwen2.5:7b", where="session",
    ),
    Command("settings", ("What is set, and where it was set", "当前设置及其来源"), settings, opens_home=False),
    Command(
        "lang", ("Language of the screen", "界面语言"), language,
        (Argument("language", ("en or zh", "en 或 zh"), {"type": language_code, "metavar": "en|zh"}, "language"),),
        "lang zh", where="session", opens_home=False,
    ),
    Command(
        "help", ("This list, or one command in full", "命令列表，或某个命令的详细说明"), help_,
        (Argument("command", ("a command", "命令名"), {"nargs": "?", "metavar": "COMMAND"}, "command"),),
        aliases=("?", "？", "h"), where="session", opens_home=False,
    ),
    Command("quit", ("Leave; nothing is lost", "离开，所有内容都已保存"), leave, aliases=("exit", "q", "bye"), where="session",
            opens_home=False),
)  # fmt: skip


# In the order in which a learner meets them. What is in none of these comes last.
GROUPS = (
    (("Documents", "资料"), ("load", "docs", "outline", "page", "remove")),
    (("Asking", "提问"), ("ask", "open", "why", "session", "model")),
    (("Learning", "学习"), ("note", "notes", "review", "quiz", "cards", "stats", "export", "memory")),
)


def grouped(*, session: bool) -> Iterator[tuple[Pair, list[Command]]]:
    """The commands that can be typed there, under titles."""
    here = {command.name: command for command in COMMANDS if session or command.where == "both"}
    for title, members in GROUPS:
        yield title, [here.pop(name) for name in members if name in here]
    yield ("The rest", "其他"), list(here.values())


def names(*, session: bool) -> Iterator[str]:
    """The commands that can be typed there."""
    return (command.name for command in COMMANDS if session or command.where == "both")


def find(word: str, *, session: bool = True) -> Command:
    """The command of this name or alias. UsageError with the nearest one when there is none."""
    for command in COMMANDS:
        if word in (command.name, *command.aliases) and (session or command.where == "both"):
            return command
    near = nearest(word, names(session=session))
    slash = "/" if session else ""
    if near:
        raise UsageError(
            tr(
                f"There is no command {slash}{word}; did you mean {slash}{near}?",
                f"没有命令 {slash}{word}，是不是要用 {slash}{near}？",
            )
        )
    raise UsageError(
        tr(
            f"There is no command {slash}{word}; {slash}help lists them.",
            f"没有命令 {slash}{word}，输入 {slash}help 查看全部命令。",
        )
    )


def nearest(word: str, choices: Iterator[str]) -> str:
    """The choice that was probably meant, "" when none is near.

    >>> nearest("lod", iter(["ask", "load"])), nearest("rev", iter(["review"])), nearest("xyz", iter(["ask"]))
    ('load', 'review', '')
    """
    from difflib import get_close_matches

    known = list(choices)
    begun = [choice for choice in known if len(word) > 1 and choice.startswith(word)]
    return (begun or get_close_matches(word, known, n=1, cutoff=0.6) or [""])[0]
