"""Translation: what of a question a passage says in the other language, as far as everyday words tell.

A Chinese passage cannot hold the words of an English question, but it can hold 删除 where the question
says `delete`. Which of several translations is meant is left open: any of them will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from wenyuan.language.bilingual_words import WORDS
from wenyuan.language.compounds import ASCII_WORD
from wenyuan.language.questions.words import without_question_phrases
from wenyuan.language.words import word_token

_MOST_PLACES = 16
_token_of_word = lru_cache(maxsize=1 << 14)(word_token)


@dataclass(frozen=True, slots=True)
class _Dictionary:
    """Chinese words by the token of an English one, and the other way round."""

    chinese: Mapping[str, tuple[str, ...]]
    english: Mapping[str, tuple[str, ...]]
    longest: int
    """Characters of the longest Chinese word."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A word of the question: its weight, and what says it in the other language."""

    weight: float
    translations: tuple[str, ...]


class Translation:
    """One question in the other language.

    `folded` is the question, `language` is "zh" or "en", `weights` what each of its tokens is worth.
    """

    def __init__(self, folded: str, language: str, weights: Mapping[str, float]) -> None:
        self.language = {"zh": "en", "en": "zh"}.get(language, "")
        self._folded = folded
        self._weights = weights

    def covered(self, folded: str) -> float:
        """The share, from 0 to 1, that the words a folded passage says have in the weight of all that translate."""
        total = sum(one.weight for one in self._said)
        if not total:
            return 0.0
        holds = _holds_english if self.language == "en" else _holds_chinese
        return sum(one.weight for one in self._said if any(holds(folded, t) for t in one.translations)) / total

    @cached_property
    def _said(self) -> list[_Said]:
        # Only where there is a passage to ask: most libraries speak one language and need no dictionary.
        if not self.language:
            return []
        return list(
            _english_words(self._weights) if self.language == "zh" else _chinese_words(self._folded, self._weights)
        )


def everyday_share(folded: str) -> float:
    """The share of a folded Chinese text's characters, from 0 to 1, that everyday words of the dictionary make up."""
    return sum(map(len, _split(folded))) / len(folded) if folded else 0.0


def _english_words(weights: Mapping[str, float]) -> Iterator[_Said]:
    chinese = _dictionary().chinese
    return (_Said(weight, chinese[token]) for token, weight in weights.items() if token in chinese)


def _chinese_words(folded: str, weights: Mapping[str, float]) -> Iterator[_Said]:
    """The words of the dictionary in a folded question, from the left, the longest first."""
    english = _dictionary().english
    average = sum(weights.values()) / len(weights) if weights else 1.0
    for word in dict.fromkeys(_split(without_question_phrases(folded))):
        pairs = (word[i : i + 2] for i in range(len(word) - 1))
        yield _Said(max((weights[pair] for pair in pairs if pair in weights), default=average), english[word])


def _split(folded: str) -> Iterator[str]:
    english, longest = _dictionary().english, _dictionary().longest
    start = 0
    while start < len(folded):
        beginnings = (folded[start : start + length] for length in range(longest, 1, -1))
        word = next((word for word in beginnings if word in english), "")
        if word:
            yield word
        start += len(word) or 1


def _holds_chinese(folded: str, word: str) -> bool:
    return word in folded


def _holds_english(folded: str, token: str) -> bool:
    """Whether a folded text holds a word with this token."""
    # A stem may end in an i that its word writes as y.
    written = token[:-1] if token.endswith("i") and len(token) > 3 else token
    place = folded.find(written)
    for _ in range(_MOST_PLACES):
        if place < 0:
            return False
        if not (place and folded[place - 1].isalnum()):
            word = ASCII_WORD.match(folded, place)
            if word is not None and _token_of_word(word[1]) == token:
                return True
        place = folded.find(written, place + 1)
    return False


@cache
def _dictionary() -> _Dictionary:
    chinese: dict[str, dict[str, None]] = {}
    english: dict[str, dict[str, None]] = {}
    for entry in WORDS.split(","):
        word, *translations = entry.split()
        token = word_token(word)
        for translation in translations:
            chinese.setdefault(token, {})[translation] = None
            english.setdefault(translation, {})[token] = None
    longest = max(map(len, english))
    return _Dictionary(_frozen(chinese), _frozen(english), longest)


def _frozen(words: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {word: tuple(others) for word, others in words.items()}
