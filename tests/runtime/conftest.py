"""A library with a model of its own, for tests that need no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer, serving
from wenyuan.runtime.library import Library


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


@pytest.fixture
def library(tmp_path: Path, server: EmbeddingServer) -> Iterator[Library]:
    """A library that does one job at a time; in the end all of it is done, and everything in it holds."""
    home = tmp_path / "library"
    home.mkdir()
    (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
    with wy.open(home, environment={"WENYUAN_WORKER_THREADS": "1"}) as opened:
        yield opened
        opened.drain()
        assert opened.check(deep=True) == []
