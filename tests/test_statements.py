import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.statements import fingerprint, same_statement

SAME = [
    ("My favourite colour is blue.", "my favorite color is blue"),
    ("My favourite colour is blue.", "Blue is my favourite colour"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是蓝色。"),
    ("蓝色是我最喜欢的颜色", "我最喜欢的颜色是蓝色"),
    ("Paris is the capital of France", "the capital of France is Paris"),
    ("ＲＡＧ 减少幻觉", "rag 减少幻觉！"),
    ("The temperature is −5", "the temperature is -5"),
    ("⽤⼾⼿册", "用户手册"),
    ("好", "好。"),
    ("？", "?"),
]
DIFFERENT = [
    ("My favourite colour is blue", "My favourite colour is green"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
    ("He likes tea", "He does not like tea"),
    ("他喜欢茶", "他不喜欢茶"),
    ("He likes tea", "He liked tea"),
    ("A beats B", "B beats A"),
    ("张三打李四", "李四打张三"),
    ("The exam has 3 parts", "The exam has 4 parts"),
    ("The temperature is 5", "The temperature is -5"),
    ("Version 3.5 is out", "Version 3 5 is out"),
    ("recall > 0.9", "recall < 0.9"),
    ("It costs $5", "It costs €5"),
    ("accuracy rose by 5%", "accuracy rose by 5"),
    ("A cat is an animal", "An animal is a cat"),
    ("狗是动物", "动物是狗"),
    ("My boss was Anna", "Anna is my boss"),
    ("Blue is my colour", "Colour is blue"),
    ("All squares are rectangles", "All rectangles are squares"),
    ("learn C", "learn C++"),
    ("重复", "重要"),
    ("！", "。"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_these_say_the_same(a, b):
    assert same_statement(a, b)
    assert fingerprint(a) == fingerprint(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_these_do_not_say_the_same(a, b):
    assert not same_statement(a, b)


@given(st.text(min_size=1))
def test_every_text_says_the_same_as_itself(text):
    assert same_statement(text, text)


words = st.lists(st.sampled_from(["my", "the", "is", "a", "b", "5", "-5", "是", "我的", "不", "likes", "liked"])).map(
    " ".join
)


@given(words, words)
def test_it_does_not_matter_which_one_was_said_first(a, b):
    assert same_statement(a, b) == same_statement(b, a)
    assert fingerprint(a) == fingerprint(b) or not same_statement(a, b)
