"""What was said in sessions of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from wenyuan.client.connection import Connection
from wenyuan.runtime.granted_conversations import ExportFormat, FeedbackValue, Turn, TurnPage
from wenyuan.types import JsonObject


class RemoteTurns:
    """As `Library.turns`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, session: str, before: int | None = None, limit: int = 50) -> TurnPage:
        """The last turns of a session, or the last ones before a number. Raises `SessionNotFound`."""
        return self._connection.get(TurnPage, f"{_path(session)}/turns", before=before, limit=limit)

    def judge(self, session: str, number: int, value: FeedbackValue, note: str = "") -> Turn:
        """Say what a person thinks of an answer; `none` takes it back. Raises `TurnNotFound`."""
        path = f"{_path(session)}/turns/{number}/feedback"
        return self._connection.change(Turn, "PUT", path, {"value": value, "note": note})

    def add_case(self, session: str, number: int, set_name: str, expect: Sequence[str] = ()) -> JsonObject:
        """Make a case of an evaluation set of the question that an answer was given to, by the answer's number."""
        body = {"set": set_name, "expect": list(expect)}
        return self._connection.create(dict[str, Any], f"{_path(session)}/turns/{number}/case", body)

    def export(self, session: str, form: ExportFormat) -> str:
        """A whole session: as Markdown what holds now, or as JSON all there is."""
        return self._connection.get_bytes(f"{_path(session)}/export?format={form}").decode()


def _path(session: str) -> str:
    return f"/sessions/{quote(session, safe='')}"
