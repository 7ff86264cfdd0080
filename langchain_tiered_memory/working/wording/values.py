"""Exact values in a text: numbers and what is measured by them, dates and times, links, paths, identifiers, quotations.

A value is not cut out of its sentence, which says what it is the value of; so all that is asked here is whether a piece
of text holds one. Digits of every script count, full-width ones too, and numbers in English and Chinese words where a
unit follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from langchain_tiered_memory.working.wording.reading import Reading, read

__all__ = ["has_number", "has_value", "holds_value", "numbers_of", "record_pairs"]

_WORD_NUMBER: Final = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|half an?|half)"
)
_WORD_UNIT: Final = (
    r"(?:hundred|thousand|million|billion|dozen|seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|people"
    r"|persons?|guests?|adults?|children|passengers?|travell?ers?|euros?|dollars?|pounds?|yuan|cents?|percent"
    r"|per cent|kilomet(?:er|re)s?|miles?|met(?:er|re)s?|kilos?|kilograms?|grams?|lit(?:er|re)s?|degrees|rooms?"
    r"|seats?|tickets?|words?|sentences?|lines?|pages?|retries|attempts?|requests?|items?|copies|characters|stops?"
    r"|paragraphs?|bullet points?|o'clock|business days?)"
)
_HAN_DIGITS: Final = "零〇一二三四五六七八九十百千万萬亿億两兩廿卅"
_HAN_UNIT: Final = (
    r"(?:元|块|塊|角|美元|欧元|歐元|英镑|日元|人民币|点(?!儿|击|名|燃|评|头|赞|心|什|东|都|也|的)|點|时|時|小时|小時"
    r"|分钟|分鐘|分(?!之|享|开|别|析|手)|秒|号|號|日|天|周|週|星期|个?月|年|岁|歲|人|位|名|间|間|晚|公里|千米|米|厘米"
    r"|毫米|里|斤|公斤|千克|克|吨|噸|升|毫升|度|折|楼|樓|层|層|号线|倍|成|条|條|张|張|份|件|页|頁|行|字|句|轮|輪|台"
    r"|辆|輛|箱|盒|瓶|杯|平方|百分|％|%|[kK]|票)"
)
_EXTENSIONS: Final = (
    r"(?:py|js|ts|tsx|jsx|json|ya?ml|toml|ini|cfg|conf|env|md|txt|csv|tsv|xlsx?|docx?|pptx?|pdf|png|jpe?g|gif|svg|zip"
    r"|gz|tar|sql|sh|bat|log|xml|html?|css|java|go|rs|c|h|cpp|rb|php|ipynb|parquet|db|lock|pem|key|crt)"
)
_DIGIT = re.compile(r"\d")
_TELLS_NOTHING: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ,;!?()"
_MARKS = re.compile(r"[:/@\\_#=\"“‘「『《«`]|\.\w|--\w|[A-Z]-[A-Z]|(?<!\w)'\w")
"""Without one of these a text holds no link, path, identifier or quotation."""

# English words, without one of which none of the patterns that follow them is tried.
_NUMBER_WORDS: Final = frozenset(
    """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen
    twenty thirty forty fifty sixty seventy eighty ninety half one noon midnight dozen hundred thousand million quarter
    o'clock""".split()  # noqa: SIM905
)
_NUMBER_EN = re.compile(
    rf"\b{_WORD_NUMBER}(?:[- ](?:and a half|\w+))?[- ]{_WORD_UNIT}\b|\bone (?:hour|minute|second|percent|euro"
    rf"|dollar)\b"
    r"|\b(?:noon|midnight|dozen|hundred|thousand|million)\b|\b(?:half past|quarter (?:past|to)) \w+|\b\w+ o'clock\b"
)
_NUMBER_ZH = re.compile(
    rf"[{_HAN_DIGITS}]{{2,12}}个?{_HAN_UNIT}|[二三四五六七八九两兩](?:个|個|{_HAN_UNIT})|[十百千](?!分|年|里|万"
    rf"|人){_HAN_UNIT}|百分之[{_HAN_DIGITS}]|一(?:小时|分钟|元|块钱|公里|公斤|号|月|楼|百|千|万)|中午|午夜|零点"
    rf"|半(?:小时|个?月|年|天)|[{_HAN_DIGITS}]{{4,12}}"
)
_NAMED_WORDS: Final = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday password passphrase passcode code codename username name
    nickname alias project branch repo repository cost surname company tenant bucket host hostname region called named
    spelled spelt call""".split()  # noqa: SIM905
)
_NAMED_EN = re.compile(
    r"\b(?:by|before|until|till|every|next|this|from|due|due on|is on|after) (?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day\b|\b(?:password|passphrase|passcode|code ?word|code ?name|user ?name|nickname|alias|project|branch"
    r"|repo(?:sitory)?|access code|cost cent(?:er|re)|surname|last name|first name|maiden name|company|tenant|bucket"
    r"|host(?:name)?|region)(?: (?:is|=|will be)|:)|\b(?:is|are) (?:called|named|spelled|spelt)\b"
    r"|\bmy (?:\w+ )?name is\b|\bcall me [a-z]+[.!,]?$"
)
_NAMED_ZH = re.compile(
    r"(?:周|星期|礼拜|週|禮拜)[一二三四五六日天末]|(?:密码|密碼|口令|代号|代號|暗号|账号|帐号|帳號|用户名|名字|昵称"
    r"|姓名|编号|单号|地址|邮箱|电话|手机号?|分支|仓库|项目名?)(?:就?是|为|叫|：|:)|我叫|名叫"
)
_BEGIN: Final = "(?<![A-Za-z0-9_])"
_ENDING: Final = "(?![A-Za-z0-9_])"
"""The borders of a word of Latin letters; for `\\b` a Chinese letter beside it is a part of it."""
_MARKED = re.compile(
    # links, mail, paths, files
    rf"{_BEGIN}[a-z][a-z0-9+.-]{{1,12}}://\S|{_BEGIN}www\.\w|[\w.+-]@[\w-]{{1,64}}\.\w"
    r"|(?:^|[\s\"'`(（：:，,])(?:~|\.{1,2})?/[\w.~-]+|(?<=[一-鿿])(?:~|\.{1,2})?/[A-Za-z][\w.~-]*"
    rf"|{_BEGIN}[A-Za-z]:\\|\\\\\w|\b\w[\w-]{{0,80}}\.{_EXTENSIONS}{_ENDING}|\b\w+(?:/[\w.-]+){{2,}}"
    # identifiers
    rf"|{_BEGIN}[A-Za-z]+_[A-Za-z_]+{_ENDING}|{_BEGIN}[A-Z]{{2,}}(?:-[A-Z]{{2,}})+{_ENDING}|{_BEGIN}[A-Z][A-Z_]+=\S"
    rf"|#[A-Za-z]\w+|(?:^|\s)@\w{{2,}}|(?:^|\s)--[a-z]\w+|{_BEGIN}[a-z]+\.[a-z_]+(?:\.[a-z_]+)+{_ENDING}"
    # quotations
    r"|\"[^\"]{1,200}\"|“[^”]{1,200}”|‘[^’]{2,100}’|「[^」]{1,100}」|『[^』]{1,100}』|《[^》]{1,100}》|«[^»]{1,200}»"
    r"|`[^`]{1,200}`|(?<!\w)'[^'\n]{2,100}'(?!\w)"
)
_NUMERAL = re.compile(r"\d+(?:[.,:/-]\d+)*")
_PAIR = re.compile(r"\"[\w.-]{1,40}\"\s*:\s*(?:\"[^\"\n]{1,120}\"|-?\d[\d.eE+-]{0,24}|true|false)")


def has_number(piece: Reading) -> bool:
    """Whether a piece of text holds a number, in digits or in words with a unit."""
    if _DIGIT.search(piece.text) or (piece.han and _NUMBER_ZH.search(piece.text)):
        return True
    return not _NUMBER_WORDS.isdisjoint(piece.words) and _NUMBER_EN.search(piece.low) is not None


def has_value(piece: Reading) -> bool:
    """Whether a piece of text holds an exact value."""
    text = piece.text
    if text.isascii() and not text.encode().rstrip(b".").translate(None, _TELLS_NOTHING):
        # Letters and marks that no value is made of; most sentences are told by this alone.
        return has_number(piece) or _is_named(piece)
    if has_number(piece) or (piece.han and _NAMED_ZH.search(text)) or _is_named(piece):
        return True
    return _MARKS.search(text) is not None and _MARKED.search(text) is not None


def holds_value(text: str) -> bool:
    """`has_value` of a text that has not been read; most values have a digit, which tells it without reading."""
    return _DIGIT.search(text) is not None or has_value(read(text))


def _is_named(piece: Reading) -> bool:
    return not _NAMED_WORDS.isdisjoint(piece.words) and _NAMED_EN.search(piece.low) is not None


def numbers_of(text: str) -> frozenset[str]:
    """The numbers of a text that stand in digits, without the marks that group thousands."""
    return frozenset(match[0].replace(",", "") for match in _NUMERAL.finditer(text))


def record_pairs(text: str) -> Iterator[str]:
    """The pairs of a key and a single value that stand in a JSON text, as they stand there."""
    return (match[0] for match in _PAIR.finditer(text))
