from __future__ import annotations

import contextlib
import io
import random
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.archive_files import locked_zip
from tests.parsers.office_files import package
from wenyuan.errors import FileEncrypted, FileMalformed, FileOverLimit, PasswordWrong
from wenyuan.parsers.office import zip_archive
from wenyuan.parsers.office.zip_archive import MOST_MEMBERS, opened_archive


def read_all(path: Path, password: str = "") -> dict[str, bytes]:
    with opened_archive(path, "a.zip", "ZIP", password) as archive:
        return {name: archive.read(name) for name in archive.names}


def written(folder: Path, content: bytes) -> Path:
    path = folder / "a.zip"
    path.write_bytes(content)
    return path


@given(st.dictionaries(st.sampled_from(["a.xml", "b/c.xml", "中/文.xml"]), st.binary(max_size=400)))
@settings(max_examples=30)
def test_members_come_back_as_they_are(tmp_path_factory: pytest.TempPathFactory, parts: dict[str, bytes]) -> None:
    folder = tmp_path_factory.mktemp("zip")
    assert read_all(written(folder, package(parts))) == parts


def test_capitals_and_backslashes_in_names_do_not_matter(tmp_path: Path) -> None:
    path = written(tmp_path, package({"Word\\Document.xml": "x"}))
    with opened_archive(path, "a.zip", "ZIP") as archive:
        assert archive.names == ("Word/Document.xml",)
        assert "word/document.xml" in archive
        assert archive.read("word/document.xml") == b"x"


def test_a_member_can_be_read_in_pieces(tmp_path: Path) -> None:
    content = random.Random(1).randbytes(700_000)
    path = written(tmp_path, package({"a": content}))
    with opened_archive(path, "a.zip", "ZIP") as archive, archive.open("a") as file:
        pieces = list(iter(lambda: file.read(100_000), b""))
    assert b"".join(pieces) == content
    assert len(pieces) >= 7


@pytest.mark.parametrize("member", ["../out", "a/../../out", "/etc/passwd", "C:/out", "a\\..\\..\\out", "..\\out"])
def test_names_that_lead_outside_are_refused(tmp_path: Path, member: str) -> None:
    with pytest.raises(FileMalformed, match="outside"):
        read_all(written(tmp_path, package({"ok": "x", member: "x"})))


def test_a_member_that_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path, package({"a": "x"}))
    with opened_archive(path, "a.zip", "ZIP") as archive, pytest.raises(FileMalformed, match=r"b\.xml is missing"):
        archive.read("b.xml")


def test_more_members_than_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, package({str(number): "" for number in range(MOST_MEMBERS + 1)}))
    with pytest.raises(FileOverLimit, match="10,001 parts"):
        read_all(path)


def test_a_directory_of_many_members_is_not_even_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small count in front of a long directory does not help either."""
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 60_000, 60_000, 6_000_000, 0, 0)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(FileOverLimit, match="60,000 parts"):
        read_all(written(tmp_path, bytes(6_000_000) + end))
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 3, 3, 6_000_000, 0, 0)
    with pytest.raises(FileOverLimit, match="directory of 6,000,000 bytes"):
        read_all(written(tmp_path, bytes(6_000_000) + end))


def test_what_unpacks_to_far_more_than_its_size(tmp_path: Path) -> None:
    with pytest.raises(FileOverLimit, match="250 times its size"):
        read_all(written(tmp_path, package({"a.xml": bytes(40_000_000)})))


def test_what_all_members_unpack_to_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MOST_BYTES", 2_500)
    parts = {name: random.Random(name).randbytes(1_000) for name in "abc"}
    path = written(tmp_path, package(parts))
    with pytest.raises(FileOverLimit, match="when unpacked"):
        read_all(path)


def test_the_directory_is_not_believed(tmp_path: Path) -> None:
    """A directory that names a small size does not make a large member small."""
    content = bytearray(package({"a": b"x" * 100_000}))
    at = content.rindex(b"PK\x01\x02")
    struct.pack_into("<L", content, at + 24, 10)
    with pytest.raises(FileMalformed, match="damaged"):
        read_all(written(tmp_path, bytes(content)))


def test_members_behind_a_password(tmp_path: Path) -> None:
    path = written(tmp_path, locked_zip())
    with pytest.raises(FileEncrypted):
        read_all(path)
    with pytest.raises(PasswordWrong):
        read_all(path, "not this one")


def test_an_archive_of_nothing(tmp_path: Path) -> None:
    assert read_all(written(tmp_path, b"PK\x05\x06" + bytes(18))) == {}


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"", b"no archive at all"])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FileMalformed):
        read_all(written(tmp_path, content))


@given(st.data())
@settings(max_examples=60)
def test_damage_is_an_error_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(package({"a.xml": "<a>" + "text " * 50 + "</a>", "b.xml": "b" * 300}))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = written(tmp_path_factory.mktemp("zip"), bytes(content[: data.draw(st.integers(0, len(content)))]))
    with contextlib.suppress(FileMalformed, FileOverLimit, FileEncrypted):
        read_all(path)


def test_reading_goes_on_after_an_archive_with_a_comment(tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.comment = b"c" * 60_000
        archive.writestr("a", "x")
    assert read_all(written(tmp_path, held.getvalue())) == {"a": b"x"}


def test_a_member_without_a_name_is_none(tmp_path: Path) -> None:
    # A name ends at its first zero byte.
    content = package({"qqqq": "x"}).replace(b"qqqq", b"\0qqq")
    assert read_all(written(tmp_path, content)) == {}
