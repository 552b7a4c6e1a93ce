"""What holds for every engine that reads PDFs: pages, passwords and damage; labels and outlines for those that have them."""

from itertools import pairwise

import pytest
from data.make_pdfs import make_pdf, writer_of, written
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NullObject, NumberObject, TextStringObject

from infrastructure.errors import PasswordNeeded
from study.chain import ENGINES
from study.engine import EngineError
from study.outline import DEEPEST_OUTLINE, OutlineEntry
from study.pdfium import PdfiumFile
from study.pypdf_engine import PypdfFile

THREE = ["first page", "second page", "third page"]


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request):
    return request.param


# ---- Pages ----


def test_pages_are_counted_and_read_with_the_title_of_the_file(opened):
    file = opened(make_pdf(THREE, title="Guide"))
    assert (file.page_count, file.title) == (3, "Guide")
    assert [file.read(page).text for page in range(3)] == THREE


# ---- Passwords ----


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


@pytest.mark.parametrize(("password", "word"), [(None, "protected"), ("my guess", "does not open")])
def test_a_locked_file_says_whether_the_password_is_missing_or_wrong_and_never_the_password(opened, password, word):
    with pytest.raises(PasswordNeeded, match=word) as caught:
        opened(make_pdf(THREE, password="secret"), password)
    assert "my guess" not in str(caught.value)


# ---- Damage ----


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<</Root 1 0 R>>"])
def test_damage_is_always_an_engine_error(opened, data):
    with pytest.raises(EngineError):
        opened(data)


# ---- Labels and outlines, as broken as they come ----

with_structure = pytest.mark.parametrize("engine", [PdfiumFile, PypdfFile], ids=lambda engine: engine.name)


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


@with_structure
def test_labels_are_those_printed_on_the_pages(opened):
    data = make_pdf(THREE, labels=[(1, 2, "r", 3), (3, 3, "D", 80)])
    assert opened(data).labels() == ["iii", "iv", "80"]


@with_structure
def test_without_labels_every_label_is_none(opened):
    assert opened(make_pdf(THREE)).labels() == [None, None, None]


@with_structure
def test_outline_entries_have_level_title_and_page(opened):
    data = make_pdf(THREE, outline=[(1, "One", 1), (2, "One a", 2), (1, "Two", 3)])
    assert opened(data).outline() == [OutlineEntry(1, "One", 1), OutlineEntry(2, "One a", 2), OutlineEntry(1, "Two", 3)]


@with_structure
def test_an_outline_that_loops_is_read_once(opened):
    data = with_outline(("A", 1), ("B", 2), link_back=True)
    assert [entry.title for entry in opened(data).outline()] == ["A", "B"]


@with_structure
def test_entries_without_title_or_target_are_skipped_and_their_siblings_kept(opened):
    missing = ArrayObject([NullObject(), NameObject("/Fit")])
    beyond = ArrayObject([NumberObject(99), NameObject("/Fit")])
    data = with_outline(("A", 1), ("", 2), ("no target", None), ("gone", missing), ("beyond", beyond), ("B", 3))
    assert [entry.title for entry in opened(data).outline()] == ["A", "B"]


@with_structure
def test_a_named_target_that_does_not_exist_is_skipped(opened):
    data = with_outline(("A", TextStringObject("nowhere")), ("B", 3))
    assert [entry.title for entry in opened(data).outline()] == ["B"]


@with_structure
def test_a_named_target_leads_to_its_page(opened):
    writer = writer_of(THREE)
    writer.add_named_destination("chapter.2", 1)
    entry = outline_item(writer, "Two", TextStringObject("chapter.2"))
    writer.root_object[NameObject("/Outlines")] = DictionaryObject({NameObject("/First"): entry})
    assert opened(written(writer)).outline() == [OutlineEntry(1, "Two", 2)]


@with_structure
def test_an_outline_is_followed_to_a_limited_depth(opened):
    data = make_pdf(THREE, outline=[(level, f"level {level}", 1) for level in range(1, 40)])
    assert len(opened(data).outline()) == DEEPEST_OUTLINE


@with_structure
def test_titles_lose_control_codes_and_radicals(opened):
    assert opened(with_outline(("⽤⼾\x00 \n信任", 1))).outline()[0].title == "用户 信任"
