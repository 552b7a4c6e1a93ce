"""From documents and notes to a handful of good questions: where to look, in which order, and who words them.

topic      the passages and notes about it, the most relevant first
no topic   section by section, those with the fewest cards first; a definition before a number before a name
a model    words the questions when one is configured; what it returns passes the same checks, and it is asked again at
           most twice for what fell through; the rules make up what is missing
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from infrastructure.calibration import RELEVANT
from infrastructure.cards import CardTable, Draft
from infrastructure.errors import LLMUnavailable
from infrastructure.language import language, language_of
from study.model_questions import ask_model
from study.questions import (
    Find,
    Source,
    Terms,
    draft_of,
    finds,
    note_draft,
    refusal,
    span_of,
    title_terms,
)

GOOD = 2.0  # worth of a definition or a telling number; names come when these have run out
ROUNDS = 3  # times a model is asked, the first included
PASSAGES_AT_ONCE = 6

Section = list[Source]


@dataclass
class Made:
    """Questions that may become cards, what a model made in vain and why, and one sentence when it could not help."""

    drafts: list[Draft] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""

    def drop(self, draft: Draft, reason: str) -> None:
        """Remember what a model made in vain, once; that the rules find much twice in a book is nothing to tell."""
        if draft.source == "model" and (draft.question, reason) not in self.dropped:
            self.dropped.append((draft.question, reason))


class QuizMaker:
    """Makes questions on one home. `retriever` and `semantic` find what is about a topic."""

    def __init__(self, library: Any, cards: CardTable, retriever: Any, semantic: Any) -> None:
        self._library, self._cards, self._retriever, self._semantic = library, cards, retriever, semantic

    def make(self, count: int, topic: str = "", document_ids: Sequence[str] | None = None, *, llm: Any = None) -> Made:
        """Up to `count` new questions; fewer when there is no more to ask. llm None: by rules alone."""
        spoken = language_of(topic) if topic else language()
        sections = list(self._about(topic, document_ids) if topic else self._unasked(document_ids))
        gate = _Gate(self._library, self._cards.list(), sections)
        if llm is not None:
            self._by_model(llm, gate, sections, count, spoken)
        self._by_rules(gate, sections, count, spoken)
        return gate.made

    # ---- Where to look ----

    def _about(self, topic: str, document_ids: Sequence[str] | None) -> Iterator[Section]:
        """Each passage or note about the topic by itself, then the rest of the sections they stand in."""
        if document_ids is None:
            items = [hit.item for hit in self._semantic.retrieve(topic, top_k=10)]
            yield from ([source] for source in map(_note_source, filter(_is_note, items)))
        found = self._retriever.search(
            topic, top_k=12, use_mqe=False, use_hyde=False, documents=document_ids, min_relevance=RELEVANT
        )
        passages = [result.passage for result in found]
        yield from ([_source(passage)] for passage in passages)
        seen = {passage.chunk_id for passage in passages}
        for passage in passages[:3]:
            near = self._library.passages_between(passage.document_id, passage.position - 2, passage.position + 2)
            same = [p for p in near if p.heading_path == passage.heading_path and p.chunk_id not in seen]
            seen |= {p.chunk_id for p in same}
            yield from ([_source(p)] for p in same)

    def _unasked(self, document_ids: Sequence[str] | None) -> Iterator[Section]:
        """Notes without a card, then sections in the order of their documents, those with the fewest cards first."""
        cards = self._cards.list()
        if document_ids is None:
            asked = {card.note_id for card in cards}
            notes = [item for item in self._semantic.list(limit=-1) if _is_note(item) and item.memory_id not in asked]
            yield from ([_note_source(item)] for item in notes[:2])
        sections: dict[tuple[str, str], Section] = {}
        for info in self._library.documents():
            if document_ids is None or info.document_id in document_ids:
                for passage in self._library.passages_between(info.document_id, 0, info.chunks):
                    sections.setdefault((passage.document_id, passage.heading_path), []).append(_source(passage))
        used = Counter((card.document_id, card.heading_path) for card in cards)
        place: Counter[str] = (
            Counter()
        )  # of a section in its chapter: a quiz goes through the chapters, not through one

        def turn(section: Section) -> tuple[int, bool, int]:
            first = section[0]
            chapter = f"{first.document_id}{first.heading_path.partition(' > ')[0]}"
            place[chapter] += 1
            return used[first.document_id, first.heading_path], not first.heading_path, place[chapter]

        yield from sorted(sections.values(), key=turn)

    # ---- By rules ----

    def _by_rules(self, gate: "_Gate", sections: Iterable[Section], count: int, spoken: str) -> None:
        """The best of each section, round after round; first only what makes a good question in the learner's language."""
        parts = [_Part(section, gate.terms) for section in sections]
        for own_language, worth in ((True, GOOD), (True, 0.0), (False, GOOD), (False, 0.0)):
            taken = True
            while taken and len(gate.made.drafts) < count:
                taken = False
                for part in parts:
                    if len(gate.made.drafts) >= count:
                        return
                    wanted = spoken if own_language else ""
                    taken = self._take(gate, part, worth, wanted) or taken

    def _take(self, gate: "_Gate", part: "_Part", worth: float, spoken: str) -> bool:
        """Try what is left of a part, the best first, until one question passes; False when there is none."""
        while (best := part.pop(worth, spoken)) is not None:
            if gate.admit(*best):
                return True
        return False

    # ---- By a model ----

    def _by_model(self, llm: Any, gate: "_Gate", sections: Sequence[Section], count: int, spoken: str) -> None:
        sources = [source for section in sections for source in section[:2] if not source.note_id]
        for number in range(ROUNDS):
            missing = count - len(gate.made.drafts)
            part = sources[number * PASSAGES_AT_ONCE :][:PASSAGES_AT_ONCE] or sources[:PASSAGES_AT_ONCE]
            if missing <= 0 or not part:
                return
            asked = [draft.question for draft in gate.made.drafts]
            try:
                answers = ask_model(llm, part, missing, spoken, asked)
            except LLMUnavailable as error:
                gate.made.note = str(error)
                return
            gate.made.dropped += [told for told in answers.dropped if told not in gate.made.dropped]
            for draft, source in answers.drafts:
                if len(gate.made.drafts) < count:
                    gate.admit_draft(draft, source)


def _is_note(item: Any) -> bool:
    return bool(item.metadata.get("note_type"))


def _note_source(item: Any) -> Source:
    told = item.metadata
    return Source(item.content, str(told.get("concept", "general")), told.get("document_id", ""), told.get("document") or "",
                  page=told.get("page"), note_id=item.memory_id)  # fmt: skip


def _source(passage: Any) -> Source:
    return Source(passage.content, passage.heading_path, passage.document_id, passage.document, passage.start,
                  passage.page_start)  # fmt: skip


class _Part:
    """What can still be asked about a section, found when it is first looked at."""

    def __init__(self, section: Section, terms: Terms) -> None:
        self._section, self._terms = section, terms
        self._left: list[tuple[Find, Source]] | None = None

    def pop(self, worth: float, spoken: str) -> tuple[Any, Source] | None:
        """The best find of at least this worth, in this language ("": any); None when there is none."""
        if self._left is None:
            self._left = [pair for source in self._section for pair in _to_ask(source)]
            self._left.sort(key=lambda pair: -pair[0].worth)
            self._terms.add(found.answer for found, _source in self._left if found.kind == "term")
        for place, (found, _source) in enumerate(self._left):
            if found.worth >= worth and spoken in ("", language_of(found.sentence)):
                return self._left.pop(place)
        return None


def _to_ask(source: Source) -> Iterator[tuple[Find, Source]]:
    if source.note_id:  # a note is asked for by its concept, at best; the sentences in it come after that
        yield Find(0, len(source.text), source.text, "note", source.text, "", GOOD + 0.5), source
    yield from ((found, source) for found in finds(source))


class _Gate:
    """What passes here is asked. Keeps the questions of this quiz and what was said against the others."""

    def __init__(self, library: Any, cards: Sequence[Draft], sections: Sequence[Section]) -> None:
        self.made = Made()
        self._library = library
        self._others = list(cards)
        self._notes = [source for section in sections for source in section if source.note_id]
        self.terms = Terms()
        self.terms.add(_names(library, {source.document_id for section in sections for source in section}))

    def admit(self, found: Find, source: Source) -> bool:
        """Make the question a find stands for, with its place, quotation and options; False when it is no good."""
        if found.kind == "note":
            concepts = [note.heading_path for note in self._notes]
            draft = note_draft(source, alone=concepts.count(source.heading_path) < 2)
            return draft is not None and self.admit_draft(draft, source)
        draft = draft_of(found, source)
        if draft.kind == "term":
            draft = replace(draft, options=self.terms.beside(draft.answer, draft.quote, draft.point))
        return self.admit_draft(draft, source)

    def admit_draft(self, draft: Draft, source: Source) -> bool:
        """The same for a question as it is. Its quotation becomes what the page really says there."""
        page_text, span = source.text, span_of(draft.quote, source.text)
        if not source.note_id:
            quote = span and self._library.quote(source.document_id, source.start + span[0], source.start + span[1])
            page = self._library.page(source.document_id, quote.page if quote else source.page)
            page_text = page.raw if page else ""
            if quote:
                draft = replace(draft, page=quote.page, page_label=quote.label, quote=quote.text)
            elif on_page := span_of(draft.quote, page_text):  # from another passage of the same page
                draft = replace(draft, quote=page_text[slice(*on_page)])
        if reason := refusal(draft, self._others, page_text):
            self.made.drop(draft, reason)
            return False
        self._others.append(draft)
        self.made.drafts.append(draft)
        return True


def _names(library: Any, document_ids: Iterable[str]) -> Iterator[str]:
    """The terms that the headings of these documents name."""
    for document_id in sorted(filter(None, document_ids)):
        for _level, title, _page in library.outline(document_id):
            yield from title_terms(title)
