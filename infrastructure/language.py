"""The language of the screen, and the language of a text.

Two different questions: what the learner wants menus in (`language()`, set once from the settings), and what language a
question was asked in (`language_of(text)`), because an answer comes in the language of its question.
"""

import re

_screen = "en"


def set_language(code: str) -> None:
    """Choose the screen language, "en" or "zh". Anything else is a ValueError."""
    global _screen
    if code not in ("en", "zh"):
        raise ValueError(f"language must be en or zh, not {code!r}")
    _screen = code


def language() -> str:
    return _screen


def tr(en: str, zh: str) -> str:
    """The sentence in the screen's language.

    >>> tr("page", "页")
    'page'
    """
    return zh if _screen == "zh" else en


_ASKS_IN_ENGLISH = re.compile(
    r"\s*(what|which|who|when|where|why|how|is|are|do|does|did|can|could|should|explain|define|tell|give|please)\b",
    re.I,
)
_ASKS_IN_CHINESE = re.compile("什么|什麼|怎|如何|为何|為何|哪|吗|嗎|呢|多少|解释|解釋|说明|說明|区别|區別|对比|對比")
_LATIN_WORD = re.compile(r"[^\W\d_\u2e80-\uffff]+")
LONGEST_QUESTION = 200  # characters; in a longer text one question word says nothing about the rest


def language_of(text: str) -> str:
    """Chinese ("zh") or English ("en", also for what is neither).

    In a question the words that ask decide, since the terms it asks about may be in the other language; otherwise Han
    characters are weighed against Latin words.

    >>> language_of("GPT BERT LSTM 区别"), language_of("What does 注意力机制 mean?")
    ('zh', 'en')
    """
    han = sum("一" <= char <= "鿿" for char in text)
    if han and len(text) <= LONGEST_QUESTION:
        english, chinese = _ASKS_IN_ENGLISH.match(text), _ASKS_IN_CHINESE.search(text)
        if bool(english) != bool(chinese):
            return "zh" if chinese else "en"
    return "zh" if han > len(_LATIN_WORD.findall(text)) else "en"


def tr_like(text: str, en: str, zh: str) -> str:
    """The sentence in the language of `text`: answers follow their question, not the menus."""
    return zh if language_of(text) == "zh" else en
