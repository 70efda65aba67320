"""The quick start of `docs/how-to-postgresql.md` does what it says, from an empty server on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.own_postgres import own_server
from tests.postgres_server import program
from tests.waiting import until

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to-postgresql.md"
_ADDRESS = "postgresql://wenyuan@db.example/library"


def _blocks(heading: str) -> list[str]:
    section = _PAGE.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


@pytest.mark.soak
def test_the_quick_start_works(tmp_path: Path) -> None:
    make, here, once, start, search = _blocks("From an empty PostgreSQL to two workers and a server")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "meeting.md").write_text("# 会议\n\n4 月 14 日的会议决定更换水泵。", "utf-8")
    with own_server() as server:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{Path(program('psql')).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "PGHOST": str(server.folder),
            "PGUSER": "postgres",
            "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "",
        }

        def run(*commands: str) -> str:
            # The server has an empty database of that name already, and another user.
            script = "\n".join(commands).replace("DATABASE library", "DATABASE quick")
            script = script.replace(_ADDRESS, f"postgresql://postgres@/quick?host={server.folder}")
            done = subprocess.run(
                ["bash", "-ec", script], env=environment, capture_output=True, text=True, check=False, timeout=300
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        run(make)
        run(here, once)
        log = tmp_path / "started"
        with log.open("w") as told:
            script = "\n".join((here.replace(_ADDRESS, f"postgresql://postgres@/quick?host={server.folder}"), start))
            # Any port that is free.
            script = script.replace("--no-work", "--no-work --port 0")
            started = subprocess.Popen(
                ["bash", "-ec", f"{script}\nwait"], env=environment, stdout=told, stderr=told, start_new_session=True
            )
        try:
            until(lambda: "meeting.md" in run(here, search), glance_seconds=0.5)
            assert "水泵" in run(here, search)
            until(lambda: "http://127.0.0.1:" in log.read_text("utf-8"), process=started)
        finally:
            os.killpg(started.pid, signal.SIGTERM)
            started.wait(60)
