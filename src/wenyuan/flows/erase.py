"""What deleted documents are called, and say, goes from where questions are remembered, in bounded batches.

A trace holds no document's text, but the names of the documents it found; an answer in a session holds their words.
One job looks through both for every document that was deleted by then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from wenyuan.flows.priorities import PRIORITY_ERASE
from wenyuan.flows.work import Work
from wenyuan.store import conversation_turns, erasures, queue
from wenyuan.store.database import Database, Writing
from wenyuan.store.erasures import StoredTrace
from wenyuan.types import JsonObject

TRACES = "traces"
"""The kind of subject, and the subject, of the job that looks through the traces."""

_TRACES_AT_ONCE = 200
_TURNS_AT_ONCE = 100
_LATE_MS = 60_000


def enqueue_erasing(tx: Writing, new_id: Callable[[str], str], knowledge_base_id: str, owner: str) -> None:
    """Queue the look through the traces, unless it is queued."""
    queue.enqueue(tx, new_id("job"), "purge", TRACES, TRACES, knowledge_base_id, owner, PRIORITY_ERASE)


def enqueue_late_erasing(database: Database, new_id: Callable[[str], str], owner: str) -> bool:
    """Queue another look for what searches that were under way at a deletion may have named since; if there is any."""
    with database.read() as tx:
        is_due = erasures.is_due(tx, tx.now - _LATE_MS)
    if is_due:
        with database.write(durable=False) as tx:
            enqueue_erasing(tx, new_id, "", owner)
    return is_due


def erase(database: Database, work: Work) -> None:
    """Take the names of deleted documents out of the traces; again for those that are deleted meanwhile."""
    is_done = False
    while not is_done:
        with database.read() as tx:
            wanted, began = erasures.pending(tx), tx.now
        _erase_turns(database, work, list(wanted))
        for page in _pages(database, min(wanted.values(), default=0)) if wanted else ():
            _erase_from(database, work, page, wanted.keys())
        with database.write(durable=False) as tx:
            work.hold(tx)
            erasures.settle(tx, list(wanted), began, _LATE_MS)
            is_done = not erasures.has_new(tx)
            if is_done:
                queue.finish(tx, work.lease)


def _pages(database: Database, since: int) -> Iterator[Sequence[StoredTrace]]:
    after = ""
    while True:
        with database.traces.read() as tx:
            page = erasures.traces_from(tx, since, after, _TRACES_AT_ONCE)
        if not page:
            return
        yield page
        since, after = page[-1].created_at, page[-1].id


def _erase_from(database: Database, work: Work, page: Sequence[StoredTrace], gone: Collection[str]) -> None:
    changed: dict[str, JsonObject] = {}
    for trace in page:
        body: JsonObject = json.loads(trace.body)
        if not named_in(body).isdisjoint(gone):
            changed[trace.id] = without_documents(body, gone)
    if changed:
        with database.write(durable=False) as tx:
            work.hold(tx)
        with database.traces.write(durable=False) as tx:
            erasures.replace_traces(tx, changed)
    work.touch()


def _erase_turns(database: Database, work: Work, gone: Sequence[str]) -> None:
    """Take deleted documents out of the answers that name them."""
    while True:
        with database.read() as tx:
            named = conversation_turns.naming(tx, gone, _TURNS_AT_ONCE)
        if not named:
            return
        with database.write(durable=False) as tx:
            work.hold(tx)
            for one in named:
                conversation_turns.erase(tx, one)


def named_in(body: JsonObject) -> set[str]:
    """The documents that a trace names."""
    return set(body.get("revisions", {}).values())


def without_documents(body: JsonObject, gone: Collection[str]) -> JsonObject:
    """A trace with the names of some documents taken out; which of their passages were found stays, by their ids."""
    revisions: dict[str, str] = body["revisions"]
    erased = {revision for revision, document in revisions.items() if document in gone}

    def named(chunk: str, name: Any) -> Any:
        return "" if chunk.rpartition(".")[0] in erased else name

    candidates = [
        {**one, "documents": {chunk: named(chunk, name) for chunk, name in one["documents"].items()}}
        for one in body["candidates"]
    ]
    hits = [{**hit, "document": named(hit["chunk"], hit["document"])} for hit in body["hits"]]
    kept = {revision: document for revision, document in revisions.items() if revision not in erased}
    return {**body, "revisions": kept, "candidates": candidates, "hits": hits}
