"""Files inside of files: under which paths they come out, and which do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archive_files import PASSWORD, locked_zip, tar_of, zip_of
from wenyuan.errors import DocumentError, FileEncrypted, FileMalformed, FileOverLimit, PasswordWrong
from wenyuan.parsers.members import MemberGate, in_pieces, member_path
from wenyuan.parsers.reading import read_file
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader
from wenyuan.types import Block, Facts, Member, Notice, ReadEvent

TEXT = b"The grey heron winters at the lake.\n"


def members_of(events: Sequence[ReadEvent]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for event in events:
        if isinstance(event, Member):
            found[event.path] = found.get(event.path, b"") + event.data
    return found


def notices_of(events: Sequence[ReadEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, Notice)]


def read(tmp_path: Path, name: str, content: bytes, password: str = "") -> list[ReadEvent]:
    path = tmp_path / "stored"
    path.write_bytes(content)
    return list(read_file(path, name, password=password))


# --- Paths ---------------------------------------------------------------------------------------


@given(st.text(max_size=60) | st.text(st.sampled_from("./\\a é\0\n\u2028\ud800"), max_size=30))
def test_no_path_leads_out(path: str) -> None:
    sound = member_path(path)
    parts = sound.split("/")
    assert sound
    assert not sound.startswith("/")
    assert not {"", ".", ".."} & set(parts)
    assert sound.isprintable() or not any(character in sound for character in "\0\n\u2028")
    sound.encode()
    assert member_path(sound) == sound


def test_a_long_path_keeps_its_end() -> None:
    assert member_path("x/" * 400 + "name.docx").endswith("/name.docx")
    assert len(member_path("x/" * 400 + "name.docx")) <= 500


# --- Pieces --------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=9), max_size=5))
def test_pieces_join_to_the_file(content: list[bytes]) -> None:
    pieces = list(in_pieces("a", iter(content)))
    assert b"".join(piece.data for piece in pieces) == b"".join(content)
    assert [piece.is_last for piece in pieces] == [False] * (len(pieces) - 1) + [True]


def test_a_large_file_comes_in_small_pieces() -> None:
    pieces = list(in_pieces("a", bytes(1_000_000)))
    assert len(pieces) == 4
    assert max(len(piece.data) for piece in pieces) <= 1 << 18


# --- What comes through --------------------------------------------------------------------------


def passed(gate: MemberGate, *members: Member) -> list[Member]:
    return [one for member in members for one in gate.passed(member)]


def test_paths_that_are_alike_are_told_apart() -> None:
    gate = MemberGate("a.eml")
    found = passed(gate, *(Member("notes.txt", TEXT) for _ in range(3)), Member("notes (2).txt", TEXT))
    assert [one.path for one in found] == ["notes.txt", "notes (2).txt", "notes (3).txt", "notes (2) (2).txt"]


def test_what_no_reader_knows_is_left_out_and_named() -> None:
    gate = MemberGate("a.zip")
    film, text = Member("film.mp4", b"\0\0\0\x18ftypmp42"), Member("a.txt", TEXT)
    utf16 = Member("wide.txt", "宽".encode("utf-16"))
    found = passed(gate, film, text, Member("nothing.txt", b""), utf16, Member("x/.DS_Store", b"\0Bud1"))
    assert [one.path for one in found] == ["a.txt", "wide.txt"]
    (notice,) = gate.notices()
    assert notice.message.endswith("film.mp4, nothing.txt.")


def test_more_than_the_bounds_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wenyuan.parsers.members.MOST_MEMBERS", 2)
    monkeypatch.setattr("wenyuan.parsers.members.MOST_BYTES", 100)
    gate = MemberGate("a.zip")
    with pytest.raises(FileOverLimit):
        passed(gate, *(Member(name, b"x") for name in "abc"))
    with pytest.raises(FileOverLimit):
        passed(MemberGate("a.zip"), Member("a", bytes(60), is_last=False), Member("a", bytes(60)))


# --- Archives ------------------------------------------------------------------------------------


@pytest.mark.proves("archive", "text")
def test_an_archive_lists_its_files_and_gives_them(tmp_path: Path) -> None:
    events = read(tmp_path, "a.zip", zip_of({"鸟/heron.txt": TEXT, "b.md": b"# B\n", "__MACOSX/._b.md": b"\0"}))
    assert members_of(events) == {"鸟/heron.txt": TEXT, "b.md": b"# B\n"}
    (block,) = (event for event in events if isinstance(event, Block))
    assert (block.text, block.anchor.name) == ("鸟/heron.txt\nb.md", "contents")
    assert [event.quality for event in events if isinstance(event, Facts)] == [{"files": 2}]


def test_names_of_chinese_windows_are_read(tmp_path: Path) -> None:
    written = zip_of({"xxxx.txt": TEXT}).replace(b"xxxx.txt", "报告".encode("gb18030") + b".txt")
    assert list(members_of(read(tmp_path, "a.zip", written))) == ["报告.txt"]


def test_a_damaged_file_is_left_out_alone(tmp_path: Path) -> None:
    content = bytearray(zip_of({"bad.txt": bytes(range(200)) * 3, "good.txt": TEXT}))
    content[45] ^= 0xFF
    events = read(tmp_path, "a.zip", bytes(content))
    assert members_of(events) == {"good.txt": TEXT}
    assert notices_of(events) == ["members-damaged"]


def test_a_password_opens_an_archive(tmp_path: Path) -> None:
    with pytest.raises(FileEncrypted):
        read(tmp_path, "a.zip", locked_zip())
    with pytest.raises(PasswordWrong):
        read(tmp_path, "a.zip", locked_zip(), "no")
    assert list(members_of(read(tmp_path, "a.zip", locked_zip(), PASSWORD))) == ["secret.md"]


def test_a_password_that_was_typed_in_chinese_windows(tmp_path: Path) -> None:
    events = read(tmp_path, "a.zip", locked_zip("gbk"), PASSWORD)
    assert members_of(events) == {"secret.md": "琥珀项目的密钥在三号柜。".encode()}
    with pytest.raises(PasswordWrong):
        read(tmp_path, "a.zip", locked_zip("gbk"), "关门 open")


def test_no_wrong_password_makes_another_file_of_it(tmp_path: Path) -> None:
    for number in range(600):
        with pytest.raises(PasswordWrong):
            read(tmp_path, "a.zip", locked_zip(), f"wrong {number}")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_archives_in_every_wrapping(tmp_path: Path, mode: str) -> None:
    events = read(tmp_path, "a.tar", tar_of({"x/heron.txt": TEXT, "y.md": b"# Y"}, mode))
    assert members_of(events) == {"x/heron.txt": TEXT, "y.md": b"# Y"}


def test_a_single_compressed_file_is_one_file(tmp_path: Path) -> None:
    import gzip

    assert members_of(read(tmp_path, "heron.txt.gz", gzip.compress(TEXT))) == {"heron.txt": TEXT}


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_half_a_tar_archive_is_malformed(tmp_path: Path, mode: str) -> None:
    whole = tar_of({f"{number}.bin": bytes(range(256)) * number for number in range(99)}, mode)
    with pytest.raises(FileMalformed):
        read(tmp_path, "a.tgz", whole[: len(whole) // 2])


@given(st.binary(max_size=80), st.integers(0, 200))
@pytest.mark.proves("archive", "limits")
def test_whatever_stands_in_an_archive_ends_well(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("junk")
    for content in (zip_of({"a.txt": TEXT}), tar_of({"a.txt": TEXT}, "w:gz")):
        try:
            read(folder, "a.zip", content[:at] + junk + content[at + len(junk) :])
        except DocumentError:
            continue


def test_files_inside_come_through_the_child_process(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    large = bytes(range(32, 127)) * 20_000
    path.write_bytes(zip_of({"large.txt": large, "heron.txt": TEXT}))
    with SandboxedReader(ReadLimits()) as reader:
        assert members_of(list(reader.read(path, "a.zip"))) == {"large.txt": large, "heron.txt": TEXT}
