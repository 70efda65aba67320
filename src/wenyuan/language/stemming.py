"""Light English stemming: the inflections of a word become one token.

Plurals after Harman, "How Effective Is Suffixing?" (JASIS 42, 1991), the S stemmer; then -ing, -ed
and -ly, a final e and a doubled consonant, as in step 1 of Porter, "An algorithm for suffix
stripping" (Program 14, 1980). What comes out need not be a word; it must only be the same for all
forms of one. Names and code are mostly left alone: words with digits, with other letters than a to
z, of fewer than four letters, and those in -is, -us and -ss (redis, status, class).
"""

from __future__ import annotations

_VOWELS = frozenset("aeiouy")
_SIBILANT_PLURALS = ("sses", "shes", "ches", "xes", "zes")
_ENDINGS = ("ing", "ed", "ly")


def stem(word: str) -> str:
    """The stem of a folded word."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    if word[-1] == "s":
        if word[-2] in "usi":
            return word
        word = _singular(word)
    word = _without_ending(word)
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    if len(word) > 4 and word[-1] in "ey":
        return word[:-1] + ("i" if word[-1] == "y" else "")
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(_SIBILANT_PLURALS):
        return word[:-2]
    return word[:-1]


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        kept = word[: -len(ending)]
        if word.endswith(ending) and len(kept) >= 3 and not _VOWELS.isdisjoint(kept) and not word.endswith("eed"):
            return kept
    return word
