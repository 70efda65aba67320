"""A citation leads back to the place: lines, cells, pages as pictures; and knows whether the file has changed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.archive_files import written
from wenyuan.errors import CitationNotFound, InvalidValue, PlaceHasNoPicture
from wenyuan.parsers import rendering
from wenyuan.parsers.rendering import render
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader
from wenyuan.parsers.wire import Request
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig

FILES = Path(__file__).parents[1] / "fixtures" / "files"


def cited(library: Library, question: str) -> str:
    return library.search(question, arms=("structured",)).hits[0].passage.chunk_id


def test_lines_of_text_and_code_have_their_numbers(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "站点.py"
    path.write_text('"""Stations."""\n\nDEPTH = 3\n\n\ndef code():\n    return "PPR-9087"\n', "utf-8")
    library.add(path)
    place = library.documents.open(cited(library, "PPR-9087"))
    lines = path.read_text("utf-8").split("\n")
    assert place.first_line is not None
    assert place.passage.split("\n") == lines[place.first_line - 1 : place.anchor.last]
    assert not place.has_picture


def test_rows_come_below_their_header(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    rows = "".join(f"PPR-{9000 + number},印刷纸 {number},{number}\n" for number in range(200))
    path.write_text(f"code,name,left\n{rows}", "utf-8")
    library.add(path)
    place = library.documents.open(cited(library, "PPR-9150"))
    assert place.table[0] == ("code", "name", "left")
    assert ("PPR-9150", "印刷纸 150", "150") in place.table
    assert len(place.table) - 1 == place.anchor.last - place.anchor.first + 1


def test_what_was_only_cut_or_read_anew_has_not_changed(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "手册.md"
    path.write_text("# 报销\n\n差旅每天补贴八十元，编号 PPR-9087。", "utf-8")
    library.add(path)
    citation = cited(library, "PPR-9087")
    library.rebuilds.begin("default", chunking=ChunkingConfig(400, 0))
    library.drain()
    assert not library.documents.open(citation).changed_since
    library.rebuilds.begin("default", rereads=True)
    library.drain()
    assert not library.documents.open(citation).changed_since
    path.write_text("# 报销\n\n差旅每天补贴一百元，编号 PPR-9087。", "utf-8")
    library.add(path)
    assert library.documents.open(citation).changed_since
    assert not library.documents.open(cited(library, "PPR-9087")).changed_since


def test_a_place_inside_of_an_archive_opens(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path / "a.zip", {"x/stock.csv": "code,name\nPPR-9087,印刷纸\n"}))
    place = library.documents.open(cited(library, "PPR-9087"))
    assert place.document.name == "a.zip › x/stock.csv"
    assert place.table == (("code", "name"), ("PPR-9087", "印刷纸"))


# --- Pictures ------------------------------------------------------------------------------------


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "scan.png"
    Image.new("RGB", (200, 100), "white").save(path)
    return path


def test_a_page_is_shown_with_its_passage_lit(library: Library) -> None:
    library.add(FILES / "handbook.pdf")
    hit = library.search("差旅标准").hits[0]
    citation, box = hit.passage.chunk_id, hit.passage.chunk.anchor.boxes[0]
    assert library.documents.open(citation).has_picture
    shown = library.documents.picture(citation, scale=2.0)
    drawn = Image.open(io.BytesIO(shown.png)).convert("RGB")
    assert shown.page == box.page
    assert drawn.getpixel((2 * box.left - 1, box.top + box.bottom)) == (255, 232, 120)
    assert drawn.getpixel((2, 2)) == (255, 255, 255)


def test_what_has_no_pages_has_no_picture(library: Library, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("编号 PPR-9087", "utf-8")
    library.add(tmp_path / "note.txt")
    citation = cited(library, "PPR-9087")
    with pytest.raises(PlaceHasNoPicture):
        library.documents.picture(citation)
    with pytest.raises(InvalidValue):
        library.documents.picture(citation, scale=100.0)
    with pytest.raises(CitationNotFound):
        library.documents.picture("rev_1.0")


def test_a_page_is_rendered_in_the_child_process(picture: Path) -> None:
    arguments: list[Any] = [str(picture), "scan.png", "image/png", 1, [], 1.0, ""]
    with SandboxedReader(ReadLimits()) as reader:
        pieces = list(reader.make(Request(str(picture), "scan.png", "image/png", rendering.STAGE, arguments), str))
    assert pieces == list(render((), arguments))
