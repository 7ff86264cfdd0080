"""English rules told as facts: what somebody is or has, what holds for all things of a kind, what is enough.

"I'm colour-blind, so no red", "invoices get archived", "my limit is three a day", "dates in ISO format everywhere".
"""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.working.wording.standing_en import DATA
from langchain_tiered_memory.working.wording.verbs_en import ORDERED, START, VERBS, Form

__all__ = ["FACT_FORMS"]

FACT_FORMS: Final = (
    # what somebody is or has, which binds whoever plans for them
    Form(
        "blind colourblind colorblind deaf fasting dyslexic sober teetotal claustrophobic epileptic wheelchair hearing"
        " native"
        " nda embargo diet tight fixed low call medication",
        r"\b(?:i'm|i am|we're|we are|she's|he's|(?:my|our) \w+ (?:is|are)) (?:\w+ )?(?:colou?r[- ]?blind|deaf|blind"
        r"|fasting|dyslexic|sober|teetotal|claustrophobic|epileptic|in a wheelchair|hard of hearing|not a native"
        r" speaker|under (?:nda|embargo)|on (?:a (?:diet|tight|fixed|low)|call from|medication))\b",
    ),
    Form(
        "timezone time utc gmt cet est pst office working business opening",
        r"\b(?:i'm|i am|we're|we are) (?:only )?(?:in|on) (?:\w+ )?(?:the )?(?:\w+ )?(?:time ?zone|utc|gmt|cet|est|pst"
        r"|\w+ time)\b|\b(?:office|working|business|opening) (?:is|hours)\b.*\b(?:closed|are|from|until|between)\b",
    ),
    Form(
        "drink drive eat smoke own celebrate",
        r"\b(?:i|we) (?:don't|do not) (?:drink|drive|smoke|own|celebrate|eat|have a (?:car|licen[cs]e|printer"
        r"|phone))\b",
    ),
    Form(
        "know see hear learn find",
        r"\b(?:doesn't|don't|does not|do not) need to (?:know|see|hear|learn|find out)\b(?! (?:me|that i love)\b)"
        r"|\b(?:isn't|aren't|is not|are not) (?:supposed|meant) to (?:know|see|hear|find)\b",
    ),
    Form(
        "business place secret privileged private concern limits",
        r"\b(?:(?:none of (?:his|her|their|your)|nobody's|no one's) (?:business|concern)|(?:isn't|is not) (?:your"
        r"|their|his|her) (?:place|business|concern))\b|\b(?:is|are) (?:strictly |all )?(?:secret|privileged|private"
        r"|off limits)(?=[.!,;]|$| (?:and|so|to)\b)",
    ),
    Form(
        "over before above than",
        r"^(?!(?:more|better|rather|other|less|game|party|all)\b)\w+ (?:over|before|above) \w+[.!]?$|^better \w+ than"
        r" \w+\b",
    ),
    Form(
        "both all every each",
        rf"{START}keep (?:both|all|every|each) [\w' ]+ (?:locked|closed|shut|open|off|on|private|short|up to date)\b",
    ),
    Form(
        "everything anything whatever",
        r"^(?:everything|anything|whatever) (?:in|on|from|with|about|under|that|i|we|marked|tagged"
        r"|labelled)\b.*\b(?:is|are|stays|goes|counts|belongs)\b(?! (?:fine|great|good|ok|okay|so|amazing|lovely"
        r"|better|possible|well))",
    ),
    Form(
        "prior after before every each",
        r"^(?:please )?(?!i\b|we\b|you\b|he\b|she\b|it\b|they\b|the\b|my\b|our\b|not\b)[a-z]+(?: up| off| out)?"
        r" [\w' ]{2,40} (?:prior to|before|after) (?:each|every|any)\b"
        rf"|^(?:please )?{VERBS}\b.* (?:every|each)(?: single)? time[.!]?$",
    ),
    Form(
        "isn't aren't not",
        r"(?:^[\w' -]{3,50}), (?:but )?[\w' ]{2,30} (?:isn't|aren't|is not|are not)[.!]?$|^[\w' -]{3,40} (?:is|are)"
        r" (?:fine|ok|okay|allowed)[,;] [\w' ]{2,40} (?:not|isn't|aren't|is not|are not)[.!]?$",
    ),
    Form(
        "call refer name spelled spelt pronounced",
        r"\b(?:call|refer to) (?:it|them|him|her|the \w+) (?:by|as|only)\b|\bis (?:spelled|spelt|pronounced|written)"
        r" (?:with|without|as|in)\b",
    ),
    Form(
        "through",
        r"^(?:all|any|every|each) [\w' ]{2,40} (?:go|goes|run|runs|pass|passes) (?:through|past|by|via)\b",
    ),
    # what holds for all things of a kind: English says it of a plural without "the"
    Form(
        "go stay get come leave run happen belong live start end close open count need don't do aren't are have can't"
        " cannot can",
        r"^(?:and |but |also,? |all |most )?(?!things|kids|guys|lots|tons|times|yes|thanks|this|was|has|does|is|as|us"
        r"|always|perhaps|parents|friends|cats|dogs|birds|people|plans|dreams|hugs|memories|wishes|congrats|vibes"
        r"|thoughts|days|years|weeks|nights|works|sounds|looks|feels|seems|makes|means|makes|sometimes|besides|what's"
        r"|that's|it's|let's|he's|she's|there's|here's|who's|us|its|yours|ours|guess|across|towards|afterwards|unless"
        r"|less|plus)[a-z-]{3,}s (?:(?:from|to|for|with|in|of|above|over|under|below|about|between|without|and|on|at"
        r"|by|like) (?:[\w'-]+ ){1,5}?)?(?:only |never |always )?(?:(?:go|stay|come|leave|run|happen|belong|live|start"
        r"|end|close|open|count) (?!up\b|down\b|well\b|away\b|wrong\b|crazy\b|wild\b|back\b|true\b|together\b)\w|get"
        r" \w+(?:ed|en|id|nt|lt|ept)\b|(?:don't|do not|need to|have to|can't|cannot|can only) \w|(?:are|aren't) (?:not"
        r" |never |only |always |to be )?\w+(?:ed|en|id|nt|pt|ept) (?:in|on|at|by|to|via|with|before|after|within"
        r"|every|as|from|when|once)\b)",
    ),
    Form(
        "to",
        r"\b(?:wants|prefers|likes|expects|needs|wishes|would like|asked|asks) (?:not )?to be (?:\w+ed|told|kept"
        r"|written|paid|left|spoken|given|sent|shown)\b",
    ),
    Form(
        "never only always",
        rf"^(?:and |but |so |also,? )?i (?:never|only|always) (?!forget|end|answer|feel|run|read|play|track|pick|wear"
        rf"|set){ORDERED} (?:\w+ )*\w",
    ),
    Form(
        "not",
        r"^(?!(?:it|that|this|he|she|they|there|i|we|you|yes|no|nope|well|sorry|oh|trying|of course|why|probably|maybe"
        r"|hopefully)\b)(?!.*\b(?:is|are|was|were|am|has|have|had|returns?|said|did|does)\b)[^,?']{3,40}, not (?!yet"
        r"|easy|really|sure|bad|too|so|much|at|a|even|again)[\w' -]{2,40}[.!]?$|\bbut not (?:with|for|to|on|in|at|the"
        r"|my|our|before|after|by|via|from)\b[^?]{2,40}[.!]?$",
    ),
    Form(
        "only",
        r"^(?!(?:i|we|he|she|they|it|you|if|the|not|there|that|this|has|was|been)\b)[\w'-]+(?: [\w'-]+)? only (?:at|in"
        r"|on|for|with|by|via|from|to|if|when|after|before|please)\b",
    ),
    Form(
        "freeze ban limit cap embargo moratorium rule policy quota restriction curfew",
        r"\bthere(?:'s| is|'re| are) (?:an?|no|strict|some) (?:\w+ ){0,2}?(?:freeze|ban|limit|cap|embargo|moratorium"
        r"|rule|policy|quota|restriction|curfew)s?\b",
    ),
    Form(
        "favour favor",
        r"\bdo (?:me|us) (?:a|the|one) favou?r (?:by|if|and)\b",
    ),
    Form(
        "fine ok okay happy mind objection objections",
        r"\b(?:fine|ok|okay) (?:by|with) (?:me|us)\b(?= (?:if|to|that|as)\b)|\bi(?:'m| am) (?:fine|ok|okay|happy)"
        r" (?:with you|for you to|if you)\b|\b(?:i|we) (?:don't|do not|won't|wouldn't) mind (?:if you|you(?:r)?)\b"
        r"|\bno objections? (?:if|to)\b",
    ),
    Form(
        "secret surprise",
        r"\bis (?:still )?a (?:secret|surprise) (?:from|for|to)\b(?! me\b)|\b(?:is|are) (?:a|our) secrets?[.!]?$",
    ),
    Form(
        "style rule policy standard convention motto principle custom format language tone limit cutoff budget ceiling"
        " cap minimum maximum default",
        r"^(?:our|the|house|team|company) (?:[\w-]+ ){0,2}?(?:style|rule|policy|standard|convention|motto|principle"
        r"|custom|format|language|tone|limit|cut-?off|budget|ceiling|cap|minimum|maximum|default) (?:is|are|can't"
        r"|stays|says|remains)\b",
    ),
    Form(
        "can't won't mustn't cannot",
        r"^(?!i\b|we\b).*\b(?:can't|mustn't|cannot) be (?!helped|bothered|denied|beaten|compared|described|explained"
        r"|stressed|blamed|overstated|fixed|trusted|excited|that|so|too|true|real|right)\w+(?:ed|en|id|ept|old|ut)\b",
    ),
    Form(
        "sleep work teach pray nap free away off out busy unavailable available asleep meetings class surgery court"
        " call school",
        r"\bi(?:'m| am)? (?:usually |always )?(?:sleep|work|teach|pray|nap|free|away|off|out|busy|unavailable"
        r"|available|asleep|in (?:meetings|class|surgery|court)|on call|at (?:work|school)) (?:until|till|from|between"
        r"|before|after|every)\b",
    ),
    Form(
        "bill charge close open ship deliver invoice publish deploy release report quote count measure pay accept bake"
        " stock"
        " sell print round archive",
        r"^(?:and |but |here |also,? )?we (?:only |always )?(?:bill|charge|close|open|ship|deliver|invoice|publish"
        r"|deploy|release|report|quote|count|measure|pay|accept|bake|stock|sell|print|round|archive) (?!it\b|that\b"
        r"|them\b|up\b|out\b)(?:\w+ )?(?:in|at|on|by|per|with|to|from|for|within|every|after|before"
        r"|between)\b(?!.*\b(?:tomorrow|tonight|today)\b)",
    ),
    Form(
        "in",
        rf"^(?:and |all |the |our )*{DATA} (?:is|are) (?:always |given |quoted |shown |written )?in \w",
    ),
    Form(
        "see get hear receive read find",
        r"\b(?:i|we) (?:don't|do not|never) want to (?:see|get|hear|receive|read|find) (?:any|another|more|your"
        r"|\w+s)\b",
    ),
    Form(
        "problem issue difficult hard tricky impossible option",
        r"\bso [\w' ]{2,40} (?:is|are) (?:a problem|an issue|difficult|hard|tricky|impossible|not an option|no"
        r" option)\b",
    ),
    Form(
        "embargoed blocked locked reserved suspended paused restricted sealed embargo public official announced final",
        r"\b(?:is|are) (?:embargoed|blocked|locked|reserved|suspended|paused|restricted|sealed|under embargo) (?:until"
        r"|till|for|from|to)\b|\b(?:isn't|aren't|is not|are not) (?:public|official|announced|final)\b",
    ),
    Form(
        "hate dislike stand like",
        r"\bi (?:hate|dislike|don't like|do not like|can't stand|cannot stand) (?:being|to be) \w+(?:ed|en|ught|old"
        r"|id)\b",
    ),
    Form(
        "please",
        rf"^(?!(?:a|an|the|another|more|one|two|three|four|yes|no|coffee|tea|help|ok|okay|next|again|hello|hi"
        rf"|{VERBS})\b)"
        r"(?:[\w'-]+ ){1,4}[\w'-]+s, please[.!]?$",
    ),
    Form(
        "for",
        r"^(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|mornings|evenings|[a-z]+s) are"
        r" (?:only |just )?for (?!me\b|you\b|us\b|him\b|her\b|sale\b|everyone\b|free\b)\w",
    ),
    Form("keep", r", (?:please )?keep (?:it|them|that|those)\b(?! (?:up|going|coming|real))"),
    Form(
        "everything anything whatever every each all",
        r"^(?!i\b.*\b(?:love|thank|appreciate|admire)\b).*\b(?:for|of|with|on|to|from) (?:everything|anything|whatever"
        r"|every \w+"
        rf"|each \w+|all \w+) (?:that )?you {VERBS}\b(?!.*\b(?:thank|thanks|proud|luck)\b)",
    ),
    Form(
        "feel sleep happier better",
        r"\bi(?:'d| would) (?:feel|sleep|be) (?:better|easier|safer|happier|calmer|more comfortable) if\b(?! i\b)",
    ),
    Form(
        "may",
        r"^(?!(?:i|we|it|he|she|they|that|this|there)\b)[\w' -]{3,60} may (?:(?:not |only |now |never )?be \w+(?:ed|en"
        r"|ept|nt|ld|id|ade|ut|wn)\b|(?:not|only|never) \w)",
    ),
    Form(
        "can may",
        rf"^(?:and |but |so )?(?:if [^,]{{3,60}}, )?you (?:can|may) (?:also |simply |always )?(?!do|make|use|find"
        rf"|count|touch|feel|try|run|play){ORDERED} (?!this\b|that\b)\w",
    ),
    Form(
        "if",
        r"^if (?!(?:i|we)\b)[^,]{3,80}, (?:please )?(?!(?:yes|no|maybe|sure|sorry|thanks|great|fine|why|what|how|so"
        r"|well|ok|okay|perhaps|probably|though|then)\b)[a-z]+[.!]?$",
    ),
    Form(
        "mind",
        r"\bwould you mind (?:not|always|never|only) \w+|\bwould you mind \w+ing\b.*\b(?:every|each|always|only|never"
        r"|before|from now|in future)\b",
    ),
    Form(
        "best better safer wise good",
        rf"\b(?:it would|it'd|it's|it is|it will) (?:be )?(?:always )?(?:best|better|safer|wise|a good idea) to"
        rf" {ORDERED}",
    ),
    Form(
        "said says told",
        r"^(?:the|my|our|his|her) [\w'-]+(?: [\w'-]+)? (?:said|says|told (?:me|us)) (?:that )?(?:no|not to|never|only"
        r"|nothing|(?:i|we) (?:must|can't|may not|shouldn't|have to|need to))\b",
    ),
    Form(
        "have",
        r"\b(?:i|we) (?:don't|do not) have (?:an? |any )?(?:car|licen[cs]e|driving licen[cs]e|printer|phone|smartphone"
        r"|credit card|dishwasher|oven|microwave|freezer|lift|elevator|scanner|visa|passport|parking|admin (?:rights"
        r"|access))\b",
    ),
    Form("first", r"\b(?:come|comes|go|goes|get served|board) first\b(?! to mind)"),
    Form(
        "through",
        r"^(?!.*\b(?:i|we|you|he|she|they|it|people)\b)[\w' -]{3,60} (?:go|goes|run|runs|pass|passes) through \w",
    ),
    Form("for", r"\b(?:isn't|aren't|is not|are not) for (?!me\b|everyone\b|everybody\b|you\b|lack\b)\w"),
    Form(
        "keep avoid stick leave limit skip",
        r"\b(?:i|we)'d (?:rather )?(?:keep|avoid|stick (?:to|with)|leave|limit|skip)\b(?! (?:going|in a|for|the house"
        r"|work))",
    ),
    Form(
        "reply answer respond react call acknowledge confirm",
        r"^we (?:always )?(?:reply|answer|respond|react|call back|acknowledge|confirm) (?:\w+ ){0,4}(?:within|by|in"
        r"|before|on)\b",
    ),
    Form(
        "want need like",
        r"\bi(?:'d| would)? (?:want|need|like) (?:my|our|the|your|all|every|any) [\w' ]{2,40} (?:\w{2,}ed|left|kept"
        r"|written|sent|paid|shown|done|hidden|taken|put|read)\b(?! (?:to|me|it|that|more|home)\b)",
    ),
    Form("help", r"\b(?:would|'d|might) help if (?:you|all|every|the)\b"),
    Form(
        "maximum minimum max limit cap total",
        r"^(?:an? |the )?(?:absolute |strict |hard )?(?:maximum|minimum|max|limit|cap) of\b",
    ),
    Form("first", rf"^(?:please )?{VERBS} [\w' ]{{2,40}} first(?:,| and| then)\b"),
    Form(
        "stay be remain",
        r"^(?:please |always )?(?:stay|be|remain) (?!safe|strong|tuned|well|you\b|yourself|happy|there|able|sure"
        r"|careful|proud|a\b|the\b)\w+ (?:even )?(?:when|if|with|in|at|about|to)\b",
    ),
    Form("answer", r"\bthe answer is (?:always |still )?(?:no|yes)\b"),
    Form(
        "generally general standard ideally normally",
        r"^(?:generally|in general|as standard|ideally|normally),? (?!.*[?]$)(?!i\b|he\b|she\b|they\b|it's\b|that\b)\w",
    ),
    Form(
        "is are",
        r"^(?!(?:the|my|your|his|her|their|this|that|these|those|it|he|she|they|we|i|you|there|what|who|who's|here|how"
        r"|why|everyone|everybody|everything|nobody|nothing|someone|all|which|when|where|if|because|since|so|and"
        r"|but)\b)(?:[\w'-]+ ){1,5}?(?:is|are) (?:only |always |never |not |to be )?(?!(?:tired|excited|delayed|closed"
        r"|sold|broken|bored|scared|amazed|supposed|cancell?ed|overrated|crowded|packed|married|interested|involved"
        r"|based|lost|worried|wanted|open|finished|stuck|disappointed|surprised|needed|called|named|located|divided"
        r"|loved|missed|dead|red|indeed|old|golden|often|even|when|then|wooden|hidden|ten|seven)\b)(?:\w{3,}(?:ed|en"
        r"|ught|ept|old|ade)|sent|spent|lent)\b",
    ),
    Form(
        "can't cannot",
        r"^(?:and |but |sorry,? )?i (?:can't|cannot) (?:open|read|hear|print|view|play|lift|smell|receive|eat|drink)"
        r" (?!it\b|that\b|this\b|you\b|enough\b|a thing\b|the\b|my\b)\w",
    ),
    Form(
        "tolerate accept permit approve",
        r"\b(?:doesn't|don't|does not|do not|won't|will not) (?:tolerate|accept|permit|approve)\b",
    ),
    Form("rather", r"\b(?:i|we)'d rather (?!be\b|die\b|see\b|eat\b)\w+ .*\bthan\b"),
    Form("free", r"\ba free (?:hand|rein)\b"),
    Form(
        "limit cap ceiling maximum minimum rule policy principle",
        r"^my (?:\w+ )?(?:limit|cap|ceiling|maximum|minimum|rule|policy|principle) (?:is|are|for)\b",
    ),
    Form("enough plenty", r"^(?:for|to) (?:me|us),? [\w' -]{3,40} (?:is|are) (?:enough|plenty)\b"),
    Form(
        "without black plain",
        r"\bi (?:take|like|drink|eat|want|have|prefer) my \w+ (?:without|with no|black|plain|decaf|well done"
        r"|unsalted)\b",
    ),
    Form(
        "contract lease law agreement manual terms licence license statutes guideline guidelines prescription label"
        " insurance lawyer",
        r"^(?:the|our|my) (?:contract|lease|law|agreement|manual|terms|licen[cs]e|statutes|guidelines?|prescription"
        r"|label|insurance) (?:\w+ )?(?:says?|states?|stipulates?|specif\w+|provides|limits|allows|caps|prohibits"
        r"|forbids|requires)\b",
    ),
    Form(
        "tradition custom habit policy rule practice principle",
        r"\bit(?:'s| is) (?:our|my|the|company) (?:tradition|custom|habit|policy|rule|practice|principle) (?:to|that"
        r"|not)\b",
    ),
)
