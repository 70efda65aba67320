"""The partition endpoint of Unstructured: `POST {base_url}/general/v0/general`, hosted or one's own."""

from __future__ import annotations

from collections.abc import Callable

from wenyuan.providers.readers.service import Original, Service

MEDIA_TYPE = "application/vnd.wenyuan.converted.unstructured"

_PATH = "/general/v0/general"


def convert(service: Service, original: Original, write: Callable[[bytes], None]) -> str:
    """Send the file as a form; the answer is a JSON list of elements. Raises as `Converter.convert`."""
    form = {"coordinates": "true", "output_format": "application/json", **service.settings.options}
    service.send_form(_PATH, form, original, write, key_header="unstructured-api-key")
    return MEDIA_TYPE
