"""The child process that reads files: one request a line on stdin, one answer a line on stdout, both JSON; see worker.py.

It holds one open file at a time. What it must not do to the learner's session it may do here: hang, fill memory, crash.
"""

import json
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from infrastructure.errors import PasswordNeeded, StudyError
from infrastructure.language import set_language
from study.chain import ENGINES, Chain
from study.engine import EngineError, reason_of

MOST_MEMORY = 4_000_000_000  # bytes of address space; reading takes a tenth of it, recognising half


class Servant:
    """Does what a request asks: its methods are the requests. The answer is what JSON can hold."""

    def __init__(self) -> None:
        self.chain: Chain | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """{"value": …}, or {"error": a sentence or reason, "kind": "engine" | "password" | "study"}."""
        do, options = request.pop("do"), request
        try:
            return {"value": getattr(self, do)(**options)}
        except PasswordNeeded as error:
            return {"error": str(error), "kind": "password"}
        except StudyError as error:
            return {"error": str(error), "kind": "study"}
        except EngineError as error:
            return {"error": str(error), "kind": "engine"}
        except (Exception, MemoryError) as error:  # noqa: BLE001  whatever a file makes a library do is the file's fault
            return {"error": reason_of(error), "kind": "engine"}

    def open(self, path: str, password: str | None, language: str, without: list[str]) -> dict[str, Any]:
        set_language(language)
        self.close()
        self.chain = Chain(Path(path), password, [engine for engine in ENGINES if engine.name not in without])
        return {"pages": self.chain.first.page_count, "title": self.chain.first.title}

    def close(self) -> None:
        if self.chain is not None:
            self.chain.close()
            self.chain = None

    def labels(self) -> list[str | None]:
        return self.chain.labels()

    def outline(self) -> list[list[Any]]:
        return [list(entry) for entry in self.chain.outline()]

    def sizes(self, page: int) -> dict[str, float]:
        return self.chain.sizes(page)

    def page(self, page: int) -> list[Any]:
        return list(self.chain.read(page))

    def recognise(self, page: int) -> str:
        from study.ocr import recognise

        return recognise(self.chain.picture(page))

    def convert(self, path: str, language: str) -> str:
        from study.office import to_markdown

        set_language(language)
        return to_markdown(Path(path))


def main() -> None:
    """Until stdin ends: when the session is gone, so is this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the session's; it ends this process when it wants to
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)  # libraries that print must not garble the answers
    sys.stdout = sys.stderr
    logging.disable(logging.CRITICAL)
    _limit_memory()
    servant = Servant()
    for line in sys.stdin:
        answers.write(json.dumps(servant.answer(json.loads(line))) + "\n")


def _limit_memory() -> None:
    """Where the system can do that; elsewhere the engines' own limits have to do."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    main()
