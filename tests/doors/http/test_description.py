"""The published description is complete, and what the server answers keeps to it, whatever is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running

_EXAMPLES = 2
_MANY = 60
_CONFIG = SchemathesisConfig.from_dict({"phases": {"coverage": {"enabled": False}, "stateful": {"enabled": False}}})


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server that asks for a key, and one for everything."""
    path = tmp_path_factory.mktemp("described") / "library"
    settings = {**KEYWORD_ONLY, "WENYUAN_SERVER_HEARTBEAT_SECONDS": "0.2"}
    with wy.open(path, environment=settings) as library, running(library, works=True) as server:
        server.add("周会.md", MEETING)
        yield server, library.access_keys.create("tester", scopes=("admin",)).secret
        assert [finding.code for finding in library.check() if finding.severity == "error"] == []


@pytest.fixture(scope="module")
def described(keyed: tuple[Server, str]) -> Any:
    server, _ = keyed
    return schemathesis.openapi.from_dict(server.client.get("/openapi.json").json(), config=_CONFIG)


def _send_anything(schema: Any, keyed: tuple[Server, str], examples: int) -> list[str]:
    """Send what keeps to the description and what breaks it, to every route; whatever was not as described."""
    faults: list[str] = []
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path.endswith("/events"):
            # An answer without an end; its own tests read it.
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            fault = _first_fault(operation.as_strategy(generation_mode=mode), keyed, examples)
            if fault:
                faults.append(f"{operation.label}: {fault}")
    return faults


def _first_fault(cases: SearchStrategy[Any], keyed: tuple[Server, str], examples: int) -> str:
    server, secret = keyed

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), deadline=None)
    @given(cases)
    def send(case: Any) -> None:
        # What is well formed may still make no sense: a model that is not configured, a filter that nothing meets.
        excluded: list[Any] = [positive_data_acceptance]
        if any(isinstance(value, dict | list) for value in (case.query or {}).values()):
            # It is sent as its keys or items, which are texts like any other.
            excluded.append(negative_data_rejection)
        case.call_and_validate(
            base_url=server.url,
            headers={"Authorization": f"Bearer {secret}"},
            timeout=30,
            excluded_checks=excluded,
        )

    try:
        send()
    except Unsatisfiable:
        # There is no way to break what takes nothing.
        return ""
    except FailureGroup as failure:
        return "\n".join(str(one) for one in failure.exceptions)
    return ""


def test_whatever_is_sent_the_answer_is_as_described(described: Any, keyed: tuple[Server, str]) -> None:
    assert "\n\n".join(_send_anything(described, keyed, _EXAMPLES)) == ""


@pytest.mark.soak
def test_whatever_is_sent_again_and_again(described: Any, keyed: tuple[Server, str]) -> None:
    assert "\n\n".join(_send_anything(described, keyed, _MANY)) == ""


# --- Completeness --------------------------------------------------------------------------------


def _operations(document: Any) -> Iterator[tuple[str, Any]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", operation


def test_every_answer_of_every_route_is_described(server: Server) -> None:
    document = server.client.get("/openapi.json").json()
    problem = {"$ref": "#/components/schemas/ProblemDetails"}
    for name, operation in _operations(document):
        assert operation["summary"], name
        assert operation["description"], name
        assert operation["tags"], name
        for status, answer in operation["responses"].items():
            assert answer["description"], (name, status)
            if int(status) >= 400:
                told = {"application/problem+json": {"schema": problem}}
                plain = {"text/plain": {"schema": {"type": "string"}}} if status == "400" else {}
                assert answer["content"] == told | plain, (name, status)
            elif status not in ("204", "304"):
                (content,) = list(answer["content"].values())[:1]
                assert content["schema"], (name, status)
        assert {"400", "403", "421", "429", "500", "503"} <= set(operation["responses"]), name


def test_everything_but_health_needs_a_key(server: Server) -> None:
    document = server.client.get("/openapi.json").json()
    open_to_all = {name for name, operation in _operations(document) if "security" not in operation}
    assert open_to_all == {"GET /api/v1/health", "GET /api/v1/ready", "POST /api/v1/sign-in"}


def test_every_schema_that_is_named_is_there(server: Server) -> None:
    text = server.client.get("/openapi.json").text
    named = set(re.findall(r"#/components/schemas/([^\"]+)", text))
    assert named <= set(server.client.get("/openapi.json").json()["components"]["schemas"])
    assert "HTTPValidationError" not in text
