"""Index generations: which index answers for a knowledge base, and how far each revision is in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.store import knowledge_bases
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import problem_from, to_json
from wenyuan.types import GenerationState, IndexGeneration, IndexKind, JsonObject, Problem

_COLUMNS = "id, number, knowledge_base_id, kind, state, fingerprint, recipe, dimensions, created_at"


@dataclass(frozen=True, slots=True)
class RevisionIndex:
    """How far one revision is in one generation."""

    state: str
    done: int
    total: int
    problem: Problem | None


def of_living(tx: Reading, ids: Sequence[str]) -> set[str]:
    """Those of some indexes that belong to knowledge bases which are not deleted."""
    rows = tx.all(
        "SELECT g.id FROM json_each(:ids) AS j CROSS JOIN index_generations AS g CROSS JOIN knowledge_bases AS k "
        "WHERE g.id = j.value AND k.id = g.knowledge_base_id AND k.deleted_at IS NULL",
        {"ids": json.dumps(list(ids))},
    )
    return {str(row[0]) for row in rows}


def active(tx: Reading, knowledge_base_id: str, kind: IndexKind) -> IndexGeneration | None:
    row = tx.first(
        f"SELECT {_COLUMNS} FROM index_generations "
        "WHERE knowledge_base_id = :knowledge_base_id AND kind = :kind AND state = 'active'",
        {"knowledge_base_id": knowledge_base_id, "kind": kind},
    )
    return _generation(row) if row is not None else None


def find(tx: Reading, generation_id: str) -> IndexGeneration | None:
    row = tx.first(f"SELECT {_COLUMNS} FROM index_generations WHERE id = :id", {"id": generation_id})
    return _generation(row) if row is not None else None


def ensure_active(
    tx: Writing,
    generation_id: str,
    knowledge_base_id: str,
    kind: IndexKind,
    fingerprint: str,
    recipe: JsonObject,
    dimensions: int = 0,
) -> IndexGeneration:
    """The active generation of this kind; the first call makes it, under the given recipe.

    What it returns may have another fingerprint than the one asked for: the caller compares.
    """
    existing = active(tx, knowledge_base_id, kind)
    if existing is not None:
        return existing
    return create(tx, generation_id, knowledge_base_id, kind, "active", fingerprint, recipe, dimensions)


def create(
    tx: Writing,
    generation_id: str,
    knowledge_base_id: str,
    kind: IndexKind,
    state: GenerationState,
    fingerprint: str,
    recipe: JsonObject,
    dimensions: int = 0,
) -> IndexGeneration:
    """Make an empty index, to answer at once or to be built aside."""
    row = tx.first("UPDATE counters SET value = value + 1 WHERE name = 'generation' RETURNING value")
    number = int(row[0]) if row is not None else 1
    tx.run(
        "INSERT INTO index_generations (id, number, knowledge_base_id, owner, kind, state, fingerprint, recipe, "
        "dimensions, created_at, activated_at) VALUES (:id, :number, :knowledge_base_id, "
        "(SELECT owner FROM knowledge_bases WHERE id = :knowledge_base_id), :kind, :state, :fingerprint, :recipe, "
        ":dimensions, :now, :activated_at)",
        {
            "id": generation_id,
            "number": number,
            "knowledge_base_id": knowledge_base_id,
            "kind": kind,
            "state": state,
            "fingerprint": fingerprint,
            "recipe": to_json(recipe),
            "dimensions": dimensions,
            "now": tx.now,
            "activated_at": tx.now if state == "active" else None,
        },
    )
    if kind == "lexical":
        tx.lexical.create(tx, number)
    return IndexGeneration(
        generation_id, number, knowledge_base_id, kind, state, fingerprint, recipe, dimensions, tx.now
    )


def exchange(tx: Writing, answering_id: str, next_id: str) -> None:
    """Let one index answer instead of another, which is kept; an empty id stands for none."""
    tx.run("UPDATE index_generations SET state = 'retired' WHERE id = :id", {"id": answering_id})
    tx.run(
        "UPDATE index_generations SET state = 'active', activated_at = :now WHERE id = :id",
        {"id": next_id, "now": tx.now},
    )


def record_progress(
    tx: Writing,
    generation_id: str,
    revision_id: str,
    state: str,
    done: int,
    total: int,
    problem: Problem | None = None,
    alias_overflow: int = 0,
    rules: str = "",
) -> None:
    """Record how far a revision is; a lexical index also records by which `rules` it was read."""
    tx.run(
        "INSERT INTO revision_indexes (generation_id, revision_id, state, done, total, alias_overflow, rules, problem, "
        "updated_at) VALUES (:generation_id, :revision_id, :state, :done, :total, :alias_overflow, :rules, :problem, "
        ":now) ON CONFLICT (generation_id, revision_id) DO UPDATE SET state = excluded.state, done = excluded.done, "
        "total = excluded.total, problem = excluded.problem, updated_at = excluded.updated_at, "
        "alias_overflow = excluded.alias_overflow, rules = excluded.rules",
        {
            "generation_id": generation_id,
            "revision_id": revision_id,
            "state": state,
            "done": done,
            "total": total,
            "alias_overflow": alias_overflow,
            "rules": rules,
            "problem": to_json(problem) if problem is not None else None,
            "now": tx.now,
        },
    )


def set_problem(tx: Writing, revision_id: str, problem: Problem) -> None:
    """Record why a revision's vectors will not come; what it has keeps answering."""
    tx.run(
        "UPDATE revision_indexes SET state = 'failed', problem = :problem, updated_at = :now "
        "WHERE revision_id = :revision_id AND state = 'pending' AND EXISTS (SELECT 1 FROM index_generations AS g "
        "WHERE g.id = revision_indexes.generation_id AND g.kind = 'vector' AND g.state = 'active')",
        {"revision_id": revision_id, "problem": to_json(problem), "now": tx.now},
    )


def count_done(tx: Reading, generation_id: str, revision_id: str) -> int:
    """How many passages of a revision an index was last known to have."""
    row = tx.first(
        "SELECT done FROM revision_indexes WHERE generation_id = :generation_id AND revision_id = :revision_id",
        {"generation_id": generation_id, "revision_id": revision_id},
    )
    return int(row[0]) if row is not None else 0


def progress(tx: Reading, revision_id: str, kind: IndexKind) -> RevisionIndex | None:
    """How far a revision is in its knowledge base's active generation of this kind."""
    row = tx.first(
        "SELECT x.state, x.done, x.total, x.problem FROM revision_indexes AS x "
        "JOIN index_generations AS g ON g.id = x.generation_id AND g.kind = :kind AND g.state = 'active' "
        "WHERE x.revision_id = :revision_id",
        {"revision_id": revision_id, "kind": kind},
    )
    return RevisionIndex(row[0], row[1], row[2], problem_from(row[3])) if row is not None else None


def is_indexed(tx: Reading, revision_id: str) -> bool:
    """Whether a revision is there as a whole in the lexical index that answers now."""
    reached = progress(tx, revision_id, "lexical")
    return reached is not None and reached.state == "ready"


def read_by(tx: Reading, revision_id: str) -> str:
    """By which rules a revision was read that is in the lexical index which answers now."""
    row = tx.first(
        "SELECT x.rules FROM revision_indexes AS x JOIN index_generations AS g ON g.id = x.generation_id "
        "AND g.kind = 'lexical' AND g.state = 'active' WHERE x.revision_id = :revision_id",
        {"revision_id": revision_id},
    )
    return str(row[0]) if row is not None else ""


def coverage(tx: Reading, generation: IndexGeneration) -> tuple[int, int]:
    """How many of the live documents a vector generation can see, and how many there are."""
    row = tx.first(
        "SELECT count(x.revision_id), count(*) FROM documents AS d LEFT JOIN revision_indexes AS x "
        "ON x.revision_id = d.serving_revision_id AND x.generation_id = :generation_id AND x.state = 'ready' "
        "WHERE d.knowledge_base_id = :knowledge_base_id AND d.serving_revision_id IS NOT NULL AND d.enabled = 1 "
        "AND d.blocked_reason = '' AND d.deleted_at IS NULL",
        {"generation_id": generation.id, "knowledge_base_id": generation.knowledge_base_id},
    )
    return (int(row[0]), int(row[1])) if row is not None else (0, 0)


def count_without_vectors(tx: Reading, knowledge_base_id: str) -> int:
    """How many documents serve a revision that took the place of another before its vectors were there."""
    row = tx.first(
        "SELECT count(*) FROM revisions AS r CROSS JOIN documents AS d WHERE r.without_vectors = 1 "
        "AND d.serving_revision_id = r.id AND d.knowledge_base_id = :id AND d.enabled = 1 AND d.blocked_reason = '' "
        "AND d.deleted_at IS NULL",
        {"id": knowledge_base_id},
    )
    return int(row[0]) if row is not None else 0


def has_live_documents(tx: Reading, knowledge_base_id: str) -> bool:
    """Whether there is anything to be found at all."""
    row = tx.first(
        "SELECT 1 FROM documents WHERE knowledge_base_id = :id AND serving_revision_id IS NOT NULL "
        "AND deleted_at IS NULL AND enabled = 1 AND blocked_reason = '' LIMIT 1",
        {"id": knowledge_base_id},
    )
    return row is not None


def embedding_totals(tx: Reading, principal: str) -> tuple[int, int]:
    """How many published chunks have their vectors, and how many are to have them."""
    row = tx.first(
        "SELECT coalesce(sum(x.done), 0), coalesce(sum(r.chunk_count), 0) FROM documents AS d "
        "JOIN knowledge_bases AS b ON b.id = d.knowledge_base_id AND b.embedding_model <> '' AND b.deleted_at IS NULL "
        "JOIN revisions AS r ON r.id = d.serving_revision_id "
        "LEFT JOIN index_generations AS g ON g.knowledge_base_id = b.id AND g.kind = 'vector' AND g.state = 'active' "
        "LEFT JOIN revision_indexes AS x ON x.revision_id = r.id AND x.generation_id = g.id "
        "WHERE d.owner = :principal AND d.deleted_at IS NULL",
        {"principal": principal},
    )
    return (int(row[0]), int(row[1])) if row is not None else (0, 0)


def announce(tx: Writing, generation: IndexGeneration, document_id: str) -> None:
    """Tell the caches that the vectors of a document are complete in an index."""
    if generation.state == "active":
        tx.run(
            "UPDATE revisions SET without_vectors = 0 WHERE without_vectors = 1 "
            "AND id = (SELECT serving_revision_id FROM documents WHERE id = :id)",
            {"id": document_id},
        )
    knowledge_bases.record_change(tx, generation.knowledge_base_id, document_id, "embedded")


def _generation(row: Row) -> IndexGeneration:
    return IndexGeneration(
        id=row[0],
        number=row[1],
        knowledge_base_id=row[2],
        kind=row[3],
        state=row[4],
        fingerprint=row[5],
        recipe=json.loads(row[6]),
        dimensions=row[7],
        created_at=row[8],
    )
