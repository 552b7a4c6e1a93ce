"""Answering without a model: the sentences of the passages that say most about the question, and how well a text is supported.

Words come first: a sentence that has the question's rare words is chosen for a reason that can be shown. Only where words
cannot meet, across languages, are sentences embedded, and at most six, because each costs as much as a search.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from infrastructure.answer_kinds import amount_asked, answers_nearby, kind_asked
from infrastructure.language import language_of
from infrastructure.opposites import other_side
from infrastructure.sparse import coverage
from infrastructure.text import content_tokens, count_cjk, fold, sentences, tokens

EMBEDDED_SENTENCES = 6
WORDS_MEET = 0.3  # best coverage below this: the words of question and passage do not meet
SHORTEST = 8  # characters; shorter pieces are headings, numbering or remains of a table
FIRST_BONUS = 0.05  # for opening a passage, where authors say what it is about; half of it for the second sentence …
# For the date or the number that is asked for, as far as the sentence is about the question. The best sentence of the right
# XQuAD paragraph then holds the answer more often: dates 0.84 → 0.88 in English, numbers 0.79 → 0.83 and 0.76 → 0.79 in Chinese.
KIND_BONUS = 0.3
OTHER_LANGUAGE = 0.7  # worth of a sentence that the reader may have to translate
TITLE = (
    0.25  # worth of a title, a line of contents or a reference: it names what a text is about, and says nothing of it
)
TITLE_COVERS = 0.5  # a title with less of the question is quoted for no question
SAID = 0.5  # worth of a sentence that the last answer quoted: whoever asks on wants another one, if it is half as good
LONGEST = 400  # characters; longer ones are tables or lost punctuation, cut for the reader


@dataclass(frozen=True)
class Extract:
    """A sentence of source number `source` (from 0), at [start, end) in its text. score: higher is better."""

    source: int
    start: int
    end: int
    text: str
    score: float


def best_sentences(
    sources: Sequence[str],
    weights: dict[str, float],
    *,
    scores: Sequence[float],
    question: str,
    headings: Sequence[str] = (),
    similarity: Callable[[Sequence[str]], Sequence[float]] | None = None,
    said: Sequence[str] = (),
) -> list[Extract]:
    """For each source its best sentence, best first. scores: each source's own, in [0, 1]. No sources: [].

    weights: the question's words with their rarity. headings: each source's heading path; a source that begins with its own
    heading is quoted from behind it. similarity: cosines of some sentences to the question, asked for only where words do
    not meet. said: sentences quoted before, worth less now.
    """
    rated: list[Extract] = []
    for number, text in enumerate(sources):
        heading = headings[number] if headings else ""
        rated += rate_source(number, text, heading, weights, question, scores[number])
    rated = _on_the_side_asked_for(rated, question, headings)
    if similarity is not None and rated and max(extract.score for extract in rated) < WORDS_MEET:
        rated = _by_meaning(rated, question, scores, similarity)
    rated = [replace(extract, score=SAID * extract.score) if extract.text in said else extract for extract in rated]
    best: dict[int, Extract] = {}
    for extract in rated:
        if extract.source not in best or extract.score > best[extract.source].score:
            best[extract.source] = extract
    return sorted(best.values(), key=lambda extract: (-extract.score, extract.source))


def _on_the_side_asked_for(rated: list[Extract], question: str, headings: Sequence[str]) -> list[Extract]:
    """Without sentences about the opposite of what is asked. Where one of those would have been the best answer, only what
    names the side asked for is one: nothing else says that a disadvantage is meant. A heading speaks for its sentences."""
    check = other_side(question)
    if check is None or not rated:
        return rated
    told = {}
    for extract in rated:
        heading = headings[extract.source].split(" > ")[-1] if headings else ""
        told[extract.source, extract.start] = check(f"{heading} {extract.text}")
    best = max(rated, key=lambda extract: extract.score)
    wanted = [extract for extract in rated if not told[extract.source, extract.start][0]]
    if told[best.source, best.start][0]:
        wanted = [extract for extract in wanted if told[extract.source, extract.start][1]]
    return wanted


def rate_source(
    number: int, text: str, heading: str, weights: dict[str, float], question: str, source_score: float
) -> Iterator[Extract]:
    """Every sentence of a source with its score. A question in the text hands its words on to the sentence after it, which
    is where the author answers it."""
    handed_on = 0.0
    references = lists_references(text, heading)
    kind, asked, amount = kind_asked(question), frozenset(weights), amount_asked(question)
    before: list[str] = []
    for place, (start, end) in enumerate(_quotable(text, heading)):
        sentence = text[start:end]
        words = tokens(sentence)
        own = coverage(weights, set(words))
        if references or is_title(sentence):
            if own >= TITLE_COVERS:
                yield Extract(number, start, end, sentence, TITLE * own * _fitness(sentence, question, source_score))
            continue
        score = max(own, handed_on) + _defines(question, sentence) + FIRST_BONUS / (1 + place)
        if kind is not None and answers_nearby(kind, words, asked):
            score += KIND_BONUS * own
        if amount is not None and amount.search(
            fold(sentence)
        ):  # "it" holds 50: what "it" is stands in the sentence before
            score += (1 + KIND_BONUS) * coverage(weights, {*words, *before}) - own
        before = words
        yield Extract(number, start, end, sentence, score * _fitness(sentence, question, source_score))
        handed_on = own if _asks(sentence) else 0.0


def _asks(sentence: str) -> bool:
    return sentence.rstrip("”」'").endswith(("?", "？"))


def _quotable(text: str, heading_path: str) -> Iterator[tuple[int, int]]:
    """Spans of the sentences that may be quoted: not the heading, not a scrap, and no longer than a reader wants."""
    body = after_heading(text, heading_path)
    for start, end in _with_their_items(text[body:]):
        if end - start >= SHORTEST:
            yield body + start, body + min(end, start + LONGEST)


_ITEM_NUMBER = re.compile(r"[:：一-鿿]\s*\n\s*\d{1,2}\.$")  # "优势包括：\n1." is half of what its first item says


def _with_their_items(text: str) -> list[tuple[int, int]]:
    """Spans of sentences; one that ends in the number of a list's item goes on to the end of the item."""
    spans: list[tuple[int, int]] = []
    for start, end in sentences(text):
        if spans and _ITEM_NUMBER.search(text[slice(*spans[-1])]):
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


_UNIT = "(?:[年月日个时点号分秒天周岁元倍种条万亿千米名位]|小时)"
_NUMBERED = re.compile(
    rf"[（(]\d{{1,2}}[)）]|\d{{1,2}}(?:\.\d{{1,2}}){{0,3}}[.、．]?\s+(?=[A-Z一-鿿])(?!{_UNIT})|\d{{1,2}}[.、．](?=[^\W\d_])"
    rf"|\d{{1,2}}(?:\.\d{{1,2}}){{1,3}}(?=[一-鿿])(?!{_UNIT})|第[一二三四五六七八九十\d]{{1,3}}[章节篇部]|[一二三四五六七八九十]{{1,3}}[、．]"
    r"|(?i:chapter|section|table|figure|fig\.) \d|[图表] ?\d"
)
# The dots from a title to its page number, or what cutting into sentences left of them.
_LEADERS = re.compile(r"(?:[.．·•…‥]\s*){3,}\d{0,4}$|\s[.．·]$|…+$")
_REFERENCE = re.compile(
    r"\[\d{1,3}\] ?(?-i:[A-Z][\w'-]+,? [A-Z]\b|[A-Z]\. ?[A-Z]|[一-鿿]{2,4}[,，.．])"
    r"|.*(?:\barxiv(?: preprint|:)|\bdoi(?:\.org|:)|\bIn Proceedings of\b|, pp\. ?\d|\[[JMCD]\])",
    re.I | re.S,
)
_REFERENCES = re.compile(r"\b(?:references|bibliography|works cited)$|参考(?:文献|资料)$", re.I)
_SENTENCE_ENDS = re.compile(r"[。！？；.!?;:：][\"'”’」』）)\]]*$")
TITLE_WORDS = 12  # tokens; a numbered line that is longer is an item of a list, and says something


def is_title(sentence: str) -> bool:
    """A numbered title, a line of a table of contents, a reference, or figures without words: nothing that answers.

    >>> is_title("2 Related Work"), is_title("2.1 过拟合 . . . 23"), is_title("2. Recall counts the evidence.")
    (True, True, False)
    """
    line = " ".join(sentence.split())
    if _REFERENCE.match(line) or sum(map(str.isalpha, line)) < len(line) / 5:
        return True
    numbered = _NUMBERED.match(line)
    if numbered is None:
        return False
    if _LEADERS.search(line):
        return True
    title = line[numbered.end() :]
    size = len(title.split()) + count_cjk(title)
    return not _SENTENCE_ENDS.search(line) and size <= TITLE_WORDS and not _DEFINITION.search(fold(title))


def lists_references(text: str, heading_path: str) -> bool:
    """Is it a part of the list of references? By its heading, or by three entries."""
    return bool(_REFERENCES.search(heading_path)) or len(_ENTRY.findall(text)) >= 3


_ENTRY = re.compile(r"^\[\d{1,3}\] ", re.M)


def after_heading(text: str, heading_path: str) -> int:
    """Offset behind the heading lines a text begins with; 0 when it begins with none.

    >>> after_heading("5.1 Metrics\\nRecall counts.", "5 Evaluation > 5.1 Metrics")
    12
    """
    titles = "".join(tokens(heading_path))
    offset = 0
    for line in text.split("\n"):
        words = "".join(tokens(line.lstrip("# ")))
        if words and words not in titles:
            break
        offset += len(line) + 1
    return min(offset, len(text))


def _fitness(sentence: str, question: str, source_score: float) -> float:
    """What a sentence is worth as an answer, whatever its words: a good passage's counts for a third more, one in another
    language, one that points at the sentence before it, or one that asks itself for less."""
    worth = (2 + source_score) / 3
    worth *= 1.0 if language_of(sentence) == language_of(question) else OTHER_LANGUAGE
    worth *= 0.8 if POINTS_BACK.match(sentence) else 1.0
    return worth * (0.3 if _asks(sentence) else 1.0)


def _by_meaning(rated: Sequence[Extract], question: str, scores: Sequence[float], similarity) -> list[Extract]:
    """The first sentences of the best sources by cosine, those in the question's language first; the rest stay below."""
    spoken = language_of(question)
    order = sorted(rated, key=lambda e: (-scores[e.source], e.source, language_of(e.text) != spoken, e.start))
    chosen = order[:EMBEDDED_SENTENCES]
    cosines = dict(zip(((e.source, e.start) for e in chosen), similarity([e.text for e in chosen]), strict=True))
    return [
        replace(e, score=(1 + cosines[e.source, e.start]) * _fitness(e.text, question, scores[e.source]))
        if (e.source, e.start) in cosines
        else e
        for e in rated
    ]


POINTS_BACK = re.compile(
    r"(?:这|该|此|它|其|上述|因此|但是|而且|this |these |it |they |that |such |however|therefore|thus )", re.I
)
# How a question asks what something is, and what stands between a thing and its definition.
_ASKS_WHAT_IT_IS = re.compile(
    r"\bwhat (?:is|are)\b|\bdefine\b|\b(?:meaning|definition|full (?:name|form)) of\b"
    r"|\bwhat (?:do|does|did)\b(?=.*\b(?:mean|denote|stand for|refer to)\b)|\b(?:mean|denote|stand for|refer to)\W*$"
    r"|什么[是叫]|(?:所?指的?)?是什么(?:意思)?|指的?什么|什么意思|(?<!有)意思|含义|定义|[全简]称|缩写"
)
_DEFINITION = re.compile(
    r"\b(?:is|are|means?|denotes?|stands? for|refers? to|short for|for short)\b"
    r"|是|指(?![标数针令导出])|表示|[称叫][为作做]|[全简]称|缩写"
)


def subject_terms(question: str) -> list[str]:
    """The content words of what is asked about. Those that only ask for its definition would lead to any text with 意思 in it.

    >>> subject_terms("RAG 是什么意思？"), subject_terms("How fast is HyDE?")
    (['rag'], ['fast', 'hyde'])
    """
    return content_tokens(_ASKS_WHAT_IT_IS.sub(" ", fold(question))) or content_tokens(question)


def _defines(question: str, sentence: str) -> float:
    """A bonus for "X is …", "X stands for …" or "…，简称 X" when the question asks what X is."""
    if not _ASKS_WHAT_IT_IS.search(fold(question)):
        return 0.0
    terms = subject_terms(question)
    start = set(tokens(sentence[:40]))
    is_one = _DEFINITION.search(fold(sentence[:80]))
    return 0.3 if is_one and terms and all(term in start for term in terms) else 0.0


def support(sentence: str, sources: Sequence[str]) -> float:
    """Share in [0, 1] of a sentence's content words that one of the sources has; 1 for a sentence without any.

    >>> support("Recall counts the evidence", ["recall is the share of evidence that was found"])
    0.6666666666666666
    """
    words = set(content_tokens(sentence))
    if not words:
        return 1.0
    return max((len(words & set(tokens(source))) / len(words) for source in sources), default=0.0)
