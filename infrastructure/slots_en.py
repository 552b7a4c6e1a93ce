"""English statements that hold one value: which forms there are. What they mean is in slots.py."""

import re
from collections.abc import Mapping

from infrastructure.amounts import NUMBER, NUMBER_WORDS, number
from infrastructure.dates import WEEKDAYS, calendar_dates

NAME = "en"
Found = tuple[str, Mapping[str, str], bool]  # subject with attribute, value by kind, denied


def parse(text: str) -> Found | None:
    """Subject with attribute, value by kind, denied; None when the statement leaves room for a second value."""
    core = _LEAD.sub("", text, count=1)
    if not _BEGINS.match(core):
        return _reversed(core) if _MAY_BE_REVERSED.search(core) else None
    core = _TAIL.sub("", core).strip(" ,")
    return _about_me(core) or _about_a_thing(core) or _reversed(core)


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
_EVENTS = "exam|midterm|final|deadline|meeting|interview|presentation|appointment|defence|defense|flight"
_BEGINS = re.compile(
    rf"(?:my|our|the|this|i|i['’](?:m|ve)|call|(?:\w+ ){{0,2}}(?:{_EVENTS}))\s|[A-Z]\w*(?: [A-Z]\w*)?['’]s\s|[A-Za-z]*\d",
    re.I,
)
_MAY_BE_REVERSED = re.compile(r" is (?:now )?(?:my|our|the|\S+['’]s) ", re.I)

# ---- about me ----

_ADVERBS = r"(?:(?:now|currently|just|recently|have|already|finally)\s+)*"
_PLACE = r"(?:the )?([A-Z][\w’'-]*(?:[ ,]+[A-Z][\w’'-]*){0,3}|[a-z]+)"
_RECENTLY = r"(?:,? (?:yesterday|today|recently|last (?:week|month|year)|this (?:week|month|year)))?"
_AM = r"i(?:['’]m| am| just turned| turned| have turned|['’]ve turned)"
_FIRM = r"([A-Z][\w&.’'-]*(?: [A-Z][\w&.’'-]*){0,3})"
# A job one has; who is a mother, a beginner or a student may well be a nurse, too.
JOBS = """accountant actor analyst architect artist assistant baker banker barista biologist builder carpenter cashier chef
chemist clerk coach consultant cook dentist designer developer director doctor driver economist editor electrician engineer
farmer firefighter freelancer gardener hairdresser journalist judge lawyer lecturer librarian manager mechanic midwife nurse
officer paralegal paramedic pharmacist photographer physician physicist physiotherapist pilot plumber postdoc professor
programmer psychologist receptionist reporter researcher salesman saleswoman scientist secretary soldier surgeon teacher
technician therapist trainer translator tutor vet waiter waitress writer"""
_OF_QUALITY = "(?!(?:good|bad|great|better|big|fast|slow|keen|lousy) )"
_EMPLOYED = r"(?: (?:at|in|for|with) [\w’'. -]{2,30})?"
_JOB = rf"an? {_OF_QUALITY}((?:[\w-]+ ){{0,2}}(?:{'|'.join(JOBS.split())})){_EMPLOYED}"
_NOT = r"i(?:['’]m| am) (?:not|no longer)"
# Attribute, kind of value (− denies it), form.
_FORMS = (
    ("me live", "place", rf"i(?:['’]m| am)? {_ADVERBS}(?:live|living|reside|based) in {_PLACE}"),
    (
        "me live",
        "place",
        rf"i(?:['’]ve)? {_ADVERBS}(?:moved|relocated) (?:from [\w ]+? )?(?:back )?to {_PLACE}{_RECENTLY}",
    ),
    ("me live", "-place", rf"i (?:no longer|don['’]t|do not) live in {_PLACE}"),
    ("me employer", "name", rf"i(?:['’]m| am)? {_ADVERBS}(?:work|working|started working) (?:at|for) {_FIRM}"),
    (
        "me school",
        "name",
        rf"i(?:['’]m| am)? {_ADVERBS}(?:study at|studying at|go to) ((?:[A-Z][\w.’'-]*(?: (?:of )?|$)){{1,4}})",
    ),
    ("job", "value", rf"i(?:['’]m| am|['’]ve)? {_ADVERBS}(?:became |become |work as |working as )?{_JOB}"),
    ("job", "-value", rf"(?:{_NOT}|i no longer work as) {_JOB}"),
    ("me year", "value", r"i(?:['’]m| am) (?:now )?in (?:my |the )?(\w+ year|grade \d{1,2}|year \d{1,2})"),
    ("me called", "name", r"(?:call me|i am called|i['’]m called) ([A-Z][\w’'-]*)"),
    ("me age", "amount", rf"{_AM} (?:now )?(\d{{1,3}}) years old"),
    ("me age", "amount", rf"{_AM} (?:now )?([1-9]\d)"),
    ("me height", "amount", r"i(?:['’]m| am) (\d{2,3}) ?cm(?: tall)?"),
    ("me weight", "amount", r"i (?:now )?weigh (\d{2,3}) ?(?:kg|kilos|pounds|lbs)"),
)
_FORMS_ME = [(about, kind, re.compile(form, re.I)) for about, kind, form in _FORMS]
_ME = re.compile(r"^(?:i|i['’](?:m|ve)|call me)\b", re.I)
_HAVE = re.compile(
    rf"i (?:now )?have ({NUMBER}|{'|'.join(NUMBER_WORDS)}|an?) "
    r"(cat|dog|child|kid|sister|brother|sibling|son|daughter|pet)(?:ren|s)?",
    re.I,
)
_PREFER = re.compile(r"i (?:now |really |still )?prefer ([\w -]{2,30}?) (?:to|over|rather than) ([\w -]{2,30})", re.I)
_SWITCHED = r"i(?:['’]ve)? (?:just |have )*(?:changed|switched)"
_CHANGED = re.compile(rf"{_SWITCHED} (my [\w -]{{2,30}}?) (?:from [\w .'-]{{2,30}} )?to (.+)", re.I)
_NOWHERE = "a an the my our fear hope peace it there here town downtown"
_COUNTRY = """china japan germany france england scotland wales britain uk usa america canada india italy spain russia korea
brazil mexico australia austria switzerland europe asia africa singapore vietnam thailand poland sweden norway finland denmark
netherlands belgium ireland portugal greece turkey egypt"""
_NO_PLACE, _COUNTRIES = frozenset(_NOWHERE.split()), frozenset(_COUNTRY.split())


def _about_me(core: str) -> Found | None:
    if not _ME.match(core):
        return None
    for about, kind, form in _FORMS_ME:
        match = form.fullmatch(core)
        if match and (kind.lstrip("-") in ("amount", "value") or _is_name(match[1], core)):
            denied, kind = kind[0] == "-", kind.lstrip("-")
            if kind == "place" and match[1].lower() in _COUNTRIES:
                kind = "country"
            return about, {kind: match[1].strip(" ,")}, denied
    return _pairs(core)


def _pairs(core: str) -> Found | None:
    if match := _HAVE.fullmatch(core):
        return f"me have {match[2].lower().replace('kid', 'child')}", {"amount": _amount(match[1])}, False
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

_OWNER = (
    r"(?:([Mm]y|[Oo]ur|[Tt]he|[Tt]his)\s+|([A-Z][\w-]*(?: [A-Z][\w-]*)?)['’]s\s+|"
    rf"(?=[A-Za-z]*\d|(?:\w+ ){{0,2}}(?i:{_EVENTS})\s))"
)
_MOVED = (
    "moved|postponed|rescheduled|changed|shifted|delayed|brought forward|put off|set|fixed|scheduled|planned|due|become"
)
_VERBS = (
    rf"(?:has|was|got|is) (?:been |being )?(?:{_MOVED})|takes place|will take place|is|will be|has|costs|weighs|lasts|takes|"
    "contains|needs|requires|starts|begins|ends|finishes|opens|closes|moved|changed"
)
_THING = re.compile(
    rf"{_OWNER}([\w+#.’'-]+(?:\s+[\w+#.’'-]+){{0,6}}?)(\s+(?:{_VERBS})|['’]s)(\s+(?:not|no longer)|n['’]t)?"
    r"\s+(?:now\s+|currently\s+|still\s+|only\s+)*(.+)"
)
_SAME_VERB = re.compile(r"^(?:is|will be|['’]s|moved|changed|takes place|will take place|(?:has|was|got|is) .*)$", re.I)
_MOVED_TO = re.compile(r"^(?:from .+? )?to (?=\S)")
_NEW = re.compile(r"^(?:new|current|all-time|absolute) (?=\w)", re.I)
_JOB_ITSELF = re.compile(r"^(?:profession|occupation)$", re.I)
_WHEN = re.compile(r"(?<=\w)\s(?:date|time|day)$", re.I)
_NOT_A_THING = re.compile(
    r"\b(?:that|which|who|and|or|if|because|when|not|said|says|one of|some|former|old|last|ex|is|was|are)\b", re.I
)
# Who has one may have two; and what is measured or taught is measured and taught again.
_MANY = re.compile(
    r"\b(?:friend|brother|sister|cat|dog|son|daughter|cousin|colleague|classmate|teacher|uncle|aunt|student|neighbou?r|pet|"
    r"kid|child|baby|lecture|class|seminar|tutorial|lesson|practice|training|workout|session|shift|rehearsal|accuracy|recall|"
    r"precision|loss|(?<!target )score|f1|result|mark|grade|temperature|latency|error)s?\b",
    re.I,
)
_NAMES = """name surname nickname boss manager supervisor advisor adviser tutor wife husband girlfriend boyfriend partner
landlord employer university school college hometown capital author president ceo founder director chairman captain inventor
winner city country"""
_VALUES = """major job profession occupation nationality tongue sign type topic title timezone zone address email e-mail number
age height weight budget level seat bedtime size colour color language birthday deadline currency gender default password
ward database"""
_JUDGEMENTS = """good great nice bad boring hard easy difficult fun interesting important strict kind friendly beautiful amazing
awesome terrible cool fine okay ok useful useless wrong right true false unknown secret ready full empty new old late early
busy sick injured happy sad tired free closed open cancelled canceled over near here there"""
_NAMED, _VALUED, _JUDGES = (frozenset(words.split()) for words in (_NAMES, _VALUES, _JUDGEMENTS))
_FAVOURITE = re.compile(r"(?:least )?favou?rite \w", re.I)


def _about_a_thing(core: str) -> Found | None:
    match = _THING.fullmatch(core)
    if match is None:
        return None
    determiner, owner, thing, verb, negation, rest = match.groups()
    thing = _JOB_ITSELF.sub("job", _NEW.sub("", thing))
    if _NOT_A_THING.search(thing) or (_MANY.search(thing) and not _FAVOURITE.match(thing)):
        return None
    verb = "" if _SAME_VERB.match(verb.strip()) else verb.strip()
    rest, moved = _MOVED_TO.sub("", rest), _MOVED_TO.match(rest) is not None
    parts = _typed(rest) or ({} if moved else _amounts(rest))
    if parts:
        thing = _WHEN.sub("", thing) if parts.keys() & {"date", "time", "weekday"} else thing
        return f"{owner or ''} {thing} {verb}".strip(), parts, bool(negation)
    if verb or not _holds_one(thing, determiner or owner):
        return None
    value, denied = _value(rest, bool(negation))
    return (f"{owner or ''} {thing}".strip(), {_kind(value): value}, denied) if value else None


def _holds_one(thing: str, owner: str | None) -> bool:
    """Favourites, and the few nouns of which there is one: a name, a boss, a major, the capital of Australia."""
    if _FAVOURITE.match(thing):
        return owner is not None and owner.lower() not in ("the", "this")
    return _head(thing) in _NAMED | _VALUED


def _head(thing: str) -> str:
    """The noun itself: "capital" of "capital of Australia"."""
    return re.split(r"\s(?:of|for|at|in)\s", thing.lower())[0].split()[-1]


def _kind(value: str) -> str:
    """A name is not compared with a quality: "My boss is Anna", "My boss is nice"."""
    return "name" if value[:1].isupper() else "value"


def _value(rest: str, denied: bool) -> tuple[str, bool]:
    """What is said of it, "" when it is not the kind of thing that can be the value, and whether it is denied."""
    instead = re.fullmatch(r"(?:not )?(.+?),? but (.+)", rest, re.I)
    if instead and (denied or rest.lower().startswith("not ")):
        rest, denied = instead[2], False
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
_REVERSED = re.compile(
    r"(.+?)\s+is\s+(?:now\s+)?((?:my|our|the|[A-Z][\w-]*['’]s)\s+[\w+#.’'-]+(?:\s+[\w+#.’'-]+){0,5})"
)
_POINTS = re.compile(r"(?:my|our|the|this|that|it|he|she|they|what|who)\b", re.I)


def _reversed(core: str) -> Found | None:
    """Blue is my favourite colour; Canberra is the capital of Australia."""
    match = _REVERSED.fullmatch(core)
    if match is None or _ME.match(core) or _POINTS.match(core) or not _can_be_the_value(match[1], match[2]):
        return None
    found = _about_a_thing(f"{match[2]} is {match[1]}")
    if found is None or not found[1].keys() & {"name", "value"}:
        return None
    subject, _, denied = found  # what begins a sentence is capitalised, a name or not
    return subject, {"name": match[1], "value": match[1]}, denied


def _can_be_the_value(value: str, thing: str) -> bool:
    return "favo" in thing.lower() or (value[:1].isupper() and _head(thing) in _NAMED)


# ---- values of a type: a date, a time, a room, an amount ----

_TIME = re.compile(
    r"\b(?:(\d{1,2})(?:[:.](\d{2}))? ?([ap])\.?m\b\.?|(\d{1,2}):(\d{2})|(noon|midnight)|(\d{1,2}) o['’]clock)", re.I
)
_ROOM = re.compile(r"\b(?:room|hall|building|lab|classroom|auditorium|theatre|theater) ([A-Z]?\d[\w.-]*|[A-Z])\b", re.I)
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})\b", re.I)
_BETWEEN = re.compile(
    r"\b(?:on|at|in|the|to|for|by|until|till|next|this|coming|of|sharp|a|morning|afternoon)\b|[\s,]", re.I
)


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
    rf"(?:about |around |exactly )?([$€£¥]?) ?({NUMBER}|{'|'.join(NUMBER_WORDS)}) ?(%|[A-Za-z°%/]+)?((?: [a-z]+){{0,2}})",
    re.I,
)
_DIMENSION = re.compile(r"\b(?:long|tall|high|old|heavy|wide|each)\b")


def _amounts(rest: str) -> dict[str, str]:
    """{"amount hour": "24.0"} for "24 hours"; {} for what is no amount, as "one of my best"."""
    match = _AMOUNT.fullmatch(rest.strip())
    if match is None or _CLAUSE.search(match[4]) or re.fullmatch("of|[A-Z]", match[3] or ""):  # seat 14C is no amount
        return {}
    unit = " ".join(filter(None, (match[1], match[3], _DIMENSION.sub("", match[4]).strip())))
    return {f"amount {unit.lower().rstrip('s')}".strip(): _amount(match[2])}


def _amount(text: str) -> str:
    return str(number(text))
