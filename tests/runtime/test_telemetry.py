"""What a server does is told to a collector, where the environment names one: to a real one, in its real protocol."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.chat_server import MODEL, Reply, chatting
from tests.doors.http.running import MEETING
from tests.doors.http.test_serving import Process, add, environment, process
from tests.otlp_receiver import Collector, attributes, collecting
from tests.waiting import until
from wenyuan.errors import ConfigurationInvalid
from wenyuan.runtime.telemetry import SILENT, configured_telemetry

SECRET = "四月十四号的屏幕用什么？"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
AT_ONCE = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_METRIC_EXPORT_INTERVAL": "100"}


def test_requests_questions_calls_and_jobs_are_told(tmp_path: Path) -> None:
    path = tmp_path / "library"
    path.mkdir()
    with collecting() as collector, chatting(Reply("屏幕改用 PPR-9087 [1]。")) as model:
        (path / "wenyuan.toml").write_text(model.settings(more="tools = true"), "utf-8")
        more = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_RESOURCE_ATTRIBUTES": "deployment=test"}
        with process(path, **more, **AT_ONCE) as running:
            _use(running)
            _fail(running)
            wanted = {"POST /api/v1/chat", "POST /api/v1/search", "answer", f"chat {MODEL}", "job ingest"}
            wanted |= {"GET /api/v1/jobs/{job}"}
            until(
                lambda: wanted <= {span.name for span in collector.spans()} and len(collector.spans("job ingest")) > 1
            )
            metrics = {"http.server.request.duration", "wenyuan.stage.duration", "wenyuan.job.duration"}
            metrics |= {"gen_ai.client.operation.duration", "gen_ai.client.token.usage"}
            until(lambda: metrics <= collector.measured())
            assert running.end() == (0, "")
    _check_request(collector)
    _check_answer(collector)
    done, failed = (attributes(span) for span in collector.spans("job ingest"))
    assert (done["wenyuan.job.kind"], done["wenyuan.job.attempt"], "error.type" in done) == ("ingest", 1, False)
    assert failed["error.type"] == "file-malformed"
    assert all(one["service.name"] == "wenyuan" and one["deployment"] == "test" for one in collector.resources())
    # Neither what was asked nor what was found leaves the machine.
    assert not [seen for seen in collector.seen if SECRET.encode() in seen or b"PPR-9087" in seen]


def _use(running: Process) -> None:
    add(running.client, "周会.md", MEETING)
    traceparent = {"traceparent": f"00-{TRACE}-{PARENT}-01"}

    def is_found() -> bool:
        answer = running.client.post("/search", json={"question": SECRET}, headers=traceparent)
        return bool(answer.json()["hits"])

    until(is_found)
    with running.client.stream("POST", "/chat", json={"question": SECRET}) as answer:
        assert "assistant.message" in "".join(answer.iter_lines())


def _fail(running: Process) -> None:
    document = {"file": ("broken.pdf", b"%PDF-1.7 and nothing more")}
    assert running.client.post("/knowledge-bases/default/documents/upload", files=document).is_success
    assert running.client.get("/jobs/nothing").status_code == 404


def _check_request(collector: Collector) -> None:
    """The request belongs to the caller's trace, the search to the request, and the stages to the search."""
    request = collector.spans("POST /api/v1/search")[-1]
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, PARENT)
    said = attributes(request)
    assert (said["http.route"], said["http.response.status_code"]) == ("/api/v1/search", 200)
    (search,) = (span for span in collector.spans("search") if span.parent_span_id == request.span_id)
    assert (search.trace_id.hex(), attributes(search)["wenyuan.hits"] > 0) == (TRACE, True)
    stages = [span for span in collector.spans() if span.parent_span_id == search.span_id]
    assert {"read", "keyword"} <= {span.name for span in stages}
    for stage in stages:
        assert request.start_time_unix_nano <= stage.start_time_unix_nano <= stage.end_time_unix_nano
        assert stage.end_time_unix_nano <= request.end_time_unix_nano


def _check_answer(collector: Collector) -> None:
    (request,) = collector.spans("POST /api/v1/chat")
    (answer,) = collector.spans("answer")
    (call,) = collector.spans(f"chat {MODEL}")
    assert (answer.parent_span_id, call.parent_span_id) == (request.span_id, answer.span_id)
    said = attributes(call)
    assert (said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]) == (12, 7)
    assert said["gen_ai.request.model"] == MODEL
    assert attributes(answer)["wenyuan.finish_reason"] == "stop"


def test_a_collector_that_is_not_there_keeps_nobody_from_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
        telemetry = configured_telemetry()
    with telemetry.request("GET", "/api/v1/models", {}) as outcome:
        outcome.update(route="/api/v1/models", status=503)
    telemetry.close()


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_SERVICE_NAME": "x"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "TRUE"},
        {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
            "OTEL_TRACES_EXPORTER": "none",
            "OTEL_METRICS_EXPORTER": "none",
        },
    ],
)
def test_nobody_is_told_unless_somebody_is_named(variables: dict[str, str]) -> None:
    assert configured_telemetry(variables) is SILENT


@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
        {"OTEL_TRACES_EXPORTER": "jaeger"},
    ],
)
def test_what_is_not_spoken_is_refused(variables: dict[str, str]) -> None:
    with pytest.raises(ConfigurationInvalid, match="OTEL_"):
        configured_telemetry(variables)


_WITHOUT = """
import sys
from wenyuan.errors import PackageMissing
from wenyuan.runtime.telemetry import configured_telemetry
import wenyuan.doors.http.server
assert not [name for name in sys.modules if name.startswith("opentelemetry.sdk")]
configured_telemetry({})
assert not [name for name in sys.modules if name.startswith("opentelemetry.sdk")]
sys.modules["opentelemetry.sdk"] = None
try:
    configured_telemetry({"OTEL_TRACES_EXPORTER": "otlp"})
except PackageMissing as error:
    print(error.advice)
"""


def test_the_package_is_loaded_and_missed_only_where_it_is_asked_for() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, env=environment(), check=False
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "Install it: `pip install 'wenyuan[opentelemetry]'`.")
