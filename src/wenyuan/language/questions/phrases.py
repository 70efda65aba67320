"""Phrases in quotation marks: the very words, in this order, however they are broken or written."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from wenyuan.language.compounds import WORD
from wenyuan.language.folding import fold
from wenyuan.language.scripts import HAN, HANGUL, KANA

_piece = re.compile(rf"{WORD}+|[{HAN}{KANA}{HANGUL}]|[^\s]")


def holds_phrase(folded: str, phrase: str) -> bool:
    """Whether a folded text holds a phrase as whole words, line breaks and spaces apart."""
    pattern = _pattern(phrase)
    return pattern is not None and pattern.search(folded) is not None


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str] | None:
    pieces = list(_piece.finditer(fold(phrase)))
    if not pieces:
        return None
    parts = [re.escape(pieces[0][0])]
    for before, piece in pairwise(pieces):
        both_words = re.fullmatch(f"{WORD}+", before[0]) and re.fullmatch(f"{WORD}+", piece[0])
        parts.append(r"\s+" if both_words else r"\s*")
        parts.append(re.escape(piece[0]))
    opening = f"(?<!{WORD})" if re.match(WORD, pieces[0][0]) else ""
    closing = f"(?!{WORD})" if re.match(WORD, pieces[-1][0]) else ""
    return re.compile(opening + "".join(parts) + closing)
