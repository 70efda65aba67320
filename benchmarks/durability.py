"""Durability: what is lost, doubled or wrongly shown when workers are killed and stopped again and again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.report import table
from tests.crashing import SCENARIOS

_HEADER = (
    "what is done",
    "times",
    "jobs taken over",
    "lost",
    "doubled",
    "wrongly visible",
    "check findings",
    "embedded again",
    "seconds",
)


def measure(times: int) -> str:
    rows = []
    for name, run in SCENARIOS.items():
        with tempfile.TemporaryDirectory() as folder:
            damage = run(Path(folder) / "trial", times)
        rows.append(
            (
                name,
                damage.kills,
                damage.taken_over,
                damage.lost,
                damage.doubled,
                damage.wrongly_visible,
                len(damage.findings),
                damage.embedded_again,
                damage.seconds,
            )
        )
    return table("Durability", _HEADER, rows)
