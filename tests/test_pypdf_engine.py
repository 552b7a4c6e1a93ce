"""What is particular to the second engine: pages that would cost too much. The rest is in test_engines.py."""

import zlib

import pytest
from data.make_pdfs import cyclic_pages, make_pdf, set_stream, writer_of, written

from study import pypdf_engine
from study.engine import EngineError
from study.pypdf_engine import PypdfFile

THREE = ["first page", "second page", "third page"]


@pytest.fixture
def engine():
    return PypdfFile


def test_a_page_tree_that_contains_itself_is_damage(opened):
    with pytest.raises(EngineError):
        opened(cyclic_pages(make_pdf(THREE)))


def test_a_page_that_unpacks_to_264_megabytes_is_refused_with_a_reason(opened):
    writer = writer_of(THREE)
    set_stream(writer, 1, zlib.compress(bytes(264_000_000), 1))
    with pytest.raises(EngineError, match="unpacks to more"):
        opened(written(writer)).read(1)


def test_page_content_that_would_take_minutes_is_refused(opened):
    writer = writer_of(THREE)
    set_stream(writer, 0, zlib.compress(b"0 0 m 9 9 l S " * 700_000))
    with pytest.raises(EngineError, match="too large"):
        opened(written(writer)).read(0)


def test_a_page_with_too_many_drawing_steps_is_refused(opened, monkeypatch):
    monkeypatch.setitem(pypdf_engine.LIMITS, "stream_parsing_work_maximum_count", 1000)
    writer = writer_of(THREE)
    set_stream(writer, 0, zlib.compress(b"0 0 m 9 9 l S " * 1000 + b"BT (x) Tj ET"))
    with pytest.raises(EngineError):
        opened(written(writer)).read(0)


def test_a_page_lets_go_of_its_unpacked_content(opened):
    file = opened(make_pdf(THREE))
    file.read(0)
    assert file._reader.pages[0]["/Contents"].decoded_self is None
