"""What all Office Open XML packages have: parts that refer to one another, and properties (ECMA-376 part 2)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from wenyuan.parsers.office.xml import part_tree
from wenyuan.parsers.office.zip_archive import ZipArchive

RELATIONSHIPS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
STRICT_RELATIONSHIPS = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"

_CORE = "docProps/core.xml"
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "description": "description",
    "category": "category",
    "created": "created",
    "modified": "modified",
}
_LONGEST_PROPERTY = 1_000
# What programs write on their own says nothing about the document.
_NO_TITLE = re.compile(
    r"(?:powerpoint (?:presentation|演示文稿)|演示文稿\s*\d*|幻灯片\s*\d+|slide\s*\d+|presentation\s*\d*|document\s*\d*"
    r"|文档\s*\d*|untitled|无标题|未命名|word document|microsoft word\b.*|microsoft powerpoint\b.*)",
    re.IGNORECASE,
)
_LONGEST_MARGIN = 500
_PAGE_NUMBER = re.compile(r"[\W\d]*(?:第?[\W\d]*页?[\W\d]*共?[\W\d]*页?|page[\W\d]*(?:of)?[\W\d]*)", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d)?")
_FIRST_YEAR = "1980-01-01"
"""What programs write that do not know: the first day of DOS, or of UNIX."""


class Relation(NamedTuple):
    """Where a part refers to: the last word of the relationship's type, and the other part's name."""

    kind: str
    target: str
    is_external: bool


def relations(archive: ZipArchive, part: str) -> dict[str, Relation]:
    """What `part` refers to, by id; nothing if it refers to nothing. With "" what the whole package refers to."""
    folder, base = posixpath.split(part)
    name = posixpath.join(folder, "_rels", f"{base}.rels")
    if name not in archive:
        return {}
    found = {}
    for element in part_tree(archive, name):
        target = element.get("Target", "")
        is_external = element.get("TargetMode") == "External"
        if not is_external:
            target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
        found[element.get("Id", "")] = Relation(element.get("Type", "").rpartition("/")[2], target, is_external)
    return found


def related(found: dict[str, Relation], kind: str) -> list[str]:
    """The parts that are referred to as `kind`, in their order."""
    return [relation.target for relation in found.values() if relation.kind == kind and not relation.is_external]


def main_part(archive: ZipArchive, usual: str) -> str:
    """The part that holds the document itself, which is nearly always the `usual` one."""
    if usual in archive:
        return usual
    return next(iter(related(relations(archive, ""), "officeDocument")), usual)


def core_properties(archive: ZipArchive) -> dict[str, Any]:
    """What the document says of itself, under the names that all readers use; dates in ISO 8601."""
    part = next(iter(related(relations(archive, ""), "core-properties")), _CORE)
    if part not in archive:
        return {}
    found: dict[str, Any] = {}
    for element in part_tree(archive, part):
        key = _PROPERTIES.get(element.tag.rpartition("}")[2])
        if key and element.text:
            found[key] = element.text
    return cleaned_properties(found)


def cleaned_properties(found: dict[str, str]) -> dict[str, Any]:
    """The properties that say something: no empty ones, no titles that programs make up, no dates that are none."""
    cleaned: dict[str, Any] = {}
    for key, value in found.items():
        value = " ".join(value.split())[:_LONGEST_PROPERTY]
        if key in ("created", "modified"):
            date = _DATE.match(value)
            value = date[0] if date and date[0] > _FIRST_YEAR and not date[0].startswith("1970-01-01") else ""
        if value and not (key == "title" and _NO_TITLE.fullmatch(value)):
            cleaned[key] = value
    return cleaned


def margins_of(texts: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """What stands at the top (`header`) and the bottom (`footer`) of pages, each once, without mere page numbers."""
    found = {}
    for kind, several in texts.items():
        words = dict.fromkeys(" ".join(text.split()) for text in several)
        shown = " | ".join(text for text in words if not _PAGE_NUMBER.fullmatch(text))
        if shown:
            found[kind] = shown[:_LONGEST_MARGIN]
    return found
