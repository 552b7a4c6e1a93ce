"""Encodings of text files, and headings of Markdown."""

import doctest

import pytest

from study import plaintext
from study.plaintext import decode, markdown_headings

CHINESE = "记忆系统有三类记忆：工作记忆、情景记忆和语义记忆。RAG 先检索再回答。\n"


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(plaintext).failed == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"])
def test_chinese_notes_are_read_in_any_usual_encoding(encoding):
    text = CHINESE + "Plain ASCII words follow, as in most notes.\n" * 3
    assert decode(text.encode(encoding)).text == text


def test_french_in_latin_1_stays_french():
    text = "Où était l'élève âgé ? À la fenêtre, déjà."
    assert decode(text.encode("latin-1")).text == text


def test_utf_8_with_a_damaged_byte_is_read_and_reported():
    damaged = (CHINESE * 20).encode()[:-2]
    assert decode(damaged).damaged
    assert decode(damaged).encoding == "utf-8"


def test_a_picture_is_no_text():
    assert decode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4) is None


def test_headings_have_offset_level_and_title():
    text = "# One\n\ntext\n\n### Three ###\n"
    assert markdown_headings(text) == [(0, 1, "One"), (13, 3, "Three")]


def test_a_hash_in_a_code_fence_is_no_heading():
    assert markdown_headings("```python\n# a comment\n```\n~~~\n# another\n~~~\n") == []


def test_a_longer_fence_is_not_closed_by_a_shorter_one():
    assert markdown_headings("````\n```\n# still code\n````\n# heading\n") == [(27, 1, "heading")]


def test_underlined_headings_count():
    assert markdown_headings("记忆\n====\n\ntext\n\nDecay\n---\n") == [(0, 1, "记忆"), (15, 2, "Decay")]


def test_a_rule_below_a_list_or_a_table_is_no_heading():
    assert markdown_headings("- item\n---\n| a | b |\n---\n\n---\n") == []


def test_front_matter_is_no_heading():
    assert markdown_headings("---\ntitle: RAG\n---\n# Real\n") == [(19, 1, "Real")]


def test_a_hash_tag_is_no_heading():
    assert markdown_headings("#todo is a tag\n#\n####### seven\n") == []
