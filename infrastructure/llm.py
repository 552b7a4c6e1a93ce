"""The language model: an answer, or one sentence that says why there is none and what to do.

    prompt → LiteLLM in a daemon thread → queue → the caller, who never waits longer than the timeout

A model is used only when LLM_MODEL names one: a key that happens to lie in the environment sends nothing anywhere. How it is
called, and what goes wrong there, is in service.py.
"""

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from infrastructure.errors import LLMUnavailable
from infrastructure.service import FAILURES, RETRY, RETRY_WAIT, Failure, Service, cost_of
from infrastructure.settings import Settings
from infrastructure.text import estimate_tokens_mixed, repair


@dataclass(frozen=True)
class Usage:
    """Tokens and money. cost is in US dollars, None when the price list lacks a model that was used; sums are unknown then.

    >>> Usage(7, 3, 0.5) + Usage(1, 1, None)
    Usage(prompt_tokens=8, completion_tokens=4, cost=None)
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        unknown = self.cost is None or other.cost is None
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if unknown else self.cost + other.cost,
        )

    def since(self, before: "Usage") -> "Usage":
        """What was used after `before`, an earlier value of the same model's usage."""
        unknown = self.cost is None or before.cost is None
        return Usage(
            self.prompt_tokens - before.prompt_tokens,
            self.completion_tokens - before.completion_tokens,
            None if unknown else self.cost - before.cost,
        )


class LLM(Protocol):
    """What the rest of the project needs of a model. Both methods raise LLMUnavailable and nothing else.

    `stream` gives the text in pieces, none of them empty; when it fails half-way, the error comes after the partial text.
    `usage` is the sum of all calls so far.
    """

    name: str

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 1024) -> str: ...

    def stream(self, prompt: str, *, system: str = "", max_tokens: int = 1024) -> Iterator[str]: ...

    @property
    def usage(self) -> Usage: ...


def connect(settings: Settings) -> LLM | None:
    """The model the learner has chosen, None without one. Costs nothing: LiteLLM is imported by the first question."""
    if not settings.llm_model:
        return None
    return LiteLLM(
        settings.llm_model,
        api_key=settings.llm_api_key,
        api_base=settings.llm_api_base,
        timeout=settings.llm_timeout,
        provider_keys=settings.provider_keys,
    )


class LiteLLM:
    """Any model LiteLLM can reach, by its "provider/model" name.

    timeout (seconds) bounds the wait for the first text, a retry included, and then each pause between two pieces. There is
    at most one retry, only before any text has come, and only where it can help: see `RETRY`.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        api_base: str | None = None,
        timeout: float = 60.0,
        provider_keys: Mapping[str, str] | None = None,
        retry_wait: float = RETRY_WAIT,
    ) -> None:
        self.name = model
        self._service = Service("LLM", model, api_key, api_base, timeout, provider_keys or {})
        self._retry_wait = retry_wait
        self._usage = Usage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        return self._usage

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 1024) -> str:
        return "".join(self._answer(_messages(prompt, system), max_tokens, stream=False)).strip()

    def stream(self, prompt: str, *, system: str = "", max_tokens: int = 1024) -> Iterator[str]:
        return self._answer(_messages(prompt, system), max_tokens, stream=True)

    def _answer(self, messages: list[dict[str, str]], max_tokens: int, *, stream: bool) -> Iterator[str]:
        text = ""
        deadline = None
        for may_retry in (True, False):
            try:
                deadline = deadline or self._service.deadline()
                for piece in without_thoughts(self._pieces(messages, max_tokens, stream, deadline)):
                    text += piece
                    yield piece
                if not text.strip():
                    raise Failure("thinking")
                if len(text) < LONGEST_REFUSAL and DECLINED.match(text):
                    raise Failure("refused")
                return
            except Failure as failure:
                # LiteLLM drops a refusal from a stream, and some gateways cannot stream: asked whole, they say more.
                ask_whole = stream and (failure.kind in ("empty", "cut") or "stream_options" in failure.detail)
                helps = ask_whole or failure.kind in RETRY
                if text or not may_retry or not helps or time.monotonic() + self._retry_wait >= deadline:
                    raise self._unavailable(failure, text) from None
            stream = stream and not ask_whole
            time.sleep(0 if ask_whole else self._retry_wait)

    def _unavailable(self, failure: Failure, text: str) -> LLMUnavailable:
        kind = failure.kind if failure.kind == "refused" or not text else "cut"
        return LLMUnavailable(self._service.sentence(kind, failure.detail), reason=FAILURES[kind][0])

    def _pieces(self, messages: list[dict[str, str]], max_tokens: int, stream: bool, deadline: float) -> Iterator[str]:
        """One request's text. Raises Failure: also when there was no text, or the model declined."""
        request = {"messages": messages, "max_tokens": max_tokens, "stream": stream}
        if stream:
            request["stream_options"] = {"include_usage": True}
        text, finish, refused, reported = "", None, False, None
        try:
            for chunk in self._service.call("completion", deadline, **request):
                reported = getattr(chunk, "usage", None) or reported
                for choice in chunk.choices[:1]:
                    part = choice.message if not stream else choice.delta
                    finish = choice.finish_reason or finish
                    refused = refused or bool(getattr(part, "refusal", None))
                    if piece := repair(part.content or ""):
                        text += piece
                        yield piece
        finally:
            self._count(messages, text, reported)
        if refused or finish == "content_filter":
            raise Failure("refused")
        if not text.strip():
            raise Failure("thinking" if finish == "length" else "empty")

    def _count(self, messages: list[dict[str, str]], text: str, reported: Any) -> None:
        """Add one request to the usage; what the provider does not report is estimated."""
        asked = getattr(reported, "prompt_tokens", 0) or sum(estimate_tokens_mixed(m["content"]) for m in messages)
        answered = getattr(reported, "completion_tokens", 0) or estimate_tokens_mixed(text)
        if not reported and not text:
            return  # the request failed: providers do not charge for that
        with self._lock:
            self._usage += Usage(asked, answered, cost_of(self.name, asked, answered))


def _messages(prompt: str, system: str) -> list[dict[str, str]]:
    """Repaired: half a character in a pasted prompt must not fail as a fault of the network."""
    parts = (("system", repair(system)), ("user", repair(prompt)))
    return [{"role": role, "content": content} for role, content in parts if content or role == "user"]


# How models decline in plain text. "I can't answer this from the documents" is an answer, so the pattern asks for the stock
# phrases, and only at the start of a short text.
LONGEST_REFUSAL = 200  # characters
DECLINED = re.compile(
    r"(?:[^.,]*\b(?:sorry|apologi[sz]e)[,.]? (?:but )?)?"
    r"I(?: can(?:no|['’])t|(?: am|['’]m) (?:not able|unable) to) (?:help|assist|comply)(?: you)? with (?:that|this)"
    r"|[^，。]{0,4}(?:抱歉|对不起)，?(?:但是?)?我?(?:无法|不能)(?:协助|帮助|满足|处理)(?:你|您)?的?(?:这个|该|此)?(?:请求|要求|问题)",
    re.IGNORECASE,
)


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces without a <think>…</think> block at the start, which local reasoning models put into the answer itself.

    >>> list(without_thoughts(["<thi", "nk>hm</think>", "\\n4", "2"]))
    ['4', '2']
    """
    held = ""
    begun = False
    for piece in pieces:
        if begun:
            yield piece
            continue
        held += piece
        start = held.lstrip()
        if "<think>".startswith(start[:7]):
            if "</think>" not in start:
                continue
            start = start.partition("</think>")[2].lstrip()
        if start:
            begun = True
            yield start
        held = start
    if not begun and held.strip() and not held.lstrip().startswith("<think>"):
        yield held
