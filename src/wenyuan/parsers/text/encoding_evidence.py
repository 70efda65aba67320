"""How much a decoded text looks like something people write.

A wrong decoding of Chinese, Japanese or Korean bytes is often valid, but hits rare characters. The
national character sets are themselves sorted by frequency, so their first level is the table of
common characters; a short list of the most frequent ones per script settles short texts. The
approach is that of Li and Momoi, "A composite approach to language/encoding detection" (2001).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

CANDIDATES = ("gb18030", "big5hkscs", "cp932", "cp949", "euc_jp", "utf-16-le", "utf-16-be", "cp1252")
"""Encodings to try where a text is neither marked nor UTF-8, as Python names them."""

_ENOUGH_CHARACTERS = 400_000
_FREQUENT, _LETTER, _FIRST_LEVEL, _SECOND_LEVEL, _NEUTRAL, _RARE, _IMPOSSIBLE = 1.0, 0.7, 0.4, 0.1, 0.0, -0.5, -2.0

_FREQUENT_CHINESE = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事"
    "成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此"
    "已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代"
    "内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安"
    "少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光"
    "放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔章退货签收"
    "這個們來為國說時會對於後過發現當沒動還進樣從實軍無與長機關點業將兩間問應戰頭體產號書話東員論處義幾認條氣題別變總電數報"
    "結計務場資隊決馬聽達強難權記類邊張該規萬領確傳師觀讓識帶導爭運臺灣臺體驗課約轉換簽範報單價錢銀買賣環護網頁訊"
)
_FREQUENT_JAPANESE = (
    "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語"
    "土木聞食車何南万毎白天母火右読友左休父雨会社事者場合業方新部地田市県町住所内同発表政対全要用法的性作体通信気力定実"
    "現当理化不動度目主意明立開手関係品製使使用電源安全注意説書問題情報管理機能設定名前齢郎藤木英阪京製造販売"
)
_FREQUENT_KOREAN = (
    "이다는을의가에고하지로한도은기사시대를어서자나리인해일아정있수그부제과라전상만들보장원주조스구성동여적안연국합니습"
)
_PUNCTUATION = "、。，！？；：“”‘’（）《》〈〉「」『』【】…—·～　．％＋－／　〇々ー"
_LATIN_LETTERS = "àâäáãåæçèéêëìíîïñòóôõöøœùúûüÿßÀÂÄÁÅÆÇÈÉÊËÎÏÑÓÔÖØŒÙÛÜ"
_LATIN_SIGNS = "‘’“”–—…•€£§°©®«»·™²³¹½¼¾±×÷µ¿¡"

_LAYOUT = "\t\n\r\f\x1b\u00a0\u3000"

_RUN_OF_HIGH_CHARACTERS = re.compile(r"[^\x00-\x7f]{2,}")
_LONE_WITHIN_LATIN = re.compile(rf"(?<=[A-Za-z])[^\x00-\x7f{_PUNCTUATION}](?![^\x00-\x7f])")


class Evidence:
    """Collects what one candidate's decoding looks like."""

    def __init__(self, codec: str) -> None:
        self._codec = codec
        self._seen: Counter[str] = Counter()
        self._characters = 0
        self._misplaced = 0

    def add(self, text: str) -> None:
        """Count the characters of `text`, until there is enough to judge."""
        if self._characters >= _ENOUGH_CHARACTERS or (text.isascii() and not self._is_wide):
            return
        self._characters += len(text)
        self._seen.update(text)
        if self._codec == "cp1252":
            self._misplaced += sum(map(len, _RUN_OF_HIGH_CHARACTERS.findall(text)))
        elif not self._is_wide:
            self._misplaced += 2 * len(_LONE_WITHIN_LATIN.findall(text))

    def score(self, faults: int) -> float:
        """Return the mean weight per byte that is not ASCII: 1 is ordinary text, below 0 is noise.

        In UTF-16 every byte counts. `faults` is the number of bytes that did not decode.
        """
        weights = _weights(self._codec)
        total, size = -2.0 * faults, 2 * faults
        for character, count in self._seen.items():
            if character == "\ufffd" or (" " <= character < "\x7f" and not self._is_wide):
                continue
            width = _byte_width(character, self._codec)
            total += count * width * weights.get(character, _default_weight(character))
            size += count * width
        # In a Latin text an accented letter stands alone among ASCII letters; a Han character does not.
        total -= self._misplaced
        return total / size if size else 0.0

    @property
    def is_enough(self) -> bool:
        """Whether more text would not change the judgement."""
        return self._characters >= _ENOUGH_CHARACTERS

    @property
    def _is_wide(self) -> bool:
        return self._codec.startswith("utf-16")


def _byte_width(character: str, codec: str) -> int:
    if character in _LAYOUT:
        return 0
    if codec == "cp1252" or (codec == "cp932" and "\uff61" <= character <= "\uff9f"):
        return 1
    return 2


def _default_weight(character: str) -> float:
    if character in _LAYOUT:
        return _NEUTRAL
    if character < "\x20" or "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\uf8ff":
        return _IMPOSSIBLE
    return _RARE


@cache
def _weights(codec: str) -> dict[str, float]:
    """Return what each character says in favour of `codec`; a larger set never lowers a weight."""
    weights: dict[str, float] = {}

    def weigh(characters: str, weight: float) -> None:
        for character in characters:
            weights[character] = max(weight, weights.get(character, weight))

    if codec == "cp1252":
        weigh(_LATIN_LETTERS + _LATIN_SIGNS, _LETTER)
        return weights
    is_wide = codec.startswith("utf-16")
    weigh(_PUNCTUATION, _FREQUENT)
    weigh("".join(map(chr, range(0xFF10, 0xFF5B))), _LETTER)
    if is_wide or codec == "gb18030":
        weigh(_rows("gb2312", 0xB0, 0xF7), _SECOND_LEVEL)
        weigh(_rows("gb2312", 0xB0, 0xD7), _FIRST_LEVEL)
        weigh(_rows("big5", 0xA4, 0xC6), _NEUTRAL)
    if is_wide or codec == "big5hkscs":
        weigh(_rows("big5", 0xC9, 0xF9), _NEUTRAL)
        weigh(_rows("big5", 0xA4, 0xC6), _FIRST_LEVEL)
    if is_wide or codec in ("gb18030", "big5hkscs"):
        weigh(_FREQUENT_CHINESE, _FREQUENT)
    if is_wide or codec in ("cp932", "euc_jp"):
        weigh(_rows("euc_jp", 0xB0, 0xF4), _NEUTRAL)
        weigh(_rows("euc_jp", 0xB0, 0xCF), _FIRST_LEVEL)
        weigh(_rows("euc_jp", 0xA4, 0xA5) + _FREQUENT_JAPANESE, _FREQUENT)
    if is_wide or codec == "cp949":
        weigh(_rows("euc_kr", 0xB0, 0xC8), _FIRST_LEVEL)
        weigh(_FREQUENT_KOREAN, _FREQUENT)
    if is_wide:
        weigh("".join(map(chr, range(0x20, 0x7F))) + "\t\n\r" + _LATIN_LETTERS + _LATIN_SIGNS, _LETTER)
        weigh("\ufeff", _NEUTRAL)
    return weights


def _rows(codec: str, first: int, last: int) -> str:
    """Return the characters of a double-byte set whose first byte is within the given range."""
    # A newline after each cell keeps one that is not assigned from running into the next.
    cells = b"".join(bytes((lead, trail, 0x0A)) for lead in range(first, last + 1) for trail in range(0x40, 0xFF))
    return "".join(character for character in cells.decode(codec, "ignore") if character > "\x7f")
