"""Statements that hold one value at a time: whose, which attribute, what value.

    My favourite player is Messi      me · favourite player · Messi          was Ronaldo: superseded
    The exam is on 5 June             exam · is · date 5 June                was 3 June: superseded
    我搬到北京了                       我 · 住 · 北京                          was 上海: superseded
    I like tea / I read chapter 3     no slot: who likes tea may like coffee too

Only a whole statement fills a slot, in a form that is known to leave no room for a second value. Everything else is taken
for one more fact: to keep two values side by side is a nuisance, to lose a true one is a fault. So a form is left out as soon
as it often means two things ("My boss is Anna", "My boss is nice"), and words decide alone: to an embedder blue is green.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from infrastructure import slots_en, slots_zh
from infrastructure.text import content_tokens, is_cjk, sentences, tokens

LONGEST = 160  # characters; what is longer says more than one thing
# What the value is not, said once more behind it: my name is Li, not Wang.
_CONTRAST = re.compile(
    r",\s*not (?:an? |the |in |at |on )?[\w ]{1,30}$|[,，]\s*而?不(?:再)?[叫是在][^,，。]{1,12}$", re.I
)
# … or before it: I'm not a nurse any more, I'm a doctor now.
_CONTRAST_FIRST = re.compile(
    r"^i(?:['’]m| am) (?:not|no longer) [\w ]{1,30}[,;] (?:but )?(?=i\b)|^我(?:现在)?不(?:再)?[叫是在][^,，。]{1,12}[,，](?=我)",
    re.I,
)
_NO_STATEMENT = re.compile(r"[?？\n\"“”「」]")


@dataclass(frozen=True, slots=True)
class Slot:
    """key: language, subject and attribute. parts: the value, by what kind of thing is said; only parts of one kind are
    compared, so a date does not contradict a room. denied: the statement says what the value is *not*."""

    key: str
    parts: Mapping[str, str] = field(hash=False)
    denied: bool = False


@lru_cache(maxsize=2048)
def slot_of(text: str) -> Slot | None:
    """The slot that a text fills, if it says nothing else.

    >>> slot_of("My favourite colour is blue.").key, slot_of("I like blue.")
    ('en:favorit color', None)
    """
    if len(text) > LONGEST or _NO_STATEMENT.search(text):
        return None
    text = text.strip().rstrip(".!。！ ")
    text = _CONTRAST_FIRST.sub("", _CONTRAST.sub("", text))
    language = slots_en if text.isascii() or not any(map(is_cjk, text)) else slots_zh
    found = language.parse(text)
    if found is None or len(sentences(text)) != 1:
        return None
    subject, parts, denied = found
    key = " ".join(tokens(subject) if language is slots_zh else content_tokens(subject) or tokens(subject))
    return Slot(f"{language.NAME}:{key}", parts, denied) if key else None


def slot_key(text: str) -> str | None:
    """What a statement that holds one value is about, None for every other text: equal keys nominate, `contradict` decides."""
    slot = slot_of(text)
    return None if slot is None else slot.key


def contradict(a: Slot | None, b: Slot | None) -> bool:
    """Whether the two cannot both hold. A value that only says more (blue, dark blue; 3 June, 3 June 2026) does not.

    >>> contradict(slot_of("The exam is on 3 June"), slot_of("The exam is on 5 June")), contradict(
    ...     slot_of("The exam is on 3 June"), slot_of("The exam is in room 7"))
    (True, False)
    """
    if a is None or b is None or a.key != b.key or (a.denied and b.denied):
        return False
    shared = a.parts.keys() & b.parts.keys()
    if a.denied or b.denied:
        return bool(shared) and all(_alike(a.parts[kind], b.parts[kind]) for kind in shared)
    return any(_differ(kind, a.parts[kind], b.parts[kind]) for kind in shared)


def same_slot(a: Slot | None, b: Slot | None) -> bool:
    """Whether the two say the same in one form: "My favourite colour's blue", "My favourite color is blue"."""
    if a is None or b is None or a.key != b.key or a.denied != b.denied:
        return False
    shared = a.parts.keys() & b.parts.keys()
    return bool(shared) and all(_alike(a.parts[kind], b.parts[kind]) for kind in shared)


def _differ(kind: str, a: str, b: str) -> bool:
    if kind == "date":  # --06-03 or 2026-06-03
        return a[-5:] != b[-5:] or ("--" not in (a[:2], b[:2]) and a != b)
    if kind in ("name", "value", "place"):
        words_a, words_b = set(tokens(a)), set(tokens(b))
        return not (words_a <= words_b or words_b <= words_a)
    return not _alike(a, b)


def _alike(a: str, b: str) -> bool:
    return a == b or (bool(tokens(a)) and tokens(a) == tokens(b))
