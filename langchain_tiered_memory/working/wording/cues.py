"""The words by which a sentence shows what it is: a rule, a decision, a conclusion, an open task.

The patterns see at most one piece of bounded length (`sentences.pieces`).
"""

from __future__ import annotations

import re

from langchain_tiered_memory.working.wording.rules_en import is_english_rule
from langchain_tiered_memory.working.wording.rules_zh import is_chinese_rule
from langchain_tiered_memory.working.wording.sentences import Reading
from langchain_tiered_memory.working.wording.values import has_number

__all__ = ["is_conclusion", "is_decision", "is_question", "is_rule", "is_task"]


def is_question(text: str) -> bool:
    """Whether a sentence asks something."""
    return text.rstrip("\"'”’」』)）]】*_ ").endswith(("?", "？"))


def is_rule(piece: Reading) -> bool:
    """Whether a piece of a sentence binds the one who is addressed: a prohibition, a duty, a bound, a standing wish."""
    question, number = is_question(piece.text), has_number(piece)
    if not piece.han:
        return is_english_rule(piece, question=question, number=number)
    if is_chinese_rule(piece.text, question=question, number=number):
        return True
    # A sentence in both scripts: "Never use 微信".
    return piece.text[:1].isascii() and is_english_rule(piece, question=question, number=number)


# --- what else a summary keeps ---------------------------------------------------------------------------------------

_DECISION = re.compile(
    r"\b(?:let's|let us|go (?:with|for)|we'll|i'll (?:take|go)|i (?:choose|chose|pick|decided|want the)|decided"
    r"|decision"
    r"|agreed|approved|confirmed|settled|sounds (?:good|right)|instead|book it|do it|the plan is|final(?:ly|ised|ized)?"
    r"|yes, please|go ahead|proceed|ship it|merged?|chosen|selected)\b"
    r"|决定|就用|就选|选(?:了|这|第)|定(?:了|在|为)|敲定|确认|同意|批准|执行|改用|采用|那就|按这个|方案|通过了|好，"
)
_CONCLUSION = re.compile(
    r"\b(?:because|therefore|thus|so the|cause[ds]?|reason|found|turns? out|shows?|means|result|total|sum|conclu\w+"
    r"|confirm"
    r"\w*|fail\w*|error|done|completed?|success\w*|fixed|booked|sent|created|deleted|updated|deployed|paid|refunded"
    r"|cancel\w*|resolved|scheduled|available|unavailable|not found|missing|recommend\w*|best|cheapest|in summary)\b"
    r"|因为|所以|因此|原因|导致|说明|结论|结果|发现|查到|显示|一共|共计|合计|总计|成功|失败|完成|已经?|错误|异常|超时"
    r"|建议|推荐|恢复|修复|没有找到|不存在"
)
_TASK = re.compile(
    r"\b(?:todo|to do|next step|still (?:open|need\w*|to)|pending|waiting (?:for|on)|follow[- ]?up|remind me|later"
    r"|tomorrow"
    r"|i will|i'll|we will|shall i|should i|needs? to|remaining|outstanding|open (?:question|point|issue|task)s?)\b"
    r"|待办|待确认|待处理|下一步|还(?:要|需|没|差)|尚未|稍后|等(?:我|你|他|待)|明天|跟进|提醒我|需要我|要我|剩下"
    r"|未完成|遗留"
)


def is_decision(piece: Reading) -> bool:
    """Whether a sentence settles something."""
    return bool(_DECISION.search(piece.low))


def is_conclusion(piece: Reading) -> bool:
    """Whether a sentence says what was found or done."""
    return bool(_CONCLUSION.search(piece.low))


def is_task(piece: Reading) -> bool:
    """Whether a sentence leaves something to do."""
    return bool(_TASK.search(piece.low))
