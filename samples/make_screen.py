"""Make docs/screen.svg, the picture in the README: questions about the sample guide, as a terminal shows them.

    python samples/make_screen.py

The answers are real: the guide is loaded into a temporary folder and asked, and script 13's own views are drawn by rich.
"""

import re
import sys
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from rich.console import Console, Group  # noqa: E402
from rich.text import Text  # noqa: E402

from infrastructure.language import set_language  # noqa: E402
from infrastructure.settings import Settings  # noqa: E402
from study import views  # noqa: E402

GUIDE, TARGET = PROJECT / "samples" / "memory_rag_guide.pdf", PROJECT / "docs" / "screen.svg"
QUESTIONS = ("What is HyDE?", "RAG 系统怎么评估？", "那我这个实验应该先看哪个指标？")
WIDTH, SOURCES = 80, 2
# The reader's own fonts: a picture must not fetch one from somewhere.
FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', 'PingFang SC', 'Microsoft YaHei', monospace"


def session() -> Group:
    """What the learner types and sees."""
    m13 = import_module("13_pdf_learning_assistant")
    with TemporaryDirectory() as home, m13.open_assistant(Settings.load({"home": Path(home)})) as assistant:
        parts = [typed("$ ", f"python 13_pdf_learning_assistant.py samples/{GUIDE.name}")]
        parts += [views.load_report(assistant.load_document(GUIDE)), ""]
        assistant.settle()
        for question in QUESTIONS:
            answer = assistant.ask(question, top_k=SOURCES)
            parts += [typed("> ", question), "", views.answer(answer), ""]
    return Group(*parts, typed("> ", ""))


def typed(prompt: str, words: str) -> Text:
    return Text.assemble((prompt, "bold green"), (words, "bold"))


def picture(renderable: Group) -> str:
    console = Console(record=True, width=WIDTH, file=StringIO(), markup=False, emoji=False, highlight=False)
    console.print(renderable)
    svg = console.export_svg(title="Memory RAG study helper")
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family: Fira Code, monospace", f"font-family: {FONTS}", svg)


def main() -> None:
    set_language("en")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(picture(session()), encoding="utf-8")
    print(f"{TARGET.relative_to(PROJECT)}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
