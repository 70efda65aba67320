"""What one line of Markdown is, looked at alone (CommonMark 0.31.2, sections 4 and 5; GFM tables)."""

from __future__ import annotations

import re
from typing import NamedTuple

CODE_INDENTATION = 4

_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_BREAK = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r"( {0,3})([-+*]|\d{1,9}[.)])([ \t]*)(.?)")
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
_DELIMITER_ROW = re.compile(r" {0,3}(?!-\s)[|:-][|:\-\s][|:\-\s]*$")
_DELIMITER_CELL = re.compile(r":?-+:?")

_RAW = "script|pre|style|textarea"
_HTML_BLOCKS = "|".join(
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul".split()
)
_ATTRIBUTE = r"\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"
# Start and end of the seven kinds of HTML block; the first five end where their end is found, the
# last two at a blank line, and the very last cannot interrupt a paragraph.
_HTML = (
    (re.compile(rf"<(?:{_RAW})(?=\s|>|$)", re.I), re.compile(rf"</(?:{_RAW})>", re.I)),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_HTML_BLOCKS})(?=\s|/?>|$)", re.I), None),
    (re.compile(rf"(?:<[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[a-z][a-z0-9-]*\s*>)\s*$", re.I), None),
)


class Item(NamedTuple):
    """A list item's first line: where its content begins, whether it has any, and its marker."""

    offset: int
    is_empty: bool
    marker: str


class HtmlStart(NamedTuple):
    """An HTML block's first line: what ends it, None standing for a blank line."""

    end: re.Pattern[str] | None
    interrupts: bool


def is_blank(line: str) -> bool:
    return not line or line.isspace()


def indentation(line: str) -> int:
    """Return the columns of white space before the text, tab stops four apart."""
    if line[:1] not in (" ", "\t"):
        return 0
    before = line[: len(line) - len(line.lstrip(" \t"))]
    return len(before.expandtabs(4)) if "\t" in before else len(before)


def heading_level(line: str) -> int:
    """Return 1 to 6 for a line that begins with as many `#`, else 0."""
    found = _ATX.match(line)
    return len(found[1]) if found else 0


def heading_text(line: str) -> str:
    """Return the text of a heading line without its opening and closing `#`."""
    text = line.strip().lstrip("#").strip()
    opened = text.rstrip("#")
    return opened.rstrip() if not opened or opened[-1] in " \t" else text


def underline_level(line: str) -> int:
    """Return 1 or 2 for a line that makes a heading of the paragraph above it, else 0."""
    found = _SETEXT.match(line)
    return (1 if found[1][0] == "=" else 2) if found else 0


def opening_fence(line: str) -> str:
    """Return the backticks or tildes that open a code block on this line, or ""."""
    found = _FENCE.match(line)
    return found[1] if found else ""


def closes_fence(line: str, fence: str) -> bool:
    text = line.strip(" \t")
    return text.startswith(fence) and not text.strip(fence[0]) and indentation(line) < CODE_INDENTATION


def is_break(line: str) -> bool:
    return _BREAK.match(line) is not None


def is_quote(line: str) -> bool:
    return _QUOTE.match(line) is not None


def list_item(line: str) -> Item | None:
    """Return what begins here if it is a list item."""
    found = _ITEM.match(line.expandtabs(4) if "\t" in line else line)
    if found is None or not (found[3] or not found[4]):
        return None
    spaces = len(found[3])
    width = spaces if 1 <= spaces <= CODE_INDENTATION and found[4] else 1
    return Item(len(found[1]) + len(found[2]) + width, not found[4], found[2])


def html_start(line: str) -> HtmlStart | None:
    """Return what begins here if it is an HTML block."""
    text = line.lstrip(" ")
    if text[:1] != "<" or len(line) - len(text) >= CODE_INDENTATION:
        return None
    for number, (start, end) in enumerate(_HTML, 1):
        if start.match(text):
            return HtmlStart(end, number < len(_HTML))
    return None


def delimiter_columns(line: str) -> int:
    """Return the number of columns of a table's delimiter row, or 0 for another line."""
    if not _DELIMITER_ROW.match(line):
        return 0
    cells = [cell.strip() for cell in line.strip().split("|")]
    cells = cells[not cells[0] : len(cells) - (len(cells) > 1 and not cells[-1])]
    return len(cells) if all(map(_DELIMITER_CELL.fullmatch, cells)) else 0


def header_columns(line: str) -> int:
    """Return the number of columns of a line if it is the header row of a table, or 0."""
    text = line.strip()
    if "|" not in text or indentation(line) >= CODE_INDENTATION:
        return 0
    cells = _UNESCAPED_BAR.split(text)
    return len(cells) - (not cells[0]) - (len(cells) > 1 and not cells[-1])


def starts_block(line: str, within_paragraph: bool) -> bool:
    """Say whether a line that is not blank begins another block than the one it follows.

    A paragraph is more tenacious: an empty list item, one numbered other than 1, and HTML of an
    unknown kind do not end it.
    """
    first = line.lstrip(" ")[:1]
    if first not in "#>`~-+*_<0123456789" or indentation(line) >= CODE_INDENTATION:
        return False
    if first == "#":
        return heading_level(line) > 0
    if first == ">":
        return True
    if first in "`~":
        return bool(opening_fence(line))
    if first == "<":
        html = html_start(line)
        return html is not None and html.interrupts
    if first in "-*_" and is_break(line):
        return True
    item = list_item(line)
    if item is None:
        return False
    return not within_paragraph or (not item.is_empty and item.marker in ("-", "+", "*", "1.", "1)"))
