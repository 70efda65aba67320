"""When a question needs the conversation to be understood, and when a rewrite of it may be used."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wenyuan.rules.columns import columns

MOST_MESSAGES = 6
_SHORT_COLUMNS = 16
_LONGEST_REWRITE = 400
_ANAPHORA = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|his|her|there|the (?:former|latter|same)|one)\b"
    r"|^(?:and|but|so|what about|how about|why|also)\b"
    r"|[它他她其该此这那](?!次|样板)|上述|前者|后者|刚才|呢[?？]?$|^(?:那|还有|另外|为什么|然后)",
    re.IGNORECASE,
)


def needs_rewrite(question: str, history: Sequence[str]) -> str | None:
    """None if the question needs the messages before it, else the name of why not."""
    if not history:
        return "skipped-no-history"
    if columns(question) > _SHORT_COLUMNS and not _ANAPHORA.search(question):
        return "skipped-standalone"
    return None


def accepted(rewrite: str, question: str) -> str | None:
    """The rewritten question; None where what a model gave is no single question, or nothing new."""
    text = rewrite.strip().strip("\"'“”「」").strip()
    if not text or "\n" in text or len(text) > _LONGEST_REWRITE or text == question:
        return None
    return text
