"""Which work comes first: the smaller number."""

from __future__ import annotations

PRIORITY_INGEST_NOW = 5
"""A person has just added it, and waits."""
PRIORITY_INGEST = 10
PRIORITY_MOVE = 20
PRIORITY_REREAD = 40
PRIORITY_EMBED_NOW = 45
PRIORITY_EMBED = 50
PRIORITY_REBUILD = 60
PRIORITY_PURGE = 80
PRIORITY_ERASE = 85
