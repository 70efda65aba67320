"""Aliases: canonical tokens in which any two writings of one thing meet.

They stand beside a text's words in the lexical index, never in the text itself. `§`, which no word
holds, marks what must not be confused with a word: `§d20260414` a day, `§m202604` a month, `§y2026` a
year, `§v1．2．3` a version, `§cppr9087` a code. A compound name gives plain words, since it shall meet
them: joined (`messagehistory`) and, where its writing hides them, its parts. A number gives its plain
digits as a word, since that is what it shall meet: 12万 gives `120000`. An option of a command keeps
its hyphens (`－－recursive`), which no word has.

A date without a year must meet every year's, and yet two years must not meet each other. Therefore a
day gives a day of the year too (`§a0414`), and only one without a year gives the open day `§o0414`:

    text says     is indexed under                         is asked for by
    2026-04-14    §d20260414 §a0414 (and §m202604 §y2026)  §d20260414 §o0414
    四月十四号    §a0414 §o0414                            §a0414
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain

from wenyuan.language.dates.mentions import DateMention
from wenyuan.language.dates.resolving import date_mentions
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import Identifier, identifiers
from wenyuan.language.plain_numbers import number_words
from wenyuan.language.words import encode_token

LIMIT = 256

_LONGEST_RANGE_DAYS = 31
_LONGEST_RANGE_MONTHS = 24
_LONGEST_RANGE_YEARS = 50
_LONGEST_ASKED = 3
_ORDER = {"version": 0, "code": 1, "option": 2, "name": 3, "decimal": 4}


@dataclass(frozen=True, slots=True)
class Aliases:
    """Canonical tokens, each once, the surest kinds first; `overflow` counts those beyond the limit."""

    tokens: tuple[str, ...]
    overflow: int


def aliases(text: str, limit: int = LIMIT, *, asked: bool = False) -> Aliases:
    """The canonical tokens of a text; `asked` when it is a question.

    A question asks for what it says and no more: for a day, not for its month and year, which the
    index side adds so that a question for the month finds the day. In a question, codes in two
    words count in lower case too (`ppr 9087`).
    """
    folded = fold(text)
    mentions = date_mentions(text, folded)
    of_dates = tokens_of_dates(mentions, asked=asked)
    return tokens_of(of_dates, identifiers(text, any_case=asked), number_words(folded, mentions), limit)


def tokens_of(
    of_dates: Sequence[str], named: Sequence[Identifier], numbers: Iterable[str], limit: int = LIMIT
) -> Aliases:
    """The tokens of dates, and of identifiers and numbers that have been read already."""
    of_numbers = list(map(encode_token, numbers))
    tokens = _each_once(of_dates, named, of_numbers)
    if len(tokens) > limit:
        tokens = _each_once(of_dates, sorted(named, key=lambda identifier: _ORDER[identifier.kind]), of_numbers)
    return Aliases(tokens[:limit], max(0, len(tokens) - limit))


def _each_once(of_dates: Iterable[str], named: Iterable[Identifier], of_numbers: Iterable[str]) -> tuple[str, ...]:
    of_named = chain.from_iterable(identifier.tokens for identifier in named)
    return tuple(dict.fromkeys(chain(of_dates, of_named, of_numbers)))


def tokens_of_dates(mentions: Iterable[DateMention], *, asked: bool = False) -> list[str]:
    """The tokens of several dates, in their order."""
    return [token for mention in mentions for token in date_tokens(mention, asked=asked)]


def date_tokens(mention: DateMention, *, asked: bool) -> tuple[str, ...]:
    """The tokens of one date.

    A document's range gives everything it covers, as far as that is short. A question's long range
    gives its ends only: the words of the question must not drown in days.
    """
    return _tokens(mention._replace(start=0, end=0, reading=""), asked)


# The same dates stand above many passages, and in many of them.
@lru_cache(maxsize=1 << 14)
def _tokens(mention: DateMention, asked: bool) -> tuple[str, ...]:
    return tuple(_each_token(mention, asked))


def _each_token(mention: DateMention, asked: bool) -> Iterator[str]:
    days = mention.days()
    if days is None:
        return
    first, last = date.fromordinal(days[0]), date.fromordinal(days[1])
    to_day = mention.first.day is not None or mention.last.day is not None
    in_months = mention.first.month is not None or mention.last.month is not None
    if to_day:
        every = range(days[0], days[1] + 1)
        for ordinal in every if len(every) <= _LONGEST_RANGE_DAYS else days:
            yield from _day_tokens(date.fromordinal(ordinal), mention.is_open, asked)
    if mention.is_open or (asked and to_day):
        return
    if in_months:
        months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
        yield from (f"§m{m // 12:04}{m % 12 + 1:02}" for m in _covered(months, _LONGEST_RANGE_MONTHS, asked))
    if not (asked and in_months):
        years = range(first.year, last.year + 1)
        yield from (f"§y{year:04}" for year in _covered(years, _LONGEST_RANGE_YEARS, asked))


def _covered(units: range, longest: int, asked: bool) -> Iterable[int]:
    """All units of a range, or its two ends where it is long, or asked for."""
    return units if len(units) <= (_LONGEST_ASKED if asked else longest) else (units[0], units[-1])


def _day_tokens(day: date, is_open: bool, asked: bool) -> Iterator[str]:
    if not is_open:
        yield f"§d{day:%Y%m%d}"
    if is_open or not asked:
        yield f"§a{day:%m%d}"
    if is_open != asked:
        yield f"§o{day:%m%d}"
