"""Identifiers: versions, codes and compound names, whichever way they are written.

- Versions: `v1.2.3`, `V1.2.3`, `1_2_3`, `1-2-3` and 版本1.2.3 are "1.2.3". Digits are kept as written,
  so 1.0.21, 1.02.1 and 1.0.2 are three. `1.2.3-rc.1`, `1.2.3rc1` are "1.2.3rc1" and also "1.2.3"
  (spellings of pre-releases as in PEP 440).
- Codes: `PPR-9087`, `ppr9087`, `PPR_9087` and `PPR 9087` (in capitals) are "ppr9087"; between two
  numbers the border stays: `CVE-2023-0464` is "cve2023-0464". `#783` and `issue 783` are "#783".
- Compound names: `MessageHistory`, `message_history` and `message-history` are "messagehistory".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from wenyuan.language.english_dates import MONTH_NAMES

IdentifierKind = Literal["version", "decimal", "code", "name"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """One reading of one word; "decimal" is a number such as 3.11, which may be a version."""

    kind: IdentifierKind
    value: str
    parts: tuple[str, ...] = ()
    """Folded words inside it that do not stand apart in the text."""

    @property
    def is_telling(self) -> bool:
        """Whether looking it up is worth it: one digit, as in `utf8` or `mp3`, makes no code number."""
        return self.kind != "code" or sum(character.isdigit() for character in self.value) > 1


_LONGEST_WORD = 128
_LONGEST_VALUE = 64
_MOST_PARTS = 12

_unusual = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff0d\uff0e\uff0f\uff3f\u2010-\u2013\u2212]")
_usual = str.maketrans(
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys((*range(0x2010, 0x2014), 0x2212), "-")
)
_word = re.compile(r"[A-Za-z0-9]++(?:[-._+~:@/][A-Za-z0-9]++|_++[A-Za-z0-9]++)*+")
_piece = re.compile(r"[A-Za-z0-9]+(?:[-_]+[A-Za-z0-9]+)*")
_number_run = re.compile(r"[0-9]++(?:[._-][0-9]++)*+")
_unit = re.compile(r"[a-z]+|[0-9]+")
_letters_at_end = re.compile(r"[A-Za-z]{2,}$")
_hump = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

_version_word = re.compile(
    r"(?:[Vv](?<![A-Za-z].)er(?:sion|\.)?|V(?<![A-Za-z].)ER(?:SION)?|[Rr](?<![A-Za-z].)elease|版本号?)"
    r"\s?[:：]?\s?[Vv]?(?P<number>[0-9]{1,4}(?:\.[0-9]{1,8})?)(?![0-9.年]|-[0-9])"
)
_pre_release = re.compile(
    r"[-._+~]?(?P<name>alpha|beta|preview|pre|rc|dev|post|snapshot|nightly|a|b|c)[-._]?(?P<number>[0-9]*)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_base = re.compile(r"[0-9.]+(?=[a-z])")
_PRE_RELEASES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_SPACED_CODE = (
    r"(?P<letters>[A-Z](?<![A-Za-z0-9].)[A-Z]{1,5}(?:/[A-Z]{1,2})?)(?:\s|(?<=/[A-Z])|(?<=/[A-Z]{2}))"
    r"(?P<digits>[0-9]{2,8}(?:-[0-9]{1,6})*)(?![0-9A-Za-z])"
)
_issue = re.compile(
    r"(?:#|[Ii](?<![A-Za-z].)ssue\s#?|[Bb](?<![A-Za-z].)ug\s#?|[Tt](?<![A-Za-z].)icket\s#?|工[单單]号?\s?#?)"
    r"(?P<number>[0-9]{1,8})(?![0-9A-Za-z]|[.-][0-9])"
)
_NO_CODE = frozenset(
    "about after and at before between by during for from in is of on or since than the to until with year".split()
)
_spaced_code = re.compile(_SPACED_CODE)
_spaced_code_in_any_case = re.compile(_SPACED_CODE, re.IGNORECASE)


def identifiers(text: str, *, any_case: bool = False) -> list[Identifier]:
    """Every version, code and compound name in `text`, each once.

    A code in two words counts only in capitals (`PPR 9087`), unless `any_case`.
    """
    plain = _with_usual_forms(text)
    found: dict[Identifier, None] = {}
    for word in dict.fromkeys(_word.findall(plain)):
        if readings := _readings_of(word):
            found.update(dict.fromkeys(readings))
    for _, _, reading in _of_several_words(plain, any_case):
        found[reading] = None
    return list(found)


def located_identifiers(text: str) -> Iterator[tuple[Identifier, int, int]]:
    """Every identifier with the start and end of the words it was read from."""
    plain = _with_usual_forms(text)
    for match in _word.finditer(plain):
        for reading in _readings_of(match[0]):
            yield reading, match.start(), match.end()
    for start, end, reading in _of_several_words(plain, any_case=False):
        yield reading, start, end


def most_specific(found: Sequence[Identifier]) -> list[Identifier]:
    """Without the versions whose pre-release was found: of `1.2.3rc1` and `1.2.3` the former."""
    bases = {base[0] for identifier in found if (base := _base.match(identifier.value))}
    return [identifier for identifier in found if identifier.kind == "code" or identifier.value not in bases]


def _with_usual_forms(text: str) -> str:
    """Half-width letters and digits and plain hyphens; every character stays in its place."""
    return text.translate(_usual) if not text.isascii() and _unusual.search(text) else text


def _of_several_words(plain: str, any_case: bool) -> Iterator[tuple[int, int, Identifier]]:
    for match in _version_word.finditer(plain):
        yield match.start(), match.end(), Identifier("version", match["number"])
    for match in (_spaced_code_in_any_case if any_case else _spaced_code).finditer(plain):
        letters = match["letters"].lower().replace("/", "")
        if letters not in MONTH_NAMES and letters not in _NO_CODE:
            yield match.start(), match.end(), Identifier("code", letters + match["digits"])
    for match in _issue.finditer(plain):
        yield match.start(), match.end(), Identifier("code", "#" + match["number"])


class _ReadingsOfWords(dict[str, tuple[Identifier, ...]]):
    """The readings of each word, remembered: a text's words repeat."""

    _CAPACITY = 1 << 16

    def __missing__(self, word: str) -> tuple[Identifier, ...]:
        if len(word) > _LONGEST_WORD:
            return ()
        readings = () if word.isalpha() and (word.islower() or word.istitle()) else tuple(_read(word))
        if len(self) >= self._CAPACITY:
            self.clear()
        self[word] = readings
        return readings


_readings_of = _ReadingsOfWords().__getitem__


def _read(word: str) -> Iterator[Identifier]:
    rest, read_to = "", 0
    for run in _number_run.finditer(word):
        before = word[: run.start()]
        marked = before[-1:] in ("v", "V") and not before[-2:-1].isalpha()
        core = _version_core(run[0], marked)
        if core:
            end = run.start() + len(core)
            pre = _pre_release.match(word, end) if "." in core else None
            yield from _versions(core, marked, before, pre)
            if core == word[run.start() : end]:
                # What is read as a dotted version is not read again as a part of something else.
                rest += word[read_to : run.start() - marked] + " "
                read_to = pre.end() if pre else end
    for piece in _piece.findall(rest + word[read_to:]):
        if code := _code(piece):
            yield code
        if name := _name(piece):
            yield name


def _versions(core: str, marked: bool, before: str, pre: re.Match[str] | None) -> Iterator[Identifier]:
    glued = _letters_at_end.search(before)
    parts = (glued[0].lower(),) if glued and not marked else ()
    yield Identifier("version" if marked or core.count(".") > 1 else "decimal", core, parts)
    if pre:
        name = pre["name"].lower()
        yield Identifier("version", core + _PRE_RELEASES.get(name, name) + pre["number"])


def _version_core(run: str, marked: bool) -> str:
    """The version in a run of numbers, with dots, or "" where there is none."""
    marks = set(run) - set("0123456789")
    if marks == {"-"} or marks == {"_"}:
        parts = re.split("[-_]", run)
        # 3-2 is a score, 138-1234-5678 a telephone number, 2026-04-14 a date.
        return ".".join(parts) if 3 <= len(parts) <= 5 and all(len(part) <= 3 for part in parts) else ""
    parts = re.split("[-_]", run)[0].split(".")
    if not marked and len(parts) < 2:
        return ""
    return ".".join(parts) if len(parts) <= 6 and all(len(part) <= 8 for part in parts) else ""


def _code(piece: str) -> Identifier | None:
    if piece.isalpha() or piece.isdigit() or not piece[0].isalpha():
        return None
    units = _unit.findall(piece.lower())
    if not 2 <= len(units) <= 8 or not any(unit.isdigit() for unit in units) or units[0] == "v":
        return None
    value = units[0]
    for previous, unit in pairwise(units):
        value += unit if previous.isalpha() != unit.isalpha() else "-" + unit
    glued = piece.isalnum()
    return Identifier("code", value[:_LONGEST_VALUE], tuple(u for u in units if len(u) > 1) if glued else ())


def _name(piece: str) -> Identifier | None:
    if piece.isalnum() and piece.islower():
        return None
    humps = _hump.findall(piece)
    if len(humps) > _MOST_PARTS or not humps[0].isalpha() or sum(hump.isalpha() for hump in humps) < 2:
        return None
    words = [hump.lower() for hump in humps]
    value = "".join(words)
    if len(value) > _LONGEST_VALUE:
        return None
    return Identifier("name", value, tuple(word for word in words if len(word) > 1) if not piece.islower() else ())
