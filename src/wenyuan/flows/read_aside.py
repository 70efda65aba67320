"""Documents are read anew from their stored bytes, for indexes that are built aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wenyuan.errors import DocumentError, IndexMissing
from wenyuan.flows.carry import stored_pieces
from wenyuan.flows.prepared import Ending, Prepared
from wenyuan.flows.priorities import PRIORITY_PURGE
from wenyuan.flows.purge import forget_text
from wenyuan.flows.reread import rules_of
from wenyuan.flows.stage import (
    StagedFile,
    Staging,
    batches,
    forget_what_does_not_fit,
    stage_early,
    stage_last,
    staged_file,
    with_ending,
)
from wenyuan.flows.work import Work
from wenyuan.store import documents, indexes, knowledge_bases, queue, rebuilds
from wenyuan.store.database import Writing
from wenyuan.store.rebuilds import Rebuild, Unread

_DOCUMENTS_AT_ONCE = 100
_FROM_WHAT_IS_STORED = "stored passages"


def read_aside(tools: Staging, work: Work, rebuild: Rebuild) -> Iterator[None]:
    """Make a revision of each served document that was not read as it is now; yields after each.

    One that cannot be read any more is made from its stored passages instead, cut as they are.
    """
    after = ""
    while True:
        with tools.database.read() as tx:
            page = rebuilds.unread(tx, rebuild, after, _DOCUMENTS_AT_ONCE)
        if not page:
            return
        for one in page:
            _read(tools, work, rebuild, one)
            yield
        after = page[-1].document_id


def _read(tools: Staging, work: Work, rebuild: Rebuild, one: Unread) -> None:
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        file = _begin(tx, tools, work, rebuild, one)
    if file is None:
        return
    forget_what_does_not_fit(tools, file)
    try:
        _stage(tools, rebuild, file, batches(tools, file))
    except DocumentError as error:
        _stage_what_is_stored(tools, rebuild, file, one.serving_id, error)


def _begin(tx: Writing, tools: Staging, work: Work, rebuild: Rebuild, one: Unread) -> StagedFile | None:
    """None where the document has changed since it was looked at."""
    lexical = indexes.find(tx, rebuild.to_lexical_id)
    if lexical is None:
        raise IndexMissing(name=knowledge_bases.by_id(tx, rebuild.knowledge_base_id).name)
    found = documents.revision(tx, one.serving_id)
    if found is None or found[0].serving_revision_id != one.serving_id:
        return None
    document = found[0]
    if one.stale_id is not None:
        rebuilds.discard(tx, rebuild, one.stale_id)
        queue.enqueue(
            tx,
            tools.new_id("job"),
            "purge",
            "revision",
            one.stale_id,
            document.knowledge_base_id,
            document.owner,
            PRIORITY_PURGE,
        )
    made_id = one.made_id
    if made_id is None:
        made_id = tools.new_id("rev")
        rebuilds.make_revision(tx, rebuild, made_id, one.serving_id)
        rebuilds.pair(tx, rebuild, document, one.serving_id, made_id)
    made = documents.revision(tx, made_id)
    if made is None:
        return None
    rules = rules_of(tx, document.knowledge_base_id)
    return staged_file(tx, tools, work, document, made[1], rebuild.to_chunking, lexical, rules)


def _stage(
    tools: Staging, rebuild: Rebuild, file: StagedFile, pieces: Iterable[tuple[Prepared, Ending | None]]
) -> None:
    for batch, ending in pieces:
        with tools.database.write(durable=False) as tx:
            file.work.hold(tx)
            if not rebuilds.is_wanted(tx, rebuild, file.document.id, file.revision.id):
                return
            if ending is None:
                stage_early(tx, file, batch)
                continue
            postings = stage_last(tx, file, batch, ending)
            rebuilds.set_made(tx, file.revision.id)
            tx.lexical.add(tx, file.lexical.number, postings)


def _stage_what_is_stored(
    tools: Staging, rebuild: Rebuild, file: StagedFile, serving_id: str, error: DocumentError
) -> None:
    problem = error.problem("reading")
    forget_text(tools.database, file.work, file.revision.id)
    with tools.database.write(durable=False) as tx:
        file.work.hold(tx)
        served = documents.revision(tx, serving_id)
        if served is None:
            return
        document, revision, cut_by = served
        rebuilds.note_unreadable(tx, rebuild, file.revision.id, problem)
        rebuilds.note_problem(tx, rebuild.id, problem)
        again = staged_file(tx, tools, file.work, document, file.revision, cut_by, file.lexical, file.rules)
        again.committed = None
        # Not to be continued from the file, should that be readable at the next attempt.
        documents.set_staged_by(tx, file.revision.id, _FROM_WHAT_IS_STORED)
    pieces = stored_pieces(tools.database, document.name, revision, file.rules.vocabulary)
    _stage(tools, rebuild, again, with_ending(pieces, document.name))
