"""Pictures of every page, in both languages, light and dark, on a desktop and a phone: `python -m tests.page.pictures`.

They are made from a library of the example documents and laid out on one sheet for each kind of screen.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Page, expect

import wenyuan as wy
from tests.doors.http.running import Server, running
from tests.page.browsing import browsing, page_of
from tests.waiting import until

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_GAP, _COLOURS = 12, 128


@dataclass(frozen=True)
class Screen:
    """One sheet: how the page is looked at, and how large its pictures are on the sheet."""

    name: str
    locale: str
    dark: bool
    size: tuple[int, int]
    shown: tuple[int, int]
    columns: int
    question: str


DESKTOP, ON_SHEET = (1180, 800), (472, 320)
PHONE, PHONE_ON_SHEET = (390, 844), (195, 422)
SCREENS = (
    Screen("pages-en-light", "en-GB", False, DESKTOP, ON_SHEET, 2, "What was decided on 14 April?"),
    Screen("pages-en-dark", "en-GB", True, DESKTOP, ON_SHEET, 2, "What was decided on 14 April?"),
    Screen("pages-zh-light", "zh-CN", False, DESKTOP, ON_SHEET, 2, "四月十四号的会议定了什么？"),
    Screen("pages-zh-dark", "zh-CN", True, DESKTOP, ON_SHEET, 2, "四月十四号的会议定了什么？"),
    Screen("phone-en", "en-GB", False, PHONE, PHONE_ON_SHEET, 4, "What was decided on 14 April?"),
    Screen("phone-en-dark", "en-GB", True, PHONE, PHONE_ON_SHEET, 4, "What was decided on 14 April?"),
    Screen("phone-zh", "zh-CN", False, PHONE, PHONE_ON_SHEET, 4, "四月十四号的会议定了什么？"),
    Screen("phone-zh-dark", "zh-CN", True, PHONE, PHONE_ON_SHEET, 4, "四月十四号的会议定了什么？"),
)


def main() -> None:
    with (
        TemporaryDirectory() as folder,
        wy.open(Path(folder) / "library") as library,
        running(library, works=True) as server,
        browsing() as browser,
    ):
        base = server.client.post("/examples", json={}).raise_for_status().json()["knowledge_base"]["id"]
        server.settle()
        _evaluate(server)
        for screen in SCREENS:
            _sheet(screen, list(_pictures(browser, server, screen, base)))


def _evaluate(server: Server) -> None:
    """Two runs of a small set, so that there is something to plot."""
    for question in ("四月十四号的会议定了什么？", "差旅补贴是多少？"):
        hit = server.client.post("/search", json={"question": question}).raise_for_status().json()["hits"][0]
        case = {"question": question, "expect": [hit["passage"]["document_id"]], "tags": ["examples"]}
        server.client.post("/evaluation/sets/examples/cases", json=case).raise_for_status()
    for _ in range(2):
        server.client.post("/evaluation/runs", json={"set": "examples"}).raise_for_status()
        until(lambda: not server.client.get("/evaluation/running").json()["deed"]["running"])


def _places(server: Server, screen: Screen, base: str) -> Mapping[str, str]:
    found = server.client.post("/search", json={"question": screen.question}).raise_for_status().json()
    return {
        "home": "#/",
        "documents": f"#/kb/{base}",
        "reader": f"#/read/{found['hits'][0]['passage']['chunk_id']}",
        "chat": "#/chat",
        "search": f"#/search?q={screen.question}",
        "evaluation": "#/evaluation",
        "operations": "#/operations",
        "settings": "#/settings",
    }


def _pictures(browser: Browser, server: Server, screen: Screen, base: str) -> Iterator[Image.Image]:
    with page_of(browser, server.url, locale=screen.locale, size=screen.size, dark=screen.dark) as page:
        for name, place in _places(server, screen, base).items():
            page.evaluate("where => { location.hash = where }", place)
            if name == "chat":
                _ask(page, screen.question)
            page.wait_for_timeout(1500)
            yield Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def _ask(page: Page, question: str) -> None:
    box = page.get_by_role("textbox").last
    box.fill(question)
    box.press("Enter")
    expect(page.get_by_role("article").last).to_contain_text("PPR-9087")


def _sheet(screen: Screen, pictures: list[Image.Image]) -> None:
    """All of them side by side, in few colours, so that the file stays small."""
    width, height = screen.shown
    rows = -(-len(pictures) // screen.columns)
    size = (screen.columns * (width + _GAP) + _GAP, rows * (height + _GAP) + _GAP)
    sheet = Image.new("RGB", size, (90, 94, 98))
    for number, picture in enumerate(pictures):
        at = (_GAP + (number % screen.columns) * (width + _GAP), _GAP + (number // screen.columns) * (height + _GAP))
        sheet.paste(picture.resize(screen.shown, Image.Resampling.LANCZOS), at)
    sheet.quantize(_COLOURS).save(IMAGES / f"{screen.name}.png", optimize=True)


if __name__ == "__main__":
    main()
