"""`/bots/NAME`: where chat platforms deliver what is said to a bot."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from fastapi import Request, Response
from starlette.routing import Route

from wenyuan.doors.http.call import client_of
from wenyuan.doors.http.house import House
from wenyuan.errors import PackageMissing, WenyuanError

# Loaded when first spoken to: most servers have no bots.
_SERVICE = "wenyuan.doors.bots.service"
_LOG = logging.getLogger("wenyuan.http")


class BotsEndpoint:
    def __init__(self, house: House) -> None:
        self._house = house
        self._bots: Any = None
        self._delivery: Any = None
        self._working: set[asyncio.Task[None]] = set()

    async def __call__(self, request: Request) -> Response:
        """A delivery is answered at once; the answer to what was asked follows. Raises `WenyuanError`."""
        self._house.pace.take(client_of(request))
        body = await request.body()
        name = request.path_params["bot"]
        query, headers = dict(request.query_params), {key.lower(): value for key, value in request.headers.items()}

        def deliver() -> tuple[Any, Any, Any]:
            self._load()
            bot = self._bots.bot(name)
            return bot, *bot.deliver(self._delivery(request.method, query, headers, body, time.time()))

        bot, reply, work = await self._house.pool.run(deliver, self._house.settings.request_seconds)
        if work is not None:
            task = asyncio.create_task(self._follow(bot, work))
            self._working.add(task)
            task.add_done_callback(self._working.discard)
        return Response(reply.body, media_type=reply.media_type)

    async def _follow(self, bot: Any, work: Any) -> None:
        """Write an answer, in threads of their own: one that takes long keeps nobody else waiting."""
        try:
            await self._house.bots.run(work, bot.answer_seconds)
        except WenyuanError as error:
            _LOG.warning("a bot's answer was not written: %s", error.message)
            why = error
            await self._house.pool.run(lambda: bot.give_up(work, why), self._house.settings.request_seconds)

    def _load(self) -> None:
        if self._bots is not None:
            return
        service = _service()
        self._delivery = service.Delivery
        self._bots = service.Bots(self._house.library, self._house.worded, self._house.stopping.is_set)


def _service() -> Any:
    try:
        return import_module(_SERVICE)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("cryptography", "websockets"):
            raise
        raise PackageMissing(what="A bot", package=package, install="wenyuan[bots]") from error


@contextmanager
def connected_bots(house: House) -> Iterator[None]:
    """Hold meanwhile the connections of bots that connect themselves.

    Raises `PackageMissing`, `KeyMissing` or `ConfigurationInvalid`.
    """
    threads: list[threading.Thread] = []
    if any(one.connects_itself for one in house.library.settings.bots.values()):
        bots = _service().Bots(house.library, house.worded, house.stopping.is_set)
        threads = [threading.Thread(target=one.run, name="bot", daemon=True) for one in bots.connections()]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        house.stopping.set()
        for thread in threads:
            thread.join(house.settings.stop_seconds)


def bots_route(house: House) -> Route:
    """Where bots are spoken to."""
    return Route("/bots/{bot}", BotsEndpoint(house).__call__, methods=["GET", "POST"], include_in_schema=False)
