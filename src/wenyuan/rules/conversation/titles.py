"""What a conversation is called, made of its first question."""

from __future__ import annotations

from wenyuan.rules.columns import columns

_MOST_COLUMNS = 60
_LONGEST = 200


def title_of(question: str) -> str:
    """The question in one line of at most so many columns, cut between words where there are any."""
    printable = "".join(one if one.isprintable() else " " for one in question[: 10 * _LONGEST])
    title = " ".join(printable.split())[:_LONGEST]
    if columns(title) <= _MOST_COLUMNS:
        return title
    while columns(title) >= _MOST_COLUMNS:
        title = title[:-1]
    before, blank, last = title.rpartition(" ")
    return (before if blank and len(last) < len(title) // 2 else title).rstrip(" ,.;:，。；：、") + "…"
