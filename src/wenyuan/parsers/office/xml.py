"""The XML inside of office documents: no entities, no document types, nothing fetched, depth bounded.

libxml2 itself refuses more than 256 levels and values of more than 10 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wenyuan.errors import FileOverLimit
from wenyuan.parsers.office.zip_archive import ZipArchive

if TYPE_CHECKING:
    from lxml.etree import XMLSyntaxError, _Element

_NO_MEMORY = 2
_HAS_TYPE = "declares a document type, which no office program writes"
LARGEST_TREE = 48_000_000
"""Bytes of a part that is read as a tree; what may be larger is streamed."""


def part_tree(archive: ZipArchive, part: str) -> _Element:
    """The root of one part, in memory as a whole.

    Raises `FileMalformed` for broken XML, and for any document type (XXE, billion laughs), `FileOverLimit`
    beyond `LARGEST_TREE`, and what reading the archive raises.
    """
    with archive.open(part) as file:
        content = file.readall()
    if len(content) > LARGEST_TREE:
        raise FileOverLimit(name=archive.name, what=f"a part {part} of {len(content):,} bytes")
    return parsed_xml(content, archive, part)


def parsed_xml(content: bytes, archive: ZipArchive, part: str) -> _Element:
    """The root of `content`, which is the XML of `part`. Raises `FileMalformed`."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise archive.malformed(_fault(part, error)) from error
    _refuse_document_type(root, archive, part)
    return root


def streamed_elements(archive: ZipArchive, part: str, *tags: str) -> Iterator[_Element]:
    """Yield each element of `part` that has one of `tags`, when it ends; an inner one goes before an outer one.

    Give memory back with `release` for what has been dealt with. Raises like `part_tree`, but knows no limit
    of size besides the archive's own.
    """
    from lxml import etree

    with archive.open(part) as file:
        events = etree.iterparse(
            file,
            events=("end",),
            tag=tags,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
            collect_ids=False,
        )
        is_checked = False
        try:
            for _, element in events:
                if not is_checked:
                    _refuse_document_type(element, archive, part)
                    is_checked = True
                yield element
        except etree.XMLSyntaxError as error:
            raise archive.malformed(_fault(part, error)) from error
        if not is_checked and events.root is not None:
            _refuse_document_type(events.root, archive, part)


def release(element: _Element) -> None:
    """Forget what is in a streamed element, and its siblings before it."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        del parent[: parent.index(element)]


def _fault(part: str, error: XMLSyntaxError) -> str:
    if getattr(error, "code", 0) == _NO_MEMORY:
        raise MemoryError from error
    if "entity" in error.msg:
        # Entities can only come from a document type.
        return f"its part {part} {_HAS_TYPE}"
    return f"its part {part}: {error.msg}"


def _refuse_document_type(element: _Element, archive: ZipArchive, part: str) -> None:
    if element.getroottree().docinfo.internalDTD is not None:
        raise archive.malformed(f"its part {part} {_HAS_TYPE}")
