"""Looking after a library: does everything hold?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from wenyuan.flows.mend_files import Repairing
from wenyuan.flows.repair import repair as mend_all
from wenyuan.flows.reread import catch_up, forgotten_rereading
from wenyuan.identifiers import new_id
from wenyuan.store import knowledge_bases
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.checking import Violation, check_library
from wenyuan.store.checking.invariants import DATABASE_SOUND
from wenyuan.store.database import Database, LibraryDatabase, Reading
from wenyuan.types import LOCAL_PRINCIPAL, Scope

Severity = Literal["ok", "warning", "error"]

_MENDED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it where something is wrong."""

    code: str
    severity: Severity
    message: str
    hint: str = ""


def check(database: LibraryDatabase, blobs: BlobDirectory, *, deep: bool = False) -> list[Finding]:
    """Every invariant of a library that does not hold; nothing is changed.

    If `deep`, every stored byte is read, and every passage is read again by today's rules.
    """
    found = check_library(database, blobs, deep=deep)
    violations = [Finding(one.code, one.severity, one.message, one.hint) for one in found]
    damaged = any(one.code == DATABASE_SOUND.code for one in violations)
    return violations if damaged else [*violations, *behind(database, forgotten_rereading)]


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was mended, what there is no repair for, and what a check finds afterwards."""

    mended: tuple[Finding, ...]
    beyond_repair: tuple[Finding, ...]
    left: tuple[Finding, ...]


def repair(
    database: LibraryDatabase,
    blobs: BlobDirectory,
    *,
    deep: bool,
    work: Callable[[], object] | None,
    watch: Callable[[Finding, bool], None] | None,
) -> Repaired:
    """Mend what does not hold, do the work that this takes, if `work` does it, and check again."""
    mended: list[Finding] = []
    beyond: list[Finding] = []

    def told(violation: Violation, is_mended: bool) -> None:
        finding = Finding(violation.code, violation.severity, violation.message, violation.hint)
        (mended if is_mended else beyond).append(finding)
        if watch is not None:
            watch(finding, is_mended)

    tools = Repairing(database, blobs, new_id)
    mend_all(tools, lambda: check_library(database, blobs, deep=deep, most=_MENDED_AT_ONCE), told)
    if not any(one.code == DATABASE_SOUND.code for one in beyond):
        mended += behind(database, forgotten_rereading)
        _read_again(database)
        if work is not None:
            work()
    return Repaired(tuple(mended), tuple(beyond), tuple(check(database, blobs, deep=deep)))


def _read_again(database: LibraryDatabase) -> None:
    with database.read() as tx:
        bases = knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL))
    for base in bases:
        catch_up(database, new_id, base)


def behind(database: Database, count: Callable[[Reading, str], int]) -> Iterator[Finding]:
    """Documents that were read by other rules than today's, as `count` counts them."""
    with database.read() as tx:
        behind = {base.name: count(tx, base.id) for base in knowledge_bases.permitted(tx, Scope(LOCAL_PRINCIPAL))}
    for name, number in behind.items():
        if number:
            message = f"{number} documents of {name} were read by older rules; they are found by those."
            hint = f"The next worker reads them again; `wenyuan kb refresh-aliases {name}` does so now."
            yield Finding("rules-behind", "warning", message, hint)
