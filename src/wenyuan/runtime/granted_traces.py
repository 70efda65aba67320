"""What was asked lately, for whoever looks after the knowledge bases it was asked of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wenyuan.errors import InvalidValue
from wenyuan.runtime.access import Grants
from wenyuan.runtime.library import Library
from wenyuan.types import JsonObject

# Traces are large; those of other knowledge bases are read in vain.
_LOOKED_AT = 50
_MOST_LOOKED_AT = 500
_CURSOR = re.compile(r"([0-9]{1,18})\.([A-Za-z0-9_]{1,80})")


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """One question, and what came of it: `created_at` in milliseconds since 1970, knowledge bases by name."""

    id: str
    created_at: int
    question: str
    knowledge_bases: tuple[str, ...]
    hits: int
    why_empty: str | None
    degraded: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class TracePage:
    """One page of traces, newest first; `next_cursor` is given again to get the next, and null at the end."""

    traces: tuple[TraceSummary, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class GrantedTraces:
    library: Library
    grants: Grants

    def page(self, cursor: str, limit: int) -> TracePage:
        """Questions that were asked of nothing but what the caller is granted.

        It takes the scope admin, as they are other people's questions. Where most are of something else, a page
        may hold fewer than `limit` and yet not be the last. Raises `InvalidValue` for a cursor that is none.
        """
        self.grants.require("admin")
        sees = self.grants.seeing()
        before, found, looked_at = _moment(cursor), list[TraceSummary](), 0
        while looked_at < _MOST_LOOKED_AT:
            wanted = _LOOKED_AT if sees is not None else min(limit, _LOOKED_AT)
            rows = self.library.trace_page(before, wanted)
            for moment, trace_id, body in rows:
                before = (moment, trace_id)
                if _may_see(body, sees):
                    found.append(_summary(moment, trace_id, body))
                    if len(found) == limit:
                        return TracePage(tuple(found), f"{moment}.{trace_id}")
            if len(rows) < wanted:
                return TracePage(tuple(found), None)
            looked_at += len(rows)
        return TracePage(tuple(found), f"{before[0]}.{before[1]}" if before is not None else None)


def _moment(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise InvalidValue(what="A cursor", value=cursor[:100], reason="it is the `next_cursor` of the page before")
    return int(match[1]), match[2]


def _may_see(body: JsonObject, sees: Callable[[str], bool] | None) -> bool:
    bases: list[Any] = body.get("knowledge_bases", [])
    return sees is None or (bool(bases) and all(sees(base["id"]) for base in bases))


def _summary(moment: int, trace_id: str, body: JsonObject) -> TraceSummary:
    return TraceSummary(
        trace_id,
        moment,
        body.get("question", ""),
        tuple(base["name"] for base in body.get("knowledge_bases", [])),
        len(body.get("hits", [])),
        reason["code"] if (reason := body.get("why_empty")) is not None else None,
        tuple(body.get("degraded", [])),
        float(body.get("total_ms", 0.0)),
    )
