"""The sentences that say most about a place: frequent words of the place that are rare elsewhere, and what opens a passage."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from infrastructure.extraction import Extract, is_title, lists_references, rate_source
from infrastructure.language import language_of
from infrastructure.library import Passage
from infrastructure.shelves import inverse_frequency
from infrastructure.storage import Storage
from infrastructure.text import content_tokens, sentences

FEWEST_SENTENCES = 2  # quoted where one for each heading would be fewer
TELLING_TERMS = 12  # words a place is recognised by
MOST_FIGURES = 0.15  # share of a sentence's characters; what has more is a table
FIRST_SAYS_MORE = 0.2  # added for opening a passage: that is where authors say what it is about


def telling(storage: Storage, passages: Sequence[Passage], question: str, most: int) -> list[Extract]:
    """The sentences that say most about a place, in reading order: under each heading one, as long as there is room.

    Where a heading has sentences in the question's language, the others are left out.
    """
    rated = _rated(storage, passages, question)
    spoken = language_of(question)
    own = {passages[e.source].heading_path for e in rated if language_of(e.text) == spoken}
    rated = [e for e in rated if passages[e.source].heading_path not in own or language_of(e.text) == spoken]
    chosen: list[Extract] = []
    for room, one_each in ((most, True), (FEWEST_SENTENCES, False)):
        for extract in rated:
            heading = passages[extract.source].heading_path
            again = one_each and any(passages[other.source].heading_path == heading for other in chosen)
            if len(chosen) < room and not again and not any(_same(extract, other) for other in chosen):
                chosen.append(extract)
    return sorted(chosen, key=lambda extract: (extract.source, extract.start))


def _rated(storage: Storage, passages: Sequence[Passage], question: str) -> list[Extract]:
    """Every sentence that could be quoted, the most telling first; those that were cut off only where there are no others."""
    weights = _telling_terms(storage, passages, language_of(question))
    rated = []
    for number, passage in enumerate(passages):
        if lists_references(passage.content, passage.heading_path):
            continue
        extracts = rate_source(number, passage.content, passage.heading_path, weights, question, 1.0)
        rated += [
            replace(_behind_heading(extract, passage), score=extract.score + FIRST_SAYS_MORE / (1 + place))
            for place, extract in enumerate(extracts)
            if _says_something(extract.text)
        ]
    whole = [extract for extract in rated if is_whole(extract)]
    return sorted(whole or rated, key=lambda extract: (-extract.score, extract.source, extract.start))


def _says_something(sentence: str) -> bool:
    """No title, no item of a list, no line of a table: those are told by their figures."""
    figures = sum(map(str.isdigit, sentence))
    return not is_title(sentence) and not _NO_SENTENCE.match(sentence) and figures <= MOST_FIGURES * len(sentence)


def is_whole(extract: Extract) -> bool:
    """Does it end where a sentence ends?"""
    return _WHOLE.search(extract.text) is not None


def _behind_heading(extract: Extract, passage: Passage) -> Extract:
    """A sentence without the heading that stands before it on the page, as in "1 Introduction Large models …"."""
    title = passage.heading_path.split(" > ")[-1].split()
    written = r"\s+".join(map(re.escape, title))
    found = re.match(rf"(?:[\dIVX]+[.\d]*\s+)?{written}\s+(?=\S)", extract.text, re.I) if title else None
    return replace(extract, start=extract.start + found.end(), text=extract.text[found.end() :]) if found else extract


def _telling_terms(storage: Storage, passages: Sequence[Passage], spoken: str) -> dict[str, float]:
    """The words that are frequent here and rare elsewhere, with their weight; those of one language if it is spoken here."""
    texts = [p.content[start:end] for p in passages for start, end in sentences(p.content)]
    texts = [text for text in texts if language_of(text) == spoken] or texts
    counts = Counter(token for text in texts for token in content_tokens(text) if len(token) > 1)
    frequencies, rows = storage.document_frequencies("chunk", counts), storage.count("chunk")
    weights = {term: n * inverse_frequency(rows, frequencies[term]) for term, n in counts.items()}
    best = sorted(weights, key=lambda term: (-weights[term], term))[:TELLING_TERMS]
    return {term: weights[term] for term in best}


# An item of a list says little without the others, a table nothing without its lines.
_NO_SENTENCE = re.compile(r"[•·▪‣*\-–] ?|(?:table|figure|fig\.) [\dIVX]+\b|[图表] ?\d", re.I)
_WHOLE = re.compile(r"(?:[。！？；!?;]|(?<![\d\s])\.)[\"'”’」』）)\]\s]*$")


def _same(a: Extract, b: Extract) -> bool:
    """Do both say the same words? A passage repeats the end of the one before."""
    return a.text.split() == b.text.split()
