"""Folders and pages that knowledge bases keep in step with."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from wenyuan.doors.http.answers import FolderList, RemovedSource, SourceList
from wenyuan.doors.http.bodies import NewFolderSource, NewPageSource
from wenyuan.doors.http.call import Caller
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.granted_sources import Synced
from wenyuan.runtime.sources import SourceView

router = APIRouter(prefix="/sources", tags=["sources"])


@router.get("", response_model=SourceList)
async def list_sources(
    call: Caller,
    kb: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """List the sources of what is granted, or of one knowledge base, and how each stands."""

    def listed(library: GrantedLibrary) -> SourceList:
        base = library.knowledge_base(kb).knowledge_base.id if kb is not None else None
        found = [one for one in library.sources.all() if base is None or one.source.knowledge_base_id == base]
        return SourceList(found[:limit])

    return await call.reply(listed)


@router.post("/pages", status_code=201, response_model=SourceView)
async def add_page_source(call: Caller, body: NewPageSource) -> Response:
    """Keep in step with a page. Pages of private networks are refused. Needs the scope write."""
    return await call.reply(
        lambda library: library.sources.add_page(body.knowledge_base, body.url, body.every_seconds), status=201
    )


@router.post("/folders", status_code=201, response_model=SourceView)
async def add_folder_source(call: Caller, body: NewFolderSource) -> Response:
    """Keep in step with a folder of the server's machine, below one of `server.folders` of its settings.

    Needs admin for all knowledge bases. Nothing is brought in before it is synced, or watched by a worker.
    """
    return await call.reply(
        lambda library: library.sources.add_folder(
            body.knowledge_base, body.path, exclude=body.exclude, watch=body.watch
        ),
        status=201,
    )


@router.get("/folders", response_model=FolderList)
async def list_folders(call: Caller) -> Response:
    """Tell below which folders one may become a source. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: FolderList(library.sources.folders()))


@router.get("/{source}", response_model=SourceView)
async def get_source(call: Caller, source: str) -> Response:
    """Show a source, and which of its files could not be taken in."""
    return await call.reply(lambda library: library.sources.show(source))


@router.post("/{source}/sync", response_model=Synced)
async def sync_source(
    call: Caller,
    source: str,
    dry_run: Annotated[bool, Query(description="Only tell what would change.")] = False,
) -> Response:
    """Look through a folder now, or have a page fetched; workers read what came in. Needs the scope write."""
    return await call.reply(lambda library: library.sources.sync(source, dry_run=dry_run))


@router.post("/{source}/pause", response_model=SourceView)
async def pause_source(call: Caller, source: str) -> Response:
    """Follow a source no more until it is resumed; its documents stay. Needs the scope write."""
    return await call.reply(lambda library: library.sources.pause(source))


@router.post("/{source}/resume", response_model=SourceView)
async def resume_source(call: Caller, source: str) -> Response:
    """Follow a source again. Needs the scope write."""
    return await call.reply(lambda library: library.sources.resume(source))


@router.delete("/{source}", response_model=RemovedSource)
async def remove_source(call: Caller, source: str, keep_documents: bool = False) -> Response:
    """End a source; its documents are deleted with it, unless they are to be kept. Needs the scope write."""
    return await call.reply(
        lambda library: RemovedSource(library.sources.remove(source, keep_documents=keep_documents))
    )
