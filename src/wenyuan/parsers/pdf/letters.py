"""Letters as a PDF's text layer has them, and how words and lines of them are joined to running text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

HYPHENS = "\ufffe\x02\u00ad"
"""What stands for a hyphen at which a word was divided: PDFium's two marks for it, and the soft hyphen."""

_WIDE = re.compile(
    "[\u2e80-\u303f\u3041-\u30ff\u3105-\u312f\u31a0-\u31ff\u3220-\u33ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff9f\uffe0-\uffe6\U00020000-\U0003ffff]"
)
# Radicals whose character Unicode names only as an equivalent (EquivalentUnifiedIdeograph), not by NFKC.
_RADICALS = dict(
    zip(
        "⺟⺠⺩⻁⻄⻅⻆⻉⻋⻑⻓⻔⻗⻘⻙⻚⻛⻜⻝⻡⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳",
        "母民王虎西见角贝车長长门雨青韦页风飞食首马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟",
        strict=True,
    )
)
_WORD_AT_END = re.compile(r"[\w-]+$")
_WORD_AT_START = re.compile(r"[^\W\d_]*")
_LONGEST_WORD = 80
_TIGHT = "–—/"


Divides = Callable[[str, str], bool]
"""Says of the parts before and after a hyphen at the end of a line whether they are one word without it."""


def always_divides(_before: str, _after: str) -> bool:
    """What holds where nothing is known about a document's words."""
    return True


@cache
def _plain_forms() -> dict[int, str]:
    """Radicals and ligatures (U+2E80-2FDF, U+FB00-FB06), which fonts use for what a person reads as letters."""
    forms = {ord(radical): character for radical, character in _RADICALS.items()}
    for code in (*range(0x2E80, 0x2FE0), *range(0xFB00, 0xFB07)):
        plain = unicodedata.normalize("NFKC", chr(code))
        if plain != chr(code):
            forms[code] = plain
    return forms


_HAS_FORM = re.compile("[\u2e80-\u2fdf\ufb00-\ufb06]")


def plain_letters(text: str) -> str:
    """Write radicals as the characters they are and ligatures as their letters; everything else stays."""
    return text.translate(_plain_forms()) if _HAS_FORM.search(text) else text


# TeX's Cork encoding (T1), by Knappen and others, 1990: what it has where other encodings have control characters.
_CORK = {
    0x10: "“",
    0x11: "”",
    0x12: "„",
    0x13: "«",
    0x14: "»",
    0x15: "–",
    0x16: "—",
    0x1B: "\ufb00",
    0x1C: "\ufb01",
    0x1D: "\ufb02",
    0x1E: "\ufb03",
    0x1F: "\ufb04",
    0x88: "•",
    0xBF: "£",
}
_CORK_LIGATURE = re.compile("[A-Za-z][\x1b-\x1f]|[\x1b-\x1f][a-z]")


def with_ligatures(text: str) -> str:
    """The text of a page with the ligatures and quotation marks of bitmap fonts of TeX, which name no letters.

    Each stays one character. PDFium gives such letters by their codes; only where a ligature stands at a letter is
    it known that they are in that encoding.
    """
    return text.translate(_CORK) if _CORK_LIGATURE.search(text) else text


def is_wide(character: str) -> bool:
    """Whether it is written without spaces around it: Han, kana, bopomofo and full-width punctuation."""
    return character > "\u2e7f" and _WIDE.match(character) is not None


def joined_lines(above: str, below: str, divides: Divides = always_divides) -> str:
    """Two lines of a paragraph as running text.

    Words divided at the end of a line become whole if `divides` says so of their two parts, but the hyphen
    stays before a capital or a number and in a word that has another one. Han characters are joined without
    a space, and so is what a dash or a slash joins.
    """
    if not above or not below:
        return above or below
    last, first = above[-1], below[0]
    if last in HYPHENS or (last == "-" and above[-2:-1].isalpha()):
        rest = above[:-1]
        begun = _WORD_AT_END.search(rest[-_LONGEST_WORD:])
        is_whole = first.islower() and begun is not None and "-" not in begun[0]
        if is_whole and begun is not None and divides(begun[0], _first_word(below)):
            return rest + below
        return f"{rest}-{below}"
    tight = is_wide(last) or is_wide(first) or (last in _TIGHT and not above[-2:-1].isspace())
    return above + below if tight else f"{above} {below}"


def _first_word(text: str) -> str:
    found = _WORD_AT_START.match(text)
    return found[0] if found else ""


def without_marks(text: str) -> str:
    """The text with what still stands for a hyphen written as one."""
    for mark in HYPHENS:
        if mark in text:
            text = text.replace(mark, "-")
    return text
