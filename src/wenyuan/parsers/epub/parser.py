"""Electronic books (EPUB 3.3 and 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wenyuan.errors import LockNotOpened
from wenyuan.parsers.epub.package import Package, page_text, read_package
from wenyuan.parsers.html.blocks import STRUCTURAL_TAGS, HtmlBlocks
from wenyuan.parsers.html.tokens import html_tokens
from wenyuan.parsers.office.zip_archive import ZipArchive, opened_archive
from wenyuan.types import Anchor, Block, Facts, Notice, ReadEvent

MEDIA_TYPE = "application/epub+zip"

_MOST_NAMED = 20


class EpubParser:
    """Reads a book chapter by chapter, each as the page that it is."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        with opened_archive(path, name, "EPUB") as archive:
            package = read_package(archive)
            title = str(package.metadata.pop("title", ""))
            language = str(package.metadata.pop("language", ""))
            yield Facts(MEDIA_TYPE, "", title, language, package.metadata)
            chapters = _Chapters(archive, package)
            yield from chapters.blocks()
            yield Facts(MEDIA_TYPE, "", title, language, package.metadata, chapters.quality())
            yield from chapters.notices()


class _Chapters:
    """The chapters of one book while they are read."""

    def __init__(self, archive: ZipArchive, package: Package) -> None:
        self._archive = archive
        self._package = package
        self._count = 0
        self._name = ""
        self._silent = 0
        self._damaged: list[int] = []
        self._missing: list[str] = []

    def blocks(self) -> Iterator[Block]:
        for part in self._package.chapters:
            self._count += 1
            if part == self._package.contents:
                continue
            if part in self._package.encrypted:
                raise LockNotOpened(name=self._archive.name, format="an EPUB book")
            if part not in self._archive:
                self._missing.append(part)
                continue
            yield from self._chapter(part)

    def _chapter(self, part: str) -> Iterator[Block]:
        text = page_text(self._archive.read(part))
        if "\ufffd" in text:
            self._damaged.append(self._count)
        builder = HtmlBlocks()
        for token in html_tokens([text], STRUCTURAL_TAGS):
            builder.take(token)
        builder.close()
        title = self._package.titles.get(part, "")
        # A page that the table of contents does not know goes on with the chapter before it.
        self._name = title or builder.top_heading or self._name
        anchor = Anchor("chapter", self._count, self._count, self._name)
        for block in builder.ready:
            path = block.heading_path or ((title,) if title else ())
            yield replace(block, anchor=anchor, heading_path=path)
        self._silent += not builder.ready

    def quality(self) -> dict[str, int]:
        counts = {
            "chapters": self._count,
            "chapters_without_text": self._silent,
            "chapters_missing": len(self._missing),
        }
        return {key: count for key, count in counts.items() if count}

    def notices(self) -> Iterator[Notice]:
        if self._missing:
            shown = ", ".join(self._missing[:_MOST_NAMED])
            yield Notice("chapters-missing", f"The book names chapters that are not in its file: {shown}.")
        if self._damaged:
            shown = ", ".join(map(str, self._damaged[:_MOST_NAMED]))
            yield Notice("undecodable-bytes", f"Some characters could not be decoded in these chapters: {shown}.")
