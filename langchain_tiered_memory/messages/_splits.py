"""How likely a token ends between two letters of a word: two small tables, one for Latin and one for Cyrillic.

Learnt by counting where o200k_base splits words of a dozen European languages, code and random strings (Latin) and of
Russian and Ukrainian texts (Cyrillic). Row and column are the first and the second letter of a pair in alphabet order;
the last row and column stand for every other letter of the script. A digit d of base 36 means (d / 35) squared, since
most values are small. Pairs that natural words are full of ("in", "er") score low, pairs of random letters high, which
is what tells prose from identifiers and English from Turkish, without a word list.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["CYRILLIC", "LATIN", "SplitTable"]

_LATIN_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_LATIN_ROWS: Final = (
    "f232n738a82110g5f222727436g"  # a
    "clqp8tqofbt7ss7vybfdhutr7ug"  # b
    "crcmalp2dn24no7eq7h2enurclm"  # c
    "apqb9ipldnrmgs8lvhedhggnfpk"  # d
    "bic4dbbffgd591jbb134cb92lhk"  # e
    "cnqnc4ktcqtcpm5pt8g5crtldvf"  # f
    "hivh9sgagnkfodjpy8gbftqtgmk"  # g
    "aslm7tvnbqjeme8ktdp6itfugsj"  # h
    "b211511dj4211042e210l1t4b1h"  # i
    "frupasttgpgoupbqqscoerttque"  # j
    "fqupewj9cnelsjguymgcesqvewr"  # k
    "dni87gkkeog4podkolbdgpow4ul"  # l
    "c8ru8ttsdsqmdk99steiftjoiwj"  # m
    "gv83dg29fgirueerkp74dgwpdjk"  # n
    "b363j74cfg341076m13536299kn"  # o
    "9rek8gl6iqr6lp99t5d6djticxi"  # p
    "sprrwyxstyybssurdkpm1yvpwyv"  # q
    "epeb6kbigqlncd7lkf88lcfreok"  # r
    "gpcs7lj7htekktbcim62bjivjqm"  # s
    "fxer9pv2gsnsurdnw98ciskp9dk"  # t
    "a697a88gbg4331l5t222ldj3kdn"  # u
    "bqkh7ulpbvtqjt8ntiromwsrisi"  # v
    "8lsj8vp4drunqb8pyeevlt5nfvs"  # w
    "fogrgpywjyyqmwpcxvu6rxyfkur"  # x
    "iomqcynvhvmcebaayj7irwwwgql"  # y
    "gtqsbvsfiwuvnmisvusgevkpbhq"  # z
    "fhgjikndhmokc7aec9acdm8ibgg"  # ~
)
_CYRILLIC_LETTERS: Final = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
_CYRILLIC_ROWS: Final = (
    "u7a86eb3rb84a6p38a9rcas65kpppupazz"  # а
    "gxipsipxoppkmqhphquep9ypsbc8spvit5"  # б
    "cpozlgpbnpqqcrfjengmpfvrywldtppkxk"  # в
    "pspp6fspmpipwtcpfpsappphpppupgupsz"  # г
    "fs9pjejzopsesnfkisnjpcyuzpp8epvuzk"  # д
    "o3732b75q12111q6291wkaa447pppptvap"  # е
    "ooppmkspsptpynyppxpspppippppxsppyp"  # ж
    "gep9hsoutpxpgkqpovplppsyppv7tpp7p5"  # з
    "lgf766e7339a4an7891yn4p84mpppu64wz"  # и
    "ppyysxpptpukzs5pyqnpsps8gppppppspp"  # й
    "cwhhpjbj8prjxkcsnjbhpplpwpppsxppp5"  # к
    "cysevfelbpwpu9hs7fxdyppisipo4p9dzk"  # л
    "hshkpeps8pqkgpffwtpbwspupppkrspgyt"  # м
    "bufmahsi8pgppl7svsejdxljuhp2iprhzm"  # н
    "w4232f21l44135g5464rl8o6cbpppi5dpz"  # о
    "itpppiptkplnsvcg8qxnssyvsppkfppwpp"  # п
    "2xgjpe5uipqv8vfsgnj9jfvuuvpepvtlyz"  # р
    "mpeu9expgpihotf7cg2gmaikrpfk3se2dz"  # с
    "er5scdpikpstqveehbvlyyvtsjsc4wvrxz"  # т
    "wd9a5edgwegad6v77bapy9y5abpppy2fpz"  # у
    "ipppprppqppvupbpxpji8ppppppspppppp"  # ф
    "mtxppxppppprxtfpljzxpppppppppppppp"  # х
    "lp8ppcpp9pvppptwppp8pplpupp4ppppp3"  # ц
    "ppvppkppmpolpqypopmupppprpppnpppzp"  # ч
    "rpupphppjpiypumltpvjwpppppppbpupx5"  # ш
    "wppppkppfppppxpppppvppppppppdppppz"  # щ
    "pppppjpppppppppppppppppppppppppfxp"  # ъ
    "pipef2sbm4pe6ap4ocjpp3pd8ppppppgpp"  # ы
    "pvrrytp3wpspqluspempvpxuapppppakvp"  # ь
    "ppsgpppqpu8evapils6p8ppppppppppppp"  # э
    "p5sucupypdppvupptt2pppy2p5ppppmppp"  # ю
    "pp7pdecasszrgmputiaxpdyuuippppndpp"  # я
    "pphpspblppvae4pp8ycppyppsspppppppp"  # ё
    "ppkpipp5pizzpzpz5p2zpzpptpppppppp3"  # ~
)


class SplitTable(dict[str, float]):
    """The probability of a split by pair of letters, for words that were folded into the table's alphabet."""

    def __init__(self, letters: str, rows: str) -> None:
        alphabet = letters + "~"
        pairs = (first + second for first in alphabet for second in alphabet)
        super().__init__({pair: (int(digit, 36) / 35) ** 2 for pair, digit in zip(pairs, rows, strict=True)})
        self._others = re.compile(f"[^{letters}]")

    def fold(self, word: str) -> str:
        """The word in lower case, with `~` for every letter that has no row and column of its own."""
        return self._others.sub("~", word.lower())


LATIN: Final = SplitTable(_LATIN_LETTERS, "".join(_LATIN_ROWS))
CYRILLIC: Final = SplitTable(_CYRILLIC_LETTERS, "".join(_CYRILLIC_ROWS))
