"""Keys: what of a document can be looked up rather than guessed: its dates, versions, codes and names.

- date: the value is in ISO 8601 (`2026-04-14`, `2026-04`, `2026`, ranges with a slash), and
  `first_day` and `last_day` bound it. A date without a year (四月十四号) has the value `--04-14` and
  lies in `dates.mentions.OPEN_YEAR`, as it does in every question for such a day, with a year or
  without; so one comparison, overlap of intervals, lets them all meet.
- version, code: the value is that of `identifiers` (`1.2.3`, `ppr9087`).
- name: the value is a `slug`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from wenyuan.language.dates.mentions import DateMention, PartialDate
from wenyuan.language.dates.resolving import date_mentions
from wenyuan.language.folding import fold
from wenyuan.language.identifiers import Identifier, identifiers, most_specific
from wenyuan.types import Key, KeySource

_MOST_KEYS_OF_A_CHUNK = 128
_LONGEST_SLUG = 128
_LONGEST_METADATA = 2000
_MOST_ITEMS = 50

_date_field = re.compile("date|time|year|created|modified|updated|published|issued|sent|received|日期|时间|年份")
_version_field = re.compile("version|release|版本")
_code_field = re.compile("code|number|identifier|^id$|编号|文号|代码|号码")
_name_field = re.compile("(?:title|name|slug|permalink|alias(?:es)?|标题|名称|别名)$")
_slug_word = re.compile(r"[^\W_]+")
_year_alone = re.compile("[12][0-9]{3}")


def document_keys(name: str, title: str, metadata: Mapping[str, Any]) -> tuple[Key, ...]:
    """The keys of a document as a whole, each once; their `seq` is None.

    `name` is the file's name. A metadata field is read for what its own name promises: dates in
    `date`, `sent` or 发布日期, and so on for versions, codes and names.
    """
    keys: dict[Key, None] = {}
    for field, value in metadata.items():
        keys.update(dict.fromkeys(_metadata_keys(fold(str(field)), value)))
    whole: tuple[tuple[str, KeySource], ...] = ((name, "filename"), (title, "title"))
    for text, source in whole:
        keys.update(dict.fromkeys(_date_keys(date_mentions(text, fold(text)), source, None)))
        keys.update(dict.fromkeys(_identifier_keys(identifiers(text), source, None)))
        keys.update(dict.fromkeys(_name_keys(text, source)))
    keys.update(dict.fromkeys(_name_keys(name.rpartition(".")[0], "filename")))
    return tuple(keys)


def heading_keys(dates: Iterable[Iterable[DateMention]], named: Sequence[Identifier]) -> tuple[Key, ...]:
    """The keys of the headings above a chunk, each once, from what was read in them; their `seq` is None."""
    found = chain(_date_keys(chain.from_iterable(dates), "heading", None), _identifier_keys(named, "heading", None))
    return tuple(islice(dict.fromkeys(found), _MOST_KEYS_OF_A_CHUNK))


def chunk_keys(seq: int, above: Sequence[Key], dates: Sequence[DateMention], named: Sequence[Identifier]) -> list[Key]:
    """The keys of one chunk, each once: those of its headings, and those of what was read in its text."""
    keys = [Key(key.kind, key.value, key.source, seq, key.first_day, key.last_day) for key in above]
    if dates or named:
        found = chain(_date_keys(dates, "body", seq), _identifier_keys(named, "body", seq))
        keys += islice(dict.fromkeys(found), _MOST_KEYS_OF_A_CHUNK - len(keys))
    return keys


def slug(text: str) -> str:
    """The words of a name, folded and joined by hyphens: `Release Notes (v2).md` is `release-notes-v2-md`."""
    return "-".join(_slug_word.findall(fold(text)))[:_LONGEST_SLUG].rstrip("-")


def date_value(mention: DateMention) -> str:
    """The date in ISO 8601, a range as `first/last`, a day of an open year as `--04-14`."""
    return _value(mention.first, mention.last)


# The same dates stand above many passages, and in many of them.
@lru_cache(maxsize=1 << 14)
def _value(first: PartialDate, last: PartialDate) -> str:
    return _iso(first) if first == last else f"{_iso(first)}/{_iso(last)}"


def _iso(date: PartialDate) -> str:
    year = f"{date.year:04}" if date.year is not None else "-"
    return "-".join([year, *(f"{part:02}" for part in (date.month, date.day) if part is not None)])


def _metadata_keys(field: str, value: Any) -> Iterator[Key]:
    for text in _texts(value):
        if _date_field.search(field):
            text_of_year = f"{text}年" if _year_alone.fullmatch(text) else text
            yield from _date_keys(date_mentions(text_of_year, fold(text_of_year)), "metadata", None)
        if _version_field.search(field) or _code_field.search(field):
            yield from _identifier_keys(identifiers(text), "metadata", None)
        if _name_field.search(field):
            yield from _name_keys(text, "metadata")


def _texts(value: Any) -> Iterator[str]:
    """What a metadata value says: itself, or the items of a list."""
    if isinstance(value, (datetime.date, datetime.datetime)):
        yield value.isoformat()
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)[:_LONGEST_METADATA]
    elif isinstance(value, (list, tuple)):
        for item in value[:_MOST_ITEMS]:
            if isinstance(item, (str, int, float, datetime.date)):
                yield from _texts(item)


def _date_keys(mentions: Iterable[DateMention], source: KeySource, seq: int | None) -> Iterator[Key]:
    for mention in mentions:
        days = mention.days()
        if days is not None:
            yield Key("date", date_value(mention), source, seq, *days)


def _identifier_keys(named: Sequence[Identifier], source: KeySource, seq: int | None) -> Iterator[Key]:
    for found in most_specific(named):
        if found.kind == "code" and found.is_telling:
            yield Key("code", found.value, source, seq)
        elif found.kind == "version" or (found.kind == "decimal" and source != "body"):
            yield Key("version", found.value, source, seq)


def _name_keys(text: str, source: KeySource) -> Iterator[Key]:
    if value := slug(text):
        yield Key("name", value, source)
