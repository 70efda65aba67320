"""Postings and keys: one chunk as what it is found by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from wenyuan.language.aliases import tokens_of, tokens_of_dates
from wenyuan.language.dates.context import Context, dates_below, dates_of_headings
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import Identifier, identifiers
from wenyuan.language.keys import chunk_keys, heading_keys
from wenyuan.language.plain_numbers import number_words
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.language.words import tokens_of_folded
from wenyuan.types import Chunk, Key, Posting


def read_chunk(name: str, chunk: Chunk, vocabulary: Vocabulary = EMPTY) -> tuple[Posting, list[Key]]:
    """What the lexical index keeps of one chunk, by field, and the chunk's keys.

    `name` is the document's. The chunk's context (say, a table's header row) is searched as part of
    its body. The name counts as the outermost heading for dates, but its own are the document's keys.
    The terms of the knowledge base's `vocabulary` get tokens of their own.
    """
    above = _above(name, chunk.heading_path, vocabulary)
    body = searched_body(chunk)
    folded = fold(body)
    dates = dates_below(above.context, body, folded)
    stretches = body.split() if body.isascii() and "\\" not in body else None
    named = identifiers(body, stretches=stretches)
    aliases = tokens_of((*above.of_dates, *tokens_of_dates(dates)), (*above.named, *named), number_words(folded, dates))
    posting = Posting(
        name=above.name,
        heading=above.heading,
        body=tokens_of_folded(folded, vocabulary, stretches),
        alias=" ".join(aliases.tokens),
        alias_overflow=aliases.overflow,
    )
    return posting, chunk_keys(chunk.seq, above.keys, dates, named)


def searched_body(chunk: Chunk) -> str:
    """What of a chunk is searched as its body: its text, and before it its context."""
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


# Names and headings stand above many passages: each is read once.


@dataclass(frozen=True, slots=True)
class _Above:
    """What a document's name and a chunk's headings give to the chunk."""

    name: str
    """The tokens of the name, as those of the headings joined by spaces."""
    heading: str
    context: Context
    of_dates: Sequence[str]
    """Alias tokens."""
    named: Sequence[Identifier]
    keys: Sequence[Key]


@lru_cache(maxsize=4096)
def _above(name: str, headings: tuple[str, ...], vocabulary: Vocabulary) -> _Above:
    dated = dates_of_headings((name, *headings))
    named = [identifier for heading in headings for identifier in identifiers_of_title(heading)]
    return _Above(
        name=tokens_of_title(name, vocabulary),
        heading=" ".join(tokens_of_title(heading, vocabulary) for heading in headings),
        context=dated.context,
        of_dates=tuple(token for mentions in dated.mentions for token in tokens_of_dates(mentions)),
        named=(*identifiers_of_title(name), *named),
        keys=heading_keys(dated.mentions[1:], named),
    )


@lru_cache(maxsize=4096)
def tokens_of_title(title: str, vocabulary: Vocabulary) -> str:
    """The tokens of a name or heading, joined by spaces."""
    return tokens_of_folded(fold(title), vocabulary)


@lru_cache(maxsize=4096)
def identifiers_of_title(title: str) -> tuple[Identifier, ...]:
    """The identifiers of a name or heading."""
    return tuple(identifiers(title))
