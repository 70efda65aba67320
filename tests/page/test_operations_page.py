"""Looking after a library from the page: problems, models, backups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.page.browsing import page_of
from tests.page.test_accessibility import AXE, faults


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with chatting(Reply("Yes.")) as model:
        yield model


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("operations") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        server.add("notes.md", "# Notes\n\nAll is well.\n")
        server.add("broken.json", '{"a": ')
        yield server


@pytest.fixture
def page(server: Server, browser: Browser) -> Iterator[Page]:
    with page_of(browser, server.url) as page:
        yield page


def go(page: Page, place: str) -> None:
    page.evaluate("where => { location.hash = where }", f"#/operations/{place}")
    expect(page.get_by_role("heading", level=1, name="Operations")).to_be_visible()


def test_a_problem_stands_with_its_fix_until_it_is_gone(page: Page, server: Server) -> None:
    go(page, "work")
    problem = page.get_by_role("listitem").filter(has_text="broken.json")
    expect(problem).to_contain_text("is not valid JSON")
    problem.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("broken.json is tried again.")).to_be_visible()
    server.settle()
    expect(problem).to_contain_text("is not valid JSON")
    page.evaluate(AXE.read_text("utf-8"))
    assert faults(page) == []
    server.add("broken.json", '{"a": 1}')
    expect(page.get_by_text("Nothing is wrong.")).to_be_visible()
    page.get_by_text("Ended lately").click()
    expect(page.get_by_role("row", name="Read default done").first).to_be_visible()


def test_a_model_is_added_tested_given_a_role_and_removed(page: Page, model: ChatServer) -> None:
    go(page, "models")
    page.get_by_role("button", name="Add a model").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Model, as its provider calls it").fill("scripted-1")
    dialog.get_by_role("textbox", name="Name here").fill("writer")
    dialog.get_by_role("textbox", name="Address").fill(model.base_url)
    dialog.get_by_role("button", name="Add").click()
    card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="writer"))
    card.get_by_role("button", name="Test").click()
    expect(card.get_by_role("status")).to_contain_text("It answers.")
    expect(page.get_by_role("combobox", name="Writes answers")).to_have_value("writer")
    page.evaluate(AXE.read_text("utf-8"))
    assert faults(page) == []
    page.get_by_role("combobox", name="Writes answers").select_option("")
    expect(page.get_by_text("Saved.")).to_be_visible()
    card.get_by_role("button", name="Remove writer").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(card).to_have_count(0)


def test_a_backup_is_made(page: Page, server: Server) -> None:
    go(page, "storage")
    expect(page.get_by_text("There is no backup yet.")).to_be_visible()
    page.get_by_role("button", name="Back up now").click()
    expect(page.get_by_role("listitem").filter(has_text="latest")).to_contain_text("2 documents")
    folder = Path(server.client.get("/backups").json()["folder"])
    assert (folder / "latest").is_dir()
