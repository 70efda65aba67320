"""kill -9 and SIGSTOP at random moments: nothing is lost, nothing is doubled, nothing half-done is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crashing import (
    ON_POSTGRESQL,
    SCENARIOS,
    Damage,
    crash_again_and_again,
    cut_again_and_again,
    delete_again_and_again,
    stop_again_and_again,
)
from tests.postgres_server import library_database


def _assert_unharmed(damage: Damage) -> None:
    assert (damage.lost, damage.doubled, damage.wrongly_visible, damage.findings) == (0, 0, 0, ())


def test_kills_leave_everything_done_exactly_once(tmp_path: Path) -> None:
    damage = crash_again_and_again(tmp_path, kills=5, processes=1, seed=20260414)
    assert damage.kills == 5
    assert damage.embedded_again == 0
    assert damage.taken_over > 0, "nobody was disturbed: give the workers more to do"
    _assert_unharmed(damage)


def test_a_worker_that_was_stopped_past_its_lease_changes_nothing_when_it_goes_on(tmp_path: Path) -> None:
    damage = stop_again_and_again(tmp_path, stops=3, seed=20260414)
    assert damage.taken_over > 0, "nobody was disturbed: give the workers more to do"
    _assert_unharmed(damage)


def test_what_was_deleted_stays_away_however_the_purge_is_interrupted(tmp_path: Path) -> None:
    _assert_unharmed(delete_again_and_again(tmp_path, kills=2, seed=20260414))


def test_kills_leave_everything_done_exactly_once_on_postgresql(tmp_path: Path) -> None:
    with library_database() as address:
        damage = crash_again_and_again(tmp_path, kills=2, processes=2, seed=20260414, database=address)
    assert damage.kills == 2
    assert damage.embedded_again == 0
    assert damage.taken_over > 0, "nobody was disturbed: give the workers more to do"
    _assert_unharmed(damage)


def test_cut_connections_to_postgresql_lose_and_double_nothing(tmp_path: Path) -> None:
    with library_database() as address:
        damage = cut_again_and_again(tmp_path, 2, 20260414, address)
    assert damage.kills == 2
    _assert_unharmed(damage)


@pytest.mark.soak
@pytest.mark.parametrize("name", ON_POSTGRESQL)
def test_a_hundred_times_on_postgresql(tmp_path: Path, name: str) -> None:
    with library_database() as address:
        damage = ON_POSTGRESQL[name](tmp_path, 100, address)
    assert damage.kills == 100
    assert damage.embedded_again == 0 or any(one in name for one in ("deleting", "SIGSTOP", "cut", "restarted"))
    _assert_unharmed(damage)


@pytest.mark.soak
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_hundred_times(tmp_path: Path, name: str) -> None:
    damage = SCENARIOS[name](tmp_path, 100)
    assert damage.kills == 100
    # What a stopped worker was about to send, it sends when it goes on; and what is deleted loses its vectors.
    assert damage.embedded_again == 0 or "deleting" in name or "SIGSTOP" in name
    _assert_unharmed(damage)
