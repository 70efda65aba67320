"""A library with the built-in model, its server with a worker, and a browser, shared by the tests of one file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

import wenyuan as wy
from tests.doors.http.running import Server, running
from tests.page.browsing import browsing, page_of


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with wy.open(tmp_path_factory.mktemp("page") / "library") as library, running(library, works=True) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@pytest.fixture
def page(server: Server, browser: Browser) -> Iterator[Page]:
    """A desktop's page in English, on the first page of the library."""
    with page_of(browser, server.url) as page:
        yield page
