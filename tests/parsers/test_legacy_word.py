from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import olefile  # type: ignore[import-untyped]  # it has no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.compound_file import compound_file
from tests.parsers.reading_blocks import FIXTURES, events_of, facts, of, texts
from wenyuan.errors import DocumentError, FileMalformed, FormatTooOld, LockNotOpened
from wenyuan.parsers.word.legacy import LegacyWordParser
from wenyuan.parsers.word.legacy_properties import modifiers
from wenyuan.types import Block, ReadEvent

STRANGE = (b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f", b"\x01\x02\x03\x04")
MAIN, TABLE = "WordDocument", "1Table"


def streams_of(name: str) -> dict[str, bytes]:
    """The streams of a fixture that hold its text."""
    with olefile.OleFileIO(FIXTURES / name) as storage:
        return {stream: storage.openstream(stream).read() for stream in (MAIN, TABLE)}


def read(folder: Path, streams: dict[str, bytes]) -> list[ReadEvent]:
    path = folder / "a.doc"
    path.write_bytes(compound_file(streams))
    return list(LegacyWordParser().read(path, "a.doc"))


def changed(name: str, offset: int, value: bytes, stream: str = MAIN) -> dict[str, bytes]:
    streams = streams_of(name)
    content = streams[stream]
    return streams | {stream: content[:offset] + value + content[offset + len(value) :]}


def test_headings_whatever_their_styles_are_called() -> None:
    events = events_of("localized-headings.doc")
    top = "Überschriften in nicht-englischer Sprache"
    assert [(block.kind, block.heading_path) for block in of(Block, events)] == [
        ("heading", (top,)),
        ("heading", (top, "Problem mit lokalisierten Dokumenten")),
        ("paragraph", (top, "Problem mit lokalisierten Dokumenten")),
        ("heading", (top, "Vorgeschlagene Änderung")),
        ("paragraph", (top, "Vorgeschlagene Änderung")),
        ("heading", (top, "Verifizierung")),
        ("paragraph", (top, "Verifizierung")),
    ]
    assert facts(events).title == top
    assert facts(events).metadata["created"] == "2026-08-14T11:34:00"


def test_characters_beyond_the_basic_plane() -> None:
    assert "结尾。𠮷野家 emoji 😀" in texts(events_of("features.doc"))


def test_the_streams_alone_are_enough(tmp_path: Path) -> None:
    found = of(Block, read(tmp_path, streams_of("handbook.doc")))
    assert found == of(Block, events_of("handbook.docx"))


def test_older_documents_and_protected_ones(tmp_path: Path) -> None:
    with pytest.raises(FormatTooOld, match="Word 6"):
        read(tmp_path, changed("handbook.doc", 2, struct.pack("<H", 101)))
    flags = struct.unpack_from("<H", streams_of("handbook.doc")[MAIN], 10)[0]
    with pytest.raises(LockNotOpened):
        read(tmp_path, changed("handbook.doc", 10, struct.pack("<H", flags | 0x100)))


def test_structures_that_lie(tmp_path: Path) -> None:
    with pytest.raises(FileMalformed):
        read(tmp_path, {MAIN: b"\xec\xa5\xc1\x00" + bytes(100)})
    with pytest.raises(FileMalformed, match="less than no"):
        read(tmp_path, changed("handbook.doc", 0x4C, struct.pack("<i", -5)))
    with pytest.raises(FileMalformed, match="pieces"):
        read(tmp_path, changed("handbook.doc", 0x1A6, struct.pack("<I", 0)))
    place = struct.unpack_from("<I", streams_of("handbook.doc")[MAIN], 0x1A2)[0]
    with pytest.raises(FileMalformed, match="not in the file"):
        read(tmp_path, changed("handbook.doc", place + 9, b"\xff\xff\xff\x7f", TABLE))
    assert not of(Block, read(tmp_path, changed("handbook.doc", place + 9, bytes(4), TABLE)))


@given(st.binary(max_size=200))
def test_lists_of_modifiers_end(data: bytes) -> None:
    assert len(list(modifiers(data))) <= len(data)


@pytest.mark.proves("doc", "limits")
@given(st.data())
@settings(max_examples=40)
def test_damage_is_an_error_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    streams = streams_of(data.draw(st.sampled_from(["features.doc", "handbook.doc"])))
    for _ in range(data.draw(st.integers(1, 8))):
        stream = data.draw(st.sampled_from([MAIN, TABLE]))
        content = bytearray(streams[stream])
        at = data.draw(st.integers(0, len(content) - 4))
        content[at : at + 4] = data.draw(st.sampled_from(STRANGE))
        streams[stream] = bytes(content)
    with contextlib.suppress(DocumentError):
        read(tmp_path_factory.mktemp("doc"), streams)
