"""Reading in a child process: what the child says, and what happens when it hangs, breaks down, or the learner has enough."""

import os
import signal
import time
from pathlib import Path

import pytest
from data.make_pdfs import make_pdf

from infrastructure.errors import PasswordNeeded
from study import worker
from study.engine import EngineError
from study.outline import OutlineEntry
from study.worker import FileReader, Worker, WorkerLost, opened

ASK = Worker.ask
THREE = ["first page", "second page", "third page"]


@pytest.fixture
def book(tmp_path) -> Path:
    path = tmp_path / "book.pdf"
    path.write_bytes(make_pdf(THREE, outline=[(1, "One", 1)], labels=[(1, 3, "r", 1)], title="Guide"))
    return path


class Broken(Worker):
    """A worker that is lost on the second page, in the way `in_time` says, and is otherwise a real one."""

    in_time = True

    def ask(self, do, *, seconds, **options):
        if do == "page" and options["page"] == 1 and self.breaks(options):
            self.end()
            raise WorkerLost(in_time=self.in_time)
        if do == "open":
            self.without = options["without"]
        return super().ask(do, seconds=seconds, **options)

    def breaks(self, options) -> bool:
        return True


@pytest.fixture
def broken(monkeypatch):
    """Readers get workers of this class."""

    def use(kind):
        monkeypatch.setattr(worker, "Worker", kind)
        monkeypatch.setattr(worker, "_idle", [])

    yield use
    worker.end_idle()


def test_pages_labels_outline_and_title_come_from_the_child(book):
    with opened(book) as file:
        assert [file.page(number).text for number in range(3)] == THREE
        assert file.labels() == ["i", "ii", "iii"]
        assert file.outline() == [OutlineEntry(1, "One", 1)]
        assert (file.title, file.page_count) == ("Guide", 3)
        assert file.sizes(0)["firstpage"] > 0


def test_the_child_serves_the_next_file_too(book):
    with opened(book) as first:
        child = first._worker
    with opened(book) as second:
        assert second._worker is child


def test_a_child_that_waits_has_let_go_of_the_file(book):
    with opened(book) as file:
        child = file._worker
    with pytest.raises(EngineError):
        child.ask("labels", seconds=10)


def test_a_child_ends_when_its_session_does():
    child = Worker()
    child._process.stdin.close()
    assert child._process.wait(timeout=20) == 0


def test_a_child_that_holds_models_is_not_kept(book, monkeypatch):
    monkeypatch.setattr(worker, "_idle", [])
    monkeypatch.setattr(
        Worker, "ask", lambda self, do, **options: "" if do == "recognise" else ASK(self, do, **options)
    )
    with opened(book) as file:
        assert file.recognise(0) == ""
        child = file._worker
    assert child._process.poll() is not None
    assert worker._idle == []


def test_text_of_any_script_comes_through_whole(tmp_path):
    path = tmp_path / "书 #1.pdf"
    path.write_bytes(make_pdf(["记忆与检索 naïve 🙂"]))
    with opened(path) as file:
        assert file.page(0).text == "记忆与检索 naïve 🙂"


def test_errors_cross_over_with_their_kind(tmp_path):
    path = tmp_path / "book.pdf"
    path.write_bytes(make_pdf(THREE, password="secret"))
    with pytest.raises(PasswordNeeded, match="protected"):
        FileReader(path, None)
    path.write_bytes(b"%PDF-1.7\n")
    with pytest.raises(EngineError):
        FileReader(path, None)


def test_a_child_that_does_not_answer_in_time_is_ended():
    child = Worker()
    os.kill(child._process.pid, signal.SIGSTOP)
    begun = time.monotonic()
    with pytest.raises(WorkerLost) as lost:
        child.ask("close", seconds=0.2)
    assert not lost.value.in_time
    assert time.monotonic() - begun < 5
    assert child._process.poll() is not None


def test_a_child_that_dies_is_noticed_at_once():
    child = Worker()
    child._process.kill()
    with pytest.raises(WorkerLost) as lost:
        child.ask("close", seconds=60)
    assert lost.value.in_time


def test_a_page_that_takes_too_long_is_named_and_the_others_are_read(book, broken):
    class Slow(Broken):
        in_time = False

    broken(Slow)
    with opened(book) as file:
        pages = [file.page(number) for number in range(3)]
    assert [page.text for page in pages] == ["first page", "", "third page"]
    assert pages[1].reason == "it takes too long"


def test_a_page_that_breaks_the_first_engine_down_is_read_by_another(book, broken):
    class Fragile(Broken):
        def breaks(self, options):
            return not self.without

    broken(Fragile)
    with opened(book) as file:
        assert [file.page(number).text for number in range(3)] == THREE


def test_a_page_that_breaks_every_engine_down_is_named(book, broken):
    broken(Broken)
    with opened(book) as file:
        pages = [file.page(number) for number in range(3)]
    assert [page.text for page in pages] == ["first page", "", "third page"]
    assert "break down" in pages[1].reason


def test_slow_pages_get_less_and_less_time(book, monkeypatch):
    allowed = []

    class Watched(Worker):
        def ask(self, do, *, seconds, **options):
            if do == "page":
                allowed.append(seconds)
                self.end()
                raise WorkerLost(in_time=False)
            return super().ask(do, seconds=seconds, **options)

    monkeypatch.setattr(worker, "Worker", Watched)
    monkeypatch.setattr(worker, "_idle", [])
    with opened(book) as file:
        for number in range(3):
            file.page(number)
    assert allowed == [worker.PAGE_SECONDS / share for share in (1, 2, 3)]
    worker.end_idle()


def test_a_child_that_owes_an_answer_is_not_kept(book, monkeypatch):
    class Interrupted(Worker):
        def ask(self, do, *, seconds, **options):
            if do == "labels":
                self.is_free = False
                raise KeyboardInterrupt
            return super().ask(do, seconds=seconds, **options)

    monkeypatch.setattr(worker, "Worker", Interrupted)
    monkeypatch.setattr(worker, "_idle", [])
    with pytest.raises(KeyboardInterrupt), opened(book) as file:
        first = file._worker
        file.labels()
    assert first._process.poll() is not None
    worker.end_idle()
