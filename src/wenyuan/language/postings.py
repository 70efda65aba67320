"""Postings: one chunk as the tokens by which it is found."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.language.aliases import aliases
from wenyuan.language.words import index_tokens
from wenyuan.types import Posting


def posting(name: str, heading_path: Sequence[str], text: str, context: str) -> Posting:
    """What the lexical index keeps of one chunk, by field.

    `name` is the document's, `heading_path` and `context` the chunk's own. The context (say, a
    table's header row) is searched as part of the body.
    """
    heading = "\n".join(heading_path)
    body = f"{context}\n{text}" if context else text
    return Posting(
        name=" ".join(index_tokens(name)),
        heading=" ".join(index_tokens(heading)),
        body=" ".join(index_tokens(body)),
        alias=" ".join(aliases("\n".join((name, heading, body))).tokens),
    )
