"""The English words that make a sentence a rule outright, each with the forms in which it binds: "must", "never"."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.working.wording.verbs_en import NOT_AFTER, START, VERBS, Form

__all__ = ["DIRECT_FORMS"]

_LANGUAGES: Final = (
    r"(?:english|german|french|spanish|chinese|mandarin|japanese|portuguese|italian|dutch|korean|russian|arabic"
    r"|turkish|polish|plain|simple|short|formal|bullet\w*|json|yaml|xml|markdown|csv|tables?|lower ?case|upper ?case"
    r"|full|complete|one|two|three|under|metric|euros?|dollars?|utc)"
)


DIRECT_FORMS: Final = (
    # duty and permission
    Form("must mustn't", r"\bmust\b(?!'ve)|\bmustn't\b"),
    Form("shall shan't", r"\bshall (?:not|only|never|always)\b|\bshan't\b"),
    Form("may", r"\bmay (?:not|only)\b|\byou(?:'re| are)? may\b"),
    Form("can", r"\bcan only\b|\byou can (?:now|use)\b|\byou can (?:\w+ ){1,6}now\b"),
    Form(
        "allowed permitted acceptable authorized authorised supposed option okay required needed fine ok entitled",
        r"\b(?:not|aren't|isn't|never) (?:be )?(?:allowed|permitted|acceptable|authori[sz]ed|supposed to|an option"
        r"|okay)\b|\byou(?:'re| are)? allowed to\b|\b(?:is|are) (?:now )?(?:allowed|permitted|required|not needed)\b"
        r"|\b(?:is|are) (?:fine|ok|okay) now\b|\b(?:only|not) (?:\w+ )?(?:permitted|authori[sz]ed|entitled)\b"
        r"|\bnot an option\b",
    ),
    Form(
        "forbidden prohibited disallowed off mandatory compulsory banned negotiable breaker dealbreaker hard strictly"
        " hands forbid prohibit",
        r"\b(?:i|we) (?:\w+ly |hereby )?(?:forbid|prohibit)\b|\b(?:forbidden|prohibited|disallowed|off[- ]limits"
        r"|mandatory|compulsory|banned|non[- ]negotiable"
        r"|deal[- ]?breaker|hard (?:limit|requirement|constraint|stop|cap|rule)|strictly|hands off)\b",
    ),
    Form(
        "have need longer free",
        r"\byou (?:now )?have (?:my )?permission\b|\byou(?:'re| are) free to (?!catch|talk|chat|meet)|\byou (?:need"
        r"|have) to (?:ask|use|check|confirm|wait|get|keep|stay|stop|avoid|make sure|include|send|write|answer)\b"
        r"|\byou no longer (?:need|have) to\b|\byou (?:don't|do not) (?:need|have) to (?:ask|use|check|confirm|wait"
        r"|get|send|write|answer|reply|call|include|round)\b",
    ),
    Form(
        "should shouldn't",
        r"\byou (?:should (?:not|never|always|only)|shouldn't)\b|\bshouldn't\b|\bshould (?:not|only|stay|remain|match"
        r"|start|end|fit|use|include|contain|have|go|be (?:in(?! (?:your|my|his|her)\b)|at|under|below|within|between"
        r"|kept|sent|written|no|on"
        r"|from|treated|rounded|limited|formatted|signed|addressed|done|made|called|stored|encrypted|masked|reviewed"
        r"|approved|tested|short|quoted|exactly|invited|at (?:most|least)))\b|\bshould (?:never|always)\b"
        r"|^neither\b.*\bshould\b",
    ),
    # whatever happens
    Form(
        "under means case time point exceptions exception matter times account no whatever regardless doubt come",
        r"\b(?:under no|by no means|in no case|at no (?:time|point)|no exceptions?|in (?:any|every) case|at all times"
        r"|no matter what|without exception|on no account|whatever happens|come what may|(?:if"
        r"|when) in (?:any )?doubt)\b|^regardless\b|\bregardless[.!]?$",
    ),
    Form(
        "want like prefer preferably preference rather insist",
        r"\b(?:i|we) (?:don't|do not) want (?:you|any|it|them|the|this|that|our|my|a|an|him|her|us|anyone|anything)\b"
        r"|\bi(?: want|'d like|would like) (?:all|every|each|your|you to|no|only|them|it (?:to be|in))\b|\b(?:i"
        r"|we)(?:'d| would)? (?:strongly )?prefer\b|\b(?:i|we)(?:'d| would) rather (?:not|you|have|stay|pay|take|fly"
        r"|go|use|get)\b|\bpreferably\b|\bmy preference\b|\binsist\b",
    ),
    Form(
        "every each all any anything anyone anybody nothing everything everyone neither none nobody no",
        r"^(?:every|each|all|any\w*|nothing|everything|everyone|neither|none|nobody|no one|no)\b.*\b(?:needs?"
        r"|requires?|must|may|should|can|goes|gets|stays?|remains?|(?:has|have|is|are) to|belongs?)\b|^(?:every|each"
        r"|all)\b.*\b(?:is|are) (?:in|to|at|by|on|for)\b|^(?:every|each|any) time (?:you|i ask)\b|\b(?:nobody|no one"
        r"|none of \w+) (?:but|except|may|should|must|can|else|other)\b|\bnothing else\b|\bnothing (?:that|before"
        r"|after|over|above|under|below|from|on|in|except|later|earlier|which|with|longer|larger)\b|^(?:every|each"
        r"|all)\b(?: \w+){1,3} (?:in|under|with) (?!her\b|him\b|them\b|you\b|us\b|my\b)\w",
    ),
    Form("nobody no nothing", r"\bthat (?:nobody|no one|nothing) \w"),
    Form("only", r"^only the\b.*\b(?:is|are|may|can|should|must|will)\b"),
    # standing
    Form(
        "now here forward henceforth rest rule default whenever unless",
        r"\bfrom (?:now|here) on\b|\bgoing forward\b|\bhenceforth\b|\bfor the rest of (?:this|the|our)\b"
        r"|\bas a rule\b|^whenever (?:you|i ask|a|an|the)\b|\bunless\b|\bby default\b",
    ),
    Form(
        "sure ensure mind note care careful important importantly essential crucial critical vital refrain away clear"
        " remember",
        r"^(?:please |also,? |and |but |now )*(?:make sure|be sure|ensure|(?:keep|bear) in mind"
        r"|note)\b(?!.*\byourself)|\bplease,? (?:make sure|be sure|ensure|note)\b|\btake care (?:not|that)\b"
        r"|\byou (?:should|must) (?:make sure|ensure)\b|\bbe careful (?:to|not|with)\b|\bimportant(?:ly)?:|\b(?:it's"
        r"|it is) (?:important|essential|crucial|critical|vital) (?:that (?:you|the|all|every|no|each)|not to)\b"
        r"|\brefrain from\b|\bstay away from\b|\bsteer clear\b|\bremember(?::| that (?:you|the|all|every|no)\b"
        r"| not to\b)",
    ),
    Form(
        "rule rules constraint constraints restriction restrictions requirement requirements condition conditions",
        r"\b(?:one|two|three|a few|my|new|another|house|ground|following|golden|hard|strict) (?:rule|constraint"
        r"|restriction|requirement|condition)s?\b|\b(?:rule|constraint|restriction|requirement"
        r"|condition)s?(?: \d+)?(?:: ?\S| (?:is|are|appl\w+)\b)",
    ),
    # bounds
    Form(
        "than latest earliest most least exceed exceeds over above below under beyond surpass spend capped",
        r"\b(?:no|not) (?:more|less|fewer|later|earlier|longer|sooner|larger|bigger|smaller|higher|lower|shorter"
        r"|greater|older|newer|further|farther|closer|cheaper|heavier|faster|slower) than\b|\bat (?:the )?(?:latest"
        r"|earliest|most)\b|\bat the least\b|\b(?:not|never|n't|cannot) (?:to )?(?:exceed|go (?:over|above|below|under"
        r"|beyond)"
        r"|surpass|spend)\b|\bcapped at\b",
    ),
    Form(
        "under below within less fewer between max min",
        r"^(?:under|below|within|less than|fewer than|between|max\.?|min\.?) \d",
    ),
    Form(
        "without leave",
        r"\bwithout (?:my|our|prior|written|explicit|the \w+'s|a \w+'s|any|asking|telling|checking|consult\w+"
        r"|approval|permission|consent)\b|\bleave (?:\w+ ){1,4}(?:alone|untouched|unchanged|as (?:it is|they are|is)"
        r"|out|blank|empty|in place)\b",
    ),
    Form(
        "other apart except exception exclusively",
        r"\b(?:other than|apart from|with the exception of|except (?:for|when|if|on|in|to|the|that)?)\b"
        r"|\bexclusively\b",
    ),
    Form(
        "don't not can't cannot never only always refuse won't",
        r"\b(?:i|we) (?:don't|do not|can't|cannot|never|only|always) (?:eat|drink|fly|accept|pay|take calls|work on"
        r"|speak|read|travel|allow|approve|share|ship|deliver|tolerate|have (?:gluten|dairy|nuts|meat|caffeine"
        r"|alcohol))\b|\b(?:i|we) (?:can't|cannot|can not) (?:have|attend|make|do|go|be|meet|climb|walk|drive|spend"
        r"|exceed|afford|use|install|access|leave|arrive|start|miss|receive|handle)\b|\byou (?:can't|cannot)\b"
        r"|\bi (?:will not|won't|refuse to) (?:fly|pay|accept|sign|take|use|share|eat)\b|\b(?:can't|cannot|can not"
        r"|won't) (?:go|exceed|have|use|start|arrive|leave|walk|climb|eat|drink|handle|include|run|contain|take"
        r"|travel|fly|send|happen|change|move|depend|rely|cost|contact|call)\b|\b(?:cannot|can not) be\b",
    ),
    Form(
        "allergic allergy allergies intolerant intolerance vegan vegetarian vegans vegetarians halal kosher diabetic"
        " celiac coeliac gluten free step lactose",
        r"\ballergi(?:c|es)\b|\ballergy\b|\bstep[- ]free\b|\bintoleran\w+\b|\b(?:halal|kosher|vegans?|vegetarians?"
        r"|diabetic|co?eliac)\b|\b(?:gluten|lactose|nut)[- ]free\b",
    ),
    Form("call address me", r"\bcall me [a-z]|\baddress me\b"),
    # always, never, only, no, do not
    Form(
        "never",
        rf"\b(?=never){NOT_AFTER}never,? (?:ever,? )?{VERBS}\b|\b(?:should|must|may|can|please|shall|are to|is to"
        rf"|to be) never\b|{START}never (?:ever )?(?!\w+(?:ed|ing|s)\b|done|been|gone|had|seen|heard|felt|a\b"
        rf"|the\b|again|ever"
        rf"|too|really|would|will|got)\w|\byou never {VERBS}\b|\balways\b.*\bnever\b|\bnever (?:to|in production)\b"
        rf"|, never [a-z]+[.!]?$",
    ),
    Form(
        "always",
        rf"\b(?=always){NOT_AFTER}always {VERBS}\b(?! for\b)|\b(?:should|must|please|are to|is to) always\b"
        rf"|\byou always {VERBS}\b|{START}always (?!\w+(?:ed|ing|s)\b|there|here|so|been|a\b|the\b|good|nice|great"
        rf"|fun|love|happy|had|in my|up|on|by)\w",
    ),
    Form(
        "don't not",
        rf"\bplease not {VERBS}\b|(?:{START}|, |\b(?:and|but|so|or|then) )(?:do not|don't)\b"
        r"|\bnot (?:before|after|until) (?!i\b|we\b)\w",
    ),
    Form(
        "only",
        rf"(?:{START}|, |\b(?:and|but|so|then) )only (?!(?!requests|emails|messages)\w+(?:ed|s)\b|a\b|the\b|one|had"
        rf"|got|been|to\b|me\b|i\b|in my)\w|\b{VERBS}(?: \w+)? only\b|\bonly {VERBS}\b|\b\w+-only\b"
        rf"|\bonly(?:,? please)?[.!,;)]*$"
        r"|\b(?:use|using|used|allowed|permitted|sent|accepted|via|through|should|must|may|are|is|be|to|want|need|it"
        r"|them|these|those|me|us|please) only (?:be |in |on |for |with |via |through |by |from |when |if |after "
        r"|before |during |at |to )|\bonly (?:if|when|after|with|via|through|between|from|once|use)\b",
    ),
    Form(
        "no",
        rf"(?:{START}|, )no (?!prob\b|surprise|luck|big|plans|fun|time|and\b|but\b|i\b|it\b|you\b|we\b|not\b|that\b"
        rf"|this\b|he\b"
        r"|she\b|they\b|the\b)[a-z]",
    ),
    # imperatives that bind by themselves
    Form(
        "avoid stop limit restrict exclude stick quit cease prefer treat skip omit leave use",
        rf"{START}(?:avoid|stop|limit(?= (?:the|your|our|my|it|them|all|any|every|each|this|these)\b|\b.* to\b)"
        rf"|restrict|exclude|stick (?:to|with)|quit|cease|prefer|treat|skip|omit|leave out"
        rf"|use(?! to\b))\b",
    ),
    Form("nothing nobody none", rf"{START}{VERBS} (?:nothing|nobody|none)\b"),
    Form(
        "keep stays stay",
        rf"{START}keep (?:it|the|your|all|each|every\w*|answers?|replies|this|that|me|my|our|them|to|messages?"
        rf"|responses?"
        r"|sentences?|prices?|emails?|everyone|costs?|within|under|below|[a-z]+ (?:under|below|within|short"
        r"|private))\b|\bstays? (?:on|in|within|out|off|under|below|inside|private|secret|confidential)\b(?! (?:touch"
        r"|shape|tune|of trouble|track|top|there|bed))",
    ),
    Form(
        "reply answer respond write speak talk explain translate summarize summarise communicate report",
        r"\b(?:reply|answer|respond|write|speak|talk|explain|translate|summari[sz]e|communicate"
        r"|report)(?: \w+){0,4} in "
        rf"(?:\w+ )?{_LANGUAGES}\b",
    ),
    Form(
        "has have need needs ought",
        rf"\b(?=has|need|have|ought){NOT_AFTER}(?:has|need|needs|have|ought) to (?:be|stay|remain|arrive|fit|come"
        rf"|leave|happen|match|include|end|start"
        r"|finish|contain|support|go|return|run|work|use|sign|approve|review|see|fly|reach|land|pass)\b|\b(?:it|this"
        r"|everything) (?:has|needs) to (?:be|stay|fit|arrive|work|start|end|happen)\b",
    ),
    Form(
        "if when whenever in once before after for until unless while whoever wherever during on at as under with from"
        " except should",
        rf"^(?:if|when|whenever|in|on|at|once|before|after|for|until|unless|while|whoever|wherever|during|as soon as"
        rf"|under|with|from|except)\b[^,]{{0,200}}, (?:then |please |always |just |first |simply )*(?:{VERBS}\b"
        rf"|say nothing|do"
        r" not\b|never\b|nothing\b)",
    ),
)
