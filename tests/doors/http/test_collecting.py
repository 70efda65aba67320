"""Garbage is looked for without holding up whoever is served: not in what the server itself is made of."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.doors.http.test_serving import environment

# `serve` takes signals and changes the interpreter's settings, which are a process's own.
_PROGRAM = """
import gc, json, sys, threading
import httpx2
import wenyuan as wy
from wenyuan.doors.http.server import serve

before, seen = gc.get_threshold(), {}

def look(url, stop):
    try:
        seen["status"] = httpx2.get(f"{url}/api/v1/health").status_code
        seen["looked through"] = any(one is serve.__globals__ for one in gc.get_objects())
        seen["seldom"] = gc.get_threshold()[0] > before[0]
    finally:
        stop()

def ready(serving, stop):
    threading.Thread(target=look, args=(serving.url, stop)).start()

with wy.open(sys.argv[1], create=True) as library:
    serve(library, host="127.0.0.1", port=0, works=False, worded=lambda problem: problem, on_ready=ready)
seen["as before"] = gc.get_threshold() == before and gc.get_freeze_count() == 0
print(json.dumps(seen))
"""


def test_what_a_server_is_made_of_is_not_looked_through(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(tmp_path / "library")],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen == {"status": 200, "looked through": False, "seldom": True, "as before": True}
