"""What a process tells of what it does, to whoever collects such things: nobody, unless the environment names one.

Requests, the stages of questions, calls to models and jobs are told by their names, durations and outcomes; never a
question, a document's text or a key. The environment is that of OpenTelemetry (its specification of environment
variables), and the package is loaded only where that asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from wenyuan.errors import ConfigurationInvalid, PackageMissing
from wenyuan.types import Job, JsonObject

_EXPORTER = "wenyuan.runtime.opentelemetry_export"
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
_SPOKEN = "http/protobuf"


class Telemetry:
    """Tells nobody."""

    @contextmanager
    def request(self, method: str, path: str, headers: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """What is done within belongs to the request; what it came to, `route` and `status`, is put into the value."""
        del method, path, headers
        yield {}

    def question(self, trace: JsonObject) -> None:
        """A search has ended, as its trace tells."""

    def answer(self, trace_id: str, made: JsonObject) -> None:
        """An answer has ended; `made` is what its trace says of it."""

    def jobs(self, jobs: Sequence[Job], began_ns: int, outcomes: Mapping[str, str]) -> None:
        """Jobs that were done together have ended; `outcomes` are the codes of what went wrong, by job."""

    def close(self) -> None:
        """Send what is left, as far as that does not take long."""


SILENT = Telemetry()


def configured_telemetry(environment: Mapping[str, str] | None = None) -> Telemetry:
    """Whom the environment says that this process tells. Raises `PackageMissing` or `ConfigurationInvalid`."""
    variables = os.environ if environment is None else environment
    traces, metrics = (_is_wanted(variables, signal) for signal in ("TRACES", "METRICS"))
    if not (traces or metrics):
        return SILENT
    for name in (_PROTOCOL, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"):
        if variables.get(name, _SPOKEN) not in ("", _SPOKEN):
            raise ConfigurationInvalid(
                setting=name, source="the environment", reason=f"{variables[name]!r} is not spoken here, {_SPOKEN} is"
            )
    try:
        made: Telemetry = import_module(_EXPORTER).OpenTelemetry(traces=traces, metrics=metrics)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "opentelemetry":
            raise
        raise PackageMissing(
            what="What OTEL_… asks for", package="opentelemetry-sdk", install="wenyuan[opentelemetry]"
        ) from error
    return made


def _is_wanted(variables: Mapping[str, str], signal: str) -> bool:
    """Whether a signal is to be sent: where it is told where to, or that it is to be sent as OTLP."""
    if variables.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = variables.get(f"OTEL_{signal}_EXPORTER", "").strip()
    has_address = bool(variables.get(_ENDPOINT) or variables.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"))
    if exporter not in ("", "otlp", "none"):
        reason = f"{exporter!r} is neither otlp nor none"
        raise ConfigurationInvalid(setting=f"OTEL_{signal}_EXPORTER", source="the environment", reason=reason)
    return exporter == "otlp" or (has_address and exporter != "none")
