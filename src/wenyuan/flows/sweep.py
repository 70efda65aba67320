"""What nothing uses any more is looked for a little at a time, whenever a worker has time for housekeeping."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.store import sweeping
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database, Reading

_VECTORS, _BLOBS = "vectors", "blobs"
_VECTORS_AT_ONCE = 2000
_FOLDERS_AT_ONCE = 4
_FOLDERS = 256
_YOUNG_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Swept:
    """How many vectors and files nothing used any more."""

    vectors: int
    files: int


def sweep_unused(database: Database, blobs: BlobDirectory) -> Swept:
    """Look at the next few vectors and files, delete those that nothing uses, and remember where to go on."""
    with database.read() as tx:
        model, unused, following = _unused_vectors(tx)
        first = int(sweeping.position(tx, _BLOBS) or 0)
    files = 0
    with database.write(durable=False) as tx:
        sweeping.forget_vectors(tx, model, unused)
        sweeping.set_position(tx, _VECTORS, following)
        for number in range(first, first + _FOLDERS_AT_ONCE):
            files += blobs.forget_unnamed(tx, f"{number % _FOLDERS:02x}", _YOUNG_SECONDS)
        sweeping.set_position(tx, _BLOBS, str((first + _FOLDERS_AT_ONCE) % _FOLDERS))
    return Swept(len(unused), files)


def _unused_vectors(tx: Reading) -> tuple[int, list[bytes], str]:
    """A model, those of its next few vectors that nothing uses, and the position behind them.

    Behind the last vector of a model come those of the next one, behind the last model the first.
    """
    at, _, after = sweeping.position(tx, _VECTORS).partition(":")
    known = sweeping.models(tx, int(at or 0))
    if not known:
        return 0, [], ""
    model = known[0]
    unused, last = sweeping.unused_vectors(
        tx, model, bytes.fromhex(after if str(model) == at else ""), _VECTORS_AT_ONCE
    )
    return model, unused, f"{model}:{last.hex()}" if last is not None else f"{model + 1}:"
