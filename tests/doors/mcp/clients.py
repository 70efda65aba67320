"""The official client, run to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, TypeVar

import anyio
import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

Result = TypeVar("Result")
Use = Callable[[Client], Awaitable[Result]]


def over_http(url: str, use: Use[Result], *, key: str = "", mode: Literal["auto", "legacy"] = "auto") -> Result:
    async def run() -> Result:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
        ):
            return await use(client)

    return anyio.run(run)


def over_stdio(library: Path, use: Use[Result], *options: str) -> Result:
    async def run() -> Result:
        program = Path(sys.executable).with_name("wenyuan")
        environment = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": "", "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        arguments = ["--library", str(library), "mcp", *options]
        parameters = StdioServerParameters(command=str(program), args=arguments, env=environment)
        async with Client(stdio_client(parameters)) as client:
            return await use(client)

    return anyio.run(run)
