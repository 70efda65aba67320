"""What every test shares: property tests that give the same verdict on every run where it counts."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("local", deadline=None)
# The same examples every time find nothing new the second time, so that fewer do.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, database=None, print_blob=True, max_examples=60
)
settings.load_profile("reproducible" if os.environ.get("CI") else "local")
