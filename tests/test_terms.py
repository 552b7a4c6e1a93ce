"""Terms of unspaced text by frequency and company: infrastructure/terms.py."""

import pytest

from infrastructure import terms

ABOUT_CODES = ("正弦位置编码很常见", "旋转位置编码更常用", "相对位置编码也有人试", "可学位置编码被换掉")


def names(handbook):
    return {entity.name for entity in handbook.search_entities(limit=100)}


def test_a_run_that_returns_in_varying_company_is_a_term():
    assert terms.terms_in("位置编码", ABOUT_CODES) == ["位置编码"]


@pytest.mark.parametrize("texts", [ABOUT_CODES[:2], ["位置编码器好", "位置编码器大", "位置编码器快"]])
def test_a_run_that_is_rare_or_always_goes_on_the_same_way_is_none(texts):
    assert "位置编码" not in terms.terms_in("位置编码", texts)


def test_what_is_frequent_and_says_nothing_is_no_term():
    texts = ["我一般先读书", "他一般不来", "猫一般睡觉", "一般都行"]
    assert terms.terms_in("一般", texts) == []


def test_the_text_that_makes_a_term_frequent_links_the_earlier_ones_too(handbook):
    for text in ABOUT_CODES[:3]:
        handbook.add(text)
    handbook.add(ABOUT_CODES[3])
    assert "位置编码" in names(handbook)
    assert {item.content for item in handbook.memories_about("位置编码")} == set(ABOUT_CODES)


def test_a_known_term_inside_a_longer_run_is_found_in_a_new_text(handbook):
    for text in ABOUT_CODES:
        handbook.add(text)
    handbook.add("外推时位置编码最要紧")
    assert handbook.memories_about("位置编码")[0].content == "外推时位置编码最要紧"


def test_a_term_goes_with_the_last_text_that_has_it(handbook):
    ids = [handbook.add(text) for text in ABOUT_CODES]
    for memory_id in ids:
        handbook.remove(memory_id)
    assert names(handbook) == set()


def test_a_search_looks_at_no_text_for_terms(handbook, monkeypatch):
    for text in ABOUT_CODES:
        handbook.add(text)
    monkeypatch.setattr(terms.TermFinder, "terms", None)
    assert handbook.retrieve("位置编码")


def test_a_text_of_rare_words_costs_one_lookup(handbook, monkeypatch):
    monkeypatch.setattr(terms.TermFinder, "terms", None)
    handbook.add("量子纠缠令人困惑")
    assert handbook.size() == 1
