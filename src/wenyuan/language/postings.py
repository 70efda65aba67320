"""Postings: one chunk as the tokens by which it is found."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.language.aliases import aliases_of_folded
from wenyuan.language.folding import fold
from wenyuan.language.words import tokens_of_folded
from wenyuan.types import Posting


def posting(name: str, heading_path: Sequence[str], text: str, context: str) -> Posting:
    """What the lexical index keeps of one chunk, by field.

    `name` is the document's, `heading_path` and `context` the chunk's own. The context (say, a
    table's header row) is searched as part of the body.
    """
    fields = (name, "\n".join(heading_path), f"{context}\n{text}" if context else text)
    folded = tuple(fold(field) for field in fields)
    name_tokens, heading_tokens, body_tokens = (" ".join(tokens_of_folded(field)) for field in folded)
    found = aliases_of_folded("\n".join(fields), "\n".join(folded))
    return Posting(name_tokens, heading_tokens, body_tokens, " ".join(found.tokens))
