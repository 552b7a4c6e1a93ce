from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from infrastructure.errors import UsageError
from infrastructure.settings import PROJECT, Settings, choose_language, mask

KEY = "sk-0123456789abcdef"


def load(flags=None, environ=None, dotenv=None) -> Settings:
    return Settings.load(flags or {}, environ=environ or {}, dotenv=dotenv or {})


def source(settings: Settings, name: str) -> str:
    return next(line.source for line in settings.explain() if line.name == name)


def test_without_any_choice_nothing_is_sent_and_the_home_is_beside_the_scripts():
    settings = load()
    assert (settings.llm_model, settings.home, settings.llm_timeout) == (None, PROJECT / "memory_db", 60)


def test_a_flag_wins_over_the_environment_and_that_over_the_file():
    everywhere = {"flags": {"llm_model": "a"}, "environ": {"LLM_MODEL": "b"}, "dotenv": {"LLM_MODEL": "c"}}
    seen = []
    for place in ("flags", "environ", "dotenv"):
        settings = load(**everywhere)
        seen.append((settings.llm_model, source(settings, "LLM_MODEL")))
        del everywhere[place]
    assert seen == [("a", "flag"), ("b", "environment"), ("c", ".env")]


@pytest.mark.parametrize("absent", [None, "", " "])
def test_an_empty_value_is_no_value(absent):
    settings = load({"llm_model": absent}, {"LLM_MODEL": ""}, {"LLM_MODEL": "c"})
    assert settings.llm_model == "c"


def test_an_unknown_setting_is_an_error():
    with pytest.raises(TypeError, match="llm_modle"):
        load({"llm_modle": "a"})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LLM_TIMEOUT", "soon"),
        ("LLM_TIMEOUT", "0"),
        ("LLM_TIMEOUT", "nan"),
        ("STUDY_LANG", "klingon"),
        ("STUDY_RETENTION", "90"),
        ("STUDY_RETENTION", "often"),
        ("STUDY_DAY_START", "24"),
        ("STUDY_DAY_START", "4:00"),
        ("LLM_API_BASE", "localhost:11434"),
        ("HF_ENDPOINT", "hf-mirror.com"),
        ("MEMORY_HOME", "~nobody_of_this_name/x"),
    ],
)
def test_a_senseless_value_is_refused_by_the_name_of_its_variable(variable, value):
    with pytest.raises(UsageError, match=variable):
        load(environ={variable: value})


def test_a_timeout_of_zero_given_as_a_flag_is_refused_too():
    with pytest.raises(UsageError):
        load({"llm_timeout": 0})


def test_a_key_alone_switches_no_model_on():
    settings = load(environ={"OPENAI_API_KEY": KEY}, dotenv={"DEEPSEEK_API_KEY": KEY})
    assert settings.llm_model is None


def test_provider_keys_are_taken_from_the_file_and_overridden_by_the_environment():
    settings = load(environ={"A_API_KEY": "mine", "C_API_KEY": "c"}, dotenv={"A_API_KEY": "a", "B_API_KEY": "b"})
    assert settings.provider_keys == {"A_API_KEY": "mine", "B_API_KEY": "b"}


def test_secrets_are_never_shown():
    settings = load(
        {"llm_api_key": KEY},
        {"LLM_API_BASE": "https://me:secret@host/v1"},
        {"X_API_KEY": KEY, "EMBEDDING_API_KEY": KEY},
    )
    assert settings.llm_api_key == KEY
    for shown in (repr(settings), str(settings.explain())):
        assert KEY not in shown
    assert "secret" not in str(settings.explain())


def test_a_mask_tells_two_long_keys_apart_and_hides_short_ones():
    assert (mask(KEY), mask("0123456789")) == ("…cdef", "…")


def test_settings_do_not_change():
    with pytest.raises(FrozenInstanceError):
        load().llm_model = "other"


def test_a_relative_home_starts_where_it_was_written(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("MEMORY_HOME=mine\n", encoding="utf-8")
    monkeypatch.chdir("/")
    assert Settings.load({}, environ={}, dotenv=tmp_path / ".env").home == tmp_path / "mine"
    assert Settings.load({"home": "mine"}, environ={}, dotenv=tmp_path / ".env").home == Path("/mine").absolute()


def test_a_file_from_notepad_is_read_and_dollars_stay(tmp_path):
    (tmp_path / ".env").write_bytes("\ufeffLLM_API_KEY=a$HOME\r\nSTUDY_LANG=zh\r\n".encode())
    settings = Settings.load({}, environ={}, dotenv=tmp_path / ".env")
    assert (settings.llm_api_key, settings.language) == ("a$HOME", "zh")


def test_a_file_in_another_encoding_is_named(tmp_path):
    (tmp_path / ".env").write_bytes("LLM_MODEL=模型".encode("gbk"))
    with pytest.raises(UsageError, match=r"\.env"):
        Settings.load({}, environ={}, dotenv=tmp_path / ".env")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "C"}, "en"),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"STUDY_LANG": "zh-Hans", "LANG": "en_GB"}, "zh"),
    ],
)
def test_the_language_follows_the_choice_and_else_the_locale(environ, expected):
    assert load(environ=environ).language == choose_language(environ=environ, dotenv={}) == expected


def test_a_language_flag_wins_before_the_command_line_is_parsed():
    assert choose_language("en", environ={"STUDY_LANG": "zh"}, dotenv={}) == "en"


@pytest.mark.parametrize("environ", [{"NO_COLOR": "0"}, {"TERM": "dumb"}])
def test_no_color_and_dumb_terminals_are_plain(environ):
    assert load(environ=environ).no_color
    assert not load(environ={"NO_COLOR": "", "TERM": "xterm"}).no_color


def test_the_example_file_names_every_variable_that_is_read():
    example = (PROJECT / ".env.example").read_text(encoding="utf-8")
    variables = [line.name for line in load().explain() if line.name.isupper()]
    assert [name for name in variables if f"# {name}=" not in example] == []
