"""What a constraint is about, and which of the known ones a later sentence withdraws or changes.

The rule is a careful one: a sentence replaces another only if it says that something changes, if all it speaks of is
in the other one, and if no other known constraint fits as well. Otherwise both stay, the newer one last, and a model
that reads them sees which came later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from langchain_tiered_memory.working.wording.cues import is_question
from langchain_tiered_memory.working.wording.reading import Reading, plain
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
_CAPITAL_METHOD = re.compile(r"(?<![A-Za-z])(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)(?![A-Za-z])")
_METHODS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_METHOD_CLASS: Final = "http-method"
_METHOD_TERMS: Final = _METHODS | {_METHOD_CLASS}
_COMMON_ZH = re.compile(
    r"现在可以|可以|不用再|不用|不再|不要|不能|不得|不许|不必|只允许|只能|只用|只准|只许|允许|必须|务必|禁止|请勿|请"
    r"|取消|撤销|作废|改成|改为|改到|改用|换成|变成|变为|更正|其实|之前|以前|刚才|先前|原来|那条|那个|这条|这个|规则"
    r"|限制|要求|规定|禁令|说过?|忘掉|忘了|忽略|不算数|算了|现在|而不是|不是|最多|至多|至少|不超过|超过|上限|下限"
    r"|不低于|一律|始终|总是|记住|今后|以后|之后|的|了|吧|和|与|在|把|将|是|为|到|从|我们?|你们?|您|他们?|它|也|都|就"
    r"|再|还|要|用|元|块|人民币|美元|欧元|请求|关于|有关|条|个|前|后|不|只|仅|別|别"
)
_HAN = re.compile(r"[一-鿿]")

_WITHDRAWS = re.compile(
    r"\b(?:forget|ignore|disregard|scratch|never mind|drop|scrap|cancel|withdraw|revoke|lift|remove|undo|waive"
    r"|skip)\b(?=.*\b(?:rules?|constraints?|restrictions?|limits?|limitation|requirements?|instructions?|conditions?"
    r"|ban|cap|ceiling|deadline|i said|i told you|i asked)\b)|\bno longer (?:applies|apply|needed|required|necessary"
    r"|valid|matters?)\b|\b(?:rule|restriction|limit|requirement|condition|ban|cap|constraint"
    r"|instruction)s? (?:no longer|is lifted|is gone|is off|does not apply|doesn't apply|is (?:hereby )?(?:withdrawn"
    r"|cancel\w+|void|obsolete|over|waived)|are (?:lifted|gone|off|void|over))"
)
_WITHDRAWS_ZH = re.compile(
    r"(?:取消|撤销|撤消|解除|废除|忽略|忘掉|忘了)[^,，。]{0,30}(?:限制|规则|要求|规定|禁令|那条|条件|上限|约束|的话"
    r"|说的)|(?:限制|规则|要求|规定|禁令|条件|上限|约束)[^,，。]{0,10}(?:取消|作废|撤销|解除|不算数|失效|不再)|不用再"
    r"|不必再|不再需要|无需再"
)
_WITHDRAWS_WORDS: Final = frozenset(
    """forget ignore disregard scratch mind drop scrap cancel withdraw revoke lift remove undo waive skip longer rule
    restriction limit requirement condition ban cap constraint instruction rules limits restrictions
    requirements""".split()  # noqa: SIM905
)
_HELD = re.compile(
    r"\b(?:never|not|don't|mustn't|can't|cannot|won't|shouldn't)(?: \w+){0,2} (?:forget|ignore|disregard|scratch|drop"
    r"|scrap|cancel|withdraw|revoke|lift|remove|undo|waive|skip)\b"
)
"""What somebody says who wants a rule to hold: "never lift the restriction"."""
_HELD_ZH = re.compile(
    r"(?:不要|不能|不得|不许|不可|不准|不会|不该|别|勿|禁止|没有?)[^,，。]{0,2}(?:取消|撤销|撤消|解除|废除|忽略|忘掉|忘了|作废)"
)
_PERMITS = re.compile(
    r"\byou(?:'re| are)? (?:may|can|could|now have permission to|have (?:my )?permission to|(?:now )?allowed to"
    r"|(?:now )?free to)\b(?! (?:only|not|never))|\byou (?:don't|do not|no longer) (?:need|have) to\b|\b(?:is"
    r"|are) (?:now )?(?:fine|ok|okay|allowed|permitted|acceptable)\b"
)
_PERMITS_ZH = re.compile(r"现在可以|可以[^,，。]{1,20}了|(?:现在|已经?)允许|允许[^,，。]{1,12}了")
_PERMITS_WORDS: Final = frozenset(
    "may can could permission allowed free need have fine ok okay permitted acceptable".split()  # noqa: SIM905
)
_NO_PERMIT = re.compile(
    r"\b(?:never|not|don't|doesn't|didn't|nobody|no one)(?: \w+){0,2} (?:think|assume|believe|say|says|said|mean|means"
    r"|imply|conclude)\b|\b(?:if(?! (?:you (?:want|like|need)|needed|necessary))|unless|only (?:when|once|after))\b"
)
"""What is said of a permission that is none, or holds only sometimes: the rule stays beside it."""
_NO_PERMIT_ZH = re.compile(r"(?:不要|别|没人?|谁|不)(?:以为|觉得|认为|说)|如果|要是|假如|除非|只有|的话|若")
_CHANGES = re.compile(
    r"\b(?:instead of|rather than|(?:is|are|will be) now|now (?:is|be|it's|use|call|reply|answer|send)|no longer"
    r"|any ?more|make (?:it|that|the)|changed my mind|replaces?|supersedes?|overrides?|not \d)\b|^(?:correction"
    r"|actually|update|on second thought|sorry)\b|\bnot \d"
)
_MOVES = re.compile(
    r"\b(?:chang|rais|lower|increas|reduc|mov|shift|switch|updat|extend|bump|reschedul|postpon|push"
    r"|cut)\w*\b.*\b(?:to|from|back)\b"
)
_MOVES_STEMS: Final = tuple(
    """chang rais lower increas reduc mov shift switch updat extend bump reschedul postpon push
    cut""".split()  # noqa: SIM905
)
_MOVES_WHERE: Final = frozenset({"to", "from", "back"})
_CHANGES_ZH = re.compile(
    r"改成|改为|改到|改用|換成|换成|变成|变为|更正|而不是|调整[到为成]|提高到|降到|降低到|推迟到|提前到|其实|不再"
)
_CHANGES_WORDS: Final = frozenset(
    """instead rather now longer anymore more make correction actually update thought sorry replace replaces supersede
    supersedes override overrides changed any not""".split()  # noqa: SIM905
)
_UNSETTLED = re.compile(
    r"\b(?:not|never|nobody|no one|\w+n't|cannot) (?!(?:have|need) to\b)(?:\w+ ){0,3}(?:chang|rais|lower|increas|reduc"
    r"|mov|shift|switch|updat|extend|bump|reschedul|postpon|push|cut|mak|replac|overrid)\w*"
    r"|\b(?:might|maybe|perhaps|thinking (?:of|about)|considering|what if|suggest(?:s|ed)|propos(?:es|ed)|wants to)\b"
)
"""What somebody says who only thinks of a change, or wants none."""
_UNSETTLED_ZH = re.compile(
    r"(?:不|别|没|勿)[^,，。]{0,6}(?:改[成为到用]|换成|变[成为]|调整[到为成]|提高到|降[到低]|推迟到|提前到)"
    r"|可能|也许|或许|考虑|提议|要不"
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
    if piece.han and _WITHDRAWS_ZH.search(piece.text):
        return _HELD_ZH.search(piece.text) is None
    if _WITHDRAWS_WORDS.isdisjoint(piece.words) or _WITHDRAWS.search(piece.low) is None:
        return False
    return _HELD.search(piece.low) is None


def permits(piece: Reading) -> bool:
    """Whether a sentence allows something now, without a condition."""
    if piece.han and _PERMITS_ZH.search(piece.text):
        return _NO_PERMIT_ZH.search(piece.text) is None
    if _PERMITS_WORDS.isdisjoint(piece.words) or _PERMITS.search(piece.low) is None:
        return False
    return _NO_PERMIT.search(piece.low) is None


def changes(piece: Reading) -> bool:
    """Whether a sentence says, and does not only ask or think, that something is withdrawn, changed or now allowed."""
    if not _tells_of_change(piece) or is_question(piece.text):
        return False
    return not (_UNSETTLED.search(piece.low) or (piece.han and _UNSETTLED_ZH.search(piece.text)))


def _tells_of_change(piece: Reading) -> bool:
    if piece.han and _CHANGES_ZH.search(piece.text):
        return True
    if not _CHANGES_WORDS.isdisjoint(piece.words) and _CHANGES.search(piece.low):
        return True
    if not _MOVES_WHERE.isdisjoint(piece.words) and any(word.startswith(_MOVES_STEMS) for word in piece.words):
        return _MOVES.search(piece.low) is not None or permits(piece) or withdraws(piece)
    return permits(piece) or withdraws(piece)


def find_replaced(piece: Reading, topic: str, known: Sequence[tuple[str, str, bool]]) -> int | None:
    """Which of the known constraints a sentence that changes something replaces.

    Args:
        piece: The later sentence, of which `changes` is true.
        topic: Its topic.
        known: Text, topic ("" where it was not asked for yet), and whether it is a rule, of each known constraint.

    Returns:
        The place of the one it replaces, or `None` where there is none, or more than one that fits as well.
    """
    takes_back, allows = withdraws(piece), permits(piece)
    rules_only = allows or (takes_back and bool(_RULE_NOUN.search(piece.low)))
    terms, numbers = set(topic.split()), numbers_of(piece.text)
    if not terms or _POINTS_BACK.search(piece.low):
        return None
    old = _OLD_PART.search(piece.low)
    old_terms = set(topic_of(old[1]).split()) if old else set()
    needed = () if old_terms else tuple(term for term in terms if term[0] < "一" and term not in _METHOD_TERMS)
    marks = tuple(_marks_of(terms))
    fits: list[tuple[float, int]] = []
    for place, (other, about, is_a_rule) in enumerate(known):
        if (rules_only and not is_a_rule) or not (about or _may_share(needed, marks, other)):
            continue
        if len(numbers - (theirs := numbers_of(other))) > 1:
            continue  # by another number it speaks of something else: "room 12 is now 90" says nothing of room 14
        # A change of a value needs a value to change; taking a rule back does not.
        if numbers and not theirs and not (takes_back or allows):
            continue
        if fit := _fit(terms, set((about or topic_of(other)).split()), old_terms, allows=allows, other=other):
            fits.append((fit, place))
    fits.sort(reverse=True)
    # What ends a rule must mean this one; what changes a value means the one that is closest.
    if not fits or (len(fits) > 1 and (takes_back or allows or fits[0][0] == fits[1][0])):
        return None
    return fits[0][1]


def _marks_of(terms: set[str]) -> Iterator[str]:
    """Letters in a row, some of which stand in every text that shares one of these terms, or half a Chinese one."""
    for term in terms:
        if term == _METHOD_CLASS:
            yield from _METHODS
        elif _HAN.match(term):
            yield from (term[start : start + 2] for start in range(len(term) - 1))
        else:
            yield term


def _may_share(needed: Sequence[str], marks: Sequence[str], other: str) -> bool:
    """Whether a text can be about the same, told without finding out what it is about."""
    low = plain(other)
    return all(mark in low for mark in needed) and any(mark in low for mark in marks)


def _fit(terms: set[str], about: set[str], old_terms: set[str], *, allows: bool, other: str) -> float:
    """How well a known constraint fits what a later sentence speaks of: 0 for not, 1 for exactly."""
    shared = terms & about
    missing = terms - shared
    if old_terms and old_terms <= about and 2 * len(shared) >= len(about):
        missing = set()  # "in English instead of German" names what it replaces
    methods = _METHOD_CLASS in shared
    if methods and _restricts(other) and allows:
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
