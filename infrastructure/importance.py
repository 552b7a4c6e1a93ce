"""Words that make a text weighty, and courtesies that make it light. The rule that adds them up is in script 09."""

import re

from infrastructure.text import fold

WEIGHTY = re.compile(
    r"重要|关键|必须|务必|注意|警告|错误|牢记|"
    r"\b(?:important|crucial|critical|must|never|always|warning|error|note that|remember)\b",
    re.I,
)
_COURTESIES = """
好 好的 好吧 嗯 嗯嗯 哦 行 可以 谢谢 多谢 不客气 收到 明白 明白了 知道了 再见 拜拜 你好 您好 哈哈 没事
ok okay k thanks thx bye hi hello hey yes no yep sure fine great cool nice lol
"""
SMALL_TALK = frozenset(_COURTESIES.split()) | {
    *("thank you", "got it", "i see", "no problem", "you're welcome", "good night", "see you")
}


def is_small_talk(content: str) -> bool:
    """True when nothing is left after the courtesies: "ok, thanks!" is, "ok, the index is built" is not."""
    parts = [part.strip() for part in re.split(r"[,.!?;~，。！？；、…\n]+", fold(content)) if part.strip()]
    return bool(parts) and all(part in SMALL_TALK or all(word in SMALL_TALK for word in part.split()) for part in parts)
