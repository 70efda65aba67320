"""Vocabularies: the words of a field or a company that no general rule can know.

A term is one word: an index holds it whole beside its pairs of characters, so that its parts are
found too, and a question asks for it whole, so that 转换体验课 is not answered with every 体验.
Synonyms are several writings of one thing (人工智能, AI, artificial intelligence): a question that
says one of them asks for the others as well; indexes know nothing of them.

Both are matched in folded text. In Latin letters a whole word must match, to which a plural s may
be added; one space matches any white space.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from wenyuan.errors import InvalidValue
from wenyuan.language.compounds import WORD
from wenyuan.language.folding import fold

MOST_TERMS = 20_000
MOST_GROUPS = 5_000
MOST_SYNONYMS = 16
LONGEST_TERM = 64


@cache
def _word_character() -> re.Pattern[str]:
    return re.compile(WORD)


@dataclass(frozen=True)
class Vocabulary:
    """Terms, and groups of synonyms; part of what makes a knowledge base's questions read as they are.

    Raises `InvalidValue` for a term of one character or more than `LONGEST_TERM`, for a term or
    synonym without a letter or digit, for a group of fewer than two or more than `MOST_SYNONYMS`, and
    for more than `MOST_TERMS` terms or `MOST_GROUPS` groups.
    """

    terms: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        _check_number("The number of terms", len(self.terms), 0, MOST_TERMS)
        _check_number("The number of groups of synonyms", len(self.synonyms), 0, MOST_GROUPS)
        for term in self.terms:
            _check_term("A term", term, 2)
        for group in self.synonyms:
            _check_number("The number of synonyms in a group", len(set(map(folded_term, group))), 2, MOST_SYNONYMS)
            for synonym in group:
                _check_term("A synonym", synonym, 1)

    def __hash__(self) -> int:
        return self._hash

    def __bool__(self) -> bool:
        return bool(self.terms or self.synonyms)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything, the same whatever the order; empty where there is nothing."""
        groups = sorted("\t".join(sorted(set(map(folded_term, group)))) for group in self.synonyms)
        return _digest([self.index_fingerprint, *groups]) if self else ""

    @cached_property
    def index_fingerprint(self) -> str:
        """A digest of what a lexical index depends on, the terms alone; empty where there are none."""
        return _digest(sorted(set(map(folded_term, self.terms)))) if self.terms else ""

    def term_matches(self, folded: str) -> list[str]:
        """Every occurrence of a term in a folded text, also within and across others, folded."""
        return [term for _, _, term in self._terms.matches(folded)] if self.terms else []

    def split(self, folded: str) -> tuple[str, list[str]]:
        """A folded question without its terms, and the terms, from the left, the longest first."""
        if not self.terms:
            return folded, []
        rest, found, end = [], [], 0
        folded = _with_single_spaces(folded)
        for start, stop, term in self._terms.matches(folded):
            if start >= end:
                rest.append(folded[end:start])
                found.append(term)
                end = stop
        return " ".join([*rest, folded[end:]]), found

    def other_synonyms(self, folded: str) -> list[str]:
        """The other members, as they were given, of every group that has one in a folded question, each once."""
        if not self.synonyms:
            return []
        said = {synonym for _, _, synonym in self._synonyms.matches(folded)}
        groups = dict.fromkeys(group for synonym in sorted(said) for group in self._groups[synonym])
        return list(
            dict.fromkeys(one for group in groups for one in self.synonyms[group] if folded_term(one) not in said)
        )

    @cached_property
    def _hash(self) -> int:
        return hash((self.terms, self.synonyms))

    @cached_property
    def _terms(self) -> _Matcher:
        return _Matcher(map(folded_term, self.terms))

    @cached_property
    def _synonyms(self) -> _Matcher:
        return _Matcher(self._groups)

    @cached_property
    def _groups(self) -> Mapping[str, list[int]]:
        """The positions of the groups that hold a folded synonym."""
        groups: dict[str, list[int]] = {}
        for position, group in enumerate(self.synonyms):
            for synonym in group:
                groups.setdefault(folded_term(synonym), []).append(position)
        return groups


class _Matcher:
    """Finds words in a text, in time linear in the text's length, however many words there are.

    Only where a word can begin, by its first two characters, its possible lengths are tried.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        lengths: dict[str, set[int]] = {}
        for word in self._words:
            lengths.setdefault(word[:2], set()).add(len(word))
        self._lengths = {head: tuple(sorted(found, reverse=True)) for head, found in lengths.items()}
        self._beginning = re.compile(_beginning(lengths))

    def matches(self, folded: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and word, by start, the longest first; they may overlap."""
        text = _with_single_spaces(folded) + " "
        for beginning in self._beginning.finditer(text):
            start = beginning.start()
            head = text[start : start + 2]
            for length in (*self._lengths.get(head, ()), *self._lengths.get(head[0], ())):
                word = text[start : start + length]
                if word in self._words and (end := _end_of_word(text, start + length)):
                    yield start, end, word


def _beginning(heads: Iterable[str]) -> str:
    """A regular expression for the first character of a word; letters must not go on from before."""
    firsts = {head[0] for head in heads}
    letters = {first for first in firsts if _word_character().match(first)}
    seconds = {head[1] for head in heads if len(head) > 1}
    singles = {head for head in heads if len(head) == 1}
    followed = f"(?=[{_class(seconds)}])" if seconds and not singles else ""
    kinds = [f"(?<!{WORD})[{_class(letters)}]"] if letters else []
    kinds += [f"[{_class(firsts - letters)}]"] if firsts - letters else []
    return f"(?:{'|'.join(kinds)}){followed}"


def _class(characters: Iterable[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))


def folded_term(term: str) -> str:
    """A term or synonym in the form in which it is matched."""
    return _with_single_spaces(fold(term)).strip()


def _with_single_spaces(folded: str) -> str:
    return " ".join(folded.split())


def _end_of_word(text: str, end: int) -> int:
    """Where the word ends, a plural s included, or 0 if letters go on behind; Han needs no such border."""
    is_letter = _word_character().match
    if not is_letter(text, end - 1) or not is_letter(text, end):
        return end
    return end + 1 if text[end] == "s" and not is_letter(text, end + 1) else 0


def _check_number(what: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise InvalidValue(what=what, value=number, reason=f"it must be {least} to {most}")


def _check_term(what: str, term: str, least: int) -> None:
    folded = folded_term(term)
    if len(term) > LONGEST_TERM or not least <= len(folded) <= LONGEST_TERM:
        shown = term if len(term) <= LONGEST_TERM else f"{term[:LONGEST_TERM]}…"
        raise InvalidValue(what=what, value=shown, reason=f"it must have {least} to {LONGEST_TERM} characters")
    if not any(map(str.isalnum, folded)):
        raise InvalidValue(what=what, value=term, reason="it must hold a letter or a digit")


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


EMPTY = Vocabulary()
