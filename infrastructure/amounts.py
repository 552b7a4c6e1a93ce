"""Numbers as people write them: 12, 1,200, 3.5, two, 两, 十二."""

import re

NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split()
    )
}
_DIGITS_ZH = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_PLACES_ZH = {"十": 10, "百": 100, "千": 1000, "万": 10_000}

NUMBER = r"[-−]?\d+(?:[,，]\d{3})*(?:\.\d+)?"
NUMBER_ZH = r"[零〇一二两三四五六七八九十百千万]+"


def number(text: str) -> float | None:
    """The value of one number, None when the text is none. "a" and "an" are 1.

    >>> number("1,200"), number("two"), number("二十三"), number("many")
    (1200.0, 2.0, 23.0, None)
    """
    word = text.strip().lower().replace("−", "-")
    if word in ("a", "an"):
        return 1.0
    if word in NUMBER_WORDS:
        return float(NUMBER_WORDS[word])
    if re.fullmatch(NUMBER, word):
        return float(word.replace(",", "").replace("，", ""))
    return _chinese(word) if re.fullmatch(NUMBER_ZH, word) else None


def _chinese(text: str) -> float:
    """Digits read off one by one (二〇二三), or with their places (一百零五)."""
    if not any(char in _PLACES_ZH for char in text):
        return float("".join(str(_DIGITS_ZH[char]) for char in text))
    total, digit = 0, 0
    for char in text:
        if char in _DIGITS_ZH:
            digit = _DIGITS_ZH[char]
        elif char == "万":
            total, digit = (total + digit) * 10_000, 0
        else:
            total += (digit or 1) * _PLACES_ZH[char]
            digit = 0
    return float(total + digit)
