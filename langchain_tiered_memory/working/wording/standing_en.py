"""English rules told as arrangements: what follows from a reason, who decides, how things are done, what is wished.

"Our style guide wants British spelling", "invoices go to Anna", "two options are plenty", "I'd keep it short".
"""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.working.wording.verbs_en import ORDERED, START, VERBS, Form

__all__ = ["DATA", "STANDING_FORMS"]

# Who lays down rules for somebody else.
_AUTHORITY: Final = (
    r"(?:accountants?|advis[eo]rs?|agreements?|auditors?|bank|board|boss|brand|budget|client|clients|clinic|committee"
    r"|company|compliance|contract|council|customers?|department|doctor|editor|family|finance|firm|guidelines?|hr"
    r"|insurers?|insurance|investors?|landlord|law|lawyers?|legal|licen[cs]e|management|manager|office|policy"
    r"|procurement|publisher|regulations?|regulators?|school|security|shop|standards|statutes|store|studio|style"
    r" ?(?:guide|sheet)|supervisor|supplier|team|terms|union|warehouse|warranty)"
)
_DEMANDS: Final = (
    r"(?:wants?|requires?|demands?|expects?|insists?|asks? (?:for|that|us)|prefers?|needs? (?!a (?:break|holiday|raise"
    r"|nap)\b)|forbids?|prohibits?|bans?|rules? out|won't (?:accept|allow|pay|sign|have)|(?:doesn't|do not|don't|does"
    r" not) (?:accept|allow|want|like|permit|cover|tolerate|read|speak|pay for))"
)
# Where what is written stands: a wish about these is one about all of them.
_WRITING: Final = (
    r"(?:answers?|charts?|chat|code|comments?|copy|correspondence|documents?|documentation|drafts?|e-?mails?|files?"
    r"|headings?|headlines?|letters?|mails?|messages?|minutes|notes?|presentations?|prose|replies|reports?|slides?"
    r"|spreadsheets?|subject lines?|summaries|tables?|texts?|titles?|tickets?|writing)"
)
DATA: Final = (
    r"(?:addresses|amounts?|citations?|currency|dates?|distances|durations|figures|footnotes|fractions|links?|lists"
    r"|measurements?|names|numbers|percentages|prices?|quantities|quotes|ratings|references|rows|scores|sizes|sources"
    r"|temperatures?|times?|timestamps?|totals?|units|values|weights)"
)
_REGULAR: Final = (
    r"(?:every|each) (?:\w+ )?(?:day|night|week|month|quarter|year|hour|morning|evening|noon|afternoon|time|round"
    r"|sprint|release|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)


STANDING_FORMS: Final = (
    # a reason, and what follows from it
    Form(
        "so",
        rf"(?:,|;|:| -) so (?:please )?(?:{ORDERED}(?! (?:me|us|him|her|them|it)[.!]?$)|(?:no(?! .* for (?:me|us)\b)"
        rf"|nothing|everything|nobody"
        r"|only|never|always|don't|do not|all)\b(?! (?:one came|luck|wonder|big deal|good|is well|worries|surprise))"
        r"|keep\b|(?:you'd|you had) better|anything (?:that|with|over|above|you)\b)",
    ),
    Form(
        "so",
        r", so [\w' ]{2,40}\b(?:(?:has|have|needs?) to be|must|(?:is|are) (?:no good|no use|useless|out|best avoided"
        r"|off limits|taboo)|(?:won't|doesn't|don't|will not) (?:work|do|count))\b",
    ),
    Form("instead", rf"{START}{ORDERED} [\w' ]{{2,40}} instead[.!]?$"),
    Form("past", r"\b(?:run|get|put) (?:those|these|such \w+|all \w+|everything|it|them) past (?:me|us|\w+)\b"),
    # who lays it down, and who decides
    Form(
        "want wants require requires demand demands expect expects insist insists ask asks prefer prefers need needs"
        " forbid forbids prohibit prohibits ban bans rule rules won't doesn't don't does do",
        rf"^(?:as |since |because |and |but )?(?:our|my|the|their|this|company|local) (?:\w+ ){{0,2}}?{_AUTHORITY}"
        rf" {_DEMANDS}\b",
    ),
    Form(
        "told says said say insists decided advised warned",
        rf"^(?:our |my |the )?(?:\w+ )?{_AUTHORITY} (?:has |have )?(?:told (?:us|me)|says?|said|insists|decided"
        r"|advised|warned) (?:that )?(?:no|not|nothing|nobody|all|every|each|we|only|any|never|to)\b",
    ),
    Form(
        "agreed promised committed pledged undertaken",
        r"\b(?:we|i)(?:'ve| have)? (?:agreed|promised|committed|pledged|undertaken)\b(?: (?:with )?[\w' ]{2,40}?)?"
        r" (?:that|not to|never to|on)\b(?!.*\b(?:yesterday|last|meet|dinner|lunch|help|call|i|we)\b)",
    ),
    Form(
        "approve approves approved sign signs clear clears decide decides decision final word",
        r"\b(?:needs?|has|have|wants?) to (?:approve|sign|clear|okay) (?:it|them|every|all|each|any|the|our)\b|\bhas"
        r" (?:the )?(?:last|final) (?:word|say)\b|\b(?:approves|signs|clears|decides) (?:every|all|each|any|whether"
        r"|which|when)\w*\b",
    ),
    Form(
        "leave leaves handle handles mine myself",
        r"^(?:please )?(?:leave|\w+ leaves) (?:the |all |any |every )?[\w' ]{2,40} to (?:me|us|our|the|my)\b|\bi(?:'ll"
        r"| will)? (?:handle|do|deal with|take care of) [\w' ]{2,40} myself\b|\b(?:is|are) (?:mine|my (?:job|call"
        r"|decision|business)) (?:to|and|alone)\b",
    ),
    Form(
        "yours",
        r"\b(?:is|are) yours to\b",
    ),
    Form(
        "only never always doesn't don't won't",
        rf"^(?:(?:our|the|my|this) (?:[\w'-]+ ){{0,2}}?{_AUTHORITY}|our (?!kids?|dog|cat|neighbou?rs?|friends?|son"
        rf"|daughter"
        r"|mom|dad|car|love|house)(?:[\w'-]+ ){0,2}?[\w'-]+) (?:(?:is|are) )?(?:only|never|always|doesn't|don't|won't)"
        r" (?!work|like|seem|know|have (?:time|to)|say|stop|feel)\w",
    ),
    Form(
        "never always only don't",
        rf"^(?:and |but |so |also,? )?(?:here |at \w+ )?we (?:never|always|only|don't|do not) {ORDERED}(?! (?:up|out"
        rf"|back|off|over)\b"
        r"|.*\b(?:together|anymore|enough|each other|fun)\b)",
    ),
    # how things are done, and where they belong
    Form(
        "go goes belong belongs live lives happen happens run runs come comes get gets",
        r"^(?:and |but |also,? )?(?:(?:the|all|any|our|every|each) (?:[\w'-]+ ){1,4}?|(?:new )?(?!things|kids|always"
        r"|yours|ours|guess|perhaps|this|was|has|does|is|as|us|lots)[a-z-]+s )(?:(?:go|goes|belongs?) (?:above|after"
        r"|at the|before|below|in|into|to|under|through|via|by|on|out (?:on|in|at|by|via|as))|(?:live|lives) (?:in"
        r"|under) the|(?:happen|happens|run|runs) (?:only|between|after|before|on|at night|outside|in|through|off)"
        r"|(?:get|gets) (?:rounded|stored|filed|sent|written|reviewed|archived|encrypted|deleted|signed|quoted|logged"
        r"|named|tagged|listed|copied|paid|booked|billed|escalated|forwarded|anonymi[sz]ed"
        r"|merged))\b(?!.*\b(?:yesterday|last|was|were|my way|nowhere|again|today|tonight|well|wrong|crazy|bed"
        r"|sleep)\b)",
    ),
    Form(
        "nowhere else",
        r"\b(?:nowhere|no ?where|nobody|no one|nothing|no other \w+) else\b(?! (?:matters|to (?:do|say|go)|laughed"
        r"|came))(?=.*\b(?:goes|go|belongs?|in|on|at|may|and|gets?)\b)|\band nowhere else\b",
    ),
    Form(
        "nothing no",
        r"\b(?:and|,) nothing (?:outside|beyond|else|more|after|before|over|bigger|longer|louder|above)\b|\bno"
        r" (?!one\b|longer\b|matter\b|doubt\b|idea\b|wonder\b)\w+(?: \w+)? (?:leaves|goes|ships|enters|passes|runs"
        r"|happens|starts|gets|is \w+ed|are \w+ed)\b.*\b(?:without|before|unless|until|except|outside|after)\b",
    ),
    Form(
        "everything all anything",
        r"\b(?:and|so|,) (?:everything|all (?!you\b|i\b|we\b)\w+|anything \w+) (?:goes|has to|have to|must|needs?|is"
        r" to|are to|gets|stays)\b",
    ),
    # wishes, without saying that they are
    Form(
        "all every each your we",
        r"^(?:please,? )?(?:can|could|may|would|should) (?:all|every|each|your) [\w' -]{2,50} be \w+|^(?:can|could"
        r"|may) we (?:please )?(?:always|avoid|stick to|limit|agree (?:on|that|to)|keep (?!it up|going|talking|in"
        r" touch)|use only|leave .* out)\b",
    ),
    Form(
        "keep",
        r"\bkeep (?:my|our|his|her|their|the|all|any|it|that|this|these|those) .{0,50}\b(?:to (?:myself|ourselves"
        r"|yourself|himself|herself)|secret|private|confidential|out of|off the|away from|separate|anonymous)\b",
    ),
    Form(
        "most least limit maximum minimum max",
        r"\b(?:is|are) (?:the|my|our) (?:most|least|limit|maximum|minimum|max)(?=[.!,]|$| (?:i|we|you|they|for|on)\b)",
    ),
    Form(
        "important matters",
        r"\b(?:important|matters) (?:a lot )?(?:to|for) (?:me|us|him|her|them|(?:my|our|the) [\w' ]{2,30}) that (?:you"
        r"|the|no|nothing|all|it|my|our|we (?:don't|do not|never))\b",
    ),
    Form(
        "want need like expect prefer",
        rf"\bi (?:want|need|like|expect|prefer) (?:all |the |my )?(?:\w+ )?{DATA} (?:in|as|without|with|under|to"
        rf"|rounded"
        r"|sorted|grouped|written|shown|given)\b",
    ),
    Form(
        "in as without with excluding including excl incl before after rounded sorted",
        rf"^(?:and |all |only |please )*(?:\w+ )?{DATA} (?:in|as|without|with|excluding|including|excl|incl|rounded"
        rf"|sorted)\b"
        r"(?!.*\b(?:is|are|was|were|have|has|had|went|go|goes|rose|fell|look|looks|seem)\b)",
    ),
    Form(
        "expect want need like love",
        rf"\bi(?:'d)? (?:expect|want|need|like|would like|love|would love) (?:an?|the|my|one|two|your)\b.*\b{_REGULAR}"
        r"\b|\bi(?:'d)? (?:expect|want|need) (?:an?|the|my|one|two) .{1,60}\b(?:daily|weekly|monthly|whenever|before"
        r" (?:you|any|each|every)|as soon as)\b",
    ),
    Form(
        "like love want need",
        rf"\bi (?:like|love|want|need) (?:my|your|our|the|all) (?:\w+ )?{_WRITING} (?:to be )?(?!but\b|and\b|because\b"
        rf"|so"
        r"\b|a lot\b|too\b|better\b|very much\b|you\b|that\b|from\b|i\b|he\b|she\b|on\b|again\b|back\b)\w",
    ),
    Form(
        "hate dislike stand like loathe detest bear allergic annoys",
        rf"\bi (?:hate|dislike|can't stand|cannot stand|don't like|do not like|loathe|detest|can't bear) (?!it when\b"
        rf"|my\b|this\b|that\b)[\w' -]+ in (?:\w+ )?(?:\w+ )?{_WRITING}\b",
    ),
    Form(
        "nice great good helpful helps lovely kind glad happy happier love ideal pleased",
        r"\b(?:would|'d) be (?:\w+ )?(?:nice|great|good|helpful|lovely|kind|ideal|better) if (?:you|all|every|the|your"
        r"|everything|no|nothing|it)\b|\bit helps (?:me |us )?(?:\w+ )?(?:if you|when you)\b|\bi(?:'d| would) be"
        r" (?:glad|happy|happier|pleased) if (?:you|all|no|nothing|everything)\b|\b(?:i|we)(?:'d| would) love (?:it if"
        r"|for you to)\b",
    ),
    Form(
        "enough plenty suffice suffices do sufficient max tops",
        r"^(?!that\b|it\b|this\b|i\b|he\b|she\b|we\b|what\b)(?!.*\bthere\b)[\w' -]{3,50} (?:is|are|will be) (?:more"
        r" than |quite )?(?:enough|plenty|sufficient)\b(?! (?:to (?:make|drive)|for one))|^(?:a|an|one|two|three|four"
        r"|five|the \w+)\b[\w' -]{2,40} (?:will do|suffices?)\b|^[\w' -]{3,60}, (?:max|tops)[.!]?$",
    ),
    Form(
        "please",
        rf"^(?!(?:yes|no|ok|okay|one more|another|more|help|tell|me|what|how|can|could|coffee|tea|hello"
        rf"|hi)\b)(?!{VERBS}"
        r"\b)[\w' -]{3,50} (?:in|on|by|with|under|at|without|to) [\w' -]{2,40}, please\b|\bplease\b[^?]*, not \w",
    ),
    Form(
        "bother trouble",
        r"\b(?:don't|do not|no need to) (?:bother|trouble) (?:with|about|to|me|us|\w+ing)\b",
    ),
    Form(
        "should if when whenever",
        r"^(?:should|if|when|whenever)\b[^,]{1,120}, (?:please )?(?:reach|ring|alert|try|page|wake|fall back|phone"
        r"|hold|stop) (?!out\b|again\b)(?:me|us|my|our|the|to|on|it|and)\b",
    ),
)
