"""The server: what clients ask by the protocol becomes what the library is asked, whoever carries the messages."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)
from pydantic import ValidationError

from wenyuan.doors.mcp.resources import TEMPLATE, list_resources, read_resource
from wenyuan.doors.mcp.tools import READING, WRITING, LibraryTool
from wenyuan.errors import RequestInvalid, ToolArgumentsInvalid, WenyuanError
from wenyuan.runtime.granted import GrantedLibrary

Result = TypeVar("Result")
_Context = ServerRequestContext[Any, Any]
_INSTRUCTIONS = (
    "A library of documents. Search it before you answer what may stand in it; cite the document and the place of each "
    "passage you use; say so where nothing was found."
)
_RESOURCE_NOT_FOUND = -32002


class Asking(Protocol):
    """Asks the library, as whoever sent a message may use it, without holding up the event loop."""

    def __call__(self, context: _Context, ask: Callable[[GrantedLibrary], Result], /) -> Awaitable[Result]: ...


def create_server(asking: Asking, *, writes: bool) -> Server[Any]:
    """A server of a library; with `writes`, it has tools that change what is in it."""
    served = _Served(asking, (*READING, *WRITING) if writes else READING)
    return Server(
        "wenyuan",
        version=version("wenyuan"),
        title="Wenyuan",
        instructions=_INSTRUCTIONS,
        on_list_tools=served.list_tools,
        on_call_tool=served.call_tool,
        on_list_resources=served.list_resources,
        on_list_resource_templates=served.list_templates,
        on_read_resource=served.read_resource,
    )


class _Served:
    def __init__(self, asking: Asking, tools: Sequence[LibraryTool[Any]]) -> None:
        self._asking = asking
        self._tools = {one.name: one for one in tools}
        self._described = ListToolsResult(tools=[one.described() for one in tools])

    async def list_tools(self, context: _Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        del context, params
        return self._described

    async def call_tool(self, context: _Context, params: CallToolRequestParams) -> CallToolResult:
        """What goes wrong is told to the model that called, which can call otherwise; see the specification."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name[:100]!r}.")
        given = params.arguments or {}
        try:
            result = await self._asking(context, lambda library: tool.run(library, given))
        except WenyuanError as error:
            return _failed(error)
        except ValidationError as error:
            return _failed(_invalid(params.name, error))
        text = TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
        return CallToolResult(content=[text], structured_content=result)

    async def list_resources(self, context: _Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        cursor = params.cursor if params is not None else None
        return await self._resource(context, lambda library: list_resources(library, cursor))

    async def list_templates(
        self, context: _Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        del context, params
        return ListResourceTemplatesResult(resource_templates=[TEMPLATE])

    async def read_resource(self, context: _Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        address = str(params.uri)
        return await self._resource(context, lambda library: read_resource(library, address))

    async def _resource(self, context: _Context, ask: Callable[[GrantedLibrary], Result]) -> Result:
        try:
            return await self._asking(context, ask)
        except WenyuanError as error:
            code = INVALID_PARAMS if isinstance(error, RequestInvalid) else _RESOURCE_NOT_FOUND
            # What a request of this protocol holds stands in no description of the HTTP interface.
            advice = "" if type(error) is RequestInvalid else f" {error.advice}"
            raise MCPError(code, f"{error.message}{advice}", {"code": error.code}) from error


def _invalid(tool: str, error: ValidationError) -> ToolArgumentsInvalid:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    return ToolArgumentsInvalid(tool=tool, where=where[:300], reason=first["msg"][:300])


def _failed(error: WenyuanError) -> CallToolResult:
    text = f"error[{error.code}]: {error.message} {error.advice}"
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
