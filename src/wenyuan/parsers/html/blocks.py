"""From the tokens of an HTML page to its blocks."""

from __future__ import annotations

from typing import Any

from wenyuan.parsers.html.formula import FORMULA_TAGS, Formula, plain_formula
from wenyuan.parsers.html.table import HtmlTable
from wenyuan.parsers.html.text import HtmlText, TakenText
from wenyuan.parsers.html.tokens import Token, attributes
from wenyuan.parsers.text.lines import BLOCK_CHARACTERS
from wenyuan.types import Anchor, Block, BlockKind

_SKIPPED = frozenset({"svg", "noscript", "template", "canvas", "object", "select", "datalist", "audio", "video"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BOILERPLATE = frozenset({"nav", "footer", "aside"})
_CAPTIONS = frozenset({"caption", "figcaption"})
_LISTS = frozenset({"ul", "ol", "menu"})
_ROWS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th"})
_PARAGRAPHS = frozenset(
    "address article blockquote body center dd details dialog dir div dl dt fieldset figure form header hgroup hr html "
    "legend li main p pre search section summary".split()
)
_BLOCKS = frozenset().union(_HEADINGS, _BOILERPLATE, _CAPTIONS, _LISTS, _PARAGRAPHS)
STRUCTURAL_TAGS = frozenset().union(_BLOCKS, _ROWS, _SKIPPED, FORMULA_TAGS, {"br", "img", "meta", "title"})
_METADATA = {
    "author": "author",
    "article:author": "author",
    "description": "description",
    "og:description": "description",
    "keywords": "keywords",
    "date": "date",
    "article:published_time": "date",
    "article:modified_time": "modified",
    "last-modified": "modified",
}
_LONGEST_FACT = 1_000
_LONGEST_HEADING = 200
_DEEPEST_LIST = 20
_LONGEST_SPAN_DIGITS = 6


class HtmlBlocks:
    """Takes tokens and makes blocks of them; what is finished waits in `ready`.

    Navigation, footers and asides are kept, but outside the heading path, so that they are not
    taken for part of the section before them; `metadata` tells how many characters they are.
    """

    def __init__(self) -> None:
        self.ready: list[Block] = []
        self.title = ""
        self.top_heading = ""
        self.language = ""
        self.metadata: dict[str, Any] = {}
        self._top_level = 7
        self._headings: list[tuple[int, str]] = []
        self._skipped = ""
        self._skip_depth = 0
        self._boilerplate = 0
        self._text = HtmlText()
        self._kind: BlockKind = "paragraph"
        self._heading_level = 0
        self._after_item = False
        self._after_part: str | None = None
        self._lists: list[int] = []
        self._marker = ""
        self._tables: list[HtmlTable | None] = []
        self._cell: dict[str, str] | None = None
        self._cell_is_header = False
        self._formula: Formula | None = None
        self._last_formula = ""

    def take(self, token: Token) -> None:
        """Take the next token; of tags, one of `STRUCTURAL_TAGS`."""
        kind, value, source, line = token
        if self._formula is not None:
            if self._formula.take(token):
                return
            self._end_formula(self._formula)
        if self._skipped:
            self._skip(kind, value)
        elif kind == "text":
            self._text.add(value, line)
            if self._text.size > BLOCK_CHARACTERS:
                self._give_part()
        elif kind == "start":
            self._start(value, source, line)
        else:
            self._end(value)

    def close(self) -> None:
        """Finish what is open at the end of the page."""
        if self._formula is not None:
            self._end_formula(self._formula)
        while self._tables:
            self._end_table()
        self._flush()

    # --- Tags ---

    def _start(self, tag: str, source: str, line: int) -> None:
        if tag == "br":
            self._text.add_break()
        elif tag == "img":
            self._add_picture(attributes(source).get("alt", ""), line)
        elif tag in FORMULA_TAGS:
            self._formula = Formula(source, line) if tag == "math" and not source.endswith("/") else None
        elif tag in _SKIPPED:
            if not source.endswith("/"):
                self._skipped, self._skip_depth = tag, 1
        elif tag == "meta":
            self._note_metadata(attributes(source))
        elif tag in _ROWS:
            self._start_in_table(tag, source)
        else:
            if tag in _HEADINGS or tag == "pre":
                self._leave_cell()
            self._flush()
            self._enter(tag, source)

    def _enter(self, tag: str, source: str) -> None:
        self._heading_level = _HEADINGS.get(tag, 0)
        if tag == "pre":
            self._kind = "code"
        elif tag in _CAPTIONS:
            self._kind = "caption"
        elif tag in _LISTS:
            self._lists.append(0 if tag == "ol" else -1)
        elif tag == "li" and self._lists:
            is_numbered = self._lists[-1] >= 0
            self._lists[-1] += is_numbered
            self._marker = f"{self._lists[-1]}. " if is_numbered else "- "
        elif tag in _BOILERPLATE:
            self._boilerplate += 1
        elif tag == "html":
            self.language = self.language or attributes(source).get("lang", "")[:_LONGEST_FACT]

    def _end(self, tag: str) -> None:
        if tag == "title":
            words = self._text.take(verbatim=False).text
            self.title = self.title or words[:_LONGEST_FACT]
        elif tag == "table":
            self._end_table()
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag in _ROWS:
            self._end_row()
        elif tag in _BLOCKS:
            self._flush()
            if tag in _LISTS and self._lists:
                self._lists.pop()
                self._marker = ""
            elif tag in _BOILERPLATE:
                self._boilerplate = max(0, self._boilerplate - 1)

    def _add_picture(self, description: str, line: int) -> None:
        words = plain_formula(description)
        # Pages that fear that a browser draws no MathML show a picture beside it.
        if words and words != self._last_formula:
            self._text.add_words(words, line)

    def _end_formula(self, formula: Formula) -> None:
        self._formula, self._last_formula = None, formula.text
        self._text.add_words(formula.text, formula.line)

    def _skip(self, kind: str, tag: str) -> None:
        if kind != "text" and tag == self._skipped:
            self._skip_depth += 1 if kind == "start" else -1
            if not self._skip_depth:
                self._skipped = ""

    def _note_metadata(self, found: dict[str, str]) -> None:
        key = _METADATA.get((found.get("name") or found.get("property") or "").lower())
        if key and found.get("content"):
            self.metadata.setdefault(key, found["content"][:_LONGEST_FACT])

    # --- Text ---

    @property
    def _path(self) -> tuple[str, ...]:
        return () if self._boilerplate else tuple(text for _, text in self._headings)

    def _flush(self) -> None:
        """Make a block of the text gathered so far; within a table's cell, only part it."""
        if self._cell is not None:
            self._text.add_break()
            return
        kind, level = self._kind, self._heading_level
        self._kind, self._heading_level = "paragraph", 0
        if not self._text.size:
            self._after_part = None
            return
        run = self._text.take(verbatim=kind == "code")
        if not run.text:
            self._after_part = None
        elif level:
            self._give_heading(run, level)
        elif self._lists and kind != "code":
            self._give_item(run)
        else:
            self._give(kind, run, run.text)

    def _give_part(self) -> None:
        """Hand on the beginning of a text that is very long."""
        self._leave_cell()
        run = self._text.take(verbatim=self._kind == "code")
        if run.text:
            self._give(self._kind, run, run.text)
            self._after_part = run.after

    def _give_heading(self, run: TakenText, level: int) -> None:
        text = " ".join(run.text.split())
        if not self._boilerplate:
            while self._headings and self._headings[-1][0] >= level:
                self._headings.pop()
            self._headings.append((level, text[:_LONGEST_HEADING]))
            if level < self._top_level:
                self.top_heading, self._top_level = text[:_LONGEST_HEADING], level
        self._give("heading", run, text)

    def _give_item(self, run: TakenText) -> None:
        indentation = "  " * (min(len(self._lists), _DEEPEST_LIST) - 1)
        marker, self._marker = self._marker, ""
        self._give("list", run, f"{indentation}{marker or '  '}{run.text}")

    def _give(self, kind: BlockKind, run: TakenText, text: str) -> None:
        if self._after_part is not None:
            joiner = self._after_part or run.before
        else:
            joiner = "\n" if kind == "list" and self._after_item else "\n\n"
        self._after_part = None
        self._after_item = kind == "list"
        lines = [text]
        if run.has_breaks and text.count("\n") == run.last - run.first:
            # The page's line breaks need not be the file's; apart, these lines do not look like it.
            lines = text.split("\n")
        for line in lines:
            self.ready.append(Block(kind, line, Anchor("lines", run.first, run.last), self._path, "", joiner))
            joiner = "\n"
        if self._boilerplate:
            self.metadata["boilerplate_characters"] = self.metadata.get("boilerplate_characters", 0) + len(text)

    # --- Tables: None stands for one that arranges parts of the page, whose cells are no cells ---

    def _start_in_table(self, tag: str, source: str) -> None:
        if tag == "table":
            self._leave_cell()
            self._flush()
            self._tables.append(HtmlTable(self._path))
        elif tag not in ("td", "th"):
            self._end_row()
        else:
            self._end_cell()
            if self._tables and self._tables[-1] is not None:
                self._cell = attributes(source)
                self._cell_is_header = tag == "th"

    def _leave_cell(self) -> None:
        """What belongs in no cell has begun in one: the table is not one of data."""
        table = self._tables[-1] if self._tables else None
        if table is not None:
            self._give_row(table.end_row())
            self._tables[-1] = None
        self._cell = None

    def _end_cell(self) -> None:
        table = self._tables[-1] if self._tables else None
        if self._cell is None or table is None:
            self._flush()
            return
        run = self._text.take(verbatim=False)
        rows, columns = (_span(self._cell.get(name, "")) for name in ("rowspan", "colspan"))
        table.add_cell(run.text, self._cell_is_header, rows, columns, (run.first, run.last))
        self._cell = None

    def _end_row(self) -> None:
        self._end_cell()
        table = self._tables[-1] if self._tables else None
        if table is not None:
            self._give_row(table.end_row())

    def _end_table(self) -> None:
        self._end_row()
        if self._tables:
            self._tables.pop()

    def _give_row(self, row: Block | None) -> None:
        if row is not None:
            self.ready.append(row)
            self._after_item = False
            self._after_part = None


def _span(value: str) -> int:
    return max(1, int(value)) if value.isdecimal() and len(value) < _LONGEST_SPAN_DIGITS else 1
