"""What kind of thing was said: a question that leans on what came before, a correction, something to remember, a secret.

Rules for Chinese and English. They decide what is *not* done: a question that stands alone is not rewritten, a passing wish is
not kept, a secret is never stored. So each rule would rather miss than take an innocent sentence for something else.
"""

import re
from dataclasses import dataclass

from infrastructure.slots import slot_of
from infrastructure.text import content_tokens, fold, sentences


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


LONGEST_QUESTION = 2000  # characters; what is longer is a text to load, and a search by all of it takes a minute

# ---- Does a question lean on the conversation? ----

# Words that point outside the question, whatever else is in it.
_POINTING = _any(
    r"^那(?:么(?!些))?(?!里的|些年|时候|不勒斯|曲|年|达慕|霸|斯达克)|^然后(?!缀)|^所以(?!然)|^(?:但是?|不过|可是|而且)(?=如果|要是|我)",
    r"刚才|刚刚?(?=说|提|讲|问|的|那|你|回答)|上面(?=的|说|提|讲|那|这|几|列|写|所|给)|前面(?:说|提|讲|那|的(?!章|部分|小节|内容))",
    r"之前(?:说|提|讲|问|那|你)|你(?:刚|之前|前面)?(?:说|提到?|讲)的|上一?[个条点问轮](?=问|回答|例|[说的呢]|$)",
    r"[这那][一两二三几]?[个些种样点条类项步句段](?!章|词)|(?:^|[,。;\s])[这那](?=[是有对里会能算就也跟怎]|不(?!勒斯)|和|与|为什么|到底)",
    r"(?<!的)第[一二三四五六七八九十\d]+[个点条种](?=[和与]第|[呢是怎里中为有能可的吗再具,?]|方法|指标|问题|方案|步骤|观点|说法|例子|\s|$)",
    r"另外[一两几那][个种些条点]|^其(?=[优缺局特原作目本核主中])|(?:^|,)[该此](?=方法|指标|模型|系统|算法|公式|过程|理论|实验|概念|观点)",
    r"前者|后者|两者|二者|我(?:的|这个)(?=实验|项目|系统|论文|问题)|[和与跟比]它们?(?!的|之前|以前|自己)",
    r"^(?!.*(?:什么|怎|如何|哪|多少|几|谁|是否|为何)).{0,12}呢[?。]?$",
    r"^(?:and|but|so|then|also)\b(?![- ](?:called|gates?|and|far)\b)|^(?:what|how) about\b|^how so\b",
    r"^(?:is )?(?:the )?same (?:for|here|question|true|with)\b|\bthis\b(?! is\b)|\b(?:these|those)\b",
    r"\bthe (?:former|latter)(?=\s*[?.,]?$| (?:or|and|is|are|be|does)\b)|\b(?:the above|the others|both of them)\b",
    r"\bboth\s*[?.]?$|\bthe two(?= (?:differ|compare)|\s*[?.]?$)",
    r"\b(?:the|that|this) (?:first|second|third|last|next|previous|other) "
    r"(?:one|point|option|method|approach|step)\b(?! (?:of|in|to)\b)",
    r"\byou (?:just |also )?(?:said|mentioned)\b|\bdid (?:you|i) (?:just )?(?:say|mention|ask)\b|\bjust now\b|\bearlier[,?.]?$",
    r"\bthat(?: (?:one|way|method|approach|idea|metric|problem|case|part|step|again))?(?:\s*[?.!,]|$)",
    r"\b(?:is|was|does|do|did|can|about|why|like) that\b(?!-)|\b(?:from|than|unlike) (?:it|them)\b",
    r"\bmy (?:own )?(?:experiment|project|system|setup|case|data)\b",
)
# Text that only looks like pointing: "it" that stands for nothing, "this book", the years, two things named a moment before.
_NOT_POINTING = _any(
    r"\bit(?:'?s| be| is)? (?:\w+ )?(?:possible|true|likely|necessary|better|best|good|bad|important|common|ok|safe|useful|easy|"
    r"hard|difficult|enough|mean|(?:make )?sense|matter|takes?|costs?|called|known|said)"
    r"(?= (?:to|that|when|if|whether|which|for|how|what)\b)|\b(?:it'?s |it )worth\b|\bworth it\b",
    r"\b(?:this|these) (?:book|document|paper|pdf|chapter|file|article|text|guide|section|page|year|century|days)s?\b",
    r"\b(?:these|those) (?:\w+ )?\w+ (?:on|in|of|that|who|which|with|from|about)\b",
    r"这(?:本书|篇|份|[一两几]?章|一?节|门课|个(?:文档|文件|词)|些年)|那些年|这样一来",
    r"[\w)]\s?(?<!前者)(?:和|与|跟|、|以及|还是).{1,20}?(?:两者|二者|这[两二三几][个种]|前者(?:[和与比]后者)?|后者)",
    r"\w (?:and|or|vs\.?|versus) .{2,60}\bthe (?:former|latter)\b",
)
# Pronouns may also point at a name in the question itself; which, is decided by `_antecedent`.
_PRONOUN = re.compile(r"\b(?P<whose>its|their|theirs)\b|\b(?:it|they|them)\b|它们?(?P<of>的|之前|以前|自己)?(?!山之石)")
_CLAUSE = re.compile(
    r"[,:;.?]|时候?|如果|因为|当(?!前)|是什么"
    r"|\b(?:and|but|or|when|while|if|because|that|so|before|after|until|since|once|where|which|how|why)\b"
)
# What a question can ask without saying about what: nothing is left of "举个例子", "what's the difference?", "怎么优化？".
_ASKED_FOR = _any(
    r"举|例子?|一句话|太长|展开|继续|接着|接下来|下一?步|具体|详细|简单|通俗|大白话|解释|说[法明]|讲讲?|说说?|再|更|最|一遍|一[点些下]|点",
    r"明白|理解|看懂|懂|没有?|不|太|很|意思|[怎咋]么?办|为[啥何]|[啥咋]|怎么样?|在|如何|为什么|什么|区别|差[别异]|[不异]同|关系|联系",
    r"优缺点|[优缺]点|[优劣]势|[好坏]处|不足|局限性?|影响|作用|用[处途]|有?用|原因|理由|结[果论]|目的|意义|重要|哪[个种些里儿年]?",
    r"其[他它]|另外|还有?|别的|好|快|适?合适?|对吗?|真的|确定|正确|呢|换|翻译|成|[英中汉]文|英语|汉语|哪一?[章节页]|第?几?页|到|看|问题|出处|来源|依据",
    r"代码|公式|计算|算|提出|谁|时候|什么时候|年|地方|优化|改进|改善|实现|做|操作|步骤|总结|概括|比较|对比|[办方]法|方案",
    r"应?该|需要|能|可以|会|要|就|先|后|首先|其次|多少|多[久大长]|几|[个种条两一]|请|给我|帮我|你|我|吧|上面?|那么?|这里?|是|有",
    r"\b(?:tell|give|show|explain|elaborate|continue|go|on|deeper|further|more|such|again|simpl(?:er|y|e)|terms?|words?|else|"
    r"anything|something|examples?|details?|detailed|another|ones?|others?|other|better|best|faster|slower|worse|good|bad|right|wrong|true|"
    r"same|different|differences?|differ|compared?|both|two|pros|cons|(?:dis)?advantages?|benefits?|drawbacks?|limitations?|"
    r"reasons?|purpose|formula|calculated?|computed?|measured?|used?|using|works?|pages?|sources?|written|said|says?|means?|"
    r"understand|get|got|really|sure|next|steps?|happens?|first|second|third|last|previous|opposite|otherwise|improved?|fix|"
    r"optimi[sz]ed?|done|make|apply|applies|help|helps|matters?|translate|summari[sz]e|summary|english|chinese|short(?:er)?|"
    r"briefly|much|many|often|invented|e\.g|all|any|some|not|don'?t|always|still|ok|well|very|think|know|need|want|mentioned|"
    r"asked?|question|answer|before|ago|now|people|someone|anyone|everyone|way|thing|come)\b",
)
_DEFINES = _any(r"^(?:what (?:is|are) an?|define|definition of)\b|^(?:什么是|什么叫)")
_GREETING = _any(r"^(?:你好|您好|好的|好|谢谢|多谢|对|嗯|明白了?|懂了|不用了?)\W*$|^(?:ok|thanks|got it)\b")


def leans_on_context(question: str) -> str:
    """The words that point outside the question, "…" when it does not say what it is about, "" when it stands alone.

    >>> leans_on_context("那这个怎么优化？"), leans_on_context("What is HyDE?"), leans_on_context("the second one?")
    ('那', '', 'the second one')
    >>> leans_on_context("How does it work?"), leans_on_context("When a cell divides, what happens to its DNA?")
    ('it', '')
    """
    asked = fold(re.sub(r"\bIT\b", "technology", question)).strip()
    text = _NOT_POINTING.sub("_", asked)
    pointing = _POINTING.search(text)
    if pointing:
        return pointing[0].strip(" ?.!,") or "…"
    for pronoun in _PRONOUN.finditer(text):
        if not _antecedent(text[: pronoun.start()], possessive=bool(pronoun["whose"] or pronoun["of"])):
            return pronoun[0]
    return "" if names_a_topic(asked) or _GREETING.search(asked) else "…"


def _antecedent(before: str, *, possessive: bool) -> bool:
    """Is something named that a pronoun after `before` can stand for? Its own clause's subject only if it is possessive:
    "how does a cell copy its DNA", but not "how does a cell copy it"."""
    if not possessive:
        ends = [boundary.start() for boundary in _CLAUSE.finditer(before)]
        before = before[: ends[-1]] if ends else ""
    return names_a_topic(before)


def names_a_topic(text: str) -> bool:
    """Is anything left when the words that only ask are taken out? The word to be defined is left: "什么是优化".

    >>> names_a_topic("那这个怎么优化？"), names_a_topic("那这个指标怎么优化？")
    (False, True)
    """
    folded = fold(text)
    if _DEFINES.search(folded):
        return bool(content_tokens(folded))
    return bool(content_tokens(_ASKED_FOR.sub(" ", folded)))


_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5}
_ORDINAL = re.compile(r"\bthe (first|second|third|fourth)\b|第([一二三四五]|\d)[个点条种]", re.I)


def ordinal(question: str) -> int | None:
    """Which of several things is meant: "the second one" → 2; None when no place is named."""
    match = _ORDINAL.search(fold(question))
    if match is None:
        return None
    word = (match[1] or match[2]).lower()
    return int(word) if word.isdigit() else _ORDINALS[word]


# ---- Corrections ----

_CORRECTION = re.compile(
    r"^\s*(?:不对|不是的?|不|错了|你错了|说错了|纠正一下|更正一下|更正|no(?!\. ?\d)|nope|wrong|"
    r"that(?:'s|’s| is) (?:wrong|not right)|not quite|actually|correction)"
    r"\s*[,，:：。.!！;；]\s*(?:(?:it's |it is )?actually|其实|实际上|应该|正确的)?\s*",
    re.I,
)
_SHOULD_BE = re.compile(r"^(?:应该是|应当是|应为|而是|是|it is|it['’]s|it should be|should be)\s*[:：]?\s*", re.I)
# After a "no": what asks, thanks or orders, and does not say what is right.
_NO_VALUE = re.compile(
    r"[?？]\s*$|[吗呢吧]\s*[?？。.]?\s*$|什么|怎么|为什么|如何|哪[个些里种]|^(?:what|why|how|when|where|who|which|can|could|do|does)\b"
    r"|谢谢|不用|算了|没事|没关系|重[新来]|^[^,，先]{0,4}再(?:[想看说试讲来]|回答)|请|帮我|我(?:是说|的意思|是问|问的|指的)"
    r"|\b(?:thanks?|thank you|never ?mind|try|again|please|i (?:mean|meant|asked|don't)|explain|tell me|show me|forget it)\b",
    re.I,
)


def correction(text: str) -> str | None:
    """What the learner says is right, when a text corrects the last answer; None when it is no correction.

    >>> correction("不对，应该是 24 小时"), correction("No, it is 24 hours."), correction("No way to do this?")
    ('24 小时', '24 hours.', None)
    """
    match = _CORRECTION.match(text)
    if match is None or _NO_VALUE.search(text[match.end() :].strip()):
        return None
    right = _SHOULD_BE.sub("", text[match.end() :]).strip()
    return right or None


# ---- Statements about the learner ----


@dataclass(frozen=True)
class Statement:
    """Something the learner said, worth a memory. kind: "fact" (lasting), "event" (done), "wish" (for now only)."""

    text: str
    kind: str


_I = r"(?:^|[,;] |\b(?:and|but|because|so) |^(?:actually|now),? )i"  # not the "I" of a text that is quoted
_REMEMBER = _any(
    r"^\s*(?:请|请你|帮我)?(?:记住|记下|记一下|记着)\s*[:：,，]?\s*",
    r"^\s*(?:please )?(?:remember|note)(?: that| down)?\s*[:：,]?\s+",
)
_NOW = r"(?:现在|目前|如今|其实|已经|以后)?"
_DAY = r"(?:[今明后]天|(?:下|这|本)?个?(?:周|星期|礼拜)[一二三四五六日天]|(?:\d{1,2} ?月)? ?\d{1,2} ?[日号])"
_JOB = "(?:医生|护士|学生|研究生|老师|教师|律师|工程师|设计师|程序员|会计|教授|经理|编辑)"
_TEST = r"(?:考试|期[中末]考?试?|面试|答辩|比赛|考研|高考|中考|[四六]级)"
_PREFERENCE = _any(
    rf"^我{_NOW}(?:不再)?(?:是|当上了?|成了)[^,，。?？]{{0,8}}{_JOB}了?[。!！]?$",
    rf"^我(?:正|正?在|现在在|最近在)?(?:准备|备考)[^,，。?？]{{0,12}}{_TEST}[。!！]?$",
    rf"^我{_DAY}(?:早上|上午|中午|下午|晚上)?(?:要|有|去)?[^,，。?？]{{0,6}}{_TEST}[。!！]?$",
    r"我(?:更|最|比较|不太|不再|不|今天|这次|现在|暂时)?(?:喜欢|偏好|关心|关注|习惯|希望|想要|擅长|讨厌)|我(?:叫|是一[名个])",
    r"我的(?:名字|目标|专业|项目|实验|论文|导师|考试|课题|水平|母语|邮箱|电话|手机号?码?)[^?？]{0,20}(?:是|叫|在|[改换变][成为])",
    rf"{_I} (?:really |no longer |do not |don['’]t )?(?:prefer|like|love|dislike|hate|care about|want|need|am an?|am preparing|"
    r"study|work)\b",
    r"^my (?:name|goal|major|project|experiment|thesis|exam|level|favou?rite [\w ]+) (?:is|are)\b",
)
_EVENT = _any(
    r"我(?:已经|刚|刚刚|今天|昨天)?(?:完成|做完|学完|看完|读完|对比过|试过|跑完|跑了|实现|复习)了?",
    r"我(?!国).{0,16}(?:得|考|拿)了?\s*\d+(?:\.\d+)?\s*分",
    rf"{_I}(?:['’]ve| have)? (?:just )?(?:finished|completed|read|compared|tried|tested|implemented|reviewed|passed)\b",
)
_FOR_NOW = _any(
    r"这次|这一次|今天|现在先|暂时|先(?:别|不|用)|眼下|临时|本轮|这会儿",
    r"\b(?:for now|this time|today|just now|temporarily|for the moment|right now|tonight)\b",
)
_QUESTION = _any(
    r"[?？]|吗\s*[。.]?$|呢\s*[。.]?$|什么|怎么|如何|为什么|哪[个些里种天年月]|几[点号月]|多少|是否",
    r"^(?:please )?(?:what|why|how|when|where|who|which|is|are|do|does|can|could|should|explain|tell|show|give|list|describe|"
    r"define|compare|summari[sz]e|translate|find)\b",
    # a wish to be told something, or not to have understood it, is a question too
    r"(?:想|希望|想要)(?:要)?(?:知道|了解|弄?清楚|搞懂|看看|问|学)|(?:想要|需要).{0,8}(?:例子|解释|说明|总结|概括|帮助)|[没不](?:看|听|读|太)?(?:懂|明白)",
    r"\b(?:want|need|like|love|would like) (?:you )?to (?:know|understand|learn|see|hear|ask|find|get|be)\b",
    r"\b(?:want|need) (?:help|an? (?:\w+ )?(?:example|explanation|summary|definition|overview)|more|you to)\b",
    r"\b(?:don['’]?t|didn['’]?t|do not|did not|can['’]?t|cannot) (?:\w+ )?(?:understand|get|follow|know)\b|\bconfus|\bwonder",
)


def statements(text: str) -> tuple[list[Statement], str]:
    """What a text tells about the learner, and the question that is left (all of it when nothing is told).

    >>> statements("我更关心真实指标。那下一步怎么优化？")
    ([Statement(text='我更关心真实指标。', kind='fact')], '那下一步怎么优化？')
    """
    told: list[Statement] = []
    rest: list[str] = []
    for start, end in sentences(text):
        sentence = text[start:end]
        found = _statement(sentence)
        if found is None:
            rest.append(sentence)
        else:
            name = _NAME_FIRST.match(sentence)
            told += [Statement(name[1], "fact")] if name else []
            told.append(found)
    return (told, " ".join(rest)) if told else ([], text)


# "I am called X, and …": the name is a value of its own, asked for by itself; what follows may lean on its "I".
_NAME_FIRST = re.compile(
    r"(?:(?:你好|大家好)[,，!！]\s*)?((?:我叫|我的名字是|(?i:my name is) )[^,，。.;；]{1,20}?)\s*[,，]\s*(?!不|not\b)\S"
)


def _statement(sentence: str) -> Statement | None:
    asked_to = _REMEMBER.match(sentence)
    if asked_to and len(sentence) > asked_to.end() and not sentence.rstrip().endswith(("?", "？")):
        return Statement(sentence[asked_to.end() :].strip(), "fact")
    if _QUESTION.search(fold(sentence)):
        return None
    if _PREFERENCE.search(sentence) or _states_a_fact(sentence):
        return Statement(sentence, "wish" if _FOR_NOW.search(sentence) else "fact")
    return Statement(sentence, "event") if _EVENT.search(sentence) else None


def _states_a_fact(sentence: str) -> bool:
    """Where I live, my major, when the exam is: what a later statement can correct. Not what a document may say, too."""
    slot = slot_of(sentence)
    if slot is None:
        return False
    return bool(_MINE.search(sentence)) or not slot.parts.keys().isdisjoint(("date", "weekday", "time", "room"))


_MINE = _any(r"\b(?:i|my|our)\b", r"我|咱")


# ---- Pages and instructions in a question ----

_PAGE = _any(
    r"\b(?:on|in|at|of|see)?\s*(?:the )?(?:pdf )?(?:page|p\.)\s*(?:no\.?\s*)?(\d{1,4})\b(?!\s*(?:pages|%|\.\d))",
    r"第\s*(\d{1,4})\s*页",
)
_NAMED_PAGE = {
    1: _any(r"\b(?:first|front|title|cover) page\b|\b(?:on|the front) cover\b|\bon the cover\b|第一页|首页|封面"),
    2: _any(r"\bsecond page\b|第二页"),
    3: _any(r"\bthird page\b|第三页"),
    -1: _any(r"\b(?:last|final) page\b|最后一页|末页"),
}
# Who wrote it, when, and what it is called stands on the first page, mostly in words that are no sentence.
_WHOLE = "(?:this|the) (?:document|paper|report|article|book|thesis|file)"
_OF_THE_WHOLE = _any(
    rf"\b(?:date|title|authors?|writers?|publishers?|full name) of {_WHOLE}\b|\bwho (?:wrote|published|issued) {_WHOLE}\b",
    r"(?:这|本|该)(?:份|篇|本|个)?(?:文档|文件|论文|报告|文章|资料|书)(?:的|是)(?:标题|题目|书名|作者|日期|出版社|发布日期|谁写的|谁发布的)",
)


def page_named(question: str) -> int | None:
    """The page a question points to, 1-based; −1 for the last one, None when it names none.

    What is asked of the document as a whole, its date or title, points to the first.

    >>> page_named("What is the date on page 14?"), page_named("封面上写了什么？"), page_named("how many pages are there?")
    (14, 1, None)
    """
    match = _PAGE.search(question)
    if match:
        return int(match[1] or match[2]) or None
    named = next((page for page, pattern in _NAMED_PAGE.items() if pattern.search(question)), None)
    return 1 if named is None and _OF_THE_WHOLE.search(question) else named


_INSTRUCTION = _any(
    r"^(?:please )?(?:format|round|give|write|answer|return|respond|express|the answer should|your answer should|use)\b.*"
    r"\b(?:answer|integer|decimals?|format|formatted|list|json|words?|sentences?|python|yyyy|percent|english|chinese)\b",
    r"^(?:请)?(?:用|以).{0,20}(?:回答|作答|表示|列出)$|^(?:请)?保留.{0,6}小数|^(?:回答|答案)(?:控制在|不超过|用|请)",
)


def without_instructions(question: str) -> str:
    """The question without sentences that only say how to answer; all of it when nothing else is left.

    >>> without_instructions("What is the date? Format your answer as YYYY-MM-DD.")
    'What is the date?'
    """
    parts = [question[start:end] for start, end in sentences(question.replace("?Round", "? Round"))]
    kept = [part for part in parts if not _INSTRUCTION.search(part.strip(" .。"))]
    return " ".join(kept) if kept and len(kept) < len(parts) else question


# ---- Secrets ----

_NAMES_A_SECRET = r"(?:密码|口令|密钥|password|passwd|passphrase|api[ _-]?key|access[ _-]?key|secret|token)"
_SECRETS = {
    "key": re.compile(
        r"\b(?:sk|pk|rk|gsk|xai|hf|gh[pousr]|xox[abprs]|glpat)[-_](?=[\w-]*\d)[\w-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
        r"|\beyJ[\w-]{10,}\.[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    ),
    # A value with letters and digits, or whatever stands behind "my password is"; but "a token is about four letters" is a fact.
    "password": re.compile(
        rf"{_NAMES_A_SECRET}\s*(?:是|为|is|=|:|：)\s*[\"'“]?(?=[!-~]*\d)(?=[!-~]*[A-Za-z])[!-~]{{6,}}"
        r"|(?:密码|口令|password|passwd|passphrase|\bpin)\s*(?:是|为|is|=|:|：)\s*\d{4,}\b"
        r"|(?:\bmy (?:\w+ )?(?:password|passphrase)|(?:我|登录|账[号户]|wifi)的?(?:密码|口令))\s*(?:是|为|is|=|:|：)\s*"
        r"(?!什么|多少|哪|怎|忘|not\b|too\b|the\b|what\b)\S{4,}",
        re.I,
    ),
    "contact": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+|(?<!\d)1[3-9]\d{9}(?!\d)"),
}
_CARD = re.compile(r"(?<![\d.-])[3-6](?:[ -]?\d){14,18}(?![\d.-])")
_IDENTITY = re.compile(
    r"(?<!\d)[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\w)"
)  # China's


def secret_in(text: str) -> str:
    """Kind of secret a text holds: key, password, contact or card; "" when it holds none.

    >>> secret_in("my password is hunter22"), secret_in("what is a password?")
    ('password', '')
    """
    kind = next((kind for kind, pattern in _SECRETS.items() if pattern.search(text)), "")
    return kind or ("card" if _cards_in(text) else "")


def secrets_in(text: str) -> list[str]:
    """The keys, passwords and card numbers themselves, longest first.

    >>> secrets_in("Why does it fail? my password is hunter22")
    ['my password is hunter22']
    """
    found = [match[0] for kind in ("key", "password") for match in _SECRETS[kind].finditer(text)]
    return sorted({*found, *_cards_in(text)}, key=len, reverse=True)


def _cards_in(text: str) -> list[str]:
    cards = [found[0] for found in _CARD.finditer(text) if _is_card_number(re.sub(r"[ -]", "", found[0]))]
    return cards + [found[0] for found in _IDENTITY.finditer(text)]


def _is_card_number(digits: str) -> bool:
    """By Luhn's check digit, which other long numbers seldom have.

    >>> _is_card_number("4111111111111111"), _is_card_number("4111111111111112")
    (True, False)
    """
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0
