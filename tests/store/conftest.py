"""An empty library, and a small disk, for every test that asks for one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.library_builder import LibraryBuilder, build_library
from wenyuan.store.sqlite import SqliteDatabase


@pytest.fixture
def library(tmp_path: Path) -> Iterator[LibraryBuilder]:
    built = build_library(tmp_path)
    yield built
    built.database.close()


@pytest.fixture
def database(library: LibraryBuilder) -> SqliteDatabase:
    return library.database


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
