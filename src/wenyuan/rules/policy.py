"""Which files a knowledge base takes, decided by their name, type and size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from wenyuan.errors import InvalidValue
from wenyuan.types import DocumentPolicy

Forbidden = Literal["type", "size"]

_MOST_TYPES = 200
_LONGEST_TYPE = 100


def forbidden(policy: DocumentPolicy, name: str, media_type: str, size: int) -> Forbidden | None:
    """Why a policy keeps a file out, None where it does not. An empty `media_type` is not known yet,

    and then no media type of the policy keeps it out.
    """
    if any(_is_of(entry, name, media_type) for entry in policy.forbidden_types):
        return "type"
    if policy.types and not any(_is_of(entry, name, media_type) for entry in policy.types):
        is_open = not media_type and any("/" in entry for entry in policy.types)
        if not is_open:
            return "type"
    return "size" if policy.max_file_bytes is not None and size > policy.max_file_bytes else None


def checked_policy(policy: DocumentPolicy) -> DocumentPolicy:
    """The same policy with its types in one form. Raises `InvalidValue` where it makes no sense."""
    for what, limit in (("file size", policy.max_file_bytes), ("number of documents", policy.max_documents)):
        if limit is not None and limit < 1:
            raise InvalidValue(what=f"The largest {what}", value=limit, reason="it must be at least 1")
    if policy.duplicates not in ("keep", "skip", "replace"):
        raise InvalidValue(what="duplicates", value=policy.duplicates, reason="it must be keep, skip or replace")
    return DocumentPolicy(
        _types(policy.types),
        _types(policy.forbidden_types),
        policy.max_file_bytes,
        policy.max_documents,
        policy.duplicates,
    )


def _types(entries: Sequence[str]) -> tuple[str, ...]:
    if len(entries) > _MOST_TYPES:
        raise InvalidValue(what="The number of types", value=len(entries), reason=f"at most {_MOST_TYPES} fit")
    return tuple(dict.fromkeys(_type(entry) for entry in entries))


def _type(entry: str) -> str:
    """A suffix without its dot, or a media type, in small letters."""
    plain = entry.strip().casefold().removeprefix("*").removeprefix(".")
    main, slash, sub = plain.partition("/")
    is_sound = bool(main) and (not slash or bool(sub)) and "/" not in sub and not any(map(str.isspace, plain))
    if not is_sound or "*" in main or ("*" in sub and sub != "*") or len(plain) > _LONGEST_TYPE:
        reason = "it must be a suffix such as md, or a media type such as text/html or text/*"
        raise InvalidValue(what="A type of files", value=entry[:_LONGEST_TYPE], reason=reason)
    return plain


def _is_of(entry: str, name: str, media_type: str) -> bool:
    main, slash, sub = entry.partition("/")
    if not slash:
        return name.casefold().endswith(f".{entry}")
    known = media_type.casefold().partition(";")[0].strip()
    return known.startswith(f"{main}/") if sub == "*" else known == entry
