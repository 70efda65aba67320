"""What can be asked of the rows alone, one statement each."""

from __future__ import annotations

from collections.abc import Iterator

from wenyuan.store.checking.invariants import (
    BLOB_USED,
    CHANGES_NUMBERED,
    CODES_OWNED,
    EMBEDDING_QUEUED,
    FIELDS_COMPLETE,
    FIELDS_OWNED,
    JOB_OWNED,
    KEYS_OWNED,
    LEASE_LIVE,
    PURGE_QUEUED,
    SERVING_VALID,
    VECTORS_USED,
    WORK_QUEUED,
    Violation,
)
from wenyuan.store.database import Reading

_LIVE = "('queued', 'running', 'waiting')"
_NO_LIVE_JOB = (
    "NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.subject_kind = 'revision' AND j.subject_id = r.id "
    f"AND j.kind = :kind AND j.state IN {_LIVE})"
)
_MOST = {"most": 20}


def _serving(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, d.serving_revision_id FROM documents AS d LEFT JOIN revisions AS r "
        "ON r.id = d.serving_revision_id AND r.document_id = d.id AND r.state = 'ready' AND r.superseded_at IS NULL "
        "WHERE d.serving_revision_id IS NOT NULL AND (r.id IS NULL OR d.deleted_at IS NOT NULL) "
        "ORDER BY d.id LIMIT :most",
        _MOST,
    )
    for name, revision in rows:
        yield SERVING_VALID.violated(name=name, revision=revision)


def _unfinished(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, r.state, r.id FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        f"AND d.deleted_at IS NULL WHERE r.state IN ('pending', 'processing') AND {_NO_LIVE_JOB} "
        "ORDER BY r.id LIMIT :most",
        {**_MOST, "kind": "ingest"},
    )
    for name, state, revision in rows:
        yield WORK_QUEUED.violated(name=name, state=state, revision=revision)


def _unembedded(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name FROM documents AS d JOIN revisions AS r ON r.id = d.serving_revision_id "
        "JOIN revision_indexes AS x ON x.revision_id = r.id AND x.state = 'pending' "
        "JOIN index_generations AS g ON g.id = x.generation_id AND g.kind = 'vector' AND g.state <> 'retired' "
        f"WHERE d.deleted_at IS NULL AND {_NO_LIVE_JOB} ORDER BY d.id LIMIT :most",
        {**_MOST, "kind": "embed"},
    )
    for (name,) in rows:
        yield EMBEDDING_QUEUED.violated(name=name)


def _unpurged(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, r.id FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        "WHERE (d.deleted_at IS NOT NULL OR (r.superseded_at IS NOT NULL "
        f"AND EXISTS (SELECT 1 FROM revision_indexes AS x WHERE x.revision_id = r.id))) AND {_NO_LIVE_JOB} "
        "ORDER BY r.id LIMIT :most",
        {**_MOST, "kind": "purge"},
    )
    for name, revision in rows:
        yield PURGE_QUEUED.violated(name=name, revision=revision)


def _jobs(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT j.kind, j.id FROM jobs AS j LEFT JOIN revisions AS r ON r.id = j.subject_id "
        f"WHERE j.subject_kind = 'revision' AND j.state IN {_LIVE} AND r.id IS NULL ORDER BY j.id LIMIT :most",
        _MOST,
    )
    for kind, job in rows:
        yield JOB_OWNED.violated(kind=kind, job=job)


def _leases(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT kind, id, worker FROM jobs WHERE state = 'running' AND lease_until <= :now ORDER BY id LIMIT :most",
        {**_MOST, "now": tx.now},
    )
    for kind, job, worker in rows:
        yield LEASE_LIVE.violated(kind=kind, job=job, worker=worker)


def _changes(tx: Reading) -> Iterator[Violation]:
    # Numbers are unique within a knowledge base, so these three leave no room for a gap.
    rows = tx.all(
        "SELECT b.name, b.change_number, count(c.number) FROM knowledge_bases AS b "
        "LEFT JOIN changes AS c ON c.knowledge_base_id = b.id GROUP BY b.id, b.name, b.change_number "
        "HAVING count(c.number) <> b.change_number OR coalesce(max(c.number), 0) <> b.change_number "
        "OR coalesce(min(c.number), 1) <> 1 ORDER BY b.id LIMIT :most",
        _MOST,
    )
    for name, expected, found in rows:
        yield CHANGES_NUMBERED.violated(name=name, expected=expected, found=found)


def _keys(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, min(k.value), count(*) FROM keys AS k JOIN revisions AS r ON r.id = k.revision_id "
        "JOIN documents AS d ON d.id = r.document_id LEFT JOIN chunks AS c ON c.key = k.chunk_key "
        "AND c.revision_id = k.revision_id WHERE (k.chunk_key IS NOT NULL AND c.key IS NULL) "
        "OR k.document_id <> d.id OR k.knowledge_base_id <> d.knowledge_base_id "
        "GROUP BY d.id, d.name ORDER BY d.id LIMIT :most",
        _MOST,
    )
    for name, value, count in rows:
        yield KEYS_OWNED.violated(name=name, value=value, count=count)


def _fields(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, count(*) FROM document_fields AS f JOIN revisions AS r ON r.id = f.revision_id "
        "JOIN documents AS d ON d.id = r.document_id WHERE f.document_id <> d.id "
        "OR f.knowledge_base_id <> d.knowledge_base_id GROUP BY d.id, d.name ORDER BY d.id LIMIT :most",
        _MOST,
    )
    for name, count in rows:
        yield FIELDS_OWNED.violated(name=name, count=count)


def _without_fields(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name FROM documents AS d JOIN revisions AS r ON r.id = d.serving_revision_id "
        "WHERE d.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM document_fields AS f WHERE f.revision_id = r.id) "
        "ORDER BY d.id LIMIT :most",
        _MOST,
    )
    for (name,) in rows:
        yield FIELDS_COMPLETE.violated(name=name)


def _codes(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT DISTINCT v.revision_id FROM vector_codes AS v LEFT JOIN revision_indexes AS x ON x.generation_id = "
        "v.generation_id AND x.revision_id = v.revision_id WHERE x.revision_id IS NULL "
        "ORDER BY v.revision_id LIMIT :most",
        _MOST,
    )
    for (revision,) in rows:
        yield CODES_OWNED.violated(revision=revision)


def _vectors(tx: Reading) -> Iterator[Violation]:
    row = tx.first(
        "SELECT count(*) FROM vectors AS v "
        "WHERE NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.input_hash = v.input_hash)"
    )
    if row is not None and row[0]:
        yield VECTORS_USED.violated(count=row[0])


def _blobs(tx: Reading) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT b.sha256 FROM blobs AS b "
        "WHERE NOT EXISTS (SELECT 1 FROM revisions AS r WHERE r.blob_sha256 = b.sha256) ORDER BY b.sha256 LIMIT :most",
        _MOST,
    )
    for (sha256,) in rows:
        yield BLOB_USED.violated(sha256=sha256)


ROW_CHECKS = (
    _serving,
    _unfinished,
    _unembedded,
    _unpurged,
    _jobs,
    _leases,
    _changes,
    _keys,
    _fields,
    _without_fields,
    _codes,
    _vectors,
    _blobs,
)
