"""Telemetry sent by OpenTelemetry's own protocol, OTLP over HTTP, and named by its semantic conventions."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from wenyuan.runtime.telemetry import Telemetry
from wenyuan.types import Job, JsonObject

_NAME = "wenyuan"
_CLOSING_SECONDS = 3.0
_A_SERVERS_FAULT = 500
_MS, _SECOND = 1_000_000, 1_000_000_000
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FINE = frozenset({"ok", "degraded"})
# As the semantic conventions advise for durations in seconds.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0)


class OpenTelemetry(Telemetry):
    """Where to, how often and how much of it: the SDK reads that from OTEL_… of the environment."""

    def __init__(self, *, traces: bool, metrics: bool) -> None:
        resource = Resource({"service.name": _NAME, "service.version": version(_NAME)}).merge(_of_environment())
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        if traces:
            self._spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        readers = [PeriodicExportingMetricReader(OTLPMetricExporter())] if metrics else []
        self._meters = MeterProvider(readers, resource, shutdown_on_exit=False)
        self._tracer = self._spans.get_tracer(_NAME, version(_NAME))
        meter = self._meters.get_meter(_NAME, version(_NAME))

        def seconds(name: str, about: str) -> Any:
            return meter.create_histogram(name, "s", about, explicit_bucket_boundaries_advisory=_SECONDS)

        self._requests = seconds("http.server.request.duration", "Requests that were answered.")
        self._stages = seconds("wenyuan.stage.duration", "Stages of searches.")
        self._calls = seconds("gen_ai.client.operation.duration", "Calls to language models.")
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "What those calls came to.")
        self._work = seconds("wenyuan.job.duration", "Jobs, each as long as those done with it.")

    @contextmanager
    def request(self, method: str, path: str, headers: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        name, outcome = method if method in _METHODS else "_OTHER", dict[str, Any]()
        began = time.time_ns()
        # Whoever asks may belong to a trace of others (W3C Trace Context).
        parent = propagate.extract({key.lower(): value for key, value in headers.items()})
        attributes = {"http.request.method": name, "url.path": path, "url.scheme": "http"}
        span = self._tracer.start_span(name, parent, SpanKind.SERVER, attributes, start_time=began)
        token = context.attach(trace.set_span_in_context(span, parent))
        try:
            yield outcome
        finally:
            context.detach(token)
            measured = {"http.request.method": name}
            if route := outcome.get("route"):
                measured["http.route"] = route
                span.update_name(f"{name} {route}")
            status = int(outcome.get("status", 0))
            span.set_attributes({**measured, "http.response.status_code": status})
            if status >= _A_SERVERS_FAULT:
                _fail(span, str(status))
            span.end()
            seconds = (time.time_ns() - began) / _SECOND
            self._requests.record(seconds, {**measured, "http.response.status_code": status})

    def question(self, trace: JsonObject) -> None:
        ended = time.time_ns()
        began = ended - int(trace["total_ms"] * _MS)
        with self._within("search", began, ended) as span:
            span.set_attributes(
                {
                    "wenyuan.trace_id": trace["id"],
                    "wenyuan.hits": len(trace["hits"]),
                    "wenyuan.degraded": tuple(trace["degraded"]),
                }
            )
            if trace["why_empty"] is not None:
                span.set_attribute("wenyuan.why_empty", trace["why_empty"].code)
            for stage in trace["stages"]:
                self._stage(stage, began)

    def _stage(self, stage: JsonObject, began: int) -> None:
        start = began + int(stage["start_ms"] * _MS)
        with self._within(stage["name"], start, start + int(stage["ms"] * _MS)) as span:
            span.set_attribute("wenyuan.status", stage["status"])
            if stage["count"] is not None:
                span.set_attribute("wenyuan.count", stage["count"])
            if stage["status"] not in _FINE:
                _fail(span, stage["status"])
        self._stages.record(stage["ms"] / 1000, {"wenyuan.stage": stage["name"], "wenyuan.status": stage["status"]})

    def answer(self, trace_id: str, made: JsonObject) -> None:
        ended = time.time_ns()
        began = ended - int(made["latency_ms"] * _MS)
        with self._within("answer", began, ended) as span:
            span.set_attributes(
                {
                    "wenyuan.trace_id": trace_id,
                    "wenyuan.finish_reason": made["finish_reason"],
                    "wenyuan.grounded": made["grounded"],
                }
            )
            for call in made["model_calls"]:
                self._call(call, began)

    def _call(self, call: JsonObject, began: int) -> None:
        start = began + int(call["start_ms"] * _MS)
        common = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call["provider"],
            "gen_ai.request.model": call["model"],
        }
        failure = {"error.type": call["error"]} if "error" in call else {}
        name = f"chat {call['model']}"
        with self._within(name, start, start + int(call["ms"] * _MS), SpanKind.CLIENT) as span:
            span.set_attributes({**common, "wenyuan.purpose": call["purpose"]})
            for kind in ("input", "output"):
                if call.get(f"{kind}_tokens") is not None:
                    span.set_attribute(f"gen_ai.usage.{kind}_tokens", call[f"{kind}_tokens"])
                    self._tokens.record(call[f"{kind}_tokens"], {**common, "gen_ai.token.type": kind})
            if failure:
                _fail(span, call["error"])
        self._calls.record(call["ms"] / 1000, {**common, **failure})

    def jobs(self, jobs: Sequence[Job], began_ns: int, outcomes: Mapping[str, str]) -> None:
        ended = time.time_ns()
        for job in jobs:
            failure = {"error.type": outcomes[job.id]} if job.id in outcomes else {}
            attributes = {"wenyuan.job.kind": job.kind, **failure}
            with self._within(f"job {job.kind}", began_ns, ended, SpanKind.CONSUMER) as span:
                span.set_attributes({**attributes, "wenyuan.job.id": job.id, "wenyuan.job.attempt": job.attempts})
                span.set_attribute("wenyuan.knowledge_base.id", job.knowledge_base_id)
                if failure:
                    _fail(span, outcomes[job.id])
            self._work.record((ended - began_ns) / _SECOND, attributes)

    def close(self) -> None:
        # A collector that is not there is tried for longer than whoever ends a process will wait.
        ending = [threading.Thread(target=end, daemon=True) for end in (self._spans.shutdown, self._meters.shutdown)]
        for thread in ending:
            thread.start()
        deadline = time.monotonic() + _CLOSING_SECONDS
        for thread in ending:
            thread.join(max(deadline - time.monotonic(), 0.0))

    @contextmanager
    def _within(self, name: str, began: int, ended: int, kind: SpanKind = SpanKind.INTERNAL) -> Iterator[Span]:
        """A span that is over already; those that are begun within belong to it."""
        span = self._tracer.start_span(name, kind=kind, start_time=began)
        with trace.use_span(span):
            yield span
        span.end(ended)


def _fail(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def _of_environment() -> Resource:
    """What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, and nothing where they say nothing."""
    said = dict(Resource.create().attributes)
    if str(said.get("service.name", "")).startswith("unknown_service"):
        del said["service.name"]
    return Resource(said)
