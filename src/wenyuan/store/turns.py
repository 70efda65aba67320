"""Whose turn it is among jobs of one priority, so that a large import does not stand before everyone else.

Start-time fair queueing (Goyal, Vin, Cheng: "Start-time Fair Queuing", SIGCOMM 1996): a job's turn is
given when it is queued. It follows its knowledge base's last one, but is never earlier than the turn
being served, so that whoever comes next is not made to wait for what others have piled up, and nobody
can save up turns. The queue is then simply sorted, and claiming reads its first row.
"""

from __future__ import annotations

from wenyuan.store.database import Writing

_BYTES_A_TURN = 1 << 16
_LARGEST_SIZE = 64 << 20


def take_turn(tx: Writing, priority: int, owner: str, knowledge_base_id: str, size: int) -> int:
    """The turn of a new job. One that reads many bytes costs its knowledge base more, up to a bound.

    An owner's second, third and further knowledge base that has jobs waiting pays two, three and
    more times as much: splitting an import does not speed it up as it would otherwise.
    """
    parameters = {"priority": priority, "owner": owner, "knowledge_base_id": knowledge_base_id}
    row = tx.first(
        "SELECT turn FROM queue_turns WHERE priority = :priority AND owner = '' AND knowledge_base_id = ''", parameters
    )
    served = int(row[0]) if row is not None else 0
    row = tx.first(
        "SELECT count(*) FROM queue_turns WHERE priority = :priority AND owner = :owner "
        "AND knowledge_base_id <> :knowledge_base_id AND turn > :served",
        {**parameters, "served": served},
    )
    others = int(row[0]) if row is not None else 0
    cost = (1 + others) * (1 + min(size, _LARGEST_SIZE) // _BYTES_A_TURN)
    row = tx.first(
        "INSERT INTO queue_turns (priority, owner, knowledge_base_id, turn) VALUES (:priority, :owner, "
        ":knowledge_base_id, CAST(:served AS BIGINT) + :cost) ON CONFLICT (priority, owner, knowledge_base_id) "
        "DO UPDATE SET turn = CASE WHEN queue_turns.turn > :served THEN queue_turns.turn ELSE :served END + :cost "
        "RETURNING turn",
        {**parameters, "served": served, "cost": cost},
    )
    return int(row[0]) - cost if row is not None else served


def serve_turn(tx: Writing, priority: int, turn: int) -> None:
    """Record that a job with this turn is being done."""
    tx.run(
        "INSERT INTO queue_turns (priority, owner, knowledge_base_id, turn) VALUES (:priority, '', '', :turn) "
        "ON CONFLICT (priority, owner, knowledge_base_id) DO UPDATE SET turn = excluded.turn "
        "WHERE queue_turns.turn < excluded.turn",
        {"priority": priority, "turn": turn},
    )
