"""The lock files as pinned requirements."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.source_code import REPOSITORY

RUNTIME_LOCK = REPOSITORY / "requirements.lock"
DEVELOPMENT_LOCK = REPOSITORY / "requirements-dev.lock"


def pinned(lock: Path) -> dict[str, Requirement]:
    """Each pinned package of a lock file by its canonical name."""
    pins = (Requirement(line.rstrip("\\")) for line in lock.read_text("utf-8").splitlines() if re.match(r"\w", line))
    return {canonicalize_name(pin.name): pin for pin in pins}


def applies_here(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate()
