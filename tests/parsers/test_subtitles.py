from __future__ import annotations

from pathlib import Path

import pytest

from wenyuan.errors import FileMalformed
from wenyuan.parsers.reading import read_file
from wenyuan.types import Anchor, Block, Facts, ReadEvent

SUBRIP = """1
00:00:01,000 --> 00:00:03,500
<i>大家好</i>，欢迎来到
文渊的介绍。

2
00:00:04,000 --> 00:01:06,000
{\\an8}今天讲检索。
3
1:01:07,000 --> 1:01:09,500 X1:100
5 &amp; 6
"""
WEBVTT = """WEBVTT - A talk

NOTE
not said

STYLE
::cue { color: red }

intro
00:01.000 --> 00:03.000 align:start
<v Roger Bingham>We are in New York

00:03.000 --> 00:05.000
We are rolling
<00:00:03.500><c>and &lt;here&gt;</c>

00:05.000 --> 00:07.000
and &lt;here&gt;
the next line
"""


def read(folder: Path, content: str, name: str) -> list[ReadEvent]:
    path = folder / name
    path.write_text(content)
    return list(read_file(path, name))


def blocks(events: list[ReadEvent]) -> list[Block]:
    return [event for event in events if isinstance(event, Block)]


@pytest.mark.proves("subtitles", "text", "anchors")
def test_subrip(tmp_path: Path) -> None:
    events = read(tmp_path, SUBRIP, "a.srt")
    assert blocks(events) == [
        Block("paragraph", "大家好，欢迎来到\n文渊的介绍。", Anchor("lines", 3, 4), context="00:00:01"),
        Block("paragraph", "今天讲检索。", Anchor("lines", 8, 8), context="00:00:04", joiner="\n"),
        Block("paragraph", "5 & 6", Anchor("lines", 11, 11), context="01:01:07", joiner="\n"),
    ]
    facts = [event for event in events if isinstance(event, Facts)][-1]
    assert (facts.media_type, facts.quality) == ("application/x-subrip", {"cues": 3, "seconds": 3669})


def test_webvtt(tmp_path: Path) -> None:
    found = blocks(read(tmp_path, WEBVTT, "a.vtt"))
    assert [(block.text, block.context, block.anchor.first) for block in found] == [
        ("Roger Bingham: We are in New York", "00:00:01", 11),
        ("We are rolling\nand <here>", "00:00:03", 14),
        ("the next line", "00:00:05", 19),
    ]


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_lines_end_in_any_way(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "a.srt"
    path.write_bytes(SUBRIP.replace("\n", newline).encode("gb18030"))
    assert [block.anchor.first for block in blocks(list(read_file(path, "a.srt")))] == [3, 8, 11]


def test_what_has_no_times(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text("text")
    with pytest.raises(FileMalformed):
        list(read_file(path, "a.srt", "application/x-subrip"))
