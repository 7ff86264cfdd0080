"""The English words that make a sentence a rule, each with the forms in which it binds.

A form is looked for only where one of its words occurs, since a regular expression of all of them would be tried at
every letter of every sentence. Forms that only look like rules ("never mind", "can't wait") are blotted out before the
last word is spoken.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from langchain_tiered_memory.working.wording.sentences import Reading, read

__all__ = ["is_english_rule"]

# What opens a clause, so that a verb behind it is an imperative.
_START: Final = (
    r"(?:^|[;:!?—(\"“*]\s*|\.\s+|\b(?:please|kindly),? |, (?:but|so|and) (?:please )?"
    r"|^(?:if|when|whenever|for|before|after|once|in|on|unless|until|while|during|as soon as"
    r"|with)\b[^,]{0,200}, (?:then )?)"
    r"(?:(?:please|just|kindly|also|then|always|and|but|so|now|ok|okay|again|remember|or)\b,? )*"
)
_VERB_LIST: Final = frozenset(
    """accept add address allow answer append apply approve arrange ask assume attach avoid base block book bring build
    buy
    call cap cc change charge check choose cite clear close commit compare confirm connect contact convert copy count
    create
    cut deliver deploy describe discuss display do draft drop edit email end enter exclude execute explain export fetch
    file
    finish fix fly follow format forward generate get give go group handle hide hold ignore import include inform insert
    install invite invoice keep label launch leave limit link list log mail make mark mask match mention merge message
    migrate modify move name notify offer omit open order pay phone pick ping place plan post pin prefer preserve print
    proceed process propose provide publish pull purchase push put quote read recommend record refer refund release
    remind
    remove rename render replace reply report request require reschedule reserve respond restart restrict return review
    roll
    round route run save say schedule search select sell send separate serve set share ship show sign skip sort speak
    spell
    spend split start stay stick stop store submit suggest summarize summarise switch tag take talk tell test text touch
    track translate treat truncate turn update upgrade upload use verify wait withhold work wrap write reveal disclose
    expose
    trust bypass retry overwrite wake interrupt estimate promise swear guess apologize apologise invent disable enable
    erase
    alter reset reboot crawl scrape drive ride cross pass leak rely depend double-check""".split()  # noqa: SIM905
)
_VERBS: Final = f"(?:{'|'.join(sorted(_VERB_LIST, key=len, reverse=True))})"
_OPENERS: Final = frozenset(
    "please just kindly also then always and but so now ok okay again remember or first".split()  # noqa: SIM905
)
_RESTRICTORS: Final = frozenset(
    """only always never until till before unless without except every each instead rather first whenever exactly
    verbatim
    most least all any below under within between exclusively latest""".split()  # noqa: SIM905
)
_LONGEST_OPENING: Final = 4

_NOT_AFTER: Final = (
    r"(?<!\bi )(?<!\bwe )(?<!\bhe )(?<!\bshe )(?<!\bthey )(?<!\bit )(?<!\byou )(?<!\bwho )(?<!'ve )(?<!'d )(?<!'s )"
    r"(?<!'ll )(?<!'re )(?<!'m )(?<!\bhave )(?<!\bhas )(?<!\bhad )(?<!\bwas )(?<!\bwere )(?<!\bam )(?<!\bwill )"
    r"(?<!\bdid )"
    r"(?<!\bwould )(?<!\bcould )(?<!\bthat )(?<!\bas )(?<!\bthere )(?<!\bare )(?<!\bis )"
)
_LANGUAGES: Final = (
    r"(?:english|german|french|spanish|chinese|mandarin|japanese|portuguese|italian|dutch|korean|russian|arabic|turkish"
    r"|polish|plain|simple|short|formal|bullet\w*|json|yaml|xml|markdown|csv|tables?|lower ?case|upper ?case|full"
    r"|complete"
    r"|one|two|three|under|metric|euros?|dollars?|utc)"
)


class _Form(NamedTuple):
    """Forms in which some words bind, and the words, one of which each of the forms needs."""

    words: str
    forms: str


_FORMS_BY_WORDS: Final = (
    # duty and permission
    _Form("must mustn't", r"\bmust\b(?!'ve)|\bmustn't\b"),
    _Form("shall shan't", r"\bshall (?:not|only|never|always)\b|\bshan't\b"),
    _Form("may", r"\bmay (?:not|only)\b|\byou(?:'re| are)? may\b"),
    _Form("can", r"\bcan only\b|\byou can (?:now|use)\b|\byou can (?:\w+ ){1,6}now\b"),
    _Form(
        "allowed permitted acceptable authorized authorised supposed option okay required needed fine ok entitled",
        r"\b(?:not|aren't|isn't|never) (?:be )?(?:allowed|permitted|acceptable|authori[sz]ed|supposed to|an option"
        r"|okay)\b"
        r"|\byou(?:'re| are)? allowed to\b|\b(?:is|are) (?:now )?(?:allowed|permitted|required|not needed)\b"
        r"|\b(?:is|are) (?:fine|ok|okay) now\b|\b(?:only|not) (?:\w+ )?(?:permitted|authori[sz]ed|entitled)\b"
        r"|\bnot an option\b",
    ),
    _Form(
        "forbidden prohibited disallowed off mandatory compulsory banned negotiable breaker dealbreaker hard strictly"
        " hands",
        r"\b(?:forbidden|prohibited|disallowed|off[- ]limits|mandatory|compulsory|banned|non[- ]negotiable"
        r"|deal[- ]?breaker"
        r"|hard (?:limit|requirement|constraint|stop|cap|rule)|strictly|hands off)\b",
    ),
    _Form(
        "have need longer free",
        r"\byou (?:now )?have (?:my )?permission\b|\byou(?:'re| are) free to (?!catch|talk|chat|meet)|\byou (?:need"
        r"|have) to (?:ask"
        r"|use|check|confirm|wait|get|keep|stay|stop|avoid|make sure|include|send|write|answer)\b"
        r"|\byou no longer (?:need|have)"
        r" to\b|\byou (?:don't|do not) (?:need|have) to (?:ask|use|check|confirm|wait|get|send|write|answer|reply"
        r"|call|include"
        r"|round)\b",
    ),
    _Form(
        "should shouldn't",
        r"\byou (?:should (?:not|never|always|only)|shouldn't)\b|\bshouldn't\b|\bshould (?:not|only|stay|remain|match"
        r"|start|end|fit"
        r"|use|include|contain|have|go|be (?:in|at|under|below|within|between|kept|sent|written|no|on|from|treated"
        r"|rounded|limited"
        r"|formatted|signed|addressed|done|made|called|stored|encrypted|masked|reviewed|approved|tested|short|quoted"
        r"|exactly"
        r"|invited|at (?:most|least)))\b|\bshould (?:never|always)\b|^neither\b.*\bshould\b",
    ),
    # whatever happens
    _Form(
        "under means case time point exceptions exception matter times account no whatever regardless doubt come",
        r"\bunder no\b|\bby no means\b|\bin no case\b|\bat no (?:time|point)\b|\bno exceptions?\b|\bin (?:any"
        r"|every) case\b"
        r"|\bat all times\b|\bno matter what\b|\bwithout exception\b|\bon no account\b|\bwhatever happens\b"
        r"|\bcome what may\b"
        r"|^regardless\b|\bregardless[.!]?$|\b(?:if|when) in doubt\b",
    ),
    _Form(
        "want like prefer preferably preference rather insist",
        r"\b(?:i|we) (?:don't|do not) want (?:you|any|it|them|the|this|that|our|my|a|an|him|her|us|anyone|anything)\b"
        r"|\bi(?: want|'d like|would like) (?:all|every|each|your|you to|no|only|them|it (?:to be|in))\b"
        r"|\b(?:i|we)(?:'d| would)? (?:strongly )?prefer\b"
        r"|\b(?:i|we)(?:'d| would) rather (?:not|you|have|stay|pay|take|fly|go|use|get)\b|\bpreferably\b"
        r"|\bmy preference\b"
        r"|\binsist\b",
    ),
    _Form(
        "every each all any anything anyone anybody nothing everything everyone neither none nobody no",
        r"^(?:every|each|all|any\w*|nothing|everything|everyone|neither|none|nobody|no one|no)\b.*\b(?:needs?"
        r"|requires?|must|may"
        r"|should|can|goes|gets|stays?|remains?|(?:has|have|is|are) to|belongs?)\b|^(?:every|each|all)\b.*\b(?:is"
        r"|are) (?:in|to|at"
        r"|by|on|for)\b|^(?:every|each|any) time (?:you|i ask)\b|\b(?:nobody|no one|none of \w+) (?:but|except|may"
        r"|should|must"
        r"|can|else|other)\b|\bnothing else\b|\bnothing (?:that|before|after|over|above|under|below|from|on|in|except"
        r"|later"
        r"|earlier|which|with|longer|larger)\b",
    ),
    _Form(
        "need needs require requires in that the",
        r"^(?!(?:i|we|you|they|he|she|it|who|that|this|what|people|everyone|everybody|my (?:mom|dad|wife|husband))\b)"
        r"(?:[\w-]+ ){1,4}(?:needs?|requires?) (?!to\b)\w|^(?:every|each|all)\b(?: \w+){1,3} (?:in|under|with) \w"
        r"|\bthat (?:nobody|no one|nothing) \w|^only the\b.*\b(?:is|are|may|can|should|must|will)\b",
    ),
    # standing
    _Form(
        "now here forward henceforth rest rule default whenever unless",
        r"\bfrom (?:now|here) on\b|\bgoing forward\b|\bhenceforth\b|\bfor the rest of (?:this|the|our)\b|\bas a rule\b"
        r"|^whenever (?:you|i ask|a|an|the)\b|\bunless\b|\bby default\b",
    ),
    _Form(
        "sure ensure mind note care careful important importantly essential crucial critical vital refrain away clear"
        " remember",
        r"^(?:please |also,? |and |but |now )*(?:make sure|be sure|ensure|(?:keep|bear) in mind|note)\b(?!.*\byourself)"
        r"|\bplease,? (?:make sure|be sure|ensure|note)\b|\btake care (?:not|that)\b|\byou (?:should"
        r"|must) (?:make sure|ensure)\b"
        r"|\bbe careful (?:to|not|with)\b|\bimportant(?:ly)?:|\b(?:it's|it is) (?:important|essential|crucial"
        r"|critical|vital) "
        r"(?:that (?:you|the|all|every|no|each)|not to)\b|\brefrain from\b|\bstay away from\b|\bsteer clear\b"
        r"|\bremember(?::| that (?:you|the|all|every|no)\b| not to\b)",
    ),
    _Form(
        "rule rules constraint constraints restriction restrictions requirement requirements condition conditions",
        r"\b(?:one|two|three|a few|my|new|another|house|ground|following|golden|hard|strict) (?:rule|constraint"
        r"|restriction"
        r"|requirement|condition)s?\b|\b(?:rule|constraint|restriction|requirement|condition)s?(?: \d+)?(?:: ?\S| (?:is"
        r"|are|appl\w+)\b)",
    ),
    # bounds
    _Form(
        "than latest earliest most least exceed exceeds over above below under beyond surpass spend capped",
        r"\b(?:no|not) (?:more|less|fewer|later|earlier|longer|sooner|larger|bigger|smaller|higher|lower|shorter"
        r"|greater|older"
        r"|newer|further|farther|closer|cheaper|heavier|faster|slower) than\b|\bat the (?:latest|earliest|most|least)\b"
        r"|\b(?:not|never|n't|cannot) (?:to )?(?:exceed|go (?:over|above|below|under|beyond)|surpass|spend)\b"
        r"|\bcapped at\b",
    ),
    _Form(
        "under below within less fewer between max min",
        r"^(?:under|below|within|less than|fewer than|between|max\.?|min\.?) \d",
    ),
    _Form(
        "without leave",
        r"\bwithout (?:my|our|prior|written|explicit|the \w+'s|a \w+'s|any|asking|telling|checking|consult\w+"
        r"|approval|permission"
        r"|consent)\b|\bleave (?:\w+ ){1,4}(?:alone|untouched|unchanged|as (?:it is|they are|is)|out|blank|empty"
        r"|in place)\b",
    ),
    _Form(
        "other apart except exception exclusively",
        r"\b(?:other than|apart from|with the exception of|except (?:for|when|if|on|in|to|the|that)?)\b"
        r"|\bexclusively\b",
    ),
    _Form(
        "don't not can't cannot never only always refuse won't",
        r"\b(?:i|we) (?:don't|do not|can't|cannot|never|only|always) (?:eat|drink|fly|accept|pay|take calls|work on"
        r"|speak|read"
        r"|travel|allow|approve|share|ship|deliver|tolerate|have (?:gluten|dairy|nuts|meat|caffeine|alcohol))\b"
        r"|\b(?:i|we) (?:can't|cannot|can not) (?:have|attend|make|do|go|be|meet|climb|walk|drive|spend|exceed|afford"
        r"|use|install"
        r"|access|leave|arrive|start|miss|receive|handle)\b|\byou (?:can't|cannot)\b|\bi (?:will not|won't"
        r"|refuse to) (?:fly|pay"
        r"|accept|sign|take|use|share|eat)\b|\b(?:can't|cannot|can not|won't) (?:go|exceed|have|use|start|arrive"
        r"|leave|walk|climb"
        r"|eat|drink|handle|include|run|contain|take|travel|fly|send|happen|change|move|depend|rely|cost|contact"
        r"|call)\b"
        r"|\b(?:cannot|can not) be\b",
    ),
    _Form(
        "allergic allergy allergies intolerant intolerance vegan vegetarian halal kosher diabetic celiac coeliac gluten"
        " free"
        " step lactose",
        r"\ballergi(?:c|es)\b|\ballergy\b|\bstep[- ]free\b|\bintoleran\w+\b|\b(?:halal|kosher|vegan|vegetarian"
        r"|diabetic|co?eliac)\b"
        r"|\b(?:gluten|lactose|nut)[- ]free\b",
    ),
    _Form("call address me", r"\bcall me [a-z]|\baddress me\b"),
    # always, never, only, no, do not
    _Form(
        "never",
        rf"{_NOT_AFTER}\bnever,? (?:ever,? )?{_VERBS}\b|\b(?:should|must|may|can|please|shall|are to|is to"
        rf"|to be) never\b"
        rf"|{_START}never (?!\w+(?:ed|ing|s)\b|done|been|gone|had|seen|heard|felt|a\b|the\b|again|ever|too|really"
        rf"|would|will"
        rf"|got)\w|\byou never {_VERBS}\b|\balways\b.*\bnever\b|\bnever (?:to|in production)\b|, never [a-z]+[.!]?$",
    ),
    _Form(
        "always",
        rf"{_NOT_AFTER}\balways {_VERBS}\b(?! for\b)|\b(?:should|must|please|are to|is to) always\b"
        rf"|\byou always {_VERBS}\b"
        rf"|{_START}always (?!\w+(?:ed|ing|s)\b|there|here|so|been|a\b|the\b|good|nice|great|fun|love|happy|had|in my"
        rf"|up|on"
        rf"|by)\w",
    ),
    _Form(
        "don't not",
        rf"(?:{_START}|, |\b(?:and|but|so|or|then) )(?:do not|don't)\b|\bnot (?:before|after|until) (?!i\b|we\b)\w",
    ),
    _Form(
        "only",
        rf"(?:{_START}|, |\b(?:and|but|so|then) )only (?!(?!requests|emails|messages)\w+(?:ed|s)\b|a\b|the\b|one|had"
        rf"|got|been"
        rf"|to\b|me\b|i\b|in my)\w|\b{_VERBS}(?: \w+)? only\b|\bonly {_VERBS}\b|\b\w+-only\b"
        rf"|\bonly(?:,? please)?[.!,;)]*$"
        r"|\b(?:use|using|used|allowed|permitted|sent|accepted|via|through|should|must|may|are|is|be|to|want|need|it"
        r"|them|these"
        r"|those|me|us|please) only (?:be |in |on |for |with |via |through |by |from |when |if |after |before "
        r"|during |at |to )"
        r"|\bonly (?:if|when|after|with|via|through|between|from|once|use)\b",
    ),
    _Form(
        "no",
        rf"(?:{_START}|, )no (?!prob\b|surprise|luck|big|plans|fun|time|and\b|but\b|i\b|it\b|you\b|we\b|not\b|that\b"
        rf"|this\b|he\b"
        r"|she\b|they\b|the\b)[a-z]",
    ),
    # imperatives that bind by themselves
    _Form(
        "avoid stop limit restrict exclude stick quit cease prefer treat skip omit leave use nothing none nobody",
        rf"{_START}(?:avoid|stop|limit|restrict|exclude|stick (?:to|with)|quit|cease|prefer|treat|skip|omit|leave out"
        rf"|use(?! to\b))\b|{_START}{_VERBS} (?:nothing|nobody|none)\b",
    ),
    _Form(
        "keep stays stay",
        rf"{_START}keep (?:it|the|your|all|each|every\w*|answers?|replies|this|that|me|my|our|them|to|messages?"
        rf"|responses?"
        r"|sentences?|prices?|emails?|everyone|costs?|within|under|below|[a-z]+ (?:under|below|within|short|private))\b"
        r"|\bstays? (?:on|in|within|out|off|under|below|inside|private|secret|confidential)\b(?! (?:touch|shape|tune"
        r"|of trouble"
        r"|track|top|there|bed))",
    ),
    _Form(
        "reply answer respond write speak talk explain translate summarize summarise communicate report",
        r"\b(?:reply|answer|respond|write|speak|talk|explain|translate|summari[sz]e|communicate"
        r"|report)(?: \w+){0,4} in "
        rf"(?:\w+ )?{_LANGUAGES}\b",
    ),
    _Form(
        "has have need needs ought",
        rf"{_NOT_AFTER}\b(?:has|need|needs|have|ought) to (?:be|stay|remain|arrive|fit|come|leave|happen|match"
        rf"|include|end|start"
        r"|finish|contain|support|go|return|run|work|use|sign|approve|review|see|fly|reach|land|pass)\b"
        r"|\b(?:it|this|everything) (?:has|needs) to (?:be|stay|fit|arrive|work|start|end|happen)\b",
    ),
    _Form(
        "if when whenever in once before after for",
        rf"^(?:if|when|whenever|in case|once|before|after|for)\b[^,]{{0,200}}, (?:then |please |always |just "
        rf"|first )*{_VERBS}\b",
    ),
)
_FORMS: Final = tuple(re.compile(forms) for _, forms in _FORMS_BY_WORDS)
_FORM_OF_WORD: Final[dict[str, tuple[int, ...]]] = {
    word: tuple(place for place, (words, _) in enumerate(_FORMS_BY_WORDS) if word in words.split())
    for words, _ in _FORMS_BY_WORDS
    for word in words.split()
}

# A number makes a rule of a sentence that names a bound and says that it is one.
_BOUND = re.compile(
    r"\b(?:at (?:most|least)|up to|max(?:imum)?|min(?:imum)?|budget|deadline|ceiling|cap|cut-?off|due|limit(?:ed)?"
    r"|limits"
    r"|threshold|quota|within|under|below|above|over|between|before|after|until|till|no|by|exactly|less than|more than"
    r"|fewer than|not|latest|earliest|exceed\w*|anything|nothing)\b"
)
_DUTY = re.compile(
    r"\b(?:should|want|needs?|has to|have to|ought to|budget|deadline|ceiling|cap|cut-?off|due|limits?|threshold|quota"
    r"|max(?:imum)?|min(?:imum)?|at (?:most|least)|up to|please)\b"
)

_SMALL_TALK = re.compile(
    r"\b(?:never (?:mind|know|knew|a dull|ever|been|seen|heard|thought|fails?|gets? old|stops?|too late|underestimate"
    r"|forget|felt|imagined|the same|had|have|give up|gives?|be sure|better|lose)"
    r"|must (?:be|have|feel|admit|say|confess|try|know|look|see|read|watch|visit)(?: (?:so|really|such|been|still"
    r"|super|felt|nice"
    r"|great|amazing|tough|hard|proud|fun|wonderful|incredible|a (?:great|good|nice|tough|lot|amazing|wonderful)"
    r"|an? \w+ feeling|feel\w*|very|exciting|rewarding|awesome|tiring|happy|cool|beautiful|difficult|kidding|"
    r"thrilled|feeling|like|having|scary|disappoint\w+|frustrat\w+|stress\w*|reliev\w+|tir\w+|nervous|scared|excited"
    r"|worr\w+|hungry"
    r"|\w+ing\b|quite|lovely|peaceful|gorgeous|super|an? (?:excit\w+|interest\w+|special|incredible)))"
    r"|(?:you|that|it|they|he|she|this) must(?:'ve| have| feel| love| really)"
    r"|i must (?:say|admit|confess)|must-(?:see|read|try|have|watch|visit)"
    r"|do(?: not|n't) (?:worry|bother|sweat|mind me|give up|mention it|get me wrong|hesitate|stress|beat|be "
    r"(?:too|so|shy|silly|afraid|sorry|a stranger|hard)|hold back|think so|know|you (?:think|just|love|hate|agree|know)"
    r"|let (?:it|that|them|anything|anyone|fear|yourself|setbacks)|sell yourself|lose (?:hope|heart|faith)"
    r"|underestimate|forget to (?:take|enjoy|have|relax|be|love|celebrate|treat|rest|breathe)|have (?:any|much|a))"
    r"|(?:can't|cannot|can not|couldn't) (?:wait|believe|imagine|get (?:enough|over)|say|complain|help|thank|stop|even|"
    r"remember|recall|seem|tell|go wrong|agree|be more|stress|lie|resist|deny|argue|figure|decide|beat|blame|put into|"
    r"stand|forget|express|ask for|find|picture|hurt|think|emphasi[sz]e|recommend)"
    r"|not only|if only|the only|only (?:thing|one|then|natural|human|wish|wanted|just|hope|way|time will|fair|because)"
    r"|one and only|only been|only get better|at least (?:you|i|we|it|they|that|he|she|the|there|for now)|best before"
    r"|always (?:been|nice|great|good|fun|wanted|loved|here|there for|happy|down|a (?:good|great|pleasure|joy|treat)"
    r"|up for"
    r"|remember|worth|room|something|amazing|thought|felt|inspir\w+|say|said|liked|had|have|the (?:best|same)"
    r"|an adventure)"
    r"|as always|keep (?:it up|up|going|in touch|me (?:posted|updated)|at it|pushing|on|shining|fighting|smiling"
    r"|believing"
    r"|moving|striving|doing|trying|inspiring|rocking|chasing|being|growing|learning|dreaming|spreading|making|working"
    r"|exploring|(?:on )?\w+ing|your (?:chin|head|spirits?|passion)|(?:us|you|me|him|her|them|it) \w+ing)"
    r"|no (?:problem|worries|one|way|doubt|matter|idea|need|rush|wonder|thanks|thank|longer(?! than)|more(?! than)"
    r"|big deal|kidding|pressure"
    r"|pain|shame|joke|offen[cs]e|biggie|sweat|clue|words|better(?! than)|end|limit to|turning back|such|place like"
    r"|regrets|excuse)"
    r"|nothing (?:like|beats|better|wrong|much|compares|can|is|was|to|more|else|special|fancy|too|quite|at all)"
    r"|make sure (?:to (?:take care|enjoy|have fun|rest|take (?:some )?time|check it out|let me know)|you (?:take care"
    r"|enjoy|have fun|rest|get some|take time))|be sure to (?:enjoy|check|take care|let me)"
    r"|remember (?:when|that time|the (?:time|day|first)|how|you|it|our|my|those|being|it like|back|him|her|them|we|i"
    r"|last)"
    r"|(?:have|need|has|got) to (?:say|admit|see|try|check|visit|watch|love|agree|hand it|believe|keep (?:going|up))"
    r"|take it easy|in the future|whenever (?:you|i|we) (?:want|need|feel|like|can|are|get|have|look|see)"
    r"|without (?:you|a doubt|your|further|them|him|her)|up to (?:you|lately|these|anything|something|speed)"
    r"|a must\b(?! not)|(?:never|always) say never|never-ending|should be (?:fun|great|good|nice|proud|awesome"
    r"|amazing|interesting|exciting|so|really)|shouldn't be (?:too|so)"
    r"|call me (?:when|later|if|back|tomorrow|crazy|old|tonight|soon)|tell me (?:more|about|all|everything|how|what)"
    r"|note to self|limits?less|you may be|(?:don't|shouldn't|can't|isn't|aren't|won't|doesn't|didn't"
    r"|mustn't) (?:they|you|we|i|it|he|she)\b(?=[^a-z]*$)|go for it|go ahead|take care|can only imagine|don't (?:you"
    r"|quit|ever quit|miss a beat)|take (?:your time|a (?:break|look|seat|deep)))\b"
)
_ASKED_FOR = re.compile(r"^(?:\w+,? )?(?:can|could|would|will) you\b|\bplease\b|^(?:and |but |so )?(?:make sure|don't)")
_ASKING = re.compile(
    r"^(?:and |but |so,? |or |also,? |then |well,? |oh,? |hey,? )?(?:do|does|did|is|are|was|were|can|could|may|must"
    r"|shall"
    r"|should|will|would|has|have|had|what|why|how|when|where|which|who|whose|don't|doesn't|isn't|aren't|can't"
    r"|shouldn't|any)\b"
)


def is_english_rule(piece: Reading, *, question: bool, number: bool) -> bool:
    """Whether a piece of a sentence binds the one who is addressed.

    Args:
        piece: The piece.
        question: Whether it ends in a question mark.
        number: Whether it holds a number.
    """
    low, words = piece.low, piece.words
    if question and _ASKING.search(low) and not _ASKED_FOR.search(low):
        return False
    forms = {place for word in words for place in _FORM_OF_WORD.get(word, ())}
    if any(_FORMS[place].search(low) for place in forms) or _commands(words):
        if _SMALL_TALK.search(low) is None:
            return True
        bare = _SMALL_TALK.sub("~", low)
        return any(_FORMS[place].search(bare) for place in forms) or _commands(read(bare).words)
    if not number or question or _BOUND.search(low) is None:
        return False
    return _DUTY.search(low) is not None or _opens_with_verb(words)


def _commands(words: list[str]) -> bool:
    """Whether a sentence opens with an imperative that is bounded: "wait until", "ask before", "list all"."""
    return _opens_with_verb(words) and not _RESTRICTORS.isdisjoint(words)


def _opens_with_verb(words: list[str]) -> bool:
    place = 0
    while place < min(len(words) - 1, _LONGEST_OPENING) and words[place] in _OPENERS:
        place += 1
    return bool(words) and words[place] in _VERB_LIST
