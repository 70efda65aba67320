"""Sentences that their source supports, and ones that it does not, made from real sentences by small changes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wenyuan.language.dates.resolving import find_dates
from wenyuan.language.numerals import render_integer
from wenyuan.rules.sentences import split_sentences

SUPPORTED_KINDS = ("word for word", "numbers in another writing", "a clause left out", "clauses in another order")
UNSUPPORTED_KINDS = ("digit changed", "date changed", "name swapped", "negated", "sentence of another document")

_digit_run = re.compile(r"(?<![\w.,])[1-9][0-9]{0,5}(?![\w.,%:])")
_any_digit = re.compile("[0-9]")
_clause = re.compile(r"[，,；;](?![0-9])\s*")
_auxiliary = re.compile(r"\b(is|was|are|were|can|could|will|would|has|have|had|should|may|does|did)\b(?! not|n't)")
_chinese_verb = re.compile(
    "(?<![不没未但可要还就只也都若于凡而总老真便算乃即或别莫无非并越更最正或许却又])(是(?!否|非)|能够|能(?!力|量|源|否)|会(?!议|员|社|长|场|见|谈|计|战|合|晤|堂|馆|所|址)|可以|具有|属于|包括|需要)"
)
_name = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2})")


@dataclass(frozen=True, slots=True)
class Document:
    """A document, and names that stand in it: answers to questions, where somebody has marked them."""

    title: str
    text: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that is put beside a source; `kind` is one of the kinds above."""

    kind: str
    sentence: str
    source: str
    about: str


def claims(documents: Sequence[Document], per_kind: int, seed: int = 7) -> list[Claim]:
    """Up to so many claims of each kind, each of another sentence as far as there are enough."""
    randomness = random.Random(seed)
    places = [(document, sentence) for document in documents for sentence in sentences_of(document.text)]
    randomness.shuffle(places)
    made: list[Claim] = []
    for kind, change in _CHANGES.items():
        count = 0
        for document, sentence in places:
            if count == per_kind:
                break
            other = randomness.choice(documents)
            changed = change(sentence, document, other, randomness)
            if changed is not None and (kind in SUPPORTED_KINDS or changed not in document.text):
                made.append(Claim(kind, changed, document.text, document.title))
                count += 1
    return made


def sentences_of(text: str) -> list[str]:
    """Sentences of ordinary length."""
    found = (text[start:end].strip() for start, end in split_sentences(text))
    return [one for one in found if (12 <= len(one) <= 120 if _is_chinese(one) else 40 <= len(one) <= 300)]


def _is_chinese(text: str) -> bool:
    return any("一" <= character <= "鿿" for character in text)


def _as_it_is(sentence: str, _document: Document, _other: Document, _randomness: random.Random) -> str | None:
    return sentence


def _renumbered(sentence: str, _document: Document, _other: Document, _randomness: random.Random) -> str | None:
    """Digits in Chinese numerals, or with separators."""
    changed = _digit_run.sub(lambda found: _other_writing(found[0], _is_chinese(sentence)), sentence)
    return changed if changed != sentence else None


def _other_writing(digits: str, chinese: bool) -> str:
    if chinese and not (len(digits) == 4 and digits[0] in "12"):
        return render_integer(int(digits))
    return f"{int(digits):,}" if len(digits) > 4 else digits


def _shortened(sentence: str, _document: Document, _other: Document, randomness: random.Random) -> str | None:
    parts = _clause.split(sentence)
    if len(parts) < 3:
        return None
    del parts[randomness.randrange(1, len(parts))]
    return ("，" if _is_chinese(sentence) else ", ").join(parts)


def _reordered(sentence: str, _document: Document, _other: Document, _randomness: random.Random) -> str | None:
    parts = _clause.split(sentence.rstrip("。. "))
    if len(parts) < 2:
        return None
    return ("，" if _is_chinese(sentence) else ", ").join((*parts[1:], parts[0]))


def _digit_changed(sentence: str, _document: Document, _other: Document, randomness: random.Random) -> str | None:
    in_dates = [(date.start, date.end) for date in find_dates(sentence)]
    found = [m.start() for m in _any_digit.finditer(sentence) if not any(a <= m.start() < b for a, b in in_dates)]
    return _with_other_digit(sentence, randomness.choice(found), randomness) if found else None


def _date_changed(sentence: str, _document: Document, _other: Document, randomness: random.Random) -> str | None:
    found = [m.start() for date in find_dates(sentence) for m in _any_digit.finditer(sentence, date.start, date.end)]
    return _with_other_digit(sentence, randomness.choice(found), randomness) if found else None


def _with_other_digit(sentence: str, place: int, randomness: random.Random) -> str:
    digit = randomness.choice([other for other in "123456789" if other != sentence[place]])
    return sentence[:place] + digit + sentence[place + 1 :]


def _name_swapped(sentence: str, document: Document, other: Document, randomness: random.Random) -> str | None:
    chinese = _is_chinese(sentence)
    own = [name for name in document.names if name in sentence and _is_name(name)]
    if chinese:
        foreign = [name for name in other.names if _is_name(name) and name not in document.text and _is_chinese(name)]
    else:
        own = own or _name.findall(sentence)
        foreign = [name for name in _name.findall(other.text) if name not in document.text]
    if not own or not foreign:
        return None
    return sentence.replace(randomness.choice(own), randomness.choice(foreign), 1)


def _is_name(name: str) -> bool:
    chinese = _is_chinese(name)
    return (2 <= len(name) <= 8 if chinese else name[0].isupper() and len(name) < 30) and not _any_digit.search(name)


def _negated(sentence: str, _document: Document, _other: Document, randomness: random.Random) -> str | None:
    verb = _chinese_verb if _is_chinese(sentence) else _auxiliary
    found = list(verb.finditer(sentence))
    if not found:
        return None
    match = randomness.choice(found)
    if verb is _chinese_verb:
        return f"{sentence[: match.start()]}不{sentence[match.start() :]}"
    return f"{sentence[: match.end()]} not{sentence[match.end() :]}"


def _foreign(_sentence: str, document: Document, other: Document, randomness: random.Random) -> str | None:
    sentences = sentences_of(other.text) if other.title != document.title else []
    return randomness.choice(sentences) if sentences else None


_CHANGES: Mapping[str, Callable[[str, Document, Document, random.Random], str | None]] = {
    "word for word": _as_it_is,
    "numbers in another writing": _renumbered,
    "a clause left out": _shortened,
    "clauses in another order": _reordered,
    "digit changed": _digit_changed,
    "date changed": _date_changed,
    "name swapped": _name_swapped,
    "negated": _negated,
    "sentence of another document": _foreign,
}
