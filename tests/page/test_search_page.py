"""From a question to its place, and from a wrong answer to a case that is asked again and again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.doors.http.running import MEETING, Server
from tests.page.test_accessibility import AXE, faults

LEAVE = "# Leave\n\nParental leave lasts fifteen days and is taken within a year of the birth.\n"
REVIEW = "# 评审\n\n## 2026年4月28日\n\n量产评审通过，后壳螺钉的扭矩为 0.35 牛米。\n"
CHINESE = "四月十四号的会议定了什么？"
ENGLISH = "How long is parental leave?"


@pytest.fixture(scope="module", autouse=True)
def documents(server: Server) -> dict[str, str]:
    texts = {"周会.md": MEETING, "leave.md": LEAVE, "评审.md": REVIEW}
    return {name: server.add(name, text) for name, text in texts.items()}


def go(page: Page, place: str) -> None:
    page.evaluate("where => { location.hash = where }", f"#/{place}")


def ask(page: Page, question: str) -> None:
    go(page, "chat")
    box = page.get_by_role("textbox", name="Question")
    box.fill(question)
    box.press("Enter")
    expect(page.get_by_role("article").last.get_by_role("button", name="Answer anew")).to_be_enabled()


def search(page: Page, question: str) -> None:
    box = page.get_by_role("searchbox", name="Question")
    box.fill(question)
    box.press("Enter")
    expect(page.get_by_role("heading", name="The lists side by side")).to_be_visible()


def test_questions_in_both_languages_lead_to_their_places_until_the_document_is_off(
    page: Page, server: Server, documents: dict[str, str]
) -> None:
    for question, name, words in ((CHINESE, "周会.md", "PPR-9087"), (ENGLISH, "leave.md", "fifteen days")):
        ask(page, question)
        expect(page.get_by_text("Quoted word for word, or worked out from a table.")).to_be_visible()
        page.get_by_role("link", name=f"Citation 1: {name}").click()
        expect(page.locator("section[aria-current=location]")).to_contain_text(words)
    expect(page.get_by_role("heading", level=1, name="leave.md")).to_be_visible()
    server.client.post(f"/documents/{documents['leave.md']}/disable").raise_for_status()
    ask(page, ENGLISH)
    expect(page.get_by_role("article").last).not_to_contain_text("fifteen days")
    expect(page.get_by_text("This does not rest on your documents.")).to_be_visible()
    server.client.post(f"/documents/{documents['leave.md']}/enable").raise_for_status()


def test_a_search_shows_what_each_list_found_and_how_long_it_took(page: Page) -> None:
    go(page, "search")
    search(page, CHINESE)
    hits = page.get_by_role("region", name="Passages that were found")
    expect(hits.get_by_role("article").first).to_contain_text("周会.md")
    expect(hits.locator("mark").first).to_be_visible()
    how = page.get_by_role("region", name="How they were found")
    expect(how).to_contain_text("2026-04-14")
    expect(how.get_by_role("row", name=re.compile("^Embed the question"))).to_contain_text("ms")
    for name in ("Dates, codes, names", "Words", "Meaning"):
        expect(page.get_by_role("heading", level=3, name=name)).to_be_visible()
    page.get_by_role("checkbox", name="Meaning").uncheck()
    page.get_by_role("checkbox", name="Dates, codes, names").uncheck()
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("key 1")).to_have_count(0)
    assert "lists=keyword" in page.url
    page.reload()
    expect(page.get_by_role("checkbox", name="Meaning")).not_to_be_checked()


def test_nothing_found_is_a_sentence_and_a_wrong_filter_is_refused(page: Page) -> None:
    go(page, "search?lists=keyword&q=xylophone")
    expect(
        page.get_by_role("status").filter(has_text="Nothing that was looked into holds any of the words")
    ).to_be_visible()
    page.get_by_text("Filters").click()
    page.get_by_role("textbox", name="Filters").fill("no filter")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("alert")).to_contain_text("“no filter” is no filter.")
    page.get_by_role("textbox", name="Filters").fill("name=leave*")
    search(page, "leave")
    expect(page.get_by_role("region", name="Passages that were found").get_by_role("article")).to_have_count(1)


def test_a_search_is_kept_as_a_case_and_a_run_tells_when_it_fails(
    page: Page, server: Server, documents: dict[str, str]
) -> None:
    go(page, "search")
    search(page, CHINESE)
    page.get_by_role("checkbox", name="This should be found").first.check()
    page.get_by_role("button", name="Keep as a regression case").click()
    page.get_by_label("Set", exact=True).fill("weekly")
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    expect(page.get_by_text("Kept in “weekly”.")).to_be_visible()
    for passed in ("1 / 1", "0 / 1"):
        go(page, "evaluation")
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_role("region", name="This run").get_by_text(re.compile(f"^{passed}\\b"))).to_be_visible()
        server.client.post(f"/documents/{documents['周会.md']}/disable").raise_for_status()
    server.client.post(f"/documents/{documents['周会.md']}/enable").raise_for_status()
    expect(page.get_by_role("img", name="Figures of 2 runs")).to_be_visible()
    page.get_by_role("combobox", name="Compare with").select_option(index=1)
    difference = page.get_by_role("region", name="What changed")
    expect(difference.get_by_text("began to fail")).to_be_visible()
    expect(difference.get_by_role("link", name=CHINESE)).to_be_visible()
    page.evaluate(AXE.read_text("utf-8"))
    assert faults(page) == []
    page.get_by_role("button", name="Delete this run").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(2)


def test_a_run_is_opened_though_an_older_answer_comes_late(
    page: Page, server: Server, documents: dict[str, str]
) -> None:
    """What was asked for before the run was begun says that nothing runs, and must not hide it."""
    case = {"question": CHINESE, "expect": [documents["周会.md"]]}
    server.client.post("/evaluation/sets/late/cases", json=case).raise_for_status()
    held: list[Route] = []
    page.route("**/evaluation/running", lambda route: route.continue_() if held else held.append(route))
    go(page, "evaluation")
    card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="late"))
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        card.get_by_role("button", name="Run").click()
    held[0].fulfill(json={"deed": None})
    expect(page.get_by_role("region", name="This run").get_by_text(re.compile("^1 / 1\\b"))).to_be_visible()


def test_what_was_asked_lately_is_opened_again(page: Page) -> None:
    go(page, "search")
    search(page, ENGLISH)
    go(page, "search")
    lately = page.get_by_role("heading", name="Asked lately").locator("..")
    lately.get_by_role("link", name=ENGLISH).first.click()
    expect(page.get_by_role("heading", name="How the question was read")).to_be_visible()
    expect(page.get_by_role("link", name="Ask it again")).to_be_visible()
    page.evaluate(AXE.read_text("utf-8"))
    assert faults(page) == []
