"""Which documents of a knowledge base stand in a certain way, page by page."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.store.database import Reading


@dataclass(frozen=True, slots=True)
class Standing:
    """How documents are to stand, to be listed. Without a `state`, in any; `failed` also counts failed vectors."""

    state: str = ""
    failed: bool = False
    blocked: bool = False
    disabled: bool = False
    doubtful: bool = False

    @property
    def is_any(self) -> bool:
        return self == Standing()


def page(tx: Reading, knowledge_base_id: str, standing: Standing, after: str, limit: int) -> list[str]:
    """The ids of live documents that stand so, in order, the page after the id `after`."""
    rows = tx.all(
        "SELECT d.id FROM documents AS d CROSS JOIN revisions AS r WHERE d.knowledge_base_id = :id "
        "AND d.deleted_at IS NULL AND d.id > :after AND r.document_id = d.id "
        "AND r.number = (SELECT max(x.number) FROM revisions AS x WHERE x.document_id = d.id) "
        "AND (CAST(:state AS TEXT) = '' OR r.state = :state) AND (:blocked = 0 OR d.blocked_reason <> '') "
        "AND (:disabled = 0 OR d.enabled = 0) AND (:doubtful = 0 OR r.is_doubtful = 1) "
        "AND (:failed = 0 OR r.state = 'failed' OR EXISTS (SELECT 1 FROM revision_indexes AS x "
        "JOIN index_generations AS g ON g.id = x.generation_id AND g.kind = 'vector' AND g.state = 'active' "
        "WHERE x.revision_id = d.serving_revision_id AND x.state = 'failed')) ORDER BY d.id LIMIT :limit",
        {
            "id": knowledge_base_id,
            "after": after,
            "state": standing.state,
            "blocked": int(standing.blocked),
            "disabled": int(standing.disabled),
            "failed": int(standing.failed),
            "doubtful": int(standing.doubtful),
            "limit": limit,
        },
    )
    return [str(row[0]) for row in rows]
