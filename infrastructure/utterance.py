"""What kind of thing was said: a question that leans on what came before, a correction, something to remember, a secret.

Rules for Chinese and English. They decide what is *not* done: a question that stands alone is not rewritten, a passing wish is
not kept, a secret is never stored. So each rule would rather miss than take an innocent sentence for something else.
"""

import re
from dataclasses import dataclass

from infrastructure.text import content_tokens, fold, sentences


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


# ---- Does a question lean on the conversation? ----

_POINTING = _any(
    r"^(?:那么?|然后|所以|还有|接着|另外)(?!里的|些年)",
    r"刚才|刚刚|上面|前面(?:说|提|讲|的)|之前(?:说|提|讲)|你说的|上一[个条点问轮]",
    r"这[个些种样点条]|那[个些种样点条]|它们?|后者|前者|两者|二者",
    r"第[一二三四五六七八九十\d]+[个点条种](?!章|节|页)",
    r"我(?:的|这个)(?=实验|项目|系统|论文|问题)",
    r"^(?:and|but|so|then|also)\b|^(?:what|how) about\b|^why(?: not)?\s*\?*$|^how so\b|^(?:for )?example\b|^such as\b|^more\b",
    r"\b(?:it|its|they|them|their|these|those|the former|the latter|the above)\b|\bthis\b(?! is\b)",
    r"\bthe (?:first|second|third|last|other) (?:one|point|option|method|approach|step)\b",
    r"\b(?:you (?:just )?said|you mentioned|just now|earlier)\b",
    r"\bthat(?: (?:one|way|method|approach|idea|metric|problem|case|part|step))?(?:\s*[?.!,]|$)",
    r"\b(?:is|was|does|do|did|can|about|why|like) that\b",
)
# "it" that points at nothing, or at a name in the same question; "this book"; words that only look like pointing.
_NOT_POINTING = _any(
    r"\b(?:is|was|will|would|can|does|should) it (?:be )?(?:possible|necessary|better|best|good|bad|worth|true|important|"
    r"common|ok|okay|safe|useful|easy|hard|difficult|mean|make sense|matter|take)\b",
    r"\bwhat (?:is|does) it (?:called|mean to)\b|\bit is (?:said|known)\b|it's worth",
    r"\b(?:how|what) (?:is|does) (\w[\w-]*) .*\b(?:its|it|their)\b",
    r"\bthis (?:book|document|paper|pdf|chapter|file)\b|这(?:本书|篇|份|个文档|个文件|一章|章)",
    r"这个词|这些年|那些年|这样一来",
)
SHORTEST_ALONE = 2  # content tokens; "为什么？" and "怎么优化？" say too little to be searched for


def leans_on_context(question: str) -> str:
    """The words that point outside the question, "…" when it says too little by itself, "" when it stands alone.

    >>> leans_on_context("那这个怎么优化？"), leans_on_context("What is HyDE?"), leans_on_context("the second one?")
    ('那', '', 'the second one')
    """
    text = _NOT_POINTING.sub(" ", fold(question)).strip()
    pointing = _POINTING.search(text)
    if pointing:
        return pointing[0].strip(" ?.!,")
    return "…" if len(content_tokens(question)) < SHORTEST_ALONE and not _names_something(question) else ""


def _names_something(question: str) -> bool:
    """A single term is a topic: "HyDE?", "幻觉". A bare verb or question word is not: "怎么优化", "why"."""
    if re.search(r"[A-Z]{2}|[A-Z][a-z]+[A-Z]|\d", question):
        return True
    return bool(content_tokens(question)) and not re.search(r"怎么|如何|为什么|\b(?:why|how)\b", fold(question))


_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5}
_ORDINAL = re.compile(r"\bthe (first|second|third|fourth)\b|第([一二三四五]|\d)[个点条种]", re.I)


def ordinal(question: str) -> int | None:
    """Which of several things is meant: "the second one" → 2; None when no place is named."""
    match = _ORDINAL.search(fold(question))
    if match is None:
        return None
    word = (match[1] or match[2]).lower()
    return int(word) if word.isdigit() else _ORDINALS[word]


# ---- Corrections ----

_CORRECTION = re.compile(
    r"^\s*(?:不对|不是的|错了|你错了|说错了|纠正一下|更正|更正一下|no|nope|wrong|that's wrong|that is wrong|not quite|actually|"
    r"correction)\s*[,，:：。.!！;；]\s*(?:it's actually|actually|其实|实际上|应该|正确的)?\s*",
    re.I,
)
_SHOULD_BE = re.compile(r"^(?:应该是|应当是|应为|而是|是|it is|it's|it should be|should be)\s*[:：]?\s*", re.I)


def correction(text: str) -> str | None:
    """What the learner says is right, when a text corrects the last answer; None when it is no correction.

    >>> correction("不对，应该是 24 小时"), correction("No, it is 24 hours."), correction("No way to do this?")
    ('24 小时', '24 hours.', None)
    """
    match = _CORRECTION.match(text)
    if match is None or re.search(r"[?？]\s*$|吗[?？]?\s*$", text):
        return None
    right = _SHOULD_BE.sub("", text[match.end() :]).strip()
    return right or None


# ---- Statements about the learner ----


@dataclass(frozen=True)
class Statement:
    """Something the learner said, worth a memory. kind: "fact" (lasting), "event" (done), "wish" (for now only)."""

    text: str
    kind: str


_REMEMBER = _any(
    r"^\s*(?:请|请你|帮我)?(?:记住|记下|记一下|记着)\s*[:：,，]?\s*",
    r"^\s*(?:please )?(?:remember|note)(?: that| down)?\s*[:：,]?\s+",
)
_PREFERENCE = _any(
    r"我(?:更|最|比较|不太|不)?(?:喜欢|偏好|关心|关注|习惯|希望|想要|擅长|讨厌)|我(?:叫|是一[名个])",
    r"我的(?:名字|目标|专业|项目|实验|论文|导师|考试|课题|水平|母语)[^?？]{0,20}(?:是|叫|在)",
    r"\bi (?:really )?(?:prefer|like|love|dislike|hate|care about|want|need|am an?|am preparing|study|work)\b",
    r"\bmy (?:name|goal|major|project|experiment|thesis|exam|level|favou?rite [\w ]+) (?:is|are)\b",
)
_EVENT = _any(
    r"我(?:已经|刚|刚刚|今天|昨天)?(?:完成|做完|学完|看完|读完|对比过|试过|跑完|跑了|实现|复习)了?",
    r"\bi(?:'ve| have)? (?:just )?(?:finished|completed|read|compared|tried|tested|implemented|reviewed|passed)\b",
)
_FOR_NOW = _any(
    r"这次|这一次|今天|现在先|暂时|先(?:别|不|用)|眼下|临时|本轮|这会儿",
    r"\b(?:for now|this time|today|just now|temporarily|for the moment|right now|tonight)\b",
)
_QUESTION = _any(
    r"[?？]|吗\s*[。.]?$|呢\s*[。.]?$|什么|怎么|如何|为什么|哪[个些里种]|多少|是否",
    r"^(?:what|why|how|when|where|who|which|is|are|do|does|can|could|should|please explain)\b",
)


def statements(text: str) -> tuple[list[Statement], str]:
    """What a text tells about the learner, and the question that is left (all of it when nothing is told).

    >>> statements("我更关心真实指标。那下一步怎么优化？")
    ([Statement(text='我更关心真实指标。', kind='fact')], '那下一步怎么优化？')
    """
    told: list[Statement] = []
    rest: list[str] = []
    for start, end in sentences(text):
        sentence = text[start:end]
        found = _statement(sentence)
        if found is None:
            rest.append(sentence)
        else:
            told.append(found)
    return (told, " ".join(rest)) if told else ([], text)


def _statement(sentence: str) -> Statement | None:
    asked_to = _REMEMBER.match(sentence)
    if asked_to and len(sentence) > asked_to.end() and not sentence.rstrip().endswith(("?", "？")):
        return Statement(sentence[asked_to.end() :].strip(), "fact")
    if _QUESTION.search(fold(sentence)):
        return None
    if _PREFERENCE.search(sentence):
        return Statement(sentence, "wish" if _FOR_NOW.search(sentence) else "fact")
    return Statement(sentence, "event") if _EVENT.search(sentence) else None


# ---- Pages and instructions in a question ----

_PAGE = _any(
    r"\b(?:on|in|at|of|see)?\s*(?:the )?(?:pdf )?(?:page|p\.)\s*(?:no\.?\s*)?(\d{1,4})\b(?!\s*(?:pages|%|\.\d))",
    r"第\s*(\d{1,4})\s*页",
)
_NAMED_PAGE = {
    1: _any(r"\b(?:first|front|title|cover) page\b|\bcover\b|第一页|首页|封面"),
    2: _any(r"\bsecond page\b|第二页"),
    3: _any(r"\bthird page\b|第三页"),
    -1: _any(r"\b(?:last|final) page\b|最后一页|末页"),
}


def page_named(question: str) -> int | None:
    """The page a question points to, 1-based; −1 for the last one, None when it names none.

    >>> page_named("What is the date on page 14?"), page_named("封面上写了什么？"), page_named("how many pages are there?")
    (14, 1, None)
    """
    match = _PAGE.search(question)
    if match:
        return int(match[1] or match[2]) or None
    return next((page for page, pattern in _NAMED_PAGE.items() if pattern.search(question)), None)


_INSTRUCTION = _any(
    r"^(?:please )?(?:format|round|give|write|answer|return|respond|express|the answer should|your answer should|use)\b.*"
    r"\b(?:answer|integer|decimals?|format|formatted|list|json|words?|sentences?|python|yyyy|percent|english|chinese)\b",
    r"^(?:请)?(?:用|以).{0,20}(?:回答|作答|表示|列出)$|^(?:请)?保留.{0,6}小数|^(?:回答|答案)(?:控制在|不超过|用|请)",
)


def without_instructions(question: str) -> str:
    """The question without sentences that only say how to answer; all of it when nothing else is left.

    >>> without_instructions("What is the date? Format your answer as YYYY-MM-DD.")
    'What is the date?'
    """
    parts = [question[start:end] for start, end in sentences(question.replace("?Round", "? Round"))]
    kept = [part for part in parts if not _INSTRUCTION.search(part.strip(" .。"))]
    return " ".join(kept) if kept and len(kept) < len(parts) else question


# ---- Chapters ----

# What is in the outline is read off it, not made up.
ASKS_FOR_CHAPTERS = _any(
    r"(?:有|分)(?:哪|几|多少)[些个]?(?:章|节)|(?:列出|给出|看看?)?(?:章节|目录)(?:列表|结构|有哪些|是什么|[?？]?$)",
    r"\b(?:list|what|which|how many|show)\b.{0,20}\b(?:chapters|sections)\b(?: (?:are|does|in|of)|[?.]?$)",
    r"\btable of contents\b",
)

# ---- Secrets ----

_SECRETS = {
    "key": re.compile(
        r"\b(?:sk|pk|ghp|gho|xox[abp]|AKIA|AIza|hf)[-_]?[A-Za-z0-9_-]{16,}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    ),
    "password": re.compile(
        r"(?:密码|口令|password|passwd|passphrase|api[ _-]?key|secret|token)\s*(?:是|为|is|=|:|：)\s*\S{4,}", re.I
    ),
    "contact": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+|(?<!\d)1[3-9]\d{9}(?!\d)"),
    "card": re.compile(r"(?<!\d)(?:\d[ -]?){15,18}\d(?!\d)|(?<!\d)\d{17}[\dXx](?!\w)"),
}


def secret_in(text: str) -> str:
    """Kind of secret a text holds: key, password, contact or card; "" when it holds none.

    >>> secret_in("my password is hunter22"), secret_in("what is a password?")
    ('password', '')
    """
    return next((kind for kind, pattern in _SECRETS.items() if pattern.search(text)), "")
