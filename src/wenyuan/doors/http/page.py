"""The page for people: its built files, held in memory, at every path that is no program's."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from wenyuan.doors.http.known import is_known

INDEX = "index.html"
BUILT = Path(__file__).parents[1] / "web"
"""Where the files lie that the page is built into."""

_OF_PROGRAMS = frozenset({"api", "v1", "mcp", "bots"})
_ASSETS = "assets/"
_HEAD = b"<head>"
_SHRINKING = ("text/", "image/svg", "application/json", "application/manifest")
_LARGEST_FILE = 8 << 20
_SAFE = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page; `zipped` is empty where that would not make it smaller."""

    body: bytes
    zipped: bytes
    media_type: str
    tag: str
    caching: str


def is_for_people(path: str) -> bool:
    """Whether a path leads to the page, and to no interface of programs."""
    return path.lstrip("/").partition("/")[0] not in _OF_PROGRAMS


def read_page(folder: Path, base: str) -> Mapping[str, PageFile]:
    """The files of the page by their paths below its folder; none where it was not built.

    The index is told by a `<base>` under which path it is served.
    """
    files: dict[str, PageFile] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size <= _LARGEST_FILE:
            name = path.relative_to(folder).as_posix()
            body = path.read_bytes()
            if name == INDEX:
                body = body.replace(_HEAD, _HEAD + f'<base href="{base}/">'.encode(), 1)
            files[name] = _file(name, body)
    return files


def _file(name: str, body: bytes) -> PageFile:
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    zipped = gzip.compress(body, mtime=0) if media_type.startswith(_SHRINKING) else b""
    if media_type.startswith("text/"):
        media_type += "; charset=utf-8"
    # What lies in `assets` has a digest of itself in its name.
    caching = _FOR_A_YEAR if name.startswith(_ASSETS) else _ASK_AGAIN
    return PageFile(body, zipped, media_type, f'"{hashlib.sha256(body).hexdigest()[:32]}"', caching)


class Page:
    """Answers with a file of the page; with the index for any other path of people; else asks the application."""

    def __init__(self, app: ASGIApp, files: Mapping[str, PageFile]) -> None:
        self._app = app
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_reading = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        file = self._found(scope["path"]) if is_reading and is_for_people(scope["path"]) else None
        if file is None:
            await self._app(scope, receive, send)
        else:
            await _answer(file, Headers(scope=scope))(scope, receive, send)

    def _found(self, path: str) -> PageFile | None:
        name = path.lstrip("/")
        # A path with a dot means a file; the others are the page's own, which shows what is meant.
        return self._files.get(name) if "." in name else self._files.get(INDEX)


def _answer(file: PageFile, asked: Headers) -> Response:
    headers = {**_SAFE, "ETag": file.tag, "Cache-Control": file.caching, "Vary": "Accept-Encoding"}
    if is_known(asked, file.tag):
        return Response(status_code=304, headers=headers)
    if file.zipped and _takes_gzip(asked):
        return Response(file.zipped, 200, {**headers, "Content-Encoding": "gzip"}, file.media_type)
    return Response(file.body, 200, headers, file.media_type)


def _takes_gzip(asked: Headers) -> bool:
    codings = [one.replace(" ", "").lower() for one in asked.get("accept-encoding", "").split(",")]
    return any(one == "gzip" or (one.startswith("gzip;") and not one.endswith(("q=0", "q=0.0"))) for one in codings)
