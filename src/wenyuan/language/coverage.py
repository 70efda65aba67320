"""Coverage: how much of what a question says stands in a passage, read from its words themselves.

The lists of a search know why they found a passage, and nothing of those they did not find. This
asks every candidate the same: which of the question's tokens it holds, how much they weigh, and
how many of them stand together in one sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wenyuan.language.compounds import WORD
from wenyuan.language.plain_numbers import located_numbers
from wenyuan.language.scripts import HAN, HANGUL, KANA
from wenyuan.language.words import decode_token, term_of_token, word_token

_ALIAS_MARK = "§"
_MOST_PLACES = 16
_written_without_spaces = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_sentence_end = re.compile(r"[。！？!?；;\n]|\.(?=\s)")
_word = re.compile(f"{WORD}+")
_token_of_word = lru_cache(maxsize=1 << 14)(word_token)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a passage holds of a question.

    `whole` is the share, from 0 to 1, that the tokens in the passage or above it have in the weight
    of all; `sentence` that of the best of its sentences, or of what stands above it, alone.
    """

    matched: frozenset[str]
    whole: float
    sentence: float


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A token of the question; `written` is what every writing of it begins with."""

    token: str
    weight: float
    written: str
    is_word: bool
    """Whether it must begin and end where a word does, or, as a stem, only begin there."""
    is_stem: bool


class CoverageReader:
    """Reads passages for one question; `weights` says what each of its tokens is worth.

    `joined` are other writings of several tokens in one word: who holds `messagehistory` holds
    `message` and `history`. What stands for dates, versions and codes is left to the keys, which know
    every writing of them: `named` says what each kind of them is worth, and `values` how the
    question writes them.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        joined: Iterable[str] = (),
        named: Mapping[str, float] | None = None,
        values: Iterable[str] = (),
    ) -> None:
        self._wanted = [_wanted(token, weight) for token, weight in weights.items() if _is_text(token)]
        self._named = dict(named or {})
        self._total = sum(one.weight for one in self._wanted) + sum(self._named.values())
        values = list(values)
        self._of_values = [one for one in self._wanted if one.is_word and any(_is_part(one, value) for value in values)]
        self._numbers = {one.token: one for one in self._wanted if one.token.isdigit() and len(one.token) > 1}
        writings = (_wanted(token, 0.0) for token in joined if _is_text(token) and token not in weights)
        self._joined = [
            (writing, [one for one in self._wanted if one.is_word and one.written in writing.written])
            for writing in writings
        ]

    def read(self, above: str, text: str, held: Collection[str] = ()) -> Coverage:
        """Read a folded text.

        `above` is what stands over it, folded: its document's name, its headings, its context, a line
        each; `held` are the kinds of `named` things that it holds.
        """
        if not self._total:
            return Coverage(frozenset(), 0.0, 0.0)
        # Most tokens stand in few candidates, and asking costs a fraction of looking for places.
        matched = {
            one.token: one.weight
            for one in self._wanted
            if one.written in above and next(_places(one, above), None) is not None
        }
        places = [(one, place) for one in self._wanted if one.written in text for place in _places(one, text)]
        for writing, parts in self._joined:
            places += [(part, place) for place in _places(writing, text) for part in parts]
        if self._numbers:
            places += [(self._numbers[n], at) for n, at, _ in located_numbers(text) if n in self._numbers]
        given = {kind: weight for kind, weight in self._named.items() if kind in held}
        if given:
            matched.update((one.token, one.weight) for one in self._of_values)
        # What stands above a text is as good as a sentence of it: a title often says all that was asked.
        sentence = max(sum(matched.values()), _best_sentence(places, text))
        matched.update((one.token, one.weight) for one, _ in places)
        whole = sum(matched.values())
        more = sum(given.values())
        return Coverage(frozenset(matched), (whole + more) / self._total, (sentence + more) / self._total)


def _is_text(token: str) -> bool:
    return not token.startswith(_ALIAS_MARK) or term_of_token(token) is not None


def _wanted(token: str, weight: float) -> _Wanted:
    term = term_of_token(token)
    written = decode_token(token) if term is None else term
    if _written_without_spaces.search(written):
        return _Wanted(token, weight, written, is_word=False, is_stem=False)
    is_stem = term is None and token.isalnum()
    # A stem may end in an i that its word writes as y, and a word may be its own stem's beginning.
    shortened = written[:-1] if is_stem and written.endswith("i") and len(written) > 3 else written
    return _Wanted(token, weight, shortened, is_word=True, is_stem=is_stem)


def _is_part(one: _Wanted, value: str) -> bool:
    """Whether a token of the question is a part of a version or code that it names."""
    return "".join(_word.findall(one.written)) in "".join(_word.findall(value))


def _places(wanted: _Wanted, folded: str) -> Iterator[int]:
    """Where a folded text holds a token: the first few places."""
    written = wanted.written
    place = folded.find(written)
    for _ in range(_MOST_PLACES):
        if place < 0:
            return
        if not wanted.is_word or _is_word_at(wanted, folded, place):
            yield place
        place = folded.find(written, place + 1)


def _is_word_at(wanted: _Wanted, folded: str, place: int) -> bool:
    if place and _word.match(folded, place - 1):
        return False
    if not wanted.is_stem:
        return not _word.match(folded, place + len(wanted.written))
    word = _word.match(folded, place)
    return word is not None and _token_of_word(word[0]) == wanted.token


def _best_sentence(places: Sequence[tuple[_Wanted, int]], folded: str) -> float:
    """The weight of the different tokens in the sentence that holds most."""
    if not places:
        return 0.0
    only = places[0][0]
    if all(one is only for one, _ in places):
        return only.weight
    ends = [match.start() for match in _sentence_end.finditer(folded)]
    sentences: dict[int, dict[str, float]] = {}
    for one, place in places:
        sentences.setdefault(bisect_right(ends, place), {})[one.token] = one.weight
    return max(sum(tokens.values()) for tokens in sentences.values())
