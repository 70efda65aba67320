"""Which work comes first, the smaller number, and how much of it is taken at once."""

from __future__ import annotations

from wenyuan.store import documents
from wenyuan.store.database import Reading

PRIORITY_INGEST_NOW = 5
"""A person has just added it, and waits."""
PRIORITY_INGEST = 10
PRIORITY_MOVE = 20
PRIORITY_REREAD = 40
PRIORITY_EMBED_NOW = 45
PRIORITY_EMBED = 50
PRIORITY_REBUILD = 60
PRIORITY_PURGE = 80
PRIORITY_ERASE = 85

_WEIGHT_OF_A_CHARACTER = 16


def embedding_weight(tx: Reading, revision_id: str) -> int:
    """The weight of the job that makes a revision's vectors.

    Short texts are taken together, and share calls to the model; embedding takes much longer than
    reading, so that less text is taken at once.
    """
    return documents.text_length(tx, revision_id) * _WEIGHT_OF_A_CHARACTER
