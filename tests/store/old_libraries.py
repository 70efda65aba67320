"""Libraries that earlier programs left, as `tests/fixtures/libraries/make_library.py` packed them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from wenyuan.store import migrate
from wenyuan.store.sqlite import SqliteDatabase, SqliteTransaction

_PACKED = Path(__file__).resolve().parents[1] / "fixtures" / "libraries"
SCHEMAS = sorted(path.name.split(".")[0] for path in _PACKED.glob("schema-*.tar.xz"))


def unpack(schema: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The library's folder, and what its program found in it."""
    with tarfile.open(_PACKED / f"{schema}.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "library", json.loads((folder / "expected.json").read_text("utf-8"))


class BlockedHalfWay:
    """Stands in for one more migration, and tells when everything before it was applied, uncommitted."""

    def __init__(self, reached: Any, wait: Any) -> None:
        self._reached = reached
        self._wait = wait

    def migrate(self, folder: Path) -> None:
        database = SqliteDatabase(folder / "wenyuan.db", 10.0)
        known = migrate.known_migrations()
        last = migrate.Migration(len(known) + 1, "9999_last", "CREATE TABLE last (a TEXT); SELECT 1;")
        script = SqliteTransaction.script

        def blocked(tx: SqliteTransaction, sql: str) -> None:
            script(tx, sql)
            if sql == last.sql:
                self._reached()
                self._wait()

        SqliteTransaction.script = blocked  # type: ignore[method-assign, assignment]
        migrate.migrate(database, folder, (*known, last))
