"""Every served passage is read again: is it found by the words, and has it the keys, that today's rules give it?

Documents that were read by older rules are left out; they are read again by a worker anyway.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from wenyuan.errors import WenyuanError
from wenyuan.language import RULE_SET_VERSION
from wenyuan.language.keys import document_keys
from wenyuan.language.postings import read_chunk
from wenyuan.language.vocabulary import Vocabulary
from wenyuan.store import documents, knowledge_bases, rereading
from wenyuan.store.checking.indexes import active
from wenyuan.store.checking.invariants import KEYS_TRUE, POSTINGS_TRUE, Violation
from wenyuan.store.database import LibraryDatabase, Reading
from wenyuan.types import Key, Posting

_CHUNKS_AT_ONCE = 200


def check_derived(database: LibraryDatabase) -> Iterator[Violation]:
    """Compare words and keys with the passages they were read from, document by document."""
    for generation_id, number, knowledge_base_id, _ in active(database, "lexical"):
        with database.read() as tx:
            began = tx.now
            vocabulary = knowledge_bases.vocabulary(tx, knowledge_base_id)
        indexed: defaultdict[int, int] = defaultdict(int)
        try:
            for key, column, token in database.indexed_tokens(number):
                # Which tokens stand in which field how often, as one number: their order is all that is lost.
                indexed[key] += hash((column, token))
        except WenyuanError:
            # An index that cannot be read is told of by the check of its keys.
            continue
        after: str | None = ""
        while after is not None:
            with database.read() as tx:
                row = tx.first(
                    "SELECT x.revision_id FROM revision_indexes AS x JOIN documents AS d "
                    "ON d.serving_revision_id = x.revision_id JOIN revisions AS r ON r.id = x.revision_id "
                    "WHERE x.generation_id = :id AND x.revision_id > :after AND x.state = 'ready' "
                    "AND x.rules = :rules AND x.rereading = '' AND x.updated_at < :began AND r.published_at < :began "
                    "ORDER BY x.revision_id LIMIT 1",
                    {"id": generation_id, "after": after, "rules": _rules(vocabulary), "began": began},
                )
                found = list(_violations(tx, row[0], vocabulary, indexed)) if row is not None else []
            yield from found
            after = row[0] if row is not None else None


def _rules(vocabulary: Vocabulary) -> str:
    """As what is recorded of a revision names the rules and terms of today."""
    return "+".join(filter(None, (RULE_SET_VERSION, vocabulary.index_fingerprint)))


def _violations(tx: Reading, revision_id: str, vocabulary: Vocabulary, indexed: dict[int, int]) -> Iterator[Violation]:
    found = documents.revision(tx, revision_id)
    if found is None:
        return
    document, revision, _ = found
    details = {"name": document.name, "revision": revision_id}
    keys = {None: document_keys(document.name, revision.title, revision.metadata)}
    stored = _stored_keys(tx, revision_id)
    words_differ = False
    keys_differ = stored[None] != _comparable(keys[None])
    seq = 0
    while read := rereading.chunks_from(tx, revision_id, seq, _CHUNKS_AT_ONCE):
        for key, chunk in read:
            posting, chunk_keys = read_chunk(document.name, chunk, vocabulary)
            # What is not there at all is told of by the check of its keys as well.
            words_differ = words_differ or (key in indexed and indexed[key] != _sum(posting))
            keys_differ = keys_differ or stored[key] != _comparable(chunk_keys)
        seq = read[-1][1].seq + 1
    if words_differ:
        yield POSTINGS_TRUE.violated(**details)
    if keys_differ:
        yield KEYS_TRUE.violated(**details)


def _sum(posting: Posting) -> int:
    fields = (("name", posting.name), ("heading", posting.heading), ("body", posting.body), ("alias", posting.alias))
    return sum(hash((column, token)) for column, text in fields for token in text.split())


_Comparable = list[tuple[str, str, str, int, int]]


def _stored_keys(tx: Reading, revision_id: str) -> defaultdict[int | None, _Comparable]:
    stored: defaultdict[int | None, _Comparable] = defaultdict(list)
    for chunk_key, *key in tx.all(
        "SELECT chunk_key, kind, value, source, first_day, last_day FROM keys WHERE revision_id = :id "
        "ORDER BY kind, value, source, first_day, last_day",
        {"id": revision_id},
    ):
        stored[chunk_key].append((key[0], key[1], key[2], key[3], key[4]))
    for keys in stored.values():
        keys.sort()
    return stored


def _comparable(keys: list[Key] | tuple[Key, ...]) -> _Comparable:
    return sorted((key.kind, key.value, key.source, key.first_day, key.last_day) for key in keys)
