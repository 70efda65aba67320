"""A source begins and ends: what it followed stays without it, or goes with it."""

from __future__ import annotations

import os
from collections.abc import Callable

from wenyuan.flows.file_paths import openable, readable
from wenyuan.flows.remove import hide_document
from wenyuan.flows.rename import rename
from wenyuan.store import documents, sources
from wenyuan.store.database import Database, Writing
from wenyuan.store.sources import Source
from wenyuan.types import Document

_DELETED_PER_TRANSACTION = 64


def let_go(tx: Writing, new_id: Callable[[str], str], source: Source, document: Document) -> bool:
    """Delete a document that a source does not have any more, and say so, unless there is its file elsewhere:

    then it is the document of that.
    """
    keeper = sources.hand_over(tx, document.id, source.id)
    if keeper is None:
        hide_document(tx, new_id, document.id, document.knowledge_base_id, document.owner)
        return True
    path = os.path.join(*map(openable, keeper))
    if readable(path) != document.source:
        record = documents.find(tx, document.owner, document.id)
        rename(tx, new_id, record, readable(path), readable(os.path.basename(path)))
    return False


def end_source(database: Database, new_id: Callable[[str], str], source: Source, *, keep_documents: bool) -> int:
    """Forget a source, with its documents unless they are to be kept, and return how many those were.

    Interrupted while it deletes, it is left as one that is being removed, and can be ended again.
    Documents of which another source has the file too go over to that one.
    """
    with database.write() as tx:
        if keep_documents:
            sources.delete(tx, source.id)
            return 0
        sources.begin_removal(tx, source.id)
    deleted = 0
    while True:
        with database.write() as tx:
            group = sources.all_own_documents(tx, source, _DELETED_PER_TRANSACTION)
            for document in group:
                deleted += let_go(tx, new_id, source, document)
            if not group:
                sources.delete(tx, source.id)
                return deleted
