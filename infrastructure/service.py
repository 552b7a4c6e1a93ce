"""One model at one provider, through LiteLLM: a call that is bounded in time, and what can go wrong with it.

    Service.call → LiteLLM in a daemon thread → queue → the caller, who never waits longer than the timeout

What providers, gateways and networks do wrong is sorted into `FAILURES`, once: for answers in llm.py and for embeddings in
embedders.py, which make an error of their own from a `Failure`.
"""

import importlib
import logging
import os
import queue
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from infrastructure.language import tr
from infrastructure.text import repair

RETRY_WAIT = 1.0  # seconds; a rate limit needs longer, but nobody wants to wait for it unasked
LONGEST_DETAIL = 160  # characters of a provider's own words in one of our sentences

Item = TypeVar("Item")


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


# ---- The library, silenced ----


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


# ---- Bounded in time, whatever the library does ----


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
