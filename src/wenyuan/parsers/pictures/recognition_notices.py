"""What people are told of text that was recognised: which pages, how surely, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from wenyuan.parsers.pictures.recognition import Recognition
from wenyuan.types import Notice

NOTHING_TO_READ: Final = "nothing-to-read"
"""The notice of a file that is whole without any text: its reader has looked, and there is nothing to be read."""

_NAMED_PAGES: Final = 20


def scan_notices(recognition: Recognition) -> Iterator[Notice]:
    """What is to be said of a document some pages of which are scans."""
    if recognition.recognised_pages:
        message = f"The text of {named_pages(recognition.recognised_pages)} was recognised from a picture."
        yield Notice("page-recognised", message)
    if recognition.doubtful_pages:
        yield doubtful_notice(recognition.doubtful_pages)
    if recognition.left_out_pages:
        yield left_out_notice(recognition.left_out_pages)


def doubtful_notice(pages: Sequence[int]) -> Notice:
    """Which pages, numbered from 1, are read with so little confidence that mistakes must be expected."""
    message = (
        f"The text of {named_pages(pages)} is hard to recognise and may have mistakes; a sharper scan reads better."
    )
    return Notice("recognition-doubtful", message)


def left_out_notice(pages: Sequence[int]) -> Notice:
    """Which pages were not recognised, because the document has more of them than `reading.ocr_pages`."""
    message = (
        f"The document has more scanned pages than are recognised (`reading.ocr_pages`): {named_pages(pages)} left out."
    )
    return Notice("pages-not-recognised", message)


def nothing_to_read_notice() -> Notice:
    """A picture of something without writing, as most photos are."""
    message = "The picture shows no writing: it is kept and listed, but no question finds it."
    return Notice(NOTHING_TO_READ, message)


def named_pages(pages: Sequence[int]) -> str:
    """Pages in a sentence, following ones as a range: `pages 3–7 and 12`."""
    ranges: list[list[int]] = []
    for page in pages:
        if ranges and page == ranges[-1][1] + 1:
            ranges[-1][1] = page
        else:
            ranges.append([page, page])
    named = [str(first) if first == last else f"{first}–{last}" for first, last in ranges[:_NAMED_PAGES]]
    if len(ranges) > _NAMED_PAGES:
        named.append("others")
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    return f"{'page' if len(pages) == 1 else 'pages'} {listed}"
