"""Which files a path means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wenyuan.errors import InvalidValue, PathNotFound
from wenyuan.flows.gather import Gathering, gather


def made(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", "utf-8")


def gathered(root: Path, *paths: Path, exclude: tuple[str, ...] = (), library: Path | None = None) -> list[str]:
    found = gather(paths or [root], exclude, library or root / "none", Gathering())
    return [path.relative_to(root).as_posix() for path in found]


def test_a_folder_is_walked_in_order_without_hidden_and_generated_files(tmp_path: Path) -> None:
    made(
        tmp_path, "b.md", "a/手册.txt", ".git/config", ".hidden.md", "node_modules/x.js", "a/__pycache__/y.py", "~$b.md"
    )
    assert gathered(tmp_path) == ["b.md", "a/手册.txt"]


def test_unread_types_are_counted_in_a_folder_and_taken_when_named(tmp_path: Path) -> None:
    made(tmp_path, "a.mp3", "b.MP3", "c.txt")
    gathering = Gathering()
    assert [path.name for path in gather([tmp_path], (), tmp_path / "none", gathering)] == ["c.txt"]
    assert gathering.passed_over[".mp3"] == 2
    assert gathered(tmp_path, tmp_path / "a.mp3") == ["a.mp3"]


def test_pictures_are_taken_where_their_text_is_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "scan.png", "photo.JPG", "c.txt")
    assert gathered(tmp_path) == ["c.txt", "photo.JPG", "scan.png"]
    monkeypatch.setattr("wenyuan.flows.gather.is_installed", lambda: False)
    assert gathered(tmp_path) == ["c.txt"]


def test_patterns_exclude_by_name_and_by_path(tmp_path: Path) -> None:
    made(tmp_path, "keep.md", "draft-1.md", "old/x.md", "old/y.md")
    assert gathered(tmp_path, exclude=("draft-*", "old/*")) == ["keep.md"]


def test_what_git_ignores_is_left_out_folder_by_folder(tmp_path: Path) -> None:
    made(tmp_path, "a.md", "b.md", "sub/a.md", "sub/c.md", "sub/deep/c.md", "build/x.md", "other/a.md")
    (tmp_path / ".gitignore").write_text("/a.md\nbuild/\n")
    (tmp_path / "sub" / ".gitignore").write_text("c.md\n!deep/c.md\n")
    gathering = Gathering()
    found = gather([tmp_path], (), tmp_path / "none", gathering)
    assert [path.relative_to(tmp_path).as_posix() for path in found] == [
        *("b.md", "other/a.md", "sub/a.md", "sub/deep/c.md")
    ]
    assert gathering.passed_over["ignored"] == 3
    assert gathered(tmp_path, tmp_path / "a.md") == ["a.md"]


def test_files_of_editors_and_downloads_that_are_not_finished_are_left_out(tmp_path: Path) -> None:
    made(tmp_path, "x.md", "~$x.docx", ".x.md.swp", "x.md~", "x.md.part", "x.md.crdownload", "#x.md#", ".~lock.x.odt#")
    assert gathered(tmp_path) == ["x.md"]


def test_the_folder_of_any_library_is_left_out(tmp_path: Path) -> None:
    made(tmp_path, "x.md", "archive/wenyuan.db", "archive/wenyuan.toml.md")
    gathering = Gathering()
    assert [path.name for path in gather([tmp_path], (), tmp_path / "none", gathering)] == ["x.md"]
    assert gathering.passed_over["library"] == 1


def test_a_file_meant_twice_comes_once(tmp_path: Path) -> None:
    made(tmp_path, "a/x.md")
    assert gathered(tmp_path, tmp_path, tmp_path / "a", tmp_path / "a" / "x.md") == ["a/x.md"]


def test_the_library_and_links_to_folders_are_left_out(tmp_path: Path) -> None:
    made(tmp_path, "x.md", "library/wenyuan.db.md", "real/y.md")
    os.symlink(tmp_path, tmp_path / "real" / "loop")
    os.symlink(tmp_path / "x.md", tmp_path / "link.md")
    assert gathered(tmp_path, library=tmp_path / "library") == ["link.md", "x.md", "real/y.md"]


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathNotFound):
        gathered(tmp_path, tmp_path / "nowhere")


def test_one_missing_path_stops_before_the_first_file(tmp_path: Path) -> None:
    made(tmp_path, "x.md")
    with pytest.raises(PathNotFound):
        gather([tmp_path, tmp_path / "nowhere"], (), tmp_path / "none", Gathering())


def test_a_path_inside_the_library_is_refused(tmp_path: Path) -> None:
    made(tmp_path, "library/blobs/ab/cdef")
    for path in (tmp_path / "library", tmp_path / "library" / "blobs", tmp_path / "library" / "blobs" / "ab" / "cdef"):
        with pytest.raises(InvalidValue):
            gather([path], (), tmp_path / "library", Gathering())
