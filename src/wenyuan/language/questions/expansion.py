"""Expansion: a question that says one of several synonyms asks for the others too."""

from __future__ import annotations

from wenyuan.language.folding import fold
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.language.words import query_tokens


def expanded_tokens(text: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The tokens of the synonyms that a question could have said instead, without those it asks for anyway."""
    synonyms = vocabulary.other_synonyms(fold(text))
    found = dict.fromkeys(token for synonym in synonyms for token in query_tokens(synonym, vocabulary))
    asked = set(query_tokens(text, vocabulary)) if found else set()
    return tuple(token for token in found if token not in asked)
