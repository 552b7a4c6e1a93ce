"""Numbers as people write them: 12, 1,200, 3.5, two, 两, 十二."""

import re

_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty"""
NUMBER_WORDS = {word: value for value, word in enumerate(_WORDS.split())}
_DIGITS_ZH = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_PLACES_ZH = {"十": 10, "百": 100, "千": 1000}

NUMBER = r"[-−]?\d+(?:[,，]\d{3})*(?:\.\d+)?"
NUMBER_ZH = r"[零〇一二两三四五六七八九十百千万]+"
_NUMBER, _NUMBER_ZH = re.compile(NUMBER), re.compile(NUMBER_ZH)


def number(text: str) -> float | None:
    """The value of one number, None when the text is none. "a" and "an" are 1.

    >>> number("1,200"), number("two"), number("二十三"), number("many")
    (1200.0, 2.0, 23.0, None)
    """
    word = text.strip().lower()
    if word in ("a", "an"):
        return 1.0
    if word in NUMBER_WORDS:
        return float(NUMBER_WORDS[word])
    if _NUMBER.fullmatch(word):
        return float(word.replace(",", "").replace("，", "").replace("−", "-"))
    return _chinese(word) if _NUMBER_ZH.fullmatch(word) else None


def _chinese(text: str) -> float:
    """Digits read off one by one (二〇二三), or with their places (一百零五, 三万五千)."""
    if not any(char in "十百千万" for char in text):
        return float("".join(str(_DIGITS_ZH[char]) for char in text))
    whole, part, digit = 0, 0, 0
    for char in text:
        if char in _DIGITS_ZH:
            digit = _DIGITS_ZH[char]
        elif char == "万":
            whole, part, digit = (whole + part + digit) * 10_000, 0, 0
        else:
            part += (digit or 1) * _PLACES_ZH[char]
            digit = 0
    return float(whole + part + digit)
