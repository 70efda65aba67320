"""HTML as a stream of tags and text, after the tokenizer of the HTML Standard (section 13.2.5).

A tree is not needed to find paragraphs, headings and tables, and not building one means that
neither depth nor length costs memory, and that every token knows its line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

# What nearly every token is: text, or a tag without a stray quotation mark or angle bracket.
_ORDINARY = re.compile(r"([^<]+)(?=<)|<(/?)([a-zA-Z][^\s/>\"'<]*)((?:[^>\"'<]++|\"[^\"<]*+\"|'[^'<]*+')*+)>")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>\"'<]*)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_LENIENT_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>\"'<]*)([^>]*+)>")
_ATTRIBUTE = re.compile(r"([^\s=/>\"'][^\s=/>]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>][^\s>]*)))?")
_TEXT_ONLY = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.I)
    for name in ("script", "style", "iframe", "noembed", "noframes", "xmp", "textarea", "title")
}
_NEVER_TEXT = frozenset({"script", "style", "iframe", "noembed", "noframes"})

# A tag that does not end within this many characters is broken; after a number of broken ones,
# quotation marks are no longer waited for, so that hostile input cannot make every tag a search.
_LONGEST_TAG = 1 << 22
_MOST_BROKEN_TAGS = 50
_LONGEST_REFERENCE = 40


class Token(NamedTuple):
    """A start tag, an end tag or a piece of text, and the line of its first character.

    `value` is a tag's name in lower case, or text as it stands in the source; `attributes` is the
    source of a start tag's attributes.
    """

    kind: Literal["start", "end", "text"]
    value: str
    attributes: str
    line: int


def attributes(source: str) -> dict[str, str]:
    """Return a start tag's attributes; of two of the same name, the first counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(source):
        found.setdefault(name.lower(), html.unescape(double or single or bare))
    return found


def html_tokens(pieces: Iterable[str], names: frozenset[str]) -> Iterator[Token]:
    """Yield the tokens of a document that comes in pieces: its text, and the tags among `names`.

    Comments, scripts and styles are left out.
    """
    tokenizer = _Tokenizer(names)
    for piece in pieces:
        yield from tokenizer.feed(piece)
    yield from tokenizer.close()


class _Tokenizer:
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._source = ""
        self._more: list[str] = []
        self._more_size = 0
        self._line = 1
        self._is_last = False
        self._text_only = ""
        self._broken_tags = 0

    def feed(self, piece: str) -> Iterator[Token]:
        self._more.append(piece)
        self._more_size += len(piece)
        # A token that is not complete yet is looked at again only after as much again has come.
        if self._more_size >= len(self._source):
            yield from self._tokens()

    def close(self) -> Iterator[Token]:
        self._is_last = True
        yield from self._tokens()

    def _tokens(self) -> Iterator[Token]:
        source = self._source = self._source + "".join(self._more)
        self._more, self._more_size = [], 0
        position, line = 0, self._line
        while position < len(source):
            found = None if self._text_only else _ORDINARY.match(source, position)
            if found is not None:
                end = found.end()
                text, slash, name, attributes_source = found.groups()
                if text:
                    yield Token("text", text, "", line)
                else:
                    name = name.lower()
                    if name in self._names:
                        yield Token("end", name, "", line) if slash else Token("start", name, attributes_source, line)
                    if name in _TEXT_ONLY and not slash:
                        self._text_only = name
            else:
                self._line = line
                end, token = self._next(position)
                if end == position:
                    break
                if token is not None and (token.kind == "text" or token.value in self._names):
                    yield token
            line += source.count("\n", position, end)
            position = end
        self._source, self._line = source[position:], line

    def _next(self, start: int) -> tuple[int, Token | None]:
        """Return where the token at `start` ends, and the token; `start` if more must come first."""
        if self._text_only:
            return self._raw_text(start)
        source = self._source
        if source[start] != "<":
            return self._text(start, source.find("<", start))
        following = source[start + 1 : start + 2]
        if following.isalpha() and following.isascii():
            return self._tag(start)
        if following == "/":
            third = source[start + 2 : start + 3]
            if third.isalpha() and third.isascii():
                return self._tag(start)
            return self._until(start, ">") if third else self._incomplete(start)
        if following in ("!", "?"):
            comment = source.startswith("<!--", start)
            if not comment and not self._is_last and "<!--".startswith(source[start : start + 4]):
                return start, None
            return self._until(start, "-->" if comment else ">")
        if not following and not self._is_last:
            return start, None
        return self._text(start, source.find("<", start + 1))

    def _text(self, start: int, end: int) -> tuple[int, Token | None]:
        if end < 0:
            end = len(self._source)
            reference = self._source.rfind("&", max(start, end - _LONGEST_REFERENCE), end)
            if reference >= 0 and not self._is_last:
                end = reference
        return end, Token("text", self._source[start:end], "", self._line) if end > start else None

    def _tag(self, start: int) -> tuple[int, Token | None]:
        pattern = _TAG if self._broken_tags < _MOST_BROKEN_TAGS else _LENIENT_TAG
        found = pattern.match(self._source, start)
        if found is None:
            if not self._is_last and len(self._source) - start < _LONGEST_TAG:
                return start, None
            self._broken_tags += 1
            found = _LENIENT_TAG.match(self._source, start)
        if found is None:
            return self._text(start, -1)
        slash, name, attributes_source = found.groups()
        name = name.lower()
        if slash:
            return found.end(), Token("end", name, "", self._line)
        if name in _TEXT_ONLY:
            self._text_only = name
        return found.end(), Token("start", name, attributes_source, self._line)

    def _raw_text(self, start: int) -> tuple[int, Token | None]:
        name = self._text_only
        found = _TEXT_ONLY[name].search(self._source, start)
        if found is None and not self._is_last:
            return start, None
        end = found.start() if found else len(self._source)
        self._text_only = ""
        if end == start:
            return self._next(start)
        text = None if name in _NEVER_TEXT else Token("text", self._source[start:end], "", self._line)
        return end, text

    def _until(self, start: int, end: str) -> tuple[int, Token | None]:
        """Skip a comment or declaration."""
        found = self._source.find(end, start + 2)
        return (found + len(end), None) if found >= 0 else self._incomplete(start)

    def _incomplete(self, start: int) -> tuple[int, Token | None]:
        return (len(self._source) if self._is_last else start), None
