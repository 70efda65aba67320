"""What was asked and how long it took, in the text format of Prometheus (exposition format 0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LAG_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counted on the event loop alone; routes are named by their templates, so that there are few."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, str, int], int] = {}
        self._seconds: dict[str, list[float]] = {}
        self._lags = [0.0] * (len(_LAG_BUCKETS) + 2)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method if method in _METHODS else "OTHER", route, status)
        self._requests[key] = self._requests.get(key, 0) + 1
        known = self._seconds.setdefault(route, [0.0] * (len(_BUCKETS) + 2))
        known[bisect_left(_BUCKETS, seconds)] += 1
        known[-1] += seconds

    def note_lag(self, seconds: float) -> None:
        """Count how much later than it was to be the event loop came back to somebody."""
        self._lags[bisect_left(_LAG_BUCKETS, seconds)] += 1
        self._lags[-1] += seconds

    def text(self, gauges: Mapping[str, float], jobs: Mapping[tuple[str, str], int]) -> str:
        return "\n".join([*self._http(), *self._loop(), *_gauges(gauges), *_jobs(jobs), ""])

    def _http(self) -> Iterator[str]:
        yield "# HELP wenyuan_http_requests_total Requests that were answered."
        yield "# TYPE wenyuan_http_requests_total counter"
        for (method, route, status), number in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"wenyuan_http_requests_total{{{labels}}} {number}"
        yield "# HELP wenyuan_http_request_seconds How long they took."
        yield "# TYPE wenyuan_http_request_seconds histogram"
        for route, counts in sorted(self._seconds.items()):
            yield from _histogram("http_request_seconds", f'route="{route}"', _BUCKETS, counts)

    def _loop(self) -> Iterator[str]:
        yield "# HELP wenyuan_event_loop_lag_seconds How late the event loop was with what was due."
        yield "# TYPE wenyuan_event_loop_lag_seconds histogram"
        yield from _histogram("event_loop_lag_seconds", "", _LAG_BUCKETS, self._lags)


def _histogram(name: str, labels: str, limits: Sequence[float], counts: Sequence[float]) -> Iterator[str]:
    """Its lines; `counts` are those within each limit and above the last, and at their end the sum of all values."""
    below, comma = 0.0, "," if labels else ""
    for limit, inside in zip((*limits, "+Inf"), counts[:-1], strict=True):
        below += inside
        yield f'wenyuan_{name}_bucket{{{labels}{comma}le="{limit}"}} {int(below)}'
    own = f"{{{labels}}}" if labels else ""
    yield f"wenyuan_{name}_sum{own} {counts[-1]:.6f}"
    yield f"wenyuan_{name}_count{own} {int(below)}"


def _gauges(gauges: Mapping[str, float]) -> Iterator[str]:
    for name, value in gauges.items():
        yield f"# TYPE wenyuan_{name} gauge"
        yield f"wenyuan_{name} {value:g}"


def _jobs(jobs: Mapping[tuple[str, str], int]) -> Iterator[str]:
    yield "# HELP wenyuan_jobs Jobs that are queued, running or put off."
    yield "# TYPE wenyuan_jobs gauge"
    for (kind, state), number in sorted(jobs.items()):
        yield f'wenyuan_jobs{{kind="{kind}",state="{state}"}} {number}'
