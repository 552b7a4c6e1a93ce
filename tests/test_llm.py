"""The real LiteLLM against a real endpoint on this machine, and everything that can go wrong between them."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import OpenAIServer, Reply, ScriptedLLM

from infrastructure.errors import LLMUnavailable
from infrastructure.llm import (
    DECLINED,
    LiteLLM,
    Usage,
    connect,
    without_thoughts,
)
from infrastructure.service import load_litellm
from infrastructure.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the .* attribute", "ignore:Item .* TypedDict"
)  # LiteLLM's own
KEY = "sk-test-0123456789"
LONG_TEXT = "a text long enough for several pieces"


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """LiteLLM's first import and first request take seconds, which tests of time limits must not pay for."""
    with OpenAIServer() as server:
        model(server).complete("hello")


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest):
    """Both ways to get an answer, as one function: what holds for one holds for the other."""
    if request.param == "whole":
        return lambda llm, prompt="question", **options: llm.complete(prompt, **options)
    return lambda llm, prompt="question", **options: "".join(llm.stream(prompt, **options))


def model(server: OpenAIServer, name: str = "openai/test-model", *, timeout: float = 5, **options) -> LiteLLM:
    options = {"api_key": KEY, "api_base": server.url, "retry_wait": 0.01} | options
    return LiteLLM(name, timeout=timeout, **options)


def failure(ask, llm: LiteLLM) -> LLMUnavailable:
    with pytest.raises(LLMUnavailable) as caught:
        ask(llm)
    return caught.value


# ---- Answers ----


def test_an_answer_comes_back(ask):
    with OpenAIServer("Faithfulness first.") as server:
        assert ask(model(server)) == "Faithfulness first."


def test_a_stream_comes_in_pieces():
    with OpenAIServer(LONG_TEXT) as server:
        pieces = list(model(server).stream("question"))
    assert len(pieces) > 1
    assert "".join(pieces) == LONG_TEXT


def test_the_system_prompt_comes_before_the_question(ask):
    with OpenAIServer() as server:
        ask(model(server), "why?", system="be brief", max_tokens=50)
        body = server.requests[0].body
    assert [(m["role"], m["content"]) for m in body["messages"]] == [("system", "be brief"), ("user", "why?")]
    assert body["max_tokens"] == 50


def test_half_a_character_in_the_prompt_does_no_harm(ask):
    with OpenAIServer("fine") as server:
        assert ask(model(server), "a\ud83db\x00c") == "fine"
        assert server.requests[0].body["messages"][0]["content"] == "abc"


def test_thoughts_are_not_part_of_the_answer(ask):
    with OpenAIServer("<think>hm, 41?</think>\n\n42") as server:
        assert ask(model(server)) == "42"


def test_an_answer_that_only_begins_like_a_thought_is_kept():
    assert list(without_thoughts(["<", "thin"])) == ["<thin"]


def test_an_answer_of_thoughts_alone_is_empty(ask):
    with OpenAIServer(default="<think>hm, and then</think>") as server:
        assert failure(ask, model(server)).reason == "empty"


# ---- Usage and cost ----


def test_usage_is_what_the_provider_reports(ask):
    with OpenAIServer(Reply("yes", usage=(11, 2))) as server:
        llm = model(server)
        ask(llm)
    assert (llm.usage.prompt_tokens, llm.usage.completion_tokens) == (11, 2)


def test_usage_adds_up_over_calls():
    with OpenAIServer(Reply("a", usage=(10, 1)), Reply("b", usage=(20, 2))) as server:
        llm = model(server)
        llm.complete("one")
        before = llm.usage
        llm.complete("two")
    assert (llm.usage.prompt_tokens, llm.usage.since(before).prompt_tokens) == (30, 20)


def test_usage_is_estimated_when_the_provider_reports_none(ask):
    with OpenAIServer(Reply("four words of answer", usage=None)) as server:
        llm = model(server)
        ask(llm, "a question")
    assert llm.usage.prompt_tokens > 0
    assert llm.usage.completion_tokens > 0


def test_a_model_without_a_price_answers_and_its_cost_is_unknown(ask):
    with OpenAIServer("yes") as server:
        llm = model(server)
        assert ask(llm) == "yes"
    assert llm.usage.cost is None


def test_a_known_price_is_multiplied_by_the_tokens(ask):
    with OpenAIServer(Reply("yes", usage=(1000, 100))) as server:
        llm = model(server, "openai/gpt-4o-mini")
        ask(llm)
    price = load_litellm().model_cost["gpt-4o-mini"]
    assert llm.usage.cost == pytest.approx(1000 * price["input_cost_per_token"] + 100 * price["output_cost_per_token"])


def test_a_sum_with_an_unknown_cost_is_unknown():
    assert (Usage(1, 1, 0.5) + Usage(1, 1, None)).cost is None


# ---- Failures ----


@pytest.mark.parametrize(
    ("status", "reason", "requests"),
    [
        *((401, "auth", 1), (402, "quota", 1), (403, "auth", 1), (404, "other", 1)),
        *((429, "network", 2), (500, "network", 2), (503, "network", 2)),
    ],
)
def test_a_status_has_its_reason_and_is_retried_only_where_that_helps(ask, status, reason, requests):
    with OpenAIServer(default=Reply.failure(status)) as server:
        assert failure(ask, model(server)).reason == reason
        assert len(server.requests) == requests


@pytest.mark.parametrize("status", [400, 402, 429])
def test_an_empty_account_is_recognised_whatever_its_status(ask, status):
    with OpenAIServer(default=Reply.failure(status, "Insufficient Balance")) as server:
        assert failure(ask, model(server)).reason == "quota"
        assert len(server.requests) == 1


def test_an_exhausted_quota_is_not_mistaken_for_a_busy_server(ask):
    text = "You exceeded your current quota, please check your plan and billing details."
    with OpenAIServer(default=Reply.failure(429, text, "insufficient_quota")) as server:
        assert failure(ask, model(server)).reason == "quota"
        assert len(server.requests) == 1


def test_a_short_disturbance_is_survived(ask):
    with OpenAIServer(Reply.failure(500), "back again") as server:
        assert ask(model(server)) == "back again"


def test_an_empty_message_is_a_failure(ask):
    with OpenAIServer(default="") as server:
        assert failure(ask, model(server)).reason == "empty"


def test_an_allowance_spent_on_thinking_says_so(ask):
    with OpenAIServer(default=Reply("", finish="length")) as server:
        error = failure(ask, model(server))
    assert error.reason == "empty"
    assert "thinking" in str(error)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(None, refusal="I can't help with that."),
        Reply("", finish="content_filter"),
        Reply("I'm sorry, but I can't assist with that request."),
        Reply("很抱歉，我无法满足您的请求。"),
        Reply.failure(400, "Content Exists Risk"),
    ],
)
def test_a_refusal_is_recognised(ask, reply):
    with OpenAIServer(default=reply) as server:
        assert failure(ask, model(server)).reason == "refused"


@pytest.mark.parametrize(
    "answer",
    [
        "I can't answer this from the documents.",
        "The tool can't help with this; use another [1].",
        "抱歉，资料里没有提到这个问题。",
        "这种方法不能满足该要求。",
    ],
)
def test_an_honest_no_is_no_refusal(answer):
    assert not DECLINED.match(answer)


def test_a_stream_cut_off_keeps_its_text_and_then_fails():
    pieces = []
    with OpenAIServer(Reply(LONG_TEXT, cut=True)) as server, pytest.raises(LLMUnavailable) as caught:
        for piece in model(server).stream("question"):
            pieces.append(piece)
    assert caught.value.reason == "cut"
    assert pieces
    assert LONG_TEXT.startswith("".join(pieces))


def test_nothing_is_asked_again_once_text_has_come():
    with OpenAIServer(default=Reply(LONG_TEXT, cut=True)) as server:
        failure(lambda llm: list(llm.stream("question")), model(server))
        assert len(server.requests) == 1


def test_a_server_that_says_nothing_is_left_after_the_timeout(ask):
    with OpenAIServer(default=Reply(wait=30)) as server:
        begin = time.monotonic()
        assert failure(ask, model(server, timeout=0.3)).reason == "timeout"
    assert time.monotonic() - begin < 2


def test_a_stream_that_stalls_is_left_after_the_timeout():
    with OpenAIServer(Reply(LONG_TEXT, stall=30)) as server:
        begin = time.monotonic()
        assert failure(lambda llm: list(llm.stream("question")), model(server, timeout=0.3)).reason == "cut"
    assert time.monotonic() - begin < 2


def test_a_stream_can_be_left_at_any_time():
    with OpenAIServer(Reply(LONG_TEXT, stall=30)) as server:
        stream = model(server).stream("question")
        next(stream)
        begin = time.monotonic()
        stream.close()
    assert time.monotonic() - begin < 2


def test_a_web_page_instead_of_an_answer_points_at_the_address(ask):
    with OpenAIServer(default=Reply(html=True)) as server:
        assert "LLM_API_BASE" in str(failure(ask, model(server)))


def test_a_gateway_that_rejects_stream_options_is_asked_without_them():
    with OpenAIServer(Reply.failure(400, "unknown parameter: stream_options"), "still here") as server:
        assert list(model(server).stream("question")) == ["still here"]


def test_an_unreachable_server_is_named(ask):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        error = failure(ask, LiteLLM("openai/test-model", api_key=KEY, api_base=address, timeout=5))
    assert error.reason == "network"
    assert address in str(error)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_error_shows_a_key_that_the_provider_repeats(ask, status):
    echo = f"key {KEY} of Bearer abcdefgh is wrong, so is sk-other-987654 and own-provider-key"
    with OpenAIServer(default=Reply.failure(status, echo)) as server:
        error = str(failure(ask, model(server, provider_keys={"X_API_KEY": "own-provider-key"})))
    assert not any(key in error for key in (KEY, "abcdefgh", "987654", "own-provider-key"))


def test_a_failure_prints_nothing(ask, capfd):
    with OpenAIServer(default=Reply.failure(500)) as server:
        failure(ask, model(server))
    assert capfd.readouterr() == ("", "")


# ---- Keys and names ----


def test_a_missing_key_names_both_variables_and_asks_nobody(ask):
    error = failure(ask, LiteLLM("deepseek/deepseek-chat", timeout=5))
    assert error.reason == "auth"
    assert "LLM_API_KEY" in str(error)
    assert "DEEPSEEK_API_KEY" in str(error)


def test_a_providers_own_key_is_used(ask):
    with OpenAIServer("yes") as server:
        keys = {"DEEPSEEK_API_KEY": "sk-deep", "MOONSHOT_API_KEY": "sk-moon"}
        assert ask(model(server, "deepseek/deepseek-chat", api_key=None, provider_keys=keys)) == "yes"
        assert server.requests[0].key == "sk-deep"


def test_a_server_of_ones_own_needs_no_key(ask):
    with OpenAIServer("yes") as server:
        assert ask(model(server, api_key=None)) == "yes"


def test_a_name_without_a_provider_gets_an_example(ask):
    with OpenAIServer() as server:
        assert "deepseek/deepseek-chat" in str(failure(ask, model(server, "no-such-model")))
        assert server.requests == []


def test_without_llm_model_there_is_no_model_even_with_a_key(tmp_path):
    settings = Settings.load({"home": tmp_path}, environ={"LLM_API_KEY": KEY, "OPENAI_API_KEY": KEY}, dotenv={})
    assert connect(settings) is None


def test_the_settings_reach_the_server(tmp_path):
    with OpenAIServer("yes") as server:
        environ = {"LLM_MODEL": "openai/test-model", "LLM_API_KEY": KEY, "LLM_API_BASE": server.url}
        llm = connect(Settings.load({"home": tmp_path}, environ=environ, dotenv={}))
        assert llm is not None
        assert llm.complete("question") == "yes"
        assert server.requests[0].key == KEY


# ---- Manners ----


def test_litellm_is_imported_by_the_first_question_only():
    code = "import sys; from infrastructure.llm import LiteLLM; LiteLLM('openai/m'); print('litellm' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


# ---- The stand-in that other tests use ----


def test_a_scripted_model_answers_in_turn_and_remembers_the_prompts():
    llm = ScriptedLLM("one", lambda prompt: prompt.upper())
    assert (llm.complete("a"), llm.complete("b", system="s")) == ("one", "B")
    assert [call.prompt for call in llm.history] == ["a", "b"]


def test_a_scripted_model_breaks_off_where_it_is_told():
    llm = ScriptedLLM(["half ", LLMUnavailable("cut off", reason="cut")])
    pieces = llm.stream("question")
    assert next(pieces) == "half "
    with pytest.raises(LLMUnavailable):
        next(pieces)
