"""Labels and outlines, as broken as they come: the two engines that read them agree."""

from itertools import pairwise
from pathlib import Path

import pytest
from data.make_pdfs import make_pdf, writer_of, written
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NullObject, NumberObject, TextStringObject

from study.outline import DEEPEST_OUTLINE, OutlineEntry
from study.pdfium import PdfiumFile
from study.pypdf_engine import PypdfFile

THREE = ["first page", "second page", "third page"]


@pytest.fixture(params=[PdfiumFile, PypdfFile])
def opened(request, tmp_path: Path):
    """opened(bytes) → the file, open in one engine and then in the other; closed after the test."""
    files = []

    def open_pdf(data: bytes):
        path = tmp_path / f"{len(files)}.pdf"
        path.write_bytes(data)
        files.append(request.param(path))
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
