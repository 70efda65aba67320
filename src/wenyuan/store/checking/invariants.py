"""What always holds in a library, and what it means and what to do where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Invariant:
    """`sentence` is what is said of a violation, filled with its details; codes are never renamed.

    Where `mends` is false, `check --repair` can do nothing about it but say so.
    """

    code: str
    severity: Literal["warning", "error"]
    sentence: str
    hint: str
    mends: bool = True

    def violated(self, **details: object) -> Violation:
        return Violation(self.code, self.severity, self.sentence.format(**details), self.hint, details)


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where an invariant does not hold; `details` are what a repair has to know of it."""

    code: str
    severity: Literal["warning", "error"]
    message: str
    hint: str
    details: Mapping[str, Any] = field(default_factory=dict)


_REPAIR = "`wenyuan check --repair` mends it."
_RESTORE = (
    "Stop every program that uses the library and restore a backup; without one, `wenyuan kb export` saves of each "
    "knowledge base what can still be read."
)
_READ_AGAIN = "`wenyuan check --repair` reads the document again from the bytes that were added."
_ADD_AGAIN = "Add the file again; until then `wenyuan check --repair` notes at the document that its bytes are gone."
_HARMLESS = "This takes space and does no other harm; `wenyuan check --repair` removes it."

LOOKED_AT = Invariant(
    "not-looked-at",
    "error",
    "Something could not be looked at. {reason}",
    f"If this repeats itself: {_RESTORE[0].lower()}{_RESTORE[1:]}",
    mends=False,
)
DATABASE_SOUND = Invariant("database-damaged", "error", "The database is damaged: {reason}.", _RESTORE, mends=False)
TRACES_SOUND = Invariant(
    "traces-damaged",
    "warning",
    "The file that holds the traces of searches and the runs of evaluations is damaged: {reason}.",
    "Stop every program that uses the library; `wenyuan check --repair` then puts the file aside for a new one.",
)
ROWS_OWNED = Invariant(
    "rows-orphaned",
    "error",
    "Of the rows in {table}, {count} belong to nothing in {parent}, which is gone.",
    "`wenyuan check --repair` removes them.",
)
COUNTERS_AHEAD = Invariant(
    "counter-behind", "error", "The counter {name} stands at {value}, and {used} is in use already.", _REPAIR
)

BLOB_PRESENT = Invariant(
    "blob-missing", "error", "The bytes of {name} are gone; they should lie at {path}.", _ADD_AGAIN
)
BLOB_TRUE = Invariant(
    "blob-damaged", "error", "The bytes of {name} at {path} are not the ones that were added.", _ADD_AGAIN
)
BLOB_BACK = Invariant(
    "blob-returned",
    "warning",
    "The bytes of {name} are there again, and the document says that they are gone.",
    _REPAIR,
)
BLOB_NAMED = Invariant("blob-unnamed", "warning", "The file {path} belongs to no document.", _HARMLESS)
BLOB_USED = Invariant("blob-unused", "warning", "The bytes {sha256} belong to no document.", _HARMLESS)
BLOB_FINISHED = Invariant(
    "blob-unfinished", "warning", "The file {path} was left behind by an interruption.", _HARMLESS
)

SERVING_VALID = Invariant(
    "serving-invalid", "error", "{name} serves the revision {revision}, which is not there to be served.", _READ_AGAIN
)
WORK_QUEUED = Invariant(
    "work-lost", "error", "{name} is {state}, and no job will ever finish it (revision {revision}).", _REPAIR
)
PARENT_LIVE = Invariant(
    "parent-gone", "error", "{name} lies inside of a document that is deleted, and is found all the same.", _REPAIR
)
MEMBERS_QUEUED = Invariant(
    "members-lost",
    "error",
    "Files inside of {name} wait to become documents, and no job will ever make them (revision {revision}).",
    _REPAIR,
)
EMBEDDING_QUEUED = Invariant(
    "embedding-lost", "error", "The vectors of {name} are not complete, and no job will ever complete them.", _REPAIR
)
PURGE_QUEUED = Invariant(
    "purge-lost",
    "error",
    "Remains of {name} are to be deleted, and no job will ever do it (revision {revision}).",
    _REPAIR,
)
REBUILD_QUEUED = Invariant(
    "rebuild-lost", "error", "New indexes of {name} are being built, and no job will ever complete them.", _REPAIR
)
REPLACED_QUEUED = Invariant(
    "index-leftover",
    "warning",
    "An index of {name} that is not needed any more is to be taken away, and no job will ever do it.",
    _REPAIR,
)
JOB_OWNED = Invariant("job-orphaned", "error", "The {kind} job {job} waits for something that is gone.", _REPAIR)
LEASE_LIVE = Invariant(
    "lease-expired",
    "warning",
    "The {kind} job {job} was left by its worker {worker}.",
    "The next worker takes it up: `wenyuan worker --drain`.",
)
SOURCE_KEPT = Invariant(
    "source-gone",
    "error",
    "{name} was brought by a source that is gone, and nobody keeps it in step.",
    "`wenyuan check --repair` makes it a document like those that people add.",
)
CHANGES_NUMBERED = Invariant(
    "changes-broken",
    "error",
    "The knowledge base {name} counts {expected} changes, and {found} are recorded.",
    "`wenyuan check --repair` counts anew; searches may miss what changed until then.",
)
LEXICAL_KEPT = Invariant("lexical-missing", "error", "The full-text index of {name} cannot be used: {reason}", _REPAIR)
RECORD_KEPT = Invariant(
    "index-unrecorded", "error", "Nothing says how far {name} is in the full-text index (revision {revision}).", _REPAIR
)

CHUNKS_COUNTED = Invariant(
    "chunks-miscounted", "error", "{name} has {found} chunks where {expected} were published.", _READ_AGAIN
)
CHUNKS_ORDERED = Invariant("chunks-unordered", "error", "The chunks of {name} skip number {seq}.", _READ_AGAIN)
TABLE_WHOLE = Invariant(
    "table-miscounted",
    "error",
    "Table {number} of {name} has {found} rows in its pages where {expected} were read.",
    _READ_AGAIN,
)
TEXT_WHOLE = Invariant(
    "text-broken",
    "error",
    "The text of {name} has {found} characters in order where {expected} were read.",
    _READ_AGAIN,
)
CHUNK_TRUE = Invariant(
    "chunk-text", "error", "Chunk {seq} of {name} is not what stands at its place in the text.", _READ_AGAIN
)
HASH_TRUE = Invariant("chunk-hash", "error", "Chunk {seq} of {name} has the hash of another text.", _READ_AGAIN)
KEYS_OWNED = Invariant(
    "keys-orphaned", "error", "{count} keys belong to no chunk of their document, e.g. {value!r} of {name}.", _REPAIR
)
KEYS_TRUE = Invariant(
    "keys-wrong", "error", "{name} is found by other dates, versions, codes or names than stand in it.", _REPAIR
)
FIELDS_OWNED = Invariant(
    "fields-orphaned", "error", "{count} fields belong to another document than {name}, which they describe.", _REPAIR
)
FIELDS_COMPLETE = Invariant("fields-missing", "error", "{name} cannot be found under any filter.", _REPAIR)

POSTINGS_COMPLETE = Invariant(
    "lexical-incomplete", "error", "Chunk {key} of {name} cannot be found by its words.", _REPAIR
)
POSTINGS_OWNED = Invariant(
    "lexical-leftover",
    "error",
    "The words of chunk {key}, which is gone, are indexed in the knowledge base {name}.",
    _REPAIR,
)
POSTINGS_TRUE = Invariant("lexical-wrong", "error", "{name} is found by other words than stand in it.", _REPAIR)
CODES_COMPLETE = Invariant(
    "codes-incomplete", "error", "The vector list does not see every chunk of {name} (revision {revision}).", _REPAIR
)
CODES_TRUE = Invariant(
    "codes-wrong",
    "error",
    "The vector list has other codes for {name} than its vectors give (revision {revision}).",
    _REPAIR,
)
CODES_OWNED = Invariant(
    "codes-leftover", "error", "The vector list holds codes of revision {revision}, which has none.", _REPAIR
)
VECTORS_USED = Invariant("vectors-unused", "warning", "{count} vectors belong to no chunk.", _HARMLESS)
