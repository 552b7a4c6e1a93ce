"""A sentence about the advantages answers no question about the disadvantages, however many of its words it has.

A short list of pairs, on purpose: only words that ask for one side of a thing, and whose opposite answers for the other side.
A sentence has to have the opposite and not the word itself, nor another word for it. "X has no disadvantages" is left alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from infrastructure.text import content_tokens, fold

NEAR = 25  # characters between a word and what it is said of


@dataclass(frozen=True)
class Pair:
    """Two sides as patterns of folded text. near: the opposite counts only beside another word of the question, since "it
    reduces the cost" may well be how something is increased."""

    one: str
    other: str
    near: bool = False


_PAIRS = (
    Pair(
        r"\b(?:advantages?|benefits?|strengths?|merits?|upsides?|pros)\b|优点|优势|好处|长处|益处",
        r"\b(?:disadvantages?|drawbacks?|weakness(?:es)?|limitations?|shortcomings?|downsides?|cons|flaws?)\b"
        r"|缺点|劣势|坏处|短处|弊端|缺陷|弱点|局限|不足之处|(?<=[的有])不足",
    ),
    Pair(
        r"\b(?:similarit(?:y|ies)|alike|in common|resembl\w+)\b|(?<!不)(?:相同|相似|一致)|共同",
        r"\b(?:differences?|differs?|different|unlike|distinctions?)\b|不同|不(?:相同|相似|一致)|区别|差异|差别",
    ),
    Pair(
        r"\b(?:increas\w+|rais(?:e|es|ed|ing)|ris(?:e|es|ing)|grow(?:s|ing|th)?|higher|boosts?|improv\w+)\b"
        r"|增加|提高|升高|上升|增大|提升|增长|增强|改善",
        r"\b(?:decreas\w+|reduc\w+|lower(?:s|ed|ing)?|drops?|falls?|declin\w+|shrinks?|diminish\w*)\b"
        r"|减少|降低|下降|减小|减弱|缩小|变差",
        near=True,
    ),
    Pair(
        r"\b(?:maximum|maximal|highest|largest|biggest|at most|up to)\b|最大|最高|最多|至多|上限",
        r"\b(?:minimum|minimal|lowest|smallest|at least)\b|最小|最低|最少|至少|下限",
        near=True,
    ),
)  # fmt: skip
_BOTH = {
    "优缺点": "优点缺点",
    "优劣": "优势劣势",
    "利弊": "好处坏处",
    "异同": "相同不同",
    "增减": "增加减少",
}  # in one word
_DENIED = r"(?<!\bno )(?<!\bnot )(?<!without )(?<!n't )(?<!\bnever )(?<!没有)(?<!没)(?<!不会)(?<!不)(?<!无)"
# What happens before something and what happens after it: opposed only if both are said of the same thing.
_TIMES = (
    (re.compile(r"\bbefore (?:the |a |an )?(\w+)"), re.compile(r"\bafter (?:the |a |an )?(\w+)")),
    (re.compile(r"([^\W_]{2})(?:之前|以前)"), re.compile(r"([^\W_]{2})(?:之后|以后)")),
)


# What will, and what will not: 哪些会被遗忘, 哪些不会被遗忘. Whether something will is answered by both.
_WILL = re.compile(r"(?:哪|什么|谁)[^,。?]{0,10}?(?<![会不])(不?)会被?(?!不)([^\W\da-z_被]{2})")


def other_side(question: str) -> Callable[[str], tuple[bool, bool]] | None:
    """A check of sentences, when a question asks for one side of a pair; None when it asks for none, or for both.

    The check tells of a sentence: (it is about the other side only, it names the side that was asked for).

    >>> check = other_side("What are the drawbacks of HyDE?")
    >>> check("An advantage of HyDE is speed."), check("HyDE has a drawback."), check("HyDE is old.")
    ((True, False), (False, True), (False, False))
    """
    text = _spelled_out(question)
    for pair in _PAIRS:
        for own, opposite in ((pair.one, pair.other), (pair.other, pair.one)):
            if re.search(own, text) and not re.search(opposite, text):
                rest = re.sub(own, " ", text)
                return _Check(own, opposite, set(content_tokens(rest)) if pair.near else None)
    for one, other in _TIMES:
        for own, opposite in ((one, other), (other, one)):
            if (named := own.search(text)) and not opposite.search(text):
                thing = re.escape(named[1])
                return _Check(_said_of(own, thing), _said_of(opposite, thing), None)
    if will := _WILL.search(text):
        sides = rf"(?<!不)会被?{will[2]}|(?<!会)被{will[2]}", f"不会被?{will[2]}"
        return _Check(*(sides[::-1] if will[1] else sides), None)
    return None


def _spelled_out(text: str) -> str:
    folded = fold(text)
    for both, each in _BOTH.items():
        folded = folded.replace(both, each)
    return folded


def _said_of(time: re.Pattern[str], thing: str) -> str:
    """A pattern of `_TIMES` for one thing: "before (\\w+)" → "before lunch"."""
    return re.sub(r"\((?:\\w\+|\[\^\\W_\]\{2\})\)", lambda _: thing, time.pattern)


class _Check:
    def __init__(self, own: str, opposite: str, things: set[str] | None) -> None:
        self._own = re.compile(own)
        self._opposite = re.compile(f"{_DENIED}(?:{opposite})")
        self._things = things

    def __call__(self, sentence: str) -> tuple[bool, bool]:
        text = _spelled_out(sentence)
        named = self._own.search(text) is not None
        return not named and any(self._counts(text, found) for found in self._opposite.finditer(text)), named

    def _counts(self, text: str, found: re.Match[str]) -> bool:
        if self._things is None:
            return True
        beside = text[max(0, found.start() - NEAR) : found.end() + NEAR]
        return not self._things.isdisjoint(content_tokens(beside))
