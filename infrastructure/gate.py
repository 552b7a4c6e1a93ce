"""What is never remembered, whoever sends it: courtesies, instructions to an assistant, and what was recalled from memory.

A store that keeps these keeps little else (97.8 % of one that was looked into): each turn's recalled block becomes a new memory,
which is recalled by the next turn. So each rule looks for the marks of such text, not for its subject.
"""

import re

from infrastructure.importance import is_small_talk
from infrastructure.language import tr

_SYSTEM = re.compile(
    r"^\s*(?:[<\[#*|]+\s*)?(?:system|developer|assistant)(?:\s+(?:prompt|message|instructions?))?\s*(?:\|?>|\]|[:：])|"
    r"<\|?(?:im_start|system|start_header_id)\b|\[/?INST\]|"
    r"^\s*you are (?:an? |the )?(?:[\w-]+ ){0,4}(?:assistant|ai|chatbot|model)\b|"
    r"^\s*(?:系统提示词?|系统消息)\s*[:：]|^\s*你是(?:一个|一名|一位)?.{0,12}(?:助手|助理|机器人|大模型)",
    re.I,
)
_RECALLED = re.compile(
    r"</?\s*(?:documents?|memor(?:y|ies)|conversation|context|recall(?:ed)?)\b[^>]*>|^\s*\[M\d+\]|"
    r"^\s*[#*\[]*\s*(?:recalled|relevant|retrieved|long-term)\s+(?:memor(?:y|ies)|context)\b|"
    r"^\s*(?:Not in your documents, but you told me|You told me)\s*[:：]|"
    r"^\s*[#【\[]*(?:相关记忆|回忆到的|召回的?记忆|历史记忆)|^\s*(?:资料里没有，但你告诉过我|你说过)[:：]",
    re.I | re.M,
)


def unfit(text: str) -> str:
    """Why a text is not remembered, in a few words; "" when it may be.

    >>> unfit("You are a helpful assistant."), unfit("[M1] (semantic) likes tea"), unfit("What is a system prompt?")
    ('text of the system', 'text from memory', '')
    """
    if is_small_talk(text):
        return tr("a courtesy", "客套话")
    if _SYSTEM.search(text):
        return tr("text of the system", "系统文本")
    return tr("text from memory", "来自记忆的文本") if _RECALLED.search(text) else ""
