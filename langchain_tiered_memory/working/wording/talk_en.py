"""English phrases that only look like rules: "never mind", "can't wait", "a must-see"."""

from __future__ import annotations

import re
from typing import Final

from langchain_tiered_memory.working.wording.reading import Reading
from langchain_tiered_memory.working.wording.verbs_en import Form

__all__ = ["without_small_talk"]

_SMALL_TALK = re.compile(
    r"\b(?:would only|only my|you must (?:tell|come)|(?:really|just|still) have to|can always count on|don't ask me"
    r"|not allowed to be|should have (?:seen|been|known|heard|told|\w+ed)\b|(?:was|were) not allowed|(?:wasn't"
    r"|weren't) allowed|to start somewhere|it must be (?:late|early|cold|hot|so|lovely|nice|hard|tough|great)|must"
    r" have (?:\w+ed|been|brought|left|had|gone|made|felt|given|taken|come|seen|got|gotten|lost|unreal)\b|must"
    r" (?:remind|mean|bring (?:so|back|you|a|up)|love)\b|(?:has|have) to be (?:the (?:best|most|worst|cutest)|one of)"
    r"|if (?:you|i)(?:'re| are)?(?: ever)? (?:need|want)\b[^,]{0,60}, (?:just )?(?:let me know|i'll|call|reach|check)"
    r"|don't (?:ever )?forget (?:-|you|your|how|to (?:stay|smile|believe))|don't (?:put too much|stop (?:pushing"
    r"|believing|trying|dreaming|being))|(?<=[a-z] )(?<!please )always (?:make|give|remind|bring|help|lift|cheer"
    r"|inspire|brighten)s? (?:me|us|you)|(?:i|we) should (?:go|try|have|do|get|catch|meet|start|probably|really"
    r"|definitely|see|know)|needs? (?:a (?:break|nap|hug)|some (?:time|love|rest))|make sure (?:you|to) (?:have (?:a"
    r"|fun)|get some)|make sure (?:yours|it shines)|you to join|forbidden love|never (?:ever )?(?:mind|know|knew|a dull"
    r"|been|seen|heard|thought|fails?|gets? old|stops?|too late|underestimate|forget|felt|imagined|the same|had|have"
    r"|give up|gives?|be sure|better|lose)|must (?:be|have|feel|admit|say|confess|try|know|look|see|read|watch"
    r"|visit)(?: (?:so|really|such|been|still|super|felt|nice|great|amazing|tough|hard|proud|fun|wonderful|incredible"
    r"|a (?:great|good|nice|tough|lot|amazing|wonderful)|an? \w+ feeling|feel\w*|very|exciting|rewarding|awesome"
    r"|tiring|happy|cool|beautiful|difficult|kidding|thrilled|feeling|like|having|scary|disappoint\w+|frustrat\w+"
    r"|stress\w*|reliev\w+|tir\w+|nervous|scared|excited|worr\w+|hungry|\w+ing\b|quite|lovely|peaceful|gorgeous|super"
    r"|an? (?:excit\w+|interest\w+|special|incredible)))|(?:you|that|it|they|he|she|this) must(?:'ve| have| feel| love"
    r"| really)|i must (?:say|admit|confess)|must-(?:see|read|try|have|watch|visit)|do(?: not|n't) (?:worry|bother(?!"
    r" with)|sweat|mind me|give up|mention it|get me wrong|hesitate|stress|beat|be (?:too|so|shy|silly|afraid|sorry|a"
    r" stranger|hard)|hold back|think so|know|you (?:think|just|love|hate|agree|know)|let (?:it|that|them|anything"
    r"|anyone|fear|yourself|setbacks)|sell yourself|lose (?:hope|heart|faith)|underestimate|forget to (?:take|enjoy"
    r"|have|relax|be|love|celebrate|treat|rest|breathe)|have (?:any|much|a))|(?:can't|cannot|can not|couldn't) (?:wait"
    r"|believe|imagine|get (?:enough|over)|say|complain|help|thank|stop|even|remember|recall|seem|tell|go wrong|agree"
    r"|be more|stress|lie|resist|deny|argue|figure|decide|beat|blame|put into|stand|forget|express|ask for|find"
    r"|picture|hurt|think|emphasi[sz]e|recommend)|not only|if only|the only(?! (?:\w+ ){1,3}(?:you|they) (?:get|may"
    r"|can|are|should|must)\b)|only (?:thing|one|then|natural|human|wish|wanted|just|hope|way|time will|fair|because)"
    r"|one and only|only been|only get better|at least (?:you|i|we|it|they|that|he|she|the|there|for now)|best before"
    r"|always (?:been|nice|great|good|fun|wanted|loved|here|there for|happy|down|a (?:good|great|pleasure|joy|treat)"
    r"|up for|remember|worth|room|something|amazing|thought|felt|inspir\w+|say|said|liked|had|have|the (?:best|same)"
    r"|an adventure)|as always|keep (?:it up|up|going|in touch|me (?:posted|updated)|at it|pushing|on|shining|fighting"
    r"|smiling|believing|moving|striving|doing|trying|inspiring|rocking|chasing|being|growing|learning|dreaming"
    r"|spreading|making|working|exploring|(?:on )?\w+ing|your (?:chin|head|spirits?|passion)|(?:us|you|me|him|her|them"
    r"|it) \w+ing)|no (?:problem|worries|one(?! (?:but|may|is to|should|must|can|under|outside|gets|else|except"
    r"|without|under))|way|doubt|matter(?!.*\b(?:stays|never|nothing|no one|nobody|keep|must|do not)\b)|idea|need(?!"
    r" to (?!worry|be|apologi|thank|explain|rush|feel|stress|panic|cry|hurry|say)\w)|rush|wonder|thanks|thank"
    r"|longer(?! than)|more(?! than)|big deal|kidding|pressure|pain|shame|joke|offen[cs]e|biggie|sweat|clue|words"
    r"|better(?! than)|end|limit to|turning back|such|place like|regrets|excuse)|nothing (?:like|beats|better|wrong"
    r"|much|compares|can|is(?! to)|was|to (?:do|say|see|worry|lose|fear|wear|eat|report|add|complain|hide|be)\b|more"
    r"|else|special|fancy|too|quite|at all)|make sure (?:to (?:take care|enjoy|have fun|rest|take (?:some )?time|check"
    r" it out|let me know)|you (?:take care|enjoy|have fun|rest|get some|take time))|be sure to (?:enjoy|check|take"
    r" care|let me)|remember (?:when|that time|the (?:time|day|first)|how|you|it|our|my|those|being|it like|back|him"
    r"|her|them|we|i|last)|(?:have|need|has|got) to (?:say|admit|see|try|check|visit|watch|love|agree|hand it|believe"
    r"|keep (?:going|up))|take it easy|in the future|whenever (?:you|i|we) (?:want|need|feel|like|can|are|get|have"
    r"|look|see)|without (?:you|a doubt|your|further|them|him|her)|up to (?:you|lately|these|anything|something|speed)"
    r"|(?<!are )a must\b(?! not)|(?:never|always) say never|never-ending|should be (?:fun|great|good|nice|proud"
    r"|awesome|amazing|interesting|exciting|so|really)|shouldn't be (?:too|so)|call me (?:when|later|if|back|tomorrow"
    r"|crazy|old|tonight|soon)|tell me (?:more|about|all|everything|how|what)|note to self|limits?less|you may be"
    r"|(?:don't|shouldn't|can't|isn't|aren't|won't|doesn't|didn't|mustn't) (?:they|you|we|i|it|he|she)\b(?=[^a-z]*$)"
    r"|go for it|(?<!you can )go ahead|take care|can only imagine|don't (?:you(?! dare)|quit|ever quit|miss a beat)"
    r"|take (?:your time|a (?:break|look|seat|deep)))\b"
)

_OTHERS: Final = r"(?:he|she|they|it|we|his|her|their|him)"
_TOLD: Final = tuple(
    (frozenset(form.words.split()), re.compile(form.forms))
    for form in (
        Form(
            "said says thought thinks claimed claims figured complained joked told asked",
            r"\b(?:he|she|they|somebody|someone|(?:the|his|her|their) \w+) (?:said|says|thought|thinks|claimed|claims"
            r"|figured|complained|joked|told (?:him|her|them|everyone|everybody)|asked (?:him|her|them)) (?:that )?"
            rf"(?:{_OTHERS}|not to)\b.*|^(?:he|she|they) (?:told|asked) (?:me|us)\b.*",
        ),
        Form(
            "film movie novel episode dream fairytale tale sitcom game",
            r"\bin (?:the|this|that|his|her|a) (?:film|movie|novel|episode|dream|fairy ?tale|sitcom|video game)\b.*",
        ),
        Form(
            "wait listen look see come hold say guess hang",
            r"^(?:wait|listen|look|see|come on|hold on|say|guess what|hang on),? (?=that|this|it|i\b|you\b|he\b|she\b"
            r"|we\b|what)",
        ),
        Form(
            "must shouldn't",
            r"\b(?:he|she|we|they) must (?!not\b|never\b|only\b|always\b|all\b|first\b).*|\bmust have \w+|\bshouldn't"
            r" have\b|\bthere must be (?:an?|some)\b|\bthat must be (?:the|an?|my|your|his|her|our)\b",
        ),
        Form(
            "nobody one nothing everyone everybody",
            r"\b(?:nobody|no one|nothing|everyone|everybody) (?:else )?\w+ed\b(?! to\b)",
        ),
        Form(
            "only",
            r"\bonly (?:\w+ ){1,3}(?:came|showed|left|was|were|had|got|knew|made|went|turned|survived|arrived"
            r"|replied)\b.*",
        ),
        Form("was were", r"^(?:everyone|everybody|everything|nobody|nothing|all|he|she|they) (?:was|were)\b.*"),
        Form("nothing", r"\bthere(?:'s| is| was) nothing\b"),
        Form("apparently", r".*, apparently\b"),
        Form("say", r"\bthey say\b.*|.*, they say\b"),
        Form("used had didn't couldn't wouldn't", r"\b(?:used to|had to|didn't|couldn't|wouldn't) .*"),
    )
)
"""What somebody else said or had to do, and what happens in a story, bind nobody who is addressed."""


def without_small_talk(piece: Reading) -> str:
    """A piece in lower case with a mark in the place of each of these phrases; its `low` itself where it has none."""
    low = piece.low
    for words, told in _TOLD:
        if not words.isdisjoint(piece.words) and told.search(low):
            low = told.sub("~", low)
    return _SMALL_TALK.sub("~", low) if _SMALL_TALK.search(low) else low
