"""Make memory_rag_guide.pdf from memory_rag_guide.md.

    Markdown (headings, paragraphs, "- " items, "> " formulas) → lines → pages with outline, page labels and contents

    python samples/make_guide.py                        writes memory_rag_guide.pdf beside this file
    python samples/make_guide.py --subset REGULAR BOLD  first cuts the two fonts down to the characters of the text
                                                        (NotoSansCJK-Regular.ttc and -Bold.ttc; only after new words came in)

Needs fpdf2 (requirements-dev.txt). The pages are the same on every machine, because the fonts lie in fonts/ and the date is fixed.
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
REGULAR, BOLD = HERE / "fonts" / "guide-sans-regular.otf", HERE / "fonts" / "guide-sans-bold.otf"
SIMPLIFIED_CHINESE = 2  # place of the SC face in the Noto collections

TITLE, SUBTITLE = "Memory RAG: giving RAG a state", "Memory RAG 入门：给 RAG 加上状态"
RUNNING_HEAD = "Memory RAG Guide / Memory RAG 入门"
PREFACE = (
    "This guide explains, in English and Chinese, how a study helper remembers: what plain retrieval does, which memories are "
    "added to it, how they are scored, joined and forgotten, and how to tell whether they help. Load it, then ask.",
    "这份指南用中英两种语言说明学习助手怎样记忆：普通检索做什么，加上了哪些记忆，记忆如何评分、整合和遗忘，以及怎样判断它们有没有帮助。"
    "把它加载进来，然后向它提问。",
    "For example / 例如：",
)
QUESTIONS = ("RAG 系统怎么评估？", "那我这个实验应该先看哪个指标？", "刚才说的 Faithfulness 和 Recall 冲突时怎么取舍？", "What is HyDE?")

# Millimetres on a B5 page; sizes in points.
WIDTH, HEIGHT = 176, 250
LEFT, TOP, BOTTOM = 22, 26, 24
TEXT_WIDTH = WIDTH - 2 * LEFT
BODY, LEADING, GAP = 10, 5.9, 2.6
INK, ACCENT, GREY = (34, 34, 34), (24, 84, 118), (130, 130, 130)


class Block(NamedTuple):
    kind: str  # "h1" | "h2" | "item" | "formula" | "text"
    text: str


class Entry(NamedTuple):
    level: int
    title: str
    page: int  # physical, from 1


def blocks(markdown: str) -> Iterator[Block]:
    for line in markdown.split("\n"):
        mark = re.match(r"(##? |- |> )?(.*)", line)
        if mark[2].strip():
            kind = {"# ": "h1", "## ": "h2", "- ": "item", "> ": "formula"}.get(mark[1] or "", "text")
            yield Block(kind, mark[2].strip())


# ---- Breaking lines: between Latin words, and between any two Chinese characters but before closing punctuation ----

_UNIT = re.compile(r"[（“《「]*(?:[\u2e80-\u9fff\uf900-\ufaff]|[^\s\u2e80-\u9fff，。、；：？！）”》」（“《「]+)[，。、；：？！）”》」]*|\s+")


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
    def __init__(self, contents: list[Entry]) -> None:
        super().__init__(format=(WIDTH, HEIGHT))
        self.set_auto_page_break(False)
        self.set_margins(LEFT, TOP, LEFT)
        self.c_margin = 0
        self.add_font("guide", "", REGULAR)
        self.add_font("guide", "B", BOLD)
        self.set_title(TITLE)
        self.set_lang("en")
        self.set_creation_date(datetime(2025, 1, 1, tzinfo=UTC))
        self.contents = contents
        self.entries: list[Entry] = []
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
        self.entries.append(Entry(level, title, self.page))
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
        self.set_y(58)
        self.write_lines(TITLE, size=23, style="B", ink=ACCENT, leading=12)
        self.write_lines(SUBTITLE, size=16, style="B", leading=10, after=14)
        for text in PREFACE:
            self.write_lines(text, after=4)
        for question in QUESTIONS:
            self.item(question)

    def contents_page(self) -> None:
        self.add_page()
        self.write_lines("Contents / 目录", size=15, style="B", ink=ACCENT, leading=9, after=4)
        for entry in self.contents:
            style, indent = ("B", 0) if entry.level == 1 else ("", 5)
            if entry.level == 1:
                self.ln(1.6)
            self.set_font("guide", style, 9.5)
            self.set_text_color(*INK)
            self.set_x(LEFT + indent)
            self.cell(TEXT_WIDTH - indent - 10, 5.4, entry.title)
            self.cell(10, 5.4, str(entry.page - 2), align=Align.R, new_x="LMARGIN", new_y="NEXT")

    def body(self, markdown: str) -> None:
        self.front = False
        self.add_page(label_style="D", label_start=1)
        writers = {"item": self.item, "formula": self.formula, "text": self.write_lines}
        for kind, text in blocks(markdown):
            if kind in writers:
                writers[kind](text)
            else:
                self.heading(int(kind[1]), text)


def build(contents: list[Entry] = ()) -> Guide:
    guide = Guide(list(contents))
    guide.cover()
    guide.contents_page()
    guide.body(SOURCE.read_text(encoding="utf-8"))
    return guide


def make_guide() -> bytes:
    """The PDF. Laid out twice: the contents need the page numbers of the first time."""
    return bytes(build(build().entries).output())


# ---- Fonts ----


def cut_fonts(regular: Path, bold: Path) -> None:
    """Write the two fonts of fonts/ with only the characters this guide uses, under a name of their own."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    texts = (SOURCE.read_text(encoding="utf-8"), Path(__file__).read_text(encoding="utf-8"))
    characters = "".join(sorted(set("".join(texts)) | set(map(chr, range(32, 127)))))
    titles = "".join(block.text for block in blocks(texts[0]) if block.kind in ("h1", "h2")) + TITLE + SUBTITLE + "Contents / 目录0123456789"
    for source, target, text in ((regular, REGULAR, characters), (bold, BOLD, titles)):
        font = TTFont(source, fontNumber=SIMPLIFIED_CHINESE if source.suffix == ".ttc" else -1)
        options = Options(layout_features=[], name_IDs=[0, 1, 2, 4, 6, 13, 14], notdef_outline=True, hinting=False, desubroutinize=True)
        subsetter = Subsetter(options)
        subsetter.populate(text=text)
        subsetter.subset(font)
        for record in font["name"].names:
            if record.nameID in (1, 4, 6):
                record.string = "GuideSans"
        target.parent.mkdir(exist_ok=True)
        font.save(target)


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
