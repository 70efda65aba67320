"""Changing a vocabulary: terms and groups of synonyms come and go, each once, whatever their writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wenyuan.errors import InvalidValue
from wenyuan.language.vocabulary import Vocabulary, folded_term


def with_terms(words: Vocabulary, terms: Sequence[str]) -> Vocabulary:
    """The vocabulary with more terms; those it has already stay as they are. Raises `InvalidValue`."""
    known = {folded_term(term): term for term in words.terms}
    for term in terms:
        known.setdefault(folded_term(term), term.strip())
    return replace(words, terms=tuple(known.values()))


def without_terms(words: Vocabulary, terms: Sequence[str]) -> Vocabulary:
    """The vocabulary without these terms. Raises `InvalidValue` for one that it does not have."""
    known = {folded_term(term): term for term in words.terms}
    for term in terms:
        if known.pop(folded_term(term), None) is None:
            raise InvalidValue(what="A term to remove", value=term, reason="the dictionary does not have it")
    return replace(words, terms=tuple(known.values()))


def with_synonyms(words: Vocabulary, groups: Sequence[Sequence[str]]) -> Vocabulary:
    """The vocabulary with more groups of synonyms; a group it has already stays as it is. Raises `InvalidValue`."""
    known = {_group(group): tuple(group) for group in words.synonyms}
    for group in groups:
        known.setdefault(_group(group), tuple(synonym.strip() for synonym in group))
    return replace(words, synonyms=tuple(known.values()))


def without_synonyms(words: Vocabulary, groups: Sequence[Sequence[str]]) -> Vocabulary:
    """The vocabulary without these groups, each named whole. Raises `InvalidValue` for one that it does not have."""
    known = {_group(group): group for group in words.synonyms}
    for group in groups:
        if known.pop(_group(group), None) is None:
            raise InvalidValue(what="A group to remove", value="=".join(group), reason="there is none of exactly these")
    return replace(words, synonyms=tuple(known.values()))


def _group(synonyms: Sequence[str]) -> frozenset[str]:
    return frozenset(map(folded_term, synonyms))
