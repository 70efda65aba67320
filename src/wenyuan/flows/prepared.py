"""How a file that was made ready travels from the child process, and how little of it is believed.

Chunks travel as offsets, and their text is cut here from the text that travelled before them: so
`text[start:end] == chunk.text` holds whatever the child says. The hash under which a vector is shared
is computed here as well; a wrong one would give other documents' passages a wrong vector. What
remains to be believed are words and keys, and wrong ones harm only the document itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from wenyuan.errors import ParserOutputTooLarge
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.parsers.members import MOST_BYTES, MOST_MEMBERS
from wenyuan.parsers.wire import WireError, extent, packed, placed, unpacked
from wenyuan.rules.embedding_input import embedding_input, input_hash
from wenyuan.rules.tables.pages import MOST_ROWS, MOST_TABLES
from wenyuan.types import Chunk, ChunkingConfig, Facts, Key, KeyKind, KeySource, Member, Notice, Posting, TableRows

_LONGEST_WINDOW = 1 << 24
# In base64, which takes four characters for three bytes.
_MOST_MEMBER_BYTES = MOST_BYTES // 3 * 4 + MOST_MEMBERS * 4
_LARGEST_NUMBER = 1 << 53
_KEY_KINDS, _KEY_SOURCES = frozenset(get_args(KeyKind)), frozenset(get_args(KeySource))
_CHUNK = (int, int, str, int, int, str, list, int, int, str, str, int)
_KEY = (int, str, str, str, int, int)


@dataclass(frozen=True, slots=True)
class Instructions:
    """How a file is to be made ready."""

    name: str
    title: str
    chunking: ChunkingConfig
    vocabulary: Vocabulary

    def encoded(self) -> list[Any]:
        config, words = self.chunking, self.vocabulary
        return [self.name, self.title, config.target_columns, config.overlap_columns, words.terms]

    @staticmethod
    def decoded(value: list[Any]) -> Instructions:
        name, title, target, overlap, terms = value
        return Instructions(name, title, ChunkingConfig(target, overlap), _vocabulary(tuple(terms)))


@lru_cache(maxsize=4)
def _vocabulary(terms: tuple[str, ...]) -> Vocabulary:
    return Vocabulary(terms)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A piece of a file: the text it adds, and the chunks that are complete with it, with all they are found by."""

    text: str
    chunks: Sequence[tuple[Chunk, bytes]]
    postings: Sequence[Posting]
    keys: Sequence[Key]
    tables: Sequence[TableRows] = ()
    """Rows of tables that came with it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a file once it was read to its end."""

    facts: Facts
    notices: tuple[Notice, ...]


def encode_batch(text: str, chunks: Iterable[tuple[Chunk, Posting, Sequence[Key]]], settled: int) -> list[Any]:
    """A batch as it travels: what many chunks share, their headings and contexts, travels once."""
    heads: dict[tuple[tuple[str, ...], str, str], int] = {}
    contexts: dict[str, int] = {}
    rows, keys = [], []
    for number, (chunk, posting, found) in enumerate(chunks):
        anchor = chunk.anchor
        head = heads.setdefault((chunk.heading_path, posting.name, posting.heading), len(heads))
        context = contexts.setdefault(chunk.context, len(contexts))
        place = (chunk.start, chunk.end, anchor.kind, anchor.first, anchor.last, anchor.name, extent(anchor))
        rows.append((*place, head, context, posting.body, posting.alias, posting.alias_overflow))
        keys += [(number, key.kind, key.value, key.source, key.first_day, key.last_day) for key in found]
    return ["batch", text, settled, list(heads), list(contexts), rows, keys]


def encode_ending(ending: Ending) -> list[Any]:
    return ["end", packed(ending.facts), *map(packed, ending.notices)]


class Receiver:
    """Takes what the child hands over, in order, and checks it.

    Raises `WireError`, and `ParserOutputTooLarge` for a text of more than `most_bytes`.
    """

    def __init__(self, name: str, most_bytes: int) -> None:
        self._name = name
        self._most_bytes = most_bytes
        self._bytes = 0
        self._base = 0
        self._window = ""
        self._chunks = 0
        self._member_bytes = 0
        self._table_rows = 0

    def __call__(self, value: Any) -> Prepared | Ending | Member | TableRows:
        try:
            match value:
                case ["rows", *_]:
                    return self._rows_of_table(value)
                case ["member", *_]:
                    return self._member(value)
                case ["batch", str(text), int(settled), [*heads], [*contexts], [*rows], [*keys]]:
                    return self._batch(text, settled, _heads(heads), _texts(contexts), rows, keys)
                case ["end", facts, *notices]:
                    return _ending(facts, notices)
        except (ValueError, TypeError, IndexError) as error:
            raise WireError(str(error)) from error
        raise WireError(f"unknown batch {str(value)[:80]}")

    def _batch(
        self,
        text: str,
        settled: int,
        heads: Sequence[tuple[tuple[str, ...], str, str]],
        contexts: Sequence[str],
        rows: Sequence[Any],
        keys: Sequence[Any],
    ) -> Prepared:
        self._bytes += len(text.encode())
        if self._bytes > self._most_bytes:
            raise ParserOutputTooLarge(name=self._name, limit=f"{self._most_bytes >> 20} MB")
        self._window += text
        chunks: list[tuple[Chunk, bytes]] = []
        postings: list[Posting] = []
        for row in rows:
            if tuple(map(type, row)) != _CHUNK:
                raise WireError(f"unknown chunk {str(row)[:80]}")
            start, end, kind, first, last, place, numbers, head, context, body, alias, overflow = row
            path, name_tokens, heading_tokens = heads[_number(head)]
            anchor = placed(kind, _number(first), _number(last), place, numbers)
            chunk = Chunk(self._chunks, self._cut(start, end), start, end, anchor, path, contexts[_number(context)])
            chunks.append((chunk, input_hash(embedding_input(path, chunk.context, chunk.text))))
            postings.append(Posting(name_tokens, heading_tokens, body, alias, _number(overflow)))
            self._chunks += 1
        first_seq = self._chunks - len(chunks)
        prepared = Prepared(text, chunks, postings, [_key(key, first_seq, len(chunks)) for key in keys])
        self._settle(settled)
        return prepared

    def _member(self, value: list[Any]) -> Member:
        piece = unpacked(value)
        self._member_bytes += len(value[2])
        if not isinstance(piece, Member) or self._member_bytes > _MOST_MEMBER_BYTES:
            raise WireError("files inside that were not agreed")
        return piece

    def _rows_of_table(self, value: list[Any]) -> TableRows:
        piece = unpacked(value)
        assert isinstance(piece, TableRows), "only rows are packed so"
        self._table_rows += max(1, len(piece.rows))
        if self._table_rows > MOST_ROWS + MOST_TABLES:
            raise WireError("more rows of tables than were agreed")
        return piece

    def _cut(self, start: int, end: int) -> str:
        if not self._base <= start < end <= self._base + len(self._window):
            raise WireError(f"a chunk from {start} to {end} is out of sight")
        return self._window[start - self._base : end - self._base]

    def _settle(self, settled: int) -> None:
        """Forget the text in which no chunk begins any more."""
        if not self._base <= settled <= self._base + len(self._window):
            raise WireError(f"the text to {settled} is out of sight")
        self._base, self._window = settled, self._window[settled - self._base :]
        if len(self._window) > _LONGEST_WINDOW:
            raise WireError("a chunk that never ends")


def _heads(values: Sequence[Any]) -> list[tuple[tuple[str, ...], str, str]]:
    heads = []
    for path, name_tokens, heading_tokens in values:
        _texts((name_tokens, heading_tokens))
        heads.append((tuple(_texts(path)), name_tokens, heading_tokens))
    return heads


def _texts(values: Sequence[Any]) -> Sequence[str]:
    "".join(values)
    return values


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _LARGEST_NUMBER:
        raise WireError(f"unknown number {str(value)[:80]}")
    return value


def _key(value: Any, first_seq: int, chunks: int) -> Key:
    if tuple(map(type, value)) != _KEY:
        raise WireError(f"unknown key {str(value)[:80]}")
    number, kind, text, source, first_day, last_day = value
    if kind not in _KEY_KINDS or source not in _KEY_SOURCES or _number(number) >= chunks:
        raise WireError(f"unknown key {str(value)[:80]}")
    return Key(kind, text, source, first_seq + number, _number(first_day), _number(last_day))


def _ending(facts: Any, notices: Sequence[Any]) -> Ending:
    known = unpacked(facts)
    told = [unpacked(notice) for notice in notices]
    if not isinstance(known, Facts):
        raise WireError("an ending without facts")
    return Ending(known, tuple(notice for notice in told if isinstance(notice, Notice)))
