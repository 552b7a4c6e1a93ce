"""Testing oneself: quiz and cards. Rows of the table in `commands`; what they show is made in `learning_views`."""

import argparse
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from types import ModuleType
from typing import TYPE_CHECKING, Any

from infrastructure.errors import UsageError
from infrastructure.extras import has, missing
from infrastructure.language import tr
from infrastructure.text import fold, repair
from study.desk import Desk
from study.paths import local_path, text_of

if TYPE_CHECKING:
    from infrastructure.cards import Card
    from study.terminal import Meant

RATINGS = ("again", "hard", "good", "easy")  # FSRS's 1 to 4
MOST_QUESTIONS = 50  # --count at most
CARDS_A_PAGE = 20
STOP = (
    *("stop", "quit", "exit", "bye", "退出", "离开"),
    *("/stop", "/quit", "/exit", "/bye", "/q"),
)  # leave the quiz only


# ---- Quiz ----


def quiz(desk: Desk, args: Namespace) -> int:
    """Ask, one question at a time; or print the questions; or take one answer, for programs."""
    if args.answer:
        return _take_answer(desk, args)
    if args.grade:
        raise UsageError(tr("--grade goes with --answer ID.", "--grade 要和 --answer 编号一起用。"))
    topic = repair(text_of(args.words) if args.words else "")
    with desk.waiting(tr("Looking for questions …", "正在出题……")):
        made = desk.assistant.quiz(topic, document=args.document, count=args.count, due_only=args.due)
    if made.note:
        desk.note(made.note, "dim")
    if desk.screen.json_only:
        desk.screen.json(_quiz_json(made))
        return 0
    for told in _views().dropped(made):
        desk.screen.note(told)
    if not made.cards:
        desk.show(_views().empty(topic, args.due, _has_sources(desk)))
        return 0
    return _ask_all(desk, made)


def _quiz_json(made: Any) -> dict[str, Any]:
    from study.tutor import without_answers

    return {
        "questions": without_answers(made.cards),
        "dropped": [{"question": question, "reason": reason} for question, reason in made.dropped],
        "waiting": made.waiting,
        "note": made.note,
    }


def _has_sources(desk: Desk) -> bool:
    return bool(desk.assistant.documents() or desk.assistant.get_stats()["notes"])


class _Leave(Exception):
    """The learner typed a command in place of an answer."""

    def __init__(self, meant: "Meant | None") -> None:
        super().__init__()
        self.meant = meant


def _ask_all(desk: Desk, made: Any) -> int:
    """Each grade is written when it is given, so leaving in the middle, however it is done, loses none."""
    done: list[Any] = []
    meant = None
    try:
        for number, card in enumerate(made.cards, start=1):
            _ask_one(desk, card, number, len(made.cards), done)
    except EOFError:
        desk.show("")
    except _Leave as wish:
        meant = wish.meant
    except KeyboardInterrupt:
        desk.show("")
        desk.show(_views().summary(done, len(made.cards), made.waiting))
        if desk.interactive and desk.can_be_asked:
            return 0  # back to the session, which need not say it again
        raise
    desk.show(_views().summary(done, len(made.cards), made.waiting))
    return _obey(desk, meant) if meant and desk.interactive else 0


def _ask_one(desk: Desk, card: "Card", number: int, count: int, done: list[Any]) -> None:
    """Ask, judge, save, and let the learner overrule the grade."""
    views, tutor = _views(), desk.assistant.tutor
    desk.show(views.question(card, number, count))
    started = time.monotonic()
    given = _answer(desk, card)
    done.append(tutor.answer(card.card_id, given, seconds=time.monotonic() - started))
    now = desk.assistant.storage.now()
    desk.show(views.verdict(done[-1], tutor.timetable, now))
    if rating := _own_grade(desk):
        done[-1] = tutor.regrade(done[-1], rating)
        desk.show(views.grade(done[-1], tutor.timetable, now))
    desk.show("")


def _answer(desk: Desk, card: "Card") -> str:
    """What the learner answers; where there are options, one of them or nothing."""
    from study.grading import is_choice

    while True:
        given = _typed(desk, _views().prompt(card), (card.answer, *card.accepted))
        if not given or not card.options or is_choice(card, given):
            return given
        desk.note(tr("That is none of the choices; type its letter.", "没有这个选项，请输入选项前的字母。"))


def _own_grade(desk: Desk) -> int | None:
    """1 to 4; None when the learner leaves it at the program's."""
    while True:
        wish = fold(_typed(desk, _views().grade_prompt())).strip()
        rating = _rating_of(wish)
        if rating or not wish:
            return rating
        desk.note(tr("A grade is 1, 2, 3 or 4; Enter goes on.", "评分请输入 1、2、3 或 4；直接回车继续。"))


def _typed(desk: Desk, prompt: str, answers: Sequence[str] = ()) -> str:
    """A line that is no command, unless it is one of the answers. _Leave when it is a command."""
    from study.terminal import command_in

    while True:
        given = repair(desk.question(prompt)).strip()
        if fold(given) in map(fold, answers):
            return given
        if fold(given) in STOP:
            raise _Leave(None)
        try:
            meant = command_in(given)
        except UsageError as error:  # a slip in a command is no answer, either
            desk.note(str(error))
            continue
        if meant:
            raise _Leave(meant)
        return given


def _obey(desk: Desk, meant: "Meant") -> int:
    """The command that ended the quiz."""
    from study.arguments import ShowText, parse

    try:
        args = parse(meant.command, meant.words, in_session=True)
    except ShowText as shown:
        desk.show(str(shown).rstrip("\n"))
        return 0
    return meant.command.run(desk, args)


def _take_answer(desk: Desk, args: Namespace) -> int:
    """quiz --answer ID TEXT, quiz --answer ID --grade good: for programs, and for an answer that came to mind later."""
    given, rating = repair(text_of(args.words) if args.words else ""), args.grade
    if not given and rating is None:
        raise UsageError(tr("Write the answer after the id, or --grade again|hard|good|easy.",
                            "请在编号后面写答案，或用 --grade again|hard|good|easy 自评。"))  # fmt: skip
    graded = desk.assistant.tutor.answer(args.answer, given, rating=rating)
    timetable, now = desk.assistant.tutor.timetable, desk.assistant.storage.now()
    desk.result(_graded_json(graded), lambda: _views().verdict(graded, timetable, now))
    return 0


def _graded_json(graded: Any) -> dict[str, Any]:
    card = graded.card
    shown = ("card_id", "question", "answer", "quote", "document", "page", "page_label")
    return {
        **{name: getattr(card, name) for name in shown},
        "given": graded.given,
        "verdict": graded.verdict,
        "grade": RATINGS[graded.rating - 1],
        "due": card.memory.due.isoformat(),
    }


def _rating_of(text: str) -> int | None:
    """1 to 4, or again, hard, good, easy in either language; None for anything else.

    >>> _rating_of("3"), _rating_of("easy"), _rating_of("困难"), _rating_of("")
    (3, 4, 2, None)
    """
    names = {
        word: number for words in (RATINGS, ("重来", "困难", "良好", "轻松")) for number, word in enumerate(words, 1)
    }
    return names.get(text) or (int(text) if text in ("1", "2", "3", "4") else None)


def grade_type(text: str) -> int:
    rating = _rating_of(fold(text))
    if rating is None:
        raise argparse.ArgumentTypeError(tr(f"again, hard, good, easy, or 1 to 4, not {text!r}",
                                            f"应为 again、hard、good、easy 或 1 到 4，不能是 {text!r}"))  # fmt: skip
    return rating


# ---- Cards ----

ACTIONS = ("list", "edit", "suspend", "resume")


def cards(desk: Desk, args: Namespace) -> int:
    """List them, page by page; or edit, suspend or resume one."""
    if args.action == "list":
        return _list_cards(desk, args)
    if not args.id:
        raise UsageError(tr(f"Which card? cards {args.action} ID; cards lists the ids.",
                            f"哪张卡片？cards {args.action} 编号；cards 会列出编号。"))  # fmt: skip
    tutor = desk.assistant.tutor
    if args.action == "edit":
        card = tutor.edit(args.id, question=args.question, answer=args.answer)
        told = tr("Changed; its due date stays.", "已修改，到期日不变。")
    else:
        card = tutor.set_status(args.id, "suspended" if args.action == "suspend" else "active")
        told = {
            "suspend": tr("Suspended: it will not be asked.", "已停用，不会再考。"),
            "resume": tr("Back among the others.", "已恢复。"),
        }[args.action]
    now = desk.assistant.storage.now()
    desk.result(_card_json(desk, [card])[0], lambda: _views().one_card(card, told, tutor.timetable, now))
    return 0


def _list_cards(desk: Desk, args: Namespace) -> int:
    if args.id:
        raise UsageError(tr(f"cards list shows pages; for page 2: cards list --page 2, not {args.id}.",
                            f"cards list 按页显示；第 2 页请写 cards list --page 2，不能写 {args.id}。"))  # fmt: skip
    assistant = desk.assistant
    document_id = assistant.find_document(args.document).document_id if args.document else None
    table = assistant.tutor.cards
    total = table.count(document_id=document_id)
    pages = max(1, -(-total // CARDS_A_PAGE))
    if args.page > pages:
        raise UsageError(tr(f"There are only {pages} pages.", f"只有 {pages} 页。"))
    listed = table.list(document_id=document_id, limit=CARDS_A_PAGE, offset=(args.page - 1) * CARDS_A_PAGE)
    value = {"cards": _card_json(desk, listed), "total": total, "page": args.page, "pages": pages}
    here, now = {info.document_id for info in assistant.documents()}, assistant.storage.now()
    desk.result(value, lambda: _views().cards(
        listed, total=total, page=args.page, pages=pages, here=here, timetable=assistant.tutor.timetable, now=now,
    ))  # fmt: skip
    return 0


def _card_json(desk: Desk, listed: Sequence["Card"]) -> list[dict[str, Any]]:
    here = {info.document_id for info in desk.assistant.documents()}
    kept = ("card_id", "kind", "question", "answer", "quote", "document", "page", "page_label", "heading_path", "source",
            "status", "created_at")  # fmt: skip
    return [
        {
            **{name: getattr(card, name) for name in kept},
            "options": list(card.options),
            "note_id": card.note_id or None,
            "source_removed": bool(card.document_id) and card.document_id not in here,
            "due": None if card.memory.is_new else card.memory.due.isoformat(),
            "stability": card.memory.stability,
            "difficulty": card.memory.difficulty,
        }
        for card in listed
    ]


# ---- Review ----


def review(desk: Desk, args: Namespace) -> int:
    found = desk.assistant.review(repair(text_of(args.topic)))
    desk.result(_review_json(found), lambda: desk.views.review(found))
    return 0


def _review_json(review: Any) -> dict[str, Any]:
    def remembered(items: Sequence[Any]) -> list[dict[str, Any]]:
        kept = ("concept", "document", "page", "source_removed")
        return [
            {
                "memory_id": item.memory_id,
                "content": item.content,
                "at": item.timestamp.isoformat(),
                **{name: item.metadata[name] for name in kept if name in item.metadata},
            }
            for item in items
        ]

    asked = [{"question": t.question, "asked_at": t.asked_at.isoformat(), "found": t.found} for t in review.asked]
    return {
        "topic": review.topic,
        "asked": asked,
        "noted": remembered(review.noted),
        "known": remembered(review.known),
        "wrong": [{**asdict(mistake), "at": mistake.at.isoformat()} for mistake in review.wrong],
        "sections": [asdict(section) for section in review.sections],
        "gaps": [asdict(section) for section in review.gaps],
        "next_step": review.next_step,
    }


# ---- Exports ----

EXPORTS = ("anki", "markdown", "json")


def export(desk: Desk, args: Namespace) -> int:
    """A deck, a report, or everything; what `import` brings back is json."""
    path = local_path(text_of(args.file)).absolute() if args.file else None
    with desk.waiting(tr("Writing …", "正在写入……")):
        exported = desk.assistant.export(args.kind, path)
    value = {"kind": exported.kind, "file": str(exported.path), "count": exported.count}
    desk.result(value, lambda: _views().exported(exported))
    if args.kind == "markdown" and not has("charts"):
        desk.note(missing("charts"), "dim")
    return 0


# ---- Numbers ----


def stats(desk: Desk, args: Namespace) -> int:
    from study.stats_views import overview

    numbers = desk.assistant.get_stats()
    desk.result(numbers, lambda: overview(numbers))
    return 0


def _views() -> ModuleType:
    from study import learning_views  # brings rich

    return learning_views
