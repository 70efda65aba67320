"""The server over streamable HTTP, as an application within another that knows who asks."""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from wenyuan.doors.mcp.server import Asking, create_server


class StreamableHttp:
    """Each request stands for itself: there are no sessions that could be lost, taken over or left open.

    Names, origins and sizes are looked at before by the server around it.
    """

    def __init__(self, asking: Asking, *, writes: bool, body_bytes: int) -> None:
        self._server = create_server(asking, writes=writes)
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=self._body_bytes
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)
