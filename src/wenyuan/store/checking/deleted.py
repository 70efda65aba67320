"""Nothing remembers what a deleted document was called, and passages that are switched off are."""

from __future__ import annotations

import json
from collections.abc import Iterator

from wenyuan.store import disabled_passages, erasures
from wenyuan.store.checking.invariants import Invariant, Violation
from wenyuan.store.database import Database, LibraryDatabase, Reading

_TRACES_AT_ONCE = 200
_PASSAGES_AT_ONCE = 1000

ERASURE_QUEUED = Invariant(
    "erasure-lost",
    "error",
    "{count} deleted documents are still named in traces, and no job will ever erase that.",
    "`wenyuan check --repair` queues one; traces go by themselves after a while.",
)
NAMES_ERASED = Invariant(
    "trace-leftover",
    "error",
    "The trace {trace} names the document {document}, which is deleted.",
    "`wenyuan check --repair` removes it; traces go by themselves after `retention.trace_days`.",
)
PASSAGES_SWITCHED = Invariant(
    "passage-switched",
    "error",
    "Passage {seq} of {name} is {found}, and should be {expected}.",
    "`wenyuan check --repair` switches it.",
)


def check_deleted(database: LibraryDatabase) -> Iterator[Violation]:
    with database.read() as tx:
        row = tx.first(
            "SELECT count(*) FROM erasures WHERE since = 0 AND NOT EXISTS (SELECT 1 FROM jobs "
            "WHERE subject_kind = 'traces' AND state IN ('queued', 'running', 'waiting'))"
        )
    if row is not None and row[0]:
        yield ERASURE_QUEUED.violated(count=row[0])
    # Until the first search there is no such file.
    if database.traces.exists():
        yield from _traces(database)


def _traces(database: Database) -> Iterator[Violation]:
    at, after = 0, ""
    while True:
        with database.traces.read() as tx:
            page = erasures.traces_from(tx, at, after, _TRACES_AT_ONCE)
        if not page:
            return
        at, after = page[-1].created_at, page[-1].id
        named = {one.id: set(json.loads(one.body).get("revisions", {}).values()) for one in page}
        everything = sorted(set().union(*named.values()))
        with database.read() as tx:
            gone = erasures.not_live(tx, everything)
            gone -= erasures.pending_among(tx, sorted(gone))
        for trace_id, documents in named.items():
            for document in sorted(documents & gone):
                yield NAMES_ERASED.violated(trace=trace_id, document=document)


def check_disabled(database: Database) -> Iterator[Violation]:
    """Of documents with passages that are switched off, compare each passage that is served."""
    after = ""
    while True:
        with database.read() as tx:
            row = tx.first(
                "SELECT d.id, d.name, d.serving_revision_id FROM documents AS d WHERE d.id = "
                "(SELECT min(p.document_id) FROM disabled_passages AS p WHERE p.document_id > :after)",
                {"after": after},
            )
            if row is None:
                return
            after = row[0]
            found = list(_passages(tx, *row)) if row[2] is not None else []
        yield from found


def _passages(tx: Reading, document_id: str, name: str, revision_id: str) -> Iterator[Violation]:
    hashes = {
        bytes(row[0])
        for row in tx.all("SELECT text_hash FROM disabled_passages WHERE document_id = :id", {"id": document_id})
    }
    first = 0
    while page := disabled_passages.listed(tx, revision_id, first, _PASSAGES_AT_ONCE):
        first = page[-1].chunk.seq + 1
        for one in page:
            should = disabled_passages.text_hash(one.chunk.text) not in hashes
            if one.enabled != should:
                words = {True: "found", False: "not found"}
                yield PASSAGES_SWITCHED.violated(
                    seq=one.chunk.seq,
                    name=name,
                    found=words[one.enabled],
                    expected=words[should],
                    passage_of=revision_id,
                    enabled=should,
                )
