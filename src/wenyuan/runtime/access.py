"""Who may do what: keys for callers from elsewhere, and what each caller is granted."""

from __future__ import annotations

import builtins
import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from wenyuan.errors import (
    CitationNotFound,
    DocumentNotFound,
    InvalidValue,
    KeyRefused,
    KeyRequired,
    KnowledgeBaseNotFound,
    PermissionMissing,
    SessionNotFound,
)
from wenyuan.identifiers import new_id
from wenyuan.store import access_keys, documents, knowledge_bases, sessions, sign_ins
from wenyuan.store.access_keys import AccessKey as AccessKey
from wenyuan.store.database import Database, Reading
from wenyuan.store.documents import DocumentRecord
from wenyuan.store.sessions import Session
from wenyuan.types import KnowledgeBase, Scope

AccessScope = Literal["read", "write", "admin"]
"""`read` searches and shows, `write` adds and changes documents, `admin` does everything."""

_PREFIX = "wyk_"
_SECRET_BYTES = 32
_LONGEST_NAME = 200
_LONGEST_DAYS = 36_500
_DAY_MS = 86_400_000
_MOST_SESSIONS = 1000


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `knowledge_bases` are the ids of those that are granted; None means all there are.

    `key_id` is empty for whoever uses the library without a key, on its own machine.
    """

    key_id: str
    name: str
    scopes: frozenset[str]
    knowledge_bases: frozenset[str] | None

    def may(self, needed: AccessScope) -> bool:
        return needed in self.scopes or "admin" in self.scopes

    @property
    def sees_all(self) -> bool:
        """Whether nothing in the library is hidden, other people's conversations included."""
        return self.knowledge_bases is None and "admin" in self.scopes


OWNER = Caller("", "", frozenset(get_args(AccessScope)), None)
"""Whoever uses a library on its own machine, as long as no key was ever made for it."""


@dataclass(frozen=True, slots=True)
class NewAccessKey:
    """A key that was just made; its `secret` is shown once and stored nowhere."""

    key: AccessKey
    secret: str


class AccessKeys:
    """Keys of a library: made, listed, revoked, and recognised."""

    def __init__(self, database: Database, principal: str) -> None:
        self._database = database
        self._principal = principal

    def create(
        self,
        name: str,
        *,
        scopes: Sequence[AccessScope] = ("read",),
        kb: Sequence[str] | None = None,
        days: float | None = None,
    ) -> NewAccessKey:
        """Make a key for the named knowledge bases, all if none is named, that expires after so many days.

        From the first key on, nobody is let in over HTTP without one. Raises `InvalidValue`,
        `AccessKeyExists` or `KnowledgeBaseNotFound`.
        """
        _check(name, scopes, days)
        secret = _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        with self._database.write() as tx:
            granted = None if kb is None else tuple(knowledge_bases.find(tx, self._principal, one).id for one in kb)
            expires = None if days is None else tx.now + int(days * _DAY_MS)
            in_order = tuple(scope for scope in get_args(AccessScope) if scope in scopes)
            key = AccessKey(new_id("key"), self._principal, name, in_order, granted, tx.now, expires, None)
            access_keys.add(tx, key, _digest(secret))
        return NewAccessKey(key, secret)

    def list(self) -> builtins.list[AccessKey]:
        """All keys, the oldest first; revoked ones stay listed."""
        with self._database.read() as tx:
            return access_keys.listed(tx, self._principal)

    def revoke(self, reference: str) -> AccessKey:
        """Let a key, by id or name, open nothing from now on, and sign out whom it let in.

        Raises `AccessKeyNotFound`.
        """
        with self._database.write() as tx:
            key = access_keys.find(tx, self._principal, reference)
            access_keys.revoke(tx, key.id)
            sign_ins.remove_of_key(tx, key.id)
            return access_keys.find(tx, self._principal, key.id)

    def have_admin(self) -> bool:
        """Whether there is a key that can be used now and may do everything."""
        with self._database.read() as tx:
            return any(
                "admin" in key.scopes and key.knowledge_bases is None and _is_usable(key, tx.now)
                for key in access_keys.listed(tx, self._principal)
            )

    def caller(self, secret: str | None, *, needs_key: bool) -> Caller:
        """Who holds this key. Without one it is the owner, where that is possible: `needs_key` says that it is not.

        Raises `KeyRequired` or `KeyRefused`.
        """
        with self._database.read() as tx:
            if secret is None:
                if needs_key or access_keys.exist(tx, self._principal):
                    raise KeyRequired()
                return OWNER
            holder = holder_of(access_keys.by_secret(tx, _digest(secret)), self._principal, tx.now)
        if holder is None:
            raise KeyRefused()
        return holder


class Grants:
    """What one caller may see. What is not granted looks like what does not exist."""

    def __init__(self, database: Database, principal: str, caller: Caller) -> None:
        self._database = database
        self._principal = principal
        self.caller = caller

    def require(self, needed: AccessScope) -> None:
        """Raises `PermissionMissing`."""
        if not self.caller.may(needed):
            raise PermissionMissing(key=self.caller.name, needed=f"the scope {needed}")

    def require_all(self) -> None:
        """For what concerns the library as a whole. Raises `PermissionMissing`."""
        if not self.caller.sees_all:
            raise PermissionMissing(key=self.caller.name, needed="the scope admin for all knowledge bases")

    def knowledge_base(self, name: str | None) -> KnowledgeBase:
        """The granted knowledge base with this name or id, or the default one. Raises `KnowledgeBaseNotFound`."""
        with self._database.read() as tx:
            return self._knowledge_base(tx, name)

    def knowledge_bases(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        """The ids of granted knowledge bases, by name or id, or of all; None only where everything is granted."""
        with self._database.read() as tx:
            if names is not None:
                return tuple(self._knowledge_base(tx, name).id for name in names)
            return None if self.caller.knowledge_bases is None else self._live(tx)

    def visible(self) -> tuple[str, ...] | None:
        """The ids of all that may be seen, those of the caller's own sessions included; None for everything."""
        if self.caller.sees_all:
            return None
        with self._database.read() as tx:
            mine = access_keys.sessions_of(tx, self._principal, self.caller.key_id, _MOST_SESSIONS)
            attached = [knowledge_bases.of_session(tx, one.id) for one in mine]
            return (*self._live(tx), *(base.id for base in attached if base is not None))

    def document(self, document_id: str) -> DocumentRecord:
        """Raises `DocumentNotFound`; a name or a path finds nothing, as it could tell of other documents."""
        with self._database.read() as tx:
            found = documents.by_ids(tx, [document_id])
            if not found or not self._is_seen(tx, found[0].document.knowledge_base_id):
                raise DocumentNotFound(document=document_id)
            return found[0]

    def check_citation(self, citation: str) -> None:
        """Raises `CitationNotFound`."""
        with self._database.read() as tx:
            found = documents.revision(tx, citation.rpartition(".")[0])
            known = found is not None and documents.by_ids(tx, [found[0].id])
            # A revision that takes its document elsewhere is not there yet.
            if not known or not self._is_seen(tx, known[0].document.knowledge_base_id):
                raise CitationNotFound(citation=citation)

    def session(self, session_id: str) -> Session:
        """A session that was begun with the caller's key. Raises `SessionNotFound`."""
        with self._database.read() as tx:
            found = sessions.find(tx, self._principal, session_id)
            if not self._is_mine(tx, session_id):
                raise SessionNotFound(session=session_id)
            return found

    def has_session(self, session_id: str) -> bool:
        """Whether a session is one that was begun with the caller's key."""
        with self._database.read() as tx:
            return self._is_mine(tx, session_id)

    def claim(self, session: Session) -> Session:
        """Make a new session the caller's own."""
        if self.caller.key_id:
            with self._database.write() as tx:
                access_keys.claim_session(tx, session.id, self.caller.key_id)
        return session

    def sessions(self, limit: int) -> list[Session]:
        with self._database.read() as tx:
            if self.caller.sees_all:
                return sessions.listed(tx, self._principal, limit)
            return access_keys.sessions_of(tx, self._principal, self.caller.key_id, limit)

    def seeing(self) -> Callable[[str], bool] | None:
        """`sees`, asked of many and remembering what it found; None where everything is seen."""
        return None if self.caller.sees_all else lru_cache(maxsize=1000)(self.sees)

    def sees(self, knowledge_base_id: str) -> bool:
        """Whether what belongs to this knowledge base, or to the session whose own it is, may be seen."""
        with self._database.read() as tx:
            return self._is_seen(tx, knowledge_base_id)

    def _knowledge_base(self, tx: Reading, name: str | None) -> KnowledgeBase:
        base = (
            knowledge_bases.default(tx, self._principal)
            if name is None
            else knowledge_bases.find(tx, self._principal, name)
        )
        granted = self.caller.knowledge_bases
        if base is None or (granted is not None and base.id not in granted):
            raise KnowledgeBaseNotFound(name="default" if name is None else name)
        return base

    def _live(self, tx: Reading) -> tuple[str, ...]:
        granted = self.caller.knowledge_bases
        bases = knowledge_bases.permitted(tx, Scope(self._principal))
        return tuple(base.id for base in bases if granted is None or base.id in granted)

    def _is_seen(self, tx: Reading, knowledge_base_id: str) -> bool:
        granted = self.caller.knowledge_bases
        if self.caller.sees_all or (granted is not None and knowledge_base_id in granted):
            return True
        if not knowledge_bases.is_there(tx, knowledge_base_id):
            return False
        base = knowledge_bases.by_id(tx, knowledge_base_id)
        return self._is_mine(tx, base.session_id) if base.session_id else granted is None

    def _is_mine(self, tx: Reading, session_id: str) -> bool:
        return self.caller.sees_all or access_keys.key_of_session(tx, session_id) == self.caller.key_id


def holder_of(key: AccessKey | None, owner: str, now: int) -> Caller | None:
    """Whoever holds a key of a library, with what it grants; None where it opens nothing there, or no more."""
    if key is None or key.owner != owner or not _is_usable(key, now):
        return None
    granted = None if key.knowledge_bases is None else frozenset(key.knowledge_bases)
    return Caller(key.id, key.name, frozenset(key.scopes), granted)


def _is_usable(key: AccessKey, now: int) -> bool:
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _check(name: str, scopes: Sequence[str], days: float | None) -> None:
    if not name.strip() or name != name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidValue(what="The name of a key", value=name, reason=f"it must be 1 to {_LONGEST_NAME} characters")
    known = get_args(AccessScope)
    if not scopes or any(scope not in known for scope in scopes):
        reason = f"name one or more of {', '.join(known)}"
        raise InvalidValue(what="The scopes of a key", value=", ".join(scopes), reason=reason)
    if days is not None and not 0 < days <= _LONGEST_DAYS:
        reason = f"it must be more than 0 and at most {_LONGEST_DAYS}"
        raise InvalidValue(what="The days until a key expires", value=days, reason=reason)
