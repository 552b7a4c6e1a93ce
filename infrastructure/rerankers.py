"""A second look at the best passages: a cross-encoder reads question and passage together, which no vector can.

It costs about a hundredth of a second a passage with a small model and half a second with a large one, so it only reorders what
the search has found, and only where the learner names a model that is on this machine already.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from infrastructure.embedders import cached_model, quiet_transformers
from infrastructure.errors import RerankerUnavailable
from infrastructure.language import tr
from infrastructure.text import repair


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder: a folder, or a hub name that is in the local cache. Nothing is downloaded.

    The constructor looks whether it is there (0.1 s) and raises RerankerUnavailable with the next step; the model is loaded
    when it is first asked.
    """

    def __init__(self, name: str) -> None:
        folder = Path(name).expanduser()
        found = folder if folder.is_dir() else cached_model(name)
        if found is None:
            raise RerankerUnavailable(
                tr(
                    f"The reranker {name} is not on this machine, so the search's own order stays; fetch it once with: "
                    f"hf download {name}",
                    f"本机没有重排模型 {name}，先按检索本身的顺序；可用 hf download {name} 下载一次。",
                )
            )
        self.name = name
        self._folder = found
        self._model: Any = None

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the question, in [0, 1], in the order given; [] for none. Raises RerankerUnavailable."""
        if not passages:
            return []
        try:
            pairs = [(repair(question), repair(passage)) for passage in passages]
            return [float(score) for score in self._loaded().predict(pairs, show_progress_bar=False)]
        except Exception as error:  # a damaged folder fails in as many ways as there are file formats
            raise RerankerUnavailable(
                tr(
                    f"The reranker {self.name} does not work, so the search's own order stays; check RERANK_MODEL.",
                    f"重排模型 {self.name} 无法使用，先按检索本身的顺序；请检查 RERANK_MODEL。",
                )
            ) from error

    def _loaded(self) -> Any:
        if self._model is None:
            quiet_transformers()
            from sentence_transformers import CrossEncoder
            from torch.nn import Sigmoid

            self._model = CrossEncoder(
                str(self._folder), num_labels=1, max_length=512, local_files_only=True, activation_fn=Sigmoid()
            )
        return self._model
