"""The bytes of files where every machine reaches them, in a database or a bucket: never a name without them."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import obstore
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from obstore.store import S3Store

from tests.object_server import object_server
from tests.postgres_server import library_database
from tests.store.library_builder import in_threads
from wenyuan.errors import FilesUnreachable, FileVanished
from wenyuan.store.blobs import StagedBlob
from wenyuan.store.postgresql.blobs import PIECE_BYTES, BlobPieces
from wenyuan.store.postgresql.database import PostgresDatabase
from wenyuan.store.postgresql.objects import BlobObjects
from wenyuan.store.postgresql.opening import open_postgres
from wenyuan.store.shared_blobs import BlobStorage, SharedBlobs

_LIMIT = 1 << 30
_MANY_BYTES = hashlib.shake_256(b"many").digest(2 * PIECE_BYTES + 12_345)
_A_LONG_TIME = 1e9

Storage = Callable[[], BlobStorage]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with library_database() as address:
        yield address


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with object_server() as bucket:
        yield bucket


@pytest.fixture
def bucket(server: str, tmp_path: Path) -> str:
    """A place of its own for each test."""
    return f"{server}/{tmp_path.name}"


@pytest.fixture
def database(address: str) -> Iterator[PostgresDatabase]:
    opened = open_postgres(address, 10.0, create=False)
    with opened.write() as tx:
        tx.run("INSERT INTO blob_storage (kind) VALUES ('any') ON CONFLICT DO NOTHING")
    yield opened
    with opened.write() as tx:
        for table in ("blobs", "blob_pieces", "blob_objects", "blob_objects_to_delete"):
            tx.run(f"DELETE FROM {table}")
    opened.close()


@pytest.fixture(params=["database", "bucket"])
def storage(request: pytest.FixtureRequest, database: PostgresDatabase) -> Storage:
    """Makes the storage anew for each machine."""
    if request.param == "database":
        return _pieces(database)
    place = request.getfixturevalue("bucket")
    return lambda: BlobObjects(database, place)


def _machine(storage: Storage, folder: Path, kept_bytes: int = _LIMIT) -> SharedBlobs:
    folder.mkdir()
    blobs = SharedBlobs(folder, storage(), kept_bytes)
    blobs.create()
    return blobs


def _pieces(database: PostgresDatabase) -> Storage:
    return lambda: BlobPieces(database)


def _stored(database: PostgresDatabase, blobs: SharedBlobs, content: bytes) -> StagedBlob:
    staged = blobs.stage_bytes(content, "any", _LIMIT)
    blobs.sync([staged])
    with database.write() as tx:
        blobs.keep(tx, [staged])
    return staged


def _forget(database: PostgresDatabase, blobs: SharedBlobs, sha256: str) -> bool:
    with database.write() as tx:
        return blobs.forget_unused(tx, sha256)


def test_what_one_machine_stores_another_reads(database: PostgresDatabase, storage: Storage, tmp_path: Path) -> None:
    one, other = _machine(storage, tmp_path / "one"), _machine(storage, tmp_path / "other")
    for content in (b"", b"few", b"x" * PIECE_BYTES, _MANY_BYTES):
        stored = _stored(database, one, content)
        assert other.path(stored.sha256).read_bytes() == content
        assert (other.size(stored.sha256), other.digest(stored.sha256)) == (len(content), stored.sha256)
        assert other.age(stored.sha256) < 600
        assert stored.sha256 in set(one.stored())
        assert _forget(database, one, stored.sha256)
        assert (other.size(stored.sha256), other.digest(stored.sha256), other.age(stored.sha256)) == (None, None, 0.0)
        assert not one.path(stored.sha256).exists()
        assert list(one.stored()) == []
        # A copy on another machine goes when that tidies up.
        assert other.path(stored.sha256).exists()
        other.forget_incoming(_A_LONG_TIME)
        assert not other.path(stored.sha256).exists()
    assert list(one.incoming()) == list(other.incoming()) == []
    one.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(
    start=st.integers(0, len(_MANY_BYTES) + 10),
    length=st.one_of(st.none(), st.integers(0, 40), st.integers(0, len(_MANY_BYTES))),
)
def test_any_part_is_read_without_the_rest(
    database: PostgresDatabase, tmp_path_factory: pytest.TempPathFactory, start: int, length: int | None
) -> None:
    blobs = BlobPieces(database)
    sha256 = hashlib.sha256(_MANY_BYTES).hexdigest()
    if blobs.size(sha256) is None:
        path = tmp_path_factory.mktemp("parts") / "many"
        path.write_bytes(_MANY_BYTES)
        blobs.put([StagedBlob(sha256, len(_MANY_BYTES), path)])
    end = None if length is None else start + length
    assert b"".join(blobs.pieces(sha256, start, end)) == _MANY_BYTES[start:end]


def test_a_large_file_takes_no_memory(database: PostgresDatabase, tmp_path: Path) -> None:
    one, other = (_machine(_pieces(database), tmp_path / name) for name in ("one", "other"))
    large = tmp_path / "large.bin"
    with large.open("wb") as file:
        file.truncate(48 << 20)
    tracemalloc.start()
    try:
        staged = one.stage(large, _LIMIT)
        one.sync([staged])
        with database.write() as tx:
            one.keep(tx, [staged])
        assert other.path(staged.sha256).stat().st_size == 48 << 20
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20


def test_bytes_that_were_taken_away_before_they_were_named_come_back(
    database: PostgresDatabase, tmp_path: Path
) -> None:
    one, other = (
        _machine(_pieces(database), tmp_path / "one"),
        _machine(_pieces(database), tmp_path / "other"),
    )
    staged = one.stage_bytes(b"content", "any", _LIMIT)
    one.sync([staged])
    with database.write() as tx:
        assert other.forget_unnamed(tx, staged.sha256[:2], _A_LONG_TIME) == 0
        assert other.forget_unnamed(tx, staged.sha256[:2], -1) == 1
    assert one.size(staged.sha256) is None
    with database.write() as tx:
        one.keep(tx, [staged])
    assert other.path(staged.sha256).read_bytes() == b"content"
    with database.write() as tx:
        assert other.forget_unnamed(tx, staged.sha256[:2], -1) == 0


def test_what_an_interruption_left_is_completed(database: PostgresDatabase, tmp_path: Path) -> None:
    one = _machine(_pieces(database), tmp_path / "one")
    stored = _stored(database, one, _MANY_BYTES)
    with database.write() as tx:
        tx.run("DELETE FROM blob_pieces WHERE seq = 1")
    assert one.size(stored.sha256) == len(_MANY_BYTES) - PIECE_BYTES
    _stored(database, one, _MANY_BYTES)
    assert one.digest(stored.sha256) == stored.sha256


def test_other_bytes_than_the_name_says_are_not_handed_out(database: PostgresDatabase, tmp_path: Path) -> None:
    one, other = (
        _machine(_pieces(database), tmp_path / "one"),
        _machine(_pieces(database), tmp_path / "other"),
    )
    stored = _stored(database, one, b"content")
    with database.write() as tx:
        tx.run("UPDATE blob_pieces SET content = :other", {"other": b"another"})
    assert not other.path(stored.sha256).exists()
    assert other.digest(stored.sha256) == hashlib.sha256(b"another").hexdigest()
    with database.write() as tx:
        other.set_aside(tx, stored.sha256)
    assert other.size(stored.sha256) is None


def test_many_may_store_the_same_at_once(database: PostgresDatabase, storage: Storage, tmp_path: Path) -> None:
    contents = [bytes([number]) * 100_000 for number in range(6)]

    def store(number: int) -> None:
        blobs = _machine(storage, tmp_path / str(number))
        staged = [blobs.stage_bytes(content, "any", _LIMIT) for content in contents[number % 3 :] + contents[:3]]
        unique = list({blob.sha256: blob for blob in staged}.values())
        blobs.sync(unique)
        with database.write(lock_seconds=60.0) as tx:
            blobs.keep(tx, unique)
        blobs.close()

    in_threads(6, store)
    last = storage()
    assert list(last.names()) == sorted(hashlib.sha256(content).hexdigest() for content in contents)
    assert [last.size(name) for name in last.names()] == [100_000] * 6
    last.tidy(_A_LONG_TIME)
    assert [last.size(name) for name in last.names()] == [100_000] * 6


def test_what_was_not_used_for_long_goes_when_there_is_too_much(
    database: PostgresDatabase, storage: Storage, tmp_path: Path
) -> None:
    one, other = _machine(storage, tmp_path / "one"), _machine(storage, tmp_path / "other", kept_bytes=250_000)
    stored = [_stored(database, one, bytes([number]) * 100_000).sha256 for number in range(5)]
    for number, sha256 in enumerate(stored):
        os.utime(other.path(sha256), (number, number))
    # What is used stays, however old it is; of the others those that were used last, as many as there is room for.
    assert other.path(stored[0]).exists()
    fresh = _stored(database, one, b"f" * 100_000).sha256
    other.path(fresh)
    kept = [sha256 for sha256 in [*stored, fresh] if (other.named(sha256, 0).path).exists()]
    assert kept == [stored[0], fresh]
    assert [other.path(sha256).read_bytes()[0] for sha256 in stored] == [0, 1, 2, 3, 4]


def test_a_file_that_is_gone_before_it_is_stored_is_told_of(storage: Storage, tmp_path: Path) -> None:
    one = _machine(storage, tmp_path / "one")
    staged = one.stage_bytes(b"content", "any", _LIMIT)
    one.discard(staged)
    with pytest.raises(FileVanished):
        one.sync([staged])


def test_a_connection_that_was_cut_is_not_missed(address: str, database: PostgresDatabase, tmp_path: Path) -> None:
    one = _machine(_pieces(database), tmp_path / "one")
    _stored(database, one, b"before")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    stored = _stored(database, one, b"after")
    assert one.digest(stored.sha256) == stored.sha256
    one.close()


# --- A bucket ------------------------------------------------------------------------------------


def _objects(bucket: str) -> list[str]:
    """Every object that is in the bucket, whosever it is."""
    store = S3Store.from_url(bucket, client_options={"allow_http": True})
    return sorted(one["path"] for some in obstore.list(store) for one in some)


def _tidy(objects: BlobObjects, sha256: str, older_than_seconds: float) -> None:
    """The step in which it looks where this object would be."""
    objects._folder = int(sha256[:2], 16) - 1
    objects.tidy(older_than_seconds)


def test_an_object_that_nobody_names_goes_after_a_while(
    database: PostgresDatabase, bucket: str, tmp_path: Path
) -> None:
    objects = BlobObjects(database, bucket)
    one = _machine(lambda: objects, tmp_path / "one")
    kept = _stored(database, one, b"kept")
    left = one.stage_bytes(b"left", "any", _LIMIT)
    one.sync([left])
    before = _objects(bucket)
    _tidy(objects, left.sha256, _A_LONG_TIME)
    assert _objects(bucket) == before
    _tidy(objects, kept.sha256, -60)
    _tidy(objects, left.sha256, -60)
    assert [name.split("/")[2] for name in _objects(bucket)] == [kept.sha256]


def test_an_object_is_deleted_late_and_never_one_that_was_put_again(
    database: PostgresDatabase, bucket: str, tmp_path: Path
) -> None:
    objects = BlobObjects(database, bucket)
    one, other = (_machine(lambda: objects, tmp_path / name) for name in ("one", "other"))
    first = _stored(database, one, b"content")
    (was,) = _objects(bucket)
    assert _forget(database, one, first.sha256)
    # Until the transaction has ended it is needed, and after that in nobody's way.
    assert _objects(bucket) == [was]
    again = _stored(database, one, b"content")
    objects.tidy(_A_LONG_TIME)
    (now,) = _objects(bucket)
    assert now != was
    assert other.path(again.sha256).read_bytes() == b"content"


def test_what_is_deleted_between_putting_and_naming_is_put_once_more(
    database: PostgresDatabase, bucket: str, tmp_path: Path
) -> None:
    objects = BlobObjects(database, bucket)
    one, other = (_machine(lambda: objects, tmp_path / name) for name in ("one", "other"))
    first = _stored(database, other, b"content")
    staged = one.stage_bytes(b"content", "any", _LIMIT)
    one.sync([staged])
    _forget(database, other, first.sha256)
    objects.tidy(_A_LONG_TIME)
    assert _objects(bucket) == []
    with database.write() as tx:
        one.keep(tx, [staged])
    assert one.digest(first.sha256) == first.sha256


def test_libraries_share_a_bucket_and_nothing_in_it(database: PostgresDatabase, bucket: str, tmp_path: Path) -> None:
    mine = BlobObjects(database, bucket)
    theirs = BlobObjects(database, bucket, "another-library")
    name = theirs._put_one(_machine(lambda: theirs, tmp_path / "theirs").stage_bytes(b"theirs", "any", _LIMIT))
    stored = _stored(database, _machine(lambda: mine, tmp_path / "mine"), b"mine")
    _tidy(mine, hashlib.sha256(b"theirs").hexdigest(), -60)
    assert f"another-library/{name}" in _objects(bucket)
    _tidy(theirs, hashlib.sha256(b"theirs").hexdigest(), -60)
    assert [path.split("/")[2] for path in _objects(bucket)] == [stored.sha256]


def test_a_bucket_that_is_not_there_or_cannot_be_reached_is_told_of(
    database: PostgresDatabase, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FilesUnreachable) as caught:
        BlobObjects(database, "s3://no-such-bucket/files")
    assert caught.value.retryable
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(FilesUnreachable, match="files"):
        BlobObjects(database, bucket)
