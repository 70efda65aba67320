"""A keyword-only library and its server with a worker, shared by the tests of one file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("http") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        yield server
