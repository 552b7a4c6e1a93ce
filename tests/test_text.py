import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.text import (
    content_tokens,
    estimate_tokens_mixed,
    fold,
    fold_radicals,
    is_cjk,
    repair,
    sentences,
    tokens,
    without_asking,
)

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates and controls included


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


# ---- Repair ----


def test_repair_removes_what_no_store_can_carry():
    assert repair("a\x00b\x1bc\ud800d\x9fe\ufffff") == "abcdef"


def test_repair_keeps_tabs_and_makes_every_line_end_a_newline():
    assert repair("a\tb\r\nc\rd\fe\x85f") == "a\tb\nc\nd\ne\nf"


def test_repair_joins_the_halves_of_one_character():
    assert repair("\ud83d\ude00 \ude00") == "😀 "


def test_repair_removes_terminal_colours_whole():
    assert repair("\x1b[1;31mred\x1b[0m") == "red"


@given(any_text)
def test_repaired_text_can_be_written_and_repaired_again(text):
    once = repair(text)
    assert once.encode() is not None
    assert repair(once) == once


# ---- Radicals ----


def test_radicals_become_the_characters_people_type():
    assert fold_radicals("⽤⼾⽣成 ⻓⻅⻚⻢⻋ ⾭⻘") == "用户生成 长见页马车 青青"


def test_folding_radicals_leaves_case_accents_and_width_alone():
    assert fold_radicals("É Ａ ﬁ 10²") == "É Ａ ﬁ 10²"


def test_every_radical_but_the_repetition_mark_has_an_ordinary_character():
    radicals = [chr(code) for code in range(0x2E81, 0x2FD6) if unicodedata.name(chr(code), "")]
    assert len(radicals) == 114 + 214
    assert all(unicodedata.name(fold_radicals(char)).startswith("CJK UNIFIED IDEOGRAPH") for char in radicals)


@given(any_text)
def test_folding_radicals_keeps_every_offset(text):
    assert len(fold_radicals(text)) == len(text)


# ---- Folding ----


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＲＡＧ（１）", "rag(1)"),
        ("e\u0301cole", "école"),
        ("naïve Café", "NAIVE CAFE"),
        ("ﬁnal ﬂow", "final flow"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("co\xadoperate", "cooperate"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("⽤⼾", "用户"),
        ("戶", "户"),
        ("𝐱", "x"),
        ("H₂O", "h2o"),
        ("ёлка", "елка"),
        ("Łódź", "lodz"),
        ("٢٠٢٤", "2024"),
        ("don’t", "don't"),
        ("李", "李"),  # the compatibility ideograph U+F9E1
    ],
)
def test_spellings_that_mean_the_same_fold_to_the_same(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("10²", "102"), ("й", "и"), ("ガ", "カ"), ("绿", "蓝")])
def test_what_means_another_thing_stays_another(one, other):
    assert fold(one) != fold(other)


@given(any_text)
def test_folding_twice_is_folding_once(text):
    assert fold(fold(text)) == fold(text)


# ---- Tokens ----


def test_words_are_folded_and_stemmed():
    assert tokens("Évaluating the Studies") == ["evalu", "the", "studi"]


def test_chinese_gives_characters_and_pairs():
    assert tokens("幻觉率") == ["幻", "觉", "率", "幻觉", "觉率"]


def test_mixed_text_without_spaces_is_taken_apart():
    assert tokens("重跑gen-itgc后") == ["重", "跑", "重跑", "gen", "itgc", "后"]


def test_programming_languages_keep_their_signs():
    assert tokens("用C++写，C＃ and c") == ["用", "cplusplus", "写", "csharp", "and", "c"]


def test_rag_is_not_found_in_storage():
    assert "rag" not in tokens("storage")


def test_a_negation_survives_and_a_possessive_does_not():
    assert tokens("don't the learner’s") == ["dont", "the", "learner"]


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("favourite colours", "favorite color"),
        ("organised", "organizing"),
        ("analyse", "analyzed"),
        ("centre", "centers"),
    ],
)
def test_british_and_american_spellings_are_one_word(british, american):
    assert tokens(british) == tokens(american)


@pytest.mark.parametrize("text", ["Привет", "سلام", "สวัสดี", "한국어", "ひらがな", "हिन्दी", "Ελλάδα", "𪛖", "𞤀𞤣", "👍"])
def test_every_script_gives_tokens(text):
    assert tokens(text)


def test_underscores_and_punctuation_part_words():
    assert tokens("snake_case, 3.14!") == ["snake", "case", "3", "14"]


@pytest.mark.parametrize("text", ["", " \n", "，。！", "---"])
def test_text_without_words_gives_no_tokens(text):
    assert tokens(text) == content_tokens(text) == []


@given(any_text)
def test_every_token_is_letters_and_digits(text):
    assert all(token.isalnum() for token in tokens(text))


@pytest.fixture(scope="module")
def words():
    """The word index as the store makes it."""
    index = sqlite3.connect(":memory:")
    categories = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
    index.execute(f'CREATE VIRTUAL TABLE words USING fts5(text, tokenize="{categories}")')
    index.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, instance)")
    return index


@given(any_text)
def test_fts5_finds_every_token_of_a_text(words, text):
    unique = set(tokens(text))
    words.execute("DELETE FROM words")
    words.execute("INSERT INTO words VALUES (?)", (" ".join(unique),))
    for token in unique:
        assert words.execute("SELECT count(*) FROM words WHERE words MATCH ?", (f'"{token}"',)).fetchone() == (1,)


def test_fts5_keeps_a_token_of_any_unicode_character_whole(words):
    characters = [
        chr(code) for code in range(0x110000) if chr(code).isalnum() or 0x1F000 <= code < 0x1FB00
    ]  # and emoji
    unique = sorted({token for char in characters for token in tokens(char)})
    words.execute("DELETE FROM words")
    words.executemany("INSERT INTO words VALUES (?)", ((token,) for token in unique))
    assert sorted(term for (term,) in words.execute("SELECT term FROM terms")) == unique


# ---- Content ----


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("什么是幻觉？", ["幻觉"]),
        ("RAG 系统怎么评估？", ["rag", "系统", "评估"]),
        ("准确率和召回率的区别", ["准确", "确率", "召回", "回率", "区别"]),
        ("我的目的", ["目的"]),
        ("What is the colour of it?", ["color"]),
        ("是的", []),
    ],
)
def test_function_words_carry_no_content(text, content):
    assert content_tokens(text) == content


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My favourite colour is blue.", "Blue is my favorite color"),
        ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是蓝色。"),
    ],
)
def test_the_same_statement_has_the_same_content(one, other):
    assert set(content_tokens(one)) == set(content_tokens(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My favourite colour is blue", "My favourite colour is green"),
        ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
        ("I like tea", "I don't like tea"),
        ("我喜欢茶", "我不喜欢茶"),
        ("My favourite player is Messi", "Her favourite player is Messi"),
        ("我喜欢茶", "他喜欢茶"),
    ],
)
def test_another_value_negation_or_person_is_other_content(one, other):
    assert set(content_tokens(one)) != set(content_tokens(other))


@given(any_text)
def test_content_is_part_of_the_tokens(text):
    assert set(content_tokens(text)) <= set(tokens(text))


# ---- Token estimate (§2) ----


@pytest.mark.parametrize(
    ("text", "estimate"),
    [("", 0), ("检索", 2), ("word", 2), ("ten " * 10, 13), ("检索增强 generation works", 7), ("，。", 0)],
)
def test_estimate_is_one_per_cjk_character_and_1_3_per_other_word(text, estimate):
    assert estimate_tokens_mixed(text) == estimate


def test_cjk_is_letters_and_not_punctuation():
    assert [is_cjk(char) for char in "字かカ한𪛖⽤，aя"] == [True] * 6 + [False] * 3


# ---- Sentences ----


def test_chinese_sentences_end_without_spaces():
    assert split("好吗？！好。行；走……完") == ["好吗？！", "好。", "行；", "走……", "完"]


def test_abbreviations_initials_and_decimals_do_not_end_a_sentence():
    text = "Dr. Li and J. Smith et al. got 3.5 (see Fig. 2, e.g. A). Then it ended."
    assert split(text) == [text[:56], "Then it ended."]


@pytest.mark.parametrize(
    "sentence",
    [
        "It follows Lewis et al. 2020 in this.",
        "See Eq. (3) for the sum.",
        "It takes approx. 5 hours.",
        "Es et al. [4] agree.",
        "Es et al. | 2023 | RAGAS",
        "BM25 vs. HyDE, cf. Smith, was asked by Prof. Wang.",
        "Sect. 4 says so.",
    ],
)
def test_an_abbreviation_before_a_year_a_bracket_or_a_name_ends_nothing(sentence):
    assert split(f"{sentence}\n\nNext.") == [sentence, "Next."]


def test_a_number_that_opens_a_line_belongs_to_it():
    assert split("1. Introduction\n\n2. Methods") == ["1. Introduction", "2. Methods"]


def test_no_at_the_end_is_an_answer_and_before_a_number_an_abbreviation():
    assert split("It says no. See No. 5.") == ["It says no.", "See No. 5."]


def test_closing_quotes_stay_with_their_sentence():
    assert split("“真的吗？”他问。 “Yes.” She left.") == ["“真的吗？”", "他问。", "“Yes.”", "She left."]


def test_a_line_break_is_no_end_and_a_blank_line_is():
    assert split("one\ntwo\n \nthree") == ["one\ntwo", "three"]


@given(any_text)
def test_sentences_hold_all_text_but_white_space_in_order(text):
    spans = sentences(text)
    assert "".join(text[start:end] for start, end in spans).split() == "".join(split(text)).split()
    assert "".join("".join(split(text)).split()) == "".join(text.split())
    assert spans == sorted(spans)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What is the meaning of recall?", ["recal"]),
        ("What does BM25 stand for?", ["bm25"]),
        ("HyDE 是什么意思？", ["hyde"]),
        ("HyDE 的全称是什么？", ["hyde"]),
        ("召回率的定义是什么", ["召回", "回率"]),
        ("What is the mean of the sample?", ["mean", "sampl"]),
        ("有意思的例子", content_tokens("有意思的例子")),
        ("意思是什么？", ["意思"]),
        ("函数的定义域", content_tokens("函数的定义域")),
    ],
)
def test_words_that_only_ask_for_a_definition_are_not_what_is_asked_about(question, about):
    assert content_tokens(without_asking(question)) == about
