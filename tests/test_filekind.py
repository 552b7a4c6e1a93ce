"""What a file is by its first bytes."""

import io
import zipfile
from pathlib import Path

import pytest

from study.filekind import foreign_kind, is_pdf


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "PNG"),
        (b"\xff\xd8\xff\xe0....", "JPEG"),
        (b"\n <!DOCTYPE html><html>", "HTML"),
        (b"<?xml version='1.0'?><html xmlns='...'>", "HTML"),
        (b"\x1f\x8b\x08....", "gzip"),
        (b"%!PS-Adobe-3.0", "PostScript"),
        (b"\xd0\xcf\x11\xe0....", "Office"),
        (bytes(500), "zero"),
    ],
)
def test_a_foreign_file_is_named(head, kind):
    assert kind in foreign_kind(Path("x.pdf"), head)


def test_text_is_not_foreign():
    assert foreign_kind(Path("x.md"), "# 记忆".encode()) is None


@pytest.mark.parametrize(
    ("inside", "kind"), [("word/document.xml", "Word"), ("ppt/x.xml", "PowerPoint"), ("a.txt", "ZIP")]
)
def test_an_archive_is_named_by_what_is_in_it(tmp_path, inside, kind):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(inside, "x")
    path = tmp_path / "x.pdf"
    path.write_bytes(buffer.getvalue())
    assert kind in foreign_kind(path, buffer.getvalue())


def test_junk_before_the_header_is_allowed_within_1024_bytes():
    assert is_pdf(b"x" * 900 + b"%PDF-1.7")
    assert not is_pdf(b"x" * 1100 + b"%PDF-1.7")
