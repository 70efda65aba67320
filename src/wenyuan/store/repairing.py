"""Mending what `checking` found: each function takes one thing, and doing it twice does no harm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wenyuan.store import fields, indexes, knowledge_bases, purging, sentence_codes, vectors
from wenyuan.store.database import Reading, Writing
from wenyuan.store.rows import to_json
from wenyuan.types import IndexGeneration, Notice, Problem

ANOTHER_PROGRAM = "damaged"
"""What is staged in the name of this program is thrown away by every other one."""

_ROWS_AT_ONCE = 1000
_MOST_CHANGES = 1 << 48


@dataclass(frozen=True, slots=True)
class Standing:
    """A revision, its document, and how the two stand to each other."""

    id: str
    state: str
    blob_sha256: str
    document_id: str
    knowledge_base_id: str
    owner: str
    is_deleted: bool
    is_superseded: bool
    is_served: bool
    is_newest: bool


def standing(tx: Reading, revision_id: str) -> Standing | None:
    row = tx.first(
        "SELECT r.id, r.state, r.blob_sha256, d.id, d.knowledge_base_id, d.owner, "
        "CASE WHEN d.deleted_at IS NULL THEN 0 ELSE 1 END, CASE WHEN r.superseded_at IS NULL THEN 0 ELSE 1 END, "
        "CASE WHEN d.serving_revision_id = r.id THEN 1 ELSE 0 END, "
        "CASE WHEN r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = d.id) THEN 1 ELSE 0 END "
        "FROM revisions AS r JOIN documents AS d ON d.id = r.document_id WHERE r.id = :id",
        {"id": revision_id},
    )
    return Standing(*row[:6], *(bool(value) for value in row[6:])) if row is not None else None


def newest(tx: Reading, document_id: str) -> Standing | None:
    """How the newest revision of a document stands."""
    row = tx.first("SELECT id FROM revisions WHERE document_id = :id ORDER BY number DESC LIMIT 1", {"id": document_id})
    return standing(tx, str(row[0])) if row is not None else None


def revisions(tx: Reading, document_id: str) -> list[str]:
    rows = tx.all("SELECT id FROM revisions WHERE document_id = :id ORDER BY number", {"id": document_id})
    return [str(row[0]) for row in rows]


# --- Revisions -----------------------------------------------------------------------------------


def serve_what_is_whole(tx: Writing, document_id: str) -> bool:
    """Let a document serve its newest published revision that an index holds; False where there is none."""
    row = tx.first(
        "SELECT r.id, r.number, d.knowledge_base_id FROM revisions AS r JOIN documents AS d ON d.id = r.document_id "
        "WHERE d.id = :id AND d.deleted_at IS NULL AND r.state = 'ready' AND EXISTS (SELECT 1 FROM revision_indexes "
        "AS x JOIN index_generations AS g ON g.id = x.generation_id AND g.kind = 'lexical' AND g.state = 'active' "
        "WHERE x.revision_id = r.id AND x.state = 'ready') ORDER BY r.number DESC LIMIT 1",
        {"id": document_id},
    )
    if row is None:
        return False
    parameters = {"id": document_id, "revision": row[0], "number": row[1], "now": tx.now}
    tx.run("UPDATE documents SET serving_revision_id = :revision, updated_at = :now WHERE id = :id", parameters)
    tx.run("UPDATE revisions SET superseded_at = NULL WHERE id = :revision", parameters)
    tx.run(
        "UPDATE revisions SET superseded_at = :now WHERE document_id = :id AND number < :number "
        "AND superseded_at IS NULL",
        parameters,
    )
    knowledge_bases.record_change(tx, row[2], document_id, "published")
    return True


def serve_nothing(tx: Writing, document_id: str, knowledge_base_id: str) -> None:
    tx.run(
        "UPDATE documents SET serving_revision_id = NULL, updated_at = :now WHERE id = :id",
        {"id": document_id, "now": tx.now},
    )
    knowledge_bases.record_change(tx, knowledge_base_id, document_id, "damaged")


def begin_anew(tx: Writing, revision: Standing, problem: Problem | None) -> None:
    """Take a revision out of every search, to be read again by a job; or, with a problem, to stay as failed.

    Its chunks and postings stay until that job takes them away in batches: they count as staged by a
    program that is none.
    """
    if revision.is_served:
        serve_nothing(tx, revision.document_id, revision.knowledge_base_id)
    parameters = {
        "id": revision.id,
        "state": "pending" if problem is None else "failed",
        "stage": "queued" if problem is None else "reading",
        "problem": to_json(problem) if problem is not None else None,
        "program": ANOTHER_PROGRAM,
    }
    tx.run(
        "UPDATE revisions SET state = :state, stage = :stage, problem = :problem, staged_by = :program, "
        "published_at = NULL, superseded_at = NULL WHERE id = :id",
        parameters,
    )
    fields.forget(tx, revision.id)
    tx.run("DELETE FROM vector_codes WHERE revision_id = :id", parameters)
    tx.run(
        "DELETE FROM revision_indexes WHERE revision_id = :id AND EXISTS (SELECT 1 FROM index_generations AS g "
        "WHERE g.id = revision_indexes.generation_id AND g.kind = 'vector')",
        parameters,
    )
    tx.run("UPDATE revision_indexes SET state = 'pending', rules = '' WHERE revision_id = :id", parameters)


def let_go(tx: Writing, revision_id: str) -> None:
    """Make a revision that is not served one that was replaced long ago."""
    tx.run("UPDATE revisions SET superseded_at = 1 WHERE id = :id", {"id": revision_id})


# --- Words and keys ------------------------------------------------------------------------------


def forget_derived(tx: Writing, generation: IndexGeneration, revision_id: str, chunk_count: int) -> None:
    """Take away a revision's keys and fields, and record that it was read by no rules.

    The whole index is recorded so too, so that a worker goes on with what is interrupted here.
    """
    purging.forget_keys(tx, revision_id)
    fields.forget(tx, revision_id)
    indexes.record_progress(tx, generation.id, revision_id, "ready", chunk_count, chunk_count)
    _expect_reading(tx, generation.id)


def renew_index(tx: Writing, old_number: int) -> tuple[IndexGeneration, list[str]] | None:
    """Give a lexical generation a new, empty full-text index, and return it with the revisions to be read into it.

    What a worker has staged in the old one is begun anew. None where there is no such generation.
    """
    row = tx.first(
        "SELECT id, knowledge_base_id, owner FROM index_generations WHERE number = :number AND kind = 'lexical'",
        {"number": old_number},
    )
    number = tx.first("UPDATE counters SET value = value + 1 WHERE name = 'generation' RETURNING value")
    if row is None or number is None:
        return None
    parameters = {"id": row[0], "number": int(number[0]), "base": row[1], "owner": row[2], "program": ANOTHER_PROGRAM}
    tx.run("UPDATE index_generations SET number = :number WHERE id = :id", parameters)
    tx.lexical.create(tx, int(number[0]))
    tx.run("UPDATE revision_indexes SET rules = '', rereading = '' WHERE generation_id = :id", parameters)
    tx.run(
        "UPDATE revisions SET staged_by = :program WHERE state IN ('pending', 'processing') AND staged_by <> '' "
        "AND document_id IN (SELECT id FROM documents WHERE owner = :owner AND knowledge_base_id = :base)",
        parameters,
    )
    _expect_reading(tx, str(row[0]))
    served = tx.all(
        "SELECT serving_revision_id FROM documents WHERE knowledge_base_id = :base AND deleted_at IS NULL "
        "AND serving_revision_id IS NOT NULL ORDER BY id",
        parameters,
    )
    generation = indexes.active(tx, str(row[1]), "lexical")
    return (generation, [str(one[0]) for one in served]) if generation is not None else None


def _expect_reading(tx: Writing, generation_id: str) -> None:
    tx.run("UPDATE index_generations SET fingerprint = '' WHERE id = :id", {"id": generation_id})


# --- Vectors -------------------------------------------------------------------------------------


def pack_again(tx: Writing, generation_id: str, revision_id: str) -> bool:
    """Write a revision's codes anew; False where vectors are missing, and a job has to make them.

    A vector that none could be, of another size or without a direction, is thrown away.
    """
    row = tx.first(
        "SELECT g.dimensions, coalesce(m.key, 0), r.chunk_count, d.id, d.knowledge_base_id FROM index_generations AS g "
        "JOIN revisions AS r ON r.id = :revision JOIN documents AS d ON d.id = r.document_id "
        "LEFT JOIN model_fingerprints AS m ON m.fingerprint = g.fingerprint WHERE g.id = :generation",
        {"generation": generation_id, "revision": revision_id},
    )
    if row is None:
        return True
    dimensions, model, total, document_id, knowledge_base_id = row
    _forget_impossible_vectors(tx, model, revision_id, dimensions)
    missing = vectors.count_missing(tx, model, revision_id)
    if missing:
        forget_codes(tx, generation_id, revision_id)
        indexes.record_progress(tx, generation_id, revision_id, "pending", total - missing, total)
        return False
    vectors.pack(tx, generation_id, model, revision_id, dimensions)
    indexes.record_progress(tx, generation_id, revision_id, "ready", total, total)
    knowledge_bases.record_change(tx, knowledge_base_id, document_id, "embedded")
    return True


def forget_codes(tx: Writing, generation_id: str, revision_id: str) -> None:
    tx.run(
        "DELETE FROM vector_codes WHERE generation_id = :generation AND revision_id = :revision",
        {"generation": generation_id, "revision": revision_id},
    )


def _forget_impossible_vectors(tx: Writing, model: int, revision_id: str, dimensions: int) -> None:
    after = -1
    while rows := tx.all(
        "SELECT c.seq, c.input_hash, v.vector, v.sentences FROM chunks AS c JOIN vectors AS v ON v.model_key = :model "
        "AND v.input_hash = c.input_hash WHERE c.revision_id = :revision AND c.seq > :after ORDER BY c.seq "
        "LIMIT :limit",
        {"model": model, "revision": revision_id, "after": after, "limit": _ROWS_AT_ONCE},
    ):
        after = rows[-1][0]
        impossible = [bytes(row[1]) for row in rows if not _is_possible(bytes(row[2]), row[3], dimensions)]
        tx.run_many(
            "DELETE FROM vectors WHERE model_key = :model AND input_hash = :hash",
            ({"model": model, "hash": input_hash} for input_hash in impossible),
        )


def _is_possible(vector: bytes, sentences: bytes | None, dimensions: int) -> bool:
    if len(vector) != 2 * dimensions or not sentence_codes.are_possible(sentences or b"", dimensions):
        return False
    halves = np.frombuffer(vector, dtype=np.float16)
    return bool(np.isfinite(halves).all() and halves.any())


def forget_unused_vectors(tx: Writing) -> int:
    """Delete some of the vectors that belong to no chunk, and return how many."""
    rows = tx.all(
        "SELECT v.model_key, v.input_hash FROM vectors AS v WHERE NOT EXISTS "
        "(SELECT 1 FROM chunks AS c WHERE c.input_hash = v.input_hash) LIMIT :limit",
        {"limit": _ROWS_AT_ONCE},
    )
    tx.run_many(
        "DELETE FROM vectors WHERE model_key = :model AND input_hash = :hash",
        ({"model": model, "hash": input_hash} for model, input_hash in rows),
    )
    return len(rows)


# --- Bytes ---------------------------------------------------------------------------------------


def set_size(tx: Writing, sha256: str, size: int) -> None:
    tx.run("UPDATE blobs SET size = :size WHERE sha256 = :sha256", {"sha256": sha256, "size": size})


def needing(tx: Reading, sha256: str) -> list[str]:
    """The revisions of living documents whose bytes these are."""
    rows = tx.all(
        "SELECT r.id FROM revisions AS r JOIN documents AS d ON d.id = r.document_id AND d.deleted_at IS NULL "
        "WHERE r.blob_sha256 = :sha256 ORDER BY r.id",
        {"sha256": sha256},
    )
    return [str(row[0]) for row in rows]


def note(tx: Writing, revision_id: str, notice: Notice) -> None:
    """Write a notice at a revision, once."""
    others = [one for one in _notices(tx, revision_id) if one.get("code") != notice.code]
    _set_notices(tx, revision_id, [*others, {"code": notice.code, "message": notice.message}])


def take_back(tx: Writing, revision_id: str, code: str) -> None:
    _set_notices(tx, revision_id, [one for one in _notices(tx, revision_id) if one.get("code") != code])


def set_problem(tx: Writing, revision_id: str, problem: Problem) -> None:
    tx.run(
        "UPDATE revisions SET state = 'failed', problem = :problem WHERE id = :id AND state <> 'ready'",
        {"id": revision_id, "problem": to_json(problem)},
    )


def failed_for(tx: Reading, revision_id: str, code: str) -> bool:
    row = tx.first("SELECT problem FROM revisions WHERE id = :id AND state = 'failed'", {"id": revision_id})
    return row is not None and row[0] is not None and json.loads(row[0]).get("code") == code


def _notices(tx: Reading, revision_id: str) -> Sequence[dict[str, str]]:
    row = tx.first("SELECT notices FROM revisions WHERE id = :id", {"id": revision_id})
    known: Sequence[dict[str, str]] = json.loads(row[0]) if row is not None else []
    return known


def _set_notices(tx: Writing, revision_id: str, notices: Sequence[dict[str, str]]) -> None:
    tx.run("UPDATE revisions SET notices = :notices WHERE id = :id", {"id": revision_id, "notices": to_json(notices)})


def forget_source(tx: Writing, document_id: str) -> None:
    tx.run("UPDATE documents SET source_id = '' WHERE id = :id", {"id": document_id})


# --- Numbers and jobs ----------------------------------------------------------------------------


def raise_counter(tx: Writing, name: str, used: int) -> None:
    tx.run(
        "INSERT INTO counters (name, value) VALUES (:name, :used) ON CONFLICT (name) DO UPDATE SET value = "
        "CASE WHEN counters.value < excluded.value THEN excluded.value ELSE counters.value END",
        {"name": name, "used": used},
    )


def count_changes_anew(tx: Writing, knowledge_base_id: str) -> None:
    """Forget a knowledge base's changes, so that everyone who followed them reads all of it again.

    The numbers go on from where they were, unless those are so wild that nobody can have counted them.
    """
    parameters = {"id": knowledge_base_id}
    row = tx.first(
        "SELECT b.change_number, (SELECT coalesce(max(c.number), 0) FROM changes AS c "
        "WHERE c.knowledge_base_id = b.id) FROM knowledge_bases AS b WHERE b.id = :id",
        parameters,
    )
    if row is None:
        return
    last = max(number for number in (0, *row) if number < _MOST_CHANGES)
    tx.run("DELETE FROM changes WHERE knowledge_base_id = :id", parameters)
    tx.run(
        "UPDATE knowledge_bases SET change_number = :last, changes_from = :next WHERE id = :id",
        {"last": last, "next": last + 1, **parameters},
    )
    knowledge_bases.record_change(tx, knowledge_base_id, "", "checked")


def forget_job(tx: Writing, job_id: str) -> None:
    """Take a job away that can never be done."""
    tx.run("DELETE FROM jobs WHERE id = :id", {"id": job_id})


# --- What is remembered --------------------------------------------------------------------------


def switch_passage(tx: Writing, revision_id: str, seq: int, *, enabled: bool) -> None:
    tx.run(
        "UPDATE chunks SET enabled = :enabled WHERE revision_id = :id AND seq = :seq",
        {"id": revision_id, "seq": seq, "enabled": int(enabled)},
    )


def forget_trace(tx: Writing, trace_id: str) -> None:
    """Take a trace away; of a database of traces."""
    tx.run("DELETE FROM traces WHERE id = :id", {"id": trace_id})
