"""Is a question answered by reading a place of a document? A page, a chapter, the whole of it, or its table of contents.

    fold, drop courtesies → the document becomes D, the page or chapter X → the whole of what is left has to fit a form

"What is on page 5?" becomes "what is on X" and is read off; "What is the date on page 5?" and "What does page rank mean?" fit
no form and are searched for. Nothing is looked up here: readoff.py knows the documents.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from infrastructure.amounts import NUMBER_WORDS, number
from infrastructure.text import fold

THIS_DOCUMENT = "\ue000"  # what a document's name in a question is replaced by
LAST, NEXT, PREVIOUS = "last", "next", "previous"


@dataclass(frozen=True)
class Place:
    """kind: page, chapter, document, outline (headings with pages), pages or chapters (how many there are).

    number: "5", "2.1", "iv", LAST, NEXT or PREVIOUS; "" where none is needed. topic: what is asked of that place, "" for all
    of it. pdf: the n-th page of the file is meant, whatever is printed on it. bare: "summarize", and not what.
    """

    kind: str
    number: str = ""
    topic: str = ""
    pdf: bool = False
    bare: bool = False


# ---- Numbers ----

_WORDS = list(NUMBER_WORDS)[1:13]  # "one" to "twelve"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_NTH = {word: n for n, word in enumerate(_ORDINALS.split(), start=1)}
_ROMAN = dict(zip("ivxlc", (1, 5, 10, 50, 100), strict=True))


def number_of(word: str) -> int | None:
    """The number a folded word stands for: figures, English words, roman or Chinese numerals; None for anything else.

    >>> [number_of(word) for word in ("12", "third", "iv", "十二", "一百零三", "一〇三", "many")]
    [12, 3, 4, 12, 103, 103, None]
    """
    if word.isdecimal():
        return int(word)
    if word in _NTH:
        return _NTH[word]
    if re.fullmatch("[ivxlc]+", word):
        values = [_ROMAN[char] for char in word]
        following = [*values[1:], 0]
        return sum(value if value >= after else -value for value, after in zip(values, following, strict=True))
    return int(number(word)) if word in _WORDS or re.fullmatch(_HAN_NUMBER, word) else None


# ---- The document, and the place, as they are written ----

_NOUN = "(?:document|doc|paper|pdf|file|book|textbook|article|report|guide|thesis|text|material)"
_NOUN_ZH = "(?:文档|文件|论文|报告|文章|资料|书|pdf|教材|指南|材料|讲义|手册|课件)"
# "My thesis" is what the learner writes, and no document here.
_DOCUMENT = re.compile(
    rf"\bmy (?:document|doc|pdf|file)\b|\b(?:this|the|that)(?: whole| entire| loaded| newest| latest| uploaded)? {_NOUN}\b(?!-)"
    rf"|我的(?:文档|文件|资料|pdf)|(?:这一?|该|那|本|整)[份篇本个部]?{_NOUN_ZH}|[全本]文(?!件)|[全本]书"
)
_HAN_NUMBER = "[零〇一二两三四五六七八九十百]{1,5}"
_ORDINAL = "|".join(_NTH)
_FIGURES_OR_HAN = rf"\d{{1,4}}|{_HAN_NUMBER}"
_SECTION = r"\d{1,3}(?:\.\d{1,3}){0,4}"
_STEPS = {
    **dict.fromkeys(("next", "following", "下一", "下"), NEXT),
    **dict.fromkeys(("previous", "上一", "上"), PREVIOUS),
    **dict.fromkeys(("last", "final", "最后一", "末"), LAST),
}
# (kind, form); the groups are the numbers, a second one is the section in a chapter.
_PLACES = (
    (
        "page",
        re.compile(
            r"\b(?:the )?(?:page|pg\.?|p\.) ?(?:no\.? ?|number )?"
            rf"(\d{{1,4}}|[ivx]{{1,5}}|{'|'.join(_WORDS)})\b(?![.%]\d)"
        ),
    ),
    ("pdf", re.compile(r"\bpdf page ?(\d{1,4})\b|\bpdf ?的?第 ?(\d{1,4}) ?页")),
    ("page", re.compile(rf"第({_FIGURES_OR_HAN})页|\b(?:the )?({_ORDINAL}|next|following|previous|last|final) page\b")),
    ("page", re.compile(r"(下一|上一|最后一|末)页")),
    ("cover", re.compile(r"\bthe (?:cover|title) page\b|\bthe cover\b|首页|封面")),
    (
        "chapter",
        re.compile(
            rf"(?:\b(?:the )?(?:chapter|chap\.?|ch\.|section|sect?\.|part) ?|§ ?)"
            rf"({_SECTION}|[ivx]{{1,5}}|{'|'.join(_WORDS)})\b(?![.%]\d)"
        ),
    ),
    ("chapter", re.compile(rf"\bthe ({_ORDINAL}|next|following|previous|last|final) (?:chapter|section)\b")),
    ("chapter", re.compile(rf"第({_FIGURES_OR_HAN})[章篇讲](?:的?第({_FIGURES_OR_HAN})小?节)?")),
    ("chapter", re.compile(rf"第({_SECTION}|{_HAN_NUMBER})(?:小?节|部分|章)|(\d{{1,3}}(?:\.\d{{1,3}}){{1,4}})小?节")),
    ("chapter", re.compile(r"(下一|上一|最后一)章")),
)  # fmt: skip


def _placed(text: str) -> tuple[str, str, str]:
    """(text with X for the first place named in it, its kind, its number); the kind is "" when none is named."""
    found = [(kind, match) for kind, form in _PLACES if (match := form.search(text))]
    if not found:
        return text, "", ""
    # "pdf page 5" is also a "page 5": what begins first, and of these what is longest, is what was meant
    kind, match = min(found, key=lambda place: (place[1].start(), -place[1].end()))
    numbers = [_number(word) for word in match.groups() if word]
    return f"{text[: match.start()]}X{text[match.end() :]}", kind, ".".join(numbers) or "1"


def _number(word: str) -> str:
    if word in _STEPS:
        return _STEPS[word]
    return word if "." in word or re.fullmatch("[ivxlc]+", word) else str(number_of(word))


# ---- What is asked of it ----

_SAYS = (
    r"(?:say|contain|cover|discuss|describe|explain|show|include|have|teach|tell|tell me|tell us|talk about|deal with)"
)
_SHORT = "(?:brief |short |quick |concise )?"
_SUMMARY = rf"{_SHORT}(?:summary|overview|contents?|text|gist|(?:main|key|important) (?:points?|ideas?))"
_STANDS = "(?:there |written |said |shown |discussed |covered |described |explained )?"
_PARTS = "(?:主要|大概|大致|具体|核心)?(?:内容|要点|重点|大意|摘要|概要|主题|主旨|中心思想)"
_DO = "(?:总结|概括|概述|归纳|小结|梳理|介绍|解释|讲解|讲讲|说说|讲|读|看看?|打开|显示)(?:一?下)?"
_VERB = "(?:讲|说|写|介绍|谈|论述|讨论|描述|提)"
_IN = "(?:里面?|中|上面?|当中)?"
_MAINLY = "(?:主要|大概|大致|具体|都|到底|究竟)*"
_WHAT = "(?:些?什么|哪些|啥)"


def _forms(place: str) -> list[str]:
    """How the contents of a place are asked for, be it a page, a chapter or the document. Each has to fit as a whole."""
    return [
        rf"what(?: is|'s| are| stands?)? {_STANDS}(?:on|in|at) {place}",
        rf"what(?: is|'s| are) (?:the )?(?:topic|subject|theme|purpose|{_SUMMARY}) of {place}",
        rf"what does {place} {_SAYS}|what(?: is|'s| was)? {place} (?:is )?(?:all )?about|(?:what|how) about {place}",
        rf"what (?:can|do|will) (?:i|you|we) (?:find|read|learn|see) (?:on|in|from) {place}",
        rf"(?:summari[sz]e|sum up|show(?: me)?|read|explain|describe|outline|open|introduce) {place}",
        rf"tell me (?:something )?about {place}",
        rf"(?:(?:give|show|write)(?: me| us)? )?(?:an? |the )?{_SUMMARY} of {place}",
        rf"{_DO}{place}(?:的?{_PARTS})?|{place}(?:总结|概括|概述)(?:一?下)?",
        rf"{place}的?{_PARTS}(?:是|有|都有|包括)?{_WHAT}?",
        rf"{place}{_IN}{_MAINLY}是?(?:{_VERB}|关于|有关)(?:到?了|的|到|过)?是?{_WHAT}?(?:内容|东西|方面|问题|主题)*的?",
        rf"{place}{_IN}{_MAINLY}(?:有|包含|包括|涉及)了?{_WHAT}(?:内容|东西)?",
    ]


_TOPIC = [
    rf"what does X {_SAYS} (?:about|on|of|regarding) (?P<topic>.+)",
    r"what (?:is|does it|does D|do they) (?:said|say|written|write|explained) (?:about|on) (?P<topic>.+?) (?:on|in) X",
    r"what (?:is|does it) (?:said|say|written) (?:on|in) X about (?P<topic>.+)",
    r"(?:on|in) X,? what (?:is|does it) (?:said|say|written) about (?P<topic>.+)",
    rf"X{_IN}(?:关于|对于?|就|有关)(?P<topic>.+?)(?:方面|的?部分)?是?(?:怎么|如何|怎样)?{_VERB}(?:到?了|到|过)?(?:{_WHAT}|的)(?:内容)?",
    rf"X{_IN}是?(?:怎么|如何|怎样){_VERB}(?:到|述)?(?P<topic>.+?)的?",
]
_OF_D = "(?: (?:of|in|from) D)?"
_HAVE = (
    r"(?: (?:does|do) (?:it|D|they) (?:have|contain)| (?:are|is) (?:there|it|D)(?: in (?:it|total|D))?| in (?:it|D))"
)
_OWNER = rf"(?:D|它|目录)?{_IN}的?"
_HEADINGS = "(?:chapters?|sections?|headings|chapter (?:list|titles)|chapters and sections)"
_KINDS = {
    "document": [*_forms("D"), "D是什么", "what(?: is|'s) D"],
    "pages": [
        rf"how many pages(?:{_HAVE})?|how long is D|(?:what is )?(?:the )?(?:number of pages|page count){_OF_D}",
        rf"{_OWNER}(?:一共|总共|共)?有?(?:多少|几)页|{_OWNER}(?:总)?页数是?(?:多少)?",
    ],
    "chapters": [
        rf"how many (?:chapters|sections)(?:{_HAVE})?|(?:what is )?(?:the )?number of (?:chapters|sections){_OF_D}",
        rf"{_OWNER}(?:一共|总共|共)?[有分]?(?:多少|几)个?(?:章节|章|节)",
    ],
    "outline": [
        r"(?:(?:(?:list|show|give|display|print)(?: me)? )?(?:all )?(?:the |its )?|what (?:is|are) (?:the |its ))"
        rf"(?:table of contents|toc|outline|{_HEADINGS}){_OF_D}",
        rf"what(?: is|'s) in the (?:table of contents|toc|outline){_OF_D}|(?:what|which) (?:chapters|sections|headings){_HAVE}",
        r"(?:how is D (?:structured|organi[sz]ed)|(?:what is )?the structure of D)",
        rf"(?:列出|列一?下|给出|看看?|看一?下|显示|展示|打开|给我看)?{_OWNER}(?:所有|全部)?(?:章节|目录|大纲|提纲)(?:列表|结构|标题)?"
        rf"{_IN}(?:都?有|是|包含|包括)?(?:{_WHAT}|怎样的|如何)?(?:内容|章节)?",
        rf"{_OWNER}(?:一共|总共|都)?[有分](?:哪些|哪几个?)(?:章节|章|节)|D的?结构(?:是?什么样?|怎样|如何)?",
    ],
}  # fmt: skip
_SUMMARIZE = [
    rf"summari[sz]e(?: it| everything)?|sum it up|(?:give me )?(?:an? |the )?{_SHORT}(?:summary|overview)|tl;?dr",
    "(?:总结|概括|概述|归纳|小结)(?:一?下)?(?:全部|主要|大致)?(?:内容|要点|重点)?",
]


def _any_of(forms: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{form})" for form in forms))


_ABOUT_X = _any_of([*_forms(f"(?:D(?:的|,|, )?)?X{_OF_D}"), f"(?:D的?)?X{_OF_D}"])
_TOPIC_OF_X = [re.compile(f"(?:D的?)?{form}".replace("X", f"X{_OF_D}", 1)) for form in _TOPIC]
_WHOLE = {kind: _any_of(forms) for kind, forms in _KINDS.items()}
_BARE = _any_of(_SUMMARIZE)

_SPACE_IN_CHINESE = re.compile(r"(?<=[^\x00-\x7f])\s+|\s+(?=[^\x00-\x7f])")
_COURTESY = re.compile(
    r"^(?:(?:please|pls|ok(?:ay)?,?|and|then|so|now|also|hi,?|hello,?|(?:can|could|would|will) you(?: please)?"
    r"|tell me(?= what)|i(?: would|'d) like to know) )+"
    r"|^(?:请问?|麻烦你?|帮(?:我|忙)|给我(?!看)|你?(?:能不能|可以|能)|那么?|然后|再|接着|我想(?:知道|看|了解))+"
)
_ENDING = re.compile(r"(?:[\s?.!,;:。!？?]|(?<=[^\x00-\x7f])[呢吗吧啊呀]| please| for me| briefly| in short)+$")


def place_in(question: str) -> Place | None:
    """The place whose contents a question asks for; None when it does not fit as a whole. A document's name has to be
    replaced by THIS_DOCUMENT before.

    >>> place_in("What is on page 5?"), place_in("第三章关于遗忘讲了什么？").topic, place_in("What does page rank mean?")
    (Place(kind='page', number='5', topic='', pdf=False, bare=False), '遗忘', None)
    """
    text = _plain(question)
    if _BARE.fullmatch(text):
        return Place("document", bare=True)
    for kind, forms in _WHOLE.items():
        if forms.fullmatch(text):
            return Place(kind)
    text, named, number = _placed(text)
    if not named:
        return None
    kind = "chapter" if named == "chapter" else "page"
    found = Place(kind, number, pdf=named in ("pdf", "cover"))
    if _ABOUT_X.fullmatch(text):
        return found
    topic = next((match["topic"] for form in _TOPIC_OF_X if (match := form.fullmatch(text))), None)
    return None if topic is None else Place(kind, number, topic.strip(), found.pdf)


def _plain(question: str) -> str:
    """Folded, without courtesies, spaces in Chinese and the last mark; documents are D."""
    text = _SPACE_IN_CHINESE.sub("", " ".join(fold(question).replace(THIS_DOCUMENT, "D").split()))
    return _ENDING.sub("", _COURTESY.sub("", _DOCUMENT.sub("D", text)))
