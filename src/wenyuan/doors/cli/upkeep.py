"""`wenyuan check`, `wenyuan doctor` and `wenyuan migrate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import INTERRUPTED, OK, Given, Session
from wenyuan.errors import ConfigurationError, StorageError

if TYPE_CHECKING:
    from wenyuan.runtime.upkeep import Finding, Repaired

_STYLES = {"ok": "green", "warning": "bold yellow", "error": "bold red"}


def check(
    *,
    deep: bool = False,
    repair: bool = False,
    wait: Annotated[bool, Parameter(name="--wait", negative="--no-wait")] = True,
    session: Given,
) -> int:
    """Verify that everything in the library holds together; ends with exit code 6 if something does not.

    Parameters
    ----------
    deep
        Read every stored byte, and every passage again by today's rules. This takes as long as adding the files did.
    repair
        Mend what can be mended, and verify again.
    wait
        With --repair, read and embed now what has to be (the default), or leave it to `wenyuan worker`.
    """
    with session.open() as library:
        if not repair:
            findings = library.check(deep=deep)
            session.show(findings, lambda: _show(session, findings, "check.fine"))
            return StorageError.exit_code if _errors(findings) else OK
        try:
            with Watching(session) as watch:
                repaired = library.repair(deep=deep, wait=wait, watch=watch)
        except KeyboardInterrupt:
            show_interrupted(session, library)
            return INTERRUPTED
    session.show(repaired, lambda: _show_repaired(session, repaired))
    return StorageError.exit_code if _errors(repaired.left) else OK


def doctor(*, session: Given) -> int:
    """Explain the environment: versions, folders, settings, models; ends with exit code 3 if something is wrong.

    It does so where the library cannot be opened as well, and says why it cannot.
    """
    findings = session.examine()
    session.show(findings, lambda: _show(session, findings, "doctor.fine"))
    return ConfigurationError.exit_code if _errors(findings) else OK


def migrate(*, session: Given) -> int:
    """Bring a library in PostgreSQL to the schema of this program, or make it one. One in a folder does so by itself.

    Do it once, while no older program works in it; programs of before and after it do not work side by side.
    """
    schema = session.migrate()
    session.show({"schema": schema}, lambda: session.out.line(session.say("migrate.done", schema=schema)))
    return OK


def _show_repaired(session: Session, repaired: Repaired) -> None:
    for finding in repaired.mended:
        session.out.line((session.say("check.mended"), "green"), finding.message)
    for finding in repaired.beyond_repair:
        session.out.line((session.say("check.beyond-repair"), "bold red"), finding.message)
    left = [finding for finding in repaired.left if finding.severity != "ok"]
    _show(session, left, "check.mended-all" if repaired.mended else "check.fine")


def _errors(findings: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def _show(session: Session, findings: Sequence[Finding], fine: str) -> None:
    for finding in findings:
        label = f"{finding.severity}[{finding.code}]: "
        session.out.line((label, _STYLES[finding.severity]), finding.message)
        if finding.hint:
            session.out.line((session.say("hint"), "bold"), finding.hint, indent=2)
    if not any(finding.severity != "ok" for finding in findings):
        session.out.line((session.say(fine), "green"))
