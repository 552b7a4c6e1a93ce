"""Word, PowerPoint, EPUB and web pages. The files are as small as their formats allow."""

import zipfile
from pathlib import Path

import pytest

from infrastructure.errors import DocumentError
from infrastructure.extras import has
from study import office
from study.reading import read_document

needs_documents = pytest.mark.skipif(
    not has("documents"), reason="markitdown is not installed; see requirements-extras.txt"
)

HTML = (
    "<!DOCTYPE html><html><body><h1>Memory</h1><p>Recall first.</p><h2>衰减</h2><p>两天剩四分之一。</p></body></html>"
)
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def word_file(path: Path) -> Path:
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Memory</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>工作记忆会过期。</w:t></w:r></w:p>"
    )
    content_types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>'
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    relations = (
        f'<Relationships xmlns="{package}"><Relationship Id="r1" Type="{RELATIONS}/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    document = f"<w:document {W}><w:body>{body}</w:body></w:document>"
    return zipped(path, {"[Content_Types].xml": content_types, "_rels/.rels": relations, "word/document.xml": document})


def book_file(path: Path) -> Path:
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:title>Guide</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        '</manifest><spine><itemref idref="a"/></spine></package>'
    )
    return zipped(path, {"META-INF/container.xml": container, "book.opf": package, "a.xhtml": HTML})


def slides_file(path: Path) -> Path:
    from pptx import Presentation

    deck = Presentation()
    for title, text in (("Recall", "找到证据"), ("Faithfulness", "忠于证据")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    deck.save(str(path))
    return path


@needs_documents
def test_a_web_page_has_its_headings(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(HTML, encoding="utf-8")
    document = read_document(path)
    assert [(level, title) for _, level, title in document.headings] == [(1, "Memory"), (2, "衰减")]
    assert "两天剩四分之一。" in document.pages[0].clean


@needs_documents
def test_a_word_file_has_its_headings(tmp_path):
    document = read_document(word_file(tmp_path / "notes.docx"))
    assert (document.title, document.media_type) == ("Memory", "markdown")
    assert "工作记忆会过期。" in document.text


@needs_documents
def test_an_electronic_book_is_read(tmp_path):
    assert "Recall first." in read_document(book_file(tmp_path / "book.epub")).text


@needs_documents
def test_a_slide_is_a_page(tmp_path):
    document = read_document(slides_file(tmp_path / "deck.pptx"))
    assert [page.number for page in document.pages] == [1, 2]
    assert "忠于证据" in document.pages[1].clean
    assert [(entry.title, entry.page) for entry in document.outline] == [("Recall", 1), ("Faithfulness", 2)]


@needs_documents
def test_a_broken_file_is_one_sentence_with_what_to_do(tmp_path):
    path = zipped(tmp_path / "notes.docx", {"word/document.xml": "<nothing"})
    with pytest.raises(DocumentError, match=r"^notes.docx cannot be converted .*save it again"):
        read_document(path)


def test_without_the_extra_the_command_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(office, "has", lambda name: False)
    with pytest.raises(DocumentError, match=r'Reading Word.*pip install "markitdown'):
        read_document(word_file(tmp_path / "notes.docx"))


def test_a_web_page_named_pdf_is_still_no_pdf(tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_text(HTML, encoding="utf-8")
    with pytest.raises(DocumentError, match="not a PDF but a web page"):
        read_document(path)
