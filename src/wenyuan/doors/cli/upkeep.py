"""`wenyuan check` and `wenyuan doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.errors import ConfigurationError, StorageError

if TYPE_CHECKING:
    from wenyuan.runtime.upkeep import Finding

_STYLES = {"ok": "green", "warning": "bold yellow", "error": "bold red"}


def check(*, session: Given) -> int:
    """Verify that everything in the library holds together; ends with exit code 6 if something does not."""
    with session.open() as library:
        findings = library.check()
    session.show(findings, lambda: _show(session, findings, "check.fine"))
    return StorageError.exit_code if _errors(findings) else OK


def doctor(*, session: Given) -> int:
    """Explain the environment: versions, folders, settings, models; ends with exit code 3 if something is wrong."""
    with session.open() as library:
        findings = library.doctor()
    session.show(findings, lambda: _show(session, findings, "doctor.fine"))
    return ConfigurationError.exit_code if _errors(findings) else OK


def _errors(findings: list[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def _show(session: Session, findings: list[Finding], fine: str) -> None:
    for finding in findings:
        label = f"{finding.severity}[{finding.code}]: "
        session.out.line((label, _STYLES[finding.severity]), finding.message)
        if finding.hint:
            session.out.line((session.say("hint"), "bold"), finding.hint, indent=2)
    if not any(finding.severity != "ok" for finding in findings):
        session.out.line((session.say(fine), "green"))
