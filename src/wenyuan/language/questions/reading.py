"""Questions: what a question asks for, before anything is looked up."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence

from wenyuan.language.aliases import tokens_of, tokens_of_dates
from wenyuan.language.dates.questions import question_dates
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import Identifier, identifiers, located_identifiers, most_specific
from wenyuan.language.keys import slug
from wenyuan.language.plain_numbers import number_words
from wenyuan.language.questions.exclusions import excluded_token, without_exclusions
from wenyuan.language.questions.expansion import expanded_tokens
from wenyuan.language.questions.file_names import file_names
from wenyuan.language.scripts import language_of
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.language.words import query_tokens
from wenyuan.types import Plan

_quoted = re.compile(
    '“([^“”\n]{1,200})”|「([^「」\n]{1,200})」|『([^『』\n]{1,200})』|《([^《》\n]{1,200})》|["＂]([^"＂\n]{1,200})["＂]'
)
_talk_of_releases = re.compile(
    "version|release|change|upgrad|updat|fix|new in|版本|发布|發布|更新|升级|升級|修复|修復|日志|日誌", re.IGNORECASE
)


def read_question(question: str, now: datetime.date, vocabulary: Vocabulary = EMPTY) -> Plan:
    """Read a question into a plan; `now` is the day it is asked on, from which 昨天 and last month are counted.

    `excluded` holds tokens of the terms at the question's end that begin with a hyphen (`pump -valve`).
    The words of a date are not searched for as words: its aliases find every writing of it, and its
    digits would find everything else. Terms of the `vocabulary` are asked for whole, and a word with
    synonyms for these too.
    """
    asked, excluded_terms = without_exclusions(question)
    dates = question_dates(asked, now)
    located = list(located_identifiers(asked))
    numbers = number_words(fold(_blanked(asked, ((date.start, date.end) for date in dates.spans))), ())
    named = [identifier for identifier, _, _ in located]
    phrases = _phrases(asked)
    notes = [f"impossible-date: {words}" for words in dates.impossible]
    notes += [f"excluded: {term}" for term in excluded_terms]
    return Plan(
        question=question,
        asked=asked,
        tokens=_once((*_tokens(asked, dates.answered, located, vocabulary), *expanded_tokens(asked, vocabulary))),
        aliases=tokens_of(
            tokens_of_dates(dates.mentions, asked=True), list(identifiers(asked, any_case=True)), numbers
        ).tokens,
        dates=dates.spans,
        versions=_once(_versions(asked, named)),
        codes=_once(i.value for i in named if i.kind == "code" and i.is_telling),
        phrases=phrases,
        excluded=_once(excluded_token(term, vocabulary) for term in excluded_terms),
        notes=tuple(notes),
        language=_language(asked),
        names=_names(asked, phrases),
        as_of=dates.as_of,
    )


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _phrases(asked: str) -> tuple[str, ...]:
    found = (next(group for group in match.groups() if group) for match in _quoted.finditer(asked))
    return _once(phrase.strip() for phrase in found)


def _tokens(
    asked: str,
    dates: Iterable[tuple[int, int]],
    located: Sequence[tuple[Identifier, int, int]],
    vocabulary: Vocabulary,
) -> list[str]:
    named = [(start, end) for _, start, end in located]
    words = _blanked(asked, (date for date in dates if not any(a < date[1] and date[0] < b for a, b in named)))
    return query_tokens(words, vocabulary) if words.strip() else []


def _blanked(asked: str, places: Iterable[tuple[int, int]]) -> str:
    kept = list(asked)
    for start, end in places:
        kept[start:end] = " " * (end - start)
    return "".join(kept)


def _versions(asked: str, named: Sequence[Identifier]) -> Iterable[str]:
    """Versions; a number like 3.11 counts as one only where the question speaks of releases."""
    kinds = ("version", "decimal") if _talk_of_releases.search(asked) else ("version",)
    return (identifier.value for identifier in most_specific(named) if identifier.kind in kinds)


def _names(asked: str, phrases: Sequence[str]) -> tuple[str, ...]:
    """What may be a file's name or a title: names with an extension, phrases, the whole question."""
    files = list(file_names(fold(asked)))
    stems = [name.rpartition(".")[0] for name in files]
    return _once(slug(text) for text in (*files, *stems, *phrases, asked))


def _language(asked: str) -> str:
    language = language_of(asked)
    return language if language in ("zh", "en") else "other"
