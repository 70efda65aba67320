"""Chunks in; candidates and passages out.

Everything is staged under a revision that nothing searches yet. A chunk is live, and may be shown,
exactly if its document serves its revision and neither is switched off; every read here that leads
to a hit asks that of the database itself. The lists of candidates look into the documents that a
scope names, which a filter has been resolved to (`fields.narrowed`); the reading of the words asks
again whether a filter is met.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wenyuan.language.dates.questions import ANY_YEAR
from wenyuan.store import fields
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import anchor_from, anchor_to_json, to_json
from wenyuan.types import Chunk, DateSpan, Key, KeyKind, Passage, Scope

_LIVE = (
    "c.enabled = 1 AND d.serving_revision_id = c.revision_id AND d.knowledge_base_id = :knowledge_base_id "
    "AND d.enabled = 1 AND d.blocked_reason = '' AND d.deleted_at IS NULL"
)

# Metadata and file names say what a document is about; its body only mentions things.
_STRENGTH = (
    "CASE k.source WHEN 'metadata' THEN 0 WHEN 'filename' THEN 0 WHEN 'title' THEN 1 WHEN 'heading' THEN 2 ELSE 3 END"
)


@dataclass(frozen=True, slots=True)
class Staged:
    """How much of a revision is already committed."""

    chunks: int
    text_pieces: int
    text_length: int


@dataclass(frozen=True, slots=True)
class KeyMatch:
    """A live chunk that holds a key of one kind which was asked for, strongest first in a list of them.

    `strength` is 0 for metadata and file names, 1 for titles, 2 for headings, 3 for the body;
    `whole_document` says that the key belongs to the document rather than to this chunk; `exact`
    that it is what was asked for or lies within it, not merely around it as a month is around a day.
    """

    chunk_key: int
    kind: KeyKind
    strength: int
    whole_document: bool
    exact: bool


def staged(tx: Reading, revision_id: str) -> Staged:
    row = tx.first(
        "SELECT (SELECT coalesce(max(seq), -1) + 1 FROM chunks WHERE revision_id = :id), "
        "(SELECT coalesce(max(seq), -1) + 1 FROM revision_text WHERE revision_id = :id)",
        {"id": revision_id},
    )
    # The last piece alone: SQL that asks the length of every piece reads all the text there is.
    last = tx.first(
        "SELECT start_offset, text FROM revision_text WHERE revision_id = :id ORDER BY seq DESC LIMIT 1",
        {"id": revision_id},
    )
    length = last[0] + len(last[1]) if last is not None else 0
    return Staged(row[0], row[1], length) if row is not None else Staged(0, 0, 0)


def stage_text(tx: Writing, revision_id: str, seq: int, start: int, text: str) -> None:
    tx.run(
        "INSERT INTO revision_text (revision_id, seq, start_offset, text) VALUES (:revision_id, :seq, :start, :text)",
        {"revision_id": revision_id, "seq": seq, "start": start, "text": text},
    )


def stage_chunks(tx: Writing, revision_id: str, chunks: Sequence[tuple[Chunk, bytes]]) -> list[int]:
    """Store chunks with the hash of what is embedded for them, and return their new keys."""
    row = tx.first(
        "UPDATE counters SET value = value + :count WHERE name = 'chunk' RETURNING value", {"count": len(chunks)}
    )
    first = (row[0] if row is not None else len(chunks)) - len(chunks) + 1
    paths = {path: to_json(path) for path in {chunk.heading_path for chunk, _ in chunks}}
    tx.run_many(
        "INSERT INTO chunks (key, revision_id, seq, text, characters, start_offset, end_offset, anchor, heading_path, "
        "context, input_hash, enabled) VALUES (:key, :revision_id, :seq, :text, :characters, :start, :end, :anchor, "
        ":heading_path, :context, :input_hash, 1)",
        (
            {
                "key": first + position,
                "revision_id": revision_id,
                "seq": chunk.seq,
                "text": chunk.text,
                "characters": len(chunk.text),
                "start": chunk.start,
                "end": chunk.end,
                "anchor": anchor_to_json(chunk.anchor),
                "heading_path": paths[chunk.heading_path],
                "context": chunk.context,
                "input_hash": input_hash,
            }
            for position, (chunk, input_hash) in enumerate(chunks)
        ),
    )
    return list(range(first, first + len(chunks)))


def stage_keys(
    tx: Writing, knowledge_base_id: str, document_id: str, revision_id: str, keys: Iterable[tuple[Key, int | None]]
) -> None:
    """Store keys, each with the key of the chunk that holds it or None for the whole document."""
    tx.run_many(
        "INSERT INTO keys (knowledge_base_id, document_id, revision_id, chunk_key, kind, value, source, first_day, "
        "last_day) VALUES (:knowledge_base_id, :document_id, :revision_id, :chunk_key, :kind, :value, :source, "
        ":first_day, :last_day)",
        (
            {
                "knowledge_base_id": knowledge_base_id,
                "document_id": document_id,
                "revision_id": revision_id,
                "chunk_key": chunk_key,
                "kind": key.kind,
                "value": key.value,
                "source": key.source,
                "first_day": key.first_day,
                "last_day": key.last_day,
            }
            for key, chunk_key in keys
        ),
    )


def live(tx: Reading, knowledge_base_id: str, scope: Scope, chunk_keys: Sequence[int]) -> set[int]:
    """Those of the given chunks that may be shown to this scope."""
    rows = tx.all(
        "SELECT c.key, d.id FROM json_each(:keys) AS j CROSS JOIN chunks AS c CROSS JOIN documents AS d "
        f"WHERE c.key = CAST(j.value AS BIGINT) AND {_LIVE}",
        {"knowledge_base_id": knowledge_base_id, "keys": json.dumps(list(chunk_keys))},
    )
    within = None if scope.documents is None else frozenset(scope.documents)
    return {int(key) for key, document_id in rows if within is None or document_id in within}


class ServedChunks(Protocol):
    """Tells the keys of the chunks that documents serve, in order.

    Unless they are wanted `however_many` they are, None may be given where they are more than a few.
    """

    def __call__(
        self, tx: Reading, knowledge_base_id: str, documents: Sequence[str], *, however_many: bool
    ) -> NDArray[np.int64] | None: ...


def served_chunks(
    tx: Reading, knowledge_base_id: str, documents: Sequence[str], *, however_many: bool
) -> NDArray[np.int64] | None:
    """As `ServedChunks`, asked of the database."""
    most = _EVERYTHING if however_many else _FEW_CHUNKS
    rows = tx.all(
        "SELECT c.key FROM json_each(:documents) AS j CROSS JOIN documents AS d CROSS JOIN chunks AS c "
        "WHERE d.id = j.value AND d.knowledge_base_id = :knowledge_base_id AND c.revision_id = d.serving_revision_id "
        "LIMIT :most",
        {"documents": json.dumps(documents), "knowledge_base_id": knowledge_base_id, "most": most + 1},
    )
    return np.sort(np.array(rows, np.int64).reshape(-1)) if len(rows) <= most else None


def keyword(
    tx: Reading,
    knowledge_base_id: str,
    generation_number: int,
    scope: Scope,
    tokens: Sequence[str],
    excluded: Sequence[str],
    depth: int,
    frequency: Mapping[str, int] | None = None,
    served: ServedChunks = served_chunks,
) -> list[tuple[int, float]]:
    """The `depth` best live chunks by BM25, as (chunk key, score), best first.

    The index knows nothing of liveness, so it is asked for more and more until enough of what it
    gives is live, or it has no more. Within a few documents only their chunks are scored, and within
    many as well where hardly anything that is found belongs to them. `frequency` is the document
    frequency of the tokens, if known; `served` tells which chunks those are.
    """
    frequency = tx.lexical.document_frequency(tx, generation_number, tokens) if frequency is None else frequency
    among = None
    if scope.documents is not None:
        among = served(tx, knowledge_base_id, scope.documents, however_many=False)
    # The index scores whatever holds a token before it gives the best: asking it twice costs twice as much.
    asked = _ASKED_WITHIN_MANY * depth if scope.documents is not None and among is None else depth + depth // 4
    asked += _MORE_ASKED
    while True:
        found = tx.lexical.search(tx, generation_number, tokens, excluded, asked, frequency, among)
        alive = live(tx, knowledge_base_id, scope, [key for key, _ in found])
        if len(alive) >= depth or len(found) < asked:
            return [(key, score) for key, score in found if key in alive][:depth]
        share = len(alive) / len(found)
        if share >= _FAIR_SHARE:
            asked += math.ceil(1.5 * depth / share)
        elif scope.documents is not None and among is None:
            among = served(tx, knowledge_base_id, scope.documents, however_many=True)
        else:
            asked = _EVERYTHING


def structured(
    tx: Reading,
    knowledge_base_id: str,
    scope: Scope,
    dates: Sequence[DateSpan],
    values: Sequence[tuple[KeyKind, str]],
    limit: int,
) -> list[KeyMatch]:
    """Live chunks whose keys overlap the dates or equal the values asked for: exact ones, then strongest source first.

    For a key of the whole document its first chunks are given, for the other lists to rank. Where a
    question names the year and a document does not, the document only mentions the day.
    """
    if not dates and not values:
        return []
    within = scope.documents
    rows: list[Row] | None = None
    if within is not None and len(within) > _MANY_DOCUMENTS:
        # Few chunks match as a rule: looking for their documents here is less than giving the database all of them.
        matching = _matching(tx, knowledge_base_id, None, dates, values, limit + _MORE_MATCHING)
        named = frozenset(within)
        met = [row for row in matching if row[5] in named]
        if len(met) >= limit or len(matching) < limit + _MORE_MATCHING:
            rows = met[:limit]
    if rows is None:
        rows = _matching(tx, knowledge_base_id, within, dates, values, limit)
    return [
        KeyMatch(int(key), kind, int(grade) % _LOOSE, bool(whole), exact=int(grade) < _LOOSE)
        for key, kind, grade, whole, _, _ in rows
    ]


def _matching(
    tx: Reading,
    knowledge_base_id: str,
    documents: Sequence[str] | None,
    dates: Sequence[DateSpan],
    values: Sequence[tuple[KeyKind, str]],
    limit: int,
) -> list[Row]:
    """The best matches, as rows of key, kind, grade, whether the key is the whole document's, width and document."""
    return tx.all(
        "WITH days AS (SELECT CAST(json(j.value) ->> 0 AS BIGINT) AS first_day, "
        "CAST(json(j.value) ->> 1 AS BIGINT) AS last_day, CAST(json(j.value) ->> 2 AS BIGINT) AS weak "
        "FROM json_each(:days) AS j), "
        "wanted AS (SELECT json(j.value) ->> 0 AS kind, json(j.value) ->> 1 AS value FROM json_each(:wanted) AS j), "
        "matched AS ("
        "SELECT k.revision_id, k.chunk_key, k.kind, "
        "CASE WHEN k.first_day >= days.first_day AND k.last_day <= days.last_day THEN 0 ELSE :loose END "
        f"+ CASE WHEN days.weak = 1 THEN 3 ELSE {_STRENGTH} END AS grade, k.last_day - k.first_day AS width "
        "FROM days CROSS JOIN keys AS k WHERE k.knowledge_base_id = :knowledge_base_id AND k.kind = 'date' "
        "AND k.first_day BETWEEN days.first_day - :longest AND days.last_day AND k.last_day >= days.first_day "
        "UNION ALL "
        f"SELECT k.revision_id, k.chunk_key, k.kind, {_STRENGTH}, 0 FROM wanted CROSS JOIN keys AS k "
        "WHERE k.knowledge_base_id = :knowledge_base_id AND k.kind = wanted.kind AND k.value = wanted.value), "
        "placed AS ("
        "SELECT m.chunk_key, m.kind, m.grade, 0 AS whole, m.width FROM matched AS m WHERE m.chunk_key IS NOT NULL "
        "UNION ALL "
        "SELECT o.key, m.kind, m.grade, 1, m.width FROM matched AS m CROSS JOIN chunks AS o "
        "WHERE m.chunk_key IS NULL AND o.revision_id = m.revision_id AND o.seq < :opening) "
        "SELECT c.key, p.kind, min(p.grade) AS grade, min(p.whole), min(p.width) AS width, "
        "min(d.id) FROM placed AS p CROSS JOIN chunks AS c CROSS JOIN documents AS d "
        f"WHERE c.key = p.chunk_key AND {_LIVE} "
        "AND (:all_documents = 1 OR d.id IN (SELECT value FROM json_each(:documents))) "
        "GROUP BY c.key, p.kind ORDER BY grade, width, c.key, p.kind LIMIT :limit",
        {
            "knowledge_base_id": knowledge_base_id,
            "all_documents": int(documents is None),
            "documents": json.dumps(documents or ()),
            "days": json.dumps([[d.first_day, d.last_day, int(d.reading == ANY_YEAR)] for d in dates]),
            "wanted": json.dumps([list(value) for value in values]),
            "loose": _LOOSE,
            "longest": _LONGEST_KEY_DAYS,
            "opening": _OPENING_CHUNKS,
            "limit": limit,
        },
    )


_OPENING_CHUNKS = 8
_EVERYTHING = 1 << 30
_FAIR_SHARE = 0.05
_MORE_ASKED = 10
# For scopes of more than a third of all, mostly once is enough.
_ASKED_WITHIN_MANY = 3
_FEW_CHUNKS = 10_000
_MANY_DOCUMENTS = 1_000
_MORE_MATCHING = 1_000
_LOOSE = 10
# Bounds the scan of the index by day; of a longer range only its first days are overlapped.
_LONGEST_KEY_DAYS = 400


def dated_within(tx: Reading, chunk_keys: Sequence[int], dates: Sequence[DateSpan]) -> set[int]:
    """Those of the given chunks that hold a date, or whose document has one, within one of the intervals."""
    rows = tx.all(
        "WITH days AS (SELECT CAST(json(j.value) ->> 0 AS BIGINT) AS first_day, "
        "CAST(json(j.value) ->> 1 AS BIGINT) AS last_day FROM json_each(:days) AS j), "
        "candidates AS (SELECT c.key, c.revision_id FROM json_each(:keys) AS j CROSS JOIN chunks AS c "
        "WHERE c.key = CAST(j.value AS BIGINT)) "
        "SELECT c.key FROM candidates AS c CROSS JOIN keys AS k CROSS JOIN days WHERE k.revision_id = c.revision_id "
        "AND k.chunk_key = c.key AND k.kind = 'date' AND k.first_day >= days.first_day AND k.last_day <= days.last_day "
        "UNION "
        "SELECT c.key FROM candidates AS c CROSS JOIN keys AS k CROSS JOIN days WHERE k.revision_id = c.revision_id "
        "AND k.chunk_key IS NULL AND k.kind = 'date' AND k.first_day >= days.first_day AND k.last_day <= days.last_day",
        {
            "keys": json.dumps(list(chunk_keys)),
            "days": json.dumps([[date.first_day, date.last_day] for date in dates]),
        },
    )
    return {int(row[0]) for row in rows}


def passages(tx: Reading, knowledge_base_id: str, scope: Scope, chunk_keys: Sequence[int]) -> dict[int, Passage]:
    """The words of those of the given chunks that may be shown, by chunk key; this has the last say on it."""
    rows = tx.all(
        "SELECT c.key, c.seq, c.text, c.start_offset, c.end_offset, c.anchor, c.heading_path, c.context, r.id, "
        "r.media_type, r.chunk_count, d.id, d.knowledge_base_id, d.name, d.source FROM json_each(:keys) AS j "
        "CROSS JOIN chunks AS c CROSS JOIN documents AS d CROSS JOIN revisions AS r "
        f"WHERE c.key = CAST(j.value AS BIGINT) AND r.id = c.revision_id AND {_LIVE}",
        {"knowledge_base_id": knowledge_base_id, "keys": json.dumps(list(chunk_keys))},
    )
    if scope.conditions:
        met = fields.meeting(tx, scope.conditions, (row[8] for row in rows))
        rows = [row for row in rows if row[8] in met]
    within = None if scope.documents is None else frozenset(scope.documents)
    return {int(row[0]): _passage(row) for row in rows if within is None or row[11] in within}


def of_revision(tx: Reading, revision_id: str, first: int = 0, limit: int = 100) -> list[Chunk]:
    """Chunks of any stored revision in order, live or not, from sequence number `first` on."""
    rows = tx.all(
        "SELECT key, seq, text, start_offset, end_offset, anchor, heading_path, context FROM chunks "
        "WHERE revision_id = :id AND seq >= :first ORDER BY seq LIMIT :limit",
        {"id": revision_id, "first": first, "limit": limit},
    )
    return [_chunk(row) for row in rows]


def bounds(tx: Reading, revision_id: str) -> list[tuple[int, int, int]]:
    """Where each chunk of a stored revision begins and ends in its text, with its sequence number, in order."""
    rows = tx.all(
        "SELECT start_offset, end_offset, seq FROM chunks WHERE revision_id = :id ORDER BY seq", {"id": revision_id}
    )
    return [(int(start), int(end), int(seq)) for start, end, seq in rows]


def revision_text(tx: Reading, revision_id: str, start: int, end: int) -> str:
    """The revision's normalised text between two offsets."""
    rows = tx.all(
        "SELECT start_offset, text FROM revision_text WHERE revision_id = :id AND start_offset < :end AND seq >= "
        "(SELECT coalesce(max(seq), 0) FROM revision_text WHERE revision_id = :id AND start_offset <= :start) "
        "ORDER BY seq",
        {"id": revision_id, "start": start, "end": end},
    )
    return "".join(text[max(0, start - at) : end - at] for at, text in rows)


# Passages of one section have one path.
@lru_cache(maxsize=1 << 10)
def _heading_path(stored: str) -> tuple[str, ...]:
    return tuple(json.loads(stored))


def _chunk(row: Row) -> Chunk:
    return Chunk(
        seq=row[1],
        text=row[2],
        start=row[3],
        end=row[4],
        anchor=anchor_from(row[5]),
        heading_path=_heading_path(row[6]),
        context=row[7],
    )


def _passage(row: Row) -> Passage:
    return Passage(
        chunk_key=row[0],
        chunk_id=f"{row[8]}.{row[1]}",
        revision_id=row[8],
        media_type=row[9],
        chunk_count=row[10],
        document_id=row[11],
        knowledge_base_id=row[12],
        document_name=row[13],
        source=row[14],
        chunk=_chunk(row),
    )
