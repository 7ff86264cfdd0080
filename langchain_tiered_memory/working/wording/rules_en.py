"""Whether an English sentence binds: by a form of words, by an imperative that is bounded, or by naming a bound.

A form is looked for only where one of its words occurs, since a regular expression of all of them would be tried at
every letter of every sentence.
"""

from __future__ import annotations

import re
from typing import Final

from langchain_tiered_memory.working.wording.branches import searches_by_word
from langchain_tiered_memory.working.wording.facts_en import FACT_FORMS
from langchain_tiered_memory.working.wording.forms_en import DIRECT_FORMS
from langchain_tiered_memory.working.wording.indirect_en import INDIRECT_FORMS
from langchain_tiered_memory.working.wording.passing_en import is_for_the_moment, is_limited, is_subject, stands
from langchain_tiered_memory.working.wording.reading import Reading, read
from langchain_tiered_memory.working.wording.standing_en import STANDING_FORMS
from langchain_tiered_memory.working.wording.talk_en import without_small_talk
from langchain_tiered_memory.working.wording.verbs_en import CHATTY_VERBS, VERB_LIST

__all__ = ["binds_in_english", "bounds_in_english", "orders_in_english"]

_OF_WORD: Final = searches_by_word((*DIRECT_FORMS, *INDIRECT_FORMS, *STANDING_FORMS, *FACT_FORMS))

_OPENERS: Final = frozenset(
    "please just kindly also then always and but so now ok okay again remember or first".split()  # noqa: SIM905
)
_LONGEST_OPENING: Final = 4
_NEEDS_WORDS: Final = frozenset({"need", "needs", "require", "requires"})
_NEEDS = re.compile(
    r"^(?!(?:i|we|you|they|he|she|it|who|that|this|what|people|everyone|everybody|my (?:mom|dad|wife|husband))\b)"
    r"(?:[\w-]+ ){1,4}(?:needs?|requires?) (?!to\b|another\b|more\b|some\b|about\b|a (?:bit|few|little|break)\b)\w"
)
_SHORTEST_ORDER: Final = 4
"""Words of an order that says enough to be kept."""
_DETERMINERS: Final = frozenset(
    "the all any my our your every each this that these those no it them".split()  # noqa: SIM905
)

# A number makes a rule of a sentence that names a bound and says that it is one.
_BOUND = re.compile(
    r"\b(?:at (?:most|least)|up to|max(?:imum)?|min(?:imum)?|budget|deadline|ceiling|cap|cut-?off|due|limit(?:ed)?"
    r"|limits|threshold|quota|within|under|below|above|over|between|before|after|until|till|no|by|exactly|less than"
    r"|more than|fewer than|not|latest|earliest|exceed\w*|anything|nothing)\b"
)
_BOUND_WORDS: Final = frozenset(
    """at up max maximum min minimum budget deadline ceiling cap cut cutoff due limit limited limits threshold quota
    within under below above over between before after until till no by exactly less more fewer not latest earliest
    anything nothing exceed exceeds exceeded exceeding""".split()  # noqa: SIM905
)
_DUTY = re.compile(
    r"\b(?:should|want|needs?|has to|have to|ought to|budget|deadline|ceiling|cap|cut-?off|due|limits?|threshold"
    r"|quota|max(?:imum)?|min(?:imum)?|at (?:most|least)|up to|please)\b"
)

_DUTY_WORDS: Final = frozenset(
    """should want need needs has have ought budget deadline ceiling cap cutoff cut due limit limits threshold quota max
    maximum min minimum at up please""".split()  # noqa: SIM905
)

_ASKED_FOR = re.compile(
    r"^(?:\w+,? )?(?:can|could|would|will) (?:you|we|all|every|each|your)\b|\bplease\b|^(?:and |but |so )?(?:make sure"
    r"|don't)"
)
_ASKING = re.compile(
    r"^(?:and |but |so,? |or |also,? |then |well,? |oh,? |hey,? )?(?:do|does|did|is|are|was|were|can|could|may|must"
    r"|shall|should|will|would|has|have|had|what|why|how|when|where|which|who|whose|don't|doesn't|isn't|aren't|can't"
    r"|shouldn't|any)\b"
)


def binds_in_english(piece: Reading, *, question: bool) -> bool:
    """Whether a piece of a sentence says outright what the one who is addressed must, may or must not do.

    Args:
        piece: The piece.
        question: Whether it ends in a question mark.
    """
    if question and _only_asks(piece.low):
        return False
    if not (_has_form(piece) or _commands(piece.words)):
        return False
    bare = without_small_talk(piece)
    if bare is piece.low:
        return True
    rest = read(bare)
    return _has_form(rest) or _commands(rest.words)


def bounds_in_english(piece: Reading) -> bool:
    """Whether a piece of a sentence that has a number names a bound for it, and so binds without saying so."""
    if _BOUND_WORDS.isdisjoint(piece.words) or _BOUND.search(piece.low) is None:
        return False
    verb = _opening(piece.words)
    if verb is not None:
        return not is_for_the_moment(piece.words, verb)
    return not _DUTY_WORDS.isdisjoint(piece.words) and _DUTY.search(piece.low) is not None


def _has_form(piece: Reading) -> bool:
    low = piece.low
    for word in piece.words:
        for search in _OF_WORD.get(word, ()):
            if search(low):
                return True
    return False


def orders_in_english(piece: Reading) -> bool:
    """Whether a piece only says what is needed, or tells to do something to a thing: "Save the receipts in a box."."""
    words = piece.words
    if not _NEEDS_WORDS.isdisjoint(words) and _NEEDS.search(piece.low):
        orders = True
    elif (verb := _opening(words)) is not None:
        orders = is_limited(words, verb) or _orders_a_thing(words, verb)
    else:
        return False
    return orders and without_small_talk(piece) is piece.low


def _orders_a_thing(words: list[str], verb: int) -> bool:
    if len(words) < _SHORTEST_ORDER or words[verb] in CHATTY_VERBS or is_for_the_moment(words, verb):
        return False
    return not _DETERMINERS.isdisjoint(words[verb + 1 : verb + 4])


def _only_asks(low: str) -> bool:
    return _ASKING.search(low) is not None and _ASKED_FOR.search(low) is None


def _commands(words: list[str]) -> bool:
    """Whether a sentence opens with an imperative that is one for good: "wait until I say", "ask me before each"."""
    verb = _opening(words)
    return verb is not None and stands(words, verb)


def _opening(words: list[str]) -> int | None:
    """The place of the verb that a sentence opens with, behind "please" and the like."""
    for place, word in enumerate(words[: _LONGEST_OPENING + 1]):
        if word in VERB_LIST:
            return None if is_subject(words, place) else place
        if word not in _OPENERS:
            return None
    return None
