"""Dates of a text, as of the day it was said: infrastructure/dates.py and amounts.py. Told on Monday, 8 May 2023."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.amounts import number
from infrastructure.dates import date_mentions, happened_on, past_period, span

MONDAY = datetime(2023, 5, 8, 10)
SATURDAY = datetime(2023, 5, 13, 10)


def whens(text, said_at=MONDAY):
    return [mention.when for mention in date_mentions(text, said_at)]


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("I went to the support group yesterday", "2023-05-07"),
        ("the day before yesterday", "2023-05-06"),
        ("We talked last night", "2023-05-07"),
        ("The exam is tomorrow", "2023-05-09"),
        ("3 days ago", "2023-05-05"),
        ("two weeks ago", "2023-W17"),
        ("a month ago", "2023-04"),
        ("two years ago", "2021"),
        ("last Friday we met", "2023-05-05"),
        ("last weekend", "2023-05-06/2023-05-07"),
        ("Last month I visited Paris", "2023-04"),
        ("next week", "2023-W20"),
        ("I met Anna on 7 May 2023", "2023-05-07"),
        ("on May 7th, 2023", "2023-05-07"),
        ("2023-05-07 was a Sunday", "2023-05-07"),
        ("The exam is on June 3", "--06-03"),
        ("昨天读完第3章", "2023-05-07"),
        ("大前天", "2023-05-05"),
        ("今晚交报告", "2023-05-08"),
        ("三天前开始学", "2023-05-05"),
        ("十一天前", "2023-04-27"),
        ("三天后考试", "2023-05-11"),
        ("上周三去了医院", "2023-05-03"),
        ("上上个星期天", "2023-04-30"),
        ("下周一考试", "2023-05-15"),
        ("上个月", "2023-04"),
        ("去年毕业", "2022"),
        ("两年前", "2021"),
        ("2023年5月7日", "2023-05-07"),
        ("考试在 6 月 3 日", "--06-03"),
    ],
)
def test_dates_that_leave_no_doubt_are_resolved(text, when):
    assert whens(text) == [when]


@pytest.mark.parametrize(
    "text",
    [
        *("on Friday", "next Friday", "in two weeks", "the other day", "I may go", "May 5:30", "31 June", "6月31日"),
        *(
            "the last week was hard",
            "以前天天跑步",
            "然后天气很好",
            "马上周末了",
            "过去年代",
            "目前年龄",
            "后天的努力",
            "第三年前",
        ),
        *("几天前", "“yesterday” is a song", "我读了《昨天》", ""),
    ],
)
def test_what_two_people_would_read_differently_is_left_out(text):
    assert whens(text) == []


def test_last_friday_said_on_a_saturday_means_two_days():
    assert whens("last Friday", SATURDAY) == []
    assert whens("上周五", SATURDAY) == ["2023-05-05"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Yesterday I read chapter 3", date(2023, 5, 7)),
        ("I visited Paris last month", date(2023, 4, 1)),
        ("Last week, three days ago, I fell", date(2023, 5, 5)),  # on the Friday of that week
        ("On 7 May 2023 I fell", date(2023, 5, 7)),
        ("明天考试", date(2023, 5, 9)),
        ("Yesterday and today I read", None),
        ("This week I read", None),
        ("Next month I will travel", None),
        ("I read about the treaty of 7 May 1919", None),
        ("I read yesterday's notes", None),
        ("我看了昨天的笔记", None),
        ("The exam is on 3 June", None),
        ("I read", None),
    ],
)
def test_an_event_is_moved_to_its_day_only_when_that_is_clear(text, day):
    assert happened_on(date_mentions(text, MONDAY), MONDAY) == day


def test_in_a_longer_text_last_year_is_about_a_part_of_it():
    mentions = date_mentions("We camped last year.", MONDAY)
    assert happened_on(mentions, MONDAY, alone=False) is None


@pytest.mark.parametrize(
    ("when", "days"),
    [("2023-05-07", (7, 7)), ("2023-W18", (1, 7)), ("2023-05", (1, 31)), ("2023-05-06/2023-05-07", (6, 7))],
)
def test_a_period_has_a_first_and_a_last_day(when, days):
    assert tuple(day.day for day in span(when)) == days


def test_a_year_ends_with_december():
    assert span("2022") == (date(2022, 1, 1), date(2022, 12, 31))


def test_a_question_about_last_month_asks_as_of_its_end():
    assert past_period("Who was it last month?", MONDAY) == (datetime(2023, 4, 30, 23, 59, 59), "Who was it  ?")
    assert past_period("Who is it?", MONDAY) is past_period("Who will it be tomorrow?", MONDAY) is None


@given(st.text(), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)))
def test_any_text_on_any_day_is_read_without_error(text, said_at):
    for mention in date_mentions(f"{text} 三天前 last month {text}", said_at):
        if not mention.when.startswith("--"):
            first, last = span(mention.when)
            assert first <= last


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("12", 12), ("1,200", 1200), ("−3.5", -3.5), ("two", 2), ("an", 1), ("两", 2), ("十", 10), ("二十三", 23)),
        *(("一百零五", 105), ("三万五千", 35000), ("二〇二三", 2023), ("many", None), ("", None), ("1.2.3", None)),
    ],
)
def test_numbers_as_people_write_them(text, value):
    assert number(text) == value
