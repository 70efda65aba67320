"""`check` finds every kind of damage and blames nothing that is sound; `check --repair` mends it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

import wenyuan as wy
from tests.store.library_builder import LibraryBuilder
from wenyuan.flows.repair import MENDS
from wenyuan.ports import Embedder
from wenyuan.providers.settings import BUILT_IN_MODEL
from wenyuan.runtime.library import Library
from wenyuan.runtime.upkeep import Finding
from wenyuan.store import chunks, documents, knowledge_bases, queue, vectors
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.checking import deleted, invariants
from wenyuan.store.checking import indexes as checking_indexes
from wenyuan.store.checking.invariants import Invariant
from wenyuan.store.database import LibraryDatabase
from wenyuan.types import ChunkingConfig, Posting

_DAY_SECONDS = 24 * 3600
_SECTIONS = "\n\n".join(
    f"## Heron {n} 苍鹭\n\nOn 2026-04-{n + 10} heron number {n} was ringed at post PPR-98{n:02d}. 苍鹭{n}号在湖边过冬。"
    for n in range(6)
)
_ALL = ["papers", "plain"]


@dataclass
class Sound:
    """A library in which documents stand in every way they may."""

    home: Path
    library: Library
    served: str
    superseded: str

    @property
    def path(self) -> Path:
        return self.home / "wenyuan.db"

    @property
    def database(self) -> LibraryDatabase:
        return self.library._database

    @property
    def blobs(self) -> BlobDirectory:
        return self.library._blobs

    def sql(self, statement: str, **parameters: object) -> None:
        """Change a row behind the library's back, whatever it belongs to."""
        connection = apsw.Connection(str(self.path))
        connection.execute(statement, {"served": self.served, **parameters})
        connection.close()

    def one(self, statement: str) -> object:
        with self.database.read() as tx:
            row = tx.first(statement, {"served": self.served})
        assert row is not None
        return row[0]

    def codes(self, *, deep: bool = True) -> set[str]:
        return {finding.code for finding in self.library.check(deep=deep)}

    def blob(self) -> Path:
        return self.blobs.path(str(self.one("SELECT blob_sha256 FROM revisions WHERE id = :served")))

    def lexical(self) -> int:
        return int(
            str(
                self.one(
                    "SELECT g.number FROM index_generations AS g JOIN documents AS d ON d.knowledge_base_id = "
                    "g.knowledge_base_id WHERE g.kind = 'lexical' AND d.serving_revision_id = :served"
                )
            )
        )

    def chunk_keys(self) -> list[int]:
        with self.database.read() as tx:
            rows = tx.all("SELECT key FROM chunks WHERE revision_id = :id ORDER BY seq", {"id": self.served})
        return [int(row[0]) for row in rows]

    def found(self) -> dict[str, list[tuple[str, str]]]:
        """What searches find, by each list and by a filter."""
        asked = {
            arm: self.library.search("heron 苍鹭 3 PPR-9803", kb=_ALL, arms=(arm,), top_k=20)
            for arm in ("structured", "keyword", "vector")
        }
        filtered = self.library.search("heron", kb=_ALL, filters={"name": "served.md"}, arms=("keyword",), top_k=20)
        everything = {**asked, "filtered": filtered, "plain": self.library.search("plain words", kb="plain")}
        return {
            name: sorted((hit.passage.document_name, hit.passage.chunk.text) for hit in result.hits)
            for name, result in everything.items()
        }


@dataclass(frozen=True)
class Built:
    """The library, the same when its work is done, and what is found then."""

    home: Path
    done: Path
    served: str
    superseded: str
    found: dict[str, list[tuple[str, str]]]
    embedder: Embedder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("sound")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "served.md").write_text(f"---\nauthor: Li\n---\n# Herons\n\n{_SECTIONS}\n", "utf-8")
    (notes / "other.md").write_text("# 苍鹭\n\nThe other herons leave in September 2025.\n", "utf-8")
    (notes / "changed.md").write_text("old words\n", "utf-8")
    (notes / "hidden.md").write_text("hidden words\n", "utf-8")
    (notes / "failed.md").write_bytes(b"")
    with wy.open(folder / "library", environment={}) as library:
        library.knowledge_bases.create("papers", chunking=ChunkingConfig(120, 0))
        plain = library.knowledge_bases.create("plain", embedding_model="")
        library.knowledge_bases.add_terms("papers", ["湖边过冬"])
        library.add(notes, kb="papers")
        library.add_text("plain words", "plain.md", kb="plain")
        library.documents.switch("other.md", enabled=False)
        library.documents.switch_passage("served.md", 4, enabled=False)
        (notes / "changed.md").write_text("new words\n", "utf-8")
        superseded = str(library.documents.show("changed.md").document.serving_revision_id)
        library.add(notes / "changed.md", kb="papers", wait=False)
        # Read and embedded; the purge of what was replaced is left.
        library.drain(max_jobs=2)
        library.documents.delete("hidden.md")
        library.add_text("pending words", "pending.md", kb="plain", wait=False)
        _stage(library, plain.id)
        library.search("heron")
        library._blobs.stage_bytes(b"arriving now", "arriving.md", 100)
        served = str(library.documents.show("served.md").document.serving_revision_id)
        embedder = library.models.embedder(BUILT_IN_MODEL)
    shutil.copytree(folder / "library", folder / "done")
    with wy.open(folder / "done", environment={}) as library:
        library.drain()
        found = Sound(library.path, library, served, superseded).found()
    assert all(found.values())
    return Built(folder / "library", folder / "done", served, superseded, found, embedder)


def _stage(library: Library, knowledge_base_id: str) -> None:
    """A document that a worker was reading when it was killed."""
    builder = LibraryBuilder(library.path, library._database, library._blobs)
    with library._database.read() as tx:
        base = knowledge_bases.by_id(tx, knowledge_base_id)
    added = builder.stage(builder.add(base, "/staged.md"), "staged words")
    builder.enqueue("ingest", added.revision_id, base.id)
    with library._database.write() as tx:
        documents.set_staged_by(tx, added.revision_id, "an earlier program")


@pytest.fixture
def sound(built: Built, tmp_path: Path) -> Iterator[Sound]:
    with _copy(built, built.home, tmp_path) as copied:
        yield copied


@contextmanager
def _copy(built: Built, library_folder: Path, folder: Path) -> Iterator[Sound]:
    """A copy of the library, to be damaged."""
    home = folder / "library"
    shutil.copytree(library_folder, home)
    with wy.open(home, environment={}) as library:
        library.models.register(BUILT_IN_MODEL, built.embedder)
        yield Sound(home, library, built.served, built.superseded)


def test_a_sound_library_has_nothing_to_be_found(sound: Sound) -> None:
    assert sound.library.check() == []
    assert sound.library.check(deep=True) == []
    repaired = sound.library.repair(deep=True)
    assert (repaired.mended, repaired.beyond_repair, repaired.left) == ((), (), ())


def test_checking_reads_in_small_steps_and_sees_the_same(sound: Sound, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking_indexes, "_KEYS_AT_ONCE", 2)
    monkeypatch.setattr(vectors, "SEGMENT_CHUNKS", 4)
    generation = str(sound.one("SELECT generation_id FROM vector_codes WHERE revision_id = :served"))
    dimensions = int(str(sound.one("SELECT dimensions FROM index_generations WHERE kind = 'vector'")))
    with sound.database.write() as tx:
        vectors.pack(tx, generation, 1, sound.served, dimensions)
    assert sound.library.check() == []
    keys = sound.chunk_keys()
    sound.sql("DELETE FROM vector_codes WHERE revision_id = :served AND segment = 1")
    with sound.database.write() as tx:
        tx.lexical.remove(tx, sound.lexical(), keys[1:6:2])
        tx.lexical.add(tx, sound.lexical(), [(key, Posting("", "", "x", "")) for key in (500, 501, 502)])
    found = [finding.code for finding in sound.library.check()]
    assert found == ["lexical-incomplete"] * 3 + ["lexical-leftover"] * 3 + ["codes-incomplete"]


# --- One test for each invariant -----------------------------------------------------------------

Damage = Callable[[Sound], None]


def _sql(statement: str) -> Damage:
    return lambda sound: sound.sql(statement)


def _of_served(statement: str) -> Damage:
    return _sql(f"{statement} WHERE revision_id = :served")


def _of_a_chunk(statement: str) -> Damage:
    return _sql(
        f"{statement} WHERE input_hash = (SELECT input_hash FROM chunks WHERE revision_id = :served AND seq = 2)"
    )


def _forget_to_unpack(sound: Sound) -> None:
    sound.sql("UPDATE revisions SET member_count = 1 WHERE id = :served")
    sound.sql(
        "INSERT INTO members (revision_id, path, sha256, size, media_type, is_done) "
        "SELECT id, 'a.txt', blob_sha256, 1, '', 1 FROM revisions WHERE id = :served"
    )


def _overwrite_pages(sound: Sound) -> None:
    sound.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(sound.path.read_bytes())
    for start in range(4096, len(content), 4096):
        if b"/served.md" in content[start : start + 4096]:
            content[start : start + 4096] = b"\xa5" * 4096
    sound.path.write_bytes(content)


def _file_gone(sound: Sound) -> None:
    sound.blob().unlink()


def _file_changed(sound: Sound) -> None:
    content = sound.blob().read_bytes()
    sound.blob().write_bytes(b"x" + content[1:])


def _file_longer(sound: Sound) -> None:
    with sound.blob().open("ab") as file:
        file.write(b"more")


def _file_nobody_names(sound: Sound) -> None:
    path = sound.blobs.path("ab" * 32)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"words")
    os.utime(path, (0, time.time() - _DAY_SECONDS))


def _file_left_behind(sound: Sound) -> None:
    staged = sound.blobs.stage_bytes(b"left", "left.md", 100)
    os.utime(staged.path, (0, time.time() - 2 * _DAY_SECONDS))


def _posting_gone(sound: Sound) -> None:
    with sound.database.write() as tx:
        tx.lexical.remove(tx, sound.lexical(), sound.chunk_keys()[4:5])


def _posting_of_other_words(sound: Sound) -> None:
    with sound.database.write() as tx:
        tx.lexical.add(tx, sound.lexical(), [(sound.chunk_keys()[4], Posting("served", "", "otter", ""))])


def _posting_of_nothing(sound: Sound) -> None:
    with sound.database.write() as tx:
        tx.lexical.add(tx, sound.lexical(), [(9999, Posting("", "", "ghost", ""))])


def _posting_of_purged(sound: Sound) -> None:
    sound.sql("DELETE FROM revision_indexes WHERE revision_id = :old", old=sound.superseded)


def _index_gone(sound: Sound) -> None:
    with sound.database.write() as tx:
        tx.lexical.drop(tx, sound.lexical())


def _chunk_missing_in_the_middle(sound: Sound) -> None:
    sound.sql("DELETE FROM keys WHERE chunk_key = :key", key=sound.chunk_keys()[4])
    sound.sql("DELETE FROM chunks WHERE key = :key", key=sound.chunk_keys()[4])


def _claimed_and_left(sound: Sound) -> None:
    assert queue.claim(sound.database, "gone", 0, ("ingest",))


def _orphan(table: str, columns: str, values: str) -> Damage:
    return _sql(f"INSERT INTO {table} ({columns}) VALUES ({values})")


def _traces_damaged(sound: Sound) -> None:
    (sound.home / "traces.db").write_bytes(b"no database " * 1000)


def _rebuild(state: str, replaced: str, made: str) -> Callable[[Sound], None]:
    """A rebuild, and an index like the one that answers, which it makes or has replaced."""
    return _sql(
        "INSERT INTO index_generations SELECT 'gen_x', number + 1000, knowledge_base_id, owner, kind, "
        "'retired', fingerprint, recipe, dimensions, 0, 0 FROM index_generations WHERE kind = 'vector' ORDER BY id "
        f"LIMIT 1; INSERT INTO rebuilds SELECT 'rebuild_x', id, owner, '{state}', 0, '', embedding_model, "
        f"embedding_model, chunking, chunking, '', '', '{replaced}', '{made}', NULL, 0, NULL FROM knowledge_bases "
        "WHERE id = (SELECT knowledge_base_id FROM index_generations WHERE id = 'gen_x')"
    )


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
        {"rows-orphaned", "counter-behind"},
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
        _of_a_chunk("UPDATE vectors SET model_key = 99"),
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
        {"serving-invalid", "purge-lost", "trace-leftover"},
    ),
    # Work.
    "a pending document has no job": (_sql("DELETE FROM jobs WHERE kind = 'ingest'"), {"work-lost"}),
    "a processing document has an ended job": (
        _sql("UPDATE jobs SET state = 'done' WHERE kind = 'ingest'"),
        {"work-lost"},
    ),
    "what is hidden is never purged": (
        _sql("UPDATE jobs SET state = 'failed' WHERE kind = 'purge'"),
        {"purge-lost", "erasure-lost"},
    ),
    "vectors are never completed": (
        _of_served("UPDATE revision_indexes SET state = 'pending'"),
        {"embedding-lost", "index-unrecorded"},
    ),
    "a job has no revision": (
        _sql("UPDATE jobs SET subject_id = id WHERE kind = 'purge'"),
        {"job-orphaned", "purge-lost"},
    ),
    "a job was left by its worker": (_claimed_and_left, {"lease-expired"}),
    "a file inside has lost what it lies in": (
        _sql("UPDATE documents SET parent_id = 'none' WHERE serving_revision_id = :served"),
        {"parent-gone"},
    ),
    "files inside wait for nobody": (
        _forget_to_unpack,
        {"members-lost"},
    ),
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
        _of_served("UPDATE revision_text SET text = substr(text, 1, length(text) - 40)"),
        {"text-broken", "chunk-text"},
    ),
    "the text has a gap": (
        _of_served("UPDATE revision_text SET start_offset = start_offset + 1"),
        {"text-broken", "chunk-text"},
    ),
    "the text was changed": (
        _of_served("UPDATE revision_text SET text = replace(text, '苍', '白')"),
        {"chunk-text"},
    ),
    "a chunk was changed": (
        _sql("UPDATE chunks SET text = replace(text, '苍', '白') WHERE revision_id = :served AND seq = 5"),
        {"chunk-text", "chunk-hash", "lexical-wrong"},
    ),
    "a chunk was moved": (
        _sql("UPDATE chunks SET start_offset = 0, end_offset = 3 WHERE revision_id = :served AND seq = 5"),
        {"chunk-text"},
    ),
    "a context was changed": (
        _sql("UPDATE chunks SET context = 'd' WHERE revision_id = :served AND seq = 5"),
        {"chunk-hash", "lexical-wrong"},
    ),
    # Indexes.
    "a key names a chunk that is gone": (
        _sql("UPDATE keys SET chunk_key = 9999 WHERE revision_id = :served AND value LIKE '%9803%'"),
        {"keys-orphaned", "keys-wrong"},
    ),
    "a key names a chunk of another document": (
        _sql(
            "UPDATE keys SET chunk_key = (SELECT max(key) FROM chunks) "
            "WHERE revision_id = :served AND value LIKE '%9803%'"
        ),
        {"keys-orphaned", "keys-wrong"},
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
    "a chunk that was purged can be found": (_posting_of_purged, {"lexical-leftover", "codes-leftover"}),
    "a whole index is gone": (_index_gone, {"lexical-missing"}),
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
        _of_a_chunk("UPDATE vectors SET vector = zeroblob(length(vector))"),
        {"codes-wrong"},
    ),
    "a vector is shorter": (_of_a_chunk("UPDATE vectors SET vector = substr(vector, 3)"), {"codes-wrong"}),
    "a vector is gone": (_of_a_chunk("DELETE FROM vectors"), {"codes-wrong"}),
    "codes of what is not indexed": (
        _sql("DELETE FROM revision_indexes WHERE revision_id = :served"),
        {"codes-leftover", "index-unrecorded", "embedding-lost"},
    ),
    "a table is gone": (_sql("DROP TABLE document_fields"), {"not-looked-at"}),
    "a document says that its bytes are gone": (
        _sql("""UPDATE revisions SET notices = '[{"code":"blob-missing","message":"gone"}]' WHERE id = :served"""),
        {"blob-returned"},
    ),
    "a passage is found that was switched off": (
        _of_served("UPDATE chunks SET enabled = 1"),
        {"passage-switched"},
    ),
    "all passages are switched off": (_of_served("UPDATE chunks SET enabled = 0"), {"passage-switched"}),
    "a chunk is found by other words": (_posting_of_other_words, {"lexical-wrong"}),
    "a code is another": (
        _of_served("UPDATE keys SET value = replace(value, '9803', '9903')"),
        {"keys-wrong"},
    ),
    "nothing says that a document is indexed": (
        _of_served("DELETE FROM revision_indexes"),
        {"index-unrecorded", "codes-leftover", "embedding-lost"},
    ),
    "a counter is behind": (_sql("UPDATE counters SET value = 1 WHERE name = 'chunk'"), {"counter-behind"}),
    "a source is gone": (
        _sql("UPDATE documents SET source_id = 'none' WHERE serving_revision_id = :served"),
        {"source-gone"},
    ),
    "jobs have newer changes": (_sql("UPDATE counters SET value = 1 WHERE name = 'job'"), {"counter-behind"}),
    "a counter is gone": (_sql("DELETE FROM counters WHERE name = 'generation'"), {"counter-behind"}),
    "a rebuild has no job": (_rebuild("building", "", "gen_x"), {"rebuild-lost", "counter-behind"}),
    "a replaced index is never taken away": (
        _rebuild("settled", "gen_x", ""),
        {"index-leftover", "counter-behind"},
    ),
    "a vector has no use": (
        _orphan("vectors", "model_key, input_hash, vector", "1, x'00', x'00'"),
        {"vectors-unused"},
    ),
}


# What `check` says of these is all that can be done.
_BEYOND = {"database-damaged", "not-looked-at"}
# After these a document is not found any more.
_NOT_FOUND_AGAIN = {"a deleted document serves", "a file inside has lost what it lies in"}


_NEEDS_WORK = {
    "a pending document has no job",
    "a processing document has an ended job",
    "what is hidden is never purged",
    "a job has no revision",
    "a job was left by its worker",
    "a chunk that was purged can be found",
    "a name has no use",
}


@pytest.mark.parametrize("what", DAMAGES)
def test_damage_is_found_and_mended(built: Built, tmp_path: Path, what: str) -> None:
    with _copy(built, built.home if what in _NEEDS_WORK else built.done, tmp_path) as sound:
        _damage_and_mend(sound, built, what)


def _damage_and_mend(sound: Sound, built: Built, what: str) -> None:
    damage, expected = DAMAGES[what]
    damage(sound)
    assert sound.codes() == expected
    repaired = sound.library.repair(deep=True)
    assert {finding.code for finding in repaired.beyond_repair} == expected & _BEYOND
    if expected & _BEYOND:
        return
    assert expected <= {finding.code for finding in repaired.mended}
    assert repaired.left == ()
    if what not in _NOT_FOUND_AGAIN:
        assert sound.found() == built.found


def test_every_invariant_has_its_damage() -> None:
    known = {one.code for part in (invariants, deleted) for one in vars(part).values() if isinstance(one, Invariant)}
    # There is no table in this library: tests/runtime/test_tables.py damages one.
    assert known - {"table-miscounted"} == {code for _, codes in DAMAGES.values() for code in codes}


def test_what_says_that_it_is_mended_has_a_repair() -> None:
    known = [one for part in (invariants, deleted) for one in vars(part).values() if isinstance(one, Invariant)]
    assert {one.code for one in known if one.mends} == MENDS.keys()


def test_what_is_found_is_told_with_its_document_and_what_to_do(sound: Sound) -> None:
    DAMAGES["a chunk was changed"][0](sound)
    assert sound.library.check() == [
        Finding("chunk-text", "error", "Chunk 5 of served.md is not what stands at its place in the text.", READ_AGAIN),
        Finding("chunk-hash", "error", "Chunk 5 of served.md has the hash of another text.", READ_AGAIN),
    ]


READ_AGAIN = "`wenyuan check --repair` reads the document again from the bytes that were added."


def test_no_more_than_the_first_of_a_kind_are_told_and_all_are_mended(sound: Sound) -> None:
    with sound.database.write() as tx:
        tx.lexical.add(tx, sound.lexical(), ((key, Posting("", "", "x", "")) for key in range(1000, 1500)))
    assert [finding.code for finding in sound.library.check()] == ["lexical-leftover"] * 20
    assert sound.library.repair().left == ()


def test_text_is_checked_across_its_pieces_in_whatever_order_chunks_stand(sound: Sound) -> None:
    library = LibraryBuilder(sound.home, sound.database, sound.blobs)
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
    assert sound.library.check() == []
