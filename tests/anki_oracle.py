"""Anki itself, as a judge of what we export. It is AGPL and a test tool only: nothing in the product imports it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def collection(folder: Path) -> Iterator[Any]:
    """An empty collection of Anki's. Skips the test where Anki has no wheel."""
    module = pytest.importorskip("anki.collection", reason="anki has no wheel for this platform or Python")
    opened = module.Collection(str(folder / "collection.anki2"))
    yield opened
    opened.close()


def taken_in(collection: Any, path: Path) -> tuple[int, int]:
    """(new notes, updated notes) of an import with Anki's usual choices."""
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    request = ImportAnkiPackageRequest(package_path=str(path), options=ImportAnkiPackageOptions())
    log = collection.import_anki_package(request).log
    return len(log.new), len(log.updated)
