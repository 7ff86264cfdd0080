"""The words by which a sentence shows what it is: a rule, a decision, a conclusion, an open task.

The patterns see at most one piece of bounded length (`sentences.pieces`). What is asked of every sentence of a
conversation is asked of its set of words first, which takes a twentieth of what a regular expression takes.
"""

from __future__ import annotations

import re
from typing import Final

from langchain_tiered_memory.working.wording.reading import Reading
from langchain_tiered_memory.working.wording.rules_en import binds_in_english, bounds_in_english, orders_in_english
from langchain_tiered_memory.working.wording.rules_zh import binds_in_chinese, bounds_in_chinese, orders_in_chinese
from langchain_tiered_memory.working.wording.values import has_number

__all__ = ["binds", "bounds", "is_conclusion", "is_decision", "is_question", "is_rule", "is_task"]


_NO_QUESTION: Final = frozenset(".!。！,;:，；：")


def is_question(text: str) -> bool:
    """Whether a sentence asks something."""
    if text[-1:].isalnum() or text[-1:] in _NO_QUESTION:
        return False
    return text.rstrip("\"'”’」』)）]】*_ ").endswith(("?", "？"))


def is_rule(piece: Reading) -> bool:
    """Whether a piece of a sentence binds the one who is addressed: a prohibition, a duty, a bound, a standing wish."""
    question = is_question(piece.text)
    return binds(piece, question=question) or (not question and bounds(piece))


def binds(piece: Reading, *, question: bool) -> bool:
    """Whether a piece says outright what the one who is addressed must, may or must not do.

    Args:
        piece: The piece.
        question: Whether it ends in a question mark.
    """
    if piece.han and binds_in_chinese(piece.text, question=question):
        return True
    # Also of a sentence in both scripts: "Never use 微信".
    return _is_english(piece) and binds_in_english(piece, question=question)


def bounds(piece: Reading) -> bool:
    """Whether a piece that asks nothing binds without saying so.

    It names a bound ("my budget is 900 EUR"), or only tells what to do.
    """
    if has_number(piece):
        if piece.han and bounds_in_chinese(piece.text):
            return True
        if _is_english(piece) and bounds_in_english(piece):
            return True
    return orders_in_chinese(piece.text) if piece.han else orders_in_english(piece)


def _is_english(piece: Reading) -> bool:
    return not piece.han or piece.text[:1].isascii()


# --- what else a summary keeps ---------------------------------------------------------------------------------------

_DECISION_WORDS: Final = frozenset(
    """decided decision agreed approved confirmed settled instead proceed merge merged chosen selected final finally
    finalised finalized""".split()  # noqa: SIM905
)
_DECISION = re.compile(
    r"\b(?:let's|let us|go (?:with|for)|we'll|i'll (?:take|go)|i (?:choose|chose|pick|want the)|sounds (?:good|right)"
    r"|book it|do it|the plan is|yes, please|go ahead|ship it)\b"
)
_DECISION_ZH = re.compile(
    r"决定|就用|就选|选(?:了|这|第)|定(?:了|在|为)|敲定|确认|同意|批准|执行|改用|采用|那就|按这个|方案|通过了|好，"
)
_CONCLUSION_WORDS: Final = frozenset(
    """because therefore thus cause caused causes reason found show shows mean means result total error done complete
    completed fixed booked sent created deleted updated deployed paid refunded resolved scheduled available unavailable
    missing best cheapest sum conclude concludes concluded conclusion conclusions confirm confirms confirmed confirming
    confirmation fail fails failed failing failure failures success successful successfully cancel cancels canceled
    cancelled canceling cancelling cancellation cancellations recommend recommends recommended recommending
    recommendation recommendations""".split()  # noqa: SIM905
)
_CONCLUSION_ZH = re.compile(
    r"因为|所以|因此|原因|导致|说明|结论|结果|发现|查到|显示|一共|共计|合计|总计|成功|失败|完成|已经?|错误|异常|超时"
    r"|建议|推荐|恢复|修复|没有找到|不存在"
)
_TASK_WORDS: Final = frozenset(
    "todo pending later tomorrow remaining outstanding i'll followup".split()  # noqa: SIM905
)
_TASK = re.compile(
    r"\b(?:to do|next step|still (?:open|need\w*|to)|waiting (?:for|on)|follow[- ]up|remind me|i will|we will|shall i"
    r"|should i|needs? to|open (?:question|point|issue|task)s?)\b"
)
_TASK_ZH = re.compile(
    r"待办|待确认|待处理|下一步|还(?:要|需|没|差)|尚未|稍后|等(?:我|你|他|待)|明天|跟进|提醒我|需要我|要我|剩下"
    r"|未完成|遗留"
)


def is_decision(piece: Reading) -> bool:
    """Whether a sentence settles something."""
    if piece.han and _DECISION_ZH.search(piece.text):
        return True
    return not _DECISION_WORDS.isdisjoint(piece.words) or _DECISION.search(piece.low) is not None


def is_conclusion(piece: Reading) -> bool:
    """Whether a sentence says what was found or done."""
    if piece.han and _CONCLUSION_ZH.search(piece.text):
        return True
    if not _CONCLUSION_WORDS.isdisjoint(piece.words):
        return True
    low = piece.low
    return "so the " in low or "turns out" in low or "turn out" in low or "in summary" in low


def is_task(piece: Reading) -> bool:
    """Whether a sentence leaves something to do."""
    if piece.han and _TASK_ZH.search(piece.text):
        return True
    return not _TASK_WORDS.isdisjoint(piece.words) or _TASK.search(piece.low) is not None
