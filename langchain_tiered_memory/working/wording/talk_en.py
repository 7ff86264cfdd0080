"""English phrases that only look like rules: "never mind", "can't wait", "a must-see"."""

from __future__ import annotations

import re

__all__ = ["without_small_talk"]

_SMALL_TALK = re.compile(
    r"\b(?:would only|only my|you must (?:tell|come)|(?:really|just|still) have to|can always count on|don't ask me"
    r"|not allowed to be|should have (?:seen|been|known|heard|told|\w+ed)\b|(?:was|were) not allowed|(?:wasn't"
    r"|weren't) allowed|to start somewhere|it must be (?:late|early|cold|hot|so|lovely|nice|hard|tough|great)"
    r"|must have (?:\w+ed|been|brought|left|had|gone|made|felt|given|taken|come|seen|got|gotten|lost|unreal)\b"
    r"|must (?:remind|mean|bring (?:so|back|you|a|up)|love)\b|(?:has|have) to be (?:the (?:best|most|worst|cutest)"
    r"|one of)|if (?:you|i)(?:'re| are)?(?: ever)? (?:need|want)\b[^,]{0,60}, (?:just )?(?:let me know|i'll|call"
    r"|reach|check)|don't (?:ever )?forget (?:-|you|your|how|to (?:stay|smile|believe))|don't (?:put too much"
    r"|stop (?:pushing|believing|trying|dreaming|being))|(?<=[a-z] )(?<!please )always (?:make|give|remind|bring|help"
    r"|lift|cheer|inspire|brighten)s? (?:me|us|you)|(?:i|we) should (?:go|try|have|do|get|catch|meet|start|probably"
    r"|really|definitely|see|know)|needs? (?:a (?:break|nap|hug)|some (?:time|love|rest))|make sure (?:you"
    r"|to) (?:have (?:a|fun)|get some)|make sure (?:yours|it shines)|you to join|forbidden love|never (?:mind|know"
    r"|knew|a dull|ever|been|seen|heard|thought|fails?|gets? old|stops?|too late|underestimate|forget|felt|imagined"
    r"|the same|had|have|give up|gives?|be sure|better|lose)|must (?:be|have|feel|admit|say|confess|try|know|look|see"
    r"|read|watch|visit)(?: (?:so|really|such|been|still|super|felt|nice|great|amazing|tough|hard|proud|fun|wonderful"
    r"|incredible|a (?:great|good|nice|tough|lot|amazing|wonderful)|an? \w+ feeling|feel\w*|very|exciting|rewarding"
    r"|awesome|tiring|happy|cool|beautiful|difficult|kidding|thrilled|feeling|like|having|scary|disappoint\w+"
    r"|frustrat\w+|stress\w*|reliev\w+|tir\w+|nervous|scared|excited|worr\w+|hungry|\w+ing\b|quite|lovely|peaceful"
    r"|gorgeous|super|an? (?:excit\w+|interest\w+|special|incredible)))|(?:you|that|it|they|he|she|this) must(?:'ve"
    r"| have| feel| love| really)|i must (?:say|admit|confess)|must-(?:see|read|try|have|watch|visit)|do(?: not"
    r"|n't) (?:worry|bother|sweat|mind me|give up|mention it|get me wrong|hesitate|stress|beat|be (?:too|so|shy|silly"
    r"|afraid|sorry|a stranger|hard)|hold back|think so|know|you (?:think|just|love|hate|agree|know)|let (?:it|that"
    r"|them|anything|anyone|fear|yourself|setbacks)|sell yourself|lose (?:hope|heart|faith)|underestimate"
    r"|forget to (?:take|enjoy|have|relax|be|love|celebrate|treat|rest|breathe)|have (?:any|much|a))|(?:can't|cannot"
    r"|can not|couldn't) (?:wait|believe|imagine|get (?:enough|over)|say|complain|help|thank|stop|even|remember"
    r"|recall|seem|tell|go wrong|agree|be more|stress|lie|resist|deny|argue|figure|decide|beat|blame|put into|stand"
    r"|forget|express|ask for|find|picture|hurt|think|emphasi[sz]e|recommend)|not only|if only"
    r"|the only(?! (?:\w+ ){1,3}(?:you|they) (?:get|may|can|are|should|must)\b)|only (?:thing|one|then|natural|human"
    r"|wish|wanted|just|hope|way|time will|fair|because)|one and only|only been|only get better|at least (?:you|i|we"
    r"|it|they|that|he|she|the|there|for now)|best before|always (?:been|nice|great|good|fun|wanted|loved|here"
    r"|there for|happy|down|a (?:good|great|pleasure|joy|treat)|up for|remember|worth|room|something|amazing|thought"
    r"|felt|inspir\w+|say|said|liked|had|have|the (?:best|same)|an adventure)|as always|keep (?:it up|up|going"
    r"|in touch|me (?:posted|updated)|at it|pushing|on|shining|fighting|smiling|believing|moving|striving|doing"
    r"|trying|inspiring|rocking|chasing|being|growing|learning|dreaming|spreading|making|working|exploring"
    r"|(?:on )?\w+ing|your (?:chin|head|spirits?|passion)|(?:us|you|me|him|her|them|it) \w+ing)|no (?:problem|worries"
    r"|one(?! (?:but|may|is to|should|must|can|under|outside|gets|else|except|without|under))|way|doubt"
    r"|matter(?!.*\b(?:stays|never|nothing|no one|nobody|keep|must|do not)\b)|idea|need(?! to (?:ask|check|copy|cc"
    r"|wait|send|include|reply|confirm|report|get|add|use)\b)|rush|wonder|thanks|thank|longer(?! than)|more(?! than)"
    r"|big deal|kidding|pressure|pain|shame|joke|offen[cs]e|biggie|sweat|clue|words|better(?! than)|end|limit to"
    r"|turning back|such|place like|regrets|excuse)|nothing (?:like|beats|better|wrong|much|compares|can|is(?! to)"
    r"|was|to|more|else|special|fancy|too|quite|at all)|make sure (?:to (?:take care|enjoy|have fun|rest"
    r"|take (?:some )?time|check it out|let me know)|you (?:take care|enjoy|have fun|rest|get some|take time))"
    r"|be sure to (?:enjoy|check|take care|let me)|remember (?:when|that time|the (?:time|day|first)|how|you|it|our"
    r"|my|those|being|it like|back|him|her|them|we|i|last)|(?:have|need|has|got) to (?:say|admit|see|try|check|visit"
    r"|watch|love|agree|hand it|believe|keep (?:going|up))|take it easy|in the future|whenever (?:you|i|we) (?:want"
    r"|need|feel|like|can|are|get|have|look|see)|without (?:you|a doubt|your|further|them|him|her)|up to (?:you"
    r"|lately|these|anything|something|speed)|(?<!are )a must\b(?! not)|(?:never|always) say never|never-ending"
    r"|should be (?:fun|great|good|nice|proud|awesome|amazing|interesting|exciting|so|really)|shouldn't be (?:too|so)"
    r"|call me (?:when|later|if|back|tomorrow|crazy|old|tonight|soon)|tell me (?:more|about|all|everything|how|what)"
    r"|note to self|limits?less|you may be|(?:don't|shouldn't|can't|isn't|aren't|won't|doesn't|didn't"
    r"|mustn't) (?:they|you|we|i|it|he|she)\b(?=[^a-z]*$)|go for it|(?<!you can )go ahead|take care|can only imagine"
    r"|don't (?:you(?! dare)|quit|ever quit|miss a beat)|take (?:your time|a (?:break|look|seat|deep)))\b"
)


def without_small_talk(low: str) -> str:
    """A text in lower case with a mark in the place of each of these phrases; the same object where there is none."""
    return _SMALL_TALK.sub("~", low) if _SMALL_TALK.search(low) else low
