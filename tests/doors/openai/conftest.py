"""A library with two knowledge bases and an embedding model, its server, and the official clients of its `/v1`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running
from tests.node import node_packages

PIPES = "# 水管\n\n三号水泵的额定流量是每小时 40 吨。\n"


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("openai") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library:
        library.add_text(MEETING, "周会.md")
        library.knowledge_bases.create("pumps")
        library.add_text(PIPES, "水泵.md", kb="pumps")
        with running(library) as server:
            yield server


@pytest.fixture(scope="package")
def client(server: Server) -> Iterator[openai.OpenAI]:
    """As it comes, but for the address; what fails is not tried again, so that it is seen."""
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return node_packages(tmp_path_factory, "openai")
