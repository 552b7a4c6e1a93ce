"""Which words of a text are names of things: rules for Chinese and English, no model, no dictionary.

    quoted terms 「候选池」   acronyms and mixed names BM25, ChromaDB, Cross-Encoder   definitions "HyDE is a …"
    glosses 检索增强生成（RAG）, which also say that both names mean one thing
    and in unspaced text, what stands between function words: 混合检索 | 结合 | BM25 | 和 | 向量检索

Rules miss names and take some phrases for names; that is the price of needing nothing. They never take a whole sentence
for one entity, and never find "RAG" inside "storage".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from infrastructure.graph import Entity, Relation
from infrastructure.text import content_tokens, fold, is_cjk

_TERM = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-+.#/][A-Za-z0-9]+)*(?:\+\+|#)?")
_QUOTED = re.compile(r"[「『“\"《【`]([^」』”\"》】`\n。！？!?；;]{2,30})[」』”\"》】`]")  # terms, not sentences
_GLOSS = re.compile(
    r"([\w\u4e00-\u9fff][\w\u4e00-\u9fff -]{0,29}?)\s*[（(]\s*([A-Za-z][\w .+-]{1,40}|[\u4e00-\u9fff]{2,12})\s*[）)]"
)
_EQUATION = re.compile(
    r"\b([A-Z][A-Za-z0-9]{1,9})\s*[=＝]\s*([A-Z][\w-]*(?: [A-Za-z][\w-]*){0,4}|[\u4e00-\u9fff]{2,12})"
)
_DEFINED_EN = re.compile(
    r"(?:^|[.!?\n]\s*)(?:An?\s|The\s)?([A-Za-z][\w+-]*(?: [\w+-]+){0,3}?) "
    r"(?:is|are|means|refers to) (?:an?|the|how|when|a kind of)\b"
)
# Between the terms of an unspaced sentence stand words like these; what remains between them is a term. Single characters
# that also stand inside words (向量, 对比, 能力, 应用) are left out: cutting there would leave half a term.
BETWEEN = re.compile(
    "结合|使用|采用|利用|通过|进行|可以|需要|包括|包含|支持|基于|以及|擅长|适合|喜欢|讨厌|觉得|认为|关注|负责|解决|提升|减少|增加|如何|什么|怎么|"
    "为什么|用户|问题|问过|完成|没有|不是|我们|你们|他们|的|了|和|与|及|或|是|在|把|被|我|你|他|她|它|这|那|很|也|都|还|就"
)


# Pieces that stand there too and are no names: what one does, when, how much, and how sentences are joined.
_COMMON = """
知道 想要 开始 继续 发现 出现 表示 说明 得到 成为 变成 看到 听到 读完 学完 看完 记得 记住 建议 准备 打算 决定 可能
通常 希望 今天 昨天 明天 现在 如今 以后 以前 之前 之后 时候 时间 期间 年代 世纪 每天 每次 第一 第二 第三 其中 其他
所有 很多 许多 大量 多数 大多数 大部分 部分 一直 已经 仍然 非常 比较 特别 尤其 主要 基本 一般 容易 困难 简单 复杂 重要
关键 必须 必要 不同 相同 相对 相比 更加 方面 情况 东西 地方 事情 内容 形式 范围 意义 有关 相关 根据 按照 对于 关于
由于 因为 因此 所以 如果 尽管 虽然 然而 但是 例如 比如 同时 然后 最终 直接 作为 称为 用于 来自 受到 获得 达到 保持
产生 发生 提供 提出 提高 要求 拥有 接受 进入 显示 变化 变得 任何 另外 人们 自己 大家 无法 能够 实际 特定 重新 一切
举行 组成 形成 建立 影响 占据 强调 描述 规定 展示 证明
"""
_NO_NAMES = frozenset(_COMMON.split())
_NO_BEGINNING = re.compile(r"[一两几每各某另该此其将并]|[被由于以从为有又再也都最更年月日个](?=.$)")
_NO_END = re.compile(r"[的了着过们些个种位项年月日时后前中上下内等一]$")


def is_common(piece: str) -> bool:
    """Whether a few characters say too little to be the name of anything."""
    return piece in _NO_NAMES or bool(_NO_BEGINNING.match(piece) or _NO_END.search(piece))


def extract_entities(text: str) -> list[Entity]:
    """Terms a text speaks of, in order, by rules: quoted terms, acronyms and mixed names, definitions, glosses such as
    检索增强生成（RAG）, and what stands between the function words of an unspaced sentence.

    >>> [entity.name for entity in extract_entities("混合检索结合BM25和向量检索")]
    ['混合检索', 'BM25', '向量检索']
    """
    found: dict[str, Entity] = {}

    def note(name: str, *aliases: str) -> None:
        name = name.strip(" -")
        known = found.get(fold(name))
        if len(name) >= 2 and not name.isdigit() and (known is None or aliases):
            found[fold(name)] = Entity(name, aliases=tuple(a for a in aliases if fold(a) != fold(name)))

    positions: list[tuple[int, str, tuple[str, ...]]] = []
    positions += [(m.start(), _last_term(m[1]), (m[2].strip(),)) for m in _GLOSS.finditer(text) if _last_term(m[1])]
    positions += [(m.start(), m[1], (m[2],)) for m in _EQUATION.finditer(text)]
    positions += [(m.start(), m[1], ()) for m in _QUOTED.finditer(text)]
    positions += [(m.start(1), m[1], ()) for m in _DEFINED_EN.finditer(text) if content_tokens(m[1])]
    positions += [(m.start(), m[0], ()) for m in _TERM.finditer(text) if _is_name(text, m)]
    positions += list(_unspaced_terms(text))
    for _position, name, aliases in sorted(positions, key=lambda found_at: found_at[0]):
        note(name, *aliases)
    return list(found.values())


def _is_name(text: str, match: re.Match[str]) -> bool:
    """An acronym (RAG), a mixed or compound name (BM25, ChromaDB, Cross-Encoder), or a capitalised word inside a sentence."""
    word = match[0]
    capitals = sum(char.isupper() for char in word)
    if capitals >= 2 or (capitals and re.search(r"[0-9+#]", word)):
        return True
    before = text[: match.start()].rstrip()
    return bool(capitals and len(word) > 2 and before and before[-1] not in '.!?。！？:：\n"“' and content_tokens(word))


def _unspaced_terms(text: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Pieces of 2 to 8 characters between function words, in runs of CJK characters."""
    start = 0
    for piece in re.split(rf"({BETWEEN.pattern}|[^\u4e00-\u9fff]+)", text):
        if 2 <= len(piece) <= 8 and all(map(is_cjk, piece)) and not (BETWEEN.fullmatch(piece) or is_common(piece)):
            yield start, piece, ()
        start += len(piece)


def _last_term(words: str) -> str:
    """The term right before a bracket: the last unspaced term, or the last few Latin words."""
    unspaced = [name for _, name, _ in _unspaced_terms(words)]
    if is_cjk(words[-1]):
        return unspaced[-1] if unspaced and words.endswith(unspaced[-1]) else ""
    return words.strip() if len(words.split()) <= 4 else ""


def entities_and_relations(text: str, metadata: Mapping[str, Any]) -> tuple[list[Entity], list[Relation]]:
    """What a memory speaks of: by the rules, by its concept, and what a model has added (metadata "entities", "relations")."""
    found = extract_entities(text)
    named = [metadata["concept"]] if metadata.get("concept") else []
    named += metadata.get("entities", [])
    relations = extract_relations(text, found)
    relations += [Relation(*triple) for triple in metadata.get("relations", [])]
    return [*found, *(Entity(str(name)) for name in named)], relations


_VERBS = {
    "is": r"是(?:一种|一个)?|\bis an?\b|\bis the\b",
    "uses": r"使用|采用|利用|\buses?\b",
    "combines": r"结合|\bcombines?\b",
    "contains": r"包含|包括|\b(?:contains?|includes?)\b",
    "supports": r"支持|\bsupports?\b",
    "depends on": r"基于|依赖|\b(?:based|depends?) on\b",
}
_PREDICATES = {name: re.compile(pattern, re.I) for name, pattern in _VERBS.items()}


def extract_relations(text: str, entities: Sequence[Entity]) -> list[Relation]:
    """subject–predicate–object where a sentence puts one of a few verbs between two entities and little else."""
    relations = []
    for sentence in re.split(r"[。！？；.!?;\n]", text):
        places = sorted(
            ((sentence.find(e.name), e) for e in entities if e.name in sentence), key=lambda place: place[0]
        )
        for (at, subject), (next_at, object_) in pairwise(places):
            between = sentence[at + len(subject.name) : next_at]
            for predicate, pattern in _PREDICATES.items():
                if len(between) <= 12 and pattern.search(between):
                    relations.append(Relation(subject.name, predicate, object_.name))
    return relations
