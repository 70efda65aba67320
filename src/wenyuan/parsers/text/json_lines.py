"""JSON Lines: one JSON document on each line, flattened to lines of `path: value`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wenyuan.errors import FileMalformed
from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.flat_blocks import FlatBlocks
from wenyuan.parsers.text.json_values import FlatValue, JsonProblem, flat_values
from wenyuan.parsers.text.lines import text_lines
from wenyuan.types import Facts, Notice, ReadEvent

_MOST_NAMED_LINES = 10


class JsonLinesParser:
    """Reads JSON Lines: a block for each line. Lines that are not JSON are left out, with a notice."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield Facts("application/x-ndjson", encoding.codec)
        yield from encoding.notices
        blocks = FlatBlocks()
        bad: list[int] = []
        bad_count = good_count = 0
        for number, line in enumerate(text_lines(decoded_pieces(path, encoding)), 1):
            if not line or line.isspace():
                continue
            try:
                values = list(flat_values([line], number))
            except JsonProblem:
                bad_count += 1
                bad = [*bad, number][:_MOST_NAMED_LINES]
                continue
            good_count += 1
            for value in values:
                yield from blocks.add(FlatValue(number, value.path, value.text, number))
        if bad_count and not good_count:
            raise FileMalformed(name=name, format="JSON Lines", reason=f"line {bad[0]} and all others are not JSON")
        yield from blocks.take()
        if bad_count:
            yield _left_out(bad, bad_count)


def _left_out(numbers: list[int], count: int) -> Notice:
    named = ", ".join(map(str, numbers)) + (", …" if count > len(numbers) else "")
    lines = f"{count} lines are" if count > 1 else "One line is"
    return Notice("malformed-lines", f"{lines} not valid JSON and left out: {named}.")
