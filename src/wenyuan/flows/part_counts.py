"""How many pages, slides, chapters, sections or messages a document has, where its reader has counted them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from wenyuan.language.folding import fold
from wenyuan.rules.tables.statements import parts_of
from wenyuan.store import chunks, documents
from wenyuan.store.database import Reading
from wenyuan.types import SearchResult

_CHUNKS_AT_ONCE = 500


class _Part(NamedTuple):
    """What is counted: under which name a reader counts it, and what it is called for one, for several, in Chinese."""

    counted: str
    one: str
    several: str
    chinese: str


_PARTS: Mapping[str, _Part] = {
    "page": _Part("pages", "page", "pages", "页"),
    "slide": _Part("slides", "slide", "slides", "张幻灯片"),
    "message": _Part("messages", "message", "messages", "封邮件"),
    "sheet": _Part("sheets", "sheet", "sheets", "个工作表"),
    "chapter": _Part("chapters", "chapter", "chapters", "章"),
    "section": _Part("headings", "section with a heading", "sections with headings", "个带标题的小节"),
}
_ASKED = re.compile(
    r"(?:how many|number of)\s+(?P<english>page|slide|message|email|mail|sheet|worksheet|chapter|section|heading)s?\b"
    r"|(?:多少|几)\s*(?:个|张|封|份)?\s*(?P<chinese>页|幻灯片|邮件|消息|工作表|章节|章|小节|节|标题)"
)
_CALLED = {
    "email": "message",
    "mail": "message",
    "worksheet": "sheet",
    "heading": "section",
    "页": "page",
    "幻灯片": "slide",
    "邮件": "message",
    "消息": "message",
    "工作表": "sheet",
    "章": "chapter",
    "章节": "section",
    "小节": "section",
    "节": "section",
    "标题": "section",
}
_CHAPTER = re.compile(
    r"\s*(?:第\s*[0-9零一二三四五六七八九十百两]+\s*章|chapter\s+(?:[0-9]+|[ivxlc]+)\b)", re.IGNORECASE
)


def count_parts(tx: Reading, question: str, found: SearchResult, language: Literal["zh", "en"]) -> str | None:
    """The sentence that says how many there are; None where nothing is asked of that kind, or nobody has counted.

    The document is the one that the question names, of those that the search found.
    """
    folded = fold(question)
    asked = _ASKED.search(folded)
    if asked is None:
        return None
    word = asked["english"] or asked["chinese"]
    kind = _CALLED.get(word, word)
    named = _named(found, folded)
    if len(named) != 1:
        return None
    ((revision_id, name),) = named.items()
    read = documents.revision(tx, revision_id)
    if read is None:
        return None
    count = _counted(tx, kind, revision_id, read[1].quality)
    if count is None:
        return None
    part = _PARTS[kind]
    return parts_of(
        name, count, part.chinese if language == "zh" else part.one if count == 1 else part.several, language
    )


def _named(found: SearchResult, folded: str) -> Mapping[str, str]:
    """The revisions of found documents that the question names, with the documents' names."""
    named: dict[str, str] = {}
    for hit in found.hits:
        passage = hit.passage
        name = fold(passage.document_name)
        title = fold(passage.chunk.heading_path[0]) if passage.chunk.heading_path else ""
        others = (other for other in (name.rpartition(".")[0], title) if len(other) >= (4 if other.isascii() else 2))
        if name in folded or any(other in folded for other in others):
            named[passage.revision_id] = passage.document_name
    return named


def _counted(tx: Reading, kind: str, revision_id: str, quality: Mapping[str, Any]) -> int | None:
    count = quality.get(_PARTS[kind].counted)
    if isinstance(count, int) and count > 0:
        return count
    return _chapters(tx, revision_id) or None if kind == "chapter" else None


def _chapters(tx: Reading, revision_id: str) -> int:
    """How many headings say of themselves that they are chapters, each once."""
    return len({heading for path in _paths(tx, revision_id) for heading in path if _CHAPTER.match(heading)})


def _paths(tx: Reading, revision_id: str) -> Iterator[tuple[str, ...]]:
    first = 0
    while batch := chunks.of_revision(tx, revision_id, first, _CHUNKS_AT_ONCE):
        yield from (chunk.heading_path for chunk in batch)
        first = batch[-1].seq + 1
