"""Knowledge bases of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from wenyuan.client.connection import Connection
from wenyuan.runtime.knowledge_bases import KnowledgeBaseView
from wenyuan.runtime.rebuilds import RebuildView
from wenyuan.types import ChunkingConfig, DocumentPolicy, KnowledgeBase, ReadyWhen

DEFAULT_NAME = "default"


@dataclass(frozen=True, slots=True)
class _Listed:
    knowledge_bases: list[KnowledgeBaseView]


@dataclass(frozen=True, slots=True)
class _Rebuild:
    rebuild: RebuildView | None


def base_path(name: str | None) -> str:
    return f"/knowledge-bases/{quote(DEFAULT_NAME if name is None else name, safe='')}"


class RemoteKnowledgeBases:
    """As `Library.knowledge_bases`, as far as the key may."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> list[KnowledgeBaseView]:
        return self._connection.get(_Listed, "/knowledge-bases").knowledge_bases

    def show(self, name: str) -> KnowledgeBaseView:
        """Raises `KnowledgeBaseNotFound`."""
        return self._connection.get(KnowledgeBaseView, base_path(name))

    def find(self, name: str | None) -> KnowledgeBase:
        """The knowledge base of that name or id, or the default one. Raises `KnowledgeBaseNotFound`."""
        return self._connection.get(KnowledgeBaseView, base_path(name)).knowledge_base

    def create(
        self,
        name: str,
        *,
        description: str = "",
        embedding_model: str | None = None,
        chunking: ChunkingConfig | None = None,
        tags: Sequence[str] = (),
        persona: str = "",
        scenario: str = "",
        policy: DocumentPolicy | None = None,
    ) -> KnowledgeBase:
        """Raises `InvalidValue`, `KnowledgeBaseExists`, `ModelNotConfigured` or `PermissionMissing`."""
        body = {
            "name": name,
            "description": description,
            "embedding_model": embedding_model,
            "chunking": None if chunking is None else asdict(chunking),
            "tags": list(tags),
            "persona": persona,
            "scenario": scenario,
            "policy": None if policy is None else asdict(policy),
        }
        return self._connection.create(KnowledgeBaseView, "/knowledge-bases", body).knowledge_base

    def describe(
        self,
        name: str,
        *,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        persona: str | None = None,
        scenario: str | None = None,
    ) -> KnowledgeBase:
        """Change what people are told of a knowledge base; what is None stays."""
        body = {"description": description, "persona": persona, "scenario": scenario}
        return self._changed(name, {**body, "tags": None if tags is None else list(tags)})

    def set_policy(self, name: str, policy: DocumentPolicy) -> KnowledgeBase:
        return self._changed(name, {"policy": asdict(policy)})

    def set_ready_when(self, name: str, ready_when: ReadyWhen) -> KnowledgeBase:
        return self._changed(name, {"ready_when": ready_when})

    def archive(self, name: str, *, undo: bool = False) -> KnowledgeBase:
        path = f"{base_path(name)}/{'activate' if undo else 'archive'}"
        return self._connection.change(KnowledgeBaseView, "POST", path).knowledge_base

    def delete(self, name: str) -> None:
        self._connection.delete(base_path(name))

    def _changed(self, name: str, body: dict[str, Any]) -> KnowledgeBase:
        return self._connection.change(KnowledgeBaseView, "PATCH", base_path(name), body).knowledge_base


class RemoteRebuilds:
    """As `Library.rebuilds`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begin(
        self,
        kb: str,
        *,
        embedding_model: str | None = None,
        chunking: ChunkingConfig | None = None,
        rereads: bool = False,
    ) -> RebuildView | None:
        chosen = None if chunking is None else asdict(chunking)
        body = {"embedding_model": embedding_model, "chunking": chosen, "rereads": rereads}
        return self._connection.change(_Rebuild, "POST", f"{base_path(kb)}/rebuild", body).rebuild

    def show(self, kb: str) -> RebuildView | None:
        return self._connection.get(_Rebuild, f"{base_path(kb)}/rebuild").rebuild

    def cancel(self, kb: str) -> RebuildView:
        return self._done(kb, "cancel")

    def roll_back(self, kb: str) -> RebuildView:
        return self._done(kb, "rollback")

    def _done(self, kb: str, what: str) -> RebuildView:
        return self._connection.change(_RebuildDone, "POST", f"{base_path(kb)}/rebuild/{what}").rebuild


@dataclass(frozen=True, slots=True)
class _RebuildDone:
    rebuild: RebuildView
