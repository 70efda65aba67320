"""Folding: the many ways of writing one character become one, for indexing and for questions.

A folded text is compatibility-composed (NFKC), case-folded and in simplified Chinese; Latin letters
lose their accents, invisible characters disappear, curly quotes and dashes become plain ones.

Folding looks at one character at a time (and at the marks that follow it), never at its
neighbours, so a passage folds alike wherever it stands: `fold(a + b)` is `fold(a) + fold(b)` unless
`b` begins with a mark. Converters that choose by phrase do not have this property, and a question
that quotes a part of a sentence would miss it; therefore only single characters are converted, by a
table derived from OpenCC (see `simplified_characters`), and the few characters on which phrases
disagree (著 is 着 in 隨著 but stays in 著名) are all folded to the commoner one.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wenyuan.language.simplified_characters import SIMPLIFIED, TRADITIONAL
from wenyuan.types import TextSpan

_VARIANTS = dict(zip("著瞭藉覆馀锺妳祂牠衹祇祕", "着了借复余钟你他它只只秘", strict=True))
"""Characters that a phrase-wise conversion turns into the right-hand one in some phrases only, and
variants that single-character conversion leaves alone."""

_RADICALS = dict(
    zip(
        "⺟⺠⻅⻆⻉⻋⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳⺎⺩⺫⺬⺪⺶⺼⻄⻑",
        "母民见角贝车长门青韦页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟兀王目示疋羊肉西长",
        strict=True,
    )
)
"""Radicals that PDF files use in place of the character (Unicode, EquivalentUnifiedIdeograph)."""

_LATIN = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "þ": "th"}
_PUNCTUATION = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63", "-"),
    # A long dash separates where a short one joins, so it must not become a hyphen.
    **dict.fromkeys("\u2014\u2015", "--"),
    "\u301c": "~",
}

_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef"
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u3099\u309a\uff9e\uff9f"
_JAMO = "\u1100-\u11ff\u3131-\u318e\uffa0-\uffdc"
_dropped = re.compile(f"[{_INVISIBLE}{_MARKS}]")
_invisible = re.compile(f"[{_INVISIBLE}]+")
_composing = re.compile(f"[{_MARKS}{_JAMO}]")
# Sorting marks takes quadratic time, hence the limit (that of UAX #15, Stream-Safe Text Format).
_cluster = re.compile(rf".[{_MARKS}{_JAMO}{_INVISIBLE}]{{1,30}}", re.DOTALL)

_PERHAPS_CHANGING = "A-Z\x80-\u3000\u3004\u3006\u301c\u302a-\u303f\u3094-\u309f\u30fa-\u4dff\ua000-\U0010ffff"

# All but the characters of ordinary text, which fold to one character each.
_perhaps_not_one = re.compile("[^\x00-\x7f\u2018\u2019\u201c\u201d\u3000-\u303f\u4e00-\u9fff\uff01-\uff5e]")

_SHORT = 64
_MOST_CHANGED = 0.25

_REMEMBERED = 0x40000
"""Characters from here on are too rare to spend memory on."""


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A folded text that knows where each of its characters came from.

    `offsets[i]` is where the source of `text[i]` starts; one more offset holds the source's length.
    """

    text: str
    offsets: Sequence[int]

    def source_span(self, start: int, end: int) -> TextSpan:
        """The span of the source that `text[start:end]` was folded from, whole characters only."""
        if start >= end:
            return TextSpan(self.offsets[start], self.offsets[start])
        while self.offsets[end] == self.offsets[end - 1]:
            end += 1
        return TextSpan(self.offsets[start], self.offsets[end])


def fold(text: str) -> str:
    """Fold `text`; see the module's docstring. Idempotent, linear in the text's length."""
    if text.isascii():
        return text.lower()
    if _composing.search(text):
        text = _cluster.sub(_compose, text)
    table = _table()
    return translated(text, table, table.changing) if len(text) > _SHORT else text.translate(table)


def translated(text: str, table: Mapping[int, str], changing: re.Pattern[str]) -> str:
    """`text.translate(table)`, several times as fast where few characters change.

    `changing` matches every character that the table changes, one at a time; what the table puts in
    their place it must itself leave as it is.
    """
    if len(changing.findall(text, 0, _SHORT)) > _MOST_CHANGED * _SHORT:
        return text.translate(table)
    for character in set(changing.findall(text)):
        text = text.replace(character, table[ord(character)])
    return text


def fold_with_offsets(text: str) -> FoldedText:
    """Fold `text`, keeping the way back: `.text` equals `fold(text)`."""
    if text.isascii():
        return FoldedText(text.lower(), range(len(text) + 1))
    if _composing.search(text):
        return _composed_with_offsets(text)
    table = _table()
    offsets: list[int] = []
    position = 0
    for match in _perhaps_not_one.finditer(text):
        length = len(table[ord(match[0])])
        if length != 1:
            start = match.start()
            offsets += range(position, start)
            offsets += [start] * length
            position = start + 1
    offsets += range(position, len(text) + 1)
    return FoldedText(text.translate(table), offsets)


def _composed_with_offsets(text: str) -> FoldedText:
    pieces: list[str] = []
    starts: list[int] = []
    position = 0
    for match in _cluster.finditer(text):
        pieces += text[position : match.start()]
        starts += range(position, match.start())
        pieces.append(_compose(match))
        starts.append(match.start())
        position = match.end()
    pieces += text[position:]
    starts += range(position, len(text))
    table = _table()
    folded = [piece.translate(table) for piece in pieces]
    offsets = [start for piece, start in zip(folded, starts, strict=True) for _ in piece]
    offsets.append(len(text))
    return FoldedText("".join(folded), offsets)


def _compose(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", _invisible.sub("", match[0]))


class _Table(dict[int, str]):
    """A translation table that folds each character when it is first met, and remembers it."""

    def __init__(self, simplified: Mapping[str, str]) -> None:
        super().__init__()
        self._simplified = simplified

    @cached_property
    def changing(self) -> re.Pattern[str]:
        """Matches each character that is not folded to itself, and some rare ones that are."""
        # A class is searched fast as long as it names no single character beyond U+FFFF.
        traditional = "".join(character for character in self._simplified if character < "\ua000")
        return re.compile(f"[{_PERHAPS_CHANGING}{traditional}]")

    def __missing__(self, code: int) -> str:
        folded = self._fold(chr(code))
        if code < _REMEMBERED:
            self[code] = folded
        return folded

    def _fold(self, character: str) -> str:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
        decomposed = unicodedata.normalize("NFD", folded)
        if "a" <= decomposed[:1] <= "z":
            folded = decomposed
        kept = (c for c in folded if not _dropped.match(c))
        return "".join(_PUNCTUATION.get(c) or _LATIN.get(c) or self._simplified.get(c, c) for c in kept)


_tables: list[_Table] = []
_making = threading.Lock()


def _table() -> _Table:
    """The one table of this process, made when the first text needs it."""
    if not _tables:
        with _making:
            if not _tables:
                _tables.append(_Table(_simplified()))
    return _tables[0]


def _simplified() -> dict[str, str]:
    """What each Han character folds to, where that is another one."""
    targets = dict(zip(TRADITIONAL, SIMPLIFIED, strict=True)) | _VARIANTS | _RADICALS
    for character, target in targets.items():
        while target in targets:
            target = targets[target]
        targets[character] = target
    return targets
