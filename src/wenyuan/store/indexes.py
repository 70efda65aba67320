"""Index generations: which index answers for a knowledge base, and how far each revision is in it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from wenyuan.store import knowledge_bases
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import problem_from, to_json
from wenyuan.types import IndexGeneration, IndexKind, JsonObject, Problem

_COLUMNS = "id, number, knowledge_base_id, kind, state, fingerprint, recipe, dimensions, created_at"


@dataclass(frozen=True, slots=True)
class RevisionIndex:
    """How far one revision is in one generation."""

    state: str
    done: int
    total: int
    problem: Problem | None


def active(tx: Reading, knowledge_base_id: str, kind: IndexKind) -> IndexGeneration | None:
    row = tx.first(
        f"SELECT {_COLUMNS} FROM index_generations "
        "WHERE knowledge_base_id = :knowledge_base_id AND kind = :kind AND state = 'active'",
        {"knowledge_base_id": knowledge_base_id, "kind": kind},
    )
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
    row = tx.first("UPDATE counters SET value = value + 1 WHERE name = 'generation' RETURNING value")
    number = int(row[0]) if row is not None else 1
    tx.run(
        "INSERT INTO index_generations (id, number, knowledge_base_id, owner, kind, state, fingerprint, recipe, "
        "dimensions, created_at, activated_at) VALUES (:id, :number, :knowledge_base_id, "
        "(SELECT owner FROM knowledge_bases WHERE id = :knowledge_base_id), :kind, 'active', :fingerprint, :recipe, "
        ":dimensions, :now, :now)",
        {
            "id": generation_id,
            "number": number,
            "knowledge_base_id": knowledge_base_id,
            "kind": kind,
            "fingerprint": fingerprint,
            "recipe": to_json(recipe),
            "dimensions": dimensions,
            "now": tx.now,
        },
    )
    if kind == "lexical":
        tx.lexical.create(tx, number)
    return IndexGeneration(
        generation_id, number, knowledge_base_id, kind, "active", fingerprint, recipe, dimensions, tx.now
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
        "WHERE revision_id = :revision_id AND state = 'pending' AND generation_id IN "
        "(SELECT id FROM index_generations WHERE kind = 'vector' AND state <> 'retired')",
        {"revision_id": revision_id, "problem": to_json(problem), "now": tx.now},
    )


def progress(tx: Reading, revision_id: str, kind: IndexKind) -> RevisionIndex | None:
    """How far a revision is in its knowledge base's active generation of this kind."""
    row = tx.first(
        "SELECT x.state, x.done, x.total, x.problem FROM revision_indexes AS x "
        "JOIN index_generations AS g ON g.id = x.generation_id AND g.kind = :kind AND g.state = 'active' "
        "WHERE x.revision_id = :revision_id",
        {"revision_id": revision_id, "kind": kind},
    )
    return RevisionIndex(row[0], row[1], row[2], problem_from(row[3])) if row is not None else None


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
    """Tell the caches that a document's vectors are complete."""
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
