"""Indirect English rules: wishes, permissions, conditions and states of things that bind without a "must" or "never".

"I'd rather you didn't", "is not to be copied", "stays between us", "feel free to skip", "should the server go down".
"""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.working.wording.verbs_en import VERBS, Form

__all__ = ["INDIRECT_FORMS"]

# What friends tell each other to do, and nobody a helper.
_FRIENDLY: Final = (
    r"(?:reach|visit|join|come|share|drop|stop by|talk|chat|text|relax|enjoy|laugh|try|check|love|see|hear|watch|meet"
    r"|believe|have (?:fun|a)|take (?:care|it)|be|dream|vent|rest|catch|hang)\b"
)
_MATTER: Final = r"(?:the|this|these|those|that|our|my|your|all|any|every|each|no|its)"
_THING: Final = rf"^(?:and |but |also,? |so )?{_MATTER} (?:[\w'-]+ ){{0,4}}[\w'-]+"

INDIRECT_FORMS: Final = (
    # what somebody wishes
    Form(
        "need want expect trust ask urge beg advise require told asked informed notified consulted copied warned"
        " approve review",
        r"\b(?:i|we)(?: need|'ll need| want| expect| trust| ask| beg| require|'d ask) you (?:to|not to)\b"
        r"|\bi expect (?:you|every|all|each|no|nothing|nobody|everyone|an? (?:reply|answer|report|update))\b"
        r"|\bi(?: want| need|'d like| would like| wish| have) to (?:be (?:told|asked|informed|notified|consulted"
        r"|copied|warned)|approve|review|sign off)\b",
    ),
    Form(
        "prefer rather appreciate grateful thankful obliged hate mind best better",
        r"\b(?:i|we)(?:'d| would) (?:really |much |very much )?(?:prefer (?:that|if|you|it|to|not)"
        r"|rather (?:that )?you|(?:appreciate it|be (?:grateful|thankful|obliged)) if you|hate (?:for|to see|it if))"
        r"|\b(?:it would|it'd|it's|it is) (?:be )?(?:best|better) (?:not to|if you|to (?:not|avoid|keep|leave|wait"
        r"|use|ask))\b|\byou(?:'d| had) (?:better|best) (?!believe|be\b|get used)\w",
    ),
    Form(
        "accept tolerate stand allow live refuse decline",
        r"\b(?:i|we) (?:won't|will not|can't|cannot|don't|do not|refuse to|never) (?:accept|tolerate|allow|take on"
        r"|live with|approve|deal with|do business)\b|\bi can't stand [\w -]+, so\b|\b(?:i|we) decline\b",
    ),
    Form(
        "something what point idea matters more important care",
        r"\b(?:not|isn't|aren't) (?:something|what|anything) (?:i|we) (?:want|need|accept|allow|like)\b"
        r"|\bmatters? (?:far |much )?more (?:to (?:me|us) )?than\b|\bi care more about\b",
    ),
    Form(
        "available reachable able unable limited tight small strict fixed low budget afford",
        r"\b(?:i'm|i am|we're|we are|she's|he's) (?:only|not|never|just) (?:available|reachable|able)\b|\b(?:tight"
        r"|limited|small|strict|fixed|low) budget\b|\b(?:can't|cannot|can not) afford\b",
    ),
    # what may be done
    Form(
        "free welcome needn't need ahead means blessing permission light rein authority right",
        rf"\bfeel free to (?!{_FRIENDLY})\w|\byou(?:'re| are) (?:welcome|free|authori[sz]ed"
        rf"|entitled) to (?!{_FRIENDLY})\w|\byou needn't\b|\bno need (?:for you )?to (?!worry|be|apologi|thank"
        rf"|explain|rush|feel|stress|panic|cry"
        r"|hurry|say)\w|\byou can go ahead\b|\bmy (?:blessing|permission|consent|approval|go-ahead|green light|ok"
        r"|okay)\b|\byou have (?:a )?(?:free (?:rein|hand)|(?:the )?(?:right|authority|permission|green light"
        r"|go-ahead))\b"
        rf"|\bby all means,? {VERBS}\b|\bshould by all means\b",
    ),
    Form(
        "sign signs signoff say says consent approval clearance authorization authorisation permission",
        r"\b(?:get|need|needs|require|requires|seek|obtain|await|wait for|ask for|without|before|until"
        r"|unless)\b.{0,40}\b(?:sign-?off|say-so|consent|approval|clearance|authori[sz]ation|permission)\b"
        r"|\bhas (?:the )?permission to\b|\b\w+ (?:signs off|says so|gives the word)\b",
    ),
    Form(
        "fine ok okay alright right acceptable",
        r"^(?:it's|it is) (?:fine|ok|okay|al{1,2} ?right|acceptable) to (?!"
        + _FRIENDLY
        + r"|feel|cry|ask|not|make|fail)\w",
    ),
    # what must and must not be
    Form(
        "to",
        r"\b(?:isn't|aren't|(?:is|are|'s|'re) (?:not|never|only)) to (?:be\b|\w+)(?! (?:say|blame))"
        rf"|^(?:you are|you're) to {VERBS}\b|^(?!(?:i|we|he|she|they|it|there)\b)(?:[\w'-]+ ){{1,8}}(?:is"
        rf"|are) to be (?!\b(?:expected|honest|sure"
        r"|seen|had|commended|congratulated|admired|a\b|the\b|my\b))\w+(?:ed|en|pt|nt|ld|ut|id|own|ade|ught|one|ead)\b",
    ),
    Form(
        "must table question no go bounds hold out taboo confidential unacceptable excluded barred final internal"
        " priority precedence prevails first",
        r"\bare a must\b|\boff the table\b|\bout of the question\b|\ba no-go\b|\bout of bounds\b|\b(?:is|are|remains?"
        r"|stays?) (?:on hold|taboo|confidential|unacceptable|excluded|barred|ruled out|frozen|off)\b"
        r"|\bas confidential\b|\b(?:takes?|has|have|gets?) (?:precedence|priority)\b|\bprevails\b|\b(?!family"
        r"|safety)\w+ comes first\b",
    ),
    Form(
        "stay stays remain remains",
        rf"{_THING} (?:stays|remains) (?:\w+ed|internal|closed|open|shut|frozen|valid|blank|empty|here|there|put"
        r"|unsaid|intact|between|with|on|in|off|out|as)\b|^(?:this|that|it) (?:stays|remains) (?:between|with"
        r"|in-house|internal|here|a secret|confidential)\b|\bmust (?:stay|remain)\b",
    ),
    Form(
        "eyes use between confidence record yourself house",
        r"\bfor (?:my|your|our|internal) (?:eyes|use) only\b|\b(?:between you and me|(?:just|only|stays?|remains?"
        r"|strictly) between (?:us|ourselves))\b|\bin (?:strict )?confidence\b|\boff the record\b|\bkeep (?:it|this"
        r"|that|them|these) to yourself\b|\bin-house\b",
    ),
    Form(
        "has have need needs whatever whichever anything",
        rf"^(?!(?:i|we|he|she|they|my (?:mom|dad|son|sister|kids?)|the kids?|everyone"
        rf"|everybody)\b)[\w' ,-]{{1,60}}?\b(?:has|have|needs?) to (?:carry|exist|balance|bear|show|read|list|name"
        rf"|cover|cite|state|pass|cost|come"
        r"|hold|ship|last|open|close|load|answer|respond|speak|wear|count|agree|add up|live|sit|appear|run)"
        rf"(?! (?:the best|one of|so|such|my|fun|great|nice|love))|\b(?:whatever|whichever \w+"
        rf"|anything) you {VERBS}\b|\bwhatever you (?:write|send|do|choose|pick|say|post|find)\b(?=.*\b(?:has|must"
        rf"|needs?|should|goes|don't|do"
        r" not|never|keep|leave|avoid|stay)\b)",
    ),
    Form(
        "can't cannot mustn't won't can",
        rf"{_THING}(?<!kids)(?<!dog)(?<!cat) (?:can't|cannot|can not|mustn't|won't be|is not able to) (?!wait|believe"
        r"|stop|get enough|help|come to the phone|sleep|seem|talk|be (?:more|happ))\w",
    ),
    Form(
        "nothing nobody no none anybody anyone ever",
        r"\bnothing (?:gets|goes|is to|may|leaves|goes out)\b(?! (?:me|us|wrong|right|better|as|well|past|by|my))"
        r"|\b(?:nobody|no one|none) (?:gets|is to|is allowed|goes|enters|touches|sees|may|outside|under)\b"
        r"|^(?:please )?let (?:no one|nobody|nothing)\b|\bnone of (?:those|these|them|that)[.,!]"
        r"|\bno \w+(?: \w+)? (?:is|are|may|gets?|goes) (?:to be|allowed|permitted|accepted|out|in)\b"
        r"|\bnothing (?:fancy|expensive|too (?:expensive|fancy|long))\b",
    ),
    Form(
        "mandatory obligatory imperative vital essential paramount necessary key crucial critical important",
        r"\b(?:it's|it is) (?:absolutely |very |really )?(?:important|essential|crucial|critical|vital|imperative"
        r"|necessary|paramount|key) (?:that (?!we\b|i\b|every\w+|people|they|he\b|she\b|you (?:have|feel|know|take"
        r"|are|got))|for (?:the|all|every|each|any|our|my) [\w ]{1,40}\bto\b|not to\b)|\b(?:is|are) (?:obligatory"
        r"|mandatory|paramount)\b|\bof (?:utmost|vital) importance\b",
    ),
    # under which conditions
    Form(
        "should event case conflict",
        rf"^should (?:the|a|an|any|you|it|there|my|our|something|anything|anyone"
        rf"|\w+ing)\b[^,]{{1,120}}, (?:please )?(?:{VERBS}|never|do not|don't|always|the)\b|\bin the event (?:of"
        rf"|that)\b",
    ),
    Form(
        "long once until till provided unless if only",
        r"^as long as\b[^,]{1,120}, (?:nothing|no|nobody|don't|do not|never|only|keep|leave|please|the)\b"
        r"|\bprovided (?:that|you|the|it)\b|\bonly (?:once|after|when|if)\b[^,]{1,120}\bmay\b"
        rf"|^once\b[^,]{{1,120}}, (?:please )?{VERBS}\b|\bon condition that\b|\buntil (?:further notice|i (?:say"
        rf"|tell))\b",
    ),
    Form(
        "matter whatever whoever regardless wherever possible circumstances event reason",
        r"\bno matter (?:who|what|when|how|which|where|the)\b[^,]{0,80}, (?:the|nothing|nobody|no|do|don't|please|all"
        r"|every|it|this)\b(?! (?:is love|was|will always))|^(?:whatever the|for whatever|whoever)\b.*\b(?:stays?"
        r"|must|is not|never|remains?|has to|may not|keep|don't)\b|\b(?:wherever|where|whenever|if at all) possible\b"
        r"|\bunder (?:no|any) circumstances?\b|\bin (?:no|any) event\b|\bfor any reason\b"
        r"|\bregardless of\b.*\b(?:must|keep|stays?|never|not)\b",
    ),
    # imperatives that want no "must"
    Form(
        "see make certain take",
        r"^(?:please |kindly |and )*(?:see (?:to it )?that|make certain|mind that|take care (?:not|that|to))\b"
        r"|\b(?:please|kindly) see (?:to it )?that\b",
    ),
    Form(
        "let let's lets",
        r"^(?:please )?let me (?:see|review|check|approve|read|have|look|know|sign)\b.*\b(?:before|first|prior to)\b"
        r"|\blet's (?:not|avoid|stick to|leave|limit|never|only)\b(?! (?:it at|worry|forget|give|lose|chat|talk))"
        r"|\blet's keep\b.{1,50}\b(?:out of|under|below|within|off|private|short|to)\b",
    ),
    Form(
        "but anything try rather dare yourself spare assume hold run steer",
        r"^anything but (?:an? |the )|, but (?:not|never|no) (?:without|with|if|unless|when|until|on|in|at|by|via"
        r"|before|after|over|an?|more|later|earlier|from|to)\b|^(?:please )?try not to (?!worry|cry|laugh|stress"
        r"|think|panic|overthink|let|get|be|miss)\w|^(?:rather than|instead of) \w+ing\b[^,]*, "
        rf"(?:please )?{VERBS}\b|\bdon't you dare\b"
        r"|\b(?:restrict|limit|confine) yourself\b|^(?:please )?spare (?:me|us)\b|^(?:please )?assume (?:that|the|i"
        r"|we|all|no)\b|^(?:please )?hold (?:off|back|my|all|the)\b|\b(?:run|clear) (?:it|this|that|them|everything"
        r"|anything|any \w+) (?:by|past|with)\b|\bsteer (?:well |very )?clear\b",
    ),
    Form(
        "off away out copy loop touch box stand cc",
        r"^(?:please )?(?:stay|keep) (?:well )?(?:off|away|out|clear)\b(?! of trouble)"
        r"|^(?:please )?keep \w+(?: \w+)? in the loop\b|\bkeep .{1,40}\b(?:out of (?:this|it|the)|anonymous|private)\b",
    ),
    Form(
        "job call decision only all",
        r"\bis (?:strictly |solely |only )?\w+'s (?:job|call|decision)\b|\bthe only (?:\w+ ){1,3}(?:you|they) (?:get"
        r"|are|may|can|should|must)\b|\bis all (?:you|they) (?:get|may|are)\b",
    ),
    Form(
        "policy rule principle procedure protocol deadline",
        r"\b(?:policy|principle|procedure|protocol)(?: is (?:to|that|no|never|not)| here is|:| says| requires"
        r"| forbids)\b|\brule:|\bdeadline (?:is|can't|cannot|stands|stays|moved|remains|won't)\b",
    ),
    Form(
        "everything do don't never",
        r"^everything (?:you|that)\b.*\b(?:goes|has|must|needs|gets|is to|should)\b|\b(?:i|we) (?:don't|do not"
        r"|never) (?:do (?!it\b|that\b|this\b|well|much|anything|not)|ship|work (?:on|with)|drink|eat|use|buy|accept"
        r"|allow|fly|take (?!it|this|that))\w*",
    ),
    Form(
        "be have get make give leave",
        rf"^(?:please |and |but |also,? |always )*be (?:brief|concise|short|polite|formal|friendly|discreet|precise"
        rf"|specific"
        r"|exact|explicit|quiet|strict|honest with|consistent|conservative|frugal|gentle|thorough|neutral"
        r"|careful with|sparing|tactful)\b|^(?:please )?(?:have|get) (?:the|every|all|each|any|it|them|this|that|my"
        r"|our) .{1,60}\b(?:by|before|first|beforehand|from)\b|^(?:please )?make (?:it|this|that) an? (?:habit|point"
        r"|rule)\b"
        rf"|^(?:please )?give (?:priority|preference|precedence) to\b|^(?:please )?{VERBS} no (?!one knows|idea)\w",
    ),
    Form(
        "comfortable uncomfortable happier lean favour favor fan want need",
        r"\b(?:i'm|i am|we're|we are) (?:not |more |most )?(?:un)?comfortable with (?:you|any|only|the|anyone)\b"
        r"|\bi'd be happier if\b|\bi (?:lean|tend) towards?\b|\bi favou?r\b|\bi(?:'m| am) not a fan of\b"
        r"|\bi want (?:the|an?|my|our|this|that|everything|them|it) .{1,60}\b(?:in|by|within|before|without|under"
        r"|only) \w|\bi (?:don't|do not) (?:need|want) you to\b",
    ),
    Form(
        "orders instructed obliged secrecy reserved restricted confined respected",
        r"\b(?:strict|clear|standing) orders\b|\b(?:instructed|obliged) to\b|\bsecrecy\b|\b(?:reserved|restricted"
        r"|confined) (?:for|to)\b|\bto be respected\b|\bmust be respected\b",
    ),
    Form(
        "okay ok fine alright acceptable",
        r"^(?!i\b|we\b|she\b|he\b|they\b|that\b|everything\b)[\w' -]{3,60} (?:is|are) (?:ok|okay|fine|alright"
        r"|acceptable)(?: if| as long| but| when| for (?!now)|[.!]?$)",
    ),
    Form(
        "should",
        r"^(?:the|all|any|our|no|your) [\w' -]{1,60} should be (?!fun|in (?:your|my|his|her)\b|great|good|nice|proud"
        r"|awesome|amazing|fine|over"
        r"|interesting|exciting|so|really|ok|there|here|able|back|home|happy|cool|easy|enough|celebrated)\w",
    ),
    Form(
        "what",
        r"^what(?:ever)? i (?:tell|say|share|send|write|give)\b.*\b(?:stays|remains|is|must|goes|may)\b",
    ),
    Form("circumstances", r"\bunder (?:all|any|no|whatever) circumstances\b"),
    Form(
        "advised told warned ordered asked instructed agreed refuse decline forbids prohibits rules requires",
        r"\b(?:advised|told|warned|ordered|asked|instructed) (?:me|us) (?:not to|against|to (?:avoid|stay|keep"
        r"|never))\b|\bwe(?:'ve| have)? agreed (?:on|that|to)\b|\bi (?:refuse|decline) to\b|\b(?:forbids|prohibits"
        r"|rules out)\b",
    ),
    Form(
        "should ought",
        r"\byou (?:should|ought to) (?:get|use|send|write|ask|wait|answer|reply|include|cite|report|submit|book|order"
        r"|sign|confirm|refuse|attach|encrypt)\b",
    ),
    Form("only", r"^[\w' -]{1,40} only, \w"),
    Form(
        "every each time",
        rf"^(?:every|each)\b[^,]{{1,40}}, (?:please )?(?:{VERBS}|remind)\b",
    ),
    Form(
        "try allow demands applies apply called contacted up principle advance ahead notice warning",
        r"^(?:please )?try to (?:avoid|keep|stay (?:under|below|within|off|out)|use|limit|minimi[sz]e|stick)\b"
        r"|\b(?:doesn't|does not|don't|do not|won't) allow\b(?! me\b)|\bdemands an?\b|\b(?:limit|rule|ban|policy"
        r"|budget|restriction|deadline|embargo)s? (?:also )?appl(?:y|ies)\b|\bto be (?:called|contacted|woken|paid"
        r"|asked) (?:first|before|in advance|only|if|when)\b|\bup to you (?:which|how|whether|where|who|when|what)\b"
        r"|\bprinciple,|\b(?:in advance|ahead of time|prior notice|advance (?:notice|warning)|days? ahead"
        r"|(?:days?|weeks?|months?|hours?|due|proper) notice)\b",
    ),
    Form(
        "has have needs need",
        r"^(?:the|this|these|those|all|every|each|any|our|your|its|no)(?! (?:kids?|dogs?|cats?|guys|boys|girls"
        r"|family)\b) (?:[\w'-]+ ){1,6}(?:has|have|needs?) to (?!(?:go|work|offer|do|say|be (?:the|so|one))\b)\w",
    ),
    Form(
        "allowed get only feel sleep",
        r"\byou(?:'re| are) (?:only )?allowed\b|\byou don't get to\b|\bonly (?:till|until|from|up to)\b|\bi(?:'d"
        r"| would) (?:feel|sleep) (?:better|easier|safer) if you\b",
    ),
    Form(
        "rather instead",
        r"\bso (?:please )?\w+ (?:rather than|instead of)\b",
    ),
    Form(
        "without",
        r"^without (?:[\w'-]+ ){1,4}(?:the|no|nothing|nobody|it|this)\b.*\b(?:is|are|goes|gets|may|can|will"
        r"|stays)\b(?! (?:me|you))",
    ),
    Form(
        "if when whenever once after before should",
        r"^(?:if|when|whenever|once|after|before|should)\b[^,]{1,120}, (?:please )?(?!even\b|all\b|maybe\b|perhaps\b"
        r"|then\b|yesterday\b|today\b|not\b|so\b|and\b|but\b|is\b|was\b|like\b|with\b|for\b|in\b|at\b|on\b|to\b|of\b"
        r"|what\b|how\b|who\b|where\b|why\b|just\b|only\b|because\b|as\b|if\b|both\b|here\b|let\b|there\b|did\b"
        r"|does\b|do\b|can\b|could\b|would\b|will\b|have\b|has\b|had\b|are\b|were\b|be\b|remember\b|imagine\b|check\b"
        r"|enjoy\b|from\b|some\b|it\b)[a-z]+(?<!ed)(?<!ing)(?<!ly) (?:it|them|him|the|every|each|all)\b",
    ),
    Form(
        "let closed open limited website ideally grateful deal agreement weather whatever any up only not",
        r"^(?:please )?let (?:the|all|any|every|each) (?!me\b)\w|\b(?:is|are) (?:not for (?!me\b|everyone|lack|you\b)"
        r"|closed to|open only|limited to|for \w+ only)|^ideally\b|\bi'd be (?:grateful|thankful) for\b|\b(?:our"
        r"|the) (?:deal|agreement) (?:is|was) (?:that|to)\b|^whatever the \w+, |\byou can \w+ (?:whatever|any|all"
        r"|up to|only)\b",
    ),
)
