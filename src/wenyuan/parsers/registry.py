"""Which parser reads which media type. A parser's module is loaded when its type is first met."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from wenyuan.ports import Parser

ENTRY_POINT_GROUP = "wenyuan.parsers"
"""Other packages register a parser here: the entry point's name is the media type it reads."""

_BUILT_IN = {
    "text/plain": "wenyuan.parsers.text:TextParser",
    "text/markdown": "wenyuan.parsers.markdown:MarkdownParser",
    "text/html": "wenyuan.parsers.html:HtmlParser",
    "text/csv": "wenyuan.parsers.csv:CsvParser",
    "text/tab-separated-values": "wenyuan.parsers.csv:CsvParser",
    "application/json": "wenyuan.parsers.json:JsonParser",
    "application/x-ndjson": "wenyuan.parsers.json_lines:JsonLinesParser",
    "text/x-source": "wenyuan.parsers.code:CodeParser",
}


@cache
def parser_for(media_type: str) -> Parser | None:
    """Return the parser of `media_type`, or None if there is none.

    What comes with Wenyuan goes before what other packages register.
    """
    reference = _reference(media_type)
    if reference is None:
        return None
    if not isinstance(reference, str):
        plugged: Parser = reference.load()()
        return plugged
    module, _, attribute = reference.partition(":")
    parser: Parser = getattr(importlib.import_module(module), attribute)()
    return parser


def _reference(media_type: str) -> str | EntryPoint | None:
    family = "text/x-source" if media_type.startswith("text/x-") else media_type
    if family in _BUILT_IN:
        return _BUILT_IN[family]
    # Loads the standard library's e-mail parser, which is an eighth of the time in which a reader starts.
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=ENTRY_POINT_GROUP, name=media_type)), None)
