"""Compounds: words with joints inside, such as `redis-cli`, `os.path.join` or an address, and their pieces.

A compound is found whole and by its pieces:

- each of its parts between two joints, unless they are the short numbers of 1.2.3 or 2026-04-14,
  which say nothing when they stand alone;
- between `:`, `@` and `/`, each segment that is a compound itself (`example.com` in an address);
- of a dotted name, what remains without its first names (`path.join` of `os.path.join`,
  `example.com` of `www.example.com`);
- itself without the v of a version (`v2.36-9`) and without `mailto:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wenyuan.language.scripts import HAN, HANGUL, KANA

WORD = rf"[^\W_{HAN}{KANA}{HANGUL}]"
"""One character of a word that is written in letters or digits, of a folded text."""

_MOST_NAMES = 8

_JOINT = r"(?:::|_++|[-.+~:@/])"
_THOUSANDS = r",(?<=[0-9],)[0-9]{3}(?![0-9])"
_SUFFIX = r"(?:\+\+|\#)"  # c++, g++, c#
_CLITIC = r"(?:'(?:s|t|d|m|re|ve|ll))"


def compound_pattern(character: str) -> str:
    """A regular expression for one word, a compound or not, with one group, which leaves out a final 's.

    A number with thousands separators is one word; what reads it takes the commas out.
    """
    # What begins with one character, and not with a repetition, is searched for several times as fast.
    rest = rf"{character}*+(?:{_SUFFIX}(?!{character})|(?:{_JOINT}{character}++|{_THOUSANDS})*+)"
    return rf"({character}{rest})(?:{_CLITIC}(?!{character}))?"


ASCII_WORD = re.compile(compound_pattern("[A-Za-z0-9]"))
"""One word in ASCII letters and digits, of any text."""

_part = re.compile(r"[^\W_]+")
_segment = re.compile(r"(?:::|[^:@/])+")
_outer_joint = re.compile(r"[@/]|(?<!:):(?!:)")
_mark = re.compile(r"v(?=[0-9])|mailto:(?=.)")
_name = re.compile(r"[^\W\d_](?:\w|-)*+(?:\.|::|$)")


def pieces(word: str) -> Iterator[tuple[str, int]]:
    """A folded word and, where it is a compound, its pieces, each with its offset in the word.

    A word with thousands separators stands as a whole for each of its pieces.
    """
    if "," in word:
        yield from ((piece, 0) for piece, _ in pieces(word.replace(",", "")))
        return
    yield word, 0
    if word.isalnum():
        return
    if marked := _mark.match(word):
        yield word[marked.end() :], marked.end()
    if _outer_joint.search(word):
        for segment in _segment.finditer(word):
            if not segment[0].isalnum():
                yield segment[0], segment.start()
            yield from _without_first_names(segment[0], segment.start())
    else:
        yield from _without_first_names(word, 0)
    yield from _parts(word)


def _parts(word: str) -> Iterator[tuple[str, int]]:
    parts = list(_part.finditer(word))
    if len(parts) > 1:
        numeric = all(part[0].isdigit() for part in parts)
        yield from ((part[0], part.start()) for part in parts if not numeric or len(part[0]) > 2)


def _without_first_names(dotted: str, offset: int) -> Iterator[tuple[str, int]]:
    """What is left of a dotted name of three or more names when the first go, down to two names."""
    names = list(_name.finditer(dotted))
    if 2 < len(names) <= _MOST_NAMES and sum(len(name[0]) for name in names) == len(dotted):
        yield from ((dotted[name.start() :], offset + name.start()) for name in names[1:-1])
