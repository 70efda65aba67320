"""Questions: what a question asks for, before anything is looked up."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence

from wenyuan.language.aliases import aliases
from wenyuan.language.dates import read_dates
from wenyuan.language.identifiers import Identifier, located_identifiers, most_specific
from wenyuan.language.keys import slug
from wenyuan.language.scripts import language_of
from wenyuan.language.words import query_tokens
from wenyuan.types import DateSpan, Plan

_quoted = re.compile(
    '“([^“”\n]{1,200})”|「([^「」\n]{1,200})」|『([^『』\n]{1,200})』|《([^《》\n]{1,200})》|"([^"\n]{1,200})"'
)
_exclusions = re.compile(r"(?<=\S)(?:\s[-－][^\s-]{1,64})+\s*$")
_excluded = re.compile(r"[-－](\S+)")
_vowel = re.compile("[aeiouyAEIOUY]")
# What goes on behind a dot is a dotted name (`os.path.join`), not an extension.
_file_name = re.compile(r"[A-Za-z0-9][\w.-]{0,120}\.[A-Za-z][A-Za-z0-9]{1,4}(?![\w-]|\.\w)", re.ASCII)
_talk_of_releases = re.compile(
    "version|release|change|upgrad|updat|fix|new in|版本|发布|發布|更新|升级|升級|修复|修復|日志|日誌", re.IGNORECASE
)


def read_question(question: str, now: datetime.date) -> Plan:
    """Read a question into a plan; `now` says which years a date without one can mean, this and the last.

    `excluded` holds tokens of the terms at the question's end that begin with a hyphen (`pump -valve`).
    The words of a date are not searched for as words: its aliases find every writing of it, and its
    digits would find everything else.
    """
    asked, excluded_terms = _without_exclusions(question)
    reading = read_dates(asked, (now.year, now.year - 1), asked=True)
    located = list(located_identifiers(asked))
    named = [identifier for identifier, _, _ in located]
    phrases = _phrases(asked)
    notes = [f"impossible-date: {words}" for words in reading.impossible]
    notes += [f"excluded: {term}" for term in excluded_terms]
    return Plan(
        question=question,
        asked=asked,
        tokens=tuple(_tokens(asked, reading.spans, located)),
        aliases=aliases(asked, asked=True).tokens,
        dates=reading.spans,
        versions=_once(_versions(asked, named)),
        codes=_once(i.value for i in named if i.kind == "code" and i.is_telling),
        phrases=phrases,
        excluded=_once(_excluded_token(term) for term in excluded_terms),
        notes=tuple(notes),
        language=_language(asked),
        names=_names(asked, phrases),
    )


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _without_exclusions(question: str) -> tuple[str, list[str]]:
    """The question, and the terms at its end that begin with a hyphen and are words.

    A Latin one needs three letters and a vowel: `-r` and `-xzf` are options of a command.
    """
    tail = _exclusions.search(question)
    terms = _excluded.findall(tail[0]) if tail else []
    if not tail or not all(_is_word(term) for term in terms):
        return question, []
    return question[: tail.start()], terms


def _is_word(term: str) -> bool:
    if not term.isascii():
        return term.isalpha()
    usual_case = term.islower() or term.istitle() or term.isupper()
    return term.isalpha() and len(term) > 2 and usual_case and _vowel.search(term) is not None


def _excluded_token(term: str) -> str:
    """The one token that stands for a term: the word, or the pair in the middle of a Han term.

    Excluding every pair would exclude far more than was asked; the middle one, which mostly joins
    two words (健康体检: 康体), hardly occurs elsewhere.
    """
    tokens = query_tokens(term)
    if not tokens:
        return ""
    return tokens[0] if term.isascii() else tokens[len(tokens) // 2]


def _phrases(asked: str) -> tuple[str, ...]:
    found = (next(group for group in match.groups() if group) for match in _quoted.finditer(asked))
    return _once(phrase.strip() for phrase in found)


def _tokens(asked: str, dates: Sequence[DateSpan], located: Sequence[tuple[Identifier, int, int]]) -> list[str]:
    kept = list(asked)
    for date in dates:
        is_day = date.last_day - date.first_day < 31
        also_named = any(start < date.end and date.start < end for _, start, end in located)
        if is_day and not also_named:
            kept[date.start : date.end] = " " * (date.end - date.start)
    words = "".join(kept)
    return query_tokens(words) if words.strip() else []


def _versions(asked: str, named: Sequence[Identifier]) -> Iterable[str]:
    """Versions; a number like 3.11 counts as one only where the question speaks of releases."""
    kinds = ("version", "decimal") if _talk_of_releases.search(asked) else ("version",)
    return (identifier.value for identifier in most_specific(named) if identifier.kind in kinds)


def _names(asked: str, phrases: Sequence[str]) -> tuple[str, ...]:
    """What may be a file's name or a title: names with an extension, phrases, the whole question."""
    files = _file_name.findall(asked)
    stems = [name.rpartition(".")[0] for name in files]
    return _once(slug(text) for text in (*files, *stems, *phrases, asked))


def _language(asked: str) -> str:
    language = language_of(asked)
    return language if language in ("zh", "en") else "other"
