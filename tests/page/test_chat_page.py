"""Conversations on the page: streamed, stopped, asked anew, judged, and never able to script the page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page, expect

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.http.running import MEETING, Server, running
from tests.page.browsing import page_of
from tests.page.test_accessibility import AXE, faults
from wenyuan.store import conversation_turns

QUESTION = "屏幕改用什么？"
ANSWER = Reply("屏幕改用 **PPR-9087** [1]。\n\n| 屏 | 供货 |\n|---|---|\n| PPR-9087 | 五月 |\n")
DOUBTFUL = Reply("屏幕改用 PPR-9087 [1]。供货从 7 月 15 日开始 [1]。")
HOSTILE_NAME = "<img src=x onerror=\"document.title='taken over'\">.md"
HOSTILE = (
    "<script>document.title='taken over'</script>\n\n"
    '<img src="http://192.0.2.1/pixel" onerror="document.title=\'taken over\'">\n\n'
    "[a link](javascript:document.title='taken%20over') ![a picture](http://192.0.2.1/pixel) [1]\n\n"
    "`<b onclick=alert(1)>` **<iframe src=javascript:alert(1)>**"
)
SETTINGS = '[defaults]\nembedding_model = ""\n[answer]\nsave_seconds = 0.000001\n'


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with chatting(ANSWER) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: ChatServer) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("chatting") / "library"
    path.mkdir()
    (path / "wenyuan.toml").write_text(SETTINGS + model.settings(more="tools = true"), "utf-8")
    with wy.open(path, environment={}) as library, running(library, works=True) as server:
        server.add("周会.md", MEETING)
        yield server


@pytest.fixture(autouse=True)
def scripted(model: ChatServer) -> None:
    model.replies[:] = [ANSWER]


@dataclass(frozen=True)
class Dripping(Reply):
    """Says two pieces, and the others once it may go on."""

    goes_on: threading.Event = field(default_factory=threading.Event)

    @property
    def pieces(self) -> Iterator[str]:  # type: ignore[override]
        for number, piece in enumerate(super().pieces):
            if number == 2:
                self.goes_on.wait(60)
            yield piece


def ask(page: Page, question: str) -> None:
    box = page.get_by_role("textbox", name="Question")
    box.fill(question)
    box.press("Enter")


def open_chat(page: Page, session: str = "") -> None:
    page.evaluate("where => { location.hash = where }", f"#/chat/{session}")
    expect(page.get_by_role("textbox", name="Question")).to_be_visible()


def answered(page: Page) -> None:
    """Wait until the newest answer is whole."""
    expect(page.get_by_role("article").last.get_by_role("button", name="Copy with citations")).to_be_visible()


def test_an_answer_is_streamed_with_its_citation_and_kept(page: Page) -> None:
    open_chat(page)
    ask(page, QUESTION)
    answered(page)
    answer = page.get_by_role("article").last
    expect(answer.locator("strong")).to_have_text("PPR-9087")
    expect(answer.get_by_role("cell", name="PPR-9087")).to_be_visible()
    citation = answer.get_by_role("link", name="Citation 1: 周会.md")
    citation.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("决定：屏幕改用 PPR-9087")
    expect(page.get_by_role("complementary", name="Conversations").get_by_role("link", name=QUESTION)).to_be_visible()
    # What is copied tells where it comes from.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer.get_by_role("button", name="Copy with citations").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert "[1] 周会.md" in page.evaluate("navigator.clipboard.readText()")
    page.reload()
    expect(page.get_by_role("article").last.locator("strong")).to_have_text("PPR-9087")
    citation.click()
    expect(page.get_by_role("heading", level=1, name="周会.md")).to_be_visible()
    expect(page.locator("section[aria-current=location]")).to_contain_text("PPR-9087")


def test_a_sentence_that_its_source_does_not_hold_is_marked(page: Page, model: ChatServer) -> None:
    model.replies[:] = [DOUBTFUL]
    open_chat(page)
    ask(page, QUESTION)
    answered(page)
    doubt = page.get_by_role("button", name="does not say this")
    expect(doubt).to_have_count(1)
    doubt.focus()
    expect(page.get_by_role("tooltip")).to_contain_text("15")
    expect(page.get_by_text("1 of 2 statements supported")).to_be_visible()


def test_a_reload_in_the_middle_goes_on_and_a_stop_keeps_what_was_said(page: Page, model: ChatServer) -> None:
    dripping = Dripping("一二三四五六七八九十 屏幕 改用 PPR-9087 [1]。")
    model.replies[:] = [dripping, ANSWER]
    open_chat(page)
    ask(page, QUESTION)
    expect(page.get_by_role("article").last).to_contain_text("一二三四五六七八九十 屏幕")
    page.reload()
    expect(page.get_by_role("article").last).to_contain_text("一二三四五六七八九十 屏幕")
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.get_by_role("button", name="Stop").click()
    dripping.goes_on.set()
    expect(page.get_by_text("Stopped. This is what was said until then.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Stopped. This is what was said until then.")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("button", name="Answer anew").click()
    answered(page)
    expect(page.get_by_role("article").last.locator("strong")).to_have_text("PPR-9087")
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("button", name="1 replaced question is hidden").click()
    expect(page.get_by_role("article").first).to_contain_text("一二三四五六七八九十 屏幕")


def test_a_slow_network_only_takes_longer(server: Server, browser: Browser, model: ChatServer) -> None:
    model.replies[:] = [ANSWER]
    with page_of(browser, server.url) as page:
        network = page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": 400, "downloadThroughput": 40_000, "uploadThroughput": 20_000}
        network.send("Network.emulateNetworkConditions", slow)
        open_chat(page)
        ask(page, QUESTION)
        answered(page)
        expect(page.get_by_role("article").last.locator("strong")).to_have_text("PPR-9087")


def test_a_question_is_changed_and_asked_again(page: Page, server: Server) -> None:
    open_chat(page)
    ask(page, QUESTION)
    answered(page)
    page.get_by_role("article").last.hover()
    page.get_by_role("button", name="Edit the question").click()
    area = page.get_by_role("textbox", name="Edit the question")
    area.fill("供货从何时开始？")
    area.press("Enter")
    expect(page.get_by_role("article")).to_contain_text(["供货从何时开始？"])
    answered(page)
    session = page.url.rsplit("/", 1)[1]
    turns = server.client.get(f"/sessions/{session}/turns").json()["turns"]
    assert [(turn["text"], turn["replaced_by"]) for turn in turns if turn["role"] == "person"] == [
        (QUESTION, 3),
        ("供货从何时开始？", None),
    ]


def test_a_judgement_is_kept_and_becomes_a_case(page: Page, server: Server) -> None:
    open_chat(page)
    ask(page, QUESTION)
    answered(page)
    page.get_by_role("button", name="Good answer").click()
    page.get_by_role("textbox", name="What is good about it?").fill("It names the part.")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_text("Kept as a case")).to_be_visible()
    page.get_by_role("button", name="Good answer").click()
    page.get_by_role("button", name="Bad answer").click()
    page.get_by_role("textbox", name="What is wrong with it?").fill("Since when?")
    page.get_by_role("button", name="Send the note").click()
    expect(page.get_by_text("Kept. Thank you.")).to_be_visible()
    session = page.url.rsplit("/", 1)[1]
    answer = server.client.get(f"/sessions/{session}/turns").json()["turns"][1]
    assert answer["feedback"] == {"value": "down", "note": "Since when?"}
    cases = server.client.get("/evaluation/sets/regressions/cases").json()["cases"]
    assert (cases[0]["query"], cases[0]["expected"][0]["document"]) == (QUESTION, "周会.md")


def test_nothing_in_a_document_or_an_answer_can_script_the_page(page: Page, server: Server, model: ChatServer) -> None:
    server.add(HOSTILE_NAME, f"# {HOSTILE}\n\n代号 QX-4417 的负责人是王芳。\n")
    model.replies[:] = [Reply(HOSTILE)]
    open_chat(page)
    ask(page, "QX-4417 的负责人是谁？")
    answered(page)
    answer = page.get_by_role("article").last
    expect(answer).to_contain_text("<script>document.title='taken over'</script>")
    expect(answer).to_contain_text("[a link](javascript:")
    answer.locator("summary").click()
    expect(answer.get_by_role("link", name=HOSTILE_NAME).first).to_be_visible()
    assert answer.locator("img, script, iframe, [onerror], [onclick], a[href^=javascript]").count() == 0
    # Asking another server fails the test when the page is closed.
    assert "taken over" not in page.title()
    server.client.delete(f"/documents/{server.library.documents.find(HOSTILE_NAME).document.id}").raise_for_status()


def test_what_is_attached_is_read_and_what_could_not_be_is_said(page: Page, model: ChatServer) -> None:
    model.replies[:] = [Reply("验收在周五 [1]。")]
    open_chat(page)
    files = [
        {"name": "验收.txt", "mimeType": "text/plain", "buffer": "验收安排在周五下午三点。".encode()},
        {"name": "broken.json", "mimeType": "application/json", "buffer": b'{"a": '},
    ]
    page.locator("input[type=file]").set_input_files(files)  # type: ignore[arg-type]
    expect(page.get_by_role("listitem").filter(has_text="验收.txt")).to_contain_text("read whole")
    expect(page.get_by_role("listitem").filter(has_text="broken.json")).to_contain_text("is not valid JSON")
    ask(page, "验收在哪天？")
    answered(page)
    answer = page.get_by_role("article").last
    expect(answer.get_by_role("link", name="Citation 1: 验收.txt")).to_be_visible()
    expect(answer.get_by_text("broken.json: ")).to_be_visible()
    page.get_by_role("button", name="Remove broken.json").click()
    expect(page.get_by_role("button", name="Remove broken.json")).to_have_count(0)


def test_two_tabs_show_the_same_conversation(page: Page) -> None:
    open_chat(page)
    ask(page, QUESTION)
    answered(page)
    other = page.context.new_page()
    other.goto(page.url)
    answered(other)
    ask(other, "供货从何时开始？")
    expect(page.get_by_role("article")).to_have_count(2)
    answered(page)
    expect(page.get_by_role("article").last).to_contain_text("供货从何时开始？")
    other.close()


def test_a_conversation_is_renamed_exported_and_deleted(page: Page) -> None:
    open_chat(page)
    ask(page, "要改名的对话？")
    answered(page)
    listed = page.get_by_role("complementary", name="Conversations")
    more = listed.get_by_role("button", name="More for “要改名的对话？”")
    more.click()
    with page.expect_download() as downloading:
        listed.get_by_role("link", name="Export as Markdown").click()
    assert "PPR-9087" in downloading.value.path().read_text("utf-8")
    more.click()
    listed.get_by_role("button", name="Rename").click()
    listed.get_by_role("textbox", name="Rename").fill("Screens")
    listed.get_by_role("button", name="Save").click()
    listed.get_by_role("button", name="More for “Screens”").click()
    listed.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(listed.get_by_role("link", name="Screens")).to_have_count(0)
    expect(page.get_by_text("What would you like to know?")).to_be_visible()


def test_a_long_conversation_is_loaded_as_one_scrolls(page: Page, server: Server) -> None:
    session = server.client.post("/sessions", json={"title": "long"}).json()["id"]
    details = {"finish_reason": "stop", "citations": [], "support": [], "sources": []}
    with server.library._database.write() as tx:
        for number in range(250):
            begun = conversation_turns.begin(tx, session, f"question {number}", f"trace_{number}", (), None)
            conversation_turns.finish(tx, session, begun + 1, f"answer {number}\n\n- one\n- two", details, {})
    open_chat(page, session)
    articles = page.get_by_role("article")
    expect(articles.last).to_contain_text("answer 249")
    assert articles.count() < 60
    log = page.get_by_role("region", name="What was said")
    while (known := articles.count()) < 250:
        log.evaluate("log => { log.scrollTop = 0 }")
        expect(articles.nth(known)).to_be_attached()
    expect(articles).to_have_count(250)
    # What is out of sight is not drawn, so that it costs nothing to scroll past it.
    assert page.evaluate("getComputedStyle(document.querySelector('article')).contentVisibility") == "auto"


def test_a_conversation_is_held_by_the_keyboard_alone(page: Page) -> None:
    open_chat(page)
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    page.keyboard.type("屏幕")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("改用什么？")
    page.keyboard.press("Enter")
    answered(page)
    expect(page.get_by_role("article").last.locator("p").first).to_have_text("屏幕\n改用什么？")
    citation = page.get_by_role("link", name="Citation 1: 周会.md").first
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if citation.evaluate("link => link === document.activeElement"):
            break
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="周会.md")).to_be_visible()


def test_axe_finds_nothing_serious_in_a_conversation(browser: Browser, server: Server, model: ChatServer) -> None:
    model.replies[:] = [DOUBTFUL]
    with page_of(browser, server.url, size=(390, 800)) as page:
        open_chat(page)
        ask(page, QUESTION)
        answered(page)
        page.get_by_role("article").last.locator("summary").click()
        page.get_by_role("button", name="Bad answer").click()
        page.evaluate(AXE.read_text("utf-8"))
        assert faults(page) == []
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert faults(page, ["color-contrast"]) == []
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        page.get_by_role("button", name="Conversations").click()
        expect(page.get_by_role("dialog").get_by_role("link", name=QUESTION).first).to_be_visible()
