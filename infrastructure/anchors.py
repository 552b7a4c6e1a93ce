"""Where a model's cosines begin and end: those of a question with a passage about something else, and with its own.

E5 puts an unrelated pair at 0.74, MiniLM at 0.02; calibration.py needs both numbers to say how much a cosine means.
"""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infrastructure.embedders import Embedder

# (mean cosine of a question with passages of other articles, with its own passage), by language: XQuAD, first question of
# every 150 paragraphs spread over all articles. One pair for all languages would put an unrelated Chinese passage where a
# matching one across languages stands. MiniLM is an English model: across languages its cosines mean nothing, and with the
# English pair they are low.
Anchors = tuple[float, float] | Mapping[str, tuple[float, float]]
E5_SMALL_ANCHORS = {
    "en": (0.743, 0.873),
    "zh": (0.814, 0.906),
    "zh to en": (0.718, 0.792),
    "en to zh": (0.698, 0.769),
}
_ENGLISH_ONLY = (0.023, 0.588)
MINILM_ANCHORS = {"en": _ENGLISH_ONLY, "zh": (0.346, 0.481), "zh to en": _ENGLISH_ONLY, "en to zh": _ENGLISH_ONLY}
KNOWN_ANCHORS = {"multilinguale5small": E5_SMALL_ANCHORS, "allminilml6v2": MINILM_ANCHORS}


def tail(name: str) -> str:
    """The last two parts of a model's name or folder: the folders above it say nothing about the model."""
    return "/".join(re.split(r"[/\\]", name)[-2:])


def known_anchors(name: str) -> Anchors | None:
    """Measured anchors of a model whose name, or folder, says what it is."""
    bare = re.sub(r"[^a-z0-9]", "", tail(name).lower())
    return next((anchors for known, anchors in KNOWN_ANCHORS.items() if known in bare), None)


# ---- Anchors of a model nobody has measured ----

# Question and passage, six in each language, no two about the same thing. Passages are as long as a short paragraph, because
# cosines depend on length.
PAIRS = (
    (
        "Why do leaves turn yellow in autumn?",
        "As days grow shorter, a tree stops making chlorophyll, the green pigment that captures light. What is left breaks "
        "down within weeks, and the yellow carotenoids that were in the leaf all summer become visible. Cold, sunny days make "
        "the change more striking, while an early frost ends it.",
    ),
    (
        "Who pays for repairs when a rented flat has a broken boiler?",
        "Under most tenancy contracts the landlord keeps heating and hot water in working order at his own cost. The tenant has "
        "to report a defect without delay and may reduce the rent if nothing is done within a reasonable time. Damage that the "
        "tenant has caused is a different matter.",
    ),
    (
        "How does a binary search find a value so quickly?",
        "The array has to be sorted first. The method looks at the element in the middle and drops the half in which the wanted "
        "value cannot be, then repeats this with the rest. A million entries need no more than twenty comparisons, whereas "
        "looking at one after another takes half a million on average.",
    ),
    (
        "When did the first railway between two cities open?",
        "The Liverpool and Manchester line carried its first passengers in September 1830. Unlike earlier tracks, which served "
        "mines and relied on horses, it was worked by steam locomotives from end to end and ran to a timetable. Within a year "
        "most coaches on the parallel road had disappeared.",
    ),
    (
        "What does a high resting pulse say about fitness?",
        "A trained heart moves more blood with each beat and therefore beats less often. Endurance athletes may have fifty beats "
        "a minute at rest, untrained adults seventy to eighty. Values that stay above a hundred deserve a visit to a doctor, "
        "since fever, anaemia or an overactive thyroid can be the cause.",
    ),
    (
        "Why must bread dough rest before baking?",
        "During the rest, yeast feeds on sugar and gives off carbon dioxide, which is held by the elastic net of gluten and "
        "makes the loaf rise. Enzymes form the substances that later give crust and flavour. If the time is cut, the crumb "
        "stays dense; if it is too long, the net tears and the bread sinks.",
    ),
    (
        "为什么海水是咸的？",
        "雨水流过岩石时会溶解其中的矿物质，河流再把这些盐分带进海洋。海水蒸发后水汽升上天空，盐却留了下来，亿万年间越积越多。"
        "海底火山和热液喷口也不断释放氯和硫。如今每升海水平均含有约三十五克盐。",
    ),
    (
        "公司迟迟不发工资，员工可以怎么办？",
        "用人单位应当按照劳动合同约定按时足额支付劳动报酬。如果拖欠，劳动者可以先与单位协商，也可以向劳动监察部门投诉，"
        "或者申请劳动仲裁。因拖欠而辞职的，还可以要求经济补偿。申请时要保留合同、考勤和转账记录。",
    ),
    (
        "梯度下降的学习率太大会怎样？",
        "每一步参数更新的幅度由学习率决定。取值过大时，参数会越过最低点，在山谷两侧来回震荡，损失不降反升，甚至发散成无穷大。"
        "取值过小则收敛缓慢，容易停在平坦区域。常见做法是先预热，再逐渐衰减。",
    ),
    (
        "活字印刷是谁发明的？",
        "北宋庆历年间，平民毕昇用胶泥刻字，烧硬之后排在铁板上，以松脂和蜡固定，印完还能拆下再用。沈括在《梦溪笔谈》里记下了"
        "这一方法。与整块雕版相比，它在印数多、书目杂的时候更省工料，后来又有木活字和铜活字。",
    ),
    (
        "怎样判断西瓜熟没熟？",
        "看瓜蒂，卷曲发干的多半已经成熟，碧绿挺直的往往摘早了。用手指轻弹，声音低沉浑厚的正好，清脆的偏生，发闷的可能过熟。"
        "瓜身贴地的一面如果呈奶黄色，说明日照充足，糖分也高；发白则还差几天。",
    ),
    (
        "地震时待在高楼里应该躲到哪里？",
        "摇晃开始后不要乘电梯，也不要往外跑，应就近蹲在结实的桌子下面或承重墙的内角，护住头部，远离窗户和吊灯。"
        "主震过去后关掉燃气和电源，沿楼梯有序撤离，到空旷处等候。余震可能持续数小时。",
    ),
)


def measure_anchors(embedder: "Embedder") -> tuple[float, float]:
    """(mean cosine of unrelated, of matching pairs) over PAIRS; unrelated only within a language, as in a real library."""
    questions = [embedder.embed_query(question) for question, _ in PAIRS]
    passages = embedder.embed_passages([passage for _, passage in PAIRS])
    half = len(PAIRS) // 2
    unrelated, matching = [], []
    for row, question in enumerate(questions):
        for column, passage in enumerate(passages):
            if row == column:
                matching.append(float(question @ passage))
            elif (row < half) == (column < half):
                unrelated.append(float(question @ passage))
    return math.fsum(unrelated) / len(unrelated), math.fsum(matching) / len(matching)
