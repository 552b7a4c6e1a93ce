"""What the learner tells: where each statement goes, and what becomes of it. The receipts say so, and nothing else does.

lasting facts and preferences   knowledge (semantic memory)         a new value supersedes the old one
deeds                           events (episodic memory)
wishes for now                  the desk (working memory): a temporary preference is never permanent
a correction                    knowledge; what it corrects is superseded
a secret                        nowhere
"""

from collections.abc import Mapping, Sequence
from typing import Any

from infrastructure.answers import Receipt
from infrastructure.language import tr, tr_like
from infrastructure.reconcile import Written
from infrastructure.slots import slot_key
from infrastructure.utterance import Statement, secret_in

TOLD_IMPORTANCE = 0.7  # at least: whoever says it of themselves wants it to be known
CORRECTION_IMPORTANCE = 0.8


class Listener:
    """Sorts what is told into the three memories of one home."""

    def __init__(self, working: Any, episodic: Any, semantic: Any) -> None:
        self.working = working
        self.episodic = episodic
        self.semantic = semantic

    def remember(self, statement: Statement, session_id: str) -> Receipt:
        kind = secret_in(statement.text)
        if kind:
            return Receipt("refused", "semantic", tr(f"it holds a secret ({kind})", f"其中有隐私信息（{kind}）"))
        if statement.kind == "wish":
            memory_id = self.working.add(statement.text, 0.6, session_id, kind="wish", consolidated=True)
            return Receipt("written", "working", tr("for this session only", "只用于本次会话"), memory_id)
        store = self.episodic if statement.kind == "event" else self.semantic
        importance = max(TOLD_IMPORTANCE, store.rate(statement.text))
        written = store.write(statement.text, importance, session_id, kind=statement.kind)
        return receipt(store, written, tr("said by the learner", "学习者所说"))

    def correct(self, text: str, session_id: str, last: Mapping[str, Any]) -> Receipt:
        """The learner says what is right. `last`: what is known of the answer that was wrong, {} for none.

        What that answer stood on is superseded, or else an earlier correction of the same topic (D4)."""
        if secret_in(text):
            return Receipt("refused", "semantic", tr("it holds a secret", "其中有隐私信息"))
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


def receipt(store: Any, written: Written, reason: str) -> Receipt:
    """What became of a statement; a new value names the one whose place it took."""
    replaced = "; ".join(f"“{store.get(memory_id).content}”" for memory_id in written.replaced)
    if replaced:
        reason = tr_like(replaced, f"replaces {replaced}", f"取代{replaced}")
    return Receipt(written.action, store.memory_type, reason, written.memory_id)
