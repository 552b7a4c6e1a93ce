"""From passages to quotations: which sentence of each says most about the question, and what its page really says there."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from infrastructure.answers import QUOTED, Citation, quotable
from infrastructure.calibration import RELEVANT
from infrastructure.errors import EmbedderUnavailable
from infrastructure.extraction import Extract, best_sentences, subject_terms
from infrastructure.library import Library
from infrastructure.opposites import other_side
from infrastructure.shelves import inverse_frequency
from infrastructure.storage import Storage
from infrastructure.text import content_tokens, tokens

BACKGROUND_WEIGHT = 0.8  # of a word that only the context brought in, against one of the question itself
SHOWN_WITHOUT_SENTENCE = 200  # characters of a passage in which no sentence was found


class Quoter:
    """Quotes results of a search (anything with .passage, .score and .relevance) from the library of one home."""

    def __init__(self, storage: Storage, library: Library) -> None:
        self.storage = storage
        self.library = library

    def extract(self, question: str, enriched: str, results: Sequence, said: Sequence[str] = ()) -> list[Extract]:
        """For each result the sentence that says most about the question, best first. said: what was quoted before."""
        terms = subject_terms(question) or tokens(question)
        asked = set(content_tokens(question))
        background = [term for term in content_tokens(enriched) if term not in asked]
        rows = self.storage.count("chunk")
        frequencies = self.storage.document_frequencies("chunk", [*terms, *background])
        rarity = {term: inverse_frequency(rows, frequency) for term, frequency in frequencies.items()}
        weights = {term: rarity[term] for term in terms}
        weights |= {term: BACKGROUND_WEIGHT * rarity[term] for term in background}
        return best_sentences(
            [result.passage.content for result in results],
            weights,
            scores=[result.score for result in results],
            question=question,
            headings=[result.passage.heading_path for result in results],
            similarity=self._similarity(question) if self.storage.embedder is not None else None,
            said=said,
        )

    def _similarity(self, question: str) -> Callable[[Sequence[str]], Sequence[float]]:
        def similarity(texts: Sequence[str]) -> Sequence[float]:
            asked = self.storage.embed_query(question)
            if asked is None:
                return [0.0] * len(texts)
            try:
                return (self.storage.embedder.embed_passages(texts) @ asked).tolist()
            except EmbedderUnavailable:
                return [0.0] * len(texts)

        return similarity

    def cite(self, results: Sequence, extracts: Sequence[Extract]) -> list[Citation]:
        """One citation a result, numbered by its place among the results; the same words of one page are cited once."""
        best = {extract.source: extract for extract in extracts}
        citations: list[Citation] = []
        for number, result in enumerate(results):
            citation = self._citation(number + 1, result, best.get(number))
            if citation is not None and not any(_same_place(citation, other) for other in citations):
                citations.append(citation)
        return citations

    def _citation(self, n: int, result, extract: Extract | None) -> Citation | None:
        passage = result.passage
        start, end = (extract.start, extract.end) if extract else (0, min(len(passage.content), SHOWN_WITHOUT_SENTENCE))
        quote = self.library.quote(passage.document_id, passage.start + start, passage.start + end)
        if quote is None:
            return None
        return Citation(
            n,
            passage.document,
            quote.page,
            quote.label,
            passage.heading_path,
            quote.text,
            passage.document_id,
            passage.chunk_id,
            round(result.relevance, 4),
        )


def by_quotation(results: Sequence, extracts: Sequence[Extract]) -> tuple[list, list[Extract]]:
    """Results and extracts numbered anew, the best sentence's passage first.

    The sentence that answers best is better evidence for its page than the passage's likeness to the question: on questions
    with known pages the first page is right in 67 %, against 60 % in the order of the search.
    """
    order = [extract.source for extract in extracts]
    order += [number for number in range(len(results)) if number not in order]
    renumbered = [replace(extract, source=number) for number, extract in enumerate(extracts)]
    return [results[number] for number in order], renumbered


def one_a_page(results: Sequence, extracts: Sequence[Extract] = ()) -> tuple[list, list[Extract]]:
    """The first result of each page with its extract, numbered anew."""
    first: dict[tuple[str, int], int] = {}
    for number, result in enumerate(results):
        first.setdefault(page_of(result), number)
    place = {number: new for new, number in enumerate(first.values())}
    kept = [replace(extract, source=place[extract.source]) for extract in extracts if extract.source in place]
    return [results[number] for number in place], kept


def of_pages(results: Sequence, count: int) -> list:
    """The results on the first `count` pages, in order: five places to look at, not five pieces of one. Which of a page's
    passages is shown is decided by what can be quoted from them."""
    pages = list(dict.fromkeys(page_of(result) for result in results))[:count]
    return [result for result in results if page_of(result) in pages]


def worth_showing(results: Sequence, extracts: Sequence[Extract], question: str = "") -> tuple[list, list[Extract]]:
    """Only what may be quoted or is relevant by itself, numbered anew: a source that is neither, or that speaks only of the
    opposite of what the question asks, is a page to read in vain."""
    opposed = other_side(question)
    quoted = {extract.source for extract in quotable(extracts)[:QUOTED]}
    kept = [
        number
        for number, result in enumerate(results)
        if number in quoted or (result.relevance >= RELEVANT and not (opposed and opposed(result.passage.content)[0]))
    ]
    place = {number: new for new, number in enumerate(kept)}
    left = [replace(extract, source=place[extract.source]) for extract in extracts if extract.source in place]
    return [results[number] for number in kept], left


def page_of(result) -> tuple[str, int]:
    return result.passage.document_id, result.passage.page_start


def _same_place(a: Citation, b: Citation) -> bool:
    return (a.document_id, a.page, a.quote) == (b.document_id, b.page, b.quote)
