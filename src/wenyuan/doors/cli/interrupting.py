"""Ctrl-C where it may come: between two steps of what is interrupted."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self._is_pending = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal. Whoever presses it again does not want to wait for the end of a step."""
        del frame
        self._is_pending = True
        signal.signal(number, signal.default_int_handler)

    def raise_if_pending(self) -> None:
        """Raises `KeyboardInterrupt`."""
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt


@contextmanager
def interrupted_between_steps() -> Iterator[Interruption]:
    """Let Ctrl-C wait for `raise_if_pending`; in the main thread.

    Raised anywhere, it may leave a lock of the standard library locked, which whoever ends then waits for.
    """
    interruption = Interruption()
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        # It is ignored, or somebody else's to handle.
        yield interruption
        return
    signal.signal(signal.SIGINT, interruption.note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)
