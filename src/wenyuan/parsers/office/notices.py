"""What is worth telling a person about an office document, in the same words for every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wenyuan.types import Notice

_MOST_NAMED = 20


def text_notices(changes: int, hidden: int) -> Iterator[Notice]:
    """About changes that were tracked, and how many characters are hidden."""
    if changes:
        message = "It has changes that nobody has accepted yet: what was inserted is read, what was deleted is not."
        yield Notice("tracked-changes", message)
    if hidden:
        yield Notice("hidden-text", f"{hidden:,} characters of hidden text were not read.")


def object_notices(count: int, names: Sequence[str] = ()) -> Iterator[Notice]:
    """About objects inside that could not be read, named as far as their names are known."""
    if names:
        more = len(names) - _MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        yield Notice("embedded-objects", f"Objects inside it were not read: {', '.join(names[:_MOST_NAMED])}{rest}.")
    elif count:
        objects = "One object inside it was" if count == 1 else f"{count} objects inside it were"
        yield Notice("embedded-objects", f"{objects} not read.")
