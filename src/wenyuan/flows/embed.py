"""Giving a revision its vectors, batch by batch, each committed as soon as it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from wenyuan.errors import ConfigurationError, IndexIncompatible
from wenyuan.flows.publish import is_waiting, publish_waiting
from wenyuan.flows.work import Work
from wenyuan.ports import Embedder, Vectors
from wenyuan.rules.embedding_input import batches, embedding_input
from wenyuan.store import documents, indexes, knowledge_bases, queue, vectors
from wenyuan.store.database import Database, Writing
from wenyuan.store.rows import to_json
from wenyuan.types import Document, IndexGeneration, JsonObject, ModelIdentity, Revision

_WINDOW_CHUNKS = 256


@dataclass(frozen=True, slots=True)
class Embedding:
    """What embedding needs; `model_of` names the model that made an index, `embedder_for` gives one by name."""

    database: Database
    embedder_for: Callable[[str], Embedder]
    model_of: Callable[[IndexGeneration], str]
    seconds_for: Callable[[str], float]
    """How long one call to a model may take."""
    new_id: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Destination:
    """The index that vectors are made for, and the model that makes them."""

    generation: IndexGeneration
    model_key: int
    embedder: Embedder
    call_seconds: float


@dataclass(frozen=True, slots=True)
class _Target:
    document: Document
    revision: Revision
    to: Destination
    done: int


# --- Which model made what -----------------------------------------------------------------------


def fingerprint(identity: ModelIdentity) -> str:
    """Digest of everything that decides a model's vectors."""
    return hashlib.sha256(to_json(identity).encode()).hexdigest()


def recipe_of(model: str, identity: ModelIdentity) -> JsonObject:
    """The recipe of an index whose vectors a model makes that is configured under this name."""
    return {"model": model, "identity": asdict(identity)}


def find_model(generation: IndexGeneration, names: Iterable[str], embedder_for: Callable[[str], Embedder]) -> str:
    """The name of the configured model that made an index: of that name, or else one that is the same but for its name.

    Raises `IndexIncompatible` where there is none, or what keeps the one of that name from being used.
    """
    made_by = str(generation.recipe.get("model", ""))
    known = sorted(names, key=lambda name: name != made_by)
    wanted = _nameless(ModelIdentity(**generation.recipe["identity"])) if "identity" in generation.recipe else None
    alike = []
    for name in known:
        try:
            identity = embedder_for(name).identity
        except ConfigurationError:
            continue
        if fingerprint(identity) == generation.fingerprint:
            return name
        if _nameless(identity) == wanted:
            alike.append(name)
    if alike:
        return alike[0]
    embedder_for(made_by)
    raise IndexIncompatible(indexed=made_by, configured=made_by)


def _nameless(identity: ModelIdentity) -> ModelIdentity:
    return replace(identity, provider="")


# --- Making vectors ------------------------------------------------------------------------------


def made_vectors(
    database: Database, to: Destination, revision_ids: Sequence[str]
) -> Iterator[tuple[Sequence[bytes], Vectors]]:
    """Embed the texts of revisions that have no vector yet, batch by batch, as (hashes, vectors).

    Similar lengths go together: a model that pads its batches wastes least that way. Raises `ProviderError`.
    """
    for inputs in _windows(database, to.model_key, revision_ids):
        ordered = ((pair, len(pair[1])) for pair in sorted(inputs.items(), key=lambda pair: len(pair[1])))
        for batch in batches(ordered, to.embedder.max_batch_texts, to.embedder.max_batch_characters):
            texts = [text for _, text in batch]
            yield [input_hash for input_hash, _ in batch], to.embedder.embed(texts, "passage", to.call_seconds)


def _windows(database: Database, model_key: int, revision_ids: Sequence[str]) -> Iterator[dict[bytes, str]]:
    """The texts that have no vector yet, by their hashes, some hundreds at a time."""
    window: dict[bytes, str] = {}
    for revision_id in revision_ids:
        after: int | None = -1
        while after is not None:
            with database.read() as tx:
                found = vectors.missing(tx, model_key, revision_id, after, _WINDOW_CHUNKS)
            window |= {one.input_hash: embedding_input(one.heading_path, one.context, one.text) for _, one in found}
            after = found[-1][0] if len(found) == _WINDOW_CHUNKS else None
            if len(window) >= _WINDOW_CHUNKS:
                yield window
                window = {}
    if window:
        yield window


def show_vectors(tx: Writing, to: Destination, document_id: str, revision_id: str, total: int) -> None:
    """Let the vector list see a revision all of whose vectors are there."""
    vectors.pack(tx, to.generation.id, to.model_key, revision_id, to.generation.dimensions)
    indexes.record_progress(tx, to.generation.id, revision_id, "ready", total, total)
    indexes.announce(tx, to.generation, document_id)


def embed(tools: Embedding, work: Work) -> None:
    """Embed what has no vector yet, then show the revision to the vector list; one that waits for that is published.

    Raises `ProviderError` where the model fails, `IndexIncompatible` where no configured model is the
    one that the index was made with.
    """
    while (target := _begin(tools, work)) is not None:
        total, done = target.revision.chunk_count, target.done
        for hashes, made in made_vectors(tools.database, target.to, [target.revision.id]):
            with tools.database.write(durable=False) as tx:
                work.hold(tx)
                vectors.save(tx, target.to.model_key, hashes, made)
                done = min(done + len(hashes), total)
                indexes.record_progress(tx, target.to.generation.id, target.revision.id, "pending", done, total)
                work.progress(tx, "embedding", done, total)
        if _complete(tools, work, target):
            return


def _begin(tools: Embedding, work: Work) -> _Target | None:
    """None where there is nothing to do any more."""
    while True:
        with tools.database.read() as tx:
            found = documents.revision(tx, work.lease.job.subject_id)
            base_id = work.lease.job.knowledge_base_id if found is None else found[0].knowledge_base_id
            base = knowledge_bases.by_id(tx, base_id)
            generation = indexes.active(tx, base.id, "vector")
        is_wanted = found is not None and (found[0].serving_revision_id == found[1].id or is_waiting(found[1]))
        if found is None or not is_wanted or not base.embedding_model:
            _end(tools, work, base.embedding_model)
            return None
        name = base.embedding_model if generation is None else tools.model_of(generation)
        target = _target(tools, work, found[0], found[1], name, generation)
        if target is not None:
            return target


def _end(tools: Embedding, work: Work, model: str) -> None:
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        if not model:
            publish_waiting(tx, tools.new_id, work.lease.job.subject_id, without_vectors=False)
        queue.finish(tx, work.lease)


def _target(
    tools: Embedding, work: Work, document: Document, revision: Revision, name: str, expected: IndexGeneration | None
) -> _Target | None:
    """Begin to embed a revision; None where another index has taken the place of the expected one."""
    embedder = tools.embedder_for(name)
    identity = embedder.identity
    wanted = fingerprint(identity) if expected is None else expected.fingerprint
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        base_id, total = document.knowledge_base_id, revision.chunk_count
        generation = indexes.ensure_active(
            tx, tools.new_id("gen"), base_id, "vector", wanted, recipe_of(name, identity), identity.dimensions
        )
        if generation.fingerprint != wanted:
            return None
        key = vectors.model_key(tx, wanted, identity, to_json(identity))
        done = total - vectors.count_missing(tx, key, revision.id)
        indexes.record_progress(tx, generation.id, revision.id, "pending", done, total)
        work.progress(tx, "embedding", done, total)
    return _Target(document, revision, Destination(generation, key, embedder, tools.seconds_for(name)), done)


def _complete(tools: Embedding, work: Work, target: _Target) -> bool:
    """Show the revision to the vector list and publish it if it waits; False where another index answers by now."""
    to, revision = target.to, target.revision
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        answering = indexes.active(tx, target.document.knowledge_base_id, "vector")
        if answering is None or answering.id != to.generation.id:
            return False
        show_vectors(tx, to, target.document.id, revision.id, revision.chunk_count)
        publish_waiting(tx, tools.new_id, revision.id, without_vectors=False)
        queue.finish(tx, work.lease)
        return True
