"""The smart robot of WeCom over a connection that the bot makes itself, so that nothing must be able to reach it.

Frames are as WeCom's own SDKs speak them (`@wecom/aibot-node-sdk`, `wecom-aibot-python-sdk`): the robot subscribes with
its id and secret, is told messages, and answers each with the `req_id` with which it came, as often as its text has
grown.
"""

from __future__ import annotations

import json
import logging
import random
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from websockets.exceptions import InvalidURI, WebSocketException
from websockets.sync.client import ClientConnection, connect

from wenyuan.doors.bots.bot import Bot, Work
from wenyuan.doors.bots.port import Delivery, Heard, Reply
from wenyuan.doors.bots.reading import member, read_json
from wenyuan.doors.bots.wecom import heard_message, stream_message
from wenyuan.errors import BotDeliveryRefused, WenyuanError
from wenyuan.runtime.bots import BotSettings

_URL = "wss://openws.work.weixin.qq.com"
_ANSWER_SECONDS = 330.0
_HEARTBEAT_SECONDS, _MOST_MISSED = 30.0, 2
_GROWING_SECONDS = 0.5
_GLANCE_SECONDS = 0.2
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_LARGEST_FRAME = 1 << 20
_AT_ONCE, _MOST_WAITING = 8, 64
_ANSWERED_BY = {"aibot_msg_callback": "aibot_respond_msg", "aibot_event_callback": "aibot_respond_welcome_msg"}
_LOG = logging.getLogger("wenyuan.bots")


class WeComFrames:
    """What the messages of such a connection say, and how answers are put; they are neither signed nor encrypted."""

    answer_seconds = _ANSWER_SECONDS

    def __init__(self, settings: BotSettings) -> None:
        self._bot = settings.name

    def hear(self, delivery: Delivery) -> Heard:
        return heard_message(self._bot, read_json(self._bot, delivery.body))

    def accepted(self) -> Reply:
        return Reply(b"")

    def shown(self, stream: str, text: str, *, is_whole: bool) -> Reply:
        return _json(stream_message(stream, text, is_whole=is_whole))

    def said(self, text: str) -> Reply:
        return _json({"msgtype": "text", "text": {"content": text}})


class WeComConnection:
    """Keeps one bot connected until it is stopped; a connection that is lost is made anew, a little later each time."""

    def __init__(
        self, settings: BotSettings, secret: str, bot: Bot, is_stopping: Callable[[], bool], pause: float = _FIRST_PAUSE
    ) -> None:
        self._settings = settings
        self._secret = secret
        self._bot = bot
        self._is_stopping = is_stopping
        self._first_pause = pause
        self._answering = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=f"bot {settings.name}")
        self._room = threading.BoundedSemaphore(_MOST_WAITING)
        self._connection: ClientConnection | None = None
        self._connected = threading.Condition()

    def run(self) -> None:
        """Be connected until it is to stop."""
        pause = self._first_pause
        while not self._is_stopping():
            try:
                with connect(
                    self._settings.base_url or _URL, ping_interval=None, max_size=_LARGEST_FRAME, close_timeout=1
                ) as connection:
                    self._subscribe(connection)
                    pause = self._first_pause
                    self._now(connection)
                    self._listen(connection)
            except (OSError, WebSocketException, InvalidURI, BotDeliveryRefused) as error:
                _LOG.warning("bot %s is not connected: %s", self._settings.name, str(error) or type(error).__name__)
            finally:
                self._now(None)
            self._wait(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, _LONGEST_PAUSE)
        self._answering.shutdown(wait=False, cancel_futures=True)

    def _now(self, connection: ClientConnection | None) -> None:
        with self._connected:
            self._connection = connection
            self._connected.notify_all()

    def _wait(self, seconds: float) -> None:
        over = time.monotonic() + seconds
        while not self._is_stopping() and time.monotonic() < over:
            time.sleep(min(_GLANCE_SECONDS, seconds))

    def _subscribe(self, connection: ClientConnection) -> None:
        request = _request("aibot_subscribe", {"bot_id": self._settings.app_id, "secret": self._secret})
        connection.send(json.dumps(request))
        answer = read_json(self._settings.name, _bytes(connection.recv(timeout=10)))
        if answer.get("errcode") != 0:
            reason = f"{answer.get('errcode')} {member(answer, 'errmsg')[:200]}"
            raise BotDeliveryRefused(bot=self._settings.name, reason=f"WeCom did not let it in: {reason}")

    def _listen(self, connection: ClientConnection) -> None:
        missed, beat_at = 0, time.monotonic() + _HEARTBEAT_SECONDS
        while not self._is_stopping():
            if time.monotonic() >= beat_at:
                missed, beat_at = missed + 1, time.monotonic() + _HEARTBEAT_SECONDS
                if missed > _MOST_MISSED:
                    raise ConnectionError("it gives no sign of life")
                connection.send(json.dumps(_request("ping")))
            try:
                said = _bytes(connection.recv(timeout=_GLANCE_SECONDS))
            except TimeoutError:
                continue
            missed = 0
            self._take(read_json(self._settings.name, said))

    def _take(self, frame: Mapping[str, Any]) -> None:
        command, request = member(frame, "cmd"), member(frame, "headers", "req_id")
        answered_by = _ANSWERED_BY.get(command)
        if answered_by is None:
            return
        if not self._room.acquire(blocking=False):
            _LOG.warning("bot %s: a message is passed over, %d wait already", self._settings.name, _MOST_WAITING)
            return
        self._answering.submit(self._answer, frame.get("body"), request, answered_by)

    def _answer(self, message: object, request: str, command: str) -> None:
        """Answer one message; told again as often as the answer has grown."""
        try:
            reply, work = self._bot.deliver(_delivery(message))
            self._send(command, request, reply)
            if work is not None:
                self._grow(work, request, member(json.loads(reply.body), "stream", "id"))
        except WenyuanError as error:
            _LOG.warning("bot %s: %s", self._settings.name, error.message)
        finally:
            self._room.release()

    def _grow(self, work: Work, request: str, stream: str) -> None:
        writing = threading.Thread(target=work, name=f"bot {self._settings.name}", daemon=True)
        writing.start()
        told = b""
        is_whole = False
        while not is_whole:
            writing.join(_GROWING_SECONDS)
            reply, _ = self._bot.deliver(_delivery({"msgtype": "stream", "stream": {"id": stream}}))
            is_whole = bool(json.loads(reply.body)["stream"]["finish"]) or self._is_stopping()
            if reply.body != told:
                self._send(_ANSWERED_BY["aibot_msg_callback"], request, reply)
                told = reply.body

    def _send(self, command: str, request: str, reply: Reply) -> None:
        """Send an answer, over the next connection where this one is lost meanwhile."""
        if not reply.body:
            return
        frame = json.dumps({"cmd": command, "headers": {"req_id": request}, "body": json.loads(reply.body)})
        over = time.monotonic() + _LONGEST_PAUSE
        while not self._is_stopping() and time.monotonic() < over:
            with self._connected:
                self._connected.wait_for(lambda: self._connection is not None, _GLANCE_SECONDS)
                connection = self._connection
            if connection is None:
                continue
            try:
                connection.send(frame)
            except (OSError, WebSocketException):
                time.sleep(_GLANCE_SECONDS)
            else:
                return


def _delivery(message: object) -> Delivery:
    return Delivery("POST", {}, {}, json.dumps(message).encode(), time.time())


def _request(command: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    headers = {"req_id": f"{command}_{int(time.time() * 1000)}_{secrets.token_hex(4)}"}
    return {"cmd": command, "headers": headers, **({} if body is None else {"body": body})}


def _bytes(said: str | bytes) -> bytes:
    return said.encode("utf-8", "replace") if isinstance(said, str) else said


def _json(value: Mapping[str, Any]) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False).encode())
