"""Choosing the sentences that answer a question, verbatim, from the passages that were found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.rules.columns import columns
from wenyuan.rules.sentences import is_heading, split_sentences, telling_sentences

_WORDS_WEIGHT = 0.35
_NEARLY_AS_GOOD = 0.8
_STATED_WORTH = 1.2
_FIRST_AT_A_TIME = 3
_LONGEST_LEAD = 80
_REPEATING_WORTH = 0.4
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]+\1[:：]?|(\*\*|__)[^*_\n]+[:：]\2")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the passage with that number, by offsets in the passage's text."""

    passage: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    sentence: Sentence
    score: float


def sentences_of(passages: Sequence[str], limit: int) -> list[Sentence]:
    """Up to `limit` sentences of the passages, each in turn giving its next one, the first its next few.

    The passage that was found first is the one that answers, far more often than all the others. Short
    sentences of one line are kept together: alone they say too little. Surrounding white space is cut off;
    headings, and what is too short to say anything, are left out.
    """
    queues = [_sentences(number, text) for number, text in enumerate(passages)]
    taken: list[Sentence] = []
    for turn in range(max((len(queue) for queue in queues), default=0)):
        for number, queue in enumerate(queues):
            size = 1 if number else _FIRST_AT_A_TIME
            taken += queue[turn * size : (turn + 1) * size]
    return sorted(taken[:limit], key=lambda one: (one.passage, one.start))


def opening(number: int, text: str, most_columns: int) -> Sentence:
    """A passage's beginning without its heading, in whole sentences up to about so many columns."""
    spans = split_sentences(text)
    body = [span for span in spans if not is_heading(text[slice(*span)].lstrip())] or spans
    start = end = body[0][0]
    for _, stop in body:
        if end > start and columns(text[start:stop]) > most_columns:
            break
        end = stop
    quoted = text[start:end]
    lead = len(quoted) - len(quoted.lstrip())
    return Sentence(number, start + lead, start + lead + len(quoted.strip()), quoted.strip())


def led_to(sentence: Sentence, text: str, most_columns: int) -> Sentence:
    """A sentence with what it leads to in its passage, if it is a heading of its own or ends in a colon; else itself.

    What follows is taken in whole sentences, up to the next such heading and about so many columns.
    """
    if not _leads(sentence.text):
        return sentence
    end = sentence.end
    for start, stop in split_sentences(text):
        following = text[start:stop].strip()
        if start < sentence.end or not following:
            continue
        if _is_title(following) or columns(text[sentence.end : stop]) > most_columns:
            break
        end = start + len(text[start:stop].rstrip())
    return Sentence(sentence.passage, sentence.start, end, text[sentence.start : end])


def _leads(text: str) -> bool:
    return _is_title(text) or (text.endswith((":", "：")) and columns(text) <= _LONGEST_LEAD)


def _is_title(text: str) -> bool:
    return is_heading(text) or _BOLD_LINE.fullmatch(text) is not None


def _sentences(number: int, text: str) -> list[Sentence]:
    return [Sentence(number, start, end, text[start:end]) for start, end in telling_sentences(text)]


def score(
    sentences: Sequence[Sentence],
    matched: Sequence[float],
    similarities: Sequence[float] | None,
    passage_scores: Sequence[float],
    stated: Sequence[bool],
    repeating: Sequence[bool],
) -> list[ScoredSentence]:
    """Score sentences, best first.

    `matched` is the share of the question's words each sentence holds, weighted by how rare they
    are; `similarities` its cosine similarity to the question, where there is a model;
    `passage_scores` what the search thought of each passage, the best being 1; `stated` whether a
    sentence states a value of the kind that is asked for; `repeating` whether it hardly says more than
    what the question names.
    """
    scored = []
    for position, sentence in enumerate(sentences):
        meaning = similarities[position] if similarities is not None else matched[position]
        base = (meaning + _WORDS_WEIGHT * matched[position]) * (_STATED_WORTH if stated[position] else 1.0)
        base *= _REPEATING_WORTH if repeating[position] else 1.0
        scored.append(ScoredSentence(sentence, base * passage_scores[sentence.passage]))
    return sorted(scored, key=lambda one: (-one.score, one.sentence.passage, one.sentence.start))


def choose(scored: Sequence[ScoredSentence], most: int) -> list[ScoredSentence]:
    """The best sentence, and up to `most` in all of those nearly as good, none of them twice."""
    chosen: list[ScoredSentence] = []
    for one in scored:
        if one.score < scored[0].score * _NEARLY_AS_GOOD or len(chosen) == most:
            break
        if all(one.sentence.text != other.sentence.text for other in chosen):
            chosen.append(one)
    return chosen
