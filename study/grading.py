"""Is an answer right? Decided by the program, the same every time: a model neither sees an answer nor writes a grade.

    right    the same but for case, accents, width, spaces, punctuation, function words and word endings; numbers by value
    almost   one slip of the keyboard in a Latin word of five letters or more
    wrong    anything else, nothing included

Chinese gets no slips: 长期记忆 and 短期记忆 are one character apart. The learner may overrule a verdict; see `cards.regrade`.
"""

import re
from collections.abc import Iterator

from infrastructure.amounts import NUMBER, NUMBER_ZH, number
from infrastructure.cards import Card
from infrastructure.extraction import support
from infrastructure.text import content_tokens, fold
from study.schedule import AGAIN, GOOD, HARD

LETTERS = "ABCDEFGH"  # of options
SHORTEST_SLIP = 5  # letters; in shorter words one letter makes another word
ENOUGH = 0.5  # share of a note's content words that a retelling has
RATINGS = {"right": GOOD, "almost": HARD, "wrong": AGAIN}

_NEGATION = re.compile(r"\b(?:not|no|never|none|non|without|\w+n't)\b|[不没未非无]")
_NUMBER = re.compile(f"{NUMBER}|{NUMBER_ZH}|[a-z]+")


def chosen(card: Card, given: str) -> str:
    """The option a letter stands for; any other text as it is."""
    letter = fold(given).strip(" .)）。、(（").upper()
    named = [fold(option).upper() for option in card.options]
    if letter not in named and len(letter) == 1 and letter in LETTERS[: len(card.options)]:
        return card.options[LETTERS.index(letter)]
    return given.strip()


def is_choice(card: Card, given: str) -> bool:
    """Is it a letter, one of the options, or another wording of the right one?"""
    given = chosen(card, given)
    return any(key(option) == key(given) for option in card.options) or judge(card, given) != "wrong"


def judge(card: Card, given: str) -> str:
    """ "right", "almost" or "wrong". given: what the learner typed, a letter or the answer itself."""
    given = chosen(card, given)
    if not key(given):
        return "wrong"
    if card.kind == "note":
        return "right" if support(card.answer, [given]) >= ENOUGH else "wrong"
    answers = (card.answer, *card.accepted)
    if any(_same(answer, given) for answer in answers):
        return "right"
    if any(key(option) == key(given) for option in card.options):
        return "wrong"
    return "almost" if any(_one_slip(key(answer), key(given)) for answer in answers) else "wrong"


def key(text: str) -> str:
    """Letters and digits, folded, and the signs of C++ and C#; what two spellings of an answer have in common.

    >>> key("The Half-Life。"), key("ＲＡＧ 检索")
    ('halflife', 'rag检索')
    """
    return "".join(re.findall(r"[^\W_]+|[+#]+", re.sub(r"^(?:an?|the)\s+", "", fold(text).strip())))


def _same(answer: str, given: str) -> bool:
    if key(answer) == key(given):
        return True
    if bool(_NEGATION.search(fold(answer))) != bool(_NEGATION.search(fold(given))):
        return False
    amounts = list(_amounts(answer))
    if amounts and not _words(answer):
        return amounts == list(_amounts(given))
    return amounts == list(_amounts(given)) and _words(answer) == _words(given)


def _words(text: str) -> list[str]:
    """Content words beside the numbers, sorted: word order is grammar."""
    return sorted(
        content_tokens(_NUMBER.sub(lambda found: " " if number(found[0]) is not None else found[0], fold(text)))
    )


def _amounts(text: str) -> Iterator[float]:
    for found in _NUMBER.findall(fold(text)):
        value = None if found in ("a", "an") else number(found)
        if value is not None:
            yield value


def _one_slip(right: str, given: str) -> bool:
    """One letter too many, too few, another, or two changed places; not in digits and not in the first letter.

    >>> _one_slip("faithfulness", "faithfullness"), _one_slip("recall", "recal"), _one_slip("长期记忆", "短期记忆")
    (True, True, False)
    """
    if min(len(right), len(given)) < SHORTEST_SLIP - 1 or len(right) < SHORTEST_SLIP or right[0] != given[0]:
        return False
    if not (right + given).isascii() or re.findall(r"\d", right) != re.findall(r"\d", given):
        return False
    while right and given and right[0] == given[0]:
        right, given = right[1:], given[1:]
    while right and given and right[-1] == given[-1]:
        right, given = right[:-1], given[:-1]
    return max(len(right), len(given)) <= 1 or (len(right) == 2 and right == given[::-1])
