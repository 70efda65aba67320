"""`wenyuan kb rebuild`, `rollback` and `drop-index`, through the program itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.embedding_server import EmbeddingServer, serving
from tests.program import run_here
from tests.two_models import configure


@dataclass
class Shell:
    home: Path
    first: EmbeddingServer
    second: EmbeddingServer

    def run(self, *arguments: str, code: int = 0, language: str = "en") -> str:
        settings = {"WENYUAN_LIBRARY": str(self.home), "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "a"}
        ended = run_here(*arguments, WENYUAN_LANG=language, **settings)
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended.stdout + ended.stderr

    def told(self, *arguments: str) -> Any:
        output = self.run(*arguments, "--json")
        return json.loads(output[output.index("{") :])


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with serving() as first, serving(dimensions=96) as second:
        configure(tmp_path / "library", {"a": first, "b": second}, "a")
        for n in range(3):
            (tmp_path / f"{n}.txt").write_text(f"第{n}份水位记录。", "utf-8")
        one = Shell(tmp_path / "library", first, second)
        one.run("add", *(str(tmp_path / f"{n}.txt") for n in range(3)))
        yield one


def test_there_and_back_again(shell: Shell) -> None:
    assert "nothing to rebuild" in shell.run("kb", "rebuild")
    queued = shell.run("kb", "rebuild", "--model", "b", "--no-wait")
    assert "model a → b" in queued
    assert "0 of 3 passages" in queued
    assert "being rebuilt: 0 %" in shell.run("kb", "list")
    assert "重建中" in shell.run("kb", "show", "default", language="zh")
    assert shell.told("kb", "show", "default")["indexed_with"] == "a"
    assert "kb rollback default" in shell.run("kb", "rebuild")
    assert shell.told("kb", "show", "default")["indexed_with"] == "b"
    assert shell.told("kb", "rollback")["rebuild"]["rebuild"]["state"] == "active"
    assert shell.told("kb", "show", "default")["indexed_with"] == "a"
    assert "taken away" in shell.run("kb", "drop-index")
    assert "nothing-to-roll-back" in shell.run("kb", "rollback", code=2)


def test_giving_up(shell: Shell) -> None:
    shell.run("kb", "rebuild", "--model", "b", "--chunk-columns", "100", "--chunk-overlap", "10", "--no-wait")
    assert "0 of 3 documents read" in shell.run("kb", "rebuild", "--status")
    assert "never changed" in shell.run("kb", "rebuild", "--cancel")
    assert "rebuild-not-running" in shell.run("kb", "rebuild", "--cancel", code=2)
    assert "没有正在进行的重建" in shell.run("kb", "rebuild", "--cancel", code=2, language="zh")


def test_a_model_that_fails(shell: Shell) -> None:
    shell.second.before_answer = lambda _: (401, {}, b"{}")
    failed = shell.run("kb", "rebuild", "--model", "b", code=5)
    assert "the old index goes on answering" in failed
    assert "error[model-refuses-all]" in failed or "error[provider-refused]" in failed
    assert "rebuild-failed" in shell.run("doctor")
    assert "rebuild failed at 0 %" in shell.run("kb", "list")
    shell.second.before_answer = lambda _: None
    assert "Rebuilt (model a → b)" in shell.run("kb", "rebuild")


def test_changing_the_settings_of_a_knowledge_base(shell: Shell) -> None:
    told = shell.run("kb", "set", "default", "--embedding-model", "b", "--ready-when", "semantic")
    assert "is to be rebuilt" in told
    assert "with its vectors" in told
    shell.run("worker", "--drain")
    assert shell.told("kb", "show", "default")["indexed_with"] == "b"
    shell.run("kb", "rebuild", "--model", "none")
    assert "keyword search alone" in shell.run("kb", "show", "default")
    shell.run("kb", "rebuild", "--rules")
