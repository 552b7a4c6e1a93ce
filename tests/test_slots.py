"""Statements that hold one value at a time: infrastructure/slots.py. What is not found here is one more fact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.slots import contradict, same_slot, slot_of

ANOTHER_VALUE = [
    ("My favourite player is Ronaldo", "My favourite player is Messi"),
    ("my favourite player is ronaldo", "Actually, my favourite player is messi now"),
    ("My favourite colour is blue", "Green is my favourite color"),
    ("My favourite colour is blue", "My favourite colour is green, not blue"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色。"),
    ("我最喜欢的颜色是蓝色", "绿色是我最喜欢的颜色"),
    ("我最喜欢的颜色是蓝色", "我现在最喜欢的颜色不是蓝色而是绿色"),
    ("The exam is on 3 June", "The exam is on 5 June"),
    ("The exam is on 3 June", "The exam has been moved from 3 June to 5 June."),
    ("The exam date is June 3rd", "My exam is on June 5"),
    ("The exam is in room 204", "The exam is in room 305"),
    ("The meeting is at 3 pm", "The meeting is at 16:00"),
    ("My deadline is Friday", "My deadline is Monday"),
    ("我的考试在 6 月 3 日", "考试改到6月5日了"),
    ("期末考试是周三", "期末考试是周五"),
    ("我的日语水平是N4。", "我的日语水平是N3，刚考过。"),
    ("我的导师是李老师", "我的导师是王老师，上周换的。"),
    ("考试在204教室", "考试在305教室"),
    ("会议在下午三点", "会议改到下午四点"),
    ("我住在上海", "我搬到北京了"),
    ("我家在上海", "我家搬到北京了"),
    ("I live in Shanghai", "I've moved to Beijing last month."),
    ("i live in shanghai", "i live in beijing"),
    ("My name is Ann", "My name is Berta"),
    ("我叫小明", "我的名字是小红"),
    ("我今年20岁", "我今年二十一岁了"),
    ("I am 20 years old", "I'm 21 now"),
    ("My budget is 500 euros", "My budget is 600 euros"),
    ("k1 is 1.2", "k1 is 1.5"),
    ("The course has 12 chapters", "The course has 14 chapters"),
    ("这门课有12章", "这门课有14章"),
    ("I have two cats", "I have 3 cats"),
    ("我有两只猫", "我有三只猫"),
    ("My major is physics", "I changed my major to maths"),
    ("我的专业是物理", "我的专业从物理换成了数学"),
    ("我的导师是张老师", "我的导师是李老师"),
    ("Anna's birthday is 3 May", "Anna's birthday is 4 May"),
    ("The capital of Australia is Sydney", "Canberra is the capital of Australia"),
    ("I prefer tea to coffee", "I prefer coffee to tea"),
    ("比起咖啡，我更喜欢茶", "我更喜欢咖啡而不是茶"),
    ("I work at Google", "I work for Meta now"),
    ("My favourite colour is blue", "My favourite colour is no longer blue"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色不再是蓝色"),
    ("I live in Paris", "I don't live in Paris any more"),
    ("My favorite band is Coldplay.", "My new favorite band is Radiohead."),
    ("I live in Shanghai", "I moved from Shanghai to Beijing"),
    ("我住上海", "我已经从上海搬到北京了"),
    ("我的专业是物理", "我现在的专业是数学"),
    ("答辩时间是周三", "答辩推迟到下周五"),
    ("我们组有5个人", "我们组有6个人"),
    ("I am a nurse", "I am a doctor now, not a nurse"),
    ("I'm a nurse at St Mary's", "I'm not a nurse any more, I'm a doctor now"),
    ("I work as a data engineer", "I've become a teacher"),
    ("My profession is nurse", "I am a doctor"),
    ("I am a nurse", "I'm no longer a nurse"),
    ("我是护士", "我现在是医生，不是护士了"),
    ("我是一名护士", "我不是护士了，我现在是医生"),
    ("我的职业是护士", "我当上医生了"),
    ("我是护士", "我不是护士了"),
    ("我是本科生", "我考上研究生了"),
    ("I am in my first year", "I'm now in my second year"),
    ("我读大二", "我上大三了"),
    ("My target score is 100", "My target score is 110"),
    ("我的首选语言是中文", "我的首选语言是英语"),
    ("My preferred language is English", "My preferred language is now Chinese"),
]
ONE_MORE_FACT = [
    ("I like tea", "I like coffee"),
    ("我喜欢茶", "我喜欢咖啡"),
    ("I read chapter 3", "I read chapter 4"),
    ("我读完了第3章", "我读完了第4章"),
    ("My hobby is chess", "My hobby is tennis"),
    ("我的爱好是下棋", "我的爱好是跑步"),
    ("My goal is to pass", "My goal is to read more"),
    ("My boss is Anna", "My boss is nice"),
    ("My brother's name is Tom", "My brother's name is Jack"),
    ("我的猫叫小白", "我的猫叫小黑"),
    ("I live in Shanghai", "I live in China"),
    ("I live in Shanghai", "I live in a small flat"),
    ("我住在上海", "我住在中国"),
    ("我住在上海", "我住在浦东新区"),
    ("我住在上海", "我在北京出差"),
    ("The exam is on 3 June", "The exam is in room 204"),
    ("The exam is on 3 June", "The exam is at 9 am"),
    ("The exam is on 3 June", "The exam is on 3 June 2026"),
    ("The exam is on 3 June", "The maths exam is on 5 June"),
    ("数学考试在6月3日", "英语考试在6月5日"),
    ("I have an exam on 3 June", "I have an exam on 5 June"),
    ("My exams are on 3 June and 5 June", "My exams are on 7 June and 8 June"),
    ("The lecture is on Monday", "The lecture is on Thursday"),
    ("复习在周一", "复习在周三"),
    ("Lecture 1 is on 3 June", "Lecture 2 is on 5 June"),
    ("Recall is 0.8", "Recall is 0.9"),
    ("我的实验结果是0.8", "我的实验结果是0.9"),
    ("My favourite colour is blue", "My favourite colour is dark blue"),
    ("My favourite colour is blue", "My favourite food is pizza"),
    ("My favourite colour was blue", "My favourite colour is green"),
    ("My favourite player is Messi", "My favourite player is injured"),
    ("One of my favourite players is Messi", "One of my favourite players is Ronaldo"),
    ("我最喜欢的球员之一是梅西", "我最喜欢的球员之一是罗纳尔多"),
    ("RAG 是检索增强生成", "RAG 是一种方法"),
    ("The problem of RAG is latency", "The problem of RAG is cost"),
    ("The definition is on page 5", "The definition is on page 7"),
    ("The task has 3 steps", "The task has 10 minutes"),
    ("She lives in Rome", "She lives in Paris"),
    ("她住在上海", "她住在北京"),
    ("I lived in Paris", "I live in Berlin"),
    ("I went to Paris", "I went to Rome"),
    ("Is my favourite player Messi?", "My favourite player is Ronaldo"),
    ("My favourite book is Emma. It is short.", "My favourite book is Dune"),
    ("My favourite colour is not blue", "My favourite colour is not green"),
    ("I am a nurse", "I am a student"),
    ("I am a nurse", "I am a night nurse"),
    ("I am a nurse", "I am a mother"),
    ("I am a nurse", "I am a good cook"),
    ("I am a nurse", "I am a friend of a doctor"),
    ("I'm no longer a nurse", "I am a doctor"),
    ("我是护士", "我是学生"),
    ("我是老师", "我是张老师的学生"),
    ("我是学生", "我是研究生"),
    ("我是护士", "我是独生子"),
]


@pytest.mark.parametrize(("old", "new"), ANOTHER_VALUE)
def test_another_value_contradicts(old, new):
    assert contradict(slot_of(old), slot_of(new))
    assert contradict(slot_of(new), slot_of(old))


@pytest.mark.parametrize(("old", "new"), ONE_MORE_FACT)
def test_one_more_fact_contradicts_nothing(old, new):
    assert not contradict(slot_of(old), slot_of(new))
    assert not contradict(slot_of(new), slot_of(old))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("My favourite colour's blue", "My favourite color is blue"),
        ("我叫小明", "我改名叫小明"),
        ("I'm 20", "I am 20 years old"),
    ],
)
def test_the_same_value_in_other_words_is_the_same(a, b):
    assert same_slot(slot_of(a), slot_of(b))
    assert not contradict(slot_of(a), slot_of(b))


def test_two_languages_are_not_compared():
    assert slot_of("My favourite colour is blue").key != slot_of("我最喜欢的颜色是绿色").key


@given(st.text(max_size=200))
def test_any_text_has_a_slot_or_none_and_contradicts_itself_never(text):
    assert not contradict(slot_of(text), slot_of(text))


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ("我叫小李，不叫小王", "我叫小王"),
        ("My name is Li, not Wang", "My name is Wang"),
        ("The exam is on 5 June, not on 3 June", "The exam is on 3 June"),
    ],
)
def test_what_a_value_is_not_may_stand_behind_it(now, before):
    assert contradict(slot_of(now), slot_of(before))
