"""Which questions are read off a document, in both languages, and which ordinary questions only look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.asked_place import LAST, NEXT, PREVIOUS, THIS_DOCUMENT, Place, number_of, place_in


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What is on page 5?", "5"),
        ("What's on page 5 of this document?", "5"),
        ("summarize page 5", "5"),
        ("Please summarise p. 12", "12"),
        ("What does page 3 say?", "3"),
        ("page 7", "7"),
        ("and page 6?", "6"),
        ("What about page iv?", "iv"),
        ("What is on page one?", "1"),
        ("Can you tell me what page 9 is about?", "9"),
        ("the next page", NEXT),
        ("What is on the last page?", LAST),
        ("第5页讲了什么？", "5"),
        ("第 5 页 讲了什么", "5"),
        ("那第6页呢？", "6"),
        ("第十二页的主要内容是什么？", "12"),
        ("第一〇五页讲了什么？", "105"),
        ("请总结一下第5页的要点", "5"),
        ("这份文档第3页写了什么", "3"),
        ("下一页讲了什么", NEXT),
        ("上一页", PREVIOUS),
        ("最后一页讲了什么？", LAST),
    ],
)
def test_a_page_is_asked_for(question, number):
    assert place_in(question) == Place("page", number)


@pytest.mark.parametrize(
    ("question", "number"),
    [("PDF page 7", "7"), ("PDF 第7页讲了什么", "7"), ("封面上写了什么？", "1"), ("What's on the cover?", "1")],
)
def test_the_nth_page_of_the_file_is_told_from_the_one_with_that_number_printed_on_it(question, number):
    assert place_in(question) == Place("page", number, pdf=True)


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What is chapter 3 about?", "3"),
        ("Summarize chapter 2 of this paper.", "2"),
        ("the third chapter", "3"),
        ("chapter three", "3"),
        ("section 2.1", "2.1"),
        ("What does section 2.1 discuss?", "2.1"),
        ("§ 4.2", "4.2"),
        ("the last chapter", LAST),
        ("第三章讲什么？", "3"),
        ("总结第三章", "3"),
        ("第三章第二节讲什么", "3.2"),
        ("第2.1节讲了什么", "2.1"),
        ("2.1节", "2.1"),
        ("那第四章呢？", "4"),
    ],
)
def test_a_chapter_is_asked_for(question, number):
    assert place_in(question) == Place("chapter", number)


@pytest.mark.parametrize(
    ("question", "kind", "topic"),
    [
        ("What does chapter 3 say about forgetting?", "chapter", "forgetting"),
        ("What is said about recall in chapter 5?", "chapter", "recall"),
        ("In chapter 5, what is said about recall?", "chapter", "recall"),
        ("What does page 12 say about recall and precision?", "page", "recall and precision"),
        ("第三章关于遗忘讲了什么？", "chapter", "遗忘"),
        ("第三章怎么讲遗忘的？", "chapter", "遗忘"),
        ("第5页对 HyDE 说了什么", "page", "hyde"),
    ],
)
def test_a_place_is_asked_about_a_topic(question, kind, topic):
    place = place_in(question)
    assert (place.kind, place.topic) == (kind, topic)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is this document about?", "document"),
        ("summarize the document", "document"),
        ("Give me a short summary of this paper", "document"),
        ("What does the book say?", "document"),
        ("这份文档讲什么？", "document"),
        ("总结一下这份文档", "document"),
        ("这篇论文的主要内容是什么", "document"),
        ("这本书主要讲了什么？", "document"),
        (f"What is {THIS_DOCUMENT} about?", "document"),
        (f"{THIS_DOCUMENT} 讲了什么", "document"),
        ("table of contents", "outline"),
        ("List the chapters.", "outline"),
        ("Which chapters are there?", "outline"),
        ("What is the structure of this paper?", "outline"),
        ("目录", "outline"),
        ("目录里有什么", "outline"),
        ("有哪些章节？", "outline"),
        ("有哪几节？", "outline"),
        ("这本书有哪些章节？", "outline"),
        ("How many pages does it have?", "pages"),
        ("这份文档有多少页？", "pages"),
        ("How many chapters does the book have?", "chapters"),
        ("一共有几章？", "chapters"),
    ],
)
def test_the_whole_its_outline_or_its_size_is_asked_for(question, kind):
    assert place_in(question) == Place(kind)


@pytest.mark.parametrize("question", ["总结一下", "Summarize", "summary", "tl;dr"])
def test_a_summary_of_nothing_in_particular_is_marked(question):
    assert place_in(question) == Place("document", bare=True)


@pytest.mark.parametrize(
    "question",
    [
        "What does page rank mean?",
        "How does chapter structure influence reading?",
        "What is the document frequency?",
        "What is the document about frequency?",
        "目录服务是什么",
        "什么是目录服务",
        "What is the date on page 14?",
        "Who wrote page 5?",
        "What is page 5 missing?",
        "Compare page 3 and page 5",
        "第一页和第二页",
        "What is a page?",
        "How many pages are in a typical book?",
        "多少页合适",
        "第三章和第四章有什么区别",
        "第一节课讲什么",
        "有几章讲到 HyDE？",
        "HyDE 在哪一章？",
        "Which chapter explains HyDE?",
        "how many chapters discuss memory?",
        "章节结构怎么影响阅读",
        "What is the paper's main contribution?",
        "What does the book recommend?",
        "本文的方法有什么缺点",
        "summarize recall",
        "总结一下召回率",
        "What is a summary?",
        "What is a table of contents?",
        "What are headings?",
        "What is the outline of a cell?",
        "What is section 8 housing?",
        "What is 3.5?",
        "下一步讲什么",
        "页表是什么",
        "书是什么",
        "我的论文主题是什么？",
        "What is my thesis about?",
        "Does page 5 exist?",
        "",
        "?",
    ],
)
def test_an_ordinary_question_is_none_of_them(question):
    assert place_in(question) is None


@given(st.text(max_size=40))
def test_any_text_has_a_place_or_none(text):
    place = place_in(text)
    assert place is None or place.kind in ("page", "chapter", "document", "outline", "pages", "chapters")


@given(st.integers(1, 199))
def test_chinese_numerals_are_read_as_they_are_written(number):
    digits = "零一二三四五六七八九"
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    written = f"{digits[hundreds]}百" if hundreds else ""
    written += f"{digits[tens]}十" if tens else "零" if hundreds and ones else ""
    assert number_of(written + (digits[ones] if ones else "")) == number
