"""A shelf in two languages: a question must find passages in the other one, too, however many there are in its own.

A multilingual embedder puts every Chinese passage nearer to a Chinese question than any English one, whatever they are about:
among 240 paragraphs, half of them English, the English one that answers a Chinese question was among the first fifty in 17 %.
Two remedies. Vectors of the two languages differ most along one axis; a question from which that axis is taken out nominates
by what is said, not by how (99 %). And in the pool a cosine counts on the scale of its own pair of languages: see `likeness`
in calibration.py.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from infrastructure.language import language_of

if TYPE_CHECKING:
    from infrastructure.storage import Storage

SAMPLE = 2_000  # texts looked at to tell which languages a shelf speaks
EACH = 100  # texts of a language that its mean vector is made of
FEWEST = 3  # … and with fewer it has none: those few are found, or the shelf is so small that all are
GROWTH = 1.1  # times the vectors, or as many fewer, after which the axis is looked for again


class LanguageAxis:
    """For each shelf of a home the unit vector (dim,) along which its languages differ; found once, and again as it grows."""

    def __init__(self, storage: "Storage") -> None:
        self._storage = storage
        self._found: dict[str, tuple[str, int, Any]] = {}  # shelf → (embedder, vectors then, axis)

    def of(self, shelf: str) -> Any:
        """(dim,), or None for a shelf that speaks one language."""
        embedder, known = self._storage.recorded_embedder or "", self._found.get(shelf)
        waiting = self._storage.database.value(
            "SELECT count(*) FROM pending WHERE op = 'embed' AND shelf = ?", (shelf,)
        )
        count = self._storage.count(shelf) - waiting  # texts with a vector: they come in while the learner asks already
        if known is None or known[0] != embedder or not known[1] / GROWTH <= count <= known[1] * GROWTH:
            self._found[shelf] = (embedder, count, self._look(shelf))
        return self._found[shelf][2]

    def _look(self, shelf: str) -> Any:
        import numpy as np

        rows = self._storage.database.rows(
            "SELECT id, substr(content, 1, 200) AS beginning FROM texts WHERE shelf = ? AND id % ? = 0",
            (shelf, max(1, self._storage.count(shelf) // SAMPLE)),
        )
        speaking: dict[str, list[int]] = {"en": [], "zh": []}
        for row in rows:
            speaking[language_of(row["beginning"])].append(row["id"])
        means = [self._mean(ids) for ids in speaking.values()]
        if any(mean is None for mean in means):
            return None
        axis = means[0] - means[1]
        length = float(np.linalg.norm(axis))
        return axis / length if length else None

    def _mean(self, ids: Sequence[int]) -> Any:
        """(dim,) mean vector of some of these texts; None when too few have one."""
        import numpy as np

        chosen = ids[:: max(1, len(ids) // EACH)]
        rows = self._storage.select_in("SELECT vector FROM vectors WHERE id IN", chosen)
        if len(rows) < FEWEST:
            return None
        return np.stack([np.frombuffer(row["vector"], dtype=np.float32) for row in rows]).mean(axis=0)


def without_language(vector: Any, axis: Any) -> Any:
    """(dim,) the part of a vector that stands across the axis; its cosines order texts of both languages alike."""
    return vector - (vector @ axis) * axis
