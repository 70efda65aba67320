from __future__ import annotations

from pathlib import Path

import pytest

from tests.parsers.office_files import package
from wenyuan.errors import FileMalformed, FileOverLimit
from wenyuan.parsers.office import xml as office_xml
from wenyuan.parsers.office.xml import part_tree, release, streamed_elements
from wenyuan.parsers.office.zip_archive import opened_archive

LAUGHS = "<!DOCTYPE a [<!ENTITY l0 'ha'>{}]><a>{}</a>".format(
    "".join(f"<!ENTITY l{level + 1} '{f'&l{level};' * 10}'>" for level in range(12)), "<b>&l12;</b>"
)
EXTERNAL = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a><b>&x;</b></a>"
HARMLESS = "<!DOCTYPE a><a><b>x</b></a>"
IN_ATTRIBUTE = LAUGHS.replace("<b>&l12;</b>", "<b c='&l12;'/>")
IN_UTF_7 = b'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE a []+AD4-<a/>'
DEEP = "<a>" * 200_000 + "</a>" * 200_000
BROKEN = "<a><b></a>"


def both_ways(folder: Path, content: str | bytes) -> tuple[list[str | None], list[str | None]]:
    """The texts of `b` in a part, once from its tree and once from its stream."""
    path = folder / "a.zip"
    path.write_bytes(package({"a.xml": content}))
    with opened_archive(path, "a.docx", "Word") as archive:
        tree = [element.text for element in part_tree(archive, "a.xml").iter("b")]
        return tree, [element.text for element in streamed_elements(archive, "a.xml", "b")]


def test_a_tree_and_a_stream_have_the_same(tmp_path: Path) -> None:
    assert both_ways(tmp_path, "<a><!-- c --><b>1</b><c><b>二</b></c><?p i?></a>") == (["1", "二"], ["1", "二"])


@pytest.mark.parametrize(
    "content",
    [LAUGHS, EXTERNAL, HARMLESS, IN_ATTRIBUTE, IN_UTF_7, DEEP, BROKEN, ""],
    ids=["laughs", "external", "harmless", "attribute", "utf-7", "deep", "broken", "empty"],
)
def test_what_is_refused(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(package({"a.xml": content}))
    with opened_archive(path, "a.docx", "Word") as archive:
        with pytest.raises(FileMalformed, match=r"a\.docx is not valid Word: its part a\.xml"):
            part_tree(archive, "a.xml")
        with pytest.raises(FileMalformed, match=r"a\.docx is not valid Word: its part a\.xml"):
            list(streamed_elements(archive, "a.xml", "b"))


def test_very_many_attributes(tmp_path: Path) -> None:
    attributes = " ".join(f"x{number}='1'" for number in range(300_000))
    content = f"<a><b {attributes}>x</b></a>"
    assert both_ways(tmp_path, content) == (["x"], ["x"])


def test_a_large_part_is_streamed_but_no_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office_xml, "LARGEST_TREE", 1_000)
    path = tmp_path / "a.zip"
    path.write_bytes(package({"a.xml": f"<a>{'<b>x</b>' * 1_000}</a>"}))
    with opened_archive(path, "a.docx", "Word") as archive:
        with pytest.raises(FileOverLimit, match="8,007 bytes"):
            part_tree(archive, "a.xml")
        assert sum(1 for _ in streamed_elements(archive, "a.xml", "b")) == 1_000


def test_what_is_released_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(package({"a.xml": f"<a>{'<b>x</b>tail' * 1_000}</a>"}))
    with opened_archive(path, "a.docx", "Word") as archive:
        for element in streamed_elements(archive, "a.xml", "b"):
            parent = element.getparent()
            assert parent is not None
            assert parent.index(element) <= 1, "only the last one that was released is left"
            assert element.text == "x"
            release(element)
            assert element.text is None
