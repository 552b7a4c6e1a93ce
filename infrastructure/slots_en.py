"""English statements that hold one value: which forms there are. What they mean is in slots.py."""

import re
from collections.abc import Mapping

from infrastructure.amounts import NUMBER, NUMBER_WORDS, number
from infrastructure.dates import WEEKDAYS, calendar_dates

NAME = "en"
Found = tuple[str, Mapping[str, str], bool]  # subject with attribute, parts, denied


def parse(text: str) -> Found | None:
    """Subject with attribute, value by kind, denied; None when the statement leaves room for a second value."""
    core = _LEAD.sub("", text, count=1)
    if not _BEGINS.match(core):
        return _reversed(core) if _MAY_BE_REVERSED.search(core) else None
    core = _TAIL.sub("", core).strip(" ,")
    return _about_me(core) or _about_a_thing(core) or _reversed(core)


_BEGINS = re.compile(r"(?:my|our|the|this|i|i['’](?:m|ve)|call)\s|[A-Z]\w*(?: [A-Z]\w*)?['’]s\s|[A-Za-z]*\d", re.I)
_MAY_BE_REVERSED = re.compile(r" is (?:now )?(?:my|our|the|\S+['’]s) ", re.I)

_LEAD = re.compile(
    r"^(?:(?:well|actually|no|nope|wrong|sorry|oh|ok|okay|hey|hi|hello|now|also|and|but|so|btw|by the way|fyi|correction|"
    r"update|in fact|from now on|as of (?:today|now)|these days|currently|nowadays|i mean|i meant|note(?: that)?|"
    r"(?:please )?remember(?: that)?)\b[\s,:;.!-]+)+",
    re.I,
)
_TAIL = re.compile(
    r"(?:,?\s+(?:now|instead|actually|these days|nowadays|currently|at the moment|anyway|any ?more|again|already|after all|"
    r"from now on|by the way|though))+$",
    re.I,
)

# ---- about me ----

_ME = re.compile(r"^(?:i|call me)\b", re.I)
_ADVERBS = r"(?:(?:now|currently|just|recently|have|already|finally)\s+)*"
_PLACE = r"(?:the )?([A-Z][\w’'-]*(?:[ ,]+[A-Z][\w’'-]*){0,3}|[a-z]+)"
_RECENTLY = r"(?:,? (?:yesterday|today|recently|last (?:week|month|year)|this (?:week|month|year)))?"
_FORMS_ME = (
    ("me live", "place", rf"i(?:['’]m| am)? {_ADVERBS}(?:live|living|reside|based) in {_PLACE}"),
    ("me live", "place", rf"i(?:['’]ve)? {_ADVERBS}(?:moved|relocated) (?:back )?to {_PLACE}{_RECENTLY}"),
    ("me live", "-place", rf"i (?:no longer|don['’]t|do not) live in {_PLACE}"),
    ("me employer", "name", r"i (?:now |currently )?work (?:at|for) ([A-Z][\w&.’'-]*(?: [A-Z][\w&.’'-]*){0,3})"),
    ("me school", "name", r"i (?:now |currently )?(?:study at|go to) ((?:[A-Z][\w.’'-]*(?: (?:of )?|$)){1,4})"),
    ("me called", "name", r"(?:call me|i am called|i['’]m called) ([A-Z][\w’'-]*)"),
    ("me age", "amount", r"i(?:['’]m| am| just turned| turned| have turned|['’]ve turned) (?:now )?(\d{1,3}) years old"),
    ("me age", "amount", r"i(?:['’]m| am| just turned| turned| have turned|['’]ve turned) (?:now )?([1-9]\d)"),
    ("me height", "amount", r"i(?:['’]m| am) (\d{2,3}) ?cm(?: tall)?"),
    ("me weight", "amount", r"i (?:now )?weigh (\d{2,3}) ?(?:kg|kilos|pounds|lbs)"),
)
_COMPILED_ME = [(about, kind, re.compile(form, re.I)) for about, kind, form in _FORMS_ME]
_HAVE = re.compile(
    rf"i (?:now )?have ({NUMBER}|{'|'.join(NUMBER_WORDS)}|an?) "
    r"(cat|dog|child|children|kid|sister|brother|sibling|son|daughter|pet)(?:ren|s)?",
    re.I,
)
_PREFER = re.compile(r"i (?:now |really |still )?prefer ([\w -]{2,30}?) (?:to|over|rather than) ([\w -]{2,30})", re.I)
_CHANGED = re.compile(
    r"i(?:['’]ve)? (?:just |have )*(?:changed|switched) (my [\w -]{2,30}?) (?:from [\w .'-]{2,30} )?to (.+)", re.I
)
_NO_PLACE = frozenset("a an the my our fear hope peace it there here town downtown".split())
_COUNTRIES = frozenset(
    "china japan germany france england scotland wales britain uk usa america canada india italy spain russia korea brazil "
    "mexico australia austria switzerland europe asia africa singapore vietnam thailand poland sweden norway finland denmark "
    "netherlands belgium ireland portugal greece turkey egypt".split()
)


def _about_me(core: str) -> Found | None:
    if not _ME.match(core):
        return None
    for about, kind, form in _COMPILED_ME:
        match = form.fullmatch(core)
        if match and (kind == "amount" or _is_name(match[1], core)):
            kind, denied = kind.lstrip("-"), kind[0] == "-"
            if kind == "place" and match[1].lower() in _COUNTRIES:
                kind = "country"
            return about, {kind: match[1].strip(" ,")}, denied
    return _pairs(core)


def _pairs(core: str) -> Found | None:
    if match := _HAVE.fullmatch(core):
        thing = "child" if match[2].lower() in ("child", "children", "kid") else match[2]
        return f"me have {thing}", {"amount": _amount(match[1])}, False
    if match := _PREFER.fullmatch(core):
        pair = sorted((match[1].lower(), match[2].lower()))
        return f"me prefer {' '.join(pair)}", {"choice": match[1]}, False
    if match := _CHANGED.fullmatch(core):
        return _about_a_thing(f"{match[1]} is {match[2]}")
    return None


def _is_name(word: str, core: str) -> bool:
    """Capitalised, or typed by somebody who never reaches for the shift key."""
    return word[:1].isupper() or (core.islower() and " " not in word and word not in _NO_PLACE)


# ---- about a thing ----

_THING = re.compile(
    r"(?:([Mm]y|[Oo]ur|[Tt]he|[Tt]his)\s+|([A-Z][\w-]*(?: [A-Z][\w-]*)?)['’]s\s+|(?=[A-Za-z]*\d))"
    r"([\w+#.’'-]+(?:\s+[\w+#.’'-]+){0,6}?)"
    r"(\s+(?:(?:has|was|got|is) (?:been |being )?(?:moved|postponed|rescheduled|changed|shifted|delayed|brought forward|"
    r"put off|set|fixed|scheduled|planned|due|become)|takes place|will take place|is|will be|has|costs|weighs|lasts|takes|"
    r"contains|needs|requires|starts|begins|ends|finishes|opens|closes|moved|changed)|['’]s)"
    r"(\s+(?:not|no longer)|n['’]t)?\s+(?:now\s+|currently\s+|still\s+|only\s+)*(.+)"
)
_NOT_A_THING = re.compile(r"\b(?:that|which|who|and|or|if|because|when|not|said|says|one of|some|former|old|last|ex)\b", re.I)
# Who has one may have two; and what is measured or taught is measured and taught again.
_MANY = re.compile(
    r"\b(?:friend|brother|sister|cat|dog|son|daughter|cousin|colleague|classmate|teacher|uncle|aunt|student|neighbou?r|pet|"
    r"kid|child|baby|lecture|class|seminar|tutorial|lesson|practice|training|workout|session|shift|rehearsal|accuracy|recall|"
    r"precision|loss|score|f1|result|mark|grade|temperature|latency|error)s?\b(?!['’]?s? (?:deadline|exam))",
    re.I,
)
_NAMED = frozenset(
    "name surname nickname boss manager supervisor advisor adviser tutor wife husband girlfriend boyfriend partner landlord "
    "employer university school college hometown capital author president ceo founder director chairman captain inventor "
    "winner city country".split()
)
_VALUED = frozenset(
    "major job profession occupation nationality tongue sign type topic title timezone zone address email e-mail number age "
    "height weight budget level seat bedtime size colour color language birthday deadline currency gender default password"
    .split()
)  # fmt: skip
_JUDGES = frozenset(
    "good great nice bad boring hard easy difficult fun interesting important strict kind friendly beautiful amazing awesome "
    "terrible cool fine okay ok useful useless wrong right true false unknown secret ready full empty new old late early busy "
    "sick injured happy sad tired free closed open cancelled canceled over near here there".split()
)
_SAME_VERB = re.compile(r"^(?:is|will be|['’]s|moved|changed|takes place|will take place|(?:has|was|got|is) .*)$", re.I)


def _about_a_thing(core: str) -> Found | None:
    match = _THING.fullmatch(core)
    if match is None:
        return None
    _, owner, thing, verb, negation, rest = match.groups()
    if _NOT_A_THING.search(thing) or (_MANY.search(thing) and not thing.lower().startswith(("favo", "least favo"))):
        return None
    verb = "is" if _SAME_VERB.match(verb.strip()) else verb.strip()
    subject = f"{owner or ''} {thing}".strip()
    rest, moved = _MOVED.sub("", rest), _MOVED.match(rest) is not None
    parts = _typed(rest) or (_amounts(rest) if not moved else None)
    if parts:
        return f"{subject} {'' if verb == 'is' else verb}", parts, bool(negation)
    if verb != "is" or moved or not _holds_one(thing, owner or match[1]):
        return None
    value, denied = _value(rest, bool(negation))
    return value and (subject, {_kind(thing, value): value}, denied) or None


_MOVED = re.compile(r"^(?:from .+? )?to (?=\S)")


def _holds_one(thing: str, owner: str | None) -> bool:
    """Favourites, and the few nouns of which there is one: a name, a boss, a major, the capital of Australia."""
    if re.match(r"(?:least )?favou?rite \w", thing, re.I):
        return owner is not None and owner.lower() not in ("the", "this")
    return _head(thing) in _NAMED | _VALUED


def _head(thing: str) -> str:
    """The noun itself: "capital" of "capital of Australia"."""
    return re.split(r"\s(?:of|for|at|in)\s", thing.lower())[0].split()[-1]


def _kind(thing: str, value: str) -> str:
    return "name" if value[:1].isupper() else "value"


def _value(rest: str, denied: bool) -> tuple[str, bool]:
    """What is said of it, "" when it is not the kind of thing that can be the value, and whether it is denied."""
    if match := re.fullmatch(r"(?:not )?(.+?),? but (.+)", rest, re.I) if denied or rest.lower().startswith("not ") else None:
        rest, denied = match[2], False
    rest = re.sub(r",? (?:and )?not [\w ]+$", "", rest)
    value = re.sub(r"^(?:a|an|the|called|named|now|actually)\s+", "", rest.strip(), flags=re.I)
    words = re.findall(r"[\w’'+#.-]+", value)
    if not 1 <= len(words) <= 6 or _CLAUSE.search(value) or words[-1].lower() in _JUDGES:
        return "", denied
    return value, denied


_CLAUSE = re.compile(
    r"[,;:()—]|\b(?:and|or|but|because|when|if|while|although|which|who|that|so|then|than|as|very|really|too|quite|pretty|"
    r"also|like|not)\b|^(?:in|on|at|of|about|for|to|from|with|by|due|going|being|based|always|never|my|your|his|her)\b",
    re.I,
)

_REVERSED = re.compile(r"(.+?)\s+is\s+(?:now\s+)?((?:my|our|the|[A-Z][\w-]*['’]s)\s+[\w+#.’'-]+(?:\s+[\w+#.’'-]+){0,5})")


def _reversed(core: str) -> Found | None:
    """Blue is my favourite colour; Canberra is the capital of Australia."""
    match = _REVERSED.fullmatch(core)
    if match is None or _ME.match(core) or re.match(r"(?:my|our|the|this|that|it|he|she|they|what|who)\b", core, re.I):
        return None
    found = _about_a_thing(f"{match[2]} is {match[1]}") if _holds_name(match[1], match[2]) else None
    if found is None:
        return None
    subject, parts, denied = found  # at the beginning of a sentence everything is capitalised
    return subject, {**parts, **{kind: match[1] for kind in ("name", "value") if parts.keys() & {"name", "value"}}}, denied


def _holds_name(value: str, thing: str) -> bool:
    return "favo" in thing.lower() or (value[:1].isupper() and _head(thing) in _NAMED)


# ---- values of a type: a date, a time, a room, an amount ----

_TIME = re.compile(r"\b(?:(\d{1,2})(?:[:.](\d{2}))? ?([ap])\.?m\b\.?|(\d{1,2}):(\d{2})|(noon|midnight)|(\d{1,2}) o['’]clock)", re.I)
_ROOM = re.compile(r"\b(?:room|hall|building|lab|classroom|auditorium|theatre|theater) ([A-Z]?\d[\w.-]*|[A-Z])\b", re.I)
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})\b", re.I)
_BETWEEN = re.compile(r"\b(?:on|at|in|the|to|for|by|until|till|next|this|coming|of|sharp|a|morning|afternoon)\b|[\s,]", re.I)


def _typed(rest: str) -> dict[str, str]:
    """Dates, weekdays, times and rooms, if the text consists of them; else {}."""
    parts: dict[str, str] = {}
    left = rest
    for start, end, when in calendar_dates(rest):
        parts["date"] = when
        left = left[:start] + " " * (end - start) + left[end:]
    for kind, form, read in (("time", _TIME, _clock), ("weekday", _WEEKDAY, _lower), ("room", _ROOM, _lower)):
        for match in form.finditer(left):
            if kind in parts:
                return {}  # two of a kind: on Monday and Friday
            parts[kind] = read(match)
        left = form.sub(" ", left)
    return {} if _BETWEEN.sub("", left) else parts


def _lower(match: re.Match[str]) -> str:
    return match[1].lower()


def _clock(match: re.Match[str]) -> str:
    hour, minute, half, hour24, minute24, word, oclock = match.groups()
    if word:
        return "12:00" if word.lower() == "noon" else "00:00"
    if half:
        return f"{int(hour) % 12 + 12 * (half.lower() == 'p'):02}:{minute or '00'}"
    return f"{int(hour24 or oclock):02}:{minute24 or '00'}"


_AMOUNT = re.compile(
    rf"(?:about |around |exactly )?([$€£¥]?) ?({NUMBER}|{'|'.join(NUMBER_WORDS)}) ?(%|[A-Za-z°%/]+)?((?: [a-z]+){{0,2}})", re.I
)


def _amounts(rest: str) -> dict[str, str]:
    """{"amount hours": "24.0"} for "24 hours"; {} for what is no amount."""
    match = _AMOUNT.fullmatch(rest.strip())
    if match is None or _CLAUSE.search(match[4]):
        return {}
    unit = " ".join(filter(None, (match[1], match[3], re.sub(r"\b(?:long|tall|high|old|heavy|wide|each)\b", "", match[4]).strip())))
    return {f"amount {unit.lower().rstrip('s')}".strip(): _amount(match[2])}


def _amount(text: str) -> str:
    return str(number(text))
