"""The article's lowest layer: settings, text, storage, ranking, embedders, language model, console."""

import sys
from types import TracebackType


def _say_interrupted(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Ctrl-C while a script is still importing, when nobody can catch it: one line, and the shell's own exit code 130."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("\nInterrupted. 已中断。\n")
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _say_interrupted
