"""Reads multipart/form-data (RFC 7578) as it comes: the file piece by piece into the library, fields into memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from wenyuan.doors.http.call import Ask, Call
from wenyuan.errors import RequestInvalid
from wenyuan.runtime.uploads import Upload

FILE = "file"
_LONGEST_FIELD = 128 << 10
_FIELDS = ("name", "title", "metadata")

FORM_SCHEMA: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": [FILE],
                "additionalProperties": False,
                "properties": {
                    FILE: {"type": "string", "format": "binary", "description": "The file."},
                    "name": {
                        "type": "string",
                        "description": "Its name, which may be a path; else the file name that was sent with it. "
                        "The same name again replaces what it held.",
                    },
                    "title": {"type": "string", "description": "Goes before what is read in the file."},
                    "metadata": {
                        "type": "string",
                        "contentMediaType": "application/json",
                        "description": "An object of fields to search by, as JSON.",
                    },
                },
            },
            "encoding": {FILE: {"contentType": "application/octet-stream"}},
        }
    },
}


@dataclass(slots=True)
class Form:
    """What came: the file, which its reader is to finish or discard, and what is said of it."""

    upload: Upload
    name: str
    title: str
    metadata: Mapping[str, Any] | None


_Event = tuple[Literal["begin", "name", "value", "header", "headers", "data", "end"], bytes]


@dataclass(slots=True)
class _Part:
    """The part that is being read, and the header of it that is."""

    headers: dict[bytes, bytes] = field(default_factory=dict)
    header_name: bytes = b""
    header_value: bytes = b""
    name: str = ""
    content: bytearray = field(default_factory=bytearray)


async def read_form(call: Call, begin: Ask[Upload]) -> Form:
    """Read a form whose part `file` is the file. Raises `RequestInvalid`, and what writing the file raises.

    Where it raises, nothing of the file is kept.
    """
    reader = _FormReader(call, begin, _boundary(call))
    try:
        return await reader.read()
    except BaseException:
        reader.discard()
        raise


def _boundary(call: Call) -> bytes:
    kind, options = parse_options_header(call.request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise RequestInvalid(where="Content-Type", reason="multipart/form-data with a boundary is expected")
    return boundary


class _FormReader:
    def __init__(self, call: Call, begin: Ask[Upload], boundary: bytes) -> None:
        self._call = call
        self._begin = begin
        self._events: list[_Event] = []
        try:
            self._parser = MultipartParser(boundary, self._callbacks())
        except (MultipartParseError, ValueError) as error:
            raise RequestInvalid(where="Content-Type", reason="its boundary cannot be used") from error
        self._part = _Part()
        self._fields: dict[str, str] = {}
        self._upload: Upload | None = None
        self._file_name = ""

    def _callbacks(self) -> Any:
        def noted(kind: Any) -> Any:
            return lambda data, start, end: self._events.append((kind, bytes(data[start:end])))

        def marked(kind: Any) -> Any:
            return lambda: self._events.append((kind, b""))

        return {
            "on_part_begin": marked("begin"),
            "on_header_field": noted("name"),
            "on_header_value": noted("value"),
            "on_header_end": marked("header"),
            "on_headers_finished": marked("headers"),
            "on_part_data": noted("data"),
            "on_part_end": marked("end"),
        }

    async def read(self) -> Form:
        try:
            async for piece in self._call.request.stream():
                self._parser.write(piece)
                await self._take()
            self._parser.finalize()
        except MultipartParseError as error:
            raise RequestInvalid(where="body", reason="it is not multipart/form-data") from error
        await self._take()
        if self._upload is None:
            raise RequestInvalid(where=FILE, reason="a part of this name with the file is missing")
        name = self._fields.get("name") or self._file_name
        if not name:
            raise RequestInvalid(where="name", reason="the file needs a name")
        return Form(self._upload, name, self._fields.get("title", ""), _metadata(self._fields.get("metadata")))

    def discard(self) -> None:
        if self._upload is not None:
            self._upload.discard()

    async def _take(self) -> None:
        """Do what the pieces that were parsed amount to."""
        events, self._events = self._events, []
        for kind, data in events:
            part = self._part
            match kind:
                case "begin":
                    self._part = _Part()
                case "name":
                    part.header_name += data
                case "value":
                    part.header_value += data
                case "header":
                    part.headers[part.header_name.lower()] = part.header_value
                    part.header_name = part.header_value = b""
                case "headers":
                    await self._enter(part)
                case "data":
                    await self._fill(part, data)
                case "end":
                    self._leave(part)

    async def _enter(self, part: _Part) -> None:
        _, options = parse_options_header(part.headers.get(b"content-disposition", b""))
        part.name = options.get(b"name", b"").decode("utf-8", "replace")
        if part.name == FILE and self._upload is None:
            # Browsers of old send whole paths here; what comes last is the name.
            sent = options.get(b"filename", b"").decode("utf-8", "replace")
            self._file_name = sent.replace("\\", "/").rpartition("/")[2]
            self._upload = await self._call.ask(self._begin)
        elif part.name not in _FIELDS or part.name in self._fields:
            reason = f"one {FILE}, and at most one each of {', '.join(_FIELDS)} are expected"
            raise RequestInvalid(where=part.name[:100] or "body", reason=reason)

    async def _fill(self, part: _Part, data: bytes) -> None:
        if part.name == FILE and self._upload is not None:
            upload = self._upload
            await self._call.write(lambda: upload.write(data))
            return
        part.content += data
        if len(part.content) > _LONGEST_FIELD:
            raise RequestInvalid(where=part.name, reason=f"it may have {_LONGEST_FIELD} bytes at most")

    def _leave(self, part: _Part) -> None:
        if part.name != FILE:
            try:
                self._fields[part.name] = part.content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise RequestInvalid(where=part.name, reason="it is not UTF-8") from error


def _metadata(text: str | None) -> Mapping[str, Any] | None:
    if text is None:
        return None
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestInvalid(where="metadata", reason="it is not JSON") from error
    if not isinstance(read, dict):
        raise RequestInvalid(where="metadata", reason="an object of fields is expected")
    return read
