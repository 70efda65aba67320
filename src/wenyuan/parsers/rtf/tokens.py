"""RTF as a stream of tokens (Rich Text Format Specification 1.9.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from mmap import mmap
from typing import Literal, NamedTuple

from wenyuan.parsers.rtf.words import RELEVANT

_SINGLE = rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|((?:\\'[0-9a-fA-F]{2})+)|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+"
_TOKEN = re.compile(_SINGLE, re.DOTALL)
_TOKEN_OR_RUN = re.compile(rb"((?:\\u-?\d{1,6} ?(?:\\'[0-9a-fA-F]{2}|\?)[\r\n]*)+)|" + _SINGLE, re.DOTALL)
_RELEVANT = frozenset(word.encode("ascii") for word in RELEVANT)
_NUMBER_IN_RUN = re.compile(rb"\\u(-?\d+)")


class Token(NamedTuple):
    """A control word with its number, a control symbol, a bracket, bytes in hexadecimal, a piece of text.

    `value` is the word, the symbol or the bracket; of text and bytes it is the bytes themselves. A `run` is
    several characters of Unicode, each with one that stands in for it in older programs.
    """

    kind: Literal["word", "symbol", "bracket", "bytes", "text", "run"]
    value: bytes
    number: int | None = None


def rtf_tokens(data: bytes | mmap, with_runs: bool = True) -> Iterator[Token]:
    """Yield the tokens of a document; binary data in it is passed over.

    So are control words that say nothing to a reader, but for those that name a destination (after an asterisk).
    """
    is_named = False
    pattern = _TOKEN_OR_RUN if with_runs else _TOKEN
    position = 0
    while position < len(data):
        began = position
        for found in pattern.finditer(data, position):
            position = found.end()
            run, word, number, codes, symbol, bracket, text = found.groups() if with_runs else (None, *found.groups())
            if text is not None:
                yield Token("text", text)
            elif word is not None:
                if word not in _RELEVANT and not is_named:
                    continue
                is_named = False
                value = int(number) if number is not None else None
                if word == b"bin":
                    position += max(0, value or 0)
                    break
                yield Token("word", word, value)
            elif run is not None:
                yield Token("run", run)
            elif codes is not None:
                yield Token("bytes", bytes.fromhex(codes.replace(b"\\'", b"").decode("ascii")))
            elif bracket is not None:
                yield Token("bracket", bracket)
            elif symbol is not None:
                is_named = symbol == b"*"
                yield Token("symbol", symbol)
        else:
            # What is left is a backslash at the very end.
            return
        position = max(position, began + 1)


def run_text(run: bytes) -> str:
    """The characters of a run; those beyond the basic plane are two halves."""
    return "".join([chr(int(number) % 0x10000) for number in _NUMBER_IN_RUN.findall(run)])
