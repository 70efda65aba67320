"""Settings of the browser, of knowledge bases and of who may come in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.page.browsing import page_of

_RULES = "".join(f"Rule {number}: whoever comes {number} minutes late says so in time.\n\n" for number in range(60))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("settings") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        server.add("rules.txt", _RULES)
        yield server


def at(page: Page, where: str) -> None:
    page.evaluate("where => { location.hash = where }", where)


def test_language_and_colours_are_chosen_and_kept(page: Page) -> None:
    at(page, "#/settings")
    page.get_by_role("radio", name="简体中文").check()
    expect(page.get_by_role("heading", name="设置")).to_be_visible()
    page.get_by_role("radio", name="深色").check()
    page.reload()
    expect(page.get_by_role("heading", name="设置")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("radio", name="跟随浏览器").check()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()


def test_another_length_of_passages_is_tried_then_built_and_taken_back(page: Page, server: Server) -> None:
    base = server.library.knowledge_bases.find(None)
    at(page, f"#/kb/{base.id}/settings")
    page.get_by_text("Try another length").click()
    now = len(server.library.documents.passages("rules.txt", 0, 1000))
    expect(page.get_by_text(f"{now} passages; now there are {now}.")).to_be_visible()
    page.get_by_label("Length:").fill("200")
    expect(page.get_by_text(f"now there are {now}.")).not_to_contain_text(f"{now} passages")
    promised = int(page.get_by_text("passages; now there are").inner_text().split()[0])
    assert promised > now
    page.get_by_role("button", name="Cut everything this way").click()
    expect(page.get_by_text("New indexes answer")).to_be_visible()
    assert len(server.library.documents.passages("rules.txt", 0, 1000)) == promised
    page.get_by_role("button", name="Go back").click()
    expect(page.get_by_text("The indexes before answer again.")).to_be_visible()
    assert len(server.library.documents.passages("rules.txt", 0, 1000)) == now


def test_the_dictionary_is_kept(page: Page, server: Server) -> None:
    base = server.library.knowledge_bases.find(None)
    at(page, f"#/kb/{base.id}/settings")
    page.get_by_label("Same meaning").fill("late = tardy = 迟到\n")
    page.locator("form").filter(has=page.get_by_label("Same meaning")).get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    found = server.client.post("/search", json={"question": "tardy"}).json()
    assert found["hits"]


def test_a_knowledge_base_is_described_archived_and_deleted(page: Page, server: Server) -> None:
    made = server.library.knowledge_bases.create("passing")
    at(page, f"#/kb/{made.id}/settings")
    page.get_by_label("What it is about").fill("Here for a while")
    page.get_by_label("What it is about").locator("xpath=ancestor::form").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("button", name="Bring back")).to_be_visible()
    assert server.library.knowledge_bases.find("passing").description == "Here for a while"
    assert server.library.knowledge_bases.find("passing").state == "archived"
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Knowledge bases")).to_be_visible()
    assert [one.knowledge_base.name for one in server.library.knowledge_bases.all()] == ["default"]


def test_with_the_first_key_everyone_signs_in(browser: Browser, tmp_path: Path) -> None:
    with (
        wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library,
        running(library, works=True) as server,
        page_of(browser, server.url) as page,
    ):
        server.add("rules.txt", _RULES)
        at(page, "#/settings")
        page.get_by_role("button", name="New key").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("With the first key, the library opens to no one without a key.")
        dialog.get_by_label("Whose key it is").fill("admin")
        dialog.get_by_role("radio", name="Do everything").check()
        dialog.get_by_role("button", name="Create").click()
        secret = dialog.locator("code").inner_text()
        dialog.get_by_role("button", name="I have kept it").click()

        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.get_by_label("Key").fill("wk_no_such_key")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        page.get_by_label("Key").fill(secret)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("Signed in as admin")).to_be_visible()
        # The secret is in no place that a script could read.
        assert secret not in page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie")

        # Signed in by a cookie, one may change things: the token goes with it.
        page.get_by_role("button", name="New key").click()
        dialog.get_by_label("Whose key it is").fill("reader")
        dialog.get_by_role("button", name="Create").click()
        readers = dialog.locator("code").inner_text()
        dialog.get_by_role("button", name="I have kept it").click()

        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Key").fill(readers)
        page.get_by_role("button", name="Sign in").click()
        at(page, "#/")
        page.get_by_role("link", name="default").click()
        # What a key may not do is not offered.
        expect(page.get_by_role("link", name="rules.txt")).to_be_visible()
        expect(page.get_by_role("button", name="Choose files")).to_have_count(0)
        expect(page.get_by_role("checkbox")).to_have_count(0)
        expect(page.get_by_role("link", name="Operations")).to_have_count(0)

        # A key that is revoked signs its holder out at the next thing that is asked.
        key = next(one for one in server.library.access_keys.list() if one.name == "reader")
        server.library.access_keys.revoke(key.id)
        at(page, "#/settings")
        at(page, "#/")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
