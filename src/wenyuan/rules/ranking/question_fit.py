"""What a question says that the evidence does not: a passage about the same things that answers another question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.language.assertions import Reading, read_assertions
from wenyuan.rules.citations.missing_values import missing_values
from wenyuan.rules.citations.source_reading import SourceReading


@dataclass(frozen=True, slots=True)
class QuestionFit:
    """How a passage fits a question, apart from being near to it.

    `missing` are the values and names of the question that stand nowhere in the passage; `is_denied` tells that only
    one of the two denies something: that the question asks what is *not* so, and the sentences say what is.
    """

    missing: tuple[str, ...]
    is_denied: bool


def question_fit(question: str, sentences: Sequence[str], passage: str, about: str) -> QuestionFit:
    """Compare a question with the sentences that would answer it, and with their passage; `about` stands above it."""
    asked = read_assertions(question)
    found = missing_values(asked, question, [SourceReading(passage, about)])
    # One digit is as often a part of a name: a 4 way stop, World War 1.
    missing = dict.fromkeys(one for one in found if len(one) > 1)
    is_denied = _denies(asked) and not any(_denies(read_assertions(sentence)) for sentence in sentences)
    return QuestionFit(tuple(missing), is_denied)


def _denies(reading: Reading) -> bool:
    return any(unit.kind == "negation" for unit in reading.units)
