"""Citations that hold: invented ones go, and each sentence is judged by the sources it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wenyuan.rules.citations.source_reading import SourceReading
from wenyuan.rules.citations.stream import CitationFilter, Mark
from wenyuan.rules.citations.support import judge
from wenyuan.rules.sentences import split_sentences
from wenyuan.types import SentenceSupport


@dataclass(frozen=True, slots=True)
class CitedSource:
    """What a number in an answer stands for; `about` is what stands above it: file name, headings, table header."""

    number: int
    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer without the citations that were `invented`, and how well each of its sentences is supported."""

    text: str
    sentences: tuple[SentenceSupport, ...]
    invented: tuple[str, ...]


_BLANK, _FILLED = " ", "·"
_heading = re.compile(r"\s*#{1,6}\s")
_rule = re.compile(r"[\s|:=*_-]+\Z")
_list_marker = re.compile(r"\s*(?:[-*+•>]\s+)*(?:[(（]?[0-9]{1,3}(?:[.)、．）]|\*\*[.、])(?![0-9])\s*)?(?:[-*+•>]\s+)*")
_SAYING = (
    "mention|sa(?:y|id)|stat|contain|provid|specif|answer|giv|address|cover|includ|describ|explain|indicat|discuss|show"
)
_silence = re.compile(
    rf"\b(?:documents?|sources?|passages?|texts?|materials?|information)\b.{{0,40}}"
    rf"\b(?:(?:do|does|did)(?: not|n['’]t)|no|nothing|cannot|never)\b.{{0,20}}\b(?:{_SAYING})"
    rf"|\b(?:no|none of the|nothing in the) (?:documents?|sources?|passages?)\b.{{0,20}}\b(?:{_SAYING})"
    r"|(?:文档|文件|资料|材料|来源|上文|原文|知识库)(?:中|里|内)?.{0,12}(?:没有|未|并无|不|无法).{0,8}"
    r"(?:提到|提及|说|写|记载|包含|给出|提供|涉及|找到|回答|指出|列出|规定|关于)",
    re.IGNORECASE,
)
_letter = re.compile(r"[^\W_]")


def check_citations(text: str, sources: Sequence[CitedSource]) -> CheckedText:
    """Check an answer by its sources: deterministic, without a model, in time that grows with the text alone.

    Headings and code assert nothing, and no sentence is listed for them; nor for one that cites nothing and says that
    the sources are silent.
    """
    filtering = CitationFilter([source.number for source in sources])
    cleaned = filtering.feed(text) + filtering.close()
    readings = {source.number: SourceReading(source.text, source.about) for source in sources}
    shadow = _without_marks(cleaned, filtering.marks, filtering.code)
    sentences: list[SentenceSupport] = []
    for start, end, numbers in _sentences(shadow, filtering.marks):
        cited = [readings[number] for number in numbers] or list(readings.values())
        if not numbers and _silence.search(shadow, start, end):
            continue
        # The number of an item in a list says nothing.
        asserted = _list_marker.sub("", shadow[start:end].replace(_FILLED, _BLANK), count=1)
        judged = judge(asserted, cited)
        sentences.append(SentenceSupport(start, end, numbers, judged.support, judged.missing))
    return CheckedText(cleaned, tuple(sentences), filtering.invented)


def _without_marks(text: str, marks: Sequence[Mark], code: Sequence[tuple[int, int]]) -> str:
    """A text of the same length without citations and code.

    A citation that begins a line belongs to what follows, so it is replaced by what is no space; every other one
    belongs to what stands before it.
    """
    pieces: list[str] = []
    position = 0
    for start, end in sorted([*((mark.start, mark.end) for mark in marks), *code]):
        pieces.append(text[position:start])
        before = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        rest = text[end : line_end if line_end >= 0 else len(text)]
        begins = not text[before:start].strip() and _letter.search(re.sub(r"\[\d+\]", "", rest))
        blank = "".join("\n" if character == "\n" else _BLANK for character in text[start:end])
        pieces.append(_FILLED * (end - start) if begins and "\n" not in blank else blank)
        position = end
    return "".join((*pieces, text[position:]))


def _sentences(shadow: str, marks: Sequence[Mark]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Each sentence that asserts something, without the white space around it, and the numbers it cites."""
    queue = list(marks)
    place = 0
    for start, stop in split_sentences(shadow):
        numbers: dict[int, None] = {}
        last = start
        while place < len(queue) and queue[place].start < stop:
            numbers[queue[place].number] = None
            last = queue[place].end
            place += 1
        sentence = shadow[start:stop]
        if not _letter.search(sentence) or _rule.match(sentence) or _heading.match(sentence):
            continue
        lead = len(sentence) - len(sentence.lstrip())
        yield start + lead, max(last, start + len(sentence.rstrip())), tuple(numbers)
