"""Questions from a page or a note by rules, and what keeps a bad question out, whoever made it.

    "Recall is the share of …"           the page defines a term            ____ is the share of …        term
    "Working memory holds …"             or says something of its heading   ____ holds …                  term
    "The half-life is 24 hours."         a number, or a name like BM25      The half-life is ____ hours.  cloze

Each question takes one sentence, whole, and blanks one thing in it; the sentence is the quotation that proves the answer. A
sentence that leans on the one before it ("It is small"), a formula or a caption is no question.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from infrastructure.cards import Draft
from infrastructure.entities import BETWEEN, extract_entities, is_common
from infrastructure.extraction import POINTS_BACK, after_heading
from infrastructure.language import tr, tr_like
from infrastructure.text import STOP_WORDS, STOP_WORDS_ZH, content_tokens, fold, is_cjk, sentences
from study.grading import key

BLANK = "____"
OPTIONS = 4
SHORTEST, LONGEST = 20, 260  # characters of a sentence that can be asked about; a Chinese one counts twice
SHORTEST_REST = 8  # characters after a term, to tell it by
LONGEST_ANSWER = 60
SAME = 0.8  # share of content words from which two questions ask the same


@dataclass(frozen=True)
class Source:
    """A piece of a page, or a note (`note_id`, with its concept as heading_path). start: its offset in the document."""

    text: str
    heading_path: str = ""
    document_id: str = ""
    document: str = ""
    start: int = 0
    page: int | None = None
    note_id: str = ""


@dataclass(frozen=True)
class Find:
    """Something to ask: the sentence [start, end) of a source, what to blank in it, and how good a question that makes.

    kind: "term" for what the sentence defines, "name" for a name in it, "cloze" for a number.
    """

    start: int
    end: int
    sentence: str
    kind: str
    answer: str
    blanked: str
    worth: float
    accepted: tuple[str, ...] = ()


# ---- Sentences that can be asked about ----

_NEW_LINE = re.compile(r"\n\s*\n|\n(?=\s*[•·▪‣◦–*-]\s|\s*\d{1,2}[.)、]\s)")
_REFERENCE = re.compile(
    r"\bet al\b|^\s*[\[(]?\d|arXiv|©|\b(?:vol|pp|v)\.\s|\blink #|,\s*(?:19|20)\d\d\.?$|\(\d{4}\):"
    r"|\b(?:19|20)\d\d[a-z]?[,.)]\s+[A-Z]"
)
_FORMULA = re.compile(r"[=×÷^→←⇒≤≥<>|{}\\∑∫√≈]|https?:|www\.|\.{4}|\d\s*[+*/]\s*\d")
_CAPTION = re.compile(
    r"\s*(?:fig(?:ure)?s?\b|tab(?:le)?s?\b|eq(?:uation)?s?\b|see\b|cf\b|[图表]\s*\d|参见|如[图表])", re.I
)
_BULLET = re.compile(r"\s*(?:[•·▪‣◦–*-]\s+|\d{1,2}[.)、]\s+)?")
_ENDS = re.compile(r"[.。！!](?:[\"'”’」』）)\]]|\[\d+\])*$")


def statements(source: Source) -> Iterator[tuple[int, int]]:
    """Spans of the whole sentences in a source that stand by themselves."""
    cursor = after_heading(source.text, source.heading_path) if not source.note_id else 0
    body_ends = [*(m.start() for m in _NEW_LINE.finditer(source.text, cursor)), len(source.text)]
    for body_end in body_ends:
        for start, end in sentences(source.text[cursor:body_end]):
            start, end = cursor + start, cursor + end
            start += _BULLET.match(source.text[start:end]).end()
            if _stands_alone(source.text[start:end]):
                yield start, end
        cursor = max(cursor, body_end)


def _stands_alone(sentence: str) -> bool:
    long_enough = len(sentence) + sum(map(is_cjk, sentence)) >= SHORTEST and len(sentence) <= LONGEST
    shouted = sum(map(str.isupper, sentence)) > len(sentence) / 4
    if not long_enough or shouted or not _ENDS.search(sentence) or sentence.count("\n") > 4:
        return False
    return not (
        _FORMULA.search(sentence)
        or _REFERENCE.search(sentence)
        or _CAPTION.match(sentence)
        or POINTS_BACK.match(sentence)
    )


# ---- What to blank ----

_BEGINNINGS = """
核心思想 原则 目标 目的 方法 结果 关键 优点 缺点 区别 问题 例子 作用 特点 原因 定义 思路 意义 前者 后者
this that these those there here what which who when where why how it he she they we you i one each every some many most more all
both another other such if since because once until unless whether after before during but and so then now also only not no
first second third next finally however although while
result example idea point problem reason goal answer question way thing part case number
"""
_NO_TERM = frozenset(_BEGINNINGS.split())
_JOINS = re.compile(r"[而但且若当如则此该其每又也因故即本]|.*[则不没]$")
_DEFINES_EN = re.compile(
    r"(?P<article>an?\s|the\s)?(?P<term>[A-Za-z][\w+#-]*(?:\.\w+)*(?:\s[\w+#-]+(?:\.\w+)*){0,3}?)\s*(?:\((?P<gloss>[^()\n]{2,40})\)\s*)?,?\s+"
    r"(?:means|refers\s+to|stands\s+for|denotes|(?P<copula>is|are))\s+(?!\w+ed\b)(?P<noun>an?\b|the\b|one\b|any\b|how\b|when\b)?",
    re.I,
)
_DEFINES_ZH = re.compile(
    r"(?P<article>所谓)?(?P<term>[^，,;=。：:；、？！“”「」《》（）()\n]{2,16}?)\s*(?:（(?P<gloss>[^（）\n]{2,40})）)?\s*"
    r"(?:是指|指的是|的意思是|的定义是|定义为|就是|是一[种个类项门]|(?P<copula>是))(?P<noun>)?"
)
_NUMBER = re.compile(r"(?<![\w.,:/\[(（第“”’\"'-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w,:/\])）-]|\.\d|\s*[章节页]|\s*[（(])")
_AFTER_COUNTER = re.compile(
    r"(?:figs?\.?|figures?|tables?|chapters?|sections?|pages?|eqs?\.?|pp?\.|no\.|图|表|例|式|章|第)\s*$", re.I
)


def finds(source: Source) -> Iterator[Find]:
    """The best thing to ask about each sentence of a source that has one."""
    titles = title_terms(source.heading_path.rpartition(" > ")[2])
    for start, end in statements(source):
        sentence = source.text[start:end]
        found = (
            _definition(sentence, titles)
            or _subject(sentence, titles)
            or _number(sentence)
            or _name(sentence, source.heading_path)
        )
        if found is not None:
            yield replace(found, start=start, end=end)


def title_terms(title: str) -> list[str]:
    """The terms a heading names: "2.1 Working memory / 工作记忆" names two. A sentence, or a list, names none.

    >>> title_terms("2.1 Working memory / 工作记忆"), title_terms("4.3 HyDE, a way to search"), title_terms("5 What to look at")
    (['Working memory', '工作记忆'], ['HyDE'], [])
    """
    parts = re.split(r"\s*[/／|｜:：]\s*|\s+[–—-]\s+|[（(][^）)]*[）)]", _TITLE_NUMBER.sub("", title))
    found = []
    for part in map(str.strip, parts):
        first, *listed = re.split(r"\s*[,，、]\s*", part)
        if is_term(first) and not _COUNTED.match(first) and (not listed or sum(map(str.isupper, first)) > 1):
            found.append(first)
    return found


_TITLE_NUMBER = re.compile(
    r"^\s*(?:第\s*[\d一二三四五六七八九十百]+\s*[章节篇讲课]|(?:chapter|part|section|lecture)\s+\w+|[\dA-Z]{1,2}(?:\.\d+)*[.．]?)[\s:：、]+",
    re.I,
)
_COUNTED = re.compile(r"(?:two|three|four|five|six|seven|eight|nine|ten|several)\b|[一二两三四五六七八九十几]", re.I)


def is_term(text: str) -> bool:
    """Could it be the name of something? Short, without function words, not one of the words everything is called."""
    words = text.split()
    if not (2 <= len(text) <= 40 and len(words) <= 4 and content_tokens(text)) or fold(text) in _NO_TERM:
        return False
    if any(fold(word) in STOP_WORDS or fold(word) in _NO_TERM for word in words):
        return False
    chinese = "".join(filter(is_cjk, text))
    return not chinese or (len(text) <= 14 and not _no_name(text))


def _no_name(text: str) -> bool:
    if BETWEEN.search(text) or is_common(text) or _JOINS.match(text) or text in _NO_TERM:
        return True
    return any(word in text for word in STOP_WORDS_ZH)


def _definition(sentence: str, titles: Sequence[str]) -> Find | None:
    match = _DEFINES_EN.match(sentence) or _DEFINES_ZH.match(sentence)
    if match is None or not is_term(match["term"]):
        return None
    term, gloss = match["term"].strip(), (match["gloss"] or "").strip()
    named = fold(term) in map(fold, titles)
    if match["copula"] and re.match(r"\s*\d", sentence[match.end("copula") :]):
        return None  # "the half-life is 24 hours" tells the number, not the term
    if term.isascii() and match["copula"] and not (named or match["noun"]):
        return None  # "passages are expensive" defines nothing
    told_about = (match["article"] or "").strip().lower() == "the" or (match["article"] and " " not in term)
    if told_about and not named and not any(map(str.isupper, term[1:])):
        return None  # nor does "the result is a new statement"
    worth = 4.0 if named else 2.2 if match["copula"] and not term.isascii() else 3.0
    start, end = match.start("term"), match.end("term")
    if gloss:
        end = sentence.index(gloss, end) + len(gloss) + 1
    blanked = sentence[:start] + BLANK + _without(sentence[end:], term, gloss)
    return Find(0, 0, sentence, "term", term, blanked, worth, (gloss,) if gloss else ())


def _subject(sentence: str, titles: Sequence[str]) -> Find | None:
    """A sentence that begins with what its section is about."""
    for title in titles:
        match = re.match(rf"(?:an?\s|the\s)?({re.escape(title)})(?![A-Za-z0-9]|\s*[,;:，；：、)）-])", sentence, re.I)
        if match and len(sentence) - match.end() >= SHORTEST_REST:
            rest = re.sub(r"^\s*[（(][^（）()]*[）)]", "", sentence[match.end() :])
            return Find(
                0, 0, sentence, "term", match[1], sentence[: match.start(1)] + BLANK + _without(rest, match[1]), 2.5
            )
    return None


def _without(text: str, *terms: str) -> str:
    """The rest of a sentence must not say what was blanked."""
    for term in filter(None, terms):
        text = re.sub(re.escape(term), BLANK, text, flags=re.I)
    return text


def _number(sentence: str) -> Find | None:
    found = [m for m in _NUMBER.finditer(sentence) if not _AFTER_COUNTER.search(sentence[: m.start()])]
    once = [m for m in found if sentence.count(m[0]) == 1 and (len(m[0]) > 1 or m.end() < len(sentence) - 1)]
    if not once or len(found) > 4:
        return None
    best = max(once, key=lambda m: ("." in m[0], len(m[0]), -m.start()))
    return _blank(sentence, best.start(), best.end(), 2.0 if len(best[0]) > 1 else 1.2)


_ACRONYM = re.compile(r"(?=(?:.*[A-Z]){2})[A-Za-z][A-Za-z0-9]*(?:[-/][A-Za-z0-9]+)*[+#]*")
_NO_ACRONYM = re.compile(r"[IVXLC]+|THE|AND|OF|FOR|A", re.I)


def _name(sentence: str, heading_path: str) -> Find | None:
    """A name that the grammar of the sentence does not give away: an acronym, or a term in brackets. What the whole chapter is
    about would be no question."""
    for entity in extract_entities(sentence):
        name = entity.name
        marked = (_ACRONYM.fullmatch(name) and not _NO_ACRONYM.fullmatch(name)) or f"「{name}」" in sentence
        once = sentence.count(name) == 1 and not entity.aliases and name not in heading_path
        if marked and once and len(name) <= 24 and not _AFTER_COUNTER.search(sentence[: sentence.index(name)]):
            at = sentence.index(name)
            return replace(_blank(sentence, at, at + len(name), 1.0), kind="name")
    return None


def _blank(sentence: str, start: int, end: int, worth: float) -> Find:
    return Find(0, 0, sentence, "cloze", sentence[start:end], sentence[:start] + BLANK + sentence[end:], worth)


# ---- Drafts ----

_BROKEN_CHINESE = re.compile(r"(?<=[\u2e80-\u9fff\uff00-\uffef])\s*\n\s*(?=[\u2e80-\u9fff\uff00-\uffef])")


def one_line(text: str) -> str:
    return " ".join(_BROKEN_CHINESE.sub("", text).split())


@dataclass
class Terms:
    """Names that can stand beside a right answer: from outlines, and from what was defined so far."""

    known: dict[str, str] = field(default_factory=dict)  # folded → as it is spelled

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self.known.setdefault(key(name), name)

    def beside(self, answer: str, quote: str, point: str) -> tuple[str, ...]:
        """The answer among three others of its script and about its length, in an order of their own; () without enough."""
        right, said = key(answer), key(quote)
        others = [
            name for folded, name in self.known.items()
            if folded and folded not in said and right not in folded and folded not in right
            and is_cjk(name[0]) == is_cjk(answer[0])
        ]  # fmt: skip
        if len(others) < OPTIONS - 1:
            return ()
        near = sorted(others, key=lambda name: (abs(len(name) - len(answer)) // 4, _mixed(point, name)))
        return tuple(sorted([answer, *near[: OPTIONS - 1]], key=lambda name: _mixed(point, f"at {name}")))


def _mixed(*parts: str) -> str:
    """An order that looks like chance and is the same every time."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def draft_of(found: Find, source: Source) -> Draft:
    """The question as a draft, without its options and its place on a page. A term and a name are asked for once a document,
    everything else once a sentence."""
    about = _mixed(key(found.sentence))[:20] if found.kind == "cloze" else key(found.answer)
    return Draft(
        "term" if found.kind == "term" else "cloze", one_line(found.blanked), one_line(found.answer), found.sentence,
        f"{source.document_id or source.note_id}:{found.kind}:{about}", accepted=found.accepted,
        document_id=source.document_id, document=source.document, page=source.page, heading_path=source.heading_path,
        note_id=source.note_id,
    )  # fmt: skip


def note_draft(note: Source, *, alone: bool) -> Draft | None:
    """A note asked for by its concept; by how it begins, too, unless it is `alone`. None: it has no concept to ask by."""
    concept = note.heading_path
    if not concept or concept == "general":
        return None
    question = tr_like(note.text, "What did you note about “{}”?", "关于「{}」，你记过什么？").format(concept)
    if not alone:
        begins = one_line(note.text)[: max(4, len(note.text) // 6)]
        question += tr_like(note.text, " It begins: “{}…”", "开头是：「{}……」").format(begins)
    return Draft("note", question, note.text, note.text, f"{note.note_id}:note", document_id=note.document_id,
                 document=note.document, page=note.page, heading_path=concept, note_id=note.note_id)  # fmt: skip


# ---- What keeps a question out ----


def refusal(draft: Draft, others: Iterable[Draft], page_text: str) -> str:
    """Why a question is not asked, one clause; "" for a good one. page_text: all of the page (or note) it names."""
    if not draft.question.strip() or not key(draft.answer):
        return tr("it has no question or no answer", "没有问题或没有答案")
    if len(draft.answer) > LONGEST_ANSWER and draft.kind != "note":
        return tr("its answer is too long", "答案太长")
    if draft.options and (problem := _wrong_options(draft)):
        return problem
    if not draft.quote.strip() or key(draft.quote) not in key(page_text):
        return tr("its quotation is not on the page", "引文不在这一页上")
    if key(draft.answer) not in key(draft.quote):
        return tr("its answer is not on the page", "答案不在这一页上")
    if draft.kind != "note" and key(draft.answer) in key(draft.question) and not _is_short(draft):
        return tr("the question says the answer", "题目里已经说出了答案")
    if any(same_point(draft, other) for other in others):
        return tr("it asks the same as another question", "与另一题考的是同一点")
    return ""


def _is_short(draft: Draft) -> bool:
    """A "5" stands in "15", and the "R" of a language in every other word: that gives nothing away."""
    words = {key(word) for word in re.findall(r"[^\W_]+", draft.question)}
    return len(key(draft.answer)) < 4 and key(draft.answer) not in words


def _wrong_options(draft: Draft) -> str:
    folded = [key(option) for option in draft.options]
    if len(set(folded)) < len(folded) or "" in folded:
        return tr("its options are the same", "选项相同")
    if len(folded) < 2:
        return tr("it has a single option", "只有一个选项")
    if key(draft.answer) not in folded:
        return tr("its right option does not exist", "正确选项不存在")
    return ""


def same_point(a: Draft, b: Draft) -> bool:
    """Of one document or note, the same sentence, the same answer on the same page, or nearly the same words."""
    if a.point == b.point:
        return True
    if (a.document_id, a.note_id) != (b.document_id, b.note_id):
        return False
    if a.page == b.page and fold(a.answer) == fold(b.answer):
        return True
    words, others = _words(a.question), _words(b.question)
    return bool(words and others) and len(words & others) >= SAME * len(words | others)


@lru_cache(maxsize=20_000)  # each new question is compared with every card of its document
def _words(question: str) -> frozenset[str]:
    return frozenset(content_tokens(question))


def span_of(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quotation stands in a text: the sentences that hold it, however its spaces and hyphens were copied."""
    wanted, spans = key(quote), sentences(text)
    for first, (start, whole_end) in enumerate(spans):
        if wanted and wanted in key(text[start:whole_end]):
            at = text.find(quote, start, whole_end)
            return (at, at + len(quote)) if at >= 0 else (start, whole_end)
        for _, end in spans[first : first + LONGEST_QUOTE]:
            if wanted and key(text[start:end]).startswith(wanted):
                return start, end
    return None


LONGEST_QUOTE = 3  # sentences
