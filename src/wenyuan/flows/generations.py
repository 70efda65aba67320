"""Beginning, giving up, rolling back and dropping what is built aside; and the switch itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wenyuan.errors import NothingToRollBack, RebuildNotRunning, RebuildRunning
from wenyuan.flows.embed import fingerprint, recipe_of
from wenyuan.flows.priorities import PRIORITY_PURGE, PRIORITY_REBUILD
from wenyuan.flows.reread import rules_of
from wenyuan.flows.work import Work
from wenyuan.store import indexes, purging, queue, rebuilds, rereading, vectors
from wenyuan.store.database import Database, Reading, Writing
from wenyuan.store.rebuilds import Rebuild
from wenyuan.types import ChunkingConfig, IndexGeneration, JobKind, KnowledgeBase, ModelIdentity, Problem

NewId = Callable[[str], str]

_REVISIONS_AT_ONCE = 500
_ANY = 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the indexes of a knowledge base are to be made with; `identity` is the model's, None for no model.

    `rereads` asks for every document to be read and cut anew, whatever it was made with. `sentences` tells whether
    the model embeds those too.
    """

    model: str
    identity: ModelIdentity | None
    chunking: ChunkingConfig
    rereads: bool = False
    sentences: bool = False


def begin(tx: Writing, new_id: NewId, base: KnowledgeBase, wanted: Wanted) -> Rebuild | None:
    """Begin to build what is wanted aside, or go on with it; None where it is what answers already.

    With nothing to be built, it answers when this returns. Raises `RebuildRunning` where another
    rebuild is being done; one that has failed is given up for this.
    """
    running = rebuilds.unfinished(tx, base.id)
    if running is not None and _is_for(tx, running, wanted):
        return go_on(tx, new_id, running)
    if running is not None and running.state == "building":
        raise RebuildRunning(name=base.name)
    vector = indexes.active(tx, base.id, "vector")
    rereads = wanted.rereads or base.chunking != wanted.chunking
    is_other = rereads or _makes_other_vectors(base, vector, wanted)
    # Whether sentences lack is asked last: all passages may be looked at for it.
    if not is_other and not (wanted.sentences and vectors.lack_sentences(tx, base.id, vector)):
        return None
    if running is not None:
        give_up(tx, new_id, running)
    lexical = indexes.active(tx, base.id, "lexical")
    made = Rebuild(
        id=new_id("rebuild"),
        knowledge_base_id=base.id,
        owner=base.owner,
        state="building",
        rereads=rereads,
        rolls_back="",
        from_model=base.embedding_model,
        to_model=wanted.model,
        from_chunking=base.chunking,
        to_chunking=wanted.chunking,
        from_lexical_id=lexical.id if rereads and lexical is not None else "",
        to_lexical_id=_new_lexical(tx, new_id, base) if rereads else "",
        from_vector_id=vector.id if vector is not None else "",
        to_vector_id=_new_vector(tx, new_id, base, wanted),
    )
    rebuilds.add(tx, made)
    return _switch_or_enqueue(tx, new_id, made)


def go_on(tx: Writing, new_id: NewId, running: Rebuild) -> Rebuild:
    """Let a rebuild go on that was interrupted or has failed."""
    if running.state == "failed":
        rebuilds.set_state(tx, running.id, "building")
        rebuilds.expect_vectors_again(tx, running)
    _enqueue(tx, new_id, "rebuild", running)
    return rebuilds.find(tx, running.id) or running


def roll_back(tx: Writing, new_id: NewId, base: KnowledgeBase) -> Rebuild:
    """Let the indexes answer again that the last rebuild replaced, when what has come since is in them too.

    With nothing to be made up for, they do when this returns. Raises `NothingToRollBack` where none
    are kept, and `RebuildRunning`.
    """
    last = rebuilds.switched(tx, base.id)
    running = rebuilds.unfinished(tx, base.id)
    if running is not None:
        if last is None or running.rolls_back != last.id:
            raise RebuildRunning(name=base.name)
        return go_on(tx, new_id, running)
    if last is None:
        raise NothingToRollBack(name=base.name)
    back = Rebuild(
        id=new_id("rebuild"),
        knowledge_base_id=base.id,
        owner=base.owner,
        state="building",
        rereads=last.rereads,
        rolls_back=last.id,
        from_model=last.to_model,
        to_model=last.from_model,
        from_chunking=last.to_chunking,
        to_chunking=last.from_chunking,
        from_lexical_id=last.to_lexical_id,
        to_lexical_id=last.from_lexical_id,
        from_vector_id=last.to_vector_id,
        to_vector_id=last.from_vector_id,
    )
    rebuilds.add(tx, back)
    if back.rereads:
        rebuilds.pair_back(tx, back)
    return _switch_or_enqueue(tx, new_id, back)


def cancel(tx: Writing, new_id: NewId, base: KnowledgeBase) -> Rebuild:
    """Give up what is being built aside; what answers has never changed. Raises `RebuildNotRunning`."""
    running = rebuilds.unfinished(tx, base.id)
    if running is None:
        raise RebuildNotRunning(name=base.name)
    give_up(tx, new_id, running)
    return running


def give_up(tx: Writing, new_id: NewId, running: Rebuild) -> None:
    """Stop a rebuild within one batch, and have what it made taken away."""
    rebuilds.set_state(tx, running.id, "cancelled", running.problem)
    for job in queue.of_subject(tx, "rebuild", running.id):
        queue.cancel_job(tx, job)
    _enqueue(tx, new_id, "purge", running)


def let_go_of(tx: Writing, new_id: NewId, base: KnowledgeBase) -> None:
    """Give up and drop whatever is beside the indexes that answer: the knowledge base goes."""
    running, last = rebuilds.unfinished(tx, base.id), rebuilds.switched(tx, base.id)
    if running is not None:
        give_up(tx, new_id, running)
    if last is not None:
        drop_replaced(tx, new_id, last)


def drop_replaced(tx: Writing, new_id: NewId, last: Rebuild) -> None:
    """Have the indexes taken away that a rebuild replaced: there is no way back from now on."""
    rebuilds.set_state(tx, last.id, "settled", last.problem)
    _enqueue(tx, new_id, "purge", last)


def enqueue_again(tx: Writing, new_id: NewId, rebuild_id: str) -> None:
    """Queue the job that a rebuild needs, if it needs one and has none: to be built, or to be taken away."""
    found = rebuilds.find(tx, rebuild_id)
    if found is not None and found.state in ("building", "cancelled", "settled"):
        _enqueue(tx, new_id, "rebuild" if found.state == "building" else "purge", found)


def drop_expired(database: Database, new_id: NewId, kept_ms: int) -> int:
    """Have the indexes taken away that were replaced long ago, and return of how many rebuilds."""
    with database.read() as tx:
        if not rebuilds.switched_before(tx, tx.now - kept_ms):
            return 0
    with database.write(durable=False) as tx:
        expired = [
            one
            for one in rebuilds.switched_before(tx, tx.now - kept_ms)
            if rebuilds.unfinished(tx, one.knowledge_base_id) is None
        ]
        for one in expired:
            drop_replaced(tx, new_id, one)
        return len(expired)


# --- The switch ----------------------------------------------------------------------------------


def switch_if_complete(tx: Writing, new_id: NewId, rebuild: Rebuild) -> bool:
    """Let the new indexes answer if nothing is missing in them, and say whether that is so."""
    if rebuild.rereads and rebuilds.unread(tx, rebuild, "", _ANY):
        return False
    if rebuild.to_vector_id and rebuilds.unembedded(tx, rebuild, "", _ANY):
        return False
    last = rebuilds.switched(tx, rebuild.knowledge_base_id)
    if last is not None:
        if rebuild.rolls_back == last.id:
            rebuilds.set_state(tx, last.id, "rolled-back", last.problem)
            rebuilds.forget_pairs(tx, last.id)
        else:
            drop_replaced(tx, new_id, last)
    rebuilds.switch(tx, rebuild)
    queue.change_gate(tx, rebuild.knowledge_base_id, rebuild.from_model, rebuild.to_model)
    if rebuild.rereads:
        _expect_rereading(tx, rebuild)
    replaced = rebuilds.find(tx, rebuild.id)
    if replaced is not None and not _is_whole(replaced):
        drop_replaced(tx, new_id, replaced)
    return True


def _is_whole(replaced: Rebuild) -> bool:
    """Whether what was replaced can be gone back to: a model that had made no vectors yet leaves none to keep."""
    has_vectors = replaced.from_vector_id != "" or replaced.from_model == ""
    return has_vectors and (replaced.from_lexical_id != "" or not replaced.rereads)


def _expect_rereading(tx: Writing, rebuild: Rebuild) -> None:
    """What was read by other rules than those of the moment is read again in place, by the next worker."""
    lexical = indexes.active(tx, rebuild.knowledge_base_id, "lexical")
    rules = rules_of(tx, rebuild.knowledge_base_id)
    if lexical is not None and not rereading.settle(tx, lexical, rules.fingerprint, rules.recipe):
        rereading.unsettle(tx, lexical)


def _switch_or_enqueue(tx: Writing, new_id: NewId, rebuild: Rebuild) -> Rebuild:
    if not switch_if_complete(tx, new_id, rebuild):
        _enqueue(tx, new_id, "rebuild", rebuild)
    return rebuilds.find(tx, rebuild.id) or rebuild


def _is_for(tx: Writing, running: Rebuild, wanted: Wanted) -> bool:
    """Whether a rebuild builds what is wanted."""
    generation = indexes.find(tx, running.to_vector_id)
    made_with = generation.fingerprint if generation is not None else ""
    is_same = (running.to_model, running.to_chunking, made_with) == (
        wanted.model,
        wanted.chunking,
        fingerprint(wanted.identity) if wanted.identity is not None else "",
    )
    return is_same and not running.rolls_back and (running.rereads or not wanted.rereads)


def _makes_other_vectors(base: KnowledgeBase, vector: IndexGeneration | None, wanted: Wanted) -> bool:
    if wanted.identity is None:
        return vector is not None or base.embedding_model != ""
    if vector is None:
        return base.embedding_model != wanted.model
    return vector.fingerprint != fingerprint(wanted.identity)


def _new_lexical(tx: Writing, new_id: NewId, base: KnowledgeBase) -> str:
    rules = rules_of(tx, base.id)
    made = indexes.create(tx, new_id("gen"), base.id, "lexical", "building", rules.fingerprint, rules.recipe)
    return made.id


def _new_vector(tx: Writing, new_id: NewId, base: KnowledgeBase, wanted: Wanted) -> str:
    if wanted.identity is None:
        return ""
    recipe = recipe_of(wanted.model, wanted.identity)
    print_of, dimensions = fingerprint(wanted.identity), wanted.identity.dimensions
    return indexes.create(tx, new_id("gen"), base.id, "vector", "building", print_of, recipe, dimensions).id


def _enqueue(tx: Writing, new_id: NewId, kind: JobKind, rebuild: Rebuild) -> None:
    priority = PRIORITY_REBUILD if kind == "rebuild" else PRIORITY_PURGE
    gate = rebuild.to_model if kind == "rebuild" else ""
    job_id, base_id = new_id("job"), rebuild.knowledge_base_id
    queue.enqueue(tx, job_id, kind, "rebuild", rebuild.id, base_id, rebuild.owner, priority, gate=gate)


# --- Taking away ---------------------------------------------------------------------------------


def purge_rebuild(database: Database, new_id: NewId, work: Work) -> None:
    """Take away, in batches, what a rebuild made and gave up, or what it replaced; repeating it does no harm."""
    with database.read() as tx:
        found = rebuilds.find(tx, work.lease.job.subject_id)
    if found is not None and found.state == "cancelled":
        # Of a rollback, the indexes are those that another rebuild replaced.
        if not found.rolls_back:
            _drop(database, work, found.to_vector_id)
            _drop(database, work, found.to_lexical_id)
        _let_go(database, new_id, work, found, rebuilds.made_revisions)
    elif found is not None and found.state == "settled":
        _drop(database, work, found.from_vector_id)
        _drop(database, work, found.from_lexical_id)
        _let_go(database, new_id, work, found, rebuilds.replaced_revisions)
    with database.write(durable=False) as tx:
        work.hold(tx)
        if found is not None:
            rebuilds.forget_pairs(tx, found.id)
        queue.finish(tx, work.lease)


def _drop(database: Database, work: Work, generation_id: str) -> None:
    left = True
    while left:
        with database.write(durable=False) as tx:
            work.hold(tx)
            left = purging.drop_generation_batch(tx, generation_id)


def _let_go(
    database: Database,
    new_id: NewId,
    work: Work,
    rebuild: Rebuild,
    find: Callable[[Reading, str, int], list[str]],
) -> None:
    """Let go of revisions, each to be purged by a job of its own."""
    job = work.lease.job
    left = True
    while left:
        with database.write(durable=False) as tx:
            work.hold(tx)
            page = find(tx, rebuild.id, _REVISIONS_AT_ONCE)
            for revision_id in page:
                rebuilds.supersede(tx, revision_id)
                queue.enqueue(
                    tx,
                    new_id("job"),
                    "purge",
                    "revision",
                    revision_id,
                    job.knowledge_base_id,
                    job.owner,
                    PRIORITY_PURGE,
                )
            left = bool(page)


def fail(tx: Writing, rebuild_id: str, problem: Problem) -> None:
    """Record why a rebuild does not get further; what answers has never changed."""
    found = rebuilds.find(tx, rebuild_id)
    if found is not None and found.state == "building":
        rebuilds.set_state(tx, rebuild_id, "failed", problem)


def stop(tx: Writing, new_id: NewId, rebuild_id: str) -> None:
    """Give a rebuild up whose job was cancelled."""
    found = rebuilds.find(tx, rebuild_id)
    if found is not None and found.state in ("building", "failed"):
        give_up(tx, new_id, found)
