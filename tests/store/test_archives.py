"""What is written front to back is read back the same, and nothing that was touched is taken for whole."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import BackupInvalid
from wenyuan.store.archives import ArchiveReader, ArchiveWriter

_NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,8}(/[a-z0-9][a-z0-9._-]{0,30}){0,2}", fullmatch=True)


def _invalid(reason: str) -> BackupInvalid:
    return BackupInvalid(path="x", reason=reason)


def _written(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    writer = ArchiveWriter(file, 1_700_000_000_000)
    for name, content in members.items():
        writer.add(name, content)
    writer.close({"version": 1})
    return file.getvalue()


def _read(content: bytes) -> dict[str, bytes]:
    reader = ArchiveReader(io.BytesIO(content), _invalid)
    members = {member.name: b"".join(member.pieces()) for member in reader}
    assert reader.manifest["version"] == 1
    return members


@given(st.dictionaries(_NAMES, st.binary(max_size=2000), max_size=6))
def test_what_was_written_is_read(members: dict[str, bytes]) -> None:
    assert _read(_written(members)) == members


@given(st.dictionaries(_NAMES, st.binary(max_size=600), min_size=1, max_size=3), st.data())
def test_every_changed_byte_is_noticed(members: dict[str, bytes], data: st.DataObject) -> None:
    """Except in what tar itself ignores: the padding behind a file and behind the end, and owners and modes."""
    content = bytearray(_written(members))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(BackupInvalid):
        assert _read(bytes(content)) == members


@given(st.dictionaries(_NAMES, st.binary(max_size=600), min_size=1, max_size=3), st.data())
def test_no_shorter_one_is_whole(members: dict[str, bytes], data: st.DataObject) -> None:
    content = _written(members)
    # The two blocks of zeros that end a tar file say nothing.
    end = data.draw(st.integers(0, len(content) - 2 * 512 - 1))
    with pytest.raises(BackupInvalid):
        _read(content[:end])


@given(st.binary(max_size=3000))
def test_noise_is_refused(content: bytes) -> None:
    with pytest.raises(BackupInvalid):
        _read(content)


def test_other_programs_read_it_and_check_it(tmp_path: Path) -> None:
    content = _written({"a.txt": b"words", "b/c.bin": bytes(range(256)) * 5})
    (tmp_path / "it.tar").write_bytes(content)
    subprocess.run(["tar", "xf", "it.tar"], cwd=tmp_path, check=True)
    assert (tmp_path / "b" / "c.bin").read_bytes() == bytes(range(256)) * 5
    checked = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert checked.stdout.splitlines() == ["a.txt: OK", "b/c.bin: OK"]
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert manifest["sums"] == hashlib.sha256((tmp_path / "SHA256SUMS").read_bytes()).hexdigest()


# --- What only someone hostile writes -------------------------------------------------------------


def _made(*entries: tuple[tarfile.TarInfo, bytes], whole: bool = True) -> bytes:
    """An archive of any entries, with sums and manifest that are right."""
    file = io.BytesIO()
    sums = b""
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry, content in entries:
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
            sums += f"{hashlib.sha256(content).hexdigest()}  {entry.name}\n".encode()
        if whole:
            for name, content in (
                ("SHA256SUMS", sums),
                ("manifest.json", json.dumps({"version": 1, "sums": hashlib.sha256(sums).hexdigest()}).encode()),
            ):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def _entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def test_what_someone_else_writes_right_is_read() -> None:
    assert _read(_made((_entry("a"), b"words"))) == {"a": b"words"}


@pytest.mark.parametrize(
    "entry",
    [
        _entry("../outside"),
        _entry("/etc/passwd"),
        _entry("a/../../outside"),
        _entry("a//b"),
        _entry("./a"),
        _entry("a\x01b"),
        _entry("-rf"),
        _entry("名"),
        _entry("link", tarfile.SYMTYPE, "/etc/passwd"),
        _entry("link", tarfile.LNKTYPE, "a"),
        _entry("device", tarfile.CHRTYPE),
        _entry("fifo", tarfile.FIFOTYPE),
        _entry("folder", tarfile.DIRTYPE),
        _entry("sparse", tarfile.GNUTYPE_SPARSE),
        _entry("long" * 60),
    ],
    ids=lambda entry: entry.name[:20],
)
def test_a_name_or_kind_that_is_not_ours_is_refused(entry: tarfile.TarInfo) -> None:
    with pytest.raises(BackupInvalid):
        _read(_made((_entry("a"), b"words"), (entry, b"")))


def test_the_same_name_twice_is_refused() -> None:
    with pytest.raises(BackupInvalid, match="twice"):
        _read(_made((_entry("a"), b"words"), (_entry("a"), b"words")))


def test_a_size_beyond_the_file_is_refused_without_making_room_for_it() -> None:
    entry = _entry("a")
    entry.size = 1 << 60
    with pytest.raises(BackupInvalid, match="ends in the middle"):
        _read(entry.tobuf(tarfile.GNU_FORMAT) + b"words")


@pytest.mark.parametrize("content", [b"[" * 100_000, b"{", b"\xff\xfe", b"NaN", b"[]", b'{"version": 1}'])
def test_a_manifest_that_is_none_is_refused(content: bytes) -> None:
    sums = hashlib.sha256(b"").hexdigest()
    assert sums
    with pytest.raises(BackupInvalid):
        _read(_made((_entry("SHA256SUMS"), b""), (_entry("manifest.json"), content), whole=False))


def test_what_follows_behind_the_end_is_refused() -> None:
    content = _made((_entry("a"), b"words"))
    assert _read(content + bytes(10_240)) == {"a": b"words"}
    with pytest.raises(BackupInvalid, match="behind its end"):
        _read(content + bytes(10_240) + b"more")


def test_a_file_that_is_not_what_it_should_be_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "file"
    source.write_bytes(b"words" * 1000)
    with (tmp_path / "it.tar").open("wb+") as file:
        writer = ArchiveWriter(file, 0)
        writer.add("before", b"x")
        assert not writer.add_file("other", source, hashlib.sha256(b"others").hexdigest())
        with pytest.raises(FileNotFoundError):
            writer.add_file("gone", tmp_path / "gone")
        assert writer.add_file("same", source, hashlib.sha256(b"words" * 1000).hexdigest())
        writer.close({"version": 1})
        assert set(_reread(file)) == {"before", "same"}


def _reread(file: BinaryIO) -> dict[str, bytes]:
    file.seek(0)
    return _read(file.read())
