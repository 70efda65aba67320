"""What older Office documents say of themselves: their summary, a set of properties ([MS-OLEPS] 2.21 and 3.1)."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

_CODE_PAGE: Final = 1
_NAMES: Final = {2: "title", 3: "subject", 4: "author", 5: "keywords", 6: "description", 12: "created", 13: "modified"}
_SHORT, _STRING, _WIDE_STRING, _TIME = 0x02, 0x1E, 0x1F, 0x40
_FIRST_SET: Final = 44
_MOST_PROPERTIES: Final = 1_000
_LONGEST_VALUE: Final = 1_000
_FIRST_YEAR: Final = 1980
_UTF_16: Final = 1200
# FILETIME counts tenths of a microsecond from the first day of 1601.
_EPOCH: Final = datetime(1601, 1, 1)


def summary_properties(stream: bytes) -> dict[str, str]:
    """The properties of the stream that readers use, under their names for them; dates in ISO 8601.

    Damage costs the properties that it touches; nothing is raised, and what a size or number claims is not believed.
    """
    values = dict(_values(stream))
    codec = codec_of(values.get(_CODE_PAGE))
    found = {}
    for number, name in _NAMES.items():
        text = _shown(values.get(number), codec)
        if text:
            found[name] = text
    return found


def _values(stream: bytes) -> Iterator[tuple[int, Any]]:
    try:
        (start,) = struct.unpack_from("<I", stream, _FIRST_SET)
        (count,) = struct.unpack_from("<I", stream, start + 4)
    except struct.error:
        return
    for index in range(min(count, _MOST_PROPERTIES)):
        try:
            number, offset = struct.unpack_from("<II", stream, start + 8 + 8 * index)
            yield number, _value(stream, start + offset)
        except struct.error:
            continue


def _value(stream: bytes, at: int) -> Any:
    """The value at an offset: a number, bytes, a text or a time; None for other types. Raises `struct.error`."""
    (kind,) = struct.unpack_from("<H", stream, at)
    if kind == _SHORT:
        return struct.unpack_from("<H", stream, at + 4)[0]
    if kind == _TIME:
        ticks = struct.unpack_from("<Q", stream, at + 4)[0]
        try:
            return _EPOCH + timedelta(microseconds=ticks // 10)
        except OverflowError:
            return None
    if kind == _STRING:
        (size,) = struct.unpack_from("<I", stream, at + 4)
        return stream[at + 8 : at + 8 + min(size, 4 * _LONGEST_VALUE)]
    if kind == _WIDE_STRING:
        (length,) = struct.unpack_from("<I", stream, at + 4)
        return stream[at + 8 : at + 8 + 2 * min(length, _LONGEST_VALUE)].decode("utf-16-le", "replace")
    return None


def _shown(value: Any, codec: str) -> str:
    if isinstance(value, datetime):
        return value.replace(microsecond=0).isoformat() if value.year >= _FIRST_YEAR else ""
    if isinstance(value, bytes):
        value = value.decode(codec, "replace")
    return " ".join(value.split("\0")[0].split())[:_LONGEST_VALUE] if isinstance(value, str) else ""


def codec_of(code_page: Any) -> str:
    """Python's codec for a Windows code page; Western where there is none."""
    if not isinstance(code_page, int):
        return "cp1252"
    # Negative numbers are what becomes of 65001 in 16 bits.
    number = code_page & 0xFFFF
    known = {
        936: "gb18030",
        54936: "gb18030",
        950: "big5hkscs",
        65001: "utf-8",
        _UTF_16: "utf-16-le",
        10000: "mac_roman",
    }
    if number in known:
        return known[number]
    name = f"cp{number}"
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
