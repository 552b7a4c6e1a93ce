"""The headings of an outline: which chapter is the third, and what lies in it.

Numbers are taken from titles ("3.2 Forgetting", "第二章", "Chapter IV"); where chapters have none, they are counted.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from infrastructure.asked_place import LAST, NEXT, PREVIOUS, number_of
from infrastructure.text import fold


class Heading(NamedTuple):
    """An entry of an outline. number: "3.2" as in its title, or by its place; path: as the passages below it have it."""

    level: int
    title: str
    page: int
    last_page: int
    path: str
    number: str


def headings_of(outline: Sequence[tuple[int, str, int]], pages: int) -> list[Heading]:
    """(level, title, page) in reading order, of a document with so many pages, as headings."""
    top = chapter_level([level for level, _, _ in outline])
    found: list[Heading] = []
    open_: list[Heading] = []
    for i, (level, title, page) in enumerate(outline):
        open_ = [above for above in open_ if above.level < level]
        after = next((at for other, _, at in outline[i + 1 :] if other <= level), pages)
        number = number_in(title)
        if number and "." not in number and level > top and open_ and open_[-1].number:
            number = f"{open_[-1].number}.{number}"
        path = " > ".join([*(above.title for above in open_), title])
        found.append(Heading(level, title, page, max(page, after), path, number))
        open_.append(found[-1])
    return found


_NUMBERED_TITLE = re.compile(
    r"(?:chapter|section|part|lecture|unit|第|§)? ?(\d{1,3}(?:\.\d{1,3})*|[ivx]{1,5}|[零一二三四五六七八九十百]{1,5}"
    r"|one|two|three|four|five|six|seven|eight|nine|ten)(?:[章节篇讲]|部分|小节|[.、．:：)）]|(?=\s|$|[一-鿿]))"
)
_FRONT_OR_BACK = re.compile(
    r"(?:table of )?contents|preface|foreword|abstract|acknowledge?ments?|references|bibliography|index|glossary"
    r"|appendi(?:x|ces)\b.*"
    r"|目录|前言|序言?|摘要|致谢|参考文献|索引|附录.*|后记"
)


def number_in(title: str) -> str:
    """The number a title begins with, in figures; "" when it has none.

    >>> [number_in(title) for title in ("3.2 Forgetting", "第二章 记忆", "Chapter IV", "三、方法", "Memory", "I think")]
    ['3.2', '2', '4', '3', '', '']
    """
    folded = fold(title).strip()
    found = _NUMBERED_TITLE.match(folded)
    if not found or (found[1] == "i" and not folded.startswith(("chapter", "section", "part", "i.", "i:"))):
        return ""
    return found[1] if "." in found[1] else str(number_of(found[1]))


def chapter_level(levels: Sequence[int]) -> int:
    """The highest level with more than one heading: a title above all others is no chapter. 0 without headings."""
    counts = Counter(levels)
    return next((level for level in sorted(counts) if counts[level] > 1), min(counts, default=0))


def chapters_of(headings: Sequence[Heading]) -> list[Heading]:
    """The headings that count as chapters: those with a number, which may stand below unnumbered parts; else all but contents,
    preface and the like."""
    top = chapter_level([heading.level for heading in headings])
    for level in sorted({heading.level for heading in headings if heading.level >= top}):
        numbered = [heading for heading in headings if heading.level == level and heading.number]
        counted = {heading.number for heading in numbered if "." not in heading.number}
        if numbered and (level == top or len(counted) == len(numbered) > 1):
            return numbered
    at_top = [heading for heading in headings if heading.level == top]
    return [heading for heading in at_top if not _FRONT_OR_BACK.fullmatch(fold(heading.title).strip())]


def heading_meant(number: str, headings: Sequence[Heading], path: str = "") -> Heading | None:
    """The heading with this number in its title, else the n-th chapter of a document whose chapters have no numbers; LAST,
    or the one beside the heading with this path: NEXT or PREVIOUS. None when there is none."""
    chapters = chapters_of(headings)
    if number == LAST:
        return chapters[-1] if chapters else None
    if number in (NEXT, PREVIOUS):
        level = next((heading.level for heading in headings if heading.path == path), None)
        beside = [heading for heading in headings if heading.level == level]
        here = next((i for i, heading in enumerate(beside) if heading.path == path), -2)
        at = here + (1 if number == NEXT else -1)
        return beside[at] if 0 <= at < len(beside) else None
    wanted = number if "." in number else str(number_of(number))
    fitting = sorted((heading for heading in headings if heading.number == wanted), key=lambda heading: heading.level)
    if fitting or any(chapter.number for chapter in chapters):
        return fitting[0] if fitting else None
    return _counted([int(part) for part in wanted.split(".")], chapters, headings)


def _counted(places: Sequence[int], chapters: Sequence[Heading], headings: Sequence[Heading]) -> Heading | None:
    """[3, 2]: the second heading below the third chapter; None when there are not so many."""
    found, among = None, list(chapters)
    for place in places:
        if not 1 <= place <= len(among):
            return None
        found = among[place - 1]
        inside = [heading for heading in headings if heading.path.startswith(f"{found.path} > ")]
        among = [heading for heading in inside if heading.level == min(h.level for h in inside)]
    return found
