"""A browser for the page's tests: the Chromium of this machine, which sends no request elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS = 30_000

expect.set_options(timeout=PATIENCE_MS)


def chromium() -> str:
    """The path of the browser. Skips the test where there is none, but for a run that must be complete."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), "")
    if not found and "CI" not in os.environ:
        pytest.skip("no chromium is installed, which the page's tests need")
    assert found, "no chromium is installed, which the page's tests need"
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser. It must be closed before anything else runs an event loop in this thread."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """What went wrong behind a page's back: complaints on its console, and requests to other servers."""

    server: str
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def hear(self, message: ConsoleMessage) -> None:
        # What a server refuses is said there too; the page itself must deal with it.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.complaints.append(message.text)

    def see(self, request: Request) -> None:
        if not request.url.startswith((self.server, "data:", "blob:")):
            self.elsewhere.append(request.url)


@contextmanager
def page_of(
    browser: Browser,
    server: str,
    *,
    locale: str = "en-GB",
    size: tuple[int, int] = (1280, 860),
    dark: bool = False,
) -> Iterator[Page]:
    """A fresh page on the server. At its end, it has complained of nothing, and asked no other server."""
    watched = Watched(server)
    context = browser.new_context(
        locale=locale,
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.on("console", watched.hear)
    page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    page.on("request", watched.see)
    try:
        page.goto(f"{server}/")
        yield page
        assert watched.complaints == []
        assert watched.elsewhere == []
    finally:
        context.close()
