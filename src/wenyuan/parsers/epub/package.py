"""What an EPUB says of itself: its chapters in reading order, their titles, its metadata (EPUB 3.3, OPF 2.0)."""

from __future__ import annotations

import codecs
import html
import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from wenyuan.parsers.html.page import declared_encoding
from wenyuan.parsers.html.tokens import attributes, html_tokens
from wenyuan.parsers.office.package import cleaned_properties
from wenyuan.parsers.office.xml import part_tree
from wenyuan.parsers.office.zip_archive import ZipArchive

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_NCX = "application/x-dtbncx+xml"
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "language": "language",
    "publisher": "publisher",
    "subject": "subject",
    "description": "description",
    "date": "date",
}
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARATION_WITHIN = 4096
_REPEATED = frozenset({"creator", "subject"})


@dataclass(slots=True)
class Package:
    """The package document of a book."""

    chapters: list[str] = field(default_factory=list)
    """The parts in reading order."""
    titles: dict[str, str] = field(default_factory=dict)
    """What the table of contents calls each part that it leads to."""
    contents: str = ""
    """The part that is the table of contents itself."""
    encrypted: frozenset[str] = frozenset()
    metadata: dict[str, Any] = field(default_factory=dict)


def read_package(archive: ZipArchive) -> Package:
    """Read it. Raises `FileMalformed` where the archive is no book."""
    path = _package_path(archive)
    root = part_tree(archive, path)
    items = {item.get("id", ""): item for item in _all(root, "item")}
    package = Package(metadata=_metadata(root))
    package.encrypted = _encrypted(archive)
    for reference in _all(root, "itemref"):
        item = items.get(reference.get("idref", ""))
        if item is not None and item.get("media-type", "") in _PAGES:
            package.chapters.append(_resolved(path, item.get("href", "")))
    for item in items.values():
        if "nav" in item.get("properties", "").split():
            package.contents = _resolved(path, item.get("href", ""))
    older = next((item.get("href", "") for item in items.values() if item.get("media-type") == _NCX), "")
    older = _resolved(path, older)
    if package.contents in archive:
        package.titles = _titles(archive, package.contents, _nav_entries)
    if not package.titles and older in archive:
        package.titles = _titles(archive, older, _ncx_entries)
    return package


def page_text(content: bytes) -> str:
    """The text of a page: UTF-8 or UTF-16, as books must be, or else what it declares or what old Chinese ones are in.

    What decodes in none of them becomes U+FFFD.
    """
    mark = next((codec for sign, codec in _MARKS if content.startswith(sign)), "")
    for codec in (mark or "utf-8", declared_encoding(content[:_DECLARATION_WITHIN]), "gb18030"):
        try:
            text = content.decode(codec)
        except (UnicodeDecodeError, LookupError):
            continue
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return content.decode("utf-8", "replace")


def _package_path(archive: ZipArchive) -> str:
    for element in _all(part_tree(archive, _CONTAINER), "rootfile"):
        path: str = element.get("full-path", "")
        if path in archive:
            return path
    raise archive.malformed("it names no package document")


def _metadata(root: _Element) -> dict[str, Any]:
    found: dict[str, str] = {}
    for element in _all(root, "metadata"):
        for one in element.iter():
            name = one.tag.rpartition("}")[2]
            key, text = _PROPERTIES.get(name), " ".join((one.text or "").split())
            if name == "meta" and one.get("property") == "dcterms:modified":
                found["modified"] = text
            elif key and text and key in found and name in _REPEATED:
                found[key] += f", {text}"
            elif key and text:
                found.setdefault(key, text)
    return cleaned_properties(found)


def _encrypted(archive: ZipArchive) -> frozenset[str]:
    if _ENCRYPTION not in archive:
        return frozenset()
    return frozenset(unquote(one.get("URI", "")) for one in _all(part_tree(archive, _ENCRYPTION), "CipherReference"))


def _titles(archive: ZipArchive, part: str, entries: Callable[[str], list[tuple[str, str]]]) -> dict[str, str]:
    titles: dict[str, str] = {}
    for reference, title in entries(page_text(archive.read(part))):
        target = _resolved(part, reference.partition("#")[0])
        if title:
            titles.setdefault(target, title)
    return titles


def _nav_entries(text: str) -> list[tuple[str, str]]:
    """The links in `nav` elements that are tables of contents."""
    entries: list[tuple[str, str]] = []
    is_contents, reference, words = False, "", ""
    for kind, value, source, _ in html_tokens([text], frozenset({"nav", "a"})):
        if value == "nav" and kind != "text":
            is_contents = kind == "start" and attributes(source).get("epub:type", "toc") == "toc"
        elif value == "a" and kind == "start":
            reference, words = attributes(source).get("href", ""), ""
        elif kind == "text":
            words += value
        elif is_contents and reference:
            entries.append((reference, _clean(words)))
            reference = ""
    return entries


def _ncx_entries(text: str) -> list[tuple[str, str]]:
    """The points of an NCX, which may have a document type and so is not read as XML."""
    entries: list[tuple[str, str]] = []
    words = ""
    for kind, value, source, _ in html_tokens([text], frozenset({"navlabel", "content"})):
        if kind == "text":
            words += value
        elif value == "navlabel" and kind == "start":
            words = ""
        elif value == "content" and kind == "start":
            entries.append((attributes(source).get("src", ""), _clean(words)))
    return entries


def _clean(words: str) -> str:
    return " ".join(html.unescape(words).split())


def _all(root: _Element, name: str) -> list[_Element]:
    return [element for element in root.iter() if element.tag.rpartition("}")[2] == name]


def _resolved(base: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(reference)))
