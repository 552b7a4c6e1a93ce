"""Small PDFs, made in the test run: any text on any page, and every kind of damage.

The font has no shapes: each character is a code that a table maps to Unicode, so that ligatures, radicals, control codes and
private codes come out of the reader exactly as a test wants them. A viewer would show boxes.
"""

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from pypdf import PdfReader, PdfWriter
from pypdf.constants import PageLabelStyle
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    EncodedStreamObject,
    NameObject,
    NumberObject,
)

WIDTH, HEIGHT = 595, 842


class Line(NamedTuple):
    text: str
    size: float = 11
    x: float = 72
    y: float | None = None  # height above the foot of the page; None: under the line before
    ink: bool = True  # without it the text is there, but drawn in mode 3: nobody sees it


def make_pdf(
    pages: Sequence[str | Sequence[Line]],
    *,
    outline: Sequence[tuple[int, str, int]] = (),
    labels: Sequence[tuple[int, int, str, int]] = (),
    title: str | None = None,
    password: str | None = None,
    owner_password: str | None = None,
    algorithm: str = "AES-256",
) -> bytes:
    """A page is a text, its lines set one under the other, or a list of Lines; "" is a page without text.

    outline: (level from 1, title, page from 1). labels: (first page, last page, style "r" | "R" | "D" | "a", start).
    """
    writer = writer_of(pages)
    parents = {}
    for level, name, page in outline:
        parents[level] = writer.add_outline_item(title=name, page_number=page - 1, parent=parents.get(level - 1))
    for first, last, style, start in labels:
        styles = {"r": PageLabelStyle.LOWERCASE_ROMAN, "R": PageLabelStyle.UPPERCASE_ROMAN,
                  "D": PageLabelStyle.DECIMAL, "a": PageLabelStyle.LOWERCASE_LETTER}  # fmt: skip
        writer.set_page_label(first - 1, last - 1, style=styles[style], start=start)
    if title:
        writer.add_metadata({"/Title": title})
    if password is not None or owner_password is not None:
        writer.encrypt(password or "", owner_password, algorithm=algorithm)
    return written(writer)


def writer_of(pages: Sequence[str | Sequence[Line]]) -> PdfWriter:
    writer = PdfWriter()
    drawn = [_lines(page) if isinstance(page, str) else page for page in pages]
    alphabet = "".join(sorted({char for page in drawn for line in page for char in line.text}))
    codes = {char: code for code, char in enumerate(alphabet, 1)}
    font = writer._add_object(_font(writer, codes))
    for lines in drawn:
        page = writer.add_blank_page(WIDTH, HEIGHT)
        content = DecodedStreamObject()
        content.set_data(_content(lines, codes))
        page[NameObject("/Contents")] = writer._add_object(content.flate_encode())
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    return writer


def scan_with_text(lines: Sequence[Line], *, picture: Any = None) -> bytes:
    """A page that a picture covers (an array of grey bytes, else one grey dot), with text over it."""
    writer = writer_of([list(lines) or [Line(" ")]])
    page = writer.pages[0]
    image = DecodedStreamObject()
    rows, columns = (1, 1) if picture is None else picture.shape
    image.set_data(b"\xc0" if picture is None else picture.tobytes())
    image.update(
        {
            NameObject("/Type"): NameObject("/XObject"),
            NameObject("/Subtype"): NameObject("/Image"),
            NameObject("/Width"): NumberObject(columns),
            NameObject("/Height"): NumberObject(rows),
            NameObject("/ColorSpace"): NameObject("/DeviceGray"),
            NameObject("/BitsPerComponent"): NumberObject(8),
        }
    )
    drawn = writer._add_object(image.flate_encode())
    page["/Resources"][NameObject("/XObject")] = DictionaryObject({NameObject("/Im1"): drawn})
    content = DecodedStreamObject()
    content.set_data(f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm /Im1 Do Q\n".encode() + page["/Contents"].get_data())
    page[NameObject("/Contents")] = writer._add_object(content)
    return written(writer)


def written(writer: PdfWriter) -> bytes:
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def set_stream(writer: PdfWriter, page: int, packed: bytes, packing: str = "/FlateDecode") -> None:
    """Give a page (from 0) other content, as it stands in the file. An unknown packing makes reading the page fail."""
    content = EncodedStreamObject()
    content._data = packed
    content[NameObject("/Filter")] = NameObject(packing)
    writer.pages[page][NameObject("/Contents")] = writer._add_object(content)


def pages_without_count(data: bytes) -> bytes:
    """The same file with an empty page tree."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    tree = writer.root_object["/Pages"]
    tree[NameObject("/Kids")] = ArrayObject()
    tree[NameObject("/Count")] = NumberObject(0)
    return written(writer)


def cyclic_pages(data: bytes) -> bytes:
    """The same file with a page tree that contains itself."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    tree = writer.root_object.raw_get("/Pages")
    tree.get_object()[NameObject("/Kids")] = ArrayObject([tree])
    return written(writer)


def _lines(text: str) -> list[Line]:
    return [Line(line) for line in text.split("\n")] if text else []


def _content(lines: Sequence[Line], codes: dict[str, int]) -> bytes:
    parts = []
    below = HEIGHT - 60.0
    for line in lines:
        y = below if line.y is None else line.y
        below = y - 1.5 * line.size
        shown = "".join(f"{codes[char]:04x}" for char in line.text)
        mode = 0 if line.ink else 3
        parts.append(f"BT /F1 {line.size} Tf {mode} Tr 1 0 0 1 {line.x} {y} Tm <{shown}> Tj ET")
    return "\n".join(parts).encode()


def _font(writer: PdfWriter, codes: dict[str, int]) -> DictionaryObject:
    rows = [f"<{code:04x}> <{char.encode('utf-16-be', 'surrogatepass').hex()}>" for char, code in codes.items()]
    blocks = [rows[at : at + 100] for at in range(0, len(rows), 100)]
    table = "".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar\n" for block in blocks)
    to_unicode = DecodedStreamObject()
    to_unicode.set_data(f"begincmap\n1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n{table}endcmap".encode())
    narrow = [NumberObject(500) for _ in codes]
    inner = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/CIDFontType2"),
            NameObject("/BaseFont"): NameObject("/Test"),
            NameObject("/W"): ArrayObject([NumberObject(1), ArrayObject(narrow)]),
        }
    )
    return DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type0"),
            NameObject("/BaseFont"): NameObject("/Test"),
            NameObject("/Encoding"): NameObject("/Identity-H"),
            NameObject("/DescendantFonts"): ArrayObject([writer._add_object(inner)]),
            NameObject("/ToUnicode"): writer._add_object(to_unicode),
        }
    )
