"""Asks the advisory services of Python and npm about everything that is locked: `python -m tests.audit`.

Ends with 1 where something is known against a package, and with 2 where a service could not be asked about all of them,
which is no statement about any; `--if-reachable` makes that 0, for whom a service that is away must not stop.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.source_code import REPOSITORY

FINE, FOUND, NOT_ASKED = 0, 1, 2
_LOCKS = ("requirements.lock", "requirements-dev.lock")
_PIP_AUDIT = ("-m", "pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")
_NPM_AUDIT = ("npm", "--prefix", "web", "audit", "--json")
_KNOWN_TO_PYPI = "https://pypi.org/pypi/pip/24.0/json"
"""Of one version, as pip-audit asks: mirrors that have packages alone do not know it."""
_SECONDS, _REACHING_SECONDS = 600, 10


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known against the packages of one lock, and why not all of them could be asked about, if so."""

    what: str
    packages: int
    found: tuple[str, ...]
    not_asked: str = ""


def of_pip_audit(what: str, said: str, errors: str) -> Verdict:
    """What pip-audit's JSON comes to. It calls nothing vulnerable what its service does not know, nor does it fail."""
    try:
        packages: list[dict[str, Any]] = json.loads(said)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Verdict(what, 0, (), _last_line(errors) or "pip-audit said nothing")
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, mended in {', '.join(flaw['fix_versions']) or 'no version'}"
        for one in packages
        for flaw in one.get("vulns", ())
    ]
    skipped = [one["skip_reason"] for one in packages if "skip_reason" in one]
    why = f"{len(skipped)} of {len(packages)} packages: {skipped[0]}" if skipped else ""
    return Verdict(what, len(packages), tuple(found), why)


def of_npm_audit(what: str, said: str, errors: str) -> Verdict:
    """What `npm audit --json` comes to."""
    answer: dict[str, Any] = {}
    try:
        answer = json.loads(said) or {}
        flaws = answer["vulnerabilities"]
        packages = int(answer["metadata"]["dependencies"]["total"])
    except (ValueError, KeyError, TypeError):
        return Verdict(what, 0, (), str(answer.get("message") or _last_line(errors) or "npm said nothing"))
    return Verdict(what, packages, tuple(f"{name}: {flaw['severity']}" for name, flaw in sorted(flaws.items())))


def exit_code(verdicts: Sequence[Verdict], *, if_reachable: bool) -> int:
    if any(one.found for one in verdicts):
        return FOUND
    return NOT_ASKED if any(one.not_asked for one in verdicts) and not if_reachable else FINE


def told(verdict: Verdict) -> str:
    lines = [f"{verdict.what}: {one}" for one in verdict.found]
    if verdict.not_asked:
        lines.append(f"{verdict.what}: NOT AUDITED, the advisory service could not be asked ({verdict.not_asked})")
    return "\n".join(lines) or f"{verdict.what}: nothing is known against its {verdict.packages} packages"


def _last_line(errors: str) -> str:
    return next((line.strip()[:300] for line in reversed(errors.splitlines()) if line.strip()), "")


def _python_verdicts() -> list[Verdict]:
    """What pip-audit says, in an environment of its own: it must not change the one that is locked."""
    try:
        with urllib.request.urlopen(_KNOWN_TO_PYPI, timeout=_REACHING_SECONDS):
            pass
    except OSError as error:
        return [Verdict(lock, 0, (), f"{_KNOWN_TO_PYPI}: {error}") for lock in _LOCKS]
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder, "bin", "python"))
        venv.create(folder, with_pip=True)
        _run((python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "pip-audit"))
        return [of_pip_audit(lock, *_run((python, *_PIP_AUDIT, "--requirement", lock))) for lock in _LOCKS]


def _run(command: Sequence[str]) -> tuple[str, str]:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=_SECONDS)
    except FileNotFoundError:
        return "", f"{command[0]} is not installed"
    except subprocess.TimeoutExpired:
        return "", f"no answer within {_SECONDS} s"
    return ended.stdout, ended.stderr


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("--if-reachable", action="store_true")
    arguments = parser.parse_args()
    verdicts = [*_python_verdicts(), of_npm_audit("web/package-lock.json", *_run(_NPM_AUDIT))]
    for verdict in verdicts:
        print(told(verdict), flush=True)
    return exit_code(verdicts, if_reachable=arguments.if_reachable)


if __name__ == "__main__":
    sys.exit(main())
