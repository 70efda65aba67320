"""JSON documents, flattened to lines of `path: value`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wenyuan.errors import FileMalformed
from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.flat_blocks import FlatBlocks
from wenyuan.parsers.text.json_values import JsonProblem, flat_values
from wenyuan.types import Facts, ReadEvent


class JsonParser:
    """Reads a JSON document: a block for each element or member of the outermost container."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield Facts("application/json", encoding.codec)
        yield from encoding.notices
        blocks = FlatBlocks()
        try:
            for value in flat_values(decoded_pieces(path, encoding)):
                yield from blocks.add(value)
        except JsonProblem as problem:
            raise FileMalformed(name=name, format="JSON", reason=str(problem)) from problem
        yield from blocks.take()
