"""Weights of letter pairs for the alphabets whose words are written with spaces between them.

Row and column are the first and the second letter of a pair: rows in the order "nothing before the word", "a space
before it", the table's letters, every other letter; columns in the order of the letters, every other letter, the end of
the word. A digit d of base 36 means -2 + 0.15 d. The weights were learnt by regression: they are what makes
`1 + log(1 + e^z)` (see `_splits.py`) agree with the tokens that o200k_base takes for the words of news, books, manuals,
chats, names, addresses and word lists in 30 languages, and for identifiers and random strings in Latin letters. No word
or token is stored: rare pairs weigh much, the pairs and endings that natural words are full of weigh little.
"""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.messages._splits import Shape, WordTable
from langchain_tiered_memory.messages._splits_triples import ARABIC_TRIPLES, CYRILLIC_TRIPLES, DEVANAGARI_TRIPLES

__all__ = ["ARABIC", "CYRILLIC", "DEVANAGARI", "GREEK", "HEBREW", "LATIN"]


LATIN: Final = WordTable(
    "abcdefghijklmnopqrstuvwxyz'",
    (
        "aab8abhgaddbbccegcaeabehjhbmr",  # nothing before
        "9ba799a97ab986aaba989a7a9cddd",  # space before
        "iddehjdidhhceejgjeddidigegyhc",  # a
        "fhjldiokf6l9gnhlleefdjkkbjeh9",  # b
        "diigdhffdlbfogciobf8dfjifkcc8",  # c
        "dkfgdleqgdjg4hghfebmgdcjedli8",  # d
        "aecfabgkfdkfhdgg7fbgjgdcachfa",  # e
        "gllkdcipbkjijfbilgfdcknfgkdh7",  # f
        "fmgpcqj9hjkfpiejkcegfgqj8icn9",  # g
        "dlfjbgmldjkeoacglbkcdfdidjzh6",  # h
        "eeccfbdkmfieedchkgdeqgmeoc6ef",  # i
        "fgllcmhneiehjg8jjjpojknphjdhe",  # j
        "iliodincfjifmgjkilgcflgmmjxja",  # k
        "flmeeehkeoleljfkhkdefhll9sai6",  # l
        "ecoi9krmekjcdigfohcofliohnch9",  # m
        "hmbdfebkgihg9finkkccdepmelbg8",  # n
        "befdlddlljggdb9apegdcfe5igxke",  # o
        "dhjgelg8ikebknciibebgjmlfkzha",  # p
        "dmnjnlkqhnmhjklpedoecmpljjdui",  # q
        "fghgfgemfkdfdfekagfdjgjlbjag8",  # r
        "ilkoccedemhnkodclkddbnds6ifg9",  # s
        "hmgndhh7ctgfgkecmdijdlegbi5h9",  # t
        "djeiadhohkkaecoggdeegllaghaif",  # u
        "hojobnloenjkdkeihkkpetlhnihfi",  # v
        "bjkjd9n7fqh5h9cjiabgpicijlhg8",  # w
        "jijjdhoeikknbjjbkkj9mimkjig4b",  # x
        "gjijflorhlmdij9einehomnljjth8",  # y
        "injjfhlnkljgkhhljokgdlemeidfe",  # z
        "d88fb7h8epl771i6h8h77dkagcd8d",  # '
        "hlekklelenihhfdihijhgnk1hjdef",  # other letters
    ),
    {
        "none lower": Shape(-2.242, 0.885, 0.358),
        "none Title": Shape(-1.741, 1.114, 0.275),
        "none UPPER": Shape(-1.605, 0.694, 0.343),
        "space lower": Shape(-2.374, 1.258, 0.215),
        "space Title": Shape(-1.718, 1.204, 0.238),
        "space UPPER": Shape(-2.634, 0.165, 0.454),
        "other lower": Shape(-1.815, 1.280, 0.239),
        "other Title": Shape(-0.450, 0.659, 0.245),
        "other UPPER": Shape(-0.996, 0.928, 0.275),
    },
)

CYRILLIC: Final = WordTable(
    "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґјљњћ",
    (
        "egefgghhgffhfhefgffegfefihd9diedcidigbddd7d",  # nothing before
        "ab9dbddcbeadcbbccadbc9badftfo9eaddadmfgedgd",  # space before
        "igfhdfgcgfeggfbhdhehigghfgdddghdgdhhmjjgdje",  # а
        "fpdhpe9ifddciggrhelfd0edfdceqdhgoedddkdddm9",  # б
        "fm4hifmhgdheddfgfeherehhjdigelkefgdfdfddddc",  # в
        "gqiiagddfdbhkhfoifffdddbjdmejjkijidddddddda",  # г
        "fkhebeiggdeeagebhcgflbdehghehfkghidmdiddddb",  # д
        "ghgeegehfgffeehhedemgggghhddddkjddlllmdjdmc",  # е
        "ffdsdgmdgdigdffllabehdd5ddidhlhjejdddgddddd",  # ж
        "dfeeefnmfdgghddig7ifdnhejdkcikpedhdndmddddc",  # з
        "dcgegggeeeffefffegfidgfegheddicfmddgdfdfdkd",  # и
        "djehgnjgfdghohemiehdbffecgdddddmdddddddddde",  # й
        "fkigch5hfdeh9efzhgcggnhgi5kijtoinfddddddddd",  # к
        "gjkeifbbedegihfjafjgmhkhdljhewhfjhdddjddddc",  # л
        "ejhgfednhdgfdiegneqhjghjddigffccjgdfdjddddd",  # м
        "ehbeffglenehhfeigffgdhggfcjejdgihgdndddddnd",  # н
        "ifeeeedggegeegdgfhfjgggffedddoiaedhkdhdjdlc",  # о
        "ffcdfddhgdafncebdhhenhfkldfdgkkfhgdddlddddc",  # п
        "dkiegdfnhsighffjgefeghnhidjehhgfiidddmdddjd",  # р
        "gggmbglsedfdfgeee9egjfceedhfdbedhididmdddld",  # с
        "fgfkgeshedfddfehfekfciiimekcdridegdfddddddc",  # т
        "cgcigdfdg6gffelhefgmjhhggedddodaddfhdfdddne",  # у
        "ikdedfddgdiignfdjlmb7dd8ddi6odlffgddddddddc",  # ф
        "ggi2ljdfhdhiicfdfbigdqdkddj7dldddiddddddddc",  # х
        "grcdteddddlmnqihrlhdpdfdndgfhdhmddddddddddh",  # ц
        "fdjddgddddhcigkkemdhdgdiedqdfdqkekdddfddddd",  # ч
        "fdhfdhddedgghhfkaigivmddddhdedjddhdddndddde",  # ш
        "gdddddddfddddkfdldihddddddjd3ddmdnddddddddg",  # щ
        "dihmifnldhkjejhkgjgdjnkfdlddddn6jddddddddd9",  # ъ
        "dhjgkelkedhkgidghgfddegggdddddd7ddddddddddc",  # ы
        "delgnfdbkejdidjmdecdkdfjdcddddbi7dbiddddddd",  # ь
        "ddkbpddjdlcckddihm9dkbddaddddddddddddddddd7",  # э
        "degmclljdgiihidohgdddmgfiddddddddqdjdddddde",  # ю
        "dchmbgdeigiigjdmgmgpdgegkgddddefddcgddddddc",  # я
        "ddhljdinddhkhedpkkjddmddiudddddddddddddddd2",  # ё
        "heglegcjdggjjhkgifhlleffcjddddfhdjeidddddde",  # і
        "ddkdodnpdmlno9ddhonddljdmddddddddd7dddddddc",  # ї
        "dgkdlddoddmffhdjjlcdkdfdmgddddfdddhhdddddde",  # є
        "lddddjedddddddfdhddjddddddddddddddddddddddh",  # ґ
        "gjgdjhdjedjhgljidnkkmdilldddddddddddddddddh",  # ј
        "dddddddddddddddddddlddddddddddddddddddddddd",  # љ
        "kddddfddpdddddnddddeddddddddddddddddddddddd",  # њ
        "ddddddddddddddddddddddddddddddddddddddddddd",  # ћ
        "ldnddfddkddddljdddhndddddddddddddddddddddpk",  # other letters
    ),
    {
        "lower": Shape(-1.982, 1.374, 0.237),
        "Title": Shape(-1.131, 0.771, 0.288),
        "UPPER": Shape(-0.900, 0.882, 0.591),
    },
    triples=CYRILLIC_TRIPLES,
)

GREEK: Final = WordTable(
    "αβγδεζηθικλμνξοπρςστυφχψωάέήίόύώϊϋΐΰ",
    (
        "hhfgfgcijfjijhdhjdheffhcgihkqhdddddddd",  # nothing before
        "bedbcdcagcdbbf9bkdbbceajegdb78g8dddddd",  # space before
        "tifhniefbffieeigfcgeefhhdjmighjmgdldeb",  # α
        "gomahdqdgdedddfdedddndddofgnqjflddddd2",  # β
        "hdgmfdfdcfjbdffdedddldldfghcdlgjddddd9",  # γ
        "gdddedddeddhkdedhdddhdddijlflkffdddddk",  # δ
        "mjcfpkjjdffjegjeecgfgggmgkdhelioiddddb",  # ε
        "jdddhdfdidddddhdddddmdddikolcijldddddi",  # ζ
        "doijdddfafffcndhaeefdhbgddddqddddddddc",  # η
        "fdddfdedldkcfdgdbdddidddhogepplgdddddm",  # θ
        "ddffgngfrefefffcicffdgemihnhckdhddddda",  # ι
        "eddfcdeehfimmdfgfdkffhddlfjehdgeddddde",  # κ
        "hqoiedeognddnogo6bdilpudhghggjegdddddi",  # λ
        "ecddedidfrdeidegddagk7dilhehggkidddddi",  # μ
        "fmiggdgigh9didgdsdhgjdddeihjhimiddddda",  # ν
        "fdddfdfdldddddkrdddijdddglllojcodddddd",  # ξ
        "fieioofjehhhepoeedgedifngsnkjdfhfdlddb",  # ο
        "fdhdedhdedgdndbqcddhiusdfdjjgcllddddde",  # π
        "dleifgdidhiijkeqifnllkfdfggkehlgddddmg",  # ρ
        "dddddddddcbdodd9ddddddddddddddddddddjd",  # ς
        "gjaeedaichiegdhhaddecigdgjlce9fhdddddj",  # σ
        "dddoemdudepgdddqidipf7idbfffhejgddddhi",  # τ
        "i8ehnifdlihgdbjdebgddlhiiph8okdjdddddc",  # υ
        "edddidjiididndadkddlhddddlfehgjjdddddm",  # φ
        "gdddbdkigdgnidedbddnfdddenefhlgfddddd9",  # χ
        "kdddhdfdidddddlddddgidddlkdorljhdddddd",  # ψ
        "imgkhmghmokhelhchdhhcidddid7m0ddddddde",  # ω
        "diihofggnkekgkhfhlhhdheemddddddddddddc",  # ά
        "hmnimlnkrhhjeicdgchjgjedlddddddddddddg",  # έ
        "dmkfdjdjxjmhiqdnjefhdenoddddddddddddde",  # ή
        "eogjgdfjdhiiemhcodhedgiikddddddddddddb",  # ί
        "dmakchnjtlifhdcfmdgednhjedddddddddddde",  # ό
        "qkkjihuhdhigdggkjghedijiiddddddddddddc",  # ύ
        "dqdtnknjdnmjfdwdhbhideddiddddddddddddd",  # ώ
        "nddfdddddidafdddddmhdddddddddcdddddddi",  # ϊ
        "dddddddddddjdddxddddd1dddddddddddddddd",  # ϋ
        "pddjdddddildddldddigdddddddddddddddddd",  # ΐ
        "dddddddddddddddddddddddddddddddddddddd",  # ΰ
        "ddddddddddddddddddmddddddddddddddddddk",  # other letters
    ),
    {
        "lower": Shape(-1.854, 1.132, 0.255),
        "Title": Shape(-0.994, 0.763, 0.327),
        "UPPER": Shape(-0.720, 1.091, 0.541),
    },
)

HEBREW: Final = WordTable(
    "\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5\u05d6\u05d7\u05d8\u05d9\u05da\u05db\u05dc\u05dd\u05de\u05df\u05e0\u05e1\u05e2\u05e3\u05e4\u05e5\u05e6\u05e7\u05e8\u05e9\u05ea\u05f4",
    (
        "gffhjehggfgdhah9jih4f8jeiiiddd",  # nothing before
        "9adfadcbbadabgbdefbdbddcbcaddd",  # space before
        "xkjkgecfjg5jhfid9jl3idljgb9dd7",  # א
        "hkifeehdgdnggiechgedgjgigkfdeb",  # ב
        "jhodhfiqmfddiajjkjfgpdrphikdid",  # ג
        "lahohgkjcfdlmhjhimcjjdlififdgb",  # ד
        "ehehkgdfecdhgcflhfhegqfgefelda",  # ה
        "fggdgikhjgdhhfgdhghdhhgffhdddd",  # ו
        "fnle8ikddidjogfllhjeddfjhalddd",  # ז
        "ffi9efesogdihmkkhhdopenfdifddc",  # ח
        "kldjhhdgogdojmh9grj9ldakhijdde",  # ט
        "khihifijgf9fgbhdfgjehghghefddd",  # י
        "dddddddddddddddddddddddddddddd",  # ך
        "jg39hd8keg5idg98fkgmkmdahiejde",  # כ
        "fhfgehffef9hg9ikffeheeghjigdd9",  # ל
        "dddddddddddddddddddddddddddddc",  # ם
        "giggffgfgfgigiichcedhjcdhdedd8",  # מ
        "ddddddddddddddddddddddddddddde",  # ן
        "hjfifflicenekcijohjbkvnjjjddd7",  # נ
        "lghfihdkhgeilciiimg8cdifhdidde",  # ס
        "gelfefkdhgd2dfickoudifcjfghddc",  # ע
        "dddddddddddddddddddddddddddddg",  # ף
        "mgglgfpddfmhjegbdjedkfijhchdd9",  # פ
        "ddddddddddddddddddddddddddddag",  # ץ
        "iiiedfdijeddhjiepddqidkqhdiddb",  # צ
        "hhdigfqihhkziikgnhfijdelghklcd",  # ק
        "hhjkigjihgdfmpjigcjgkbgkljhdib",  # ר
        "egljgf9hfehkadipfbjljdiibkgddc",  # ש
        "ilmhgggflgejjhdbjflohdlggliddb",  # ת
        "dmdddddddddijddddddddddddddddd",  # ״
        "iddddddddddddddddddddddddddddg",  # other letters
    ),
    {
        "lower": Shape(-1.744, 1.034, 0.285),
    },
)

ARABIC: Final = WordTable(
    "\u0622\u0623\u0625\u0626\u0627\u0628\u0629\u062a\u062b\u062c\u062d\u062e\u062f\u0630\u0631\u0632\u0633\u0634\u0635\u0636\u0637\u0639\u063a\u0641\u0642\u0643\u0644\u0645\u0646\u0647\u0648\u0649\u064a\u064e\u064f\u0650\u0651\u0652\u0671\u067e\u06a9\u06af\u06ba\u06c1\u06cc\u06d2",
    (
        "kmkdegdhfhiiffeghfhjihihhfgigbgdgdddddlkfhddfded",  # nothing before
        "bccdacdadebc9cadbcbgddgbcdeb9dcdbdddddh969p69pcd",  # space before
        "dddgdhtgj9d3hkk6flddddbjtugbciedkdddddd9tifpgdqc",  # آ
        "dsdzdg0fdd9dglfiddei8gfdcbhd9dfdeghddlddddddndld",  # أ
        "dddddbdnjghje8hcaof2fdf6qq7i9lddhddgdddddddddd87",  # إ
        "ddddlggld1ldhfidxdgnifm4fimdgemfbjfhdkddzdwdh8mc",  # ئ
        "oddesebeefghfgfffgfggfkfgidfeeffgdhddddliefhbbdc",  # ا
        "skifeldfmjfkfkd8hgjndgenhjhhehjjehhfihdqkmdjdid9",  # ب
        "dddddddddddddddddddddddddddddddddliiddddddddddgc",  # ة
        "dhdkgiljhbddigdhfkfhcdghfigfffg3hhgihhddkgdihkcb",  # ت
        "dddded8kdddrcdjddddddjqdgdbddnhdhihjojdddddhd8ha",  # ث
        "dxdifnchcjqdfkhdhhdddijiddicichifiiifjddz2dbhehe",  # ج
        "ddddhfcecimdchihfjfhcddhchffifiqfhjhlkdd9ddsiffb",  # ح
        "ddddch7djjdkflflmdapcddidddhl6edfhijkiddddddgdha",  # خ
        "xcdqdfcjilkdfdhqfjdddigggfijgifcejiigidln9dccljb",  # د
        "yddddjffdbl0ddmddkddddd9di6cebomnijgmmddeddlmdl8",  # ذ
        "8jdefhdeqhjghdiieihghjfjigfidifechhhiidiihdgeehb",  # ر
        "8ddlhgfidom8kdfqr9dddnogxsndihjlegghhjdonidqbkdc",  # ز
        "dodcfccfdgmlldjgihdd6evhigegihinhhjjhhdnj3dof0fb",  # س
        "dkdiffffdkm9eddkajddohbmfdbifegpjjkjkkd6ecdjivfa",  # ش
        "ddddicdgddcnidcdddjdhmlgnhecembqehijljddddd7kfie",  # ص
        "dddjhhfhdwbc5dddddddofdmddndzeelghhijjdddddljdgb",  # ض
        "dldlggeoddndddbkjdddqjhhdddo8lfnjikhjkddmddoheg8",  # ط
        "ddddhgdiclddfkeigkm6kddklgcgcfgfeghifgddkddcg2fb",  # ع
        "ddddikekddddrdehjnwjgidjdbjekikpbghjkkdddddd7dia",  # غ
        "dg4jgmccdjfpnkfgdmi7michegjehhgaghihjkdddddiiqdc",  # ف
        "ddddhfcfddqddyjhepgheddhhhgdkkfbdgijehdddddidjjc",  # ق
        "vgtdhddc6dnph7hdibiddndmrgjhhfedcfgjilddddddqdnd",  # ك
        "iefcdgcffeggd9ghhfijedbegceedfgaffgffgdphbdeeeia",  # ل
        "dpdfdgbhheggiheffgffgdbigiggegfffffghddqabdjguhc",  # م
        "hddefjehfjhlgmljhijreghihikjhffhgehgeedskidcccgb",  # ن
        "ddddhmfjdldzhfd6hmdldddkpslhdfikmggfiidomzddeu7a",  # ه
        "vffofhiiifkmdcefgifiifhheiffghldefnhhfdln5e7itea",  # و
        "dddddddddddddddddddddddddddddddddkhkgjddddddddge",  # ى
        "d9dgghbhfchbf8gehikghghkefghejekgggggddlmwudddid",  # ي
        "dhhlfehhikijehemiijjjejiegeffegeedddddhdddddddif",  # U+064E
        "dddjojdkjlhkmjkpjikgikihjhgehhgdkdddddddddddddig",  # U+064F
        "dgiisldkjjhjihijjhilhliihgfifggjfdddddgdddddddhg",  # U+0650
        "dndkonfjrqptkhhmoppdpsgnuujlgmogqfeeddddddddddlh",  # U+0651
        "dgjdrjdhhhjghfhijfiikhjkifidhfkkjdddddddddddddgf",  # U+0652
        "dddddpdklokmnmnilljiionknkgsmnddddddddddddddddnd",  # ٱ
        "dddoefdddddqtaftaddddddddkmd5mddldddddddtadgcch9",  # پ
        "ddd9hpdcdzddi9d1bidddgdiddehc3cdnedddddjddd0b4c8",  # ک
        "ddd5gddhdeddwbddo9ddddd9ddjlwefdfddddddudddjd9k7",  # گ
        "dddddddddddddddddddddddddddddddddddddddddedddddc",  # ں
        "ddd9hfd3doddmtgelexedddoddd3hd5duddddddddowjd5rc",  # ہ
        "dddgffddeieffzighe6sdgjhclgghjiddddddddnbj9ee1db",  # ی
        "ddddrdddddddddddddddddddddfdddddddddddddclddddd9",  # ے
        "dhdhflhjikiickgg9gjhnleliikikgkkefkgihdnq6meejhf",  # other letters
    ),
    {
        "lower": Shape(-1.755, 1.044, 0.314),
    },
    triples=ARABIC_TRIPLES,
)

DEVANAGARI: Final = WordTable(
    "\u0901\u0902अआइईउऊएऐओऔकखगघचछजझञटठडढणतथदधनपफबभमयरलवशषसह\u093c\u093e\u093f\u0940\u0941\u0942\u0943\u0947\u0948\u0949\u094b\u094c\u094dख़",
    (
        "ddkiidohfgk9ihgnhkfidddf8dgbekgfhgfgkgdhgffhddcdddddddddddjd",  # nothing before
        "drcbbfacdadaaca8cg9hd98abd9aababbdaa9cba9ka9ddoddddddddddddd",  # space before
        "ddddddddddddl9pdodyddnddqdddqsddddddddd7ddnzdddddddddddddddb",  # ँ
        "ddddddddddddifiagjhddhqfhdfzei1lddjdclifmdjhdddddddddddddddc",  # ं
        "ddddddddddddjkbdcdiddlddddb9heecibfgpccgeojgddddddddddddddd4",  # अ
        "jcddlbfdddddjcamidfddd6ndd5dfafddjt9aeg9cddnddddddddddddddda",  # आ
        "deddddddddddidvdgdldddd6dd0ddldshhdklvgild9dddddddddddddddd9",  # इ
        "didjddddadddmdddddfddrdmddddrddddddjddddmdoddddddddddddddddb",  # ई
        "dhdddddddddd7hpdcdeddfendied5q3iddh9dp0ddl6ddddddddddddddddd",  # उ
        "mmddddddddddddddddddddddddddidddddddd2dddddddddddddddddddddd",  # ऊ
        "igddddddddddedddldeddid8doddfdkdkldcdmf6nqhddddddddudddddddb",  # ए
        "dddddddddddddddddddddddldddddddddddddnzdgd4dddddddddddddddd9",  # ऐ
        "ddddddddmdddmduddddddddddddddddldddmd8qidddpdddddddddddddddd",  # ओ
        "drddddddddddvdddddodddddddddddddddddd8dddltdddddddddddddddld",  # औ
        "d8ndd6ddrdddqdkdodiddidhdehrhdfbri9eddeflpdaqdcdifffebgbednd",  # क
        "dldddddddddd7ddddddddodjdfidmdddditlshjdddddhhgnced8ddholddc",  # ख
        "dhddd6dd6dddfdrdddmddiakfi8dikkhmd8f7fhfdd5irfhfg8ghddfmhdgc",  # ग
        "dedddddddddddddddddddcddddddddwddpdddgdidddddgdqoymldd2dnddf",  # घ
        "djddddddddddfdhddddddgdpofjdddgidddjffjhddsddffdgpddbmdhadd9",  # च
        "ddddddddddddddddddddddnhddlduddodddddddfddd4dbj4ghdgdd8dddg6",  # छ
        "dadddvddddddl9giddpddldnddkdi1ddj8dlk8jlrdf6hegedfdgddcvgddd",  # ज
        "dlddddddddddididddddddddddgddddddddddddddddddfudapdgddodddd7",  # झ
        "dddddddddddddddddddddddddddddddddddddddddddddfdddddddd0dhddd",  # ञ
        "dhodjdddedddhdddddpddhddddodhdiqdkdoddg9gdfddffdliddelkdfddd",  # ट
        "dlddddddddddmdndddddddddddkdddcudgkddddddddkdgrgdddmddidmddc",  # ठ
        "ddddddddddddvdlddddddddddzddddiddndldhe1pduddjg9ndddr7pdmddf",  # ड
        "dmddddddddddfdddddddddddddldddkdddddddddddddcfdkdjdpdddddddf",  # ढ
        "ddddddddddddhdddddfdddddddkdddjkdddkodd4dddddiljkddgddgdgddd",  # ण
        "dmddddddddddfdrdadjdddddddmdndicdlpikkjdudbndefgakpfcdjeddjc",  # त
        "ddddddddddddndrdddndddddddddddedddd6htftdd3dddc4dqd6dwgd9ddg",  # थ
        "dmddddddddddiu0ddddddddddhsd6dhdsfd9vhhghdiddfeekhjb8ddbddd9",  # द
        "ddddddddddddhdddddddddddddfdddfgdjdhdfflddfddjc7lpkhddhdjdd7",  # ध
        "djdddbddfd9dhdgdddhdf5dhddjdfugklddkijfhjtfbdgfiegzffmfhfdha",  # न
        "dgdpdddd2dddgdndhldddikch89lhdfddmdmcgfnq7fdddfifbeh7gegdddd",  # प
        "dldhdddddddddddddddddddkddgdddoddddddgcjddmdhkbcmddjbnededd6",  # फ
        "dfddd5ddddddrhndfqeddkd8edadedh4dddr7hdjdd9bdgcfgjjhaehkidd9",  # ब
        "dmddddddddddhd8ddddddfdfddddtdmdddddqjpaddddddfch8mendedhdda",  # भ
        "deddddddkdddgikdddilhddddiadefidprdsjii36di9degddgjbbjhdddjc",  # म
        "dkddddddddddjdddddfddmddddcq5khbjred6gg4odqadfqkfgdgddejddp9",  # य
        "degdddddfdddiblejdhdcjdddhioidjgfmghiaigg8kcifgeghbddlenddpc",  # र
        "dldddiddddddkmchddgddmdgddddhufkfbqkaipjodludfgilgdfjedgfddc",  # ल
        "ddddddddddddldidkdeddldgdmeikedlddom6gf34djadfgbddecjifdjddc",  # व
        "dmddddddddddajddddjdddddddddqdhgddjmphnfmikodhifcpjicpfycdnc",  # श
        "ddddddddddddkdddddqddhdkdhmd3ldddddadjddddjddjhrdddfmdgdeddg",  # ष
        "deddddddidddfdedidfddqdbddid8dhbfbdfdaggxdmjdegegfdekehqdddb",  # स
        "qgddddddddddjdjdhdgddhdddm5r8difwpdbfeekddkddeeebjdic6abjdd8",  # ह
        "dhddddddddddhddddjhdddddddkdddiddbdnkhhxdddtdgjegjddlgidjddd",  # U+093C
        "ghmddgejhdhdibjnjde7difjoggdgiejmfhffeedfhfeddddddddddddddqd",  # ा
        "deddddddeddddikdpgfddczkd8eigfgkrngcejgfeifkdddddddddddddddd",  # ि
        "ggdqdsddfdmdjjjn81gddioel5hdjfgkmodihlhlmohddddddddddddddddc",  # ी
        "6dsedbddgdfdkdido6i7dhvioehdhjjfkfhfndeegljkdhdddddddddddhhg",  # ु
        "bhdhddddpdddpptdelgzdf8fyjoogdihpkdidhfedlbmdddddddddddddddc",  # ू
        "deddddddddddzdddsdjdddddfmfh8ddjddidddddjddgdddddddddddddddh",  # ृ
        "ufdzdfdd8dddflexjdjddergdjbdhdf1iedhiigkgcjkdddddddddddddddb",  # े
        "dbddddddddddptsdidddds4odnfdliimdrdicihzjd6dddddddddhdddddd9",  # ै
        "ddddmdddddddjdmdddiddodaddddddkfmmdlehfdidtddddddddddddddddy",  # ॉ
        "dfqdieddddddie9dhddddfdhdefdhffgocxjjhekekeiddddddddddddddda",  # ो
        "dldddddddddddkddgdeddddoddcnag7doddddengdfgjddddddddddddddd0",  # ौ
        "dddddddddddddnfjddedcbfhdbddddjdlileedjghajhdddddddddddddddg",  # U+094D
        "dddddddddddddddddddddddddddddddddddddhdddddddddddddddddddddd",  # ख़
        "ddddddddddddphdddddddihddmddddiefcdddgnddogdddddddddddddpddg",  # other letters
    ),
    {
        "lower": Shape(-1.929, 1.114, 0.309),
    },
    triples=DEVANAGARI_TRIPLES,
)
