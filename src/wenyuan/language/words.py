"""Words: a text as the tokens of the lexical index.

- A run of Han characters gives all its pairs of neighbours (bigrams), and every character once, so
  that a question of one character finds it too. Dictionary words were measured beside the pairs and
  add nothing to them; pairs need no dictionary and find names that no dictionary knows.
- Kana and Hangul give pairs too.
- A word in another script gives its stem (see `stemming`), a compound itself and its pieces (see
  `compounds`).
- A term of the vocabulary gives itself, marked by `§t`: in a text beside its pairs, in a question
  instead of them (see `vocabulary`).

Tokens are joined by single spaces into what a database's tokenizer sees, one that splits at every
ASCII character that is neither letter nor digit (SQLite's `ascii`). `encode_token` therefore
replaces each such character by its full-width twin (`-` by `－`), which stands in no folded text
otherwise.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from operator import add

from wenyuan.language.compounds import ASCII_WORD, WORD, compound_pattern, pieces
from wenyuan.language.folding import fold
from wenyuan.language.questions.words import PARTICLES, QUESTION_WORDS, without_question_phrases
from wenyuan.language.scripts import HAN, HANGUL, KANA
from wenyuan.language.stemming import stem
from wenyuan.language.vocabulary import EMPTY, Vocabulary

_LONGEST_TOKEN = 64
_TERM_MARK = "§t"

_han_run = re.compile(f"[{HAN}]+")
_around_han = re.compile(f"([{HAN}][{HAN}]*)")
_syllable = re.compile(f"[{KANA}{HANGUL}]")
_syllables = re.compile(f"[{KANA}]+|[{HANGUL}]+")

_TWINS = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F) if not chr(code).isalnum()}
_to_twins = str.maketrans(_TWINS)
_from_twins = str.maketrans({twin: plain for plain, twin in _TWINS.items()})


# Made when first needed: they take longer to compile than all others here together, and a question in
# Chinese or English needs neither.
@cache
def _any_word() -> re.Pattern[str]:
    """One word in any script, with one group."""
    return re.compile(compound_pattern(WORD))


_run_of_letters = re.compile(compound_pattern(r"[^\W_]"))


@cache
def _run_with_syllables() -> re.Pattern[str]:
    """A run of syllables, or a word, with a group for each."""
    return re.compile(rf"([{KANA}]+|[{HANGUL}]+)|{compound_pattern(WORD)}")


def _runs(folded: str) -> Iterator[tuple[str, str, str]]:
    """The runs of Han characters, of syllables, and the words of a text, each as one of three, in order."""
    for place, part in enumerate(_around_han.split(folded)):
        if place % 2:
            yield part, "", ""
        elif _syllable.search(part):
            yield from (("", syllables, word) for syllables, word in _run_with_syllables().findall(part))
        else:
            yield from (("", "", word) for word in _run_of_letters.findall(part))


def encode_token(token: str) -> str:
    """Make a folded token without spaces safe to index: no ASCII character but letters and digits."""
    return token.translate(_to_twins)


def decode_token(token: str) -> str:
    """Undo `encode_token`, to show a token to a person."""
    return token.translate(_from_twins)


def word_token(word: str) -> str:
    """The token of one folded word without joints."""
    return stem(word) if len(word) <= _LONGEST_TOKEN else _shortened(word)


def term_token(term: str) -> str:
    """The token of a folded term of the vocabulary."""
    return _TERM_MARK + encode_token(term.replace(" ", "_"))


def term_of_token(token: str) -> str | None:
    """The folded term that a token stands for, or None where it stands for something else."""
    return decode_token(token[len(_TERM_MARK) :]).replace("_", " ") if is_term(token) else None


def is_term(token: str) -> bool:
    """Whether a token stands for a term of the vocabulary."""
    return token.startswith(_TERM_MARK)


def index_tokens(text: str, vocabulary: Vocabulary = EMPTY) -> list[str]:
    """The tokens of one field, repeated as often as they occur (a single Han character only once)."""
    return tokens_of_folded(fold(text), vocabulary).split()


def tokens_of_folded(folded: str, vocabulary: Vocabulary = EMPTY, stretches: Sequence[str] | None = None) -> str:
    """`index_tokens` of a text that is folded already, joined by single spaces.

    `stretches` are what white space parts in a text in ASCII, folded or not, if that is known.
    """
    terms = " ".join(map(term_token, vocabulary.term_matches(folded))) if vocabulary.terms else ""
    if folded.isascii():
        words = map(_joined_tokens_within, folded.split() if stretches is None else stretches)
        return " ".join(filter(None, (terms, *words)))
    apart = _around_han.split(folded)
    rest, han_runs = " ".join(apart[::2]), apart[1::2]
    words = map(_joined_tokens_within, rest.split())
    syllables = _joined_syllables(rest) if _syllable.search(rest) else ""
    single = " ".join(dict.fromkeys("".join(han_runs)))
    return " ".join(filter(None, (terms, _joined_pairs(han_runs), *words, syllables, single)))


def query_tokens(text: str, vocabulary: Vocabulary = EMPTY) -> list[str]:
    """The tokens a question asks for: those of `index_tokens` without repetition and noise.

    A Han character stands alone only where its neighbours are not Han, or particles; the pairs of a
    term, question words, articles and pairs of particles are left out, unless nothing else remains.
    """
    rest, terms = vocabulary.split(fold(text))
    asked = asked_tokens(without_question_phrases(rest), QUESTION_WORDS, PARTICLES)
    if not asked and not terms:
        asked = asked_tokens(rest, frozenset(), frozenset())
    return [*dict.fromkeys(map(term_token, terms)), *asked]


def asked_tokens(folded: str, skipped_words: Set[str], particles: Set[str]) -> list[str]:
    """Every pair and word token of a folded question once, without some words and without pairs of two particles."""
    tokens: dict[str, None] = {}
    for han, syllables, word in _runs(_with_slashes(folded)):
        if word:
            found: Iterable[str] = () if word in skipped_words else _joined_tokens_of(word).split()
        else:
            found = (pair for pair in _pairs(han or syllables) if not set(pair) <= particles)
        tokens.update(dict.fromkeys(found))
        if han and len(han) > 1 and not particles.isdisjoint(han):
            tokens.update(dict.fromkeys(_between_particles(han, particles)))
    return list(tokens)


def _between_particles(run: str, particles: Set[str]) -> Iterator[str]:
    """The characters that stand alone between particles: 盐 in 盐的用量."""
    parts = "".join(" " if character in particles else character for character in run).split()
    return (part for part in parts if len(part) == 1)


def lonely_characters(tokens: Iterable[str], frequency: Mapping[str, int]) -> list[str]:
    """The Han characters of a question of which nothing else stands anywhere.

    In 修泵 the pair is no word that is ever written; what was meant is 泵.
    """
    asked = list(tokens)
    if any(frequency.get(token) for token in asked):
        return []
    pairs = (token for token in asked if len(token) == 2 and _han_run.fullmatch(token))
    return [character for character in dict.fromkeys("".join(pairs)) if character not in PARTICLES]


def located_words(folded: str, wanted: Set[str]) -> Iterator[tuple[int, int]]:
    """Where a folded text holds one of the wanted tokens, those of a vocabulary left out; in no order."""
    text = _with_slashes(folded)
    pattern = ASCII_WORD if text.isascii() else _any_word()
    holds_one: dict[str, bool] = {}
    for match in pattern.finditer(text):
        word = match[1]
        if word not in holds_one:
            holds_one[word] = not wanted.isdisjoint(_joined_tokens_of(word).split())
        if holds_one[word]:
            yield from _located_pieces(match, wanted)
    for token in wanted:
        if _han_run.fullmatch(token):
            yield from _located(token, text)
        elif _syllables.match(token):
            yield from _located_syllables(token, text)


def _located_pieces(match: re.Match[str], wanted: Set[str]) -> Iterator[tuple[int, int]]:
    word, (begin, end) = match[1], match.span(1)
    is_whole = "," in word
    # Cherokee letters fold to capitals, and tokens are made of small ones.
    for piece, offset in pieces(word.lower()):
        if _token(piece) in wanted:
            yield (begin, end) if is_whole else (begin + offset, begin + offset + len(piece))


def _located(token: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(token)
    while start >= 0:
        yield start, start + len(token)
        start = text.find(token, start + 1)


def _located_syllables(token: str, text: str) -> Iterator[tuple[int, int]]:
    for match in _syllables.finditer(text):
        if len(token) > 1 or match[0] == token:
            yield from ((match.start() + start, match.start() + end) for start, end in _located(token, match[0]))


def _with_slashes(folded: str) -> str:
    """`C:\\a` as `C:/a`."""
    return folded.replace("\\", "/") if "\\" in folded else folded


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else list(map(add, run, run[1:]))


_UTF_32 = "utf-32-le"
_spaces = array("I", " ".encode(_UTF_32))


def _joined_pairs(runs: Iterable[str]) -> str:
    """The pairs of neighbours of every run, joined by spaces.

    The characters are laid out as three columns (first, second, space) of one array, which takes a
    third of the time of making a string for each pair.
    """
    firsts = _code_points("".join([run[:-1] for run in runs]))
    seconds = _code_points("".join([run[1:] for run in runs]))
    laid_out = _spaces * (3 * len(firsts))
    laid_out[0::3] = firsts
    laid_out[1::3] = seconds
    return laid_out[:-1].tobytes().decode(_UTF_32, "surrogatepass")


def _joined_syllables(folded: str) -> str:
    return " ".join(pair for run in _syllables.findall(folded) for pair in _pairs(run))


def _code_points(text: str) -> array[int]:
    return array("I", text.encode(_UTF_32, "surrogatepass"))


def _token(piece: str) -> str:
    if piece.isalnum():
        return word_token(piece)
    return encode_token(piece if len(piece) <= _LONGEST_TOKEN else _shortened(piece))


def _shortened(piece: str) -> str:
    """A token for something too long for one: its beginning and a digest of it all."""
    digest = hashlib.blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return piece[: _LONGEST_TOKEN - len(digest)] + digest


class _TokensOfWords(dict[str, str]):
    """The tokens of each word, joined by spaces and remembered: a text's words repeat."""

    _CAPACITY = 1 << 16

    def __missing__(self, word: str) -> str:
        lower = word.lower()
        tokens = word_token(lower) if lower.isalnum() else " ".join(_token(piece) for piece, _ in pieces(lower))
        if len(word) <= _LONGEST_TOKEN:
            if len(self) >= self._CAPACITY:
                self.clear()
            self[word] = tokens
        return tokens


_joined_tokens_of = _TokensOfWords().__getitem__


class _TokensOfStretches(dict[str, str]):
    """The tokens of the words within a stretch of text without white space, joined by spaces and remembered.

    A word with the comma behind it repeats like the word, and to look it up costs less than to find its end.
    """

    _CAPACITY = 1 << 16

    def __missing__(self, stretch: str) -> str:
        is_ascii = stretch.isascii()
        if is_ascii and stretch.isalnum():
            tokens = word_token(stretch.lower())
        else:
            pattern = ASCII_WORD if is_ascii else _any_word()
            tokens = " ".join(map(_joined_tokens_of, pattern.findall(_with_slashes(stretch))))
        if len(stretch) <= _LONGEST_TOKEN:
            if len(self) >= self._CAPACITY:
                self.clear()
            self[stretch] = tokens
        return tokens


_joined_tokens_within = _TokensOfStretches().__getitem__
