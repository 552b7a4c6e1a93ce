"""The language model: an answer, or one sentence that says why there is none and what to do.

    prompt → LiteLLM in a daemon thread → queue → the caller, who never waits longer than the timeout

A model is used only when LLM_MODEL names one: a key that happens to lie in the environment sends nothing anywhere. What
providers, gateways and networks do wrong is sorted into `FAILURES`, once, for answers here and for embeddings in embedders.
"""

import importlib
import logging
import os
import queue
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from infrastructure.errors import LLMUnavailable
from infrastructure.language import tr
from infrastructure.settings import Settings
from infrastructure.text import estimate_tokens_mixed, repair

RETRY_WAIT = 1.0  # seconds; a rate limit needs longer, but nobody wants to wait for it unasked
LONGEST_DETAIL = 160  # characters of a provider's own words in one of our sentences

Item = TypeVar("Item")


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

    def _unavailable(self, failure: "Failure", text: str) -> LLMUnavailable:
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


# ---- The call: bounded in time, whatever the library does ----


def load_litellm() -> Any:
    """LiteLLM, imported once and silent. It takes seconds, so only a call to a model asks for it.

    Left alone it fetches a price list, reads any .env above the working directory into the environment, and prints banners.
    Raises Failure when it is not installed.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    try:
        litellm = importlib.import_module("litellm")
    except ImportError:
        raise Failure("missing") from None
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True  # a model that lacks an option is asked without it
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    return litellm


def cost_of(model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """US dollars by LiteLLM's own price list, None for a model it lacks."""
    litellm = load_litellm()
    try:
        return sum(litellm.cost_per_token(model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens))
    except Exception:  # noqa: BLE001 - LiteLLM raises a bare Exception, and a missing price must not cost an answer
        return None


def in_time(produce: Callable[[], Iterator[Item]], first: float, pause: float) -> Iterator[Item]:
    """The items of `produce()`, made in a daemon thread. Raises TimeoutError when the first takes longer than `first`
    seconds or a later one longer than `pause`, and whatever `produce` raises.

    The HTTP client's own timeout is not enough: it does not cover looking up a name, and a byte now and then resets it.
    """
    made: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    abandoned = threading.Event()

    def work() -> None:
        try:
            for item in produce():
                if abandoned.is_set():
                    return
                made.put(("item", item))
            made.put(("end", None))
        except Exception as error:  # noqa: BLE001 - it is raised again in the caller's thread
            made.put(("error", error))

    threading.Thread(target=work, name="model-call", daemon=True).start()
    try:
        limit = first
        while True:
            what, value = _wait(made, limit)
            if what == "error":
                raise value
            if what == "end":
                return
            yield value
            limit = pause
    finally:
        abandoned.set()  # the thread lets go of the connection at the next piece, so nobody pays for unread text


def _wait(made: "queue.SimpleQueue[tuple[str, Any]]", seconds: float) -> tuple[str, Any]:
    """The next entry, or TimeoutError. In short waits, because Windows delivers Ctrl-C only between them."""
    end = time.monotonic() + seconds
    while True:
        try:
            return made.get(timeout=min(0.2, max(end - time.monotonic(), 0)))
        except queue.Empty:
            if time.monotonic() >= end:
                raise TimeoutError from None


# ---- What can go wrong ----

# kind: (reason, English, Chinese). Each sentence ends with the next step.
FAILURES: dict[str, tuple[str, str, str]] = {
    "missing": (
        "other",
        "{model} needs the package litellm; install it with: pip install litellm",
        "使用 {model} 需要 litellm，请安装：pip install litellm",
    ),
    "no key": (
        "auth",
        "{model} needs a key; set {keys}.",
        "{model} 需要密钥，请设置 {keys}。",
    ),
    "wrong key": (
        "auth",
        "{model} did not accept the key; check {keys}.",
        "{model} 不接受这个密钥，请检查 {keys}。",
    ),
    "region": (
        "other",
        "{model} is not offered where you are; choose another {MODEL}, or a gateway with {BASE}.",
        "{model} 在您所在的地区不可用，请换一个 {MODEL}，或用 {BASE} 指定网关。",
    ),
    "quota": (
        "quota",
        "The account behind {model} has no credit left; top it up, or choose another {MODEL}.",
        "{model} 的账户余额不足，请充值，或换一个 {MODEL}。",
    ),
    "busy": (
        "network",
        "{model} is getting too many requests; try again in a minute.",
        "{model} 的请求过于频繁，请过一分钟再试。",
    ),
    "server": (
        "network",
        "The server of {model} failed; try again in a minute, or choose another {MODEL}.",
        "{model} 的服务器出错，请过一分钟再试，或换一个 {MODEL}。",
    ),
    "unreachable": (
        "network",
        "{where} cannot be reached; check that it is running, the network, and {BASE}.",
        "无法连接 {where}，请检查服务是否已启动、网络是否正常，以及 {BASE}。",
    ),
    "timeout": (
        "timeout",
        "{model} did not answer within {seconds} seconds; try again, or raise LLM_TIMEOUT.",
        "{model} 在 {seconds} 秒内没有回答，请重试，或调大 LLM_TIMEOUT。",
    ),
    "refused": (
        "refused",
        "{model} declined to answer; put the question another way.",
        "{model} 拒绝回答，请换一种问法。",
    ),
    "empty": (
        "empty",
        "{model} sent an empty answer; try again, and if that does not help, check {MODEL} and {BASE}.",
        "{model} 返回了空的回答，请重试；如果仍然如此，请检查 {MODEL} 和 {BASE}。",
    ),
    "thinking": (
        "empty",
        "{model} spent its whole allowance on thinking; choose another {MODEL}, one that answers directly.",
        "{model} 把额度都用在了思考上，请换一个直接作答的 {MODEL}。",
    ),
    "cut": (
        "cut",
        "The answer of {model} broke off in the middle; ask again.",
        "{model} 的回答中途断开，请再问一次。",
    ),
    "name": (
        "other",
        "{MODEL}={model} is not a name LiteLLM knows; write it as provider/model, for example deepseek/deepseek-chat.",
        "LiteLLM 不认识 {MODEL}={model}，请写成 服务商/模型，例如 deepseek/deepseek-chat。",
    ),
    "unknown": (
        "other",
        "{where} has no model {model}; check {MODEL} and {BASE}.",
        "{where} 没有模型 {model}，请检查 {MODEL} 和 {BASE}。",
    ),
    "page": (
        "other",
        "{where} sent no answer but something like a web page; check {BASE}, which usually ends in /v1, and whether the "
        "network wants you to sign in.",
        "{where} 返回的不是回答，可能是网页；请检查 {BASE}（通常以 /v1 结尾），以及网络是否需要登录。",
    ),
    "long": (
        "other",
        "The question with its sources is too long for {model}; use a smaller --top-k, or another {MODEL}, one that reads more.",
        "问题连同资料超出了 {model} 的长度，请减小 --top-k，或换一个上下文更长的 {MODEL}。",
    ),
    "vector": (
        "other",
        "{model} does not give usable vectors; check that {MODEL} is an embedding model.",
        "{model} 没有给出可用的向量，请检查 {MODEL} 是否为嵌入模型。",
    ),
    "other": (
        "other",
        "{model} failed ({detail}); check {MODEL} and {BASE}.",
        "{model} 出错（{detail}），请检查 {MODEL} 和 {BASE}。",
    ),
}
RETRY = {"busy", "server", "timeout"}

# Providers say the same thing with different status codes: an empty account is 402, 429 or 400 with one of these words.
_WORDS = {
    "region": ("unsupported_country", "not supported in your region", "location is not supported"),
    "quota": (
        *("insufficient balance", "insufficient_quota", "insufficient credit", "exceeded your current quota"),
        *("credit balance is too low", "payment required", "arrearage", "余额不足", "欠费"),
    ),
    "wrong key": ("api key not valid", "invalid api key", "incorrect api key", "api_key client option must be set"),
    "name": ("llm provider not provided", "unmapped llm provider"),
    "long": ("maximum context length", "context_length_exceeded", "prompt is too long"),
    "refused": ("content exists risk", "data_inspection_failed", "content_filter", "敏感内容"),
    "page": ("<html", "<!doctype", "has no attribute 'model_dump'", "validation error for", "traceback (most recent"),
    "unreachable": (
        *("connection error", "connection refused", "actively refused", "cannot connect", "network is unreachable"),
        *("name or service not known", "name resolution", "getaddrinfo failed"),
    ),
}
_NAMES = {
    "ContextWindowExceededError": "long",
    "ContentPolicyViolationError": "refused",
    "MidStreamFallbackError": "cut",
    "APITimeoutError": "timeout",
    "Timeout": "timeout",
    "TimeoutError": "timeout",
}
_STATUS = {
    401: "wrong key",
    402: "quota",
    403: "wrong key",
    404: "unknown",
    408: "timeout",
    429: "busy",
    504: "timeout",
}


class Failure(Exception):
    """One of FAILURES, before it becomes a sentence. `detail` is a provider's own words, still with whatever is in them."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.detail = detail

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """Sort whatever LiteLLM or a provider's client has raised."""
        said = str(error).lower()
        by_words = next((kind for kind, words in _WORDS.items() if any(word in said for word in words)), None)
        status = getattr(error, "status_code", None)
        by_status = _STATUS.get(status) or ("server" if isinstance(status, int) and status >= 500 else None)
        return cls(by_words or _NAMES.get(type(error).__name__) or by_status or "other", str(error))


@dataclass(frozen=True)
class Service:
    """One model at one provider, and how its variables are called: `prefix` is LLM or EMBEDDING.

    `call` does a request; `sentence` words a failure without ever showing a key.
    """

    prefix: str
    model: str
    api_key: str | None = field(repr=False)
    api_base: str | None
    timeout: float
    provider_keys: Mapping[str, str] = field(repr=False)

    def deadline(self) -> float:
        """Now + timeout, on the monotonic clock. Importing LiteLLM takes seconds and does not count."""
        load_litellm()
        return time.monotonic() + self.timeout

    def call(self, function: str, deadline: float, *, stream: bool = False, **request: Any) -> Iterator[Any]:
        """Ask LiteLLM. Yields the chunks of a stream, or the one response. Raises Failure and nothing else."""
        try:
            litellm = load_litellm()
            request |= {"api_key": self._key(litellm), "api_base": self.api_base, "model": self.model}
            request |= {"timeout": self.timeout, "max_retries": 0, "num_retries": 0}

            def produce() -> Iterator[Any]:
                response = getattr(litellm, function)(**request, **({"stream": True} if stream else {}))
                return iter(response) if stream else iter([response])

            yield from in_time(produce, deadline - time.monotonic(), self.timeout)
        except Failure:
            raise
        except Exception as error:  # noqa: BLE001 - clients raise what they like; every failure is sorted and worded
            raise Failure.of(error) from None

    def _key(self, litellm: Any) -> str | None:
        """The key to send; None leaves it to LiteLLM, which finds the provider's own variable. Failure when there is none."""
        if self.api_key:
            return self.api_key
        wanted = self._provider_variables(litellm)
        for name in wanted:
            if name in self.provider_keys:
                return self.provider_keys[name]
        if wanted and not self.api_base:
            raise Failure("no key", " / ".join(wanted))
        return "none" if wanted else None  # a server of one's own seldom asks for a key, but the client insists on one

    def _provider_variables(self, litellm: Any) -> list[str]:
        """The provider's own names for its key, as far as the environment does not have them: ["DEEPSEEK_API_KEY"]."""
        missing = litellm.validate_environment(self.model)["missing_keys"]
        return [name for name in missing if name.endswith("_API_KEY")]

    def sentence(self, kind: str, detail: str = "") -> str:
        _, english, chinese = FAILURES[kind]
        keys = f"{self.prefix}_API_KEY"
        facts = {
            "model": self.model,
            "where": re.sub(r"(?<=//)[^/@]*@", "", self.api_base or self.model.partition("/")[0]),
            "seconds": f"{self.timeout:g}",
            "keys": f"{keys} ({detail})" if kind == "no key" else keys,
            "detail": self._shown(detail),
            "MODEL": f"{self.prefix}_MODEL",
            "BASE": f"{self.prefix}_API_BASE",
        }
        return tr(english.format(**facts), chinese.format(**facts))

    def _shown(self, detail: str) -> str:
        """A provider's own words in one line, short, without anything that is or looks like a key."""
        for secret in filter(None, (self.api_key, *self.provider_keys.values())):
            detail = detail.replace(secret, "…")
        detail = re.sub(r"\b(?:sk|pk|gsk|xai|key)[-_][\w*.-]{6,}|\bBearer \S+|\bAIza[\w-]{10,}", "…", detail)
        return " ".join(repair(detail).split())[:LONGEST_DETAIL]
