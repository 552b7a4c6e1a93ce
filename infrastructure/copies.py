"""What else in a home folder holds the learner's words: backups, exports, and the lines typed at the prompt.

Real deletion has to reach these, too. Files that are not ours, such as a PDF that happens to lie in the folder, stay.
"""

import gzip
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from infrastructure.errors import HomeError
from infrastructure.language import tr

BACKUPS = "backups"  # before a migration, before a restore, and where `backup` writes when no file is named
EXPORTS = "exports"  # where export writes when no file is named
CHROMA = "chroma"
PROMPT_HISTORY = "prompt_history"
FORMAT = "memory-rag-home"  # in the first line of every backup
DECK_MARK = b"memory-rag-cards"  # the comment of a deck's zip file
REPORT_MARK = "<!-- memory-rag-report -->"  # the first line of a study report
PICTURES = ".pictures"  # added to a report's name: the folder of its pictures
FIRST_LINE = 100_000  # bytes looked at
UNFINISHED = ".part"


def is_backup(path: Path) -> bool:
    """Does a file begin as our backups do, compressed or not? An unreadable one does not."""
    try:
        with open_packed(path) as file:
            header = json.loads(file.readline(FIRST_LINE))
    except (OSError, EOFError, ValueError, zlib.error):
        return False
    return isinstance(header, dict) and header.get("format") == FORMAT


def is_deck(path: Path) -> bool:
    """Is it a deck of cards that we exported? An unreadable file is none."""
    try:
        with zipfile.ZipFile(path) as package:
            return package.comment == DECK_MARK
    except (OSError, zipfile.BadZipFile):
        return False


def is_report(path: Path) -> bool:
    """Is it a study report of ours?"""
    try:
        with path.open("rb") as file:
            return file.readline(FIRST_LINE).rstrip() == REPORT_MARK.encode()
    except OSError:
        return False


def pictures_of(report: Path) -> Path:
    """The folder beside a report in which its pictures are."""
    return report.with_name(report.name + PICTURES)


OUR_FILES = {".jsonl": is_backup, ".gz": is_backup, ".apkg": is_deck, ".md": is_report}


def open_packed(path: Path):
    """A file to read bytes from, unpacked if it is packed, whatever it is called. OSError as usual."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")


def copies_in(home: Path) -> Iterator[Path]:
    """The files and folders in a home that are copies of what it holds."""
    for folder in (home / BACKUPS, home / EXPORTS):
        if folder.exists():
            yield folder
    for path in _other_files(home):
        if path.suffix == UNFINISHED or OUR_FILES.get(path.suffix, lambda path: False)(path):
            yield path
            if is_report(path) and pictures_of(path).is_dir():
                yield pictures_of(path)


def _other_files(folder: Path) -> Iterator[Path]:
    """Files in a home, also in folders the learner has made there; not those of the index, which has no text."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and path.name not in (BACKUPS, EXPORTS, CHROMA):
            yield from _other_files(path)
        elif path.is_file():
            yield path


def files_that_go(home: Path) -> tuple[list[Path], list[Path]]:
    """What `delete_copies` would delete, file by file: the backups, and all others."""
    found = [file for path in copies_in(home) for file in (path.rglob("*") if path.is_dir() else [path])]
    backups: list[Path] = []
    others: list[Path] = []
    for file in filter(Path.is_file, found):
        is_one = file.is_relative_to(home / BACKUPS) or is_backup(file)
        (backups if is_one else others).append(file)
    return backups, others


def delete_copies(home: Path) -> list[Path]:
    """Delete them all; returns what there was. HomeError names the first one that cannot be deleted."""
    found = list(copies_in(home))
    for path in found:
        try:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        except OSError as error:
            stuck = Path(error.filename or path)
            raise HomeError(
                tr(
                    f"{stuck} cannot be deleted ({error.strerror}) and still holds what was to go; delete it yourself.",
                    f"无法删除 {stuck}（{error.strerror}），其中仍有要删除的内容；请手动删除。",
                )
            ) from error
    return found


# ---- The lines typed at the prompt ----


def forget_lines(home: Path, tells: Callable[[str], bool]) -> int:
    """Take out of the prompt's history every entry of which `tells(entry)` is true; returns how many there were.

    The file is prompt_toolkit's: an entry is a comment with its time and lines that begin with "+".
    """
    path = home / PROMPT_HISTORY
    if not path.exists():
        return 0
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HomeError(cannot_write(path, error)) from error
    kept, gone = [], 0
    for block in _blocks(text):
        typed = "\n".join(line[1:] for line in block.split("\n") if line.startswith("+"))
        if typed and tells(typed):
            gone += 1
        else:
            kept.append(block)
    if gone:
        write_whole(path, "".join(kept).encode())
    return gone


def _blocks(text: str) -> Iterator[str]:
    """The entries, each with the comment before it, so that joined they are the text again."""
    block, in_entry = "", False
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        if in_entry and not line.startswith("+"):
            yield block
            block = ""
        in_entry = line.startswith("+")
        block += line
    if block:
        yield block


def write_whole(path: Path, data: bytes) -> None:
    """All of a small file, or the old one stays."""
    with taking_its_place(path) as unfinished:
        unfinished.write_bytes(data)


@contextmanager
def taking_its_place(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to, which takes its place when the block has ended well; else nothing is left of it.

    HomeError when the disk refuses.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise HomeError(cannot_write(path, error)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def cannot_write(path: Path, error: OSError) -> str:
    return tr(
        f"{path} cannot be written ({error.strerror}); free some space or choose another place.",
        f"无法写入 {path}（{error.strerror}）；请腾出空间或换一个位置。",
    )
