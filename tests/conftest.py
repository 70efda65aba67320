"""What every test shares: property tests that give the same verdict on every run where it counts."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from wenyuan.runtime.file_readers import IDLE

settings.register_profile("local", deadline=None)
# The same examples every time find nothing new the second time, so that fewer do.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, database=None, print_blob=True, max_examples=60
)
settings.load_profile("reproducible" if os.environ.get("CI") else "local")

# A shell starts what runs in its background with SIGINT ignored, programs inherit that, and no Ctrl-C would
# reach those under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _warm_readers() -> Iterator[None]:
    """The next test's library reads its files with the child process of the one before."""
    with IDLE.held():
        yield
