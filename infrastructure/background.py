"""Work that is repeated in a thread of its own: at an interval, and sooner when woken."""

import threading
from collections.abc import Callable


class Background:
    """Calls `work` every `interval_seconds` after `start`, and soon after `wake`, until `stop`. What `work` raises is a fault."""

    def __init__(self, work: Callable[[], object], name: str) -> None:
        self._work = work
        self._name = name
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def start(self, interval_seconds: float) -> None:
        """Harmless when it runs already."""
        if self._thread is None:
            self._stopping = False
            self._wake.clear()
            self._thread = threading.Thread(target=self._loop, args=(interval_seconds,), name=self._name, daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Work soon, without making anybody wait for it."""
        self._wake.set()

    def stop(self) -> None:
        """Wait for the work that is going on, and end. Harmless when nothing runs."""
        if self._thread is not None:
            self._stopping = True
            self._wake.set()
            self._thread.join()
            self._thread = None

    def _loop(self, interval_seconds: float) -> None:
        while not self._stopping:
            self._wake.wait(interval_seconds)
            self._wake.clear()
            if not self._stopping:
                self._work()
