"""Rebuilds: indexes that are made beside those that answer, the switch, and the way back.

A rebuild that reads documents again makes a revision for each one that is served, from the same
bytes. Until the switch these revisions have negative numbers: they are older than any that a person
brought. The switch exchanges the numbers as well, so that a document's newest revision is always the
newest of its content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wenyuan.store import indexes, knowledge_bases
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import from_json, problem_from, to_json
from wenyuan.types import ChunkingConfig, Document, IndexKind, Problem

_COLUMNS = (
    "id, knowledge_base_id, owner, state, rereads, rolls_back, from_model, to_model, from_chunking, to_chunking, "
    "from_lexical_id, to_lexical_id, from_vector_id, to_vector_id, problem, created_at, switched_at"
)
_OUT_OF_THE_WAY = 1 << 30
"""Added to a revision's number while it is exchanged for another's."""

_USED = (
    "FROM rebuilt_revisions AS p CROSS JOIN documents AS d WHERE p.rebuild_id = :id "
    "AND d.id = p.document_id AND d.serving_revision_id = p.revision_id"
)

RebuildState = Literal["building", "failed", "cancelled", "active", "settled", "rolled-back"]


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Indexes that are made beside those that answer, or were.

    `rereads` says that documents are read and cut anew, for a lexical index of its own; else only
    vectors are made. The id of an index that is not there, or not changed, is empty. While the
    rebuild is `active` its indexes answer, and those it replaced are kept; once it is `settled`, they
    are not. `rolls_back` is the id of the rebuild whose replaced indexes are brought back.
    """

    id: str
    knowledge_base_id: str
    owner: str
    state: RebuildState
    rereads: bool
    rolls_back: str
    from_model: str
    to_model: str
    from_chunking: ChunkingConfig
    to_chunking: ChunkingConfig
    from_lexical_id: str
    to_lexical_id: str
    from_vector_id: str
    to_vector_id: str
    problem: Problem | None = None
    created_at: int = 0
    switched_at: int | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a rebuild is, in documents that are read again and in passages that are embedded.

    `kept` documents could not be read again and stay cut as they were; `failed` ones get no vectors.
    """

    documents: int = 0
    read: int = 0
    kept: int = 0
    passages: int = 0
    embedded: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Unread:
    """A document that is to be read again, and the revision that is being made of it.

    The one called stale was made of it before and does not hold any more.
    """

    document_id: str
    serving_id: str
    made_id: str | None
    stale_id: str | None


# --- Rebuilds ------------------------------------------------------------------------------------


def add(tx: Writing, rebuild: Rebuild) -> None:
    tx.run(
        f"INSERT INTO rebuilds ({_COLUMNS}) VALUES (:id, :knowledge_base_id, :owner, 'building', :rereads, "
        ":rolls_back, :from_model, :to_model, :from_chunking, :to_chunking, :from_lexical_id, :to_lexical_id, "
        ":from_vector_id, :to_vector_id, NULL, :now, NULL)",
        {
            "id": rebuild.id,
            "knowledge_base_id": rebuild.knowledge_base_id,
            "owner": rebuild.owner,
            "rereads": int(rebuild.rereads),
            "rolls_back": rebuild.rolls_back,
            "from_model": rebuild.from_model,
            "to_model": rebuild.to_model,
            "from_chunking": to_json(rebuild.from_chunking),
            "to_chunking": to_json(rebuild.to_chunking),
            "from_lexical_id": rebuild.from_lexical_id,
            "to_lexical_id": rebuild.to_lexical_id,
            "from_vector_id": rebuild.from_vector_id,
            "to_vector_id": rebuild.to_vector_id,
            "now": tx.now,
        },
    )


def find(tx: Reading, rebuild_id: str) -> Rebuild | None:
    row = tx.first(f"SELECT {_COLUMNS} FROM rebuilds WHERE id = :id", {"id": rebuild_id})
    return _rebuild(row) if row is not None else None


def unfinished(tx: Reading, knowledge_base_id: str) -> Rebuild | None:
    """The rebuild that is being done for a knowledge base, or has failed and may go on."""
    row = tx.first(
        f"SELECT {_COLUMNS} FROM rebuilds WHERE knowledge_base_id = :id AND state IN ('building', 'failed')",
        {"id": knowledge_base_id},
    )
    return _rebuild(row) if row is not None else None


def switched(tx: Reading, knowledge_base_id: str) -> Rebuild | None:
    """The rebuild whose indexes answer now, while those it replaced are kept."""
    row = tx.first(
        f"SELECT {_COLUMNS} FROM rebuilds WHERE knowledge_base_id = :id AND state = 'active'",
        {"id": knowledge_base_id},
    )
    return _rebuild(row) if row is not None else None


def switched_before(tx: Reading, before: int) -> list[Rebuild]:
    """Rebuilds whose indexes have answered since before that time, while those they replaced are still kept."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM rebuilds WHERE state = 'active' AND switched_at <= :before ORDER BY switched_at",
        {"before": before},
    )
    return [_rebuild(row) for row in rows]


def set_state(tx: Writing, rebuild_id: str, state: RebuildState, problem: Problem | None = None) -> None:
    tx.run(
        "UPDATE rebuilds SET state = :state, problem = :problem WHERE id = :id",
        {"id": rebuild_id, "state": state, "problem": to_json(problem) if problem is not None else None},
    )


def note_problem(tx: Writing, rebuild_id: str, problem: Problem) -> None:
    """Record why something of a rebuild is not as it should be; the first reason stays."""
    tx.run(
        "UPDATE rebuilds SET problem = :problem WHERE id = :id AND problem IS NULL",
        {"id": rebuild_id, "problem": to_json(problem)},
    )


# --- Documents that are read again ---------------------------------------------------------------


def unread(tx: Reading, rebuild: Rebuild, after: str, limit: int) -> list[Unread]:
    """Served documents that the rebuild has not read as they are now, by id, the page after the id `after`."""
    rows = tx.all(
        "SELECT d.id, d.serving_revision_id, p.revision_id, CASE WHEN p.name = d.name AND r.superseded_at IS NULL "
        "THEN 1 ELSE 0 END FROM documents AS d "
        "LEFT JOIN rebuilt_revisions AS p ON p.rebuild_id = :rebuild_id AND p.from_revision_id = d.serving_revision_id "
        "LEFT JOIN revisions AS r ON r.id = p.revision_id "
        "WHERE d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL AND d.serving_revision_id IS NOT NULL "
        "AND d.id > :after AND (r.id IS NULL OR r.state <> 'ready' OR r.superseded_at IS NOT NULL OR p.name <> d.name) "
        "ORDER BY d.id LIMIT :limit",
        {
            "rebuild_id": rebuild.id,
            "knowledge_base_id": rebuild.knowledge_base_id,
            "after": after,
            "limit": limit,
        },
    )
    return [Unread(row[0], row[1], row[2] if row[3] else None, None if row[3] else row[2]) for row in rows]


def make_revision(tx: Writing, rebuild: Rebuild, revision_id: str, serving_id: str) -> None:
    """Store the revision that is to take the place of the one a document serves, made from the same bytes."""
    tx.run(
        "INSERT INTO revisions (id, document_id, owner, number, blob_sha256, size, state, stage, media_type, encoding, "
        "title, language, metadata, notices, chunking, given, chunk_count, text_length, created_at) "
        "SELECT :id, r.document_id, r.owner, (SELECT coalesce(min(x.number), 0) - 1 FROM revisions AS x "
        "WHERE x.document_id = r.document_id AND x.number < 0), r.blob_sha256, r.size, 'pending', 'queued', "
        "'', '', '', '', '{}', '[]', :chunking, r.given, 0, 0, :now FROM revisions AS r WHERE r.id = :serving",
        {"id": revision_id, "serving": serving_id, "chunking": to_json(rebuild.to_chunking), "now": tx.now},
    )


def pair(tx: Writing, rebuild: Rebuild, document: Document, from_revision_id: str, revision_id: str) -> None:
    """Say which revision, made by a rebuild, takes the place of which."""
    tx.run(
        "INSERT INTO rebuilt_revisions (rebuild_id, document_id, from_revision_id, revision_id, name, is_made) "
        "VALUES (:rebuild_id, :document_id, :from, :revision_id, :name, 1)",
        {
            "rebuild_id": rebuild.id,
            "document_id": document.id,
            "from": from_revision_id,
            "revision_id": revision_id,
            "name": document.name,
        },
    )


def note_unreadable(tx: Writing, rebuild: Rebuild, revision_id: str, problem: Problem) -> None:
    """Record why a revision is made from what was stored of the other, not from the file."""
    tx.run(
        "UPDATE rebuilt_revisions SET problem = :problem WHERE rebuild_id = :rebuild_id AND revision_id = :revision_id",
        {"rebuild_id": rebuild.id, "revision_id": revision_id, "problem": to_json(problem)},
    )


def pair_back(tx: Writing, rebuild: Rebuild) -> None:
    """Let every document go back to the revision that the rolled back rebuild took it from, if that is still there."""
    tx.run(
        "INSERT INTO rebuilt_revisions (rebuild_id, document_id, from_revision_id, revision_id, name, is_made) "
        "SELECT :rebuild_id, p.document_id, p.revision_id, p.from_revision_id, p.name, 0 FROM rebuilt_revisions AS p "
        "CROSS JOIN revisions AS r WHERE p.rebuild_id = :rolled_back AND r.id = p.from_revision_id "
        "AND r.superseded_at IS NULL",
        {"rebuild_id": rebuild.id, "rolled_back": rebuild.rolls_back},
    )


def is_wanted(tx: Reading, rebuild: Rebuild, document_id: str, revision_id: str) -> bool:
    """Whether a revision is still to be in the new indexes: served, or to take the place of what is."""
    row = tx.first(
        "SELECT 1 FROM documents AS d LEFT JOIN rebuilt_revisions AS p ON p.rebuild_id = :rebuild_id "
        "AND p.from_revision_id = d.serving_revision_id LEFT JOIN revisions AS r ON r.id = p.revision_id "
        "WHERE d.id = :document_id AND d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL "
        "AND CASE WHEN :rereads = 1 THEN p.revision_id ELSE d.serving_revision_id END = :revision_id "
        "AND (:rereads = 0 OR r.superseded_at IS NULL)",
        {
            "rebuild_id": rebuild.id,
            "knowledge_base_id": rebuild.knowledge_base_id,
            "document_id": document_id,
            "revision_id": revision_id,
            "rereads": int(rebuild.rereads),
        },
    )
    return row is not None


def set_made(tx: Writing, revision_id: str) -> None:
    """Record that a revision is complete; nothing serves it yet."""
    tx.run("UPDATE revisions SET state = 'ready', stage = 'ready' WHERE id = :id", {"id": revision_id})


def discard(tx: Writing, rebuild: Rebuild, revision_id: str) -> None:
    """Let go of a revision that was to take another's place; a job has to purge it."""
    tx.run(
        "DELETE FROM rebuilt_revisions WHERE rebuild_id = :rebuild_id AND revision_id = :revision_id",
        {"rebuild_id": rebuild.id, "revision_id": revision_id},
    )
    supersede(tx, revision_id)


def made_revisions(tx: Reading, rebuild_id: str, limit: int) -> list[str]:
    """Revisions that a rebuild made and nothing has served."""
    rows = tx.all(
        "SELECT r.id FROM rebuilt_revisions AS p CROSS JOIN revisions AS r WHERE p.rebuild_id = :id "
        "AND p.is_made = 1 AND r.id = p.revision_id AND r.published_at IS NULL AND r.superseded_at IS NULL "
        "ORDER BY r.id LIMIT :limit",
        {"id": rebuild_id, "limit": limit},
    )
    return [str(row[0]) for row in rows]


def replaced_revisions(tx: Reading, rebuild_id: str, limit: int) -> list[str]:
    """Revisions that a rebuild took the place of, and that are kept to go back to."""
    rows = tx.all(
        "SELECT r.id FROM rebuilt_revisions AS p CROSS JOIN revisions AS r WHERE p.rebuild_id = :id "
        "AND r.id = p.from_revision_id AND r.number < 0 AND r.superseded_at IS NULL ORDER BY r.id LIMIT :limit",
        {"id": rebuild_id, "limit": limit},
    )
    return [str(row[0]) for row in rows]


def supersede(tx: Writing, revision_id: str) -> None:
    """Let go of a revision that nothing serves and nothing goes back to."""
    tx.run(
        "UPDATE revisions SET superseded_at = :now WHERE id = :id AND superseded_at IS NULL AND number < 0",
        {"id": revision_id, "now": tx.now},
    )


def forget_pairs(tx: Writing, rebuild_id: str) -> None:
    tx.run("DELETE FROM rebuilt_revisions WHERE rebuild_id = :id", {"id": rebuild_id})


# --- Passages that are embedded ------------------------------------------------------------------


def unembedded(tx: Reading, rebuild: Rebuild, after: str, limit: int) -> list[tuple[str, str, int]]:
    """Revisions that the new vector index does not see yet, as (revision, document, passages), by id.

    Those that it cannot see, because the model refuses their text, are left out.
    """
    parameters = {
        "rebuild_id": rebuild.id,
        "knowledge_base_id": rebuild.knowledge_base_id,
        "generation_id": rebuild.to_vector_id,
        "after": after,
        "limit": limit,
    }
    if rebuild.rereads:
        rows = tx.all(
            "SELECT r.id, d.id, r.chunk_count FROM documents AS d CROSS JOIN rebuilt_revisions AS p "
            "CROSS JOIN revisions AS r LEFT JOIN revision_indexes AS x ON x.generation_id = :generation_id "
            "AND x.revision_id = r.id WHERE d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL "
            "AND p.rebuild_id = :rebuild_id AND p.from_revision_id = d.serving_revision_id AND r.id = p.revision_id "
            "AND r.state = 'ready' AND r.superseded_at IS NULL AND (x.state IS NULL OR x.state = 'pending') "
            "AND r.id > :after ORDER BY r.id LIMIT :limit",
            parameters,
        )
    else:
        rows = tx.all(
            "SELECT r.id, d.id, r.chunk_count FROM documents AS d CROSS JOIN revisions AS r "
            "LEFT JOIN revision_indexes AS x ON x.generation_id = :generation_id AND x.revision_id = r.id "
            "WHERE d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL AND r.id = d.serving_revision_id "
            "AND (x.state IS NULL OR x.state = 'pending') AND r.id > :after ORDER BY r.id LIMIT :limit",
            parameters,
        )
    return [(str(row[0]), str(row[1]), int(row[2])) for row in rows]


def expect_vectors_again(tx: Writing, rebuild: Rebuild) -> None:
    """Try the texts again that the model refused."""
    tx.run(
        "UPDATE revision_indexes SET state = 'pending', problem = NULL WHERE generation_id = :id AND state = 'failed'",
        {"id": rebuild.to_vector_id},
    )


def reached(tx: Reading, rebuild: Rebuild) -> Reached:
    """How far a rebuild is."""
    row = tx.first(
        "SELECT count(*), coalesce(sum(CASE WHEN n.state = 'ready' AND n.superseded_at IS NULL THEN 1 ELSE 0 END), 0), "
        "count(p.problem), "
        "coalesce(sum(CASE WHEN n.state = 'ready' THEN n.chunk_count ELSE r.chunk_count END), 0), "
        "coalesce(sum(x.done), 0), coalesce(sum(CASE WHEN x.state = 'failed' THEN 1 ELSE 0 END), 0) "
        "FROM documents AS d JOIN revisions AS r ON r.id = d.serving_revision_id "
        "LEFT JOIN rebuilt_revisions AS p ON p.rebuild_id = :rebuild_id AND p.from_revision_id = r.id "
        "LEFT JOIN revisions AS n ON n.id = p.revision_id LEFT JOIN revision_indexes AS x "
        "ON x.generation_id = :generation_id AND x.revision_id = CASE WHEN :rereads = 1 THEN n.id ELSE r.id END "
        "WHERE d.knowledge_base_id = :knowledge_base_id AND d.deleted_at IS NULL",
        {
            "rebuild_id": rebuild.id,
            "generation_id": rebuild.to_vector_id,
            "knowledge_base_id": rebuild.knowledge_base_id,
            "rereads": int(rebuild.rereads),
        },
    )
    numbers = [int(value) for value in row] if row is not None else [0] * 6
    passages = numbers[3] if rebuild.to_vector_id else 0
    return Reached(numbers[0], numbers[1], numbers[2], passages, numbers[4], numbers[5])


# --- The switch ----------------------------------------------------------------------------------


def switch(tx: Writing, rebuild: Rebuild) -> None:
    """Let the new indexes answer, and keep those that answered: all of it in the caller's transaction."""
    lexical = _answering(tx, rebuild, "lexical") if rebuild.rereads else ""
    vector = _answering(tx, rebuild, "vector")
    if rebuild.rereads:
        _serve_rebuilt(tx, rebuild)
        indexes.exchange(tx, lexical, rebuild.to_lexical_id)
    indexes.exchange(tx, vector, rebuild.to_vector_id)
    tx.run(
        "UPDATE knowledge_bases SET embedding_model = :model, chunking = :chunking, updated_at = :now WHERE id = :id",
        {
            "id": rebuild.knowledge_base_id,
            "model": rebuild.to_model,
            "chunking": to_json(rebuild.to_chunking),
            "now": tx.now,
        },
    )
    tx.run(
        "UPDATE revisions SET without_vectors = 0 WHERE without_vectors = 1 AND id IN "
        "(SELECT serving_revision_id FROM documents WHERE knowledge_base_id = :id AND deleted_at IS NULL)",
        {"id": rebuild.knowledge_base_id},
    )
    tx.run(
        "UPDATE rebuilds SET state = 'active', switched_at = :now, from_lexical_id = :lexical, "
        "from_vector_id = :vector WHERE id = :id",
        {"id": rebuild.id, "lexical": lexical, "vector": vector, "now": tx.now},
    )
    knowledge_bases.record_change(tx, rebuild.knowledge_base_id, "", "switched")


def _answering(tx: Reading, rebuild: Rebuild, kind: IndexKind) -> str:
    """The id of the index that answers now: it may have been made since the rebuild began."""
    found = indexes.active(tx, rebuild.knowledge_base_id, kind)
    return found.id if found is not None else ""


def _serve_rebuilt(tx: Writing, rebuild: Rebuild) -> None:
    parameters = {
        "id": rebuild.id,
        "knowledge_base_id": rebuild.knowledge_base_id,
        "now": tx.now,
        "out": _OUT_OF_THE_WAY,
    }
    tx.run(
        "UPDATE documents SET serving_revision_id = (SELECT p.revision_id FROM rebuilt_revisions AS p "
        "WHERE p.rebuild_id = :id AND p.from_revision_id = documents.serving_revision_id) "
        "WHERE knowledge_base_id = :knowledge_base_id AND deleted_at IS NULL AND serving_revision_id IS NOT NULL",
        parameters,
    )
    # Numbers are unique within a document, so one of the two steps aside for a moment.
    tx.run(f"UPDATE revisions SET number = number + :out WHERE id IN (SELECT p.from_revision_id {_USED})", parameters)
    tx.run(
        "UPDATE revisions SET published_at = :now, number = (SELECT f.number - :out FROM rebuilt_revisions AS p "
        "CROSS JOIN revisions AS f WHERE p.rebuild_id = :id AND p.revision_id = revisions.id "
        f"AND f.id = p.from_revision_id) WHERE id IN (SELECT p.revision_id {_USED})",
        parameters,
    )
    tx.run(
        "UPDATE revisions SET number = (SELECT coalesce(min(x.number), 0) - 1 FROM revisions AS x "
        "WHERE x.document_id = revisions.document_id AND x.number < 0) "
        f"WHERE id IN (SELECT p.from_revision_id {_USED})",
        parameters,
    )


def _rebuild(row: Row) -> Rebuild:
    return Rebuild(
        id=row[0],
        knowledge_base_id=row[1],
        owner=row[2],
        state=row[3],
        rereads=bool(row[4]),
        rolls_back=row[5],
        from_model=row[6],
        to_model=row[7],
        from_chunking=from_json(ChunkingConfig, row[8]),
        to_chunking=from_json(ChunkingConfig, row[9]),
        from_lexical_id=row[10],
        to_lexical_id=row[11],
        from_vector_id=row[12],
        to_vector_id=row[13],
        problem=problem_from(row[14]),
        created_at=row[15],
        switched_at=row[16],
    )
