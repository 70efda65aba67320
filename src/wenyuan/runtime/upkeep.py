"""Looking after a library: does everything hold, and is everything there that it needs?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wenyuan.config import Settings
from wenyuan.runtime.models import Models
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.sqlite import SqliteDatabase


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it where something is wrong."""

    code: str
    severity: Literal["ok", "warning", "error"]
    message: str
    hint: str = ""


def check(database: SqliteDatabase, blobs: BlobDirectory) -> list[Finding]:
    return []


def doctor(path: Path, settings: Settings, database: SqliteDatabase, models: Models) -> list[Finding]:
    return []
