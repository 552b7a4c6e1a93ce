"""What a benchmark found, once for the terminal, for a program (JSON) and for a browser (one HTML file, charts as inline SVG).

A part is a Table, a Chart or a sentence. The page needs no network and no script, and reads well in light and dark.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from benchmarks.metrics import Estimate
from infrastructure.console import plain
from infrastructure.language import language, tr

Cell = Estimate | float | int | str | None


@dataclass(frozen=True)
class Table:
    """key: its name in JSON, English whatever the screen says. note: a sentence under it."""

    key: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """Bars with intervals (`logarithmic` False), or curves over sizes with both axes logarithmic. series: {name: {label: value}},
    the labels of curves being numbers. Charts are for the page; terminal and JSON have the tables."""

    title: str
    series: dict[str, dict[Any, Estimate | float | None]]
    logarithmic: bool = False
    unit: str = ""


Part = Table | Chart | str


def shown(cell: Cell) -> str:
    """
    >>> shown(0.98765), shown(None), shown(51234), shown(Estimate(0.5, 0.4, 0.6, 20))
    ('0.988', '–', '51,234', '0.500 ±0.100')
    """
    if cell is None:
        return "–"
    if isinstance(cell, float) and abs(cell) < 100:
        return f"{cell:.3f}"
    return str(cell) if isinstance(cell, str | Estimate) else f"{cell:,.0f}"


# ---- Terminal ----


def renderables(part: Part, width: int = 80) -> Iterable[Any]:
    """For `Screen.show`. Where intervals do not fit into `width` cells, means stand alone."""
    from rich.text import Text

    if isinstance(part, str):
        yield plain(part)
    elif isinstance(part, Table):
        yield Text("\n" + part.title, style="bold")
        rows = [[shown(cell) for cell in row] for row in part.rows]
        brief = _has_intervals(part) and _width(part.columns, rows) > width
        yield _terminal_table(part, [[shown(_mean(cell)) for cell in row] for row in part.rows] if brief else rows)
        if part.note:
            yield plain(part.note)
        if brief:
            yield tr(
                "A wider window shows the intervals; so do --json and --html.",
                "窗口更宽时会显示区间；--json 和 --html 里也有。",
            )


def _terminal_table(part: Table, rows: Sequence[Sequence[str]]) -> Any:
    from infrastructure.lesson import table

    made = table(*part.columns, rows=rows)
    made.show_header = any(part.columns)
    for number, column in enumerate(made.columns[1:], start=1):
        column.justify = "left"
        if not any(isinstance(row[number], str) for row in part.rows):  # a number is not broken, its heading may be
            column.justify, column.min_width = "right", max((len(row[number]) for row in rows), default=0)
    return made


def _has_intervals(part: Table) -> bool:
    return any(isinstance(cell, Estimate) for row in part.rows for cell in row)


def _mean(cell: Cell) -> Cell:
    return cell.mean if isinstance(cell, Estimate) else cell


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Cells that a table needs when only its headings are broken, between words."""
    from rich.cells import cell_len

    total = 0
    for number, name in enumerate(columns):
        longest_word = max(map(cell_len, name.split() or [""]))
        total += 2 + max([longest_word, *(cell_len(row[number]) for row in rows)])
    return total


# ---- JSON ----


def to_json(parts: Iterable[Part]) -> dict[str, Any]:
    """{key: [{column: value}]}; an interval is {"mean", "low", "high", "n"}."""
    return {
        part.key: [dict(zip(part.columns, map(_plain_value, row), strict=True)) for row in part.rows]
        for part in parts
        if isinstance(part, Table)
    }


def _plain_value(cell: Cell) -> Any:
    return cell.to_json() if isinstance(cell, Estimate) else cell


# ---- HTML ----

STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfb; --ink: #1f2328; --soft: #667079; --rule: #d8dde2;
  --s0: #1f6feb; --s1: #d9730d; --s2: #2c8f5b; --s3: #9a4fd0; --s4: #c2374b; --s5: #6b7780; --s6: #0e8a9c; --s7: #a67c00; }
@media (prefers-color-scheme: dark) { :root { --paper: #16191d; --ink: #e3e7eb; --soft: #9aa5ae; --rule: #343b43;
  --s0: #6aa8ff; --s1: #f2a65a; --s2: #6ccb95; --s3: #c594f0; --s4: #f08392; --s5: #a3aeb7; --s6: #5cc9d8; --s7: #dcb84a; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Noto Sans CJK SC", sans-serif;
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; } p.note, .soft { color: var(--soft); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem .3rem 0; text-align: left; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; } td.n, th.n { text-align: right; white-space: nowrap; } 
code { font-size: .88rem; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; } svg .soft { fill: var(--soft); }
svg .rule { stroke: var(--rule); } svg .whisker { stroke: var(--ink); }
""" + "".join(
    f"svg .f{i} {{ fill: var(--s{i}); }} svg .l{i} {{ stroke: var(--s{i}); fill: none; }}\n" for i in range(8)
)


def page(title: str, command: str, parts: Iterable[Part]) -> str:
    """The report as one HTML file."""
    body = "\n".join(map(_element, parts))
    made_by = tr("Made by", "生成命令")
    return (
        f'<!DOCTYPE html>\n<html lang="{language()}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n"
        f'<p class="soft">{made_by} <code>{escape(command)}</code></p>\n{body}\n</body></html>\n'
    )


def _element(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{escape(plain(part).plain)}</p>"
    if isinstance(part, Table):
        return _html_table(part)
    draw = curves if part.logarithmic else bars
    return f'<h2>{escape(part.title)}</h2>\n<div class="wide">{draw(part)}</div>'


def _html_table(part: Table) -> str:
    numeric = [
        bool(part.rows) and not any(isinstance(row[i], str) for row in part.rows) for i in range(len(part.columns))
    ]
    kinds = [' class="n"' if is_number else "" for is_number in numeric]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, part.columns, strict=True))
    rows = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{_html_cell(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in part.rows
    )
    note = f'\n<p class="note">{escape(part.note)}</p>' if part.note else ""
    return (
        f'<h2>{escape(part.title)}</h2>\n<div class="wide"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _html_cell(cell: Cell) -> str:
    if isinstance(cell, Estimate):
        return f'{cell.mean:.3f} <span class="soft">[{cell.low:.3f}, {cell.high:.3f}]</span>'
    return escape(plain(shown(cell)).plain)


# ---- Charts ----

LABELS, PLOT, ROW, GAP = 210, 520, 13, 16  # pixels: room for labels, for bars, height of a bar, space between groups


def bars(chart: Chart) -> str:
    """Groups of horizontal bars from 0 to 1 (or the largest value), each with its interval as a whisker."""
    names = list(chart.series)
    labels = list(dict.fromkeys(label for values in chart.series.values() for label in values))
    known = [value for values in chart.series.values() for value in values.values() if value is not None]
    most = max([1.0, *(value.high if isinstance(value, Estimate) else value for value in known)])
    legend, above = _legend(names)
    drawn, top = [legend], above + 8
    for label in labels:
        middle = top + ROW * len(names) / 2 + 4
        drawn.append(f'<text x="{LABELS - 8}" y="{middle:.0f}" text-anchor="end">{escape(str(label))}</text>')
        for number, name in enumerate(names):
            drawn.append(_bar(chart.series[name].get(label), top, PLOT / most, number))
            top += ROW
        top += GAP
    axis = f'<line class="rule" x1="{LABELS}" x2="{LABELS}" y1="{above + 2:.0f}" y2="{top - GAP + 4:.0f}"/>'
    return _svg(LABELS + PLOT + 60, top, chart.title, [axis, *drawn])


def _bar(value: Estimate | float | None, top: float, scale: float, number: int) -> str:
    if value is None:
        return f'<text class="soft" x="{LABELS + 4}" y="{top + ROW - 3}">–</text>'
    mean = value.mean if isinstance(value, Estimate) else value
    drawn = (
        f'<rect class="f{number % 8}" x="{LABELS}" y="{top + 1}" width="{mean * scale:.1f}" height="{ROW - 2}" rx="1"/>'
    )
    end = mean * scale
    if isinstance(value, Estimate) and value.low < value.high:
        low, high, middle = LABELS + value.low * scale, LABELS + value.high * scale, top + ROW / 2
        drawn += f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>'
        end = max(end, value.high * scale)
    return f'{drawn}<text class="soft" x="{LABELS + end + 5:.1f}" y="{top + ROW - 3}">{mean:.2f}</text>'


def curves(chart: Chart) -> str:
    """Lines over sizes, both axes logarithmic: a cost that grows with the library rises by its power."""
    legend, above = _legend(list(chart.series))
    left, top, wide, high = 70, above + 20, 560, 260
    points = {name: sorted(values.items()) for name, values in chart.series.items()}
    sizes = [math.log10(size) for values in points.values() for size, _ in values]
    costs = [math.log10(max(float(value), 1e-6)) for values in points.values() for _, value in values]
    low, most = math.floor(min(costs)), max(math.ceil(max(costs)), math.floor(min(costs)) + 1)
    first, span = min(sizes), (max(sizes) - min(sizes)) or 1.0

    def place(size: float, value: float) -> tuple[float, float]:
        return left + wide * (math.log10(size) - first) / span, top + high * (
            1 - (math.log10(max(value, 1e-6)) - low) / (most - low)
        )

    drawn = [legend]
    for power in range(low, most + 1):
        _, y = place(10**first, 10.0**power)
        drawn.append(f'<line class="rule" x1="{left}" x2="{left + wide}" y1="{y:.1f}" y2="{y:.1f}"/>')
        drawn.append(f'<text class="soft" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for size in sorted({size for values in points.values() for size, _ in values}):
        x, _ = place(size, 10.0**low)
        drawn.append(f'<text class="soft" x="{x:.1f}" y="{top + high + 18}" text-anchor="middle">{size:,}</text>')
    for number, values in enumerate(points.values()):
        places = [place(size, float(value)) for size, value in values]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        drawn.append(f'<polyline class="l{number % 8}" stroke-width="2" points="{joined}"/>')
        drawn += [f'<circle class="f{number % 8}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
    drawn.append(f'<text class="soft" x="{left}" y="{top - 8}">{escape(chart.unit)}</text>')
    return _svg(left + wide + 40, top + high + 30, chart.title, drawn)


def _legend(names: Sequence[str]) -> tuple[str, float]:
    """(the names with their colours, in as many lines as they need, height in pixels)."""
    drawn, x, y = [], 10.0, 6
    for number, name in enumerate(names):
        width = 34 + sum(13 if ord(char) > 0x2E80 else 7 for char in name)
        if x > 10 and x + width > LABELS + PLOT:
            x, y = 10.0, y + 20
        drawn.append(f'<rect class="f{number % 8}" x="{x:.0f}" y="{y}" width="11" height="11" rx="2"/>')
        drawn.append(f'<text x="{x + 16:.0f}" y="{y + 10}">{escape(name)}</text>')
        x += width
    return "".join(drawn), y + 20.0


def _svg(width: float, height: float, title: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" aria-label="{escape(title)}">'
        + "\n".join(drawn)
        + "</svg>"
    )


@dataclass
class Report:
    """Parts as they come: each is shown at once, and kept for the files at the end."""

    screen: Any
    parts: list[Part] = field(default_factory=list)

    def add(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self.parts.append(part)
            for renderable in renderables(part, self.screen.width):
                self.screen.show(renderable)
