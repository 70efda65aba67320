"""Whether the event loop is kept from its work: how late it comes back to whoever waits for nothing but time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_EVERY_SECONDS = 0.1


async def watch_lag(note: Callable[[float], None]) -> None:
    """Tell, ten times a second, how many seconds later than it was to be this was called; until it is cancelled."""
    loop = asyncio.get_running_loop()
    due = loop.time() + _EVERY_SECONDS
    while True:
        await asyncio.sleep(due - loop.time())
        now = loop.time()
        note(max(now - due, 0.0))
        due = now + _EVERY_SECONDS
