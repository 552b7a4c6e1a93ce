"""What the learner is told when a document, or a part of it, cannot be read: one sentence, and what to do next.

Functions ending in an error return it, so that the place that raises is the place where it went wrong.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from infrastructure.errors import DocumentError
from infrastructure.extras import command, has
from infrastructure.language import language, tr
from study.paths import is_folder
from study.plaintext import decode


def page_ranges(numbers: Iterable[int]) -> str:
    """
    >>> page_ranges([1, 3, 12, 13, 14])
    '1, 3, 12–14'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


# ---- The file ----


def cannot_open(path: Path, error: OSError) -> DocumentError:
    if is_folder(path):
        message = tr(
            "{name} is a folder: name the files in it, for example {name}/*.pdf.",
            "{name} 是文件夹：请指定其中的文件，例如 {name}/*.pdf。",
        )
    elif isinstance(error, FileNotFoundError | NotADirectoryError):
        message = tr(
            "There is no file {path}: check the spelling, or drag the file into the terminal.",
            "找不到文件 {path}：请检查路径，或把文件拖进终端。",
        )
    else:
        message = tr(
            "{name} cannot be opened ({reason}): check that you may read it.",
            "无法打开 {name}（{reason}）：请检查读取权限。",
        )
    return DocumentError(message.format(name=path.name or path, path=path, reason=error.strerror or error))


def endless(path: Path) -> DocumentError:
    message = tr(
        "{path} is a pipe or a device, and no file: save what comes from it as a file, then load that.",
        "{path} 是管道或设备，不是文件：请先把内容存成文件，再加载。",
    )
    return DocumentError(message.format(path=path))


def web_address(address: str) -> DocumentError:
    message = tr(
        "{address} is a web address: download the file first, then load it from your disk.",
        "{address} 是网址：请先下载到本地，再加载文件。",
    )
    return DocumentError(message.format(address=address))


def empty_file(path: Path) -> DocumentError:
    message = tr(
        "{name} is empty (0 bytes): copy or download it again.", "{name} 是空文件（0 字节）：请重新复制或下载。"
    )
    return DocumentError(message.format(name=path.name))


def wrong_kind(path: Path, kind: str | None, size: int, head: bytes) -> DocumentError:
    """For a file that is neither a PDF nor readable text, or a text named .pdf. kind: see filekind.foreign_kind."""
    if kind is None and len(head) > 200:
        decoded = decode(head)
        kind = tr("plain text", "纯文本") if decoded and not decoded.damaged else None
    if kind is None:
        message = tr(
            "{name} is not a PDF ({size:,} bytes without a PDF header): download it again.",
            "{name} 不是 PDF（{size:,} 字节，没有 PDF 文件头）：请重新下载。",
        )
    elif path.suffix.lower() == ".pdf":
        message = tr(
            "{name} is not a PDF but {kind}: get the PDF itself, or save that file under its right name.",
            "{name} 不是 PDF，而是{kind}：请获取真正的 PDF，或改回正确的扩展名。",
        )
    else:
        message = tr(
            "{name} is {kind}, which cannot be read yet: save it as PDF, Markdown or text and load that.",
            "{name} 是{kind}，暂时无法读取：请另存为 PDF、Markdown 或纯文本后再加载。",
        )
    return DocumentError(message.format(name=path.name, kind=kind, size=size))


def broken_office_file(path: Path, reason: str) -> DocumentError:
    message = tr(
        "{name} cannot be converted ({reason}): open it in its program, save it again or as PDF, and load that.",
        "{name} 无法转换（{reason}）：请用原程序打开后重新保存或另存为 PDF，再加载。",
    )
    return DocumentError(message.format(name=path.name, reason=reason))


# ---- Text files ----


def too_large(path: Path, size: int) -> DocumentError:
    message = tr(
        "{name} is too large for a text file ({size:,} bytes): split it and load the parts.",
        "{name} 作为文本文件过大（{size:,} 字节）：请拆分后分别加载。",
    )
    return DocumentError(message.format(name=path.name, size=size))


def not_text(name: str) -> DocumentError:
    message = tr(
        "{name} is not text: load a PDF, Markdown or plain text file.",
        "{name} 不是文本：请加载 PDF、Markdown 或纯文本文件。",
    )
    return DocumentError(message.format(name=name))


def no_words(name: str) -> DocumentError:
    return DocumentError(
        tr("{name} holds no text: check the file.", "{name} 里没有文字：请检查文件。").format(name=name)
    )


def damaged_text(name: str, encoding: str) -> str:
    message = tr(
        "Some bytes of {name} are not valid {encoding} and show as �.",
        "{name} 中有些字节不是有效的 {encoding}，显示为 �。",
    )
    return message.format(name=name, encoding=encoding)


# ---- PDF ----


def broken_pdf(path: Path, reason: str, *, truncated: bool) -> DocumentError:
    """No engine could open it. reason: theirs, in a few words."""
    if truncated:
        message = tr(
            "{name} looks incomplete ({size:,} bytes, no end mark): download it again.",
            "{name} 似乎不完整（{size:,} 字节，缺少结束标记）：请重新下载。",
        )
    else:
        message = tr(
            "{name} is damaged and cannot be read ({reason}): download it again, "
            "or print it to a new PDF from a viewer that opens it.",
            "{name} 已损坏，无法读取（{reason}）：请重新下载，或用能打开它的阅读器另存为新的 PDF。",
        )
    return DocumentError(message.format(name=path.name, size=path.stat().st_size, reason=reason))


def no_pages(path: Path) -> DocumentError:
    message = tr("{name} has no pages: download or export it again.", "{name} 一页也没有：请重新下载或导出。")
    return DocumentError(message.format(name=path.name))


def nothing_to_search(
    name: str, *, empty: Sequence[int], failed: Mapping[int, str], unreadable: Sequence[int]
) -> DocumentError:
    """Every page is silent: say which, why, and what to do. failed: page number → reason."""
    ocr = ocr_found_nothing() if has("ocr") else ocr_is_missing()
    if unreadable:
        numbers = unreadable
        message = tr(
            "{name} has a text layer that nobody can read ({pages}; its fonts lack a letter table).",
            "{name} 的文字层无法辨认（{pages}；字体缺少字符对照表）。",
        )
    elif failed and not empty:
        numbers = list(failed)
        message = tr(
            "{name} opens, but none of its pages can be read ({pages}; {reason}): "
            "print it to a new PDF from a viewer and load that.",
            "{name} 能打开，但没有一页能读取（{pages}；{reason}）：请用阅读器另存为新的 PDF 再加载。",
        )
        ocr = ""
    else:
        numbers = [*empty, *failed]
        message = tr("{name} has no text layer ({pages}).", "{name} 没有文字层（{pages}）。")
    unit = "page" if len(numbers) == 1 else "pages"
    pages = tr(f"{unit} {page_ranges(numbers)}", f"第 {page_ranges(numbers)} 页")
    told = message.format(name=name, pages=pages, reason="; ".join(dict.fromkeys(failed.values())))
    return DocumentError(f"{told} {ocr}" if ocr and language() == "en" else told + ocr)


# (English, Chinese): one sentence for each kind of page that is missing from search or may be wrong in it.
WITHOUT_TEXT = (
    "{count} of {total} pages have no text: {pages} (pictures or blank; only the rest can be searched).",
    "共 {total} 页，其中 {count} 页没有文字：{pages}（图片或空白；只能检索其余页）。",
)
NOT_READ = (
    "Could not read {count} of {total} pages: {pages} ({reason}).",
    "共 {total} 页，其中 {count} 页读取失败：{pages}（{reason}）。",
)
UNREADABLE_PAGES = (
    "The text of {count} of {total} pages is unreadable and left out of search: {pages} "
    "(their fonts lack a letter table).",
    "共 {total} 页，其中 {count} 页文字无法辨认，不参与检索：{pages}（字体缺少字符对照表）。",
)
PARTLY_READABLE = (
    "The text of {count} of {total} pages is partly unreadable: {pages}.",
    "共 {total} 页，其中 {count} 页部分文字无法辨认：{pages}。",
)
READ_BY_OCR = (
    "{count} of {total} pages were read by OCR, which makes mistakes: {pages}.",
    "共 {total} 页，其中 {count} 页由 OCR 识别，可能有误：{pages}。",
)
UNSEEN_TEXT = (
    "Text that nobody sees, without ink or outside the page, was left out on {count} of {total} pages: {pages}.",
    "共 {total} 页，其中 {count} 页有看不见的文字（无墨迹或在页面之外），已略去：{pages}。",
)


def partial_warnings(
    total: int,
    *,
    empty: Sequence[int],
    failed: Mapping[int, str],
    unreadable: Sequence[int],
    doubtful: Sequence[int],
    recognised: Sequence[int],
    hidden: Sequence[int],
) -> list[str]:
    """What is missing from search or may be wrong in it: one sentence for each kind of page, with the numbers."""
    kinds = [(WITHOUT_TEXT, empty, "")]
    for reason in dict.fromkeys(failed.values()):
        kinds.append((NOT_READ, [page for page, why in failed.items() if why == reason], reason))
    kinds += [(UNREADABLE_PAGES, unreadable, ""), (PARTLY_READABLE, doubtful, "")]
    kinds += [(READ_BY_OCR, recognised, ""), (UNSEEN_TEXT, hidden, "")]
    return [
        tr(*sentence).format(count=len(numbers), total=total, pages=page_ranges(numbers), reason=reason)
        for sentence, numbers, reason in kinds
        if numbers
    ]


def end_missing() -> str:
    return tr(
        "The end of the file is missing: some pages may be lost; download it again if you can.",
        "文件缺少结尾，可能丢失部分页面；建议重新下载。",
    )


def stopped(page: int, total: int) -> str:
    return tr(
        f"Reading was stopped at page {page} of {total}; what was read can be searched. Load it again to read the rest.",
        f"读到第 {page} 页（共 {total} 页）时被停止，已读部分可以检索；再次加载即可读完其余部分。",
    )


def ocr_is_missing() -> str:
    """Ends with the command that installs it."""
    return tr(
        f"If these are scans, install OCR and load it again: {command('ocr')}",
        f"如果是扫描件，请安装 OCR 后重新加载：{command('ocr')}",
    )


def ocr_found_nothing() -> str:
    return tr(
        "OCR found no words on it either: check the file in a viewer.", "OCR 也没有识别出文字：请用阅读器检查该文件。"
    )
