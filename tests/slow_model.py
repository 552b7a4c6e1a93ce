"""Script 13 with a model that talks for a minute, ten words a second: for tests of what Ctrl-C does in a real terminal.

Run as a program only; it spares the seconds that LiteLLM takes to be imported.
"""

import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infrastructure import llm
from infrastructure.llm import Usage


class SlowLLM:
    """As `infrastructure.llm.LLM` wants it; it has no wordings of a question of its own."""

    name = "slow"
    usage = Usage()

    def complete(self, prompt: str, **options: object) -> str:
        return ""

    def stream(self, prompt: str, **options: object) -> Iterator[str]:
        for number in range(600):
            time.sleep(0.1)
            yield f"word {number} "


if __name__ == "__main__":
    llm.connect = lambda settings: SlowLLM()
    m13 = import_module("13_pdf_learning_assistant")
    m13.PDFLearningAssistant.warm_up = lambda self: None
    sys.exit(m13.main())
