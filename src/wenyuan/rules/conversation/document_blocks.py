"""Documents as a language model is shown them: blocks that nothing inside can leave.

A block begins with `[document N begin]` and ends with `[document N end]`. What in a document looks like one of these
lines, however it is written, gets round brackets instead, and so do the marks by which chat templates part the roles.
Characters that people cannot see but models read are left out. What a document says remains data: that it is nothing
to obey, the prompt says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.language.folding import fold_with_offsets

# Letters of other scripts that look like those of the markers.
_LOOKALIKES = str.maketrans("аеосіԁոոցսтмуɡᴅоἐοеᴇɴѕ", "aeocidnnguTmygdoeoeens".lower())
# A row of brackets is looked at from its beginning alone: else a long one would take the square of its length.
_block_marker = re.compile(
    r"(?<![\[{(<【〔［「《])[\[{(<【〔［「《]+[\s*_#|/-]{0,4}"
    r"(?P<name>(?:document|doc|文档|文件|资料)[\s*_#:.-]{0,4}[0-9]{0,6}[\s*_#:.-]{0,4}(?:begin(?:s|ning)?|end(?:s|ing)?|start|stop|开始|结束|完))"
    r"[\s*_#|/-]{0,4}[\]})>】〕］」》]*"
)
_template_mark = re.compile(
    r"<\|[\w ./:-]{1,40}\|>"
    r"|<{1,2}/?(?:sys|system|user|assistant|tool|s|bos|eos|start_of_turn|end_of_turn|inst|think)>{1,2}"
    r"|\[/?(?:inst|system_prompt|available_tools|tool_calls|tool_results)\]"
)
_unseen = re.compile(
    "[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One passage as a model is shown it; `number` is the one it is cited by.

    `anchor` is its place in words (`page 3`, `lines 10–14`), `headings` those above it, and `context` what it needs to
    be understood alone, such as the header of its table.
    """

    number: int
    name: str
    chunk_index: int
    anchor: str
    score: float
    text: str
    headings: tuple[str, ...] = ()
    context: str = ""


def document_blocks(documents: Sequence[SourceDocument]) -> str:
    """The documents as blocks, in their order, parted by an empty line."""
    return "\n\n".join(map(_block, documents))


def neutralised(text: str) -> str:
    """A text of a document without anything that looks like the end of its block, or like the next speaker."""
    text = _unseen.sub("", text)
    folded = fold_with_offsets(text)
    seen = folded.text.translate(_LOOKALIKES)
    # Ends of lines are no part of what is written in a marker, so what matches is replaced as it was found.
    places = [(match.span(), f"({_one_line(match['name'])})") for match in _block_marker.finditer(seen)]
    places += [(match.span(), f"({match[0].strip('<>[]|/ ')})") for match in _template_mark.finditer(seen)]
    parts: list[str] = []
    position = 0
    for (start, end), replacement in sorted(places):
        span = folded.source_span(start, end)
        if span.start >= position:
            parts += (text[position : span.start], replacement)
            position = span.end
    return "".join((*parts, text[position:]))


def _block(document: SourceDocument) -> str:
    facts = [f"file: {_one_line(neutralised(document.name))}"]
    if document.headings:
        facts.append("headings: " + " > ".join(_one_line(neutralised(heading)) for heading in document.headings))
    if document.anchor:
        facts.append(f"place: {_one_line(neutralised(document.anchor))}")
    facts.append(f"chunk: {document.chunk_index}; score: {document.score:.2f}")
    words = filter(None, (neutralised(document.context).strip(), neutralised(document.text).strip()))
    lines = (f"[document {document.number} begin]", *facts, "", *words, f"[document {document.number} end]")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())
