"""What was said: questions that lean on the conversation and questions that do not, corrections, statements, secrets.

The lists are what learners type. A stand-alone question that is enriched drags an old topic into a new search; a leaning one
that is not finds nothing: both must be right.
"""

import pytest

from infrastructure.utterance import (
    correction,
    leans_on_context,
    ordinal,
    page_named,
    secret_in,
    statements,
)


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


# ---- Does it lean? ----

STANDS_ALONE = lines("""
    What is HyDE?
    HyDE?
    RAG
    attention mechanism
    what's the formula of time decay
    how long is the half life?
    TF-IDF vs BM25
    difference between MQE and HyDE
    pros and cons of vector search
    example of a confusion matrix
    more examples of overfitting
    What are the main points of chapter 2?
    what is the last step of the pipeline?
    What is the first law of thermodynamics?
    Explain the second law of thermodynamics
    Who was the first president of the USA?
    What is this book about?
    What does this chapter say about decay?
    Summarize this document
    Which chapter explains that memory decays?
    Is it better to use BM25 or vectors?
    Is it true that HyDE needs a model?
    Why is it important to normalise vectors?
    What is it called when a model makes things up?
    How much does it cost to train GPT-3?
    Is HyDE worth it?
    What does the paper say about its limitations?
    How does a cell copy its DNA?
    How do transformers process their input?
    When a cell divides, what happens to its chromosomes?
    Why do neurons need myelin, and what happens when it degrades?
    What are the advantages of RAG and how does it reduce hallucination?
    If the prompt is too long, how does the program shorten it?
    So-called hallucinations: what are they?
    Then and now: how has memory research changed?
    And gate truth table
    In those experiments on MNIST, which batch size was used?
    What are these days' best practices for RAG?
    What were earlier approaches to question answering?
    What is the IT department responsible for?
    Which other methods does the author compare with?
    Who said that "God is dead"?
    Why not use accuracy for imbalanced data?
    Does BM25 work for Chinese?
    I want to know how BM25 works
    tell me about semantic memory
    compare BERT and GPT
    Can you define entropy?
    hello
    ok thanks
    什么是RAG？
    RAG 系统怎么评估？
    幻觉
    幻觉是什么
    半衰期是多少？
    时间衰减公式
    候选池多大
    怎么优化 RAG？
    如何优化RAG
    为什么天空是蓝的？
    为什么要用HyDE？
    第二章讲了什么？
    第 7 页讲了什么
    总结一下第三章
    这本书讲了什么？
    这篇论文的主要贡献是什么？
    这一节讲什么
    这些年RAG有哪些进展
    这个词是什么意思
    第一次世界大战的起因是什么？
    第一个五年计划是哪年开始的？
    第一个登上月球的人是谁？
    牛顿第三定律是什么？
    热力学第二定律怎么理解
    第二条定律是什么？
    那不勒斯在哪里？
    那达慕大会是什么
    那些年我们一起追的女孩讲什么
    所以然是什么意思
    然后缀表达式怎么求值
    还有哪些检索方法？
    还原反应是什么？
    前馈网络是什么
    前面的章节讲了哪些指标？
    上层建筑是什么
    上面级数收敛吗
    刚刚好是什么意思
    它山之石是什么意思
    细胞和它的细胞器有什么关系
    植物如何利用它们的叶子吸收阳光？
    BERT 为什么比它之前的模型好？
    光合作用和呼吸作用，两者有什么关系？
    贝叶斯和频率学派，前者和后者有何不同
    RAG 和微调这两种方法哪个好？
    进程和线程有什么区别？
    微调和RAG的区别是什么？
    光合作用的公式是什么
    HyDE 是谁提出的
    HyDE 在哪一页？
    什么是优化
    什么是对比学习
    我该怎么学习线性代数？
    我想了解一下情景记忆
    你好
    谢谢
    好的
""")

LEANS = lines("""
    那这个怎么优化？
    那我这个实验应该先看哪个指标？
    刚才说的 Faithfulness 和 Recall 冲突时怎么取舍？
    那微调呢？
    微调呢？
    那HyDE怎么样
    那幻觉怎么减少？
    那后者呢？
    为什么？
    为啥
    怎么优化？
    咋办
    具体怎么实现
    举个例子
    再举一个例子
    能举个例子吗？
    再详细一点
    展开讲讲
    继续
    然后呢？
    还有吗？
    所以呢？
    真的吗？
    对吗？
    不明白
    没看懂
    不太明白，再讲一遍
    换个说法
    用大白话解释一下
    翻译成英文
    一句话总结
    第二个呢？
    第二点是什么意思
    第二种怎么做
    第一点和第三点矛盾吗
    另外两个是什么
    它的缺点是什么？
    它和微调有什么区别
    HyDE 和它有什么区别？
    RAG 比它好在哪里
    怎么用它
    什么时候该用它
    这是什么意思
    这有什么用？
    这对吗
    这两种方法哪个好
    这几个指标里哪个最重要
    这种方法有什么缺点
    如何判断这个假设是否成立？
    上面的公式怎么推导
    前面说的三个指标分别是什么
    之前提到的指标
    你说的 Recall 是怎么算的
    前者和后者哪个好？
    两者有什么区别？
    有什么区别？
    哪个更好？
    有什么优缺点？
    公式是什么
    怎么算
    有代码吗
    谁提出的？
    哪年
    在第几页
    出处呢
    该方法的局限性是什么
    其优点有哪些
    其中哪个最重要
    可是如果数据很少呢？
    如果没有模型呢？
    我的实验应该用哪个
    下一步做什么
    应该先看哪个？
    why?
    Why not?
    how so
    how come
    How does it work?
    what is it?
    What are they?
    who wrote it?
    Is it better than BM25?
    is it expensive?
    Can a model do it?
    Why do people use it?
    How does HyDE differ from it?
    How do they differ?
    What are its disadvantages?
    what are the drawbacks?
    pros and cons?
    What's the difference?
    what about fine-tuning?
    How about BM25?
    And in Chinese?
    so recall first?
    But what if the model is wrong?
    then what?
    what else?
    anything else?
    which one is better?
    which is faster
    the second one?
    What about the second one?
    explain the first method again
    and the others?
    the former or the latter?
    compare the two
    compare both
    Tell me more
    more details please
    give me an example
    for example?
    elaborate
    go on
    continue
    in other words?
    explain that again
    What does that mean?
    why is that so?
    what do you mean
    I don't understand
    Is this true?
    how does this compare with BM25?
    those?
    summarize the above
    What did you say about decay?
    you said recall comes first, why?
    what did I ask before?
    what should I look at first in my experiment?
    Does it apply to my experiment?
    is the same true for BM25?
    What happens next?
    where is that written?
    which page?
    what is the formula?
    how is it calculated?
    who invented it?
    really?
    summarize it
""")


@pytest.mark.parametrize("question", STANDS_ALONE)
def test_a_question_that_names_its_topic_stands_alone(question):
    assert leans_on_context(question) == ""


@pytest.mark.parametrize("question", LEANS)
def test_a_question_that_points_elsewhere_or_names_nothing_leans(question):
    assert leans_on_context(question)


def test_nothing_leans_on_nothing():
    assert leans_on_context("那") == "那"
    assert leans_on_context("") == leans_on_context("？？") == "…"


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("the second one?", 2),
        ("第三点呢", 3),
        ("第2个怎么做", 2),
        ("what about the first?", 1),
        ("What is HyDE?", None),
    ],
)
def test_which_of_several_things_is_meant(question, place):
    assert ordinal(question) == place


# ---- Corrections ----


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("不对，应该是 24 小时", "24 小时"),
        ("不是，是 24 小时", "24 小时"),
        ("不，应该是 6 月 5 日", "6 月 5 日"),
        ("不对，24 小时", "24 小时"),
        ("你错了，半衰期是 24 小时", "半衰期是 24 小时"),
        ("纠正一下：半衰期是 24 小时", "半衰期是 24 小时"),
        ("No, it is 24 hours.", "24 hours."),
        ("No, it’s 24 hours", "24 hours"),
        ("Wrong, it should be 0.7", "0.7"),
        ("That's wrong. It is 0.7.", "0.7."),
        ("Actually, it is 0.7", "0.7"),
        ("Correction: alpha is 0.5", "alpha is 0.5"),
        ("不对，应该先看 Recall，再看 Faithfulness。", "先看 Recall，再看 Faithfulness。"),
    ],
)
def test_a_correction_gives_what_is_right(text, right):
    assert correction(text) == right


NO_CORRECTION = lines("""
    不对
    No.
    No, thanks
    不，谢谢
    不用了
    不对吧？
    不对，为什么？
    不对，你再想想
    错了，重新回答
    不是，我是说第二个
    不是所有记忆都重要
    不对称加密是什么
    No, what about BM25
    No, I mean the second one
    No, please explain again
    No. 3 in the list
    Wrong. Try again.
    No way to do this?
    No free lunch theorem
    Actually, explain HyDE
    Actually, how does it work?
""")


@pytest.mark.parametrize("text", NO_CORRECTION)
def test_a_refusal_without_a_value_or_another_question_corrects_nothing(text):
    assert correction(text) is None


# ---- Statements ----


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("我更关心真实指标。", "fact"),
        ("我的考试在 6 月 3 日", "fact"),
        ("我是一名医学生", "fact"),
        ("记住：考试在 6 月 3 日", "fact"),
        ("我的邮箱是 li@example.com。", "fact"),
        ("我在准备6月的考试", "fact"),
        ("我下周三考试", "fact"),
        ("我现在是医生了", "fact"),
        ("我叫小李，不叫小王", "fact"),
        ("Actually I am a doctor now, not a nurse", "fact"),
        ("我明天面试", "fact"),
        ("My name is Ann.", "fact"),
        ("I prefer short answers.", "fact"),
        ("I am preparing for an exam in June.", "fact"),
        ("Remember that recall comes first.", "fact"),
        ("我看完了第三章", "event"),
        ("我的英语作文上次得了13分", "event"),
        ("古汉语期末我考了 91 分", "event"),
        ("I finished chapter 3.", "event"),
        ("我今天想要简短的回答。", "wish"),
        ("I prefer short answers for now.", "wish"),
    ],
)
def test_what_a_learner_tells_of_themselves_has_a_kind(text, kind):
    told, rest = statements(text)
    assert [statement.kind for statement in told] == [kind]
    assert rest == ""


def test_a_request_to_remember_is_kept_without_the_request():
    assert statements("请记住：先看 Recall")[0][0].text == "先看 Recall"


QUESTIONS_IN_DISGUISE = lines("""
    I want to know what HyDE is.
    I need to understand recall
    I need help with recall
    I'd like to know more about HyDE
    I want an example of HyDE
    I read chapter 3 but I don't understand HyDE
    Explain the note that I read
    The author says: I like recall
    Do you remember me?
    我想知道 RAG 怎么评估
    我希望了解情景记忆
    我想要一个例子
    我看完了第三章，没看懂 HyDE
    我喜欢什么？
    我在准备考试，请列出重点
    我下周三考试考哪些内容
    我是医生吗
    我是说第二个老师的方法
    帮我准备6月的考试
    给我出一份期末考试
    Actually I want to know what HyDE is
    我的考试在哪天
    记住什么？
""")


@pytest.mark.parametrize("text", QUESTIONS_IN_DISGUISE)
def test_a_wish_to_be_told_something_is_a_question(text):
    assert statements(text) == ([], text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("我叫小林，下周五考信息检索。", "我叫小林"),
        ("My name is Lin Wei, and my exam is on Friday.", "My name is Lin Wei"),
    ],
)
def test_a_name_told_with_something_else_is_a_statement_of_its_own(text, name):
    assert [statement.text for statement in statements(text)[0]] == [name, text]


def test_a_statement_before_a_question_leaves_the_question():
    told, rest = statements("我更关心真实指标。那下一步怎么优化？")
    assert (told[0].text, rest) == ("我更关心真实指标。", "那下一步怎么优化？")


# ---- Pages ----


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("What is the date on page 14?", 14),
        ("第 3 页讲了什么", 3),
        ("What stands on the cover?", 1),
        ("最后一页", -1),
        ("What topics does the book cover?", None),
        ("Which jobs cover expenses?", None),
        ("how many pages are there?", None),
        ("PageRank 2", None),
        ("What is the date of the document?", 1),
        ("Who are the authors of this paper?", 1),
        ("这份报告的作者是谁？", 1),
        ("Title of the paper on page 3?", 3),
        ("What is the date of the battle?", None),
        ("这本书的作者是谁写的？", 1),
        ("论文里的日期怎么写？", None),
    ],
)
def test_a_page_is_named_or_it_is_not(question, page):
    assert page_named(question) == page


# ---- Secrets ----


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("OPENAI_API_KEY=sk-proj-abcDEF1234567890abcd", "key"),
        ("token=ghp_abcdefghijklmnop1234", "key"),
        ("AKIAIOSFODNN7EXAMPLE", "key"),
        ("-----BEGIN RSA PRIVATE KEY-----", "key"),
        ("my password is hunter22", "password"),
        ("我的密码是 hunter22", "password"),
        ("我的密码是：小猫钓鱼啦啦", "password"),
        ("密码: 123456", "password"),
        ("api key: 9f8e7d6c5b4a", "password"),
        ("我的邮箱是 a@b.com", "contact"),
        ("手机 13812345678", "contact"),
        ("card 4111 1111 1111 1111", "card"),
        ("身份证 11010519491231002X", "card"),
    ],
)
def test_a_secret_is_seen(text, kind):
    assert secret_in(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "what is a password?",
        "密码是什么意思",
        "token 是什么意思？",
        "我的密码是什么",
        "A token is usually a part of a word",
        "token: 最小的文本单位",
        "max token: 4096",
        "The secret is consistency",
        "skip-connections-in-deep-residual-networks",
        "数据集年份 2017 2018 2019 2020",
        "pi = 3.141592653589793238",
        "ISBN 978-7-302-12345-6",
    ],
)
def test_what_learners_study_is_no_secret(text):
    assert secret_in(text) == ""
