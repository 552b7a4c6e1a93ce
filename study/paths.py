"""What was typed, as words and as files: quotes, dragged paths, folders and globs.

A terminal types a dropped file in its own way: 'in quotes', with\\ backslashes, as file:///an%20address, or bare with spaces.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from itertools import pairwise
from pathlib import Path

from infrastructure.errors import DocumentError
from infrastructure.language import tr
from infrastructure.text import fold

# ---- Words ----


class Word(str):
    """A word without its quotes and escapes. `raw`: what stood there, with the white space after it."""

    raw: str

    def __new__(cls, text: str, raw: str) -> "Word":
        word = super().__new__(cls, text)
        word.raw = raw
        return word


_WORD = re.compile(
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|“(?P<curly>[^”]*)”)(?=\s|$)|(?P<bare>(?:\\[^\w]|\S)+)"""
)
_ESCAPED = re.compile(r"\\([^\w])")  # C:\Users\notes.pdf keeps its backslashes, my\ notes.pdf loses it
_FULL_WIDTH_OPTION = re.compile(r"[－-]{2}[\w－-]+")


def split_words(text: str) -> list[Word]:
    r"""The words of a command. Quotes group where they open and close a word: an apostrophe is only that.

    >>> split_words(r'''my\ notes.pdf "a b" what's －－ｔｏｐ-k''')
    ['my notes.pdf', 'a b', "what's", '--top-k']
    """
    matches = list(_WORD.finditer(text))
    starts = [*(match.start() for match in matches), len(text)]
    return [Word(_unquoted(match), text[a:b]) for match, (a, b) in zip(matches, pairwise(starts), strict=True)]


def _unquoted(match: re.Match[str]) -> str:
    if match["bare"] is None:
        return match[match.lastgroup]
    if _FULL_WIDTH_OPTION.fullmatch(match["bare"]):
        return fold(match["bare"])
    return match["bare"] if os.name == "nt" else _ESCAPED.sub(r"\1", match["bare"])


def text_of(words: Sequence[str]) -> str:
    """Free text given as words: as it was typed. A text that is quoted as a whole loses its quotes.

    >>> text_of(split_words('say "yes"  twice')), text_of(split_words('"a note"'))
    ('say "yes"  twice', 'a note')
    """
    return as_utf8(words[0] if len(words) == 1 else _as_typed(words))


def _as_typed(words: Sequence[str]) -> str:
    return "".join(getattr(word, "raw", f"{word} ") for word in words).strip()


def as_utf8(text: str) -> str:
    """What a C locale could not read comes as lone surrogates; its bytes are UTF-8 all the same."""
    try:
        return str(text) if text.isascii() else os.fsencode(text).decode("utf-8")
    except UnicodeError:
        return str(text)


# ---- Files ----

_GLOB = re.compile(r"[*?\[]")


def expand(words: Sequence[str]) -> list[Path | DocumentError]:
    """The files meant, each once, in order. A folder gives the readable files in it, at any depth, in natural order.

    Where a folder is locked or holds nothing to read, or nothing matches a pattern, the sentence about it stands in place of
    the files. A name that does not exist is passed on as it is: whoever opens it says so.
    """
    found: dict[Path | DocumentError, None] = {}
    for word in _as_paths(words):
        try:
            if not word.strip():  # as in load "$FILE"; the path "" would be the whole folder one is in
                raise DocumentError(
                    tr("The name of the file is empty; write load FILE.", "文件名是空的；请写 load 文件名。")
                )
            found |= dict.fromkeys(_files(local_path(word)))
        except DocumentError as error:
            found[error] = None
    return list(found)


def _as_paths(words: Sequence[str]) -> Sequence[str]:
    """The words, or the one path with spaces that they are together, or what a shell would have made of them."""
    if all(_GLOB.search(word) or exists(word) for word in words):
        return words
    whole = text_of(words)
    if exists(whole):
        return [whole]
    for split in (_shell_words, _comma_words):
        parts = split(_as_typed(words))
        if parts and all(map(exists, parts)):
            return parts
    return words


def dropped(text: str) -> list[str]:
    """The files that a line names, when it does nothing else: what a terminal types for a file dropped into it."""
    if not re.search(r"[./\\]", text):
        return []
    paths = _as_paths(split_words(text))
    return list(paths) if paths and all(exists(path) and local_path(path).is_file() for path in paths) else []


def exists(text: str) -> bool:
    """Is there such a file or folder? A text that cannot be a name is none."""
    try:
        return local_path(text).exists()
    except (OSError, ValueError):
        return False


def _shell_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an apostrophe
        return []


def _comma_words(text: str) -> list[str]:
    return [part.strip() for part in re.split("[，、]", text) if part.strip()]


def local_path(text: str) -> Path:
    """A path as typed, dragged, or given as file:// address; ~ is the learner's own folder. Need not exist."""
    if text.startswith("file:"):
        from urllib.parse import urlsplit
        from urllib.request import url2pathname  # brings a whole HTTP client

        text = url2pathname(urlsplit(text).path)
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~nobody
        return Path(text)


def is_folder(path: Path) -> bool:
    """What may not be looked at is none: whoever opens it says why."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _files(path: Path) -> Iterable[Path | DocumentError]:
    if is_folder(path):
        return _in_folder(path)
    if _GLOB.search(str(path)) and not exists(str(path)):
        return _matching(path)
    return [path]


def _in_folder(folder: Path) -> list[Path | DocumentError]:
    from study.reading import MARKDOWN_SUFFIXES, OFFICE_SUFFIXES, TEXT_SUFFIXES

    readable = (".pdf", *MARKDOWN_SUFFIXES, *TEXT_SUFFIXES, *OFFICE_SUFFIXES)
    inside = [folder, *folder.rglob("*")]
    inside = [path for path in inside if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    locked = [path for path in inside if is_folder(path) and not os.access(path, os.R_OK | os.X_OK)]
    inside = [path for path in inside if path.suffix.lower() in readable and path.parent not in locked]
    files = sorted(filter(Path.is_file, inside), key=natural_order)
    if not files and not locked:
        raise DocumentError(
            tr(
                f"There is no file in {folder} that can be read; name another folder.",
                f"{folder} 里没有可以读取的文件，请换一个文件夹。",
            )
        )
    return [*files, *map(_locked, locked)]


def _locked(folder: Path) -> DocumentError:
    return DocumentError(
        tr(
            f"The folder {folder} cannot be opened: check that you may read it.",
            f"无法打开文件夹 {folder}：请检查读取权限。",
        )
    )


def _matching(pattern: Path) -> list[Path]:
    files = [Path(name) for name in glob(str(pattern), recursive=True)]  # noqa: PTH207  pathlib knows no absolute patterns
    if not any(path.is_file() for path in files):
        raise DocumentError(
            tr(f"No file matches {pattern}; check the pattern.", f"没有文件匹配 {pattern}，请检查通配符。")
        )
    return sorted(filter(Path.is_file, files), key=natural_order)


def natural_order(path: Path) -> list[tuple[int, str]]:
    """A sort key that puts ch2 before ch10.

    >>> sorted(map(Path, ["ch10.pdf", "ch2.pdf"]), key=natural_order)[0].name
    'ch2.pdf'
    """
    pieces = re.findall(r"\d+|\D+", fold(str(path)))
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces]


# ---- Completing a path ----

_LAST_WORD = re.compile(r"""(?:"(?P<double>[^"]*)|'(?P<single>[^']*)|(?P<bare>(?:\\.|[^\s\\])*))\Z""")


def complete_path(text: str) -> Iterator[tuple[str, int, str]]:
    """(completed word, its start counted back from the end, what it is called) for the path at the end of a text."""
    match = _LAST_WORD.search(text)
    typed = match[match.lastgroup]
    if match.lastgroup == "bare" and os.name != "nt":
        typed = _ESCAPED.sub(r"\1", typed)
    folder, stem = os.path.split(typed)
    for entry in _entries(Path(folder).expanduser() if folder else Path()):
        if fold(entry.name).startswith(fold(stem)) and not (entry.name.startswith(".") and not stem):
            path = os.path.join(folder, entry.name) + (os.sep if entry.is_dir() else "")  # noqa: PTH118  keeps ~/ and ./
            yield _typed(path, match), -len(match[0]), entry.name + ("/" if entry.is_dir() else "")


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir(), key=natural_order)
    except OSError:
        return []


def _typed(path: str, match: re.Match[str]) -> str:
    """The path as this word would go on: within its quote, else escaped for the next reader of it."""
    if match.lastgroup != "bare":
        quote = match[0][0]
        return quote + path + ("" if path.endswith(os.sep) else quote)
    if os.name == "nt":
        return f'"{path}"' if " " in path else path
    return re.sub(r"""([\s\\'"])""", r"\\\1", path)
