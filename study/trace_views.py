"""What `/why` shows: plain words first, then the numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from infrastructure.answers import cited_in
from infrastructure.calibration import RELEVANT
from infrastructure.language import tr
from study.blocks import Item, columns, count_of, line, local_time, place, quotation, shortened, titled
from study.memory_book import SHORT_ID
from study.memory_views import kind
from study.views import LONGEST_QUOTE

LONGEST_NAME = 28  # characters of a document's name in the table
LONGEST_TOLD = 70
_PARTS_SHOWN = ("relevance", "words", "cosine", "coverage", "nudge")


def why(told: Mapping[str, Any], *, slash: str) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, sentence in _in_words(told):
        grid.add_row(line(label), line(sentence))
    parts: list[RenderableType] = [grid]
    if told["sources"] and told["passages_found"]:
        parts += ["", _sources(told), line((_legend(told), "dim"))]
    if told["memories"]:
        parts += ["", _memories(told["memories"])]
        parts.append(
            line((tr(f"{slash}memory show ID tells all about one.", f"{slash}memory show 编号 查看详情。"), "dim"))
        )
    if told["unsupported"]:
        title = tr("Sentences that no source supports", "来源不支持的句子")
        sentences = [Item(line("-"), line((sentence, "yellow"))) for sentence in told["unsupported"]]
        parts += ["", *titled(title, sentences)[:-1]]
    return Group(*parts)


# ---- In words ----


def _in_words(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield tr("Asked", "提问"), f"{shortened(told['question'], LONGEST_QUOTE)}  ({local_time(told['asked_at'])})"
    if told["kind"] == "told":
        yield tr("Searched", "检索"), tr("Nothing: this asked nothing.", "没有检索：这不是提问。")
    else:
        yield tr("Searched", "检索"), _search(told)
        for typed, meant in told["slips"]:
            stands_nowhere = tr(
                f"“{typed}” stands nowhere: also “{meant}”", f"「{typed}」没有出现过，也按「{meant}」检索"
            )
            yield tr("Spelled", "拼写"), stands_nowhere
        if told["variants"]:
            yield tr("Also with", "还检索了"), tr("; ", "；").join(map(_wording, told["variants"]))
        yield tr("Answered", "回答"), _answered(told)
    if told["dropped"]:
        numbers = ", ".join(f"[{number}]" for number in told["dropped"])
        yield tr("Taken out", "去掉"), tr(f"{numbers}: no such source", f"{numbers}：没有这个来源")
    if told["partial"]:
        yield (
            tr("Kept", "写入记忆"),
            tr("Only in the transcript: a part is no memory.", "只留在对话记录里：没答完的不写入记忆。"),
        )
    for receipt in told["receipts"]:
        yield tr("Kept", "写入记忆"), _kept(receipt)
    if not told["receipts"] and not told["partial"]:
        yield tr("Kept", "写入记忆"), tr("Only in the transcript.", "只留在对话记录里。")


def _place_read(read_off: Mapping[str, Any]) -> str:
    """The place a question named: "p. 5 of guide.pdf"."""
    document, at = read_off["document"], read_off["at"]
    if read_off["kind"] == "page" and at:
        return tr(f"PDF page {at} of {document}", f"{document} PDF 第 {at} 页")
    if read_off["kind"] == "chapter" and at:
        return tr(f"“{at}” of {document}", f"{document}「{at}」")
    return document or tr("the outlines and numbers of your documents", "资料的目录和页数")


def _search(told: Mapping[str, Any]) -> str:
    if (read_off := told["read_off"]) and not read_off["topic"]:
        place = _place_read(read_off)
        return tr(f"Nothing: the question asks what stands there. Read off {place}.", f"没有检索：直接读取 {place}。")
    if read_off:
        return tr(f"Only in {_place_read(read_off)}.", f"只在 {_place_read(read_off)} 中检索。")
    leans = told["leans"]
    if not leans:
        return tr("As it was asked: the question stands alone.", "按原话检索：问题本身说得完整。")
    pointing = tr("it does not say what it is about", "没有说明对象") if leans == "…" else tr(
        f"“{leans}” points to something said before", f"「{leans}」指向前文"
    )  # fmt: skip
    if not told["background"]:
        return tr(
            f"As it was asked: {pointing}, but nothing fitting was found.",
            f"按原话检索：{pointing}，但没有找到相关的前文。",
        )
    added = tr(", ", "、").join(quotation(text, LONGEST_TOLD) for text in told["background"])
    return tr(
        f"With {added} added, because {pointing}. The question alone was searched, too.",
        f"{pointing}，所以加上了{added}；同时也按原话检索。",
    )


def _wording(variant: Mapping[str, str]) -> str:
    added = variant["added"]
    return shortened(f"+ {added}" if added else variant["text"], LONGEST_TOLD)


def _answered(told: Mapping[str, Any]) -> str:
    if told["partial"]:
        return tr("By the model, until you stopped it.", "由模型回答，中途被你停止。")
    if not told["found"] and told["read_off"] and not told["read_off"]["topic"]:
        return tr("There is no such place, or nothing to read there.", "没有这个位置，或那里没有文字。")
    if not told["found"]:
        best = max((source["relevance"] for source in told["sources"]), default=0.0)
        return tr(
            f"Not found: the best passage has a relevance of {best:.2f}; {RELEVANT:.2f} is needed.",
            f"没有找到：最相关的段落只有 {best:.2f}，至少要 {RELEVANT:.2f}。",
        )
    if told["mode"] == "llm":
        return tr("By the model, from the passages below.", "由模型根据下面的段落回答。")
    if told["llm_failure"]:
        return tr(
            f"By quoting the passages below: the model failed ({told['llm_failure']}).",
            f"引用下面段落的原文：模型没有回答（{told['llm_failure']}）。",
        )
    if not told["sources"] and told["read_off"]:
        return tr("As it stands there.", "照原样列出。")
    if not told["sources"] or (any(memory["used"] for memory in told["memories"]) and not cited_in(told["answer"])):
        return tr("From what you told me.", "根据你说过的话。")
    return tr("By quoting the passages below; no model is set.", "引用下面段落的原文；未设置模型。")


def _kept(receipt: Mapping[str, Any]) -> str:
    what = kind(receipt["memory_type"])
    memory_id = (receipt["memory_id"] or "")[:SHORT_ID]
    return {
        "written": tr(f"Written to {what} memory: {memory_id}", f"写入{what}记忆：{memory_id}"),
        "counted": tr(f"Known already, counted again: {memory_id}", f"早已记过，次数加一：{memory_id}"),
        "superseded": tr(f"Takes the place of an older memory: {memory_id}", f"取代了旧的记忆：{memory_id}"),
        "refused": tr(f"Not written to {what} memory: {receipt['reason']}", f"没有写入{what}记忆：{receipt['reason']}"),
    }[receipt["action"]]


# ---- In numbers ----


def _sources(told: Mapping[str, Any]) -> Table:
    table = columns(
        ("", {"no_wrap": True}),
        (tr("Passage", "段落"), {"overflow": "fold", "ratio": 1}),
        *((name, {"justify": "right", "no_wrap": True}) for name in _leg_names()),
    )
    for source in told["sources"]:
        page = place(source["page"], source["page_label"])
        name = f"{shortened(source['document'], LONGEST_NAME)}{tr(', ', '，')}{page}"
        legs = (_leg(source["legs"].get(leg)) for leg in ("words", "cosine"))
        table.add_row(line((f"[{source['n']}]", "cyan")), line(name), f"{source['relevance']:.2f}", *legs)
    return table


def _leg_names() -> tuple[str, ...]:
    return tr("Relevance", "相关度"), tr("Words", "词语"), tr("Meaning", "语义")


def _leg(value: Sequence[float] | None) -> str:
    """Score and rank: 7.31 (1)."""
    return "–" if value is None else f"{value[0]:.2f} ({value[1]})"


def _legend(told: Mapping[str, Any]) -> str:
    found = told["passages_found"]
    return tr(
        f"Relevance goes from 0 to 1; an answer needs {RELEVANT:.2f}. Words is BM25, meaning the likeness of vectors; "
        f"in brackets the rank among the {count_of(found, 'passage')} found.",
        f"相关度从 0 到 1，达到 {RELEVANT:.2f} 才会作答。词语是 BM25 得分，语义是向量相似度；"
        f"括号里是在找到的 {found} 个段落中的名次。",
    )


def _memories(memories: Sequence[Mapping[str, Any]]) -> Table:
    table = columns(
        (tr("Memory", "记忆"), {"no_wrap": True}),
        (tr("Says", "内容"), {"overflow": "fold", "ratio": 2}),
        (tr("Used", "用到"), {"no_wrap": True}),
        (tr("Score", "得分"), {"justify": "right", "no_wrap": True}),
        (tr("Made up of", "组成"), {"overflow": "fold", "ratio": 1}),
    )
    for memory in memories:
        table.add_row(
            line((memory["memory_id"][:SHORT_ID], "cyan")), line(shortened(memory["content"], LONGEST_TOLD)),
            tr("yes", "是") if memory["used"] else tr("no", "否"), f"{memory['score']:.2f}",
            line((_parts(memory["why"]), "dim")),
        )  # fmt: skip
    return table


def _parts(why: Mapping[str, float]) -> str:
    names = {
        "relevance": tr("relevance", "相关度"),
        "words": tr("words", "词语"),
        "cosine": tr("meaning", "语义"),
        "coverage": tr("words covered", "词语覆盖"),
        "nudge": tr("importance, age, use ×", "重要、新旧、使用 ×"),
    }
    return tr(", ", "，").join(f"{names[part]} {why[part]:.2f}" for part in _PARTS_SHOWN if part in why)
