"""Weighing: what each candidate's own words and meaning say of how well it answers.

Fusing lists by rank asks only where a list put a passage, never how good its reasons were, and
knows nothing of a passage that one list did not find. So the fused lists only choose candidates;
then every candidate is asked the same two things: how much of the question it says (coverage) and
how near it is in meaning (cosine similarity).

An English passage cannot hold a Chinese word; it can only say what translates it, of which a
dictionary knows a part. So meaning has the more say, the less of the question the best passage of
the candidate's language holds: that is what the words of this question are worth in that language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.types import Nearness

_WORDS_SHARE = 0.5
"""How much of a score is words, where they are worth something. Chosen on six evaluation sets, of
which none moves by more than .005 between .4 and .6."""

_TRUSTED_COVERAGE = 0.75
"""Coverage from which on the words of a language are worth their full share."""

_DATE_SHARE = 0.4
"""What a date within a long stretch that was asked for is worth, as a share of all the question's words."""

_TRANSLATED_SHARE = 0.35
"""What the translations of all the question's words are worth, beside those words themselves. Chosen on five
sets of questions across languages, whose mean moves by less than .002 between .3 and .5."""

_SENTENCE_SHARE = 0.25
_SENTENCE_SHARE_ACROSS = 0.6
"""What the nearest sentence of a passage says of its meaning. In the question's own language words tell which sentence
answers; in another one, nothing but its meaning does. Chosen on nine evaluation sets, of which none moves by more than
.005 where either is a tenth more or less."""

_FINER_SHARE = 0.01

_HIGHEST_BM25 = 1.7
"""A BM25 score as a multiple of the question's summed IDF that counts as saying all of it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one candidate.

    `covered` is the share of the question it holds, `sentence` that of its best sentence, both 0 to
    1 by weight of tokens; `bm25` its score in the keyword list as a share of the summed IDF (0 where
    that list did not find it); `nearness` how near it is in meaning, None without a model. `dated`
    tells whether it holds a date within the years that were asked for, None where none were.
    `translated` is the share that it says in the other language, 0 where it is in the question's own,
    and `is_across` whether it is in another.
    """

    chunk_key: int
    language: str
    covered: float
    sentence: float
    bm25: float
    nearness: Nearness | None
    dated: bool | None = None
    translated: float = 0.0
    is_across: bool = False

    @property
    def similarity(self) -> float | None:
        """Cosine similarity of the whole passage, None without a model."""
        return None if self.nearness is None else self.nearness.passage

    @property
    def meaning(self) -> float | None:
        """How near the passage and its nearest sentence are together, None without a model."""
        if self.nearness is None:
            return None
        return self.nearness.together(_SENTENCE_SHARE_ACROSS if self.is_across else _SENTENCE_SHARE)

    @property
    def words(self) -> float:
        """How much of the question the passage says, in one sentence and as a whole, 0 to 1.

        The index may know a writing that the words do not show, such as an alias; then its score
        speaks for the passage.
        """
        said = (max(self.covered, min(1.0, self.bm25 / _HIGHEST_BM25)) + self.sentence) / 2
        if self.dated is not None:
            said = (said + _DATE_SHARE * self.dated) / (1.0 + _DATE_SHARE)
        return min(1.0, said + _TRANSLATED_SHARE * self.translated) if self.translated else said


def weigh(candidates: Sequence[Evidence]) -> dict[int, float]:
    """A score from 0 to 1 for each candidate, by chunk key."""
    best: dict[str, float] = {}
    for one in candidates:
        best[one.language] = max(best.get(one.language, 0.0), one.words)
    return {one.chunk_key: _score(one, best[one.language]) for one in candidates}


def _score(one: Evidence, best_words: float) -> float:
    meaning = one.meaning
    if meaning is None:
        # Where all say everything, how often and where they say it still tells them apart.
        finer = one.bm25 / (one.bm25 + 1.0)
        said = (one.words + min(1.0, one.bm25 / _HIGHEST_BM25)) / 2
        return (1.0 - _FINER_SHARE) * said + _FINER_SHARE * finer
    worth = _WORDS_SHARE * min(1.0, best_words / _TRUSTED_COVERAGE)
    return _WORDS_SHARE * one.words + (1.0 - worth) * max(0.0, meaning)
