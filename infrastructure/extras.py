"""What the program can do only when a further package is installed: names → module, pip requirements, what for.

requirements-extras.txt lists the same packages; a test keeps the two in step.
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from infrastructure.errors import StudyError
from infrastructure.language import tr


@dataclass(frozen=True)
class Extra:
    """`purpose` begins a sentence, in English and Chinese: "Reading scanned pages"."""

    module: str
    requirements: tuple[str, ...]
    purpose: tuple[str, str]


EXTRAS = {
    "ocr": Extra("rapidocr", ("rapidocr>=3.10,<4", "onnxruntime>=1.32,<2"), ("Reading scanned pages", "识别扫描页")),
    "documents": Extra(
        "markitdown",
        ("markitdown[docx,pptx]>=0.1.9,<0.2",),
        ("Reading Word, PowerPoint, EPUB and HTML files", "读取 Word、PowerPoint、EPUB 和 HTML 文件"),
    ),
    "charts": Extra("matplotlib", ("matplotlib>=3.11,<4",), ("Drawing charts", "绘制图表")),
    "rankings": Extra(
        "ir_measures",
        ("ir_measures>=0.4.3,<0.5", "bm25s>=0.3.16,<0.4"),
        ("Comparing rankings in script 14", "脚本 14 比较排序"),
    ),
}


def has(name: str) -> bool:
    """Is it installed? Looks without importing; a KeyError for a name that is no extra."""
    return find_spec(EXTRAS[name].module) is not None


def need(name: str) -> ModuleType:
    """The extra's module, imported; a StudyError that ends with the pip command when it is absent."""
    try:
        return import_module(EXTRAS[name].module)
    except ImportError as error:
        raise StudyError(missing(name)) from error


def missing(name: str) -> str:
    """The sentence for an absent extra."""
    extra = EXTRAS[name]
    what = tr(*extra.purpose)
    return tr(
        f"{what} needs a package that is not installed: {command(name)}",
        f"{what}需要安装额外的包：{command(name)}",
    )


def command(name: str) -> str:
    """What to type to install an extra."""
    return pip_command(*EXTRAS[name].requirements)


def pip_command(*requirements: str) -> str:
    """What installs them into the Python that runs this, from the folder the learner is in, in any shell."""
    python = Path(sys.executable)
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    program = f'"{python}"' if " " in str(python) else str(python)
    return " ".join([program, "-m pip install", *(f'"{requirement}"' for requirement in requirements)])
