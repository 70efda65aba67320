"""Tables as text: comma-, semicolon-, tab- or bar-separated values (RFC 4180 and what is like it)."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from wenyuan.errors import FileMalformed
from wenyuan.parsers.text.csv_table import CsvTable, is_title
from wenyuan.parsers.text.decoding import decoded_pieces, recognise_encoding
from wenyuan.parsers.text.lines import text_lines
from wenyuan.types import Anchor, Block, Facts, Notice, ReadEvent, TableRows

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_SAMPLE_COLUMNS = 10_000
_ROWS_CHARACTERS = 4_000
_MOST_LINES_IN_RECORD = 1_000
_MOST_TITLES = 6
_LARGEST_FIELD = 1 << 24
_NUMBER = re.compile(r"[-+]?[\d.,]*\d%?")
_DELIMITER_LINE = re.compile(r"sep=(.)$")


class CsvParser:
    """Reads a table: its first row is the context of all others, unless it holds numbers."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        encoding = recognise_encoding(path, name)
        yield Facts("text/csv", encoding.codec)
        yield from encoding.notices
        records = _Records(text_lines(decoded_pieces(path, encoding)), name)
        yield from _Rows().blocks(records)
        yield from records.notices


class _Records:
    """The records of a file, and the lines each stands on."""

    def __init__(self, lines: Iterable[str], name: str) -> None:
        self.notices: list[Notice] = []
        self._name = name
        csv.field_size_limit(_LARGEST_FIELD)
        lines = iter(lines)
        sample = list(itertools.islice(lines, _SAMPLE_LINES))
        declared = _DELIMITER_LINE.match(sample[0]) if sample else None
        self._delimiter = declared[1] if declared else _delimiter(sample)
        self._lines = _RecordLines(itertools.chain(sample, lines))
        if declared:
            next(self._lines)

    def __iter__(self) -> Iterator[tuple[list[str], int, int]]:
        """Yield each record that is not blank, with its first and last line."""
        reader = csv.reader(self._lines, delimiter=self._delimiter)
        while True:
            self._lines.begin_record()
            first = self._lines.number + 1
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise FileMalformed(name=self._name, format="CSV", reason=f"line {first}: {error}") from error
            if self._lines.is_unclosed:
                self._lines.rewind()
                reader = csv.reader(self._lines, delimiter=self._delimiter, quoting=csv.QUOTE_NONE)
                self._note_unclosed(first)
            elif any(cell and not cell.isspace() for cell in record):
                yield record, first, self._lines.number

    def _note_unclosed(self, line: int) -> None:
        message = f"A quotation mark on line {line} is never closed; from there on, quotation marks mean nothing."
        self.notices.append(Notice("unclosed-quote", message))


class _RecordLines:
    """Lines for the reader, remembered until their record is complete."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.number = 0
        self._lines = lines
        self._record: list[str] = []
        self._again: list[str] = []
        self._is_cut = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if len(self._record) >= _MOST_LINES_IN_RECORD:
            self._is_cut = True
            raise StopIteration
        line = self._again.pop() if self._again else next(self._lines)
        self._record.append(line)
        self.number += 1
        return line + "\n"

    def begin_record(self) -> None:
        self._record = []
        self._is_cut = False

    @property
    def is_unclosed(self) -> bool:
        """Whether the record ended only because no more lines came."""
        return self._is_cut or (len(self._record) > 1 and sum(line.count('"') for line in self._record) % 2 == 1)

    def rewind(self) -> None:
        """Give the lines of the record once more."""
        self.number -= len(self._record)
        self._again.extend(reversed(self._record))
        self.begin_record()


class _Rows:
    """Makes blocks of records, as rows of a Markdown table."""

    def __init__(self) -> None:
        self._header = ""
        self._width = 0
        self._rows: list[str] = []
        self._size = 0
        self._first = 0
        self._last = 0
        self._joiner = "\n\n"
        self._is_titled = False
        """Whether what was read so far is no more than titles: single cells above the table."""
        self._ragged = 0
        self._first_ragged = 0
        self._typed = CsvTable()

    def blocks(self, records: Iterable[tuple[list[str], int, int]]) -> Iterator[Block | Notice | TableRows]:
        """Yield blocks of rows; rows of one line each are one to one with the file's lines."""
        count = 0
        for count, (cells, first, last) in enumerate(records, 1):
            yield from self._typed.take(cells, first, last)
            row = f"| {' | '.join(map(_cell, cells))} |"
            if count == 1 or (self._is_titled and count <= _MOST_TITLES):
                self._width = max(self._width, len(cells))
                yield Block("table", row, Anchor("lines", first, last), joiner=self._joiner)
                self._joiner = "\n"
                self._is_titled = is_title(cells)
                self._header = row if _is_header(cells) and not self._is_titled else ""
                continue
            self._note_width(cells, first)
            if self._rows and (first != self._last + 1 or last > first or self._size >= _ROWS_CHARACTERS):
                yield self._taken()
            self._first = self._first if self._rows else first
            self._rows.append(row)
            self._size += len(row)
            self._last = last
            if last > first:
                yield self._taken()
        if self._rows:
            yield self._taken()
        yield from self._typed.finish()
        if count == 1 and self._header:
            yield Notice("header-only", "The table has a header but no rows.")
        if self._ragged:
            yield self._ragged_notice()

    def _taken(self) -> Block:
        rows, self._rows, self._size = self._rows, [], 0
        anchor = Anchor("lines", self._first, self._last)
        return Block("table", "\n".join(rows), anchor, context=self._header, joiner=self._joiner)

    def _note_width(self, cells: list[str], line: int) -> None:
        if len(cells) != self._width:
            self._ragged += 1
            self._first_ragged = self._first_ragged or line

    def _ragged_notice(self) -> Notice:
        rows = f"{self._ragged} rows have" if self._ragged > 1 else "One row has"
        message = f"{rows} not {self._width} cells like the first row; see line {self._first_ragged}."
        return Notice("ragged-rows", message)


def _cell(value: str) -> str:
    if "\n" in value:
        value = " ".join(value.split())
    return value.strip().replace("|", "\\|")


def _is_header(cells: list[str]) -> bool:
    return len(cells) > 1 and not any(_NUMBER.fullmatch(cell.strip()) for cell in cells)


def _delimiter(sample: list[str]) -> str:
    """Return the delimiter that gives the sample's rows the same number of cells most consistently."""
    beginnings = [line[:_SAMPLE_COLUMNS] for line in sample]

    def fitness(delimiter: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in csv.reader(beginnings, delimiter=delimiter) if row)
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        return (count / widths.total(), width) if width > 1 else (0.0, 0)

    best = max(_DELIMITERS, key=fitness)
    return best if fitness(best) > (0.0, 0) else ","
