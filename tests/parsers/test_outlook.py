"""Messages saved from Outlook, made here byte by byte; another reader of them says that they are made right."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from oxmsg import Message

from tests.parsers.compound_file import compound_file
from wenyuan.errors import DocumentError
from wenyuan.parsers.mail.outlook_properties import decompressed_rtf
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block, Facts, Member, Notice, ReadEvent

SENT = (133489152000000000).to_bytes(8, "little")
"""2024-01-05T08:00:00 in hundreds of nanoseconds since 1601."""


def properties(head: int, *entries: tuple[int, int, bytes], streams: Iterable[str] = ()) -> bytes:
    """Numbers and times stand in their entries; of what has a stream an entry says how long it is."""
    kinds = [(int(name[-8:-4], 16), int(name[-4:], 16)) for name in streams if "/" not in name and "substg" in name]
    entries += tuple((number, kind, bytes(8)) for number, kind in kinds)
    packed = (struct.pack("<HHI8s", kind, number, 6, value.ljust(8, b"\0")) for number, kind, value in entries)
    return bytes(head) + b"".join(packed)


def text(number: int, value: str) -> tuple[str, bytes]:
    return f"__substg1.0_{number:04X}001F", value.encode("utf-16-le")


def attachment(number: int, name: str, content: bytes) -> dict[str, bytes]:
    folder = f"__attach_version1.0_#{number:08X}"
    key, value = text(0x3707, name)
    return {
        f"{folder}/__properties_version1.0": properties(8, (0x3705, 3, b"\1"), streams=[key, "__substg1.0_37010102"]),
        f"{folder}/{key}": value,
        f"{folder}/__substg1.0_37010102": content,
    }


def message(subject: str, body: dict[str, bytes], head: int = 32) -> dict[str, bytes]:
    recipient = "__recip_version1.0_#00000000"
    own = dict(
        [text(0x001A, "IPM.Note"), text(0x0037, subject), text(0x0C1A, "张三"), text(0x5D01, "zhang@example.com")]
    )
    fixed = ((0x0039, 0x40, SENT), (0x3FDE, 3, (936).to_bytes(4, "little")))
    return {
        "__properties_version1.0": properties(head, *fixed, streams=[*own, *body]),
        **own,
        f"{recipient}/__properties_version1.0": properties(8, (0x0C15, 3, b"\1")),
        **{f"{recipient}/{key}": value for key, value in (text(0x3001, "李四"), text(0x39FE, "li@example.com"))},
        **body,
    }


def read(folder: Path, streams: dict[str, bytes]) -> list[ReadEvent]:
    path = folder / "a.msg"
    path.write_bytes(compound_file(streams))
    return list(read_file(path, "a.msg"))


def texts(events: list[ReadEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Block)]


@pytest.mark.proves("msg", "text", "anchors", "metadata")
def test_a_message_with_attachments(tmp_path: Path) -> None:
    body = dict([text(0x1000, "各位：\r\n\r\n附件请查收。\r\n")])
    content = b"%PDF-1.4" + bytes(9000)
    events = read(tmp_path, message("报销通知", body | attachment(0, "说明.pdf", content)))
    assert texts(events) == [
        "From: 张三 <zhang@example.com>\nTo: 李四 <li@example.com>\nSubject: 报销通知\n"
        "Date: 2024-01-05 08:00:00+00:00\nAttachments: 说明.pdf",
        "各位：",
        "附件请查收。",
    ]
    facts = next(event for event in events if isinstance(event, Facts))
    assert facts.title == "报销通知"
    assert facts.metadata["date"] == "2024-01-05T08:00:00+00:00"
    members = [event for event in events if isinstance(event, Member)]
    assert b"".join(member.data for member in members) == content
    assert {member.path for member in members} == {"说明.pdf"}
    other = Message.load(str(tmp_path / "a.msg"))
    assert (other.subject, other.body) == ("报销通知", "各位：\r\n\r\n附件请查收。\r\n")
    assert other.attachments[0].file_bytes == content


def test_a_page_where_there_is_no_plain_text(tmp_path: Path) -> None:
    page = {"__substg1.0_10130102": "<h1>标题</h1><p>正文朱镕基</p>".encode("gb18030")}
    assert texts(read(tmp_path, message("x", page)))[1:] == ["标题", "正文朱镕基"]


def test_formatted_text_where_there_is_nothing_else(tmp_path: Path) -> None:
    rtf = rb"{\rtf1\ansi\ansicpg936 Hello \'c4\'e3\'ba\'c3 world\par Second}"
    packed = struct.pack("<II4sI", len(rtf) + 12, len(rtf), b"MELA", 0) + rtf
    found = texts(read(tmp_path, message("x", {"__substg1.0_10090102": packed})))
    assert found[1:] == ["Hello 你好 world", "Second"]


@pytest.mark.parametrize(
    ("packed", "text"),
    [
        (
            "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0",
            rb"{\rtf1\ansi\ansicpg1252\pard hello world}" + b"\r\n",
        ),
        ("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0", rb"{\rtf1 WXYZWXYZWXYZWXYZWXYZ}"),
        ("00", b""),
    ],
)
def test_rtf_is_decompressed_as_the_specification_shows(packed: str, text: bytes) -> None:
    assert decompressed_rtf(bytes.fromhex(packed)) == text


def test_messages_within_messages(tmp_path: Path) -> None:
    inner = message("最里面", dict([text(0x1000, "里")]), head=24)
    for level in range(14):
        folder = "__attach_version1.0_#00000000"
        around = {f"{folder}/__properties_version1.0": properties(8, (0x3705, 3, b"\5"))}
        around |= {f"{folder}/__substg1.0_3701000D/{key}": value for key, value in inner.items()}
        inner = message(f"第{level}层", dict([text(0x1000, "外")]) | around, head=24 if level < 13 else 32)
    events = read(tmp_path, inner)
    assert len([found for found in texts(events) if found == "外"]) == 11
    assert [event.code for event in events if isinstance(event, Notice)] == ["nested-too-deep"]
    paths = [event.heading_path for event in events if isinstance(event, Block)]
    assert paths[0] == ()
    assert paths[2] == ("第12层",)


@pytest.mark.proves("msg", "limits")
def test_damaged_files_end_as_errors(tmp_path: Path) -> None:
    whole = compound_file(message("x", dict([text(0x1000, "y" * 5000)])))
    path = tmp_path / "a.msg"
    for at in range(0, len(whole), 40):
        path.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :] if at % 80 else whole[: at + 1])
        try:
            list(read_file(path, "a.msg"))
        except DocumentError:
            continue
