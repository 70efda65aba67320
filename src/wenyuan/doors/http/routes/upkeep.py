"""Looking after a library: what it takes, its backups and keys, what went wrong lately, and examples to begin with."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.answers import KeyList, ProblemList
from wenyuan.doors.http.bodies import NewBackup, NewExamples, NewKey
from wenyuan.doors.http.call import Caller
from wenyuan.doors.http.problems import is_chinese
from wenyuan.runtime.access import AccessKey, NewAccessKey
from wenyuan.runtime.background import Deed
from wenyuan.runtime.backup_folder import BackupsView
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.knowledge_bases import KnowledgeBaseView
from wenyuan.runtime.overview import StorageView

router = APIRouter()

_EXAMPLES = ("Examples", "Documents that come with Wenyuan, to try it with.")
_EXAMPLES_ZH = ("示例", "随文渊附带的文档，可用来试用。")


@router.get("/problems", response_model=ProblemList, tags=["jobs"])
async def list_problems(call: Caller, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """List work that failed or waits because of a problem, newest first, as long as nothing put it right."""
    return await call.reply(lambda library: ProblemList(library.upkeep.problems(limit)))


@router.post("/examples", status_code=201, response_model=KnowledgeBaseView, tags=["knowledge bases"])
async def add_examples(call: Caller, body: NewExamples) -> Response:
    """Make a knowledge base of a few documents that come with the program. Needs admin for all knowledge bases."""

    def make(library: GrantedLibrary) -> tuple[int, str, KnowledgeBaseView]:
        name, description = _EXAMPLES_ZH if is_chinese(call.request.headers.get("accept-language", "")) else _EXAMPLES
        made = library.upkeep.add_examples(body.name or name, description)
        return 201, f"/api/v1/knowledge-bases/{made.knowledge_base.id}", made

    return await call.create(body, make)


@router.get("/storage", response_model=StorageView, tags=["operations"])
async def get_storage(call: Caller) -> Response:
    """Show what the library takes on disk, and what is free. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: library.upkeep.storage())


@router.get("/backups", response_model=BackupsView, tags=["operations"])
async def list_backups(call: Caller) -> Response:
    """List the backups in the folder of the setting `server.backups`. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: library.upkeep.backups())


@router.post("/backups", status_code=202, response_model=Deed, tags=["operations"])
async def begin_backup(call: Caller, body: NewBackup) -> Response:
    """Begin a backup in the background; `GET /backups` tells how far it is. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: library.upkeep.begin_backup(body.name), status=202)


@router.get("/keys", response_model=KeyList, tags=["keys"])
async def list_keys(call: Caller) -> Response:
    """List the keys, revoked ones included; never what they are. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: KeyList(library.upkeep.keys()))


@router.post("/keys", status_code=201, response_model=NewAccessKey, tags=["keys"])
async def create_key(call: Caller, body: NewKey) -> Response:
    """Make a key. Its `secret` is told in this answer alone. Needs admin for all knowledge bases.

    From the first key on, nobody is let in without one.
    """
    return await call.reply(
        lambda library: library.upkeep.create_key(
            body.name, scopes=body.scopes, kb=body.knowledge_bases, days=body.days
        ),
        status=201,
    )


@router.delete("/keys/{key}", response_model=AccessKey, tags=["keys"])
async def revoke_key(call: Caller, key: str) -> Response:
    """Let a key, by name or id, open nothing from now on, and sign its browsers out. Needs admin for all."""
    return await call.reply(lambda library: library.upkeep.revoke_key(key))
