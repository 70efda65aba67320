"""How a place in a document is written: for people, and so that an editor opens it."""

from __future__ import annotations

from collections.abc import Sequence

from wenyuan.doors.cli.messages import Messages
from wenyuan.doors.cli.output import one_line
from wenyuan.types import Anchor


def anchor_label(say: Messages, anchor: Anchor) -> str:
    """For people: `lines 12–18`, `page 3`, `Sheet1!B2:C4`."""
    if anchor.columns is not None:
        return cell_range(anchor)
    span = str(anchor.first) if anchor.first == anchor.last else f"{anchor.first}–{anchor.last}"
    label = say(f"anchor.{anchor.kind}", span=span, n=anchor.last - anchor.first + 1)
    return f"{anchor.name} · {label}" if anchor.name else label


def cell_range(anchor: Anchor) -> str:
    """`Sheet1!B2:C4`, as spreadsheet programs write a range."""
    first, last = anchor.columns or (1, 1)
    start, end = f"{column_name(first)}{anchor.first}", f"{column_name(last)}{anchor.last}"
    span = start if start == end else f"{start}:{end}"
    return f"{one_line(anchor.name)}!{span}" if anchor.name else span


def column_name(number: int) -> str:
    """The letters of a sheet's column, counted from 1: 1 is A, 27 is AA."""
    letters = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def citation_label(say: Messages, name: str, anchor: Anchor) -> str:
    """`notes.md:12-18` where lines are counted, else the name with its page or place."""
    name = one_line(name)
    if anchor.kind != "lines":
        return f"{name}, {anchor_label(say, anchor)}"
    return f"{name}:{anchor.first}" + (f"-{anchor.last}" if anchor.last != anchor.first else "")


def clickable(source: str, anchor: Anchor) -> str:
    """`/path/notes.md:12`, as terminals and editors open it."""
    path = one_line(source)
    return f"{path}:{anchor.first}" if anchor.kind == "lines" else path


def heading_label(heading_path: Sequence[str]) -> str:
    return one_line(" › ".join(heading_path))
