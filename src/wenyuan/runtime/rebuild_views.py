"""How a rebuild stands, as a door sees it."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.store import indexes, queue, rebuilds
from wenyuan.store.database import Reading
from wenyuan.store.rebuilds import Reached as Reached
from wenyuan.store.rebuilds import Rebuild as Rebuild
from wenyuan.types import Problem


@dataclass(frozen=True, slots=True)
class RebuildView:
    """A rebuild and how far it is.

    `waiting` tells why it is put off for now. `keeps_replaced` says that the indexes it replaced are
    still there to go back to.
    """

    rebuild: Rebuild
    reached: Reached
    waiting: Problem | None
    keeps_replaced: bool


def latest_rebuild(tx: Reading, knowledge_base_id: str) -> RebuildView | None:
    """The rebuild that is being done for a knowledge base, has failed, or whose replaced indexes are kept."""
    found = rebuilds.unfinished(tx, knowledge_base_id) or rebuilds.switched(tx, knowledge_base_id)
    return rebuild_view(tx, found) if found is not None else None


def rebuild_view(tx: Reading, found: Rebuild) -> RebuildView:
    is_running = found.state in ("building", "failed")
    jobs = queue.of_subject(tx, "rebuild", found.id) if is_running else []
    return RebuildView(
        rebuild=found,
        reached=rebuilds.reached(tx, found) if is_running else Reached(),
        waiting=next((job.problem for job in jobs if job.state == "waiting"), None),
        keeps_replaced=found.state == "active" and _is_kept(tx, found),
    )


def _is_kept(tx: Reading, found: Rebuild) -> bool:
    kept = [indexes.find(tx, one) for one in (found.from_vector_id, found.from_lexical_id) if one]
    return all(one is not None for one in kept)
