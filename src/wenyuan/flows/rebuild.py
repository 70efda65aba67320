"""Making indexes beside those that answer, and the switch.

A rebuild is one job. It embeds what the new vector index does not see yet; where documents are cut or
read anew as well, it first makes a revision of each from its stored bytes. What comes in meanwhile is
indexed by its own jobs for those that answer, and found missing here. When nothing is missing, one
transaction switches. Everything is committed in batches, so that the next worker goes on where one
was killed, and gives way to more urgent work between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wenyuan.errors import (
    DimensionMismatch,
    IndexIncompatible,
    LeaseLost,
    ModelRefusesAll,
    ProviderError,
    ProviderUnavailable,
)
from wenyuan.flows.embed import Destination, Embedding, made_vectors, show_vectors
from wenyuan.flows.generations import switch_if_complete
from wenyuan.flows.read_aside import read_aside
from wenyuan.flows.stage import Staging
from wenyuan.flows.work import Work
from wenyuan.store import indexes, knowledge_bases, queue, rebuilds, vectors
from wenyuan.store.database import Database, Writing
from wenyuan.store.rebuilds import Rebuild
from wenyuan.store.rows import to_json
from wenyuan.types import ModelIdentity

_REVISIONS_TOGETHER = 64
_PASSAGES_TOGETHER = 256
_MODEL_AT_FAULT = 3
"""So many documents whose text a model refuses, and none that it takes, mean that it would refuse all."""

_Group = Sequence[tuple[str, str, int]]
"""Revisions with their documents and how many passages they have."""


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """What a rebuild needs."""

    staging: Staging
    embedding: Embedding

    @property
    def database(self) -> Database:
        return self.staging.database


class _Run:
    """One worker's hold on a rebuild, and how far it is."""

    def __init__(self, tools: Rebuilding, work: Work, rebuild: Rebuild) -> None:
        self.tools = tools
        self.work = work
        self.rebuild = rebuild
        self._done = 0
        self._total = 0

    def count(self, tx: Writing) -> None:
        """Look how far the rebuild is."""
        reached = rebuilds.reached(tx, self.rebuild)
        self._done = reached.embedded + (reached.read if self.rebuild.rereads else 0)
        self._total = reached.passages + (reached.documents if self.rebuild.rereads else 0)

    def advance(self, tx: Writing, stage: str, by: int) -> None:
        self._done += by
        self._total = max(self._total, self._done)
        self.work.progress(tx, stage, self._done, self._total)

    def give_way(self) -> None:
        """Hand the job back if other work is more urgent; raises `LeaseLost` then."""
        job = self.work.lease.job
        gates = ("", self.rebuild.from_model, self.rebuild.to_model)
        with self.tools.database.read() as tx:
            if not queue.has_more_urgent(tx, job.priority, gates):
                return
        with self.tools.database.write(durable=False) as tx:
            self.work.hold(tx)
            queue.release(tx, self.work.lease)
        raise LeaseLost(job=job.id)


def rebuild(tools: Rebuilding, work: Work) -> None:
    """Make what is missing in the new indexes, and let them answer when nothing is.

    Raises `ProviderError` or `ConfigurationError` where the model fails, and `LeaseLost` where the job
    was handed back for more urgent ones.
    """
    run = _begin(tools, work)
    if run is None:
        return
    to = _destination(tools, run.rebuild)
    while not _switch(run):
        if run.rebuild.rereads:
            _read_all(run)
        if to is not None:
            _embed_all(run, to)
            _refuse_to_switch_to_nothing(run)


def _begin(tools: Rebuilding, work: Work) -> _Run | None:
    """None where there is nothing to do any more."""
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        found = rebuilds.find(tx, work.lease.job.subject_id)
        if found is None or found.state != "building" or not knowledge_bases.is_there(tx, found.knowledge_base_id):
            queue.finish(tx, work.lease)
            return None
        run = _Run(tools, work, found)
        run.count(tx)
        run.advance(tx, "reading" if found.rereads else "embedding", 0)
        return run


def _read_all(run: _Run) -> None:
    """Make a revision of each document that was not read as it is now."""
    for _ in read_aside(run.tools.staging, run.work, run.rebuild):
        with run.tools.database.write(durable=False) as tx:
            run.work.hold(tx)
            run.advance(tx, "reading", 1)
        run.give_way()


def _destination(tools: Rebuilding, rebuild: Rebuild) -> Destination | None:
    """The new vector index and the model that makes its vectors; None where there is to be none."""
    if not rebuild.to_vector_id:
        return None
    with tools.database.read() as tx:
        generation = indexes.find(tx, rebuild.to_vector_id)
    if generation is None:
        raise IndexIncompatible(indexed=rebuild.to_model, configured=rebuild.to_model)
    name = tools.embedding.model_of(generation)
    embedder = tools.embedding.embedder_for(name)
    identity = ModelIdentity(**generation.recipe["identity"])
    with tools.database.write(durable=False) as tx:
        key = vectors.model_key(tx, generation.fingerprint, identity, to_json(identity))
    return Destination(generation, key, embedder, tools.embedding.seconds_for(name))


# --- Embedding -----------------------------------------------------------------------------------


def _embed_all(run: _Run, to: Destination) -> None:
    """Embed what the new index does not see; a text that the model refuses costs its document the vectors."""
    refused = 0
    for group in _groups(run):
        for part in [group] if len(group) == 1 else [group, *([one] for one in group)]:
            try:
                _embed(run, to, part)
            except (ProviderUnavailable, DimensionMismatch):
                raise
            except ProviderError as error:
                if len(part) > 1:
                    continue
                refused += 1
                if refused >= _MODEL_AT_FAULT:
                    raise
                _record_refusal(run, to, part[0][0], error)
            else:
                refused = 0
                if len(part) > 1:
                    break


def _refuse_to_switch_to_nothing(run: _Run) -> None:
    with run.tools.database.read() as tx:
        reached = rebuilds.reached(tx, run.rebuild)
    if reached.failed and not reached.embedded:
        raise ModelRefusesAll(model=run.rebuild.to_model)


def _groups(run: _Run) -> Iterator[_Group]:
    """Revisions that the new index does not see, so many that their passages fill some batches."""
    after = ""
    while True:
        with run.tools.database.read() as tx:
            page = rebuilds.unembedded(tx, run.rebuild, after, _REVISIONS_TOGETHER)
        if not page:
            return
        group: list[tuple[str, str, int]] = []
        for one in page:
            if group and sum(passages for _, _, passages in group) + one[2] > _PASSAGES_TOGETHER:
                yield group
                group = []
            group.append(one)
        yield group
        after = page[-1][0]


def _embed(run: _Run, to: Destination, group: _Group) -> None:
    database, work = run.tools.database, run.work
    counted = _counted_before(run, to, group)
    for made in made_vectors(database, to, [revision for revision, _, _ in group]):
        counted += made.embedded
        with database.write(durable=False) as tx:
            work.hold(tx)
            made.save(tx, to.model_key)
            if len(group) == 1 and rebuilds.is_wanted(tx, run.rebuild, group[0][1], group[0][0]):
                revision, _, passages = group[0]
                indexes.record_progress(tx, to.generation.id, revision, "pending", min(counted, passages), passages)
            run.advance(tx, "embedding", made.embedded)
        run.give_way()
    with database.write(durable=False) as tx:
        work.hold(tx)
        for revision, document, passages in group:
            # It may have been replaced, or deleted, and purged, while the model was at work.
            if rebuilds.is_wanted(tx, run.rebuild, document, revision):
                show_vectors(tx, to, document, revision, passages)
        run.advance(tx, "embedding", max(0, sum(passages for _, _, passages in group) - counted))


def _counted_before(run: _Run, to: Destination, group: _Group) -> int:
    """How many passages of a group an earlier attempt has embedded; of several small documents it is not recorded."""
    if len(group) > 1:
        return 0
    with run.tools.database.read() as tx:
        return indexes.count_done(tx, to.generation.id, group[0][0])


def _record_refusal(run: _Run, to: Destination, revision_id: str, error: ProviderError) -> None:
    problem = error.problem("embedding", run.work.lease.job.attempts)
    with run.tools.database.write(durable=False) as tx:
        run.work.hold(tx)
        indexes.record_progress(tx, to.generation.id, revision_id, "failed", 0, 0, problem)
        rebuilds.note_problem(tx, run.rebuild.id, problem)


# --- The switch ----------------------------------------------------------------------------------


def _switch(run: _Run) -> bool:
    """Switch if nothing is missing, and say whether that is so."""
    with run.tools.database.write() as tx:
        run.work.hold(tx)
        if not switch_if_complete(tx, run.tools.staging.new_id, run.rebuild):
            return False
        queue.finish(tx, run.work.lease)
        return True
