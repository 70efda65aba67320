"""One deed done to many documents: each is done or refused by itself, and every outcome is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wenyuan.errors import InvalidValue, WenyuanError
from wenyuan.runtime.access import Grants
from wenyuan.runtime.library import Library
from wenyuan.types import Problem

BulkAction = Literal["enable", "disable", "retry", "cancel", "delete", "move"]


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """What became of one document; `problem` says why nothing did."""

    id: str
    outcome: Literal["done", "refused"]
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class GrantedBulk:
    library: Library
    grants: Grants

    def change(self, ids: Sequence[str], action: BulkAction, to: str | None) -> list[BulkOutcome]:
        """Do something to each document; `to` is the knowledge base to move to.

        Raises `PermissionMissing`, `KnowledgeBaseNotFound` or `InvalidValue` before anything is done.
        """
        self.grants.require("write")
        if (to is None) == (action == "move"):
            raise InvalidValue(
                what="The knowledge base to move to", value=to, reason="it is given to move, and only then"
            )
        target = self.grants.knowledge_base(to).id if to is not None else ""
        return [self._changed(one, action, target) for one in dict.fromkeys(ids)]

    def _changed(self, document_id: str, action: BulkAction, target: str) -> BulkOutcome:
        try:
            self._change(self.grants.document(document_id).document.id, action, target)
        except WenyuanError as error:
            return BulkOutcome(document_id, "refused", error.problem())
        return BulkOutcome(document_id, "done")

    def _change(self, document_id: str, action: BulkAction, target: str) -> None:
        documents = self.library.documents
        match action:
            case "enable" | "disable":
                documents.switch(document_id, enabled=action == "enable")
            case "retry":
                documents.retry(document_id)
            case "cancel":
                documents.cancel(document_id)
            case "delete":
                documents.delete(document_id)
            case "move":
                documents.move([document_id], target)
