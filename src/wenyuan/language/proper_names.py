"""Names that an answer's source must hold: words with a capital letter, and what stands in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from wenyuan.language.assertions import FILLERS
from wenyuan.language.folding import fold
from wenyuan.language.scripts import HAN

_LONGEST_QUOTE = 80
_MOST_CAPITALISED = 0.6

_word = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f0-9]*(?:['’][a-z]+)?")
_begins = re.compile(r"(?:^|[.!?:;*#>|(\[\"“'‘/–—•。！？：；（「\n-])[\s*_\"“'‘(]*\Z")
_quoted = re.compile(
    "|".join(
        f"{opening}([^{opening}{closing}\n]{{{shortest},{_LONGEST_QUOTE}}}){closing}"
        for opening, closing, shortest in (
            ("“", "”", 2),
            ("「", "」", 2),
            ("『", "』", 2),
            ("《", "》", 1),
            ('"', '"', 2),
        )
    )
)
_han = re.compile(f"[{HAN}]")
_nothing = re.compile(r"[\W_]+")


class Name(NamedTuple):
    """A name as it is written, and folded; a quotation folded has no spaces and no punctuation."""

    written: str
    folded: str
    is_quotation: bool


def names_said(text: str) -> Iterator[Name]:
    """The names in one sentence: words with a capital that grammar does not ask for, and short quotations."""
    for match in _quoted.finditer(text):
        quoted = next(group for group in match.groups() if group)
        if folded := without_punctuation(fold(quoted)):
            yield Name(quoted.strip(), folded, is_quotation=True)
    words = list(_word.finditer(text))
    capitalised = [match for match in words if match[0][0].isupper()]
    in_chinese = _han.search(text) is not None
    if not in_chinese and len(words) > 3 and len(capitalised) > _MOST_CAPITALISED * len(words):
        # A title: its capitals say nothing.
        return
    for match in capitalised:
        word = match[0].replace("’", "'").removesuffix("'s")
        folded = fold(word)
        if len(word) < 2 or folded in FILLERS or "'" in word:
            continue
        if in_chinese or not _begins.search(text, max(0, match.start() - 8), match.start()):
            yield Name(word, folded, is_quotation=False)


def without_punctuation(folded: str) -> str:
    """A folded text without spaces and signs."""
    return _nothing.sub("", folded)
