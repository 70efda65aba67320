"""Giving a published revision its vectors, batch by batch, each committed as soon as it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from wenyuan.errors import IndexIncompatible
from wenyuan.flows.work import Work
from wenyuan.ports import Embedder
from wenyuan.rules.embedding_input import batches, embedding_input
from wenyuan.store import documents, indexes, knowledge_bases, queue, vectors
from wenyuan.store.database import Database
from wenyuan.store.rows import to_json
from wenyuan.types import Document, IndexGeneration, ModelIdentity, Revision

_WINDOW_CHUNKS = 256


@dataclass(frozen=True, slots=True)
class Embedding:
    """What embedding needs; `embedder_for` finds the model a knowledge base names."""

    database: Database
    embedder_for: Callable[[str], Embedder]
    seconds_for: Callable[[str], float]
    """How long one call to a model may take."""
    new_id: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Target:
    document: Document
    revision: Revision
    generation: IndexGeneration
    model_key: int
    done: int
    call_seconds: float


def fingerprint(identity: ModelIdentity) -> str:
    """Digest of everything that decides a model's vectors."""
    return hashlib.sha256(to_json(identity).encode()).hexdigest()


def embed(tools: Embedding, work: Work) -> None:
    """Embed what has no vector yet, then make the revision visible to the vector list.

    Raises `ProviderError` where the model fails, `IndexIncompatible` where the configured model is
    not the one the index was made with.
    """
    embedder, target = _begin(tools, work)
    if target is None or embedder is None:
        return
    total, done = target.revision.chunk_count, target.done
    for batch in _batches(tools, target, embedder):
        made = embedder.embed([text for _, text in batch], "passage", target.call_seconds)
        with tools.database.write(durable=False) as tx:
            work.hold(tx)
            vectors.save(tx, target.model_key, [input_hash for input_hash, _ in batch], made)
            done = min(done + len(batch), total)
            indexes.record_progress(tx, target.generation.id, target.revision.id, "pending", done, total)
            work.progress(tx, "embedding", done, total)
    _complete(tools, work, target)


def _begin(tools: Embedding, work: Work) -> tuple[Embedder | None, _Target | None]:
    with tools.database.read() as tx:
        found = documents.revision(tx, work.lease.job.subject_id)
        model = knowledge_bases.by_id(tx, work.lease.job.knowledge_base_id).embedding_model
    if found is None or not model or found[0].serving_revision_id != found[1].id:
        with tools.database.write(durable=False) as tx:
            work.hold(tx)
            queue.finish(tx, work.lease)
        return None, None
    document, revision, _ = found
    embedder = tools.embedder_for(model)
    identity = embedder.identity
    wanted = fingerprint(identity)
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        generation = indexes.ensure_active(
            tx,
            tools.new_id("gen"),
            document.knowledge_base_id,
            "vector",
            wanted,
            {"model": model, "identity": asdict(identity)},
            identity.dimensions,
        )
        if generation.fingerprint != wanted:
            raise IndexIncompatible(indexed=generation.recipe.get("model"), configured=model)
        key = vectors.model_key(tx, wanted, identity, to_json(identity))
        done = revision.chunk_count - vectors.count_missing(tx, key, revision.id)
        indexes.record_progress(tx, generation.id, revision.id, "pending", done, revision.chunk_count)
        work.progress(tx, "embedding", done, revision.chunk_count)
    return embedder, _Target(document, revision, generation, key, done, tools.seconds_for(model))


def _batches(tools: Embedding, target: _Target, embedder: Embedder) -> Iterator[list[tuple[bytes, str]]]:
    """Inputs without a vector, similar lengths together: a model that pads its batches wastes least that way."""
    after = -1
    while True:
        with tools.database.read() as tx:
            window = vectors.missing(tx, target.model_key, target.revision.id, after, _WINDOW_CHUNKS)
        if not window:
            return
        after = window[-1][0]
        inputs = {item.input_hash: embedding_input(item.heading_path, item.context, item.text) for _, item in window}
        ordered = sorted(inputs.items(), key=lambda pair: len(pair[1]))
        yield from batches(
            ((pair, len(pair[1])) for pair in ordered), embedder.max_batch_texts, embedder.max_batch_characters
        )


def _complete(tools: Embedding, work: Work, target: _Target) -> None:
    total = target.revision.chunk_count
    with tools.database.write(durable=False) as tx:
        work.hold(tx)
        vectors.pack(tx, target.generation.id, target.model_key, target.revision.id, target.generation.dimensions)
        indexes.record_progress(tx, target.generation.id, target.revision.id, "ready", total, total)
        indexes.announce(tx, target.generation, target.document.id)
        queue.finish(tx, work.lease)
