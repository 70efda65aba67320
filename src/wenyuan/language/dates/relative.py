"""Relative dates: what a question's 昨天, 去年四月, last Tuesday or two weeks ago means on a given day.

Only questions are read so: when a document says 昨天, nobody knows which day that was.

What stands for a year or a month (去年, 上个月, last year) goes together with what can follow a
written one: 去年四月十四号, 上个月底, Q2 last year, the end of last month. Therefore these words are
replaced by the year or month they mean, and the whole is read like any other date; everything else
(昨天, 上周三, 最近一周, three days ago) is read on its own.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

from wenyuan.language.dates.calendar_units import READING
from wenyuan.language.dates.chinese_relative import chinese_relative_mentions, chinese_replacements
from wenyuan.language.dates.english_relative import english_relative_mentions, english_replacements
from wenyuan.language.dates.mentions import DateMention
from wenyuan.language.folding import FoldedText


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """A folded question with the words for years and months replaced, where that was done, and what they mean alone."""

    folded: FoldedText
    replaced: frozenset[int] = frozenset()
    mentions: tuple[DateMention, ...] = ()

    def is_relative(self, mention: DateMention) -> bool:
        """Whether the mention rests on a replacement."""
        return not self.replaced.isdisjoint(range(mention.start, mention.end))


def with_absolute_dates(folded: FoldedText, now: datetime.date) -> DatedQuestion:
    """Replace the words that stand for a year or a month; every span still leads back to the source."""
    replacements = [*english_replacements(folded.text, now)]
    if not folded.text.isascii():
        replacements += chinese_replacements(folded.text, now)
    if not replacements:
        return DatedQuestion(folded)
    pieces: list[str] = []
    offsets: list[int] = []
    mentions: list[DateMention] = []
    read_to = length = 0
    for (start, end), written, days in sorted(replacements):
        pieces += (folded.text[read_to:start], written)
        offsets += folded.offsets[read_to:start]
        offsets += [folded.offsets[start]] * len(written)
        length += start - read_to + len(written)
        mentions.append(DateMention(length - len(written), length, READING, *days))
        read_to = end
    pieces.append(folded.text[read_to:])
    offsets += folded.offsets[read_to:]
    replaced = frozenset(position for mention in mentions for position in range(mention.start, mention.end))
    return DatedQuestion(FoldedText("".join(pieces), offsets), replaced, tuple(mentions))


def relative_mentions(folded: str, now: datetime.date) -> Iterator[DateMention]:
    """The days, weeks, months and stretches of time that are counted from `now`."""
    yield from english_relative_mentions(folded, now)
    if not folded.isascii():
        yield from chinese_relative_mentions(folded, now)
