"""What is deployed exists: commands, settings, files and routes that deploy/ and its page speak of."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
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


# --- As a linter would read them -----------------------------------------------------------------


def _instructions() -> list[tuple[str, str]]:
    """What the Dockerfile says, line by line, its continued lines joined."""
    lines = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", read("Dockerfile"), flags=re.MULTILINE)).splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines) if word]


def test_the_image_is_made_as_its_linters_advise() -> None:
    instructions = _instructions()
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"}
    assert {word for word, _ in instructions} <= known
    images = [rest.split() for word, rest in instructions if word == "FROM"]
    stages = {image[2] for image in images if len(image) == 3}
    # A tag that says which Python, and nothing that moves by itself from one to another.
    assert all(re.fullmatch(r"python:3\.\d+-slim", image[0]) for image in images)
    copied = [re.match(r"--from=(\w+) ", rest) for word, rest in instructions if word == "COPY"]
    assert {match[1] for match in copied if match} <= stages
    final = instructions[max(at for at, (word, _) in enumerate(instructions) if word == "FROM") :]
    words = [word for word, _ in final]
    assert words.index("USER") < words.index("CMD")
    assert words.count("CMD") == words.count("HEALTHCHECK") == 1
    # As a list, so that signals reach the program and not a shell around it.
    assert isinstance(yaml.safe_load(dict(final)["CMD"]), list)
    assert "sudo" not in str(instructions)
    assert all("--no-cache-dir" in rest for word, rest in instructions if word == "RUN" and "pip install" in rest)


def test_what_is_copied_is_let_into_the_build() -> None:
    first, *others = read("Dockerfile.dockerignore").splitlines()
    assert first == "*"
    let_in = {line.removeprefix("!") for line in others if line.startswith("!")}
    copied = [rest.split()[:-1] for word, rest in _instructions() if word == "COPY" and not rest.startswith("--from")]
    assert {name.removeprefix("./") for names in copied for name in names} == let_in


COMPOSE_KEYS = {
    *("build", "command", "depends_on", "environment", "healthcheck", "image", "init", "ports", "restart"),
    *("stop_grace_period", "volumes"),
}


def test_the_composition_says_nothing_that_is_not_understood() -> None:
    assert set(COMPOSE) <= {"name", "services", "volumes", "x-wenyuan"}
    for name, service in COMPOSE["services"].items():
        assert set(service) <= COMPOSE_KEYS, name
        assert set(service.get("healthcheck", {})) <= {"test", "interval", "timeout", "retries", "disable"}, name
        assert service.get("restart") in ("unless-stopped", "on-failure"), name
        build = service.get("build")
        if build is not None:
            assert (DEPLOY / build["context"]).resolve() == REPOSITORY
            assert (REPOSITORY / build["dockerfile"]).is_file()
        for port in service.get("ports", ()):
            # Nothing but a proxy on the same machine reaches it unless somebody says so.
            assert str(port).startswith("127.0.0.1:"), name


UNIT = {
    "Unit": {"Description", "After", "Wants"},
    "Service": {
        *("User", "Group", "StateDirectory", "Environment", "ExecStart", "Restart", "TimeoutStopSec"),
        *("NoNewPrivileges", "PrivateDevices", "PrivateTmp", "ProtectControlGroups", "ProtectHome"),
        *("ProtectKernelModules", "ProtectKernelTunables", "ProtectSystem", "RestrictAddressFamilies"),
        *("RestrictSUIDSGID", "LockPersonality", "UMask"),
    },
    "Install": {"WantedBy"},
}
"""What systemd.unit(5), systemd.service(5) and systemd.exec(5) know of what the unit says."""


def test_the_unit_says_nothing_that_is_not_understood() -> None:
    section = ""
    for line in read("wenyuan.service").splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = match[1]
        elif line and not line.startswith("#"):
            name, separator, value = line.partition("=")
            assert name in UNIT[section], line
            assert separator, line
            assert value, line
    unit = read("wenyuan.service")
    (state,) = re.findall(r"^StateDirectory=(.*)$", unit, re.MULTILINE)
    # It may write nowhere but there.
    assert all(f"=/var/lib/{state}/" in line for line in re.findall(r"^Environment=(.*)$", unit, re.MULTILINE))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not on this machine")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "wenyuan.service"
    unit.write_text(read("wenyuan.service").replace("/opt/wenyuan/bin/wenyuan", sys.executable), "utf-8")
    subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], check=True)


# --- As it is installed --------------------------------------------------------------------------


@pytest.mark.soak
def test_what_is_let_into_the_build_installs_and_serves(tmp_path: Path) -> None:
    """The wheel is made of what the image is made of, and serves from an environment of its own."""
    context, venv = tmp_path / "context", tmp_path / "venv"
    context.mkdir()
    for line in read("Dockerfile.dockerignore").splitlines():
        if line.startswith("!"):
            source, target = REPOSITORY / line[1:], context / line[1:]
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wheels = tmp_path / "wheels"
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, context], check=True)
    (wheel,) = wheels.iterdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    subprocess.run([*pip, "--python", venv / "bin" / "python", "install", "--no-deps", wheel], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    # Its dependencies are those that are installed here; of the program itself nothing is, as no .pth of there counts.
    (site / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    (command,) = (rest for word, rest in _instructions() if word == "CMD")
    program, *words = yaml.safe_load(command)
    environment = {"PATH": str(venv / "bin"), "HOME": str(tmp_path), "WENYUAN_LIBRARY": str(tmp_path / "library")}
    words = ["127.0.0.1" if word == "0.0.0.0" else word for word in words]
    process = subprocess.Popen(
        [venv / "bin" / program, *words, "--port", "0", "--json"], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        (asked,) = re.findall(r'CMD (\["python".*\])$', read("Dockerfile"), re.MULTILINE)
        looks = [word.replace(f"http://127.0.0.1:{ServerSettings().port}", url) for word in yaml.safe_load(asked)]
        subprocess.run([venv / "bin" / looks[0], *looks[1:]], check=True)
        with urllib.request.urlopen(url, timeout=60) as page:
            assert b"<title>" in page.read()
    finally:
        process.terminate()
        process.wait(60)
    where = "import wenyuan; print(wenyuan.__file__)"
    found = subprocess.run([venv / "bin" / "python", "-c", where], capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(venv))
