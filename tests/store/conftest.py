"""An empty library on either database, and a small disk, for every test that asks for one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from tests.postgres_server import library_database
from tests.store.library_builder import LibraryBuilder, build_library
from wenyuan.store.sqlite import SqliteDatabase


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whatever asks for a library is tested on both databases, unless it says that it is about SQLite."""
    if "kind" in metafunc.fixturenames:
        only_sqlite = metafunc.definition.get_closest_marker("only_sqlite") is not None
        metafunc.parametrize("kind", ["sqlite"] if only_sqlite else ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    asked: str = request.param
    return asked


@pytest.fixture
def library(kind: str, tmp_path: Path) -> Iterator[LibraryBuilder]:
    with ExitStack() as stack:
        url = stack.enter_context(library_database()) if kind == "postgresql" else ""
        built = build_library(tmp_path, url=url)
        stack.callback(built.database.close)
        yield built


@pytest.fixture
def database(library: LibraryBuilder) -> SqliteDatabase:
    # What the two have in common is what tests of both may use.
    return cast(SqliteDatabase, library.database)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk, and not everywhere")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
