"""What a reader yields, sorted: blocks are cut into chunks, facts and notices are kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from wenyuan.language.folding import fold
from wenyuan.language.scripts import language_of
from wenyuan.rules.chunking import Chunker, Fed
from wenyuan.rules.quality import TextMeasures
from wenyuan.types import Block, Chunk, Facts, Member, Notice, ReadEvent, TableRows

_LONGEST_HEADING = 200
_OPENING_CHARACTERS = 1000
# Shorter blocks say little about the language of a file.
_TELLING_CHARACTERS = 40


@dataclass(slots=True)
class Reading:
    """What has been learnt of a file so far."""

    facts: Facts = field(default_factory=lambda: Facts(""))
    notices: list[Notice] = field(default_factory=list)
    blocks: Counter[str] = field(default_factory=Counter)
    measures: TextMeasures = field(default_factory=TextMeasures)
    languages: set[str] = field(default_factory=set)
    opening: str = ""

    def whole(self) -> Facts:
        """The facts at the end of the file, with the language it is in and what was counted."""
        counted = {**self.facts.quality, **self.measures.counted()}
        if self.blocks["heading"]:
            counted["headings"] = self.blocks["heading"]
        if self.languages:
            counted["languages"] = sorted(self.languages - {"other"})
        return replace(self.facts, language=self.facts.language or language_of(self.opening), quality=counted)

    def take(self, text: str) -> None:
        """Count what is in a piece of the file's text."""
        self.measures.feed(text)
        if len(self.opening) < _OPENING_CHARACTERS:
            self.opening += text[:_OPENING_CHARACTERS]
        if len(text) >= _TELLING_CHARACTERS:
            self.languages.add(language_of(text[:_OPENING_CHARACTERS]))


class TitleAbove:
    """Puts a document's title above its chunks, unless their first heading says the same."""

    def __init__(self, title: str) -> None:
        self._title = " ".join(title.split())[:_LONGEST_HEADING]
        self._folded = fold(self._title)
        self._said_by: dict[str, bool] = {}

    def __call__(self, chunk: Chunk) -> Chunk:
        path = chunk.heading_path
        if not self._folded or (path and self._is_said_by(path[0])):
            return chunk
        return replace(chunk, heading_path=(self._title, *path))

    def _is_said_by(self, heading: str) -> bool:
        said = self._said_by.get(heading)
        if said is None:
            folded = fold(heading)
            said = _stands_in(folded, self._folded) or _stands_in(self._folded, folded)
            # One heading stands above many chunks in a row; many headings are not worth remembering.
            self._said_by = {heading: said}
        return said


def _stands_in(words: str, text: str) -> bool:
    """Whether these words are in the text; within a Latin word they are not ("it" in "security")."""
    bounded = rf"(?<![a-z0-9]){re.escape(words)}(?![a-z0-9])" if words.isascii() else re.escape(words)
    return bool(words) and re.search(bounded, text) is not None


def cut(
    events: Iterable[ReadEvent], chunker: Chunker, reading: Reading, title: str = ""
) -> Iterator[Fed | Member | TableRows]:
    """Yield the file's text piece by piece, each with the chunks it completed; files inside and rows as they come.

    The title stands above all of them: the one given, else the one that is known before the first
    block. A title that is only found among the blocks is a heading of theirs already.
    """
    above: TitleAbove | None = None
    for event in events:
        if isinstance(event, Block):
            above = above or TitleAbove(title or reading.facts.title)
            reading.blocks[event.kind] += 1
            text, chunks = chunker.feed(event)
            reading.take(text)
            yield Fed(text, [above(chunk) for chunk in chunks])
        elif isinstance(event, Facts):
            reading.facts = event
        elif isinstance(event, Member | TableRows):
            yield event
        else:
            reading.notices.append(event)
    last = chunker.finish()
    yield Fed("", [above(chunk) for chunk in last] if above is not None else last)
