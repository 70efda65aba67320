"""Rows of a Markdown table, as readers write them, back to their cells."""

from __future__ import annotations

import re

_BETWEEN = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")


def cells_of(line: str) -> tuple[str, ...] | None:
    """The cells of one row `| a | b |`; None for what is no row, or only the rule under a header."""
    stripped = line.strip()
    if not (stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 1):
        return None
    cells = tuple(cell.strip().replace("\\|", "|") for cell in _BETWEEN.split(stripped)[1:-1])
    return None if all(_RULE.fullmatch(cell) for cell in cells) else cells


def table_of(header: str, body: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a passage below those of its header; empty where a line of the passage is no row."""
    rows = [cells_of(line) for line in body.strip().splitlines() if not _is_rule(line)]
    above = [cells_of(line) for line in header.splitlines() if not _is_rule(line)]
    found = [row for row in rows if row is not None]
    if not rows or len(found) < len(rows):
        return ()
    return (*(row for row in above if row is not None), *found)


def _is_rule(line: str) -> bool:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return bool(line.strip()) and all(_RULE.fullmatch(cell) for cell in cells)
