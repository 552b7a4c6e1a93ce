"""Clean text of a page, and the way back to what the page says."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from infrastructure.library import raw_slice
from infrastructure.text import fold_radicals
from study import pagetext
from study.pagetext import LIGATURES, clean_page, raw_pages

LINE = "Retrieval finds the passages and the model writes an answer"


def clean(raw: str, **options) -> str:
    return clean_page(raw, **options).text


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(pagetext).failed == 0


# ---- joining lines ----


def test_chinese_lines_are_joined_without_a_space():
    assert clean("检索增强生成可以减少模型的幻\n觉，回答有据可查。") == "检索增强生成可以减少模型的幻觉，回答有据可查。"


def test_han_and_latin_are_joined_with_a_space():
    assert clean("用户通过引用的来源来验证答案，所以\nRAG 的回答更可信，用户也更信任它") == (
        "用户通过引用的来源来验证答案，所以 RAG 的回答更可信，用户也更信任它"
    )


def test_full_width_punctuation_needs_no_space_before_latin():
    assert "来源，RAG" in clean("用户通过引用来验证答案的来源，\nRAG 的回答更可信，用户更信任")


def test_english_lines_are_joined_with_a_space():
    assert clean(f"{LINE}\nthat stays with its sources and names the page it stands on") == (
        f"{LINE} that stays with its sources and names the page it stands on"
    )


def test_korean_lines_break_inside_words_unless_a_blank_says_otherwise():
    assert (
        clean("바이러스감염\n증은 세계적 유행 \n단계에 돌입하였음") == "바이러스감염증은 세계적 유행 단계에 돌입하였음"
    )


def test_an_empty_line_separates_paragraphs():
    assert clean("first paragraph\n \nsecond paragraph") == "first paragraph\n\nsecond paragraph"


def test_a_short_line_that_ends_a_sentence_ends_the_paragraph():
    assert clean(f"{LINE}\nand cites.\n{LINE}").startswith(f"{LINE} and cites.\n\n{LINE}")


def test_a_heading_is_not_joined_with_the_text_below():
    assert clean(f"3 Retrieval\n{LINE}\n{LINE}").startswith("3 Retrieval\n")


def test_a_long_heading_that_the_outline_names_stands_alone():
    heading = "4.3 HyDE, a hypothetical answer used as the query"
    text = clean(f"{LINE}\n{heading}\n{LINE}", titles={"43hydeahypotheticalanswerusedasthequery"})
    assert text == f"{LINE}\n\n{heading}\n{LINE}"


def test_table_rows_stay_rows():
    rows = "MiniLM dense retrieval 0.43 0.37 0.29\nBM25 with stemmed words 0.64 0.57 0.49"
    assert clean(rows) == rows


def test_a_table_of_contents_stays_a_list():
    lines = "1 From plain RAG to Memory RAG 1\n2 Three memories and their uses 2"
    assert clean(lines) == lines


def test_list_items_begin_new_lines():
    assert "\n• scores" in clean(f"• {LINE}\n• scores and time decay decide which memories are kept")


# ---- hyphens, ligatures, radicals, spaces ----


def test_a_word_cut_at_the_line_end_is_whole_again():
    assert "consolidation of" in clean("Events that were used often take part in the consoli-\ndation of knowledge")


def test_a_soft_hyphen_vanishes_at_the_line_end_and_inside():
    assert clean("The episodic mem\u00ad\nory keeps sum\u00admaries") == "The episodic memory keeps summaries"


def test_a_capital_after_the_hyphen_keeps_it():
    assert "Retrieval-Augmented" in clean("the answer is grounded by Retrieval-\nAugmented Generation in all")


def test_a_compound_keeps_its_last_hyphen():
    assert "state-of-the-art" in clean("This is compared with several state-of-\nthe-art systems")


def test_a_word_hyphenated_elsewhere_in_the_document_keeps_its_hyphen():
    assert "fine-tuning" in clean("It is possible to improve it by fine-\ntuning the model", compounds={"fine-tuning"})


def test_an_abbreviation_before_the_hyphen_keeps_it():
    assert "LLM-based" in clean("The judgement is made by an LLM-\nbased judge")


def test_ligatures_are_expanded():
    assert clean("eﬃcient ﬂow of ﬁgures") == "efficient flow of figures"


def test_radicals_are_folded():
    assert clean("⽤⼾的信任") == "用户的信任"


def test_runs_of_blanks_become_one():
    assert clean("name\u00a0\u3000 value\tnext") == "name value next"


def test_a_control_code_that_a_document_uses_again_and_again_is_its_space():
    assert raw_pages(["Cheng\x01et\x01al.\x01wrote\x01about\x01memory", "a\x02b"]) == [
        "Cheng et al. wrote about memory",
        "ab",
    ]


# ---- fake bold ----


def test_a_line_drawn_twice_is_read_once():
    assert (
        clean("第三章 记忆系统\n第三章 记忆系统\n工作记忆保存刚刚发生的事")
        == "第三章 记忆系统\n工作记忆保存刚刚发生的事"
    )


def test_text_drawn_twice_on_one_line_is_read_once():
    assert clean("安利股份有限公司安利股份有限公司") == "安利股份有限公司"


def test_text_drawn_four_times_piece_by_piece_is_read_once():
    assert clean("股票代码股票代码股票代码股票代码：：：：300218300218300218300218") == "股票代码：300218"


def test_equal_numbers_in_two_rows_are_not_fake_bold():
    assert clean("0.0\n0.0") == "0.0\n0.0"


def test_reduplicated_words_are_not_fake_bold():
    assert clean("研究研究") == "研究研究"


def test_dropped_lines_are_gone():
    assert clean("Header\ntext\n12", dropped={0, 2}) == "text"


def test_an_empty_page_gives_empty_text():
    assert clean_page("") == ("", ())


# ---- the way back ----


def test_a_quote_keeps_the_hyphen_and_the_line_end_of_the_page():
    raw = "Header\nthe consoli-\ndation of memories"
    text, offsets = clean_page(raw, dropped={0})
    start = text.index("consolidation")
    assert raw_slice(raw, offsets, start, start + len("consolidation")) == "consoli-\ndation"


def test_a_quote_that_begins_inside_a_ligature_takes_all_of_it():
    raw = "an eﬃcient way"
    text, offsets = clean_page(raw)
    start = text.index("cient") - 1
    assert raw_slice(raw, offsets, start, start + 6) == "ﬃcient"


def test_a_quote_keeps_the_radicals_of_the_page():
    raw = "增加⽤⼾信任"
    text, offsets = clean_page(raw)
    start = text.index("用户")
    assert raw_slice(raw, offsets, start, start + 2) == "⽤⼾"


def test_an_empty_span_is_an_empty_quote():
    assert raw_slice("text", ((0, 0),), 2, 2) == ""


RAW = st.text(st.sampled_from("ab Z-.。，记忆⽤ﬁ\u00ad\u00a0\n12\t•"), max_size=80)


@given(RAW)
def test_every_clean_character_leads_to_its_own_raw_character(raw):
    text, offsets = clean_page(raw)
    for place, char in enumerate(text):
        source = raw_slice(raw, offsets, place, place + 1)
        spelled = LIGATURES.get(source, fold_radicals(source))
        assert char in spelled or (char.isspace() and source.isspace())


@given(RAW)
def test_offsets_never_go_back(raw):
    _, offsets = clean_page(raw)
    assert list(offsets) == sorted(offsets)
    assert [place for _, place in offsets] == sorted(place for _, place in offsets)
