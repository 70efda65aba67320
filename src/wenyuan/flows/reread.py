"""Reading stored chunks again by today's rules: new postings and keys in place, text and vectors untouched.

What was read before goes on answering until the new takes its place, batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wenyuan.flows.priorities import PRIORITY_REREAD
from wenyuan.flows.work import Work
from wenyuan.language import RULE_SET_VERSION
from wenyuan.language.keys import document_keys
from wenyuan.language.postings import read_chunk
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.store import documents, indexes, knowledge_bases, queue, rereading
from wenyuan.store.database import Database, Reading, Writing
from wenyuan.types import Document, IndexGeneration, JsonObject, KnowledgeBase, Revision

_BATCH_CHUNKS = 256
_ENQUEUED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Rules:
    """By what the documents of a knowledge base are to be read: this program's rules and its people's terms."""

    vocabulary: Vocabulary

    @property
    def fingerprint(self) -> str:
        return "+".join(filter(None, (RULE_SET_VERSION, self.vocabulary.index_fingerprint)))

    @property
    def recipe(self) -> JsonObject:
        return {"rules": RULE_SET_VERSION, "terms": self.vocabulary.terms}


@dataclass(frozen=True, slots=True)
class _Target:
    document: Document
    revision: Revision
    generation: IndexGeneration
    rules: Rules
    first: int


def rules_of(tx: Reading, knowledge_base_id: str) -> Rules:
    return Rules(knowledge_bases.vocabulary(tx, knowledge_base_id))


def question_vocabulary(tx: Reading, knowledge_base_id: str) -> Vocabulary:
    """The vocabulary to read a question with: every synonym, and the terms that all documents were read with.

    A question asks for a term whole, which a document that was read before it was added does not hold.
    """
    wanted = knowledge_bases.vocabulary(tx, knowledge_base_id)
    if not wanted.terms:
        return wanted
    generation = indexes.active(tx, knowledge_base_id, "lexical")
    known = frozenset(generation.recipe.get("terms", ()) if generation is not None else ())
    if known.issuperset(wanted.terms):
        return wanted
    return Vocabulary(tuple(term for term in wanted.terms if term in known), wanted.synonyms)


def count_behind(tx: Reading, knowledge_base_id: str) -> int:
    """How many documents of a knowledge base were read by other rules than those of today."""
    return _count(tx, knowledge_base_id, rereading.count_behind)


def forgotten_rereading(tx: Reading, knowledge_base_id: str) -> int:
    """How many of them no job will read again."""
    return _count(tx, knowledge_base_id, rereading.forgotten)


def _count(tx: Reading, knowledge_base_id: str, count: Callable[[Reading, IndexGeneration, str], int]) -> int:
    generation = indexes.active(tx, knowledge_base_id, "lexical")
    rules = rules_of(tx, knowledge_base_id).fingerprint
    return 0 if generation is None or generation.fingerprint == rules else count(tx, generation, rules)


def enqueue_rereading(
    database: Database,
    new_id: Callable[[str], str],
    knowledge_base: KnowledgeBase,
    path: str = "",
    *,
    everything: bool = False,
) -> int:
    """Queue a job for each document that was read by other rules, and return how many there are.

    With a `path`, only for those whose source begins with it; with `everything`, whatever they were read by.
    """
    with database.read() as tx:
        generation = indexes.active(tx, knowledge_base.id, "lexical")
    if generation is None:
        return 0
    if everything:
        with database.write() as tx:
            rereading.expire(tx, generation, path)
    count, after = 0, ""
    while True:
        with database.write() as tx:
            rules = rules_of(tx, knowledge_base.id)
            page = rereading.behind(tx, generation, rules.fingerprint, after, _ENQUEUED_AT_ONCE, path)
            for revision_id in page:
                queue.enqueue(
                    tx,
                    new_id("job"),
                    "reread",
                    "revision",
                    revision_id,
                    knowledge_base.id,
                    knowledge_base.owner,
                    PRIORITY_REREAD,
                )
            if not page:
                rereading.settle(tx, generation, rules.fingerprint, rules.recipe)
                return count
        count, after = count + len(page), page[-1]


def catch_up(database: Database, new_id: Callable[[str], str], knowledge_base: KnowledgeBase) -> int:
    """Queue what is behind, if anything is: for a worker that begins."""
    with database.read() as tx:
        generation = indexes.active(tx, knowledge_base.id, "lexical")
        is_current = generation is None or generation.fingerprint == rules_of(tx, knowledge_base.id).fingerprint
    return 0 if is_current else enqueue_rereading(database, new_id, knowledge_base)


def reread(database: Database, work: Work) -> None:
    """Read one served revision again, by the rules of the moment; once more if they change meanwhile."""
    while (target := _begin(database, work)) is not None:
        if _read_all(database, work, target):
            return


def _read_all(database: Database, work: Work, target: _Target) -> bool:
    """Read a revision's chunks again, and say whether that was all there is to do."""
    document, revision = target.document, target.revision
    seq = target.first
    while True:
        with database.read() as tx:
            stored = rereading.chunks_from(tx, revision.id, seq, _BATCH_CHUNKS)
        read = [(key, *read_chunk(document.name, chunk, target.rules.vocabulary)) for key, chunk in stored]
        seq += len(read)
        with database.write(durable=False) as tx:
            work.hold(tx)
            work.progress(tx, "rereading", seq, revision.chunk_count)
            is_done = len(stored) < _BATCH_CHUNKS and _end(tx, work, target)
            if read:
                postings = [(key, posting) for key, posting, _ in read]
                found = ((one, key) for key, _, keys in read for one in keys)
                rereading.replace_batch(tx, target.generation, document, revision.id, postings, found)
        if len(stored) < _BATCH_CHUNKS:
            return is_done


def _begin(database: Database, work: Work) -> _Target | None:
    """None where there is nothing to do: the revision is not served any more, or was read by these rules."""
    with database.write(durable=False) as tx:
        work.hold(tx)
        found = documents.revision(tx, work.lease.job.subject_id)
        knowledge_base_id = work.lease.job.knowledge_base_id
        generation = indexes.active(tx, knowledge_base_id, "lexical")
        if found is not None and found[0].serving_revision_id == found[1].id and generation is not None:
            rules = rules_of(tx, knowledge_base_id)
            first = rereading.begin(tx, generation, found[1].id, rules.fingerprint)
            if first >= 0:
                work.progress(tx, "rereading", first, found[1].chunk_count)
                return _Target(found[0], found[1], generation, rules, first)
        queue.finish(tx, work.lease)
        return None


def _end(tx: Writing, work: Work, target: _Target) -> bool:
    """Record by which rules the revision is read now; the job is done unless others hold by now,

    or the document has another name.
    """
    document, revision, rules = target.document, target.revision, target.rules
    found = documents.revision(tx, revision.id)
    if found is not None and (found[0].source, found[0].name) != (document.source, document.name):
        return False
    whole = document_keys(document.name, revision.title, revision.metadata)
    rereading.end(tx, target.generation, document, revision, rules.fingerprint, whole)
    wanted = rules_of(tx, document.knowledge_base_id)
    if wanted.fingerprint != rules.fingerprint:
        return False
    if queue.is_last(tx, work.lease.job):
        rereading.settle(tx, target.generation, wanted.fingerprint, wanted.recipe)
    queue.finish(tx, work.lease)
    return True
