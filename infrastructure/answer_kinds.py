"""What kind of thing a question asks for, and whether a text has one: a date for "when", a number for "how many".

In question answering this is the expected answer type. Only the two kinds that can be seen in single words are told apart; a
name or a reason looks like any other word.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infrastructure.amounts import NUMBER_WORDS
from infrastructure.text import fold, tokens

NEAR = 20  # words of the index between what answers and a word of the question: about a sentence

# Names of months and days, and the words by which people date what they tell: "last week", 上个月.
_DATES = frozenset(
    tokens(
        "January February March April May June July August September October November December "
        "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Monday Tuesday Wednesday Thursday Friday Saturday Sunday "
        "yesterday today tonight tomorrow last next week weekend month year ago recently spring summer fall winter"
    )
) | {
    "昨天", "今天", "明天", "前天", "后天", "今晚", "上周", "下周", "本周", "周末", "星期", "上个", "下个", "去年", "今年",
    "明年", "春天", "夏天", "秋天", "冬天",
}  # fmt: skip
_NUMBERS = frozenset(tokens(" ".join([*NUMBER_WORDS, "hundred thousand million billion half dozen"])))
_YEAR = re.compile(r"\d{3,4}s?")
_COUNTED_ZH = re.compile(r"[两二三四五六七八九十百千万亿][^\W\da-z]?")


def _is_date(word: str) -> bool:
    return word in _DATES or _YEAR.fullmatch(word) is not None


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word in _NUMBERS or _COUNTED_ZH.fullmatch(word) is not None


@dataclass(frozen=True)
class AnswerKind:
    """`asked`: how a question asks for it. `answers`: is an indexed word of this kind?"""

    name: str
    asked: re.Pattern[str]
    answers: Callable[[str], bool]


KINDS = (
    AnswerKind(
        "date",
        re.compile(
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|decade)\b|哪一?[年天]|什么时候|何时|日期|哪个?月|几月"
        ),
        _is_date,
    ),
    AnswerKind(
        "number",
        re.compile(
            r"\bhow (?:many|much|long|old|far|tall|often|large|big|high|fast)\b"
            r"|\bwhat (?:percent|percentage|number|amount|portion|proportion|fraction)\b"
            r"|多[少长大高远久]|几[个次人名种]|百分|比例"
        ),
        _is_number,
    ),
)


def kind_asked(question: str) -> AnswerKind | None:
    """The kind of answer a question asks for; None when it could be anything.

    >>> kind_asked("In what year was it founded?").name, kind_asked("一共有几个指标？").name, kind_asked("Why is it so?")
    ('date', 'number', None)
    """
    asked = fold(question)
    return next((kind for kind in KINDS if kind.asked.search(asked)), None)


_HOW_MANY = re.compile(
    r"\bhow many (?!times)(?P<en>[a-z]{3,})|多少(?P<zh>[^\W\da-z_])|(?P<long>\bhow long\b|多久|多长时间)"
)
_AMOUNT = (
    rf"(?:\d[\d,.]*|\b(?:{'|'.join(NUMBER_WORDS)})\b|(?<![一-鿿])an?\b|(?<![第某每])[一二两三四五六七八九十百千万半]+)"
)
_TIME = r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|秒|分钟|个?小时|天|周|个?星期|个?月|年)"


def amount_asked(question: str) -> re.Pattern[str] | None:
    """What an amount of just the things asked for looks like in folded text, None when none is asked for by its unit.

    >>> pattern = amount_asked("工作记忆能存多少条？")
    >>> bool(pattern.search("默认 50 条")), bool(pattern.search("0.7 的会成为一条事件")), amount_asked("Why is it so?")
    (True, False, None)
    """
    asked = _HOW_MANY.search(fold(question))
    if asked is None:
        return None
    if asked["long"]:
        return re.compile(rf"{_AMOUNT} ?{_TIME}")
    if asked["zh"]:
        return re.compile(rf"(?!一{asked['zh']}){_AMOUNT} ?{asked['zh']}")
    return re.compile(rf"(?:\d[\d,.]*|\b(?:{'|'.join(NUMBER_WORDS)})) (?:[a-z]+ )?{re.escape(asked['en'].rstrip('s'))}")


def answers_nearby(kind: AnswerKind, words: Sequence[str], asked: frozenset[str]) -> bool:
    """Does an indexed text have a word of this kind within NEAR words of a word that was `asked` for? A number of the
    question itself answers nothing.

    >>> answers_nearby(kind_asked("When was HyDE proposed?"), ["hyde", "was", "propos", "in", "2022"], frozenset(["hyde"]))
    True
    """
    met = [place for place, word in enumerate(words) if word in asked]
    given = [place for place, word in enumerate(words) if word not in asked and kind.answers(word)]
    return any(abs(place - other) <= NEAR for place in given for other in met)
