"""Where one question went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wenyuan.flows.recall import Asked, Recall
from wenyuan.flows.weigh import Weighed
from wenyuan.types import ArmName, KnowledgeBase, RerankRecord, Scope


@dataclass(frozen=True, slots=True)
class Journey:
    """What was asked and of what, which lists, what they found, what that was worth, and what it had to be worth."""

    asked: Asked
    scope: Scope
    bases: Sequence[KnowledgeBase]
    found: Sequence[Recall]
    evidence: Weighed
    least_score: float
    arms: frozenset[ArmName]
    rerank: RerankRecord
