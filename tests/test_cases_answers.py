"""Complaints of people who read answers and follow their citations, one test or more each, with what is right."""

import socket
import time
from contextlib import contextmanager
from importlib import import_module

import pytest
from data.make_pdfs import make_pdf
from screen import shown
from support import HashEmbedder, OpenAIServer, Reply, ScriptedLLM

from infrastructure.embedders import SentenceTransformerEmbedder, cached_model
from infrastructure.errors import EmbedderUnavailable
from infrastructure.language import language_of
from infrastructure.library import NewChunk, StoredPage
from infrastructure.llm import LiteLLM
from infrastructure.settings import Settings
from infrastructure.storage import Storage
from study import views

m11 = import_module("11_unified_retrieval")
m12 = import_module("12_memory_enhanced_rag")
m13 = import_module("13_pdf_learning_assistant")

pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the .* attribute", "ignore:Item .* TypedDict"
)  # LiteLLM's own
QUESTION = "RAG 系统怎么评估？"
NOT_FOUND = "I found nothing about this in your documents."
PAGES = (
    "The heron is a bird that fishes at dawn.",
    "The lynx is a cat that hunts in snow.",
    "The carp is a fish that sleeps in winter.",
)


@pytest.fixture
def rag(storage):
    """Four paragraphs about RAG, a page each, searched by words."""
    rag = m12.MemoryRAG(storage)
    m11.shelve(rag.library, m12.PARAGRAPHS)
    yield rag
    rag.close()


@pytest.fixture
def load_pdf(assistant, tmp_path):
    def load(pages, **options):
        (tmp_path / "book.pdf").write_bytes(make_pdf(pages, **options))
        return assistant.load_document(tmp_path / "book.pdf")

    return load


def bytes_of(home) -> bytes:
    files = [path for path in home.rglob("*") if path.is_file()]
    assert files
    return b"".join(path.read_bytes() for path in files)


# ---- 1 ----


@pytest.mark.parametrize(
    ("question", "page"), [("What does the heron do?", 1), ("What is the lynx?", 2), ("When does the carp sleep?", 3)]
)
def test_01_a_fact_is_cited_with_its_page_counted_from_1_also_on_screen(assistant, load_pdf, question, page):
    load_pdf(PAGES)
    answer = assistant.ask(question)
    assert (answer.citations[0].page, answer.citations[0].quote) == (page, PAGES[page - 1])
    assert f"[1] book.pdf, p. {page}\n" in shown(views.answer(answer), width=200)


# ---- 2 ----


def test_02_a_one_page_document_is_only_ever_cited_on_page_1(assistant, load_pdf):
    load_pdf(PAGES[:1])
    assistant.use_model(ScriptedLLM(default="The heron fishes at dawn [1], see page 2 [2]."))
    answer = assistant.ask("What does the heron do at dawn?", use_mqe=False)
    assert [(citation.n, citation.page) for citation in answer.citations] == [(1, 1)]
    assert answer.answer == "The heron fishes at dawn [1], see page 2."


def test_02_a_passage_whose_place_is_in_no_page_is_not_cited(rag):
    text = "The zebrafinch sings in the morning."
    rag.library.add(
        name="short.pdf",
        path="",
        media_type="pdf",
        content_hash="f" * 64,
        pages=[StoredPage(1, None, "", "One line.", "One line.", [(0, 0)])],
        chunks=[NewChunk("One line.", "", 0, 9, 1, 1), NewChunk(text, "", 500, 500 + len(text), 2, 2)],
    )
    answer = rag.query("When does the zebrafinch sing?")
    assert answer.trace["results"][0]["page"] == 2
    assert [c for c in (*answer.citations, *answer.nearest) if c.document == "short.pdf"] == []


# ---- 3 ----

INVENTED = "Chapter 1: Introduction. Chapter 2: Advanced topics [1]."


@pytest.mark.parametrize("question", ["List the chapters.", "Which chapters are there?", "这本书有哪些章节？", "目录"])
def test_03_chapters_come_from_the_outline_and_no_model_is_asked(assistant, load_pdf, question):
    load_pdf(PAGES, outline=[(1, "Birds", 1), (2, "Herons", 1), (1, "Cats", 2), (1, "Fish", 3)])
    llm = ScriptedLLM(default=INVENTED)
    assistant.use_model(llm)
    lines = assistant.ask(question, use_mqe=False).answer.splitlines()
    place = "{}（book.pdf，第 {} 页）" if language_of(question) == "zh" else "{} (book.pdf, p. {})"
    headings = (("Birds", 1), ("Herons", 1), ("Cats", 2), ("Fish", 3))
    assert [line.strip() for line in lines] == [place.format(*heading) for heading in headings]
    assert llm.history == []


def test_03_without_an_outline_that_is_said(assistant, load_pdf):
    load_pdf(PAGES)
    assistant.use_model(ScriptedLLM(default=INVENTED))
    answer = assistant.ask("List the chapters.", use_mqe=False)
    assert (answer.found, answer.answer) == (False, "Your documents have no outline.")


# ---- 4 ----


@pytest.mark.parametrize(
    ("embedder", "question"),
    [(None, "Which memories won the chess championship in 1972?"), (HashEmbedder(), "Who won the chess championship?")],
    ids=["words", "words and vectors"],
)
def test_04_what_the_documents_do_not_say_is_not_answered_and_the_nearest_passages_are_offered(
    tmp_path, embedder, question
):
    with Storage(tmp_path, embedder=embedder) as storage:
        llm = ScriptedLLM(default="Bobby Fischer won it [1].")
        rag = m12.MemoryRAG(storage, llm=llm)
        m11.shelve(rag.library, m12.PARAGRAPHS)
        storage.settle(chroma=False)
        answer = rag.query(question, use_mqe=False)
        rag.close()
    assert (answer.found, answer.answer, answer.citations) == (False, NOT_FOUND, [])
    assert llm.history == []
    assert answer.nearest and all(citation.quote in dict(m12.PARAGRAPHS).values() for citation in answer.nearest)


# ---- 5 ----

OLD = "The zebrafinch weighs 12 grams, which is less than a sparrow weighs."
NEW = "The harbour committee meets on 300 days of the year."


@pytest.mark.parametrize("way", ["changed file", "removed", "purged"])
def test_05_a_document_that_is_gone_answers_nothing(tmp_path, clock, way):
    with Storage(tmp_path / "home", embedder=HashEmbedder(), now=clock) as storage:
        assistant = m13.PDFLearningAssistant(storage)
        assistant.load_text(f"# Weights\n\n{OLD}", "weights")
        assistant.settle()
        assert assistant.ask("What does the zebrafinch weigh?").found
        assert assistant.quiz(count=1).cards[0].quote == OLD
        if way == "changed file":
            assistant.load_text(f"# Weights\n\n{NEW}", "weights")
        else:
            assistant.remove_document("weights", purge=way == "purged")
        assistant.settle()
        assert not assistant.ask("What weighs 12 grams, less than a sparrow?").found
        assert not any("weights p. 1" in item.content for item in assistant._rag.episodic.list(status=None))
        assert storage.verify().problems == []
        rows = storage.database.rows("SELECT content FROM texts UNION ALL SELECT clean FROM pages")
        assert not any("zebrafinch" in row["content"] for row in rows)
        left = {"changed file": [True], "removed": [True], "purged": []}[way]  # a card is the learner's own
        assert [card.quote == OLD for card in assistant.tutor.cards.list()] == left
        assistant.close()
    assert (b"zebrafinch weighs 12" in bytes_of(tmp_path / "home")) == (way != "purged")


# ---- 6 ----

FILLER = "The committee met again and talked about the budget of the coming year, as committees do. "
ANSWER = "Only the password quagga opens the vault."


def test_06_what_stands_in_the_last_third_of_a_long_paragraph_is_found_and_no_vector_is_of_a_cut_text(tmp_path, clock):
    embedder = HashEmbedder(anchors=None)
    with Storage(tmp_path, embedder=embedder, now=clock) as storage:
        assistant = m13.PDFLearningAssistant(storage)
        assistant.load_text(FILLER * 60 + ANSWER + " " + FILLER * 20, "minutes")
        storage.settle(chroma=False)
        assert max(map(embedder.token_count, embedder.history)) <= embedder.max_tokens
        assert any(ANSWER in text for text in embedder.history)
        answer = assistant.ask("What opens the vault?")
        assistant.close()
    assert (answer.found, answer.citations[0].quote) == (True, ANSWER)


# ---- 7 ----


@pytest.mark.parametrize("question", ["那这个怎么优化？", "刚才说的指标怎么取舍？", "How do I improve it?"])
def test_07_a_question_that_leans_gets_the_topic_of_the_last_turn(rag, question):
    rag.query(QUESTION)
    answer = rag.query(question)
    assert answer.enriched_query.startswith(question)
    assert QUESTION in answer.enriched_query
    assert answer.to_json()["enriched_query"] == answer.enriched_query
    assert QUESTION in shown(views.answer(answer), width=200)


def test_07_the_second_one_is_the_second_thing_of_the_last_answer(rag):
    rag.use_model(ScriptedLLM("1. 检索看 Recall [1]。\n2. 生成看 Faithfulness [1]。", default="看 Faithfulness [1]。"))
    rag.query(QUESTION, use_mqe=False)
    assert rag.query("the second one?", use_mqe=False).enriched_query.count("生成看 Faithfulness") == 1


@pytest.mark.parametrize(
    "question", ["Memory RAG 写回什么？", "What does Memory RAG write back?", "什么是 Faithfulness？"]
)
def test_07_a_question_that_stands_alone_stays_as_it_is(rag, question):
    rag.query(QUESTION)
    assert rag.query(question).enriched_query == question


# ---- 8 ----


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("那这个怎么优化？", "食堂的菜单这个月优化过，番茄炒蛋先炒鸡蛋"),
        ("那这个怎么优化？", "番茄炒蛋怎么做：鸡蛋先炒好盛出"),
        ("How can I improve it?", "The canteen improved its menu: eggs first, then tomatoes"),
    ],
)
def test_08_an_unrelated_memory_touches_neither_the_query_nor_the_answer(storage, question, memory):
    rag = m12.MemoryRAG(storage)
    recipe = ("菜谱", "番茄炒蛋：鸡蛋先炒好盛出，再炒番茄。The canteen has a menu with eggs and tomatoes.")
    m11.shelve(rag.library, [*m12.PARAGRAPHS, recipe, ("优化", "优化 RAG 系统要从失败样本入手，按环节分类。")])
    rag.semantic.add(memory, 1.0, source="user")
    rag.query(QUESTION)
    answer = rag.query(question)
    assert (answer.trace["enriched_by"], answer.trace["background"]) == ([], [QUESTION])
    assert "菜谱" not in [citation.heading_path for citation in answer.citations]
    assert memory not in answer.answer
    rag.close()


def test_08_a_memory_above_the_threshold_is_traced_and_the_question_itself_is_searched_first(rag):
    memory_id = rag.semantic.add("我这个实验先看延迟指标", source="user")
    rag.query(QUESTION)
    answer = rag.query("那我这个实验应该先看哪个指标？")
    assert answer.trace["enriched_by"] == [memory_id]
    assert "延迟" in answer.enriched_query
    first = answer.trace["variants"][0]
    assert (first["kind"], first["text"]) == ("question", "那我这个实验应该先看哪个指标？")
    assert answer.citations[0].heading_path == "指标"


# ---- 9 ----

SAID = "provider-says-zq42"
FAILURES = {
    "no answer": (Reply(SAID, wait=20), "within 0.5 seconds", 1),
    "401": (Reply.failure(401, SAID), "check LLM_API_KEY", 1),
    "402": (Reply.failure(402, SAID), "no credit left", 1),
    "no balance as 400": (Reply.failure(400, f"Insufficient Balance {SAID}"), "no credit left", 1),
    "unknown 400": (Reply.failure(400, f"strange {SAID}"), "check LLM_MODEL and LLM_API_BASE", 1),
    "429": (Reply.failure(429, SAID), "too many requests", 2),
    "500": (Reply.failure(500, SAID), "server of openai/test-model failed", 2),
    "empty": (Reply(""), "empty answer", 2),
    "refusal": (Reply(None, refusal=SAID), "declined to answer", 2),
    "cut off": (Reply(f"{SAID} and so on and so forth", cut=True), "broke off", 1),
}


@contextmanager
def model_behind(*replies, name="openai/test-model", timeout=5.0, **options):
    with OpenAIServer(**options) as server:
        server.then(*replies)
        yield LiteLLM(name, api_key="sk-key-7", api_base=server.url, timeout=timeout, retry_wait=0.01), server


@pytest.fixture(scope="module")
def litellm_is_warm():
    """Its first import and first request take seconds, which a time limit must not pay for."""
    with model_behind() as (llm, _):
        llm.complete("hello")


@pytest.mark.usefixtures("litellm_is_warm")
@pytest.mark.parametrize("name", FAILURES)
def test_09_when_the_model_fails_the_answer_is_quoted_with_one_sentence_why_and_nothing_is_kept(
    rag, storage, name, tmp_path
):
    reply, sentence, requests = FAILURES[name]
    with model_behind(default=reply, timeout=0.5 if name == "no answer" else 5) as (llm, server):
        rag.use_model(llm)
        answer = rag.query(QUESTION, use_mqe=False)
        assert len(server.requests) == requests
    assert (answer.mode, answer.found) == ("extractive", True)
    assert "检索看 Recall 和 Precision" in answer.answer
    assert sentence in answer.note and "\n" not in answer.note and answer.note.count(". ") == 0
    rag.close()
    storage.close()
    assert SAID.encode() not in bytes_of(tmp_path / "home")


@pytest.mark.usefixtures("litellm_is_warm")
def test_09_a_wrong_key_is_tried_once_however_many_things_the_model_would_be_asked(rag):
    with model_behind(default=Reply.failure(401)) as (llm, server):
        rag.use_model(llm)
        rag.query(QUESTION, use_mqe=True, use_hyde=True)
        assert len(server.requests) == 1


# ---- 10 ----


@pytest.mark.usefixtures("litellm_is_warm")
def test_10_the_answer_of_a_model_without_a_price_is_shown_and_its_cost_is_unknown(rag):
    with model_behind(default="评估看 Recall 和 Precision [1]。") as (llm, _):
        rag.use_model(llm)
        answer = rag.query(QUESTION, use_mqe=False)
    assert (answer.mode, answer.answer) == ("llm", "评估看 Recall 和 Precision [1]。")
    assert (llm.usage.cost, llm.usage.prompt_tokens) == (None, 7)


# ---- 11 ----

WRITTEN = """Sure, here are some variants:
1. 一天后记忆衰减多少？
2) 24 小时后衰减
- "How much decays in 24 hours?"
• how much DECAYS in 24 hours
Question 5: 记忆的半衰期是多久？
记忆多久衰减一半？
变体 7：衰减有多快？"""


def test_11_variants_of_a_model_are_cleaned_deduplicated_and_no_more_than_asked_for(storage):
    retriever = m11.UnifiedRetriever(storage, llm=ScriptedLLM(WRITTEN, WRITTEN))
    m11.shelve(retriever.library, [("衰减", "记忆多久衰减一半：24 小时。")])
    cleaned = [
        "一天后记忆衰减多少？",
        "24 小时后衰减",
        "How much decays in 24 hours?",
        "记忆的半衰期是多久？",
        "衰减有多快？",
    ]
    for n in (2, 7):
        retriever.search("记忆多久衰减一半？", mqe_count=n, use_hyde=False)
        question, *variants = [variant.text for variant in retriever.last_variants]
        assert (question, variants) == ("记忆多久衰减一半？", cleaned[:n])


# ---- 12 ----


@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "words and vectors"])
def test_12_a_made_up_answer_cannot_push_the_questions_own_hit_from_its_place(tmp_path, embedder):
    wrong = dict(m11.PARAGRAPHS)["Fusion"]
    with Storage(tmp_path, embedder=embedder) as storage:
        retriever = m11.UnifiedRetriever(storage, llm=ScriptedLLM(wrong))
        m11.shelve(retriever.library, m11.PARAGRAPHS)
        storage.settle(chroma=False)
        results = retriever.search("What does BM25 rank by?", use_mqe=False, use_hyde=True)
    place = {result.passage.heading_path: result for result in results}
    assert results[0] is place["BM25"]
    assert place["Fusion"].found_by["hyde"] == 1 > place["BM25"].found_by.get("hyde", 0.0)
    assert place["Fusion"].score < place["BM25"].score <= 1


# ---- 13 ----


def test_13_a_source_that_does_not_exist_is_taken_out_and_an_unsupported_sentence_is_marked(rag):
    rag.use_model(ScriptedLLM("评估看 Recall 和 Precision [1]。月球引起潮汐变化 [1]。还有别的 [7]。"))
    answer = rag.query(QUESTION, use_mqe=False)
    assert answer.answer == "评估看 Recall 和 Precision [1]。月球引起潮汐变化 [1]。还有别的。"
    assert [citation.n for citation in answer.citations] == [1]
    assert answer.to_json()["unsupported"] == ["月球引起潮汐变化 [1]。"]
    screen = shown(views.answer(answer), width=200)
    assert "No such source, taken out: [7]" in screen
    assert "Not borne out by its source: “月球引起潮汐变化 [1]。”" in screen


# ---- 14 ----

NASTY = "Recall counts [/b] the [red]evidence[/red] that [link=http://a]was[/link] found :smile:"


@pytest.mark.parametrize("llm", [None, ScriptedLLM(f"\x1b[31m{NASTY}\x1b]0;title\x07 [1].")], ids=["page", "model"])
def test_14_marks_and_escapes_in_a_page_or_an_answer_are_only_letters(assistant, llm):
    assistant.load_text(f"{NASTY}\x1b[2J.", "n\x1b[1mame")
    assistant.use_model(llm)
    answer = assistant.ask("What does recall count?", use_mqe=False)
    assert answer.found
    for part in (views.answer(answer), views.documents(assistant.documents())):
        screen = shown(part, width=200)
        assert "\x1b" not in screen and "\x07" not in screen
    assert NASTY in shown(views.answer(answer), width=200)


# ---- 15 ----


@pytest.fixture
def called(monkeypatch, tmp_path):
    """Addresses that were called; none of them can be reached. The hub's cache is empty."""
    addresses = []

    def refuse(self, address):
        addresses.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    return addresses


@pytest.mark.usefixtures("litellm_is_warm")
def test_15_a_missing_key_is_one_sentence_with_the_variable_and_no_other_line(rag, called, capfd):
    rag.use_model(LiteLLM("deepseek/deepseek-chat"))
    answer = rag.query(QUESTION)
    assert answer.note == "deepseek/deepseek-chat needs a key; set LLM_API_KEY (DEEPSEEK_API_KEY)."
    assert called == []
    assert tuple(capfd.readouterr()) == ("", "")


# ---- 16 ----


def test_16_a_model_that_is_not_here_asks_no_hub_and_costs_one_line(storage, called):
    settings = Settings.load({"home": storage.home, "embedder": "someone/model", "hf_endpoint": "http://127.0.0.1:9"})
    storage.use_embedder(m11.EmbeddingWithFallback(m11.rungs_for("someone/model", settings, alone=True)))
    rag = m12.MemoryRAG(storage)
    m11.shelve(rag.library, m12.PARAGRAPHS)
    assert rag.query(QUESTION).found and rag.query("做实验时先看什么？").found
    rag.close()
    (said,) = [notice for notice in storage.notices if "someone/model" in notice]
    assert "HF_ENDPOINT" in said and "\n" not in said
    assert called == []


def test_16_only_the_mirror_that_was_named_is_asked_and_given_up_soon(called):
    began = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match="HF_ENDPOINT"):
        SentenceTransformerEmbedder("someone/model", download=True, endpoint="http://127.0.0.1:9")
    assert set(called) == {("127.0.0.1", 9)}
    assert time.monotonic() - began < 10


def test_16_a_cached_model_is_found_without_a_call(called, tmp_path):
    snapshot = tmp_path / "cache" / "models--someone--model" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for file in ("config.json", "model.safetensors"):
        (snapshot / file).touch()
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("abc", encoding="utf-8")
    assert cached_model("someone/model") == snapshot
    assert called == []


# ---- 17 ----


@pytest.mark.parametrize(
    "told",
    ["我的邮箱是 li.lei@example.com。", "My email is li.lei@example.com.", "记住：我的邮箱是 li.lei@example.com。"],
)
def test_17_an_address_told_beside_a_question_is_no_knowledge_and_the_question_is_answered(rag, told):
    answer = rag.query(f"{told} {QUESTION}")
    assert answer.found and answer.citations[0].heading_path == "评估"
    kept = [*rag.semantic.list(status=None), *rag.episodic.list(status=None)]
    assert not any("example.com" in f"{item.content} {item.metadata}" for item in kept)


@pytest.mark.parametrize("secret", ["sk-abcdefghijklmnop1234", "hunter22X"])
def test_17_a_key_or_password_is_in_no_file(rag, storage, tmp_path, secret):
    for text in (
        "我的密码是 {}",
        "Remember that my api key is {}",
        "My password is {}. How is RAG evaluated?",
        "不对，应该是密码: {}",
    ):
        rag.query(text.format(secret))
    rag.close()
    storage.close()
    assert secret.encode() not in bytes_of(tmp_path / "home")


# ---- 18 ----


def test_18_what_was_corrected_does_not_come_back_in_the_next_answers(rag):
    rag.query("记住：我的考试在 6 月 3 日")
    assert "6 月 3 日" in rag.query("我的考试在哪天？").answer
    corrected = rag.query("不对，应该是 6 月 5 日")
    assert [receipt.action for receipt in corrected.receipts] == ["superseded"]
    llm = ScriptedLLM(default="考试在 6 月 5 日 [M1]。")
    for question in ("我的考试在哪天？", "那它在哪天？", "What day is my exam 考试?"):
        answer = rag.query(question)
        assert "6 月 3 日" not in f"{answer.answer} {answer.enriched_query} {answer.memories}"
    rag.use_model(llm)
    rag.query(f"我的考试在哪天？{QUESTION}", use_mqe=False)
    assert "6 月 5 日" in llm.history[-1].prompt and "6 月 3 日" not in llm.history[-1].prompt
    assert [item.content for item in rag.semantic.list(status="superseded")] == ["我的考试在 6 月 3 日"]


def test_18_a_wrong_answer_from_a_document_is_corrected_beside_it(rag):
    rag.query("Faithfulness 与 Recall 冲突时怎么办？")
    rag.query("不对，应该是看任务")
    rag.query("不对，应该是看风险")
    again = rag.query("Faithfulness 与 Recall 冲突时怎么办？")
    assert "看风险" in again.answer and "看任务" not in f"{again.answer} {again.memories}"
