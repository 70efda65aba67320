"""Packages of npm, for tests by clients that others have written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


def node_packages(folders: pytest.TempPathFactory, *names: str) -> Path:
    """A folder with these packages installed; without npm or a registry the test is skipped, but not under CI."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        _missing("npm is not installed")
    folder = folders.mktemp("node")
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", *names]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        _missing("npm does not answer")
    if done.returncode:
        _missing(f"npm cannot install {', '.join(names)}: {done.stderr.strip()[-200:]}")
    return folder


def run_node(folder: Path, script: str, **environment: str) -> Any:
    """Run a module there, and return what it prints as JSON."""
    file = folder / "test.mjs"
    file.write_text(script, "utf-8")
    done = subprocess.run(
        ["node", str(file)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
