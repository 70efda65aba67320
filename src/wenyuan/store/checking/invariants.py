"""What always holds in a library, and what it means and what to do where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Invariant:
    """`sentence` is what is said of a violation, filled with its details; codes are never renamed."""

    code: str
    severity: Literal["warning", "error"]
    sentence: str
    hint: str

    def violated(self, **details: object) -> Violation:
        return Violation(self.code, self.severity, self.sentence.format(**details), self.hint)


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where an invariant does not hold."""

    code: str
    severity: Literal["warning", "error"]
    message: str
    hint: str


_RESTORE = "Stop every program that uses the library and restore a backup."
_READ_AGAIN = "Delete the document and add it again, so that it is read anew."
_REPORT = "Nothing wrong can be shown because of this; please report it, with the output of `wenyuan doctor`."
_HARMLESS = "This takes space and does no other harm."

LOOKED_AT = Invariant(
    "not-looked-at",
    "error",
    "Something could not be looked at. {reason}",
    f"If this repeats itself: {_RESTORE[0].lower()}{_RESTORE[1:]}",
)
DATABASE_SOUND = Invariant("database-damaged", "error", "The database is damaged: {reason}.", _RESTORE)
TRACES_SOUND = Invariant(
    "traces-damaged",
    "warning",
    "The file that holds the traces of searches is damaged: {reason}.",
    "Stop every program that uses the library and delete traces.db in its folder; it holds nothing else.",
)
ROWS_OWNED = Invariant(
    "rows-orphaned", "error", "Of the rows in {table}, {count} belong to nothing in {parent}, which is gone.", _RESTORE
)

BLOB_PRESENT = Invariant(
    "blob-missing", "error", "The bytes of {name} are gone; they should lie at {path}.", "Add the file again."
)
BLOB_TRUE = Invariant(
    "blob-damaged", "error", "The bytes of {name} at {path} are not the ones that were added.", "Add the file again."
)
BLOB_NAMED = Invariant("blob-unnamed", "warning", "The file {path} belongs to no document.", _HARMLESS)
BLOB_USED = Invariant("blob-unused", "warning", "The bytes {sha256} belong to no document.", _HARMLESS)
BLOB_FINISHED = Invariant(
    "blob-unfinished",
    "warning",
    "The file {path} was left behind by an interruption.",
    f"{_HARMLESS} It may be deleted.",
)

SERVING_VALID = Invariant(
    "serving-invalid", "error", "{name} serves the revision {revision}, which is not there to be served.", _READ_AGAIN
)
WORK_QUEUED = Invariant(
    "work-lost", "error", "{name} is {state}, and no job will ever finish it (revision {revision}).", _READ_AGAIN
)
EMBEDDING_QUEUED = Invariant(
    "embedding-lost",
    "error",
    "The vectors of {name} are not complete, and no job will ever complete them.",
    _READ_AGAIN,
)
PURGE_QUEUED = Invariant(
    "purge-lost",
    "error",
    "Remains of {name} are to be deleted, and no job will ever do it (revision {revision}).",
    _REPORT,
)
JOB_OWNED = Invariant("job-orphaned", "error", "The {kind} job {job} waits for a revision that is gone.", _REPORT)
LEASE_LIVE = Invariant(
    "lease-expired",
    "warning",
    "The {kind} job {job} was left by its worker {worker}.",
    "The next worker takes it up: `wenyuan worker --drain`.",
)
CHANGES_NUMBERED = Invariant(
    "changes-broken",
    "error",
    "The knowledge base {name} counts {expected} changes, and {found} are recorded.",
    "Searches may miss what changed until the programs that search are started again.",
)

CHUNKS_COUNTED = Invariant(
    "chunks-miscounted", "error", "{name} has {found} chunks where {expected} were published.", _READ_AGAIN
)
CHUNKS_ORDERED = Invariant("chunks-unordered", "error", "The chunks of {name} skip number {seq}.", _READ_AGAIN)
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
    "keys-orphaned",
    "error",
    "{count} keys belong to no chunk of their document, e.g. {value!r} of {name}.",
    _READ_AGAIN,
)
FIELDS_OWNED = Invariant(
    "fields-orphaned",
    "error",
    "{count} fields belong to another document than {name}, which they describe.",
    _READ_AGAIN,
)
FIELDS_COMPLETE = Invariant("fields-missing", "error", "{name} cannot be found under any filter.", _READ_AGAIN)

POSTINGS_COMPLETE = Invariant(
    "lexical-incomplete", "error", "Chunk {key} cannot be found by its words in the knowledge base {name}.", _READ_AGAIN
)
POSTINGS_OWNED = Invariant(
    "lexical-leftover",
    "error",
    "The words of chunk {key}, which is gone, are indexed in the knowledge base {name}.",
    _REPORT,
)
CODES_COMPLETE = Invariant(
    "codes-incomplete",
    "error",
    "The vector list does not see every chunk of {name} (revision {revision}).",
    _READ_AGAIN,
)
CODES_TRUE = Invariant(
    "codes-wrong",
    "error",
    "The vector list has other codes for {name} than its vectors give (revision {revision}).",
    _READ_AGAIN,
)
CODES_OWNED = Invariant(
    "codes-leftover", "error", "The vector list holds codes of revision {revision}, which has none.", _REPORT
)
VECTORS_USED = Invariant("vectors-unused", "warning", "{count} vectors belong to no chunk.", _HARMLESS)
