"""What MinerU makes of a file: the list of its contents, or a tree of its pages.

The list is the answer of `/file_parse` (MinerU 2 and 3), with boxes in thousandths of the page; the tree
is `structured_content.json` in the results of tasks (MinerU 4), with boxes in shares of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wenyuan.parsers.converted.answer import Conversion, answered_json, opened_answer
from wenyuan.parsers.converted.blocks import ConvertedBlocks
from wenyuan.parsers.converted.places import Places, share_of
from wenyuan.parsers.office.zip_archive import ZipArchive, opened_archive
from wenyuan.parsers.text.lines import LineReader
from wenyuan.parsers.text.markdown import MarkdownScanner
from wenyuan.types import Block, BlockKind, ReadEvent

_RUNNING = frozenset({"header", "footer", "page_number", "discarded"})
_THOUSANDTHS = 1000.0
_ZIP = b"PK\x03\x04"
_TREE, _LIST, _MARKDOWN = "structured_content.json", "content_list.json", ".md"
# CommonMark 2.4: a backslash before ASCII punctuation stands for nothing.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_FENCED = re.compile(r"\A\s*(`{3,}|~{3,})[^\n]*\n(.*?)\n?\1\s*\Z", re.S)


class MineruParser:
    """Reads the answer of `/file_parse`."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Raises `ReaderAnswerInvalid`."""
        with opened_answer(path) as (conversion, file):
            answer = answered_json(conversion, file.read(), name)
        match answer:
            case {"results": dict(results)} if len(results) == 1:
                (result,) = results.values()
                contents = result.get("content_list") if isinstance(result, dict) else None
                yield from _from_list(conversion, contents, name)
            case _:
                raise conversion.invalid(name, "it does not hold the result for one file")


class MineruTasksParser:
    """Reads the result of a task: an archive, of which the part is read that tells most; or that part alone."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Raises `ReaderAnswerInvalid`, and what archives raise."""
        with opened_answer(path) as (conversion, file):
            data = file.read(len(_ZIP))
            data = data if data == _ZIP else data + file.read()
        if data != _ZIP:
            yield from _from_json(conversion, answered_json(conversion, data, name), name)
            return
        with opened_archive(path, name, "ZIP archive") as archive:
            yield from _from_archive(conversion, archive, name)


def _from_archive(conversion: Conversion, archive: ZipArchive, name: str) -> Iterator[ReadEvent]:
    for ending in (_TREE, _LIST, _MARKDOWN):
        members = sorted((member for member in archive.names if member.endswith(ending)), key=len)
        if not members:
            continue
        data = archive.read(members[0])
        if ending == _MARKDOWN:
            yield from _from_markdown(conversion, data.decode("utf-8", "replace"))
        else:
            yield from _from_json(conversion, answered_json(conversion, data, name), name)
        return
    raise conversion.invalid(name, f"its archive holds no {_TREE}, {_LIST} or Markdown")


def _from_json(conversion: Conversion, value: Any, name: str) -> Iterator[ReadEvent]:
    match value:
        case {"pages": [*pages]}:
            return _from_tree(conversion, pages)
        case [*_]:
            return _from_list(conversion, value, name)
    raise conversion.invalid(name, "it holds neither pages nor a list of contents")


# --- The list -------------------------------------------------------------------------------------


def _from_list(conversion: Conversion, contents: Any, name: str) -> Iterator[ReadEvent]:
    if isinstance(contents, str):
        contents = answered_json(conversion, contents.encode("utf-8", "replace"), name)
    if not isinstance(contents, list) or not all(isinstance(item, dict) for item in contents):
        raise conversion.invalid(name, "it holds no list of contents")
    builder = ConvertedBlocks(Places(conversion), conversion.reader)
    for item in contents:
        yield from _item_blocks(builder, item)
    yield builder.facts()


def _item_blocks(builder: ConvertedBlocks, item: Mapping[str, Any]) -> Iterator[Block]:
    kind, page = _kind(item), _page(item.get("page_idx"))
    share = share_of(item.get("bbox"), _THOUSANDTHS, _THOUSANDTHS)
    if kind in _RUNNING:
        builder.left_out()
        return
    for caption in _texts(item, "caption"):
        yield from builder.text("caption", caption, page, share)
    match kind:
        case "table":
            yield from builder.table(item.get("table_body"), item.get("text"), page, share)
        case "code":
            yield from builder.text("code", item.get("code_body"), page, share)
        case "list":
            entries = item.get("list_items")
            for entry in entries if isinstance(entries, list) else [item.get("text")]:
                yield from builder.item(entry, 0, page, share)
        case _ if item.get("text_level"):
            yield from builder.heading(item.get("text"), item.get("text_level"), page, share)
        case _:
            yield from builder.text("paragraph", item.get("text"), page, share)
    for note in _texts(item, "footnote"):
        yield from builder.text("paragraph", note, page, share)


def _texts(item: Mapping[str, Any], ending: str) -> Iterator[Any]:
    """The captions or footnotes of a table, picture, chart or piece of code, by whichever name."""
    for name, value in item.items():
        if name.endswith(f"_{ending}") and isinstance(value, list):
            yield from value


# --- The tree -------------------------------------------------------------------------------------

_KINDS: Mapping[str, BlockKind] = {"list": "list", "index": "list", "code": "code"}
_PICTURES = frozenset({"image", "chart"})
_TITLES = frozenset({"doc_title", "paragraph_title"})


def _from_tree(conversion: Conversion, pages: list[Any]) -> Iterator[ReadEvent]:
    builder = ConvertedBlocks(Places(conversion), conversion.reader)
    for page in pages:
        match page:
            case {"blocks": [*blocks]}:
                number = _page(page.get("page_idx"))
                for block in blocks:
                    if isinstance(block, dict):
                        yield from _tree_blocks(builder, block, number)
    yield builder.facts()


def _tree_blocks(builder: ConvertedBlocks, block: Mapping[str, Any], page: int | None) -> Iterator[Block]:
    kind, content, share = _kind(block), block.get("content"), share_of(block.get("bbox"))
    if kind in _RUNNING:
        builder.left_out()
        return
    yield from _annotations(builder, "caption", block.get("captions"), page)
    if kind in _TITLES:
        yield from builder.heading(_plain(content), block.get("level"), page, share)
    elif kind == "table":
        yield from builder.table(content, _plain(content), page, share)
    elif kind == "code" and isinstance(content, str) and (fenced := _FENCED.match(content)):
        yield from builder.text("code", fenced[2], page, share)
    elif kind not in _PICTURES:
        # A picture is shown by its address, which leads nowhere from here.
        yield from builder.text(_KINDS.get(kind, "paragraph"), _plain(content), page, share)
    yield from _annotations(builder, "paragraph", block.get("footnotes"), page)


def _annotations(builder: ConvertedBlocks, kind: BlockKind, values: Any, page: int | None) -> Iterator[Block]:
    for value in values if isinstance(values, list) else ():
        if isinstance(value, dict):
            yield from builder.text(kind, _plain(value.get("content")), page, share_of(value.get("bbox")))


def _plain(content: Any) -> str:
    """Markdown's text without the backslashes that keep it from being taken for markup."""
    return _ESCAPED.sub(r"\1", content) if isinstance(content, str) else ""


# --- Markdown -------------------------------------------------------------------------------------


def _from_markdown(conversion: Conversion, text: str) -> Iterator[ReadEvent]:
    """Blocks that only their order leads back to the original."""
    places = Places(conversion)
    builder = ConvertedBlocks(places, conversion.reader)
    scanner = MarkdownScanner(LineReader(text.split("\n")))
    for block in scanner.blocks():
        yield Block(block.kind, block.text, places.at(None), block.heading_path, block.context, block.joiner)
    builder.title = scanner.title
    yield builder.facts()


def _kind(item: Mapping[str, Any]) -> str:
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def _page(index: Any) -> int | None:
    return index + 1 if type(index) is int else None
