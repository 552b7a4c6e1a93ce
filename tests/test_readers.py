"""Public question sets in their publishers' own form, in small, and one sentence for what has another form."""

import doctest
import json

import pytest
from data.make_pdfs import make_pdf

from benchmarks import readers
from benchmarks.readers import read_locomo, read_longmemeval, read_pages, read_squad
from infrastructure.errors import UsageError

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1 May",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "Bye."}],
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Look", "blip_caption": "a bridge"}],
        },
        "qa": [
            {"question": "What?", "evidence": ["D2:1; D10:1", "D:10:1", "D99:1"], "category": 1},
            {"question": "Lost?", "evidence": ["D99:1"], "category": 2},
            {"question": "None?", "category": 5},
        ],
    }
]
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where?",
        "haystack_session_ids": ["s1", "s1"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I live in Leeds", "has_answer": True},
                {"role": "assistant", "content": "Nice."},
            ],
            [{"role": "user", "content": "Hello"}],
        ],
    },
    {
        "question_id": "q2_abs",
        "question_type": "t",
        "question": "?",
        "haystack_session_ids": ["s"],
        "haystack_sessions": [[{"role": "user", "content": "x", "has_answer": True}]],
    },
]
SQUAD = {
    "data": [
        {
            "title": "Tea",
            "paragraphs": [
                {"context": "Tea is hot.", "qas": [{"id": "1", "question": "Hot?", "answers": []}]},
                {"context": "Ice is cold.", "qas": [{"id": "2", "question": "No?", "is_impossible": True}]},
            ],
        }
    ]
}


def written(folder, content, name="data.json"):
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder / name


def test_the_examples_in_docstrings_hold():
    assert doctest.testmod(readers).failed == 0


def test_locomo_has_its_turns_in_order_of_the_sessions_and_drops_evidence_that_is_not_there(tmp_path):
    (corpus,) = read_locomo(written(tmp_path, LOCOMO))
    assert [(item.id, item.group) for item in corpus.items] == [("D2:1", "session_2"), ("D10:1", "session_10")]
    assert corpus.items[0].text == "Ann: Look [shares a bridge]"
    assert [(q.text, set(q.relevant), q.category) for q in corpus.questions] == [
        ("What?", {"D2:1", "D10:1"}, "multi-hop")
    ]


def test_longmemeval_has_a_history_for_each_question_and_keeps_sessions_of_one_name_apart(tmp_path):
    (corpus,) = read_longmemeval(written(tmp_path, LONGMEMEVAL))
    assert len({item.group for item in corpus.items}) == 2 and corpus.items[0].text == "user: I live in Leeds"
    assert corpus.questions[0].relevant == {corpus.items[0].id}


def test_squad_leaves_out_questions_without_an_answer(tmp_path):
    (corpus,) = read_squad(written(tmp_path, SQUAD))
    assert [item.text for item in corpus.items] == ["Tea is hot.", "Ice is cold."]
    assert [(q.text, set(q.relevant)) for q in corpus.questions] == [("Hot?", {"0"})]


def test_a_folder_of_pdfs_has_its_pages_as_items(tmp_path):
    (tmp_path / "a.pdf").write_bytes(make_pdf(["Tea is hot.", "Ice is cold."]))
    written(tmp_path, json.dumps({"document": "a.pdf", "question": "Cold?", "pages": [2]}) + "\n\n", "questions.jsonl")
    (corpus,) = read_pages(tmp_path)
    assert [item.id for item in corpus.items] == ["1", "2"] and "cold" in corpus.items[1].text
    assert corpus.questions[0].relevant == {"2"} and corpus.path == tmp_path / "a.pdf"


@pytest.mark.parametrize("read", [read_locomo, read_longmemeval, read_squad])
@pytest.mark.parametrize("content", ["", "not json", "{}", "[]", '{"data": [3]}', '[{"qa": 1}]', '"text"'])
def test_another_form_is_refused_in_one_sentence_that_names_the_file(read, content, tmp_path):
    path = written(tmp_path, content)
    with pytest.raises(UsageError) as refused:
        list(read(path))
    assert str(path) in str(refused.value) and str(refused.value).count(".json") >= 1


@pytest.mark.parametrize("read", [read_locomo, read_longmemeval, read_squad, read_pages])
def test_a_file_that_is_not_there_is_said_to_be_missing(read, tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        list(read(tmp_path / "nowhere"))


def test_the_public_files_are_read_whole(data_dir):
    corpora = list(read_locomo(data_dir / "locomo" / "dev.json"))
    assert (len(corpora), sum(len(corpus.questions) for corpus in corpora)) == (5, 997)
    (corpus,) = read_squad(data_dir / "xquad" / "xquad.zh.json")
    assert (len(corpus.items), len(corpus.questions)) == (240, 1190)
