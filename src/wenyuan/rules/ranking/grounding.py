"""Whether the evidence can answer at all: an estimate, calibrated on questions with and without a source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from wenyuan.rules.ranking.weighing import Evidence
from wenyuan.types import Exactness, Grounding

LIKELY = 0.7
"""An estimate from here on counts as likely: an answer that is none costs more than one that is held back."""

_LIKELY_ACROSS = 0.6
_LIKELY_WITHOUT_A_WORD = 0.5
"""The same where the nearest passage is in another language than the question, so that its words say little for it, or
shares none with it, so that they say nothing."""

_NO_WORD = 0.01
_ALL_SAID = 0.999
"""The share of a question from which on one sentence holds every word of it. In sets of a thousand passages that alone
makes it likely; where there are but a few there is little that it could stand out from."""
_MISSING_CEILING = 0.1
_EXACT_FLOOR: Mapping[Exactness, float] = {"about": 0.9, "mentions": LIKELY, "none": 0.0}
_CONSIDERED = 5
_RIVALS = slice(4, 10)


def estimate(ordered: Sequence[Evidence], missing: Sequence[str], exactness: Exactness) -> Grounding:
    """Estimate from the weighed candidates, best first, the probability that they answer the question.

    Where a source exists it stands out: it says more of the question than what else was found, and is
    nearer to it in meaning. What was asked for exactly and is `missing` settles the matter; that the
    evidence is about it, or mentions it (`exactness`), speaks for an answer.
    """
    if not ordered:
        return Grounding(0.0, "unlikely", tuple(missing))
    value = max(_probability(ordered), _EXACT_FLOOR[exactness])
    if any(one.sentence >= _ALL_SAID for one in ordered[:_CONSIDERED]):
        value = max(value, LIKELY)
    if missing:
        value = min(value, _MISSING_CEILING)
    least = _least(ordered)
    return Grounding(round(value, 3), "likely" if value >= least else "unlikely", tuple(missing), least)


def _least(ordered: Sequence[Evidence]) -> float:
    """What an estimate must reach, by what is nearest in meaning: how much its words can say for it."""
    near = [one for one in ordered if one.meaning is not None]
    if not near:
        return LIKELY
    nearest = max(near, key=lambda one: one.meaning or 0.0)
    if nearest.words < _NO_WORD:
        return _LIKELY_WITHOUT_A_WORD
    return _LIKELY_ACROSS if nearest.is_across else LIKELY


def refined(grounding: Grounding, *, is_missing: bool, is_denied: bool) -> Grounding:
    """The estimate once the sentences that would answer are known, and how the question fits them (`question_fit`).

    `is_missing` tells that the question names what their passage does not, `is_denied` that it asks for what is not
    so where they say what is.
    """
    against = is_missing * _AGAINST_MISSING + is_denied * _AGAINST_DENIED
    if not against or not grounding.value:
        return grounding
    value = min(max(grounding.value, 0.001), 0.999)
    value = round(_logistic(math.log(value / (1.0 - value)) - against), 3)
    return replace(grounding, value=value, verdict="likely" if value >= grounding.likely_from else "unlikely")


def _probability(ordered: Sequence[Evidence]) -> float:
    best = ordered[:_CONSIDERED]
    words = max(one.words for one in best)
    with_model = [one.meaning for one in best if one.meaning is not None]
    if not with_model:
        return _logistic(_WORDS_ALONE[0] + _WORDS_ALONE[1] * words + _WORDS_ALONE[2] * _gap(ordered))
    bias, of_words, of_meaning, of_gap = _WITH_MODEL
    return _logistic(bias + of_words * words + of_meaning * max(with_model) + of_gap * _gap(ordered))


def _gap(ordered: Sequence[Evidence]) -> float:
    """How far the best candidate stands above those from the fifth on."""
    strengths = sorted((one.words / 2 + (one.meaning or 0.0) for one in ordered), reverse=True)
    rivals = strengths[_RIVALS] or strengths[1:]
    return strengths[0] - sum(rivals) / len(rivals) if rivals else 0.0


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))


# In logits. Of questions on squad2 and cmrc2018, half of them with an answer, 14 % had one where they named what the
# passage does not, and 2 % where they denied what it says.
_AGAINST_MISSING = 1.6
_AGAINST_DENIED = 3.0

# Logistic regression on sets of questions with and without a source, with the prior that two of three
# questions have one: in a set whose topics are absent the estimate ranks with an AUROC of .98, among
# unanswerable questions about the very passage that is found with one of .64 (English, adversarial).
_WITH_MODEL = (-2.4, 1.0, 4.5, 4.3)
_WORDS_ALONE = (-1.6, 3.5, 3.0)
