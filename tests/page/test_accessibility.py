"""Every page can be used by everyone: axe finds nothing serious, and nothing is wider than a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.page.browsing import page_of
from tests.page.client_types import WEB

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
FILES = Path(__file__).parents[1] / "fixtures" / "files"
PLACES = ("", "kb/{kb}", "kb/{kb}/settings", "read/{text}", "read/{text}?as=passages", "read/{page}", "nowhere")
OTHERS = ("settings", "chat", "search", "evaluation", "operations")


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file() and "CI" not in os.environ:
        pytest.skip("axe is not installed, which this needs: npm ci in web/")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("accessible") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        library.add(FILES / "handbook.pdf", wait=False)
        library.add(FILES / "book.xlsx", wait=False)
        library.add(FILES / "pdf-password.pdf", wait=False)
        server.settle()
        yield server


@pytest.fixture(scope="module")
def places(server: Server) -> list[str]:
    documents = {one.document.name: one.document for one in server.library.documents.list()}
    names = {
        "kb": server.library.knowledge_bases.find(None).id,
        "text": f"{documents['book.xlsx'].serving_revision_id}.1",
        "page": f"{documents['handbook.pdf'].serving_revision_id}.1",
    }
    return [place.format(**names) for place in (*PLACES, *OTHERS)]


def open_at(page: Page, place: str) -> None:
    page.evaluate("where => { location.hash = where }", f"#/{place}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main").get_by_text("Loading …")).to_have_count(0)


def faults(page: Page, rules: list[str] | None = None) -> list[str]:
    """What axe finds that keeps people out: each rule with the first elements that break it."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules is not None:
        options["runOnly"] = {"type": "rule", "values": rules}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]} {one['nodes'][0]['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def test_axe_finds_nothing_serious(browser: Browser, server: Server, places: list[str], axe: str) -> None:
    found: dict[str, list[str]] = {}
    with page_of(browser, server.url) as page:
        page.evaluate(axe)
        for place in places:
            open_at(page, place)
            found[place] = faults(page)
            page.evaluate("document.documentElement.dataset.theme = 'dark'")
            found[f"{place} in the dark"] = faults(page, ["color-contrast"])
            page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert {place: one for place, one in found.items() if one} == {}


def test_axe_finds_what_is_wrong(browser: Browser, server: Server, axe: str) -> None:
    with page_of(browser, server.url) as page:
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.evaluate(axe)
        page.evaluate("document.querySelector('main').append(document.createElement('input'))")
        assert any(one.startswith("label") for one in faults(page))


def test_nothing_is_wider_than_a_phone(browser: Browser, server: Server, places: list[str]) -> None:
    wide = []
    with page_of(browser, server.url, size=(360, 740)) as page:
        for place in places:
            open_at(page, place)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(place)
    assert wide == []


def test_everything_on_the_first_pages_is_reached_by_the_keyboard(browser: Browser, server: Server) -> None:
    with page_of(browser, server.url) as page:
        expect(page.get_by_role("link", name="default")).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("main")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="default")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="default")).to_be_visible()
        page.get_by_role("checkbox", name="Select book.xlsx").focus()
        page.keyboard.press("Space")
        expect(page.get_by_text("1 selected")).to_be_visible()
        page.get_by_role("button", name="Delete").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        # Focus is where it was before the question.
        expect(page.get_by_role("button", name="Delete")).to_be_focused()
