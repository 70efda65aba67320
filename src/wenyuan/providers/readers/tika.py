"""Apache Tika's server: `PUT {base_url}/tika`, answered with XHTML."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.providers.readers.service import Original, Service

MEDIA_TYPE = "application/vnd.wenyuan.converted.tika"

_PATH = "/tika"


def convert(service: Service, original: Original, write: Callable[[bytes], None]) -> str:
    """Send the file's bytes; a file without content is answered with 204. Raises as `Converter.convert`."""
    headers = {
        "Accept": "text/html",
        "Content-Type": original.media_type,
        "Content-Length": str(original.size),
        "Content-Disposition": f'attachment; filename="{original.file_name}"',
        **service.settings.options,
    }
    reply = service.ask("PUT", service.address(_PATH), write=write, headers=headers, content=original.file)
    service.accepted(reply)
    return MEDIA_TYPE
