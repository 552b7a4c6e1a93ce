"""What the learner has chosen, and where each choice came from: flag > environment > .env > default.

This is the only place that reads the environment. A setting nobody knows, or a value nobody can mean, is an error
with the variable's name in it: an ignored setting is worse than a refused one.
"""

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from infrastructure.errors import UsageError
from infrastructure.language import tr

PROJECT = Path(__file__).resolve().parent.parent
SOURCES = ("flag", "environment", ".env", "default")


class Setting(NamedTuple):
    """One line of /settings. Secrets are masked already; a setting without a value has ""."""

    name: str
    value: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Load it with `Settings.load`; a field's name is also the name of its flag."""

    home: Path
    language: str = "en"
    llm_model: str | None = None  # None: no language model. A key alone never switches one on
    llm_api_key: str | None = field(default=None, repr=False)
    llm_api_base: str | None = None
    llm_timeout: float = 60.0  # seconds
    embedder: str | None = None  # None: the home's own, else the best that is here; "none": words only
    embedding_api_key: str | None = field(default=None, repr=False)
    embedding_api_base: str | None = None
    hf_endpoint: str | None = None
    reranker: str | None = None  # a cross-encoder that looks again at the best passages; None: none
    retention: float = 0.9  # share of cards that should still be known when they come back
    day_start: int = 4  # hour at which the learner's day begins
    no_color: bool = False
    debug: bool = False
    download: bool = False  # may a model be fetched?
    provider_keys: Mapping[str, str] = field(default_factory=dict, repr=False)  # OPENAI_API_KEY … found in .env
    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)  # field → one of SOURCES

    @classmethod
    def load(
        cls,
        flags: Mapping[str, Any],
        *,
        environ: Mapping[str, str] | None = None,
        dotenv: Path | Mapping[str, str | None] | None = None,
    ) -> "Settings":
        """Flags that are None or False were not given. An unknown flag is a TypeError, a senseless value a UsageError.

        `dotenv` is a file or what one would contain; None means the .env beside the scripts, if there is one.
        """
        if unknown := flags.keys() - _FLAGS:
            raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
        environ = os.environ if environ is None else environ
        folder, from_file = _read_dotenv(dotenv)
        values: dict[str, Any] = {}
        sources: dict[str, str] = {}
        for name, choice in _CHOICES.items():
            value, sources[name] = _first_given(flags.get(name), choice.variable, environ, from_file)
            if value is not None:
                values[name] = value if isinstance(value, bool) else choice.parse(str(value), choice.variable or name)
        if "home" in values and sources["home"] == ".env":
            values["home"] = folder / values["home"]  # not the folder the command happens to run in
        values["home"] = values.get("home", PROJECT / "memory_db").absolute()
        values.setdefault("language", _locale_language(environ))
        values["no_color"] = values.get("no_color", False) or environ.get("TERM") == "dumb"
        keys = {name: environ.get(name) or key for name, key in from_file.items() if _is_provider_key(name)}
        return cls(**values, provider_keys=keys, sources=sources)

    def explain(self) -> list[Setting]:
        """Every setting as it is in force, with its source, fit to be shown."""
        lines = [
            Setting(choice.variable or name, _shown(getattr(self, name), choice), self.sources.get(name, "default"))
            for name, choice in _CHOICES.items()
        ]
        return lines + [Setting(name, mask(key), ".env") for name, key in self.provider_keys.items()]


def choose_language(
    flag: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    dotenv: Path | Mapping[str, str | None] | None = None,
) -> str:
    """The screen language alone, "en" or "zh": help is translated, so this comes before the command line is read."""
    environ = os.environ if environ is None else environ
    value, _ = _first_given(flag, "STUDY_LANG", environ, _read_dotenv(dotenv)[1])
    return _language(value, "STUDY_LANG") if value else _locale_language(environ)


def mask(secret: str) -> str:
    """Enough to tell two keys apart, not enough to use one.

    >>> mask("sk-0123456789abcdef"), mask("short")
    ('…cdef', '…')
    """
    return "…" + (secret[-4:] if len(secret) >= 16 else "")


# ---- Reading values ----


def _text(value: str, name: str) -> str:
    return value


def _path(value: str, name: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # ~nobody
        raise UsageError(
            tr(
                f"{name}: no such home directory in {value!r}; give a full path.",
                f"{name}：{value!r} 中的用户目录不存在，请写完整路径。",
            )
        ) from error


def _language(value: str, name: str) -> str:
    code = re.split(r"[-_.]", value.lower())[0]
    if code not in ("en", "zh"):
        raise UsageError(tr(f"{name} must be en or zh, not {value!r}.", f"{name} 只能是 en 或 zh，不能是 {value!r}。"))
    return code


def _seconds(value: str, name: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(
            tr(
                f"{name} must be a number of seconds above 0, not {value!r}; 60 is usual.",
                f"{name} 应为大于 0 的秒数，不能是 {value!r}；一般用 60。",
            )
        )
    return seconds


def _retention(value: str, name: str) -> float:
    """Below 0.7 nothing is remembered, above 0.97 nothing but reviews is done."""
    try:
        share = float(value)
    except ValueError:
        share = math.nan
    if not 0.7 <= share <= 0.97:
        raise UsageError(
            tr(
                f"{name} must be a share from 0.7 to 0.97, not {value!r}; 0.9 is usual.",
                f"{name} 应为 0.7 到 0.97 之间的比例，不能是 {value!r}；一般用 0.9。",
            )
        )
    return share


def _hour(value: str, name: str) -> int:
    if not (value.isdecimal() and int(value) <= 23):
        raise UsageError(
            tr(
                f"{name} must be an hour from 0 to 23, not {value!r}; 4 is usual.",
                f"{name} 应为 0 到 23 的整点，不能是 {value!r}；一般用 4。",
            )
        )
    return int(value)


def _address(value: str, name: str) -> str:
    if not re.match(r"https?://[^\s/]", value):
        raise UsageError(
            tr(
                f"{name} must be an address that begins with http:// or https://, not {value!r}.",
                f"{name} 应为以 http:// 或 https:// 开头的地址，不能是 {value!r}。",
            )
        )
    return value


def _present(value: str, name: str) -> bool:
    return True  # no-color.org: any value but the empty one


class _Choice(NamedTuple):
    variable: str | None  # None: a flag and nothing else
    parse: Callable[[str, str], Any] = _text
    secret: bool = False


_CHOICES = {
    "home": _Choice("MEMORY_HOME", _path),
    "language": _Choice("STUDY_LANG", _language),
    "llm_model": _Choice("LLM_MODEL"),
    "llm_api_key": _Choice("LLM_API_KEY", secret=True),
    "llm_api_base": _Choice("LLM_API_BASE", _address),
    "llm_timeout": _Choice("LLM_TIMEOUT", _seconds),
    "embedder": _Choice("EMBEDDING_MODEL"),
    "embedding_api_key": _Choice("EMBEDDING_API_KEY", secret=True),
    "embedding_api_base": _Choice("EMBEDDING_API_BASE", _address),
    "hf_endpoint": _Choice("HF_ENDPOINT", _address),
    "reranker": _Choice("RERANK_MODEL"),
    "retention": _Choice("STUDY_RETENTION", _retention),
    "day_start": _Choice("STUDY_DAY_START", _hour),
    "no_color": _Choice("NO_COLOR", _present),
    "debug": _Choice(None),
    "download": _Choice(None),
}
_FLAGS = _CHOICES.keys()


def _first_given(
    flag: Any, variable: str | None, environ: Mapping[str, str], from_file: Mapping[str, str]
) -> tuple[Any, str]:
    """(value, source). None, False and nothing but spaces were not given."""
    named = (flag, environ.get(variable or ""), from_file.get(variable or ""))
    for value, source in zip(named, SOURCES, strict=False):
        if value is not None and value is not False and str(value).strip():
            return value, source
    return None, "default"


def _read_dotenv(dotenv: Path | Mapping[str, str | None] | None) -> tuple[Path, dict[str, str]]:
    """(folder that relative paths start from, the lines that have a value). No file gives no lines."""
    if isinstance(dotenv, Mapping):
        return PROJECT, {name: value for name, value in dotenv.items() if value}
    from dotenv import dotenv_values

    path = PROJECT / ".env" if dotenv is None else dotenv
    if not path.is_file():
        return path.parent, {}
    try:  # utf-8-sig: Notepad writes a byte-order mark. No interpolation: keys may contain $
        lines = dotenv_values(path, encoding="utf-8-sig", interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            tr(f"{path} cannot be read; save it as UTF-8 text.", f"无法读取 {path}，请把它存为 UTF-8 文本。")
        ) from error
    return path.parent, {name: value for name, value in lines.items() if value}


def _locale_language(environ: Mapping[str, str]) -> str:
    locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def _is_provider_key(name: str) -> bool:
    return name.endswith("_API_KEY") and name not in ("LLM_API_KEY", "EMBEDDING_API_KEY")


def _shown(value: Any, choice: _Choice) -> str:
    if value is None:
        return ""
    return mask(value) if choice.secret else re.sub(r"(?<=//)[^/@\s]*@", "…@", str(value))  # http://user:password@host
