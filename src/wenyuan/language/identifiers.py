"""Identifiers: versions, codes and compound names, whichever way they are written.

- Versions: `v1.2.3`, `V1.2.3`, `1_2_3`, `1-2-3` and 版本1.2.3 are "1.2.3". Digits are kept as written,
  so 1.0.21, 1.02.1 and 1.0.2 are three. `1.2.3-rc.1`, `1.2.3rc1` are "1.2.3rc1" and also "1.2.3"
  (spellings of pre-releases as in PEP 440).
- Codes: `PPR-9087`, `ppr9087`, `PPR_9087` and `PPR 9087` are "ppr9087"; between two numbers the
  border stays: `CVE-2023-0464` is "cve2023-0464". `#783` and `issue 783` are "#783". In two words, a
  code is in capitals, or its letters are no word (see `is_designator`): `ppr 9087`, not `top 100`.
- Compound names: `MessageHistory`, `message_history` and `message-history` are "messagehistory".
- Options of a command keep their hyphens: `--recursive` is "--recursive", `-xzf` also "-x", "-z", "-f".
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Literal

from wenyuan.language.compounds import ASCII_WORD
from wenyuan.language.dates.english import MONTH_NAMES
from wenyuan.language.folding import fold, translated
from wenyuan.language.words import encode_token, word_token

IdentifierKind = Literal["version", "decimal", "code", "option", "name"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """One reading of one word; "decimal" is a number such as 3.11, which may be a version."""

    kind: IdentifierKind
    value: str
    parts: tuple[str, ...] = ()
    """Folded words inside it that do not stand apart in the text."""
    tokens: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """Its canonical tokens (see `aliases`), that of its value first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self._tokens()))

    def _tokens(self) -> Iterator[str]:
        if self.kind == "option":
            yield from map(encode_token, (self.value, *self.parts))
            return
        if self.kind == "name":
            yield word_token(self.value)
        else:
            yield ("§c" if self.kind == "code" else "§v") + encode_token(self.value)
        yield from map(word_token, self.parts)

    @property
    def is_telling(self) -> bool:
        """Whether looking it up is worth it: one digit, as in `utf8` or `mp3`, makes no code number."""
        return self.kind != "code" or sum(character.isdigit() for character in self.value) > 1


_LONGEST_WORD = 128
_LONGEST_VALUE = 64
_MOST_PARTS = 12
_MOST_LETTERS_OF_OPTIONS = 4

_unusual = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff0d\uff0e\uff0f\uff3f\u2010-\u2013\u2212]")
_any_unusual = re.compile("[\uff01-\uff5e\u2010-\u2013\u2212]")
_usual = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(
    (*range(0x2010, 0x2014), 0x2212), "-"
)
_scientific = re.compile(r"[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+")
_piece = re.compile(r"[A-Za-z0-9]+(?:[-_]+[A-Za-z0-9]+)*")
_number_run = re.compile(r"[0-9][0-9]*+(?:[._-][0-9]++)*+")
_unit = re.compile(r"[a-z]+|[0-9]+")
_letters_at_end = re.compile(r"[A-Za-z]{2,}$")
_hump = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

_pre_release = re.compile(
    r"[-._+~]?(?P<name>alpha|beta|preview|pre|rc|dev|post|snapshot|nightly|a|b|c)[-._]?(?P<number>[0-9]*)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_base = re.compile(r"[0-9.]+(?=[a-z])")
_PRE_RELEASES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_NO_CODE = frozenset(
    """
    about after and at before between bug by chapter during for from in is issue of on or page release section
    since than the ticket to until version with year
    """.split()
)

_vowel = re.compile("[aeiouy]")
_DESIGNATORS = frozenset("cve cwe din iec ieee iso pep rfc".split())
# Abbreviations without a vowel that a number follows though they name nothing: titles, units, currencies, protocols,
# kinds of files.
_ABBREVIATIONS = frozenset(
    """
    bc bps cc cd ch cm cmd css csv db dns dr dvd fm fps ft ftp gbp gbps ghz gmt hd hkd hmm hr hrs html http https hz jpg
    jr kbps kg khz km kmh kph krw kw kwh lb lbs lcd lt lv lvl mb mbps md mg mhz ml mm mp mph mr mrs ms msg mt mw npm nr
    ntd pc pcs pdf php pls plz png pp ppm ppt pt pwd px rgb rm rmb rpm rs sgt smtp sql sr ssh ssl st str svg tb tbsp tcp
    thx tls tmp tsp tsv tv txt udp vol vpn vs wk wks xml xxl
    """.split()
)

# What stands between one word and a number is read backwards from the number, since numbers are rare.
_number = re.compile(r"[0-9][0-9]*+(?:\.[0-9]++)*+")
_LONGEST_LEAD = 16
_LAST_OF_VERSION_LEAD = frozenset("nNrRe.本号:：vV")
_LAST_OF_ISSUE_LEAD = frozenset("#egt单單号:`/")
_BEFORE_NUMBERS = _LAST_OF_VERSION_LEAD | _LAST_OF_ISSUE_LEAD | frozenset(string.ascii_letters)
_version_lead = re.compile(
    r"(?:(?<![A-Za-z])(?:[Vv]er(?:sion|\.)?|VER(?:SION)?|[Rr]elease)|版本号?)\s?[:：]?\s?[Vv]?\Z"
)
_code_lead = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2,6})(?:/([A-Z]{1,2})\s?|\s)\Z")
_code_lead_in_any_case = re.compile(_code_lead.pattern, re.IGNORECASE)
_JOINTS = frozenset("._/-")
_issue_lead = re.compile(r"(?:#|(?<![A-Za-z])(?:[Ii]ssue|[Bb]ug|[Tt]icket)(?:\s#?|:[#`]?)|/issues/|工[单單]号?\s?)\Z")
_version_number = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,8})?)(?![0-9.年]|-[0-9])")
_code_number = re.compile(r"([0-9]{2,8}(?:-[0-9]{1,6})*)(?![0-9A-Za-z])")
_year = re.compile(r"(?:19|20)[0-9]{2}(?:-[0-9]{1,2})?(?![0-9-])")
_three_digits = re.compile("[0-9]{3}")
_issue_number = re.compile(r"([0-9]{1,8})(?![0-9A-Za-z]|[.-][0-9])")

_option = re.compile(r"-(?<![\w/.)\]-].)-?([A-Za-z][A-Za-z0-9]{0,19}(?:-[A-Za-z0-9]{1,20}){0,6})(?![\w-])", re.ASCII)


def identifiers(text: str, *, any_case: bool = False, stretches: Sequence[str] | None = None) -> list[Identifier]:
    """Every version, code, option and compound name in `text`, each once for each way of writing it.

    A code in two words whose letters may be a word counts only in capitals (`SEAL 9087`), unless
    `any_case`. `stretches` are what white space parts in a text in ASCII, if that is known.
    """
    plain = _with_usual_forms(text)
    if stretches is None:
        stretches = _in_ascii(plain).split()
    telling = dict.fromkeys(chain.from_iterable(filter(None, map(_telling_words_within, stretches))))
    found = list(chain.from_iterable(map(_readings_of, telling)))
    found += dict.fromkeys(reading for _, _, reading in _beyond_words(plain, any_case))
    return found


def located_identifiers(text: str) -> Iterator[tuple[Identifier, int, int]]:
    """Every identifier with the start and end of the words it was read from."""
    plain = _with_usual_forms(text)
    for match in ASCII_WORD.finditer(plain):
        for reading in _readings_of(match[1]):
            yield reading, match.start(), match.end(1)
    for start, end, reading in _beyond_words(plain, any_case=False):
        yield reading, start, end


def is_designator(letters: str) -> bool:
    """Whether two to five small letters are hardly a word, and so part of a code: they have no vowel, or are known."""
    if letters in _DESIGNATORS:
        return True
    return 2 <= len(letters) <= 5 and not _vowel.search(letters) and letters not in _ABBREVIATIONS


def most_specific(found: Sequence[Identifier]) -> list[Identifier]:
    """Without the versions whose pre-release was found: of `1.2.3rc1` and `1.2.3` the former."""
    bases = {base[0] for identifier in found if (base := _base.match(identifier.value))}
    return [identifier for identifier in found if identifier.kind == "code" or identifier.value not in bases]


def _with_usual_forms(text: str) -> str:
    """Half-width letters and digits and plain hyphens; every character stays in its place."""
    return translated(text, _usual, _any_unusual) if not text.isascii() and _unusual.search(text) else text


def _in_ascii(plain: str) -> str:
    """With a space in place of every other character, none of which is part of an identifier's word."""
    return plain if plain.isascii() else plain.encode("ascii", "replace").decode("ascii").replace("?", " ")


def _beyond_words(plain: str, any_case: bool) -> Iterator[tuple[int, int, Identifier]]:
    """What one word does not show: numbers after a word that says what they are, and options."""
    for match in _number.finditer(plain):
        at = match.start()
        if at and ((before := plain[at - 1]) in _BEFORE_NUMBERS or before.isspace()):
            yield from _with_lead(plain, at, any_case)
    if "-" in plain:
        for match in _option.finditer(plain):
            if reading := _option_of(match[0], match[1]):
                yield match.start(), match.end(), reading


def _with_lead(plain: str, at: int, any_case: bool) -> Iterator[tuple[int, int, Identifier]]:
    """The readings of a number with what stands before it."""
    begin = max(0, at - _LONGEST_LEAD)
    before = plain[begin:at]
    last = before.rstrip()[-1:]
    if last in _LAST_OF_VERSION_LEAD and (lead := _version_lead.search(before)):
        number = _version_number.match(plain, at)
        if number:
            yield begin + lead.start(), number.end(), Identifier("version", number[1])
    if last.isascii() and last.isalpha() and (any_case or last.isupper() or _three_digits.match(plain, at)):
        lead = _code_lead_in_any_case.search(before)
        if lead and (number := _code_number.match(plain, at)):
            letters = (lead[1] + (lead[2] or "")).lower()
            is_code = letters not in MONTH_NAMES and letters not in _NO_CODE
            if is_code and (
                any_case or _code_lead.search(before) or _is_code_in_small_letters(lead, letters, number[1])
            ):
                yield begin + lead.start(), number.end(), Identifier("code", letters + number[1])
    if last in _LAST_OF_ISSUE_LEAD and (lead := _issue_lead.search(before)):
        number = _issue_number.match(plain, at)
        if number:
            yield begin + lead.start(), number.end(), Identifier("code", "#" + number[1])


def _is_code_in_small_letters(lead: re.Match[str], letters: str, number: str) -> bool:
    """Whether letters that are not all capitals and a number of three digits or more, no year, are a code."""
    if not is_designator(letters) or lead.string[lead.start() - 1 : lead.start()] in _JOINTS:
        return False
    return letters in _DESIGNATORS or not _year.match(number)


def _option_of(written: str, name: str) -> Identifier | None:
    value = written.lower()
    if value.startswith("--") or "-" in name or not name.isalpha() or len(name) > _MOST_LETTERS_OF_OPTIONS:
        return Identifier("option", value)
    return Identifier("option", value, tuple(f"-{letter}" for letter in name.lower()) if len(name) > 1 else ())


def _is_plain(word: str) -> bool:
    """Whether it is letters alone, at most the first of them a capital."""
    return word.isalpha() and (word.islower() or word.istitle())


class _ReadingsOfWords(dict[str, tuple[Identifier, ...]]):
    """The readings of each word, remembered: a text's words repeat."""

    _CAPACITY = 1 << 16

    def __missing__(self, word: str) -> tuple[Identifier, ...]:
        if len(word) > _LONGEST_WORD:
            return ()
        readings = () if _is_plain(word) or _scientific.fullmatch(word) else tuple(_read(word.replace(",", "")))
        if len(self) >= self._CAPACITY:
            self.clear()
        self[word] = readings
        return readings


_readings_of = _ReadingsOfWords().__getitem__


class _TellingWords(dict[str, tuple[str, ...]]):
    """The words that have readings within a stretch of text without white space, remembered; most have none."""

    _CAPACITY = 1 << 16

    def __missing__(self, stretch: str) -> tuple[str, ...]:
        words = () if _is_plain(stretch) else tuple(filter(_readings_of, ASCII_WORD.findall(stretch)))
        if len(stretch) <= _LONGEST_WORD:
            if len(self) >= self._CAPACITY:
                self.clear()
            self[stretch] = words
        return words


_telling_words_within = _TellingWords().__getitem__


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


def stands_in(value: str, folded: str) -> bool:
    """Whether a folded text holds a version or a code just as the question has it, and not as a part of a longer one.

    A text need not say that its 2.30 is a version to hold what a question calls one.
    """
    written = fold(value)
    return re.search(rf"(?<![0-9a-z.]){re.escape(written)}(?![0-9a-z]|[.][0-9])", folded) is not None
