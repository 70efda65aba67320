"""Exclusions: the terms at a question's end that begin with a hyphen (`pump -valve`, 泵 -密封 -轴承)."""

from __future__ import annotations

import re
from unicodedata import normalize

from wenyuan.language.identifiers import Identifier, is_designator, located_identifiers, most_specific
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.language.words import query_tokens

_LONGEST_TERM = 64
_LEAST_DIGITS_BEHIND_ONE_LETTER = 4
_KINDS = ("code", "version", "name")

_quoted = re.compile(r"""^["“”「『'‘](.+)["“”」』'’]$""")
_vowel = re.compile("[aeiouy]", re.IGNORECASE)
_letters = re.compile("[A-Za-z]+")
_joint = re.compile("[-_]")
# `-h127.0.0.1` names a host; only a v stands before a version.
_option_with_address = re.compile("[A-UW-Za-uw-z]")
# A word within a compound name: MessageHistory, message-history, MAX_RETRY_COUNT.
_word_within = re.compile("[A-Z]?[a-z]{2,}|(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])")


def without_exclusions(question: str) -> tuple[str, list[str]]:
    """The question without the terms at its end that it excludes, and these terms.

    A term is excluded if it is a word, a code, a version or a compound name, and unlike an option of
    a command (`-r`, `-xzf`, `-fsSL`, `-n3`); one that is not makes all of them part of the question.
    """
    rest, terms = question, list[str]()
    while len(parts := rest.rsplit(None, 1)) == 2 and parts[1][0] in "-－":
        rest = parts[0]
        terms.insert(0, _quoted.sub(r"\1", parts[1][1:]))
    return (rest, terms) if terms and all(map(_can_be_excluded, terms)) else (question, [])


def excluded_token(term: str, vocabulary: Vocabulary) -> str:
    """The one token of the lexical index that stands for an excluded term.

    Of a code, version or compound name it is the one in which all its writings meet. Of a term in two
    scripts (redis集群) it is the Latin word, which is said of less than the other part. Of a Han term
    it is the pair in the middle: excluding every pair would exclude far more than was asked; the
    middle one, which mostly joins two words (健康体检: 康体), hardly occurs elsewhere.
    """
    tokens = query_tokens(term, vocabulary)
    if identifier := _identifier_in(normalize("NFKC", term)):
        return identifier.tokens[0]
    if not tokens:
        return ""
    words = [token for token in tokens if token.isascii() and len(token) > 1]
    if words:
        return words[0] if term.isascii() else max(words, key=len)
    others = [token for token in tokens if not token.isascii()] or tokens
    return others[len(others) // 2]


def _can_be_excluded(written: str) -> bool:
    term = normalize("NFKC", written)
    if not term or term[0] == "-" or len(term) > _LONGEST_TERM:
        return False
    if not term.isascii() and term.isalpha():
        return True
    return _is_latin_word(term) or _identifier_in(term) is not None


def _is_latin_word(term: str) -> bool:
    """Whether a term is a word of three letters or more, with a vowel, in usual case."""
    return term.isalpha() and len(term) > 2 and _has_usual_case(term) and _vowel.search(term) is not None


def _identifier_in(term: str) -> Identifier | None:
    """The code, version or compound name that a term in ASCII is as a whole, or that another one holds."""
    found = [
        identifier
        for identifier, start, end in located_identifiers(term)
        if (end - start == len(term) or not term.isascii()) and _is_name_of_something(identifier, term[start:end])
    ]
    return min(most_specific(found), key=lambda identifier: _KINDS.index(identifier.kind), default=None)


def _is_name_of_something(identifier: Identifier, written: str) -> bool:
    """Whether this is no option of a command by its looks."""
    if identifier.kind == "version":
        return "." in identifier.value and not _option_with_address.match(written)
    if identifier.kind == "name":
        return any(len(word) > 2 and _vowel.search(word) for word in _word_within.findall(written))
    return identifier.kind == "code" and identifier.is_telling and _is_code_by_its_looks(written)


def _is_code_by_its_looks(written: str) -> bool:
    """Whether letters and digits look like `PPR-1044`, `ppr1044` or `E1001`, not like `n100`, `Xmx512m` or `sha256`."""
    letters = _letters.match(written)
    if letters is None or not _has_usual_case(written):
        return False
    if _joint.search(written):
        return written.isupper() or is_designator(letters[0].lower()) or written[-1].isdigit()
    if len(letters[0]) == 1:
        return written.isupper() and sum(map(str.isdigit, written)) >= _LEAST_DIGITS_BEHIND_ONE_LETTER
    return written.isupper() or is_designator(letters[0].lower())


def _has_usual_case(written: str) -> bool:
    return written.islower() or written.istitle() or written.isupper()
