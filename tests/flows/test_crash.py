"""kill -9 at random moments: nothing is lost, nothing is doubled, nothing half-done is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crashing import crash_again_and_again


def test_thirty_kills_leave_everything_done_exactly_once(tmp_path: Path) -> None:
    damage = crash_again_and_again(tmp_path, kills=30, processes=1, seed=20260414)
    assert damage.kills == 30, "the work was done too soon: give it more to do"
    assert (damage.lost, damage.doubled, damage.embedded_again, damage.wrongly_visible) == (0, 0, 0, 0)
    assert damage.findings == ()


@pytest.mark.soak
@pytest.mark.parametrize("processes", [1, 3])
def test_a_hundred_kills(tmp_path: Path, processes: int) -> None:
    damage = crash_again_and_again(tmp_path, kills=100, processes=processes, seed=processes)
    assert damage.kills == 100
    assert (damage.lost, damage.doubled, damage.embedded_again, damage.wrongly_visible) == (0, 0, 0, 0)
    assert damage.findings == ()
