"""What a file is by its first bytes, whatever its name says. Pages saved under the wrong name are the commonest broken PDF."""

import zipfile
from pathlib import Path

from infrastructure.language import tr

PDF_HEADER_WITHIN = 1024  # bytes; mail servers and web pages put a few lines before %PDF-

_OFFICE = {
    "word/": ("a Word document (.docx)", "Word 文档 (.docx)"),
    "ppt/": ("a PowerPoint file (.pptx)", "PowerPoint 文件 (.pptx)"),
    "xl/": ("an Excel workbook (.xlsx)", "Excel 工作簿 (.xlsx)"),
    "META-INF/container.xml": ("an e-book (.epub)", "电子书 (.epub)"),
}
_BY_START = (
    (b"\x89PNG", ("a PNG picture", "PNG 图片")),
    (b"\xff\xd8\xff", ("a JPEG picture", "JPEG 图片")),
    (b"GIF8", ("a GIF picture", "GIF 图片")),
    (b"II*\x00", ("a TIFF picture", "TIFF 图片")),
    (b"MM\x00*", ("a TIFF picture", "TIFF 图片")),
    (b"\x1f\x8b", ("a gzip archive", "gzip 压缩包")),
    (b"7z\xbc\xaf", ("a 7z archive", "7z 压缩包")),
    (b"Rar!", ("a RAR archive", "RAR 压缩包")),
    (b"{\\rtf", ("an RTF document", "RTF 文档")),
    (b"%!PS", ("a PostScript file", "PostScript 文件")),
    (b"\xd0\xcf\x11\xe0", ("an old Office file (.doc, .ppt, .xls)", "旧版 Office 文件 (.doc、.ppt、.xls)")),
    (b"MZ", ("a Windows program", "Windows 程序")),
    (b"\x7fELF", ("a Linux program", "Linux 程序")),
)


def is_pdf(head: bytes) -> bool:
    return b"%PDF-" in head[:PDF_HEADER_WITHIN]


def office_kind(path: Path, head: bytes) -> bool:
    """Can markitdown read it? A Word, PowerPoint or EPUB file, or a web page, by its bytes and not by its name."""
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(path) in (_OFFICE["word/"], _OFFICE["ppt/"], _OFFICE["META-INF/container.xml"])
    return _is_html(head)


def foreign_kind(path: Path, head: bytes) -> str | None:
    """What the file really is, with its article ("a PNG picture"); None when nothing speaks against text or a broken PDF.

    head is the beginning of the file, at least PDF_HEADER_WITHIN bytes of it if there are so many.
    """
    if head.startswith(b"PK\x03\x04"):
        return tr(*_zip_kind(path))
    for start, name in _BY_START:
        if head.startswith(start):
            return tr(*name)
    if _is_html(head):
        return tr("a web page (HTML)", "网页 (HTML)")
    if head and not head.strip(b"\x00"):
        return tr("nothing but zero bytes", "全是零字节，没有内容")
    return None


def _is_html(head: bytes) -> bool:
    beginning = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return beginning.startswith((b"<!doctype html", b"<html", b"<head", b"<body")) or b"<html" in beginning[:512]


def _zip_kind(path: Path) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        names = []
    for prefix, kind in _OFFICE.items():
        if any(name.startswith(prefix) for name in names):
            return kind
    return ("a ZIP archive", "ZIP 压缩包")
