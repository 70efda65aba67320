"""Which documents were read by other rules than those of today, and reading their chunks again in place.

A lexical index has the rules by which all of its documents were read; each revision has its own,
which are newer while the rest is being read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wenyuan.store import chunks, fields, knowledge_bases
from wenyuan.store.database import Reading, Writing
from wenyuan.store.rows import to_json
from wenyuan.types import Chunk, Document, Facts, IndexGeneration, JsonObject, Key, Posting, Revision

_BEHIND = (
    "FROM revision_indexes AS x JOIN documents AS d ON d.serving_revision_id = x.revision_id "
    "WHERE x.generation_id = :generation_id AND x.rules <> :rules AND d.deleted_at IS NULL"
)


def behind(tx: Reading, generation: IndexGeneration, rules: str, after: str, limit: int, path: str = "") -> list[str]:
    """Served revisions that were read by other rules, in the order of their ids, the page after the id `after`.

    With a `path`, only those of documents whose source begins with it.
    """
    rows = tx.all(
        f"SELECT x.revision_id {_BEHIND} AND x.revision_id > :after AND substr(d.source, 1, "
        "length(CAST(:path AS TEXT))) = CAST(:path AS TEXT) ORDER BY x.revision_id LIMIT :limit",
        {"generation_id": generation.id, "rules": rules, "after": after, "limit": limit, "path": path},
    )
    return [str(row[0]) for row in rows]


def count_behind(tx: Reading, generation: IndexGeneration, rules: str) -> int:
    """How many documents were read by other rules."""
    row = tx.first(f"SELECT count(*) {_BEHIND}", {"generation_id": generation.id, "rules": rules})
    return int(row[0]) if row is not None else 0


def forgotten(tx: Reading, generation: IndexGeneration, rules: str) -> int:
    """How many documents were read by other rules, with no job that will read them again."""
    row = tx.first(
        f"SELECT count(*) {_BEHIND} AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.subject_kind = 'revision' "
        "AND j.subject_id = x.revision_id AND j.kind = 'reread' AND j.state IN ('queued', 'running', 'waiting'))",
        {"generation_id": generation.id, "rules": rules},
    )
    return int(row[0]) if row is not None else 0


def expire(tx: Writing, generation: IndexGeneration, path: str = "") -> None:
    """Take the rules of every document for outdated, whatever they are, so that all are read again."""
    tx.run(
        "UPDATE revision_indexes SET rules = '', rereading = '' WHERE generation_id = :generation_id "
        "AND revision_id IN (SELECT serving_revision_id FROM documents WHERE knowledge_base_id = :knowledge_base_id "
        "AND deleted_at IS NULL AND substr(source, 1, length(CAST(:path AS TEXT))) = CAST(:path AS TEXT))",
        {"generation_id": generation.id, "knowledge_base_id": generation.knowledge_base_id, "path": path},
    )
    tx.run("UPDATE index_generations SET fingerprint = '' WHERE id = :id", {"id": generation.id})


def settle(tx: Writing, generation: IndexGeneration, rules: str, recipe: JsonObject) -> bool:
    """Make rules those of the whole index, if every document was read by them; says whether that is so."""
    if count_behind(tx, generation, rules):
        return False
    tx.run(
        "UPDATE index_generations SET fingerprint = :rules, recipe = :recipe WHERE id = :id",
        {"id": generation.id, "rules": rules, "recipe": to_json(recipe)},
    )
    return True


def unsettle(tx: Writing, generation: IndexGeneration) -> None:
    """Record that documents were read by different rules and terms, so that the next worker reads them again."""
    tx.run(
        "UPDATE index_generations SET fingerprint = '', recipe = :recipe WHERE id = :id",
        {"id": generation.id, "recipe": to_json({})},
    )


def begin(tx: Writing, generation: IndexGeneration, revision_id: str, rules: str) -> int:
    """Begin to read a revision by the given rules, or go on, and return the first chunk to do; -1 if it was read."""
    parameters = {"generation_id": generation.id, "revision_id": revision_id, "rules": rules}
    tx.run(
        "UPDATE revision_indexes SET rereading = :rules, done = 0, alias_overflow = 0 "
        "WHERE generation_id = :generation_id AND revision_id = :revision_id AND rules <> :rules "
        "AND rereading <> :rules",
        parameters,
    )
    row = tx.first(
        "SELECT done FROM revision_indexes WHERE generation_id = :generation_id AND revision_id = :revision_id "
        "AND rereading = :rules",
        parameters,
    )
    return int(row[0]) if row is not None else -1


def chunks_from(tx: Reading, revision_id: str, first: int, limit: int) -> list[tuple[int, Chunk]]:
    """Chunks of a revision with their keys in the indexes, in order, from sequence number `first` on."""
    rows = tx.all(
        "SELECT key FROM chunks WHERE revision_id = :id AND seq >= :first ORDER BY seq LIMIT :limit",
        {"id": revision_id, "first": first, "limit": limit},
    )
    found = chunks.of_revision(tx, revision_id, first, limit)
    return [(int(row[0]), chunk) for row, chunk in zip(rows, found, strict=True)]


def replace_batch(
    tx: Writing,
    generation: IndexGeneration,
    document: Document,
    revision_id: str,
    postings: Sequence[tuple[int, Posting]],
    keys: Iterable[tuple[Key, int]],
) -> None:
    """Put postings and keys in the place of those that chunks, which follow each other in a revision, had."""
    parameters = {"generation_id": generation.id, "revision_id": revision_id}
    tx.run(
        "DELETE FROM keys WHERE revision_id = :revision_id AND chunk_key BETWEEN :first AND :last",
        {"revision_id": revision_id, "first": postings[0][0], "last": postings[-1][0]},
    )
    chunks.stage_keys(tx, document.knowledge_base_id, document.id, revision_id, keys)
    overflow = sum(posting.alias_overflow for _, posting in postings)
    tx.run(
        "UPDATE revision_indexes SET done = done + :count, alias_overflow = alias_overflow + :overflow, "
        "updated_at = :now WHERE generation_id = :generation_id AND revision_id = :revision_id",
        {**parameters, "count": len(postings), "overflow": overflow, "now": tx.now},
    )
    tx.lexical.add(tx, generation.number, postings)


def replace_whole(tx: Writing, document: Document, revision_id: str, facts: Facts, whole: Sequence[Key]) -> None:
    """Put what is known of a revision as a whole, its keys and fields, in the place of what was known before."""
    tx.run("DELETE FROM keys WHERE revision_id = :id AND chunk_key IS NULL", {"id": revision_id})
    chunks.stage_keys(tx, document.knowledge_base_id, document.id, revision_id, ((key, None) for key in whole))
    fields.forget(tx, revision_id)
    fields.stage(tx, document, revision_id, facts, whole)


def end(
    tx: Writing, generation: IndexGeneration, document: Document, revision: Revision, rules: str, whole: Sequence[Key]
) -> None:
    """Record that a revision was read again, and what is now known of it as a whole."""
    parameters = {"generation_id": generation.id, "revision_id": revision.id, "rules": rules, "now": tx.now}
    facts = Facts(revision.media_type, revision.encoding, revision.title, revision.language, revision.metadata)
    replace_whole(tx, document, revision.id, facts, whole)
    tx.run(
        "UPDATE revision_indexes SET rules = :rules, rereading = '', updated_at = :now "
        "WHERE generation_id = :generation_id AND revision_id = :revision_id",
        parameters,
    )
    # What a filter finds in it may have changed.
    knowledge_bases.record_change(tx, document.knowledge_base_id, document.id, "reread")
