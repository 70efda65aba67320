"""Postings and keys: one chunk as what it is found by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from wenyuan.language.aliases import Aliases, tokens_of
from wenyuan.language.date_context import DatedText, dates_of_chunk
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import Identifier, identifiers
from wenyuan.language.keys import chunk_keys
from wenyuan.language.words import index_tokens, tokens_of_folded
from wenyuan.types import Chunk, Key, Posting


def read_chunk(name: str, chunk: Chunk) -> tuple[Posting, list[Key]]:
    """What the lexical index keeps of one chunk, by field, and the chunk's keys.

    `name` is the document's. The chunk's context (say, a table's header row) is searched as part of
    its body. The name counts as the outermost heading for dates, but its own are the document's keys.
    """
    body = f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text
    folded_body = fold(body)
    headings = chunk.heading_path
    dates = dates_of_chunk((name, *headings), body, folded_body)
    in_name, in_body = _of_title(name), identifiers(body)
    in_headings = [identifier for heading in headings for identifier in _of_title(heading)]
    aliases = _aliases(dates, (*in_name, *in_headings, *in_body))
    posting = Posting(
        name=_tokens_of_title(name),
        heading=" ".join(map(_tokens_of_title, headings)),
        body=" ".join(tokens_of_folded(folded_body)),
        alias=" ".join(aliases.tokens),
        alias_overflow=aliases.overflow,
    )
    below_name = DatedText(dates.in_headings[1:], dates.in_text)
    return posting, chunk_keys(chunk.seq, below_name, in_headings, in_body)


def _aliases(dates: DatedText, named: Sequence[Identifier]) -> Aliases:
    mentions = (mention for mentions in (*dates.in_headings, dates.in_text) for mention in mentions)
    return tokens_of(mentions, named)


# Names and headings stand above many passages: each is read once.


@lru_cache(maxsize=4096)
def _tokens_of_title(title: str) -> str:
    return " ".join(index_tokens(title))


@lru_cache(maxsize=4096)
def _of_title(title: str) -> tuple[Identifier, ...]:
    return tuple(identifiers(title))
