"""Questions about the learner: "When is my exam?", "我叫什么？", "What did I say about recall?". Only the learner knows that,
so they are answered from what was told, and documents have a say only where they speak of the same.

"How do I evaluate RAG?" and "我应该先看哪个指标？" ask for advice; they are questions to the documents like any other.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from infrastructure.answer_kinds import kind_asked
from infrastructure.answers import Answer, MemoryUse
from infrastructure.language import language_of, tr_like
from infrastructure.slots import slot_key
from infrastructure.text import fold, tokens

# What asks for advice has an "I" in it, too. "In May" is a month.
_ADVICE = re.compile(
    r"\b(?:should|could|can|may(?= (?:i|we|my|it|one)\b)|must|would|need to|have to|supposed to|how (?:to|do i|did i|would i))\b"
    r"|怎么(?!看)|怎样|如何|应该|该怎|需要|可以|能不能|能否|为什么|要先|先看|要不要"
)
# "Can you tell me …" asks for what was told as much as "tell me …" does.
_COURTESY = re.compile(
    r"^(?:please )?(?:can|could|would|will) you (?:please )?(?=(?:still )?(?:tell|remind|remember|recall)\b)"
    r"|^(?:请问?)?你?(?:能不能|能否|可不可以|可以|能)(?=告诉|提醒)"
)
_ABOUT_ME = re.compile(
    r"\b(?:what|which|where|when|who|whom|how (?:old|many|much|long|often|far))\b.*\b(?:am|was|have|had|did) i\b"
    r"|\b(?:what|which|where|when|who)\b.*\bdo i (?:\w+ )?(?:prefer|like|love|hate|dislike|want|live|work|study|know|care)\b"
    r"|\bwhat do i do(?: for a living)?$"
    r"|^(?:and |so )?(?:what|when|where|who|which|how (?:old|many|long))(?:['’]?s| is| are| was| were)\b (?:\w+ )?my\b"
    r"|^(?:did|have|had|was|am) i\b(?! (?:right|correct|wrong|allowed)\b)"
    r"|\b(?:do|did|can) you (?:still )?(?:remember|know|recall)\b.*\b(?:my|me|i)\b"
    r"|\bwhat (?:do|did) you (?:know|remember|learn)\b.*\babout me\b"
    r"|\b(?:remind|tell) me\b.*\b(?:i (?:said|told|noted|wrote|mentioned|found|am|was|have|did)|my|myself|about me)\b"
    r"|我(?:是谁|[是在]做什么|叫什么)|(?:记得|知道|了解)我"
    r"|我的?[^,。?]{0,12}?(?:是什么|是谁|叫什么|[是在]哪|哪[天里儿一]|是几|什么时候|多大|几[岁号点月]|多少|什么$)"
    r"|我(?:之前|以前|上次|曾经|都|已经|最近)*(?:说|讲|提|提到|记|写|告诉你?|学|读|看|做|考|完成)[过了下].*(?:什么|哪|几|多少|吗)"
    r"|我最(?:喜欢|爱|讨厌).*(?:什么|谁|哪)"
    r"|(?:什么|哪[一些个几]?\w{0,2}|谁)[^,。?]{0,6}我(?:觉得|说|记|喜欢|认为|讨厌|看|读)"
    r"|(?:关于|对)[^,。?]{1,20}我(?:之前|以前|都)*(?:说|讲|提|记|写)|我(?:对|关于)[^,。?]{1,20}(?:说|讲|提|记|写)[过了]"
)
_TOPIC = re.compile(
    r"\bi (?:say|said|tell you|told you|note(?:d)?|write|wrote|written|mention(?:ed)?|think)(?: down)? "
    r"(?:about|on|regarding) (?P<en>.+)"
    r"|(?:关于|对)(?P<zh>[^,。?]{1,20}?)[,，]?我(?:之前|以前|都)*(?:说|讲|提|记|写)"
    r"|我(?:之前|以前)*(?:对|关于)(?P<zh2>[^,。?]{1,20}?)(?:都)?(?:说|讲|提|记|写)[过了]"
)


def is_asked(question: str) -> bool:
    """
    >>> is_asked("When is my exam?"), is_asked("How do I evaluate RAG?"), is_asked("我应该先看哪个指标？")
    (True, False, False)
    """
    asked = _bare(question)
    return bool(_ABOUT_ME.search(asked)) and not _ADVICE.search(_COURTESY.sub("", asked))


_EVERYTHING = re.compile(
    r"\b(?:know|remember) about me$|^(?:tell|remind) me (?:about|of) myself$|[解道得](?:关于)?我的?(?:哪|什么|多少|信息)"
)


def is_what_was_told(question: str) -> bool:
    """Whether no document can answer it: what is asked for is what was said, not what is so.

    >>> is_what_was_told("What did I say about recall?"), is_what_was_told("What is my blood type?")
    (True, False)
    """
    return bool(topic_of(question) or _EVERYTHING.search(_bare(question)))


def may_tell(question: str, text: str) -> bool:
    """Can a document's sentence answer a question about the learner? For a day or a number it has to hold one.

    >>> may_tell("When is my exam?", "Exams do harm."), may_tell("When is my exam?", "The exam is in May.")
    (False, True)
    """
    kind = kind_asked(question)
    return kind is None or re.search(r"\d", text) is not None or any(map(kind.answers, tokens(text)))


def topic_of(question: str) -> str:
    """What "did I say about" is followed by; "" when it asks otherwise.

    >>> topic_of("What did I say about recall?"), topic_of("关于召回率我说过什么？"), topic_of("Where do I live?")
    ('recall', '召回率', '')
    """
    match = _TOPIC.search(_bare(question))
    return next(filter(None, match.groups())) if match else ""


# A question for one value, and statements that give it: a fact told in one language answers in the other, too.
_VALUES = tuple(
    (re.compile(f"(?:{asked})"), examples)
    for asked, examples in (
        (r"who am i|(?:what(?:['’]?s| is) )?my name|what am i called|我(?:叫什么(?:名字)?|是谁)|我的名字(?:[是叫]什么)?",
         ("My name is Anna", "我叫小明")),
        (r"where (?:do i live|am i (?:living|based))|(?:which|what) (?:city|town) do i live in|我(?:家)?(?:现在)?住?在哪.{0,4}",
         ("I live in Rome", "我住在上海")),
        (r"where do i work|who do i work for|我在哪.{0,4}(?:工作|上班)", ("I work at Acme", "我在某某公司工作")),
        (r"where do i (?:study|go to school)|我在哪.{0,4}(?:读书|上学|学习)", ("I study at Yale", "我在某某大学读书")),
        (r"how old am i|(?:what(?:['’]?s| is) )?my age|我(?:今年)?(?:多大|几岁)了?", ("I am 20 years old", "我20岁")),
        (r"(?:what(?:['’]?s| is) )?my (?:job|profession|occupation)|what do i (?:do(?: for a living)?|work as)"
         r"|我是做什么(?:工作)?的|我的(?:职业|工作)(?:是什么)?", ("I am a nurse", "我是护士")),
        (r"(?:(?:what|who|which)(?:['’]?s| is) )?(my .+)", (r"\1 is Anna",)),
        (r"when(?:['’]?s| is) (my .+)", (r"\1 is on 1 May",)),
        (r"我最喜欢的?什么(.{1,8})", (r"我最喜欢的\1是某某",)),
        (r"我的?(.{1,12}?)(?:是|叫)(?:什么|谁|哪.{0,4})", (r"我的\1是某某",)),
        (r"我的?(.{1,10}?)[是在]?(?:哪[一]?天|几[月号]|什么时候|几点)", (r"我的\1是5月1日",)),
    )
)  # fmt: skip
_BEFORE = re.compile(r"^(?:and|so|do you (?:still )?(?:remember|know)|那么?|你还?(?:记得|知道)|请问)[,，\s]*")
_BEHIND = re.compile(r"(?:\s+(?:now|again|currently)|[吗呢呀啊])+$")


def slots_asked_for(question: str) -> list[str]:
    """Keys of the slots whose value a question asks for, [] when it asks for none; see slots.py.

    >>> slots_asked_for("Where do I live?") == [slot_key("I live in Paris"), slot_key("我住在北京")]
    True
    """
    asked = _BEHIND.sub("", _BEFORE.sub("", _bare(question)))
    matches = ((pattern.fullmatch(asked), examples) for pattern, examples in _VALUES)
    keys = ([slot_key(match.expand(example)) for example in examples] for match, examples in matches if match)
    return next(([*filter(None, found)] for found in keys if any(found)), [])


MOST_TOLD = 5
BY_SLOT = "slot"  # in `why`: the memory is the very value that was asked for


def facts_asked_for(store: Any, question: str) -> list[MemoryUse]:
    """What the learner told about just that and holds true now, the question's language first: of one value there is one, in
    each language. Of everything there is ("What do you know about me?") the newest. store: semantic memory."""
    if _EVERYTHING.search(_bare(question)):
        found = [item for item in store.list(limit=-1) if not item.metadata.get("note_type")][::-1]
    else:
        known = store.looked_up("slot", keys := slots_asked_for(question))
        found = [item for key in keys for item in known.get(key, []) if item.status == "active"]
    told = [item for item in found if item.source == "user"][:MOST_TOLD]
    told.sort(key=lambda item: language_of(item.content) != language_of(question))
    return [MemoryUse.of(item, 1.0, {BY_SLOT: 1.0}, question) for item in told]


# ---- What is said then ----

FAR_BELOW = 0.5  # of the best memory's score: what is less about it is left out


def leading(own: Sequence[MemoryUse]) -> list[MemoryUse]:
    """What answers a question about the learner: the values it asks for, else the memories nearest to it. own: best first."""
    values = [memory for memory in own if BY_SLOT in memory.why]
    near = [memory for memory in own if memory.score >= FAR_BELOW * own[0].score]
    return (values or near)[:MOST_TOLD]


def you_told_me(question: str, memories: Sequence[MemoryUse]) -> str:
    """In the learner's own words, a line each when there are several."""
    said = _quoted(question, memories)
    if len(said) == 1:
        return tr_like(question, f"You told me: {said[0]}", f"你说过：{said[0]}")
    return "\n".join([tr_like(question, "You told me:", "你说过："), *said])


def nothing_told(answer: Answer) -> Answer:
    answer.answer = tr_like(
        answer.question, "You have not told me anything about this yet.", "这方面你还没有告诉过我。"
    )
    return answer


def stand_on(answer: Answer, own: list[MemoryUse], told: list[MemoryUse], wording: Callable[..., str]) -> Answer:
    """Make it an answer that stands on what the learner said: `told` of all that was recalled of it."""
    answer.answer, answer.found, answer.memories = wording(answer.question, told), True, own
    answer.trace["memories_named"] = [memory.memory_id for memory in told]
    return answer


def but_you_told_me(question: str, memories: Sequence[MemoryUse]) -> str:
    """The same, when the documents should have said it."""
    said = _quoted(question, memories)
    lead = tr_like(question, "Not in your documents, but you told me:", "资料里没有，但你告诉过我：")
    return "\n".join([lead, *said])


def _quoted(question: str, memories: Sequence[MemoryUse]) -> list[str]:
    return [tr_like(question, "“{}”", "「{}」").format(memory.content) for memory in memories]


def _bare(question: str) -> str:
    return fold(question).strip().rstrip(" ?.!。")
