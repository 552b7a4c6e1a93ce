"""Chinese statements that hold one value: which forms there are. What they mean is in slots.py."""

import re
from collections.abc import Mapping

from infrastructure.amounts import NUMBER, NUMBER_ZH, number
from infrastructure.dates import calendar_dates

NAME = "zh"
Found = tuple[str, Mapping[str, str], bool]  # subject with attribute, value by kind, denied


def parse(text: str) -> Found | None:
    """Subject with attribute, value by kind, denied; None when the statement leaves room for a second value."""
    core = _SPACE.sub("", text) if " " in text else text
    core = _LEAD.sub("", core, count=1)
    if core[-1:] in "了啦呢吧哦啊哈已才对过的来考换改定搬升":
        core = _TAIL.sub("", core)
    return _about_me(core) or _favourite(core) or _about_a_thing(core)


_SPACE = re.compile(r"\s+(?=[^A-Za-z])|(?<=[^A-Za-z])\s+")  # stays between two Latin words
_LEAD = re.compile(
    r"^(?:(?:不对|不是的|错了|更正(?:一下)?|纠正一下|其实|对了|哦|嗯|那个|现在|目前|从今天起|从现在起|以后|最近|请?记住|记一下|"
    r"我改主意了|我说错了|说错了|补充一下|告诉你)[,，:：。.!！\s]*)+"
)
_LATELY = "(?:刚刚?|已经|终于|上周|昨天|今天|上个月)"
_TAIL = re.compile(
    rf"(?:[,，]?(?:了|啦|呢|吧|哦|啊|哈|的啦|而已|才对)|[,，]{_LATELY}(?:考|通|换|改|定|决定|确定|搬|升)(?:过|的|下来)?)+$"
)
_ONCE = "(?:现在|目前|已经|刚刚?|最近|昨天|今天|上周|上个月|去年|今年|又|也)*"
_CLAUSE = re.compile(
    r"[,，。;；、]|[很太非真挺蛮]|因为|所以|但是|如果|什么|哪|的时候|和|或|跟|以及|还是|不太|不知道|一个|一种|一样|的$"
)

# ---- about me ----

_PLACE = "([^,，。、的在了过]{2,10}?)"
_FIRM = r"([^,，。的了]{2,14}?(?:公司|集团|银行|大学|医院|学院|中学|小学|研究所|局))"
_SCHOOL = r"([^,，。的了]{2,14}?(?:大学|学院|中学|小学|高中|初中))"
# A job one has; who is a student may well have one, too.
JOBS = (
    "医生|大夫|护士|护士长|护师|药师|教师|老师|教授|讲师|律师|法官|工程师|设计师|架构师|分析师|咨询师|会计|会计师|厨师|摄影师|程序员|研究员|公务员|"
    "店员|演员|服务员|销售员?|售货员|飞行员|快递员|经理|主管|总监|主任|编辑|记者|翻译|作家|画家|科学家|导演|警察|军人|司机|顾问|助理|秘书|客服|工人|农民|博士后"
)
_JOB = rf"(?:一?[名个位])?([^,，。是不的]{{0,8}}?(?:{JOBS}))"
_PUPIL = r"(?:一?[名个位])?([^,，。是不的]{0,6}?(?:研究生|本科生|高中生|初中生))"
# Attribute, kind of value (− denies it), form, and a word that must stand in it.
_FORMS = (
    ("我住", "place", rf"我家?{_ONCE}(?:住在?|居住在|定居在?|在){_PLACE}(?:居住|生活|定居|住(?:着)?)?", "住|居|家"),
    (
        "我住",
        "place",
        rf"我家?{_ONCE}(?:从.{{2,8}}?)?(?:搬家?到|搬去|搬回|移居到?|迁到)了?{_PLACE}(?:住|去|来|生活|居住)?",
        "",
    ),
    ("我住", "-place", rf"我家?{_ONCE}(?:不住在?|不再住在?|不在){_PLACE}(?:住)?", "住|家"),
    ("名字", "value", r"我(?:叫|名叫|改名叫|改名为)做?([^,，。是不的]{2,12})", ""),
    ("职业", "value", rf"我{_ONCE}(?:是|当上?|做|成|成为|转行做|改行做|的工作是)了?{_JOB}", ""),
    ("职业", "-value", rf"我{_ONCE}(?:不是|不再是|不当|不做|不再做){_JOB}", ""),
    ("我是学生", "value", rf"我{_ONCE}(?:是|考上|成|成为)了?{_PUPIL}", ""),
    (
        "我年级",
        "value",
        rf"我{_ONCE}(?:读|上|念|在读|在上|升)到?(大[一二三四五]|研[一二三]|博[一二三四]|高[一二三]|初[一二三])",
        "",
    ),
    ("年龄", "amount", rf"我(?:的年龄是)?{_ONCE}(?:满|快)?({NUMBER}|{NUMBER_ZH})周?岁半?", ""),
    ("身高", "amount", rf"我的?(?:身高|高)(?:是|有)?{_ONCE}({NUMBER})(?:cm|厘米|公分)", ""),
    ("体重", "amount", rf"我的?(?:体重|重)(?:是|有)?{_ONCE}({NUMBER})(?:kg|公斤|斤)", ""),
    ("我单位", "value", rf"我{_ONCE}在{_FIRM}(?:工作|上班|任职|实习)", ""),
    ("我学校", "value", rf"我{_ONCE}在{_SCHOOL}(?:读书|上学|念书|学习|读研|读博|就读)", ""),
)
_FORMS_ME = [(about, kind, re.compile(form), re.compile(needs)) for about, kind, form, needs in _FORMS]
_HAVE = re.compile(
    rf"我{_ONCE}有({NUMBER}|{NUMBER_ZH})(?:个|只|条|位)(孩子|小孩|儿子|女儿|哥哥|姐姐|弟弟|妹妹|兄弟|姐妹|猫|狗|宠物)"
)
_PREFER = re.compile(r"(?:比起|和|跟|与)(.{1,10}?)(?:相比)?[,，]?我(?:还是|现在)?(?:更|比较)(?:喜欢|偏好|爱)(.{1,10})")
_PREFER_NOT = re.compile(r"我(?:还是|现在)?更(?:喜欢|偏好|爱)(.{1,10}?)[,，]?(?:而不是|不是|胜过|超过|多过)(.{1,10})")
_FROM_TO = re.compile(
    r"我把?(?:的|我的)?([^从由]{2,10}?)(?:从|由)(?:.{1,10}?)(?:改|换|变|转|调)(?:成|为|到)了?(.{1,15})"
)
# 上海 and 浦东新区 and 人民路 can all be true.
_COUNTRY = "中国|日本|德国|法国|英国|美国|加拿大|印度|意大利|西班牙|俄罗斯|韩国|巴西|澳大利亚|新加坡|泰国|国内|国外"
_HOUSE = "路|街|道|巷|号|楼|室|小区|苑|城|里|公寓|宿舍|校|学校|大学|家|酒店|附近|旁边?"
_LEVELS = (
    ("country", re.compile(f"^(?:{_COUNTRY})$")),
    ("province", re.compile("(?:省|自治区|州)$")),
    ("district", re.compile("(?:区|县|镇|乡|村)$")),
    ("house", re.compile(f"(?:{_HOUSE})$")),
)


def _about_me(core: str) -> Found | None:
    if not core.startswith(("我", "比起", "和", "跟", "与")):
        return None
    for about, kind, form, needs in _FORMS_ME:
        match = form.fullmatch(core)
        if match and needs.search(core) and not _CLAUSE.search(match[1]):
            value = _amount(match[1]) if kind == "amount" else match[1]
            denied, kind = kind[0] == "-", kind.lstrip("-")
            return about, {_level(value) if kind == "place" else kind: value}, denied
    return _pairs(core)


def _level(place: str) -> str:
    return next((name for name, form in _LEVELS if form.search(place)), "place")


def _pairs(core: str) -> Found | None:
    if match := _HAVE.fullmatch(core):
        return f"我有{match[2]}", {"amount": _amount(match[1])}, False
    if match := _PREFER.fullmatch(core):
        return _choice(match[2], match[1])
    if match := _PREFER_NOT.fullmatch(core):
        return _choice(match[1], match[2])
    if match := _FROM_TO.fullmatch(core):
        return _about_a_thing(f"我的{match[1]}是{match[2]}")
    return None


def _choice(chosen: str, other: str) -> Found:
    return f"我更喜欢{'和'.join(sorted((chosen, other)))}", {"choice": chosen}, False


# ---- favourites ----

_BEST = r"(最(?:喜欢|爱|讨厌|不喜欢|常用|欣赏|崇拜)的[^是,，。]{1,10}?)"
_FAVOURITE = re.compile(
    rf"(我们?|[^,，。是我]{{2,4}}?)的?{_ONCE}{_BEST}{_ONCE}(不再是|不是|是|变成|改成|换成|成了)([^,，。;；:：、]{{1,15}}(?:[,，].+)?)"
)
_FAVOURITE_REVERSED = re.compile(rf"([^,，。是]{{1,15}}?)(?:现在)?是(我们?){_BEST}")


def _favourite(core: str) -> Found | None:
    if "最" not in core or "之一" in core:
        return None
    if match := _FAVOURITE_REVERSED.fullmatch(core):
        return _with_value(match[2] + match[3], match[1], False)
    if match := _FAVOURITE.fullmatch(core):
        return _with_value(match[1] + match[2], match[4], match[3].startswith("不"))
    return None


def _with_value(subject: str, rest: str, denied: bool) -> Found | None:
    """不是蓝色而是绿色 says green; 是绿色，不是蓝色 too."""
    if denied and (match := re.fullmatch(r"(.+?)[,，]?(?:而是|是)(.+)", rest)):
        rest, denied = match[2], False
    rest = _TAIL.sub("", re.sub(r"[,，]?(?:而)?不(?:再)?是.+$", "", rest))
    return None if not rest or _CLAUSE.search(rest) or len(rest) > 15 else (subject, {"value": rest}, denied)


# ---- about a thing ----

_CHANGED = ("改成", "改为", "换成", "变成", "变为", "调整为")
_VERBS = (
    "不再是|不是|不在|是在|是|为|叫|(?<![现正存所])在|定在|定于|安排在|改在|改到|改期到|改至|换到|推迟到|提前到|延期到|延到|挪到|调到|调整到|移到|"
    "有|共有|一共有|总共有|需要|要|花|等于|=|:|：|" + "|".join(_CHANGED)
)
_THING = re.compile(
    rf"((?:我|我们|咱们|这|那)?[^,，。]{{1,16}}?)(?:的?(?:时间|日期))?{_ONCE}(?:被)?({_VERBS})了?(.{{1,30}})"
)
_FROM = re.compile(r"(?:从|由).{1,15}$")
_DETERMINERS = re.compile(
    r"^(?:我们的|我们|咱们的?|我的新(?=.{2})|我的|我|现在的|目前的|新的|这次的?|这个|这场|这门|那个|那场|那门|本次)|的$"
)
# Things that are done, people of whom there may be two, and what is measured again.
_NOT_A_THING = re.compile(
    r"[了过着吗呢吧也都还就很但因所如说看读学写做问去到和跟与或]|之一|以前|曾经|之前|最近|有时|有些|每|的.*的|"
    r"朋友|同学|同事|老师|哥哥|弟弟|姐姐|妹妹|儿子|女儿|猫|狗|准确率|召回率|精确率|得分|分数|成绩|温度|延迟|结果"
)
_AGAIN_AND_AGAIN = re.compile("课|讲座|训练|练习|值班|例会|复习|锻炼|跑步|健身")
_ONE = (
    "名字|姓名|全名|昵称|生日|年龄|身高|体重|专业|职业|工作单位|公司|学校|大学|母校|导师|班主任|老板|上司|领导|电话|手机号|手机号码|"
    "邮箱|地址|住址|家乡|老家|母语|预算|微信号|微信|学号|工号|班级|血型|星座|国籍|民族|男朋友|女朋友|男友|女友|妻子|丈夫|老公|老婆|"
    "室友|论文题目|论文选题|论文方向|研究方向|研究课题|选题|课题|座位|座位号|房间|房间号|密码|时区|首都|省会|作者|校长|院长|总统|主席|"
    "创始人|队长|默认值|颜色|品牌|型号|版本|目标分数|水平|级别|院校|科室|论文主题|数据库|语言|城市|职位"
)
_HOLDS_ONE = re.compile(rf"(?:^|.*的|.*[^\u4e00-\u9fff])(?:{_ONE})$|^.{{0,6}}(?:{_ONE})$")
_HAS_TYPE = re.compile(r"[\d零〇一二两三四五六七八九十百千半]|周|星期|礼拜|教室|报告厅")


def _about_a_thing(core: str) -> Found | None:
    match = _THING.fullmatch(core)
    if match is None:
        return None
    thing, verb, rest = _FROM.sub("", match[1]), match[2], match[3]
    subject = _bare(thing)
    if _NOT_A_THING.search(subject) or subject in ("我", "我们"):
        return None
    denied = verb.startswith("不")
    parts = _of_a_type(rest, counts=verb not in ("在", "改到"))
    if parts.keys() & {"date", "weekday", "time"} and _AGAIN_AND_AGAIN.search(subject):
        return None
    if parts:
        counted = "有" in verb and any(kind.startswith("amount") for kind in parts)
        return subject + "有" * counted, parts, denied
    if verb in ("是", "为", "叫", "不是", "不再是", *_CHANGED) and _HOLDS_ONE.search(thing.removesuffix("的")):
        return _with_value(subject, rest, denied)
    return None


def _bare(thing: str) -> str:
    """Without 我的, 这次, 的: my exam and the exam are one."""
    while (bare := _DETERMINERS.sub("", thing)) not in ("", thing):
        thing = bare
    return thing


# ---- values of a type: a date, a time, a room, an amount ----

_WEEKDAY = re.compile(r"(?:下|这|本)?个?(?:周|星期|礼拜)([一二三四五六日天])")
_HOUR = r"(\d{1,2}|[一二两三四五六七八九十]{1,3})[点时](?:(半)|(\d{1,2})分?)?"
_TIME = re.compile(rf"(凌晨|早上|上午|中午|下午|晚上|傍晚)?(?:(\d{{1,2}})[:：](\d{{2}})|{_HOUR})")
_ROOM = re.compile(r"(?:第?\w{1,6}(?:教室|会议室|实验室|报告厅|楼|室|号厅)|[A-Z]?\d{3,4})")
_BETWEEN = re.compile(r"举行|开始|进行|考试|考|召开|截止|结束|交|[在的,，\s日]")


def _of_a_type(rest: str, *, counts: bool) -> dict[str, str]:
    if not _HAS_TYPE.search(rest):
        return {}
    return _typed(rest) or (_amounts(rest) if counts else {})


def _typed(rest: str) -> dict[str, str]:
    """Dates, weekdays, times and rooms, if the text consists of them; else {}."""
    parts: dict[str, str] = {}
    left = rest
    for start, end, when in calendar_dates(rest):
        parts["date"] = when
        left = left[:start] + "," * (end - start) + left[end:]
    for kind, form, read in (("weekday", _WEEKDAY, _weekday), ("time", _TIME, _clock), ("room", _ROOM, _room)):
        matches = list(form.finditer(left))
        if len(matches) > 1:
            return {}
        for match in matches:
            parts[kind] = read(match)
        left = form.sub(",", left)
    return {} if _BETWEEN.sub("", left) else parts


def _weekday(match: re.Match[str]) -> str:
    return match[1].replace("天", "日")


def _room(match: re.Match[str]) -> str:
    return match[0].removeprefix("第")


def _clock(match: re.Match[str]) -> str:
    half_day, hour24, minute24, hour, half, minute = match.groups()
    value = int(number(hour24 or hour) or 0)
    late = half_day in ("下午", "晚上", "傍晚") and value < 12
    return f"{value + 12 * late:02}:{'30' if half else minute24 or (minute or '0').zfill(2)}"


_AMOUNT = re.compile(rf"(?:大约|大概|约|只)?({NUMBER}|{NUMBER_ZH})(?!月|日|号|点|年级)([^\d,，。]{{0,5}})")


def _amounts(rest: str) -> dict[str, str]:
    """{"amount 小时": "24.0"} for 24小时; {} for what is no amount."""
    match = _AMOUNT.fullmatch(rest)
    if match is None or _CLAUSE.search(match[2]) or number(match[1]) is None:
        return {}
    return {f"amount {match[2]}".strip(): _amount(match[1])}


def _amount(text: str) -> str:
    return str(number(text))
