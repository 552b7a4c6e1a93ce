"""What quiz and cards show, as rich renderables. Data in, picture out; see `views`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from rich.console import Group, RenderableType

from infrastructure.cards import Card
from infrastructure.language import tr
from study.blocks import Item, Part, columns, count_of, line, quotation, shortened, where
from study.grading import LETTERS, key
from study.schedule import REVIEW, Timetable
from study.tutor import Graded, Quiz

LONGEST_QUOTE = 300
IN_A_LIST = 48  # characters of a question
ID_SHOWN = 8


# ---- One question at a time ----


def question(card: Card, number: int, count: int) -> Group:
    """Where it comes from, as far as that says nothing of the answer, what to do, and the question."""
    head: list[Part] = [(f"{number}/{count}", "bold"), (f"  {_about(card)}", "dim")]
    parts: list[RenderableType] = [
        line(*head),
        line((_task(card), "dim")),
        Item(line(" "), line((card.question, "bold"))),
    ]
    parts += [
        Item(line((f"   {letter})", "cyan")), line(option))
        for letter, option in zip(LETTERS, card.options, strict=False)
    ]
    return Group(*parts)


def _about(card: Card) -> str:
    """Document and heading; a heading that names the answer would be a gift."""
    answers = [key(answer) for answer in (card.answer, *card.accepted)]
    heading = card.heading_path.rpartition(" > ")[2] if not card.note_id else ""
    named = any(answer and answer in key(heading) for answer in answers)
    shown = [card.document or tr("your notes", "你的笔记"), "" if named else heading]
    return " · ".join(filter(None, shown))


def _task(card: Card) -> str:
    if card.kind == "note":
        return tr("Say it in your own words:", "用自己的话说一说：")
    if card.kind == "term":
        return tr("Which term belongs here?", "空格处应填哪个术语？")
    return tr("Fill the gap:", "填空：") if "____" in card.question else tr("Answer:", "请回答：")


def prompt(card: Card) -> str:
    if card.options:
        last = LETTERS[len(card.options) - 1]
        return tr(f"A–{last}, Enter to see it, Ctrl-C to leave: ", f"A–{last}，直接回车看答案，Ctrl-C 退出：")
    return tr("Your answer, Enter to see it, Ctrl-C to leave: ", "你的答案，直接回车看答案，Ctrl-C 退出：")


def verdict(graded: Graded, timetable: Timetable, now: datetime) -> Group:
    """Right or wrong, the answer with the words of the page that say so, and when the card comes back."""
    word, style = {
        "right": (tr("Right.", "正确。"), "bold green"),
        "almost": (tr("Almost, but for the spelling.", "基本正确，注意拼写。"), "bold yellow"),
        "wrong": (tr("Not yet.", "还没有答对。") if graded.given else tr("Here it is.", ""), "bold red"),
        "": (tr("Graded.", "已评分。"), "bold"),
    }[graded.verdict]
    card = graded.card
    parts: list[RenderableType] = [line((word, style), *_told_answer(graded))]
    if card.kind != "note":
        parts.append(
            Item(line("  "), line((quotation(card.quote, LONGEST_QUOTE), "italic")), line((_place(card), "dim")))
        )
    parts.append(grade(graded, timetable, now))
    return Group(*parts)


def _told_answer(graded: Graded) -> list[Part]:
    """The answer, unless the learner has just said it in these words."""
    card = graded.card
    if graded.verdict == "right" and not card.accepted and key(graded.given) == key(card.answer):
        return []
    return [tr(" ", ""), *_answer(card)]


def _answer(card: Card) -> list[Part]:
    others = tr(" (or {})", "（或 {}）").format(" / ".join(card.accepted)) if card.accepted else ""
    return [tr("The answer: ", "答案："), (card.answer, "bold"), others]


def _place(card: Card) -> str:
    if card.page is None:
        return card.document or tr("your note", "你的笔记")
    return "".join(map(str, where(card.document, card.page, card.page_label)))


def grade(graded: Graded, timetable: Timetable, now: datetime) -> Any:
    """What was written down."""
    due = coming(graded.card, timetable, now)
    return line((tr(f"Saved as “{rating_name(graded.rating)}”; it comes back {due}.",
                    f"已记为「{rating_name(graded.rating)}」，{due}再考。"), "dim"))  # fmt: skip


def rating_name(rating: int) -> str:
    names = (tr("again", "重来"), tr("hard", "困难"), tr("good", "良好"), tr("easy", "轻松"))
    return names[rating - 1]


def grade_prompt() -> str:
    choices = " ".join(f"{number} {rating_name(number)}" for number in range(1, 5))
    return tr(f"Enter for the next, or your own grade ({choices}): ", f"回车继续，或自己评分（{choices}）：")


def coming(card: Card, timetable: Timetable, now: datetime) -> str:
    """When a card comes back, as one says it: minutes, tomorrow, a date. Counted in the learner's own days."""
    left = card.memory.due - now
    if card.memory.state != REVIEW and left < timedelta(hours=12):
        minutes = max(0, round(left.total_seconds() / 60))
        return tr("now", "现在就可以") if minutes == 0 else tr(f"in {count_of(minutes, 'minute')}", f"{minutes} 分钟后")
    day, today = timetable.day(card.memory.due), timetable.day(now)
    days = (day - today).days
    if days <= 0:
        return tr("today", "今天")
    return (
        tr("tomorrow", "明天")
        if days == 1
        else tr(f"in {days} days ({day:%Y-%m-%d})", f"{days} 天后（{day:%Y-%m-%d}）")
    )


# ---- A whole quiz ----


def summary(done: Sequence[Graded], asked: int, waiting: int) -> Any:
    """How it went: every grade in it is saved."""
    if not done:
        return line(
            (tr("Nothing answered; the questions wait for the next quiz.", "一题也没答；这些题下次再考。"), "bold")
        )
    right = sum(graded.rating > 1 for graded in done)
    told = tr(f"{right} of {len(done)} known.", f"答了 {len(done)} 题，会 {right} 题。")
    if len(done) < asked:
        told = tr(f"Stopped after {len(done)} of {asked}; {right} known, all saved.",
                  f"共 {asked} 题，答了 {len(done)} 题，会 {right} 题，已全部保存。")  # fmt: skip
    if waiting:
        told += tr(
            f" {count_of(waiting, 'card')} more {'is' if waiting == 1 else 'are'} due.", f"还有 {waiting} 张卡片到期。"
        )
    return line((told, "bold"))


def empty(topic: str, due_only: bool, has_sources: bool) -> str:
    """Why there is no question, and what to do."""
    if due_only:
        return tr("Nothing is due. Type quiz for new questions.", "没有到期的卡片。输入 quiz 可以做新题。")
    if not has_sources:
        return tr("There is nothing to ask about yet: load a document, or write a note.",
                  "还没有可以出题的内容：先加载一份资料，或写一条笔记。")  # fmt: skip
    if topic:
        return tr(f"Nothing about {topic} to ask: try another word for it, or quiz without a topic.",
                  f"没有找到可以就「{topic}」出的题：换个说法，或者不写主题。")  # fmt: skip
    return tr("Every sentence that makes a question has one; load more, or wait until cards are due.",
              "能出的题都出过了；可以加载更多资料，或等卡片到期。")  # fmt: skip


def dropped(quiz: Quiz) -> list[Any]:
    """Questions that a model made and that are no good."""
    return [
        line((tr("Dropped: ", "已舍弃："), "dim"), (quotation(text, 80) if text else "", "dim"), (f" {reason}", "dim"))
        for text, reason in quiz.dropped
    ]


# ---- Lists ----


def cards(
    listed: Sequence[Card], *, total: int, page: int, pages: int, here: set[str], timetable: Timetable, now: datetime
) -> Any:
    """One line a card. here: ids of the documents that are still in the library."""
    if not total:
        return line(tr("No cards yet; type quiz to make some.", "还没有卡片；输入 quiz 就会生成。"))
    rows = columns(
        ("ID", {"no_wrap": True}),
        (tr("Question", "题目"), {"overflow": "fold"}),
        (tr("Answer", "答案"), {"overflow": "fold"}),
        (tr("Next", "下次"), {"no_wrap": True}),
    )
    for card in listed:
        gone = card.document_id and card.document_id not in here
        removed = (tr("  (source removed)", "（来源已移除）"), "yellow") if gone else ""
        rows.add_row(
            line((card.card_id[:ID_SHOWN], "cyan")),
            line(shortened(card.question, IN_A_LIST), removed),
            line(shortened(card.answer, 24)),
            line((_next(card, timetable, now), "dim")),
        )
    foot = tr(f"{count_of(total, 'card')}, page {page} of {pages}", f"共 {total} 张，第 {page}/{pages} 页")
    return Group(rows, line((foot, "dim")))


def _next(card: Card, timetable: Timetable, now: datetime) -> str:
    if card.status != "active":
        return tr("suspended", "已停用")
    if card.memory.is_new:
        return tr("new", "新")
    if timetable.is_due(card, now):
        return tr("due", "到期")
    return f"{timetable.day(card.memory.due):%Y-%m-%d}"


def one_card(card: Card, told: str, timetable: Timetable, now: datetime) -> Group:
    """What became of a card."""
    return Group(
        line(told),
        Item(line((card.card_id[:ID_SHOWN], "cyan")), line(card.question), line(*_answer(card)),
             line((f"{_place(card)} · {_next(card, timetable, now)}", "dim"))),
    )  # fmt: skip


# ---- Exports ----


def exported(exported: Any) -> Group:
    """Where it is, and what to do with it."""
    count = exported.count
    told, more = {
        "anki": (
            tr(f"{count_of(count, 'card')} in {exported.path}", f"已导出 {count} 张卡片：{exported.path}"),
            tr("In Anki: File, Import. Exported again later, the same notes are updated.",
               "在 Anki 中选择“文件 → 导入”。以后再次导出，同一条笔记会更新，不会重复。"),
        ),
        "markdown": (
            tr(f"The report is in {exported.path}", f"报告已写入 {exported.path}"),
            tr(f"{count_of(count, 'picture')} beside it.", f"旁边有 {count} 张图。") if count else "",
        ),
        "json": (
            tr(f"{count_of(count, 'record')} in {exported.path}", f"已导出 {count} 条记录：{exported.path}"),
            tr("import brings it back.", "用 import 可以恢复。"),
        ),
    }[exported.kind]  # fmt: skip
    return Group(*([line(told), line((more, "dim"))] if more else [line(told)]))
