"""The pypdf engine: opening, unlocking, labels, outline, and pages that would cost too much."""

import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from data.make_pdfs import cyclic_pages, make_pdf, set_stream, writer_of, written
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NullObject, NumberObject, TextStringObject

from infrastructure.errors import PasswordNeeded
from study import pypdf_engine
from study.engine import EngineError
from study.outline import DEEPEST_OUTLINE, OutlineEntry
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


def outline_item(writer, title, destination):
    """A raw outline entry, as broken as a test wants it."""
    entry = DictionaryObject({NameObject("/Title"): TextStringObject(title)})
    if destination is not None:
        entry[NameObject("/Dest")] = destination
    return writer._add_object(entry)


def with_outline(*chain, link_back=False):
    """Three pages and a chain of (title, page from 1 | None | destination) entries."""
    writer = writer_of(THREE)
    entries = []
    for title, target in chain:
        if isinstance(target, int):
            target = ArrayObject([writer.pages[target - 1].indirect_reference, NameObject("/Fit")])
        entries.append(outline_item(writer, title, target))
    for entry, following in pairwise(entries):
        entry.get_object()[NameObject("/Next")] = following
    if link_back:
        entries[-1].get_object()[NameObject("/Next")] = entries[0]
        entries[-1].get_object()[NameObject("/First")] = entries[0]
    top = DictionaryObject({NameObject("/First"): entries[0], NameObject("/Last"): entries[-1]})
    writer.root_object[NameObject("/Outlines")] = writer._add_object(top)
    return written(writer)


# ---- labels and outline ----


def test_labels_are_those_printed_on_the_pages(opened):
    data = make_pdf(THREE, labels=[(1, 2, "r", 3), (3, 3, "D", 80)])
    assert opened(data).labels() == ["iii", "iv", "80"]


def test_without_labels_every_label_is_none(opened):
    assert opened(make_pdf(THREE)).labels() == [None, None, None]


def test_outline_entries_have_level_title_and_page(opened):
    data = make_pdf(THREE, outline=[(1, "One", 1), (2, "One a", 2), (1, "Two", 3)])
    assert opened(data).outline() == [OutlineEntry(1, "One", 1), OutlineEntry(2, "One a", 2), OutlineEntry(1, "Two", 3)]


def test_an_outline_that_loops_is_read_once(opened):
    data = with_outline(("A", 1), ("B", 2), link_back=True)
    assert [entry.title for entry in opened(data).outline()] == ["A", "B"]


def test_entries_without_title_or_target_are_skipped_and_their_siblings_kept(opened):
    missing = ArrayObject([NullObject(), NameObject("/Fit")])
    beyond = ArrayObject([NumberObject(99), NameObject("/Fit")])
    data = with_outline(("A", 1), ("", 2), ("no target", None), ("gone", missing), ("beyond", beyond), ("B", 3))
    assert [entry.title for entry in opened(data).outline()] == ["A", "B"]


def test_a_named_target_that_does_not_exist_is_skipped(opened):
    data = with_outline(("A", TextStringObject("nowhere")), ("B", 3))
    assert [entry.title for entry in opened(data).outline()] == ["B"]


def test_a_named_target_leads_to_its_page(opened):
    writer = writer_of(THREE)
    writer.add_named_destination("chapter.2", 1)
    entry = outline_item(writer, "Two", TextStringObject("chapter.2"))
    writer.root_object[NameObject("/Outlines")] = DictionaryObject({NameObject("/First"): entry})
    assert opened(written(writer)).outline() == [OutlineEntry(1, "Two", 2)]


def test_an_outline_is_followed_to_a_limited_depth(opened):
    data = make_pdf(THREE, outline=[(level, f"level {level}", 1) for level in range(1, 40)])
    assert len(opened(data).outline()) == DEEPEST_OUTLINE


def test_titles_lose_control_codes_and_radicals(opened):
    assert opened(with_outline(("⽤⼾\x00 \n信任", 1))).outline()[0].title == "用户 信任"


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
