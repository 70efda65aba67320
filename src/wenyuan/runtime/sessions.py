"""Sessions and what is attached to them, as a door sees them."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Literal

from wenyuan.config import Settings
from wenyuan.errors import AttachmentNotFound, InvalidValue
from wenyuan.flows.attach import Attachment as Attachment
from wenyuan.flows.attach import Unread as Unread
from wenyuan.flows.attach import attachments, forget, own_knowledge_base, usable
from wenyuan.flows.given import TextToAdd
from wenyuan.flows.receive import Received, Receiving, receive, receive_text
from wenyuan.flows.remove import hide_document
from wenyuan.identifiers import new_id
from wenyuan.store import knowledge_bases, sessions
from wenyuan.store.database import Database, Reading
from wenyuan.store.sessions import Session as Session
from wenyuan.types import ChunkingConfig, KnowledgeBase

_LONGEST_TITLE = 200
_MOST_LISTED = 1000


class Keep(Enum):
    """In place of a value that may be None itself: what is there stays."""

    AS_IT_IS = "as it is"


class Sessions:
    """Conversations. What is attached to one is found by searches within it alone, and goes with it."""

    def __init__(
        self, database: Database, settings: Settings, principal: str, receiving: Callable[[], Receiving]
    ) -> None:
        self._database = database
        self._settings = settings
        self._principal = principal
        self._receiving = receiving

    def create(self, title: str = "", *, kb: str | Sequence[str] | None = None) -> Session:
        """Begin a session that asks the named knowledge bases, all of them if none is named.

        Raises `InvalidValue` or `KnowledgeBaseNotFound`.
        """
        title = _checked(title)
        names = (kb,) if isinstance(kb, str) else tuple(kb) if kb is not None else None
        with self._database.write() as tx:
            for name in names or ():
                knowledge_bases.find(tx, self._principal, name)
            return sessions.add(tx, new_id("session"), self._principal, title, names)

    def list(self, limit: int = _MOST_LISTED) -> builtins.list[Session]:
        """Sessions, those used last first."""
        with self._database.read() as tx:
            return sessions.listed(tx, self._principal, limit)

    def find(self, session: str) -> Session:
        """Raises `SessionNotFound`."""
        with self._database.read() as tx:
            return sessions.find(tx, self._principal, session)

    def rename(self, session: str, title: str) -> Session:
        """Raises `SessionNotFound` or `InvalidValue`."""
        return self.change(session, title=title)

    def ask_others(self, session: str, kb: Sequence[str] | None) -> Session:
        """Let a session ask other knowledge bases from now on, all of them with None.

        Raises `SessionNotFound` or `KnowledgeBaseNotFound`.
        """
        return self.change(session, kb=kb)

    def change(
        self,
        session: str,
        *,
        title: str | None = None,
        kb: Sequence[str] | Literal[Keep.AS_IT_IS] | None = Keep.AS_IT_IS,
    ) -> Session:
        """Give a session another title, unless that is None, and other knowledge bases to ask, all of them with None.

        Raises `SessionNotFound`, `InvalidValue` or `KnowledgeBaseNotFound`, and nothing is changed then.
        """
        with self._database.write() as tx:
            found = sessions.find(tx, self._principal, session)
            if title is not None:
                sessions.rename(tx, found, _checked(title))
            if kb is not Keep.AS_IT_IS:
                for name in kb or ():
                    knowledge_bases.find(tx, self._principal, name)
                sessions.ask_others(tx, found, tuple(kb) if kb is not None else None)
            return sessions.find(tx, self._principal, session)

    def delete(self, session: str) -> None:
        """Delete a session, its turns and its attachments: hidden at once, purged by jobs."""
        with self._database.write() as tx:
            forget(tx, new_id, sessions.find(tx, self._principal, session).id)

    def attach(self, session: str, *paths: str | os.PathLike[str], password: str = "") -> builtins.list[Received]:
        """Attach files. Each is stored with its job at once; a file at fault is reported, the rest goes on.

        The same path again replaces what it held. A `password` opens the files; it is kept with each, to read it
        again. Raises `SessionNotFound` or `StorageError`.
        """
        files = [Path(path).expanduser().absolute() for path in paths]
        receiving = self._receiving()
        if password:
            receiving = replace(receiving, password=password)
        return builtins.list(receive(receiving, self.own_base(session), files))

    def attach_text(self, session: str, text: str, name: str) -> Received:
        """Attach a text under a name. Raises `SessionNotFound`, `InvalidValue` or `FileTooLarge`."""
        return receive_text(self._receiving(), self.own_base(session), TextToAdd(text, name))

    def attachments(self, session: str) -> builtins.list[Attachment]:
        """What is attached to a session and how it stands now, in the order in which it came."""
        with self._database.read() as tx:
            return self._attachments(tx, session)

    def usable(self, session: str) -> tuple[tuple[Attachment, ...], tuple[Unread, ...]]:
        """Which attachments a search may look into now, and which it cannot and why."""
        return usable(self.attachments(session))

    def detach(self, session: str, attachment: str) -> None:
        """Take an attachment, by id or name, out of a session: hidden at once, purged by a job.

        Raises `AttachmentNotFound`.
        """
        with self._database.write() as tx:
            attached = self._attachments(tx, session)
            base = knowledge_bases.of_session(tx, session)
            found = next((one for one in attached if attachment in (one.id, one.name)), None)
            if base is None or found is None:
                raise AttachmentNotFound(attachment=attachment)
            hide_document(tx, new_id, found.id, base.id, base.owner)

    def _attachments(self, tx: Reading, session: str) -> builtins.list[Attachment]:
        found = sessions.find(tx, self._principal, session)
        return attachments(tx, found.id, self._settings.sessions.inline_characters)

    def own_base(self, session: str) -> KnowledgeBase:
        """The knowledge base that holds what is attached to a session. Raises `SessionNotFound`."""
        defaults = self._settings.defaults
        chunking = ChunkingConfig(defaults.chunk_columns, defaults.chunk_overlap_columns)
        with self._database.write() as tx:
            found = sessions.find(tx, self._principal, session)
            return own_knowledge_base(tx, new_id, found, chunking, defaults.embedding_model)


def _checked(title: str) -> str:
    if len(title) > _LONGEST_TITLE or not (title.isprintable() or not title):
        reason = f"it must be at most {_LONGEST_TITLE} printable characters"
        raise InvalidValue(what="The title of a session", value=title[:_LONGEST_TITLE], reason=reason)
    return title.strip()
