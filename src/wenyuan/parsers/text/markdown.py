"""Markdown (CommonMark with GitHub's tables): its blocks, line by line, in one pass.

Only the block structure is parsed, and only at the top level: a list item or a quotation is one
block with all that is in it. That needs no tree and no look further than one line ahead, so a file
of any size streams through; the text of a block is its source, one to one with the file's lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.front_matter import FrontMatter, take_front_matter
from wenyuan.parsers.text.lines import BLOCK_CHARACTERS, LineReader, text_lines
from wenyuan.parsers.text.markdown_lines import (
    CODE_INDENTATION,
    HtmlStart,
    Item,
    closes_fence,
    delimiter_columns,
    header_columns,
    heading_level,
    heading_text,
    html_start,
    indentation,
    is_blank,
    is_break,
    is_quote,
    list_item,
    opening_fence,
    starts_block,
    underline_level,
)
from wenyuan.types import Anchor, Block, BlockKind, Facts, Notice, ReadEvent

_LONGEST_HEADING = 200
_DEEPEST_NESTING = 20
_HAS_MARKUP = re.compile(r"[*_`\[\]<>\\&!~]")
_ATTRIBUTES = re.compile(r"\s+\{(?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"]*\"|[\w.-]+)|\s)+\}\s*$")

GoesOn = Callable[[str], bool]


class MarkdownParser:
    """Reads Markdown; front matter becomes metadata, the first top heading the title."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield from encoding.notices
        reader = LineReader(text_lines(decoded_pieces(path, encoding)))
        front = take_front_matter(reader) or FrontMatter({}, "", [])
        if front.problem:
            yield Notice("front-matter-invalid", f"The front matter could not be read: {front.problem}.")
            yield Block("code", "\n".join(front.lines), Anchor("lines", 1, len(front.lines)))
        title = str(front.metadata.get("title") or "")
        language = str(front.metadata.get("lang") or front.metadata.get("language") or "")
        if title:
            yield Facts("text/markdown", encoding.codec, title, language, front.metadata)
        scanner = MarkdownScanner(reader)
        yield from scanner.blocks()
        if not title:
            yield Facts("text/markdown", encoding.codec, scanner.title, language, front.metadata)


class MarkdownScanner:
    """Takes lines off a reader and makes blocks of them."""

    def __init__(self, reader: LineReader) -> None:
        self.title = ""
        """Text of the first heading of the highest level so far."""
        self._reader = reader
        self._headings: list[tuple[int, str]] = []
        self._title_level = 7
        self._after_item = False
        self._inline = MarkdownIt("commonmark")

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the document."""
        while (line := self._reader.current) is not None:
            if is_blank(line):
                self._reader.take()
                self._after_item = False
                continue
            item_joiner = "\n" if self._after_item else "\n\n"
            self._after_item = False
            yield from self._block(line, item_joiner)

    def _block(self, line: str, item_joiner: str) -> Iterator[Block]:
        """Take the block that begins with `line`, the current one."""
        if indentation(line) >= CODE_INDENTATION:
            return self._run("code", _while_indented)
        if fence := opening_fence(line):
            return self._run("code", _until_closing(fence))
        if is_quote(line):
            return self._run("paragraph", _while_quoted(line))
        if is_break(line):
            self._reader.take()
            return iter(())
        if item := list_item(line):
            return self._item(item, item_joiner)
        if html := html_start(line):
            return self._html(html)
        if level := heading_level(line):
            return iter([self._heading(level, heading_text(line), [self._reader.take()])])
        return self._paragraph()

    def _run(
        self, kind: BlockKind, goes_on: GoesOn, joiner: str = "\n\n", context: str = ""
    ) -> Generator[Block, None, bool]:
        """Take the current line and those after it for which `goes_on` holds, asked once for each.

        Yields them as one block, or several that join again if they are many. Returns whether the
        last line taken was not blank.
        """
        lines = [self._reader.take()]
        size = len(lines[0])
        while self._reader.current is not None and goes_on(self._reader.current):
            if size >= BLOCK_CHARACTERS and not is_blank(lines[-1]):
                yield self._made(kind, lines, joiner, context)
                lines, size, joiner = [], 0, "\n"
            lines.append(self._reader.take())
            size += len(lines[-1])
        blank = 0
        while blank < len(lines) and is_blank(lines[-1 - blank]):
            blank += 1
        if blank < len(lines):
            yield self._made(kind, lines[: len(lines) - blank], joiner, context, blank)
        return not blank

    def _made(self, kind: BlockKind, lines: list[str], joiner: str, context: str = "", taken_after: int = 0) -> Block:
        last = self._reader.number - 1 - taken_after
        anchor = Anchor("lines", last - len(lines) + 1, last)
        return Block(kind, "\n".join(lines), anchor, tuple(text for _, text in self._headings), context, joiner)

    def _item(self, item: Item, joiner: str) -> Iterator[Block]:
        line = self._reader.current or ""
        self._after_item = yield from self._run("list", _while_in_item(line, item), joiner)

    def _html(self, html: HtmlStart) -> Iterator[Block]:
        """Take an HTML block; a comment is no text."""
        line = self._reader.current or ""
        is_comment = line.lstrip().startswith("<!--")
        for block in self._run("paragraph", _while_in_html(line, html)):
            if not is_comment:
                yield block

    def _heading(self, level: int, source: str, lines: list[str]) -> Block:
        text = self._plain(source)
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, text))
        if level < self._title_level:
            self.title, self._title_level = text, level
        return self._made("heading", lines, "\n\n")

    def _plain(self, source: str) -> str:
        """Return the text of a heading without its inline markup, and without attributes (Pandoc's `{#id .class}`)."""
        text = _ATTRIBUTES.sub("", source[:_LONGEST_HEADING])
        if _HAS_MARKUP.search(text):
            tokens = self._inline.parseInline(text)[0].children or []
            text = "".join(token.content for token in tokens if token.type != "html_inline")
        return " ".join(text.split())

    def _paragraph(self) -> Iterator[Block]:
        """Take a paragraph, or the heading or table that its second line makes of it."""
        lines = [self._reader.take()]
        size = 0
        joiner = "\n\n"
        while (line := self._reader.current) is not None and not is_blank(line):
            if indentation(line) < CODE_INDENTATION:
                columns = delimiter_columns(line)
                if columns and columns == header_columns(lines[-1]):
                    yield from self._table(lines, joiner)
                    return
                level = underline_level(line)
                if level and joiner == "\n\n":
                    source = " ".join(map(str.strip, lines))
                    yield self._heading(level, source, [*lines, self._reader.take()])
                    return
                if starts_block(line, within_paragraph=True):
                    break
            if size >= BLOCK_CHARACTERS:
                yield self._made("paragraph", lines, joiner)
                lines, size, joiner = [], 0, "\n"
            lines.append(self._reader.take())
            size += len(line)
        yield self._made("paragraph", lines, joiner)

    def _table(self, lines: list[str], joiner: str) -> Iterator[Block]:
        """Take the table whose header is the last of `lines`, the paragraph taken so far."""
        header = lines[-1]
        if len(lines) > 1:
            yield self._made("paragraph", lines[:-1], joiner, taken_after=1)
            joiner = "\n\n"
        self._reader.put_back([header])
        yield from self._run("table", _while_rows(), joiner, header.strip())


# --- Which lines go on with a block: each is asked about once, in order ---


def _while_indented(line: str) -> bool:
    return is_blank(line) or indentation(line) >= CODE_INDENTATION


def _until_closing(fence: str) -> GoesOn:
    is_closed = False

    def goes_on(line: str) -> bool:
        nonlocal is_closed
        was_closed, is_closed = is_closed, closes_fence(line, fence)
        return not was_closed

    return goes_on


def _while_quoted(first: str) -> GoesOn:
    """A quotation's lines are marked, but a paragraph in it may go on without the mark."""
    leaf = _Leaf(first)

    def goes_on(line: str) -> bool:
        if is_quote(line):
            leaf.add(line)
            return True
        return leaf.may_go_on_with(line)

    return goes_on


def _while_in_item(first: str, item: Item) -> GoesOn:
    """A list item's lines are indented, but a paragraph in it may go on without."""
    leaf = _Leaf(first)
    is_bare = item.is_empty

    def goes_on(line: str) -> bool:
        nonlocal is_bare
        was_bare, is_bare = is_bare, False
        if is_blank(line):
            leaf.add(line)
            return not was_bare
        if indentation(line) < item.offset:
            return leaf.may_go_on_with(line)
        leaf.add(line.expandtabs(4)[item.offset :])
        return True

    return goes_on


class _Leaf:
    """What stands innermost in a quotation or list item: whether an unmarked line may continue it."""

    def __init__(self, first: str) -> None:
        self._fence = ""
        self._is_paragraph = False
        self.add(first)

    def may_go_on_with(self, line: str) -> bool:
        return self._is_paragraph and not is_blank(line) and not starts_block(line, within_paragraph=False)

    def add(self, line: str) -> None:
        text = _innermost(line)
        if self._fence:
            self._fence = "" if closes_fence(text, self._fence) else self._fence
            return
        self._fence = opening_fence(text)
        goes_on = self._is_paragraph and not underline_level(text)
        begins = not self._is_paragraph and indentation(text) < CODE_INDENTATION
        ends = self._fence or is_blank(text) or heading_level(text) or is_break(text)
        self._is_paragraph = (goes_on or begins) and not ends


def _innermost(line: str) -> str:
    """Return a line without the marks of the quotations and list items that begin on it."""
    for _ in range(_DEEPEST_NESTING):
        if is_quote(line):
            line = line.lstrip(" ")[1:].removeprefix(" ")
        elif not is_break(line) and (item := list_item(line)):
            line = line.expandtabs(4)[item.offset :]
        else:
            break
    return line


def _while_in_html(first: str, html: HtmlStart) -> GoesOn:
    is_done = html.end is not None and html.end.search(first) is not None

    def goes_on(line: str) -> bool:
        nonlocal is_done
        if html.end is None:
            return not is_blank(line)
        was_done, is_done = is_done, html.end.search(line) is not None
        return not was_done

    return goes_on


def _while_rows() -> GoesOn:
    is_delimiter = True

    def goes_on(line: str) -> bool:
        nonlocal is_delimiter
        was_delimiter, is_delimiter = is_delimiter, False
        if was_delimiter:
            return True
        is_row = not is_blank(line) and indentation(line) < CODE_INDENTATION
        return is_row and not starts_block(line, within_paragraph=False)

    return goes_on
