"""Postings and keys: one chunk as what it is found by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from wenyuan.language.aliases import Aliases, tokens_of
from wenyuan.language.date_context import DatedText, dates_of_chunk
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import Identifier, identifiers
from wenyuan.language.keys import chunk_keys
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
    body = searched_body(chunk)
    folded_body = fold(body)
    headings = chunk.heading_path
    dates = dates_of_chunk((name, *headings), body, folded_body)
    stretches = body.split() if body.isascii() and "\\" not in body else None
    in_name, in_body = identifiers_of_title(name), identifiers(body, stretches=stretches)
    in_headings = [identifier for heading in headings for identifier in identifiers_of_title(heading)]
    aliases = _aliases(dates, (*in_name, *in_headings, *in_body), number_words(folded_body, dates.in_text))
    posting = Posting(
        name=tokens_of_title(name, vocabulary),
        heading=" ".join(tokens_of_title(heading, vocabulary) for heading in headings),
        body=tokens_of_folded(folded_body, vocabulary, stretches),
        alias=" ".join(aliases.tokens),
        alias_overflow=aliases.overflow,
    )
    below_name = DatedText(dates.in_headings[1:], dates.in_text)
    return posting, chunk_keys(chunk.seq, below_name, in_headings, in_body)


def searched_body(chunk: Chunk) -> str:
    """What of a chunk is searched as its body: its text, and before it its context."""
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


def _aliases(dates: DatedText, named: Sequence[Identifier], numbers: Sequence[str]) -> Aliases:
    mentions = (mention for mentions in (*dates.in_headings, dates.in_text) for mention in mentions)
    return tokens_of(mentions, named, numbers)


# Names and headings stand above many passages: each is read once.


@lru_cache(maxsize=4096)
def tokens_of_title(title: str, vocabulary: Vocabulary) -> str:
    """The tokens of a name or heading, joined by spaces."""
    return tokens_of_folded(fold(title), vocabulary)


@lru_cache(maxsize=4096)
def identifiers_of_title(title: str) -> tuple[Identifier, ...]:
    """The identifiers of a name or heading."""
    return tuple(identifiers(title))
