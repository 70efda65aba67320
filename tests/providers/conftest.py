"""One converted model for all tests of a machine: converting it takes seconds, using it does not."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest


@pytest.fixture(scope="session")
def cache_directory() -> Path:
    return Path(os.environ.get("WENYUAN_CACHE") or platformdirs.user_cache_dir("wenyuan"))
