"""The file of a backup: JSON Lines between a header and a trailer, written whole or not at all, read to its end before it is
believed.

    {"type": "header", "format": "memory-rag-home", "version": 1, "schema": 2, "counts": {"memory": 2, …}, "written_at": "…"}
    {"type": "memory", …}                   one line a record
    {"type": "trailer", "sha256": "…"}      of every line above, the time in the header apart: equal homes give equal files
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from infrastructure.copies import BACKUPS, FORMAT, is_backup, open_packed, taking_its_place
from infrastructure.errors import DocumentError, UsageError
from infrastructure.language import tr

VERSION = 1  # of the file's shape; the tables have a version of their own, the schema
SUFFIXES = (".jsonl", ".jsonl.gz")
PACKING = 3  # gzip's level: vectors hardly get smaller at 9, and it takes three times as long
REPORT_EVERY = 1_000  # records

Progress = Callable[[int, int], None]
Record = dict[str, Any]


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# ---- Writing ----


def write_backup(
    path: Path,
    records: Iterable[Record],
    counts: Mapping[str, int],
    *,
    schema: int,
    written_at: str,
    progress: Progress | None = None,
) -> None:
    """Write the records into a file, packed when its name ends in .gz. `counts`: how many there are of each type.

    HomeError when the file cannot be written: then there is none, and an older one of that name is as it was.
    """
    header = {"type": "header", "format": FORMAT, "version": VERSION, "schema": schema, "counts": dict(counts)}
    digest, total = hashlib.sha256(_line(header)), sum(counts.values())
    with _written_whole(path) as write:
        write(_line({**header, "written_at": written_at}))
        for done, record in enumerate(records, start=1):
            line = _line(record)
            digest.update(line)
            write(line)
            if progress and (done % REPORT_EVERY == 0 or done == total):
                progress(done, total)
        write(_line({"type": "trailer", "sha256": digest.hexdigest()}))


def _line(record: Record) -> bytes:
    return f"{as_json(record)}\n".encode()


@contextmanager
def _written_whole(path: Path) -> Iterator[Callable[[bytes], object]]:
    """Write to a file beside it, which takes its place when all is on the disk."""
    with taking_its_place(path) as unfinished:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            with _packed(file) if path.suffix == ".gz" else _as_it_is(file) as target:
                yield target.write
            file.flush()
            os.fsync(file.fileno())


def _packed(file: BinaryIO) -> gzip.GzipFile:
    """Without the name and time that gzip would put in: equal homes give equal files."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=PACKING, fileobj=file, mtime=0)


@contextmanager
def _as_it_is(file: BinaryIO) -> Iterator[BinaryIO]:
    yield file


def backup_path(home: Path, now: datetime, wanted: Path | None = None) -> Path:
    """Where a backup goes: the named file, or a new one in the named folder, or in the home's own. UsageError for a name that
    is no backup's, and for a file that is none: a slip of the finger must not cost a learner their notes."""
    if wanted is None or wanted.is_dir():
        return new_name(wanted or home / BACKUPS, "home", now)
    if not wanted.name.endswith(SUFFIXES):
        stem = str(wanted).removesuffix(".gz")
        raise UsageError(
            tr(
                f"A backup's name ends in .jsonl or .jsonl.gz: {stem}.jsonl.gz would do.",
                f"备份文件名要以 .jsonl 或 .jsonl.gz 结尾，例如 {stem}.jsonl.gz。",
            )
        )
    if wanted.exists() and not is_backup(wanted):
        raise UsageError(
            tr(
                f"{wanted} is there and is no backup; give another name, or delete it first.",
                f"{wanted} 已存在且不是备份文件；请换个名字，或先删除它。",
            )
        )
    return wanted


def new_name(folder: Path, stem: str, now: datetime) -> Path:
    """A name that is free, with the learner's own date and time in it."""
    stem = f"{stem}-{now.astimezone():%Y-%m-%d-%H%M}"
    path, number = folder / f"{stem}.jsonl.gz", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.jsonl.gz"
    return path


# ---- Reading ----


def read_backup(path: Path, *, kinds: Collection[str], newest_schema: int) -> Iterator[Record]:
    """The header, then every record. What is wrong with the file is a DocumentError, at the latest where it should end; a type
    of record that is not among `kinds`, and a schema that is newer than ours, at once.

    Whether a record has the right fields is not looked at here: that depends on the database it goes into.
    """
    try:
        with open_packed(path) as file:
            yield from _checked(path, file, kinds, newest_schema)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise DocumentError(_unreadable(path, error)) from error
        raise DocumentError(damaged(path, str(error))) from error


def _checked(path: Path, file: BinaryIO, kinds: Collection[str], newest_schema: int) -> Iterator[Record]:
    header = _header(path, file)
    if header.get("version") != VERSION or header.get("schema") not in range(1, newest_schema + 1):
        raise DocumentError(_too_new(path))
    for name in header["counts"].keys() - kinds:
        raise DocumentError(_unknown(path, 1, name))
    digest = hashlib.sha256(_line({name: value for name, value in header.items() if name != "written_at"}))
    counts = dict.fromkeys(header["counts"], 0)
    yield header
    for number, line in enumerate(file, start=2):
        record = _parsed(path, number, line)
        if record["type"] == "trailer":
            if record.get("sha256") != digest.hexdigest() or counts != header["counts"]:
                raise DocumentError(damaged(path, tr("its checksum is wrong", "校验和不符")))
            if file.readline():
                raise DocumentError(damaged(path, tr("it goes on after its end", "结尾之后还有内容")))
            return
        if record["type"] not in counts:
            raise DocumentError(_unknown(path, number, record["type"]))
        digest.update(line)
        counts[record["type"]] += 1
        yield record
    raise DocumentError(damaged(path, tr("its end is missing", "缺少结尾")))


def _header(path: Path, file: BinaryIO) -> Record:
    try:
        header = json.loads(file.readline())
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT or not isinstance(header.get("counts"), dict):
        raise DocumentError(
            tr(
                f"{path} is no backup of this program; name a file that 'backup' has made.",
                f"{path} 不是本程序的备份；请给出 backup 命令生成的文件。",
            )
        )
    return header


def _parsed(path: Path, number: int, line: bytes) -> Record:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not line.endswith(b"\n") or not isinstance(record, dict) or not isinstance(record.get("type"), str):
        raise DocumentError(damaged(path, tr(f"line {number} is no record", f"第 {number} 行不是记录")))
    return record


def _too_new(path: Path) -> str:
    return tr(
        f"{path} was written by a newer version of this program; update the program to restore it.",
        f"{path} 由更新版本的程序写入；请先升级本程序再恢复。",
    )


def _unreadable(path: Path, error: OSError) -> str:
    return tr(
        f"{path} cannot be read ({error.strerror}); check the name.",
        f"无法读取 {path}（{error.strerror}）；请检查文件名。",
    )


def damaged(path: Path, what: str) -> str:
    return tr(
        f"{path} is damaged or incomplete ({what}); use another backup. Nothing was changed.",
        f"{path} 已损坏或不完整（{what}）；请换一个备份。没有做任何改动。",
    )


def _unknown(path: Path, number: int, what: str) -> str:
    return tr(
        f"{path}, line {number}: {what!r} is nothing this program knows; update the program. Nothing was changed.",
        f"{path} 第 {number} 行：本程序不认识 {what!r}；请升级程序。没有做任何改动。",
    )
