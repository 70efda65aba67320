"""A served library, and a client of it with a key that may do everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("client") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library:
        library.add_text(MEETING, "周会.md")
        with running(library, works=True) as server:
            yield server


@pytest.fixture(scope="package")
def key(server: Server) -> str:
    return server.library.access_keys.create("client", scopes=["admin"]).secret


@pytest.fixture(scope="package")
def client(server: Server, key: str) -> Iterator[wy.Client]:
    with wy.Client(server.url, key, timeout=30) as client:
        yield client
