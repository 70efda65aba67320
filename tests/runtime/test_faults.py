"""Bad input and failing machines: a coded error with a hint, nothing lost, the rest goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.errors import (
    EmptyQuestion,
    InvalidValue,
    KnowledgeBaseArchived,
    KnowledgeBaseNotFound,
    KnowledgeBaseProtected,
    LibraryLocked,
    LibraryNotFound,
    LibraryReadOnly,
    NotALibrary,
    PathNotFound,
)
from wenyuan.flows.gather import Gathering, gather
from wenyuan.flows.receive import receive
from wenyuan.runtime.library import Library

KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as opened:
        yield opened


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "good.md").write_text("# 体检\n\n每年安排一次健康体检。", "utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.md", b"", "file-empty"),
        ("blank.txt", b"  \n\t\n", "no-text"),
        ("binary.txt", bytes(range(256)) * 40, "file-binary"),
        ("picture.txt", b"\x89PNG\r\n\x1a\n" + bytes(100), "file-malformed"),
        ("sound.txt", b"fLaC" + bytes(100), "unsupported-type"),
        ("broken.json", b'{"a": [1, 2', "file-malformed"),
        ("deep.json", b"[" * 200_000 + b"]" * 200_000, "file-malformed"),
    ],
)
def test_a_file_at_fault_fails_alone_with_its_code(
    library: Library, notes: Path, name: str, content: bytes, code: str
) -> None:
    (notes / name).write_bytes(content)
    report = library.add(notes)
    assert [received.outcome for received in report.received] == ["added", "added"]
    problem = library.documents.show(name).latest.problem
    assert problem is not None
    assert (problem.code, bool(problem.message), bool(problem.hint)) == (code, True, True)
    assert library.documents.show("good.md").latest.state == "ready"
    assert [hit.passage.document_name for hit in library.search("健康").hits] == ["good.md"]
    assert library.check() == []


def test_a_path_that_vanishes_is_reported_and_the_rest_goes_on(library: Library, notes: Path) -> None:
    (notes / "gone.md").write_text("x", "utf-8")
    files = list(gather([notes], (), library.path, Gathering()))
    (notes / "gone.md").unlink()
    received = list(receive(library.receiving(), library.knowledge_bases.find(None), files))
    problems = {Path(one.source).name: one.problem.code if one.problem else None for one in received}
    assert problems == {"gone.md": "file-vanished", "good.md": None}


def test_what_is_no_regular_file_is_refused(library: Library, notes: Path) -> None:
    os.mkfifo(notes / "pipe.md")
    report = library.add(notes)
    problems = {Path(one.source).name: one.problem.code if one.problem else None for one in report.received}
    assert problems == {"good.md": None, "pipe.md": "file-unreadable"}


def test_a_file_over_the_limit_leaves_nothing_behind(tmp_path: Path, notes: Path) -> None:
    (notes / "large.txt").write_text("字" * 2000, "utf-8")
    with wy.open(tmp_path / "l", environment={**KEYWORD_ONLY, "WENYUAN_LIMITS_FILE_BYTES": "1000"}) as library:
        report = library.add(notes)
        assert [one.problem.code for one in report.received if one.problem] == ["file-too-large"]
        assert list((library.path / "blobs" / "incoming").iterdir()) == []
        assert [view.document.name for view in library.documents.list()] == ["good.md"]


ADD_AND_MEASURE = """
import pathlib, re, resource, sys, wenyuan as wy
with wy.open(sys.argv[1]) as library:
    library.add(sys.argv[2])
    view = library.documents.list()[0]
# Not ru_maxrss of this process: that still counts the program it was forked from.
own = int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
readers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(view.latest.state, view.latest.chunk_count, 1024 * max(own, readers))
"""


# Two hundred take minutes: they are left to `make soak`. Memory that grew with the file would show at twelve.
@pytest.mark.parametrize("megabytes", [12, pytest.param(200, marks=pytest.mark.soak)])
def test_a_large_text_streams_through_bounded_memory(tmp_path: Path, megabytes: int) -> None:
    large = tmp_path / "large.txt"
    line = "水文观测记录：今日水位正常，仪器已校准，数据已上传。Observed at the station.\n"
    with large.open("w", encoding="utf-8") as file:
        for _ in range(megabytes):
            file.write(line * (1_000_000 // len(line.encode())))
    result = subprocess.run(
        [sys.executable, "-c", ADD_AND_MEASURE, str(tmp_path / "library"), str(large)],
        capture_output=True,
        text=True,
        env={**os.environ, **KEYWORD_ONLY},
        check=True,
    )
    state, chunks, peak = result.stdout.split()
    assert state == "ready"
    assert int(chunks) > 500 * megabytes
    assert int(peak) < 220_000_000


def test_questions_that_make_no_sense_are_refused(library: Library) -> None:
    with pytest.raises(EmptyQuestion):
        library.search("  \n")
    with pytest.raises(InvalidValue):
        library.search("x", top_k=0)
    with pytest.raises(InvalidValue):
        library.search("长" * 5000)
    with pytest.raises(KnowledgeBaseNotFound):
        library.search("x", kb="nowhere")
    with pytest.raises(PathNotFound):
        library.add("/nowhere/at/all")


def test_a_knowledge_base_that_makes_no_sense_is_refused(library: Library, notes: Path) -> None:
    for name in ("", " x", "a\nb", "x" * 300):
        with pytest.raises(InvalidValue):
            library.knowledge_bases.create(name)
    with pytest.raises(KnowledgeBaseProtected):
        library.knowledge_bases.delete("default")
    library.knowledge_bases.create("old")
    library.knowledge_bases.archive("old")
    with pytest.raises(KnowledgeBaseArchived):
        library.add(notes, kb="old")


def test_places_that_hold_no_library_are_refused(tmp_path: Path, notes: Path) -> None:
    with pytest.raises(LibraryNotFound):
        wy.open(tmp_path / "none", create=False)
    with pytest.raises(NotALibrary):
        wy.open(notes)
    with pytest.raises(NotALibrary):
        wy.open(notes / "good.md")
    assert sorted(path.name for path in notes.iterdir()) == ["good.md"]


def test_a_library_locked_by_another_program_says_so(tmp_path: Path, notes: Path) -> None:
    environment = {**KEYWORD_ONLY, "WENYUAN_WORKER_LOCK_SECONDS": "0.2"}
    with (
        wy.open(tmp_path / "library", environment=environment) as mine,
        wy.open(tmp_path / "library", environment=environment) as other,
    ):
        with other._database.write(), pytest.raises(LibraryLocked):
            mine.add(notes)
        mine.add(notes)
        assert [view.latest.state for view in mine.documents.list()] == ["ready"]


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, wenyuan as wy\n"
        "with wy.open(sys.argv[1], environment={'WENYUAN_DEFAULTS_EMBEDDING_MODEL': ''}) as library:\n"
        "    library.add(sys.argv[2])\n"
    )
    for number in range(2):
        folder = tmp_path / f"notes{number}"
        folder.mkdir()
        for file in range(20):
            (folder / f"{number}-{file}.md").write_text(f"第{number}组第{file}份记录", "utf-8")
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "library"), str(tmp_path / f"notes{number}")])
        for number in range(2)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library:
        library.drain()
        assert [view.latest.state for view in library.documents.list()] == ["ready"] * 40
        assert library.check() == []


ON_A_SMALL_DISK = """
import subprocess, sys, pathlib, wenyuan as wy
from wenyuan.errors import WenyuanError
disk, notes = pathlib.Path(sys.argv[1]), sys.argv[2]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], check=True)
with wy.open(disk / "library") as library:
    try:
        library.add(notes)
    except WenyuanError as error:
        print(error.code)
    subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
    library.add(notes)
    print(sorted({view.latest.state for view in library.documents.list()}), len(library.documents.list()))
    print(library.check())
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
try:
    with wy.open(disk / "library") as library:
        library.add(notes)
except WenyuanError as error:
    print(error.code)
"""


def test_a_full_disk_and_a_read_only_one(tmp_path: Path, notes: Path) -> None:
    for number in range(40):
        (notes / f"{number}.md").write_text(f"第{number}份\n" + "水位观测。" * 15_000, "utf-8")
    disk = tmp_path / "disk"
    disk.mkdir()
    # A mount of its own, in a namespace of its own: nothing outside the test sees it.
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--user", "--map-root-user"]
    result = subprocess.run(
        [*own, sys.executable, "-c", ON_A_SMALL_DISK, str(disk), str(notes)],
        capture_output=True,
        text=True,
        env={**os.environ, **KEYWORD_ONLY},
        check=False,
    )
    assert result.stdout.splitlines() == ["disk-full", "['ready'] 41", "[]", "library-read-only"], result.stderr


def test_read_only_folder_of_a_new_library(tmp_path: Path) -> None:
    with pytest.raises(LibraryReadOnly):
        wy.open("/proc/wenyuan-library")
    assert not (tmp_path / "wenyuan-library").exists()
