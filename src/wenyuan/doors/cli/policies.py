"""What a knowledge base takes, as it is said on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from wenyuan.doors.cli.messages import Messages
from wenyuan.errors import InvalidValue
from wenyuan.types import DocumentPolicy, DuplicateRule

_NO_LIMIT, _ANY = "none", "any"
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def policy_with(
    policy: DocumentPolicy,
    *,
    types: Sequence[str] | None,
    forbid_types: Sequence[str] | None,
    max_file_size: str | None,
    max_documents: str | None,
    duplicates: DuplicateRule | None,
) -> DocumentPolicy:
    """A policy with what was said of it; of what was not, it stays. Raises `InvalidValue`."""
    if types is not None:
        policy = replace(policy, types=_listed(types))
    if forbid_types is not None:
        policy = replace(policy, forbidden_types=_listed(forbid_types))
    if max_file_size is not None:
        policy = replace(policy, max_file_bytes=_bytes(max_file_size))
    if max_documents is not None:
        policy = replace(policy, max_documents=_count(max_documents))
    return policy if duplicates is None else replace(policy, duplicates=duplicates)


def policy_facts(say: Messages, policy: DocumentPolicy) -> list[tuple[str, str]]:
    """What a policy says, each as the key of a title and its value; only what it says."""
    separator = say("list.separator")
    facts = [
        ("policy.types", separator.join(policy.types)),
        ("policy.forbidden-types", separator.join(policy.forbidden_types)),
        ("policy.max-file-size", "" if policy.max_file_bytes is None else size_label(policy.max_file_bytes)),
        ("policy.max-documents", "" if policy.max_documents is None else str(policy.max_documents)),
        ("policy.duplicates", "" if policy.duplicates == "keep" else say(f"duplicates.{policy.duplicates}")),
    ]
    return [(title, value) for title, value in facts if value]


def size_label(size: int) -> str:
    """A number of bytes as people write it, where that is exact."""
    unit = next((unit for unit in ("g", "m", "k") if size % _UNITS[unit] == 0), "")
    return f"{size // _UNITS[unit]} {unit.upper()}B" if unit else f"{size} B"


def _listed(entries: Sequence[str]) -> tuple[str, ...]:
    """Entries given one by one or joined by commas; `any` takes all back."""
    single = [part.strip() for entry in entries for part in entry.split(",") if part.strip()]
    return () if single == [_ANY] else tuple(single)


def _bytes(text: str) -> int | None:
    if text.strip().casefold() == _NO_LIMIT:
        return None
    found = _SIZE.fullmatch(text)
    if found is None:
        reason = "it must be a number of bytes, with K, M or G where they are many, or none"
        raise InvalidValue(what="--max-file-size", value=text, reason=reason)
    return int(float(found[1]) * _UNITS[found[2].lower()])


def _count(text: str) -> int | None:
    if text.strip().casefold() == _NO_LIMIT:
        return None
    if not text.strip().isdecimal():
        raise InvalidValue(what="--max-documents", value=text, reason="it must be a whole number, or none")
    return int(text)
