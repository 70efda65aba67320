from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import olefile  # type: ignore[import-untyped]  # it has no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.compound_file import compound_file
from tests.parsers.reading_blocks import FIXTURES, events_of, of
from wenyuan.errors import DocumentError, FileMalformed, FileOverLimit, FormatTooOld, LockNotOpened
from wenyuan.parsers.slides.legacy import LegacySlidesParser
from wenyuan.parsers.slides.legacy_file import Record, records
from wenyuan.parsers.slides.legacy_text import SlideParagraph, texts_in
from wenyuan.types import Block, Box, ReadEvent

STRANGE = (b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f", b"\x01\x02\x03\x04")
USER, SLIDES = "Current User", "PowerPoint Document"


def streams_of(name: str) -> dict[str, bytes]:
    with olefile.OleFileIO(FIXTURES / name) as storage:
        return {stream: storage.openstream(stream).read() for stream in (USER, SLIDES)}


def read(folder: Path, streams: dict[str, bytes]) -> list[ReadEvent]:
    path = folder / "a.ppt"
    path.write_bytes(compound_file(streams))
    return list(LegacySlidesParser().read(path, "a.ppt"))


def test_where_things_stand() -> None:
    blocks = of(Block, events_of("deck.ppt"))
    assert blocks[0].anchor.boxes == (Box(1, 54, 168, 666, 284),)
    rows = [block.anchor.boxes for block in blocks if block.kind == "table"]
    assert rows == [(Box(5, 72, 144, 504, 192),), (Box(5, 72, 192, 504, 240),), (Box(5, 72, 240, 504, 288),)]


def test_levels_and_bullets_of_paragraphs() -> None:
    text = "一\r二\r三".encode("utf-16-le")
    # Two characters at level 0 with a bullet; the rest at level 1 without one, after a few other properties.
    style = struct.pack("<IHIH", 2, 0, 0x1, 1) + struct.pack("<IHIHHH", 4, 1, 0x1801, 0, 7, 7)
    found = texts_in([Record(0x0F9F, 0, struct.pack("<I", 1)), Record(0x0FA0, 0, text), Record(0x0FA1, 0, style)])
    assert found[0].kind == 1
    assert found[0].paragraphs == [
        SlideParagraph("一", 0, True),
        SlideParagraph("二", 1, False),
        SlideParagraph("三", 1, False),
    ]


def test_older_presentations_and_protected_ones(tmp_path: Path) -> None:
    streams = streams_of("deck.ppt")
    with pytest.raises(FormatTooOld, match="PowerPoint 95"):
        read(tmp_path, {SLIDES: streams[SLIDES]})
    user = streams[USER][:12] + struct.pack("<I", 0xF3D1C4DF) + streams[USER][16:]
    with pytest.raises(LockNotOpened):
        read(tmp_path, {**streams, USER: user})


def test_structures_that_lie(tmp_path: Path) -> None:
    streams = streams_of("deck.ppt")
    for offset in (0, 8, 0x7FFFFFFF):
        user = streams[USER][:16] + struct.pack("<I", offset) + streams[USER][20:]
        with pytest.raises(FileMalformed):
            read(tmp_path, {**streams, USER: user})


def test_a_slide_that_stands_for_many_others(tmp_path: Path) -> None:
    """Thousands of entries that lead to one large slide must not make a small file a large reading."""

    def record(kind: int, content: bytes, container: bool = False, instance: int = 0) -> bytes:
        return struct.pack("<HHI", (instance << 4) | (0xF if container else 0), kind, len(content)) + content

    count = 4_000
    text = record(0x0FA0, "字".encode("utf-16-le") * 30_000)
    box = record(0xF00D, record(0x0F9F, struct.pack("<I", 4)) + text, container=True)
    shapes = record(0xF003, record(0xF004, b"", True) + record(0xF004, box, container=True), container=True)
    slide = record(0x03EE, record(0x040C, record(0xF002, shapes, container=True), container=True), container=True)
    entries = b"".join(record(0x03F3, struct.pack("<5I", number + 2, 0, 0, number, 0)) for number in range(count))
    document = record(0x03E8, record(0x0FF0, entries, container=True), container=True)
    places = [struct.pack("<II", 1 << 20 | number + 2, 0) for number in range(count)]
    directory = record(0x1772, b"".join(places) + struct.pack("<II", 1 << 20 | 1, len(slide)))
    edit = record(0x0FF5, struct.pack("<7I", 0, 0, 0, len(slide) + len(document), 1, 0, 0))
    stream = slide + document + directory + edit
    user = struct.pack("<HHIIII", 0, 0x0FF6, 20, 20, 0xE391C05F, len(stream) - len(edit))
    with pytest.raises(FileOverLimit, match="stand for one another"):
        read(tmp_path, {USER: user + bytes(8), SLIDES: stream})


@given(st.binary(max_size=300))
def test_records_end(data: bytes) -> None:
    assert len(list(records(data))) <= len(data) / 8


@pytest.mark.proves("ppt", "limits")
@given(st.data())
@settings(max_examples=40)
def test_damage_is_an_error_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    streams = streams_of("deck.ppt")
    content = bytearray(streams[SLIDES])
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(content) - 4))
        content[at : at + 4] = data.draw(st.sampled_from(STRANGE))
    with contextlib.suppress(DocumentError):
        read(tmp_path_factory.mktemp("ppt"), {**streams, SLIDES: bytes(content)})
