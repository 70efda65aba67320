"""The lexical index on PostgreSQL: postings in immutable segments, scored by BM25 in this process.

What is added becomes a segment; when eight of about one size have come together they become one, up
to some thousands of chunks (the tree of Bentley & Saxe 1980, as in Lucene). A search reads the pages
that may hold its tokens, and computes the formula that FTS5 computes on SQLite, of the same tokens
and the same counts. What a search has read is remembered for as long as the index does not change.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import LibraryDamaged
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.postgresql.pages import FIELDS, MOST_CHUNKS, Page, Postings, fields_of, inverted, joined, merged
from wenyuan.store.postgresql.pages import paged as pages_of
from wenyuan.types import Posting

# A name outranks a heading, a heading the body; aliases are canonical, rare and exact. As on SQLite.
_WEIGHTS: Mapping[str, float] = {"name": 5.0, "heading": 4.0, "body": 1.0, "alias": 1.5}
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6

_MERGED_TOGETHER = 8
_WHOLE_SEGMENT = 2048
"""Segments of so many chunks are not merged any more: that would take seconds, in which nobody else writes."""

_MOST_REMEMBERED = 4_000_000


@dataclass(frozen=True, slots=True)
class _Segment:
    """Keys and lengths of a segment's chunks; they never change."""

    keys: NDArray[np.int64]
    lengths: NDArray[np.int32]


@dataclass(slots=True)
class _State:
    """An index at one version: its segments one after the other, and the postings that were asked for.

    `starts` says where each segment begins in `keys`; postings are positions in `keys` with the
    weighted frequency of the token, of chunks that are not gone.
    """

    continuity: int
    version: int
    chunks: int
    segments: Mapping[int, _Segment]
    starts: Mapping[int, int]
    keys: NDArray[np.int64]
    alive: NDArray[np.bool_]
    saturation: NDArray[np.float64]
    postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict)
    remembered: int = 0

    @property
    def is_large(self) -> bool:
        """Whether it remembers more postings than are worth their memory."""
        return self.remembered > _MOST_REMEMBERED


class PostgresOnly(Protocol):
    """What this index asks of a transaction besides: to take many rows at once, and to remember a row."""

    def once(self, sql: str, name: str, value: object) -> Row | None:
        """The first row of a statement with one parameter, asked for once where nothing can change it."""
        ...

    def copy_rows(self, sql: str, rows: Iterable[Sequence[bytes]]) -> None:
        """Execute a `COPY … FROM STDIN (FORMAT BINARY)` with rows whose values are in PostgreSQL's binary format."""
        ...


class PostingsIndex:
    """The indexes of one library; threads may share it."""

    def __init__(self) -> None:
        self._states: dict[int, _State] = {}

    def create(self, tx: Writing, number: int) -> None:
        tx.run(
            "INSERT INTO lexical_indexes (number, version, chunks, tokens) "
            "VALUES (:number, nextval('lexical_versions'), 0, 0)",
            {"number": number},
        )

    def drop(self, tx: Writing, number: int) -> None:
        tx.run("DELETE FROM lexical_pages WHERE number = :number", {"number": number})
        tx.run("DELETE FROM lexical_segments WHERE number = :number", {"number": number})
        tx.run("DELETE FROM lexical_indexes WHERE number = :number", {"number": number})
        self._states.pop(number, None)

    # --- Writing ---------------------------------------------------------------------------------

    def add(self, tx: Writing, number: int, postings: Iterable[tuple[int, Posting]]) -> None:
        # Adding again replaces, so that staging that is taken up again after a crash may repeat a batch.
        ordered = sorted(dict(postings).items())
        if ordered:
            self.remove(tx, number, [key for key, _ in ordered])
        for start in range(0, len(ordered), _WHOLE_SEGMENT):
            part = ordered[start : start + _WHOLE_SEGMENT]
            made, lengths = inverted(posting for _, posting in part)
            _store(tx, number, np.array([key for key, _ in part], dtype=np.int64), lengths, made)
            _count(tx, number, len(part), int(lengths.sum()))
        if ordered:
            _merge(tx, number)

    def remove(self, tx: Writing, number: int, chunk_keys: Iterable[int]) -> None:
        gone = np.array(sorted(set(chunk_keys)), dtype=np.int64)
        if not len(gone):
            return
        rows = tx.all(
            "SELECT segment, keys, lengths, removed FROM lexical_segments WHERE number = :number "
            "AND first_key <= :last AND last_key >= :first",
            {"number": number, "first": int(gone[0]), "last": int(gone[-1])},
        )
        for segment, keys, lengths, removed in rows:
            held, before = np.frombuffer(keys, np.int64), np.frombuffer(removed, np.int32)
            now = np.setdiff1d(np.flatnonzero(np.isin(held, gone)).astype(np.int32), before)
            if not len(now):
                continue
            _count(tx, number, -len(now), -int(np.frombuffer(lengths, np.int32)[now].sum()))
            if len(before) + len(now) == len(held):
                _forget(tx, number, [segment])
                continue
            tx.run(
                "UPDATE lexical_segments SET removed = :removed WHERE number = :number AND segment = :segment",
                {"number": number, "segment": segment, "removed": np.append(before, now).tobytes()},
            )

    # --- Reading ---------------------------------------------------------------------------------

    def search(
        self,
        tx: Reading,
        number: int,
        tokens: Sequence[str],
        excluded: Sequence[str],
        limit: int,
        frequency: Mapping[str, int] | None = None,  # noqa: ARG002
        among: NDArray[np.int64] | None = None,
    ) -> list[tuple[int, float]]:
        state = self._asked(tx, number, [*tokens, *excluded])
        scores = np.zeros(len(state.keys))
        for token in dict.fromkeys(tokens):
            positions, frequencies = state.postings[token]
            idf = math.log((state.chunks - len(positions) + 0.5) / (len(positions) + 0.5))
            gain = max(idf, _LEAST_IDF) * (_K1 + 1)
            scores[positions] += gain * frequencies / (frequencies + state.saturation[positions])
        for token in excluded:
            scores[state.postings[token][0]] = 0.0
        if among is not None:
            scores[~np.isin(state.keys, among)] = 0.0
        return _best(scores, state.keys, limit)

    def document_frequency(self, tx: Reading, number: int, tokens: Sequence[str]) -> dict[str, int]:
        state = self._asked(tx, number, tokens)
        return {token: len(state.postings[token][0]) for token in tokens}

    def size(self, tx: Reading, number: int) -> int:
        return int(_head(tx, number)[1])

    def keys(self, tx: Reading, number: int, after: int, limit: int) -> list[int]:
        _head(tx, number)
        rows = tx.all(
            "SELECT keys, removed FROM lexical_segments WHERE number = :number AND last_key > :after",
            {"number": number, "after": after},
        )
        left = [np.delete(np.frombuffer(row[0], np.int64), np.frombuffer(row[1], np.int32)) for row in rows]
        if not left:
            return []
        held = np.concatenate(left)
        found: list[int] = np.sort(held[held > after])[:limit].tolist()
        return found

    def tokens(self, tx: Reading, number: int) -> Iterator[tuple[int, str, str]]:
        """Every token, as often as it stands in the index, as (chunk key, field, token)."""
        for row in tx.all(
            "SELECT segment, keys, removed FROM lexical_segments WHERE number = :number", {"number": number}
        ):
            keys, removed = np.frombuffer(row[1], np.int64), set(np.frombuffer(row[2], np.int32).tolist())
            for page in _pages(tx, number, row[0]):
                whole = joined([page])
                counts = fields_of(whole.codes)
                names = np.repeat(np.arange(len(whole.tokens)), whole.counts)
                for at, (position, named) in enumerate(zip(whole.positions.tolist(), names.tolist(), strict=True)):
                    if position not in removed:
                        token = whole.tokens[named].decode()
                        for name in FIELDS:
                            yield from ((int(keys[position]), name, token) for _ in range(counts[name][at]))

    def _asked(self, tx: Reading, number: int, tokens: Sequence[str]) -> _State:
        """The index as this transaction sees it, with the postings of some tokens."""
        version, chunks, length = _head(tx, number)
        state = self._states.get(number)
        if state is None or (state.continuity, state.version) != (tx.continuity, version) or state.is_large:
            if state is None:
                self._forget_dropped(tx)
            # Numbers of what was undone are given anew, to something else.
            known = state.segments if state is not None and state.continuity == tx.continuity else {}
            state = self._states[number] = _load(tx, number, version, chunks, length, known)
        unknown = [token for token in dict.fromkeys(tokens) if token not in state.postings]
        if unknown:
            read = _read(tx, number, state, unknown)
            state.postings.update(read)
            state.remembered += sum(len(positions) for positions, _ in read.values())
        return state

    def _forget_dropped(self, tx: Reading) -> None:
        """Let go of indexes that others have dropped meanwhile."""
        rows = tx.all(
            "SELECT number FROM lexical_indexes WHERE number IN (SELECT CAST(value AS BIGINT) FROM json_each(:known))",
            {"known": json.dumps(list(self._states))},
        )
        for gone in self._states.keys() - {int(row[0]) for row in rows}:
            self._states.pop(gone, None)


def _head(tx: Reading, number: int) -> Row:
    """Version, chunks and their tokens of an index."""
    sql = "SELECT version, chunks, tokens FROM lexical_indexes WHERE number = :number"
    row = cast(PostgresOnly, tx).once(sql, "number", number)
    if row is None:
        raise LibraryDamaged(path="PostgreSQL", reason=f"the lexical index {number} is missing")
    return row


def _load(tx: Reading, number: int, version: int, chunks: int, length: int, known: Mapping[int, _Segment]) -> _State:
    removed = {
        int(segment): np.frombuffer(gone, np.int32)
        for segment, gone in tx.all(
            "SELECT segment, removed FROM lexical_segments WHERE number = :number ORDER BY segment", {"number": number}
        )
    }
    rows = tx.all(
        "SELECT segment, keys, lengths FROM lexical_segments WHERE number = :number "
        "AND segment IN (SELECT CAST(value AS BIGINT) FROM json_each(:segments))",
        {"number": number, "segments": json.dumps([segment for segment in removed if segment not in known])},
    )
    read = {
        int(segment): _Segment(np.frombuffer(keys, np.int64), np.frombuffer(lengths, np.int32))
        for segment, keys, lengths in rows
    }
    segments = {segment: known[segment] if segment in known else read[segment] for segment in removed}
    starts, alive, total = {}, [], 0
    for segment, gone in removed.items():
        starts[segment] = total
        mask = np.ones(len(segments[segment].keys), dtype=np.bool_)
        mask[gone] = False
        alive.append(mask)
        total += len(mask)
    none = np.empty(0)
    lengths = np.concatenate([none, *(one.lengths for one in segments.values())])
    average = length / chunks if length and chunks else 1.0
    return _State(
        tx.continuity,
        version,
        chunks,
        segments,
        starts,
        np.concatenate([none.astype(np.int64), *(one.keys for one in segments.values())]),
        np.concatenate([none.astype(np.bool_), *alive]),
        _K1 * (1 - _B + _B * lengths / average),
    )


def _read(
    tx: Reading, number: int, state: _State, tokens: Sequence[str]
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """The postings of tokens, from the one page of each segment that may hold them."""
    rows = tx.all(
        "SELECT t.value, s.segment, p.page FROM json_each(:tokens) AS t CROSS JOIN lexical_segments AS s "
        "CROSS JOIN LATERAL (SELECT page FROM lexical_pages AS g WHERE g.number = s.number AND g.segment = s.segment "
        "AND g.first_token <= t.value ORDER BY g.first_token DESC LIMIT 1) AS p WHERE s.number = :number",
        {"tokens": json.dumps(tokens), "number": number},
    )
    positions: dict[str, list[NDArray[np.int64]]] = {token: [] for token in tokens}
    codes: dict[str, list[NDArray[np.uint32]]] = {token: [] for token in tokens}
    for token, segment, content in rows:
        found = Page(content).find(token.encode())
        if found is not None:
            positions[token].append(found[0] + np.int64(state.starts[segment]))
            codes[token].append(found[1])
    return {token: _postings(positions[token], codes[token], state.alive) for token in tokens}


def _postings(
    positions: Sequence[NDArray[np.int64]], codes: Sequence[NDArray[np.uint32]], alive: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if not positions:
        return np.empty(0, dtype=np.int64), np.empty(0)
    at = np.concatenate(positions)
    kept = alive[at]
    counts = fields_of(np.concatenate(codes)[kept])
    frequencies = np.zeros(int(np.count_nonzero(kept)))
    for name, weight in _WEIGHTS.items():
        frequencies += weight * counts[name]
    return at[kept], frequencies


def _best(scores: NDArray[np.float64], keys: NDArray[np.int64], limit: int) -> list[tuple[int, float]]:
    """The best of those that have a score, best first, ties by key."""
    found = np.flatnonzero(scores)
    if limit <= 0:
        return []
    if len(found) > limit:
        least = np.partition(scores[found], len(found) - limit)[len(found) - limit]
        found = found[scores[found] >= least]
    order = np.lexsort((keys[found], -scores[found]))[:limit]
    return [(int(keys[at]), float(scores[at])) for at in found[order]]


# --- Segments ------------------------------------------------------------------------------------


def _store(tx: Writing, number: int, keys: NDArray[np.int64], lengths: NDArray[np.int32], postings: Postings) -> None:
    row = tx.first(
        "INSERT INTO lexical_segments (number, segment, chunks, first_key, last_key, keys, lengths, removed) "
        "VALUES (:number, nextval('lexical_versions'), :chunks, :first, :last, :keys, :lengths, :removed) "
        "RETURNING segment",
        {
            "number": number,
            "chunks": len(keys),
            "first": int(keys.min()),
            "last": int(keys.max()),
            "keys": keys.tobytes(),
            "lengths": lengths.tobytes(),
            "removed": b"",
        },
    )
    place = number.to_bytes(4, "big"), int(row[0] if row is not None else 0).to_bytes(8, "big")
    cast(PostgresOnly, tx).copy_rows(
        "COPY lexical_pages (number, segment, first_token, page) FROM STDIN (FORMAT BINARY)",
        ((*place, token, page) for token, page in pages_of(postings)),
    )


def _count(tx: Writing, number: int, chunks: int, tokens: int) -> None:
    tx.run(
        "UPDATE lexical_indexes SET version = nextval('lexical_versions'), chunks = chunks + :chunks, "
        "tokens = tokens + :tokens WHERE number = :number",
        {"number": number, "chunks": chunks, "tokens": tokens},
    )


def _forget(tx: Writing, number: int, segments: Sequence[int]) -> None:
    parameters = {"number": number, "segments": json.dumps(segments)}
    of_these = "WHERE number = :number AND segment IN (SELECT CAST(value AS BIGINT) FROM json_each(:segments))"
    tx.run(f"DELETE FROM lexical_pages {of_these}", parameters)
    tx.run(f"DELETE FROM lexical_segments {of_these}", parameters)


def _pages(tx: Reading, number: int, segment: int) -> list[Page]:
    rows = tx.all(
        "SELECT page FROM lexical_pages WHERE number = :number AND segment = :segment ORDER BY first_token",
        {"number": number, "segment": segment},
    )
    return [Page(row[0]) for row in rows]


def _merge(tx: Writing, number: int) -> None:
    """Make one segment of those of about one size, as often as there are enough of them."""
    while True:
        by_size: dict[int, list[int]] = {}
        for segment, left in tx.all(
            "SELECT segment, chunks - length(removed) / 4 FROM lexical_segments WHERE number = :number "
            "ORDER BY segment",
            {"number": number},
        ):
            if left < _WHOLE_SEGMENT:
                by_size.setdefault(int(math.log(left, _MERGED_TOGETHER)), []).append(int(segment))
        many = next((some for some in by_size.values() if len(some) >= _MERGED_TOGETHER), None)
        if many is None:
            return
        _merge_into_one(tx, number, many[:_MERGED_TOGETHER])


def _merge_into_one(tx: Writing, number: int, segments: Sequence[int]) -> None:
    parts, keys, lengths = [], [], []
    count = 0
    for segment in segments:
        row = tx.first(
            "SELECT keys, lengths, removed FROM lexical_segments WHERE number = :number AND segment = :segment",
            {"number": number, "segment": segment},
        )
        held, long, gone = (
            np.frombuffer(value, kind) for value, kind in zip(row or (), (np.int64, np.int32, np.int32), strict=True)
        )
        alive = np.ones(len(held), dtype=np.bool_)
        alive[gone] = False
        places = np.where(alive, np.cumsum(alive) - 1 + count, -1)
        parts.append((joined(_pages(tx, number, segment)), places))
        keys.append(held[alive])
        lengths.append(long[alive])
        count += int(alive.sum())
    assert count <= MOST_CHUNKS
    _forget(tx, number, segments)
    _store(tx, number, np.concatenate(keys), np.concatenate(lengths), merged(parts))
    _count(tx, number, 0, 0)
