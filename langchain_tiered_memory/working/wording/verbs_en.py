"""English imperatives: the verbs, what stands before one that opens a clause, and what may not."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["CHATTY_VERBS", "NOT_AFTER", "ORDERED", "START", "VERBS", "VERB_LIST", "Form"]


class Form(NamedTuple):
    """Forms in which some words bind, and the words, one of which each of the forms needs."""

    words: str
    forms: str


# What opens a clause, so that a verb behind it is an imperative.
START: Final = (
    r"(?:^|[;:!?—(\"“*]\s*|\.\s+|\b(?:please|kindly),? |\b(?:can|could|would|will) you (?:please |possibly |kindly )?"
    r"|, (?:but|so|and) (?:please )?|^(?:if|when|whenever|for|before"
    r"|after|once|in|on|unless|until|while|during|as soon as|with)\b[^,]{0,200}, (?:then )?)(?:(?:please|just|kindly"
    r"|also|then|always|and|but|so|now|ok|okay|again|remember|or)\b,? )*"
)
VERB_LIST: Final = frozenset(
    """accept add address allow answer append apply approve arrange ask assume attach avoid base block book bring
    build buy call cap cc change charge check choose cite clear close commit compare confirm connect contact convert
    copy count create cut deliver deploy describe discuss display do draft drop edit email end enter exclude execute
    explain export fetch file finish fix fly follow format forward generate get give go group handle hide hold ignore
    import include inform insert install invite invoice keep label launch leave limit link list log mail make mark
    mask match mention merge message migrate modify move name notify offer omit open order pay phone pick ping place
    plan post pin prefer preserve print proceed process propose provide publish pull purchase push put quote read
    recommend record refer refund release remind remove rename render replace reply report request require reschedule
    reserve respond restart restrict return review roll round route run save say schedule search select sell send
    separate serve set share ship show sign skip sort speak spell spend split start stay stick stop store submit
    suggest summarize summarise switch tag take talk tell test text touch track translate treat truncate turn update
    upgrade upload use verify wait withhold work wrap write reveal disclose expose trust bypass retry overwrite wake
    interrupt estimate promise swear guess apologize apologise invent disable enable erase alter reset reboot crawl
    scrape drive ride cross pass leak rely depend double-check destroy delete page patch assign defer escalate obtain
    seek lock unlock encrypt consult ensure prevent shred halt pause abort decline reject archive redact blur
    capitalise capitalize favour favor refrain refuse hand grant deny issue wash cook clean feed water wear stack fill
    empty weigh measure sew knit paint anonymise anonymize prioritise prioritize proofread quarantine rotate sanitise
    sanitize reach alert hire rent""".split()  # noqa: SIM905
)
CHATTY_VERBS: Final = frozenset(
    """build call check describe do drop explain follow get give go guess hide hold keep list move name note push
    read run say share ship show sign skip speak spell spend start stay stick suggest take talk tell trust turn wait
    wear work""".split()  # noqa: SIM905
)
"""Those that friends use to each other too, so that alone they bind nobody."""
VERBS: Final = f"(?:{'|'.join(sorted(VERB_LIST, key=lambda verb: (-len(verb), verb)))})"
ORDERED: Final = rf"(?!(?:say|tell|guess|go|hide|hold|start|stay|work|talk|share|show|take|get)\b){VERBS}\b"
"""A verb that friends rarely use to each other."""
NOT_AFTER: Final = (
    r"(?<!\bi )(?<!\bwe )(?<!\bhe )(?<!\bshe )(?<!\bthey )(?<!\bit )(?<!\byou )(?<!\bwho )(?<!'ve )(?<!'d )(?<!'s )"
    r"(?<!'ll )(?<!'re )(?<!'m )(?<!\bhave )(?<!\bhas )(?<!\bhad )(?<!\bwas )(?<!\bwere )(?<!\bam )(?<!\bwill )"
    r"(?<!\bdid )(?<!\bwould )(?<!\bcould )(?<!\bthat )(?<!\bas )(?<!\bthere )(?<!\bare )(?<!\bis )"
)
"""What may not stand before a verb that is an imperative: it tells what somebody does, or did."""
