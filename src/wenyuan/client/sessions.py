"""Sessions of a server that were begun with the same key."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from wenyuan.client.connection import Connection
from wenyuan.client.files import file_form
from wenyuan.runtime.granted import Received
from wenyuan.runtime.sessions import Attachment, Session


@dataclass(frozen=True, slots=True)
class _Sessions:
    sessions: list[Session]


@dataclass(frozen=True, slots=True)
class _Attachments:
    attachments: list[Attachment]


class RemoteSessions:
    """As `Library.sessions`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, title: str = "", *, kb: str | Sequence[str] | None = None) -> Session:
        names = [kb] if isinstance(kb, str) else None if kb is None else list(kb)
        return self._connection.create(Session, "/sessions", {"title": title, "knowledge_bases": names})

    def list(self, limit: int = 100) -> builtins.list[Session]:
        return self._connection.get(_Sessions, "/sessions", limit=limit).sessions

    def find(self, session: str) -> Session:
        """Raises `SessionNotFound`."""
        return self._connection.get(Session, _path(session))

    def rename(self, session: str, title: str) -> Session:
        return self._connection.change(Session, "PATCH", _path(session), {"title": title})

    def ask_others(self, session: str, kb: Sequence[str] | None) -> Session:
        """Let a session ask other knowledge bases from now on, all that are granted with None."""
        names = None if kb is None else list(kb)
        return self._connection.change(Session, "PATCH", _path(session), {"knowledge_bases": names}, says_null=True)

    def delete(self, session: str) -> None:
        self._connection.delete(_path(session))

    def attach(self, session: str, *paths: str | os.PathLike[str]) -> builtins.list[Received]:
        """Attach files."""
        path = f"{_path(session)}/attachments/upload"
        files = [Path(one).expanduser() for one in paths]
        return [self._connection.upload(Received, path, file_form(one, one.name, None, None)) for one in files]

    def attach_text(self, session: str, text: str, name: str) -> Received:
        return self._connection.create(Received, f"{_path(session)}/attachments/text", {"name": name, "text": text})

    def attachments(self, session: str) -> builtins.list[Attachment]:
        return self._connection.get(_Attachments, f"{_path(session)}/attachments").attachments

    def detach(self, session: str, attachment: str) -> None:
        self._connection.delete(f"{_path(session)}/attachments/{quote(attachment, safe='')}")


def _path(session: str) -> str:
    return f"/sessions/{quote(session, safe='')}"
