"""What a caller has already (RFC 9110, 13.1.2)."""

from __future__ import annotations

from starlette.datastructures import Headers


def is_known(asked: Headers, tag: str) -> bool:
    """Whether If-None-Match names this tag."""
    known = asked.get("if-none-match", "")
    return known.strip() == "*" or tag in {one.strip().removeprefix("W/") for one in known.split(",")}
