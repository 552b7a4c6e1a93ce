"""mem0 as a rival: a store that keeps what was said word for word (infer=False), since its own model would need a key.

It gets our embedder's vectors. Its telemetry is switched off, and what it writes goes to a temporary folder.
"""

import logging
import os
from collections.abc import Sequence
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.readers import Corpus, Question
from benchmarks.rivals import DEPTH

_SETTINGS = TemporaryDirectory(prefix="mem0-", ignore_cleanup_errors=True)  # mem0 reads its folder once, when imported
os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": _SETTINGS.name, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
LEARNER = "learner"


class Vectors:
    """Our embedder as mem0 calls one."""

    def __init__(self, embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        if memory_action == "search":
            return self._embedder.embed_query(text).tolist()
        return self._embedder.embed_passages([text])[0].tolist()

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


class Mem0:
    """Each item is one memory of one user."""

    name = "mem0 (infer=False)"

    def __init__(self, embedder) -> None:
        self._embedder, self._open = embedder, ExitStack()

    def index(self, corpus: Corpus) -> None:
        from mem0 import Memory

        logging.getLogger("mem0").setLevel(logging.CRITICAL)
        self.close()
        folder = self._open.enter_context(TemporaryDirectory(prefix="mem0-", ignore_cleanup_errors=True))
        self._memory = Memory.from_config(self._configuration(folder))
        self._memory.embedding_model = Vectors(self._embedder)
        for item in corpus.items:
            self._memory.add(item.text, user_id=LEARNER, metadata={"item": item.id}, infer=False)

    def _configuration(self, folder: str) -> dict[str, Any]:
        """The provider named here is never called: its place is taken at once, and infer=False asks no model."""
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        store = {
            "collection_name": "items",
            "path": f"{folder}/qdrant",
            "embedding_model_dims": self._embedder.dimension,
        }
        return {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": unused,
            "llm": unused,
            "history_db_path": f"{folder}/history.db",
        }

    def rank(self, question: Question) -> list[str]:
        found = self._memory.search(question.text, filters={"user_id": LEARNER}, top_k=DEPTH, threshold=0.0)
        return [hit["metadata"]["item"] for hit in found["results"]]

    def close(self) -> None:
        self._open.close()
