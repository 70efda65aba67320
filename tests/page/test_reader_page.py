"""A document opened on the page, at the place that was cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.page.browsing import page_of
from tests.waiting import until

FILES = Path(__file__).parents[1] / "fixtures" / "files"
PROGRAM = "".join(f"def step_{number}():\n    return {number}\n\n\n" for number in range(400))
HOSTILE = (
    '<h1>Rules</h1><p>Leave is approved by the <b>manager</b>.</p><script>document.title = "taken over"</script>'
    '<img src="http://192.0.2.1/pixel" onerror="document.title = \'taken over\'"><p>Second rule.</p>'
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("reader") / "library"
    with wy.open(path, environment=KEYWORD_ONLY) as library, running(library, works=True) as server:
        yield server


@pytest.fixture(scope="module")
def cited(server: Server) -> dict[str, str]:
    """The citation of a passage of each of some documents, by name of the document."""
    for name in ("handbook.pdf", "report.xlsx"):
        server.library.add(FILES / name, wait=False)
    server.library.add_text(PROGRAM, "steps.py", wait=False)
    server.library.add_text(HOSTILE, "rules.html", wait=False)
    server.settle()
    questions = {"handbook.pdf": "差旅标准", "report.xlsx": "", "steps.py": "step_377", "rules.html": "manager"}
    found = {}
    for name, question in questions.items():
        document = next(one.document for one in server.library.documents.list() if one.document.name == name)
        passages = server.library.documents.passages(document.id, 0, 1000)
        passage = next(one for one in passages if question in one.chunk.text)
        found[name] = f"{document.serving_revision_id}.{passage.chunk.seq}"
    return found


def open_at(page: Page, citation: str, query: str = "") -> None:
    page.evaluate("where => { location.hash = where }", f"#/read/{citation}{query}")


def test_a_page_is_shown_as_it_looks_with_the_passage_lit(page: Page, cited: dict[str, str]) -> None:
    open_at(page, cited["handbook.pdf"])
    picture = page.get_by_role("img", name="Page 1 of handbook.pdf")
    expect(picture).to_be_visible()
    assert f"citation={cited['handbook.pdf']}" in (picture.get_attribute("src") or "")
    expect(page.get_by_role("complementary", name="Cited passage")).to_contain_text("差旅标准见下表")
    # The picture's own pixels: where the passage is, it is as yellow as nothing else on a page.
    lit = page.evaluate(
        """async () => {
          const picture = document.querySelector(".sheet img");
          await picture.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
          const context = canvas.getContext("2d");
          context.drawImage(picture, 0, 0);
          const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let at = 0; at < data.length; at += 4) {
            if (data[at] > 200 && data[at + 1] > 180 && data[at + 2] < 170) count += 1;
          }
          return count;
        }"""
    )
    assert lit > 1000


def test_lines_of_a_program_are_lit_in_the_file_itself(page: Page, cited: dict[str, str]) -> None:
    open_at(page, cited["steps.py"])
    lit = page.locator(".line.lit")
    expect(lit.first).to_be_in_viewport()
    assert any("step_377" in text for text in lit.all_inner_texts())
    assert page.get_by_role("listitem").count() < 200


def test_a_table_keeps_its_rows_and_the_keyboard_leads_through_passages(page: Page, cited: dict[str, str]) -> None:
    open_at(page, cited["report.xlsx"])
    passage = page.locator("section[aria-current=location]")
    expect(passage.get_by_role("table").first).to_be_visible()
    first = passage.get_attribute("id")
    page.keyboard.press("j")
    expect(page.locator("section[aria-current=location]")).to_be_focused()
    assert page.locator("section[aria-current=location]").get_attribute("id") != first
    page.keyboard.press("k")
    assert page.locator("section[aria-current=location]").get_attribute("id") == first


def test_a_text_is_found_within_the_document(page: Page, cited: dict[str, str]) -> None:
    open_at(page, cited["steps.py"], "?as=text")
    expect(page.get_by_role("article")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("STEP_12")
    page.keyboard.press("Enter")
    # step_12, and step_120 to step_129.
    expect(page.get_by_text("1 of 11")).to_be_visible()
    expect(page.locator("mark").filter(has_text="step_12").first).to_be_in_viewport()
    page.get_by_role("button", name="Next place").click()
    expect(page.get_by_text("2 of 11")).to_be_visible()


def test_a_page_of_the_web_is_shown_as_text_and_does_nothing(page: Page, cited: dict[str, str]) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_at(page, cited["rules.html"])
    expect(page.get_by_role("article")).to_contain_text("Leave is approved by the manager.")
    page.get_by_role("button", name="File").click()
    expect(page.get_by_text("document.title")).to_be_visible()
    assert page.title().startswith("Reader")
    assert not [url for url in asked if "192.0.2.1" in url]


def test_a_passage_is_turned_off_and_on(page: Page, server: Server, cited: dict[str, str]) -> None:
    open_at(page, cited["rules.html"], "?as=passages")
    passage = page.locator("section[aria-current=location]")
    passage.get_by_role("button", name="Turn off").click()
    expect(passage).to_contain_text("Turned off: no search finds it")
    found = server.client.post("/search", json={"question": "who approves leave"}).json()
    assert "rules.html" not in {hit["passage"]["document_name"] for hit in found["hits"]}
    passage.get_by_role("button", name="Turn on").click()
    expect(passage).not_to_contain_text("Turned off")


def test_what_has_changed_since_is_shown_as_it_was_cited(page: Page, server: Server) -> None:
    document = server.library.documents.show(server.add("leave.html", HOSTILE)).document
    server.add("leave.html", HOSTILE.replace("manager", "director"))
    open_at(page, f"{document.serving_revision_id}.0")
    expect(page.get_by_text("The document has changed since this was cited.")).to_be_visible()
    expect(page.get_by_role("complementary", name="Cited passage")).to_contain_text("manager")
    page.get_by_role("link", name="Open the document as it is now").click()
    expect(page.get_by_role("article")).to_contain_text("director")


def test_a_citation_of_nothing_says_so(page: Page) -> None:
    open_at(page, "rev_00000000000000000000000000.0")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("citation", re.IGNORECASE))


def test_below_a_path_the_page_finds_its_server(browser: Browser, tmp_path: Path) -> None:
    settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_PATH": "/library"}
    with (
        wy.open(tmp_path / "library", environment=settings) as library,
        running(library, works=True) as server,
        page_of(browser, server.url) as page,
    ):
        assert server.url.endswith("/library")
        page.set_input_files("[data-files]", str(FILES / "handbook.pdf"))
        link = page.get_by_role("link", name="handbook.pdf", exact=True)
        expect(link).to_be_visible()
        # Opened earlier, it would be shown as far as it was read then.
        until(lambda: [view.latest.state for view in library.documents.list()] == ["ready"])
        link.click()
        picture = page.get_by_role("img", name="Page 1 of handbook.pdf")
        expect(picture).to_be_visible()
        assert (picture.get_attribute("src") or "").startswith(f"{server.url}/api/v1/")
