"""Folders kept in step by the program as people run it: real processes, signals and file systems."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.program import run_here
from tests.waiting import until
from tests.web_server import Answer, WebServer
from wenyuan.runtime.library import Library
from wenyuan.runtime.opening import open_library

PROGRAM = (sys.executable, "-m", "wenyuan.doors.cli")
ENVIRONMENT = {
    "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "",
    "WENYUAN_WATCH_QUIET_SECONDS": "0.2",
    "WENYUAN_WATCH_UNWATCHED_SECONDS": "0.5",
    "LANG": "C.UTF-8",
}
_PATIENCE_SECONDS = 60.0


def run(library: Path, *arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """One command, in this process: what is started as one of its own is what goes on for long."""
    return run_here("--library", library, *arguments, **ENVIRONMENT, **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    (path / "sub").mkdir(parents=True)
    (path / "quince.txt").write_text("榅桲 quince jelly", "utf-8")
    (path / "sub" / "pear.txt").write_text("pear cheese")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "library"


@contextmanager
def running(library: Path, *arguments: str | Path, prefix: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    command = [*prefix, *PROGRAM, "--library", str(library), *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT}
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def texts(library: Library) -> dict[str, str]:
    """What every searchable document says, by its name."""
    return {
        view.document.name: "\n".join(chunk.text for chunk in library.documents.chunks(view.document.id))
        for view in library.documents.list()
        if view.searchable
    }


# --- Once --------------------------------------------------------------------------------------------


def test_a_folder_is_added_synced_shown_and_removed(home: Path, folder: Path) -> None:
    added = run(home, "sources", "add", folder)
    assert (added.returncode, added.stdout.splitlines()[0]) == (0, f"{folder}: 2 added.")
    (folder / "sub").rename(folder / "moved")
    (folder / "quince.txt").unlink()
    planned = run(home, "sync", "--dry-run")
    assert planned.stdout.splitlines() == [
        f"{folder}, if it were synced: 1 moved, 1 deleted.",
        f"  moved {folder}/moved/pear.txt (was {folder}/sub/pear.txt)",
        f"  deleted {folder}/quince.txt",
    ]
    synced = json.loads(run(home, "sync", folder, "--json").stdout)
    assert [change["what"] for change in synced[0]["changes"]] == ["moved", "deleted"]
    listed = run(home, "sources", "list")
    assert str(folder) in listed.stdout
    assert "in step" in listed.stdout
    assert json.loads(run(home, "sources", "show", folder, "--json").stdout)["counts"]["documents"] == 1
    undecided = run(home, "sources", "remove", folder)
    assert (undecided.returncode, "--keep-documents" in undecided.stderr) == (2, True)
    removed = run(home, "sources", "remove", folder, "--delete-documents", WENYUAN_LANG="zh")
    assert removed.stdout == f"{folder} 不再是来源；删除 1 个文档。你自己的文件没有变动。\n"
    assert run(home, "docs", "list", "--json").stdout.strip() == "[]"


def test_a_folder_that_is_not_there_ends_with_a_problem(home: Path, folder: Path) -> None:
    run(home, "sources", "add", folder)
    folder.rename(folder.with_name("unmounted"))
    synced = run(home, "sync")
    assert (synced.returncode, "error[source-missing]" in synced.stdout) == (4, True)
    folder.mkdir()
    assert "error[source-emptied]" in run(home, "sync").stdout
    assert "problem" in run(home, "sources", "list").stdout
    assert run(home, "sync", "--allow-empty").returncode == 0


def test_sources_can_be_paused(home: Path, folder: Path) -> None:
    run(home, "sources", "add", folder)
    assert run(home, "sources", "pause", folder).returncode == 0
    (folder / "new.txt").write_text("plum")
    assert "All sources are paused." in run(home, "sync").stdout
    assert run(home, "sources", "resume", folder).returncode == 0
    assert "1 added" in run(home, "sync").stdout


def test_a_file_of_a_source_that_could_not_be_read_is_told(home: Path, folder: Path) -> None:
    run(home, "sources", "add", folder)
    (folder / "broken.json").write_text('{"readings": [1, 2')
    for _ in range(2):
        done = run(home, "sync")
        assert (done.returncode, "1 document of these sources could not be read" in done.stdout) == (4, True)
    (folder / "broken.json").write_text('{"readings": [1, 2]}')
    assert run(home, "sync").returncode == 0


def test_a_text_from_standard_input_has_a_name(home: Path) -> None:
    command = [*PROGRAM, "--library", str(home), "add", "-"]
    given = "# 笔记\n\nmedlar".encode()
    for name, exit_code in (("note.md", 0), ("note.md", 0)):
        done = subprocess.run([*command, "--name", name], input=given, env={**os.environ, **ENVIRONMENT}, check=False)
        assert done.returncode == exit_code
    assert subprocess.run(command, input=given, env={**os.environ, **ENVIRONMENT}, check=False).returncode == 2
    named = [view["document"]["source"] for view in json.loads(run(home, "docs", "list", "--json").stdout)]
    assert named == ["text:note.md"]


def test_a_page_is_added_by_its_address(home: Path) -> None:
    with WebServer().running() as server:
        server.pages["/a"] = Answer(b"<p>Quince sets.</p>", headers={"Content-Type": "text/html"})
        refused = run(home, "add", server.url("/a"))
        assert (refused.returncode, "error[address-refused]" in refused.stdout) == (4, True)
        added = run(home, "add", server.url("/a"), "--allow-private")
        assert (added.returncode, added.stdout.splitlines()[0]) == (0, 'Knowledge base "default": 1 added.')
        assert server.url("/a") in run(home, "search", "quince", "--json").stdout
        every = run(home, "sources", "add", server.url("/a"), "--every", "soon")
        assert (every.returncode, "--every" in every.stderr) == (2, True)


# --- Watching ----------------------------------------------------------------------------------------


def test_what_happens_in_a_watched_folder_happens_in_the_library(home: Path, folder: Path) -> None:
    run(home, "sources", "add", folder)
    with open_library(home, environment=ENVIRONMENT) as library, running(home, "watch", "--json") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["unchanged"] == 2
        pear = library.documents.find("pear.txt").document.id

        # A new file, and one that an editor saves by giving its name to another one.
        (folder / "plum.txt").write_text("plum tart")
        (folder / ".quince.txt.swp").write_text("swap")
        (folder / "4913~").write_text("quince paste")
        (folder / "4913~").rename(folder / "quince.txt")
        (folder / ".quince.txt.swp").unlink()
        until(lambda: texts(library).get("plum.txt") == "plum tart", process=process)
        until(lambda: texts(library).get("quince.txt") == "quince paste", process=process)

        # A folder is renamed; the document in it stays the same one.
        (folder / "sub").rename(folder / "moved")
        until(lambda: library.documents.show(pear).document.source == f"{folder}/moved/pear.txt", process=process)

        # Deleted and made again, and deleted for good.
        (folder / "plum.txt").unlink()
        (folder / "plum.txt").write_text("plum jam")
        (folder / "quince.txt").unlink()
        until(lambda: texts(library) == {"pear.txt": "pear cheese", "plum.txt": "plum jam"}, process=process)

        # Many at once, in new folders.
        for number in range(300):
            (folder / f"d{number % 7}").mkdir(exist_ok=True)
            (folder / f"d{number % 7}" / f"{number}.txt").write_text(f"number {number}")
        until(lambda: len(texts(library)) == 302, process=process)
        assert library.documents.show(pear).document.id == pear

        process.send_signal(signal.SIGINT)
        process.communicate(timeout=_PATIENCE_SECONDS)
        assert process.returncode == 130
    assert run(home, "check").returncode == 0


def test_a_file_that_is_being_written_is_taken_when_it_is_whole(home: Path, folder: Path) -> None:
    run(home, "sources", "add", folder)
    with open_library(home, environment=ENVIRONMENT) as library, running(home, "watch", "--json") as process:
        assert process.stdout is not None
        process.stdout.readline()
        with (folder / "growing.txt").open("w") as file:
            for number in range(40):
                file.write(f"line {number}\n")
                file.flush()
                time.sleep(0.02)
        until(lambda: "line 39" in texts(library).get("growing.txt", ""), process=process)
        assert library.documents.find("growing.txt").latest.number == 1


def test_a_running_worker_follows_the_folders_that_are_watched(home: Path, folder: Path) -> None:
    assert run(home, "sources", "add", folder, "--watch", "--no-wait").returncode == 0
    with open_library(home, environment=ENVIRONMENT) as library, running(home, "worker") as process:
        until(lambda: set(texts(library)) == {"quince.txt", "pear.txt"}, process=process)
        (folder / "quince.txt").write_text("quince paste")
        until(lambda: texts(library).get("quince.txt") == "quince paste", process=process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=_PATIENCE_SECONDS)
        assert process.returncode == 130


def test_a_watch_that_only_brings_in_leaves_the_reading_to_another_process(home: Path, folder: Path) -> None:
    run(home, "sources", "add", folder)
    with (
        open_library(home, environment=ENVIRONMENT) as library,
        running(home, "watch", "--no-work") as watch,
        running(home, "worker") as worker,
    ):
        (folder / "plum.txt").write_text("plum tart")
        until(lambda: "plum.txt" in texts(library), process=watch)
        assert worker.poll() is None


def test_a_folder_that_comes_back_is_followed_again(home: Path, folder: Path) -> None:
    run(home, "sources", "add", folder)
    with open_library(home, environment=ENVIRONMENT) as library, running(home, "watch", "--json") as process:
        assert process.stdout is not None
        process.stdout.readline()
        folder.rename(folder.with_name("unmounted"))
        until(lambda: library.sources.show(str(folder)).source.problem is not None, process=process)
        assert len(texts(library)) == 2
        folder.with_name("unmounted").rename(folder)
        until(lambda: library.sources.show(str(folder)).source.problem is None, process=process)
        (folder / "plum.txt").write_text("plum tart")
        until(lambda: "plum.txt" in texts(library), process=process)


def test_where_the_limit_of_watches_is_reached_the_folder_is_looked_through(home: Path, folder: Path) -> None:
    """A user namespace has a limit of its own, which binds its processes alone."""
    limited = ("unshare", "--user", "--map-root-user", "sh", "-c")
    lower = 'echo 1 > /proc/sys/user/max_inotify_watches && exec "$@"'
    if subprocess.run(
        [*limited, "echo 1 > /proc/sys/user/max_inotify_watches"], capture_output=True, check=False
    ).returncode:
        pytest.skip("this machine makes no user namespaces, or has no limits in them")
    run(home, "sources", "add", folder)
    with (
        open_library(home, environment=ENVIRONMENT) as library,
        running(home, "watch", prefix=(*limited, lower, "sh")) as process,
    ):

        def problem() -> str:
            found = library.sources.show(str(folder)).source.problem
            return found.code if found is not None else ""

        until(lambda: problem() == "watch-limit-reached", process=process)
        (folder / "sub" / "plum.txt").write_text("plum tart")
        until(lambda: "plum.txt" in texts(library), process=process)
