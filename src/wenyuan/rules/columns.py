"""Display width: how many terminal columns a text takes, East Asian wide characters counting two.

The ranges are those of Unicode Standard Annex #11 with the properties W and F, joined over the
gaps between them; ambiguous characters count one. A newline counts one, as does a combining mark.
"""

from __future__ import annotations

import re

WIDE = (
    "\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff"
    "\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\U0001f300-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f900-\U0001f9ff\U00020000-\U0003fffd"
)
"""The wide characters, as the inside of a regular expression's character class."""

_WIDE_RUN = re.compile(f"[{WIDE}]+")


def columns(text: str) -> int:
    """Return the display width of `text`."""
    if text.isascii():
        return len(text)
    return len(text) + sum(map(len, _WIDE_RUN.findall(text)))


def fitting(text: str, start: int, limit: int) -> int:
    """Return the largest `end` for which `columns(text[start:end]) <= limit`."""
    end = min(start + limit, len(text))
    window = text[start:end]
    if window.isascii():
        return end
    used = 0
    position = 0
    for run in _WIDE_RUN.finditer(window):
        used += run.start() - position
        if used >= limit:
            return start + run.start() - (used - limit)
        if used + 2 * (run.end() - run.start()) >= limit:
            return start + run.start() + (limit - used) // 2
        used += 2 * (run.end() - run.start())
        position = run.end()
    return start + min(position + limit - used, len(window))
