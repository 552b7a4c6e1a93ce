"""The transcript: what was asked and answered, in which session, and which session goes on."""

from datetime import timedelta

import pytest

from infrastructure.transcript import Transcript


@pytest.fixture
def transcript(storage):
    return Transcript(storage)


def add(transcript, session="s", question="What is recall?", answer="A share.", *, found=True, trace=None):
    return transcript.add(session, question, answer, found=found, mode="extractive", trace=trace or {})


def test_a_turn_is_read_back_as_it_was_written(transcript, clock):
    trace = {"sources": [{"page": 3, "quote": '第 3 页 "x"'}], "found": True, "nothing": None}
    number = add(transcript, question="召回率是什么？ 🙂", answer="a\nb", trace=trace)
    turn = transcript.turns("s")[0]
    assert (turn.turn_id, turn.session_id, turn.asked_at) == (number, "s", clock())
    assert (turn.question, turn.answer, turn.found, turn.mode) == ("召回率是什么？ 🙂", "a\nb", True, "extractive")
    assert turn.trace == trace


def test_turns_come_oldest_first_and_of_one_session_only(transcript):
    for number in range(4):
        add(transcript, session="even" if number % 2 == 0 else "odd", question=str(number))
    assert [turn.question for turn in transcript.turns("even")] == ["0", "2"]
    assert [turn.question for turn in transcript.all_turns()] == ["0", "1", "2", "3"]
    assert transcript.turns("nobody") == []


def test_the_last_so_many_of_those_since_a_time(transcript, clock):
    for number in range(5):
        add(transcript, question=str(number))
        clock.move(minutes=1)
    assert [turn.question for turn in transcript.turns("s", last=2)] == ["3", "4"]
    assert [turn.question for turn in transcript.turns("s", since=clock() - timedelta(minutes=3))] == ["2", "3", "4"]
    assert [t.question for t in transcript.turns("s", since=clock() - timedelta(minutes=3), last=1)] == ["4"]


def test_sessions_are_listed_newest_first_with_what_they_began_with(transcript, clock):
    add(transcript, session="old", question="first?")
    add(transcript, session="old", question="second?")
    clock.move(hours=1)
    add(transcript, session="new", question="third?")
    newest, oldest = transcript.sessions()
    assert (newest.session_id, newest.turns, newest.first_question) == ("new", 1, "third?")
    assert (oldest.session_id, oldest.turns, oldest.first_question) == ("old", 2, "first?")
    assert newest.started_at - oldest.last_at == timedelta(hours=1)
    assert [session.session_id for session in transcript.sessions(limit=1)] == ["new"]


def test_a_session_without_a_turn_has_no_first_question(transcript):
    transcript.touch("empty")
    assert [(session.turns, session.first_question) for session in transcript.sessions()] == [(0, "")]


def test_a_clock_that_was_put_back_does_not_make_a_session_older(transcript, clock):
    add(transcript)
    last = transcript.sessions()[0].last_at
    clock.move(hours=-5)
    add(transcript)
    assert transcript.sessions()[0].last_at == last


@pytest.mark.parametrize(("minutes", "expected"), [(0, "s"), (119, "s"), (120, None), (5000, None)])
def test_the_last_session_goes_on_while_it_is_young(transcript, clock, minutes, expected):
    add(transcript)
    clock.move(minutes=minutes)
    assert transcript.latest(timedelta(minutes=120)) == expected


def test_without_sessions_there_is_no_latest_and_nothing_to_count(transcript):
    assert transcript.latest(timedelta(days=1)) is None
    assert transcript.sessions() == []
    assert transcript.counts() == {"questions": 0, "answered": 0, "sessions": 0}


def test_questions_answers_and_sessions_are_counted(transcript):
    add(transcript, session="a")
    add(transcript, session="a", found=False)
    add(transcript, session="b")
    assert transcript.counts() == {"questions": 3, "answered": 2, "sessions": 2}


def test_new_ids_differ():
    ids = {Transcript.new_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(session_id) == 32 for session_id in ids)


def test_a_text_is_blacked_out_wherever_it_stands(transcript):
    add(
        transcript,
        question="Is 我的秘密 known?",
        answer="It is 我的秘密.",
        trace={"quote": "say 我的秘密 again", "n": 1},
    )
    add(transcript, question="Something else?")
    assert transcript.redact("我的秘密") == 1
    turn = transcript.turns("s")[0]
    assert (turn.question, turn.answer) == ("Is ▇▇▇ known?", "It is ▇▇▇.")
    assert turn.trace == {"quote": "say ▇▇▇ again", "n": 1}


@pytest.mark.parametrize("text", ['with "quotes"', "back\\slash", "two\nlines", "100% _any_"])
def test_blacking_out_survives_what_json_and_sql_escape(transcript, text):
    add(transcript, question=f"a {text} b", trace={"quote": f"a {text} b"})
    assert transcript.redact(text) == 1
    turn = transcript.turns("s")[0]
    assert turn.question == turn.trace["quote"] == "a ▇▇▇ b"


def test_blacking_out_what_is_not_there_changes_nothing(transcript):
    add(transcript)
    assert transcript.redact("100%") == 0


def test_half_a_character_is_dropped_and_loses_no_turn(transcript):
    add(transcript, question="half \ud83d", answer="\x00of it", trace={"said": "half \ud83d\n"})
    turn = transcript.turns("s")[0]
    assert (turn.question, turn.answer, turn.trace) == ("half ", "of it", {"said": "half \n"})


@pytest.mark.parametrize("secret", ["sk-abcdefgh12345678abcd", "my password is hunter22", "4111 1111 1111 1111"])
def test_a_secret_in_a_question_is_written_down_nowhere(transcript, secret):
    asked = f"Why is {secret} refused?"
    transcript.add(
        "s1", asked, f"About {secret}.", found=True, mode="extractive", trace={"topic": asked, "list": [asked]}
    )
    (turn,) = transcript.turns("s1")
    assert secret not in repr(turn) and turn.question == "Why is ▇▇▇ refused?"
    assert turn.trace == {"topic": "Why is ▇▇▇ refused?", "list": ["Why is ▇▇▇ refused?"]}


def test_a_greeting_a_note_and_a_purged_turn_are_no_questions_and_a_stopped_answer_is_to_one(transcript):
    add(transcript, question="hi", found=False, trace={"noted": True})
    add(transcript, question="What is recall?")
    add(transcript, question="What is precision?", trace={"noted": True, "partial": True})
    add(transcript, question="Who won?", found=False)
    assert transcript.counts() == {"questions": 3, "answered": 2, "sessions": 1}
    assert [turn.is_question for turn in transcript.all_turns()] == [False, True, True, True]


def test_a_session_is_listed_by_its_first_question_not_by_its_greeting(transcript):
    add(transcript, session="a", question="hi", trace={"noted": True})
    add(transcript, session="a", question="What is recall?")
    add(transcript, session="b", question="I am a nurse.", trace={"noted": True})
    assert {session.session_id: session.first_question for session in transcript.sessions()} == {
        "a": "What is recall?",
        "b": "I am a nurse.",
    }


def test_cited_are_the_sources_that_the_answer_names(transcript):
    sources = [{"n": number, "page": 10 + number} for number in (1, 2, 3)]
    add(transcript, answer="A share [1], as in [3] and not in [M2].", trace={"sources": sources})
    assert [source["page"] for source in transcript.all_turns()[0].cited] == [11, 13]
