from __future__ import annotations

from pathlib import Path

import pytest

from tests.parsers.office_files import package
from tests.parsers.reading_blocks import codes, events_of, facts, of, texts
from wenyuan.errors import FileMalformed, LockNotOpened
from wenyuan.types import Anchor, Block, ReadEvent

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
NCX = """<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://example.org/ncx.dtd">
<ncx><navMap><navPoint><navLabel><text>第一章&amp;序</text></navLabel><content src="text/a.xhtml#x"/></navPoint>
<navPoint><navLabel><text>Two</text></navLabel><content src="text/b%20c.xhtml"/></navPoint></navMap></ncx>"""
NAV = """<html><nav epub:type="toc"><ol><li><a href="text/a.xhtml">第一<b>章</b></a></li></ol></nav>
<nav epub:type="landmarks"><a href="text/b%20c.xhtml">Start</a></nav></html>"""


def book(*pages: tuple[str, str | bytes], manifest: str = "", spine: str = "", **others: str) -> bytes:
    """A book of these pages in this order; `others` are further parts of it."""
    entry = '<item id="i{}" href="{}" media-type="application/xhtml+xml"/>'
    items = "".join(entry.format(number, name) for number, (name, _) in enumerate(pages))
    references = "".join(f'<itemref idref="i{number}"/>' for number in range(len(pages)))
    metadata = (
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>书名</dc:title><dc:creator>甲</dc:creator>'
        "<dc:creator>乙</dc:creator><dc:language>zh</dc:language><dc:date>2026-05-01</dc:date></metadata>"
    )
    opf = f"<package>{metadata}<manifest>{items}{manifest}</manifest><spine>{references}{spine}</spine></package>"
    parts: dict[str, str | bytes] = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    parts["OEBPS/book.opf"] = opf
    parts |= {f"OEBPS/{name.replace('%20', ' ')}": content for name, content in pages}
    return package(parts | others)


def page(body: str) -> str:
    return f'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'


PAGES = (
    ("text/a.xhtml", page("<p>甲</p>")),
    ("text/b%20c.xhtml", page("<h1>题</h1><p>乙</p>")),
    ("text/d.xhtml", page("<p>丙</p>")),
)


def read(folder: Path, content: bytes) -> list[ReadEvent]:
    return events_of(content, folder, "a.epub")


@pytest.mark.proves("epub", "text", "headings", "anchors", "metadata", file="guide.epub")
def test_a_book_that_pandoc_wrote() -> None:
    events = events_of("guide.epub")
    blocks = of(Block, events)
    assert facts(events).title == "检索原理"
    assert facts(events).language == "zh-CN"
    assert facts(events).metadata["author"] == "张三"
    assert facts(events).quality == {"chapters": 3}
    assert [(block.text, block.heading_path) for block in blocks if block.anchor.first == 2][:3] == [
        ("第一章 倒排索引", ("第一章 倒排索引",)),
        ("倒排索引把词映射到文档。Every posting keeps a position.1", ("第一章 倒排索引",)),
        ("1.1 压缩", ("第一章 倒排索引", "1.1 压缩")),
    ]
    anchors = {block.anchor for block in blocks if block.anchor.first == 3}
    assert anchors == {Anchor("chapter", 3, 3, "Chapter 2 Vectors")}
    assert blocks[-2].kind == "code"


def test_titles_of_chapters_from_an_older_table_of_contents(tmp_path: Path) -> None:
    ncx = '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    events = read(tmp_path, book(*PAGES, manifest=ncx, **{"OEBPS/toc.ncx": NCX}))
    assert [(block.text, block.anchor.name, block.heading_path) for block in of(Block, events)] == [
        ("甲", "第一章&序", ("第一章&序",)),
        ("题", "Two", ("题",)),
        ("乙", "Two", ("题",)),
        ("丙", "Two", ()),
    ]
    assert facts(events).metadata == {"author": "甲, 乙", "date": "2026-05-01"}


def test_titles_of_chapters_from_a_newer_one_which_is_not_read_itself(tmp_path: Path) -> None:
    nav = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    content = book(*PAGES, manifest=nav, spine='<itemref idref="nav"/>', **{"OEBPS/nav.xhtml": NAV})
    events = read(tmp_path, content)
    assert [(block.anchor.name, block.anchor.first) for block in of(Block, events)] == [
        ("第一章", 1),
        ("题", 2),
        ("题", 2),
        ("题", 3),
    ]


def test_chapters_in_other_encodings(tmp_path: Path) -> None:
    declared = '<?xml version="1.0" encoding="big5"?><p>繁體</p>'.encode("big5")
    pages = (
        ("a", "<p>简体</p>".encode("gb18030")),
        ("b", "<p>宽</p>".encode("utf-16")),
        ("c", b"<p>bad \xff\xff\xff</p>"),
        ("d", declared),
    )
    events = read(tmp_path, book(*pages))
    assert texts(events) == ["简体", "宽", "bad \ufffd\ufffd\ufffd", "繁體"]
    assert codes(events) == {"undecodable-bytes"}


def test_chapters_that_are_missing(tmp_path: Path) -> None:
    missing = '<item id="m" href="../../gone.xhtml" media-type="application/xhtml+xml"/>'
    events = read(tmp_path, book(*PAGES, manifest=missing, spine='<itemref idref="m"/><itemref idref="none"/>'))
    assert codes(events) == {"chapters-missing"}
    assert facts(events).quality == {"chapters": 4, "chapters_missing": 1}


def test_a_protected_book(tmp_path: Path) -> None:
    encryption = '<encryption><CipherReference URI="OEBPS/{}"/></encryption>'
    with pytest.raises(LockNotOpened):
        read(tmp_path, book(*PAGES, **{"META-INF/encryption.xml": encryption.format("text/d.xhtml")}))
    events = read(tmp_path, book(*PAGES, **{"META-INF/encryption.xml": encryption.format("font.otf")}))
    assert len(of(Block, events)) == 4, "a protected typeface hides no text"


@pytest.mark.proves("epub", "limits")
def test_hostile_books(tmp_path: Path) -> None:
    with pytest.raises(FileMalformed, match="outside"):
        read(tmp_path, book(*PAGES, **{"../../../../PWNED.txt": "x"}))
    with pytest.raises(FileMalformed, match="names no package"):
        read(tmp_path, package({"mimetype": "application/epub+zip", "META-INF/container.xml": "<a/>"}))
    deep = "<div>" * 200_000 + "end"
    assert texts(read(tmp_path, book(("a", page(deep))))) == ["end"]
    assert not (tmp_path.parent / "PWNED.txt").exists()
