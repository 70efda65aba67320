"""Where a citation leads, in a few words for people who read an answer elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from wenyuan.types import Anchor, AnchorKind, Citation

Language = Literal["en", "zh"]

_WORDS: Mapping[AnchorKind, tuple[str, str, str]] = {
    "lines": ("line", "lines", "第 {span} 行"),
    "page": ("page", "pages", "第 {span} 页"),
    "slide": ("slide", "slides", "第 {span} 张幻灯片"),
    "cells": ("row", "rows", "表格第 {span} 行"),
    "paragraph": ("paragraph", "paragraphs", "第 {span} 段"),
    "message": ("message", "messages", "第 {span} 封"),
    "cell": ("cell", "cells", "第 {span} 个单元"),
    "chapter": ("chapter", "chapters", "第 {span} 章"),
}


def anchor_label(anchor: Anchor, language: Language) -> str:
    """`lines 3–5` or `第 3–5 行`, after the name of a sheet or chapter where there is one."""
    span = str(anchor.first) if anchor.first == anchor.last else f"{anchor.first}–{anchor.last}"
    one, many, chinese = _WORDS[anchor.kind]
    place = chinese.format(span=span) if language == "zh" else f"{one if anchor.first == anchor.last else many} {span}"
    return f"{anchor.name}, {place}" if anchor.name else place


def citation_label(citation: Citation, language: Language) -> str:
    """The document, the headings it stands under, and the place in it."""
    place = anchor_label(citation.anchor, language)
    return f"{' › '.join((citation.document_name, *citation.heading_path))}, {place}"
