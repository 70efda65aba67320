"""Giving a revision its vectors, batch by batch, each committed as soon as it is there."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from wenyuan.errors import ConfigurationError, IndexIncompatible, JobCancelled, LeaseLost, ProviderRefused
from wenyuan.flows.publish import is_waiting, publish_waiting
from wenyuan.flows.work import Failure, Work
from wenyuan.ports import Embedder, Vectors
from wenyuan.rules.embedding_input import MOST_SENTENCES, batches, embedding_input, sentence_inputs
from wenyuan.store import documents, indexes, knowledge_bases, queue, sentence_codes, vectors
from wenyuan.store.database import Database, Writing
from wenyuan.store.rows import to_json
from wenyuan.types import Document, IndexGeneration, JsonObject, ModelIdentity, Revision

_WINDOW_CHUNKS = 256
_TEXT_REFUSED = frozenset((400, 413, 422))
"""What a service answers where it is the text that it does not take, and not whoever asks."""


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


@dataclass(frozen=True, slots=True)
class _Input:
    """A text to embed, or that has been, and its sentences."""

    input_hash: bytes
    text: str
    has_vector: bool
    sentences: Sequence[str]


@dataclass(frozen=True, slots=True)
class Made:
    """What one call to a model made of some texts: their vectors, or else the codes of their sentences."""

    hashes: Sequence[bytes]
    vectors: Vectors | None = None
    sentences: Sequence[bytes] = ()

    @property
    def embedded(self) -> int:
        """How many texts got their vector."""
        return 0 if self.vectors is None else len(self.hashes)

    def save(self, tx: Writing, model_key: int) -> None:
        """Store it, of texts that nobody uses any more nothing."""
        kept = vectors.used(tx, self.hashes)
        hashes = list(itertools.compress(self.hashes, kept))
        if self.vectors is not None:
            vectors.save(tx, model_key, hashes, self.vectors[kept])
        else:
            codes = itertools.compress(self.sentences, kept)
            vectors.save_sentences(tx, model_key, dict(zip(hashes, codes, strict=True)))


_Group = list[tuple[Work, _Target]]
"""Jobs whose vectors are made for one index, by one model."""


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


def made_vectors(database: Database, to: Destination, revision_ids: Sequence[str]) -> Iterator[Made]:
    """Embed the texts of revisions that have no vector yet, then their sentences where the model does, call by call.

    Texts of similar lengths go together: a model that pads its batches wastes least that way. Raises `ProviderError`.
    """
    embedder = to.embedder
    for inputs in _windows(database, to, revision_ids):
        lacking = sorted((one for one in inputs if not one.has_vector), key=lambda one: len(one.text))
        ordered = ((one, len(one.text)) for one in lacking)
        for batch in batches(ordered, embedder.max_batch_texts, embedder.max_batch_characters):
            made = embedder.embed([one.text for one in batch], "passage", to.call_seconds)
            yield Made([one.input_hash for one in batch], made)
        if embedder.embeds_sentences:
            yield from _made_sentences(to, inputs)


def _made_sentences(to: Destination, inputs: Sequence[_Input]) -> Iterator[Made]:
    """The sentences of each passage in one call, so that every call brings something that is kept.

    Of a passage that is but one sentence there are none, nor where they are too long for a call, or refused.
    """
    embedder = to.embedder
    sized = [(one, sum(map(len, one.sentences))) for one in inputs]
    most = embedder.max_batch_characters
    without = [one for one, characters in sized if not 0 < characters <= most]
    if without:
        yield _without(*without)
    fitting = [(one, characters) for one, characters in sized if 0 < characters <= most]
    for batch in batches(fitting, embedder.max_batch_texts, most, lambda one: len(one.sentences)):
        made = _with_codes(to, batch)
        # What the model does not take is found by its passage, which it took.
        yield from [made] if made is not None else ((_with_codes(to, [one]) or _without(one)) for one in batch)


def _with_codes(to: Destination, batch: Sequence[_Input]) -> Made | None:
    """None where the model does not take one of the texts."""
    said = [sentence for one in batch for sentence in one.sentences]
    try:
        rows = to.embedder.embed(said, "passage", to.call_seconds)
    except ProviderRefused as error:
        if error.details["status"] not in _TEXT_REFUSED:
            raise
        return None
    ends = itertools.accumulate((len(one.sentences) for one in batch), initial=0)
    codes = [sentence_codes.encode(rows[start:end]) for start, end in itertools.pairwise(ends)]
    return Made([one.input_hash for one in batch], sentences=codes)


def _without(*inputs: _Input) -> Made:
    return Made([one.input_hash for one in inputs], sentences=[b""] * len(inputs))


def _windows(database: Database, to: Destination, revision_ids: Sequence[str]) -> Iterator[list[_Input]]:
    """The texts that lack a vector, or the vectors of their sentences, each once, some hundreds at a time."""
    window: dict[bytes, _Input] = {}
    with_sentences = to.embedder.embeds_sentences
    most = min(MOST_SENTENCES, to.embedder.max_batch_texts)
    for revision_id in revision_ids:
        after: int | None = -1
        while after is not None:
            with database.read() as tx:
                found = vectors.missing(tx, to.model_key, revision_id, after, _WINDOW_CHUNKS, sentences=with_sentences)
            for _, one in found:
                text = embedding_input(one.heading_path, one.context, one.text)
                sentences = sentence_inputs(one.heading_path, one.text, most) if with_sentences else ()
                window[one.input_hash] = _Input(one.input_hash, text, one.has_vector, sentences)
            after = found[-1][0] if len(found) == _WINDOW_CHUNKS else None
            if len(window) >= _WINDOW_CHUNKS:
                yield list(window.values())
                window = {}
    if window:
        yield list(window.values())


def show_vectors(tx: Writing, to: Destination, document_id: str, revision_id: str, total: int) -> None:
    """Let the vector list see a revision all of whose vectors are there."""
    vectors.pack(tx, to.generation.id, to.model_key, revision_id, to.generation.dimensions)
    indexes.record_progress(tx, to.generation.id, revision_id, "ready", total, total)
    indexes.announce(tx, to.generation, document_id)


def embed(tools: Embedding, works: Sequence[Work]) -> list[Failure]:
    """Embed what has no vector yet; then show the revisions to the vector list, and publish those that wait for that.

    Revisions that were taken together share calls to the model. Returns the jobs that were cancelled
    or taken over. Raises `ProviderError` where the model fails, `IndexIncompatible` where no
    configured model is the one that the index was made with.
    """
    failures: list[Failure] = []
    left = list(works)
    while left:
        groups: dict[str, _Group] = {}
        for work in left:
            with _noting(failures, work):
                target = _begin(tools, work)
                if target is not None:
                    groups.setdefault(target.to.generation.id, []).append((work, target))
        left = [work for group in groups.values() for work in _embed_group(tools, group, failures)]
    return failures


@contextmanager
def _noting(failures: list[Failure], work: Work) -> Iterator[None]:
    """Note that a job may not go on; the others of its group do."""
    try:
        yield
    except (JobCancelled, LeaseLost) as error:
        failures.append((work, error))


def _embed_group(tools: Embedding, group: _Group, failures: list[Failure]) -> list[Work]:
    """Embed revisions for one index; returns those to be done again, since another index answers by now."""
    to = group[0][1].to
    for made in made_vectors(tools.database, to, [target.revision.id for _, target in group]):
        with tools.database.write(durable=False) as tx:
            group = _held(tx, group, failures)
            if not group:
                return []
            made.save(tx, to.model_key)
            for work, target in group:
                total = target.revision.chunk_count
                done = total - vectors.count_missing(tx, to.model_key, target.revision.id)
                indexes.record_progress(tx, to.generation.id, target.revision.id, "pending", done, total)
                work.progress(tx, "embedding", done, total)
    return _complete(tools, group, failures)


def _held(tx: Writing, group: _Group, failures: list[Failure]) -> _Group:
    """Those whose jobs may go on."""
    held: _Group = []
    for work, target in group:
        with _noting(failures, work):
            work.hold(tx)
            held.append((work, target))
    return held


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
    return _Target(document, revision, Destination(generation, key, embedder, tools.seconds_for(name)))


def _complete(tools: Embedding, group: _Group, failures: list[Failure]) -> list[Work]:
    """Show revisions to the vector list and publish those that wait; returns those that another index answers for."""
    again = []
    with tools.database.write(durable=False) as tx:
        for work, target in _held(tx, group, failures):
            to, revision = target.to, target.revision
            answering = indexes.active(tx, target.document.knowledge_base_id, "vector")
            if answering is None or answering.id != to.generation.id:
                again.append(work)
                continue
            show_vectors(tx, to, target.document.id, revision.id, revision.chunk_count)
            publish_waiting(tx, tools.new_id, revision.id, without_vectors=False)
            queue.finish(tx, work.lease)
    return again
