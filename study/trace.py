"""`/why`: what led to the last answer, read from the transcript, so that it can also be told tomorrow. A row of the table in
`commands`; the picture is made in `trace_views`."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infrastructure.errors import UsageError
from infrastructure.language import tr
from study.desk import Desk
from study.lookup import last_turns

if TYPE_CHECKING:
    from infrastructure.transcript import Turn

LEGS = ("words", "cosine", "close", "kind")  # of a passage's score, those that a reader can make sense of


def why(desk: Desk, args: Namespace) -> int:
    turns = last_turns(desk)
    if not turns:
        raise UsageError(tr("Nothing has been asked in this session yet.", "本次会话还没有提过问。"))
    from study import trace_views  # brings rich

    told = explained(turns[0])
    desk.result(told, lambda: trace_views.why(told, slash=desk.slash))
    return 0


def explained(turn: "Turn") -> dict[str, Any]:
    """Everything that is known about how a turn came about, ready for JSON.

    kind: "answer", or "told" when nothing was searched because nothing was asked. sources: what was cited, or else offered
    (`nearest`), each with its relevance and, in `legs`, [score, rank among the passages that were found]. read_off: the page,
    chapter or outline that was read; None when all documents were searched. slips: [as typed, as it was searched for].
    """
    trace = turn.trace
    partial = bool(trace.get("partial"))
    asked, enriched = trace.get("asked", turn.question), trace.get("enriched_query", turn.question)
    checks = trace.get("citations") or {}
    return {
        "question": turn.question, "asked_at": turn.asked_at.isoformat(), "session_id": turn.session_id, "answer": turn.answer,
        "kind": "told" if trace.get("noted") and not partial else "answer",
        "mode": turn.mode, "found": turn.found, "partial": partial, "llm_failure": trace.get("llm_failure"),
        "read_off": trace.get("read_off"), "enriched_query": enriched, "leans": trace.get("leans", ""),
        "background": trace.get("background", []), "enriched_by": trace.get("enriched_by", []),
        "slips": trace.get("slips", []), "variants": _other_wordings(trace.get("variants", []), asked, enriched),
        "sources": [_source(source, trace.get("results", [])) for source in trace.get("sources") or trace.get("nearest", [])],
        "passages_found": len(trace.get("results", [])),
        "memories": [_memory(memory, trace) for memory in trace.get("memories", [])],
        "receipts": trace.get("receipts", []),
        "unsupported": checks.get("unsupported", []), "dropped": checks.get("dropped", []),
    }  # fmt: skip


def _other_wordings(variants: Sequence[Mapping[str, Any]], *known: str) -> list[dict[str, str]]:
    """What was searched beside the question and its background. added: what a wording has that those have not."""
    others = [variant for variant in variants if variant["text"] not in known]
    longest_first = sorted(known, key=len, reverse=True)
    return [
        {
            "kind": other["kind"],
            "text": other["text"],
            "added": next(
                (other["text"][len(text) :].strip() for text in longest_first if other["text"].startswith(text)), ""
            ),
        }
        for other in others
    ]


def _source(source: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    public = ("n", "document", "page", "page_label", "heading_path", "quote", "relevance")
    found = next((result for result in results if result["chunk_id"] == source["chunk_id"]), None)
    told = {name: source[name] for name in public}
    if found is None:
        return {**told, "score": None, "legs": {}, "found_by": {}}
    legs = {leg: [found["why"][leg], _rank(leg, found, results)] for leg in LEGS if leg in found["why"]}
    return {**told, "score": found["score"], "legs": legs, "found_by": found["found_by"]}


def _rank(leg: str, found: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> int:
    """1 for the best by this leg alone; what is equal shares a rank."""
    return 1 + sum(result["why"].get(leg, float("-inf")) > found["why"][leg] for result in results)


def _memory(memory: Mapping[str, Any], trace: Mapping[str, Any]) -> dict[str, Any]:
    """used: named in the answer, leaned on by the question, or what the answer stood on; the others were only found."""
    named = {*trace.get("memories_named", ()), *trace.get("enriched_by", ())}
    return {**memory, "used": memory["memory_id"] in named}
