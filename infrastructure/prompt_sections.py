"""What fills the sections of a prompt: numbered documents, named memories. Both are data that cannot close their section."""

from collections.abc import Sequence
from typing import Any

from infrastructure.answers import MemoryUse, as_data
from infrastructure.text import estimate_tokens_mixed


def documents_section(sources: Sequence[Any], head: str = "") -> str:
    """Numbered sources with their place, e.g. [3 | guide.pdf | 3.2 查询改写 > HyDE | p. 7] (D15); before them what they are."""
    blocks = [as_data(head)] if head else []
    for number, source in enumerate(sources, start=1):
        first = source.passages[0]
        place = filter(None, [str(number), first.document, first.heading_path, f"p. {first.page_start}"])
        blocks.append(f"[{as_data(' | '.join(place))}]\n{as_data(source.text)}")
    return "\n\n".join(blocks)


def memories_section(memories: Sequence[MemoryUse], max_tokens: int) -> str:
    """One memory a line, [M1] for the first, as many as fit; "" without any."""
    lines, budget = [], max_tokens
    for number, memory in enumerate(memories, start=1):
        budget -= estimate_tokens_mixed(memory.content)
        if budget < 0:
            break
        lines.append(f"[M{number}] ({memory.memory_type}) {as_data(memory.content)}")
    return "\n".join(lines)
