"""Telling text from signs."""

import doctest

import pytest

from study import readability as module
from study.readability import DOUBTFUL, UNREADABLE, WELL_SPACED, readability, spacing

PROSE = {
    "English": "Retrieval finds the passages that fit a question, and the model writes an answer that stays with them. "
    * 4,
    "French": "L'été dernier, la mémoire épisodique a été décrite comme une idée très générale, où l'âge et le goût mêlés. "
    * 4,
    "Chinese": "检索增强生成先在资料库里检索相关片段，再让语言模型依据片段回答问题。" * 6,
    "Arabic": "تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة بايثون في هذا الكتاب " * 4,
    "Korean": "코로나바이러스감염증의 국내 확진자는 모두 구천육백육십일 명으로 나타났다 " * 4,
    "Russian": "Память помогает отвечать на вопросы, которые зависят от прошлых бесед. " * 4,
    "Thai": "หน่วยความจำช่วยตอบคำถามที่ขึ้นอยู่กับบทสนทนาก่อนหน้านี้ " * 4,
    "a table": "MiniLM 0.43 0.37 0.29\nBM25 0.64 0.57 0.49\nRRF 0.54 0.50 0.41\n" * 6,
    "formulas": "The sum ∑ αᵢβⱼ ≤ √γ · ‖x − y‖² holds for all ε > 0, and ∂f/∂x → 0 as n → ∞ in ℝⁿ. " * 4,
}


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("language", PROSE)
def test_honest_text_is_readable(language):
    assert readability(PROSE[language]) >= DOUBTFUL


def test_glyph_names_are_unreadable():
    assert readability("/g18/g152/g135/g148/g152/g139/g135/g153/g3/g145/g136 " * 5) < UNREADABLE


def test_private_codes_are_unreadable():
    assert readability("\ue001\ue002\ue003 \ue010" * 20) < UNREADABLE


def test_a_page_in_five_scripts_at_once_is_unreadable():
    assert readability("భാസ ઓ ༦ཀ Ⴐა ಋఖ ⽠ ༜ཊ ഽ֥ ࠣ ҋ ބ 機 ಉ ܄ ֬ " * 8) < UNREADABLE


def test_a_page_about_scripts_is_readable():
    text = (
        PROSE["English"] + "Armenian Աբգ, Georgian აბგ, Thai กขค, Tibetan ཀཁག and Hebrew אבג are scripts of the world."
    )
    assert readability(text) >= UNREADABLE


def test_shifted_letters_are_unreadable():
    shifted = "".join(chr(ord(char) - 1) if char.isalpha() else char for char in PROSE["English"].lower())
    assert readability(shifted) < UNREADABLE


def test_chinese_bytes_read_as_latin_are_not_taken_for_text():
    assert readability(PROSE["Chinese"].encode("gb18030").decode("latin-1")) < UNREADABLE


def test_a_few_private_bullets_do_not_matter():
    assert readability("\uf0b7 " + PROSE["English"]) > DOUBTFUL


def test_control_codes_count_as_noise():
    assert readability("a few letters among codes, not a word of sense" + "\x04\x05\x06\x07" * 50) < UNREADABLE


def test_the_commonest_control_code_may_be_the_space():
    assert (
        readability(
            "\x01".join(["words", "that", "a", "font", "without", "a", "space", "keeps", "apart", "by", "a", "code"])
        )
        == 1.0
    )


def test_words_glued_together_are_badly_spaced():
    slide = "RevisitingAttentionforRecurrentNetworks\nWhyattentionatallandwhereitcomesfrom\n" * 12
    assert spacing(slide) < WELL_SPACED < spacing(" ".join(PROSE["English"].split()))


def test_a_formula_is_not_badly_spaced():
    assert spacing("the loss of x y and z is x + y over n where n is the size of a batch " * 5) == 1.0


def test_a_short_page_is_given_the_benefit_of_the_doubt():
    assert readability("\ue000\ue001") == 1.0
