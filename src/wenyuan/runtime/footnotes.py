"""The sources of an answer below it, for programs that show text alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wenyuan.runtime.place_labels import Language, citation_label
from wenyuan.types import Citation

_RULE = "\n\n---\n"
_FOOTNOTES = re.compile(r"\n\n---\n(?:\[\d+\] [^\n]*(?:\n|\Z))+\Z")
_HAN = re.compile(r"[\u3400-\u9fff]")


def written_in(text: str) -> Language:
    """The language to add to a text in: Chinese where it holds a Chinese character."""
    return "zh" if _HAN.search(text) else "en"


def footnotes(text: str, citations: Sequence[Citation]) -> str:
    """What is put below a text: a line for each citation whose number stands in it."""
    language = written_in(text)
    cited = [one for one in citations if f"[{one.number}]" in text]
    lines = [f"[{one.number}] {_one_line(citation_label(one, language))}" for one in cited]
    return _RULE + "\n".join(lines) if lines else ""


def without_footnotes(text: str) -> str:
    """An answer as it was before they were put below it."""
    return _FOOTNOTES.sub("", text)


def _one_line(label: str) -> str:
    return " ".join(label.split())
