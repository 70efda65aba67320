"""What stands on a sheet of an Excel workbook besides its cells: comments, charts and text boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wenyuan.parsers.office.package import RELATIONSHIPS, STRICT_RELATIONSHIPS, Relation, related, relations
from wenyuan.parsers.office.xml import part_tree
from wenyuan.parsers.office.zip_archive import ZipArchive
from wenyuan.parsers.sheets.sheet_cells import LAST_COLUMN, LAST_ROW, Area, Remark, area
from wenyuan.parsers.sheets.xlsx_values import rich_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_THREADED = "[Threaded comment]"
_MOST_SERIES = 30


def relation_id(element: _Element) -> str:
    """Which relationship an element names."""
    return element.get(f"{RELATIONSHIPS}id") or element.get(f"{STRICT_RELATIONSHIPS}id") or ""


def sheet_remarks(archive: ZipArchive, found: dict[str, Relation], persons: dict[str, str]) -> list[Remark]:
    """The remarks on the sheet that refers to these parts; conversations stand for the comments that repeat them."""
    remarks: list[Remark] = []
    for part in _existing(archive, found, "threadedComment"):
        remarks.extend(_conversations(part_tree(archive, part), persons))
    for part in _existing(archive, found, "comments"):
        remarks.extend(_comments(part_tree(archive, part)))
    for part in _existing(archive, found, "drawing"):
        remarks.extend(_drawings(archive, part))
    return remarks


def persons(archive: ZipArchive, parts: list[str]) -> dict[str, str]:
    """Who the authors of conversations are, by their ids."""
    return {
        person.get("id", ""): person.get("displayName", "")
        for part in parts
        if part in archive
        for person in part_tree(archive, part).iterchildren("{*}person")
    }


def _existing(archive: ZipArchive, found: dict[str, Relation], kind: str) -> list[str]:
    return [part for part in related(found, kind) if part in archive]


def _comments(root: _Element) -> Iterator[Remark]:
    authors = [author.text or "" for author in root.iterfind("{*}authors/{*}author")]
    for comment in root.iterfind("{*}commentList/{*}comment"):
        place = area(comment.get("ref", ""))
        body = comment.find("{*}text")
        text = rich_text(body).strip() if body is not None else ""
        if place is None or not text or text.startswith(_THREADED):
            continue
        number = comment.get("authorId", "")
        author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
        yield Remark("comment", place, _said(author, text))


def _conversations(root: _Element, persons: dict[str, str]) -> Iterator[Remark]:
    said: dict[Area, list[str]] = {}
    for comment in root.iterchildren("{*}threadedComment"):
        place = area(comment.get("ref", ""))
        text = "".join(map(str, comment.itertext("{*}text"))).strip()
        if place is not None and text:
            said.setdefault(place, []).append(_said(persons.get(comment.get("personId", ""), ""), text))
    for place, texts in said.items():
        yield Remark("comment", place, "\n".join(texts))


def _said(author: str, text: str) -> str:
    author = author.strip()
    return text if not author or text.startswith(author) else f"{author}: {text}"


def _drawings(archive: ZipArchive, part: str) -> Iterator[Remark]:
    charts = {key: link.target for key, link in relations(archive, part).items() if link.kind.startswith("chart")}
    for anchor in part_tree(archive, part).iterchildren("{*}twoCellAnchor", "{*}oneCellAnchor", "{*}absoluteAnchor"):
        place = _place(anchor)
        for body in anchor.iter("{*}txBody"):
            text = _paragraphs(body)
            if text:
                yield Remark("drawing", place, text)
        for picture in anchor.iterfind(".//{*}pic//{*}cNvPr"):
            if picture.get("descr"):
                yield Remark("drawing", place, picture.get("descr", ""))
        for chart in anchor.iterfind(".//{*}chart"):
            target = charts.get(relation_id(chart), "")
            text = _chart_text(part_tree(archive, target)) if target in archive else ""
            if text:
                yield Remark("drawing", place, text)


def _place(anchor: _Element) -> Area:
    first = _corner(anchor.find("{*}from"), (1, 1))
    last = _corner(anchor.find("{*}to"), first)
    return Area(first[0], first[1], max(first[0], last[0]), max(first[1], last[1]))


def _corner(element: _Element | None, otherwise: tuple[int, int]) -> tuple[int, int]:
    if element is None:
        return otherwise
    row, column = (element.findtext(f"{{*}}{name}") or "" for name in ("row", "col"))
    if not (row.isdecimal() and column.isdecimal() and len(row) < 9 and len(column) < 9):
        return otherwise
    return min(int(row) + 1, LAST_ROW), min(int(column) + 1, LAST_COLUMN)


def _chart_text(root: _Element) -> str:
    """A chart's title, the titles of its axes and the names of its series."""
    titles = [" ".join(_paragraphs(title).split()) for title in root.iter("{*}title")]
    cached = [value.text or "" for value in root.iterfind(".//{*}ser/{*}tx//{*}v")]
    unnamed = [value.text or "" for value in root.iterfind(".//{*}title//{*}v")]
    words = dict.fromkeys(filter(None, [*titles, *unnamed, *cached[:_MOST_SERIES]]))
    return "; ".join(words)


def _paragraphs(body: _Element) -> str:
    paragraphs = ("".join(map(str, paragraph.itertext("{*}t"))) for paragraph in body.iter("{*}p"))
    return "\n".join(filter(None, (paragraph.strip() for paragraph in paragraphs)))
