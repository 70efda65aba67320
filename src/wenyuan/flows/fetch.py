"""A page is fetched and becomes a document, or is found to be as it was."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from wenyuan.errors import (
    AddressInvalid,
    DocumentError,
    KnowledgeBaseArchived,
    PageMissing,
    PageRefused,
    PageUnavailable,
    PageUnusable,
    WenyuanError,
)
from wenyuan.fetching.pages import FetchRules, Page, Validators, fetch
from wenyuan.flows.priorities import PRIORITY_INGEST
from wenyuan.flows.receive import Received, Receiving, receive_staged
from wenyuan.flows.work import Work
from wenyuan.parsers.registry import parser_for
from wenyuan.providers.retrying import seconds_of_retry_after
from wenyuan.store import documents, knowledge_bases, queue, sources
from wenyuan.store.blobs import StagedBlob
from wenyuan.store.database import Database, Writing
from wenyuan.store.sources import Fetched, Source
from wenyuan.types import Given, KnowledgeBase

_STAGE = "fetching"
_LONGEST_NAME = 200
_LATER = frozenset({408, 425, 429})
_GONE = 410
_CHARSET = re.compile(r"[\w.:-]{1,40}")
_TYPES = {"application/xhtml+xml": "text/html", "text/x-markdown": "text/markdown", "text/json": "application/json"}
# What servers say of files they know nothing of; a name or the content itself tells more.
_VAGUE = frozenset({"text/plain", "application/octet-stream", "binary/octet-stream"})


@dataclass(frozen=True, slots=True)
class Fetching:
    """What fetching pages needs; `page_bytes` is the most a page may have."""

    receiving: Receiving
    rules: Callable[[Source], FetchRules]
    page_bytes: int


def enqueue_fetch(tx: Writing, new_id: Callable[[str], str], source: Source) -> None:
    """Store the job that looks at a page; nothing happens where one is there already."""
    queue.enqueue(
        tx, new_id("job"), "fetch", "source", source.id, source.knowledge_base_id, source.owner, PRIORITY_INGEST
    )


def enqueue_due(database: Database, new_id: Callable[[str], str]) -> int:
    """Queue a job for every page that is to be looked at again by now, and return how many there are."""
    with database.read() as tx:
        due = sources.due(tx)
    if due:
        with database.write(durable=False) as tx:
            for source in due:
                enqueue_fetch(tx, new_id, source)
    return len(due)


def fetch_page(tools: Fetching, work: Work) -> None:
    """Fetch one page and take in what came, unless it is unchanged.

    A page that is gone, or that cannot be had for another lasting reason, fails the job; the document
    stays and its source shows why. Raises `PageUnavailable` where it is to be tried again.
    """
    database = tools.receiving.database
    with database.write(durable=False) as tx:
        work.hold(tx)
        source = sources.by_id(tx, work.lease.job.subject_id)
        if source is None or source.state == "removing":
            queue.finish(tx, work.lease)
            return
        work.progress(tx, _STAGE, 0, 0)
        knowledge_base = knowledge_bases.by_id(tx, source.knowledge_base_id)
        known = documents.find_by_source(tx, knowledge_base.id, source.location)
    try:
        if knowledge_base.state == "archived":
            raise KnowledgeBaseArchived(name=knowledge_base.name)
        fetched = _taken_in(tools, work, source, knowledge_base, known)
    except PageUnavailable as error:
        with database.write(durable=False) as tx:
            work.hold(tx)
            sources.set_problem(tx, source.id, error.problem(_STAGE))
        raise
    except (DocumentError, AddressInvalid, KnowledgeBaseArchived) as error:
        _fail(database, work, source, error)
        return
    with database.write() as tx:
        work.hold(tx)
        sources.set_fetched(tx, source.id, fetched)
        sources.checked(tx, source.id, None, _next_time(tx, source))
        queue.finish(tx, work.lease)


def _taken_in(
    tools: Fetching,
    work: Work,
    source: Source,
    knowledge_base: KnowledgeBase,
    known: documents.DocumentRecord | None,
) -> Fetched:
    """What is known of the page now. Raises what says why there is no page."""
    before = source.fetched if known is not None else Fetched()
    receiving = tools.receiving

    def keep(pieces: Iterator[bytes]) -> StagedBlob:
        return receiving.blobs.stage_pieces(_watched(pieces, work), source.location, tools.page_bytes)

    page = fetch(source.location, Validators(before.etag, before.last_modified), tools.rules(source), keep)
    if page.status == 304 and known is not None:
        return before
    if page.kept is None:
        raise _why_no_page(page, source)
    at = time.time_ns() // 1_000_000
    fetched = Fetched(at, page.address, page.validators.etag, page.validators.last_modified, page.kept.sha256)
    is_same = known is not None and known.latest.blob_sha256 == page.kept.sha256
    given = None if is_same else _given(page, at)
    tools_of_source = Receiving(
        receiving.database, receiving.blobs, receiving.file_bytes, receiving.new_id, source_id=source.id
    )
    received = receive_staged(
        tools_of_source, knowledge_base, source.location, _name(source.location), page.kept, given
    )
    _refuse(received, source)
    return fetched


def _refuse(received: Received, source: Source) -> None:
    if received.outcome is None and received.problem is not None:
        raise PageUnusable(address=source.location, reason=received.problem.message.rstrip("."))


def _watched(pieces: Iterator[bytes], work: Work) -> Iterator[bytes]:
    for piece in pieces:
        work.pause_if_asked()
        work.touch()
        yield piece


def _why_no_page(page: Page[StagedBlob], source: Source) -> WenyuanError:
    if page.status in (404, _GONE):
        return PageMissing(address=source.location, status=page.status)
    if page.status in _LATER or page.status >= 500:
        later = seconds_of_retry_after(page.retry_after, time.time)
        return PageUnavailable(
            address=source.location, reason=f"it answered with HTTP {page.status}", retry_after=later
        )
    return PageRefused(address=source.location, status=page.status)


def _fail(database: Database, work: Work, source: Source, error: WenyuanError) -> None:
    problem = error.problem(_STAGE, work.lease.job.attempts)
    is_gone = isinstance(error, PageMissing) and error.details["status"] == _GONE
    with database.write() as tx:
        work.hold(tx)
        sources.checked(tx, source.id, problem, None if is_gone else _next_time(tx, source))
        if is_gone and source.every_ms:
            # "Gone" is said on purpose, by who asks not to be asked again (RFC 9110, 15.5.11).
            sources.set_state(tx, source.id, "paused")
        queue.fail(tx, work.lease, problem)


def _next_time(tx: Writing, source: Source) -> int | None:
    return tx.now + source.every_ms if source.every_ms else None


def _given(page: Page[StagedBlob], at: int) -> Given:
    media_type = _TYPES.get(page.media_type, page.media_type)
    is_certain = media_type not in _VAGUE and parser_for(media_type) is not None
    moment = datetime.datetime.fromtimestamp(at / 1000, datetime.UTC).isoformat(timespec="seconds")
    charset = page.charset if _CHARSET.fullmatch(page.charset) else ""
    metadata = {"url": page.address, "fetched_at": moment}
    return Given("", metadata, media_type if is_certain else "", charset)


def _name(address: str) -> str:
    """The last part of a page's path, or its host."""
    parts = urlsplit(address)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2], errors="replace")
    printable = "".join(one if one.isprintable() and one != "/" else "�" for one in last)
    return printable[-_LONGEST_NAME:].strip() or parts.netloc
