"""Texts, Markdown, mail, notebooks, data and archives as other programs wrote them."""

from __future__ import annotations

import re

import pytest

from tests.parsers.program_files import FILES, ProgramFile, expected_parts, source_parts
from tests.parsers.reading_blocks import codes, facts, of, texts
from wenyuan.errors import LockNotOpened, UnsupportedType
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block, Member, ReadEvent

_LIST = re.compile(r"^(?:[*-]|(\d+\.))\s+")


def events_of(name: str) -> list[ReadEvent]:
    return list(read_file(FILES / name, name))


def source_of(name: str) -> str:
    return next(
        part for part in ("waterworks", "tea", "reading-room", "workshop", "observatory", "bakery") if part in name
    )


@pytest.mark.proves("text", "text", "anchors", file="tea-libreoffice.txt")
@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("bakery-pandoc.txt", "utf-8"),
        ("waterworks-pandoc.txt", "utf-8"),
        ("workshop-libreoffice.txt", "utf-8"),
        ("tea-libreoffice.txt", "gb18030"),
        ("reading-room-iconv.txt", "utf-16-le"),
        ("observatory-w3m.txt", "utf-8"),
        ("workshop-groff.txt", "utf-8"),
    ],
)
def test_a_plain_text_has_every_word_in_its_order_and_place(name: str, encoding: str) -> None:
    events = events_of(name)
    assert facts(events).encoding == encoding
    lines = (FILES / name).read_bytes().decode(encoding).removeprefix("\ufeff").splitlines()
    said = " ".join(" ".join(texts(events)).split())
    at = 0
    for kind, text, _ in source_parts(source_of(name)):
        # A table is drawn in as many ways as there are programs.
        pieces = (
            text.strip("| ").split(" | ")
            if kind == "table"
            else [text.partition(". ")[2] if kind == "number" else text]
        )
        for piece in pieces:
            at = said.index(piece, at) + len(piece)
    for block in of(Block, events):
        assert block.text.split("\n") == [line.rstrip() for line in lines[block.anchor.first - 1 : block.anchor.last]]


@pytest.mark.proves("markdown", "text", "tables", "headings", file="workshop-pandoc.md")
@pytest.mark.parametrize(
    "name",
    [
        "bakery-markdownify.md",
        "observatory-prettier.md",
        "observatory-turndown.md",
        "tea-turndown.md",
        "workshop-pandoc.md",
        "observatory-pandoc.ipynb",
    ],
)
def test_markdown_of_other_programs_has_the_same_headings_lists_and_tables(name: str) -> None:
    found = []
    for block in of(Block, events_of(name)):
        pieces = block.text.split("\n") if block.kind in ("table", "list") else [block.text.replace("\n", " ")]
        for piece in pieces:
            if piece.startswith("|") and set(piece) <= set("|- "):
                continue
            text = _LIST.sub(lambda marker: f"{marker[1] or '-'} ", piece) if block.kind == "list" else piece
            if block.kind == "heading":
                text = text.lstrip("# ").partition(" {")[0]
            found.append((block.kind, " ".join(text.split()), block.heading_path))
    straight = {"- Put the “open” sign on the pavement": '- Put the "open" sign on the pavement'}
    expected = expected_parts(ProgramFile(f"{source_of(name)}-"))
    assert found == [
        (kind, straight.get(text, text) if name.endswith("pandoc.md") else text, path) for kind, text, path in expected
    ]


def test_a_simple_table_of_pandoc_stays_text() -> None:
    found = of(Block, events_of("reading-room-pandoc.md"))
    assert [block.heading_path[-1] for block in found if block.kind == "heading"] == [
        *("古籍阅览室规则", "开放时间", "阅览要求", "复制"),
    ]
    assert any("民国文献" in block.text and block.heading_path[-1] == "复制" for block in found)


@pytest.mark.proves("eml", "text", "metadata", "anchors", file="pump-python.eml")
@pytest.mark.parametrize(
    ("name", "metadata", "members", "body"),
    [
        (
            "delivery-nodemailer.eml",
            {"cc": "Chloé <chloe@example.org>", "date": "2025-06-12T09:30:00+00:00"},
            {"packing list.txt": 32, "prices.csv": 30},
            [
                "Hello all,",
                "the two truing stands arrive on Thursday before noon. Please keep the side door free.",
                "-- \nAda",
            ],
        ),
        (
            "notice-nodemailer.eml",
            {"from": "王敏 <wangmin@example.cn>", "subject": "关于周五停水检修的通知（更正）"},
            {"停水范围.txt": 31},
            ["各位同事：", "原定周四的停水检修改为周五上午八时至十一时，请提前储水。", "后勤处"],
        ),
        (
            "pump-python.eml",
            {"cc": "档案室 <archive@example.cn>", "date": "2025-06-09T16:40:00+08:00"},
            {"轴承清单.tsv": 17},
            [
                "陈工：",
                "三号泵的轴承已经到货，建议周三上午停机更换，预计两小时。",
                "> 请问什么时候可以检修？\n> —— 陈宇",
                "林晓",
                "From: chenyu@example.cn\nSubject: 三号泵异响\nDate: 2025-06-09 09:02:00+08:00",
                "今早三号泵有异响，请安排检查。",
            ],
        ),
        (
            "minutes-mime-lite.eml",
            {"subject": "Minutes of the June meeting", "date": "2025-06-26T20:15:00+01:00"},
            {"minutes.html": 54},
            [
                "Dear Bo,",
                "the minutes are attached. We agreed to buy a second compressor and to open on Sundays from August.",
                "Ada",
            ],
        ),
        (
            "torque-git.eml",
            {"from": "Chloé Ferrand <chloe@example.org>", "date": "2025-05-02T10:00:00+02:00"},
            {},
            [
                "The old figure was for aluminium cranks. Steel ones take five\nnewton metres more, as the maker’s "
                "sheet says.\n---\n torque.txt | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)",
                "diff --git a/torque.txt b/torque.txt\nindex 2af668b..4aa8fbe 100644\n--- a/torque.txt\n"
                "+++ b/torque.txt\n@@ -1 +1,2 @@\n-pedals 30\n+pedals 35\n+crank 38\n-- \n2.39.5",
            ],
        ),
        ("wheelbase-git.eml", {"subject": "[PATCH 3/3] 记下新车架的轴距"}, {}, None),
    ],
)
def test_messages_with_all_that_hangs_on_them(
    name: str, metadata: dict[str, str], members: dict[str, int], body: list[str] | None
) -> None:
    events = events_of(name)
    found = texts(events)
    assert metadata.items() <= facts(events).metadata.items()
    assert {member.path: len(member.data) for member in of(Member, events)} == members
    assert found[0].startswith("From: ")
    assert body is None or found[1:] == body
    assert [block.anchor.first for block in of(Block, events)] == list(range(1, len(found) + 1))


@pytest.mark.proves("mbox", "text", "headings", file="sent-mutt.mbox")
@pytest.mark.parametrize(
    ("name", "subjects", "said"),
    [
        (
            "circle-python.mbox",
            ["读书会改期", "Re: 读书会改期"],
            ["From now on we meet monthly.", "Saturday suits me. I will bring the tea."],
        ),
        (
            "sent-mutt.mbox",
            ["配件到货", "Keys"],
            ["垫圈到了，明天来取。", "The keys are in the blue tin.\nFrom Monday on they hang in the hall."],
        ),
        (
            "patches-git.mbox",
            [
                "[PATCH 1/3] Note the torque of the pedals",
                "[PATCH 2/3] Correct the torque of the pedals",
                "[PATCH 3/3] 记下新车架的轴距",
            ],
            [],
        ),
    ],
)
def test_mailboxes(name: str, subjects: list[str], said: list[str]) -> None:
    events = events_of(name)
    blocks = of(Block, events)
    assert facts(events).quality["messages"] == len(subjects)
    assert list(dict.fromkeys(block.heading_path for block in blocks)) == [(subject,) for subject in subjects]
    assert set(said) <= set(texts(events))
    assert [member.path for member in of(Member, events)] == (["1/清单.txt"] if "mutt" in name else [])


@pytest.mark.proves("subtitles", "text", file="tour-ffmpeg.srt")
@pytest.mark.parametrize("kind", ["srt", "vtt"])
def test_subtitles_of_two_programs(kind: str) -> None:
    found = of(Block, events_of(f"tour-ffmpeg.{kind}"))
    assert [(block.text, block.context) for block in found] == [
        ("欢迎来到城西水厂。", "00:00:01"),
        ("这里每天供水八万吨，\n服务二十万居民。", "00:00:04"),
        ("先看取水口。", "00:00:08"),
    ]
    dome = {"srt": "dome-python-srt.srt", "vtt": "dome-webvtt-py.vtt"}[kind]
    assert (
        texts(events_of(dome))
        == {
            "srt": ["Good evening and welcome.", "The dome opens at nine."],
            "vtt": [
                "Good evening and welcome to the dome.",
                "The mirror is sixty centimetres wide.\nIt was ground in 1931.",
            ],
        }[kind]
    )


@pytest.mark.proves("notebook", "text", "headings", "anchors", file="levels-nbformat.ipynb")
def test_notebooks_of_two_programs() -> None:
    found = of(Block, events_of("levels-nbformat.ipynb"))
    assert [(block.text, block.anchor.first, block.anchor.name) for block in found] == [
        ("# 水位分析", 1, "markdown"),
        ("读取六月的水位，求平均值。", 1, "markdown"),
        ("levels = [3.42, 3.40, 3.37]\nsum(levels) / len(levels)", 2, "code"),
        ("3.3966666666666665", 2, "output"),
        ("## 结论", 3, "markdown"),
        ("水位平稳，**不需要**调整闸门。", 3, "markdown"),
    ]
    events = events_of("light-curve-jupytext.ipynb")
    assert facts(events).title == "Light curve"
    assert texts(events)[2] == "period = 0.214\nphase = (time - epoch) % period / period"


@pytest.mark.proves("json", "text", file="pumps-python.json")
@pytest.mark.proves("xml", "text", file="catalogue-lxml.xml")
@pytest.mark.proves("code", "text", file="pumps-pyyaml.yaml")
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("pumps-pyyaml.yaml", ["title: 城西水厂", "- id: P-2", "  phone: 8812-0099"]),
        ("pumps-tomli-w.toml", ['title = "城西水厂"', '    { id = "P-2", flow = 95.5 },', 'phone = "8812-0099"']),
        ("pumps-python.json", ["title: 城西水厂", "pumps[1].flow: 95.5", "alarm.phone: 8812-0099"]),
        ("nights-sqlite.json", ["night: 1", "sky: clear", "night: 2", "sky: high cloud"]),
        ("mirror-prettier.ts", ["export function ratio(m: Mirror): number {"]),
        ("catalogue-lxml.xml", ["    <title>仪器目录</title>", "    <title>Spare parts</title>"]),
        ("tea-pandoc.xml", ["      <title>产量与品质</title>"]),
    ],
)
def test_data_and_code(name: str, lines: list[str]) -> None:
    found = "\n".join(texts(events_of(name)))
    at = 0
    for line in lines:
        at = found.index(line.strip(), at) + 1


@pytest.mark.proves("archive", "text", file="folder-7z.zip")
@pytest.mark.parametrize("name", ["folder-info-zip.zip", "folder-7z.zip", "folder-gnu-tar.tar.gz"])
def test_archives_of_three_programs(name: str) -> None:
    events = events_of(name)
    members = {member.path: member.data.decode() for member in of(Member, events)}
    assert members == {
        "资料/说明.txt": "闸门每月试启一次。\n",
        "资料/levels.csv": "station,level\nwest,3.42\n",
        "notes.md": "# Notes\n\nGrease the bearings in May.\n",
    }
    assert sorted(texts(events)[0].split("\n")) == sorted(members)
    assert codes(events) == set()


def test_a_binary_workbook_says_what_to_do() -> None:
    with pytest.raises(UnsupportedType, match="binary Excel workbook") as raised:
        events_of("levels-sheetjs.xlsb")
    assert ".xlsx" in raised.value.hint


@pytest.mark.parametrize("kind", ["doc", "xls", "ods", "odt"])
def test_a_lock_that_no_password_opens_says_so(kind: str) -> None:
    path = FILES / f"locked-libreoffice.{kind}"
    for password in ("", "开门 open"):
        with pytest.raises(LockNotOpened, match="a lock that Wenyuan does not open") as raised:
            list(read_file(path, path.name, password=password))
        assert "save it without one" in raised.value.hint
