"""Pictures are read by the real recogniser: scans, photos, screenshots, in every format and lie."""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wenyuan.errors import DocumentError, FileMalformed, FileOverLimit, NeedsOcr, NoText
from wenyuan.parsers.pictures.recognition import ReadingSettings, RecognisedLine, Recognition
from wenyuan.parsers.pictures.rendering import rendered_page
from wenyuan.parsers.reading import read_file
from wenyuan.rules.quality import is_doubtful
from wenyuan.types import Block, Box, Facts, Notice, ReadEvent

FILES = Path(__file__).parent.parent / "fixtures" / "files"
SCAN = FILES / "picture-scan-skewed.jpg"
LINE = FILES / "picture-line.png"
LINE_TEXT = "发票号码03481927金额12,800.00元"
SCAN_TEXT = """员工手册 本手册适用于全体员工，版本 2.1，自 2026 年 3 月 15 日起施行。 第一章 考勤
工作时间为上午 9:00 至下午 18:00。迟到三次以上的，由人力资源部门约谈，并记入当月的考勤记录。
请假 3 天以上须经部门经理张翀批准。 第二章 报销 差旅标准见下表。 城市 住宿上限 每日餐补 北京 600 100 上海 650 110
其他城市 480 80 Chapter 3 Security Passwords must be at least 12 characters long and must not be reused.
联系人：李昇（zhangsan@example.com），电话 010-12345678。"""


def read(path: Path, settings: ReadingSettings | None = None) -> list[ReadEvent]:
    return list(read_file(path, path.name, recognition=Recognition(settings)))


def blocks_of(events: list[ReadEvent]) -> list[Block]:
    return [event for event in events if isinstance(event, Block)]


def text_of(events: list[ReadEvent]) -> str:
    return "".join("".join(block.text for block in blocks_of(events)).split())


def facts_of(events: list[ReadEvent]) -> Facts:
    return [event for event in events if isinstance(event, Facts)][-1]


def codes_of(events: list[ReadEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, Notice)]


def recall(text: str) -> float:
    """The share of the scan's characters that was read; one that was read once too often is not counted."""
    wanted = Counter("".join(SCAN_TEXT.split()))
    return (wanted & Counter(re.sub(r"[\s|]", "", text))).total() / wanted.total()


# --- What is read -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scan() -> list[ReadEvent]:
    return read(SCAN)


@pytest.mark.proves("picture", "text", "recognition", file="picture-scan-skewed.jpg")
def test_a_skewed_noisy_scan_is_read(scan: list[ReadEvent]) -> None:
    assert recall(text_of(scan)) >= 0.98
    assert "张翀" in text_of(scan)
    assert "zhangsan@example.com" in text_of(scan)
    quality = facts_of(scan).quality
    assert facts_of(scan).media_type == "image/jpeg"
    assert (quality["pages"], quality["pages_recognised"], quality["dots_per_inch"]) == (1, 1, 120)
    assert quality["confidence_percent"] >= 95
    assert codes_of(scan) == []


@pytest.mark.proves("picture", "headings", file="picture-scan-skewed.jpg")
def test_its_structure_is_seen(scan: list[ReadEvent]) -> None:
    headings = ["".join(block.text.split()) for block in blocks_of(scan) if block.kind == "heading"]
    assert headings == ["员工手册", "第一章考勤", "第二章报销", "Chapter3Security"]
    rows = [block for block in blocks_of(scan) if block.kind == "table"]
    assert [row.text for row in rows[1:]] == ["| 北京 | 600 | 100 |", "| 上海 | 650 | 110 |", "| 其他城市 | 480 | 80 |"]
    assert {row.context for row in rows[1:]} == {rows[0].text}
    assert rows[1].heading_path[0] == "员工手册"


@pytest.mark.proves("picture", "anchors", file="picture-scan-skewed.jpg")
def test_its_boxes_lie_where_the_words_are_seen(scan: list[ReadEvent]) -> None:
    [beijing] = [block for block in blocks_of(scan) if "北京" in block.text]
    assert beijing.anchor.kind == "page"
    [box] = beijing.anchor.boxes
    # In the upright drawing that row stands at about (110, 540) to (600, 570); the scan is turned by 1.5 degrees.
    assert (box.page, beijing.anchor.first) == (1, 1)
    assert 90 <= box.left <= 115
    assert 590 <= box.right <= 640
    assert 500 <= box.top < box.bottom <= 575
    with Image.open(SCAN) as picture:
        inside = picture.convert("L").crop((box.left, box.top, box.right, box.bottom))
    assert np.asarray(inside).min() < 80


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_lies_on_its_side_or_head_is_read(degrees: int, tmp_path: Path) -> None:
    with Image.open(SCAN) as picture:
        upper = picture.crop((0, 0, 1000, 420))
        upper.rotate(degrees, expand=True).save(tmp_path / "turned.png")
    events = read(tmp_path / "turned.png", ReadingSettings("fast"))
    text = text_of(events)
    assert text.startswith("员工手册")
    assert text.index("第一章") < text.index("工作时间为上午9:00至下午18:00") < text.index("第二章")
    [box] = blocks_of(events)[0].anchor.boxes
    # The title stands at (95, 85) to (265, 140) when the page is upright.
    across, down = {90: (110, 820), 180: (820, 305), 270: (305, 180)}[degrees]
    assert abs((box.left + box.right) / 2 - across) < 25
    assert abs((box.top + box.bottom) / 2 - down) < 25


def test_vertical_chinese_is_read_from_right_to_left() -> None:
    text = text_of(read(FILES / "picture-vertical.png"))
    assert text == "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少唐孟浩然作于鹿门山中"


@pytest.mark.proves("picture", "tables", file="picture-columns.png")
def test_columns_are_not_interleaved_and_the_table_is_kept() -> None:
    blocks = blocks_of(read(FILES / "picture-columns.png", ReadingSettings("fast")))
    text = "".join(block.text for block in blocks)
    order = ["两栏文章的标题", "第一栏的第一行", "第一栏的第五行", "第二栏从这里开始", "第二栏的第五行", "键盘"]
    assert sorted(order, key=text.index) == order
    assert [block.text for block in blocks if block.kind == "table"][1:] == [
        "| 键盘 | 120 | 3 | 360 |",
        "| 屏幕 | 900 | 2 | 1800 |",
    ]


def test_rare_and_traditional_characters_are_known() -> None:
    assert text_of(read(FILES / "picture-names.png")) == "張翀、王赟請於週五前審核"


def test_the_fast_model_reads_plain_text() -> None:
    assert text_of(read(LINE, ReadingSettings("fast"))) == LINE_TEXT


# --- Formats ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.png", "RGBA"), ("a.jpg", "CMYK"), ("a.webp", "RGB"), ("a.tif", "I;16"), ("a.bmp", "1"), ("a.gif", "P")],
)
def test_every_format_is_read(name: str, mode: str, tmp_path: Path) -> None:
    with Image.open(LINE) as line:
        grey = line.convert("L")
    if mode == "RGBA":
        # Black on nothing.
        grey = Image.merge("RGBA", [Image.new("L", grey.size, 0)] * 3 + [grey.point(lambda value: 255 - value)])
    elif mode == "I;16":
        grey = grey.convert("I").point(lambda value: value * 16).convert("I;16")
    else:
        grey = grey.convert(mode)
    grey.save(tmp_path / name)
    assert text_of(read(tmp_path / name, ReadingSettings("fast"))) == LINE_TEXT


@pytest.mark.proves("picture", "metadata")
def test_a_photo_is_turned_as_it_says_and_tells_who_took_it_when_but_not_where(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "Receipt of the taxi"
    exif[0x013B] = "Zhang San"
    exif.get_ifd(0x8769)[0x9003] = "2026:03:15 10:20:30"
    exif.get_ifd(0x8825)[1] = "N"
    with Image.open(LINE) as line:
        line.convert("RGB").rotate(90, expand=True).save(tmp_path / "photo.jpg", exif=exif, quality=80)
    events = read(tmp_path / "photo.jpg", ReadingSettings("fast"))
    assert text_of(events) == LINE_TEXT
    assert facts_of(events).metadata == {
        "author": "Zhang San",
        "subject": "Receipt of the taxi",
        "created": "2026-03-15T10:20:30",
    }
    [box] = blocks_of(events)[0].anchor.boxes
    assert box.right - box.left > 5 * (box.bottom - box.top)


def _pages(path: Path) -> Path:
    with Image.open(LINE) as line:
        pages = [line.convert("1"), Image.new("1", line.size, 1), line.convert("1")]
    pages[0].save(path, save_all=True, append_images=pages[1:], compression="group4", dpi=(200, 200))
    return path


def test_all_pages_of_a_fax_are_read(tmp_path: Path) -> None:
    events = read(_pages(tmp_path / "fax.tiff"), ReadingSettings("fast"))
    assert [(block.anchor.first, block.anchor.boxes[0].page) for block in blocks_of(events)] == [(1, 1), (3, 3)]
    quality = facts_of(events).quality
    assert (quality["pages"], quality["pages_recognised"], quality["pages_without_text"]) == (3, 2, 1)


def test_no_more_pages_are_recognised_than_the_settings_allow(tmp_path: Path) -> None:
    events = read(_pages(tmp_path / "fax.tiff"), ReadingSettings("fast", ocr_pages=1))
    assert [block.anchor.first for block in blocks_of(events)] == [1]
    assert codes_of(events) == ["pages-not-recognised"]


def test_a_very_large_photo_keeps_its_places(tmp_path: Path) -> None:
    with Image.open(LINE) as line:
        page = Image.new("L", (7600, 6400), 255)
        page.paste(line.convert("L").resize((7600, 1200)), (0, 2400))
    page.save(tmp_path / "large.jpg", quality=50)
    events = read(tmp_path / "large.jpg", ReadingSettings("fast"))
    assert text_of(events) == LINE_TEXT
    [box] = blocks_of(events)[0].anchor.boxes
    # In the small picture the words stand at about (31, 42) to (634, 84).
    assert box[1:] == pytest.approx((310, 2400 + 420, 6340, 2400 + 840), abs=90)


def test_what_there_is_of_a_file_that_was_cut_off_is_read(tmp_path: Path) -> None:
    whole = SCAN.read_bytes()
    (tmp_path / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    events = read(tmp_path / "cut.jpg", ReadingSettings("fast"))
    assert text_of(events).startswith("员工手册")
    assert codes_of(events) == ["picture-cut-off"]


# --- What is not read -------------------------------------------------------------------------------


def _png(width: int, height: int, data: bytes = b"") -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def _encoded(picture: Image.Image, kind: str = "PNG") -> bytes:
    encoded = io.BytesIO()
    picture.save(encoded, kind)
    return encoded.getvalue()


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize(
    ("data", "error"),
    [
        (_png(30_000, 30_000), FileOverLimit),
        (_png(2**31 - 1, 2**31 - 1), FileOverLimit),
        (_png(0, 100), FileMalformed),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 500, FileMalformed),
        (b"\xff\xd8\xff\xe0" + b"\0" * 500, FileMalformed),
        (b"II*\x00\x08\x00\x00\x00" + b"\xff" * 500, FileMalformed),
        (b"GIF89a" + b"\xff" * 500, FileMalformed),
        (b"RIFF\xff\xff\xff\x7fWEBPVP8 " + b"\0" * 500, FileMalformed),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, error: type[DocumentError], tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(data)
    with pytest.raises(error):
        read(path, ReadingSettings("fast"))


@pytest.mark.parametrize(
    "picture",
    [Image.new("RGB", (800, 600), (30, 90, 200)), Image.linear_gradient("L"), Image.new("RGB", (16, 16), "red")],
)
def test_a_picture_without_writing_is_read_and_says_so(picture: Image.Image, tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(_encoded(picture))
    events = read(path, ReadingSettings("fast"))
    assert [type(event) for event in events if not isinstance(event, Facts)] == [Notice]
    assert [event.code for event in events if isinstance(event, Notice)] == ["nothing-to-read"]
    assert not is_doubtful(next(e for e in reversed(events) if isinstance(e, Facts)).quality, [])


def test_writing_that_cannot_be_read_is_not_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind:
        def recognise(self, _picture: Image.Image) -> list[RecognisedLine]:
            return [RecognisedLine("rnnrnri", 10.0, 10.0, 200.0, 40.0, 0.3)]

    monkeypatch.setattr(Recognition, "for_a_page", lambda _self: Blind())
    path = tmp_path / "picture"
    path.write_bytes(_encoded(Image.new("RGB", (800, 600), "white")))
    with pytest.raises(NoText):
        read(path, ReadingSettings("fast"))


@pytest.mark.proves("picture", "limits")
def test_a_bomb_is_not_decoded_to_find_that_nothing_recognises_it(tmp_path: Path) -> None:
    (tmp_path / "bomb.png").write_bytes(_png(30_000, 30_000))
    with pytest.raises(FileOverLimit, match="30,000 × 30,000"):
        read(tmp_path / "bomb.png", ReadingSettings("off"))


def test_without_a_recogniser_the_extra_is_named() -> None:
    with pytest.raises(NeedsOcr) as raised:
        read(LINE, ReadingSettings("off"))
    assert "pip install 'wenyuan[ocr]'" in raised.value.advice


# --- Shown again ------------------------------------------------------------------------------------


def test_a_place_is_lit_on_the_picture() -> None:
    encoded = rendered_page(LINE, 1, [Box(1, 30, 40, 200, 84), Box(2, 400, 40, 500, 84)], 2.0)
    with Image.open(io.BytesIO(encoded)) as drawn, Image.open(LINE) as line:
        assert drawn.size == (2 * line.width, 2 * line.height)
        marked = drawn.convert("RGB")
    assert marked.getpixel((62, 82)) != (255, 255, 255)
    assert marked.getpixel((900, 100)) == (255, 255, 255)
    assert marked.getpixel((10, 10)) == (255, 255, 255)
    # What is dark stays dark.
    lit = marked.crop((60, 80, 400, 168)).convert("L")
    assert np.asarray(lit).min() < 40


def test_a_page_that_is_not_there_is_not_drawn() -> None:
    with pytest.raises(FileMalformed, match="no page 2"):
        rendered_page(LINE, 2, [])


def test_a_drawn_picture_has_a_size_that_can_be_shown() -> None:
    with Image.open(io.BytesIO(rendered_page(LINE, 1, [], 1000.0))) as drawn:
        assert drawn.width * drawn.height <= 16_100_000
