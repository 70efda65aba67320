"""How well a file was read: what is counted while it is, and from when on a person should look at it.

The thresholds are meant to name files that nobody could use as they are, not those with a flaw.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wenyuan.types import Notice

LOST_SHARE, LEAST_LOST = 0.001, 3
"""Of all characters, U+FFFD: it stands where bytes belong to no character of the file's encoding."""
PRIVATE_SHARE, LEAST_PRIVATE = 0.02, 10
"""Of all characters, those for private use: fonts of some PDFs give their glyphs no other names."""
CONTROL_SHARE, LEAST_CONTROL = 0.01, 10
"""Of all characters, control characters other than tabs and line ends."""
FEW_CHARACTERS_PER_PAGE, LEAST_PAGES = 40, 3
"""From so many pages on, so little text on them means that most of what is seen on them was not read."""
EMPTY_PAGES_SHARE = 0.3
"""Of all pages, those on which no text was found."""

DOUBTFUL_NOTICES = frozenset(
    {
        "chapters-missing",
        "cut-short",
        "encoding-doubtful",
        "members-damaged",
        "members-left-out",
        "pages-damaged",
        "pages-not-recognised",
        "pages-without-text",
        "picture-cut-off",
        "recognition-doubtful",
        "sheets-missing",
        "slides-missing",
    }
)
"""Notices of readers that alone make a file one to look at."""

_LOST = "\ufffd"
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True, slots=True)
class Doubt:
    """One reason to look at a file: a code, a sentence, and the numbers in it."""

    code: str
    message: str
    details: Mapping[str, Any]


class TextMeasures:
    """Counts what is odd in a text that comes piece by piece."""

    def __init__(self) -> None:
        self._characters = self._lost = self._private = self._controls = 0

    def feed(self, text: str) -> None:
        self._characters += len(text)
        self._controls += len(_CONTROL.findall(text))
        if not text.isascii():
            self._lost += text.count(_LOST)
            self._private += len(_PRIVATE.findall(text))

    def counted(self) -> dict[str, int]:
        """Whole numbers by name; what there is none of is left out, but for the characters."""
        found = {
            "lost_characters": self._lost,
            "private_characters": self._private,
            "control_characters": self._controls,
        }
        return {"characters": self._characters, **{name: number for name, number in found.items() if number}}


def doubts(quality: Mapping[str, Any], notices: Iterable[Notice]) -> tuple[Doubt, ...]:
    """Why a person should look at a file, the gravest first; empty where nobody needs to."""
    return (*_doubts_of_numbers(quality), *_doubts_of_notices(notices))


def is_doubtful(quality: Mapping[str, Any], notices: Iterable[Notice]) -> bool:
    return bool(doubts(quality, notices))


def _doubts_of_notices(notices: Iterable[Notice]) -> Iterable[Doubt]:
    return [Doubt(one.code, one.message, {}) for one in notices if one.code in DOUBTFUL_NOTICES]


def _doubts_of_numbers(quality: Mapping[str, Any]) -> Sequence[Doubt]:
    characters = _number(quality, "characters")
    found = []
    for name, code, share, least, text in _SHARES:
        number = _number(quality, name)
        if number >= least and number >= share * characters:
            found.append(Doubt(code, text.format(n=number, characters=characters), {"n": number, "total": characters}))
    pages = _number(quality, "pages")
    empty = _number(quality, "pages_without_text")
    if pages and empty >= EMPTY_PAGES_SHARE * pages:
        message = f"On {empty} of {pages} pages no text was found."
        found.append(Doubt("pages-empty", message, {"n": empty, "total": pages}))
    elif pages >= LEAST_PAGES and characters < FEW_CHARACTERS_PER_PAGE * pages:
        message = f"{pages} pages gave only {characters} characters of text."
        found.append(Doubt("little-text", message, {"n": characters, "total": pages}))
    return found


_SHARES = (
    (
        "lost_characters",
        "characters-lost",
        LOST_SHARE,
        LEAST_LOST,
        "{n} of {characters} characters could not be read and stand as \ufffd.",
    ),
    (
        "private_characters",
        "characters-private",
        PRIVATE_SHARE,
        LEAST_PRIVATE,
        "{n} of {characters} characters are private to a font and say nothing to a reader.",
    ),
    (
        "control_characters",
        "characters-control",
        CONTROL_SHARE,
        LEAST_CONTROL,
        "{n} of {characters} characters are control characters.",
    ),
)


def _number(quality: Mapping[str, Any], name: str) -> int:
    value = quality.get(name, 0)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
