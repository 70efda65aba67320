"""Names that a question asks for and that only one thing can have: of functions, classes, modules, options, errors.

Such a name is no word of any language, so where none of its writings stands anywhere, nothing there
is about it. Counted are dotted names (`os.path.join`, `std::move`), names with underscores, with
three humps or more (`RunnableWithHistory`; two are too often a brand, which another language writes
in its own way), with empty brackets (`connect()`) and long options (`--recursive`). Not counted are
addresses, file names and abbreviations (`example.com`, `report.pdf`, `e.g.`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

from wenyuan.language.compounds import ASCII_WORD
from wenyuan.language.questions.words import QUESTION_WORDS
from wenyuan.language.words import encode_token, word_token

_LEAST_LETTERS = 5
_LEAST_HUMPS = 3
_LONGEST_WITHOUT_PLURAL = 3
_OPTION_MARK = "--"
_TOP_DOMAINS = frozenset("ai app cn co com de dev edu eu fr gov hk io jp me net org tv tw uk us".split())
_FILE_ENDINGS = frozenset(
    """
    bak bat bmp bz2 cfg conf cpp css csv dll doc docx eml epub exe gif go gz h html ini ipynb jar java jpeg jpg
    js json jsonl jsx key lock log md mkv mov mp3 mp4 msg odt otf parquet pdf php png ppt pptx ps1 py rar rb rs
    rst rtf sh so sql svg swift tar tex tgz tif tiff toml ts tsv tsx ttf txt wav webp xls xlsx xml yaml yml zip
    """.split()
)

_dot = re.compile(r"\.|::")
_plain_name = re.compile(r"[A-Za-z]\w*", re.ASCII)
_plain_option = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
_hump = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class _Part:
    """One of a name's parts between its dots: the tokens any of which shows it, and how it may be written."""

    tokens: frozenset[str]
    writing: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class AskedName:
    """A name in a question; `text` is how the question writes it."""

    text: str
    parts: tuple[_Part, ...]
    writing: re.Pattern[str]

    def is_unknown(self, frequency: Mapping[str, int], looked_up: Set[str]) -> bool:
        """Whether a part of it stands nowhere, as far as the tokens that were `looked_up` can tell."""
        return any(
            not part.tokens.isdisjoint(looked_up) and not any(frequency.get(token) for token in part.tokens)
            for part in self.parts
        )

    def is_written_in(self, folded: str) -> bool:
        """Whether a folded text writes it in some way, as `node js` writes Node.js."""
        return self.writing.search(folded) is not None or all(part.writing.search(folded) for part in self.parts)


def asked_names(asked: str) -> list[AskedName]:
    """Every such name in a question, each once."""
    if asked.isascii() and asked.isalpha():
        return []
    found = {}
    for match in ASCII_WORD.finditer(asked):
        word, start = match[1], match.start(1)
        if _is_option(asked, start) and _plain_option.fullmatch(word):
            text = _OPTION_MARK + word
            found[text] = AskedName(text, (_part(word, option=True),), _writing(word))
        elif parts := _parts(word, called=asked.startswith("()", match.end(1))):
            found[word] = AskedName(word, tuple(map(_part, parts)), _writing(word))
    return list(found.values())


def _is_option(asked: str, start: int) -> bool:
    before = asked[: start - 2][-1:]
    return asked[:start].endswith(_OPTION_MARK) and not (before.isalnum() or before == "-")


def _parts(word: str, *, called: bool) -> list[str]:
    """The parts of a name between its dots; none where it is no such name."""
    names = _dot.split(word)
    if not all(map(_plain_name.fullmatch, names)):
        return []
    if len(names) == 1:
        return names if called or _is_compound(word) else []
    if len(names[-1]) == 1 or names[-1].lower() in _TOP_DOMAINS | _FILE_ENDINGS:
        return []
    return [name for name in names if len(name) > 1 and name.lower() not in QUESTION_WORDS]


def _is_compound(word: str) -> bool:
    humps = [hump for hump in _hump.findall(word) if hump.isalpha()]
    least = 2 if "_" in word else _LEAST_HUMPS
    return len(humps) >= least and sum(map(len, humps)) >= _LEAST_LETTERS


def _part(name: str, *, option: bool = False) -> _Part:
    folded = name.lower()
    joined = "".join(_hump.findall(folded))
    tokens = {word_token(joined), folded if folded.isalnum() else encode_token(folded)}
    if option:
        tokens.add(encode_token(_OPTION_MARK + folded))
    return _Part(frozenset(tokens), _writing(name))


def _writing(name: str) -> re.Pattern[str]:
    humps = map(_hump_or_plural, _hump.findall(name))
    return re.compile(r"(?<![a-z0-9])" + r"[\W_]{0,2}".join(humps) + r"(?![a-z0-9])")


def _hump_or_plural(hump: str) -> str:
    return hump.lower().removesuffix("s") + "s?" if len(hump) > _LONGEST_WITHOUT_PLURAL else hump.lower()
