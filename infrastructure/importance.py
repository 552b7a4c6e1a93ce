"""Words that make a text weighty, and courtesies that make it light. The rule that adds them up is in script 09."""

import re

from infrastructure.text import fold

WEIGHTY = re.compile(
    r"重要|关键|必须|务必|注意|警告|错误|牢记|"
    r"\b(?:important|crucial|critical|must|never|always|warning|error|note that|remember)\b",
    re.I,
)
_COURTESIES = """
好 好的 好吧 好嘞 好呀 嗯 嗯嗯 哦 行 可以 不客气 收到 明白 明白了 知道了 懂了 了解 了解了 清楚了
哈哈 没事 没问题 不用了 太好了 真棒
谢谢 谢谢你 谢谢您 谢谢啦 谢啦 多谢 多谢了 感谢 非常感谢 太感谢了 辛苦了
你好 您好 你好呀 你好啊 你好吗 大家好 嗨 哈喽 早 早安 早上好 下午好 晚上好 在吗 再见 拜拜 晚安 回头见 明天见
ok okay k thanks thx ty cheers bye hi hiya hello hey yes no yep sure fine great cool nice perfect awesome alright lol
"""
_PHRASES = (
    *(
        "thank you",
        "thank you very much",
        "thank you so much",
        "thanks a lot",
        "thanks so much",
        "many thanks",
        "got it",
    ),
    *("i see", "no problem", "you're welcome", "all right", "hi there", "hello there", "hey there", "how are you"),
    *("good morning", "good afternoon", "good evening", "good night", "see you", "see you later", "see you tomorrow"),
)
SMALL_TALK = frozenset((*_COURTESIES.split(), *_PHRASES))


def is_small_talk(content: str) -> bool:
    """True when nothing is left after the courtesies: "ok, thanks!" is, "ok, the index is built" is not."""
    parts = [part.strip() for part in re.split(r"[,.!?;~，。！？；、…\n]+", fold(content)) if part.strip()]
    return bool(parts) and all(part in SMALL_TALK or all(word in SMALL_TALK for word in part.split()) for part in parts)
