"""Make memory_rag_guide.pdf from memory_rag_guide.md.

    Markdown (headings, paragraphs, "- " items, "> " formulas) → lines → pages with outline and page labels

    python samples/make_guide.py                        writes memory_rag_guide.pdf beside this file
    python samples/make_guide.py --subset REGULAR BOLD  first cuts the two fonts down to the characters of the text
                                                        (NotoSansCJK-Regular.ttc and -Bold.ttc; only after new words came in)

Needs fpdf2 (requirements-dev.txt). The pages are the same on every machine: the fonts lie in fonts/, the date is fixed.
"""

import argparse
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from fpdf import FPDF, Align

HERE = Path(__file__).resolve().parent
SOURCE, TARGET = HERE / "memory_rag_guide.md", HERE / "memory_rag_guide.pdf"
REGULAR, BOLD = HERE / "fonts" / "guide-sans-regular.ttf", HERE / "fonts" / "guide-sans-bold.ttf"
SIMPLIFIED_CHINESE = 2  # place of the SC face in the Noto collections

TITLE, SUBTITLE = "Memory RAG: giving RAG a state", "Memory RAG 入门：给 RAG 加上状态"
RUNNING_HEAD = "Memory RAG Guide / Memory RAG 入门"
ABSTRACT = (
    "A short guide, in English and Chinese, to study helpers that remember: what plain retrieval does, which memories are added "
    "to it, how they are scored, joined and forgotten, and how to tell whether they help.",
    "一份中英双语的简短指南，讲会记忆的学习助手：普通检索做什么，加上了哪些记忆，记忆如何评分、整合和遗忘，以及怎样判断它们有没有帮助。",
)
PREFACE_TITLE = "How to use this guide / 怎样使用这份指南"
PREFACE = (
    "Each chapter stands on its own, and every paragraph exists in both languages, so you may read it in either. It is also "
    "meant to be loaded: ask about it, note what you understood in your own words, and review a topic a few days later.",
    "各章可以单独阅读，每段都有中英两种语言，任选其一即可。它也适合加载到助手里：先提问，再用自己的话记笔记，过几天复习某个主题。",
    "Further reading / 延伸阅读",
    "Lewis et al. 2020, Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks.",
    "Robertson and Zaragoza 2009, The Probabilistic Relevance Framework: BM25 and Beyond.",
    "Gao et al. 2022, Precise Zero-Shot Dense Retrieval without Relevance Labels.",
    "Es et al. 2023, RAGAS: Automated Evaluation of Retrieval Augmented Generation.",
    "Cepeda et al. 2006, Distributed Practice in Verbal Recall Tasks.",
    "Roediger and Karpicke 2006, Test-Enhanced Learning.",
)

# Millimetres on a B5 page; sizes in points.
WIDTH, HEIGHT = 176, 250
LEFT, TOP, BOTTOM = 22, 26, 24
TEXT_WIDTH = WIDTH - 2 * LEFT
BODY, LEADING, GAP = 10, 5.9, 2.6
INK, ACCENT, GREY = (34, 34, 34), (24, 84, 118), (130, 130, 130)


class Block(NamedTuple):
    kind: str  # "h1" | "h2" | "item" | "formula" | "text"
    text: str


def blocks(markdown: str) -> Iterator[Block]:
    for line in markdown.split("\n"):
        mark = re.match(r"(##? |- |> )?(.*)", line)
        if mark[2].strip():
            kind = {"# ": "h1", "## ": "h2", "- ": "item", "> ": "formula"}.get(mark[1] or "", "text")
            yield Block(kind, mark[2].strip())


# ---- Breaking lines: between Latin words, and between any two Chinese characters but before closing punctuation ----

_CLOSING, _OPENING, _HAN = "，。、；：？！）”》」", "（“《「", r"\u2e80-\u9fff\uf900-\ufaff"
_UNIT = re.compile(rf"[{_OPENING}]*(?:[{_HAN}]|[^\s{_HAN}{_CLOSING}{_OPENING}]+)[{_CLOSING}]*|\s+")


def lines(pdf: FPDF, text: str, width: float) -> list[str]:
    """The text cut to the width in the font that is set."""
    result, line = [], ""
    for unit in _UNIT.findall(text):
        if line and pdf.get_string_width(line + unit.rstrip()) > width:
            result.append(line.rstrip())
            line = ""
        line += unit if line else unit.lstrip()
    return [*result, line.rstrip()] if line.strip() else result


# ---- Pages ----


class Guide(FPDF):
    def __init__(self) -> None:
        super().__init__(format=(WIDTH, HEIGHT))
        self.set_auto_page_break(False)
        self.set_margins(LEFT, TOP, LEFT)
        self.c_margin = 0
        self.add_font("guide", "", REGULAR)
        self.add_font("guide", "B", BOLD)
        self.set_title(TITLE)
        self.set_lang("en")
        self.set_creation_date(datetime(2025, 1, 1, tzinfo=UTC))
        self.front = True

    def header(self) -> None:
        if not self.front:
            self._place(RUNNING_HEAD, 13, 8, GREY)
        self.set_y(TOP)

    def footer(self) -> None:
        if self.page > 1:
            number = ("i", "ii")[self.page - 1] if self.page <= 2 else str(self.page - 2)
            self._place(number, HEIGHT - 15, 8, GREY, Align.C)

    def _place(self, text: str, y: float, size: float, ink: tuple[int, int, int], align: Align = Align.L) -> None:
        self.set_font("guide", "", size)
        self.set_text_color(*ink)
        self.set_xy(LEFT, y)
        self.cell(TEXT_WIDTH, LEADING, text, align=align)

    def write_lines(self, text: str, *, size=BODY, style="", ink=INK, indent=0.0, leading=LEADING, after=GAP) -> None:
        self.set_font("guide", style, size)
        cut = lines(self, text, TEXT_WIDTH - indent)
        for number, line in enumerate(cut):
            left = len(cut) - number
            self.need(leading * (2 if left == 2 or (number == 0 and left > 1) else 1))  # no line alone on a page
            self.set_font("guide", style, size)
            self.set_text_color(*ink)
            self.set_x(LEFT + indent)
            self.cell(TEXT_WIDTH - indent, leading, line, new_x="LMARGIN", new_y="NEXT")
        self.ln(after)

    def need(self, height: float) -> None:
        """Begin a new page unless so much room is left."""
        if self.get_y() + height > HEIGHT - BOTTOM:
            self.add_page()

    def heading(self, level: int, title: str) -> None:
        self.need(80 if level == 1 else 30)
        if self.get_y() > TOP + 1:
            self.ln(5 if level == 1 else 1.5)
        self.start_section(title, level - 1)
        size, leading = ((14, 8.5), (11.5, 7))[level - 1]
        self.write_lines(title, size=size, style="B", ink=ACCENT, leading=leading, after=(3, 1.2)[level - 1])

    def formula(self, text: str) -> None:
        self.need(LEADING)
        self.set_fill_color(240, 244, 247)
        self.rect(LEFT, self.get_y() - 1, TEXT_WIDTH, LEADING + 2, style="F")
        self.write_lines(text, indent=5, after=GAP + 1)

    def item(self, text: str) -> None:
        self.need(3 * LEADING)
        self.set_font("guide", "", BODY)
        self.set_text_color(*ACCENT)
        self.cell(5, LEADING, "•")
        self.write_lines(text, indent=5, after=1.2)

    # ---- the parts of the guide ----

    def cover(self) -> None:
        self.add_page(label_style="r", label_start=1)
        self.set_y(70)
        self.write_lines(TITLE, size=23, style="B", ink=ACCENT, leading=12)
        self.write_lines(SUBTITLE, size=16, style="B", leading=10, after=14)
        for text in ABSTRACT:
            self.write_lines(text, after=4)

    def preface(self) -> None:
        self.add_page()
        self.write_lines(PREFACE_TITLE, size=14, style="B", ink=ACCENT, leading=8.5, after=4)
        for text in PREFACE:
            if re.search(r" \d{4}, ", text):
                self.item(text)
            else:
                self.write_lines(text, after=4)

    def body(self, markdown: str) -> None:
        self.front = False
        self.add_page(label_style="D", label_start=1)
        writers = {"item": self.item, "formula": self.formula, "text": self.write_lines}
        for kind, text in blocks(markdown):
            if kind in writers:
                writers[kind](text)
            else:
                self.heading(int(kind[1]), text)


def make_guide() -> bytes:
    guide = Guide()
    guide.cover()
    guide.preface()
    guide.body(SOURCE.read_text(encoding="utf-8"))
    return bytes(guide.output())


# ---- Fonts ----


def cut_fonts(regular: Path, bold: Path) -> None:
    """Write the two fonts of fonts/ with only the characters this guide uses, under a name of their own."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    text = SOURCE.read_text(encoding="utf-8") + Path(__file__).read_text(encoding="utf-8")
    titles = (
        "".join(block.text for block in blocks(text) if block.kind in ("h1", "h2")) + TITLE + SUBTITLE + PREFACE_TITLE
    )
    ascii_characters = "".join(map(chr, range(32, 127)))
    for source, target, characters in ((regular, REGULAR, text), (bold, BOLD, titles)):
        font = TTFont(source, fontNumber=SIMPLIFIED_CHINESE if source.suffix == ".ttc" else -1)
        subsetter = Subsetter(
            Options(layout_features=[], name_IDs=[0, 1, 2, 4, 6, 13, 14], notdef_outline=True, hinting=False)
        )
        subsetter.populate(text=characters + ascii_characters)
        subsetter.subset(font)
        if "CFF " in font:
            _to_truetype(font)
        for record in font["name"].names:
            if record.nameID in (1, 4, 6):
                record.string = "GuideSans"
        target.parent.mkdir(exist_ok=True)
        font.save(target)


def _to_truetype(font) -> None:
    """Outlines as TrueType: pypdf 7.1 misreads the encoding that goes with CFF outlines, and gives "T一TT提问" for 一次提问."""
    from fontTools.pens.cu2quPen import Cu2QuPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.ttLib import newTable

    shapes = font.getGlyphSet()
    glyf = font["glyf"] = newTable("glyf")
    glyf.glyphOrder, glyf.glyphs = font.getGlyphOrder(), {}
    for name in glyf.glyphOrder:
        pen = TTGlyphPen(None)
        shapes[name].draw(Cu2QuPen(pen, max_err=1.0, reverse_direction=True))
        glyf.glyphs[name] = pen.glyph()
    font["loca"] = newTable("loca")
    limits = font["maxp"]
    limits.tableVersion, limits.maxZones = 0x00010000, 1
    hinting = "TwilightPoints Storage FunctionDefs InstructionDefs StackElements SizeOfInstructions ComponentElements"
    for field in hinting.split():
        setattr(limits, f"max{field}", 0)
    font["post"].formatType = 3.0
    for table in ("CFF ", "VORG"):
        if table in font:
            del font[table]
    font.sfntVersion = "\0\1\0\0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subset", nargs=2, type=Path, metavar=("REGULAR", "BOLD"))
    arguments = parser.parse_args()
    if arguments.subset:
        cut_fonts(*arguments.subset)
    TARGET.write_bytes(make_guide())
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
