"""Postings: one chunk as the tokens by which it is found."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.language.aliases import tokens_of
from wenyuan.language.date_context import dates_of_chunk
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import identifiers
from wenyuan.language.words import index_tokens, tokens_of_folded
from wenyuan.types import Posting


def posting(name: str, heading_path: Sequence[str], text: str, context: str) -> Posting:
    """What the lexical index keeps of one chunk, by field.

    `name` is the document's, `heading_path` and `context` the chunk's own. The context (say, a
    table's header row) is searched as part of the body.
    """
    body = f"{context}\n{text}" if context else text
    folded_body = fold(body)
    titles = (name, *heading_path)
    dates = dates_of_chunk(titles, body, folded_body)
    named = identifiers("\n".join((*titles, body)))
    return Posting(
        name=" ".join(index_tokens(name)),
        heading=" ".join(index_tokens("\n".join(heading_path))),
        body=" ".join(tokens_of_folded(folded_body)),
        alias=" ".join(tokens_of((*dates.in_headings, *dates.in_text), named).tokens),
    )
