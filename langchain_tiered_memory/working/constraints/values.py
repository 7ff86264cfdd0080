"""Exact values in a text: numbers, dates and times, links, paths, identifiers, quotations, names that were spelled out.

A value is not cut out of its sentence, which says what it is the value of; so all that is asked here is whether a text
holds one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from langchain_tiered_memory.working.constraints.sentences import compiled

__all__ = ["concludes", "has_value", "record_pairs"]

_NUMBERS: Final = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety half one noon midnight dozen hundred "
    "thousand million quarter o'clock monday tuesday wednesday thursday friday saturday sunday password passphrase "
    "passcode code codename username name nickname alias project branch repo repository surname company tenant "
    "bucket host hostname region called named spelled spelt call"
)
"""English words without one of which `_WORDED` finds nothing."""
_WORDED: Final = (
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|half an?|half|one)(?:[- ](?:and a half|\w+))?[- ](?:seconds?"
    r"|minutes?|hours?|days?|nights?|weeks?|months?|years?|people|persons?|guests?|adults?|children|passengers?|euros?|dollars?"
    r"|pounds?|yuan|cents?|percent|per cent|kilomet(?:er|re)s?|miles?|met(?:er|re)s?|kilos?|kilograms?|grams?"
    r"|lit(?:er|re)s?|degrees|rooms?|seats?|tickets?|words?|sentences?|lines?|pages?|retries|attempts?|requests?|items?"
    r"|copies|characters|stops?|paragraphs?|bullet points?|o'clock)\b"
    r"|\b(?:noon|midnight|dozen|hundred|thousand|million)\b|\b(?:half past|quarter (?:past|to)) \w+|\b\w+ o'clock\b"
    r"|\b(?:by|before|until|till|every|next|this|from|due|on|after) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:password|passphrase|passcode|code ?(?:word|name)|user ?name|nickname|alias|project|branch|repo(?:sitory)?"
    r"|access code|surname|(?:last|first|maiden) name|company|tenant|bucket|host(?:name)?|region)(?: (?:is|=)|:)"
    r"|\b(?:is|are) (?:called|named|spelled|spelt)\b|\bmy (?:\w+ )?name is\b|\bcall me (?:\w+\.? )?[a-z]+[.!,]?$"
)
_CHINESE: Final = (
    r"[零〇一二三四五六七八九十百千万萬亿億两兩廿卅]{2,12}(?:个?(?:元|块|塊|角|美元|欧元|日元|人民币|点|點|时|時|小时|分钟|分鐘|秒"
    r"|号|號|日|天|周|週|星期|月|年|岁|歲|人|位|名|间|晚|公里|米|厘米|里|斤|公斤|克|吨|升|度|折|楼|樓|层|层|倍|成|条|张|份|件"
    r"|页|行|字|句|轮|台|辆|箱|盒|瓶|杯|平方))|[零〇一二三四五六七八九十百千万]{4,12}|百分之[零一二三四五六七八九十百]"
    r"|[二三四五六七八九两十百千](?:个|元|块|点(?![儿击名燃评头赞心])|小时|分钟|号|天|周|月|年|岁|人|位|名|间|晚|公里|米|斤|度|楼|层|页|行|字|次|件)"
    r"|一(?:小时|分钟|元|块钱|公里|公斤|号|月|楼|百|千|万)|中午|午夜|零点|半(?:小时|个?月|年|天)"
    r"|(?:周|星期|礼拜|週|禮拜)[一二三四五六日天末]|我叫|名叫|(?:密码|密碼|口令|代号|代號|暗号|账号|帐号|用户名|名字|昵称|姓名|编号"
    r"|单号|地址|邮箱|电话|手机号?|分支|仓库|项目名?)(?:就?是|为|叫|：|:)"
)
_MARKS: Final = r"[:/@\\_#=\"“‘「『《«`]|\.\w|--\w|[A-Z]-[A-Z]|(?<!\w)'\w"
"""Without one of these a text holds no link, path, identifier or quotation."""
_MARKED: Final = (
    # links, mail, paths, files
    r"(?<![A-Za-z0-9_])(?:[a-z][a-z0-9+.-]{1,12}://\S|www\.\w|[A-Za-z]:\\)|[\w.+-]@[\w-]{1,64}\.\w|\\\\\w"
    r"|(?:^|[\s\"'`(（：:，,])(?:~|\.{1,2})?/[\w.~-]+|(?<=[一-鿿])(?:~|\.{1,2})?/[A-Za-z][\w.~-]*|\b\w+(?:/[\w.-]+){2,}"
    r"|\b\w[\w-]{0,80}\.(?:py|[jt]sx?|json|ya?ml|toml|ini|cfg|conf|env|md|txt|[ct]sv|xlsx?|docx?|pptx?|pdf|png|jpe?g|gif"
    r"|svg|zip|gz|tar|sql|sh|bat|log|xml|html?|css|java|go|rs|c|h|cpp|rb|php|ipynb|parquet|db|lock|pem|key|crt)"
    r"(?![A-Za-z0-9_])"
    # identifiers
    r"|(?<![A-Za-z0-9_])(?:[A-Za-z]+_[A-Za-z_]+|[A-Z]{2,}(?:-[A-Z]{2,})+|[a-z]+\.[a-z_]+(?:\.[a-z_]+)+)(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])[A-Z][A-Z_]+=\S|#[A-Za-z]\w+|(?:^|\s)@\w{2,}|(?:^|\s)--[a-z]\w+"
    # quotations
    r"|\"[^\"]{1,200}\"|“[^”]{1,200}”|‘[^’]{2,100}’|「[^」]{1,100}」|『[^』]{1,100}』|《[^》]{1,100}》|«[^»]{1,200}»"
    r"|`[^`]{1,200}`|(?<!\w)'[^'\n]{2,100}'(?!\w)"
)
_CONCLUDES: Final = (
    r"(?i)\b(?:because|therefore|thus|caus(?:ed?|es)|reason|found|shows?|means?|results?|total|sum|errors?|done"
    r"|completed?|fixed|booked|sent|created|deleted|updated|deployed|paid|refunded|resolved|scheduled|(?:un)?available"
    r"|missing|best|cheapest|conclu\w+|confirm\w*|fail\w*|success\w*|cancell?\w*|recommend\w*|so the|turns? out"
    r"|in summary)\b|因为|所以|因此|原因|导致|说明|结论|结果|发现|查到|显示|[共合总]计|成功|失败|完成|已|错误|异常|超时"
    r"|建议|推荐|[恢修]复|没有找到|不存在"
)


@cache
def _number_words() -> frozenset[str]:
    return frozenset(_NUMBERS.split())


def has_value(text: str) -> bool:
    """Whether a piece of text holds an exact value."""
    if compiled(r"\d").search(text):
        return True
    if not text.isascii() and compiled(_CHINESE).search(text):
        return True
    if compiled(_MARKS).search(text) and compiled(_MARKED).search(text):
        return True
    low = text.lower().replace("’", "'")
    words = compiled(r"[a-z']+").findall(low)
    return not _number_words().isdisjoint(words) and compiled(_WORDED).search(low) is not None


def concludes(text: str) -> bool:
    """Whether a sentence says what was found or done."""
    return compiled(_CONCLUDES).search(text) is not None


def record_pairs(text: str) -> Iterator[str]:
    """The pairs of a key and a single value that stand in a JSON text, as they stand there."""
    pair = r"\"[\w.-]{1,40}\"\s*:\s*(?:\"[^\"\n]{1,120}\"|-?\d[\d.eE+-]{0,24}|true|false)"
    return (match[0] for match in compiled(pair).finditer(text))
