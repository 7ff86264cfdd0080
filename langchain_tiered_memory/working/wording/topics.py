"""What a constraint is about, and which of the known ones a later sentence withdraws or changes.

The rule is a careful one: a sentence replaces another only if it says that something changes, if all it speaks of is
in the other one, and if no other known constraint fits as well. Otherwise both stay, the newer one last, and a model
that reads them sees which came later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from langchain_tiered_memory.working.wording.sentences import Reading, plain
from langchain_tiered_memory.working.wording.values import numbers_of

__all__ = ["changes", "find_replaced", "topic_of", "withdraws"]

_TERM = re.compile(r"[a-z0-9][a-z0-9_@/+'-]*(?:\.[a-z0-9_]+)*|[一-鿿]+")
_PURE_NUMBER = re.compile(r"[\d/+'.:-]+(?:st|nd|rd|th|am|pm|h|k|m|x|s)?$")
_COMMON: Final = frozenset(
    """a an the this that these those it its i i'm i'd i've i'll me my mine we our ours us you your yours he she they
    them
    their him her his and or but so if then than as of to in on at by for from with into about over under above below
    after
    before until till up out off down is are was were be been being am do does did don't doesn't didn't have has had can
    can't cannot could will would shall should must mustn't may might need needs not no nor never always only just also
    too
    very really please kindly now any anymore more longer again still instead rather other another all each every some
    same
    what which who when where how there here ok okay yes well actually sorry hey hi hello thanks thank let let's lets
    make
    made set get got go want wants like say said tell earlier previous old new former above-mentioned rule rules
    constraint
    constraints limit limits restriction restrictions requirement requirements instruction instructions condition
    conditions
    thing things one ones forget ignore disregard scratch drop scrap cancel withdraw revoke lift remove undo never-mind
    change changed changes raise raised raise lower lowered increase increased reduce reduced move moved shift shifted
    switch update updated extend extended bump replace replaces correction mind use using used uses allowed permitted
    allow permit fine okay free back request requests most least max maximum min minimum exactly eur euro euros usd
    dollar
    dollars pounds yuan eur. keep remember note that's it's isn't aren't won't you're we're they're he's she's there's
    said about back january
    february march april june july august september october november december jan feb mar apr jun jul aug sep sept oct
    nov
    dec""".split()  # noqa: SIM905
)
_CAPITAL_METHOD = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)(?![A-Za-z])")
_METHODS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_METHOD_CLASS: Final = "http-method"
_COMMON_ZH = re.compile(
    r"现在可以|可以|不用再|不用|不再|不要|不能|不得|不许|不必|只允许|只能|只用|只准|只许|允许|必须|务必|禁止|请勿|请"
    r"|取消|撤销|作废|改成|改为|改到|改用|换成"
    r"|变成|变为|更正|其实|之前|以前|刚才|先前|原来|那条|那个|这条|这个|规则|限制|要求|规定|禁令|说过?|忘掉|忘了|忽略"
    r"|不算数|算了|现在|而不是|不是|最多|至多"
    r"|至少|不超过|超过|上限|下限|不低于|一律|始终|总是|记住|今后|以后|之后|的|了|吧|和|与|在|把|将|是|为|到|从|我们?"
    r"|你们?|您|他们?|它|也|都|就|再|还|要|用"
    r"|元|块|人民币|美元|欧元|请求|关于|有关|条|个|前|后|不|只|仅|別|别"
)
_HAN = re.compile(r"[一-鿿]")

_WITHDRAWS = re.compile(
    r"\b(?:forget|ignore|disregard|scratch|never mind|drop|scrap|cancel|withdraw|revoke|lift|remove|undo|waive|skip)\b"
    r"(?=.*\b(?:rules?|constraints?|restrictions?|limits?|limitation|requirements?|instructions?|conditions?|ban|cap"
    r"|ceiling"
    r"|deadline|i said|i told you|i asked)\b)|\bno longer (?:applies|apply|needed|required|necessary|valid|matters?)\b"
    r"|\b(?:rule|restriction|limit|requirement|condition|ban|cap|constraint|instruction)s? (?:no longer|is lifted"
    r"|is gone|is off"
    r"|does not apply|doesn't apply|is (?:hereby )?(?:withdrawn|cancel\w+|void|obsolete|over|waived)|are (?:lifted"
    r"|gone|off|void|over))"
    r"|(?:取消|撤销|撤消|解除|废除|忽略|忘掉|忘了)[^,，。]{0,30}(?:限制|规则|要求|规定|禁令|那条|条件|上限|约束|的话"
    r"|说的)"
    r"|(?:限制|规则|要求|规定|禁令|条件|上限|约束)[^,，。]{0,10}(?:取消|作废|撤销|解除|不算数|失效|不再)|不用再"
    r"|不必再|不再需要|无需再"
)
_CHANGE_MARKS: Final = frozenset(
    """forget ignore disregard scratch mind drop scrap cancel withdraw revoke lift remove undo waive skip longer rule
    restriction limit requirement condition ban cap constraint instruction rules limits restrictions
    requirements""".split()  # noqa: SIM905
)
_PERMITS = re.compile(
    r"\byou(?:'re| are)? (?:may|can|could|now have permission to|have (?:my )?permission to|(?:now )?allowed to"
    r"|(?:now )?free to)\b"
    r"(?! (?:only|not|never))|\byou (?:don't|do not|no longer) (?:need|have) to\b|\b(?:is|are) (?:now )?(?:fine|ok"
    r"|okay|allowed"
    r"|permitted|acceptable)\b|现在可以|可以[^,，。]{1,20}了|(?:现在|已经?)允许|允许[^,，。]{1,12}了"
)
_CHANGES = re.compile(
    r"\binstead of\b|\brather than\b|\b(?:is|are|will be) now\b|\bnow (?:is|be|it's|use|call|reply|answer|send)\b"
    r"|\bno longer\b"
    r"|\bany ?more\b|\b(?:chang|rais|lower|increas|reduc|mov|shift|switch|updat|extend|bump|reschedul|postpon|push"
    r"|cut)\w*\b.*"
    r"\b(?:to|from|back)\b|\bmake (?:it|that|the)\b|^(?:correction|actually|update|on second thought|sorry)\b"
    r"|\bchanged my mind\b"
    r"|\b(?:replaces?|supersedes?|overrides?)\b|\bnot \d|改成|改为|改到|改用|換成|换成|变成|变为|更正|而不是"
    r"|调整[到为成]|提高到|降到|降低到|推迟到|提前到|其实|不再"
)
_POINTS_BACK = re.compile(
    r"\b(?:make|change|raise|set|push|move|lower|cut|keep) (?:it|that|this|them)\b|(?:把)?(?:它|这个|那个)改"
)
"""Words that say nothing without the sentence that they change, so that one has to stay."""
_OLD_PART = re.compile(r"(?:\binstead of|\brather than|而不是)(.+)$")
_RULE_NOUN = re.compile(
    r"\b(?:rules?|restrictions?|constraints?|instructions?|requirements?|ban)\b|规则|限制|规定|要求|禁令"
)


def topic_of(text: str) -> str:
    """What a sentence is about: its words without those that only say how binding it is, and without its numbers.

    Args:
        text: A constraint.

    Returns:
        The words, sorted and joined by a space: the same for two sentences that differ in their numbers.
    """
    # Only in capitals: "get" and "put" are words like others.
    terms = {method.lower() for method in _CAPITAL_METHOD.findall(text)}
    if terms:
        terms.add(_METHOD_CLASS)
    for term in _TERM.findall(plain(text)):
        if term[0] >= "一":
            terms.update(run for run in _COMMON_ZH.sub(" ", term).split() if len(run) > 1)
        elif term not in _COMMON and not (term[0].isdigit() and _PURE_NUMBER.match(term)):
            terms.add(_singular(term))
    return " ".join(sorted(terms))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word  # noqa: PLR2004


def withdraws(piece: Reading) -> bool:
    """Whether a sentence takes back a rule that was laid down before."""
    if not piece.han and _CHANGE_MARKS.isdisjoint(piece.words):
        return False
    return _WITHDRAWS.search(piece.low) is not None


def changes(text: str) -> bool:
    """Whether a sentence says that something is withdrawn, changed or now allowed."""
    low = plain(text)
    return any(pattern.search(low) for pattern in (_WITHDRAWS, _PERMITS, _CHANGES))


def find_replaced(text: str, topic: str, known: Sequence[tuple[str, str, bool]]) -> int | None:
    """Which of the known constraints a sentence that changes something replaces.

    Args:
        text: The later sentence, of which `changes` is true.
        topic: Its topic.
        known: Text, topic, and whether it is a rule, of each known constraint.

    Returns:
        The place of the one it replaces, or `None` where there is none, or more than one that fits as well.
    """
    low = plain(text)
    takes_back, permits = bool(_WITHDRAWS.search(low)), bool(_PERMITS.search(low))
    rules_only = permits or (takes_back and bool(_RULE_NOUN.search(low)))
    terms, numbers = set(topic.split()), numbers_of(text)
    if not terms or _POINTS_BACK.search(low):
        return None
    old = _OLD_PART.search(low)
    old_terms = set(topic_of(old[1]).split()) if old else set()
    fits: list[tuple[float, int]] = []
    for place, (other, about, is_a_rule) in enumerate(known):
        if (rules_only and not is_a_rule) or len(numbers - (theirs := numbers_of(other))) > 1:
            continue  # by another number it speaks of something else: "room 12 is now 90" says nothing of room 14
        # A change of a value needs a value to change; taking a rule back does not.
        if numbers and not theirs and not (takes_back or permits):
            continue
        if fit := _fit(terms, set(about.split()), old_terms, permits=permits, other=other):
            fits.append((fit, place))
    fits.sort(reverse=True)
    # What ends a rule must mean this one; what changes a value means the one that is closest.
    if not fits or (len(fits) > 1 and (takes_back or permits or fits[0][0] == fits[1][0])):
        return None
    return fits[0][1]


def _fit(terms: set[str], about: set[str], old_terms: set[str], *, permits: bool, other: str) -> float:
    """How well a known constraint fits what a later sentence speaks of: 0 for not, 1 for exactly."""
    shared = terms & about
    missing = terms - shared
    if old_terms and old_terms <= about and 2 * len(shared) >= len(about):
        missing = set()  # "in English instead of German" names what it replaces
    methods = _METHOD_CLASS in shared
    if methods and _restricts(other) and permits:
        missing -= _METHODS  # "you may use POST now" ends "only GET"
    elif methods and not terms & _METHODS & about:
        return 0.0
    if any(not _covered(term, about) for term in missing):
        return 0.0
    return len(shared) / len(terms | about) + 0.01


def _restricts(text: str) -> bool:
    return bool(re.search(r"\bonly\b|只|仅|僅|except|除", plain(text)))


def _covered(term: str, about: set[str]) -> bool:
    """Whether a run of Chinese letters, which has no word borders, is mostly found in another text's runs."""
    if not _HAN.match(term):
        return False
    pairs = [term[start : start + 2] for start in range(len(term) - 1)]
    found = sum(any(pair in run for run in about) for pair in pairs)
    return 2 * found >= len(pairs)
