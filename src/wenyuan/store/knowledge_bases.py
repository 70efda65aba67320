"""Knowledge bases, who may see which, their vocabularies, and the numbered log of what changed in them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from wenyuan.errors import KnowledgeBaseExists, KnowledgeBaseNotFound, KnowledgeBaseProtected
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.store.database import Reading, Row, Writing
from wenyuan.store.rows import from_json, to_json
from wenyuan.types import ChunkingConfig, DocumentPolicy, KnowledgeBase, KnowledgeBaseState, Scope

_COLUMNS = (
    "id, owner, name, description, state, is_default, persona, scenario, tags, chunking, "
    "embedding_model, change_number, created_at, updated_at, session_id, policy, ready_when"
)


def add(tx: Writing, knowledge_base: KnowledgeBase) -> None:
    """Store a new knowledge base. Raises `KnowledgeBaseExists` when its name is taken."""
    added = tx.run(
        f"INSERT INTO knowledge_bases ({_COLUMNS}) VALUES (:id, :owner, :name, :description, :state, :is_default, "
        ":persona, :scenario, :tags, :chunking, :embedding_model, 0, :now, :now, :session_id, :policy, "
        ":ready_when) ON CONFLICT DO NOTHING",
        {
            "id": knowledge_base.id,
            "owner": knowledge_base.owner,
            "name": knowledge_base.name,
            "description": knowledge_base.description,
            "state": knowledge_base.state,
            "is_default": int(knowledge_base.is_default),
            "persona": knowledge_base.persona,
            "scenario": knowledge_base.scenario,
            "tags": to_json(knowledge_base.tags),
            "chunking": to_json(knowledge_base.chunking),
            "embedding_model": knowledge_base.embedding_model,
            "session_id": knowledge_base.session_id,
            "policy": to_json(knowledge_base.policy),
            "ready_when": knowledge_base.ready_when,
            "now": tx.now,
        },
    )
    if not added:
        raise KnowledgeBaseExists(name=knowledge_base.name)


def find(tx: Reading, principal: str, name: str) -> KnowledgeBase:
    """The knowledge base with this name or id. Raises `KnowledgeBaseNotFound`."""
    row = tx.first(
        f"SELECT {_COLUMNS} FROM knowledge_bases "
        "WHERE owner = :principal AND (name = :name OR id = :name) AND deleted_at IS NULL AND session_id = ''",
        {"principal": principal, "name": name},
    )
    if row is None:
        raise KnowledgeBaseNotFound(name=name)
    return _knowledge_base(row)


def default(tx: Reading, principal: str) -> KnowledgeBase | None:
    row = tx.first(
        f"SELECT {_COLUMNS} FROM knowledge_bases WHERE owner = :principal AND is_default = 1",
        {"principal": principal},
    )
    return _knowledge_base(row) if row is not None else None


def by_id(tx: Reading, knowledge_base_id: str) -> KnowledgeBase:
    row = tx.first(
        f"SELECT {_COLUMNS} FROM knowledge_bases WHERE id = :id AND deleted_at IS NULL", {"id": knowledge_base_id}
    )
    if row is None:
        raise KnowledgeBaseNotFound(name=knowledge_base_id)
    return _knowledge_base(row)


def is_there(tx: Reading, knowledge_base_id: str) -> bool:
    """Whether a knowledge base is there and not deleted."""
    row = tx.first("SELECT 1 FROM knowledge_bases WHERE id = :id AND deleted_at IS NULL", {"id": knowledge_base_id})
    return row is not None


def vocabulary(tx: Reading, knowledge_base_id: str) -> Vocabulary:
    """The terms and synonyms of a knowledge base's people."""
    row = tx.first("SELECT terms, synonyms FROM knowledge_bases WHERE id = :id", {"id": knowledge_base_id})
    return _vocabulary(row[0], row[1]) if row is not None else EMPTY


# Asked for by every question, and preparing a large one takes longer than the question.
@lru_cache(maxsize=64)
def _vocabulary(terms: str, synonyms: str) -> Vocabulary:
    return Vocabulary(tuple(json.loads(terms)), tuple(tuple(group) for group in json.loads(synonyms)))


def set_vocabulary(tx: Writing, knowledge_base_id: str, changed: Vocabulary) -> None:
    tx.run(
        "UPDATE knowledge_bases SET terms = :terms, synonyms = :synonyms, updated_at = :now WHERE id = :id",
        {
            "id": knowledge_base_id,
            "terms": to_json(changed.terms),
            "synonyms": to_json(changed.synonyms),
            "now": tx.now,
        },
    )


def set_policy(tx: Writing, knowledge_base_id: str, policy: DocumentPolicy) -> None:
    tx.run(
        "UPDATE knowledge_bases SET policy = :policy, updated_at = :now WHERE id = :id",
        {"id": knowledge_base_id, "policy": to_json(policy), "now": tx.now},
    )


def permitted(tx: Reading, scope: Scope) -> list[KnowledgeBase]:
    """The knowledge bases a search may look into: the scope's own, or all the principal is permitted,

    and those of the sessions whose attachments it names. Archived ones are included, so that the caller
    can say why they were left out. Raises `KnowledgeBaseNotFound` for a name that does not exist or is
    not permitted: the two look alike.
    """
    if scope.knowledge_bases is not None:
        found = [find(tx, scope.principal, name) for name in dict.fromkeys(scope.knowledge_bases)]
    else:
        rows = tx.all(
            f"SELECT {_COLUMNS} FROM knowledge_bases WHERE owner = :principal AND deleted_at IS NULL "
            "AND session_id = '' ORDER BY created_at, id",
            {"principal": scope.principal},
        )
        found = [_knowledge_base(row) for row in rows]
    return found + _of_attachments(tx, scope) if scope.attachments else found


def _of_attachments(tx: Reading, scope: Scope) -> list[KnowledgeBase]:
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM knowledge_bases WHERE owner = :principal AND deleted_at IS NULL "
        "AND session_id <> '' AND id IN (SELECT knowledge_base_id FROM documents WHERE id IN "
        "(SELECT value FROM json_each(:attachments))) ORDER BY created_at, id",
        {"principal": scope.principal, "attachments": json.dumps(scope.attachments)},
    )
    return [_knowledge_base(row) for row in rows]


def of_session(tx: Reading, session_id: str) -> KnowledgeBase | None:
    """The knowledge base that holds what is attached to a session; None while nothing is."""
    row = tx.first(
        f"SELECT {_COLUMNS} FROM knowledge_bases WHERE session_id = :session_id AND session_id <> '' "
        "AND deleted_at IS NULL",
        {"session_id": session_id},
    )
    return _knowledge_base(row) if row is not None else None


def without_session(tx: Reading, limit: int) -> list[KnowledgeBase]:
    """Knowledge bases whose session is gone."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM knowledge_bases WHERE session_id <> '' AND deleted_at IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM sessions WHERE sessions.id = knowledge_bases.session_id) ORDER BY id LIMIT :limit",
        {"limit": limit},
    )
    return [_knowledge_base(row) for row in rows]


def update(tx: Writing, changed: KnowledgeBase) -> KnowledgeBase:
    """Store a knowledge base's new description, state, persona, tags, chunking, embedding model or readiness."""
    if changed.is_default and changed.state == "archived":
        raise KnowledgeBaseProtected(name=changed.name)
    tx.run(
        "UPDATE knowledge_bases SET description = :description, state = :state, persona = :persona, "
        "scenario = :scenario, tags = :tags, chunking = :chunking, embedding_model = :embedding_model, "
        "ready_when = :ready_when, updated_at = :now WHERE id = :id",
        {
            "id": changed.id,
            "description": changed.description,
            "state": changed.state,
            "persona": changed.persona,
            "scenario": changed.scenario,
            "tags": to_json(changed.tags),
            "chunking": to_json(changed.chunking),
            "embedding_model": changed.embedding_model,
            "ready_when": changed.ready_when,
            "now": tx.now,
        },
    )
    return replace(changed, updated_at=tx.now)


def hide(tx: Writing, knowledge_base: KnowledgeBase) -> list[str]:
    """Delete a knowledge base from everyone's sight and return the ids of its documents.

    Its documents are hidden in the same transaction; purging them is left to jobs. Raises
    `KnowledgeBaseProtected` for the default one.
    """
    if knowledge_base.is_default:
        raise KnowledgeBaseProtected(name=knowledge_base.name)
    parameters = {"id": knowledge_base.id, "now": tx.now}
    tx.run("UPDATE knowledge_bases SET deleted_at = :now WHERE id = :id", parameters)
    rows = tx.all("SELECT id FROM documents WHERE knowledge_base_id = :id AND deleted_at IS NULL", parameters)
    return [str(row[0]) for row in rows]


def record_change(tx: Writing, knowledge_base_id: str, document_id: str, kind: str) -> None:
    """Number one change that a search could notice.

    The row of the knowledge base is updated first, which serialises writers of the same one: a
    lower number never becomes visible after a higher one.
    """
    row = tx.first(
        "UPDATE knowledge_bases SET change_number = change_number + 1 WHERE id = :id RETURNING change_number",
        {"id": knowledge_base_id},
    )
    if row is None:
        raise KnowledgeBaseNotFound(name=knowledge_base_id)
    tx.run(
        "INSERT INTO changes (knowledge_base_id, number, document_id, kind, created_at) "
        "VALUES (:knowledge_base_id, :number, :document_id, :kind, :now)",
        {
            "knowledge_base_id": knowledge_base_id,
            "number": row[0],
            "document_id": document_id,
            "kind": kind,
            "now": tx.now,
        },
    )


def change_number(tx: Reading, knowledge_base_id: str) -> int:
    """The number of the newest change; a deleted knowledge base keeps its last one."""
    row = tx.first("SELECT change_number FROM knowledge_bases WHERE id = :id", {"id": knowledge_base_id})
    return int(row[0]) if row is not None else 0


def changed_documents(tx: Reading, knowledge_base_id: str, since: int) -> list[str] | None:
    """Ids of the documents that changed after the change numbered `since`; None where that is not kept any more."""
    row = tx.first("SELECT changes_from FROM knowledge_bases WHERE id = :id", {"id": knowledge_base_id})
    if row is not None and row[0] > since + 1:
        return None
    rows = tx.all(
        "SELECT DISTINCT document_id FROM changes WHERE knowledge_base_id = :id AND number > :since",
        {"id": knowledge_base_id, "since": since},
    )
    return [str(row[0]) for row in rows]


def long_logs(tx: Reading, kept: int) -> list[str]:
    """Ids of the knowledge bases, deleted ones too, of which more than so many changes are kept."""
    rows = tx.all(
        "SELECT id FROM knowledge_bases WHERE change_number - changes_from >= :kept ORDER BY id", {"kept": kept}
    )
    return [str(row[0]) for row in rows]


def forget_changes(tx: Writing, knowledge_base_id: str, kept: int, limit: int) -> int:
    """Delete the oldest changes, at most `limit` at once, but for the newest `kept`; how many went.

    Whoever has not read them yet is told so, and reads everything anew.
    """
    row = tx.first(
        "UPDATE knowledge_bases SET changes_from = CASE WHEN change_number - changes_from - :kept + 1 < :limit "
        "THEN change_number - :kept + 1 ELSE changes_from + :limit END WHERE id = :id "
        "AND change_number - changes_from >= :kept RETURNING changes_from",
        {"id": knowledge_base_id, "kept": kept, "limit": limit},
    )
    if row is None:
        return 0
    return tx.run(
        "DELETE FROM changes WHERE knowledge_base_id = :id AND number < :first",
        {"id": knowledge_base_id, "first": row[0]},
    )


def document_counts(tx: Reading, knowledge_base_id: str) -> dict[str, int]:
    """How many documents are in each state, and how many are `disabled` by a person or `blocked` by a policy.

    A document that serves a revision counts as `ready`, whatever its update is doing.
    """
    rows = tx.all(
        "SELECT CASE WHEN d.blocked_reason <> '' THEN 'blocked' WHEN d.enabled = 0 THEN 'disabled' "
        "WHEN d.serving_revision_id IS NOT NULL THEN 'ready' ELSE r.state END AS standing, count(*) "
        "FROM documents AS d JOIN revisions AS r ON r.document_id = d.id "
        "AND r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = d.id) "
        "WHERE d.knowledge_base_id = :id AND d.deleted_at IS NULL GROUP BY 1",
        {"id": knowledge_base_id},
    )
    return {str(standing): int(count) for standing, count in rows}


@lru_cache(maxsize=64)
def _policy(text: str) -> DocumentPolicy:
    stored = from_json(DocumentPolicy, text)
    return replace(stored, types=tuple(stored.types), forbidden_types=tuple(stored.forbidden_types))


def _knowledge_base(row: Row) -> KnowledgeBase:
    state: KnowledgeBaseState = row[4]
    return KnowledgeBase(
        id=row[0],
        owner=row[1],
        name=row[2],
        description=row[3],
        state=state,
        is_default=bool(row[5]),
        persona=row[6],
        scenario=row[7],
        tags=tuple(json.loads(row[8])),
        chunking=from_json(ChunkingConfig, row[9]),
        embedding_model=row[10],
        change_number=row[11],
        created_at=row[12],
        updated_at=row[13],
        session_id=row[14],
        policy=_policy(row[15]),
        ready_when=row[16],
    )
