"""The dates of whole documents: what their metadata, names and titles say of when they were made or hold."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

from wenyuan.language.dates.mentions import FIRST_YEAR
from wenyuan.store.database import Reading

_FIRST_DAY = (FIRST_YEAR - 1) * 365


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest day of a document that is not after a day asked for; None where all its days are later."""

    newest: int | None


def newest_until(tx: Reading, revision_ids: Collection[str], until: int) -> dict[str, Newest]:
    """The newest day of each revision that has any day at all, as ordinals."""
    rows = tx.all(
        "SELECT k.revision_id, max(CASE WHEN k.first_day <= :until THEN k.first_day END) "
        "FROM json_each(:revisions) AS j CROSS JOIN keys AS k "
        "WHERE k.revision_id = j.value AND k.chunk_key IS NULL AND k.kind = 'date' AND k.first_day >= :first "
        "GROUP BY k.revision_id",
        {"revisions": json.dumps(sorted(revision_ids)), "until": until, "first": _FIRST_DAY},
    )
    return {str(revision): Newest(None if day is None else int(day)) for revision, day in rows}
