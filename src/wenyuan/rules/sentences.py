"""Where sentences end, in Chinese, Japanese and English, by punctuation alone.

In the spirit of the sentence boundary rules of Unicode Standard Annex #29, with three additions
that matter for documents: abbreviations and list numbers do not end a sentence, `;` does in its
full-width form, and a newline ends one unless the line was merely wrapped there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wenyuan.rules.columns import WIDE, columns

_CLOSERS = r"”’\"'」』）)】》〉〕］\]"

# A run of marks is taken at once, so that no text makes the search look at a character twice.
_MARKS = re.compile(rf"[。！？；…｡!?.\n](?:(?<=\n)|[。！？；…｡!?.{_CLOSERS}]*+)\s*+")
_CHINESE_MARK = re.compile("[。！？；…｡]")
_WIDE_CHARACTER = re.compile(f"[{WIDE}]")

_WORD_BEFORE = re.compile(r"[^\W_][\w.\-]*\Z")
_DOTTED_LETTERS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_LONGEST_WORD = 24
_LONGEST_MARKS = 8
_FIRST_REACH = 128

_NEVER_LAST = re.compile(
    "mr|mrs|ms|dr|prof|st|gen|gov|sen|rep|rev|hon|col|capt|lt|sgt|messrs|mme|mlle|vs|viz|cf|ca|approx|al"
)
_BEFORE_NUMBERS = re.compile("nos?|figs?|vol|pp?|ch|sec|art|eq|tab|ref|para|app|ver|v")

_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+•·‣◦|>#]|\d{1,9}[.)、．]|[(（]|[一二三四五六七八九十百]+[、．.]|第)")
_FIRST_WORD = re.compile(rf"[{WIDE}]|[^\s{WIDE}]+")

_WIDEST_WRAP = 160
_NARROWEST_WRAP = 40
# Punctuation may not begin a line in Chinese typesetting, so a full line can end this much early.
_KINSOKU_COLUMNS = 6

_SHORT_COLUMNS = 32
_SHORTEST_SENTENCE = 4
_HEADING = re.compile(r"#{1,6}\s")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the half-open ranges of the sentences of `text`, in linear time.

    The ranges partition the text: the first starts at 0, each starts where the one before ended,
    the last ends at `len(text)`. White space after a sentence belongs to it. No cut is made within
    a number, a version, a URL or an abbreviation.
    """
    ranges: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text, wrapped_newlines(text), 0, len(text)):
        ranges.append((start, end))
        start = end
    if start < len(text):
        ranges.append((start, len(text)))
    return ranges


def telling_sentences(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the sentences of `text` that say something by themselves, without the space around them.

    A short one is kept together with the next of its line; headings, and what is too short to say
    anything, are left out.
    """
    joined: list[tuple[int, int]] = []
    for start, end in split_sentences(text):
        if joined and "\n" not in text[slice(*joined[-1])] and columns(text[slice(*joined[-1])]) < _SHORT_COLUMNS:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    found = []
    for start, end in joined:
        words = text[start:end]
        said = words.strip()
        if len(said) >= _SHORTEST_SENTENCE and not is_heading(said):
            lead = len(words) - len(words.lstrip())
            found.append((start + lead, start + lead + len(said)))
    return found


def is_heading(sentence: str) -> bool:
    """Whether a sentence that begins with no white space is a heading in Markdown."""
    return _HEADING.match(sentence) is not None


def last_sentence_end(text: str, wraps: frozenset[int], start: int, stop: int) -> int:
    """Return the last offset in `(start, stop]` at which a sentence of `text` ends, or -1.

    `wraps` is `wrapped_newlines(text)`. Looks from the back, so that the cost does not grow with
    the distance to `start` where sentences are of ordinary length.
    """
    upper, reach = stop, _FIRST_REACH
    while True:
        lower = max(start, upper - reach)
        last = max(_ends(text, wraps, lower, upper), default=-1)
        if last > start:
            return last
        if lower == start:
            return -1
        upper, reach = lower + _LONGEST_MARKS, reach * 4


def _ends(text: str, wraps: frozenset[int], start: int, stop: int) -> Iterator[int]:
    """Yield where the sentences end whose closing marks lie wholly within `[start, stop)`."""
    for mark in _MARKS.finditer(text, start, stop):
        if mark.end() == stop < len(text):
            whole = _MARKS.match(text, mark.start())
            assert whole is not None, "what matches within a window matches without it"
            if mark.start() + len(whole.group().rstrip()) > stop:
                return
            mark = whole
        if text[mark.start()] == "\n":
            if mark.start() in wraps and mark.group().count("\n") == 1:
                continue
        elif not _ends_sentence(text, mark):
            continue
        yield min(mark.end(), stop)


def _ends_sentence(text: str, mark: re.Match[str]) -> bool:
    """Say whether the marks at `mark` end a sentence."""
    marks = mark.group()
    if marks[0] in "。！？；…｡" or mark.end() == len(text):
        return True
    if not marks[-1].isspace():
        follows_chinese = _WIDE_CHARACTER.match(text, mark.end()) is not None
        return _CHINESE_MARK.search(marks) is not None or (follows_chinese and ("!" in marks or "?" in marks))
    if marks[0] != "." or "!" in marks or "?" in marks:
        return True
    return marks.count("\n") > 1 or _is_full_stop(text, mark)


def _is_full_stop(text: str, mark: re.Match[str]) -> bool:
    """Say whether dots with white space behind them end a sentence, or only a word."""
    after = text[mark.end()]
    if after.islower():
        return False
    before = text[max(0, mark.start() - _LONGEST_WORD) : mark.start()]
    found = _WORD_BEFORE.search(before)
    if found is None:
        return True
    word = found.group()
    if word.isdecimal():
        # "1." at the start of a line is a list number, "in 2026." is not.
        return bool(before[: found.start()].rpartition("\n")[2].strip())
    folded = word.lower()
    if _NEVER_LAST.fullmatch(folded) or (after.isdecimal() and _BEFORE_NUMBERS.fullmatch(folded)):
        return False
    return _DOTTED_LETTERS.match(word) is None or word == "I"


def wrapped_newlines(text: str) -> frozenset[int]:
    """Return the offsets of the newlines at which a line was broken only for want of room.

    A line was wrapped if the first word of the next would not have fitted on it: there the
    sentence goes on. Where some line is longer than anybody wraps, no line was.
    """
    if "\n" not in text:
        return frozenset()
    lines = text.split("\n")
    widths = [columns(line.rstrip()) for line in lines]
    widest = max(widths)
    if not _NARROWEST_WRAP <= widest <= _WIDEST_WRAP:
        return frozenset()
    return frozenset(_full_lines(lines, widths, widest))


def _full_lines(lines: list[str], widths: list[int], widest: int) -> Iterator[int]:
    offset = -1
    for number in range(len(lines) - 1):
        offset += len(lines[number]) + 1
        following = lines[number + 1]
        if widths[number] < _NARROWEST_WRAP or _LIST_MARKER.match(following):
            continue
        word = _FIRST_WORD.search(following)
        if word and widths[number] + 1 + max(columns(word.group()), _KINSOKU_COLUMNS) > widest:
            yield offset
