"""What the learner tells: where each statement goes, and what becomes of it. The receipts say so, and nothing else does.

lasting facts and preferences   knowledge (semantic memory)         a new value supersedes the old one
deeds                           events (episodic memory)
wishes for now                  the desk (working memory): a temporary preference is never permanent
a correction                    knowledge; what it corrects is superseded
a secret                        nowhere
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from infrastructure.answers import Answer, Receipt
from infrastructure.conversation import Conversation
from infrastructure.gate import unfit
from infrastructure.importance import is_small_talk
from infrastructure.language import tr, tr_like
from infrastructure.reconcile import Written
from infrastructure.slots import slot_key
from infrastructure.text import repair, tokens
from infrastructure.utterance import LONGEST_QUESTION, Statement, correction, secret_in, statements

TOLD_IMPORTANCE = 0.7  # at least: whoever says it of themselves wants it to be known
CORRECTION_IMPORTANCE = 0.8


@dataclass(frozen=True)
class Heard:
    """One message, taken apart: what it tells about the learner, what it corrects (None: nothing), and what is left to ask.
    asks False: it asks nothing, so nothing is searched."""

    text: str
    asked: str
    asks: bool
    told: Sequence[Statement] = ()
    corrected: str | None = None


def hear(text: str, *, listens: bool = True) -> Heard:
    """listens False: whatever is told stays part of the question. Of a very long question the beginning is asked.

    >>> hear("我更关心真实指标。那下一步怎么优化？").asked, hear("thanks!").asks
    ('那下一步怎么优化？', False)
    """
    text = repair(text)
    listens = listens and not unfit(text)
    told, asked = statements(text) if listens else ([], text)
    corrected = correction(text) if listens else None
    asks = not (corrected or is_small_talk(text) or (told and not tokens(asked)))
    return Heard(text, asked[:LONGEST_QUESTION], asks, told, corrected)


class Listener:
    """Sorts what is told into the three memories of one home."""

    def __init__(self, working: Any, episodic: Any, semantic: Any) -> None:
        self.working = working
        self.episodic = episodic
        self.semantic = semantic

    def remember(self, statement: Statement, session_id: str) -> Receipt:
        kind = secret_in(statement.text)
        if kind:
            return Receipt("refused", "semantic", holds_a_secret(kind))
        if statement.kind == "wish":
            memory_id = self.working.add(statement.text, 0.6, session_id, kind="wish", consolidated=True)
            return Receipt("written", "working", tr("for this session only", "只用于本次会话"), memory_id)
        store = self.episodic if statement.kind == "event" else self.semantic
        importance = max(TOLD_IMPORTANCE, store.rate(statement.text))
        written = store.write(statement.text, importance, session_id, kind=statement.kind)
        return receipt(store, written, tr("said by the learner", "学习者所说"))

    def reply(self, heard: Heard, conversation: Conversation) -> Answer:
        """What is said to a message that asks nothing. The text shown is made from the receipts."""
        if not (heard.told or heard.corrected):
            return _without_search(heard.text, courtesy(heard.text), [])
        if heard.corrected:
            texts, receipts = [heard.corrected], [self._correct_last(heard.corrected, conversation)]
        else:
            texts = [statement.text for statement in heard.told]
            receipts = [self.remember(statement, conversation.session_id) for statement in heard.told]
        lines = [self._noted(heard.text, text, receipt) for text, receipt in zip(texts, receipts, strict=True)]
        return _without_search(heard.text, "\n".join(lines), receipts)

    def _noted(self, message: str, text: str, receipt: Receipt) -> str:
        """What became of it, in the language of the message; a receipt's own reason is for the screen."""
        say = partial(tr_like, message)
        if receipt.action == "refused":
            reason = holds_a_secret(secret_in(text), say)
            return say(f"Not stored: {reason}.", f"没有保存：{reason}。")
        noted = say(f"Noted: {text}", f"已记下：{text}")
        if receipt.action != "superseded":
            return noted
        store = self.episodic if receipt.memory_type == "episodic" else self.semantic
        old = [i.memory_id for i in store.list(status="superseded", limit=-1) if i.superseded_by == receipt.memory_id]
        return noted + say(" ({})", "（{}）").format(replaces(store, old, say))

    def _correct_last(self, text: str, conversation: Conversation) -> Receipt:
        last = conversation.last_answered()
        receipt = self.correct(text, conversation.session_id, last.metadata if last else {})
        if last is not None and receipt.action != "refused":
            conversation.correct(last, text)
        return receipt

    def correct(self, text: str, session_id: str, last: Mapping[str, Any]) -> Receipt:
        """The learner says what is right. `last`: what is known of the answer that was wrong, {} for none.

        What that answer stood on is superseded, or else an earlier correction of the same topic (D4)."""
        if kind := secret_in(text):
            return Receipt("refused", "semantic", holds_a_secret(kind))
        topic = last.get("question", "")
        fields = {"source": "user", "kind": "correction", "topic": topic, "importance": CORRECTION_IMPORTANCE}
        if slot_key(text):  # it says itself what it is about
            written = self.semantic.write(text, session_id=session_id, **fields)
            return receipt(self.semantic, written, tr("correction by the learner", "学习者的更正"))
        statement = f"{topic.rstrip('？?。. ')}：{text}" if topic else text
        wrong = self._corrected(topic, last.get("recalled", ()))
        if wrong is not None:
            new_id = self.semantic.supersede(wrong, statement, **fields)
            return receipt(self.semantic, Written(new_id, "superseded", (wrong,)), "")
        memory_id = self.semantic.add(statement, session_id=session_id, **fields)
        return Receipt("written", "semantic", tr("correction by the learner", "学习者的更正"), memory_id)

    def _corrected(self, topic: str, recalled: Sequence[str]) -> str | None:
        """Knowledge the last answer stood on, best first, else the active correction of the same topic."""
        for memory_id in recalled:
            item = self.semantic.get(memory_id)
            if item is not None and item.status == "active" and not item.metadata.get("note_type"):
                return memory_id
        earlier = [i for i in self.semantic.list(limit=-1) if i.metadata.get("kind") == "correction"]
        return next((item.memory_id for item in earlier if topic and item.metadata.get("topic") == topic), None)


_THANKS = re.compile(r"\b(?:thank|thanks|thx|ty|cheers)\b|谢|辛苦", re.I)
_BYE = re.compile(r"\b(?:bye|see you|good night)\b|再见|拜|晚安|[头天]见", re.I)
_HELLO = re.compile(
    r"\b(?:hi|hiya|hello|hey|how are you|good (?:morning|afternoon|evening))\b|[你您家]好|嗨|哈喽|[上午]好|早安|^早$|在吗",
    re.I,
)


def courtesy(text: str) -> str:
    """A "thanks" asks nothing: whatever a search found would be no answer. One line that says what can be done."""
    if _BYE.search(text):
        return tr_like(text, "See you! Everything is kept.", "再见！所有内容都已保存。")
    begins = tr_like(text, "All right.", "好的。")
    if _THANKS.search(text):
        begins = tr_like(text, "You're welcome.", "不客气。")
    elif _HELLO.search(text):
        begins = tr_like(text, "Hello!", "你好！")
    return tr_like(
        text,
        f"{begins} Ask your documents, tell me what to remember, or take a quiz.",
        f"{begins}可以提问资料里的内容，告诉我要记住的事，或者做一次自测。",
    )


def _without_search(text: str, said: str, receipts: list[Receipt]) -> Answer:
    trace = {"noted": True}
    return Answer(text, said, "extractive", False, enriched_query=text, receipts=receipts, trace=trace)


Say = Callable[[str, str], str]  # of two wordings, English and Chinese, one


def holds_a_secret(kind: str, say: Say = tr) -> str:
    """Why it is not stored. kind: as `secret_in` names it."""
    names = {
        "key": say("a key", "密钥"),
        "password": say("a password", "密码"),
        "contact": say("an address or a number", "联系方式"),
        "card": say("a card number", "卡号"),
    }
    return say(f"it holds {names[kind]}", f"其中有{names[kind]}")


def replaces(store: Any, memory_ids: Sequence[str], say: Say = tr) -> str:
    """What a new value took the place of, in the words it was told in."""
    replaced = "; ".join(f"“{store.get(memory_id).content}”" for memory_id in memory_ids)
    return say(f"replaces {replaced}", f"取代{replaced}")


def receipt(store: Any, written: Written, reason: str) -> Receipt:
    """What became of a statement; a new value names the one whose place it took."""
    if written.replaced:
        reason = replaces(store, written.replaced)
    return Receipt(written.action, store.memory_type, reason, written.memory_id)
