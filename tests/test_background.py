"""Repeated work in a thread: infrastructure/background.py."""

import threading

from infrastructure.background import Background


def test_it_works_when_woken_and_not_before():
    done = threading.Event()
    worker = Background(done.set, "test")
    worker.start(interval_seconds=3600)
    assert not done.wait(0.05)
    worker.wake()
    assert done.wait(5)
    worker.stop()


def test_stop_waits_for_the_work_that_is_going_on():
    started, finished = threading.Event(), []

    def work():
        started.set()
        threading.Event().wait(0.05)
        finished.append(True)

    worker = Background(work, "test")
    worker.start(0.001)
    started.wait(5)
    worker.stop()
    assert finished


def test_what_was_woken_before_a_stop_does_not_run_after_a_new_start():
    calls = []
    worker = Background(lambda: calls.append(True), "test")
    worker.start(3600)
    worker.stop()
    worker.wake()
    worker.start(3600)
    threading.Event().wait(0.05)
    worker.stop()
    assert calls == []
