"""`check` finds every kind of damage, and blames nothing that is sound."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import apsw
import numpy as np
import pytest

from tests.store.library_builder import Added, Draft, LibraryBuilder, build_library, unit_rows
from wenyuan.runtime.upkeep import Finding, check
from wenyuan.store import chunks, documents, purging, queue, vectors
from wenyuan.store.checking import indexes as checking_indexes
from wenyuan.store.checking import invariants
from wenyuan.store.checking.invariants import Invariant
from wenyuan.types import Key, Posting

_RANDOM = np.random.default_rng(3)
_DAY_SECONDS = 24 * 3600


@dataclass
class Sound:
    """A library in which documents stand in every way they may."""

    library: LibraryBuilder
    served: Added
    other: Added
    superseded: Added

    @property
    def path(self) -> Path:
        return self.library.folder / "wenyuan.db"

    def sql(self, statement: str, **parameters: object) -> None:
        """Change a row behind the library's back, whatever it belongs to."""
        connection = apsw.Connection(str(self.path))
        connection.execute(statement, {"served": self.served.revision_id, **parameters})
        connection.close()

    def findings(self) -> list[Finding]:
        return check(self.library.database, self.library.blobs)

    def codes(self) -> set[str]:
        return {finding.code for finding in self.findings()}

    def blob(self, added: Added) -> Path:
        with self.library.database.read() as tx:
            row = tx.first("SELECT blob_sha256 FROM revisions WHERE id = :id", {"id": added.revision_id})
        assert row is not None
        return self.library.blobs.path(row[0])

    def lexical(self) -> int:
        return self.library.lexical(self.served.document.knowledge_base_id).number


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    library = build_library(tmp_path_factory.mktemp("sound"))
    base, plain = library.knowledge_base("papers", embedding_model="m"), library.knowledge_base("plain")
    drafts = [Draft(f"passage {n} 苍鹭 𠀀", ("h", "二"), "c", (Key("code", f"c{n}", "body"),)) for n in range(9)]
    served = library.published(base, "/served.md", *drafts, whole=[Key("name", "served", "filename")])
    other = library.published(base, "/other.md", "passage 0 苍鹭", "more", "passage 3 苍鹭 𠀀")
    library.published(plain, "/plain.md", "plain words")
    for added in (served, other):
        library.embed(added, unit_rows(_RANDOM, len(added.chunk_keys)))
    superseded = library.published(base, "/changed.md", "old words")
    library.publish(library.stage(library.revise(superseded.document, b"new"), "new words"))
    library.enqueue("purge", superseded.revision_id, base.id)
    purged = library.published(base, "/purged.md", "very old words")
    library.publish(library.stage(library.revise(purged.document, b"newer"), "newer words"))
    hidden = library.published(base, "/hidden.md", "hidden words")
    library.enqueue("purge", hidden.revision_id, base.id)
    staged = library.stage(library.add(base, "/staged.md"), Draft("staged words", keys=(Key("code", "s", "body"),)))
    library.enqueue("ingest", staged.revision_id, base.id)
    library.enqueue("ingest", library.add(plain, "/pending.md").revision_id, plain.id)
    with library.database.write() as tx:
        purging.unindex_batch(tx, purged.revision_id, -1)
        purging.forget_index_rows(tx, purged.revision_id)
        documents.hide(tx, hidden.document.id, base.id)
        documents.switch(tx, other.document, enabled=False)
    library.blobs.stage_bytes(b"arriving now", "arriving.md", 100)
    library.database.close()
    return Sound(library, served, other, superseded)


@pytest.fixture
def sound(built: Sound, tmp_path: Path) -> Iterator[Sound]:
    """A copy of the library, to be damaged."""
    shutil.copytree(built.library.folder, tmp_path, dirs_exist_ok=True)
    copy = build_library(tmp_path)
    yield replace(built, library=replace(built.library, folder=tmp_path, database=copy.database, blobs=copy.blobs))
    copy.database.close()


def test_a_sound_library_has_nothing_to_be_found(sound: Sound) -> None:
    assert sound.findings() == []
    sound.library.database.close()
    assert sound.findings() == []


def test_checking_reads_in_small_steps_and_sees_the_same(sound: Sound, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking_indexes, "_KEYS_AT_ONCE", 2)
    monkeypatch.setattr(vectors, "SEGMENT_CHUNKS", 4)
    generation, model = sound.library.vector(sound.served.document.knowledge_base_id), sound.library.model_key()
    with sound.library.database.write() as tx:
        for added in (sound.served, sound.other):
            vectors.pack(tx, generation.id, model, added.revision_id, generation.dimensions)
    assert sound.findings() == []
    sound.sql("DELETE FROM vector_codes WHERE revision_id = :served AND segment = 2")
    with sound.library.database.write() as tx:
        tx.lexical.remove(tx, sound.lexical(), sound.served.chunk_keys[1::3])
        tx.lexical.add(tx, sound.lexical(), [(key, Posting("", "", "x", "")) for key in (500, 501, 502)])
    found = [finding.code for finding in sound.findings()]
    assert found == ["lexical-incomplete"] * 3 + ["lexical-leftover"] * 3 + ["codes-incomplete"]


# --- One test for each invariant -----------------------------------------------------------------

Damage = Callable[[Sound], None]


def _sql(statement: str) -> Damage:
    return lambda sound: sound.sql(statement)


def _of_served(statement: str) -> Damage:
    return _sql(f"{statement} WHERE revision_id = :served")


def _overwrite_pages(sound: Sound) -> None:
    sound.library.database.close()
    content = bytearray(sound.path.read_bytes())
    for start in range(4096, len(content), 4096):
        if b"/served.md" in content[start : start + 4096]:
            content[start : start + 4096] = b"\xa5" * 4096
    sound.path.write_bytes(content)


def _file_gone(sound: Sound) -> None:
    sound.blob(sound.served).unlink()


def _file_changed(sound: Sound) -> None:
    sound.blob(sound.served).write_bytes(b"/served.mD")


def _file_longer(sound: Sound) -> None:
    with sound.blob(sound.served).open("ab") as file:
        file.write(b"more")


def _file_nobody_names(sound: Sound) -> None:
    path = sound.library.blobs.path("ab" * 32)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"words")
    os.utime(path, (0, time.time() - _DAY_SECONDS))


def _file_left_behind(sound: Sound) -> None:
    staged = sound.library.blobs.stage_bytes(b"left", "left.md", 100)
    os.utime(staged.path, (0, time.time() - 2 * _DAY_SECONDS))


def _posting_gone(sound: Sound) -> None:
    with sound.library.database.write() as tx:
        tx.lexical.remove(tx, sound.lexical(), sound.served.chunk_keys[4:5])


def _posting_of_nothing(sound: Sound) -> None:
    with sound.library.database.write() as tx:
        tx.lexical.add(tx, sound.lexical(), [(9999, Posting("", "", "ghost", ""))])


def _posting_of_purged(sound: Sound) -> None:
    sound.sql("DELETE FROM revision_indexes WHERE revision_id = :old", old=sound.superseded.revision_id)


def _index_gone(sound: Sound) -> None:
    with sound.library.database.write() as tx:
        tx.lexical.drop(tx, sound.lexical())


def _chunk_missing_in_the_middle(sound: Sound) -> None:
    sound.sql("DELETE FROM keys WHERE chunk_key = :key", key=sound.served.chunk_keys[4])
    sound.sql("DELETE FROM chunks WHERE key = :key", key=sound.served.chunk_keys[4])


def _claimed_and_left(sound: Sound) -> None:
    assert queue.claim(sound.library.database, "gone", 0, ("ingest",))


def _orphan(table: str, columns: str, values: str) -> Damage:
    return _sql(f"INSERT INTO {table} ({columns}) VALUES ({values})")


def _traces_damaged(sound: Sound) -> None:
    (sound.library.folder / "traces.db").write_bytes(b"no database " * 1000)


DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    "a page of the database is overwritten": (_overwrite_pages, {"database-damaged"}),
    # Rows without an owner.
    "a chunk of no revision": (
        _orphan(
            "chunks",
            "key, revision_id, seq, text, characters, start_offset, end_offset, anchor, heading_path, context, "
            "input_hash, enabled",
            "9999, 'none', 0, '', 0, 0, 0, '{}', '[]', '', x'00', 1",
        ),
        {"rows-orphaned"},
    ),
    "a text of no revision": (
        _orphan("revision_text", "revision_id, seq, start_offset, text", "'none', 0, 0, ''"),
        {"rows-orphaned"},
    ),
    "a key of no revision": (
        _orphan(
            "keys",
            "knowledge_base_id, document_id, revision_id, kind, value, source, first_day, last_day",
            "'', '', 'none', 'code', '', 'body', 0, 0",
        ),
        {"rows-orphaned"},
    ),
    "index progress of no revision": (
        _orphan(
            "revision_indexes",
            "generation_id, revision_id, state, done, total, alias_overflow, updated_at",
            "(SELECT min(id) FROM index_generations), 'none', 'ready', 0, 0, 0, 0",
        ),
        {"rows-orphaned"},
    ),
    "codes of no revision": (
        _orphan(
            "vector_codes",
            "generation_id, revision_id, segment, chunk_keys, codes",
            "(SELECT min(id) FROM index_generations), 'none', 0, x'', x''",
        ),
        {"rows-orphaned", "codes-leftover"},
    ),
    "a vector of no model": (
        _sql("UPDATE vectors SET model_key = 99 WHERE rowid = 1"),
        {"rows-orphaned", "codes-wrong"},
    ),
    # Files.
    "a file is gone": (_file_gone, {"blob-missing"}),
    "a file is changed": (_file_changed, {"blob-damaged"}),
    "a file is longer": (_file_longer, {"blob-damaged"}),
    "a size is wrong": (_sql("UPDATE blobs SET size = size + 1"), {"blob-damaged"}),
    "a file has no name": (_file_nobody_names, {"blob-unnamed"}),
    "a name has no use": (_orphan("blobs", "sha256, size, created_at", "'cd', 0, 0"), {"blob-unused"}),
    "a temporary file is old": (_file_left_behind, {"blob-unfinished"}),
    # What is served.
    "a document serves nothing there is": (
        _sql("UPDATE documents SET serving_revision_id = 'none' WHERE serving_revision_id = :served"),
        {"serving-invalid"},
    ),
    "a document serves what is another's": (
        _sql("UPDATE documents SET serving_revision_id = :served WHERE name = 'plain.md'"),
        {"serving-invalid"},
    ),
    "a document serves what is not ready": (
        _sql("UPDATE revisions SET state = 'failed' WHERE id = :served"),
        {"serving-invalid"},
    ),
    "a document serves what was superseded": (
        _sql("UPDATE revisions SET superseded_at = 1 WHERE id = :served"),
        {"serving-invalid", "purge-lost"},
    ),
    "a deleted document serves": (
        _sql("UPDATE documents SET deleted_at = 1 WHERE serving_revision_id = :served"),
        {"serving-invalid", "purge-lost"},
    ),
    # Work.
    "a pending document has no job": (_sql("DELETE FROM jobs WHERE kind = 'ingest'"), {"work-lost"}),
    "a processing document has an ended job": (
        _sql("UPDATE jobs SET state = 'done' WHERE kind = 'ingest'"),
        {"work-lost"},
    ),
    "what is hidden is never purged": (_sql("UPDATE jobs SET state = 'failed' WHERE kind = 'purge'"), {"purge-lost"}),
    "vectors are never completed": (_of_served("UPDATE revision_indexes SET state = 'pending'"), {"embedding-lost"}),
    "a job has no revision": (
        _sql("UPDATE jobs SET subject_id = id WHERE kind = 'purge'"),
        {"job-orphaned", "purge-lost"},
    ),
    "a job was left by its worker": (_claimed_and_left, {"lease-expired"}),
    "a change is missing": (_sql("DELETE FROM changes WHERE number = 2"), {"changes-broken"}),
    "the first change is missing": (_sql("DELETE FROM changes WHERE number = 1"), {"changes-broken"}),
    "a change was never counted": (
        _sql("UPDATE knowledge_bases SET change_number = change_number - 1 WHERE name = 'papers'"),
        {"changes-broken"},
    ),
    "a change has a number too high": (
        _sql("UPDATE changes SET number = 99 WHERE number = 2"),
        {"changes-broken"},
    ),
    # Text.
    "a chunk too many is counted": (
        _sql("UPDATE revisions SET chunk_count = chunk_count + 1 WHERE id = :served"),
        {"chunks-miscounted"},
    ),
    "a chunk is missing": (
        _chunk_missing_in_the_middle,
        {"chunks-miscounted", "chunks-unordered", "lexical-leftover", "codes-incomplete", "vectors-unused"},
    ),
    "the text is longer than it was": (
        _sql("UPDATE revisions SET text_length = text_length - 1 WHERE id = :served"),
        {"text-broken"},
    ),
    "the end of the text is gone": (
        _sql("DELETE FROM revision_text WHERE revision_id = :served AND seq = 2"),
        {"text-broken", "chunk-text"},
    ),
    "the text has a gap": (
        _sql("UPDATE revision_text SET start_offset = start_offset + 1 WHERE revision_id = :served AND seq = 2"),
        {"text-broken", "chunk-text"},
    ),
    "the text was changed": (
        _sql("UPDATE revision_text SET text = replace(text, '苍', '白') WHERE revision_id = :served AND seq = 2"),
        {"chunk-text"},
    ),
    "a chunk was changed": (
        _sql("UPDATE chunks SET text = replace(text, '苍', '白') WHERE revision_id = :served AND seq = 5"),
        {"chunk-text", "chunk-hash"},
    ),
    "a chunk was moved": (
        _sql("UPDATE chunks SET start_offset = 0, end_offset = 3 WHERE revision_id = :served AND seq = 5"),
        {"chunk-text"},
    ),
    "a context was changed": (
        _sql("UPDATE chunks SET context = 'd' WHERE revision_id = :served AND seq = 5"),
        {"chunk-hash"},
    ),
    # Indexes.
    "a key names a chunk that is gone": (
        _sql("UPDATE keys SET chunk_key = 9999 WHERE revision_id = :served AND value = 'c3'"),
        {"keys-orphaned"},
    ),
    "a key names a chunk of another document": (
        _sql("UPDATE keys SET chunk_key = (SELECT max(key) FROM chunks) WHERE revision_id = :served AND value = 'c3'"),
        {"keys-orphaned"},
    ),
    "a key names another document": (_of_served("UPDATE keys SET document_id = 'none'"), {"keys-orphaned"}),
    "a key names another knowledge base": (_of_served("UPDATE keys SET knowledge_base_id = 'none'"), {"keys-orphaned"}),
    "a field is of another document": (
        _of_served("UPDATE document_fields SET document_id = 'none'"),
        {"fields-orphaned"},
    ),
    "a field is of another knowledge base": (
        _of_served("UPDATE document_fields SET knowledge_base_id = 'none'"),
        {"fields-orphaned"},
    ),
    "the traces are damaged": (_traces_damaged, {"traces-damaged"}),
    "a document has no fields": (_of_served("DELETE FROM document_fields"), {"fields-missing"}),
    "a chunk cannot be found by its words": (_posting_gone, {"lexical-incomplete"}),
    "a chunk that is gone can be found": (_posting_of_nothing, {"lexical-leftover"}),
    "a chunk that was purged can be found": (_posting_of_purged, {"lexical-leftover"}),
    "a whole index is gone": (_index_gone, {"not-looked-at"}),
    "codes are gone": (_of_served("DELETE FROM vector_codes"), {"codes-incomplete"}),
    "codes are those of other chunks": (
        _sql(
            "UPDATE vector_codes SET chunk_keys = (SELECT o.chunk_keys FROM vector_codes AS o "
            "WHERE o.revision_id <> :served) WHERE revision_id = :served"
        ),
        {"codes-incomplete"},
    ),
    "codes are others": (_of_served("UPDATE vector_codes SET codes = zeroblob(length(codes))"), {"codes-wrong"}),
    "a vector is another": (
        _sql("UPDATE vectors SET vector = zeroblob(length(vector)) WHERE rowid = 2"),
        {"codes-wrong"},
    ),
    "a vector is shorter": (_sql("UPDATE vectors SET vector = substr(vector, 3) WHERE rowid = 2"), {"codes-wrong"}),
    "a vector is gone": (_sql("DELETE FROM vectors WHERE rowid = 2"), {"codes-wrong"}),
    "codes of what is not indexed": (
        _sql("DELETE FROM revision_indexes WHERE revision_id = :served"),
        {"codes-leftover"},
    ),
    "a vector has no use": (
        _orphan("vectors", "model_key, input_hash, vector", "1, x'00', x'00'"),
        {"vectors-unused"},
    ),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_damage_is_found_and_nothing_else_is_blamed(sound: Sound, what: str) -> None:
    damage, expected = DAMAGES[what]
    damage(sound)
    assert sound.codes() == expected


def test_every_invariant_has_its_damage() -> None:
    known = {one.code for one in vars(invariants).values() if isinstance(one, Invariant)}
    assert known == {code for _, codes in DAMAGES.values() for code in codes}


def test_what_is_found_is_told_with_its_document_and_what_to_do(sound: Sound) -> None:
    DAMAGES["a chunk was changed"][0](sound)
    assert sound.findings() == [
        Finding("chunk-text", "error", "Chunk 5 of served.md is not what stands at its place in the text.", READ_AGAIN),
        Finding("chunk-hash", "error", "Chunk 5 of served.md has the hash of another text.", READ_AGAIN),
    ]


READ_AGAIN = "Delete the document and add it again, so that it is read anew."


def test_no_more_than_the_first_of_a_kind_are_told(sound: Sound) -> None:
    with sound.library.database.write() as tx:
        tx.lexical.add(tx, sound.lexical(), ((key, Posting("", "", "x", "")) for key in range(1000, 1500)))
    assert [finding.code for finding in sound.findings()] == ["lexical-leftover"] * 20


def test_text_is_checked_across_its_pieces_in_whatever_order_chunks_stand(sound: Sound) -> None:
    library = sound.library
    added = library.add(library.knowledge_base("overlapping"), "/o.md")
    text = "".join(f"第{number}句。" for number in range(400))
    spans = [(0, 120), (60, 300), (30, 90), (290, 800), (700, len(text)), (5, 1500)]
    staged = library.stage(added, *(text[start:end] for start, end in spans))
    with library.database.write() as tx:
        tx.run("DELETE FROM revision_text WHERE revision_id = :id", {"id": added.revision_id})
        for seq, at in enumerate(range(0, len(text), 70)):
            chunks.stage_text(tx, added.revision_id, seq, at, text[at : at + 70])
    for seq, (start, end) in enumerate(spans):
        sound.sql(
            "UPDATE chunks SET start_offset = :start, end_offset = :end WHERE revision_id = :id AND seq = :seq",
            start=start,
            end=end,
            id=added.revision_id,
            seq=seq,
        )
    library.publish(staged)
    assert sound.findings() == []
