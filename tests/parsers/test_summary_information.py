"""What older Office documents say of themselves, also where its numbers are not to be believed."""

from __future__ import annotations

import struct
from datetime import datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.parsers.compound_file import compound_file
from wenyuan.errors import FileMalformed
from wenyuan.parsers.office.ole_storage import opened_storage, root_names
from wenyuan.parsers.office.summary_information import summary_properties


def text(value: str, codec: str = "gb18030") -> bytes:
    encoded = value.encode(codec) + b"\0"
    return struct.pack("<II", 0x1E, len(encoded)) + encoded.ljust(-(-len(encoded) // 4) * 4, b"\0")


def summary(properties: dict[int, bytes]) -> bytes:
    """A stream with one set of properties."""
    at, places, values = 8 + 8 * len(properties), b"", b""
    for number, value in properties.items():
        places += struct.pack("<II", number, at + len(values))
        values += value
    return (
        bytes(28)
        + bytes(16)
        + struct.pack("<I", 48)
        + struct.pack("<II", at + len(values), len(properties))
        + places
        + values
    )


GBK = struct.pack("<Ihh", 0x02, 936, 0)
SAVED = struct.pack("<IQ", 0x40, int((datetime(2025, 3, 1, 8, 30) - datetime(1601, 1, 1)).total_seconds()) * 10_000_000)


def test_what_a_document_says_of_itself() -> None:
    wide = "汇总".encode("utf-16-le") + b"\0\0"
    said = summary({1: GBK, 2: text("水厂 手册"), 4: text("林晓"), 5: struct.pack("<II", 0x1F, 3) + wide, 13: SAVED})
    assert summary_properties(said) == {
        "title": "水厂 手册",
        "author": "林晓",
        "keywords": "汇总",
        "modified": "2025-03-01T08:30:00",
    }


def test_sizes_that_are_not_true_cost_nothing() -> None:
    endless = struct.pack("<II", 0x1000 | 0x1E, 0xFFFFFFFF)
    long = struct.pack("<II", 0x1E, 0xFFFFFFFF) + "甲".encode("gb18030") * 9_000
    never = struct.pack("<IQ", 0x40, (1 << 64) - 1)
    found = summary_properties(summary({1: GBK, 2: endless, 4: long, 12: never, 13: SAVED}))
    assert found == {"author": "甲" * 1_000, "modified": "2025-03-01T08:30:00"}
    many = bytearray(summary({4: text("林晓")}))
    struct.pack_into("<I", many, 52, 0xFFFFFFFF)
    assert len(summary_properties(bytes(many))) <= 7


@given(st.binary(max_size=200), st.integers(0, 150), st.binary(max_size=8))
def test_damage_raises_nothing(tail: bytes, at: int, change: bytes) -> None:
    stream = bytearray(summary({1: GBK, 2: text("手册"), 13: SAVED}) + tail)
    stream[at : at + len(change)] = change
    assert all(isinstance(value, str) for value in summary_properties(bytes(stream)).values())


def test_a_directory_that_leads_round_in_circles_is_damage(tmp_path: Path) -> None:
    content = bytearray(compound_file({"A/B": b"x" * 5000}))
    directory = (int.from_bytes(content[48:52], "little") + 1) * 512
    # The storage A holds itself.
    struct.pack_into("<i", content, directory + 128 + 76, 1)
    path = tmp_path / "a.doc"
    path.write_bytes(content)
    assert root_names(path) in (set(), {"A"})
    try:
        with opened_storage(path, "a.doc", "Word 97") as storage:
            assert "WordDocument" not in storage
            assert storage.streams == []
    except FileMalformed as error:
        assert "damaged" in str(error)  # noqa: PT017 - either is right
