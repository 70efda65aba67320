"""A keyword-only library whose answers are written by a server that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from wenyuan.flows.conversation.steps import Step
from wenyuan.runtime.library import Library
from wenyuan.types import JsonObject

MEETING = "# 周会\n\n## 2026年4月14日\n\n决定：屏幕改用 PPR-9087，五月起供货。\n"
HEALTH = "公司每年安排一次健康体检，费用由公司承担。\n"
TOOLS, NO_TOOLS = "tools = true", "tools = false"


@dataclass
class Talking:
    """The library, and the model that answers: the one called `writer` calls tools, `plain` does not."""

    library: Library
    server: ChatServer

    def script(self, *replies: Any) -> None:
        """Have the model say this from now on, and forget what it was asked."""
        self.server.replies[:] = replies
        self.server.requests.clear()


@contextmanager
def conversing(folder: Path, settings: str = "[answer]\nrounds = 3\nseconds = 2\n") -> Iterator[Talking]:
    """A library with two documents."""
    home = folder / "library"
    home.mkdir()
    with chatting(Reply("屏幕改用 PPR-9087 [1]。")) as server:
        models = server.settings(more=TOOLS) + server.described("plain", more=NO_TOOLS)
        (home / "wenyuan.toml").write_text(f'[defaults]\nembedding_model = ""\n{models}\n{settings}', "utf-8")
        with wy.open(home, environment={}) as library:
            library.add_text(MEETING, "周会.md", wait=False)
            library.add_text(HEALTH, "手册.md")
            yield Talking(library, server)


def told(steps: Iterator[Step]) -> dict[str, list[JsonObject]]:
    """The data of all steps by their names, in order."""
    by_name: dict[str, list[JsonObject]] = {}
    for step in steps:
        by_name.setdefault(step.name, []).append(step.data)
    return by_name


def message_of(steps: Iterator[Step]) -> JsonObject:
    """The message at the end; what was told of it piece by piece is its text."""
    by_name = told(steps)
    (message,) = by_name["assistant.message"]
    assert "".join(one["text"] for one in by_name.get("assistant.delta", [])) == message["text"]
    return message
