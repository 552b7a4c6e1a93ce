"""Answers that are read off a document: what stands on a page, in a chapter, at the beginning, in the table of contents.

    question → place (asked_place.py) → which document → passages there, in reading order → headings and telling sentences

No likeness decides here. A place that does not exist is an answer, too: it says what there is instead.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from infrastructure.answers import Answer, Citation, quoted
from infrastructure.asked_place import LAST, NEXT, PREVIOUS, THIS_DOCUMENT, Place, number_of, place_in
from infrastructure.headings import Heading, chapter_level, chapters_of, heading_meant, headings_of
from infrastructure.language import tr, tr_like
from infrastructure.library import DocumentInfo, Library, Passage
from infrastructure.quoting import Quoter
from infrastructure.telling import is_whole, telling
from infrastructure.text import fold, is_cjk
from infrastructure.utterance import names_a_topic

MOST_SENTENCES = 4  # quoted from a page or a chapter
FROM_THE_BEGINNING = 3  # sentences that say what a document is about
PASSAGES_OF_A_HEADING = 3  # read of a chapter under each of its headings: its first sentences are wanted
BEGINNING = 8  # passages of a document without an abstract
FIRST_HEADINGS = 6  # among which an introduction introduces the document and not a chapter
FRONT_PAGES = 3  # on which a book says what it is called
LONGEST_LIST = 15  # headings listed


@dataclass(frozen=True)
class Found:
    """A passage in the shape of a search result; it was not searched for, so it is as relevant as can be."""

    passage: Passage
    score: float = 1.0
    relevance: float = 1.0


@dataclass(frozen=True)
class Reading:
    """What stands at a place. head: place and headings, or all there is to say where nothing is quoted.

    found: there is such a place, and something to be read. within: restricts a search to it, as keywords of `search`.
    subject: what is asked of the place, as a question; "" for all of it. remark: which of several documents was read.
    """

    place: Place
    head: str
    found: bool = True
    document: DocumentInfo | None = None
    passages: Sequence[Passage] = ()
    heading: str = ""
    most: int = MOST_SENTENCES
    within: Mapping[str, Any] = field(default_factory=dict)
    subject: str = ""
    remark: str = ""
    at: str = ""  # the page, or the title of the chapter: where "the next one" goes on from

    @property
    def trace(self) -> dict[str, Any]:
        """What the transcript keeps of it."""
        document = self.document
        return {
            "kind": self.place.kind,
            "at": self.at,
            "topic": self.subject and self.place.topic,
            "document": document.name if document else "",
            "document_id": document.document_id if document else "",
        }

    def sign(self, answer: Answer) -> None:
        """Say in an answer where it was read or searched for; and that nothing of the kind stands there, if so."""
        answer.trace["read_off"] = self.trace
        if self.subject and not answer.found:
            place = self.head.split("\n")[0].rstrip(":：")
            en = f"{place} says nothing about “{self.place.topic}”."
            answer.answer = tr_like(answer.question, en, f"{place}没有讲到「{self.place.topic}」。")
        answer.say_first(self.remark)


class PlaceReader:
    """Reads off the documents of one home."""

    def __init__(self, library: Library, quoter: Quoter) -> None:
        self.library = library
        self._quoter = quoter

    def read(self, question: str, before: Sequence[Mapping[str, Any]] = ()) -> Reading | None:
        """What stands at the place a question names; None when it names none, and has to be searched for.

        before: traces of the session's last turns, the latest first.
        """
        documents = self.library.documents()
        named, asked = _named_in(question, documents)
        candidates, asked = (documents, asked) if named else self._called(question, documents)
        place = place_in(asked)
        answered = next((trace for trace in before if trace.get("found")), {"read_off": None})
        if place is None or not documents or (place.bare and "read_off" not in answered):
            return None  # "summarize" asks for what was just spoken of, if something was
        if place.kind in ("outline", "pages", "chapters"):
            return self._counted(place, question, [named] if named else documents)
        document, remark = (named, "") if named else _document_meant(candidates, before)
        reader = {"page": self._page, "chapter": self._chapter, "document": self._document}[place.kind]
        last = next((trace["read_off"] for trace in before if "read_off" in trace), {})
        reading = reader(place, question, document, last)
        subject = _subject(place, question) if reading and reading.found else ""
        return reading and replace(reading, document=document, remark=remark, subject=subject)

    def _called(self, question: str, documents: Sequence[DocumentInfo]) -> tuple[Sequence[DocumentInfo], str]:
        """The question as of `_named_in`, for a book by what people call it: 南瓜书第3章. Those documents may be meant that
        say so in their name or on their first pages; when none does, each: it is still a place, and not a matter of likeness."""
        called = _CALLED.match(question)
        if called is None:
            return documents, question
        whole = called["name"].lower()
        for name in (whole, whole.removesuffix(called["noun"]).rstrip("的 ")):
            if name and (saying := [document for document in documents if name in self._front(document)]):
                documents = saying
                break
        return documents, THIS_DOCUMENT + question[called.end() :]

    def _front(self, document: DocumentInfo) -> str:
        pages = (self.library.page(document.document_id, page) for page in range(1, FRONT_PAGES + 1))
        return "\n".join([document.name, *(page.clean for page in pages if page)]).lower()

    # ---- How many, and the table of contents ----

    def _counted(self, place: Place, question: str, documents: Sequence[DocumentInfo]) -> Reading:
        if place.kind == "pages":
            return Reading(place, "\n".join(_pages_of(document, question) for document in documents))
        lines = self.library.chapters(documents[0].name if len(documents) == 1 else "", spoken=question)
        if not lines:
            return Reading(place, _no_outline(question), found=False)
        if place.kind == "chapters":
            lines = "\n".join([*self._chapter_counts(question, documents), lines])
        return Reading(place, lines)

    def _chapter_counts(self, question: str, documents: Sequence[DocumentInfo]) -> Iterator[str]:
        for document in documents:
            n = len(chapters_of(self._headings(document)))
            en = f"{document.name} has {n} {'chapter' if n == 1 else 'chapters'}."
            yield tr_like(question, en, f"{document.name} 有 {n} 章。")

    def _headings(self, document: DocumentInfo) -> list[Heading]:
        return headings_of(self.library.outline(document.document_id), document.pages)

    # ---- A page ----

    def _page(self, place: Place, question: str, document: DocumentInfo, last: Mapping[str, Any]) -> Reading | None:
        name = document.name
        if _is_one_text(document):
            en, zh = f"{name} is one text without pages.", f"{name} 是不分页的文本。"
            return Reading(place, tr_like(question, en, zh), found=False)
        if place.number in (NEXT, PREVIOUS) and not (last.get("kind") == "page" and last["at"]):
            return None  # no page was read before, or one that does not exist
        page = self._page_number(place, document, last)
        if page is None or not 1 <= page <= document.pages:
            return Reading(place, _no_page(place, question, document), found=False)
        label = dict(self.library.labels(document.document_id))[page]
        number = _page_name(question, page, label)
        stands = tr_like(question, f"{number} of {name}", f"{name} {number}")
        within = {"documents": [document.document_id], "pages": (page, page)}
        passages = self._passages(**within)
        if not any(passage.content.strip() for passage in passages):
            en, zh = f"{stands} has no text that could be read.", f"{stands}没有读到文字。"
            return Reading(place, tr_like(question, en, zh), found=False, at=str(page))
        titles = self._titles_on(document, page)
        head = "\n".join([stands + tr_like(question, ":", "："), *titles])
        heading = titles[0].strip() if titles else stands
        return Reading(place, head, passages=passages, heading=heading, within=within, at=str(page))

    def _page_number(self, place: Place, document: DocumentInfo, last: Mapping[str, Any]) -> int | None:
        """The page with that number printed on it, else the n-th; None when it has no number."""
        if place.number == LAST:
            return document.pages
        if place.number in (NEXT, PREVIOUS):
            return int(last["at"]) + (1 if place.number == NEXT else -1)
        labels = self.library.labels(document.document_id)
        printed = [page for page, label in labels if label and fold(label) == place.number and not place.pdf]
        return printed[0] if printed else number_of(place.number)

    def _titles_on(self, document: DocumentInfo, page: int) -> list[str]:
        """The heading a page stands under, and those that begin on it, indented."""
        here = [heading for heading in self._headings(document) if heading.page == page]
        stored = self.library.page(document.document_id, page)
        above = stored.heading_path.split(" > ") if stored and stored.heading_path else []
        titles = [(heading.level, heading.title) for heading in here]
        if above and above[-1] not in [title for _, title in titles]:
            titles.insert(0, (len(above), above[-1]))
        top = min((level for level, _ in titles), default=0)
        return [f"{'  ' * (level - top + 1)}{title}" for level, title in titles]

    # ---- A chapter ----

    def _chapter(self, place: Place, question: str, document: DocumentInfo, last: Mapping[str, Any]) -> Reading | None:
        headings = self._headings(document)
        if place.number in (NEXT, PREVIOUS) and last.get("kind") != "chapter":
            return None
        heading = heading_meant(place.number, headings, last.get("at", ""))
        if heading is None and self._is_in_the_text(question, document):
            return None  # "section 230" is a law, and no chapter
        if heading is None:
            return Reading(place, self._no_chapter(place, question, document, headings), found=False)
        within = {"documents": [document.document_id], "section": heading.path}
        passages = self._passages(**within)
        if not passages:
            within = {"documents": [document.document_id], "pages": (heading.page, heading.last_page)}
            passages = self._passages(**within)
        below = [h for h in headings if h.path.startswith(f"{heading.path} > ") and h.level == heading.level + 1]
        pages = "" if _is_one_text(document) else self._span(question, document, heading.page, passages)
        place_of = tr_like(question, f" ({document.name}{pages}):", f"（{document.name}{pages}）：")
        head = "\n".join([heading.title + place_of, *self._listed(question, document, below)])
        return Reading(
            place,
            head,
            bool(passages),
            passages=_first_of_each(passages),
            heading=heading.title,
            within=within,
            at=heading.path,
        )

    def _is_in_the_text(self, question: str, document: DocumentInfo) -> bool:
        """Does the document itself speak of the place in these words? Then a search finds where."""
        words = _CHAPTER_WORDS.search(fold(question))
        return bool(words) and self.library.says(document.document_id, words[0])

    def _no_chapter(self, place: Place, question: str, document: DocumentInfo, headings: Sequence[Heading]) -> str:
        number = place.number if place.number[0].isdigit() else ""
        if not headings:
            en = f"{document.name} has no outline to find a chapter by."
            return tr_like(question, en, f"{document.name} 没有目录信息，找不到章节。")
        level = place.number.count(".")
        en = f"{document.name} has no {'section' if level else 'chapter'} {number}".rstrip() + "; it has:"
        zh = f"第 {number} {'节' if level else '章'}" if number else "这一章"
        zh = f"{document.name} 没有{zh}，目录如下："
        top = chapter_level([heading.level for heading in headings])
        listed = [heading for heading in headings if heading.level <= top + level]
        return "\n".join([tr_like(question, en, zh), *self._listed(question, document, listed)])

    def _listed(self, question: str, document: DocumentInfo, headings: Sequence[Heading]) -> list[str]:
        """A line for each heading, with the page as it is printed."""
        labels = dict(self.library.labels(document.document_id))
        top = min((heading.level for heading in headings), default=0)
        lines = []
        for heading in headings[:LONGEST_LIST]:
            page = labels.get(heading.page) or heading.page
            page = "" if _is_one_text(document) else tr_like(question, f" (p. {page})", f"（第 {page} 页）")
            lines.append(f"{'  ' * (heading.level - top + 1)}{heading.title}{page}")
        more = len(headings) - LONGEST_LIST
        return lines + [tr_like(question, f"  … and {more} more", f"  …… 另有 {more} 个")] * (more > 0)

    def _span(self, question: str, document: DocumentInfo, first: int, passages: Sequence[Passage]) -> str:
        labels = dict(self.library.labels(document.document_id))
        last = max((passage.page_end for passage in passages), default=first)
        begin, end = (labels.get(page) or str(page) for page in (first, last))
        if begin == end:
            return tr_like(question, f", p. {begin}", f"，第 {begin} 页")
        return tr_like(question, f", pp. {begin}–{end}", f"，第 {begin}–{end} 页")

    # ---- The whole of it ----

    def _document(self, place: Place, question: str, document: DocumentInfo, last: Mapping[str, Any]) -> Reading:
        headings = self._headings(document)
        top = chapter_level([heading.level for heading in headings])
        title = self._title(document, headings)
        head = document.name
        if not _is_one_text(document):
            head += tr_like(question, f", {_count(document.pages, 'page')}", f"，{document.pages} 页")
        if title:
            head += tr_like(question, f": {title}", f"：{title}")
        chapters = [heading for heading in headings if heading.level == top]
        lines = [head, *self._listed(question, document, chapters)]
        passages = self._beginning(document, headings, question)
        found = bool(passages or chapters)
        return Reading(
            place, "\n".join(lines), found, passages=passages, heading=title or document.name, most=FROM_THE_BEGINNING
        )

    def _title(self, document: DocumentInfo, headings: Sequence[Heading]) -> str:
        """A heading above all others, else the first line of the first page if it reads like one, else ""."""
        highest = [heading.title for heading in headings if heading.level == min(h.level for h in headings)]
        if len(highest) == 1 and headings[0].title == highest[0]:
            return highest[0]
        stored = self.library.page(document.document_id, 1)
        lines = [line.strip("#* \t") for line in (stored.clean if stored else "").split("\n") if line.strip()]
        return next((line for line in lines[:3] if _reads_like_a_title(line)), "")

    def _beginning(self, document: DocumentInfo, headings: Sequence[Heading], question: str) -> list[Passage]:
        """The abstract if there is one, else the introduction, what stands below the title, or the first pages."""
        passages = self.library.passages_between(document.document_id, 0, 5 * BEGINNING)
        for place, passage in enumerate(passages[: 2 * BEGINNING]):
            if mark := _ABSTRACT.search(passage.content):
                rest = replace(passage, content=passage.content[mark.end() :], start=passage.start + mark.end())
                return [*([rest] if rest.content.strip() else []), *passages[place + 1 : place + 3]]
        introduced = next((h for h in headings[:FIRST_HEADINGS] if _INTRODUCES.fullmatch(fold(h.title))), None)
        if introduced and (below := self._passages(documents=[document.document_id], section=introduced.path)):
            return below[:BEGINNING]
        first = [_behind_titles(passage) for passage in passages[:1]]
        says_something = any(map(is_whole, telling(self.library.storage, first, question, FROM_THE_BEGINNING)))
        return first if says_something else passages[:BEGINNING]

    # ---- Passages and their sentences ----

    def _passages(self, **within: Any) -> list[Passage]:
        found = self.library.passages(self.library.chunk_ids(**within))
        return sorted(found.values(), key=lambda passage: passage.position)

    def quote(self, reading: Reading, question: str) -> tuple[str, list[Citation]]:
        """(answer, citations): the head of a reading and its telling sentences, each with a citation of its own."""
        extracts = telling(self.library.storage, reading.passages, question, reading.most)
        results = [Found(reading.passages[extract.source]) for extract in extracts]
        numbered = [replace(extract, source=n, score=1.0) for n, extract in enumerate(extracts)]
        citations = self._quoter.cite(results, numbered)
        said = quoted(numbered, question, citations, most=len(numbered)) if numbered else ""
        return "\n".join(filter(None, [reading.head, said])), citations


# ---- Which document? ----


def _named_in(question: str, documents: Sequence[DocumentInfo]) -> tuple[DocumentInfo | None, str]:
    """The document a question names, the longest name first, and the question with THIS_DOCUMENT in place of the name.

    A name without its ending counts where it cannot be an ordinary word: memory_rag_guide, but not attention.
    """
    asked = _spaced(question)
    for document in sorted(documents, key=lambda document: -len(document.name)):
        stem = document.name.rsplit(".", 1)[0]
        if _spaced(stem) not in asked:
            continue  # of many documents few are named, and patterns are slow to build
        names = [document.name, *([stem] if re.search(r"[_\-\d]", stem) else [])]
        for name in names:
            spoken = r"[\s_\-]+".join(map(re.escape, re.split(r"[\s_\-]+", name)))
            found = re.search(rf"(?<![A-Za-z0-9_])[“\"'《「]?{spoken}[”\"'》」]?(?![A-Za-z0-9_])", question, re.I)
            if found:
                return document, f"{question[: found.start()]}{THIS_DOCUMENT}{question[found.end() :]}"
        if quoted_name := re.search(rf"[“\"《「]{re.escape(stem)}[”\"》」]", question, re.I):
            return document, question.replace(quoted_name[0], THIS_DOCUMENT, 1)
    return None, question


_CALLED = re.compile(
    r"[“《「]?(?P<name>(?![我你他她这那本该全整上下前后第])[\w \-]{1,16}?"
    r"(?P<noun>书|论文|文章|报告|文档|讲义|教材|课件|指南|手册))[”》」]?"
    r"(?:的|里的?|中的?)?(?=第[\d零一二三四五六七八九十百.]{1,5}[章节页])"
)


def _spaced(text: str) -> str:
    """With one space for what is written between the words of a name."""
    return " ".join(re.split(r"[\s_\-]+", text.lower()))


def _document_meant(documents: Sequence[DocumentInfo], before: Sequence[Mapping[str, Any]]) -> tuple[DocumentInfo, str]:
    """Of several the one read off or cited last, else the newest; with a sentence that says so, unless it is still read."""
    if len(documents) == 1:
        return documents[0], ""
    by_id = {document.document_id: document for document in documents}
    used = [trace["read_off"]["document_id"] if "read_off" in trace else source["document_id"]
            for trace in before for source in (trace.get("sources") or [{"document_id": ""}])[:1]]  # fmt: skip
    last = next((by_id[document_id] for document_id in used if document_id in by_id), None)
    document, n = last or documents[-1], len(documents)
    if before and before[0].get("read_off", {}).get("document_id") == document.document_id:
        return document, ""
    why_en, why_zh = ("the one cited last", "上次引用的那份") if last else ("the newest", "最新的一份")
    en = f"Read off {document.name}, {why_en} of {n} documents; name another one to have that read."
    return document, tr(en, f"读的是 {document.name}（{n} 份资料中{why_zh}）；要看别的，请写上文件名。")


def _is_one_text(document: DocumentInfo) -> bool:
    return document.media_type in ("markdown", "text") and document.pages == 1


# ---- Pages ----


def _page_name(question: str, page: int, label: str | None) -> str:
    if label and label != str(page):
        return tr_like(question, f"Page {label} (PDF page {page})", f"第 {label} 页（PDF 第 {page} 页）")
    return tr_like(question, f"Page {page}", f"第 {page} 页")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _pages_of(document: DocumentInfo, question: str) -> str:
    if _is_one_text(document):
        return tr_like(question, f"{document.name} is one text without pages.", f"{document.name} 是不分页的文本。")
    return tr_like(
        question, f"{document.name} has {_count(document.pages, 'page')}.", f"{document.name} 共 {document.pages} 页。"
    )


def _no_page(place: Place, question: str, document: DocumentInfo) -> str:
    n = place.number if place.number not in (NEXT, PREVIOUS) else ""
    wanted = tr_like(question, f"no page {n}" if n else "no such page", f"没有第 {n} 页" if n else "没有这一页")
    has = tr_like(question, f"it has {_count(document.pages, 'page')}", f"共 {document.pages} 页")
    return tr_like(question, f"{document.name} has {wanted}: {has}.", f"{document.name} {wanted}：{has}。")


# ---- Chapters ----

_CHAPTER_WORDS = re.compile(r"(?:chapter|section|part|§) ?[\d.]*\d\b|第?[\d.零一二三四五六七八九十百]+[章节篇讲]")


def _no_outline(question: str) -> str:
    return tr_like(question, "Your documents have no outline.", "你的资料没有目录信息。")


# ---- The beginning, and what is quoted from it ----


def _first_of_each(passages: Sequence[Passage]) -> list[Passage]:
    """The first few passages under each heading."""
    seen: Counter[str] = Counter()
    kept = []
    for passage in passages:
        seen[passage.heading_path] += 1
        kept += [passage] * (seen[passage.heading_path] <= PASSAGES_OF_A_HEADING)
    return kept


def _behind_titles(passage: Passage) -> Passage:
    """A document's first passage from behind its title; the whole of it when nothing else is there."""
    offset = 0
    for line in passage.content.split("\n"):
        if line.strip() and not _reads_like_a_title(line.strip("#* \t")):
            break
        offset += len(line) + 1
    rest = passage.content[offset:]
    return replace(passage, content=rest, start=passage.start + offset) if rest.strip() else passage


_ABSTRACT = re.compile(r"(?:^|\n)[ \t#*]*(?:abstract|executive summary|摘\s*要|内容提要)[ \t*]*[:：.—–-]*\s*", re.I)
_INTRODUCES = re.compile(
    r"(?:[\divx]+[. ]*)*(?:introduction|overview|preface|foreword|abstract|summary|about this \w+)"
    r"|(?:[\d.、 ]*|第[\d一]章 ?)(?:引言|导言|绪论|概述|简介|前言|摘要|导论)"
)
LONGEST_TITLE = 120  # characters


def _reads_like_a_title(line: str) -> bool:
    """Short, mostly letters, no sentence, no address of a page or a date."""
    letters = sum(map(str.isalpha, line))
    plain = (
        not re.search(r"https?:|www\.|@|arxiv:|\bpage \d|\d{4}-\d\d", line, re.I) and line[-1:] not in ".。,，;；:："
    )
    words = len(line.split()) > 1 or sum(map(is_cjk, line)) > 3
    return plain and words and letters >= len(line) / 2 and len(line) <= LONGEST_TITLE


def _subject(place: Place, question: str) -> str:
    """A topic as a question in the question's language, which says what it is about if its place leans on nothing."""
    topic = place.topic
    if not topic or not names_a_topic(topic):
        return topic
    return tr_like(question, f"What is {topic}?", f"什么是{topic}？")
