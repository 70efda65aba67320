"""How quick the page is: the first words of an answer, a long list under the hands, and what a first visit loads.

Measured in Chromium without a graphics processor, against a server in this process, whose threads compete with it.
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, expect

import wenyuan as wy
from benchmarks.report import table
from tests.chat_server import ChatServer, Reply, chatting
from tests.doors.http.running import KEYWORD_ONLY, Server, running
from tests.page.browsing import PROGRAMS, browsing, page_of
from wenyuan.runtime.library import TextToAdd

_DOCUMENTS, _QUESTIONS = 2000, 10
_WORD = "苍鹭"

# When the first words came, and when they stood on the screen: told by a copy of the stream, and by the frame after
# the change of the page.
_WATCH_WORDS = """
(() => {
  const seen = (window.measured = { came: 0, shown: 0, loaded: 0 });
  const fetched = window.fetch.bind(window);
  window.fetch = async (...given) => {
    const answer = await fetched(...given);
    const kind = answer.headers.get("content-type") ?? "";
    if (!kind.startsWith("text/event-stream") || !answer.url.endsWith("/chat")) return answer;
    const [own, copy] = answer.body.tee();
    (async () => {
      const reader = copy.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read())
        if (!seen.came && part.value.includes("assistant.delta")) seen.came = performance.now();
    })();
    return new Response(own, { status: answer.status, headers: answer.headers });
  };
  addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
    if (!seen.came || seen.shown) return;
    const last = [...document.querySelectorAll("article")].at(-1);
    if (last?.textContent.includes("%WORD%"))
      requestAnimationFrame(() => setTimeout(() => { seen.shown ||= performance.now(); }));
  }).observe(document.body, { subtree: true, childList: true, characterData: true }));
})();
""".replace("%WORD%", _WORD)

# The longest of all interactions, from the deed to the next paint: what "interaction to next paint" is of a visit.
_WATCH_DEEDS = """
(() => {
  window.deeds = [];
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (one.interactionId) window.deeds.push([one.name, one.duration]);
  }).observe({ type: "event", durationThreshold: 16, buffered: true });
})();
"""


def measure() -> str:
    if not any(map(shutil.which, PROGRAMS)):
        return "The page was not measured: no Chromium is installed.\n"
    with TemporaryDirectory() as folder, browsing() as browser, chatting(Reply(f"{_WORD}在湖边越冬 [1]。")) as model:
        home = Path(folder) / "library"
        home.mkdir()
        (home / "wenyuan.toml").write_text(model.settings(), "utf-8")
        with wy.open(home, environment=KEYWORD_ONLY) as library:
            library.add_texts(TextToAdd(f"{_WORD} {n} 在湖边越冬。", f"note-{n:04}.txt") for n in range(_DOCUMENTS))
            with running(library) as server:
                rows = [*_words(browser, server, model), *_deeds(browser, server), *_loaded(browser, server)]
    return table(f"The page, {_DOCUMENTS:,} documents", ("what", "measured", "goal"), rows)


def _words(browser: Browser, server: Server, model: ChatServer) -> list[tuple[str, str, str]]:
    took = []
    for _ in range(_QUESTIONS):
        model.spoken.clear()
        with page_of(browser, server.url) as page:
            page.context.add_init_script(_WATCH_WORDS)
            page.goto(f"{server.url}/#/chat")
            page.reload()
            question = page.get_by_role("textbox").last
            question.fill(f"{_WORD}在哪里越冬？")
            question.press("Enter")
            expect(page.get_by_role("article").last).to_contain_text(f"{_WORD}在湖边越冬")
            _settle(page)
            seen: dict[str, float] = page.evaluate("window.measured")
            took.append(seen["shown"] - seen["came"])
    return [("first words, from their event to the screen", _spread(took), "100 ms")]


def _deeds(browser: Browser, server: Server) -> list[tuple[str, str, str]]:
    with page_of(browser, server.url) as page:
        page.context.add_init_script(_WATCH_DEEDS)
        page.reload()
        page.get_by_role("link", name="default").click()
        rows = page.get_by_role("list", name="Documents").get_by_role("listitem")
        rows.first.wait_for()
        everything = page.get_by_role("checkbox").first
        everything.click()
        everything.click()
        page.get_by_placeholder("Find by name").press_sequentially("note-19", delay=60)
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        for _ in range(8):
            page.mouse.wheel(0, 3000)
            page.keyboard.press("PageDown")
        rows.nth(5).get_by_role("checkbox").click()
        _settle(page)
        deeds: list[tuple[str, float]] = page.evaluate("window.deeds")
    worst = max(deeds, key=lambda one: one[1], default=("none over 16 ms", 0.0))
    return [("interaction to next paint in the list, the worst", f"{worst[1]:.0f} ms ({worst[0]})", "200 ms")]


def _settle(page: Page) -> None:
    """Two frames more, after which the last deed has been painted and told of."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def _loaded(browser: Browser, server: Server) -> list[tuple[str, str, str]]:
    with page_of(browser, server.url) as page:
        page.reload()
        page.get_by_role("link", name="default").wait_for()
        entries: list[dict[str, Any]] = page.evaluate(
            "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
            ".filter(one => !one.name.includes('/api/')).map(one => ({name: one.name, size: one.encodedBodySize}))"
        )
    total = sum(one["size"] for one in entries) / 1024
    return [("first visit, compressed", f"{total:.0f} KB in {len(entries)} files", "150 KB")]


def _spread(samples: list[float]) -> str:
    return f"{statistics.median(samples):.0f} ms, at most {max(samples):.0f} ms of {len(samples)}"
