"""How fast do documents become searchable? Reading, chunking and storing words, against pypdf's text alone, on the same files.

    python benchmarks/ingestion.py FILE_OR_FOLDER... [--runs N] [--json FILE]

pypdf     the text of every page, by pypdf alone, in this process
reading   ours: every page read, judged, cleaned, headings placed
loading   ours: the same, cut into passages and stored with its words, ready to be searched; the embedder is paused
rate      pypdf's time against loading's: 1.0 is as fast as pypdf alone, 3.0 three times as fast

The median of the runs is shown; locked and broken files are left out. Figures are only comparable within one run of one machine.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from infrastructure.errors import DocumentError  # noqa: E402
from infrastructure.storage import Storage  # noqa: E402
from study.paths import expand  # noqa: E402
from study.reading import read_document  # noqa: E402

FEWEST_PAGES = 5  # a file of a page or two measures the start of the reader


def pypdf_alone(path: Path) -> int:
    """Characters of the file's text. Raises whatever pypdf raises."""
    from pypdf import PdfReader

    return sum(len(page.extract_text()) for page in PdfReader(path).pages)


def loaded(path: Path) -> int:
    """Passages stored, in a home of their own that is gone afterwards."""
    m13 = import_module("13_pdf_learning_assistant")
    with TemporaryDirectory() as home, Storage(Path(home)) as storage:
        return m13.PDFLearningAssistant(storage).load_document(path).chunks


def seconds(action: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def measure(path: Path, runs: int) -> dict[str, Any] | None:
    """Medians for one file; None when it cannot be read, or has too few pages to tell."""
    try:
        document = read_document(path)
        pypdf_alone(path)
    except DocumentError:
        return None
    except Exception:  # noqa: BLE001  pypdf raises what the file makes it raise
        return None
    if len(document.pages) < FEWEST_PAGES:
        return None
    timed = {"pypdf": pypdf_alone, "reading": read_document, "loading": loaded}
    # One after the other in each run, so that a busy machine slows all three.
    rounds = [{name: seconds(lambda act=act: act(path)) for name, act in timed.items()} for _ in range(runs)]
    row = {name: round(statistics.median(found[name] for found in rounds), 3) for name in timed}
    return {"file": path.name, "pages": len(document.pages), **row, "rate": round(row["pypdf"] / row["loading"], 2)}


def total(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    sums = {name: round(sum(row[name] for row in rows), 3) for name in ("pages", "pypdf", "reading", "loading")}
    return {"file": "all", **sums, "rate": round(sums["pypdf"] / sums["loading"], 2)}


def table(rows: Sequence[dict[str, Any]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    shown = Table("file")
    for name in list(rows[0])[1:]:
        shown.add_column(name, justify="right")
    for row in rows:
        shown.add_row(Text(row["file"]), *(str(value) for value in list(row.values())[1:]))
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="FILE_OR_FOLDER")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    files = [path for path in expand(args.paths) if isinstance(path, Path) and path.suffix.lower() == ".pdf"]
    rows = [row for row in (measure(path, args.runs) for path in files) if row is not None]
    if not rows:
        parser.error(f"no PDF with {FEWEST_PAGES} pages or more that can be read")
    rows.append(total(rows))
    from rich.console import Console

    Console().print(table(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
