"""The library on the page: from nothing to documents that are found, with what goes wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.page.browsing import page_of
from wenyuan.types import DocumentPolicy

FILES = Path(__file__).parents[1] / "fixtures" / "files"
MEETING = "# 周会\n\n## 2026年4月14日\n\n决定：屏幕改用 PPR-9087，五月起供货。\n"
_MANY = 240


@pytest.fixture(scope="module")
def dropped(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Five files of five formats, one of them broken and one a scan."""
    folder = tmp_path_factory.mktemp("dropped")
    folder.joinpath("周会.md").write_text(MEETING, encoding="utf-8")
    folder.joinpath("broken.pdf").write_bytes(FILES.joinpath("handbook.pdf").read_bytes()[:3000])
    for name in ("picture-line.png", "book.xlsx", "deck.pptx"):
        folder.joinpath(name).write_bytes(FILES.joinpath(name).read_bytes())
    return sorted(map(str, folder.iterdir()))


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=name, exact=True))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("library-page") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        server.add("kept.txt", "so that the library is not empty")
        yield server


def open_base(page: Page, server: Server, name: str, *texts: str) -> None:
    """Go to a new knowledge base of some texts, each called as it reads."""
    base = server.library.knowledge_bases.create(name)
    for text in texts:
        server.library.add_text(text, f"{text}.txt", kb=name, wait=False)
    server.settle()
    page.evaluate("where => { location.hash = where }", f"#/kb/{base.id}")
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def test_files_are_dropped_and_watched_until_they_are_ready(
    browser: Browser, dropped: list[str], tmp_path: Path
) -> None:
    """From nothing, with the built-in model."""
    with (
        wy.open(tmp_path / "library") as library,
        running(library, works=True) as server,
        page_of(browser, server.url) as page,
    ):
        expect(page.get_by_role("heading", name="Put documents in, and ask what they say.")).to_be_visible()
        page.set_input_files("[data-files]", dropped)

        expect(page.get_by_text("5 files sent")).to_be_visible()
        for name in ("周会.md", "book.xlsx", "deck.pptx", "picture-line.png"):
            expect(row(page, name)).to_contain_text("Ready")
        # What failed says why, and what to do about it stands beside.
        broken = row(page, "broken.pdf")
        expect(broken).to_contain_text("is not valid PDF")
        expect(broken).to_contain_text("Open it in the program that made it and save it again.")
        broken.get_by_role("button", name="Retry").click()
        expect(broken).to_contain_text("is not valid PDF")
        server.settle()

        page.get_by_role("button", name=re.compile("^Failed")).click()
        expect(row(page, "broken.pdf")).to_be_visible()
        expect(row(page, "book.xlsx")).to_have_count(0)
        assert page.url.endswith("show=failed")
        page.get_by_role("button", name=re.compile("^All")).click()
        page.get_by_role("searchbox", name="Find by name").fill("BOOK")
        expect(row(page, "book.xlsx")).to_be_visible()
        expect(row(page, "周会.md")).to_have_count(0)

        page.set_input_files("[data-files]", [one for one in dropped if one.endswith("周会.md")])
        expect(page.get_by_text("It is here already, unchanged.")).to_be_visible()


def test_what_others_add_and_delete_is_seen_without_asking(page: Page, server: Server) -> None:
    open_base(page, server, "shared", "mine")
    expect(row(page, "mine.txt")).to_be_visible()
    added = server.add("theirs.txt", "added by another program", kb="shared")
    expect(row(page, "theirs.txt")).to_contain_text("Ready")
    server.library.documents.delete(added)
    expect(row(page, "theirs.txt")).to_have_count(0)


def test_many_documents_are_changed_at_once(page: Page, server: Server) -> None:
    open_base(page, server, "many", "apricot", "blackberry", "cherry")
    for name in ("apricot", "blackberry"):
        page.get_by_role("checkbox", name=f"Select {name}.txt").check()
    page.get_by_role("button", name="Turn off").click()
    expect(row(page, "apricot.txt")).to_contain_text("Off: not found")
    asked = {"question": "apricot", "knowledge_bases": ["many"]}
    assert server.client.post("/search", json=asked).json()["hits"] == []
    row(page, "apricot.txt").get_by_role("button", name="Turn on").click()
    expect(row(page, "apricot.txt")).to_contain_text("Ready")

    # What cannot be done to one is said of that one.
    page.get_by_role("checkbox", name="Select cherry.txt").check()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog", name="Not done for 1 document")).to_contain_text("cherry.txt")
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete 1 document?")
    dialog.get_by_role("button", name="Delete").click()
    expect(row(page, "cherry.txt")).to_have_count(0)
    names = {one.document.name for one in server.library.documents.list("many")}
    assert names == {"apricot.txt", "blackberry.txt"}


def test_a_knowledge_base_is_made_with_a_model_alone_and_documents_move_there(page: Page, server: Server) -> None:
    page.get_by_role("button", name="New knowledge base").click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("combobox").count() == 1
    dialog.get_by_label("Name").fill("会议")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="会议")).to_be_visible()
    expect(page.get_by_text("Drop files or folders here")).to_be_visible()

    open_base(page, server, "from here", "周会")
    page.get_by_role("checkbox", name="Select 周会.txt").check()
    page.get_by_role("button", name="Move").click()
    page.get_by_label("To the knowledge base").select_option(label="会议")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(row(page, "周会.txt")).to_have_count(0)
    page.get_by_role("link", name="Knowledge bases").click()
    page.get_by_role("link", name="会议").click()
    expect(row(page, "周会.txt")).to_contain_text("Ready")
    assert [one.document.name for one in server.library.documents.list("会议")] == ["周会.txt"]


def test_a_locked_file_is_read_once_its_password_is_given(page: Page, server: Server) -> None:
    open_base(page, server, "locked")
    page.set_input_files("[data-files]", str(FILES / "pdf-password.pdf"))
    locked = row(page, "pdf-password.pdf")
    for password, outcome in (("wrong", "does not open"), ("secret", "Ready")):
        locked.get_by_role("button", name="Password").click()
        page.get_by_label("Password of the file").fill(password)
        page.get_by_role("button", name="Read the file").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(locked).to_contain_text(outcome)


def test_one_refused_file_stops_no_other(page: Page, server: Server, tmp_path: Path) -> None:
    server.library.knowledge_bases.create("strict", policy=DocumentPolicy(forbidden_types=("log",)))
    for name in ("first.txt", "second.log", "third.txt"):
        tmp_path.joinpath(name).write_text(f"words of {name}", encoding="utf-8")
    page.reload()
    page.get_by_role("link", name="strict").click()
    page.set_input_files("[data-files]", sorted(map(str, tmp_path.iterdir())))
    uploads = page.get_by_role("region", name="Uploads")
    expect(uploads).to_contain_text("2 files sent")
    expect(uploads.get_by_role("listitem")).to_have_count(1)
    expect(uploads.get_by_role("listitem")).to_contain_text("second.log")
    for name in ("first.txt", "third.txt"):
        expect(row(page, name)).to_contain_text("Ready")


def test_a_text_is_added_under_a_name(page: Page, server: Server) -> None:
    open_base(page, server, "typed")
    page.get_by_role("button", name="Text or web page").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("remark.md")
    dialog.get_by_role("textbox", name="Text").fill("# Remark\n\nIt was typed.")
    dialog.get_by_role("button", name="Add").click()
    expect(row(page, "remark.md")).to_contain_text("Ready")


def test_examples_are_added_to_begin_with(browser: Browser, tmp_path: Path) -> None:
    with (
        wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library,
        running(library, works=True) as server,
        page_of(browser, server.url, locale="zh-CN", size=(390, 780)) as page,
    ):
        page.get_by_role("button", name="添加一个小的示例库").click()
        expect(page.get_by_role("heading", name="示例")).to_be_visible()
        documents = page.get_by_role("list", name="文档").get_by_role("listitem")
        expect(documents.filter(has_text="就绪").first).to_be_visible()


def test_it_is_said_that_the_server_is_gone_and_that_it_is_back(browser: Browser, tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library:
        library.add_text("words", "first.txt", wait=False)
        with running(library) as server:
            context = browser.new_context()
            page = context.new_page()
            page.goto(server.url)
            page.get_by_role("link", name="default").click()
            expect(page.get_by_role("link", name="first.txt")).to_be_visible()
        gone = page.get_by_text("The connection to the server is interrupted")
        expect(gone).to_be_visible()
        port = int(server.url.rpartition(":")[2])
        with running(library, port=port):
            expect(gone).to_have_count(0)
            library.add_text("words", "second.txt", wait=False)
            expect(page.get_by_role("link", name="second.txt")).to_be_visible()
        context.close()


@pytest.fixture(scope="module")
def long_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("long") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library) as server:
        for number in range(_MANY):
            library.add_text(f"text {number}", f"note-{number:04}.txt", wait=False)
        yield server


def test_of_a_long_list_only_what_is_in_sight_is_drawn(long_library: Server, browser: Browser) -> None:
    with page_of(browser, long_library.url) as page:
        page.get_by_role("link", name="default").click()
        expect(page.get_by_role("button", name=f"All {_MANY}")).to_be_visible()
        rows = page.get_by_role("list", name="Documents").get_by_role("listitem")
        expect(rows.first).to_contain_text(f"note-{_MANY - 1:04}.txt")
        expect(rows.first).to_have_attribute("aria-setsize", str(_MANY))
        assert rows.count() < 60
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(page.get_by_role("link", name="note-0000.txt")).to_be_visible()
        assert rows.count() < 60
