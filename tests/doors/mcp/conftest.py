"""A library of two knowledge bases and its server, for clients of the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("mcp") / "library"
    with wy.open(path, environment={**KEYWORD_ONLY, "WENYUAN_SERVER_MCP_WRITES": "true"}) as library:
        library.add_text(MEETING, "周会.md")
        library.knowledge_bases.create("pumps")
        library.add_text("\n\n".join(f"# 水泵 {n}\n\n流量是 {n} 吨。" for n in range(200)), "水泵.md", kb="pumps")
        with running(library, works=True) as server:
            yield server
