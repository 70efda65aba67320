"""What scopes come to, remembered: the documents that meet a filter, and the few chunks of some documents.

People ask one question after another within the same filter, and resolving it may take longer than
the search. What is remembered holds for one change number of the knowledge base, read in the
transaction that asks; reading the words asks the database itself again whether a filter is met.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wenyuan.store import chunks, fields, knowledge_bases
from wenyuan.store.database import Reading
from wenyuan.types import Scope

Value = TypeVar("Value")

_MOST_REMEMBERED = 32
_MOST_DOCUMENTS = 20_000
_MOST_CHUNKS = 100_000
"""Longer lists are not worth their memory: of all answers together they take tens of megabytes at most."""


class ScopeCache:
    """Scopes of one library; threads may share it."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, tuple[int, object]] = OrderedDict()
        self._changing = threading.Lock()

    def narrowed(self, tx: Reading, knowledge_base_id: str, scope: Scope) -> Scope:
        """As `fields.narrowed`."""
        if not scope.conditions or len(scope.documents or ()) > _MOST_DOCUMENTS:
            return fields.narrowed(tx, knowledge_base_id, scope)
        return self._remembered(
            tx, knowledge_base_id, scope, lambda: fields.narrowed(tx, knowledge_base_id, scope), _is_short
        )

    def served_chunks(
        self, tx: Reading, knowledge_base_id: str, documents: Sequence[str], *, however_many: bool
    ) -> NDArray[np.int64] | None:
        """As `chunks.served_chunks`; not to be changed. All are told as well where they are known already."""

        def ask() -> NDArray[np.int64] | None:
            return chunks.served_chunks(tx, knowledge_base_id, documents, however_many=however_many)

        if len(documents) > _MOST_DOCUMENTS:
            return ask()
        key = tuple(documents)
        known = self._remembered(tx, knowledge_base_id, key, ask, _are_few)
        if known is None and however_many:
            known = self._remembered(tx, knowledge_base_id, key, ask, _are_few, anew=True)
        return known

    def _remembered(
        self,
        tx: Reading,
        knowledge_base_id: str,
        key: Hashable,
        ask: Callable[[], Value],
        is_kept: Callable[[Value], bool],
        *,
        anew: bool = False,
    ) -> Value:
        now = knowledge_bases.change_number(tx, knowledge_base_id)
        key = (knowledge_base_id, tx.continuity, key)
        with self._changing:
            known = self._known.get(key)
            if known is not None and known[0] == now and not anew:
                self._known.move_to_end(key)
                value: Value = known[1]  # type: ignore[assignment]
                return value
        asked = ask()
        if is_kept(asked):
            with self._changing:
                self._known[key] = (now, asked)
                self._known.move_to_end(key)
                while len(self._known) > _MOST_REMEMBERED:
                    self._known.popitem(last=False)
        return asked


def _is_short(scope: Scope) -> bool:
    return len(scope.documents or ()) <= _MOST_DOCUMENTS


def _are_few(keys: NDArray[np.int64] | None) -> bool:
    return keys is None or len(keys) <= _MOST_CHUNKS
