"""Which engine is believed. The engines here are stand-ins that say what a test wants."""

from pathlib import Path

import pytest

from infrastructure.errors import PasswordNeeded
from study.chain import GIVE_UP, Chain
from study.engine import EngineError, PageText, locked

HONEST = "Retrieval finds the passages that fit and the model writes an answer from them, with the page. " * 3
SIGNS = "\ue001\ue002\ue003\ue004 \ue005\ue006" * 20
GLUED = "Retrievalfindsthepassagesthatfitandthemodelwritesananswer " * 25
GBK = "检索增强生成先查资料再回答，因此能够说明出处。".encode("gbk").decode("latin-1")


def engine(*pages, fails=None):
    """A class of engine that gives these texts, or raises an error in their place; `asked` counts its pages."""

    class Engine:
        name, title, page_count = "stand-in", "", len(pages)
        asked = 0

        def __init__(self, path, password=None):
            if fails is not None:
                raise fails

        def read(self, page):
            type(self).asked += 1
            if isinstance(pages[page], Exception):
                raise pages[page]
            return PageText(pages[page]) if isinstance(pages[page], str) else pages[page]

        def close(self):
            pass

    return Engine


def chain(*engines):
    return Chain(Path("book.pdf"), engines=engines)


def test_the_first_engine_that_reads_well_is_believed_and_the_next_not_asked():
    second = engine(HONEST)
    assert chain(engine(HONEST), second).read(0).text == HONEST
    assert second.asked == 0


def test_signs_are_offered_to_the_next():
    assert chain(engine(SIGNS), engine(HONEST)).read(0).text == HONEST


def test_glued_words_are_offered_to_the_next():
    assert chain(engine(GLUED), engine(HONEST)).read(0).text == HONEST


def test_when_none_reads_well_the_best_stays_with_its_score():
    page = chain(engine(SIGNS), engine(SIGNS), engine(SIGNS)).read(0)
    assert (page.text, page.score) == (SIGNS, 0.0)


def test_a_page_that_breaks_one_engine_is_read_by_another():
    assert chain(engine(EngineError("broken")), engine(HONEST)).read(0).text == HONEST


def test_a_page_that_breaks_all_has_the_first_reason():
    page = chain(engine(EngineError("broken")), engine(EngineError("bent"))).read(0)
    assert (page.text, page.reason) == ("", "broken")


def test_silence_is_checked_by_one_other_which_may_say_why():
    third = engine(HONEST)
    assert (
        chain(engine(""), engine(EngineError("it unpacks to too much")), third).read(0).reason
        == "it unpacks to too much"
    )
    assert chain(engine(""), engine(HONEST)).read(0).text == HONEST
    assert third.asked == 0


def test_a_scan_is_silent_for_a_reason():
    second = engine("")
    assert chain(engine(PageText("", covered=1.0)), second).read(0).covered == 1.0
    assert second.asked == 0


def test_engines_that_do_not_help_are_given_up():
    second = engine(*[SIGNS] * 9)
    book = chain(engine(*[SIGNS] * 9), second)
    for page in range(9):
        book.read(page)
    assert second.asked == GIVE_UP


def test_a_file_the_first_cannot_open_is_opened_by_the_next():
    assert chain(engine(fails=EngineError("bad table")), engine(HONEST)).read(0).text == HONEST


def test_a_file_that_none_can_open_has_the_first_reason():
    with pytest.raises(EngineError, match="bad table"):
        chain(engine(fails=EngineError("bad table")), engine(fails=EngineError("no root")))


def test_a_password_that_one_engine_understands_is_enough():
    assert chain(engine(fails=locked("book.pdf", "pass")), engine(HONEST)).read(0).text == HONEST


def test_a_locked_file_is_locked_whatever_else_is_wrong_with_it():
    with pytest.raises(PasswordNeeded):
        chain(engine(fails=locked("book.pdf", None)), engine(fails=EngineError("no root")))


def test_chinese_bytes_read_as_latin_are_chinese_again():
    page = chain(engine(GBK)).read(0)
    assert page.text.startswith("检索增强生成")
    assert page.score == 1.0


def test_an_engine_without_labels_outline_and_sizes_does_without():
    book = chain(engine("a", "b"))
    assert (book.labels(), book.outline(), book.sizes(0)) == ([None, None], [], {})


def test_only_an_engine_that_draws_gives_a_picture():
    with pytest.raises(EngineError, match="drawn"):
        chain(engine(HONEST)).picture(0)
