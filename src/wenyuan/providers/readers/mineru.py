"""`mineru-api` of MinerU 2 and 3: `POST {base_url}/file_parse`, which answers when all is done."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.providers.readers.service import Original, Service

MEDIA_TYPE = "application/vnd.wenyuan.converted.mineru"

_PATH = "/file_parse"


def convert(service: Service, original: Original, write: Callable[[bytes], None]) -> str:
    """Send the file as a form; the answer holds the list of its contents. Raises as `Converter.convert`."""
    form = {"return_content_list": "true", "return_md": "false", **service.settings.options}
    service.send_form(_PATH, form, original, write)
    return MEDIA_TYPE
