"""The pypdf engine: opening, unlocking, labels, outline, and pages that would cost too much."""

import zlib
from pathlib import Path

import pytest
from data.make_pdfs import cyclic_pages, make_pdf, set_stream, writer_of, written

from infrastructure.errors import PasswordNeeded
from study import pypdf_engine
from study.engine import EngineError
from study.pypdf_engine import PypdfFile

THREE = ["first page", "second page", "third page"]


@pytest.fixture
def opened(tmp_path: Path):
    """opened(bytes, password) → PypdfFile; closed after the test."""
    files = []

    def open_pdf(data: bytes, password: str | None = None) -> PypdfFile:
        path = tmp_path / f"{len(files)}.pdf"
        path.write_bytes(data)
        files.append(PypdfFile(path, password))
        return files[-1]

    yield open_pdf
    for file in files:
        file.close()


# ---- passwords ----


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"])
def test_user_and_owner_password_both_open(opened, algorithm):
    data = make_pdf(THREE, password="user", owner_password="owner", algorithm=algorithm)
    assert [opened(data, password).read(0).text for password in ("user", "owner")] == ["first page"] * 2


def test_a_file_that_only_forbids_printing_opens_without_a_password(opened):
    assert opened(make_pdf(THREE, owner_password="owner")).read(2).text == "third page"


def test_a_needless_password_does_no_harm(opened):
    assert opened(make_pdf(THREE), "whatever").page_count == 3


def test_a_password_with_compatibility_letters_is_prepared(opened):
    assert opened(make_pdf(THREE, password="SaSLprep"), "SªSL\u00adprep").page_count == 3


@pytest.mark.parametrize(("password", "word"), [(None, "protected"), ("guess", "does not open")])
def test_a_locked_file_says_whether_the_password_is_missing_or_wrong(opened, password, word):
    with pytest.raises(PasswordNeeded, match=word):
        opened(make_pdf(THREE, password="secret"), password)


def test_the_password_never_appears_in_the_message(opened):
    with pytest.raises(PasswordNeeded) as caught:
        opened(make_pdf(THREE, password="secret"), "my guess")
    assert "my guess" not in str(caught.value)


# ---- damage and cost ----


DAMAGED = [b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<</Root 1 0 R>>", cyclic_pages(make_pdf(THREE))]


@pytest.mark.parametrize("data", DAMAGED)
def test_damage_is_always_an_engine_error(opened, data):
    with pytest.raises(EngineError):
        opened(data)


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
