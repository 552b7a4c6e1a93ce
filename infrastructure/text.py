"""Text as search sees it: repaired, folded, cut into tokens and sentences.

    repair          what may enter the store: no NULs, lone surrogates or control codes
    fold            spellings that mean the same become the same: ＲＡＧ, rag, RAG; ⽤⼾ and 用户; naïve and naive
    tokens          the words of the index, each of which SQLite's FTS5 keeps whole
    content_tokens  the same without function words: what coverage and equality are measured on

A text that people read is only repaired and freed of radicals; folding is for comparing. Nothing here applies NFKC to a
whole text: that turns 10² into 102 and breaks every offset. It is applied character by character, where it is right.
"""

import math
import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from operator import add

import Stemmer

# ---- Repair ----

_NOISE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # terminal colours and cursor moves, whole: removing ESC alone leaves "[31m"
    r"|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
)
_LINE_ENDS = re.compile(r"\r\n|[\r\v\f\x85]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def repair(text: str) -> str:
    """The text without what no store, terminal or UTF-8 file can carry. Line ends become "\\n"; tabs stay.

    >>> repair("a\\x00b\\r\\nc\\ud83d")
    'ab\\nc'
    """
    if _SURROGATE.search(text):  # two halves of one character are joined, a lone half is dropped
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return _LINE_ENDS.sub("\n", _NOISE.sub("", text))


# ---- Radicals: the look-alikes that PDF fonts put in place of characters ----

# CJK Radicals Supplement, U+2E80–2EFF: each with the usual character of its shape, else of its meaning. NFKC knows
# only two of them. The repetition mark ⺀ has no such partner.
_SUPPLEMENT = """
⺁厂 ⺂乛 ⺃乚 ⺄乙 ⺅亻 ⺆冂 ⺇几 ⺈刀 ⺉刂 ⺊卜 ⺋㔾 ⺌小 ⺍小 ⺎兀 ⺏尣 ⺐尢 ⺑尣 ⺒巳 ⺓幺 ⺔彑
⺕彐 ⺖忄 ⺗㣺 ⺘扌 ⺙攵 ⺛旡 ⺜日 ⺝月 ⺞歺 ⺟母 ⺠民 ⺡氵 ⺢氺 ⺣灬 ⺤爫 ⺥爫 ⺦丬 ⺧牛 ⺨犭 ⺩王
⺪疋 ⺫目 ⺬示 ⺭礻 ⺮竹 ⺯糸 ⺰纟 ⺱网 ⺲罒 ⺳网 ⺴网 ⺵网 ⺶羊 ⺷羊 ⺸羊 ⺹耂 ⺺肀 ⺻聿 ⺼肉 ⺽臼
⺾艹 ⺿艹 ⻀艹 ⻁虎 ⻂衤 ⻃覀 ⻄西 ⻅见 ⻆角 ⻇角 ⻈讠 ⻉贝 ⻊足 ⻋车 ⻌辶 ⻍辶 ⻎辶 ⻏阝 ⻐钅 ⻑長
⻒镸 ⻓长 ⻔门 ⻕阜 ⻖阝 ⻗雨 ⻘青 ⻙韦 ⻚页 ⻛风 ⻜飞 ⻝食 ⻞食 ⻟飠 ⻠饣 ⻡首 ⻢马 ⻣骨 ⻤鬼 ⻥鱼
⻦鸟 ⻧卤 ⻨麦 ⻩黄 ⻪黾 ⻫斉 ⻬齐 ⻭歯 ⻮齿 ⻯竜 ⻰龙 ⻱龜 ⻲亀 ⻳龟
"""
# NFKC sends two of the 214 Kangxi radicals to a form that modern text avoids, though the glyph is the modern one.
_KANGXI_VARIANTS = {"戶": "户", "靑": "青"}
_RADICALS = {pair[0]: pair[1] for pair in _SUPPLEMENT.split()}
for _code in range(0x2F00, 0x2FD6):
    _usual = unicodedata.normalize("NFKC", chr(_code))
    _RADICALS[chr(_code)] = _KANGXI_VARIANTS.get(_usual, _usual)
_RADICALS |= _KANGXI_VARIANTS
_RADICAL_TABLE = str.maketrans(_RADICALS)


def fold_radicals(text: str) -> str:
    """Radicals as ordinary characters, one for one, all else untouched: offsets stay true.

    >>> fold_radicals("⽤⼾⻚⾯ Page")
    '用户页面 Page'
    """
    return text if text.isascii() else text.translate(_RADICAL_TABLE)


# ---- Folding ----

_SPELLINGS = {
    **_RADICALS,
    **{"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ł": "l", "ŧ": "t"},
    "ё": "е",  # Russian readers type е for ё; but й is another letter than и
    "’": "'",
}
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_KANA_VOICING = "\u3099\u309a"  # half-width ｶﾞ leaves one behind, and NFC joins it: ガ


def _fold_char(char: str) -> str:
    """What one character becomes: nothing, another one, or a few."""
    if char in _SUPERSCRIPTS:  # R² → r^2, as people type it; r2 would be another name, 10² is not 102
        return "^" + _SUPERSCRIPTS[char]
    usual = unicodedata.normalize("NFKC", _SPELLINGS.get(char, char)).casefold()
    return "".join(_plain_letter(letter) for letter in usual)


def _plain_letter(char: str) -> str:
    if char in _SPELLINGS:
        return _SPELLINGS[char]
    category = unicodedata.category(char)
    if category == "Cf" or (category[0] == "M" and char not in _KANA_VOICING):
        return ""  # soft hyphens, zero-width characters; accents, Arabic and Hebrew vowel points
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if unicodedata.name(char, "").startswith(("LATIN", "GREEK")):
        base = unicodedata.normalize("NFD", char)[0]
        return _SPELLINGS.get(base, base)
    return char


class _FoldTable(dict[int, str]):
    """For str.translate: each character is worked out the first time it is met."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_char(chr(code))
        return folded


_FOLD_TABLE = _FoldTable()


def fold(text: str) -> str:
    """One spelling for all that means the same to a reader: for searching, not for showing. fold(fold(x)) == fold(x).

    >>> fold("ＲＡＧ naïve ﬁnal Straße ⽤⼾ ｶﾞ co\\xadop")
    'rag naive final strasse 用户 ガ coop'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).translate(_FOLD_TABLE)
    return unicodedata.normalize("NFC", folded)


# ---- Tokens ----

_IDEOGRAPHS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"
_CJK = _IDEOGRAPHS + _KANA + _HANGUL
_OTHER_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer: no spaces between words either
_CJK_CHAR = re.compile(f"[{_CJK}]")
_EMOJI = "\U0001f300-\U0001f3fa\U0001f400-\U0001faff❤✅❌"  # without skin tones

_WORD = re.compile(rf"[^\W_]+(?:'(?:s|t|ll|re|ve|d|m)\b)?|[{_EMOJI}]")  # English endings stay with their word
_RUN = re.compile(f"([{_CJK}{_OTHER_UNSPACED}]+)|[^{_CJK}{_OTHER_UNSPACED}]+")
_LANGUAGE_NAME = re.compile(r"(?<![a-z0-9])(?:([cg])\+\+|([cfj])#)(?!\+)")

# British and American spellings are one word to whoever asks. Questions meet the same rules as texts: crude is enough.
_BRITISH = (
    (re.compile(r"(?<=[a-z]{2})our(?=(?:s|ed|ing|able|al|ful|hood|ite|ites|ly)?$)"), "or"),  # favourite; not four
    (re.compile(r"(?<=[a-z]{4})is(?=(?:e|es|ed|ing|er|ers|ation|ations)$)"), "iz"),  # organise, generalisation
    (re.compile(r"(?<=l)ys(?=(?:e|es|ed|ing|er|ers)$)"), "yz"),  # analyse
    (re.compile(r"^(label|model|level|travel|cancel|signal)l(?=(?:ed|er|ers|ing)$)"), r"\1"),  # modelling
    (re.compile(r"^(cent|met|fib|lit|theat)re(?=s?$)"), r"\1er"),
)
_stemmer = Stemmer.Stemmer("english")
_one_at_a_time = threading.Lock()  # the stemmer has internal state
LONGEST_STEMMED = 40  # letters; what is longer is a key or an encoding, not a word


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    """Snowball's English stem of a folded word; a word with other letters or digits is its own stem."""
    if not (word.isascii() and word.isalpha()) or len(word) > LONGEST_STEMMED:
        return word
    for british, american in _BRITISH:
        word = british.sub(american, word)
    with _one_at_a_time:
        return _stemmer.stemWord(word)


def tokens(text: str) -> list[str]:
    """The words of the index, in order, with repeats; "" gives []. Letters and digits only, so FTS5 keeps each whole.

    Latin words are folded and stemmed. A run without spaces gives its characters and its pairs of neighbours: a
    two-character word is found in any sentence, and a one-character query still finds something.

    >>> tokens("重跑gen-itgc后"), tokens("C++ studies")
    (['重', '跑', '重跑', 'gen', 'itgc', '后'], ['cplusplus', 'studi'])
    """
    found: list[str] = []
    for word, unspaced in _runs(text):
        if unspaced:
            found += word
            found += map(add, word, word[1:])
        else:
            found.append(_stem(word))
    return found


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Folded words and unspaced runs in order; the flag is True for the latter."""
    folded = fold(text)
    if "+" in folded or "#" in folded:
        folded = _LANGUAGE_NAME.sub(lambda name: f" {name[1]}plusplus " if name[1] else f" {name[2]}sharp ", folded)
    for found in _WORD.findall(folded):
        stem, _, ending = found.partition("'")
        word = stem + "t" * (ending == "t")  # it's → it, but don't → dont: a negation counts
        if word.isascii():
            yield word, False
        elif not word[0].isalnum():
            yield f"u{ord(word):x}", False  # an emoji: FTS5 takes it for a separator
        else:
            for run in _RUN.finditer(word):
                yield run[0], run.lastindex == 1


def is_cjk(char: str) -> bool:
    """Han, kana, bopomofo or Hangul: what is counted by the character. Punctuation is not."""
    return _CJK_CHAR.match(char) is not None


def count_cjk(text: str) -> int:
    """How many of a text's characters `is_cjk`."""
    return 0 if text.isascii() else len(_CJK_CHAR.findall(text))


# ---- Function words ----

# Small on purpose. Negations stay (they decide what is equal), and so do he, she, 他, 她: whose fact it is matters.
_ENGLISH = """
a an the and or but if of to in on at by for from with as about into
is are was were be been being am do does did have has had having will would can could shall should
this that these those it its i me my mine we us our ours you your yours
what which who whom whose when where why how there here so than then too also just please
"""
_CHINESE = """
的 了 吗 嗎 呢 吧 啊 呀 嘛 么 麼 是 和 与 與 及 或 也 我 你 您 这 這 那 哪 我们 我們 你们 你們 咱们
什么 什麼 为什么 為什麼 怎么 怎麼 怎么样 怎样 如何 哪些 哪个 哪里 多少 是否 是不是 有没有 能不能 请问
这个 這個 那个 那個 这些 那些 这样 那样 这里 那里 那么 一个 一下 一些
以及 或者 并且 而且 因为 所以 但是 还是 于是 可是 如果 为了 除了 可以
"""
_WHOLE_CHINESE_WORDS = """
目的 标的 的确 的士 了解 了结 明了 酒吧 网吧 贴吧 吧台 是非 和谐 和平 和解 和声 饱和 温和 缓和 总和 求和 共和
参与 赠与 及时 及格 普及 涉及 提及 埃及 自我
"""  # they contain a function word and mean something
STOP_WORDS = frozenset(_ENGLISH.split())
STOP_WORDS_ZH = frozenset(_CHINESE.split())
_FUNCTION_ZH = re.compile(
    f"({'|'.join(_WHOLE_CHINESE_WORDS.split())})|{'|'.join(sorted(STOP_WORDS_ZH, key=len, reverse=True))}"
)


def content_tokens(text: str) -> list[str]:
    """The tokens that carry the meaning, in order, with repeats; a subset of `tokens`. Function words alone give [].

    In unspaced text function words act as spaces, and only a character left alone is kept as one: pairs say more.

    >>> content_tokens("什么是幻觉？"), content_tokens("我的猫"), content_tokens("What is the colour of it?")
    (['幻觉'], ['猫'], ['color'])
    """
    found: list[str] = []
    for word, unspaced in _runs(text):
        if unspaced:
            for piece in _FUNCTION_ZH.sub(lambda match: match[1] or " ", word).split():
                found += map(add, piece, piece[1:]) if len(piece) > 1 else piece
        elif word not in STOP_WORDS:
            found.append(_stem(word))
    return found


# What a question asks about a thing when it asks what the thing is. No text is about "meaning" for having the word in it.
_ONLY_ASKING = re.compile(
    r"\b(?:meaning|definition|full (?:name|form)) of\b|(?<=\w )(?:mean|denote|stand for|refer to)\W*$"
    r"|(?<![有])意思|(?<=的)(?:含义|定义)\W*$|(?<=的)(?:含义|定义)(?=是)|的?[全简]称(?=是|\W*$)|的?缩写(?=是|\W*$)"
)


def without_asking(question: str) -> str:
    """A question without the words that only ask for a definition; all of it when nothing else says what it is about.

    >>> without_asking("What is the meaning of recall?"), without_asking("HyDE 的全称是什么？"), without_asking("什么意思？")
    ('what is the   recall?', 'hyde  是什么？', '什么意思？')
    """
    rest = _ONLY_ASKING.sub(" ", fold(question))
    return rest if content_tokens(rest) else question


# ---- §2 Token estimate ----

_LATIN_WORD = re.compile(rf"[^\W_{_CJK}]+")


def estimate_tokens_mixed(text: str) -> int:
    """Tokens a model will count: one per CJK character + 1.3 per other word, rounded up. "" gives 0.

    >>> estimate_tokens_mixed("检索增强 generation works")
    7
    """
    words = sum(1 for _ in _LATIN_WORD.finditer(text))
    return len(_CJK_CHAR.findall(text)) + math.ceil(words * 13 / 10)


# ---- Sentences ----

_CLOSING = "\"'”’」』）》】)\\]"
_SENTENCE_END = re.compile(rf"\n[^\S\n]*\n|(?:[。！？；…]+|[.!?]+)[。！？；….!?]*[{_CLOSING}]*")
_ABBREVIATIONS = frozenset(
    ["al", "approx", "cf", "dr", "e.g", "i.e", "jr", "mr", "mrs", "ms", "prof", "sr", "st", "vs"]
)
_BEFORE_NUMBERS = frozenset(["ch", "eq", "eqs", "fig", "figs", "no", "nos", "p", "pp", "sec", "sect", "tab", "vol"])


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, without the white space around it; together they hold every other character.

    >>> text = "Dr. Li got 3.5 points. “真的吗？”他问。"
    >>> [text[start:end] for start, end in sentences(text)]
    ['Dr. Li got 3.5 points.', '“真的吗？”', '他问。']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if _ends_sentence(text, start, end):
            spans += _trimmed(text, start, end.end())
            start = end.end()
    return spans + _trimmed(text, start, len(text))


def _ends_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    mark, following = end[0], text[end.end() : end.end() + 2]
    if mark[0] not in ".!?…":  # a blank line, or punctuation that does nothing else
        return True
    if following and mark[0] != "…" and not (following[0].isspace() or is_cjk(following[0])):
        return False  # 3.5, example.org
    if following[1:].islower() and mark[0] not in "!?":
        return False  # "approx. five", "well... maybe"
    return mark != "." or not _abbreviates(text[max(start, end.start() - 12) : end.start()], following[1:])


def _abbreviates(before: str, following: str) -> bool:
    """True when the full stop between the two belongs to the word before it: Dr. Li, J. Smith, Fig. 3, 1. Methods."""
    words = before.split() or [""]
    word = words[-1].lstrip("([\"'“").lower()
    if following.isdigit() or following in ("(", "["):  # et al. 2020, Eq. (3)
        return word in _BEFORE_NUMBERS | _ABBREVIATIONS
    initial = len(word) == 1 and word.isascii() and word.isalpha() and word != "i"
    return word in _ABBREVIATIONS or initial or (len(words) == 1 and word.isdigit() and len(word) < 4)


def _trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return [(start + lead, start + lead + len(piece.strip()))] if piece.strip() else []
