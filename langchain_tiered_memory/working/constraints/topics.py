"""What a constraint is about, and whether a later sentence changes an earlier one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from langchain_tiered_memory.working.constraints.sentences import compiled, is_question

__all__ = ["changes", "terms_of", "topic_of"]

_COMMON: Final = (
    "a an the this that these those it its i i'm i'd i've i'll me my mine we our us you your he she they them their "
    "him her his and or but so if then than as of to in on at by for from with into about over under above below "
    "after before until till up out off is are was were be been being am do does did don't doesn't didn't have has "
    "had can can't cannot could will would shall should must mustn't may might need needs not no nor never always "
    "only just also too very please kindly now any anymore more longer again still instead rather other all each "
    "every some what which who when where how there here ok okay yes well actually sorry thanks let's lets make made "
    "set get got go want like say said tell rule rules constraint limit limits restriction requirement instruction "
    "condition forget ignore disregard scratch drop scrap cancel withdraw revoke lift remove change changed raise "
    "raised lower lowered increase increased reduce reduced move moved shift switch update updated extend extended "
    "replace replaces correction use using allowed permitted allow permit fine free back request requests most least "
    "max min exactly eur euro euros usd dollar dollars pounds yuan january february march april june july august "
    "september october november december"
)
"""Words that say how binding a sentence is, or that it changes something, but not what it is about."""
_COMMON_ZH: Final = (
    r"现在可以|可以|不用再|不用|不再|不要|不能|不得|不许|不必|只允许|只能|只用|只准|只许|允许|必须|务必|禁止|请勿|请|取消|撤销|作废"
    r"|解除|[改换变推提]?[成为到]|改用|其实|之前|以前|刚才|原来|[那这][条个]|规则|限制|要求|规定|禁令|说过?|忘掉|忘了|忽略|算了|现在|而不是"
    r"|不是|最多|至多|至少|不?超过|上限|下限|不低于|一律|始终|总是|记住|[今以之]后|[的了吧和与在把将是从您他它也都就再还要用元块条个前后不只仅别]"
    r"|我们?|你们?|人民币|美元|欧元|请求|关于"
)
_TERM: Final = r"[a-z0-9][a-z0-9_@/+'-]*(?:\.[a-z0-9_]+)*|[一-鿿]+"
_NUMBER: Final = r"[\d/+'.:,-]+(?:st|nd|rd|th|am|pm|h|k|m|x|s)?$"
_CHANGES: Final = (
    r"(?i)\b(?:instead|rather than|no longer|any ?more|changed my mind|replaces?|supersedes?|overrides?"
    r"|(?:is|are|will be) (?:now|fine|ok(?:ay)?|allowed)|you (?:may|can) \w+(?: [\w\s]+)? now|(?:may|can) now"
    r"|now (?:is|be|it's|use|call|reply|answer|send)|(?:don't|needn't|do not) (?:need|have) to"
    r"|(?:forget|ignore|disregard|scratch|scrap|cancel|withdraw|revoke|lift|waive|drop) (?:the|that|what|my|all)"
    r"|(?:chang|rais|lower|increas|reduc|mov|shift|switch|updat|extend|postpon|push|cut)\w*\b.*\b(?:to|from|back))\b"
    r"|^(?:correction|actually|update|on second thought)\b"
    r"|改[成为到用]|换成|变[成为]|更正|而不是|调整[到为成]|提高到|降低?到|推迟到|提前到|不再|现在可以|可以.{1,20}了|允许.{1,12}了"
    r"|(?:取消|撤销|解除|废除|忘掉|忽略)|作废|失效|不算数|[不无]用再|不必再|无需再|解禁"
)
_UNSETTLED: Final = (
    r"(?i)\b(?:maybe|perhaps|might|thinking|considering|suggest\w*|propos\w*|if|unless"
    r"|(?:never|not|don't|dont|nobody) (?:\w+ ){0,2}(?:drop|lift|forget|ignore|mov|chang|rais|cancel|push)\w*)\b"
    r"|可能|也许|或许|考虑|提议|如果|要是|除非|不要以为|(?:不要?|不能|不得|别|没有?)(?:取消|忘|把?.{0,6}改|撤销)"
)


@cache
def _common() -> frozenset[str]:
    return frozenset(_COMMON.split())


def _terms(text: str) -> Iterator[str]:
    # "get" and "set" say little, GET does.
    yield from map(str.lower, compiled(r"(?<![A-Za-z])(?:GET|SET)(?![A-Za-z])").findall(text))
    for term in compiled(_TERM).findall(text.lower().replace("’", "'")):
        if term[0] >= "一":
            yield from (run for run in compiled(_COMMON_ZH).sub(" ", term).split() if len(run) > 1)
        elif term not in _common():
            yield term[:-1] if len(term) > 3 and term[-1] == "s" and term[-2] != "s" else term  # noqa: PLR2004  # "was"


def topic_of(text: str) -> str:
    """What a sentence is about: its words without those that only say how binding it is, and without its numbers.

    Args:
        text: A constraint.

    Returns:
        The words, sorted and joined by a space: the same for two sentences that differ in their numbers.
    """
    return " ".join(sorted({term for term in _terms(text) if not compiled(_NUMBER).match(term)}))


def terms_of(text: str) -> frozenset[str]:
    """The terms of a text, numbers too, to compare it with another: runs of Chinese as pairs of letters."""
    found: set[str] = set()
    for term in _terms(text):
        found.update((term[at : at + 2] for at in range(len(term) - 1)) if term[0] >= "一" else (term,))
    return frozenset(found)


def changes(text: str) -> bool:
    """Whether a sentence says that something it speaks of is different from now on."""
    if is_question(text) or compiled(_CHANGES).search(text) is None:
        return False
    return compiled(_UNSETTLED).search(text) is None
