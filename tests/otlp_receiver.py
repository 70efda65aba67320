"""A collector of OpenTelemetry on loopback that decodes what it is sent (OTLP over HTTP, protobuf)."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.loopback import serving_on_loopback


@dataclass
class Collector:
    """Spans and metrics in the order in which they came; `seen` is every byte of it."""

    address: str
    seen: list[bytes] = field(default_factory=list)
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)
    metrics: list[ExportMetricsServiceRequest] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def spans(self, name: str = "") -> list[Span]:
        with self.lock:
            return [
                span
                for request in self.traces
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
                if not name or span.name == name
            ]

    def resources(self) -> list[dict[str, Any]]:
        with self.lock:
            requests = [*(one.resource_spans for one in self.traces), *(one.resource_metrics for one in self.metrics)]
            return [attributes(one.resource) for many in requests for one in many]

    def measured(self) -> set[str]:
        """The names of everything that was measured at least once."""
        with self.lock:
            return {
                metric.name
                for request in self.metrics
                for resource in request.resource_metrics
                for scope in resource.scope_metrics
                for metric in scope.metrics
                if any(point.count for point in metric.histogram.data_points)
            }


def attributes(of: Any) -> dict[str, Any]:
    """What is said of a span, a resource or a point, as values of Python."""
    return {one.key: _value(one.value) for one in of.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collect for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            with state.lock:
                state.seen.append(body)
                if self.path == "/v1/traces":
                    state.traces.append(ExportTraceServiceRequest.FromString(body))
                else:
                    assert self.path == "/v1/metrics"
                    state.metrics.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with serving_on_loopback(Handler) as address:
        state = Collector(address)
        yield state
