"""What is deployed exists: commands, settings, files and routes that deploy/ and its page speak of."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
import yaml

from tests.source_code import REPOSITORY
from wenyuan.config import ServerSettings, Settings
from wenyuan.doors.http.application import described_routes

DEPLOY = REPOSITORY / "deploy"
PAGE = (REPOSITORY / "docs" / "how-to-deploy.md").read_text("utf-8")
COMPOSE: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def read(name: str) -> str:
    return (DEPLOY / name).read_text("utf-8")


def _commands() -> Iterator[list[str]]:
    """Everything of the program that is run."""
    for service in COMPOSE["services"].values():
        if service.get("command"):
            yield service["command"]
    yield yaml.safe_load(re.findall(r"^CMD (\[.*\])$", read("Dockerfile"), re.MULTILINE)[0])
    yield re.findall(r"^ExecStart=(.*)$", read("wenyuan.service"), re.MULTILINE)[0].split()


def _help(*words: str) -> str:
    program = [sys.executable, "-m", "wenyuan.doors.cli", *words, "--help"]
    return subprocess.run(program, capture_output=True, text=True, check=True).stdout


def test_every_command_is_one_and_has_its_options() -> None:
    commands = list(_commands())
    assert len(commands) == 5
    for program, *words in commands:
        assert program.rpartition("/")[2] == "wenyuan"
        name, *options = words
        told = _help(name)
        assert f"Usage: wenyuan {name}" in told
        assert all(option in told for option in options if option.startswith("--")), options


def _variables(text: str) -> set[str]:
    return set(re.findall(r"WENYUAN_[A-Z_]+", text))


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "wenyuan.service"])
def test_every_variable_is_read_by_somebody(name: str) -> None:
    known = {"WENYUAN_LIBRARY", "WENYUAN_BLOBS", "WENYUAN_DATABASE_PASSWORD"}
    for section in fields(Settings):
        value = getattr(Settings(), section.name)
        if hasattr(value, "__dataclass_fields__"):
            known |= {f"WENYUAN_{section.name}_{item.name}".upper() for item in fields(value)}
    assert _variables(read(name)) <= known
    assert "WENYUAN_NOTHING" not in known


def test_settings_that_are_named_exist() -> None:
    settings = {item.name for item in fields(ServerSettings)}
    tables = re.findall(r"```toml\n\[server\]\n(.*?)```", PAGE, re.DOTALL)
    shown = {line.partition(" = ")[0] for table in tables for line in table.splitlines()}
    for name in ("nginx.conf", "Caddyfile"):
        shown |= set(re.findall(r"^#   (\w+) = ", read(name), re.MULTILINE))
    assert {"allowed_hosts", "trusted_proxies"} <= shown <= settings
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == {"folders", "backups"}
    assert {"folders", "backups", "path"} <= settings


def test_services_depend_on_services_and_use_volumes_that_are_declared() -> None:
    services = COMPOSE["services"]
    for name, service in services.items():
        for other, condition in service.get("depends_on", {}).items():
            assert other in services, name
            healthy = condition["condition"] == "service_healthy"
            assert not healthy or "healthcheck" in services[other]
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in COMPOSE["volumes"], name
    assert services["app"]["ports"] == [f"127.0.0.1:{ServerSettings().port}:{ServerSettings().port}"]
    # No password stands in the file.
    assert "PASSWORD" not in re.sub(r"\$\{WENYUAN_DATABASE_PASSWORD:\?[^}]*\}", "", str(services)).replace(
        "'PGPASSWORD': ''", ""
    ).replace("'POSTGRES_PASSWORD': ''", "")


def test_what_is_copied_and_asked_is_there() -> None:
    dockerfile = read("Dockerfile")
    for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (REPOSITORY / name).exists(), name
    (asked,) = re.findall(r"127\.0\.0\.1:(\d+)(/[a-z0-9/]+)'", dockerfile)
    assert asked[0] == str(ServerSettings().port)
    assert asked[1] in described_routes().openapi()["paths"]
    assert str(ServerSettings().port) in read("nginx.conf")
    assert str(ServerSettings().port) in read("Caddyfile")


def test_the_page_speaks_of_every_file() -> None:
    for path in DEPLOY.iterdir():
        assert path.name.startswith(".") or path.stem in PAGE, path.name


def test_the_server_runs_as_nobody_special() -> None:
    assert re.search(r"^USER wenyuan$", read("Dockerfile"), re.MULTILINE)
    unit = dict(re.findall(r"^(\w+)=(.*)$", read("wenyuan.service"), re.MULTILINE))
    assert (unit["User"], unit["NoNewPrivileges"], unit["ProtectSystem"]) == ("wenyuan", "yes", "strict")
