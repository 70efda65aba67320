"""Words: a text as the tokens of the lexical index.

- A run of Han characters gives all its pairs of neighbours (bigrams), and every character once, so
  that a question of one character finds it too. Dictionary words were measured beside the pairs and
  add nothing to them; pairs need no dictionary and find names that no dictionary knows.
- Kana and Hangul give pairs too.
- A word in another script gives its stem (see `stemming`).
- A compound such as `redis-cli`, `os.path.join` or `v2.36-9+deb12u10` gives itself and its parts, and
  where it begins with the v of a version, itself without that.

Tokens are joined by single spaces into what a database's tokenizer sees, one that splits at every
ASCII character that is neither letter nor digit (SQLite's `ascii`). `encode_token` therefore
replaces each such character by its full-width twin (`-` by `－`), which stands in no folded text
otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import add

from wenyuan.language.folding import fold
from wenyuan.language.scripts import HAN, HANGUL, KANA
from wenyuan.language.stemming import stem

_LONGEST_TOKEN = 64

_ASCII_WORD = "[a-z0-9]"
_WORD = rf"[^\W_{HAN}{KANA}{HANGUL}]"
_JOINT = r"[-._+~:@/]"
_SUFFIX = r"(?:\+\+|\#)"  # c++, g++, c#


def _word_pattern(character: str) -> str:
    word = rf"({character}++(?:{_SUFFIX}(?!{character})|(?:{_JOINT}{character}++)*+))"
    return rf"{word}(?:'(?:s|t|d|m|re|ve|ll)(?!{character}))?"


_runs = re.compile(rf"([{HAN}]+)|([{KANA}]+|[{HANGUL}]+)|{_word_pattern(_WORD)}")
_ascii_words = re.compile(_word_pattern(_ASCII_WORD))
_thousands = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_part = re.compile(f"{_WORD}+")
_segment = re.compile(r"[^:@/]+")
_version_mark = re.compile("v[0-9]")
_outer_joint = re.compile(r"[:@/]")

_QUESTION_WORDS = frozenset(
    "a an the what which who whom whose when where why how do does did is are was were be been please".split()
)
_question_phrases = re.compile(
    "为什么|什么时候|什么|怎么样|怎么|怎样|如何|为何|何时|哪[一几]?[个些里儿年月天位种家座条]?|请问|是谁|谁|多少|几个|是否|有没有|[吗呢么]"
)
_PARTICLES = frozenset("的了是在和与及或也都就而被把从到对于为以之其")

_TWINS = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F) if not chr(code).isalnum()}
_to_twins = str.maketrans(_TWINS)
_from_twins = str.maketrans({twin: plain for plain, twin in _TWINS.items()})


def encode_token(token: str) -> str:
    """Make a folded token without spaces safe to index: no ASCII character but letters and digits."""
    return token.translate(_to_twins)


def decode_token(token: str) -> str:
    """Undo `encode_token`, to show a token to a person."""
    return token.translate(_from_twins)


def word_token(word: str) -> str:
    """The token of one folded word without joints."""
    return stem(word[:_LONGEST_TOKEN])


def index_tokens(text: str) -> list[str]:
    """The tokens of one field, repeated as often as they occur (a single Han character only once)."""
    return tokens_of_folded(fold(text))


def query_tokens(text: str) -> list[str]:
    """The tokens a question asks for: those of `index_tokens` without repetition and noise.

    A Han character stands alone only where its neighbours are not Han; question words, articles and
    pairs of particles are left out, unless nothing else remains.
    """
    folded = fold(text)
    asked = _asked(_question_phrases.sub(" ", folded), _QUESTION_WORDS, _PARTICLES)
    return asked or _asked(folded, frozenset(), frozenset())


def tokens_of_folded(folded: str) -> list[str]:
    """`index_tokens` of a text that is folded already."""
    folded = _joined_thousands(folded)
    if folded.isascii():
        return list(chain.from_iterable(map(_word_tokens, _ascii_words.findall(folded))))
    tokens: list[str] = []
    han_runs: list[str] = []
    for han, syllables, word in _runs.findall(folded):
        if han:
            han_runs.append(han)
            tokens.extend(map(add, han, han[1:]))
        elif word:
            tokens.extend(_word_tokens(word))
        else:
            tokens.extend(_pairs(syllables))
    tokens.extend(dict.fromkeys("".join(han_runs)))
    return tokens


def located_tokens(folded: str) -> Iterator[tuple[str, int, int]]:
    """Every token of a folded text with its start and end there.

    Thousands separators are not looked through: `1,234` gives its two parts.
    """
    for match in _runs.finditer(folded):
        start = match.start()
        if match[3]:
            for piece, offset in _pieces(match[3]):
                yield _token(piece), start + offset, start + offset + len(piece)
            continue
        run = match[0]
        for i, pair in enumerate(_pairs(run)):
            yield pair, start + i, start + i + len(pair)
        if match[1] and len(run) > 1:
            for i, character in enumerate(run):
                yield character, start + i, start + i + 1


def _joined_thousands(folded: str) -> str:
    return _thousands.sub("", folded) if "," in folded else folded


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else list(map(add, run, run[1:]))


def _asked(folded: str, skipped_words: frozenset[str], particles: frozenset[str]) -> list[str]:
    tokens: dict[str, None] = {}
    for han, syllables, word in _runs.findall(_joined_thousands(folded)):
        if word:
            found: Iterable[str] = () if word in skipped_words else _word_tokens(word)
        else:
            found = (pair for pair in _pairs(han or syllables) if not particles.issuperset(pair))
        tokens.update(dict.fromkeys(found))
    return list(tokens)


def _pieces(word: str) -> Iterator[tuple[str, int]]:
    """A word, and where it is a compound its segments and parts, each with its offset in the word."""
    yield word, 0
    if word.isalnum():
        return
    if _version_mark.match(word):
        yield word[1:], 1
    if _outer_joint.search(word):
        yield from ((m[0], m.start()) for m in _segment.finditer(word) if not m[0].isalnum())
    parts = list(_part.finditer(word))
    if len(parts) > 1:
        # The short numbers in 1.2.3 or 2026-04-14 say nothing when they stand alone.
        numeric = all(m[0].isdigit() for m in parts)
        yield from ((m[0], m.start()) for m in parts if not numeric or len(m[0]) > 2)


def _token(piece: str) -> str:
    return word_token(piece) if piece.isalnum() else encode_token(piece[:_LONGEST_TOKEN])


class _TokensOfWords(dict[str, tuple[str, ...]]):
    """The tokens of each word, remembered: a text's words repeat."""

    _CAPACITY = 1 << 16

    def __missing__(self, word: str) -> tuple[str, ...]:
        tokens = tuple(_token(piece) for piece, _ in _pieces(word))
        if len(word) <= _LONGEST_TOKEN:
            if len(self) >= self._CAPACITY:
                self.clear()
            self[word] = tokens
        return tokens


_word_tokens = _TokensOfWords().__getitem__
