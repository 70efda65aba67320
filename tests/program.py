"""The program as people run it, as a process of its own or, which spares the start, in this one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from wenyuan.doors.cli.__main__ import main

PROGRAM = (sys.executable, "-m", "wenyuan.doors.cli")


def environment(**more: str) -> dict[str, str]:
    """A keyword-only library by default: vectors are tested elsewhere, and take time."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", **more}


Ended = subprocess.CompletedProcess[str]


def run(*arguments: str | Path, **more: str) -> Ended:
    """Run the program as a process of its own."""
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(**more), stdin=subprocess.DEVNULL, check=False
    )


def run_here(*arguments: str | Path, **more: str) -> Ended:
    """Run the same program in this process, which spares the start: for tables of many commands."""
    command = list(map(str, arguments))
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with (
        mock.patch.dict(os.environ, environment(**more), clear=True),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
    ):
        exit_code = main(command)
    output, errors = (_written(stream) for stream in streams)
    return subprocess.CompletedProcess(command, exit_code, output, errors)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
