"""The quick start of `docs/how-to-serve.md` does what it says, command by command."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.waiting import until

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to-serve.md"
ADDRESS = "http://127.0.0.1:8420"


def commands(heading: str) -> list[str]:
    section = PAGE.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [command.strip() for block in blocks for command in block.split("\n\n")]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """`wenyuan` by name, a new library, words alone."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "WENYUAN_LIBRARY": str(tmp_path / "library"),
        "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "",
    }


@pytest.fixture
def url(tmp_path: Path, environment: dict[str, str]) -> Iterator[str]:
    """The first command of the page, on a free port."""
    serve = [*commands("Quick start")[0].split(), "--port", "0", "--json"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, env=environment, cwd=tmp_path, text=True)
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["url"]
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    finally:
        server.kill()
        server.communicate()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page is for people who have curl")
def test_the_quick_start_works(tmp_path: Path, environment: dict[str, str], url: str) -> None:
    def run(command: str) -> str:
        changed = command.replace(ADDRESS, url)
        done = subprocess.run(
            ["sh", "-c", changed], capture_output=True, text=True, cwd=tmp_path, env=environment, check=True
        )
        return done.stdout

    add, jobs, ask, upload, chat = commands("Quick start")[1:]
    assert json.loads(run(add))["outcome"] == "added"
    until(lambda: json.loads(run(jobs))["jobs"] == [])
    assert "PPR-9087" in json.loads(run(ask))["text"]
    assert json.loads(run(upload))["outcome"] == "added"
    assert run(chat).count("event: assistant.message") == 1
    secret = run(commands("Keys")[0].splitlines()[0]).rpartition(" ")[2].strip()
    with httpx2.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {secret}"}) as client:
        assert client.get("/models").status_code == 200
        for command in commands("Keys")[0].splitlines()[1:]:
            run(command)
        assert client.get("/models").status_code == 401
