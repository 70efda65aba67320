"""What the audits say is understood: a flaw as one, and a service that was not asked never as a clean bill."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.audit import FINE, FOUND, NOT_ASKED, Verdict, exit_code, of_npm_audit, of_pip_audit, told

CLEAN = {"name": "h11", "version": "0.16.0", "vulns": []}
FLAWED = {
    "name": "h11",
    "version": "0.14.0",
    "vulns": [{"id": "PYSEC-2025-1", "fix_versions": ["0.16.0"], "aliases": [], "description": "x"}],
}
SKIPPED = {"name": "h11", "skip_reason": "Dependency not found on PyPI and could not be audited: h11 (0.16.0)"}
NPM_CLEAN = {"vulnerabilities": {}, "metadata": {"dependencies": {"total": 66}}}
NPM_FLAWED = {"vulnerabilities": {"vite": {"severity": "high"}}, "metadata": {"dependencies": {"total": 66}}}
NPM_AWAY = {"message": "405 Method Not Allowed", "statusCode": 405, "error": {"summary": "", "detail": ""}}


@pytest.mark.parametrize(
    ("packages", "code", "words"),
    [
        ([CLEAN], FINE, "nothing is known against its 1 packages"),
        ([CLEAN, FLAWED], FOUND, "h11 0.14.0: PYSEC-2025-1, mended in 0.16.0"),
        # pip-audit itself says "no known vulnerabilities" here, and ends with 0.
        ([SKIPPED], NOT_ASKED, "NOT AUDITED"),
        ([CLEAN, SKIPPED], NOT_ASKED, "1 of 2 packages"),
        ([FLAWED, SKIPPED], FOUND, "PYSEC-2025-1"),
    ],
)
def test_what_pip_audit_says_is_understood(packages: list[Any], code: int, words: str) -> None:
    verdict = of_pip_audit("lock", json.dumps({"dependencies": packages, "fixes": []}), "")
    assert exit_code([verdict], if_reachable=False) == code
    assert words in told(verdict)


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (NPM_CLEAN, FINE, "its 66 packages"),
        (NPM_FLAWED, FOUND, "vite: high"),
        (NPM_AWAY, NOT_ASKED, "405 Method Not Allowed"),
    ],
)
def test_what_npm_says_is_understood(answer: Any, code: int, words: str) -> None:
    verdict = of_npm_audit("lock", json.dumps(answer), "npm error audit endpoint returned an error\n")
    assert exit_code([verdict], if_reachable=False) == code
    assert words in told(verdict)


@pytest.mark.parametrize("said", ["", "{}", "null", "Traceback"])
def test_what_is_no_answer_is_no_clean_bill(said: str) -> None:
    for verdict in (of_pip_audit("lock", said, "No module named pip_audit"), of_npm_audit("lock", said, "")):
        assert exit_code([verdict], if_reachable=False) == NOT_ASKED
        assert "NOT AUDITED" in told(verdict)


def test_a_service_that_is_away_stops_nobody_who_says_so_and_a_flaw_does() -> None:
    away, flawed = Verdict("a", 0, (), "away"), Verdict("b", 1, ("x",))
    assert exit_code([away], if_reachable=True) == FINE
    assert exit_code([away, flawed], if_reachable=True) == FOUND
