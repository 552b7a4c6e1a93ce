import pytest

from infrastructure.language import language, language_of, set_language, tr, tr_like


def test_the_screen_speaks_one_language():
    set_language("zh")
    assert (language(), tr("page", "页")) == ("zh", "页")


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="en or zh"):
        set_language("de")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RAG 系统怎么评估？", "zh"),
        ("GPT BERT LSTM 区别", "zh"),
        ("what 是什么意思", "zh"),
        ("我喜欢绿茶", "zh"),
        ("What does 注意力机制 mean?", "en"),
        ("what does 什么 mean?", "en"),
        ("My teacher 张伟 likes green tea", "en"),
        ("Was ist das?", "en"),
        ("", "en"),
    ],
)
def test_a_question_has_the_language_of_the_words_that_ask(text, expected):
    assert language_of(text) == expected


def test_one_chinese_question_in_an_english_page_does_not_make_it_chinese():
    assert language_of("The passage is long and in English. " * 10 + "什么") == "en"


def test_an_answer_follows_its_question_and_not_the_screen():
    assert tr_like("这是什么？", "Not found.", "没有找到。") == "没有找到。"
