"""What can be asked of the rows alone, one statement each."""

from __future__ import annotations

from collections.abc import Iterator

from wenyuan.store.checking.invariants import (
    BLOB_USED,
    CHANGES_NUMBERED,
    CODES_OWNED,
    COUNTERS_AHEAD,
    EMBEDDING_QUEUED,
    FIELDS_COMPLETE,
    FIELDS_OWNED,
    JOB_OWNED,
    KEYS_OWNED,
    LEASE_LIVE,
    MEMBERS_QUEUED,
    PARENT_LIVE,
    PURGE_QUEUED,
    REBUILD_QUEUED,
    RECORD_KEPT,
    REPLACED_QUEUED,
    SERVING_VALID,
    SOURCE_KEPT,
    TABLE_WHOLE,
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

# What is being imported is hidden as if it were deleted, until all of it is there.
_NOT_BEING_IMPORTED = (
    "NOT EXISTS (SELECT 1 FROM jobs AS i WHERE i.subject_kind = 'knowledge_base' AND i.subject_id = "
    f"d.knowledge_base_id AND i.kind = 'import' AND i.state IN {_LIVE})"
)


def _serving(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, d.serving_revision_id, d.id FROM documents AS d LEFT JOIN revisions AS r "
        "ON r.id = d.serving_revision_id AND r.document_id = d.id AND r.state = 'ready' AND r.superseded_at IS NULL "
        "WHERE d.serving_revision_id IS NOT NULL AND (r.id IS NULL OR d.deleted_at IS NOT NULL) "
        "ORDER BY d.id LIMIT :most",
        {"most": most},
    )
    for name, revision, document in rows:
        yield SERVING_VALID.violated(name=name, revision=revision, document=document)


def _unfinished(tx: Reading, most: int) -> Iterator[Violation]:
    # Negative numbers are those of revisions that a rebuild makes, which has a job of its own.
    rows = tx.all(
        "SELECT d.name, r.state, r.id FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        "AND d.deleted_at IS NULL AND d.blocked_reason = '' WHERE r.state IN ('pending', 'processing') "
        "AND r.number > 0 AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.subject_kind = 'revision' "
        f"AND j.subject_id = r.id AND j.kind IN ('ingest', 'embed', 'publish') AND j.state IN {_LIVE}) "
        "ORDER BY r.id LIMIT :most",
        {"most": most},
    )
    for name, state, revision in rows:
        yield WORK_QUEUED.violated(name=name, state=state, revision=revision)


def _parents(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT c.name, c.id FROM documents AS c LEFT JOIN documents AS p ON p.id = c.parent_id "
        "AND p.deleted_at IS NULL WHERE c.parent_id <> '' AND c.deleted_at IS NULL AND p.id IS NULL "
        "ORDER BY c.id LIMIT :most",
        {"most": most},
    )
    for name, document in rows:
        yield PARENT_LIVE.violated(name=name, document=document)


def _members(tx: Reading, most: int) -> Iterator[Violation]:
    # Where the job failed or was cancelled it waits for a person.
    rows = tx.all(
        "SELECT d.name, r.id FROM revisions AS r JOIN documents AS d ON d.serving_revision_id = r.id "
        "AND d.deleted_at IS NULL WHERE r.member_count >= 0 "
        "AND EXISTS (SELECT 1 FROM members AS m WHERE m.revision_id = r.id) "
        "AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.subject_kind = 'revision' AND j.subject_id = r.id "
        "AND j.kind = 'unpack' AND j.state <> 'done') ORDER BY r.id LIMIT :most",
        {"most": most},
    )
    for name, revision in rows:
        yield MEMBERS_QUEUED.violated(name=name, revision=revision)


def _unembedded(tx: Reading, most: int) -> Iterator[Violation]:
    # Where embedding failed or was cancelled it waits for a person, even if it never got as far as to be recorded.
    rows = tx.all(
        "SELECT d.name, r.id FROM documents AS d JOIN revisions AS r ON r.id = d.serving_revision_id "
        "JOIN knowledge_bases AS b ON b.id = d.knowledge_base_id "
        "JOIN index_generations AS g ON g.knowledge_base_id = b.id AND g.kind = 'vector' AND g.state = 'active' "
        "LEFT JOIN revision_indexes AS x ON x.revision_id = r.id AND x.generation_id = g.id "
        "WHERE d.deleted_at IS NULL AND (x.state = 'pending' OR (x.state IS NULL AND b.embedding_model <> '' "
        "AND NOT EXISTS (SELECT 1 FROM jobs AS e WHERE e.subject_kind = 'revision' AND e.subject_id = r.id "
        "AND e.kind = 'embed' AND e.state IN ('failed', 'cancelled')))) "
        f"AND {_NO_LIVE_JOB} ORDER BY d.id LIMIT :most",
        {"most": most, "kind": "embed"},
    )
    for name, revision in rows:
        yield EMBEDDING_QUEUED.violated(name=name, revision=revision)


def _unpurged(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, r.id FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        "WHERE (d.deleted_at IS NOT NULL OR (r.superseded_at IS NOT NULL "
        f"AND EXISTS (SELECT 1 FROM revision_indexes AS x WHERE x.revision_id = r.id))) AND {_NO_LIVE_JOB} "
        f"AND {_NOT_BEING_IMPORTED} ORDER BY r.id LIMIT :most",
        {"most": most, "kind": "purge"},
    )
    for name, revision in rows:
        yield PURGE_QUEUED.violated(name=name, revision=revision)


def _rebuilds(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT b.name, u.id FROM rebuilds AS u JOIN knowledge_bases AS b ON b.id = u.knowledge_base_id "
        "AND b.deleted_at IS NULL WHERE u.state = 'building' AND NOT EXISTS (SELECT 1 FROM jobs AS j "
        f"WHERE j.subject_kind = 'rebuild' AND j.subject_id = u.id AND j.kind = 'rebuild' AND j.state IN {_LIVE}) "
        "ORDER BY u.id LIMIT :most",
        {"most": most},
    )
    for name, rebuild in rows:
        yield REBUILD_QUEUED.violated(name=name, rebuild=rebuild)


def _replaced(tx: Reading, most: int) -> Iterator[Violation]:
    # Of a rollback that was given up, the indexes are those that another rebuild replaced and keeps.
    rows = tx.all(
        "SELECT DISTINCT b.name, u.id FROM rebuilds AS u JOIN knowledge_bases AS b ON b.id = u.knowledge_base_id "
        "JOIN index_generations AS g ON g.knowledge_base_id = b.id AND g.state <> 'active' "
        "AND ((u.state = 'settled' AND g.id IN (u.from_lexical_id, u.from_vector_id)) "
        "OR (u.state = 'cancelled' AND u.rolls_back = '' AND g.id IN (u.to_lexical_id, u.to_vector_id))) "
        "WHERE NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.subject_kind = 'rebuild' AND j.subject_id = u.id "
        f"AND j.kind = 'purge' AND j.state IN {_LIVE}) ORDER BY u.id LIMIT :most",
        {"most": most},
    )
    for name, rebuild in rows:
        yield REPLACED_QUEUED.violated(name=name, rebuild=rebuild)


def _jobs(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT j.kind, j.id FROM jobs AS j LEFT JOIN revisions AS r ON r.id = j.subject_id "
        "LEFT JOIN knowledge_bases AS b ON b.id = j.subject_id WHERE j.subject_kind IN ('revision', 'knowledge_base') "
        f"AND j.state IN {_LIVE} AND r.id IS NULL AND b.id IS NULL ORDER BY j.id LIMIT :most",
        {"most": most},
    )
    for kind, job in rows:
        yield JOB_OWNED.violated(kind=kind, job=job)


def _leases(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT kind, id, worker FROM jobs WHERE state = 'running' AND lease_until <= :now ORDER BY id LIMIT :most",
        {"most": most, "now": tx.now},
    )
    for kind, job, worker in rows:
        yield LEASE_LIVE.violated(kind=kind, job=job, worker=worker)


def _changes(tx: Reading, most: int) -> Iterator[Violation]:
    # Numbers are unique within a knowledge base, so these three leave no room for a gap in what is kept.
    rows = tx.all(
        "SELECT b.name, b.change_number - b.changes_from + 1, count(c.number), b.id FROM knowledge_bases AS b "
        "LEFT JOIN changes AS c ON c.knowledge_base_id = b.id GROUP BY b.id, b.name, b.change_number, b.changes_from "
        "HAVING count(c.number) <> b.change_number - b.changes_from + 1 "
        "OR coalesce(max(c.number), b.changes_from - 1) <> b.change_number "
        "OR coalesce(min(c.number), b.changes_from) <> b.changes_from ORDER BY b.id LIMIT :most",
        {"most": most},
    )
    for name, expected, found, base in rows:
        yield CHANGES_NUMBERED.violated(name=name, expected=expected, found=found, knowledge_base=base)


def _keys(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, min(k.value), count(*), r.id FROM keys AS k JOIN revisions AS r ON r.id = k.revision_id "
        "JOIN documents AS d ON d.id = r.document_id LEFT JOIN chunks AS c ON c.key = k.chunk_key "
        "AND c.revision_id = k.revision_id WHERE (k.chunk_key IS NOT NULL AND c.key IS NULL) "
        "OR k.document_id <> d.id OR (k.knowledge_base_id <> d.knowledge_base_id AND r.id = d.serving_revision_id) "
        "GROUP BY r.id, d.name ORDER BY r.id LIMIT :most",
        {"most": most},
    )
    for name, value, count, revision in rows:
        yield KEYS_OWNED.violated(name=name, value=value, count=count, revision=revision)


def _fields(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, count(*), r.id FROM document_fields AS f JOIN revisions AS r ON r.id = f.revision_id "
        "JOIN documents AS d ON d.id = r.document_id WHERE f.document_id <> d.id "
        "OR (f.knowledge_base_id <> d.knowledge_base_id AND r.id = d.serving_revision_id) "
        "GROUP BY r.id, d.name ORDER BY r.id LIMIT :most",
        {"most": most},
    )
    for name, count, revision in rows:
        yield FIELDS_OWNED.violated(name=name, count=count, revision=revision)


def _without_fields(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, r.id FROM documents AS d JOIN revisions AS r ON r.id = d.serving_revision_id "
        "WHERE d.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM document_fields AS f WHERE f.revision_id = r.id) "
        "ORDER BY d.id LIMIT :most",
        {"most": most},
    )
    for name, revision in rows:
        yield FIELDS_COMPLETE.violated(name=name, revision=revision)


def _unrecorded(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, r.id FROM documents AS d JOIN revisions AS r ON r.id = d.serving_revision_id "
        "AND r.document_id = d.id LEFT JOIN index_generations AS g ON g.knowledge_base_id = d.knowledge_base_id "
        "AND g.kind = 'lexical' "
        "AND g.state = 'active' LEFT JOIN revision_indexes AS x ON x.revision_id = r.id AND x.generation_id = g.id "
        "WHERE d.deleted_at IS NULL AND (x.state IS NULL OR x.state <> 'ready') ORDER BY d.id LIMIT :most",
        {"most": most},
    )
    for name, revision in rows:
        yield RECORD_KEPT.violated(name=name, revision=revision)


def _sources(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, d.id FROM documents AS d LEFT JOIN sources AS s ON s.id = d.source_id "
        "WHERE d.source_id <> '' AND d.deleted_at IS NULL AND s.id IS NULL ORDER BY d.id LIMIT :most",
        {"most": most},
    )
    for name, document in rows:
        yield SOURCE_KEPT.violated(name=name, document=document)


def _counters(tx: Reading, most: int) -> Iterator[Violation]:  # noqa: ARG001
    used = tx.first(
        "SELECT (SELECT coalesce(max(key), 0) FROM chunks), (SELECT coalesce(max(number), 0) FROM index_generations), "
        "(SELECT coalesce(max(change_number), 0) FROM jobs)"
    )
    standing = {str(name): int(value) for name, value in tx.all("SELECT name, value FROM counters")}
    for name, highest in zip(("chunk", "generation", "job"), used or (), strict=False):
        if standing.get(name, -1) < highest:
            yield COUNTERS_AHEAD.violated(name=name, value=standing.get(name, "nothing"), used=highest)


def _codes(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT DISTINCT v.revision_id, v.generation_id FROM vector_codes AS v LEFT JOIN revision_indexes AS x "
        "ON x.generation_id = v.generation_id AND x.revision_id = v.revision_id WHERE x.revision_id IS NULL "
        "ORDER BY v.revision_id LIMIT :most",
        {"most": most},
    )
    for revision, generation in rows:
        yield CODES_OWNED.violated(revision=revision, generation=generation)


def _vectors(tx: Reading, most: int) -> Iterator[Violation]:  # noqa: ARG001
    row = tx.first(
        "SELECT count(*) FROM vectors AS v "
        "WHERE NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.input_hash = v.input_hash)"
    )
    if row is not None and row[0]:
        yield VECTORS_USED.violated(count=row[0])


def _tables(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT d.name, r.id, t.number, t.row_count, coalesce((SELECT sum(p.row_count) FROM table_pages AS p "
        "WHERE p.revision_id = t.revision_id AND p.number = t.number), 0) AS found FROM data_tables AS t "
        "JOIN revisions AS r ON r.id = t.revision_id AND r.state = 'ready' JOIN documents AS d "
        "ON d.serving_revision_id = r.id WHERE t.row_count <> coalesce((SELECT sum(p.row_count) FROM table_pages AS p "
        "WHERE p.revision_id = t.revision_id AND p.number = t.number), 0) ORDER BY r.id, t.number LIMIT :most",
        {"most": most},
    )
    for name, revision, number, expected, found in rows:
        yield TABLE_WHOLE.violated(name=name, revision=revision, number=number, expected=expected, found=int(found))


def _blobs(tx: Reading, most: int) -> Iterator[Violation]:
    rows = tx.all(
        "SELECT b.sha256 FROM blobs AS b "
        "WHERE NOT EXISTS (SELECT 1 FROM revisions AS r WHERE r.blob_sha256 = b.sha256) "
        "AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.sha256 = b.sha256) ORDER BY b.sha256 LIMIT :most",
        {"most": most},
    )
    for (sha256,) in rows:
        yield BLOB_USED.violated(sha256=sha256)


ROW_CHECKS = (
    _serving,
    _unfinished,
    _parents,
    _members,
    _unembedded,
    _unpurged,
    _rebuilds,
    _replaced,
    _jobs,
    _leases,
    _changes,
    _keys,
    _fields,
    _without_fields,
    _unrecorded,
    _sources,
    _counters,
    _codes,
    _vectors,
    _tables,
    _blobs,
)
